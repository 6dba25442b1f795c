//! Measures of networks: error, loss, norm of the gradient, passes and time, beside the published ones.

use super::aggregate::{Group, Summary, same_epsilon};
use super::document::{Document, Rows, Table};
use super::formatting::{fixed, three_digits};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::LazyLock;

const FILE: &str = include_str!("../../published/wang-nonconvex.toml");

static PRINTED: LazyLock<PublishedNetworks> =
    LazyLock::new(|| toml::from_str(FILE).expect("part of the program, and tested"));

/// The published numbers of networks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedNetworks {
    /// The source, unless a line has its own.
    source: String,
    line: Vec<Line>,
}

/// The numbers of one entry at one ε.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    entry: String,
    source: Option<String>,
    /// The data set; all of the entry's if absent.
    dataset: Option<String>,
    epsilon: Option<f64>,
    /// Accuracy in per cent.
    accuracy: Option<f64>,
    loss: Option<f64>,
    gradient: Option<f64>,
    passes: Option<f64>,
    seconds: Option<f64>,
}

/// The published numbers of a summary's entry.
fn published_line(summary: &Summary) -> Option<&'static Line> {
    let cell = &summary.cell;
    PRINTED.line.iter().find(|line| {
        line.entry == cell.entry
            && line.dataset.as_ref().is_none_or(|name| *name == cell.dataset)
            && same_epsilon(line.epsilon, cell.epsilon)
    })
}

/// A mean and its standard error, if known.
type Mean = (f64, Option<f64>);

/// A column on networks: a name, our value, the published one, and digits after the point.
type ErrorColumn = (&'static str, fn(&Summary) -> Option<Mean>, fn(&Line) -> Option<f64>, usize);

const ERROR_COLUMNS: [ErrorColumn; 5] = [
    ("error, %", error, |line| line.accuracy.map(|accuracy| 100.0 - accuracy), 2),
    ("loss", |one| one.loss, |line| line.loss, 4),
    ("gradient", |one| one.gradient, |line| line.gradient, 4),
    ("passes", |one| one.passes, |line| line.passes, 0),
    ("seconds", |one| Some((one.seconds, one.seconds_error)), |line| line.seconds, 1),
];

fn error(summary: &Summary) -> Option<Mean> {
    (summary.measure == "accuracy").then_some((100.0 - summary.mean, summary.standard_error))
}

fn mean((mean, error): Mean, digits: usize) -> String {
    match error {
        Some(error) if digits > 0 => format!("{} ± {}", fixed(mean, digits), fixed(error, digits)),
        _ => fixed(mean, digits),
    }
}

/// A table for each group of networks, a line per entry and ε.
pub fn sections(groups: &[Group], document: &mut Document) {
    let networks = |group: &&Group| group.points().any(|point| point.loss.is_some());
    let mut tables = groups.iter().filter(networks).map(table).peekable();
    if tables.peek().is_some() {
        document.text(
            "Error and mean loss are on held-out records, the length of the mean gradient on those trained on; a gradient \
             or a loss of all records at a point counts as a pass over them; seconds are of one core, beside whatever \
             else the machine did.",
        );
    }
    tables.for_each(|table| document.table(table));
}

fn table(group: &Group) -> Rows<&Summary> {
    let mut points: Vec<&Summary> = group.points().collect();
    points.sort_by(|a, b| {
        let least = |one: &Summary| one.cell.epsilon.unwrap_or(0.0);
        least(a).total_cmp(&least(b))
    });
    let any = |of: fn(&Line) -> Option<f64>| {
        points.iter().any(|one| published_line(one).is_some_and(|line| of(line).is_some()))
    };
    let beside: Vec<bool> = ERROR_COLUMNS.iter().map(|(.., of, _)| any(*of)).collect();
    let lines = points.iter().filter_map(|one| published_line(one));
    let sources: BTreeSet<&str> =
        lines.map(|line| line.source.as_deref().unwrap_or(&PRINTED.source)).collect();
    let sources = sources.into_iter().collect::<Vec<_>>().join("; ");
    let mut caption = format!("{}, {} neighbours", group.dataset, group.neighbours);
    if !sources.is_empty() {
        caption = format!("{caption}; published: {sources}");
    }
    let mut table = Table::of(caption, points)
        .text_column("entry", |one| one.cell.entry.as_str())
        .numbers("ε", |one| one.cell.epsilon.map_or("–".into(), three_digits))
        .numbers("runs", |one| one.runs.to_string())
        .text_column("chosen of a grid", |one| {
            let settings = one.cell.settings.iter().map(|(key, value)| format!("{key} = {value}"));
            settings.collect::<Vec<_>>().join(", ")
        });
    for ((name, ours, theirs, digits), beside) in ERROR_COLUMNS.into_iter().zip(beside) {
        table = table
            .numbers(name, |one| ours(one).map(|found| mean(found, digits)).unwrap_or_default());
        if beside {
            table = table.numbers("published", |one| {
                published_line(one)
                    .and_then(theirs)
                    .map(|value| fixed(value, digits))
                    .unwrap_or_default()
            });
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::find;

    /// Every line is of an entry of the suite, at an ε and on a set that it has, and has a value.
    #[test]
    fn what_is_printed_is_of_entries_that_are_there() {
        let suite = find("wang-nonconvex").unwrap();
        for line in &PRINTED.line {
            let entry = suite.entries.iter().find(|entry| entry.name == line.entry);
            let entry = entry.unwrap_or_else(|| panic!("{}", line.entry));
            let known = |epsilon: f64| {
                entry.epsilons.iter().any(|own| same_epsilon(Some(*own), Some(epsilon)))
            };
            assert_eq!(
                line.epsilon.is_some_and(known),
                entry.learner.is_private(),
                "{}",
                line.entry
            );
            assert!(line.dataset.as_ref().is_none_or(|name| entry.is_for(name)), "{}", line.entry);
            assert!(ERROR_COLUMNS.iter().any(|(_, _, of, _)| of(line).is_some()), "{}", line.entry);
        }
    }

    /// Spot checks against print: Table 4.2, the MNIST network, Table 5.2.
    #[test]
    fn lines_are_as_printed() {
        let of = |entry: &str, epsilon: f64| {
            let mut lines = PRINTED.line.iter();
            lines
                .find(|line| line.entry == entry && same_epsilon(line.epsilon, Some(epsilon)))
                .unwrap()
        };
        let agd = of("a9a-agd", 0.5);
        assert_eq!((agd.loss, agd.passes), (Some(0.3627), Some(365.0)));
        assert_eq!((agd.gradient, agd.seconds), (Some(0.0402), Some(95.45)));
        assert_eq!(of("cnn-srm", 1.2).accuracy, Some(95.51));
        assert_eq!(of("logistic-3", 0.25).accuracy, Some(82.97));
    }
}
