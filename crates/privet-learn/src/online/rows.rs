//! What one record says of a point: its margin, its clipped slope, its gradient in whole numbers.
//!
//! All of it is a function of the record and the point alone: entries are taken in the order of their columns and
//! zeros are passed over, so that dense and sparse rows give the same bits.

use super::Horizon;
use crate::{LearnError, admit};
use privet_data::Dataset;
use privet_data::matrix::Matrix;
use privet_optim::loss::Loss;

/// Some consecutive records of a stream with their labels. Private: printing shows how many there are.
pub struct Slots<'a> {
    features: &'a Matrix,
    labels: Vec<f64>,
}

impl std::fmt::Debug for Slots<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Slots({}, withheld)", self.labels.len())
    }
}

impl<'a> Slots<'a> {
    /// Of rows that fit the plan.
    pub fn of(horizon: &Horizon, data: &'a Dataset) -> Result<Self, LearnError> {
        let labels = admit::labels(&horizon.facts, data, 0)?;
        if labels.len() != data.features.rows() {
            return Err(LearnError::DataShape("there is not one target for each row"));
        }
        Ok(Self { features: &data.features, labels })
    }

    /// Of records that are in a cell, or in none (−1).
    pub(crate) fn of_cells(features: &'a Matrix, cells: Vec<f64>) -> Self {
        Self { features, labels: cells }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// The label of a row.
    pub fn label(&self, row: usize) -> f64 {
        self.labels[row]
    }

    /// Each entry of a row that is not zero, in order.
    #[inline(always)]
    pub fn each(&self, row: usize, mut see: impl FnMut(usize, f64)) {
        match self.features {
            Matrix::Dense(dense) => {
                for (column, x) in dense.row(row).iter().enumerate() {
                    if *x != 0.0 {
                        see(column, f64::from(*x));
                    }
                }
            }
            Matrix::Csr(csr) => {
                let (columns, values) = csr.row(row);
                for (column, x) in columns.iter().zip(values) {
                    if *x != 0.0 {
                        see(*column as usize, f64::from(*x));
                    }
                }
            }
        }
    }

    /// ⟨x, θ⟩.
    pub fn margin(&self, row: usize, theta: &[f64]) -> f64 {
        let mut margin = 0.0;
        self.each(row, |column, x| margin += x * theta[column]);
        margin
    }

    /// ℓ′ at a margin, within ±S.
    pub fn slope(&self, row: usize, margin: f64, loss: Loss, most: f64) -> f64 {
        let slope = loss.derivative(margin, self.labels[row]);
        // What is no number (nothing gets here that is none) adds nothing.
        if slope.is_finite() { slope.clamp(-most, most) } else { 0.0 }
    }

    /// Adds the gradient of a row to whole numbers of `unit`, each entry truncated towards 0, so that it is never
    /// longer than SR.
    pub fn add_gradient(
        &self,
        row: usize,
        theta: &[f64],
        (loss, most): (Loss, f64),
        unit: f64,
        into: &mut [i64],
    ) {
        let slope = self.slope(row, self.margin(row, theta), loss, most) / unit;
        if slope != 0.0 {
            self.each(row, |column, x| into[column] += (slope * x) as i64);
        }
    }
}
