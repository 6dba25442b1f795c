//! Several files of rows as one table.

use super::read::AssembledRows;
use super::{BlockError, BlockFile, Kind};
use crate::Dataset;
use std::ops::Range;
use std::path::Path;

/// Finished files of rows of one kind, one after the other. A row's index counts over all of them.
#[derive(Debug)]
pub struct BlockFiles {
    files: Vec<BlockFile>,
    /// The index of the first row of each file.
    starts: Vec<usize>,
    rows: usize,
    kind: Kind,
}

impl BlockFiles {
    /// Opens files that hold rows of the same kind; at least one.
    pub fn open<P: AsRef<Path>>(paths: &[P]) -> Result<Self, BlockError> {
        let open = |path: &P| BlockFile::open(path.as_ref());
        allow_open_files(paths.len());
        let files: Vec<BlockFile> = paths.iter().map(open).collect::<Result<_, _>>()?;
        let kind =
            files.first().ok_or(BlockError::Mixed { what: "no file of rows was named" })?.kind();
        if files.iter().any(|file| file.kind() != kind) {
            return Err(BlockError::Mixed { what: "columns, storage, classes or units differ" });
        }
        let (mut starts, mut rows) = (Vec::new(), 0);
        for file in &files {
            starts.push(rows);
            rows += file.rows();
        }
        Ok(Self { files, starts, rows, kind })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.kind.columns
    }

    /// The total number of stored entries.
    pub fn entries(&self) -> usize {
        self.files.iter().map(BlockFile::entries).sum()
    }

    /// The total size of their blocks in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(BlockFile::bytes).sum()
    }

    /// Consecutive rows, as they were written.
    ///
    /// # Panics
    /// If there are no such rows.
    pub fn piece(&self, rows: Range<usize>) -> Result<Dataset, BlockError> {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "no such rows");
        let mut gathered = AssembledRows::for_rows(self.kind, rows.len());
        for (file, within) in self.parts(rows) {
            file.gather(within, &mut gathered)?;
        }
        Ok(gathered.finish())
    }

    /// Passes consecutive rows to `see`, `at_a_time` at a time and the rest at the end, all in the same
    /// memory. Blocks are read whole, one after the other, and checked against their checksums.
    ///
    /// # Panics
    /// If there are no such rows, or `at_a_time` is 0.
    pub fn portions<E: From<BlockError>>(
        &self,
        rows: Range<usize>,
        at_a_time: usize,
        see: &mut dyn FnMut(&Dataset) -> Result<(), E>,
    ) -> Result<(), E> {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "no such rows");
        assert!(at_a_time > 0, "portions of no rows");
        let mut gathered = AssembledRows::for_rows(self.kind, at_a_time.min(rows.len()));
        for (file, within) in self.parts(rows) {
            for (block, mut some) in file.blocks_of(within) {
                file.read_block(block, &mut gathered)?;
                while !some.is_empty() {
                    let end = some.end.min(some.start + at_a_time - gathered.rows);
                    file.add(block, some.start..end, &mut gathered)?;
                    some.start = end;
                    if gathered.rows == at_a_time {
                        gathered.pass_rows(see)?;
                    }
                }
            }
        }
        if gathered.rows > 0 { gathered.pass_rows(see) } else { Ok(()) }
    }

    /// The number of classes; `None` where targets are numbers.
    pub fn classes(&self) -> Option<usize> {
        self.kind.classes
    }

    /// The rows of these indices, in ascending order.
    ///
    /// # Panics
    /// If there are no such rows.
    pub fn rows_at(&self, places: &[usize]) -> Result<Dataset, BlockError> {
        assert!(places.is_sorted() && places.last().is_none_or(|last| *last < self.rows));
        let mut gathered = AssembledRows::for_rows(self.kind, places.len());
        let mut rest = places;
        for (file, start) in self.files.iter().zip(&self.starts) {
            let end = start + file.rows();
            let (here, later) = rest.split_at(rest.partition_point(|place| *place < end));
            rest = later;
            let within: Vec<usize> = here.iter().map(|place| place - start).collect();
            file.gather_at(&within, &mut gathered)?;
        }
        Ok(gathered.finish())
    }

    /// Hints to the system that these rows will be read soon. Has no effect on results.
    pub fn expect(&self, rows: Range<usize>) {
        self.parts(rows.start.min(self.rows)..rows.end.min(self.rows))
            .for_each(|(file, within)| file.expect(within));
    }

    /// Hints to the system that no row will be read soon: the next pass reads them from the disk and
    /// not from its cache (Linux). Used to measure the time of a pass from the disk.
    pub fn forget(&self) {
        self.files.iter().for_each(BlockFile::forget);
    }

    /// The files that hold these rows, each with the range of rows within it.
    fn parts(&self, rows: Range<usize>) -> impl Iterator<Item = (&BlockFile, Range<usize>)> {
        self.files.iter().zip(&self.starts).filter_map(move |(file, start)| {
            let within = rows.start.max(*start)..rows.end.min(start + file.rows());
            (within.start < within.end).then(|| (file, within.start - start..within.end - start))
        })
    }
}

/// Raises the limit of open files to `count` and some more, as far as the system lets a process: every
/// file of rows stays open, and a table may have more files than the usual limit of a thousand.
fn allow_open_files(count: usize) {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let wanted = count as u64 + 256;
        let found = getrlimit(Resource::Nofile);
        if found.current.is_some_and(|now| now < wanted) {
            let current = Some(found.maximum.map_or(wanted, |most| most.min(wanted)));
            // If this fails, opening a file beyond the limit fails.
            let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum: found.maximum });
        }
    }
    #[cfg(not(unix))]
    let _ = count;
}
