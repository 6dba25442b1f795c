//! Random waves over all numbers together: features for what no column says alone.
//!
//! ```toml
//! [fourier]
//! count = 200       # cosines of the numbers together, each with a frequency drawn once and for all
//! width = 0.5       # about how far apart, in the numbers' own [−1, 1], two rows no longer resemble each other
//! ```
//!
//! A linear model of them approaches one with a Gaussian kernel of that width (Rahimi & Recht 2007). Frequencies
//! are a fixed function of their number, the same in every schema: choosing among seeds would be tuning.

use super::basis::WEIGHT;
use super::check::{Checked, in_range, refuse};
use super::*;
use privet_core::Range;

/// Limits on the number of waves.
const COUNT: Range = Range::from("count", 1.0, 65_537.0);
/// Limits on their width.
const WIDTH: Range = Range::open("width", 0.0, 1e3);

/// Random waves over all numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FourierFacts {
    /// How many.
    pub count: u32,
    /// The kernel's width.
    pub width: f64,
    /// What their entries are multiplied by; with 1 they are as long together as a category.
    pub weight: f64,
}

/// `[fourier]`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FourierDraft {
    /// How many.
    pub count: u32,
    /// The kernel's width.
    pub width: f64,
    /// What their entries are multiplied by; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

impl From<FourierFacts> for FourierDraft {
    fn from(FourierFacts { count, width, weight }: FourierFacts) -> Self {
        Self { count, width, weight: (weight != 1.0).then_some(weight) }
    }
}

pub(super) fn check_fourier(draft: FourierDraft, columns: &[Column]) -> Checked<FourierFacts> {
    if !columns.iter().any(|column| matches!(column.kind, ColumnKind::Number { .. })) {
        return refuse("fourier", "there is no number", "at least one number in [[columns]]");
    }
    in_range("fourier.count", COUNT, f64::from(draft.count))?;
    let width = in_range("fourier.width", WIDTH, draft.width)?;
    let weight = in_range("fourier.weight", WEIGHT, draft.weight.unwrap_or(1.0))?;
    Ok(FourierFacts { count: draft.count, width, weight })
}
