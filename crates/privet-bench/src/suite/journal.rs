//! The results file: lines are appended as they come, by one process at a time.
//!
//! `results.jsonl` is locked by the operating system while it is written to; the lock is released with
//! the process, however that ends ([`super::lock`]). Beside it, `suite.toml` keeps the suite of its
//! measurements. An incomplete last line is dropped; every line before it is kept.

use super::file::measure_the_same;
use super::lock::Locked;
use crate::error::BenchError;
use crate::line::Line;
use privet_data::write::{Destination, Existing};
use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Name of the results within their folder.
pub const RESULTS: &str = "results.jsonl";
/// Name of the suite within that folder.
pub const SUITE_FILE: &str = "suite.toml";

/// A results file open for writing.
#[derive(Debug)]
pub struct Journal {
    file: Locked,
    path: PathBuf,
}

/// Earlier measurements.
#[derive(Debug, Default)]
pub struct EarlierResults {
    /// The valid lines.
    pub lines: Vec<Line>,
    /// True if an incomplete last line was dropped.
    pub cut: bool,
}

impl Journal {
    /// Opens the results in a folder, made if need be. Existing results are refused unless `resume`;
    /// then they must be of this very suite.
    pub fn open(
        folder: &Path,
        suite: &str,
        resume: bool,
    ) -> Result<(Self, EarlierResults), BenchError> {
        fs::create_dir_all(folder).map_err(BenchError::on_path(folder))?;
        let (path, kept) = (folder.join(RESULTS), folder.join(SUITE_FILE));
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(BenchError::on_path(&path))?;
        let Some(mut file) = Locked::new(file).map_err(BenchError::on_path(&path))? else {
            return Err(BenchError::Locked { path });
        };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(BenchError::on_path(&path))?;
        if bytes.is_empty() {
            let placed = Destination::open(&kept, Existing::Own);
            let written = placed.and_then(|mut kept| kept.write(suite.as_bytes()));
            written.map_err(|error| BenchError::on_path(&kept)(error.into()))?;
            return Ok((Self { file, path }, EarlierResults::default()));
        }
        if !resume {
            return Err(BenchError::Exists { path });
        }
        let before = fs::read_to_string(&kept).map_err(BenchError::on_path(&kept))?;
        if !measure_the_same(&before, suite) {
            return Err(BenchError::SuiteChanged { path, kept });
        }
        let (lines, good) = parse(&bytes, &path)?;
        let cut = good < bytes.len();
        if cut {
            file.set_len(good as u64).map_err(BenchError::on_path(&path))?;
        }
        file.seek(SeekFrom::Start(good as u64)).map_err(BenchError::on_path(&path))?;
        Ok((Self { file, path }, EarlierResults { lines, cut }))
    }

    /// Adds a line, in one write.
    pub fn append(&mut self, line: &Line) -> Result<(), BenchError> {
        let mut bytes = serde_json::to_vec(line)
            .map_err(|error| BenchError::File { path: self.path.clone(), source: error.into() })?;
        bytes.push(b'\n');
        self.file.write_all(&bytes).map_err(BenchError::on_path(&self.path))
    }
}

/// The valid lines, and the offset of their end.
fn parse(bytes: &[u8], path: &Path) -> Result<(Vec<Line>, usize), BenchError> {
    let mut lines = Vec::new();
    let mut good = 0;
    for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
        let whole = piece.ends_with(b"\n");
        match serde_json::from_slice(piece) {
            Ok(line) if whole => {
                lines.push(line);
                good += piece.len();
            }
            _ if good + piece.len() == bytes.len() => break,
            parsed => {
                let why = parsed.err().map_or_else(String::new, |error| error.to_string());
                let line = lines.len() + 1;
                return Err(BenchError::NotResults { path: path.into(), line, why });
            }
        }
    }
    Ok((lines, good))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head;

    fn head() -> Line {
        Line::Head(head::now("smoke"))
    }

    #[test]
    fn a_cut_line_is_dropped_and_the_good_ones_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(RESULTS);
        let (mut journal, past) = Journal::open(folder.path(), "suite", false).unwrap();
        assert!(past.lines.is_empty() && !past.cut);
        let line = head();
        journal.append(&line).unwrap();
        journal.append(&line).unwrap();
        drop(journal);
        let whole = fs::read(&path).unwrap();
        let first = whole.len() / 2;
        for length in first..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let (mut journal, past) = Journal::open(folder.path(), "suite", true).unwrap();
            assert_eq!(past.lines, vec![line.clone()]);
            assert_eq!(past.cut, length > first);
            journal.append(&line).unwrap();
            drop(journal);
            assert_eq!(fs::read(&path).unwrap(), whole, "cut at {length}");
        }
    }

    #[test]
    fn whatever_else_is_wrong_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(RESULTS);
        let open = |suite, resume| Journal::open(folder.path(), suite, resume);
        let (mut journal, _) = open("suite", false).unwrap();
        journal.append(&head()).unwrap();
        assert!(matches!(open("suite", true), Err(BenchError::Locked { .. })), "a second run");
        assert!(matches!(open("suite", false), Err(BenchError::Locked { .. })), "a second run");
        drop(journal);
        assert!(matches!(open("suite", false), Err(BenchError::Exists { .. })));
        assert!(matches!(open("other", true), Err(BenchError::SuiteChanged { .. })));
        // Targets measure nothing.
        for (suite, goes_on) in [
            ("runs = 2\n[[targets]]\nat-least = 1", true),
            ("# why\nruns=2", true),
            ("runs = 3", false),
            ("runs = 2\ntitle = 'x'", false),
        ] {
            fs::write(folder.path().join(SUITE_FILE), "runs = 2\n[[targets]]\nat-least = 2")
                .unwrap();
            assert_eq!(open(suite, true).is_ok(), goes_on, "{suite}");
        }
        fs::write(folder.path().join(SUITE_FILE), "suite").unwrap();
        let good = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{good}not a result\n{good}")).unwrap();
        assert!(matches!(open("suite", true), Err(BenchError::NotResults { line: 2, .. })));
    }
}
