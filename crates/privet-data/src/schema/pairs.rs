//! Pairs of columns: interactions, as products of their encodings.
//!
//! ```toml
//! [[pairs]]
//! columns = ["age", "hours"]       # two numbers: products of their hats
//! hats = 4                         # knots of each; 4 × 4 encoded columns, four entries a row
//!
//! [[pairs]]
//! columns = ["ward", "age"]        # a category and a number: a slope of the number in each category
//! ```
//!
//! Like a number's [`Basis`] they are fixed functions of declared columns: nothing is fitted.

use super::basis::{HATS, WEIGHT};
use super::check::{Checked, in_range, refuse};
use super::*;

/// Two columns whose encodings are multiplied.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Their names.
    pub columns: [String; 2],
    /// Knots of each of two numbers; 0 for a category and a number.
    pub hats: u32,
    /// The factor that multiplies the entries.
    pub weight: f64,
}

/// One entry of `[[pairs]]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairDraft {
    /// Two columns: numbers, or a listed category and a number.
    pub columns: [String; 2],
    /// Two numbers: knots of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hats: Option<u32>,
    /// The factor that multiplies the entries; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

impl From<Pair> for PairDraft {
    fn from(pair: Pair) -> Self {
        Self {
            columns: pair.columns,
            hats: (pair.hats > 0).then_some(pair.hats),
            weight: (pair.weight != 1.0).then_some(pair.weight),
        }
    }
}

/// The kinds of column that can be in a pair.
enum Side {
    Number,
    Category,
}

/// Checks `[[pairs]]`, and puts the category of each first.
pub(super) fn check_pairs(drafts: Vec<PairDraft>, columns: &[Column]) -> Checked<Vec<Pair>> {
    let mut pairs: Vec<Pair> = Vec::with_capacity(drafts.len());
    for (place, PairDraft { columns: [first, second], hats, weight }) in
        drafts.into_iter().enumerate()
    {
        let key = format!("pairs[{place}]");
        let side = |name: &str| match columns.iter().find(|column| column.name == name) {
            Some(Column { kind: ColumnKind::Number { .. }, .. }) => Ok(Side::Number),
            Some(Column {
                kind: ColumnKind::Category { categories: Categories::Listed(_), .. },
                ..
            }) => Ok(Side::Category),
            _ => refuse(
                format!("{key}.columns"),
                format!("{name:?} is no number and no listed category of [[columns]]"),
                "two numbers, or a category with a list and a number",
            ),
        };
        if first == second {
            return refuse(format!("{key}.columns"), "the same column twice", "two columns");
        }
        let (columns, hats) = match (side(&first)?, side(&second)?) {
            (Side::Number, Side::Number) => {
                let hats = hats.unwrap_or(4);
                in_range(format!("{key}.hats"), HATS, f64::from(hats))?;
                ([first, second], hats)
            }
            (Side::Category, Side::Category) => {
                let accepted = "two numbers, or a category and a number";
                return refuse(format!("{key}.columns"), "two categories", accepted);
            }
            _ if hats.is_some() => {
                let accepted = "no hats: each category has a slope of the number itself";
                return refuse(format!("{key}.hats"), "a category and a number", accepted);
            }
            (Side::Category, Side::Number) => ([first, second], 0),
            (Side::Number, Side::Category) => ([second, first], 0),
        };
        let weight = in_range(format!("{key}.weight"), WEIGHT, weight.unwrap_or(1.0))?;
        let same = |pair: &Pair| columns.iter().all(|name| pair.columns.contains(name));
        if pairs.iter().any(same) {
            return refuse(format!("{key}.columns"), "a pair named twice", "each pair once");
        }
        pairs.push(Pair { columns, hats, weight });
    }
    Ok(pairs)
}

impl Pair {
    /// The number of encoded columns it takes.
    pub(super) fn width(&self, columns: &[Column]) -> u64 {
        match self.hats {
            0 => {
                let category = columns.iter().find(|column| column.name == self.columns[0]);
                category.map_or(0, |column| column.kind.width())
            }
            hats => u64::from(hats) * u64::from(hats),
        }
    }
}
