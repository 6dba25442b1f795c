//! Minibatch passes over rows in a given order, with a bound on the rounding error of an update.
//!
//! One update, from a batch B of at most k rows, is the map
//!
//! θ ↦ rθ − s·Σ_{i∈B} mᵢ(θ)xᵢ,  mᵢ(θ) = ℓ′(⟨xᵢ,θ⟩; yᵢ) clipped to [−S, S].
//!
//! **Lemma 1.** If s·k·c·R² ≤ 2r, c ≥ ℓ″ and ‖xᵢ‖₂ ≤ R, then the map is r-Lipschitz in θ.
//! *Proof.* m(u) is monotone and c-Lipschitz, so Σmᵢxᵢ is the gradient of a convex function of
//! smoothness β′ = kcR², and ⟨Δg, Δθ⟩ ≥ ‖Δg‖²/β′. Hence
//! ‖rΔθ − sΔg‖² ≤ r²‖Δθ‖² − s(2r/β′ − s)‖Δg‖² ≤ r²‖Δθ‖². ∎
//!
//! **Lemma 2.** Let ‖θ‖ ≤ A and ‖rθ − sΣmᵢxᵢ‖ ≤ A. The computed update is within
//! ρ = s·k·R·(cRAγ_{p+8} + e + S(γ_{k+1} + 2u)) + 2uA, up to a factor of 1.01, of the map's value, where
//! γ_j = ju/(1 − ju), u = 2⁻⁵³ and e bounds the error of the computed ℓ′.
//! *Proof.* A margin errs by at most γ_{p+8}·Σ|x_jθ_j| ≤ γ_{p+8}RA; ℓ′ changes by at most c times that,
//! and errs by e; clipping does not add. A coordinate of the sum passes through at most k + 1
//! roundings, so that the sum errs by at most γ_{k+1}·kSR; the product with s by u·s·kSR; the product
//! with r and the difference by uA each. Products of these are below 1 % of them. ∎ Underflow is
//! covered by [`f64::MIN_POSITIVE`] for each of the k·p products.
//!
//! - r [`Step::shrink`], s [`Step::rate`], S `slope`, p columns
//! - On sparse rows with r = 1 an update touches only the entries of its rows.
//! - Tested by `an_update_is_computed_within_its_bound`, `sparse_and_dense_rows_agree`.

use crate::kernel::{Kernel, UNIT_ROUNDOFF, accumulated, dispatch};
use crate::loss::Loss;
use crate::sum::Block;
use privet_data::matrix::Matrix;
use rayon::prelude::*;

/// Rows whose margins are kept at a time.
const ROWS_PER_PART: usize = 128;

/// The parameters of one update.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The shrinkage factor r.
    pub shrink: f64,
    /// The step size s, applied to the sum over the batch, not to its mean.
    pub rate: f64,
}

/// Rows in the order of the batches.
#[derive(Clone, Copy)]
pub struct Batches<'a> {
    features: &'a Matrix,
    ends: &'a [usize],
}

impl<'a> Batches<'a> {
    /// Batch b holds the rows from the end of the one before up to `ends[b]`; `None` unless the ends
    /// never fall and stay within the rows.
    pub fn new(features: &'a Matrix, ends: &'a [usize]) -> Option<Self> {
        let rising = ends.windows(2).all(|pair| pair[0] <= pair[1]);
        let within = ends.last().is_none_or(|last| *last <= features.rows());
        (rising && within).then_some(Self { features, ends })
    }
}

/// Shape only: the order is secret.
impl std::fmt::Debug for Batches<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Batches({:?}, order withheld)", self.features)
    }
}

/// The objective that is minimised, one batch after the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passes {
    /// The loss ℓ.
    pub loss: Loss,
    /// The bound S to which |ℓ′| is clipped.
    pub slope: f64,
}

impl Passes {
    /// Runs [`Passes::run`] for several problems on the same rows; returns all θs in one vector.
    pub fn run_all(
        &self,
        batches: Batches<'_>,
        labels: &[Vec<f64>],
        passes: u32,
        step: impl Fn(u64) -> Step + Sync,
        proceed: impl Fn() -> bool + Sync,
    ) -> Option<Vec<f64>> {
        let one = |labels: &Vec<f64>| self.run(batches, labels, passes, &step, &proceed);
        let all: Option<Vec<Vec<f64>>> = labels.par_iter().map(one).collect();
        Some(all?.concat())
    }

    /// From θ = 0, `passes` times over all batches; update t, from 1, uses `step(t)`. `proceed` is
    /// called before each pass; returns `None` if it returns false or if there is not one label for
    /// each row.
    pub fn run(
        &self,
        batches: Batches<'_>,
        labels: &[f64],
        passes: u32,
        step: impl Fn(u64) -> Step,
        proceed: impl Fn() -> bool,
    ) -> Option<Vec<f64>> {
        let Batches { features, ends } = batches;
        if labels.len() != features.rows() {
            return None;
        }
        let (mut theta, mut sum) = (vec![0.0; features.columns()], vec![0.0; features.columns()]);
        let mut update = 0;
        for _ in 0..passes {
            if !proceed() {
                return None;
            }
            let mut start = 0;
            for &end in ends {
                update += 1;
                let rows = Block::new(features, start, &labels[start..end]);
                let (theta, sum) = (&mut theta[..], &mut sum[..]);
                dispatch(Update { passes: *self, step: step(update), rows, theta, sum });
                start = end;
            }
        }
        Some(theta)
    }
}

struct Update<'a> {
    passes: Passes,
    step: Step,
    rows: Block<'a>,
    theta: &'a mut [f64],
    /// Zero before and after.
    sum: &'a mut [f64],
}

impl Kernel for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const F: bool>(self) {
        let Self { passes: Passes { loss, slope }, step: Step { shrink, rate }, .. } = self;
        let (mut margins, mut multipliers) = ([0.0; ROWS_PER_PART], [0.0; ROWS_PER_PART]);
        for part in self.rows.parts(ROWS_PER_PART) {
            let margins = &mut margins[..part.rows()];
            let multipliers = &mut multipliers[..part.rows()];
            part.margins::<F>(self.theta, margins);
            loss.derivatives::<F>(margins, part.labels(), multipliers);
            multipliers.iter_mut().for_each(|m| *m = m.clamp(-slope, slope));
            part.accumulate::<F>(multipliers, self.sum);
        }
        if self.rows.dense().is_none() && shrink == 1.0 {
            for row in self.rows.sparse() {
                for &j in row.indices() {
                    let (x, s) = (&mut self.theta[j as usize], &mut self.sum[j as usize]);
                    *x -= rate * *s;
                    *s = 0.0;
                }
            }
            return;
        }
        for (x, s) in self.theta.iter_mut().zip(&mut *self.sum) {
            *x = *x * shrink - rate * *s;
            *s = 0.0;
        }
    }
}

/// Public numbers that determine the rounding error of an update.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rounding {
    /// The loss ℓ and the clipping bound S.
    pub passes: Passes,
    /// The number of columns p.
    pub columns: usize,
    /// The largest number of rows of a batch k.
    pub batch: u64,
    /// The bound R on rows' norms.
    pub radius: f64,
    /// The bound A on ‖θ‖.
    pub norm: f64,
}

impl Rounding {
    /// The bound ρ of Lemma 2 for an update with this step size, rounded up; infinite where there is
    /// none.
    pub fn of_update(&self, rate: f64) -> f64 {
        let Self { passes: Passes { loss, slope }, radius, norm, .. } = *self;
        let (columns, batch) = (self.columns as f64, self.batch as f64);
        let margin = loss.curvature() * radius * norm * accumulated(columns + 8.0);
        let sum = slope * (accumulated(batch + 1.0) + 2.0 * UNIT_ROUNDOFF);
        let scaled = rate * batch * radius * (margin + loss.derivative_error() + sum);
        let underflow = f64::MIN_POSITIVE * batch * columns;
        1.01 * (scaled + 2.0 * UNIT_ROUNDOFF * norm) + underflow
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::double_double::DoubleDouble;
    use crate::testing::{Lcg, dense, random_csr, random_dense};
    use proptest::prelude::*;

    const LOSSES: [Loss; 3] = [Loss::Logistic, Loss::HuberSvm { h: 0.1 }, Loss::SQUARED];

    fn case(seed: u64, sparse: bool, rows: usize) -> (Matrix, Vec<f64>, Vec<usize>) {
        let mut random = Lcg(seed);
        let matrix = if sparse {
            random_csr(&mut random, rows, 9, 3)
        } else {
            random_dense(&mut random, rows, 9)
        };
        let labels = (0..rows).map(|_| random.sign()).collect();
        // Batches of unequal sizes, an empty one among them.
        (matrix, labels, vec![0, rows / 3, rows / 2, rows])
    }

    fn norm(vector: impl Iterator<Item = f64>) -> f64 {
        vector.map(|x| x * x).sum::<f64>().sqrt()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Against the same update in double-double, whose own error is far below the bound.
        #[test]
        fn an_update_is_computed_within_its_bound(
            seed in any::<u64>(), sparse in any::<bool>(), size in 0.0..100.0_f64,
            kind in 0_usize..3, slope in 0.1..2.0_f64, shrink in 0.0..1.0_f64
        ) {
            let (matrix, labels, _) = case(seed, sparse, 200);
            let mut random = Lcg(seed ^ 1);
            let (loss, columns) = (LOSSES[kind], matrix.columns());
            let start: Vec<f64> = (0..columns).map(|_| size * random.centred()).collect();
            let step = Step { shrink, rate: 0.01 };
            let (mut theta, mut sum) = (start.clone(), vec![0.0; columns]);
            let passes = Passes { loss, slope };
            let rows = Block::new(&matrix, 0, &labels);
            dispatch(Update { passes, step, rows, theta: &mut theta, sum: &mut sum });
            prop_assert!(sum.iter().all(|s| *s == 0.0));
            let mut exact = vec![DoubleDouble::ZERO; columns];
            for (i, &y) in labels.iter().enumerate() {
                let row = matrix.dense_row(i);
                let term = |(x, t): (&f32, &f64)| {
                    DoubleDouble { high: *t, low: 0.0 }.times(f64::from(*x))
                };
                let u = row.iter().zip(&start).map(term).fold(DoubleDouble::ZERO, |a, b| a + b);
                let m = loss.precise_derivative(u, y);
                let m = match m.high {
                    high if high > slope => DoubleDouble { high: slope, low: 0.0 },
                    high if high < -slope => DoubleDouble { high: -slope, low: 0.0 },
                    _ => m,
                };
                for (e, x) in exact.iter_mut().zip(&row) {
                    *e = *e + m.times(f64::from(*x));
                }
            }
            let mut error = Vec::new();
            for ((x, from), e) in theta.iter().zip(&start).zip(&exact) {
                let kept = DoubleDouble { high: *from, low: 0.0 }.times(shrink);
                let moved = kept + e.times(-step.rate);
                let off = moved + DoubleDouble { high: -x, low: 0.0 };
                error.push(off.high);
            }
            let norm_of = |vector: &[f64]| norm(vector.iter().copied());
            let largest = norm_of(&start).max(norm_of(&theta)) * 1.001;
            let bound = Rounding { passes, columns, batch: 200, radius: 1.0, norm: largest };
            prop_assert!(norm_of(&error) <= bound.of_update(step.rate));
            prop_assert!(bound.of_update(step.rate) < 1e-9, "the bound is of use");
        }

        #[test]
        fn sparse_and_dense_rows_agree(seed in any::<u64>(), shrink in prop::sample::select(vec![1.0, 0.99])) {
            let (matrix, labels, ends) = case(seed, true, 150);
            let passes = Passes { loss: Loss::Logistic, slope: 0.5 };
            let run = |matrix: &Matrix| {
                let batches = Batches::new(matrix, &ends).unwrap();
                let step = |update: u64| Step { shrink, rate: 0.1 / update as f64 };
                passes.run(batches, &labels, 3, step, || true).unwrap()
            };
            let (one, two) = (run(&matrix), run(&dense(&matrix)));
            prop_assert!(norm(one.iter().zip(&two).map(|(a, b)| a - b)) < 1e-12);
            prop_assert!(norm(one.into_iter()) > 0.0);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_and_a_stop_returns_nothing() {
        let (matrix, labels, ends) = case(1, false, 30);
        assert!(Batches::new(&matrix, &[31]).is_none());
        assert!(Batches::new(&matrix, &[20, 10]).is_none());
        let batches = Batches::new(&matrix, &ends).unwrap();
        let passes = Passes { loss: Loss::Logistic, slope: 0.5 };
        let step = |_| Step { shrink: 1.0, rate: 0.1 };
        assert!(passes.run(batches, &labels[1..], 1, step, || true).is_none());
        assert!(passes.run(batches, &labels, 1, step, || false).is_none());
        let one = passes.run(batches, &labels, 2, step, || true).unwrap();
        let other: Vec<f64> = labels.iter().map(|y| -y).collect();
        let both = passes.run_all(batches, &[labels.clone(), other], 2, step, || true).unwrap();
        assert_eq!((both.len(), &both[..9]), (18, &one[..]));
        let none = Batches::new(&matrix, &[]).unwrap();
        assert_eq!(passes.run(none, &labels, 5, step, || true), Some(vec![0.0; 9]));
    }
}
