//! The two generated sets of the papers, and two linearly separable ones.
//!
//! The accuracy of a linear model depends on the positions of the clusters, so the seeds are fixed; they
//! were chosen such that scikit-learn's logistic regression with its defaults reaches the published 94.9
//! % (Synthetic-L) and 95.8 % (Synthetic-H) on the test part.

use super::{
    Lines, Split, Task,
    columns::{header, number, schema},
};
use crate::synth::{Classification, Separable, make_classification};
use privet_data::schema::{ColumnDraft, Scale, SchemaError};
use std::io::Write;

/// A public bound far beyond every feature of these sets.
const BOUND: f64 = 1_000.0;

pub(super) fn low(seed: Option<u64>) -> Result<Task, SchemaError> {
    task(seeded(Classification::LOW, seed))
}

pub(super) fn high(seed: Option<u64>) -> Result<Task, SchemaError> {
    task(seeded(Classification::HIGH, seed))
}

/// Records of each linearly separable set.
const REALIZABLE_ROWS: usize = 125_000;
const REALIZABLE: Separable = Separable { features: 5, margin: 0.1, seed: 20_191_218 };

/// Five columns, no error: Thakkar's thesis bounds the number of answerable queries on such a task.
/// `close` gives a margin of 0.
pub(super) fn realizable(close: bool, seed: Option<u64>) -> Result<Task, SchemaError> {
    let margin = if close { 0.0 } else { REALIZABLE.margin };
    let settings = Separable { margin, seed: seed.unwrap_or(REALIZABLE.seed), ..REALIZABLE };
    let columns = (1..=settings.features).map(|n| ColumnDraft {
        scale: Some(Scale::None),
        basis: None,
        ..number(&format!("x{n}"), -1.0, 1.0)
    });
    let schema = schema("y", &["-1", "1"], columns.collect())?;
    let (mut records, mut record) = (settings.records(), Vec::new());
    let (mut rows, mut line) = (Lines::default(), Vec::new());
    for _ in 0..REALIZABLE_ROWS {
        let class = records.next_into(&mut record);
        write_line(&mut line, &record, class);
        rows.push(&line);
    }
    Ok(Task { header: header(&schema), schema, rows, split: Split::Rows })
}

/// The values with four digits, then the class.
fn write_line(line: &mut Vec<u8>, record: &[f64], class: u32) {
    line.clear();
    for value in record {
        // Writing to memory cannot fail.
        let _ = write!(line, "{value:.4},");
    }
    line.extend_from_slice(if class == 0 { b"-1" } else { b"1" });
}

fn seeded(settings: Classification, seed: Option<u64>) -> Classification {
    Classification { seed: seed.unwrap_or(settings.seed), ..settings }
}

fn task(settings: Classification) -> Result<Task, SchemaError> {
    let columns = (1..=settings.features).map(|n| ColumnDraft {
        scale: Some(Scale::None),
        basis: None,
        ..number(&format!("x{n}"), -BOUND, BOUND)
    });
    let schema = schema("y", &["-1", "1"], columns.collect())?;
    let table = make_classification(&settings);
    let mut rows = Lines::default();
    let mut line = Vec::new();
    for (record, label) in table.values.chunks_exact(table.features).zip(&table.labels) {
        write_line(&mut line, record, *label);
        rows.push(&line);
    }
    Ok(Task { header: header(&schema), schema, rows, split: Split::Rows })
}
