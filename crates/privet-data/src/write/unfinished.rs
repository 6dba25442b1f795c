//! Unfinished files left by killed runs, each perhaps a whole release: those of this user are removed.
//!
//! The writer of an unfinished file ([`half`]) holds its lock until the file has its name or is gone,
//! so that one whose lock is free has no writer any more, on any machine. Versions before 0.2.1 locked
//! nothing: their files are left for a day. Where the file system does not support locks, nothing is
//! removed.

use super::WriteError;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::{Builder, NamedTempFile};

/// The prefix and suffix of every unfinished file's name.
const NAME_AFFIXES: (&str, &str) = (".privet-", ".part");
/// The prefix where its writer holds a lock.
const LOCKED_PREFIX: &str = ".privet-held-";
/// The age up to which a file without a lock is left.
const LEFT_ALONE: Duration = Duration::from_secs(24 * 60 * 60);
/// The number of tries to create a file that another run removes before it is locked.
const CREATE_TRIES: u32 = 16;

/// A new unfinished file in this folder, readable by its owner alone, whose lock is held as long as it
/// is open.
pub(super) fn half(folder: &Path) -> Result<NamedTempFile, WriteError> {
    let make = || -> io::Result<NamedTempFile> {
        let mut tries = 0;
        loop {
            let half =
                Builder::new().prefix(LOCKED_PREFIX).suffix(NAME_AFFIXES.1).tempfile_in(folder)?;
            let _ = half.as_file().try_lock();
            tries += 1;
            // Another run may have removed it between those two.
            if tries == CREATE_TRIES || is_at(half.as_file(), half.path()) {
                return Ok(half);
            }
        }
    };
    make().map_err(WriteError::at(folder))
}

/// Removes files that killed runs of this user left in a folder, and returns their paths.
pub(super) fn sweep(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.path());
    let mut left: Vec<PathBuf> =
        names.filter(|path| is_half(path) && remove_abandoned(path)).collect();
    left.sort();
    left
}

fn is_half(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with(NAME_AFFIXES.0) && name.ends_with(NAME_AFFIXES.1)
}

/// Removes the file if it has no writer; true if it is gone.
fn remove_abandoned(path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    if !found.is_file() || !is_own(&found) {
        return false;
    }
    let locked = path
        .file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(LOCKED_PREFIX.as_bytes()));
    let age = found.modified().ok().and_then(|at| at.elapsed().ok());
    if !locked && age.is_none_or(|age| age < LEFT_ALONE) {
        return false;
    }
    let Ok(file) = open_unfinished(path) else { return false };
    match file.try_lock() {
        Ok(()) => is_at(&file, path) && fs::remove_file(path).is_ok(),
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
    }
}

fn open_unfinished(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NOFOLLOW.bits() as i32,
    );
    options.open(path)
}

/// True for a file of this user that no one else may read.
#[cfg(unix)]
fn is_own(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o077 == 0
}

/// True if the open file is the one of this name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place =
        |found: io::Result<fs::Metadata>| found.map(|found| (found.dev(), found.ino())).ok();
    let open = place(file.metadata());
    open.is_some() && open == place(fs::symlink_metadata(path))
}

/// The owner of a file is unknown: nothing is removed.
#[cfg(not(unix))]
fn is_own(_: &fs::Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::SystemTime;

    fn put(path: &Path, mode: u32) {
        fs::write(path, "a release").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_killed_runs_left_goes_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let gone = at(".privet-held-dead.part");
        put(&gone, 0o600);
        // A file that is being written, a copy that others may read, other names, a folder, a link.
        let live = half(folder.path()).unwrap();
        put(&at(".privet-held-open.part"), 0o644);
        for other in [".privet-held-model.json", "privet-held-x.part", ".other-held-x.part"] {
            put(&at(other), 0o600);
        }
        fs::create_dir(at(".privet-held-folder.part")).unwrap();
        symlink(at(".privet-held-model.json"), at(".privet-held-link.part")).unwrap();
        let before = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(sweep(folder.path()), [gone]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before - 1);
        // Without its writer it is removed too.
        let path = live.into_temp_path();
        assert_eq!(sweep(folder.path()), [path.to_path_buf()]);
        assert!(sweep(folder.path()).is_empty());
    }

    /// Earlier versions hold no lock: only the time of the last write shows whether a writer is active.
    #[test]
    fn halves_of_earlier_versions_are_left_for_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join(".privet-Ab12Cd.part");
        put(&old, 0o600);
        assert!(sweep(folder.path()).is_empty());
        let file = File::options().write(true).open(&old).unwrap();
        file.set_modified(SystemTime::now() - 2 * LEFT_ALONE).unwrap();
        file.lock().unwrap();
        assert!(sweep(folder.path()).is_empty(), "somebody holds it");
        drop(file);
        assert_eq!(sweep(folder.path()), [old]);
    }
}
