//! Treatment of invalid records.

use super::{
    Categories, ColumnKind, StandIn,
    check::{Checked, refuse},
};
use serde::{Deserialize, Serialize};

/// Treatment of an invalid record: a cell that its column does not accept, too few or too many cells, a
/// line that is too long.
///
/// Unless refused, a record is one physical line of the file, so that one encoded row depends on it
/// whatever the line holds. The *null record* is an encoded row of zeros, the constant column included,
/// with the first class or the middle of the target's bounds as its label. It keeps its position and
/// counts as a row; it contributes exactly 0 to a gradient, a moment or a product with weights.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Invalid {
    /// The table is refused, with the row's number. Refusal depends on single records, so it is not
    /// private.
    #[default]
    Refuse,
    /// The record becomes the null record.
    Drop,
    /// A bad cell takes its column's declared substitute; a record that cannot be repaired so becomes
    /// the null record.
    StandIn,
}

impl Invalid {
    /// True if no record can make the reading of a table fail.
    pub fn is_total(self) -> bool {
        self != Self::Refuse
    }
}

/// The substitute for a bad cell.
#[derive(Debug, Clone, PartialEq)]
pub enum InvalidCell {
    /// A number within the column's bounds.
    Number(f64),
    /// A listed category or value; any text where categories are hashed.
    Text(String),
}

/// A column's `invalid`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a column's `invalid` must be a number or { as = \"CATEGORY\" }")]
pub enum InvalidDraft {
    /// A number.
    Number(f64),
    /// A listed category or value.
    As(StandIn),
}

/// Checks that a column can hold its substitute, and that a substitute can apply.
pub(super) fn check_invalid(
    key: &str,
    draft: Option<InvalidDraft>,
    kind: &ColumnKind,
    invalid: Invalid,
) -> Checked<Option<InvalidCell>> {
    let Some(draft) = draft else { return Ok(None) };
    let key = format!("{key}.invalid");
    if invalid != Invalid::StandIn {
        return refuse(key, "can never apply", "invalid = \"stand-in\" at the top as well");
    }
    let (listed, accepted): (&[String], _) = match kind {
        ColumnKind::Number { low, high, .. } => (&[], format!("a number in [{low}, {high}]")),
        ColumnKind::Category { categories: Categories::Listed(list), .. } => {
            (list, "{ as = \"A LISTED CATEGORY\" }".into())
        }
        ColumnKind::Category { .. } => (&[], "{ as = \"ANY TEXT\" }".into()),
        ColumnKind::Binary { values, .. } => (values, "{ as = \"ONE OF ITS VALUES\" }".into()),
        ColumnKind::Ignore | ColumnKind::Target | ColumnKind::Unit => (&[], "no such key".into()),
    };
    let hashed = matches!(kind, ColumnKind::Category { categories: Categories::Hashed(_), .. });
    match (draft, kind) {
        (InvalidDraft::Number(value), ColumnKind::Number { low, high, .. })
            if *low <= value && value <= *high =>
        {
            Ok(Some(InvalidCell::Number(value)))
        }
        (InvalidDraft::As(to), _) if hashed || listed.contains(&to.category) => {
            Ok(Some(InvalidCell::Text(to.category)))
        }
        _ => refuse(key, "not one for this column", accepted),
    }
}
