//! Files that are written: whole or not at all, and over nothing that was not meant.
//!
//! | what is at the path | what happens |
//! |---|---|
//! | nothing | a file that only its owner can read appears there, whole |
//! | a file | refused under [`Existing::Keep`]; under [`Existing::Replace`] exchanged for a whole new one |
//! | a link | followed: the link stays, what it leads to is made or exchanged as above |
//! | a device, a pipe, an open descriptor under `/proc` | written through; it stays what it is |
//! | a disk, by its device | as a file, except that it is written through |
//! | a folder | refused |
//! | a ledger, a key, a journal, a state (`precious`) | refused, but to whoever goes on with it: [`Existing::Own`] |
//!
//! [`Destination::open`] decides it all before any work is done; a pipe waits there for its reader. Files
//! are written beside their place under another name, forced to disk, and renamed; without leave to
//! replace, by a rename that replaces nothing. What killed runs left on that way is removed (`left`).
//!
//! What was paid for and cannot be made again is not written but kept ([`Destination::keep`], [`keep`]): if
//! it cannot be put where it should go, it is put beside that, in the current folder or in the folder for
//! temporary files, under a name that is free: its own with a number, or `privet-model-N.json` where that
//! is too long.

mod left;
mod links;
mod precious;
mod whole;

pub use whole::settle;

use links::Found;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What is kept under this name where there is no name to start from.
const UNNAMED: &str = "privet-model.json";

/// How many names are tried in a folder.
const NAMES: u32 = 10_000;

/// What becomes of a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It stays.
    Keep,
    /// It is exchanged, unless it cannot be made again: a ledger, a secret key, a journal, a state.
    Replace,
    /// It is exchanged: a state of one's own.
    Own,
}

/// Why nothing was written where it should have been.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Something is there that may not be replaced.
    #[error("{}: exists already, and is kept", path.display())]
    Exists {
        /// Where.
        path: PathBuf,
    },
    /// What is there cannot be made again.
    #[error("{}: {what}; nothing is written over it", path.display())]
    Precious {
        /// Where.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A folder is there.
    #[error("{}: a folder; the name of a file is accepted", path.display())]
    Folder {
        /// Where.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder that it refused.
        path: PathBuf,
        /// What it said.
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

/// Where something was kept.
#[derive(Debug)]
#[must_use = "it may not be where it should have gone"]
pub struct Kept {
    /// Where it is.
    pub path: PathBuf,
    /// Why it is not where it should have gone; `None` if it is.
    pub instead: Option<WriteError>,
    /// Halves of files that killed runs of the same user had left there, and that were removed.
    pub swept: Vec<PathBuf>,
}

/// A place that can be written to, found before there is anything to write.
#[derive(Debug)]
pub struct Destination {
    asked: PathBuf,
    way: Way,
    swept: Vec<PathBuf>,
}

#[derive(Debug)]
enum Way {
    /// A file at this path, which is no link, to appear whole.
    Whole(PathBuf, Existing),
    /// Something that is open and takes bytes as they come.
    Through(File),
    /// Standard output.
    Standard,
}

impl Destination {
    /// Finds out whether a path can be written to, and opens what is written through.
    pub fn open(path: &Path, existing: Existing) -> Result<Self, WriteError> {
        let found = links::follow(path).map_err(WriteError::at(path))?;
        let mut swept = Vec::new();
        let way = match found {
            Found::Nothing(target) if links::names_a_folder(&target) => {
                return Err(WriteError::Folder { path: path.into() });
            }
            Found::Folder => return Err(WriteError::Folder { path: path.into() }),
            Found::File(_) | Found::Disk if existing == Existing::Keep => {
                return Err(WriteError::Exists { path: path.into() });
            }
            Found::Nothing(target) | Found::File(target) => {
                if existing != Existing::Own
                    && let Some(what) = precious::precious(&target)
                {
                    return Err(WriteError::Precious { path: path.into(), what });
                }
                whole::probe(&target)?;
                swept = left::sweep(&whole::folder_of(&target));
                Way::Whole(target, existing)
            }
            Found::Disk | Found::Stream => {
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

    /// Halves of files that killed runs of the same user had left in the folder, and that were removed.
    pub fn swept(&self) -> &[PathBuf] {
        &self.swept
    }

    /// Whether this is standard output.
    pub fn is_standard(&self) -> bool {
        matches!(self.way, Way::Standard)
    }

    /// Whether this is standard output and whatever is written there is lost: it leads to the null device,
    /// as it does where it was closed when the program began.
    pub fn is_void(&self) -> bool {
        self.is_standard() && void()
    }

    /// The file that will appear, links followed; `None` for what is written through.
    pub fn file(&self) -> Option<&Path> {
        match &self.way {
            Way::Whole(target, _) => Some(target),
            Way::Through(_) | Way::Standard => None,
        }
    }

    /// Writes, whole or not at all where a file is made.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let failed = WriteError::at(&self.asked);
        match &mut self.way {
            Way::Whole(target, existing) => whole::put(target, bytes, *existing),
            Way::Through(file) => file.write_all(bytes).and_then(|()| file.flush()).map_err(failed),
            Way::Standard => {
                let mut out = io::stdout().lock();
                out.write_all(bytes).and_then(|()| out.flush()).map_err(failed)
            }
        }
    }

    /// Writes something that cannot be made again; elsewhere if it must be. An error says why it could not
    /// go where it should, and then it is nowhere.
    pub fn keep(mut self, bytes: &[u8]) -> Result<Kept, WriteError> {
        match self.write(bytes) {
            Ok(()) => Ok(Kept { path: self.asked, instead: None, swept: self.swept }),
            Err(why) => elsewhere(self.file(), bytes, why)
                .map(|kept| Kept { swept: self.swept.clone(), ..kept }),
        }
    }
}

/// Whether standard output is the null device.
#[cfg(unix)]
fn void() -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let out = io::stdout().as_fd().try_clone_to_owned().and_then(|out| File::from(out).metadata());
    match (out, fs::metadata("/dev/null")) {
        (Ok(out), Ok(null)) => out.file_type().is_char_device() && out.rdev() == null.rdev(),
        // A closed descriptor cannot be doubled.
        (out, _) => out.is_err(),
    }
}

#[cfg(not(unix))]
fn void() -> bool {
    false
}

/// Writes something that cannot be made again to a path that nobody looked at before; elsewhere if it must
/// be. A file that holds the very same is as good as written.
pub fn keep(path: &Path, bytes: &[u8], existing: Existing) -> Result<Kept, WriteError> {
    match Destination::open(path, existing) {
        Ok(destination) => destination.keep(bytes),
        Err(WriteError::Exists { .. }) if holds(path, bytes) => {
            Ok(Kept { path: path.into(), instead: None, swept: Vec::new() })
        }
        Err(why) => elsewhere(Some(path), bytes, why),
    }
}

/// Whether a file holds these bytes.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let found = fs::metadata(path);
    found.is_ok_and(|found| found.is_file() && found.len() == bytes.len() as u64)
        && fs::read(path).is_ok_and(|there| there == bytes)
}

/// Puts it beside where it should have gone, or in another folder, under a name that is free.
fn elsewhere(wanted: Option<&Path>, bytes: &[u8], why: WriteError) -> Result<Kept, WriteError> {
    let name = wanted.filter(|path| path.file_name().is_some()).unwrap_or(Path::new(UNNAMED));
    let folders = [whole::folder_of(name), ".".into(), std::env::temp_dir()];
    // A name as long as names may be leaves no room for a number.
    let names = [name, Path::new(UNNAMED)];
    for (folder, name) in folders.iter().flat_map(|folder| names.map(|name| (folder, name))) {
        for number in 2..NAMES {
            let path = folder.join(numbered(name, number));
            match whole::put(&path, bytes, Existing::Keep) {
                Ok(()) => return Ok(Kept { path, instead: Some(why), swept: Vec::new() }),
                Err(WriteError::Exists { .. }) => {}
                Err(_) => break,
            }
        }
    }
    Err(why)
}

/// `model.json` and 2 give `model-2.json`.
fn numbered(name: &Path, number: u32) -> PathBuf {
    let mut numbered = name.file_stem().unwrap_or_default().to_os_string();
    numbered.push(format!("-{number}"));
    if let Some(ending) = name.extension() {
        numbered.push(".");
        numbered.push(ending);
    }
    numbered.into()
}
