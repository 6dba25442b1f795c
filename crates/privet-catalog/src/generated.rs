//! Generated tables of many columns of which few matter ([`Sparse`], [`Text`]); the seeds are fixed.

use super::{
    Lines, Split, Task,
    columns::{number, task},
};
use crate::synth::{Sparse, Text};
use privet_data::schema::{
    ClipDraft, ColumnDraft, Draft, FileDraft, Format, LibsvmDraft, Norm, Scale, SchemaError,
    TargetDraft,
};
use std::io::Write;

/// Records of a set before they are split.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    law: Law,
    rows: usize,
    /// A number, or one of two classes.
    classes: bool,
}

#[derive(Debug, Clone, Copy)]
enum Law {
    Dense(Sparse),
    Text(Text),
}

/// §2.6 of Wang 2021: n = p, rows scaled down to norm 2s.
const fn chapter_2(features: usize, informative: usize) -> Sparse {
    let longest = 2.0 * informative as f64;
    Sparse { features, informative, span: 2.0, longest, noise: 0.1, seed: 20_190_810 }
}

/// §3.4: entries in (−1, 1).
const fn chapter_3(features: usize, informative: usize) -> Sparse {
    Sparse { span: 1.0, longest: f64::INFINITY, ..chapter_2(features, informative) }
}

/// Five informative columns, and about as much noise as signal.
const fn wide(features: usize) -> Sparse {
    Sparse { noise: 0.4, seed: 20_230_501, ..chapter_3(features, 5) }
}

/// The set of that name.
pub(super) fn shape(name: &str) -> Option<Shape> {
    let (law, rows) = match name {
        "sparse-linear" | "sparse-logistic" => (chapter_2(1_000, 10), 1_250),
        "sparse-linear-5000" | "sparse-logistic-5000" => (chapter_2(5_000, 30), 6_250),
        "sparse-linear-800" | "sparse-logistic-800" => (chapter_3(1_000, 10), 1_000),
        "sparse-linear-4000" | "sparse-logistic-4000" => (chapter_3(5_000, 50), 5_000),
        "wide-500" => (wide(500), 2_500),
        "wide-200" => (wide(200), 6_250),
        "wide-50" => (wide(50), 25_000),
        "wide-text" => {
            let law = Text {
                features: 50_000,
                informative: 2_000,
                entries: 100,
                noise: 0.25,
                seed: 20_060_101,
            };
            return Some(Shape { law: Law::Text(law), rows: 20_109, classes: false });
        }
        _ => return None,
    };
    Some(Shape { law: Law::Dense(law), rows, classes: name.contains("logistic") })
}

/// The true weights of a set (θ*, or c·θ* of a text), in the target's own unit.
pub fn truth(name: &str) -> Option<Vec<f64>> {
    match shape(name)?.law {
        Law::Dense(law) => Some(law.records().weights().to_vec()),
        Law::Text(law) => Some(law.records().weights().to_vec()),
    }
}

/// A public bound that hardly any target exceeds: four standard deviations, a round number.
fn bound(law: Law) -> f64 {
    match law {
        Law::Dense(law) => {
            let row = law.span.powi(2) * law.features as f64 / 3.0;
            let entry = row.min(law.longest.powi(2)) / law.features as f64;
            let score = entry * law.informative as f64 / 3.0;
            (4.0 * (score + law.noise).sqrt()).round().max(1.0)
        }
        Law::Text(_) => 4.0,
    }
}

/// Generates the set.
pub(super) fn generate(shape: Shape, seed: Option<u64>) -> Result<Task, SchemaError> {
    let limit = bound(shape.law);
    let target = |column: Option<String>| TargetDraft {
        column,
        bounds: (!shape.classes).then_some([-limit, limit]),
        classes: shape.classes.then(|| vec!["0".into(), "1".into()]),
        ..TargetDraft::default()
    };
    let (mut rows, mut line) = (Lines::default(), Vec::new());
    match shape.law {
        Law::Dense(law) => {
            let law = Sparse { seed: seed.unwrap_or(law.seed), ..law };
            let column = |n| ColumnDraft {
                scale: Some(Scale::None),
                basis: None,
                ..number(&format!("x{n}"), -law.span, law.span)
            };
            // The norm of a row of independent entries hardly ever exceeds the usual one by a twentieth.
            let usual = 1.05 * law.span * (law.features as f64 / 3.0).sqrt();
            let radius = law.longest.min((10.0 * usual).round() / 10.0);
            let draft = Draft {
                clip: ClipDraft { norm: Norm::L2, radius, rows: None },
                target: target(Some("y".into())),
                columns: (1..=law.features).map(column).collect(),
                ..Draft::default()
            };
            let (mut records, mut record) = (law.records(), Vec::new());
            for _ in 0..shape.rows {
                let score = records.next_into(&mut record);
                line.clear();
                // Writing to memory cannot fail.
                record.iter().for_each(|value| drop(write!(line, "{value:.4},")));
                let _ = match shape.classes {
                    true => write!(line, "{}", u8::from(records.class(score))),
                    false => write!(line, "{:.4}", records.number(score).clamp(-limit, limit)),
                };
                rows.push(&line);
            }
            Ok(task(draft.check()?, rows))
        }
        Law::Text(law) => {
            let law = Text { seed: seed.unwrap_or(law.seed), ..law };
            let (mut records, mut record) = (law.records(), Vec::new());
            for _ in 0..shape.rows {
                let value = records.next_into(&mut record).clamp(-limit, limit);
                line.clear();
                let _ = write!(line, "{value:.4}");
                let entries = record.iter();
                entries.for_each(|(column, x)| drop(write!(line, " {}:{x:.4}", column + 1)));
                rows.push(&line);
            }
            let draft = Draft {
                file: FileDraft { format: Some(Format::Libsvm), ..FileDraft::default() },
                clip: ClipDraft::default(),
                target: target(None),
                libsvm: Some(LibsvmDraft {
                    features: law.features as u32,
                    bounds: Some([0.0, 1.0]),
                }),
                ..Draft::default()
            };
            Ok(Task { schema: draft.check()?, header: String::new(), rows, split: Split::Rows })
        }
    }
}
