//! What a path leads to.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Links that are followed before they are taken for a circle, as the kernel does.
const LINKS: u32 = 40;

/// What was found at the end of the links.
#[derive(Debug)]
pub enum Found {
    /// Nothing, at this path.
    Nothing(PathBuf),
    /// A regular file at this path.
    File(PathBuf),
    /// A folder.
    Folder,
    /// A device that holds what is written to it.
    Disk,
    /// Anything else: it takes bytes and is not exchanged for a file.
    Stream,
}

/// Follows links by hand, so that where a link leads to nothing, its target can be made.
pub fn follow(path: &Path) -> io::Result<Found> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Found::Nothing(path));
            }
            Err(error) => return Err(error),
        };
        if !metadata.is_symlink() {
            return Ok(kind(path, &metadata));
        }
        let folder = super::whole::folder_of(&path);
        // What is open under a number: its name, if it has one, is not what was asked for.
        if folder.canonicalize().is_ok_and(|folder| folder.starts_with("/proc")) {
            return Ok(Found::Stream);
        }
        path = folder.join(fs::read_link(&path)?);
    }
    Err(io::Error::other("links that lead in a circle"))
}

/// Whether no file can have this name.
pub fn names_a_folder(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    path.file_name().is_none() || bytes.ends_with(b"/") || bytes.ends_with(b"/.")
}

fn kind(path: PathBuf, metadata: &Metadata) -> Found {
    if metadata.is_file() {
        Found::File(path)
    } else if metadata.is_dir() {
        Found::Folder
    } else if is_disk(metadata) {
        Found::Disk
    } else {
        Found::Stream
    }
}

#[cfg(unix)]
fn is_disk(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_disk(_: &Metadata) -> bool {
    false
}
