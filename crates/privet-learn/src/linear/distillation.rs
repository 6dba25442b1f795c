//! A student: a model of few columns, learned from public inputs and a teacher's answers on them.
//!
//! Inputs are public and answers are noisy: everything here is post-processing.

use super::chosen_columns::spread;
use super::ight::{for_row, iterate_thresholding};
use crate::linear::model::LinearWeights;
use privet_data::matrix::{CsrMatrix, Matrix};
use privet_dp::gate::{Next, Walk};
use serde::{Deserialize, Serialize};

/// The student's state: public inputs alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Student {
    /// The inputs X̃; `None` for the unit matrix.
    pub inputs: Option<Inputs>,
    /// The number of columns s to keep.
    pub size: usize,
    /// True if the last column is the constant one, which is kept.
    pub bias: bool,
    /// The norm ν of the inputs.
    pub norm: f64,
    /// True if the answer contains the weights of a private teacher, not answers on the inputs.
    pub told_weights: bool,
}

/// Public rows, serialised.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    columns: usize,
    /// The start index of each row, and the end of the last one.
    starts: Vec<usize>,
    places: Vec<u32>,
    values: Vec<f32>,
}

impl Inputs {
    pub fn of(rows: &Matrix) -> Self {
        let (mut starts, mut places, mut values) = (vec![0], vec![], vec![]);
        for row in 0..rows.rows() {
            for_row(rows, row, |column, x| {
                if x != 0.0 {
                    places.push(column as u32);
                    values.push(x as f32);
                }
            });
            starts.push(places.len());
        }
        Self { columns: rows.columns(), starts, places, values }
    }

    fn rows(self) -> Matrix {
        Matrix::Csr(CsrMatrix::new(self.starts, self.places, self.values, self.columns))
    }
}

impl Walk for Student {
    type Start = Self;
    type Query = ();
    type Answer = Vec<f64>;
    type Artefact = LinearWeights;

    fn begin(start: Self) -> Self {
        start
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<(), LinearWeights> {
        let Some(answers) = answer else { return Next::Ask(()) };
        let weights = match self.inputs.take() {
            None => largest(answers, self.size, self.bias),
            Some(inputs) => {
                let rows = inputs.rows();
                let answers = match self.told_weights {
                    true => (0..rows.rows()).map(|row| margin(&rows, row, &answers)).collect(),
                    false => answers,
                };
                student(&rows, &answers, self.size, self.bias, self.norm)
            }
        };
        Next::Release(LinearWeights::of(vec![weights]))
    }
}

pub(super) fn margin(rows: &Matrix, row: usize, theta: &[f64]) -> f64 {
    let mut margin = 0.0;
    for_row(rows, row, |column, x| margin += x * theta[column]);
    margin
}

/// Keeps the largest weights by size, and the constant column's.
fn largest(weights: Vec<f64>, size: usize, bias: bool) -> Vec<f64> {
    let open = weights.len() - usize::from(bias);
    let mut order: Vec<usize> = (0..open).collect();
    order.sort_by(|a, b| weights[*b].abs().total_cmp(&weights[*a].abs()));
    let mut kept = weights;
    order.into_iter().skip(size).for_each(|column| kept[column] = 0.0);
    kept
}

/// Least squares of few columns.
fn student(rows: &Matrix, answers: &[f64], size: usize, bias: bool, norm: f64) -> Vec<f64> {
    let half = |margin: f64, label: f64| (0.5 * (margin - label).powi(2), margin - label);
    let columns = iterate_thresholding((rows, answers), half, bias, size, 4.0 / (norm * norm));
    let part = rows.only(&columns);
    // Conjugate gradients of the normal equations.
    let transposed = |residual: &[f64]| {
        let mut sums = vec![0.0; part.columns()];
        for (row, value) in residual.iter().enumerate() {
            for_row(&part, row, |column, x| sums[column] += x * value);
        }
        sums
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut theta = vec![0.0; part.columns()];
    let mut residual = answers.to_vec();
    let mut slope = transposed(&residual);
    let mut along = slope.clone();
    let first = dot(&slope, &slope);
    let mut square = first;
    for _ in 0..2 * part.columns() {
        if square <= 1e-24 * first || square == 0.0 {
            break;
        }
        let moved: Vec<f64> = (0..part.rows()).map(|row| margin(&part, row, &along)).collect();
        let step = square / dot(&moved, &moved).max(f64::MIN_POSITIVE);
        theta.iter_mut().zip(&along).for_each(|(t, d)| *t += step * d);
        residual.iter_mut().zip(&moved).for_each(|(r, m)| *r -= step * m);
        slope = transposed(&residual);
        let next = dot(&slope, &slope);
        along.iter_mut().zip(&slope).for_each(|(d, s)| *d = s + next / square * *d);
        square = next;
    }
    let finite = theta.iter().all(|weight| weight.is_finite());
    let theta = if finite { theta } else { vec![0.0; columns.len()] };
    spread(vec![theta], &columns, rows.columns()).remove(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::public_norm::norm_bound;
    use privet_data::matrix::DenseMatrix;

    #[test]
    fn a_student_of_clear_answers_finds_the_columns() {
        let mut source = privet_dp::noise::FixedSeed::new(4);
        let draw = |_| privet_dp::noise::Source::below(&mut source, 2001) as f32 / 1000.0 - 1.0;
        let rows = Matrix::Dense(DenseMatrix::new((0..60 * 8).map(draw).collect(), 60, 8));
        let truth = [0.0, 0.5, 0.0, 0.0, -0.7, 0.0, 0.0, 0.2];
        let answers: Vec<f64> = (0..60).map(|row| margin(&rows, row, &truth)).collect();
        let found = student(&rows, &answers, 2, true, norm_bound(&rows));
        let gap = found.iter().zip(truth).map(|(f, t)| (f - t).abs()).fold(0.0, f64::max);
        assert!(gap < 1e-6, "{found:?}");
        assert_eq!(largest(vec![1.0, -3.0, 2.0, 0.1], 1, true), [0.0, -3.0, 0.0, 0.1]);
    }
}
