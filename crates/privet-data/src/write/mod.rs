//! Writes files whole or not at all, and never over an unrelated file.
//!
//! | at the path | result |
//! |---|---|
//! | nothing | a file that only its owner can read appears there, whole |
//! | a file | refused under [`Existing::Keep`]; under [`Existing::Replace`] replaced by a whole new file |
//! | a link | followed: the link stays, its target is created or replaced as above |
//! | a device, a pipe, an open descriptor under `/proc` | written to in place |
//! | a block device | as a file, except that it is written to in place |
//! | a folder | refused |
//! | a ledger, key, journal or state (`protected`) | refused, unless resumed: [`Existing::Own`] |
//!
//! [`Destination::open`] decides all of this before any work is done; a pipe waits there for its
//! reader. Files are written under another name in the same folder, forced to disk, and renamed; unless
//! replacing is allowed, by a rename that replaces nothing. Unfinished files left by killed runs are
//! removed (`left`).
//!
//! A result that spent ε and cannot be made again is kept ([`Destination::keep`], [`keep`]): if
//! it cannot be written to its path, it is written beside it, in the current folder or in the folder
//! for temporary files, under a free name: its own with a number, or `privet-model-N.json` where that
//! is too long.

mod atomic;
mod links;
mod protected;
mod unfinished;

pub use atomic::give_name;

use links::LinkEnd;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The base name where no name was given.
const UNNAMED: &str = "privet-model.json";

/// The number of names tried in a folder.
const NAMES: u32 = 10_000;

/// Treatment of a file that exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is kept, and writing is refused.
    Keep,
    /// It is replaced, unless it cannot be made again: a ledger, a secret key, a journal, a state.
    Replace,
    /// It is replaced, even if it is a state: the caller's own.
    Own,
}

/// The reason nothing was written at the path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A file exists that may not be replaced.
    #[error("{}: exists already, and is kept", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// The existing file cannot be made again.
    #[error("{}: {what}; nothing is written over it", path.display())]
    Precious {
        /// The path.
        path: PathBuf,
        /// The kind of file.
        what: &'static str,
    },
    /// The path is a folder.
    #[error("{}: a folder; the name of a file is accepted", path.display())]
    Folder {
        /// The path.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder that was refused.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl WriteError {
    fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { path: path.into(), source }
    }
}

impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> Self {
        let words = error.to_string();
        match error {
            WriteError::Exists { .. } | WriteError::Precious { .. } => {
                Self::new(io::ErrorKind::AlreadyExists, words)
            }
            WriteError::Folder { .. } => Self::new(io::ErrorKind::IsADirectory, words),
            WriteError::File { source, .. } => source,
        }
    }
}

/// The place where a result was written.
#[derive(Debug)]
#[must_use = "it may not be where it should have gone"]
pub struct Written {
    /// The path written to.
    pub path: PathBuf,
    /// The reason it is not the requested path; `None` if it is.
    pub instead: Option<WriteError>,
    /// Unfinished files that killed runs of the same user had left there, and that were removed.
    pub swept: Vec<PathBuf>,
}

/// A place that can be written to, checked before there is anything to write.
#[derive(Debug)]
pub struct Destination {
    asked: PathBuf,
    way: Way,
    swept: Vec<PathBuf>,
}

#[derive(Debug)]
enum Way {
    /// A file at this path, which is not a link, to appear whole.
    Whole(PathBuf, Existing),
    /// An open file or stream, written to in place.
    Through(File),
    /// Standard output.
    Standard,
}

impl Destination {
    /// Checks that a path can be written to, and opens it if it is written to in place.
    pub fn open(path: &Path, existing: Existing) -> Result<Self, WriteError> {
        let found = links::follow(path).map_err(WriteError::at(path))?;
        let mut swept = Vec::new();
        let way = match found {
            LinkEnd::Nothing(target) if links::names_a_folder(&target) => {
                return Err(WriteError::Folder { path: path.into() });
            }
            LinkEnd::Folder => return Err(WriteError::Folder { path: path.into() }),
            LinkEnd::File(_) | LinkEnd::Disk if existing == Existing::Keep => {
                return Err(WriteError::Exists { path: path.into() });
            }
            LinkEnd::Nothing(target) | LinkEnd::File(target) => {
                if existing != Existing::Own
                    && let Some(what) = protected::protected_kind(&target)
                {
                    return Err(WriteError::Precious { path: path.into(), what });
                }
                atomic::probe(&target)?;
                swept = unfinished::sweep(&atomic::folder_of(&target));
                Way::Whole(target, existing)
            }
            LinkEnd::Disk | LinkEnd::Stream => {
                let opened = OpenOptions::new().append(true).open(path);
                Way::Through(opened.map_err(WriteError::at(path))?)
            }
        };
        Ok(Self { asked: path.into(), way, swept })
    }

    /// Standard output.
    pub fn standard() -> Self {
        Self { asked: "standard output".into(), way: Way::Standard, swept: Vec::new() }
    }

    /// Unfinished files that killed runs of the same user had left in the folder, and that were
    /// removed.
    pub fn removed_leftovers(&self) -> &[PathBuf] {
        &self.swept
    }

    /// True if this is standard output.
    pub fn is_standard(&self) -> bool {
        matches!(self.way, Way::Standard)
    }

    /// True if this is standard output and everything written there is lost: it leads to the null
    /// device, as it does where it was closed when the program began.
    pub fn is_void(&self) -> bool {
        self.is_standard() && void()
    }

    /// The file that will appear, links followed; `None` if the path is written to in place.
    pub fn file(&self) -> Option<&Path> {
        match &self.way {
            Way::Whole(target, _) => Some(target),
            Way::Through(_) | Way::Standard => None,
        }
    }

    /// Writes, whole or not at all where a file is created.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let failed = WriteError::at(&self.asked);
        match &mut self.way {
            Way::Whole(target, existing) => atomic::write_atomically(target, bytes, *existing),
            Way::Through(file) => file.write_all(bytes).and_then(|()| file.flush()).map_err(failed),
            Way::Standard => {
                let mut out = io::stdout().lock();
                out.write_all(bytes).and_then(|()| out.flush()).map_err(failed)
            }
        }
    }

    /// Writes a result that cannot be made again; to another path if necessary. On error it was written
    /// nowhere; the error is that of the requested path.
    pub fn keep(mut self, bytes: &[u8]) -> Result<Written, WriteError> {
        match self.write(bytes) {
            Ok(()) => Ok(Written { path: self.asked, instead: None, swept: self.swept }),
            Err(why) => write_elsewhere(self.file(), bytes, why)
                .map(|kept| Written { swept: self.swept.clone(), ..kept }),
        }
    }
}

/// True if standard output is the null device.
#[cfg(unix)]
fn void() -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let out = io::stdout().as_fd().try_clone_to_owned().and_then(|out| File::from(out).metadata());
    match (out, fs::metadata("/dev/null")) {
        (Ok(out), Ok(null)) => out.file_type().is_char_device() && out.rdev() == null.rdev(),
        // A closed descriptor cannot be duplicated.
        (out, _) => out.is_err(),
    }
}

#[cfg(not(unix))]
fn void() -> bool {
    false
}

/// Writes a result that cannot be made again to a path that was not checked before; to another path if
/// necessary. A file that holds the same bytes already counts as written.
pub fn keep(path: &Path, bytes: &[u8], existing: Existing) -> Result<Written, WriteError> {
    match Destination::open(path, existing) {
        Ok(destination) => destination.keep(bytes),
        Err(WriteError::Exists { .. }) if holds(path, bytes) => {
            Ok(Written { path: path.into(), instead: None, swept: Vec::new() })
        }
        Err(why) => write_elsewhere(Some(path), bytes, why),
    }
}

/// True if a file holds these bytes.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let metadata = fs::metadata(path);
    metadata.is_ok_and(|metadata| metadata.is_file() && metadata.len() == bytes.len() as u64)
        && fs::read(path).is_ok_and(|there| there == bytes)
}

/// Writes beside the requested path, or in another folder, under a free name.
fn write_elsewhere(
    wanted: Option<&Path>,
    bytes: &[u8],
    why: WriteError,
) -> Result<Written, WriteError> {
    let name = wanted.filter(|path| path.file_name().is_some()).unwrap_or(Path::new(UNNAMED));
    let folders = [atomic::folder_of(name), ".".into(), std::env::temp_dir()];
    // A name of the largest length leaves no room for a number.
    let names = [name, Path::new(UNNAMED)];
    for (folder, name) in folders.iter().flat_map(|folder| names.map(|name| (folder, name))) {
        for number in 2..NAMES {
            let path = folder.join(numbered(name, number));
            match atomic::write_atomically(&path, bytes, Existing::Keep) {
                Ok(()) => return Ok(Written { path, instead: Some(why), swept: Vec::new() }),
                Err(WriteError::Exists { .. }) => {}
                Err(_) => break,
            }
        }
    }
    Err(why)
}

/// Inserts a number: `model.json` and 2 give `model-2.json`.
fn numbered(name: &Path, number: u32) -> PathBuf {
    let mut numbered = name.file_stem().unwrap_or_default().to_os_string();
    numbered.push(format!("-{number}"));
    if let Some(ending) = name.extension() {
        numbered.push(".");
        numbered.push(ending);
    }
    numbered.into()
}
