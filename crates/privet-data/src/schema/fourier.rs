//! Random Fourier features over all numbers together, for interactions that no single column shows.
//!
//! ```toml
//! [fourier]
//! count = 200       # cosines of the numbers together, each with a frequency drawn once and for all
//! width = 0.5       # about how far apart, in the numbers' own [−1, 1], two rows no longer resemble each other
//! ```
//!
//! A linear model of them approximates one with a Gaussian kernel of that width (Rahimi & Recht 2007).
//! Frequencies are a fixed function of their index, the same in every schema: choosing among seeds
//! would be tuning.

use super::basis::WEIGHT;
use super::check::{Checked, in_range, refuse};
use super::*;
use privet_core::Range;

/// Limits on the number of features.
const COUNT: Range = Range::from("count", 1.0, 65_537.0);
/// Limits on the kernel's width.
const WIDTH: Range = Range::open("width", 0.0, 1e3);

/// Random Fourier features over all numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FourierFacts {
    /// The number of features.
    pub count: u32,
    /// The kernel's width.
    pub width: f64,
    /// The factor that multiplies their entries; with 1 their joint norm is that of a category.
    pub weight: f64,
}

/// The table `[fourier]`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FourierDraft {
    /// The number of features.
    pub count: u32,
    /// The kernel's width.
    pub width: f64,
    /// The factor that multiplies their entries; 1 unless given.
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
