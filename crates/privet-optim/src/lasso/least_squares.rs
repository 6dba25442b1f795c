//! The LASSO ½Σ(y − ⟨x, θ⟩)² + w‖θ‖₁ over |θⱼ| ≤ 1, by second moments: a step costs p for every
//! non-zero weight.

use super::{Accelerated, StepCallback, rounding_of_steps};

/// Second moments of rows and targets.
#[derive(Clone)]
pub struct LeastSquares {
    columns: usize,
    gram: Vec<f64>,
    linear: Vec<f64>,
}

impl LeastSquares {
    /// From XᵀX, row after row, and Xᵀy; `None` if their sizes do not fit.
    pub fn new(gram: Vec<f64>, linear: Vec<f64>) -> Option<Self> {
        let columns = linear.len();
        (gram.len() == columns * columns).then_some(Self { columns, gram, linear })
    }

    /// The number of columns p.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// A row of XᵀX.
    pub fn row(&self, column: usize) -> &[f64] {
        &self.gram[column * self.columns..(column + 1) * self.columns]
    }

    /// The vector Xᵀy.
    pub fn linear(&self) -> &[f64] {
        &self.linear
    }

    /// Upper bound on the Lipschitz constant of the gradient, at least 1: the largest sum of absolute
    /// entries in a row.
    pub fn smoothness(&self) -> f64 {
        let sum = |column: usize| self.row(column).iter().map(|entry| entry.abs()).sum::<f64>();
        (0..self.columns).map(sum).fold(1.0, f64::max) * (1.0 + 1e-9)
    }

    /// The gradient Xᵀ(Xθ − y), computed anew.
    pub fn gradient(&self, theta: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.columns];
        self.gradient_into(theta, &mut out);
        out
    }

    fn gradient_into(&self, theta: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(&self.linear).for_each(|(g, c)| *g = -c);
        for (column, t) in theta.iter().enumerate().filter(|(_, t)| **t != 0.0) {
            out.iter_mut().zip(self.row(column)).for_each(|(g, a)| *g += a * t);
        }
    }

    /// Takes this many accelerated steps from a point.
    pub fn descend(
        &self,
        (smoothness, weight): (f64, f64),
        start: Vec<f64>,
        steps: u64,
        seen: &mut StepCallback<'_>,
    ) -> Vec<f64> {
        let gradient = |at: &[f64], out: &mut [f64]| self.gradient_into(at, out);
        Accelerated { smoothness, weight }.descend(start, steps, gradient, seen)
    }
}

/// Shape only: the values are private.
impl std::fmt::Debug for LeastSquares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LeastSquares({} columns, values withheld)", self.columns)
    }
}

/// Bounds on the rounding error of a gradient in each coordinate at points with |θⱼ| ≤ 3, and on ‖e‖₂
/// of a descent: `rows` records with entries at most 1 and targets at most `label`, moments within 4
/// units in the last place.
pub fn rounding(columns: usize, rows: f64, label: f64, weight: f64) -> (f64, f64) {
    let count = columns as f64;
    let largest = rows * (3.0 * count + label);
    let each = 0.5 * f64::EPSILON * (count + 8.0) * largest * 1.01;
    let steps = rounding_of_steps(columns, 1.01 * count * rows, largest, weight);
    (each, count.sqrt() * each + steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lasso::{gap, steps};

    /// Two equal columns among four: the minimiser is not unique, and the excess is still attained.
    #[test]
    fn equal_columns_are_no_obstacle() {
        let rows = [[1.0, 1.0, 0.2, -1.0], [0.5, 0.5, -1.0, 0.0], [-1.0, -1.0, 0.3, 0.5]];
        let targets = [1.0, 0.3, -0.9];
        let product = |j: usize, k: usize| rows.iter().map(|row| row[j] * row[k]).sum::<f64>();
        let gram = (0..16).map(|at| product(at / 4, at % 4)).collect();
        let linear: Vec<f64> =
            (0..4).map(|j| rows.iter().zip(&targets).map(|(row, y)| row[j] * y).sum()).collect();
        let all = LeastSquares::new(gram, linear).unwrap();
        let (smoothness, weight) = (all.smoothness(), 0.1);
        let count = steps(smoothness, 2.0, 1e-10);
        let theta = all.descend((smoothness, weight), vec![0.0; 4], count, &mut |_, _| true);
        let found = gap(weight, &all.gradient(&theta), &theta);
        assert!(found < 1e-4, "{found}");
        assert!((theta[0] - theta[1]).abs() < 1e-12, "{theta:?}");
        assert!(LeastSquares::new(vec![1.0; 3], vec![1.0; 2]).is_none());
    }

    #[test]
    fn rounding_is_far_below_what_steps_allow_at_usual_sizes() {
        let (each, all) = rounding(100, 1e5, 2.0, 1e4);
        assert!(each < 1e-6 && all < 1e-5 && all >= each, "{each} {all}");
    }
}
