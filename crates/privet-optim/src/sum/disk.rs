//! The file back end: row blocks of [`privet_data::block`], read piece by piece in every pass.
//!
//! Sums have the same bits as from memory ([`super::pieces`]), for any number of files: each piece is
//! passed to the same kernels, in portions that fit a core's own cache where the kernel allows it
//! ([`Statistic::grain`]), and whole otherwise. At most one piece per thread and one block are in
//! memory: of dense rows of up to 4,096 columns a piece takes some 32 MiB, of others the size of up to
//! 2¹⁸ rows. As many threads read and compute as fit with their pieces into the allowed memory, at
//! least one; the system is given hints about the next pieces. In every pass every block is checked
//! against its checksum, so that one that changes between passes ends the fit.
//!
//! The first pass over all rows, for any purpose, also computes the norms; labels of classes follow
//! from the classes alone. So a learner whose rows are checked in one pass needs no other pass before
//! its sums.

use super::memory::{Norms, norms_of, off_grid};
use super::query::SumBackEnd;
use super::table::other_target;
use super::{
    Block, Exact, ExactAnswer, Inner, InnerAnswer, Labels, Records, RecordsError, Statistic, Table,
    pieces,
};
use crate::loss::Loss;
use privet_data::block::{BLOCK_ROWS, BlockError, BlockFiles};
use privet_data::centre::Centre;
use privet_data::{Dataset, Target};
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Limits, in rows and in bytes, of the rows of a file that are visited together where no sum is
/// computed.
const VISITED_PORTION: usize = 1 << 14;
const LOOK_BYTES: u64 = 1 << 24;

/// Lower bound on the bytes of a piece with the results computed from it.
const A_PIECE: u64 = 1 << 26;

/// Bytes of rows that are added at a time: they stay in a core's own cache between reading and adding.
const PORTION_BYTES: u64 = 1 << 19;

/// A table in files of row blocks.
pub struct OnDisk {
    files: BlockFiles,
    /// The norms that the first pass over all rows found.
    norms: OnceLock<Norms>,
    /// Bytes of rows that are added at a time.
    portion: u64,
    /// A pool of fewer threads, where not all may hold a piece.
    few: Option<rayon::ThreadPool>,
    /// Rows read since it was opened.
    read: AtomicU64,
}

impl std::fmt::Debug for OnDisk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OnDisk({:?})", self.files)
    }
}

impl OnDisk {
    /// Opens a file. Rows are first read when they are visited or summed.
    pub fn open(path: &Path) -> Result<Self, RecordsError> {
        Self::open_all(&[path], u64::MAX)
    }

    /// Opens files, in this order, of which about `memory` bytes may be in memory at a time.
    pub fn open_all<P: AsRef<Path>>(paths: &[P], memory: u64) -> Result<Self, RecordsError> {
        let files = BlockFiles::open(paths)?;
        let threads = (memory / a_piece(&files)).max(1);
        let few = match threads < rayon::current_num_threads() as u64 {
            true => Some(pool(threads as usize)?),
            false => None,
        };
        let (norms, portion) = (OnceLock::new(), PORTION_BYTES.min(memory));
        Ok(Self { files, norms, portion, few, read: AtomicU64::new(0) })
    }

    /// The norms of all rows, computed in a pass if not yet known.
    fn norms(&self) -> Result<Norms, RecordsError> {
        if self.norms.get().is_none() {
            self.visit(&mut |_| Ok(()))?;
        }
        self.norms.get().copied().ok_or_else(|| RecordsError::BackEnd("rows were not seen".into()))
    }

    /// The number of passes over all rows so far.
    pub fn passes(&self) -> f64 {
        self.read.load(Ordering::Relaxed) as f64 / self.files.rows().max(1) as f64
    }

    fn piece(&self, rows: Range<usize>) -> Result<Dataset, RecordsError> {
        self.read.fetch_add(rows.len() as u64, Ordering::Relaxed);
        Ok(self.files.piece(rows)?)
    }

    /// Passes rows to `see`, `at_a_time` at a time.
    fn portions(
        &self,
        rows: Range<usize>,
        at_a_time: usize,
        see: &mut dyn FnMut(&Dataset) -> Result<(), RecordsError>,
    ) -> Result<(), RecordsError> {
        self.read.fetch_add(rows.len() as u64, Ordering::Relaxed);
        self.files.portions(rows, at_a_time, see)
    }

    /// The number of rows that take this many bytes; at least one.
    fn rows_in(&self, bytes: u64) -> usize {
        let a_row = (self.files.bytes() / self.files.rows().max(1) as u64).max(1);
        usize::try_from(bytes / a_row).unwrap_or(usize::MAX / 2).max(1)
    }

    /// The number of rows added at a time, a multiple of the statistic's grain.
    fn at_a_time(&self, grain: usize) -> usize {
        self.rows_in(self.portion).next_multiple_of(grain.max(1))
    }

    /// Runs `work` with the threads that may hold a piece.
    fn with_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.few {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Consecutive pieces of all rows, read in parallel and passed to `see` in order.
    fn pieces_in_order<T: Send>(
        &self,
        read: &(dyn Fn(Range<usize>) -> Result<T, RecordsError> + Sync),
        see: &mut dyn FnMut(&T) -> Result<(), RecordsError>,
    ) -> Result<(), RecordsError> {
        let rows = self.files.rows();
        let look = VISITED_PORTION.min(self.rows_in(LOOK_BYTES));
        let ranges: Vec<Range<usize>> =
            (0..rows.max(1)).step_by(look).map(|start| start..rows.min(start + look)).collect();
        let together = self.with_threads(rayon::current_num_threads);
        for (turn, some) in ranges.chunks(together).enumerate() {
            if let Some(next) = ranges.get((turn + 1) * together) {
                self.files.expect(next.start..next.start.saturating_add(together * look));
            }
            let pieces: Vec<_> =
                self.with_threads(|| some.par_iter().map(|rows| read(rows.clone())).collect());
            for piece in pieces {
                see(&piece?)?;
            }
        }
        Ok(())
    }
}

/// Approximate upper bound on the bytes that a thread takes for its piece of these files and the
/// results computed from it.
fn a_piece(files: &BlockFiles) -> u64 {
    let rows = files.rows().max(1);
    // Large sums are cut into the fewest pieces.
    let longest = rows.div_ceil(pieces::pieces(rows, files.columns(), usize::MAX)) as u64;
    let bytes = |some: u64| {
        let bytes = u128::from(files.bytes()) * u128::from(some) / rows as u128;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    };
    // Blocks are read whole.
    let block = bytes(BLOCK_ROWS.min(rows) as u64);
    A_PIECE.max(bytes(longest).saturating_mul(2)).saturating_add(block)
}

/// A pool of this many threads.
fn pool(threads: usize) -> Result<rayon::ThreadPool, RecordsError> {
    let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    built.map_err(|error| RecordsError::BackEnd(error.to_string()))
}

impl From<BlockError> for RecordsError {
    fn from(error: BlockError) -> Self {
        Self::BackEnd(error.to_string())
    }
}

impl Table for OnDisk {
    fn rows(&self) -> usize {
        self.files.rows()
    }

    fn columns(&self) -> usize {
        self.files.columns()
    }

    fn in_memory(&self) -> Option<&Dataset> {
        None
    }

    fn visit(
        &self,
        see: &mut dyn FnMut(&Dataset) -> Result<(), RecordsError>,
    ) -> Result<(), RecordsError> {
        if self.norms.get().is_some() {
            return self.pieces_in_order(&|rows| self.piece(rows), see);
        }
        let mut norms = Norms::default();
        let with_norms = |rows: Range<usize>| {
            let first = rows.start;
            let piece = self.piece(rows)?;
            let norms = norms_of(&piece.features, first)?;
            Ok((piece, norms))
        };
        self.pieces_in_order(&with_norms, &mut |(piece, some)| {
            norms = norms.and(*some);
            see(piece)
        })?;
        // Another thread may have found the same.
        let _ = self.norms.set(norms);
        Ok(())
    }

    fn rows_at(&self, places: &[usize]) -> Result<Dataset, RecordsError> {
        if !places.is_sorted() || places.last().is_some_and(|last| *last >= self.files.rows()) {
            return Err(RecordsError::BackEnd("no such row".into()));
        }
        Ok(self.files.rows_at(places)?)
    }

    fn problem(&self, labels: &Labels) -> Result<Box<dyn Records + '_>, RecordsError> {
        labelled(self, self, None, labels)
    }

    fn offers_less(&self) -> bool {
        true
    }

    fn recentred(&self, centre: &Centre) -> Result<Box<dyn Table + '_>, RecordsError> {
        Ok(Box::new(Moved { disk: self, centre: centre.clone() }))
    }
}

/// The rows of files minus a public vector, centred on every read.
struct Moved<'a> {
    disk: &'a OnDisk,
    centre: Centre,
}

impl Moved<'_> {
    fn piece(&self, rows: Range<usize>) -> Result<Dataset, RecordsError> {
        let read = self.disk.piece(rows)?;
        Ok(Dataset { features: self.centre.rows(&read.features), ..read })
    }
}

impl Table for Moved<'_> {
    fn rows(&self) -> usize {
        self.disk.files.rows()
    }

    fn columns(&self) -> usize {
        self.disk.columns() + 1
    }

    fn in_memory(&self) -> Option<&Dataset> {
        None
    }

    fn visit(
        &self,
        see: &mut dyn FnMut(&Dataset) -> Result<(), RecordsError>,
    ) -> Result<(), RecordsError> {
        self.disk.pieces_in_order(&|rows| self.piece(rows), see)
    }

    fn rows_at(&self, places: &[usize]) -> Result<Dataset, RecordsError> {
        let read = self.disk.rows_at(places)?;
        Ok(Dataset { features: self.centre.rows(&read.features), ..read })
    }

    fn problem(&self, labels: &Labels) -> Result<Box<dyn Records + '_>, RecordsError> {
        labelled(self.disk, self, Some(self), labels)
    }
}

/// The rows of a table, on disk or centred, with the labels of one problem.
fn labelled<'a>(
    disk: &'a OnDisk,
    table: &'a dyn Table,
    moved: Option<&'a Moved<'a>>,
    labels: &Labels,
) -> Result<Box<dyn Records + 'a>, RecordsError> {
    let of_class = disk.files.classes().and_then(|count| {
        let codes = (0..u32::try_from(count).ok()?).collect();
        labels.of(&Target::Class { codes, count })
    });
    let fit = |labels: &Vec<f64>| labels.iter().all(|y| (-1.0..=1.0).contains(y));
    if let (Some(of_class), None) = (of_class.filter(fit), moved) {
        let only_signs = of_class.iter().all(|y| y.abs() == 1.0);
        let (norms, labels) = (disk.norms()?, labels.clone());
        return Ok(Box::new(Labelled {
            disk,
            table,
            moved,
            norms,
            labels,
            only_signs,
            grid: None,
        }));
    }
    let (mut only_signs, mut first) = (true, 0);
    let mut norms = if moved.is_some() { Norms::default() } else { disk.norms()? };
    table.visit(&mut |rows| {
        let labels = labels.of(&rows.target).ok_or_else(other_target)?;
        if let Some(row) = labels.iter().position(|y| !(-1.0..=1.0).contains(y)) {
            return Err(RecordsError::Label { row: first + row });
        }
        if moved.is_some() {
            norms = norms.and(norms_of(&rows.features, first)?);
        }
        only_signs &= labels.iter().all(|y| y.abs() == 1.0);
        first += labels.len();
        Ok(())
    })?;
    let labels = labels.clone();
    Ok(Box::new(Labelled { disk, table, moved, norms, labels, only_signs, grid: None }))
}

/// The rows of files with the labels of one problem.
struct Labelled<'a> {
    disk: &'a OnDisk,
    /// The rows on disk, or centred.
    table: &'a dyn Table,
    moved: Option<&'a Moved<'a>>,
    norms: Norms,
    labels: Labels,
    only_signs: bool,
    grid: Option<f64>,
}

impl Labelled<'_> {
    /// Adds rows as they were read, centred if required.
    fn add<S: Statistic>(
        &self,
        statistic: &S,
        rows: &Dataset,
        sum: &mut S::Sum,
    ) -> Result<(), RecordsError> {
        let moved = self.moved.map(|moved| moved.centre.rows(&rows.features));
        let features = moved.as_ref().unwrap_or(&rows.features);
        let labels = self.labels.of(&rows.target).ok_or_else(other_target)?;
        statistic.add(Block::new(features, 0, &labels).known_on_grid(self.grid), sum);
        Ok(())
    }
}

impl SumBackEnd for Labelled<'_> {
    fn answer<S: Statistic>(&self, statistic: &S) -> Result<S::Sum, RecordsError> {
        let (rows, columns) = (self.rows(), self.columns());
        let grain = statistic.grain(columns);
        self.disk.with_threads(|| {
            let ahead = rayon::current_num_threads();
            pieces::sum_pieces(statistic, rows, columns, |piece| {
                let next = piece.end + ahead.saturating_sub(1) * piece.len();
                self.disk.files.expect(next..next.saturating_add(piece.len()));
                let at_a_time = match grain {
                    Some(grain) => self.disk.at_a_time(grain),
                    None => piece.len().max(1),
                };
                let mut sum = statistic.zero(columns);
                self.disk
                    .portions(piece, at_a_time, &mut |rows| self.add(statistic, rows, &mut sum))?;
                Ok(sum)
            })
        })
    }
}

impl Records for Labelled<'_> {
    fn rows(&self) -> usize {
        self.table.rows()
    }

    fn columns(&self) -> usize {
        self.table.columns()
    }

    fn radius(&self) -> f64 {
        self.norms.radius(self.columns())
    }

    fn longest_row(&self) -> usize {
        self.norms.longest_row
    }

    fn entries(&self) -> usize {
        let more = if self.moved.is_some() { self.rows() } else { 0 };
        self.disk.files.entries() + more
    }

    fn labels_accepted(&self, loss: Loss) -> bool {
        let all = |rows: &Dataset| match self.labels.of(&rows.target) {
            Some(labels) if labels.iter().all(|y| loss.accepts(*y)) => Ok(()),
            _ => Err(other_target()),
        };
        self.only_signs || self.disk.visit(&mut |rows| all(rows)).is_ok()
    }

    fn look_at_grid(&mut self, radius: f64) {
        let unit = super::exact::ExactPlan::feature_unit(radius);
        let off = self.table.visit(&mut |rows| match off_grid(&rows.features, unit) {
            true => Err(other_target()),
            false => Ok(()),
        });
        self.grid = off.is_ok().then_some(unit);
    }

    fn exact(&self, query: &Exact) -> Result<ExactAnswer, RecordsError> {
        query.sum_with(self)
    }

    fn inner(&self, query: &Inner) -> Result<InnerAnswer, RecordsError> {
        query.sum_with(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_data::block::BlockWriter;
    use privet_data::matrix::{CsrMatrix, DenseMatrix, Matrix};

    /// The number of threads follows from the size of their pieces: long sparse rows of many columns
    /// take more than 64 MiB.
    #[test]
    fn fewer_threads_hold_larger_pieces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows");
        let files = |features: Matrix| {
            let rows = features.rows();
            let target = Target::Class { codes: vec![0; rows], count: 2 };
            let data = Dataset { features, target, units: None, report: Default::default() };
            let mut writer = BlockWriter::create(&path).unwrap();
            writer.push(&data).unwrap();
            writer.finish().unwrap();
            BlockFiles::open(&[&path]).unwrap()
        };
        let (rows, each) = (4096, 2500);
        let starts = (0..=rows).map(|row| row * each).collect();
        let columns = (0..rows * each).map(|k| (k % each) as u32).collect();
        let sparse = CsrMatrix::new(starts, columns, vec![0.5; rows * each], 100_000);
        let bytes = (rows * (4 + 8 * each + 4)) as u64;
        // The piece, the results computed from it, and the block as it was read.
        assert_eq!(a_piece(&files(Matrix::Csr(sparse))), 3 * bytes);
        let dense = DenseMatrix::new(vec![0.0; 4096 * 4], 4096, 4);
        assert_eq!(a_piece(&files(Matrix::Dense(dense))), A_PIECE + 4096 * 20);
    }
}
