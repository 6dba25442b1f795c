//! Least squares of the classes' indicators, for teachers and students: without a certified minimum, and
//! it needs none.
//!
//! Centred rows, Σᵢ‖y(i) − θxᵢ‖² + λ‖θ‖², y the indicator of a row's class minus its mean: solved by the
//! eigenvalues of XᵀX, or of XXᵀ if there are fewer rows than columns. A direct solution, without
//! iterations.

use super::graph::{centred, products, transpose};
use super::logistic::dot;
use super::teacher::{Classifier, LabelledRows};
use privet_optim::spectrum::Spectrum;

/// Upper limit on the smaller of the numbers of rows and columns: the cost grows with its cube.
pub const SIDE: u64 = 5_000;

/// Weights by class.
#[derive(Debug)]
pub(super) struct LeastSquares {
    means: Vec<f32>,
    shares: Vec<f32>,
    /// Weights of each class, one after the other.
    theta: Vec<f32>,
}

impl LeastSquares {
    /// Model of all rows of a lesson.
    pub fn of(labelled: &LabelledRows<'_>, ridge: f64) -> Self {
        let (columns, classes, count) = (labelled.columns, labelled.classes, labelled.labels.len());
        let (rows, means) = centred(labelled.rows, columns);
        let mut shares = vec![0.0_f32; classes];
        labelled
            .labels
            .iter()
            .for_each(|label| shares[*label as usize] += 1.0 / count.max(1) as f32);
        let by_columns = columns <= count;
        let turned = if by_columns { transpose(&rows, columns) } else { Vec::new() };
        let (vectors, side) = if by_columns { (&turned, columns) } else { (&rows, count) };
        let spectrum = Spectrum::of(&products(vectors, vectors.len() / side.max(1)), side);
        let mut theta = vec![0.0_f32; columns * classes];
        let each = theta.chunks_exact_mut(columns.max(1)).zip(&shares).enumerate();
        for (class, (weights, share)) in each {
            let Some(spectrum) = &spectrum else { break };
            let own =
                |label: &u32| f64::from(u8::from(*label as usize == class)) - f64::from(*share);
            let target: Vec<f64> = labelled.labels.iter().map(own).collect();
            // Xᵀy, or y itself.
            let right = if by_columns { combine_rows(&rows, columns, &target) } else { target };
            let mut along = spectrum.coordinates(&right);
            let values = spectrum.values().iter();
            along.iter_mut().zip(values).for_each(|(x, value)| *x /= value.max(0.0) + ridge);
            let solved = spectrum.combination(&along);
            let solved = if by_columns { solved } else { combine_rows(&rows, columns, &solved) };
            weights.iter_mut().zip(solved).for_each(|(weight, x)| *weight = x as f32);
        }
        Self { means, shares, theta }
    }
}

/// Linear combination of rows, Σᵢ cᵢxᵢ.
fn combine_rows(rows: &[f32], columns: usize, weights: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; columns];
    for (row, weight) in rows.chunks_exact(columns.max(1)).zip(weights) {
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += weight * f64::from(*x));
    }
    sums
}

impl Classifier for LeastSquares {
    fn class_weights(&self, row: &[f32]) -> Vec<f32> {
        let apart: Vec<f32> = row.iter().zip(&self.means).map(|(x, mean)| x - mean).collect();
        let weights = self.theta.chunks_exact(self.means.len().max(1));
        weights.zip(&self.shares).map(|(weights, share)| dot(weights, &apart) + share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::teacher::ranked_first;
    use super::*;

    /// With more rows than columns and with fewer: with a negligible ridge, the same fit.
    #[test]
    fn three_directions_are_told_apart_from_either_side() {
        for (count, columns) in [(90_u32, 2), (30, 60)] {
            let (mut rows, mut labels) = (vec![], vec![]);
            for at in 0..count {
                let angle = (at % 3) as f32 * 2.094 + (at as f32 / count as f32 - 0.5) * 1.2;
                let entry =
                    |k: usize| [angle.cos(), angle.sin()][k % 2] * (1.0 + (k / 2) as f32 / 90.0);
                rows.extend((0..columns).map(entry));
                labels.push(at % 3);
            }
            let labelled =
                LabelledRows { columns, classes: 3, rows: &rows, labels: &labels, number: 0 };
            let model = LeastSquares::of(&labelled, 0.03);
            let weighed = |row: usize| model.class_weights(labelled.row(row));
            let right =
                (0..count as usize).filter(|row| ranked_first(&weighed(*row)) == labels[*row]);
            assert_eq!(right.count(), count as usize);
            assert!((weighed(0).iter().sum::<f32>() - 1.0).abs() < 1e-3);
        }
        let one =
            LabelledRows { columns: 2, classes: 3, rows: &[1.0, 0.0], labels: &[2], number: 0 };
        assert_eq!(ranked_first(&LeastSquares::of(&one, 0.03).class_weights(&[0.5, 0.5])), 2);
    }
}
