//! What noise does to each released weight, as far as it is known from public numbers.

use serde::Serialize;

/// Φ⁻¹(0.975).
pub const NORMAL: f64 = 1.959_963_984_540_054;
/// Of a Laplace variable, in standard deviations: ln 20/√2.
pub const LAPLACE: f64 = 2.118_302_605_249_42;

/// How well the noise of a weight is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surety {
    /// Its law is that of the noise added.
    Exact,
    /// From noised numbers of the release, to first order in the noise.
    Estimated,
    /// It is at most that to first order in the noise: proved where the loss is a square, observed where it is not.
    FirstOrder,
    /// It is at most that.
    Bound,
}

/// The noise in each released weight.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightLaws {
    /// Standard deviations, a row a problem and a column each; one row, or one number, stands for all.
    pub deviations: Vec<Vec<f64>>,
    /// How many of them an interval reaches to either side.
    pub beyond: f64,
    /// How well they are known.
    pub surety: Surety,
}

impl WeightLaws {
    /// Gaussian noise of one scale on every weight.
    pub fn exactly(deviation: f64) -> Self {
        Self { deviations: vec![vec![deviation]], beyond: NORMAL, surety: Surety::Exact }
    }

    /// At most that on every weight, to first order.
    pub fn first_order(deviation: f64) -> Self {
        Self { deviations: vec![vec![deviation]], beyond: NORMAL, surety: Surety::FirstOrder }
    }

    /// Of one weight.
    pub fn deviation(&self, problem: usize, column: usize) -> Option<f64> {
        let row = self.deviations.get(problem).or(self.deviations.first())?;
        row.get(column).or(row.first().filter(|_| row.len() == 1)).copied()
    }
}
