//! Why a set could not be prepared.

use privet_data::{DataError, Place, schema::SchemaError};

/// Why a set could not be prepared. The sets are public, and so are the words.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// A name that the catalog does not hold.
    #[error("\"{name}\" is not a known data set; known are {accepted}")]
    UnknownSet {
        /// What was asked for.
        name: String,
        /// What would be accepted.
        accepted: String,
    },
    /// A public original that is not where it was looked for.
    #[error("{name} not found; looked for {looked} (also with .gz or .zst); get it from {origin}")]
    OriginalMissing {
        /// The file's name.
        name: &'static str,
        /// Where it was looked for.
        looked: String,
        /// Where the public gets it.
        origin: &'static str,
    },
    /// A public original whose bytes are not the published ones.
    #[error("{file}: sha256 is {found}; the published original has {expected}")]
    Checksum {
        /// Which file.
        file: Place,
        /// The published digest.
        expected: String,
        /// The file's digest.
        found: String,
    },
    /// Whatever else goes wrong with files and schemas.
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
