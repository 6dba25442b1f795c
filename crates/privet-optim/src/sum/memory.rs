//! The in-memory back end: a matrix and its labels, summed by all threads.
//!
//! Rows are cut into pieces whose number depends only on the shape of the matrix and the size of
//! the sum, never on the number of threads; pieces are merged in their order. So every sum, also a
//! floating-point one, is the same on one thread as on sixty-four.

use super::exact::ExactPlan;
use super::{Block, Records, RecordsError, Statistic};
use crate::kernel::{Kernel, accumulated, dispatch};
use crate::loss::Loss;
use privet_data::matrix::Matrix;
use rayon::prelude::*;

/// Rows of features with labels, in memory.
#[derive(Clone, Copy)]
pub struct InMemory<'a> {
    features: &'a Matrix,
    labels: &'a [f64],
    radius: f64,
    longest_row: usize,
    only_signs: bool,
    grid: Option<f64>,
}

/// Labels are private.
impl std::fmt::Debug for InMemory<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InMemory({:?}, labels withheld)", self.features)
    }
}

/// At most this many pieces of rows.
const PIECES: usize = 64;
/// At least this many rows in a piece.
const PIECE_ROWS: usize = 1024;
/// Beyond eight pieces, their partial sums together take at most this many bytes (they are
/// allocated and merged in every pass), and always at most the matrix's own or four times this.
const PIECE_BYTES: usize = 1 << 20;

impl<'a> InMemory<'a> {
    /// Features with labels, one per row, each −1 or 1 or a number between.
    pub fn new(features: &'a Matrix, labels: &'a [f64]) -> Result<Self, RecordsError> {
        let rows = features.rows();
        if rows != labels.len() {
            return Err(RecordsError::LabelCount { rows, labels: labels.len() });
        }
        if let Some(row) = labels.iter().position(|y| !(-1.0..=1.0).contains(y)) {
            return Err(RecordsError::Label { row });
        }
        let blocks: Vec<_> = Block::new(features, 0, labels).parts(4096).collect();
        let norms: Vec<(f64, usize)> =
            blocks.par_iter().map(|&block| dispatch(RowNorms { block })).collect();
        let largest = norms.iter().fold(0.0, |a: f64, b| if a >= b.0 { a } else { b.0 });
        if !largest.is_finite() {
            let row = (0..rows).find(|&row| !row_is_finite(features, row)).unwrap_or(0);
            return Err(RecordsError::NotFinite { row });
        }
        // f32 squares are exact in f64; sums and the root err by the factor below, both ways.
        let roundings = features.columns() as f64 + 4.0;
        let radius = (largest.sqrt() * (1.0 + accumulated(roundings))).next_up();
        Ok(Self {
            features,
            labels,
            radius: if largest == 0.0 { 0.0 } else { radius },
            longest_row: norms.iter().map(|n| n.1).max().unwrap_or(0),
            only_signs: labels.iter().all(|y| y.abs() == 1.0),
            grid: None,
        })
    }

    /// Looks once whether every feature is on the grid of rows of this radius, so that exact sums need
    /// not look again; one that is off it is left for them to find.
    pub fn on_grid_of(self, radius: f64) -> Self {
        let unit = ExactPlan::feature_unit(radius);
        let blocks: Vec<_> = self.whole().parts(4096).collect();
        let fine = blocks.par_iter().all(|&block| dispatch(OnGrid { block, unit }));
        Self { grid: fine.then_some(unit), ..self }
    }

    fn whole(&self) -> Block<'a> {
        Block::new(self.features, 0, self.labels).known_on_grid(self.grid)
    }

    /// The matrix.
    pub fn features(&self) -> &'a Matrix {
        self.features
    }

    /// The labels.
    pub fn labels(&self) -> &'a [f64] {
        self.labels
    }

    /// How many pieces a sum whose partial sums take `bytes` is cut into.
    fn pieces(&self, bytes: usize) -> usize {
        let cheap = (PIECE_BYTES / bytes.max(1)).max(8);
        let room = (4 * PIECE_BYTES).max(self.features.bytes()) / bytes.max(1);
        (self.labels.len() / PIECE_ROWS).min(PIECES).min(cheap).min(room).max(1)
    }
}

fn row_is_finite(features: &Matrix, row: usize) -> bool {
    match features {
        Matrix::Dense(m) => m.row(row).iter().all(|x| x.is_finite()),
        Matrix::Csr(m) => m.row(row).1.iter().all(|x| x.is_finite()),
    }
}

/// [`Block::on_grid`].
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

impl Records for InMemory<'_> {
    fn rows(&self) -> usize {
        self.labels.len()
    }

    fn columns(&self) -> usize {
        self.features.columns()
    }

    fn radius(&self) -> f64 {
        self.radius
    }

    fn longest_row(&self) -> usize {
        self.longest_row
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

    fn sum<S: Statistic>(&self, statistic: &S) -> Result<S::Sum, RecordsError> {
        let (rows, columns) = (self.rows(), self.columns());
        let pieces = self.pieces(statistic.bytes(columns));
        let whole = self.whole();
        let partial = |piece: usize| {
            let mut sum = statistic.zero(columns);
            statistic.add(whole.part(piece * rows / pieces..(piece + 1) * rows / pieces), &mut sum);
            sum
        };
        if pieces == 1 {
            return Ok(partial(0));
        }
        let sums: Vec<S::Sum> = (0..pieces).into_par_iter().map(partial).collect();
        let mut sums = sums.into_iter();
        let mut total = sums.next().unwrap_or_else(|| statistic.zero(columns));
        sums.for_each(|sum| statistic.merge(&mut total, sum));
        Ok(total)
    }
}
