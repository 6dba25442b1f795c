//! A record's margin at a point, its clipped derivative, and its gradient in integers.
//!
//! All are functions of the record and the point alone: entries are taken in the order of their columns
//! and zeros are skipped, so that dense and sparse rows give the same bits.
//!
//! **Several classes.** A record of class y has the gradient v·xᵀ, K rows of p numbers: for the logistic
//! loss v = π − e_y, π the softmax of the K margins, clipped to a norm of S; for others vₖ = ℓ′ of class
//! k against the rest, each within ±S. So ‖v‖ ≤ S, or √K·S, and the gradient of all classes together is
//! at most that times R: one vector under one noise ([`crate::linear::gd`] has the same bounds).

use super::Horizon;
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::gd;
use crate::linear::problems;
use privet_data::matrix::Matrix;
use privet_data::{Dataset, Target};
use privet_optim::loss::Loss;

/// Computes clipped derivatives from margins.
#[derive(Debug, Clone)]
pub(super) struct ClippedDerivatives {
    loss: Loss,
    /// Clip of a derivative, S.
    most: f64,
    /// Number of problems: the number of classes K, or 1.
    problems: usize,
    joint: bool,
    /// Weight of each class, if there are several.
    weights: Vec<f64>,
    margins: Vec<f64>,
}

impl ClippedDerivatives {
    pub fn new(horizon: &Horizon) -> Self {
        let facts = &horizon.facts;
        let problems = facts.problems as usize;
        Self {
            loss: facts.loss,
            most: horizon.slope,
            problems,
            joint: gd::joint(facts),
            weights: facts.weights.clone(),
            margins: vec![0.0; problems],
        }
    }

    /// Derivatives for a record of several classes, in place of its margins. A value that is not finite
    /// makes all of them 0.
    fn of_classes(&mut self, class: usize) -> &[f64] {
        let weight = self.weights.get(class).copied().unwrap_or(1.0);
        if self.joint {
            let largest = self.margins.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            self.margins.iter_mut().for_each(|margin| *margin = (*margin - largest).exp());
            let sum: f64 = self.margins.iter().sum();
            self.margins.iter_mut().for_each(|part| *part *= weight / sum);
            if let Some(own) = self.margins.get_mut(class) {
                *own -= weight;
            }
            let norm = self.margins.iter().map(|v| v * v).sum::<f64>().sqrt();
            // Below S by more than the rounding error of the sum of squares.
            let most = self.most * (1.0 - 1e-12);
            if norm > most {
                self.margins.iter_mut().for_each(|v| *v *= most / norm);
            }
        } else {
            for (problem, margin) in self.margins.iter_mut().enumerate() {
                let label = if problem == class { weight } else { -weight };
                *margin = self.loss.derivative(*margin, label).clamp(-self.most, self.most);
            }
        }
        if !self.margins.iter().all(|v| v.is_finite()) {
            self.margins.fill(0.0);
        }
        &self.margins
    }
}

/// Labels of rows: those of the single problem, or class numbers.
fn labels_of(facts: &Facts, data: &Dataset) -> Result<Vec<f64>, LearnError> {
    match (&data.target, facts.problems) {
        (_, 1) => problems::labels(facts, data, 0),
        (Target::Class { codes, .. }, _) => Ok(codes.iter().map(|code| f64::from(*code)).collect()),
        _ => Err(LearnError::DataShape("the target is not of the planned kind")),
    }
}

/// Consecutive records of a stream with their labels. Private: `Debug` shows only their number.
pub struct StreamRecords<'a> {
    features: &'a Matrix,
    labels: Vec<f64>,
}

impl std::fmt::Debug for StreamRecords<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StreamRecords({}, withheld)", self.labels.len())
    }
}

impl<'a> StreamRecords<'a> {
    /// The records of rows that fit the plan.
    pub fn of(horizon: &Horizon, data: &'a Dataset) -> Result<Self, LearnError> {
        let labels = labels_of(&horizon.facts, data)?;
        if labels.len() != data.features.rows() {
            return Err(LearnError::DataShape("there is not one target for each row"));
        }
        Ok(Self { features: &data.features, labels })
    }

    /// Records with their cell, or −1 for no cell.
    pub(crate) fn of_cells(features: &'a Matrix, cells: Vec<f64>) -> Self {
        Self { features, labels: cells }
    }

    /// True if there are no records.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// The label of a row.
    pub fn label(&self, row: usize) -> f64 {
        self.labels[row]
    }

    /// Visits each nonzero entry of a row, in order.
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

    /// Margin of a row, ⟨x, θ⟩.
    pub fn margin(&self, row: usize, theta: &[f64]) -> f64 {
        let mut margin = 0.0;
        self.each(row, |column, x| margin += x * theta[column]);
        margin
    }

    /// Derivative ℓ′ at a margin, clipped to ±S.
    pub fn slope(&self, row: usize, margin: f64, loss: Loss, most: f64) -> f64 {
        let slope = loss.derivative(margin, self.labels[row]);
        // A NaN (none is expected here) adds nothing.
        if slope.is_finite() { slope.clamp(-most, most) } else { 0.0 }
    }

    /// Visits every nonzero entry of a row's gradient with its index, classes one after the other.
    #[inline(always)]
    pub(super) fn each_of_gradient(
        &self,
        row: usize,
        theta: &[f64],
        slopes: &mut ClippedDerivatives,
        mut see: impl FnMut(usize, f64),
    ) {
        if slopes.problems == 1 {
            let slope = self.slope(row, self.margin(row, theta), slopes.loss, slopes.most);
            if slope != 0.0 {
                self.each(row, |column, x| see(column, slope * x));
            }
            return;
        }
        let columns = theta.len() / slopes.problems;
        for (problem, own) in theta.chunks_exact(columns.max(1)).enumerate() {
            slopes.margins[problem] = self.margin(row, own);
        }
        let found = slopes.of_classes(self.labels[row] as usize);
        for (problem, slope) in found.iter().enumerate() {
            self.each(row, |column, x| see(problem * columns + column, slope * x));
        }
    }

    /// Adds the gradient of a row in integer multiples of `unit`, each entry truncated towards 0, so
    /// that its norm is at most SR.
    pub(super) fn add_gradient(
        &self,
        row: usize,
        theta: &[f64],
        slopes: &mut ClippedDerivatives,
        unit: f64,
        into: &mut [i64],
    ) {
        self.each_of_gradient(row, theta, slopes, |place, g| into[place] += (g / unit) as i64);
    }
}
