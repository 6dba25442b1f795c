//! The distribution of the noise in each released weight, as far as public numbers determine it.

use serde::Serialize;

/// The normal quantile Φ⁻¹(0.975).
pub const NORMAL: f64 = 1.959_963_984_540_054;
/// Half width of a 95 % interval of a Laplace variable, in standard deviations: ln 20/√2.
pub const LAPLACE: f64 = 2.118_302_605_249_42;

/// The precision to which the noise of a weight is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// The exact distribution: that of the noise added.
    Exact,
    /// Estimated from noisy numbers of the release, to first order in the noise.
    Estimated,
    /// An upper bound to first order in the noise: proved for a quadratic loss, observed for others.
    FirstOrder,
    /// A proved upper bound.
    Bound,
}

/// The noise in each released weight.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightNoise {
    /// Standard deviations, a row per problem and an entry per column; a single row, or entry, stands
    /// for all.
    pub deviations: Vec<Vec<f64>>,
    /// Half width of an interval, in standard deviations.
    pub beyond: f64,
    /// The precision to which they are known.
    pub confidence: Confidence,
}

impl WeightNoise {
    /// Gaussian noise of one scale on every weight.
    pub fn exactly(deviation: f64) -> Self {
        Self { deviations: vec![vec![deviation]], beyond: NORMAL, confidence: Confidence::Exact }
    }

    /// Gaussian noise of at most this scale on every weight, to first order.
    pub fn first_order(deviation: f64) -> Self {
        Self {
            deviations: vec![vec![deviation]],
            beyond: NORMAL,
            confidence: Confidence::FirstOrder,
        }
    }

    /// The standard deviation of one weight.
    pub fn deviation(&self, problem: usize, column: usize) -> Option<f64> {
        let row = self.deviations.get(problem).or(self.deviations.first())?;
        row.get(column).or(row.first().filter(|_| row.len() == 1)).copied()
    }
}
