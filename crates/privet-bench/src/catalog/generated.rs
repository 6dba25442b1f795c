//! Generated tables of many columns of which few matter ([`Sparse`]); the seeds are fixed.

use super::{
    Lines, Task,
    columns::{number, task},
};
use crate::synth::Sparse;
use privet_data::schema::{ClipDraft, ColumnDraft, Draft, Norm, Scale, SchemaError, TargetDraft};
use std::io::Write;

/// Rows before the split of 80 : 20.
const ROWS: usize = 1_250;
/// n = p = 1,000, s = 10.
const SHAPE: Sparse = Sparse { features: 1_000, informative: 10, seed: 20_190_810 };
/// A public bound that hardly any target passes: four standard deviations.
const TARGET: f64 = 5.0;

/// A number as target.
pub(super) fn linear(seed: Option<u64>) -> Result<Task, SchemaError> {
    let target = TargetDraft {
        column: Some("y".into()),
        bounds: Some([-TARGET, TARGET]),
        ..TargetDraft::default()
    };
    made(seed, target, |records, score| {
        format!("{:.4}", records.number(score).clamp(-TARGET, TARGET))
    })
}

/// Two classes.
pub(super) fn logistic(seed: Option<u64>) -> Result<Task, SchemaError> {
    let target = TargetDraft {
        column: Some("y".into()),
        classes: Some(vec!["0".into(), "1".into()]),
        ..TargetDraft::default()
    };
    made(seed, target, |records, score| u8::from(records.class(score)).to_string())
}

fn made(
    seed: Option<u64>,
    target: TargetDraft,
    label: impl Fn(&mut crate::synth::SparseRecords, f64) -> String,
) -> Result<Task, SchemaError> {
    let shape = Sparse { seed: seed.unwrap_or(SHAPE.seed), ..SHAPE };
    let column = |n| ColumnDraft {
        scale: Some(Scale::None),
        basis: None,
        ..number(&format!("x{n}"), -2.0, 2.0)
    };
    let draft = Draft {
        clip: ClipDraft { norm: Norm::L2, radius: 2.0 * SHAPE.informative as f64, rows: None },
        target,
        columns: (1..=shape.features).map(column).collect(),
        ..Draft::default()
    };
    let mut records = shape.records();
    let (mut rows, mut record, mut line) = (Lines::default(), Vec::new(), Vec::new());
    for _ in 0..ROWS {
        let score = records.next_into(&mut record);
        line.clear();
        for value in &record {
            // Writing to memory cannot fail.
            let _ = write!(line, "{value:.4},");
        }
        line.extend_from_slice(label(&mut records, score).as_bytes());
        rows.push(&line);
    }
    Ok(task(draft.check()?, rows))
}
