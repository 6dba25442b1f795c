//! Why data could not be read.
//!
//! Messages go to the operator, who holds the data: they name file, row and column and what would
//! be accepted. They never repeat what a cell holds, and only [`DataError::code`] may be written
//! into ledgers, model files, reports or logs.

use crate::block::BlockError;
use crate::schema::SchemaError;
use std::{fmt, io, path::PathBuf};

/// Why nothing was read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The schema itself is refused.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A schema file is refused.
    #[error("{file}: {source}")]
    SchemaFile {
        /// Which file.
        file: Place,
        /// Why.
        source: SchemaError,
    },
    /// The file system refused.
    #[error("{file}: {source}")]
    File {
        /// Which file.
        file: Place,
        /// What the system said.
        source: io::Error,
    },
    /// Compressed or columnar data that end early or do not decode.
    #[error("{file}: damaged or truncated {format} data; a complete {format} file is accepted")]
    Damaged {
        /// Which file.
        file: Place,
        /// What it was read as.
        format: &'static str,
    },
    /// A record longer than any reader takes.
    #[error(
        "{file}, row {row}: longer than {longest} bytes; records up to that length are accepted"
    )]
    TooLong {
        /// Which file.
        file: Place,
        /// Which row; the first of the file, header included, is 1.
        row: u64,
        /// The longest record that is accepted, in bytes.
        longest: usize,
    },
    /// A file that is larger than anything of its kind.
    #[error("{file}: larger than {most} bytes; at most that many are accepted")]
    TooLarge {
        /// Which file.
        file: Place,
        /// The most bytes that are accepted.
        most: usize,
    },
    /// A file of text that is none.
    #[error("{file}: not text; a file in UTF-8 is accepted")]
    NotText {
        /// Which file.
        file: Place,
    },
    /// No record at all.
    #[error("{file}: holds no records; at least one is needed")]
    Empty {
        /// Which file.
        file: Place,
    },
    /// Something a healthy file may use and this reader does not know.
    #[error("{file}: uses {what}, which is not supported; accepted: {accepted}")]
    Unsupported {
        /// Which file.
        file: Place,
        /// What it uses.
        what: &'static str,
        /// What would be accepted.
        accepted: &'static str,
    },
    /// The build lacks a reader.
    #[error("{file}: this build cannot read {format}; build with the `{format}` feature")]
    NotBuilt {
        /// Which file.
        file: Place,
        /// The missing format.
        format: &'static str,
    },
    /// A column that the schema names is not in the file.
    #[error("{file}: column \"{column}\" of the schema is missing; the header must name it once")]
    MissingColumn {
        /// Which file.
        file: Place,
        /// The schema's name.
        column: String,
    },
    /// A column that the schema does not name, in a file to learn from.
    #[error(
        "{file}: {column} is not in the schema; list it there (type = \"ignore\" leaves it out; \
         other_columns = \"ignore\", above all tables, leaves out all that are not listed) or remove it from the data"
    )]
    UnknownColumn {
        /// Which file.
        file: Place,
        /// Which column: its place in a file, whose header may turn out to hold a record; the name in a table.
        column: String,
    },
    /// A file of several whose columns are not those of the first.
    #[error("{file}: its columns are not those of {first}: {why}")]
    ColumnsDiffer {
        /// Which file.
        file: Place,
        /// The first of the table.
        first: Place,
        /// What differs, in words.
        why: String,
    },
    /// Rows that were read could not be kept on disk.
    #[error(transparent)]
    NotKept(#[from] BlockError),
    /// A header that names the same column twice.
    #[error("{file}: the header names column \"{column}\" twice; each name is accepted once")]
    RepeatedColumn {
        /// Which file.
        file: Place,
        /// The name.
        column: String,
    },
    /// A column of a type that cannot say whose a row is.
    #[error(
        "{file}: column \"{column}\" is of a type that does not tell users apart; accepted: \
         {accepted}"
    )]
    UnitType {
        /// Which file.
        file: Place,
        /// The column's name.
        column: String,
        /// What would be accepted.
        accepted: &'static str,
    },
    /// A row with too few or too many cells.
    #[error("{file}, row {row}: {found} cells; {expected} are accepted")]
    Ragged {
        /// Which file.
        file: Place,
        /// Which row; the first of the file, header included, is 1.
        row: u64,
        /// Cells found.
        found: usize,
        /// Cells needed.
        expected: usize,
    },
    /// A cell that does not fit its column.
    #[error("{file}, row {row}, {column}: {problem}; accepted: {accepted}")]
    Cell {
        /// Which file.
        file: Place,
        /// Which row; the first of the file, header included, is 1.
        row: u64,
        /// Which column, in words.
        column: String,
        /// What is wrong, in kind.
        problem: Problem,
        /// What would be accepted.
        accepted: String,
    },
}

impl DataError {
    /// A public reason code: all that may be written down about a refusal.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Schema(_) | Self::SchemaFile { .. } => "schema-refused",
            Self::File { .. } => "file-unreadable",
            Self::Damaged { .. } => "file-damaged",
            Self::TooLong { .. } => "record-too-long",
            Self::TooLarge { .. } => "file-too-large",
            Self::NotText { .. } => "file-not-text",
            Self::Empty { .. } => "file-empty",
            Self::Unsupported { .. } => "file-unsupported",
            Self::NotBuilt { .. } => "format-not-built",
            Self::MissingColumn { .. } => "column-missing",
            Self::UnknownColumn { .. } => "column-unknown",
            Self::RepeatedColumn { .. } => "column-repeated",
            Self::ColumnsDiffer { .. } => "columns-differ",
            Self::NotKept(_) => "rows-not-kept",
            Self::UnitType { .. } => "unit-type",
            Self::Ragged { .. } => "row-ragged",
            Self::Cell { .. } => "cell-refused",
        }
    }

    /// Whether the machine is at fault (disk, permission), not the input. A file that does not
    /// exist, is a folder or is not text is the input's fault.
    pub fn is_environment(&self) -> bool {
        use io::ErrorKind::{InvalidData, IsADirectory, NotADirectory, NotFound};
        let input = [NotFound, InvalidData, IsADirectory, NotADirectory];
        match self {
            Self::File { source, .. } => !input.contains(&source.kind()),
            Self::NotKept(_) => true,
            _ => false,
        }
    }

    /// The same, where it says that columns of a file are wrong while those of `first`, another file of the same table,
    /// were right.
    pub(crate) fn differing_from(self, first: &Place) -> Self {
        let (file, why) = match &self {
            Self::MissingColumn { file, column } => (file, format!("\"{column}\" is missing")),
            Self::UnknownColumn { file, column } => (file, format!("{column} is one more")),
            Self::RepeatedColumn { file, column } => (file, format!("\"{column}\" is there twice")),
            _ => return self,
        };
        match file == first {
            true => self,
            false => Self::ColumnsDiffer { file: file.clone(), first: first.clone(), why },
        }
    }
}

/// What is wrong with a cell, in kind. Never what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Problem {
    /// Text where a number belongs.
    NotANumber,
    /// Bytes that are no text in UTF-8.
    NotText,
    /// No date in the order that the schema declares.
    NotADate,
    /// NaN or ±∞.
    NotFinite,
    /// A number with a fraction, or too large for its type to be exact, where it says whose a row is.
    Inexact,
    /// A missing value where the schema gives no policy for one.
    Missing,
    /// A category that the schema does not list.
    UnknownCategory,
    /// A label that is none of the target's classes.
    UnknownClass,
    /// A type of cell that no column takes (nested data, bytes that are not text …).
    UnsupportedType,
    /// A LIBSVM entry that is not `index:value`.
    NotAPair,
    /// A LIBSVM index outside 1 … features.
    IndexOutOfRange,
    /// A LIBSVM index that does not exceed the one before it.
    IndexNotIncreasing,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotANumber => "not a number",
            Self::NotText => "no text in UTF-8",
            Self::NotADate => "not a date in the declared order",
            Self::NotFinite => "NaN or infinite",
            Self::Inexact => "a number that is not whole, or too large to be exact",
            Self::Missing => "missing, and the schema has no policy for that",
            Self::UnknownCategory => "a category that the schema does not list",
            Self::UnknownClass => "a label that is none of the classes",
            Self::UnsupportedType => "a type of cell that cannot be used",
            Self::NotAPair => "not of the form index:value",
            Self::IndexOutOfRange => "feature index out of range",
            Self::IndexNotIncreasing => "feature indices repeated or not increasing",
        })
    }
}

/// A file by its path, or bytes that came without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A path.
    Path(PathBuf),
    /// Bytes in memory.
    Memory,
    /// A table that another program holds in memory; its rows count from 0.
    Table,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(f, "{}", path.display()),
            Self::Memory => f.write_str("(bytes in memory)"),
            Self::Table => f.write_str("table"),
        }
    }
}
