//! Errors of preparing a set.

use privet_data::{DataError, Place, schema::SchemaError};

/// The reason why a set could not be prepared. The sets are public, and so are the messages.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// A name that is not in the catalog.
    #[error("\"{name}\" is not a known data set; known are {accepted}")]
    UnknownSet {
        /// The name given.
        name: String,
        /// The accepted names.
        accepted: String,
    },
    /// A public original that was not found.
    #[error("{name} not found; looked for {looked} (also with .gz or .zst); get it from {origin}")]
    OriginalMissing {
        /// The file's name.
        name: &'static str,
        /// The paths that were tried.
        looked: String,
        /// The address from which the public gets it.
        origin: &'static str,
    },
    /// A public original whose bytes are not the published ones.
    #[error("{file}: sha256 is {found}; the published original has {expected}")]
    Checksum {
        /// The file.
        file: Place,
        /// The published digest.
        expected: String,
        /// The file's digest.
        found: String,
    },
    /// Any other error of files and schemas.
    #[error(transparent)]
    Data(#[from] DataError),
}

impl CatalogError {
    /// A public reason code, as [`DataError::code`].
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownSet { .. } => "set-unknown",
            Self::OriginalMissing { .. } => "original-missing",
            Self::Checksum { .. } => "original-altered",
            Self::Data(error) => error.code(),
        }
    }
}

impl From<SchemaError> for CatalogError {
    fn from(error: SchemaError) -> Self {
        Self::Data(error.into())
    }
}
