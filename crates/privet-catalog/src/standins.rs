//! Stand-ins for Uber's four data sets (Iyengar et al. 2019, Table 1), which are not public.
//!
//! Only their shapes and accuracies are published. The stand-ins have the same number of encoded columns
//! (one of them constant), two classes, and labels drawn such that the best accuracy is the published
//! non-private one ([`crate::synth::Logistic`]). The share of the larger class is not published; it is
//! set to the lowest accuracy reported for any private method at ε = 0.1, since guessing the larger
//! class attains it. Columns are independent and normal, which the originals surely are not. They have
//! 1/10, 1/200, 1/20 and 1/50 of the rows (4, 18, 18 and 19 million in full), so noise has that much
//! more effect than in the papers: figures from them are not comparable with the published ones.

use super::{
    Entry, Lines, Split, Task,
    columns::{draft, header, number},
};
use crate::synth::Logistic;
use privet_data::schema::{BiasDraft, ColumnDraft, Draft, Scale, SchemaError};
use std::io::Write;

/// A public bound far beyond every feature of these sets.
const BOUND: f64 = 10.0;

/// Rows and encoded columns of the original of a stand-in.
pub fn full_size(name: &str) -> (usize, usize) {
    match name {
        "uber-1" => (4_000_000, 23),
        "uber-2" => (18_000_000, 294),
        "uber-3" => (18_000_000, 20),
        _ => (19_000_000, 70),
    }
}

/// The distribution of a stand-in, by its name.
pub fn law_of(name: &str) -> Logistic {
    let (offset, signal) = match name {
        "uber-1" => (-1.1733, 0.5155),
        "uber-2" => (-0.9150, 0.9273),
        "uber-3" => (-1.0456, 0.9030),
        _ => (-1.7648, 1.0831),
    };
    // The constant column is included in that count.
    Logistic { features: full_size(name).1 - 1, offset, signal, seed: 1 }
}

fn law(entry: &Entry) -> Logistic {
    law_of(entry.name)
}

/// A stand-in with this many rows.
pub(super) fn task(entry: &Entry, rows: usize, seed: Option<u64>) -> Result<Task, SchemaError> {
    let law = law(entry);
    let law = Logistic { seed: seed.unwrap_or(law.seed), ..law };
    let columns = (1..=law.features).map(|n| ColumnDraft {
        scale: Some(Scale::None),
        ..number(&format!("x{n}"), -BOUND, BOUND)
    });
    let draft = Draft {
        bias: Some(BiasDraft::Switch(true)),
        ..draft("y", &["-1", "1"], columns.collect())
    };
    let schema = draft.of_file().check()?;
    let mut records = law.records();
    let (mut lines, mut line, mut record) = (Lines::default(), Vec::new(), Vec::new());
    for _ in 0..rows {
        let label = records.next_into(&mut record);
        line.clear();
        for value in &record {
            // Writing to memory cannot fail.
            let _ = write!(line, "{value:.2},");
        }
        line.extend_from_slice(if label == 0 { b"-1" } else { b"1" });
        lines.push(&line);
    }
    Ok(Task { header: header(&schema), schema, rows: lines, split: Split::Rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;
    use privet_data::{Encoding, Target, read::csv_bytes};

    /// (name, lowest private accuracy, non-private accuracy), Iyengar et al. 2019, Figure 1.
    const PUBLISHED: [(&str, f64, f64); 4] = [
        ("uber-1", 75.3, 75.3),
        ("uber-2", 68.6, 72.2),
        ("uber-3", 71.1, 73.6),
        ("uber-4", 81.0, 82.1),
    ];

    #[test]
    fn the_best_accuracy_is_the_published_one() {
        for (name, lowest, best) in PUBLISHED {
            let law = law(find(name).unwrap());
            let (ones, accuracy) = law.expected();
            assert!((100.0 * accuracy - best).abs() < 0.06, "{name}: {accuracy}");
            let majority = 100.0 * (1.0 - ones);
            assert!((majority - lowest).abs() < 0.2, "{name}: {majority}");
        }
    }

    #[test]
    fn a_stand_in_has_the_published_width_and_fits_in_memory() {
        for (name, ..) in PUBLISHED {
            let entry = find(name).unwrap();
            assert!(entry.title.contains("stand-in"), "{name}");
            let task = task(entry, 1_000, None).unwrap();
            assert_eq!(Encoding::new(&task.schema).width(), entry.columns, "{name}");
            assert_eq!(full_size(name).1, entry.columns, "{name}");
            let size = task.rows.text.len() * (entry.rows / 1_000);
            assert!(size < 500_000_000 && 4 * entry.rows * entry.columns < 500_000_000, "{name}");
            let text = [task.header.as_bytes(), b"\n", &task.rows.text].concat();
            let read = csv_bytes(&text, &task.schema).unwrap();
            let Target::Class { codes, .. } = &read.target else { panic!("{name}: no classes") };
            // Of 1,000 fair-or-rarer labels, 19 to 32 in 100 expected; 0.1 off by chance < 5e-9.
            let ones = codes.iter().filter(|code| **code == 1).count() as f64 / 1_000.0;
            let expected = law(entry).expected().0;
            assert!((ones - expected).abs() < 0.1, "{name}: {ones}");
        }
    }
}
