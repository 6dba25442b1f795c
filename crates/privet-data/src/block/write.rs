//! Writing a file of rows, piece after piece.

use super::{
    BLOCK_ROWS, BlockError, Contents, Entry, Kind, LARGEST_CONTENTS, LONGEST_ENTRY, MAGIC,
    UNFINISHED_PREFIX, checksum, name_of,
};
use crate::matrix::Matrix;
use crate::{Dataset, Target};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Entries' worth of room reserved in a table of contents for its other fields: the kind, and a name of
/// any length.
const BESIDE_BLOCKS: u64 = 64;

/// Writes encoded rows. The file appears under its name when it is finished, and not before.
pub struct BlockWriter {
    file: BufWriter<UnnamedFile>,
    path: PathBuf,
    kind: Option<Kind>,
    blocks: Vec<Entry>,
    offset: u64,
    rows: usize,
}

/// A file that has no name yet.
struct UnnamedFile {
    file: NamedTempFile,
    /// Bytes that still fit on the disk.
    #[cfg(test)]
    room: Option<u64>,
}

impl Write for UnnamedFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        #[cfg(test)]
        if let Some(room) = &mut self.room {
            let Some(left) = room.checked_sub(bytes.len() as u64) else {
                return Err(std::io::ErrorKind::StorageFull.into());
            };
            *room = left;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl std::fmt::Debug for BlockWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BlockWriter({})", self.path.display())
    }
}

impl BlockWriter {
    /// Creates a file, readable by its owner alone.
    pub fn create(path: &Path) -> Result<Self, BlockError> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let file = tempfile::Builder::new().prefix(UNFINISHED_PREFIX).tempfile_in(folder);
        let file = file.map_err(|source| write_failed(path, source))?;
        let file = UnnamedFile {
            file,
            #[cfg(test)]
            room: None,
        };
        Ok(Self {
            file: BufWriter::with_capacity(1 << 20, file),
            path: path.into(),
            kind: None,
            blocks: Vec::new(),
            offset: 0,
            rows: 0,
        })
    }

    /// Adds rows, in blocks of their own.
    pub fn push(&mut self, rows: &Dataset) -> Result<(), BlockError> {
        let kind = kind_of(rows);
        if *self.kind.get_or_insert(kind) != kind {
            return Err(BlockError::Mixed { what: "columns, storage, classes or units differ" });
        }
        for start in (0..rows.rows()).step_by(BLOCK_ROWS) {
            let most = LARGEST_CONTENTS / LONGEST_ENTRY;
            if self.blocks.len() as u64 + BESIDE_BLOCKS > most {
                let (path, most) = (self.path.display().to_string(), most * BLOCK_ROWS as u64);
                return Err(BlockError::TooLong { path, most });
            }
            let end = rows.rows().min(start + BLOCK_ROWS);
            let (bytes, entries) = block(rows, start, end);
            let entry = Entry {
                offset: self.offset,
                bytes: bytes.len() as u64,
                rows: end - start,
                entries,
                checksum: checksum(&bytes),
            };
            self.file.write_all(&bytes).map_err(|source| write_failed(&self.path, source))?;
            self.blocks.push(entry);
            self.offset += entry.bytes;
            self.rows += entry.rows;
        }
        Ok(())
    }

    /// Limits the disk to this many bytes.
    #[cfg(test)]
    pub(super) fn limit_disk(&mut self, room: Option<u64>) {
        self.file.get_mut().room = room;
    }

    /// Rows so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Writes the table of contents, waits until all is on disk, and gives the file its name.
    pub fn finish(self) -> Result<(), BlockError> {
        let Self { mut file, path, kind, blocks, rows, .. } = self;
        let kind = kind.ok_or(BlockError::Mixed { what: "no rows were added at all" })?;
        let text = serde_json::to_vec(&Contents { name: name_of(&path), kind, rows, blocks })
            .map_err(|_| BlockError::Mixed { what: "the table of contents cannot be written" })?;
        let written = file
            .write_all(&text)
            .and_then(|()| file.write_all(&checksum(&text).to_le_bytes()))
            .and_then(|()| file.write_all(&(text.len() as u64).to_le_bytes()))
            .and_then(|()| file.write_all(MAGIC));
        written.map_err(|source| write_failed(&path, source))?;
        let file = file.into_inner().map_err(|error| write_failed(&path, error.into_error()))?.file;
        file.as_file().sync_all().map_err(|source| write_failed(&path, source))?;
        file.persist(&path).map_err(|error| write_failed(&path, error.error))?;
        Ok(())
    }
}

fn write_failed(path: &Path, source: std::io::Error) -> BlockError {
    BlockError::File { path: path.display().to_string(), source }
}

pub(super) fn kind_of(rows: &Dataset) -> Kind {
    Kind {
        columns: rows.features.columns(),
        sparse: matches!(rows.features, Matrix::Csr(_)),
        classes: match &rows.target {
            Target::Class { count, .. } => Some(*count),
            Target::Number(_) => None,
        },
        units: rows.units.is_some(),
    }
}

/// The bytes of some rows, and the number of entries they store.
pub(super) fn block(rows: &Dataset, start: usize, end: usize) -> (Vec<u8>, usize) {
    let mut bytes = Vec::new();
    let mut entries = 0;
    match &rows.features {
        Matrix::Dense(dense) => {
            for value in &dense.values()[start * dense.columns()..end * dense.columns()] {
                bytes.extend_from_slice(&value.to_le_bytes());
            }
        }
        Matrix::Csr(csr) => {
            for row in start..end {
                let length = csr.row(row).0.len();
                entries += length;
                bytes.extend_from_slice(&(length as u32).to_le_bytes());
            }
            let (from, to) = (csr.starts()[start], csr.starts()[end]);
            csr.indices()[from..to].iter().for_each(|j| bytes.extend_from_slice(&j.to_le_bytes()));
            csr.values()[from..to].iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
        }
    }
    match &rows.target {
        Target::Class { codes, .. } => {
            codes[start..end].iter().for_each(|code| bytes.extend_from_slice(&code.to_le_bytes()));
        }
        Target::Number(values) => {
            values[start..end].iter().for_each(|y| bytes.extend_from_slice(&y.to_le_bytes()));
        }
    }
    if let Some(units) = &rows.units {
        units[start..end].iter().for_each(|unit| bytes.extend_from_slice(&unit.to_le_bytes()));
    }
    (bytes, entries)
}
