//! The races, from lines of [`Race`]: every ratio is taken within one race and one setting.
//!
//! Our entrants are those whose name begins with `privet`.

use super::aggregate::grouped;
use super::document::{Block, Cell, Document, Table, Tone};
use super::plot::{Axis, Figure, Panel, PlotLine, PlotPoint, Style};
use super::words::{bytes, fixed, seconds, short, thousands};
use crate::line::Race;
use serde_json::Value;

/// A section for each race that was run.
pub fn sections(races: &[Race], document: &mut Document) {
    for line in races {
        if let Some(Value::String(reason)) = line.measured.get("notice") {
            let Race { race, who, .. } = line;
            document.blocks.push(Block::Notice(format!("{race}, {who}{}: {reason}", size(line))));
        }
    }
    let measured =
        |line: &&Race| !line.measured.contains_key("notice") || number(line, "seconds").is_finite();
    for (name, lines) in grouped(races.iter().filter(measured), |line| line.race.clone()) {
        match name.as_str() {
            "fit" => fits(&lines, document),
            "accountant" => accountants(&lines, document),
            "samplers" => samplers(&lines, document),
            "growth-rows" => growth(&lines, "rows", document),
            "growth-columns" => growth(&lines, "columns", document),
            other => unknown(other, &lines, document),
        }
    }
}

/// Rows and columns, where a line has them.
fn size(line: &Race) -> String {
    match (number(line, "rows"), number(line, "columns")) {
        (rows, columns) if rows.is_finite() && columns.is_finite() => {
            format!(", {} × {}", short(rows), short(columns))
        }
        _ => String::new(),
    }
}

fn number(line: &Race, key: &str) -> f64 {
    line.measured.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

fn word(line: &Race, key: &str) -> String {
    match line.measured.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => "–".into(),
        Some(other) => other.to_string(),
    }
}

fn ours(line: &Race) -> bool {
    line.who.starts_with("privet")
}

/// A name in the tone of whose it is.
fn who(line: &Race) -> Cell {
    Cell::new(&*line.who, if ours(line) { Tone::Strong } else { Tone::Plain })
}

/// Ours first in each setting, then the peers with the same data, storage and budget.
fn fits(lines: &[&Race], document: &mut Document) {
    let setting = |line: &Race| {
        ["dataset", "storage", "epsilon"].map(|key| match word(line, key).as_str() {
            "–" => String::new(),
            text => text.to_owned(),
        })
    };
    document.heading(3, "Fit");
    document.text(
        "From a matrix in memory, the same rows for all, logistic loss, replace-one neighbours, δ = 1/n². \
         Peers without privacy are regularised with C = 1/λ of our plan. Ratio: their time over ours, noise \
         drawing and certificate of the minimum included in ours; the fastest of several fits counts.",
    );
    for (dataset, lines) in grouped(lines.iter().copied(), |line| setting(line)[0].clone()) {
        let first = lines.iter().find(|line| number(line, "rows").is_finite());
        let size = first.map_or_else(String::new, |line| size(line));
        let name = if dataset.is_empty() { "Adult" } else { &dataset };
        let mut table = Table::new(
            format!("Fit: {name}{size}"),
            &[
                "who",
                "storage",
                "#ε",
                "#λ",
                "#seconds",
                "#ratio",
                "#test accuracy, %",
                "#memory / matrix",
            ],
        );
        let mut plans = Vec::new();
        for (_, lines) in grouped(lines.iter().copied(), |line| setting(line)) {
            let own = lines.iter().find(|line| ours(line));
            plans
                .extend(own.map(|own| number(own, "plan_seconds")).filter(|time| time.is_finite()));
            let (mut first, rest): (Vec<&Race>, Vec<&Race>) =
                lines.iter().partition(|line| ours(line));
            first.extend(rest);
            for line in first {
                let ratio =
                    own.map_or(f64::NAN, |own| number(line, "seconds") / number(own, "seconds"));
                table.rows.push(vec![
                    who(line),
                    word(line, "storage").into(),
                    short(number(line, "epsilon")).into(),
                    fixed(number(line, "ridge"), 2).into(),
                    fixed(number(line, "seconds"), 4).into(),
                    fixed(ratio, 2).into(),
                    fixed(100.0 * number(line, "accuracy"), 1).into(),
                    fixed(number(line, "peak_over_matrix"), 2).into(),
                ]);
            }
        }
        document.table(table);
        if !plans.is_empty() {
            let plans: Vec<String> =
                plans.iter().map(|time| format!("{} ms", fixed(1e3 * time, 1))).collect();
            document.text(format!("Planning, once, before any data: {}.", plans.join(", ")));
        }
    }
}

/// Each question with our time, then the peers' on the same question.
fn accountants(lines: &[&Race], document: &mut Document) {
    document.heading(3, "Accountant");
    document.text(
        "The ε of a composition at a stated δ (1e-5 unless given), or the noise scale σ that meets a budget, \
         from nothing: both sides certify an upper bound by composing privacy-loss distributions. Step is the \
         peer's discretisation, 1e-4 its default. Ratio: their time over ours.",
    );
    let mut table = Table::new(
        "Accountant: answers and times",
        &["question", "who", "#answer", "#milliseconds", "#ratio"],
    );
    let mut least = f64::INFINITY;
    for (question, lines) in grouped(lines.iter().copied(), |line| word(line, "question")) {
        let Some(own) = lines.iter().find(|line| ours(line)) else { continue };
        for line in &lines {
            let ratio = number(line, "seconds") / number(own, "seconds");
            if !ours(line) {
                least = least.min(ratio);
            }
            table.rows.push(vec![
                question.clone().into(),
                who(line),
                fixed(number(line, "answer"), 5).into(),
                fixed(1e3 * number(line, "seconds"), 2).into(),
                fixed(ratio, 0).into(),
            ]);
        }
    }
    document.table(table);
    if least.is_finite() {
        document.text(format!("Smallest ratio: {least:.0}."));
    }
}

fn samplers(lines: &[&Race], document: &mut Document) {
    document.heading(3, "Samplers");
    let mut table = Table::new(
        "Samplers: millions of exact draws a second on one core",
        &["law", "#scale", "who", "#millions a second", "#ratio"],
    );
    let law = |line: &Race| (word(line, "sampler"), number(line, "scale").to_bits());
    for (_, lines) in grouped(lines.iter().copied(), |line| law(line)) {
        let own = lines.iter().find(|line| ours(line));
        for line in &lines {
            let rate = number(line, "draws_per_second");
            let ratio = own.map_or(f64::NAN, |own| number(own, "draws_per_second") / rate);
            table.rows.push(vec![
                word(line, "sampler").into(),
                short(number(line, "scale")).into(),
                who(line),
                short(rate / 1e6).into(),
                fixed(ratio, if ratio < 10.0 { 2 } else { 0 }).into(),
            ]);
        }
    }
    document.table(table);
}

/// The slope of the straight line that fits ln y over ln x best; none with fewer than two x.
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let points: Vec<(f64, f64)> = points
        .iter()
        .filter(|(x, y)| *x > 0.0 && *y > 0.0 && x.is_finite() && y.is_finite())
        .map(|(x, y)| (x.ln(), y.ln()))
        .collect();
    let count = points.len() as f64;
    let (x_mean, y_mean) = points
        .iter()
        .fold((0.0, 0.0), |(x_sum, y_sum), (x, y)| (x_sum + x / count, y_sum + y / count));
    let spread: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    let common: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    (spread > 1e-12).then_some(common / spread)
}

/// Time and memory against the number of rows or columns.
fn growth(lines: &[&Race], along: &str, document: &mut Document) {
    let across = if along == "rows" { "columns" } else { "rows" };
    document.heading(3, format!("Growth with {along}"));
    document.text(format!(
        "Slope: the exponent k of the power law seconds ∝ {along}^k (memory likewise) that fits an \
         entrant's measurements best, by least squares of logarithms; 1 is proportional. Small tables are \
         mostly start-up, which makes slopes smaller."
    ));
    let storages = grouped(lines.iter().copied(), |line| word(line, "storage")).len();
    let entrant = |line: &Race| match word(line, "storage") {
        storage if storages > 1 => format!("{}, {storage}", line.who),
        _ => line.who.clone(),
    };
    let entrants = grouped(lines.iter().copied(), entrant);
    let points = |lines: &[&Race], key: &str| -> Vec<(f64, f64)> {
        lines.iter().map(|line| (number(line, along), number(line, key))).collect()
    };
    let mut slopes = Table::new(
        format!("Log-log slopes over {along}"),
        &["who", "#from", "#to", "#slope of seconds", "#slope of memory"],
    );
    for (name, lines) in &entrants {
        let sizes = lines.iter().map(|line| number(line, along));
        let (low, high) = sizes
            .fold((f64::INFINITY, 0.0_f64), |(low, high), size| (low.min(size), high.max(size)));
        let told = |key| fixed(slope(&points(lines, key)).unwrap_or(f64::NAN), 2);
        slopes.rows.push(vec![
            Cell::new(name, who(lines[0]).tone),
            whole(low),
            whole(high),
            told("seconds").into(),
            told("peak_memory").into(),
        ]);
    }
    let panels = [("seconds", "seconds"), ("peak_memory", "peak memory, bytes")];
    let panels: Vec<Panel> = panels
        .into_iter()
        .filter(|(key, _)| lines.iter().any(|line| number(line, key) > 0.0))
        .map(|(key, name)| {
            let all = |key: &str| lines.iter().map(|line| number(line, key)).collect::<Vec<f64>>();
            let drawn = entrants.iter().enumerate().map(|(place, (who, lines))| PlotLine {
                style: style(place, who),
                points: points(lines, key)
                    .into_iter()
                    .map(|(x, y)| PlotPoint {
                        x,
                        y,
                        error: None,
                        title: format!("{who}: {} at {} {along}", short(y), short(x)),
                    })
                    .collect(),
            });
            Panel {
                title: name.into(),
                label: format!(
                    "{name} against {along}, both axes logarithmic, one line an entrant"
                ),
                x: Axis::logarithmic(along, &all(along)),
                y: Axis::logarithmic("", &all(key)),
                lines: drawn.collect(),
                level: None,
                bars: vec![],
            }
        })
        .collect();
    let legend =
        entrants.iter().enumerate().map(|(place, (who, _))| (style(place, who), who.clone()));
    document.blocks.push(Block::Figure(Figure {
        caption: format!("Time and memory against the number of {along}."),
        legend: legend.collect(),
        panels,
    }));
    document.table(slopes);
    let mut table = Table::new(
        format!("Growth with {along}: measurements"),
        &["who", &format!("#{along}"), &format!("#{across}"), "#seconds", "#peak memory"],
    );
    for line in lines {
        table.rows.push(vec![
            Cell::new(entrant(line), who(line).tone),
            whole(number(line, along)),
            whole(number(line, across)),
            seconds(number(line, "seconds")).into(),
            bytes(number(line, "peak_memory")).into(),
        ]);
    }
    document.folded(table);
}

fn style(place: usize, who: &str) -> Style {
    if place == 0 && who.starts_with("privet") { Style::Ink } else { Style::Series(place, 0) }
}

fn whole(value: f64) -> Cell {
    if value.is_finite() { thousands(value as u64).into() } else { "–".into() }
}

/// A race that this version does not know: everything that it measured.
fn unknown(name: &str, lines: &[&Race], document: &mut Document) {
    document.heading(3, name);
    let mut table = Table::new(format!("Race: {name}"), &["who"]);
    let mut keys: Vec<&String> = lines.iter().flat_map(|line| line.measured.keys()).collect();
    keys.sort();
    keys.dedup();
    for key in &keys {
        table.column(key.replace('_', " "), lines.iter().any(|line| number(line, key).is_finite()));
    }
    for line in lines {
        let values = keys.iter().map(|key| match number(line, key) {
            value if value.is_finite() => short(value).into(),
            _ => word(line, key).into(),
        });
        table.rows.push(std::iter::once(who(line)).chain(values).collect());
    }
    document.table(table);
}
