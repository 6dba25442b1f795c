//! One file, whole or not at all.
//!
//! It is written under a temporary name in the same folder, `.privet-….part`, readable by its owner
//! alone, forced to disk, then renamed, and the folder forced to disk. If the process is killed or
//! power fails meanwhile, the old file or the new one is there, never a part; a leftover part is
//! removed by the next run that writes there ([`super::unfinished`]).
//!
//! Unless replacing is allowed, the rename replaces nothing: `renameat2` with `RENAME_NOREPLACE`, or a
//! hard link where the kernel or the file system does not support it. Where there are no hard links
//! either, the name is claimed by an empty file that must not have existed, and the claim is renamed
//! over.

use super::protected::protected_kind;
use super::unfinished::half;
use super::{Existing, WriteError};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The folder in which a file would be created.
pub fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.into(),
        _ => ".".into(),
    }
}

/// Checks that a file can be created there: creates one under another name, and removes it.
pub fn probe(target: &Path) -> Result<(), WriteError> {
    half(&folder_of(target)).map(|_removed_when_dropped| ())
}

/// Writes a file there.
pub fn write_atomically(target: &Path, bytes: &[u8], existing: Existing) -> Result<(), WriteError> {
    let mut file = half(&folder_of(target))?;
    let written = file.write_all(bytes).and_then(|()| file.as_file().sync_all());
    written.map_err(WriteError::at(target))?;
    give_name(file, target, existing)
}

/// Gives a finished file in the same folder its name.
pub fn give_name(file: NamedTempFile, target: &Path, existing: Existing) -> Result<(), WriteError> {
    match existing {
        Existing::Replace if replaceable(target) && protected_kind(target).is_none() => {
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

/// True if the path is still nothing or a file: it may have changed since it was checked.
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

/// Claims the name by an empty file, for file systems without hard links.
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
