//! Neighbouring tables built to be distinguished.
//!
//! Rows live in a few symmetric numeric columns, no bias, clipped to norm R = 1; one row differs. The
//! worst pair depends on the learner, so there are several, and [`crate::learner`] finds the worst one.
//!
//! | pair | rest of the table | the row |
//! |---|---|---|
//! | canary | on the other axes, alternating labels | at the bound on an axis of its own |
//! | label flip | on the other axes, alternating labels | at the bound on its axis; labels differ |
//! | heavy row | small rows along the same axis | at the bound, opposite ends |
//! | all equal | zero rows of one label | at the bound; labels differ |
//! | opposed | at the bound of the other end | at the bound |
//! | first | the same, and the row comes before all others | at the bound |
//! | tipped | zero rows and one at the bound of the other end | at the bound |
//! | outvoted | weak rows of the other end, half as strong as the row together | at the bound |
//!
//! Under replace-one both tables have as many rows; the row in its place is described above, and is the
//! other end of the axis in the last three. Under add-remove the first table lacks the row. There an
//! opposed table has the declared number of rows without it, so that a learner with as many slots must
//! drop another row for it.

use crate::AuditError;
use privet_core::Neighbours;
use privet_data::{Dataset, Schema, read};
use serde::Serialize;
use std::fmt::{self, Write as _};

/// A construction of neighbouring tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pair {
    /// A row orthogonal to all others, against an ordinary one.
    Canary,
    /// A row orthogonal to all others with one label, against the other.
    LabelFlip,
    /// A row at the clipping bound, against its opposite.
    HeavyRow,
    /// The only row that is not zero, with one label against the other.
    AllEqual,
    /// A row at the bound, all others at the opposite end.
    Opposed,
    /// As [`Self::Opposed`], with the row before all others: for learners that take rows in their order.
    First,
    /// A row at the bound, one other at the opposite end.
    Tipped,
    /// A row at the bound against weak ones that it outweighs.
    Outvoted,
}

impl Pair {
    /// Pairs tried on every learner; the others are for settings of their own (`sharp.rs`).
    pub const GENERAL: [Self; 4] = [Self::AllEqual, Self::Canary, Self::LabelFlip, Self::HeavyRow];
    /// All pairs.
    pub const ALL: [Self; 8] = [
        Self::AllEqual,
        Self::Canary,
        Self::LabelFlip,
        Self::HeavyRow,
        Self::Opposed,
        Self::First,
        Self::Tipped,
        Self::Outvoted,
    ];
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Canary => "canary",
            Self::LabelFlip => "label-flip",
            Self::HeavyRow => "heavy-row",
            Self::AllEqual => "all-equal",
            Self::Opposed => "opposed",
            Self::First => "first",
            Self::Tipped => "tipped",
            Self::Outvoted => "outvoted",
        })
    }
}

/// The word for rows whose numbers are at levels, and which no clip touches.
pub(crate) const LEVELS: &str = "levels";

/// A public schema of `columns` numbers in \[−1, 1\], clipped to norm 1 (`levels`: at levels and not clipped), with two classes or
/// a numeric target.
pub fn schema(columns: usize, norm: &str, classes: bool) -> Result<Schema, AuditError> {
    let levels = norm == LEVELS;
    let head = match levels {
        true => "bias = true\n[clip]\nnorm = \"l2\"\nradius = 100.0\n".to_string(),
        false => format!("[clip]\nnorm = \"{norm}\"\nradius = 1.0\n"),
    };
    let mut text = format!("{head}[target]\ncolumn = \"y\"\n");
    text.push_str(if classes { "classes = [\"no\", \"yes\"]\n" } else { "bounds = [-1, 1]\n" });
    for column in 0..columns {
        let _ = write!(
            text,
            "[[columns]]\nname = \"x{column}\"\ntype = \"number\"\nbounds = [-1, 1]\n\
             scale = \"symmetric\"\n{}",
            if levels { "basis = { hats = 241 }\n" } else { "" }
        );
    }
    Schema::from_toml(&text).map_err(|error| AuditError::Table(error.to_string()))
}

/// A row: its entry on one axis, and its label.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub axis: usize,
    pub value: f64,
    pub positive: bool,
}

const fn row(axis: usize, value: f64, positive: bool) -> Row {
    Row { axis, value, positive }
}

/// Two neighbouring tables of `rows` rows and the axis in which they differ.
pub(crate) struct Tables {
    pub worlds: [Dataset; 2],
    pub axis: usize,
}

/// Builds a pair for a schema of [`schema`].
pub(crate) fn build(
    pair: Pair,
    schema: &Schema,
    columns: usize,
    rows: u64,
    neighbours: Neighbours,
) -> Result<Tables, AuditError> {
    let axis = match pair {
        Pair::Canary | Pair::LabelFlip => columns - 1,
        _ => 0,
    };
    let others = columns.saturating_sub(1).max(1);
    let surplus = pair == Pair::Opposed && neighbours == Neighbours::AddRemove;
    let rest = (1..rows + u64::from(surplus)).map(|i| {
        let turn = i % 2 == 0;
        match pair {
            Pair::Canary | Pair::LabelFlip => row(i as usize % others, 1.0, turn),
            Pair::HeavyRow => row(0, if turn { 0.125 } else { -0.125 }, true),
            Pair::AllEqual => row(0, 0.0, true),
            Pair::Opposed | Pair::First => row(0, -1.0, true),
            Pair::Tipped => row(0, if i == 1 { -1.0 } else { 0.0 }, true),
            Pair::Outvoted => row(0, -0.5 / rows as f64, true),
        }
    });
    let rest: Vec<Row> = rest.collect();
    let with = |last: Option<Row>| {
        let rest = rest.iter().copied();
        let all: Vec<Row> = match pair {
            Pair::First => last.into_iter().chain(rest).collect(),
            _ => rest.chain(last).collect(),
        };
        table(schema, columns, &all)
    };
    let second = row(axis, 1.0, true);
    let first = match (neighbours, pair) {
        (Neighbours::AddRemove, _) => None,
        (_, Pair::Canary) => Some(row(0, 1.0, true)),
        (_, Pair::LabelFlip | Pair::AllEqual) => Some(row(axis, 1.0, false)),
        (_, Pair::HeavyRow | Pair::Opposed | Pair::First | Pair::Tipped | Pair::Outvoted) => {
            Some(row(axis, -1.0, true))
        }
    };
    Ok(Tables { worlds: [with(first)?, with(Some(second))?], axis })
}

/// Writes the rows as CSV and reads them as any table.
pub(crate) fn table(schema: &Schema, columns: usize, rows: &[Row]) -> Result<Dataset, AuditError> {
    let classes = schema.classes().is_some();
    let mut text = String::new();
    for column in 0..columns {
        let _ = write!(text, "x{column},");
    }
    text.push_str("y\n");
    for row in rows {
        for column in 0..columns {
            let value = if column == row.axis { row.value } else { 0.0 };
            let _ = write!(text, "{value},");
        }
        text.push_str(match (classes, row.positive) {
            (true, true) => "yes\n",
            (true, false) => "no\n",
            (false, true) => "1\n",
            (false, false) => "-1\n",
        });
    }
    read::csv_bytes(text.as_bytes(), schema).map_err(|error| AuditError::Table(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_differ_in_one_row() {
        for classes in [true, false] {
            let schema = schema(3, "l2", classes).unwrap();
            for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
                for pair in Pair::ALL {
                    let built = build(pair, &schema, 3, 9, neighbours).unwrap();
                    let rows = built.worlds.each_ref().map(Dataset::rows);
                    let absent = usize::from(neighbours == Neighbours::AddRemove);
                    let all = 9 + if pair == Pair::Opposed { absent } else { 0 };
                    assert_eq!(rows, [all - absent, all], "{pair}, {neighbours}");
                    let first = pair == Pair::First;
                    for row in 0..all - 1 {
                        // If the row comes first, the others are shifted by one, unless it is absent.
                        let places = [
                            row + usize::from(first) - usize::from(first) * absent,
                            row + usize::from(first),
                        ];
                        let both = [0, 1].map(|k| built.worlds[k].features.dense_row(places[k]));
                        assert_eq!(both[0], both[1], "{pair}");
                    }
                    let place = if first { 0 } else { all - 1 };
                    let own = built.worlds[1].features.dense_row(place);
                    assert_eq!(own[built.axis], 1.0, "{pair}: at the bound");
                }
            }
        }
    }
}
