//! Loss and gradient in one pass over the rows; and the gradient in double-double.
//!
//! Rows are processed [`ROWS_PER_PART`] at a time: margins, then all losses and multipliers (vectorised),
//! then the gradient while the rows are still in cache. The gradient is summed over flights of rows (512,
//! or more when there are many columns) and the flights' sums are added up, so few roundings lie between
//! a term and the total.

use super::{Block, Statistic};
use crate::double_double::DoubleDouble;
use crate::kernel::{Kernel, dispatch};
use crate::loss::Loss;
use serde::{Deserialize, Serialize};

/// Rows whose margins are kept at a time.
pub(super) const ROWS_PER_PART: usize = 128;

/// The sums Σℓ and Σℓ′·x at θ, in f64.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossAndGradient {
    /// The loss ℓ.
    pub loss: Loss,
    /// The point θ.
    pub theta: Vec<f64>,
}

/// A partial sum of [`LossAndGradient`].
#[derive(Clone, PartialEq)]
pub struct GradientSum {
    /// The sum of losses Σℓ.
    pub value: f64,
    /// The gradient Σℓ′·x.
    pub gradient: Vec<f64>,
    /// The sum of absolute derivatives Σ|ℓ′|.
    pub absolute: f64,
    /// Upper bound on the number of roundings between any term of the gradient and its sum.
    pub depth: u64,
}

/// Rows over which a gradient is summed before it joins the total.
fn flight(columns: usize) -> usize {
    (columns / 4).next_multiple_of(ROWS_PER_PART).max(512)
}

impl Statistic for LossAndGradient {
    type Sum = GradientSum;
    const NAME: &'static str = "loss-and-gradient";

    /// By ℓ(u) ≤ ℓ(0) + L|u|, and ‖ℓ′x‖ ≤ LR.
    fn bound(&self, radius: f64) -> f64 {
        let norm = self.theta.iter().map(|t| t * t).sum::<f64>().sqrt();
        let at_zero = self.loss.largest_at_zero();
        let slope = self.loss.lipschitz() * radius;
        (at_zero + slope * norm).hypot(slope)
    }

    fn zero(&self, columns: usize) -> GradientSum {
        GradientSum { value: 0.0, gradient: vec![0.0; columns], absolute: 0.0, depth: 0 }
    }

    fn bytes(&self, columns: usize) -> usize {
        16 * columns + 64
    }

    /// Each flight is summed on its own.
    fn grain(&self, columns: usize) -> Option<usize> {
        Some(flight(columns))
    }

    fn add(&self, block: Block<'_>, into: &mut GradientSum) {
        let mut sum = vec![0.0; block.columns()];
        for rows in block.parts(flight(block.columns())) {
            sum.fill(0.0);
            let pass = Pass { loss: self.loss, theta: &self.theta, rows, sum: &mut sum };
            let (value, absolute) = dispatch(pass);
            into.value += value;
            into.absolute += absolute;
            for (total, s) in into.gradient.iter_mut().zip(&sum) {
                *total += s;
            }
            // One product and rows additions within the flight, one addition to the total.
            into.depth = into.depth.max(rows.rows() as u64 + 1) + 1;
        }
    }

    fn merge(&self, into: &mut GradientSum, other: GradientSum) {
        into.value += other.value;
        into.absolute += other.absolute;
        into.depth = into.depth.max(other.depth) + 1;
        for (total, s) in into.gradient.iter_mut().zip(&other.gradient) {
            *total += s;
        }
    }
}

/// The fused loop over one flight of rows.
struct Pass<'a> {
    loss: Loss,
    theta: &'a [f64],
    rows: Block<'a>,
    sum: &'a mut [f64],
}

impl Kernel for Pass<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<const F: bool>(self) -> (f64, f64) {
        let (mut margins, mut multipliers) = ([0.0; ROWS_PER_PART], [0.0; ROWS_PER_PART]);
        let (mut value, mut absolute) = (0.0, 0.0);
        for part in self.rows.parts(ROWS_PER_PART) {
            let margins = &mut margins[..part.rows()];
            let multipliers = &mut multipliers[..part.rows()];
            part.margins::<F>(self.theta, margins);
            let sums = self.loss.values_and_derivatives::<F>(margins, part.labels(), multipliers);
            value += sums.0;
            absolute += sums.1;
            part.accumulate::<F>(multipliers, self.sum);
        }
        (value, absolute)
    }
}

/// The gradient Σℓ′·x at θ, in f64.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Gradient(pub LossAndGradient);

impl Statistic for Gradient {
    type Sum = GradientSum;
    const NAME: &'static str = "gradient";

    fn bound(&self, radius: f64) -> f64 {
        self.0.loss.lipschitz() * radius
    }
    fn zero(&self, columns: usize) -> GradientSum {
        self.0.zero(columns)
    }
    fn bytes(&self, columns: usize) -> usize {
        self.0.bytes(columns)
    }
    fn grain(&self, columns: usize) -> Option<usize> {
        self.0.grain(columns)
    }
    fn add(&self, block: Block<'_>, into: &mut GradientSum) {
        self.0.add(block, into);
    }
    fn merge(&self, into: &mut GradientSum, other: GradientSum) {
        self.0.merge(into, other);
    }
}

/// The gradient Σℓ′·x at θ = `theta` + `tail`, in double-double throughout.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreciseGradient {
    /// The loss ℓ.
    pub loss: Loss,
    /// The point θ rounded to f64.
    pub theta: Vec<f64>,
    /// The rounding error θ − `theta`.
    pub tail: Vec<f64>,
}

/// A partial sum of [`PreciseGradient`].
#[derive(Clone, PartialEq)]
pub struct PreciseSum {
    /// The gradient Σℓ′·x.
    pub gradient: Vec<DoubleDouble>,
    /// The sum of absolute derivatives Σ|ℓ′|.
    pub absolute: f64,
    /// As [`GradientSum::depth`], of double-double roundings.
    pub depth: u64,
}

impl Statistic for PreciseGradient {
    type Sum = PreciseSum;
    const NAME: &'static str = "precise-gradient";

    fn bound(&self, radius: f64) -> f64 {
        self.loss.lipschitz() * radius
    }

    fn zero(&self, columns: usize) -> PreciseSum {
        PreciseSum { gradient: vec![DoubleDouble::ZERO; columns], absolute: 0.0, depth: 0 }
    }

    fn bytes(&self, columns: usize) -> usize {
        16 * columns + 64
    }

    fn add(&self, block: Block<'_>, into: &mut PreciseSum) {
        into.absolute += dispatch(PrecisePass { statistic: self, rows: block, sum: into });
        into.depth += block.rows() as u64 + 1;
    }

    fn merge(&self, into: &mut PreciseSum, other: PreciseSum) {
        into.absolute += other.absolute;
        into.depth = into.depth.max(other.depth) + 1;
        for (total, s) in into.gradient.iter_mut().zip(other.gradient) {
            *total = *total + s;
        }
    }
}

struct PrecisePass<'a> {
    statistic: &'a PreciseGradient,
    rows: Block<'a>,
    sum: &'a mut PreciseSum,
}

impl Kernel for PrecisePass<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<const F: bool>(self) -> f64 {
        let PreciseGradient { loss, theta, tail } = self.statistic;
        let sum = &mut self.sum.gradient;
        let term =
            |j: usize, x: f32| DoubleDouble { high: theta[j], low: tail[j] }.times(f64::from(x));
        let columns = self.rows.columns().max(1);
        let mut buffer = [DoubleDouble::ZERO; ROWS_PER_PART];
        let mut absolute = 0.0;
        for part in self.rows.parts(ROWS_PER_PART) {
            let margins = &mut buffer[..part.rows()];
            margins.fill(DoubleDouble::ZERO);
            if let Some(values) = part.dense() {
                for (row, u) in values.chunks_exact(columns).zip(margins.iter_mut()) {
                    // Two sums, so that one addition need not wait for the other.
                    let mut both = [DoubleDouble::ZERO; 2];
                    for (j, &x) in row.iter().enumerate() {
                        both[j % 2] = both[j % 2] + term(j, x);
                    }
                    *u = both[0] + both[1];
                }
            }
            for (row, u) in part.sparse().zip(margins.iter_mut()) {
                for (&j, &x) in row.indices().iter().zip(row.values()) {
                    *u = *u + term(j as usize, x);
                }
            }
            absolute += loss.precise_derivatives(margins, part.labels());
            if let Some(values) = part.dense() {
                for (row, m) in values.chunks_exact(columns).zip(&*margins) {
                    for (s, &x) in sum.iter_mut().zip(row) {
                        *s = *s + m.times(f64::from(x));
                    }
                }
            }
            for (row, m) in part.sparse().zip(&*margins) {
                for (&j, &x) in row.indices().iter().zip(row.values()) {
                    let s = &mut sum[j as usize];
                    *s = *s + m.times(f64::from(x));
                }
            }
        }
        absolute
    }
}
