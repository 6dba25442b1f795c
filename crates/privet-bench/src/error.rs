//! Why a benchmark did not run.

use crate::race::RaceError;
use crate::report::ReportError;
use privet_catalog::CatalogError;
use privet_data::{DataError, schema::SchemaError};
use privet_learn::LearnError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a benchmark did not run, or ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// Neither a built-in suite nor a file.
    #[error(
        "'{given}' is neither a suite nor a file; suites are {accepted}, and the path of a TOML file \
         is accepted too"
    )]
    UnknownSuite {
        /// What was asked for.
        given: String,
        /// What would be accepted.
        accepted: String,
    },
    /// A suite file that is not one.
    #[error("{file}: {why}")]
    Suite {
        /// Which, with the line where known.
        file: String,
        /// Why, and what would be accepted.
        why: String,
    },
    /// A name that the suite does not have.
    #[error("{what} '{given}': this suite has {accepted}")]
    Unknown {
        /// Of which kind.
        what: &'static str,
        /// What was given.
        given: String,
        /// What would be accepted.
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
    /// Somebody else writes the file.
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
        /// The suite as it was.
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
    /// A line that is no result, before the last.
    #[error("{path}, line {line}: not a line of results ({why}); only a last line may be cut")]
    NotResults {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// Why.
        why: String,
    },
    /// No data set of the suite could be read.
    #[error("no data set could be used:\n{reasons}")]
    NoData {
        /// Each with its reason, one a line.
        reasons: String,
    },
    /// The filters leave nothing.
    #[error("nothing is left to run: {why}")]
    NothingLeft {
        /// Which filters.
        why: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A set of the catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// A data set.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A learner.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The accountant.
    #[error(transparent)]
    Account(#[from] privet_dp::account::AccountError),
    /// A setting.
    #[error(transparent)]
    Setting(#[from] privet_core::Error),
    /// In a race.
    #[error(transparent)]
    Race(#[from] RaceError),
    /// The operating system gives no randomness.
    #[error(transparent)]
    Noise(#[from] privet_dp::noise::NoiseError),
    /// Files of rows refused.
    #[error(transparent)]
    Rows(#[from] privet_data::block::BlockError),
    /// A table refused.
    #[error(transparent)]
    Table(#[from] privet_optim::sum::RecordsError),
}

impl From<SchemaError> for BenchError {
    fn from(error: SchemaError) -> Self {
        Self::Data(error.into())
    }
}

impl BenchError {
    /// For `map_err` on whatever is done with a file.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { path, source }
    }
}
