//! Results as comma-separated values, full digits: a line per cell, or per number of a race.

use super::aggregate::{Summary, summaries};
use super::document::Table;
use super::published::Published;
use super::read::{ReportError, Results};
use crate::line::{Cell, Head};
use serde_json::Value;

/// The table: of cells, and of races where there are no cells.
pub fn page(results: &[Results]) -> Result<String, ReportError> {
    let table =
        if results.iter().any(Results::has_cells) { cells(results) } else { races(results) };
    let failed = |error: &dyn std::fmt::Display| ReportError::Write(error.to_string());
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = table.columns.iter().map(|(name, _)| name.as_str()).collect();
    let rows = table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect());
    for record in std::iter::once::<Vec<&str>>(names).chain(rows) {
        writer.write_record(record).map_err(|error| failed(&error))?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(&error))?;
    String::from_utf8(bytes).map_err(|error| failed(&error))
}

/// A cell, with its means or the reason why there are none.
struct Line<'a> {
    results: &'a Results,
    cell: Cell,
    means: Option<Summary>,
    refused: &'a str,
}

impl Line<'_> {
    /// A field of the means; empty without them or without a value.
    fn of<T: ToString>(&self, said: impl Fn(&Summary) -> Option<T>) -> String {
        text(self.means.as_ref().and_then(said))
    }

    /// The different values in the heads.
    fn heads(&self, said: fn(&Head) -> &str) -> String {
        let mut names: Vec<&str> = self.results.heads.iter().map(said).collect();
        names.dedup();
        names.join(";")
    }

    fn published_best(&self) -> Option<f64> {
        let published = Published::of(&self.results.suite)?;
        let row = published.at(&self.cell.dataset, self.cell.epsilon?)?;
        self.means.as_ref().and(published.best(row)).map(|(_, value)| value)
    }
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn join_words(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(";")
}

fn cells(results: &[Results]) -> Table {
    let lines = results.iter().flat_map(|results| {
        let measured = summaries(&results.runs).into_iter().map(move |means| Line {
            results,
            cell: means.cell.clone(),
            means: Some(means),
            refused: "",
        });
        let refused = results.refused.iter().map(move |one| Line {
            results,
            cell: one.cell.clone(),
            means: None,
            refused: &one.reason,
        });
        measured.chain(refused)
    });
    Table::of("", lines)
        .text_column("suite", |line| line.results.suite.as_str())
        .text_column("dataset", |line| line.cell.dataset.clone())
        .text_column("rows", |line| line.of(|means| Some(means.rows)))
        .text_column("columns", |line| line.of(|means| Some(means.columns)))
        .text_column("classes", |line| line.of(|means| Some(means.classes)))
        .text_column("entry", |line| line.cell.entry.clone())
        .text_column("method", |line| line.cell.method.clone())
        .text_column("chosen", |line| {
            line.of(|means| Some(join_words(means.chosen.keys().cloned())))
        })
        .text_column("calibration", |line| line.cell.calibration.to_string())
        .text_column("neighbours", |line| line.cell.neighbours.to_string())
        .text_column("epsilon", |line| text(line.cell.epsilon))
        .text_column("delta", |line| text(line.cell.delta))
        .text_column("settings", |line| {
            join_words(line.cell.settings.iter().map(|(name, value)| format!("{name}={value}")))
        })
        .text_column("counts", |line| match &line.means {
            Some(means) if means.counts => "yes",
            _ => "no",
        })
        .text_column("grid_points", |line| line.of(|means| Some(means.points)))
        .text_column("runs", |line| line.means.as_ref().map_or(0, |means| means.runs).to_string())
        .text_column("measure", |line| line.of(|means| Some(means.measure.clone())))
        .text_column("mean", |line| line.of(|means| Some(means.mean)))
        .text_column("standard_error", |line| line.of(|means| means.standard_error))
        .text_column("recall", |line| line.of(|means| means.recall.map(|(mean, _)| mean)))
        .text_column("ndcg", |line| line.of(|means| means.ndcg.map(|(mean, _)| mean)))
        .text_column("loss", |line| line.of(|means| means.loss.map(|(mean, _)| mean)))
        .text_column("gradient", |line| line.of(|means| means.gradient.map(|(mean, _)| mean)))
        .text_column("passes", |line| line.of(|means| means.passes.map(|(mean, _)| mean)))
        .text_column("asked", |line| line.of(|means| Some(means.questions?.asked)))
        .text_column("answered", |line| line.of(|means| means.answered.map(|(mean, _)| mean)))
        .text_column("answers_bound", |line| line.of(|means| Some(means.questions?.bound)))
        .text_column("certified_epsilon", |line| line.of(|means| means.certified))
        .text_column("published_best", |line| text(line.published_best()))
        .text_column("seconds", |line| line.of(|means| Some(means.seconds)))
        .text_column("peak_memory_bytes", |line| line.of(|means| means.peak_memory))
        .text_column("commit", |line| line.heads(|head| &head.commit))
        .text_column("started", |line| line.heads(|head| &head.started))
        .text_column("refused", |line| line.refused)
        .done()
}

fn races(results: &[Results]) -> Table {
    let numbers = results.iter().flat_map(|result| {
        let races = result.races.iter().enumerate();
        races.flat_map(move |(entrant, race)| {
            race.measured.iter().map(move |(key, value)| (result, entrant, race, key, value))
        })
    });
    Table::of("", numbers)
        .text_column("suite", |(one, ..)| one.suite.as_str())
        .text_column("race", |(_, _, race, ..)| race.race.as_str())
        .text_column("entrant", |(_, entrant, ..)| entrant.to_string())
        .text_column("who", |(_, _, race, ..)| race.who.as_str())
        .text_column("key", |(.., key, _)| key.as_str())
        .text_column("value", |(.., value)| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
        .done()
}
