//! A results file, as far as it is whole.
//!
//! A killed run leaves an incomplete last line. The lines before it are good and are used; the report
//! states the omission.

use crate::line::{Head, Line, Race, Refused, Run};
use crate::suite;
use std::io;
use std::path::{Path, PathBuf};

/// The file in a folder of results.
pub const FILE: &str = "results.jsonl";

/// The reason why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// No folder was named.
    #[error("no folder of results was named: give the folders that `privet-bench run` wrote")]
    Nothing,
    /// There is no such folder.
    #[error(
        "{}: no such folder; accepted is a folder with a {FILE}, as `privet-bench run` writes it",
        .0.display()
    )]
    NoFolder(PathBuf),
    /// There is no results file in it.
    #[error("{}: holds no {FILE}, which `privet-bench run` writes there", .0.display())]
    NoFile(PathBuf),
    /// The file could not be read.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Not one measurement.
    #[error(
        "{}: no measurement in it ({unread} unreadable lines); was `privet-bench run` stopped before \
         its first result?",
        .path.display()
    )]
    Empty {
        /// The file.
        path: PathBuf,
        /// Number of invalid lines.
        unread: usize,
    },
    /// It does not begin with a head.
    #[error(
        "{}: begins with a measurement and not with its circumstances (a line of kind \"head\"); \
         results of an unknown machine are not shown",
        .0.display()
    )]
    NoHead(PathBuf),
    /// The report could not be assembled.
    #[error("the report could not be written: {0}")]
    Write(String),
}

/// The valid lines of a results file.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// The suite's name.
    pub suite: String,
    /// The circumstances: one, and one more wherever it was resumed.
    pub heads: Vec<Head>,
    /// Models trained and evaluated.
    pub runs: Vec<Run>,
    /// Cells that a learner refused.
    pub refused: Vec<Refused>,
    /// Entrants of races.
    pub races: Vec<Race>,
    /// Warnings about the file.
    pub notices: Vec<String>,
}

impl Results {
    /// Reads the results of a folder.
    pub fn read(folder: &Path) -> Result<Self, ReportError> {
        if !folder.is_dir() {
            return Err(ReportError::NoFolder(folder.into()));
        }
        let path = folder.join(FILE);
        let bytes = std::fs::read(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => ReportError::NoFile(folder.into()),
            _ => ReportError::File { path: path.clone(), source },
        })?;
        let mut results = Self::parse(&bytes, &path)?;
        if let Ok(text) = std::fs::read_to_string(folder.join("suite.toml")) {
            results.compare(&text, folder);
        }
        Ok(results)
    }

    /// True if there is more than races.
    pub fn has_cells(&self) -> bool {
        !self.runs.is_empty() || !self.refused.is_empty()
    }

    /// Adds a notice on the parts of a suite, given as text, that were not measured.
    fn compare(&mut self, suite: &str, folder: &Path) {
        let Ok(suite) = suite::parse(suite, "suite.toml", folder) else { return };
        let Ok(forecast) = suite::forecast(&suite, &suite::Filter::default()) else { return };
        let measured = |name: &str| {
            let mut cells = self.runs.iter().map(|run| &run.cell);
            cells.any(|cell| cell.dataset == name)
        };
        let names = suite.datasets.iter().map(|source| source.name.as_str());
        let without: Vec<&str> = names.filter(|name| !measured(name)).collect();
        // A refused cell lacks at most so many models.
        let refused = self.refused.len() as u64 * u64::from(suite.runs);
        let made = self.runs.len() as u64;
        if without.is_empty() && made + refused >= forecast.models() {
            return;
        }
        let missing = match without[..] {
            [] => String::new(),
            _ => format!("; nothing of {}", without.join(", ")),
        };
        self.notices.push(format!(
            "{}: part of the suite, {made} of its {} models{missing}. `privet-bench run {} --resume` makes the \
             rest.",
            self.suite,
            forecast.models(),
            self.suite,
        ));
    }

    /// Reads the lines of a file; `path` is for messages.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self, ReportError> {
        let mut results = Self::default();
        let mut repeated = 0;
        let mut bad = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for (place, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match serde_json::from_slice(line) {
                Ok(Line::Head(head)) => results.heads.push(head),
                Ok(_) if results.heads.is_empty() => return Err(ReportError::NoHead(path.into())),
                Ok(Line::Run(run)) => {
                    if seen.insert(identity(&run)) {
                        results.runs.push(run);
                    } else {
                        repeated += 1;
                    }
                }
                Ok(Line::Refused(refused)) => {
                    if !results.refused.contains(&refused) {
                        results.refused.push(refused);
                    }
                }
                Ok(Line::Race(race)) => results.races.push(race),
                Err(_) => bad.push(place + 1),
            }
        }
        if !results.has_cells() && results.races.is_empty() {
            return Err(ReportError::Empty { path: path.into(), unread: bad.len() });
        }
        results.suite = results.heads.first().map_or_else(String::new, |head| head.suite.clone());
        results.tell(&bad, repeated);
        Ok(results)
    }

    fn tell(&mut self, bad: &[usize], repeated: usize) {
        let suite = &self.suite;
        if let Some(first) = bad.first() {
            self.notices.push(format!(
                "{suite}: {} of the results file {} not whole and left out (first: line {first}); \
                 everything else is used.",
                if bad.len() == 1 { "1 line".into() } else { format!("{} lines", bad.len()) },
                if bad.len() == 1 { "is" } else { "are" },
            ));
        }
        if repeated > 0 {
            self.notices.push(format!(
                "{suite}: {repeated} runs stand in the results file twice; the first of each is used."
            ));
        }
        if self.heads.iter().any(|head| head.suite != *suite) {
            self.notices.push(format!("{suite}: the results file holds other suites too."));
        }
        let commits: std::collections::BTreeSet<&str> =
            self.heads.iter().map(|head| head.commit.as_str()).collect();
        if commits.len() > 1 {
            self.notices.push(format!(
                "{suite}: taken up again with other sources; its results come from {} commits.",
                commits.len()
            ));
        }
    }
}

/// The identity of a run among others.
fn identity(run: &Run) -> String {
    serde_json::to_string(&(&run.cell, run.stage, run.run)).unwrap_or_default()
}
