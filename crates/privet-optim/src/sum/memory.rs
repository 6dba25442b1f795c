//! The in-memory back end: a matrix and its labels, summed in parallel in the pieces that
//! [`super::pieces`] prescribes.

use super::exact::ExactPlan;
use super::query::SumBackEnd;
use super::{
    Block, Exact, ExactAnswer, Inner, InnerAnswer, Records, RecordsError, Statistic, pieces,
};
use crate::kernel::{Kernel, accumulated, dispatch};
use crate::loss::Loss;
use privet_data::matrix::Matrix;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Rows of features with labels, in memory.
#[derive(Clone)]
pub struct InMemory<'a> {
    features: &'a Matrix,
    labels: Cow<'a, [f64]>,
    norms: Norms,
    only_signs: bool,
    grid: Option<f64>,
}

/// Withheld: labels are private.
impl std::fmt::Debug for InMemory<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InMemory({:?}, labels withheld)", self.features)
    }
}

impl<'a> InMemory<'a> {
    /// Features with labels, one per row, each −1 or 1 or a number between.
    pub fn new(features: &'a Matrix, labels: &'a [f64]) -> Result<Self, RecordsError> {
        Self::with(features, Cow::Borrowed(labels))
    }

    /// The same, with labels of its own.
    pub fn with(features: &'a Matrix, labels: Cow<'a, [f64]>) -> Result<Self, RecordsError> {
        let rows = features.rows();
        if rows != labels.len() {
            return Err(RecordsError::LabelCount { rows, labels: labels.len() });
        }
        if let Some(row) = labels.iter().position(|y| !(-1.0..=1.0).contains(y)) {
            return Err(RecordsError::Label { row });
        }
        let norms = norms_of(features, 0)?;
        let only_signs = labels.iter().all(|y| y.abs() == 1.0);
        Ok(Self { features, labels, norms, only_signs, grid: None })
    }

    /// Checks once if every feature is on the grid of rows of this radius, so that exact sums need not
    /// check again; a feature off the grid is left for them to find.
    pub fn on_grid_of(mut self, radius: f64) -> Self {
        self.look_at_grid(radius);
        self
    }

    fn whole(&self) -> Block<'_> {
        Block::new(self.features, 0, &self.labels).known_on_grid(self.grid)
    }

    /// The matrix.
    pub fn features(&self) -> &'a Matrix {
        self.features
    }

    /// The labels.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }
}

/// The largest squared norm of rows, and the number of entries of the longest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Norms {
    largest_square: f64,
    /// Stored entries of the longest row.
    pub longest_row: usize,
}

impl Norms {
    /// The norms of these rows and others together.
    pub fn and(self, other: Self) -> Self {
        Self {
            largest_square: self.largest_square.max(other.largest_square),
            longest_row: self.longest_row.max(other.longest_row),
        }
    }

    /// Upper bound on every row's Euclidean norm.
    pub fn radius(self, columns: usize) -> f64 {
        // f32 squares are exact in f64; sums and the root err by the factor below, both ways.
        let roundings = columns as f64 + 4.0;
        match self.largest_square {
            0.0 => 0.0,
            largest => (largest.sqrt() * (1.0 + accumulated(roundings))).next_up(),
        }
    }
}

/// The norms of rows, all of which must be finite; `first` is the index of the first row, for the
/// error.
pub(super) fn norms_of(features: &Matrix, first: usize) -> Result<Norms, RecordsError> {
    let rows = features.rows();
    let no_labels = vec![0.0; rows];
    let blocks: Vec<_> = Block::new(features, 0, &no_labels).parts(4096).collect();
    let norms: Vec<(f64, usize)> =
        blocks.par_iter().map(|&block| dispatch(RowNorms { block })).collect();
    let largest_square = norms.iter().fold(0.0, |a: f64, b| if a >= b.0 { a } else { b.0 });
    if !largest_square.is_finite() {
        let row = (0..rows).find(|&row| !row_is_finite(features, row)).unwrap_or(0);
        return Err(RecordsError::NotFinite { row: first + row });
    }
    let longest_row = norms.iter().map(|n| n.1).max().unwrap_or(0);
    Ok(Norms { largest_square, longest_row })
}

/// True if a feature is off the grid of this unit.
pub(super) fn off_grid(features: &Matrix, unit: f64) -> bool {
    let no_labels = vec![0.0; features.rows()];
    let blocks: Vec<_> = Block::new(features, 0, &no_labels).parts(4096).collect();
    !blocks.par_iter().all(|&block| dispatch(OnGrid { block, unit }))
}

fn row_is_finite(features: &Matrix, row: usize) -> bool {
    match features {
        Matrix::Dense(m) => m.row(row).iter().all(|x| x.is_finite()),
        Matrix::Csr(m) => m.row(row).1.iter().all(|x| x.is_finite()),
    }
}

/// Runs [`Block::on_grid`].
struct OnGrid<'a> {
    block: Block<'a>,
    unit: f64,
}

impl Kernel for OnGrid<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const F: bool>(self) -> bool {
        self.block.on_grid(self.unit)
    }
}

/// Largest squared norm (infinite when a feature is not finite) and longest row of a block.
struct RowNorms<'a> {
    block: Block<'a>,
}

impl Kernel for RowNorms<'_> {
    type Output = (f64, usize);

    #[inline(always)]
    fn run<const F: bool>(self) -> (f64, usize) {
        let mut largest = 0.0_f64;
        let mut longest = 0;
        let mut see = |values: &[f32]| {
            let (chunks, rest) = values.as_chunks::<8>();
            let mut sums = [0.0; 8];
            for chunk in chunks {
                for lane in 0..8 {
                    sums[lane] += f64::from(chunk[lane]) * f64::from(chunk[lane]);
                }
            }
            let tail: f64 = rest.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
            let square = sums.iter().sum::<f64>() + tail;
            // NaN counts as infinite; `max` alone would lose it.
            largest = if square.is_nan() { f64::INFINITY } else { largest.max(square) };
            longest = longest.max(values.len());
        };
        if let Some(values) = self.block.dense() {
            values.chunks_exact(self.block.columns().max(1)).for_each(&mut see);
        }
        self.block.sparse().for_each(|row| see(row.values()));
        (largest, longest)
    }
}

impl SumBackEnd for InMemory<'_> {
    fn answer<S: Statistic>(&self, statistic: &S) -> Result<S::Sum, RecordsError> {
        let columns = self.features.columns();
        let whole = self.whole();
        pieces::sum_pieces(statistic, self.labels.len(), columns, |piece| {
            let mut sum = statistic.zero(columns);
            statistic.add(whole.part(piece), &mut sum);
            Ok(sum)
        })
    }
}

impl Records for InMemory<'_> {
    fn rows(&self) -> usize {
        self.labels.len()
    }

    fn columns(&self) -> usize {
        self.features.columns()
    }

    fn radius(&self) -> f64 {
        self.norms.radius(self.features.columns())
    }

    fn longest_row(&self) -> usize {
        self.norms.longest_row
    }

    fn entries(&self) -> usize {
        match self.features {
            Matrix::Dense(m) => m.values().len(),
            Matrix::Csr(m) => m.values().len(),
        }
    }

    fn labels_accepted(&self, loss: Loss) -> bool {
        self.only_signs || self.labels.iter().all(|&y| loss.accepts(y))
    }

    fn look_at_grid(&mut self, radius: f64) {
        let unit = ExactPlan::feature_unit(radius);
        self.grid = (!off_grid(self.features, unit)).then_some(unit);
    }

    fn exact(&self, query: &Exact) -> Result<ExactAnswer, RecordsError> {
        query.sum_with(self)
    }

    fn inner(&self, query: &Inner) -> Result<InnerAnswer, RecordsError> {
        query.sum_with(self)
    }
}
