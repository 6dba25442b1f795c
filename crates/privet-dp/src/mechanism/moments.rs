//! Second moments through one mechanism: (Σxxᵀ, w·Σxyᵀ) as one vector.
//!
//! The parts are stacked, so that one noise is drawn for one joint sensitivity instead of a share of the
//! budget for each. The answer, a [`Moments`], carries the public numbers that a solver needs:
//! post-processing may be a plain `fn` then, which cannot capture records.
//!
//! | law | part of Σxxᵀ | sensitivity in | afterwards |
//! |---|---|---|---|
//! | Gaussian σ | the whole matrix | ℓ2 (Frobenius) | (N + Nᵀ)/2: σ on the diagonal, σ/√2 off it |
//! | Laplace s | the triangle from the diagonal up | ℓ1 | as it is |
//!
//! Adding noise to both triangles and taking their mean is the same as adding noise to one whose
//! off-diagonal entries count √2-fold, and needs no irrational factor: sums stay integers.
//!
//! - w `weight`, a power of two, divided out again; p `columns`
//! - Tested by `tests/all/moments.rs`.

use super::{ExactCounts, Gaussian, Laplace};
use crate::account::Event;
use crate::gate::{GateError, Noisy, Private, Session};

/// The law of the moments' noise.
#[derive(Debug, Clone, PartialEq)]
pub enum MomentsLaw {
    /// Gaussian noise on p² + p·K numbers.
    Gaussian(Gaussian),
    /// Discrete Laplace noise on p(p + 1)/2 + p·K numbers.
    Laplace(Laplace),
}

/// Adds noise to second moments.
#[derive(Debug, Clone, PartialEq)]
pub struct NoisyMoments {
    /// The noise, with the sensitivity of the stacked vector.
    pub law: MomentsLaw,
    /// Number p of columns.
    pub columns: usize,
    /// Weight w of the cross moments, a power of two.
    pub weight: f64,
    /// The ridge: a public number for the solver.
    pub ridge: f64,
}

/// Noisy second moments.
#[derive(Clone, PartialEq)]
pub struct Moments {
    /// Number p of columns.
    pub columns: usize,
    /// Σxxᵀ with noise, symmetric.
    pub gram: Vec<f64>,
    /// Σx·y with noise, for each target.
    pub cross: Vec<Vec<f64>>,
    /// The ridge that was passed in.
    pub ridge: f64,
}

/// Withheld, as it is not settled when made.
impl std::fmt::Debug for Moments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Moments(withheld)")
    }
}

impl NoisyMoments {
    /// The event of one release.
    pub fn event(&self) -> Result<Event, GateError> {
        match &self.law {
            MomentsLaw::Gaussian(gaussian) => gaussian.event(),
            MomentsLaw::Laplace(laplace) => Ok(laplace.event()),
        }
    }

    /// Records the event, draws, and adds the noise. `sums` holds the whole matrix Σxxᵀ, row after row,
    /// and then w·Σx·y for each target.
    pub fn run(
        &self,
        sums: Private<ExactCounts>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Moments>, GateError> {
        let columns = self.columns;
        let (square, triangle) = (columns * columns, columns * (columns + 1) / 2);
        let (noisy, first) = match &self.law {
            MomentsLaw::Gaussian(gaussian) => (gaussian.add_to_units(sums, session)?, square),
            MomentsLaw::Laplace(laplace) => {
                let sums = sums.map(|units| upper(units, columns));
                (laplace.add_to_units(sums, session)?, triangle)
            }
        };
        // Both laws refuse a vector that is not of the planned length.
        if noisy.len() < first {
            return Err(GateError::Malformed);
        }
        let (matrix, cross) = noisy.split_at(first);
        let gram =
            if first == square { symmetric_part(matrix, columns) } else { full(matrix, columns) };
        let unweighted = |row: &[f64]| row.iter().map(|x| x / self.weight).collect();
        let cross = cross.chunks(columns.max(1)).map(unweighted).collect();
        Ok(session.mark_noisy(Moments { columns, gram, cross, ridge: self.ridge }))
    }
}

/// Replaces the whole matrix by the triangle from the diagonal up.
fn upper(units: ExactCounts, columns: usize) -> ExactCounts {
    let kept = |place: &usize| {
        let (row, column) = (place / columns.max(1), place % columns.max(1));
        row >= columns || column >= row
    };
    let counts = units.counts.iter().enumerate().filter(|(place, _)| kept(place));
    ExactCounts { counts: counts.map(|(_, count)| *count).collect(), unit: units.unit }
}

/// The symmetric part (A + Aᵀ)/2.
fn symmetric_part(matrix: &[f64], columns: usize) -> Vec<f64> {
    let entry = |j: usize, k: usize| 0.5 * (matrix[j * columns + k] + matrix[k * columns + j]);
    (0..columns).flat_map(|j| (0..columns).map(move |k| entry(j, k))).collect()
}

/// The symmetric matrix with this upper triangle.
fn full(triangle: &[f64], columns: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; columns * columns];
    let mut entries = triangle.iter();
    for j in 0..columns {
        for (k, entry) in (j..columns).zip(&mut entries) {
            matrix[j * columns + k] = *entry;
            matrix[k * columns + j] = *entry;
        }
    }
    matrix
}
