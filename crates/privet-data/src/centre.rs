//! Centred rows: each row minus a public vector, rescaled to the clipping radius.
//!
//! A row x becomes z = s·(x − m), s = R/max(‖x − m‖, R/8): of norm R, except where x is so near to m
//! that its direction would be arbitrary. z is dense even where x is not, so it is never stored:
//! [`Centre::rows`] stores x̃ = s·x and, in one more column, d = s·2^e (2^e the least power of two ≥ R),
//! and z is x̃ − d·m/2^e. A sum of multiples of z is then a sum of multiples of (x̃, d), in integers,
//! minus its last entry times m/2^e.
//!
//! **Claim.** For every m the map x ↦ (x̃, d) acts on each row alone, with ‖x̃ − d·m/2^e‖₂ ≤ R and,
//! where ‖x‖₂ ≤ R, ‖(x̃, d)‖₂ ≤ [`Centre::norm_bound`]; entries are multiples of the grid of rows of that
//! norm. So under neighbouring tables, of either relation, the mapped tables are neighbours whose z are
//! within R.
//!
//! *Proof.* s ≤ 8, so ‖x̃‖ ≤ 8R and d ≤ 8·2^e ≤ 16R: together less than 32R. ‖z‖² is computed from the
//! stored entries as ‖x̃‖² − 2(d/2^e)⟨x̃, m⟩ + (d/2^e)²‖m‖². ‖m‖ ≤ R, so the absolute values of the
//! terms of the three sums add up to at most 64R², 128R² and 64R²: with at most 2²⁵ columns the error
//! of the result is less than 2²⁵·2⁻⁵²·256·R² = 2⁻¹⁹R². The row is kept if it is at most R²(1 − 2⁻¹⁶),
//! else s shrinks by one part in 2¹², and the row of zeros is the last resort. Nothing is assumed of s,
//! nor of the truncation to the grid. ∎
//!
//! A row of zeros, such as the null record, stays one. A row's bits depend neither on its index, nor on
//! the threads, nor on how rows are stored: `a_row_is_centred_by_itself`.

use crate::matrix::{CsrMatrix, DenseMatrix, Matrix};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows that a thread processes at a time.
const ROWS_PER_PIECE: usize = 256;
/// The largest factor by which a row is scaled up.
const LARGEST_STRETCH: f64 = 8.0;
/// Upper bound on ‖z‖²/R² of a kept row: below 1 by more than the error of the sums that compute it.
const LARGEST_KEPT_RATIO: f64 = 1.0 - 1.0 / 65_536.0;

/// A public vector m, on its grid, and the norm R of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Centre {
    radius: f64,
    /// The least power of two ≥ R, 2^e.
    power: f64,
    /// The public vector m.
    mean: Vec<f64>,
    /// Its squared norm ‖m‖².
    squares: f64,
}

impl Centre {
    /// Fractional bits of the entries of m/2^e.
    pub const BITS: u32 = 23;

    /// Scales `mean` down to norm R if it is longer, and truncates it to its grid; a vector that is not
    /// finite becomes 0.
    ///
    /// # Panics
    /// If the radius is not a positive number.
    pub fn new(mean: &[f64], radius: f64) -> Self {
        assert!(radius > 0.0 && radius.is_finite(), "unchecked radius {radius}");
        let power = power_above(radius);
        let unit = power * libm::exp2(-f64::from(Self::BITS));
        let length = mean.iter().map(|x| x * x).sum::<f64>().sqrt() * (1.0 + 1e-6);
        let kept = if length.is_finite() { radius / length.max(radius) } else { 0.0 };
        let on_grid = |x: &f64| if kept > 0.0 { (x * kept / unit).trunc() * unit } else { 0.0 };
        let mean: Vec<f64> = mean.iter().map(on_grid).collect();
        let squares = mean.iter().map(|x| x * x).sum();
        Self { radius, power, mean, squares }
    }

    /// The number of entries of m.
    pub fn columns(&self) -> usize {
        self.mean.len()
    }

    /// The norm R of rows.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The public vector m.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The norm of x − m below which its row is not scaled up to R.
    pub fn shortest(&self) -> f64 {
        self.radius / LARGEST_STRETCH
    }

    /// The entries of m/2^e, in units of 2⁻²³.
    pub fn units(&self) -> Vec<i64> {
        let unit = self.power * libm::exp2(-f64::from(Self::BITS));
        self.mean.iter().map(|x| (x / unit) as i64).collect()
    }

    /// Upper bound on ‖(x̃, d)‖₂ for rows of norm at most R.
    pub fn norm_bound(radius: f64) -> f64 {
        32.0 * radius
    }

    /// The coefficients of (x̃, d) that score as θ does on z: ⟨x̃, θ⟩ − d·⟨m, θ⟩/2^e.
    pub fn point(&self, theta: &[f64]) -> Vec<f64> {
        let along: f64 = theta.iter().zip(&self.mean).map(|(t, m)| t * m).sum();
        theta.iter().copied().chain([-along / self.power]).collect()
    }

    /// The scale s of a row with this ‖x‖² and ⟨x, m⟩.
    fn factor(&self, squares: f64, along: f64) -> f64 {
        let length = (squares - 2.0 * along + self.squares).max(0.0).sqrt();
        self.radius / length.max(self.radius / LARGEST_STRETCH)
    }

    /// The inner product ⟨m, θ⟩ for each θ.
    pub fn inner_products(&self, thetas: &[Vec<f64>]) -> Vec<f64> {
        let one = |theta: &Vec<f64>| self.mean.iter().zip(theta).map(|(m, t)| m * t).sum();
        thetas.iter().map(one).collect()
    }

    /// The score s·⟨x − m, θ⟩ for each θ, with `taken` = ⟨m, θ⟩, of a row given as its entries; 0 for a
    /// row of zeros.
    pub fn scores(&self, row: &[(u32, f32)], thetas: &[Vec<f64>], taken: &[f64]) -> Vec<f64> {
        let entries = || row.iter().map(|(j, x)| (*j as usize, f64::from(*x)));
        let squares: f64 = entries().map(|(_, x)| x * x).sum();
        if squares == 0.0 {
            return vec![0.0; thetas.len()];
        }
        let along: f64 = entries().map(|(j, x)| x * self.mean[j]).sum();
        let factor = self.factor(squares, along);
        let score = |(theta, taken): (&Vec<f64>, &f64)| {
            let own: f64 = entries().map(|(j, x)| x * theta[j]).sum();
            factor * (own - taken)
        };
        thetas.iter().zip(taken).map(score).collect()
    }

    /// The vector s·(x − m) of a row, which [`Centre::scores`] multiplies by θ; zeros for a row of
    /// zeros.
    pub fn row(&self, row: &[f32]) -> Vec<f64> {
        let entries = || row.iter().map(|x| f64::from(*x));
        let squares: f64 = entries().map(|x| x * x).sum();
        if squares == 0.0 {
            return vec![0.0; row.len()];
        }
        let along: f64 = entries().zip(&self.mean).map(|(x, m)| x * m).sum();
        let factor = self.factor(squares, along);
        entries().zip(&self.mean).map(|(x, m)| factor * (x - m)).collect()
    }

    /// Overwrites `row`, which holds x, by x̃ and returns d.
    fn centre_row(&self, row: &mut [f32], mean: impl Fn(usize) -> f64) -> f32 {
        let sums = |row: &[f32]| {
            row.iter().enumerate().fold((0.0, 0.0), |(squares, along), (at, x)| {
                let x = f64::from(*x);
                (squares + x * x, along + x * mean(at))
            })
        };
        let (squares, along) = sums(row);
        if squares == 0.0 || !squares.is_finite() {
            row.fill(0.0);
            return 0.0;
        }
        let grid = power_above(Self::norm_bound(self.radius)) * libm::exp2(-f64::from(Self::BITS));
        let original = row.to_vec();
        let mut factor = self.factor(squares, along);
        for _ in 0..64 {
            let stored = |x: f64| ((x * factor / grid).trunc() * grid) as f32;
            row.iter_mut().zip(&original).for_each(|(into, x)| *into = stored(f64::from(*x)));
            let d = stored(self.power);
            let share = f64::from(d) / self.power;
            let (squares, along) = sums(row);
            let length = squares - 2.0 * share * along + share * share * self.squares;
            let long = squares.sqrt() > LARGEST_STRETCH * self.radius || share > LARGEST_STRETCH;
            if length <= self.radius * self.radius * LARGEST_KEPT_RATIO && !long {
                return d;
            }
            factor *= 1.0 - 1.0 / 4096.0;
        }
        row.fill(0.0);
        0.0
    }

    /// The rows (x̃, d), stored as `features` are.
    ///
    /// # Panics
    /// If m does not have one entry per column.
    pub fn rows(&self, features: &Matrix) -> Matrix {
        let (rows, columns) = (features.rows(), features.columns());
        assert_eq!(self.mean.len(), columns, "an entry a column");
        match features {
            Matrix::Dense(dense) => {
                let mut values = vec![0.0_f32; rows * (columns + 1)];
                values.par_chunks_mut(ROWS_PER_PIECE * (columns + 1)).enumerate().for_each(
                    |(piece, values)| {
                        for (at, into) in values.chunks_exact_mut(columns + 1).enumerate() {
                            let (row, last) = into.split_at_mut(columns);
                            row.copy_from_slice(dense.row(ROWS_PER_PIECE * piece + at));
                            last[0] = self.centre_row(row, |column| self.mean[column]);
                        }
                    },
                );
                Matrix::Dense(DenseMatrix::new(values, rows, columns + 1))
            }
            Matrix::Csr(csr) => {
                let placed = |row: usize| {
                    let (indices, values) = csr.row(row);
                    let mut values = values.to_vec();
                    let d = self.centre_row(&mut values, |at| self.mean[indices[at] as usize]);
                    values.push(d);
                    values
                };
                let values: Vec<f32> = (0..rows)
                    .into_par_iter()
                    .with_min_len(ROWS_PER_PIECE)
                    .flat_map_iter(placed)
                    .collect();
                let last = columns as u32;
                let of_row = |row: usize| csr.row(row).0.iter().copied().chain([last]);
                let indices: Vec<u32> = (0..rows).flat_map(of_row).collect();
                let starts = csr.starts().iter().enumerate().map(|(row, at)| at + row).collect();
                Matrix::Csr(CsrMatrix::new(starts, indices, values, columns + 1))
            }
        }
    }
}

/// The least power of two that is at least x, for x > 0.
fn power_above(x: f64) -> f64 {
    let mut power = libm::exp2(libm::log2(x).ceil());
    while power < x {
        power *= 2.0;
    }
    while power / 2.0 >= x {
        power /= 2.0;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::MatrixBuilder;
    use crate::schema::Storage;
    use proptest::prelude::*;

    /// z of a stored row.
    fn moved(centre: &Centre, row: &[f32]) -> Vec<f64> {
        let (d, own) = row.split_last().unwrap();
        let share = f64::from(*d) / centre.power;
        own.iter().zip(&centre.mean).map(|(x, m)| f64::from(*x) - share * m).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_row_is_centred_by_itself(
            rows in prop::collection::vec(prop::array::uniform4(
                prop_oneof![3 => -0.5..0.5_f32, 1 => Just(0.0_f32)]), 1..600),
            mean in prop::array::uniform4(prop_oneof![4 => -1.0..1.0_f64, 1 => Just(0.0), 1 => -1e9..1e9_f64]),
            radius in prop::sample::select(vec![1e-3, 0.7, 1.0, 5.0]),
            threads in 1_usize..4, at in any::<prop::sample::Index>(), near in any::<bool>(),
        ) {
            let at = at.index(rows.len());
            let rows: Vec<[f32; 4]> = rows.iter().map(|row| row.map(|x| x * radius as f32)).collect();
            let pairs = |row: &[f32; 4]| {
                let all = (0..).zip(row.map(f64::from));
                all.filter(|(_, x)| *x != 0.0).collect::<Vec<_>>()
            };
            let built = |storage, rows: &[[f32; 4]]| {
                let mut builder = MatrixBuilder::new(storage, 4);
                rows.iter().for_each(|row| builder.push(&pairs(row)));
                builder.finish()
            };
            // Next to a row its direction depends on the last bits.
            let mean = if near { rows[at].map(|x| f64::from(x) * (1.0 + 1e-7)) } else { mean.map(|x| x * radius) };
            let centre = Centre::new(&mean, radius);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let alone = centre.rows(&built(Storage::Dense, &rows[at..=at])).dense_row(0);
            for storage in [Storage::Dense, Storage::Csr] {
                let all = pool.install(|| centre.rows(&built(storage, &rows)));
                prop_assert_eq!(all.dense_row(at), alone.clone());
            }
            let grid = power_above(Centre::norm_bound(radius)) * libm::exp2(-23.0);
            prop_assert!(alone.iter().all(|x| (f64::from(*x) / grid).fract() == 0.0));
            let length = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>().sqrt();
            let stored: Vec<f64> = alone.iter().map(|x| f64::from(*x)).collect();
            prop_assert!(length(&stored) <= Centre::norm_bound(radius));
            let z = length(&moved(&centre, &alone));
            prop_assert!(z <= radius, "{z}");
            let apart: Vec<f64> = rows[at].iter().zip(&centre.mean).map(|(x, m)| f64::from(*x) - m).collect();
            if length(&apart) > radius / 4.0 && rows[at] != [0.0; 4] {
                prop_assert!(z >= radius * (1.0 - 1e-3), "as long as it may be: {z}");
            }
            // Scores agree with those of the rows used in training.
            let theta = vec![0.3, -2.0, 0.7, 1.0];
            let learnt: f64 = moved(&centre, &alone).iter().zip(&theta).map(|(z, t)| z * t).sum();
            let entries: Vec<(u32, f32)> = (0..4).zip(rows[at]).collect();
            let thetas = std::slice::from_ref(&theta);
            let scored = centre.scores(&entries, thetas, &centre.inner_products(thetas))[0];
            prop_assert!((scored - learnt).abs() <= 1e-2 * radius, "{scored} {learnt}");
            let point = centre.point(&theta);
            let on_stored: f64 = stored.iter().zip(&point).map(|(x, t)| x * t).sum();
            prop_assert!((on_stored - learnt).abs() <= 1e-9 * radius, "{on_stored} {learnt}");
        }
    }

    #[test]
    fn rows_of_zeros_stay() {
        let rows = Matrix::Dense(DenseMatrix::new(vec![0.0, 0.0, 0.25, 0.5], 2, 2));
        let centre = Centre::new(&[0.25, 0.5], 1.0);
        let moved_rows = centre.rows(&rows);
        assert_eq!(moved_rows.dense_row(0), [0.0; 3]);
        assert!(moved(&centre, &moved_rows.dense_row(1)).iter().all(|x| x.abs() < 1e-4));
        assert_eq!(centre.scores(&[(0, 0.0), (1, 0.0)], &[vec![1.0, 1.0]], &[0.75]), [0.0]);
    }
}
