//! Errors of reading data.
//!
//! Messages go to the operator, who holds the data: they name file, row and column and the accepted
//! values. They never repeat a cell's content, and only [`DataError::code`] may be written into
//! ledgers, model files, reports or logs.

use crate::block::BlockError;
use crate::schema::SchemaError;
use std::{fmt, io, path::PathBuf};

/// The reason nothing was read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The schema itself is refused.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A schema file is refused.
    #[error("{file}: {source}")]
    SchemaFile {
        /// The file.
        file: Place,
        /// The reason.
        source: SchemaError,
    },
    /// The file system refused.
    #[error("{file}: {source}")]
    File {
        /// The file.
        file: Place,
        /// The system's error.
        source: io::Error,
    },
    /// Compressed or columnar data that end early or do not decode.
    #[error("{file}: damaged or truncated {format} data; a complete {format} file is accepted")]
    Damaged {
        /// The file.
        file: Place,
        /// The format it was read as.
        format: &'static str,
    },
    /// A record longer than the readers' limit.
    #[error(
        "{file}, row {row}: longer than {longest} bytes; records up to that length are accepted"
    )]
    TooLong {
        /// The file.
        file: Place,
        /// The row; the first of the file, header included, is 1.
        row: u64,
        /// The longest record that is accepted, in bytes.
        longest: usize,
    },
    /// A file larger than the limit of its kind.
    #[error("{file}: larger than {most} bytes; at most that many are accepted")]
    TooLarge {
        /// The file.
        file: Place,
        /// The limit, in bytes.
        most: usize,
    },
    /// A text file that is not in UTF-8.
    #[error("{file}: not text; a file in UTF-8 is accepted")]
    NotText {
        /// The file.
        file: Place,
    },
    /// No record at all.
    #[error("{file}: holds no records; at least one is needed")]
    Empty {
        /// The file.
        file: Place,
    },
    /// A valid feature of the format that this reader does not support.
    #[error("{file}: uses {what}, which is not supported; accepted: {accepted}")]
    Unsupported {
        /// The file.
        file: Place,
        /// The feature.
        what: &'static str,
        /// The accepted alternatives.
        accepted: &'static str,
    },
    /// The build lacks a reader.
    #[error("{file}: this build cannot read {format}; build with the `{format}` feature")]
    NotBuilt {
        /// The file.
        file: Place,
        /// The missing format.
        format: &'static str,
    },
    /// A column that the schema names is not in the file.
    #[error("{file}: column \"{column}\" of the schema is missing; the header must name it once")]
    MissingColumn {
        /// The file.
        file: Place,
        /// The schema's name.
        column: String,
    },
    /// A column that the schema does not name, in a file of training records.
    #[error(
        "{file}: {column} is not in the schema; list it there (type = \"ignore\" leaves it out; \
         other_columns = \"ignore\", above all tables, leaves out all that are not listed) or remove it from the data"
    )]
    UnknownColumn {
        /// The file.
        file: Place,
        /// The column: by position in a file, whose header may turn out to hold a record; by name in a
        /// table.
        column: String,
    },
    /// One of several files whose columns differ from those of the first.
    #[error("{file}: its columns are not those of {first}: {why}")]
    ColumnsDiffer {
        /// The file.
        file: Place,
        /// The first file of the table.
        first: Place,
        /// The difference, in words.
        why: String,
    },
    /// Rows that were read could not be written to disk.
    #[error(transparent)]
    NotKept(#[from] BlockError),
    /// A header that names the same column twice.
    #[error("{file}: the header names column \"{column}\" twice; each name is accepted once")]
    RepeatedColumn {
        /// The file.
        file: Place,
        /// The name.
        column: String,
    },
    /// A unit column of a type that cannot identify users.
    #[error(
        "{file}: column \"{column}\" is of a type that does not tell users apart; accepted: \
         {accepted}"
    )]
    UnitType {
        /// The file.
        file: Place,
        /// The column's name.
        column: String,
        /// The accepted types.
        accepted: &'static str,
    },
    /// A row with too few or too many cells.
    #[error("{file}, row {row}: {found} cells; {expected} are accepted")]
    Ragged {
        /// The file.
        file: Place,
        /// The row; the first of the file, header included, is 1.
        row: u64,
        /// Number of cells found.
        found: usize,
        /// Number of cells needed.
        expected: usize,
    },
    /// A cell that does not fit its column.
    #[error("{file}, row {row}, {column}: {problem}; accepted: {accepted}")]
    Cell {
        /// The file.
        file: Place,
        /// The row; the first of the file, header included, is 1.
        row: u64,
        /// The column, in words.
        column: String,
        /// The kind of problem.
        problem: Problem,
        /// The accepted values.
        accepted: String,
    },
}

impl DataError {
    /// A public reason code: the only part of a refusal that may be recorded.
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

    /// True if the machine is at fault (disk, permission), not the input. A file that does not exist,
    /// is a folder or is not text is the input's fault.
    pub fn is_environment(&self) -> bool {
        use io::ErrorKind::{InvalidData, IsADirectory, NotADirectory, NotFound};
        let input = [NotFound, InvalidData, IsADirectory, NotADirectory];
        match self {
            Self::File { source, .. } => !input.contains(&source.kind()),
            Self::NotKept(_) => true,
            _ => false,
        }
    }

    /// Returns [`DataError::ColumnsDiffer`] for an error about a file's columns if they were accepted
    /// in `first`, another file of the same table; other errors are returned as they are.
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

/// The kind of problem with a cell. Never its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Problem {
    /// Text where a number belongs.
    NotANumber,
    /// Bytes that are not UTF-8.
    NotText,
    /// Not a date in the order that the schema declares.
    NotADate,
    /// NaN or ±∞.
    NotFinite,
    /// A number with a fraction, or too large for its type to be exact, in the unit column.
    Inexact,
    /// A missing value for which the schema has no policy.
    Missing,
    /// A category that the schema does not list.
    UnknownCategory,
    /// A label that is not one of the target's classes.
    UnknownClass,
    /// A cell type that no column accepts (nested data, bytes that are not text …).
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

/// A file's path, or a source without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A path.
    Path(PathBuf),
    /// Bytes in memory.
    Memory,
    /// A table held in memory by another program; its rows count from 0.
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
