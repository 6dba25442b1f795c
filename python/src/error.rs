//! Errors as exceptions: `ValueError` for a bad argument, `PrivacyError` (a `ValueError` too) for a
//! request that no proof covers, `OSError` for files, `KeyboardInterrupt` for a fit that was stopped.
//!
//! The messages are those of the crates, which never repeat a value read from a record.

use privet_audit::AuditError;
use privet_data::DataError;
use privet_data::write::WriteError;
use privet_dp::account::AccountError;
use privet_dp::noise::NoiseError;
use privet_learn::LearnError;
use privet_ledger::LedgerError;
use privet_optim::solver::SolveError;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyIsADirectoryError, PyKeyboardInterrupt,
    PyMemoryError, PyOSError, PyPermissionError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;
use std::io;
use std::path::Path;

pyo3::create_exception!(
    privet,
    PrivacyError,
    PyValueError,
    "Refused on privacy grounds: no proof covers what was asked for, or a certificate does not hold."
);

/// An error of the Rust crates, on its way to Python.
pub struct Failure(PyErr);

/// A message without terminal control characters, whatever file or argument it repeats.
pub fn shown(words: &str) -> String {
    privet_core::printable_lines(words).into_owned()
}

/// The result of every function of the extension.
pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// A bad argument.
    pub fn value(words: impl std::fmt::Display) -> Self {
        Self(PyValueError::new_err(shown(&words.to_string())))
    }

    /// A request for more numbers than there is memory for.
    pub fn memory(count: usize) -> Self {
        Self(PyMemoryError::new_err(format!("no memory for {count} numbers; fewer are accepted")))
    }

    /// A release that could not be written to its path, and was written elsewhere.
    pub fn kept(why: WriteError, path: &Path) -> Self {
        let how = match why {
            WriteError::Exists { .. } => "; overwrite=True replaces it",
            _ => "",
        };
        let words =
            format!("{why}{how}; this release, which is paid for, is in {}", path.display());
        Self(match io::Error::from(why).kind() {
            io::ErrorKind::AlreadyExists => PyFileExistsError::new_err(words),
            io::ErrorKind::IsADirectory => PyIsADirectoryError::new_err(words),
            io::ErrorKind::NotFound => PyFileNotFoundError::new_err(words),
            io::ErrorKind::PermissionDenied => PyPermissionError::new_err(words),
            _ => PyOSError::new_err(words),
        })
    }

    /// A fault in JSON that the Python side wrote as `what`, without a position in a text that the user
    /// never sees.
    pub fn json(what: &str, error: &serde_json::Error) -> Self {
        let words = error.to_string();
        Self::value(format!("{what}{}", words.split(" at line ").next().unwrap_or_default()))
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl From<privet_core::Error> for Failure {
    fn from(error: privet_core::Error) -> Self {
        Self::value(error)
    }
}

impl From<privet_data::schema::SchemaError> for Failure {
    fn from(error: privet_data::schema::SchemaError) -> Self {
        Self::value(error)
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        match error {
            DataError::File { .. } => Self(PyOSError::new_err(shown(&error.to_string()))),
            error => Self::value(error),
        }
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        let words = shown(&error.to_string());
        Self(if error.is_environment() {
            PyOSError::new_err(words)
        } else if error.is_refusal() {
            PrivacyError::new_err(words)
        } else if matches!(error, LedgerError::Absent { .. }) {
            PyFileNotFoundError::new_err(words)
        } else if matches!(error, LedgerError::Exists { .. }) {
            PyFileExistsError::new_err(words)
        } else {
            PyValueError::new_err(words)
        })
    }
}

impl From<LearnError> for Failure {
    fn from(error: LearnError) -> Self {
        let words = shown(&error.to_string());
        Self(match error {
            LearnError::File { .. } | LearnError::Write(_) => PyOSError::new_err(words),
            LearnError::Solve(SolveError::Stopped) => PyKeyboardInterrupt::new_err(words),
            LearnError::Solve(SolveError::Setting(_) | SolveError::TooFine { .. }) => {
                PyValueError::new_err(words)
            }
            LearnError::NotCovered { .. } | LearnError::Account(_) | LearnError::Gate(_) => {
                PrivacyError::new_err(words)
            }
            LearnError::Solve(_) => PyRuntimeError::new_err(words),
            _ => PyValueError::new_err(words),
        })
    }
}

impl From<AccountError> for Failure {
    fn from(error: AccountError) -> Self {
        Self::value(error)
    }
}

impl From<NoiseError> for Failure {
    fn from(error: NoiseError) -> Self {
        match error {
            NoiseError::NoEntropy { .. } => Self(PyOSError::new_err(error.to_string())),
            error => Self::value(error),
        }
    }
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Self {
        match error {
            AuditError::Learn(error) => error.into(),
            AuditError::Stopped => Self(PyKeyboardInterrupt::new_err("stopped")),
            error => Self::value(error),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::json("", &error)
    }
}
