//! Iterative gradient hard thresholding without noise: the baseline for private learners of few columns.
//!
//! θ ← H_s(θ − η∇L(θ)) from θ = 0, H_s keeping the s largest weights by size, of equal ones the first,
//! and the constant column always (Wang 2021, Algorithm 3). Steps that raise the loss are undone and
//! halved. The columns that remain are then fitted by the solver. There is no guarantee.

use super::chosen_columns::{fill_columns, spread};
use super::minimum::{SolverRequest, solve};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::problems;
use privet_data::Dataset;
use privet_data::matrix::Matrix;
use privet_optim::solver::{Monitor, Penalty};

/// Upper bound on the gradients computed.
const MOST_GRADIENTS: usize = 80;

/// The weights of one problem, for all columns.
pub(super) fn fit_problem(
    facts: &Facts,
    data: &Dataset,
    problem: u32,
    size: usize,
    ask: SolverRequest,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, LearnError> {
    let labels = problems::labels(facts, data, problem)?;
    let columns = threshold_columns(facts, data, &labels, size);
    let part = Dataset { features: data.features.only(&columns), ..data.clone() };
    let fewer = Facts { columns: columns.len(), ..facts.clone() };
    let minimiser = solve(&fewer, &part, problem, ask, &Penalty::None, None, monitor)?.into_theta();
    Ok(spread(vec![minimiser], &columns, facts.columns).remove(0))
}

/// Calls `visit` with the entries of a row (of sparse rows the stored ones).
pub(super) fn for_row(features: &Matrix, row: usize, mut visit: impl FnMut(usize, f64)) {
    match features {
        Matrix::Dense(dense) => {
            let entries = dense.row(row).iter().enumerate();
            entries.for_each(|(column, x)| visit(column, f64::from(*x)));
        }
        Matrix::Csr(csr) => {
            let (columns, values) = csr.row(row);
            let entries = columns.iter().zip(values);
            entries.for_each(|(column, x)| visit(*column as usize, f64::from(*x)));
        }
    }
}

/// The columns that remain, ascending, the constant one last.
fn threshold_columns(facts: &Facts, data: &Dataset, labels: &[f64], size: usize) -> Vec<usize> {
    let square = facts.entry_scale.powi(2).min(facts.radius.powi(2));
    let rate = 1.0 / (labels.len().max(1) as f64 * facts.shape.curvature * square);
    let loss = |margin: f64, label: f64| {
        (facts.loss.value(margin, label), facts.loss.derivative(margin, label))
    };
    iterate_thresholding((&data.features, labels), loss, facts.bias, size, rate)
}

/// The same for any loss, given by its value and derivative at a margin and a label, from this step size
/// on.
pub(super) fn iterate_thresholding(
    (features, labels): (&Matrix, &[f64]),
    of: impl Fn(f64, f64) -> (f64, f64),
    bias: bool,
    size: usize,
    rate: f64,
) -> Vec<usize> {
    let (columns, open) = (features.columns(), features.columns() - usize::from(bias));
    let look = |theta: &[f64]| {
        let (mut loss, mut gradient) = (0.0, vec![0.0; columns]);
        for (row, label) in labels.iter().enumerate() {
            let mut margin = 0.0;
            for_row(features, row, |column, x| margin += x * theta[column]);
            let (value, slope) = of(margin, *label);
            loss += value;
            for_row(features, row, |column, x| gradient[column] += slope * x);
        }
        (loss, gradient)
    };
    let (mut rate, mut theta) = (rate, vec![0.0; columns]);
    let (mut loss, mut gradient) = look(&theta);
    for _ in 0..MOST_GRADIENTS {
        let mut next: Vec<f64> = theta.iter().zip(&gradient).map(|(x, g)| x - rate * g).collect();
        threshold(&mut next[..open], size);
        let (found, slopes) = look(&next);
        if found < loss {
            (theta, loss, gradient) = (next, found, slopes);
        } else {
            rate /= 2.0;
        }
    }
    fill_columns(|column| theta[column] != 0.0, open, size, bias)
}

/// Keeps the `size` largest weights by absolute value: the operator H_s.
fn threshold(weights: &mut [f64], size: usize) {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|a, b| weights[*b].abs().total_cmp(&weights[*a].abs()));
    order.into_iter().skip(size).for_each(|column| weights[column] = 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_by_size_remain() {
        let mut weights = [1.0, -3.0, 2.0, -2.0, 0.5];
        threshold(&mut weights, 2);
        assert_eq!(weights, [0.0, -3.0, 2.0, 0.0, 0.0]);
    }
}
