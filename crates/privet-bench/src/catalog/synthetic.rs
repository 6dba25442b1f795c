//! The two made-up sets.
//!
//! How well a linear model does depends on where the clusters happen to fall, so the seeds are
//! fixed; they were chosen such that scikit-learn's logistic regression with its defaults reaches
//! the published 94.9 % (Synthetic-L) and 95.8 % (Synthetic-H) on the test part.

use super::{
    Lines, Split, Task,
    columns::{header, number, schema},
};
use crate::synth::{Classification, make_classification};
use privet_data::schema::{ColumnDraft, Scale, SchemaError};
use std::io::Write;

/// A public bound that no feature of these sets comes near.
const BOUND: f64 = 1_000.0;

pub(super) fn low(seed: Option<u64>) -> Result<Task, SchemaError> {
    task(seeded(Classification::LOW, seed))
}

pub(super) fn high(seed: Option<u64>) -> Result<Task, SchemaError> {
    task(seeded(Classification::HIGH, seed))
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
        line.clear();
        for value in record {
            // Writing to memory cannot fail.
            let _ = write!(line, "{value:.4},");
        }
        line.extend_from_slice(if *label == 0 { b"-1" } else { b"1" });
        rows.push(&line);
    }
    Ok(Task { header: header(&schema), schema, rows, split: Split::Rows })
}
