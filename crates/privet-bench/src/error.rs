//! Errors of the benchmark.

use crate::race::RaceError;
use crate::report::ReportError;
use privet_catalog::CatalogError;
use privet_data::{DataError, schema::SchemaError};
use privet_learn::LearnError;
use std::io;
use std::path::{Path, PathBuf};

/// The reason why a benchmark did not run, or ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// Neither a built-in suite nor a file.
    #[error(
        "'{given}' is neither a suite nor a file; suites are {accepted}, and the path of a TOML file \
         is accepted too"
    )]
    UnknownSuite {
        /// The name given.
        given: String,
        /// The accepted names.
        accepted: String,
    },
    /// A suite that is no list of learners and data sets.
    #[error(
        "'{given}' is a suite in parts; `privet-bench run {given} --dry-run` names its {kind}, and \
         `privet-bench list` all suites"
    )]
    InParts {
        /// Its name.
        given: &'static str,
        /// The word for its parts.
        kind: &'static str,
    },
    /// An invalid suite file.
    #[error("{file}: {why}")]
    Suite {
        /// The file, with the line where known.
        file: String,
        /// The fault, and the accepted values.
        why: String,
    },
    /// A name that the suite does not have.
    #[error("{what} '{given}': this suite has {accepted}")]
    Unknown {
        /// The kind of name.
        what: &'static str,
        /// The name given.
        given: String,
        /// The accepted names.
        accepted: String,
    },
    /// There are results already.
    #[error(
        "{path} holds results already; give --resume to continue them, or --out with another folder"
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Another process writes to the file.
    #[error(
        "{path}: another run is writing to it; wait for that one, or give --out another folder"
    )]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The suite is not the one that the results were measured with.
    #[error(
        "the suite is no longer the one that {path} was measured with: results of two suites do \
         not mix; give --out another folder, or the old suite, kept in {kept}"
    )]
    SuiteChanged {
        /// The results.
        path: PathBuf,
        /// The earlier suite.
        kept: PathBuf,
    },
    /// Nothing to check.
    #[error(
        "suite '{suite}' has no targets; accepted is a suite with one of [[targets]] or more, such as default"
    )]
    NoTargets {
        /// Its name.
        suite: String,
    },
    /// Results that cannot be read.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A malformed line before the last.
    #[error("{path}, line {line}: not a line of results ({why}); only a last line may be cut")]
    NotResults {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The fault.
        why: String,
    },
    /// No data set of the suite could be read.
    #[error("no data set could be used:\n{reasons}")]
    NoData {
        /// The reasons, one per line.
        reasons: String,
    },
    /// The filters leave nothing.
    #[error("nothing is left to run: {why}")]
    NothingLeft {
        /// The filters.
        why: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// An error of the catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// An error of a data set.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An error of a learner.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// An error of the accountant.
    #[error(transparent)]
    Account(#[from] privet_dp::account::AccountError),
    /// An error of a setting.
    #[error(transparent)]
    Setting(#[from] privet_core::Error),
    /// An error of a race.
    #[error(transparent)]
    Race(#[from] RaceError),
    /// The operating system provides no randomness.
    #[error(transparent)]
    Noise(#[from] privet_dp::noise::NoiseError),
    /// An error of files of rows.
    #[error(transparent)]
    Rows(#[from] privet_data::block::BlockError),
    /// An error of a table.
    #[error(transparent)]
    Table(#[from] privet_optim::sum::RecordsError),
}

impl From<SchemaError> for BenchError {
    fn from(error: SchemaError) -> Self {
        Self::Data(error.into())
    }
}

impl BenchError {
    /// Converts an error on this path; for `map_err`.
    pub(crate) fn on_path(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { path, source }
    }
}
