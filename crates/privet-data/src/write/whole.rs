//! One file, whole or not at all.
//!
//! It is written under a name of its own in the same folder, `.privet-….part`, readable by its owner alone,
//! forced to disk, then renamed, and the folder forced to disk. Whoever ends the process meanwhile, or pulls
//! the plug, finds the old file or the new one, never a part; a part that is left
//! over is removed by the next run that writes there ([`super::left`]).
//!
//! Without leave to replace, the rename replaces nothing: `renameat2` with `RENAME_NOREPLACE`, or a hard
//! link where the kernel or the file system does not know it. Where there are no hard links either, the name
//! is claimed by an empty file that must not have been there, and the claim is renamed over.

use super::left::half;
use super::precious::precious;
use super::{Existing, WriteError};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The folder in which a file would be made.
pub fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.into(),
        _ => ".".into(),
    }
}

/// Whether a file could be made there: makes one under another name, and removes it.
pub fn probe(target: &Path) -> Result<(), WriteError> {
    half(&folder_of(target)).map(|_removed_when_dropped| ())
}

/// Puts a file there.
pub fn put(target: &Path, bytes: &[u8], existing: Existing) -> Result<(), WriteError> {
    let mut file = half(&folder_of(target))?;
    let written = file.write_all(bytes).and_then(|()| file.as_file().sync_all());
    written.map_err(WriteError::at(target))?;
    settle(file, target, existing)
}

/// Gives a file that is whole, in the same folder, its name.
pub fn settle(file: NamedTempFile, target: &Path, existing: Existing) -> Result<(), WriteError> {
    match existing {
        Existing::Replace if replaceable(target) && precious(target).is_none() => {
            file.persist(target).map_err(|refused| WriteError::at(target)(refused.error))?;
        }
        Existing::Own if replaceable(target) => {
            file.persist(target).map_err(|refused| WriteError::at(target)(refused.error))?;
        }
        Existing::Replace | Existing::Own => {
            return Err(WriteError::Exists { path: target.into() });
        }
        Existing::Keep => rename_to_free_name(file, target)?,
    }
    // Not every file system can force a folder to disk; the file itself is there.
    let _ = File::open(folder_of(target)).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Whether it is still nothing or a file: it may have become something else since it was looked at.
fn replaceable(target: &Path) -> bool {
    fs::symlink_metadata(target).map_or(true, |found| found.is_file())
}

fn rename_to_free_name(file: NamedTempFile, target: &Path) -> Result<(), WriteError> {
    let refused = match file.persist_noclobber(target) {
        Ok(_) => return Ok(()),
        Err(refused) => refused,
    };
    match refused.error.kind() {
        ErrorKind::AlreadyExists => Err(WriteError::Exists { path: target.into() }),
        ErrorKind::PermissionDenied | ErrorKind::Unsupported => claim(refused.file, target),
        _ => Err(WriteError::at(target)(refused.error)),
    }
}

/// For file systems without hard links.
fn claim(file: NamedTempFile, target: &Path) -> Result<(), WriteError> {
    match OpenOptions::new().write(true).create_new(true).open(target) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(WriteError::Exists { path: target.into() });
        }
        Err(error) => return Err(WriteError::at(target)(error)),
    }
    file.persist(target).map_err(|refused| {
        let _ = fs::remove_file(target);
        WriteError::at(target)(refused.error)
    })?;
    Ok(())
}
