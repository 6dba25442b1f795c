//! Several files of rows as one table.

use super::read::Gathered;
use super::{BlockError, BlockFile, Kind};
use crate::Dataset;
use std::ops::Range;
use std::path::Path;

/// Finished files of rows of one kind, one after the other. A row's place is that in all of them together.
#[derive(Debug)]
pub struct BlockFiles {
    files: Vec<BlockFile>,
    /// The place of the first row of each file.
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

    /// Entries stored in all.
    pub fn entries(&self) -> usize {
        self.files.iter().map(BlockFile::entries).sum()
    }

    /// Bytes of their blocks in all.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(BlockFile::bytes).sum()
    }

    /// Consecutive rows, as they were written.
    ///
    /// # Panics
    /// When there are no such rows.
    pub fn piece(&self, rows: Range<usize>) -> Result<Dataset, BlockError> {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "no such rows");
        let mut gathered = Gathered::for_rows(self.kind, rows.len());
        for (file, within) in self.parts(rows) {
            file.gather(within, &mut gathered)?;
        }
        Ok(gathered.finish())
    }

    /// Consecutive rows, so many at a time and the rest at the end: each portion is shown once, and all are held in the same
    /// memory. Blocks are read whole, one after the other, and held against their checksums.
    ///
    /// # Panics
    /// When there are no such rows, or none are wanted at a time.
    pub fn portions<E: From<BlockError>>(
        &self,
        rows: Range<usize>,
        at_a_time: usize,
        see: &mut dyn FnMut(&Dataset) -> Result<(), E>,
    ) -> Result<(), E> {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "no such rows");
        assert!(at_a_time > 0, "portions of no rows");
        let mut gathered = Gathered::for_rows(self.kind, at_a_time.min(rows.len()));
        for (file, within) in self.parts(rows) {
            for (block, mut some) in file.blocks_of(within) {
                file.read_block(block, &mut gathered)?;
                while !some.is_empty() {
                    let end = some.end.min(some.start + at_a_time - gathered.rows);
                    file.add(block, some.start..end, &mut gathered)?;
                    some.start = end;
                    if gathered.rows == at_a_time {
                        gathered.shown(see)?;
                    }
                }
            }
        }
        if gathered.rows > 0 { gathered.shown(see) } else { Ok(()) }
    }

    /// How many classes rows have; `None` where their targets are numbers.
    pub fn classes(&self) -> Option<usize> {
        self.kind.classes
    }

    /// The named rows; places ascending.
    ///
    /// # Panics
    /// When there are no such rows.
    pub fn rows_at(&self, places: &[usize]) -> Result<Dataset, BlockError> {
        assert!(places.is_sorted() && places.last().is_none_or(|last| *last < self.rows));
        let mut gathered = Gathered::for_rows(self.kind, places.len());
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

    /// Tells the system that these rows will be read soon. Nothing depends on it.
    pub fn expect(&self, rows: Range<usize>) {
        self.parts(rows.start.min(self.rows)..rows.end.min(self.rows))
            .for_each(|(file, within)| file.expect(within));
    }

    /// Tells the system that no row will be read soon: the next pass finds them on the disk and not in its cache (Linux).
    /// What a pass from the disk takes is measured with it.
    pub fn forget(&self) {
        self.files.iter().for_each(BlockFile::forget);
    }

    /// The files that hold these rows, and which of theirs they are.
    fn parts(&self, rows: Range<usize>) -> impl Iterator<Item = (&BlockFile, Range<usize>)> {
        self.files.iter().zip(&self.starts).filter_map(move |(file, start)| {
            let within = rows.start.max(*start)..rows.end.min(start + file.rows());
            (within.start < within.end).then(|| (file, within.start - start..within.end - start))
        })
    }
}

/// Has the system allow so many open files and some more, as far as it lets a process ask: every file of rows stays open, and
/// where a thousand are allowed at first a table may have more.
fn allow_open_files(count: usize) {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let wanted = count as u64 + 256;
        let found = getrlimit(Resource::Nofile);
        if found.current.is_some_and(|now| now < wanted) {
            let current = Some(found.maximum.map_or(wanted, |most| most.min(wanted)));
            // Where it is refused, the file that is too many is.
            let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum: found.maximum });
        }
    }
    #[cfg(not(unix))]
    let _ = count;
}
