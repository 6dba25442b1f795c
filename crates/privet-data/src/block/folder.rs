//! A folder that only its owner may enter, and its lock.

use super::BlockError;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates the folder, or checks that the existing one belongs to this user and that no one else may
/// enter it: a predictable name may have been taken by another user of a shared folder.
pub(super) fn ensure_private_folder(folder: &Path) -> Result<(), BlockError> {
    let failed = |source| BlockError::File { path: folder.display().to_string(), source };
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    let found = fs::symlink_metadata(folder).map_err(failed)?;
    let not_own = |what| Err(BlockError::NotOwn { folder: folder.display().to_string(), what });
    if !found.is_dir() {
        return not_own("it is a link or a file");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if found.uid() != rustix::process::geteuid().as_raw() {
            return not_own("it belongs to another user");
        }
        if found.mode() & 0o077 != 0 {
            return not_own("others may enter it");
        }
    }
    Ok(())
}

/// Locks the folder for this process, as long as the file is open. Links are not followed, and the file
/// is not truncated.
pub(super) fn lock_folder(folder: &Path) -> Result<File, BlockError> {
    let failed = |source| BlockError::File { path: folder.display().to_string(), source };
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    }
    let lock = options.open(folder.join("lock")).map_err(failed)?;
    // On a file system without locks, another process is not detected.
    match lock.try_lock() {
        Err(fs::TryLockError::WouldBlock) => {
            Err(BlockError::InUse { folder: folder.display().to_string() })
        }
        _ => Ok(lock),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_folder_that_others_may_enter_or_a_link_is_refused() {
        let under = tempfile::tempdir().unwrap();
        let folder = under.path().join("rows");
        ensure_private_folder(&folder).unwrap();
        ensure_private_folder(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let words = ensure_private_folder(&folder).unwrap_err().to_string();
        assert!(words.contains("others may enter it") && words.contains("name another"), "{words}");
        let link = under.path().join("link");
        symlink(&folder, &link).unwrap();
        assert!(matches!(ensure_private_folder(&link), Err(BlockError::NotOwn { .. })));
        let file = under.path().join("file");
        fs::write(&file, "kept").unwrap();
        assert!(matches!(ensure_private_folder(&file), Err(BlockError::NotOwn { .. })));
    }

    #[test]
    fn a_lock_follows_no_link_and_empties_nothing() {
        let under = tempfile::tempdir().unwrap();
        let victim = under.path().join("victim");
        fs::write(&victim, "kept").unwrap();
        symlink(&victim, under.path().join("lock")).unwrap();
        assert!(lock_folder(under.path()).is_err());
        assert_eq!(fs::read(&victim).unwrap(), b"kept");
    }
}
