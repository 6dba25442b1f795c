//! Second-order passes: XᵀWX, its diagonal, and its product with a vector, W = diag(ℓ″).
//!
//! Solvers use these to choose directions only; no certificate rests on them, so their sums carry no
//! error bound.

use super::gradient::ROWS_PER_PART;
use super::{Block, Statistic};
use crate::kernel::{Kernel, dense, dispatch, fma};
use crate::loss::Loss;
use serde::{Deserialize, Serialize};

/// The sum Σℓ″·x xᵀ at θ over every `stride`-th part of the rows, scaled up to all of them.
///
/// The sum is the upper triangle of a row-major square matrix; the part below it is unspecified.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hessian {
    /// The loss ℓ.
    pub loss: Loss,
    /// The point θ.
    pub theta: Vec<f64>,
    /// 1 takes all rows; k takes one part of 128 rows in k, for a cheap preconditioner.
    pub stride: u32,
}

impl Statistic for Hessian {
    type Sum = Vec<f64>;
    const NAME: &'static str = "hessian";

    fn bound(&self, radius: f64) -> f64 {
        f64::from(self.stride) * self.loss.smoothness(radius)
    }
    fn zero(&self, columns: usize) -> Vec<f64> {
        vec![0.0; columns * columns]
    }
    fn bytes(&self, columns: usize) -> usize {
        8 * columns * columns
    }
    /// With a stride, parts are scaled by their number in the block.
    fn grain(&self, _columns: usize) -> Option<usize> {
        (self.stride <= 1).then_some(ROWS_PER_PART)
    }
    fn add(&self, block: Block<'_>, into: &mut Vec<f64>) {
        dispatch(HessianPass { statistic: self, rows: block, sum: into });
    }
    fn merge(&self, into: &mut Vec<f64>, other: Vec<f64>) {
        add_to(into, &other);
    }
}

fn add_to(into: &mut [f64], other: &[f64]) {
    for (total, s) in into.iter_mut().zip(other) {
        *total += s;
    }
}

struct HessianPass<'a> {
    statistic: &'a Hessian,
    rows: Block<'a>,
    sum: &'a mut [f64],
}

impl Kernel for HessianPass<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const F: bool>(self) {
        let Hessian { loss, theta, stride } = self.statistic;
        let columns = self.rows.columns();
        let (mut margins, mut weights) = ([0.0; ROWS_PER_PART], [0.0; ROWS_PER_PART]);
        let mut scratch = match self.rows.dense() {
            Some(_) => vec![0.0; dense::gram_scratch(columns)],
            None => Vec::new(),
        };
        let parts = || self.rows.parts(ROWS_PER_PART).step_by((*stride).max(1) as usize);
        let taken: usize = parts().map(|part| part.rows()).sum();
        let scale = self.rows.rows() as f64 / taken.max(1) as f64;
        for part in parts() {
            let (margins, weights) = (&mut margins[..part.rows()], &mut weights[..part.rows()]);
            part.margins::<F>(theta, margins);
            loss.second_derivatives::<F>(margins, part.labels(), weights);
            for w in weights.iter_mut() {
                *w *= scale;
            }
            if let Some(values) = part.dense() {
                let rows = values.chunks(dense::GRAM_ROWS * columns.max(1));
                for (values, weights) in rows.zip(weights.chunks(dense::GRAM_ROWS)) {
                    dense::gram::<F>(values, columns, weights, &mut scratch, self.sum);
                }
            } else {
                for (row, &w) in part.sparse().zip(&*weights) {
                    if w != 0.0 {
                        row.rank_one::<F>(w, self.sum);
                    }
                }
            }
        }
    }
}

/// The diagonal Σℓ″·x_j² at θ for every feature j.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HessianDiagonal {
    /// The loss ℓ.
    pub loss: Loss,
    /// The point θ.
    pub theta: Vec<f64>,
}

/// The product Σℓ″·⟨x, v⟩·x at θ for a direction v.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HessianVector {
    /// The loss ℓ.
    pub loss: Loss,
    /// The point θ.
    pub theta: Vec<f64>,
    /// The direction v.
    pub direction: Vec<f64>,
}

impl Statistic for HessianDiagonal {
    type Sum = Vec<f64>;
    const NAME: &'static str = "hessian-diagonal";

    fn bound(&self, radius: f64) -> f64 {
        self.loss.smoothness(radius)
    }
    fn zero(&self, columns: usize) -> Vec<f64> {
        vec![0.0; columns]
    }
    fn bytes(&self, columns: usize) -> usize {
        8 * columns
    }
    fn grain(&self, _columns: usize) -> Option<usize> {
        Some(ROWS_PER_PART)
    }
    fn add(&self, block: Block<'_>, into: &mut Vec<f64>) {
        dispatch(DiagonalPass { statistic: self, rows: block, sum: into });
    }
    fn merge(&self, into: &mut Vec<f64>, other: Vec<f64>) {
        add_to(into, &other);
    }
}

struct DiagonalPass<'a> {
    statistic: &'a HessianDiagonal,
    rows: Block<'a>,
    sum: &'a mut [f64],
}

impl Kernel for DiagonalPass<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const F: bool>(self) {
        let HessianDiagonal { loss, theta } = self.statistic;
        let (mut margins, mut weights) = ([0.0; ROWS_PER_PART], [0.0; ROWS_PER_PART]);
        for part in self.rows.parts(ROWS_PER_PART) {
            let (margins, weights) = (&mut margins[..part.rows()], &mut weights[..part.rows()]);
            part.margins::<F>(theta, margins);
            loss.second_derivatives::<F>(margins, part.labels(), weights);
            if let Some(values) = part.dense() {
                dense::squares::<F>(values, part.columns(), weights, self.sum);
            }
            for (row, &w) in part.sparse().zip(&*weights) {
                for (&j, &x) in row.indices().iter().zip(row.values()) {
                    let s = &mut self.sum[j as usize];
                    *s = fma::<F>(w * f64::from(x), f64::from(x), *s);
                }
            }
        }
    }
}

impl Statistic for HessianVector {
    type Sum = Vec<f64>;
    const NAME: &'static str = "hessian-vector";

    fn bound(&self, radius: f64) -> f64 {
        let norm = self.direction.iter().map(|t| t * t).sum::<f64>().sqrt();
        self.loss.smoothness(radius) * norm
    }
    fn zero(&self, columns: usize) -> Vec<f64> {
        vec![0.0; columns]
    }
    fn bytes(&self, columns: usize) -> usize {
        8 * columns
    }
    fn grain(&self, _columns: usize) -> Option<usize> {
        Some(ROWS_PER_PART)
    }
    fn add(&self, block: Block<'_>, into: &mut Vec<f64>) {
        dispatch(VectorPass { statistic: self, rows: block, sum: into });
    }
    fn merge(&self, into: &mut Vec<f64>, other: Vec<f64>) {
        add_to(into, &other);
    }
}

struct VectorPass<'a> {
    statistic: &'a HessianVector,
    rows: Block<'a>,
    sum: &'a mut [f64],
}

impl Kernel for VectorPass<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const F: bool>(self) {
        let HessianVector { loss, theta, direction } = self.statistic;
        let (mut margins, mut along, mut weights) =
            ([0.0; ROWS_PER_PART], [0.0; ROWS_PER_PART], [0.0; ROWS_PER_PART]);
        for part in self.rows.parts(ROWS_PER_PART) {
            let count = part.rows();
            let (margins, along) = (&mut margins[..count], &mut along[..count]);
            let weights = &mut weights[..count];
            part.margins::<F>(theta, margins);
            part.margins::<F>(direction, along);
            loss.second_derivatives::<F>(margins, part.labels(), weights);
            for (w, a) in weights.iter_mut().zip(along) {
                *w *= *a;
            }
            part.accumulate::<F>(weights, self.sum);
        }
    }
}
