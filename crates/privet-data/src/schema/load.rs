//! Schema files: text of a bounded length.

use super::Schema;
use crate::error::{DataError, Place};
use std::{fs::File, io::Read, path::Path};

/// The largest size of a schema file, in bytes.
pub const LARGEST_SCHEMA: usize = 1 << 24;

impl Schema {
    /// Reads and checks a TOML file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, DataError> {
        let path = path.as_ref();
        let file = || Place::Path(path.into());
        let refused = |source| DataError::File { file: file(), source };
        let mut bytes = Vec::new();
        let most = LARGEST_SCHEMA as u64 + 1;
        File::open(path).map_err(refused)?.take(most).read_to_end(&mut bytes).map_err(refused)?;
        if bytes.len() > LARGEST_SCHEMA {
            return Err(DataError::TooLarge { file: file(), most: LARGEST_SCHEMA });
        }
        let text = String::from_utf8(bytes).map_err(|_| DataError::NotText { file: file() })?;
        Self::from_toml(&text).map_err(|source| DataError::SchemaFile { file: file(), source })
    }
}
