//! Joint logistic regression of a few rows, for teachers and students: without a certified minimum, and
//! it needs none.
//!
//! Σ_i [ln Σ_k e^⟨xᵢ,θ_k⟩ − ⟨xᵢ,θ_{yᵢ}⟩] + (λ/2)‖θ‖² by a fixed number of steps of Nesterov's method
//! with step size 1/(Σ‖xᵢ‖²/2 + λ): the cost depends on the number of rows alone. The result is a
//! function of its rows; privacy requires no more of a teacher.

use super::teacher::{Classifier, LabelledRows};

/// Number of steps.
const DESCENT_STEPS: usize = 150;

/// Weights by class.
#[derive(Debug)]
pub(super) struct Logistic {
    columns: usize,
    theta: Vec<f32>,
}

/// ⟨a, b⟩ in eight partial sums, so that it vectorises.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

impl Logistic {
    /// Model of all rows of a lesson.
    pub fn of(labelled: &LabelledRows<'_>, ridge: f64) -> Self {
        let (columns, classes) = (labelled.columns, labelled.classes);
        let squares: f64 = (0..labelled.labels.len())
            .map(|row| f64::from(dot(labelled.row(row), labelled.row(row))))
            .sum();
        let (ridge, step) = (ridge as f32, (1.0 / (0.5 * squares + ridge)) as f32);
        let mut theta = vec![0.0_f32; columns * classes];
        let (mut ahead, mut momentum) = (theta.clone(), 1.0_f32);
        let mut shares = vec![0.0; classes];
        for _ in 0..DESCENT_STEPS {
            let mut gradient: Vec<f32> = ahead.iter().map(|weight| weight * ridge).collect();
            for (row, label) in labelled.labels.iter().enumerate() {
                let x = labelled.row(row);
                softmax(&ahead, x, &mut shares);
                shares[*label as usize] -= 1.0;
                for (share, sums) in shares.iter().zip(gradient.chunks_exact_mut(columns.max(1))) {
                    sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += share * x);
                }
            }
            let next = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            let carry = (momentum - 1.0) / next;
            momentum = next;
            for ((weight, ahead), slope) in theta.iter_mut().zip(&mut ahead).zip(&gradient) {
                let new = *ahead - step * slope;
                (*ahead, *weight) = (new + carry * (new - *weight), new);
            }
        }
        Self { columns, theta }
    }
}

/// Probabilities of the classes.
fn softmax(theta: &[f32], x: &[f32], shares: &mut [f32]) {
    for (share, weights) in shares.iter_mut().zip(theta.chunks_exact(x.len().max(1))) {
        *share = dot(weights, x);
    }
    let most = shares.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    shares.iter_mut().for_each(|share| *share = (*share - most).exp());
    let sum: f32 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum);
}

impl Classifier for Logistic {
    fn class_weights(&self, row: &[f32]) -> Vec<f32> {
        let mut shares = vec![0.0; self.theta.len() / self.columns.max(1)];
        softmax(&self.theta, row, &mut shares);
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::super::teacher::ranked_first;
    use super::*;

    #[test]
    fn three_directions_are_told_apart_and_one_class_is_learnt() {
        let angle = |k: u32, turn: f32| (k as f32 * 2.094 + turn).sin_cos();
        let (mut rows, mut labels) = (vec![], vec![]);
        for at in 0..90_u32 {
            let (sin, cos) = angle(at % 3, (at as f32 / 90.0 - 0.5) * 1.5);
            rows.extend([cos, sin]);
            labels.push(at % 3);
        }
        let labelled =
            LabelledRows { columns: 2, classes: 3, rows: &rows, labels: &labels, number: 0 };
        let model = Logistic::of(&labelled, 0.1);
        let right = (0..90)
            .filter(|row| ranked_first(&model.class_weights(labelled.row(*row))) == labels[*row]);
        assert!(right.count() >= 88);
        let one =
            LabelledRows { columns: 2, classes: 3, rows: &rows[..4], labels: &[2, 2], number: 0 };
        assert_eq!(ranked_first(&Logistic::of(&one, 0.1).class_weights(&rows[..2])), 2);
    }
}
