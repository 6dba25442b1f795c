//! What a model is worth, for people and as JSON.

use super::{ClassMetrics, Evaluate, Measures, Metrics, NumberMetrics};
use crate::release::family::Family;
use crate::release::released::Released;
use crate::release::report::{Part, Report, Section, cut_text, number};
use crate::statistics::describe::Estimate;
use privet_core::printable;
use serde_json::Value;

impl Family for Evaluate {
    const VERB: &'static str = "evaluate";
    const NOUN: &'static str = "evaluation";
    const ENCODED: bool = false;

    fn report(released: &Released<Self>) -> Report {
        let metrics = Metrics::of(released.request(), released.artefact());
        let told = metrics.as_ref().map_or(Value::Null, as_json);
        Report::new(
            format!(
                "What the model of digest {}… is worth on labelled records.",
                released.request().task.model.get(..12).unwrap_or_default()
            ),
            vec![Section::new("Worth", metrics.as_ref().map_or(Vec::new(), parts))],
            told.clone(),
        )
        .showing("worth", &told)
    }
}

/// Classes whose confusion is shown; of more only those that are confused most would fit.
const SHOWN_CLASSES: usize = 8;
/// How wide the name of a class may be in the matrix.
const NAME: usize = 12;
/// Accuracy above the largest class by less than this is no gain.
const LEAST_GAIN: f64 = 0.01;

/// As JSON: without noise a number, with it the number and its interval.
pub fn as_json(metrics: &Metrics) -> Value {
    let mut shown = serde_json::to_value(metrics).unwrap_or_default();
    if !metrics.private {
        bare(&mut shown);
        shown["rows"] = Value::from(metrics.rows.value as u64);
    }
    shown
}

/// Intervals of no width become their number.
fn bare(value: &mut Value) {
    match value {
        Value::Object(fields) if fields.len() == 3 && fields.contains_key("low") => {
            *value = fields.remove("value").unwrap_or_default();
        }
        Value::Object(fields) => fields.values_mut().for_each(bare),
        Value::Array(items) => items.iter_mut().for_each(bare),
        _ => {}
    }
}

/// For people, in 80 columns.
pub fn parts(metrics: &Metrics) -> Vec<Part> {
    let rows = match metrics.rows.low == metrics.rows.high {
        true => format!("{} rows", metrics.rows.value),
        false => {
            format!("{} rows ({})", number(metrics.rows.value.round()), interval(&metrics.rows, 0))
        }
    };
    let mut parts = vec![Part::Lines(format!("On {rows}\n"))];
    parts.extend(match &metrics.measures {
        Measures::Classes(own) => of_classes(own, metrics.private),
        Measures::Number(own) => vec![Part::Lines(of_number(own, metrics.private))],
    });
    let note = match metrics.private {
        true => match &metrics.measures {
            Measures::Number(_) => {
                "In brackets: where the number lies without the noise, in 95 of 100 releases\n(R²: in at least 90).\n"
            }
            Measures::Classes(_) => {
                "In brackets: where the number lies without the noise, in 95 of 100 releases.\n"
            }
        },
        false => "",
    };
    parts.push(Part::Lines(note.into()));
    parts
}

/// A threshold by share.
pub fn threshold(share: f64, found: &Estimate) -> String {
    let within = match found.low == found.high {
        true => String::new(),
        false => format!(
            " (between {} and {})",
            decimal_places(found.low, 3),
            decimal_places(found.high, 3)
        ),
    };
    format!(
        "threshold for a share of {}: {}{within}; use it with `privet predict --threshold`\n",
        number(share),
        decimal_places(found.value, 3)
    )
}

fn decimal_places(value: f64, digits: usize) -> String {
    format!("{value:.digits$}")
}

fn interval(estimate: &Estimate, digits: usize) -> String {
    format!("{} to {}", decimal_places(estimate.low, digits), decimal_places(estimate.high, digits))
}

/// A line of a name, a number, its interval and what to compare it with.
fn line(name: &str, estimate: &Estimate, private: bool, beside: &str) -> Vec<String> {
    let span = estimate.value.abs().max(estimate.high - estimate.low).max(1e-12);
    let digits = (3 - span.log10().floor() as i32).clamp(0, 9) as usize;
    let within = match private {
        true => format!("({})", interval(estimate, digits)),
        false => String::new(),
    };
    vec![format!("  {name}"), decimal_places(estimate.value, digits), within, beside.into()]
}

/// Columns padded to a common width.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut shown = String::new();
        for (cell, width) in row.iter().zip(&widths).filter(|(_, width)| **width > 0) {
            shown.push_str(cell);
            shown.extend(std::iter::repeat_n(' ', width - cell.chars().count() + 2));
        }
        text.push_str(shown.trim_end());
        text.push('\n');
    }
    text
}

fn of_number(own: &NumberMetrics, private: bool) -> String {
    let beside = format!("always saying the mean: {}", number(own.rmse_of_mean.value));
    let mut rows = vec![
        line("root mean square error (rmse)", &own.rmse, private, &beside),
        line("mean absolute error (mae)", &own.mae, private, ""),
    ];
    match &own.r2 {
        Some(r2) => rows.push(line("variance explained (R²)", r2, private, "")),
        None => rows.push(vec!["  variance explained (R²)".into(), "hidden by the noise".into()]),
    }
    rows.push(line("mean of the target", &own.mean, private, ""));
    let mut text = aligned(&rows);
    if own.r2.as_ref().is_some_and(|r2| r2.value <= 0.0) {
        text.push_str("warning: always saying the mean is no worse than this model\n");
    }
    text
}

fn of_classes(own: &ClassMetrics, private: bool) -> Vec<Part> {
    let class = |name: &str| cut_text(name, 20);
    let largest =
        format!("always saying {}: {:.4}", class(&own.majority_class), own.majority.value);
    let mut rows = vec![line("accuracy", &own.accuracy, private, &largest)];
    if let Some(auc) = &own.auc {
        rows.push(line("ranking (AUC)", auc, private, "chance: 0.5"));
    }
    let beside = |value: Option<f64>| {
        value.map_or(String::new(), |value| format!("class shares: {value:.4}"))
    };
    if let Some(loss) = &own.log_loss {
        rows.push(line("log loss (p ≥ 0.01)", loss, private, &beside(own.log_loss_of_shares)));
    }
    if let Some(brier) = &own.brier {
        rows.push(line("Brier score", brier, private, &beside(own.brier_of_shares)));
    }
    let mut parts = vec![Part::Lines(aligned(&rows))];
    parts.extend(confusion(own, private));
    parts.extend(calibration(own, private));
    parts.push(Part::Lines(warnings(own, private)));
    parts
}

fn warnings(own: &ClassMetrics, private: bool) -> String {
    let mut text = String::new();
    for name in &own.never_predicted {
        let name = printable(name);
        text.push_str(&match private {
            true => format!(
                "warning: \"{name}\" is predicted never, or so rarely that the noise hides it\n"
            ),
            false => format!("warning: \"{name}\" is never predicted\n"),
        });
    }
    if own.accuracy.value <= own.majority.value + LEAST_GAIN {
        text.push_str(&format!(
            "warning: always saying \"{}\" is right as often{}\n",
            printable(&own.majority_class),
            if own.auc.is_some() { "; look at the ranking, or set a --threshold" } else { "" }
        ));
    }
    text
}

fn confusion(own: &ClassMetrics, private: bool) -> Vec<Part> {
    if own.classes.len() > SHOWN_CLASSES {
        return vec![Part::Lines(format!(
            "  (the confusion of {} classes is in --json{})\n",
            own.classes.len(),
            if private { " and in the file" } else { "" }
        ))];
    }
    let name = |class: &str| cut_text(class, NAME);
    let mut head = vec!["is \\ predicted".to_string()];
    head.extend(own.classes.iter().map(|class| name(&class.class)));
    head.extend(["found".into(), "precision".into()]);
    let mut rows = vec![head];
    for (class, counts) in own.classes.iter().zip(&own.confusion) {
        let mut row = vec![name(&class.class)];
        row.extend(counts.iter().map(|count| number(count.round())));
        row.push(format!("{:.3}", class.recall.value));
        row.push(format!("{:.3}", class.precision.value));
        rows.push(row);
    }
    let margin = match private {
        true => format!(
            "(a count is within ± {} of the truth in 95 of 100 releases; below 0 is noise)\n",
            number(own.confusion_margin.ceil())
        ),
        false => String::new(),
    };
    vec![Part::Lines("\n".into()), Part::Table(rows), Part::Lines(margin)]
}

fn calibration(own: &ClassMetrics, private: bool) -> Vec<Part> {
    if own.calibration.is_empty() {
        return Vec::new();
    }
    let what = match own.classes.as_slice() {
        [_, second] => format!("\"{}\"", cut_text(&second.class, 20)),
        _ => "being right".into(),
    };
    let head = ["predicted", "on average", "came true", "", "records"].map(String::from);
    let mut rows = vec![head.to_vec()];
    for group in &own.calibration {
        rows.push(vec![
            format!("{:.3} to {:.3}", group.from, group.to),
            format!("{:.3}", group.predicted),
            format!("{:.3}", group.observed.value),
            if private { format!("({})", interval(&group.observed, 3)) } else { String::new() },
            number(group.records.round()),
        ]);
    }
    let title = format!("\nProbability of {what}: said, and come true\n");
    vec![Part::Lines(title), Part::Table(rows)]
}
