//! Resolution of a path's links.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// The number of links followed before a cycle is assumed, as in the kernel.
const LINKS: u32 = 40;

/// The end of a chain of links.
#[derive(Debug)]
pub enum LinkEnd {
    /// Nothing exists at this path.
    Nothing(PathBuf),
    /// A regular file at this path.
    File(PathBuf),
    /// A folder.
    Folder,
    /// A block device, which stores what is written to it.
    Disk,
    /// Anything else: it accepts bytes and cannot be replaced by a file.
    Stream,
}

/// Follows links by hand, so that where a link leads to nothing, its target can be created.
pub fn follow(path: &Path) -> io::Result<LinkEnd> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(LinkEnd::Nothing(path));
            }
            Err(error) => return Err(error),
        };
        if !metadata.is_symlink() {
            return Ok(kind(path, &metadata));
        }
        let folder = super::atomic::folder_of(&path);
        // An open descriptor: its target's path, if it has one, is not the path that was given.
        if folder.canonicalize().is_ok_and(|folder| folder.starts_with("/proc")) {
            return Ok(LinkEnd::Stream);
        }
        path = folder.join(fs::read_link(&path)?);
    }
    Err(io::Error::other("links that lead in a circle"))
}

/// True if no file can have this name.
pub fn names_a_folder(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    path.file_name().is_none() || bytes.ends_with(b"/") || bytes.ends_with(b"/.")
}

fn kind(path: PathBuf, metadata: &Metadata) -> LinkEnd {
    if metadata.is_file() {
        LinkEnd::File(path)
    } else if metadata.is_dir() {
        LinkEnd::Folder
    } else if is_disk(metadata) {
        LinkEnd::Disk
    } else {
        LinkEnd::Stream
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
