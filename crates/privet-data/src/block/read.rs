//! Reading rows back, any range of them.

use super::{
    BlockError, Contents, EARLIER_ENDINGS, Entry, Kind, LARGEST_CONTENTS, MAGIC, checksum, name_of,
};
use crate::matrix::{CsrMatrix, DenseMatrix, Matrix};
use crate::{Dataset, Target};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes per read-ahead hint: no more than the smallest usual read-ahead of a system.
const HINT: usize = 1 << 17;

/// A finished file of rows, open for reading by several threads.
pub struct BlockFile {
    path: PathBuf,
    file: File,
    /// Locked where threads share the file's position.
    #[cfg(not(unix))]
    position: std::sync::Mutex<()>,
    contents: Contents,
    /// The first row of each block.
    starts: Vec<usize>,
}

impl std::fmt::Debug for BlockFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BlockFile({}, rows withheld)", self.path.display())
    }
}

impl BlockFile {
    /// Opens a file and reads its table of contents.
    pub fn open(path: &Path) -> Result<Self, BlockError> {
        let failed = |source| BlockError::File { path: path.display().to_string(), source };
        let damaged = |what| BlockError::Damaged { path: path.display().to_string(), what };
        let mut file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let tail = MAGIC.len() as u64 + 16;
        let body = length.checked_sub(tail).ok_or_else(|| damaged("it was not finished"))?;
        file.seek(SeekFrom::Start(body)).map_err(failed)?;
        let mut end = [0_u8; MAGIC.len() + 16];
        file.read_exact(&mut end).map_err(failed)?;
        let (numbers, magic) = end.split_at(16);
        if EARLIER_ENDINGS.iter().any(|earlier| magic == *earlier) {
            return Err(damaged("it is of an earlier format"));
        }
        if magic != MAGIC {
            return Err(damaged("it was not finished, or is no file of rows"));
        }
        let number =
            |at: usize| u64::from_le_bytes(numbers[at..at + 8].try_into().unwrap_or_default());
        let (printed, size) = (number(0), number(8));
        let start = body.checked_sub(size).filter(|_| size <= LARGEST_CONTENTS);
        let start = start.ok_or_else(|| damaged("its table of contents is not in it"))?;
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        let mut text = vec![0; size as usize];
        file.read_exact(&mut text).map_err(failed)?;
        if checksum(&text) != printed {
            return Err(damaged("its table of contents was changed"));
        }
        let contents: Contents =
            serde_json::from_slice(&text).map_err(|_| damaged("its table of contents is none"))?;
        if contents.name != name_of(path) {
            return Err(damaged("it lies under another name than it was written under"));
        }
        let mut starts = Vec::with_capacity(contents.blocks.len());
        let (mut rows, mut offset) = (0_usize, 0_u64);
        for block in &contents.blocks {
            starts.push(rows);
            rows = rows.saturating_add(block.rows);
            if block.offset != offset || block.bytes != size_of(contents.kind, block) {
                return Err(damaged("its blocks do not follow one another"));
            }
            offset = offset.saturating_add(block.bytes);
        }
        if rows != contents.rows || offset != start {
            return Err(damaged("its table of contents does not add up"));
        }
        Ok(Self {
            path: path.into(),
            file,
            #[cfg(not(unix))]
            position: std::sync::Mutex::new(()),
            contents,
            starts,
        })
    }

    /// Reads every block once and checks its checksum.
    pub fn verify(&self) -> Result<(), BlockError> {
        let mut read = AssembledRows::for_rows(self.kind(), 0);
        (0..self.contents.blocks.len()).try_for_each(|block| self.read_block(block, &mut read))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.contents.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.contents.kind.columns
    }

    /// The total number of stored entries.
    pub fn entries(&self) -> usize {
        match self.contents.kind.sparse {
            true => self.contents.blocks.iter().map(|block| block.entries).sum(),
            false => self.contents.rows * self.contents.kind.columns,
        }
    }

    /// The total size of its blocks in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.contents.blocks.iter().map(|block| block.bytes).sum()
    }

    /// The kind of its rows.
    pub(super) fn kind(&self) -> Kind {
        self.contents.kind
    }

    /// Consecutive rows, as they were written.
    ///
    /// # Panics
    /// If there are no such rows.
    pub fn piece(&self, rows: Range<usize>) -> Result<Dataset, BlockError> {
        let mut gathered = AssembledRows::for_rows(self.kind(), rows.len());
        self.gather(rows, &mut gathered)?;
        Ok(gathered.finish())
    }

    /// The same, appended to `into`.
    pub(super) fn gather(
        &self,
        rows: Range<usize>,
        into: &mut AssembledRows,
    ) -> Result<(), BlockError> {
        for (block, within) in self.blocks_of(rows) {
            self.read_block(block, into)?;
            self.add(block, within, into)?;
        }
        Ok(())
    }

    /// The blocks that hold these rows, each with the range of rows within it.
    ///
    /// # Panics
    /// If there are no such rows.
    pub(super) fn blocks_of(
        &self,
        rows: Range<usize>,
    ) -> impl Iterator<Item = (usize, Range<usize>)> {
        assert!(rows.start <= rows.end && rows.end <= self.rows(), "no such rows");
        let first = self.starts.partition_point(|start| *start <= rows.start).max(1) - 1;
        let end = if rows.is_empty() { first } else { self.contents.blocks.len() };
        (first..end).map_while(move |block| {
            let (start, count) = (self.starts[block], self.contents.blocks[block].rows);
            let within = rows.start.saturating_sub(start)..count.min(rows.end.checked_sub(start)?);
            (start < rows.end).then_some((block, within))
        })
    }

    /// The rows of these indices, in ascending order.
    ///
    /// # Panics
    /// If there are no such rows.
    pub fn rows_at(&self, places: &[usize]) -> Result<Dataset, BlockError> {
        let mut gathered = AssembledRows::for_rows(self.kind(), places.len());
        self.gather_at(places, &mut gathered)?;
        Ok(gathered.finish())
    }

    /// The same, appended to `into`.
    pub(super) fn gather_at(
        &self,
        places: &[usize],
        into: &mut AssembledRows,
    ) -> Result<(), BlockError> {
        assert!(places.is_sorted() && places.last().is_none_or(|last| *last < self.rows()));
        let mut rest = places;
        while let Some(place) = rest.first() {
            let block = self.starts.partition_point(|start| start <= place) - 1;
            let end = self.starts[block] + self.contents.blocks[block].rows;
            let (here, later) = rest.split_at(rest.partition_point(|place| *place < end));
            rest = later;
            self.read_block(block, into)?;
            for place in here {
                let row = place - self.starts[block];
                self.add(block, row..row + 1, into)?;
            }
        }
        Ok(())
    }

    /// Hints to the system that these rows will be read soon. Has no effect on results.
    pub(super) fn expect(&self, rows: Range<usize>) {
        let blocks = &self.contents.blocks;
        let last = self.starts.partition_point(|start| *start < rows.end);
        let first = self.starts.partition_point(|start| *start <= rows.start).max(1) - 1;
        let (Some(from), Some(to)) = (blocks.get(first), last.checked_sub(1).map(|at| &blocks[at]))
        else {
            return;
        };
        // For a long range Linux starts reading as much as its read-ahead allows and forgets the rest:
        // so small hints.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        for offset in (from.offset..to.offset + to.bytes).step_by(HINT) {
            let length =
                std::num::NonZeroU64::new((to.offset + to.bytes - offset).min(HINT as u64));
            let _ = rustix::fs::fadvise(&self.file, offset, length, rustix::fs::Advice::WillNeed);
        }
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let _ = (from, to);
    }

    /// Hints to the system that none of it will be read soon, so that the next pass reads it from the
    /// disk.
    pub(super) fn forget(&self) {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let _ = rustix::fs::fadvise(&self.file, 0, None, rustix::fs::Advice::DontNeed);
    }

    fn damaged(&self, what: &'static str) -> BlockError {
        BlockError::Damaged { path: self.path.display().to_string(), what }
    }

    /// Reads the bytes of a block.
    pub(super) fn read_block(
        &self,
        block: usize,
        into: &mut AssembledRows,
    ) -> Result<(), BlockError> {
        let entry = &self.contents.blocks[block];
        into.bytes.resize(entry.bytes as usize, 0);
        self.read_at(&mut into.bytes, entry.offset)
            .map_err(|source| BlockError::File { path: self.path.display().to_string(), source })?;
        match checksum(&into.bytes) == entry.checksum {
            true => Ok(()),
            false => Err(self.damaged("a block was changed")),
        }
    }

    /// Appends rows of the block that was read last.
    pub(super) fn add(
        &self,
        block: usize,
        rows: Range<usize>,
        into: &mut AssembledRows,
    ) -> Result<(), BlockError> {
        let entry = &self.contents.blocks[block];
        into.add(entry, rows).ok_or_else(|| self.damaged("a block is odd"))
    }

    #[cfg(unix)]
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, offset)
    }

    #[cfg(not(unix))]
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
        let _alone =
            self.position.lock().map_err(|_| std::io::Error::other("another thread failed"))?;
        (&self.file).seek(SeekFrom::Start(offset))?;
        (&self.file).read_exact(bytes)
    }
}

/// The size of a block in bytes that its entry implies.
pub(super) fn size_of(kind: Kind, block: &Entry) -> u64 {
    // A damaged file may state any numbers: none overflows, and none so large is the size of a block.
    let (rows, entries) = (block.rows as u64, block.entries as u64);
    let bytes = |each: u64, count: u64| each.saturating_mul(count);
    let features = match kind.sparse {
        true => bytes(4, rows).saturating_add(bytes(8, entries)),
        false => bytes(4, rows).saturating_mul(kind.columns as u64),
    };
    let target = bytes(if kind.classes.is_some() { 4 } else { 8 }, rows);
    let units = if kind.units { bytes(8, rows) } else { 0 };
    features.saturating_add(target).saturating_add(units)
}

/// Rows assembled from blocks.
pub(super) struct AssembledRows {
    kind: Kind,
    pub(super) rows: usize,
    /// The bytes of the block that was read last.
    bytes: Vec<u8>,
    /// Row i of sparse rows owns entries `starts[i]..starts[i + 1]`.
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
    codes: Vec<u32>,
    numbers: Vec<f64>,
    units: Vec<u64>,
}

impl AssembledRows {
    /// Room for this many rows, allocated if they are dense.
    pub(super) fn for_rows(kind: Kind, rows: usize) -> Self {
        let room = |wanted: bool| if wanted { rows } else { 0 };
        Self {
            kind,
            rows: 0,
            bytes: Vec::new(),
            starts: if kind.sparse { vec![0] } else { Vec::new() },
            indices: Vec::new(),
            values: Vec::with_capacity(room(!kind.sparse).saturating_mul(kind.columns)),
            codes: Vec::with_capacity(room(kind.classes.is_some())),
            numbers: Vec::with_capacity(room(kind.classes.is_none())),
            units: Vec::with_capacity(room(kind.units)),
        }
    }

    /// Appends all rows of a block given as bytes; `None` if they are not as the readers write them.
    pub(super) fn add_whole(&mut self, entry: &Entry, bytes: &[u8]) -> Option<()> {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.add(entry, 0..entry.rows)
    }

    /// Appends some rows of the block that was read; `None` if they are not as the readers write them.
    fn add(&mut self, entry: &Entry, rows: Range<usize>) -> Option<()> {
        let (kind, bytes) = (self.kind, &self.bytes);
        let targets = if kind.sparse {
            let lengths = words(bytes.get(..4 * entry.rows)?);
            let (mut before, mut within, mut total) = (0_usize, 0_usize, 0_usize);
            for (row, length) in lengths.enumerate() {
                total = total.checked_add(length as usize)?;
                if row < rows.start {
                    before = total;
                } else if row < rows.end {
                    within = total;
                    self.starts.push(self.indices.len() + total - before);
                }
            }
            if total != entry.entries {
                return None;
            }
            let (columns, values) = (4 * entry.rows, 4 * (entry.rows + entry.entries));
            let some = |start: usize| bytes.get(start + 4 * before..start + 4 * within.max(before));
            let old = self.indices.len();
            self.indices.extend(words(some(columns)?));
            self.values.extend(floats(some(values)?));
            let ends = &self.starts[self.starts.len() - rows.len() - 1..];
            let increase = |ends: &[usize]| {
                let row = &self.indices[ends[0]..ends[1]];
                row.windows(2).all(|pair| pair[0] < pair[1])
                    && row.last().is_none_or(|last| (*last as usize) < kind.columns)
            };
            if ends[0] != old || !ends.windows(2).all(increase) {
                return None;
            }
            values + 4 * entry.entries
        } else {
            let width = 4 * kind.columns;
            self.values.extend(floats(bytes.get(rows.start * width..rows.end * width)?));
            entry.rows * width
        };
        let of = |start: usize, each: usize| {
            bytes.get(start + each * rows.start..start + each * rows.end)
        };
        let units = match kind.classes {
            Some(count) => {
                let old = self.codes.len();
                self.codes.extend(words(of(targets, 4)?));
                if self.codes[old..].iter().any(|code| *code as usize >= count) {
                    return None;
                }
                targets + 4 * entry.rows
            }
            None => {
                let numbers = of(targets, 8)?.as_chunks::<8>().0;
                self.numbers.extend(numbers.iter().map(|word| f64::from_le_bytes(*word)));
                targets + 8 * entry.rows
            }
        };
        if kind.units {
            let units = of(units, 8)?.as_chunks::<8>().0;
            self.units.extend(units.iter().map(|word| u64::from_le_bytes(*word)));
        }
        self.rows += rows.len();
        Some(())
    }

    /// Passes the assembled rows to `see`, and starts anew in the same memory.
    pub(super) fn pass_rows<E>(
        &mut self,
        see: &mut dyn FnMut(&Dataset) -> Result<(), E>,
    ) -> Result<(), E> {
        let bytes = std::mem::take(&mut self.bytes);
        let rows = std::mem::replace(self, Self::for_rows(self.kind, 0)).finish();
        let seen = see(&rows);
        self.bytes = bytes;
        match rows.features {
            Matrix::Dense(dense) => self.values = emptied(dense.into_values()),
            Matrix::Csr(csr) => {
                let (mut starts, indices, values) = csr.into_parts();
                starts.truncate(1);
                self.starts = starts;
                (self.indices, self.values) = (emptied(indices), emptied(values));
            }
        }
        match rows.target {
            Target::Class { codes, .. } => self.codes = emptied(codes),
            Target::Number(numbers) => self.numbers = emptied(numbers),
        }
        self.units = emptied(rows.units.unwrap_or_default());
        seen
    }

    pub(super) fn finish(self) -> Dataset {
        let Self { kind, rows, starts, indices, values, codes, numbers, units, .. } = self;
        let features = if kind.sparse {
            Matrix::Csr(CsrMatrix::new(starts, indices, values, kind.columns))
        } else {
            Matrix::Dense(DenseMatrix::new(values, rows, kind.columns))
        };
        let target = match kind.classes {
            Some(count) => Target::Class { codes, count },
            None => Target::Number(numbers),
        };
        Dataset { features, target, units: kind.units.then_some(units), report: Default::default() }
    }
}

fn emptied<T>(mut held: Vec<T>) -> Vec<T> {
    held.clear();
    held
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word))
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word))
}
