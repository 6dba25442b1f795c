//! Reading rows back, any range of them.

use super::{BlockError, Contents, Entry, Kind, MAGIC, checksum};
use crate::matrix::{CsrMatrix, DenseMatrix, Matrix};
use crate::{Dataset, Target};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A table of contents beyond this size is not read.
const LARGEST_CONTENTS: u64 = 1 << 30;

/// A finished file of rows, open for reading by several threads.
pub struct BlockFile {
    path: PathBuf,
    file: Mutex<File>,
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
        let tail = MAGIC.len() as u64 + 8;
        let body = length.checked_sub(tail).ok_or_else(|| damaged("it was not finished"))?;
        file.seek(SeekFrom::Start(body)).map_err(failed)?;
        let mut end = [0_u8; MAGIC.len() + 8];
        file.read_exact(&mut end).map_err(failed)?;
        let (size, magic) = end.split_at(8);
        if magic != MAGIC {
            return Err(damaged("it was not finished, or is no file of rows"));
        }
        let size = u64::from_le_bytes(size.try_into().unwrap_or_default());
        let start = body.checked_sub(size).filter(|_| size <= LARGEST_CONTENTS);
        let start = start.ok_or_else(|| damaged("its table of contents is not in it"))?;
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        let mut text = vec![0; size as usize];
        file.read_exact(&mut text).map_err(failed)?;
        let contents: Contents =
            serde_json::from_slice(&text).map_err(|_| damaged("its table of contents is none"))?;
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
        Ok(Self { path: path.into(), file: Mutex::new(file), contents, starts })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.contents.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.contents.kind.columns
    }

    /// Entries stored in all.
    pub fn entries(&self) -> usize {
        match self.contents.kind.sparse {
            true => self.contents.blocks.iter().map(|block| block.entries).sum(),
            false => self.contents.rows * self.contents.kind.columns,
        }
    }

    /// Consecutive rows, as they were written.
    ///
    /// # Panics
    /// When there are no such rows.
    pub fn piece(&self, rows: Range<usize>) -> Result<Dataset, BlockError> {
        assert!(rows.start <= rows.end && rows.end <= self.rows(), "no such rows");
        let mut gathered = Gathered::new(self.contents.kind);
        if !rows.is_empty() {
            let first = self.starts.partition_point(|start| *start <= rows.start) - 1;
            for block in first..self.contents.blocks.len() {
                let (start, count) = (self.starts[block], self.contents.blocks[block].rows);
                if start >= rows.end {
                    break;
                }
                let from = rows.start.saturating_sub(start);
                gathered.add(&self.block(block)?, from..count.min(rows.end - start));
            }
        }
        Ok(gathered.finish(self.contents.kind))
    }

    /// The named rows; places ascending.
    ///
    /// # Panics
    /// When there are no such rows.
    pub fn rows_at(&self, places: &[usize]) -> Result<Dataset, BlockError> {
        assert!(places.is_sorted() && places.last().is_none_or(|last| *last < self.rows()));
        let mut gathered = Gathered::new(self.contents.kind);
        let mut rest = places;
        for block in 0..self.contents.blocks.len() {
            let end = self.starts[block] + self.contents.blocks[block].rows;
            let (here, later) = rest.split_at(rest.partition_point(|place| *place < end));
            rest = later;
            if !here.is_empty() {
                let rows = self.block(block)?;
                for place in here {
                    let row = place - self.starts[block];
                    gathered.add(&rows, row..row + 1);
                }
            }
        }
        Ok(gathered.finish(self.contents.kind))
    }

    fn damaged(&self, what: &'static str) -> BlockError {
        BlockError::Damaged { path: self.path.display().to_string(), what }
    }

    /// A whole block.
    fn block(&self, block: usize) -> Result<Block, BlockError> {
        let entry = self.contents.blocks[block];
        let mut bytes = vec![0; entry.bytes as usize];
        self.read_at(&mut bytes, entry.offset)
            .map_err(|source| BlockError::File { path: self.path.display().to_string(), source })?;
        if checksum(&bytes) != entry.checksum {
            return Err(self.damaged("a block was changed"));
        }
        Block::parse(&bytes, self.contents.kind, &entry).ok_or_else(|| self.damaged("a block is odd"))
    }

    #[cfg(unix)]
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
        let file = self.file.lock().map_err(|_| std::io::Error::other("another thread failed"))?;
        // The position is not shared, so a copy of the handle reads beside others.
        let file = file.try_clone()?;
        std::os::unix::fs::FileExt::read_exact_at(&file, bytes, offset)
    }

    #[cfg(not(unix))]
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
        let mut file =
            self.file.lock().map_err(|_| std::io::Error::other("another thread failed"))?;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(bytes)
    }
}

/// How many bytes a block must have.
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

/// One block, parsed.
pub(super) struct Block {
    /// Row i of a sparse block owns entries `starts[i]..starts[i + 1]`.
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
    codes: Vec<u32>,
    numbers: Vec<f64>,
    units: Vec<u64>,
}

impl Block {
    pub(super) fn parse(bytes: &[u8], kind: Kind, entry: &Entry) -> Option<Self> {
        let mut rest = bytes;
        let mut take = |count: usize| {
            let (taken, later) = rest.split_at_checked(count)?;
            rest = later;
            Some(taken)
        };
        let words = |bytes: &[u8]| -> Vec<u32> {
            bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
        };
        let floats = |bytes: &[u8]| -> Vec<f32> {
            bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect()
        };
        let (mut starts, mut indices) = (Vec::new(), Vec::new());
        let values = if kind.sparse {
            let lengths = words(take(4 * entry.rows)?);
            starts.push(0);
            let mut total = 0_usize;
            for length in lengths {
                total = total.checked_add(length as usize)?;
                starts.push(total);
            }
            indices = words(take(4 * entry.entries)?);
            let increase = |row: &[usize]| {
                let row = &indices[row[0]..row[1]];
                row.windows(2).all(|pair| pair[0] < pair[1])
                    && row.last().is_none_or(|last| (*last as usize) < kind.columns)
            };
            if total != entry.entries || !starts.windows(2).all(increase) {
                return None;
            }
            floats(take(4 * entry.entries)?)
        } else {
            floats(take(4 * entry.rows * kind.columns)?)
        };
        let (mut codes, mut numbers, mut units) = (Vec::new(), Vec::new(), Vec::new());
        match kind.classes {
            Some(count) => {
                codes = words(take(4 * entry.rows)?);
                if codes.iter().any(|code| *code as usize >= count) {
                    return None;
                }
            }
            None => {
                let bytes = take(8 * entry.rows)?.as_chunks::<8>().0;
                numbers = bytes.iter().map(|word| f64::from_le_bytes(*word)).collect();
            }
        }
        if kind.units {
            let bytes = take(8 * entry.rows)?.as_chunks::<8>().0;
            units = bytes.iter().map(|word| u64::from_le_bytes(*word)).collect();
        }
        Some(Self { starts, indices, values, codes, numbers, units })
    }
}

/// Rows put together from blocks.
pub(super) struct Gathered {
    rows: usize,
    all: Block,
}

impl Gathered {
    pub(super) fn new(kind: Kind) -> Self {
        let starts = if kind.sparse { vec![0] } else { Vec::new() };
        let (indices, values, codes) = (Vec::new(), Vec::new(), Vec::new());
        let all = Block { starts, indices, values, codes, numbers: Vec::new(), units: Vec::new() };
        Self { rows: 0, all }
    }

    pub(super) fn add(&mut self, block: &Block, rows: Range<usize>) {
        self.rows += rows.len();
        if block.starts.is_empty() {
            let columns = block.values.len() / (block.codes.len() + block.numbers.len()).max(1);
            self.all.values.extend(&block.values[rows.start * columns..rows.end * columns]);
        } else {
            let entries = block.starts[rows.start]..block.starts[rows.end];
            let already = self.all.indices.len();
            let ends = &block.starts[rows.start + 1..=rows.end];
            self.all.starts.extend(ends.iter().map(|end| end - entries.start + already));
            self.all.indices.extend(&block.indices[entries.clone()]);
            self.all.values.extend(&block.values[entries]);
        }
        fn part<T: Copy>(into: &mut Vec<T>, from: &[T], rows: &Range<usize>) {
            into.extend(from.get(rows.clone()).unwrap_or_default());
        }
        part(&mut self.all.codes, &block.codes, &rows);
        part(&mut self.all.numbers, &block.numbers, &rows);
        part(&mut self.all.units, &block.units, &rows);
    }

    pub(super) fn finish(self, kind: Kind) -> Dataset {
        let all = self.all;
        let features = if kind.sparse {
            Matrix::Csr(CsrMatrix::new(all.starts, all.indices, all.values, kind.columns))
        } else {
            Matrix::Dense(DenseMatrix::new(all.values, self.rows, kind.columns))
        };
        let target = match kind.classes {
            Some(count) => Target::Class { codes: all.codes, count },
            None => Target::Number(all.numbers),
        };
        let units = kind.units.then_some(all.units);
        Dataset { features, target, units, report: Default::default() }
    }
}
