//! The races, from lines of [`Race`]: every ratio is taken within one race and one setting.
//!
//! Our entrants are those whose name begins with `privet`.

use super::aggregate::{ascending, grouped};
use super::document::{Block, Cell, Document, Table, Tone};
use super::formatting::{bytes, fixed, thousands, three_digits};
use crate::line::Race;
use privet_cli::page::panel::{Axis, Figure, Panel, PlotLine, PlotPoint, Style};
use serde_json::Value;
use std::collections::BTreeSet;

/// A section for each race that was run.
pub fn sections(races: &[Race], document: &mut Document) {
    for line in races {
        if let Some(Value::String(reason)) = line.measured.get("notice") {
            let Race { race, who, .. } = line;
            document.notice(format!("{race}, {who}{}: {reason}", size(line)));
        }
    }
    let measured = |line: &&Race| {
        let counts = |key| number(line, key).is_finite();
        !line.measured.contains_key("notice") || counts("seconds") || counts("draws_per_second")
    };
    for (name, lines) in grouped(races.iter().filter(measured), |line| line.race.clone()) {
        match name.as_str() {
            "fit" => fits(&lines, document),
            "accountant" => accountants(&lines, document),
            "samplers" => samplers(&lines, document),
            "network" => network(&lines, document),
            "growth-rows" => growth(&lines, "rows", document),
            "growth-columns" => growth(&lines, "columns", document),
            other => write_unknown_race(other, &lines, document),
        }
    }
}

/// Rows and columns, if a line has them.
fn size(line: &Race) -> String {
    match (number(line, "rows"), number(line, "columns")) {
        (rows, columns) if rows.is_finite() && columns.is_finite() => {
            format!(", {} × {}", three_digits(rows), three_digits(columns))
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

fn is_ours(line: &Race) -> bool {
    line.who.starts_with("privet")
}

/// A name, in bold if it is ours.
fn name_cell(line: &Race) -> Cell {
    Cell::new(&*line.who, if is_ours(line) { Tone::Strong } else { Tone::Plain })
}

/// A line, and its ratio to ours.
type RatioLine<'a> = (&'a Race, f64);

/// Each line of a group with the ratio of theirs to ours, or of ours to theirs where more is better.
fn with_ratios<'a>(lines: &[&'a Race], key: &str, more_is_better: bool) -> Vec<RatioLine<'a>> {
    let own = lines.iter().find(|line| is_ours(line)).map_or(f64::NAN, |own| number(own, key));
    let ratio = |line: &Race| match more_is_better {
        true => own / number(line, key),
        false => number(line, key) / own,
    };
    lines.iter().map(|line| (*line, ratio(line))).collect()
}

/// Ours first in each setting, then the peers with the same data, storage and budget.
fn fits(lines: &[&Race], document: &mut Document) {
    let setting = |line: &Race| ["dataset", "storage", "epsilon"].map(|key| word(line, key));
    document.heading(3, "Fit");
    document.text(
        "From a matrix in memory, the same rows for all, logistic loss, replace-one neighbours, δ = 1/n². \
         Peers without privacy are regularised with C = 1/λ of our plan. Ratio: their time over ours, noise \
         drawing and certificate of the minimum included in ours; the fastest of several fits counts.",
    );
    for (dataset, lines) in grouped(lines.iter().copied(), |line| setting(line)[0].clone()) {
        let first = lines.iter().find(|line| number(line, "rows").is_finite());
        let size = first.map_or_else(String::new, |line| size(line));
        let name = if dataset == "–" { "Adult" } else { &dataset };
        let (mut all, mut plans) = (Vec::new(), Vec::new());
        for (_, mut lines) in grouped(lines.iter().copied(), setting) {
            let own = lines.iter().find(|line| is_ours(line));
            let plan = own.map(|own| 1e3 * number(own, "plan_seconds"));
            plans.extend(
                plan.filter(|time| time.is_finite()).map(|time| format!("{} ms", fixed(time, 1))),
            );
            lines.sort_by_key(|line| !is_ours(line));
            all.extend(with_ratios(&lines, "seconds", false));
        }
        let table = Table::of(format!("Fit: {name}{size}"), all)
            .text_column("who", |(line, _)| name_cell(line))
            .text_column("storage", |(line, _)| word(line, "storage"))
            .numbers("ε", |(line, _)| three_digits(number(line, "epsilon")))
            .numbers("λ", |(line, _)| fixed(number(line, "ridge"), 2))
            .numbers("seconds", |(line, _)| fixed(number(line, "seconds"), 4))
            .numbers("ratio", |(_, ratio)| fixed(*ratio, 2))
            .numbers("test accuracy, %", |(line, _)| fixed(100.0 * number(line, "accuracy"), 1))
            .numbers("memory / matrix", |(line, _)| fixed(number(line, "peak_over_matrix"), 2));
        document.table(table);
        if !plans.is_empty() {
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
    let questions = grouped(lines.iter().copied(), |line| word(line, "question"));
    let asked = questions.iter().filter(|(_, lines)| lines.iter().any(|line| is_ours(line)));
    let all: Vec<RatioLine<'_>> =
        asked.flat_map(|(_, lines)| with_ratios(lines, "seconds", false)).collect();
    let ratios = all.iter().filter(|(line, _)| !is_ours(line)).map(|(_, ratio)| *ratio);
    let least = ratios.fold(f64::INFINITY, f64::min);
    let table = Table::of("Accountant: answers and times", all)
        .text_column("question", |(line, _)| word(line, "question"))
        .text_column("who", |(line, _)| name_cell(line))
        .numbers("answer", |(line, _)| fixed(number(line, "answer"), 5))
        .numbers("milliseconds", |(line, _)| fixed(1e3 * number(line, "seconds"), 2))
        .numbers("ratio", |(_, ratio)| fixed(*ratio, 0));
    document.table(table);
    if least.is_finite() {
        document.text(format!("Smallest ratio: {least:.0}."));
    }
}

fn samplers(lines: &[&Race], document: &mut Document) {
    document.heading(3, "Samplers");
    let law = |line: &Race| (word(line, "sampler"), number(line, "scale").to_bits());
    let laws = grouped(lines.iter().copied(), law);
    let all = laws.iter().flat_map(|(_, lines)| with_ratios(lines, "draws_per_second", true));
    let table = Table::of("Samplers: millions of exact draws a second on one core", all)
        .text_column("law", |(line, _)| word(line, "sampler"))
        .numbers("scale", |(line, _)| three_digits(number(line, "scale")))
        .text_column("who", |(line, _)| name_cell(line))
        .numbers("millions a second", |(line, _)| {
            three_digits(number(line, "draws_per_second") / 1e6)
        })
        .numbers("ratio", |(_, ratio)| fixed(*ratio, if *ratio < 10.0 { 2 } else { 0 }));
    document.table(table);
}

fn network(lines: &[&Race], document: &mut Document) {
    document.heading(3, "Steps of a network");
    document.text(
        "The net of the papers on handwritten digits (26,010 weights), made-up digits, one run. A step is \
         gradient, clipping of each example's gradient where it says so, noise where it says so, and the update. \
         Beside plain: how much longer than the same maker's plain step.",
    );
    let plain = |line: &Race| {
        let same =
            |other: &&&Race| is_ours(other) == is_ours(line) && word(other, "mode") == "plain";
        lines.iter().find(same).map_or(f64::NAN, |plain| number(plain, "examples_per_second"))
    };
    let table = Table::of("Networks: examples a second", lines.iter().copied())
        .text_column("who", |line| line.who.clone())
        .text_column("step", |line| word(line, "mode"))
        .numbers("batch", |line| thousands(number(line, "batch") as u64))
        .numbers("threads", |line| three_digits(number(line, "threads")))
        .numbers("examples a second", |line| thousands(number(line, "examples_per_second") as u64))
        .numbers("beside plain", |line| {
            fixed(plain(line) / number(line, "examples_per_second"), 2)
        });
    document.table(table);
}

/// The slope of the least-squares line of ln y over ln x; `None` with fewer than two x.
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
    let panels = [("seconds", "seconds"), ("peak_memory", "peak memory, bytes")];
    let panels = panels.into_iter().filter_map(|(key, name)| {
        let (sizes, values): (Vec<f64>, Vec<f64>) = points(lines, key).into_iter().unzip();
        let drawn = entrants.iter().enumerate().map(|(place, (who, lines))| {
            let title = |x, y| format!("{who}: {} at {} {along}", three_digits(y), three_digits(x));
            let points = points(lines, key).into_iter();
            let points = points.map(|(x, y)| PlotPoint { x, y, error: None, title: title(x, y) });
            PlotLine { style: style(place, who), points: points.collect() }
        });
        values.iter().any(|value| *value > 0.0).then(|| Panel {
            title: name.into(),
            label: format!("{name} against {along}, both axes logarithmic, one line an entrant"),
            x: Axis::logarithmic(along, &sizes),
            y: Axis::logarithmic("", &values),
            lines: drawn.collect(),
            level: None,
            bars: vec![],
        })
    });
    let legend = entrants.iter().enumerate();
    let figure = Figure {
        caption: format!("Time and memory against the number of {along}."),
        legend: legend.map(|(place, (who, _))| (style(place, who), who.clone())).collect(),
        panels: panels.collect(),
    };
    document.blocks.push(Block::Figure(figure));
    let sizes = |lines: &[&Race]| ascending(lines.iter().map(|line| number(line, along)));
    let told = |lines: &[&Race], key| fixed(slope(&points(lines, key)).unwrap_or(f64::NAN), 2);
    let slopes = Table::of(format!("Log-log slopes over {along}"), &entrants)
        .text_column("who", |(name, lines)| Cell::new(name, name_cell(lines[0]).tone))
        .numbers("from", |(_, lines)| whole(sizes(lines)[0]))
        .numbers("to", |(_, lines)| whole(sizes(lines).last().copied().unwrap_or(f64::NAN)))
        .numbers("slope of seconds", |(_, lines)| told(lines, "seconds"))
        .numbers("slope of memory", |(_, lines)| told(lines, "peak_memory"));
    document.table(slopes);
    let caption = format!("Growth with {along}: measurements");
    let table = Table::of(caption, lines)
        .text_column("who", |line| Cell::new(entrant(line), name_cell(line).tone))
        .numbers(along, |line| whole(number(line, along)))
        .numbers(across, |line| whole(number(line, across)))
        .numbers("seconds", |line| three_digits(number(line, "seconds")))
        .numbers("peak memory", |line| bytes(number(line, "peak_memory")));
    document.collapsed_table(table);
}

fn style(place: usize, who: &str) -> Style {
    if place == 0 && who.starts_with("privet") { Style::Ink } else { Style::Series(place, 0) }
}

fn whole(value: f64) -> String {
    if value.is_finite() { thousands(value as u64) } else { "–".into() }
}

/// A race unknown to this version: all its measurements.
fn write_unknown_race(name: &str, lines: &[&Race], document: &mut Document) {
    document.heading(3, name);
    let keys: BTreeSet<&String> = lines.iter().flat_map(|line| line.measured.keys()).collect();
    let mut table =
        Table::of(format!("Race: {name}"), lines).text_column("who", |line| name_cell(line));
    for key in keys {
        let told = |line: &&&Race| match number(line, key) {
            value if value.is_finite() => three_digits(value),
            _ => word(line, key),
        };
        let name = key.replace('_', " ");
        table = match lines.iter().any(|line| number(line, key).is_finite()) {
            true => table.numbers(name, told),
            false => table.text_column(name, told),
        };
    }
    document.table(table);
}
