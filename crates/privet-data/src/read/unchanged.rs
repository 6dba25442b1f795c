//! Checks that a table that is read in several passes is the same in each.
//!
//! Rows are counted, encoded and, where a ledger knows tables, recognised, in passes of their own. The
//! guarantee of a release covers the rows that were encoded only if all passes read the same table.
//! Sizes, times of change and inode numbers detect changes by accident, not by deceit; a pipe is read
//! once, and has none of them.

use super::files_of;
use crate::error::{DataError, Place};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Bytes that identify a file's state; `None` if it is not a regular file.
pub(crate) fn state_of(file: &Path) -> io::Result<Option<Vec<u8>>> {
    let metadata = fs::metadata(file)?;
    if !metadata.is_file() {
        return Ok(None);
    }
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let changed = changed.map_or(0, |since| since.as_nanos());
    let mut state = metadata.len().to_le_bytes().to_vec();
    state.extend_from_slice(&changed.to_le_bytes());
    state.extend_from_slice(&on_disk(&metadata));
    Ok(Some(state))
}

/// Bytes that differ for a file that took another's name, size and time: its device and inode, and the
/// time of the last change to the inode.
#[cfg(unix)]
fn on_disk(found: &fs::Metadata) -> Vec<u8> {
    use std::os::unix::fs::MetadataExt;
    let words = [found.dev(), found.ino(), found.ctime() as u64, found.ctime_nsec() as u64];
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

#[cfg(not(unix))]
fn on_disk(_found: &fs::Metadata) -> Vec<u8> {
    Vec::new()
}

/// The error for a file that changed while its table was read.
pub(crate) fn file_changed(file: &Path) -> DataError {
    let source = io::Error::other("it changed while it was read; leave it alone and try again");
    DataError::File { file: Place::Path(file.into()), source }
}

/// The state of a table's files before its first pass.
#[derive(Debug)]
pub struct Unchanged {
    table: PathBuf,
    files: Vec<(PathBuf, Option<Vec<u8>>)>,
}

impl Unchanged {
    /// Records the present state.
    pub fn of(table: &Path) -> Result<Self, DataError> {
        let failed =
            |file: &Path, source| DataError::File { file: Place::Path(file.into()), source };
        let with_state = |file: PathBuf| match state_of(&file) {
            Ok(state) => Ok((file, state)),
            Err(error) => Err(failed(&file, error)),
        };
        let files = files_of(table)?.into_iter().map(with_state).collect::<Result<_, _>>()?;
        Ok(Self { table: table.into(), files })
    }

    /// Returns an error if a file changed, appeared or disappeared.
    pub fn check(&self) -> Result<(), DataError> {
        let now = Self::of(&self.table)?;
        let pairs = self.files.iter().zip(&now.files);
        match pairs.into_iter().find(|(before, now)| before != now) {
            Some(((before, _), _)) => Err(file_changed(before)),
            None if self.files.len() != now.files.len() => Err(file_changed(&self.table)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_changed_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a.csv"), "x\n1\n").unwrap();
        fs::write(at("b.csv"), "x\n2\n").unwrap();
        let (whole, one) =
            (Unchanged::of(folder.path()).unwrap(), Unchanged::of(&at("a.csv")).unwrap());
        whole.check().unwrap();
        one.check().unwrap();
        // Another file of the same size and time, under its name.
        let time = fs::metadata(at("a.csv")).unwrap().modified().unwrap();
        fs::write(at("new"), "x\n3\n").unwrap();
        fs::File::options().write(true).open(at("new")).unwrap().set_modified(time).unwrap();
        fs::rename(at("new"), at("a.csv")).unwrap();
        for changed in [&whole, &one] {
            let words = changed.check().unwrap_err().to_string();
            assert!(words.contains("a.csv") && words.contains("it changed"), "{words}");
        }
        let whole = Unchanged::of(folder.path()).unwrap();
        fs::write(at("c.csv"), "x\n3\n").unwrap();
        assert!(whole.check().is_err(), "one that came");
        fs::remove_file(at("c.csv")).unwrap();
        whole.check().unwrap();
        fs::remove_file(at("b.csv")).unwrap();
        assert!(whole.check().is_err(), "one that went");
    }
}
