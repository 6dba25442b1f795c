//! The huberized LASSO: Σψ(yᵢ − ⟨xᵢ, θ⟩) + w‖θ‖₁ over |θⱼ| ≤ 1, ψ(r) = ½r² up to |r| = κ and κ|r| − ½κ²
//! beyond (Thakurta 2013, §6.3.4, whose toy Huber loss has a sign slip below −α).
//!
//! The derivative |ℓ′·xⱼ| of a record is at most κ·max|xⱼ|, for any target, while that of least squares
//! grows with the residual. **No test of stability is offered for it**: the thesis says that its test
//! functions are "analogous" to those of the LASSO and prints none. The proof for least squares solves
//! one linear system before and after a record is added; here the Hessian changes with θ, since records
//! enter and leave the quadratic part, so that a margin for how many stay in it would have to be part
//! of the test, with a bound on how far *that* changes. Without one there is no distance to release by.
//!
//! The gradient's Lipschitz constant is that of least squares, since ψ″ ≤ 1: ‖X‖₂² ≤ max row sum × max
//! column sum.

use super::{Accelerated, gap};
use crate::solver::SolveError;
use privet_core::Range;

/// Limits on the width κ.
pub const WIDTH: Range = Range::open("width", 0.0, 1e12);
/// Limits on the weight w.
pub const WEIGHT: Range = Range::open("weight", 0.0, 1e12);

/// A problem: rows, targets, κ and w.
#[derive(Debug, Clone, Copy)]
pub struct Huberized<'a> {
    /// The features, row after row.
    pub rows: &'a [f64],
    /// One target for each row.
    pub targets: &'a [f64],
    /// The number of columns p, above 0.
    pub columns: usize,
    /// The residual κ beyond which the loss is linear.
    pub width: f64,
    /// The weight w of the ℓ1 norm.
    pub weight: f64,
}

/// An approximate minimiser.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimiser {
    /// The point θ.
    pub theta: Vec<f64>,
    /// Upper bound on F(θ) − min F, up to rounding.
    pub gap: f64,
    /// Steps taken.
    pub steps: u64,
}

impl Huberized<'_> {
    fn margin(&self, row: &[f64], theta: &[f64]) -> f64 {
        row.iter().zip(theta).map(|(x, t)| x * t).sum()
    }

    /// The objective F(θ).
    pub fn value(&self, theta: &[f64]) -> f64 {
        let one = |(row, y): (&[f64], &f64)| {
            let size = (y - self.margin(row, theta)).abs();
            if size <= self.width {
                0.5 * size * size
            } else {
                self.width * (size - 0.5 * self.width)
            }
        };
        let fit: f64 = self.rows.chunks(self.columns).zip(self.targets).map(one).sum();
        fit + self.weight * theta.iter().map(|t| t.abs()).sum::<f64>()
    }

    /// The gradient of the fit.
    pub fn gradient(&self, theta: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (row, y) in self.rows.chunks(self.columns).zip(self.targets) {
            let slope = (self.margin(row, theta) - y).clamp(-self.width, self.width);
            out.iter_mut().zip(row).for_each(|(g, x)| *g += slope * x);
        }
    }

    fn smoothness(&self) -> f64 {
        let mut sums = vec![0.0; self.columns];
        let mut longest = 0.0_f64;
        for row in self.rows.chunks(self.columns) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x.abs());
            longest = longest.max(row.iter().map(|x| x.abs()).sum());
        }
        (longest * sums.into_iter().fold(0.0, f64::max)).max(f64::MIN_POSITIVE) * (1.0 + 1e-9)
    }

    /// Returns a point whose gap is at most `target`, or an error with the number of steps that were
    /// not enough.
    pub fn minimise(&self, target: f64, limit: u32) -> Result<Minimiser, SolveError> {
        WIDTH.check(self.width)?;
        WEIGHT.check(self.weight)?;
        let solver = Accelerated { smoothness: self.smoothness(), weight: self.weight };
        let mut slope = vec![0.0; self.columns];
        let mut best = Minimiser { theta: vec![0.0; self.columns], gap: f64::INFINITY, steps: 0 };
        let mut seen = |step: u64, theta: &[f64]| {
            // Computing the gap costs a pass, as a step does.
            if step.is_multiple_of(8) || step == u64::from(limit) {
                self.gradient(theta, &mut slope);
                let gap = gap(self.weight, &slope, theta);
                if gap < best.gap {
                    best = Minimiser { theta: theta.to_vec(), gap, steps: step };
                }
            }
            best.gap > target
        };
        let gradient = |at: &[f64], out: &mut [f64]| self.gradient(at, out);
        solver.descend(vec![0.0; self.columns], u64::from(limit), gradient, &mut seen);
        if best.gap <= target { Ok(best) } else { Err(SolveError::NotCertified { limit }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: usize = 40;

    /// Rows of four columns of which the first two matter, and one target that is an outlier.
    fn table() -> (Vec<f64>, Vec<f64>) {
        let mut state = 7_u64;
        let mut draw = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / f64::from(1 << 23) - 1.0
        };
        let rows: Vec<f64> = (0..4 * ROWS).map(|_| draw()).collect();
        let mut targets: Vec<f64> =
            rows.chunks(4).map(|row| 0.6 * row[0] - 0.4 * row[1] + 0.01 * draw()).collect();
        targets[0] = 500.0;
        (rows, targets)
    }

    #[test]
    fn an_outlier_moves_the_huberized_fit_little_and_least_squares_far() {
        let (rows, targets) = table();
        let at =
            |width| Huberized { rows: &rows, targets: &targets, columns: 4, width, weight: 0.5 };
        let robust = at(0.1).minimise(1e-9, 100_000).unwrap();
        let gap = (robust.theta[0] - 0.6).abs().max((robust.theta[1] + 0.4).abs());
        assert!(gap < 0.25 && robust.gap <= 1e-9, "{robust:?}");
        let plain = at(1e6).minimise(1e-9, 100_000).unwrap();
        assert!(plain.theta.iter().any(|t| t.abs() == 1.0), "{plain:?}");
    }

    /// The minimum is exact: no point of a grid is lower, and the gap bounds the excess of any point.
    #[test]
    fn no_point_is_better_and_gaps_bound_the_excess() {
        let (rows, targets) = table();
        let all = Huberized { rows: &rows, targets: &targets, columns: 4, width: 0.3, weight: 2.0 };
        let found = all.minimise(1e-9, 100_000).unwrap();
        let best = all.value(&found.theta);
        let mut slope = vec![0.0; 4];
        for at in 0..625 {
            let theta: Vec<f64> =
                (0..4).map(|j| f64::from(at / 5_i32.pow(j) % 5) / 2.0 - 1.0).collect();
            all.gradient(&theta, &mut slope);
            let excess = all.value(&theta) - best;
            assert!(excess >= -1e-9 && excess <= gap(2.0, &slope, &theta) + 1e-9, "{theta:?}");
        }
    }

    #[test]
    fn too_few_steps_and_odd_settings_are_errors() {
        let (rows, targets) = table();
        let all = Huberized { rows: &rows, targets: &targets, columns: 4, width: 0.3, weight: 2.0 };
        assert!(matches!(all.minimise(1e-9, 2), Err(SolveError::NotCertified { limit: 2 })));
        assert!(Huberized { width: f64::NAN, ..all }.minimise(1.0, 2).is_err());
    }
}
