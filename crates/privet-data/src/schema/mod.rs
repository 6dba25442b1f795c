//! The public facts about a table: facts that may be known without reading its records.
//!
//! A schema names columns with their bounds or categories, the target, the clipping of a record, and
//! the layout of the file. Everything that decides a guarantee is derived from it and never from the
//! records, so its author must not have taken it from the private data.
//!
//! ```toml
//! bias = true                        # a constant column inside the clipped record; or its value
//! other_columns = "refuse"           # columns of the file that are not named here: refuse | ignore
//! invalid = "refuse"                 # a bad cell or line: refuse | drop | stand-in, see [`Invalid`]
//!
//! [file]                             # all of these have the defaults shown
//! format = "csv"                     # csv | libsvm | parquet
//! separator = ","
//! quote = "\""                       # "" switches quoting off
//! header = true                      # without one, columns go by position
//! trim = true                        # blanks around a cell do not count
//! missing_values = []                # cells that count as missing, e.g. ["?", ""]
//!
//! [clip]
//! norm = "l2"                        # l2 | linf
//! radius = 1.0
//! rows = "clip"                      # clip: longer rows are scaled down | fill: all rows to the radius
//!
//! [target]
//! column = "income"
//! classes = ["<=50K", ">50K"]        # two: −1 and +1; or  bounds = [0, 500000]  for a number
//!
//! [[columns]]
//! name = "age"
//! type = "number"
//! bounds = [0, 120]                  # values outside are moved to the nearest bound
//! basis = { hats = 8 }               # what it is unfolded into, see [`Basis`]; chosen by default
//! scale = "unit"                     # symmetric: [−1, 1] | unit: [0, 1] | none: as it is
//! missing = 38.5                     # this number stands in | "category": an indicator | "error"
//!
//! [[columns]]
//! name = "work"
//! type = "category"
//! categories = ["private", "public"] # or  hash_buckets = 64
//! unknown = "other"                  # a column of its own | "error" | "none" | { as = "public" }
//! missing = "category"               # a column of its own | "error" | { as = "public" }
//! ```
//!
//! `names = ["a", "b"]` in place of `name` declares several columns alike. Further column types: `date`
//! ([`DatePart`]), `binary` (`values = ["no", "yes"]`, 0 and 1), `ignore`, and `target` and `unit`,
//! which mark the position of those two in files without a header. With `[unit]` (`column`,
//! `max_records`) the guarantee covers all rows of one user. Users are distinguished by the exact text
//! or digits of their identifiers (`7` and `07` are two; numbers that may have lost digits are refused)
//! unless `spelling` is set ([`Spelling`]: `text`, `number` or `nfc`). With `format = "libsvm"` there
//! are no `[[columns]]` but `[libsvm]` (`features`, and optionally `bounds`). With
//! `invalid = "stand-in"` a column may declare a substitute for a bad cell: `invalid = 38.5`, or
//! `invalid = { as = "public" }`. With `[image]` (`width`, `height`, `channels`, `encoder`, `features`)
//! the features of a row are the pixels of an image, and a fixed encoder computes the row from them
//! ([`crate::image`]).
//!
//! [`Draft`] is the file as written; [`Schema`] is a draft that passed [`Draft::check`]. Deserialising
//! goes through that check.

mod basis;
mod check;
mod columns;
mod counting;
mod dates;
mod describing;
mod draft;
mod fourier;
mod image;
mod invalid;
mod labels;
mod load;
mod origin;
mod pairs;
mod problems;
mod reference;

pub use basis::{Basis, BasisChoice, BasisDraft, HATS, HatsDraft, HatsFacts, Knots, KnotsDraft};
pub use check::{FEATURES, HASH_BUCKETS, RADIUS};
pub use dates::{DateOrder, DatePart, DateReading, is_date};
pub use draft::{
    BiasDraft, ClipDraft, ColumnDraft, ColumnType, Draft, FileDraft, LibsvmDraft, MissingDraft,
    StandIn, TargetDraft, UnitDraft, UnknownDraft,
};
pub use fourier::{FourierDraft, FourierFacts};
pub use image::{CHANNELS, ImageDraft, ImageEncoding, ImageFacts, SIDE};
pub use invalid::{Invalid, InvalidCell, InvalidDraft};
pub use labels::Labels;
pub use load::LARGEST_SCHEMA;
pub use origin::{Origin, Paid};
pub use pairs::{Pair, PairDraft};
pub use privet_core::UNNAMED_UNIT;
pub use reference::reference;

use privet_core::{Spelling, Unit, UnitDefinition};
use serde::{Deserialize, Serialize};

/// The reason a schema was refused. A schema is public, so its own words may be repeated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// Not TOML, an unknown key, or a value of the wrong type.
    #[error("schema: {0}")]
    Syntax(String),
    /// A value that is not accepted.
    #[error("schema, {key}: {problem}; accepted: {accepted}")]
    Invalid {
        /// The key it is written under.
        key: String,
        /// The problem with it.
        problem: String,
        /// The accepted values.
        accepted: String,
    },
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Cells between separators, one record a line.
    Csv,
    /// Sparse text, `label index:value …`, indices from 1.
    Libsvm,
    /// Apache Parquet.
    Parquet,
}

/// The norm of a record that is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Norm {
    /// Euclidean: the record is scaled down to the radius.
    L2,
    /// Largest entry: each entry is clamped to ±radius.
    Linf,
}

/// Treatment of a row by its norm.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rows {
    /// Rows of a larger norm are scaled down to the radius.
    #[default]
    Clip,
    /// Every row is scaled to the radius for training, by its own norm alone; a row of zeros stays one.
    /// Predictions divide by one public norm instead, so that a score is a sum over columns.
    Fill,
}

/// The range that a bounded number is mapped to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// The range [0, 1].
    Unit,
    /// The range [−1, 1].
    Symmetric,
    /// No mapping: the number itself, clamped to its bounds.
    None,
}

/// Applied to a number after clamping, before scaling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transform {
    /// ln(1 + value − low), for heavy tails.
    Log1p,
}

/// Storage of rows in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    /// Every entry is stored.
    Dense,
    /// Only entries that are not zero are stored.
    Csr,
}

/// The layout of a file, as reading needs it.
#[derive(Debug, Clone, PartialEq)]
pub struct FileFacts {
    /// The format.
    pub format: Format,
    /// The byte between cells (CSV).
    pub separator: u8,
    /// The byte around quoted cells, if quoting is on (CSV).
    pub quote: Option<u8>,
    /// True if the first row names the columns (CSV).
    pub header: bool,
    /// True if blanks around a cell are dropped (CSV).
    pub trim: bool,
    /// Cells that count as missing.
    pub missing_values: Vec<String>,
}

/// The bound on each record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClipFacts {
    /// The norm that is bounded.
    pub norm: Norm,
    /// The largest norm of a record.
    pub radius: f64,
    /// Treatment of rows of a smaller norm.
    pub rows: Rows,
}

/// The target: the column to be predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetFacts {
    /// The column's name (empty for LIBSVM, where the target is the first token).
    pub column: String,
    /// Classes or a bounded number.
    pub kind: TargetKind,
    /// The weight of each class, the largest 1; equal weights unless given.
    pub weights: Option<Vec<f64>>,
    /// Further labels of the file, mapped to the classes.
    pub labels: Labels,
}

/// Classes or a bounded number.
#[derive(Debug, Clone, PartialEq)]
pub enum TargetKind {
    /// Labels in order. Of two, the first counts as −1 and the second as +1.
    Classes(Vec<String>),
    /// A number, clamped to these bounds.
    Number {
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
}

/// The privacy unit of a table in which one user has several rows.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitFacts {
    /// The column that names the user.
    pub column: String,
    /// The number of rows kept for each user.
    pub max_records: u32,
    /// The rule by which two cells name the same user.
    pub spelling: Spelling,
}

/// One column of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name; for files without a header only used in messages.
    pub name: String,
    /// Its type, with bounds or categories.
    pub kind: ColumnKind,
    /// The substitute for a bad cell under [`Invalid::StandIn`]; without one, the record becomes the
    /// null record.
    pub invalid: Option<InvalidCell>,
    /// The date that it is a part of, if it is one.
    pub date: Option<DateReading>,
}

impl Column {
    /// The name of the file's column that it is read from: the date's, for a part of a date.
    pub fn source(&self) -> &str {
        self.date.as_ref().map_or(&self.name, |date| &date.column)
    }
}

/// Treatment of columns that a schema does not name, in a file of training records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OtherColumns {
    /// The file is refused: a mistyped name would otherwise go unnoticed.
    #[default]
    Refuse,
    /// They are not read.
    Ignore,
}

/// The type of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnKind {
    /// A bounded number.
    Number {
        /// Lower bound; smaller values become it.
        low: f64,
        /// Upper bound; larger values become it.
        high: f64,
        /// The range it is mapped to.
        scale: Scale,
        /// Applied before scaling.
        transform: Option<Transform>,
        /// Its expansion in a piecewise-linear basis, if any.
        basis: Basis,
        /// The treatment of a missing cell.
        missing: Missing<f64>,
    },
    /// One of a list.
    Category {
        /// Listed or hashed.
        categories: Categories,
        /// The treatment of an unlisted category.
        unknown: Unknown,
        /// The treatment of a missing cell.
        missing: Missing<String>,
    },
    /// One of two, as 0 and 1.
    Binary {
        /// The cells that mean 0 and 1.
        values: [String; 2],
        /// The treatment of a missing cell.
        missing: Missing<String>,
    },
    /// Not read.
    Ignore,
    /// Marks the position of the target.
    Target,
    /// Marks the position of the unit's column.
    Unit,
}

/// The categories of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Categories {
    /// Each has an encoded column of its own.
    Listed(Vec<String>),
    /// Every text has one of this many encoded columns, by a fixed public hash.
    Hashed(u32),
}

/// The treatment of an unlisted category.
#[derive(Debug, Clone, PartialEq)]
pub enum Unknown {
    /// The file is refused (in prediction: treated as [`Unknown::None`], and counted).
    Error,
    /// An encoded column of its own.
    Other,
    /// No category: all of the column's entries are zero.
    None,
    /// Treated as this listed category.
    As(String),
}

/// The treatment of a missing cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Missing<T> {
    /// The file is refused.
    Error,
    /// An encoded column of its own is 1; the column's others are zero.
    Category,
    /// This public constant is used.
    As(T),
}

/// A sparse file's features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LibsvmFacts {
    /// The number of features; indices run from 1 to this.
    pub features: u32,
    /// Values are clamped to these and divided by the larger magnitude; zero stays zero.
    pub bounds: Option<(f64, f64)>,
}

/// The checked public facts about a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Draft", into = "Draft")]
pub struct Schema {
    file: FileFacts,
    clip: ClipFacts,
    bias: Option<f64>,
    /// True if a planner may add a constant column.
    open_bias: bool,
    invalid: Invalid,
    other_columns: OtherColumns,
    origin: Option<Origin>,
    storage: Option<Storage>,
    target: TargetFacts,
    unit: Option<UnitFacts>,
    columns: Vec<Column>,
    pairs: Vec<Pair>,
    fourier: Option<FourierFacts>,
    libsvm: Option<LibsvmFacts>,
    image: Option<ImageFacts>,
}

impl Schema {
    /// Reads and checks TOML.
    pub fn from_toml(text: &str) -> Result<Self, SchemaError> {
        read_draft(text)?.of_file().check()
    }

    /// Returns TOML that reads back to the same schema.
    pub fn to_toml(&self) -> String {
        // Every draft of a checked schema is a plain table of strings, numbers and lists.
        toml::to_string(&Draft::from(self.clone())).unwrap_or_default()
    }

    /// The layout of the file.
    pub fn file(&self) -> &FileFacts {
        &self.file
    }

    /// The bound on each record.
    pub fn clip(&self) -> ClipFacts {
        self.clip
    }

    /// The constant column's value before clipping, if there is one.
    pub fn bias(&self) -> Option<f64> {
        self.bias
    }

    /// The treatment of an invalid record.
    pub fn invalid(&self) -> Invalid {
        self.invalid
    }

    /// The treatment of the file's columns that are not named here.
    pub fn other_columns(&self) -> OtherColumns {
        self.other_columns
    }

    /// The public table or private release that it was filled in from, if it was.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// The storage requested, if any.
    pub fn storage(&self) -> Option<Storage> {
        self.storage
    }

    /// The target.
    pub fn target(&self) -> &TargetFacts {
        &self.target
    }

    /// The user column, unless the privacy unit is one record.
    pub fn unit_column(&self) -> Option<&UnitFacts> {
        self.unit.as_ref()
    }

    /// The privacy unit, as the accountant takes it.
    pub fn unit(&self) -> Unit {
        match &self.unit {
            None => Unit::Record,
            Some(unit) => Unit::User { max_records: unit.max_records },
        }
    }

    /// The identity of a unit: one record, or the rows that share an identifier of a column.
    pub fn unit_definition(&self) -> UnitDefinition {
        match &self.unit {
            None => UnitDefinition::Records,
            // Identifiers that were passed beside the records: no column has this name.
            Some(unit) if unit.column.starts_with(UNNAMED_UNIT) => UnitDefinition::NotSaid,
            Some(unit) => self.whose_of(&unit.column),
        }
    }

    /// The identity of a unit whose identifiers are in the column of this name (any column, not only
    /// the schema's own), read under the schema's `trim` and `spelling`.
    pub fn whose_of(&self, column: &str) -> UnitDefinition {
        match &self.unit {
            None => UnitDefinition::Records,
            Some(unit) => UnitDefinition::Column {
                column: column.into(),
                trim: self.file.trim,
                spelling: unit.spelling,
            },
        }
    }

    /// The columns, in the file's order where it has no header.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// True if a column is read from the same column of the file as the one before it: both are parts
    /// of a date.
    pub(crate) fn shares_place(&self, at: usize) -> bool {
        let date = |at: usize| self.columns.get(at).and_then(|column| column.date.as_ref());
        match (at.checked_sub(1).and_then(date), date(at)) {
            (Some(before), Some(this)) => before.column == this.column,
            _ => false,
        }
    }

    /// The number of columns of a file without a header.
    pub(crate) fn places(&self) -> usize {
        (0..self.columns.len()).filter(|at| !self.shares_place(*at)).count()
    }

    /// Columns whose encodings are multiplied.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Random Fourier features over all numbers, if declared.
    pub fn fourier(&self) -> Option<FourierFacts> {
        self.fourier
    }

    /// A sparse file's features.
    pub fn libsvm(&self) -> Option<LibsvmFacts> {
        self.libsvm
    }

    /// The weight of each class, in order, the largest 1; `None` if all are equal.
    pub fn class_weights(&self) -> Option<&[f64]> {
        self.target.weights.as_deref()
    }

    /// The labels in order, unless the target is a number.
    pub fn classes(&self) -> Option<&[String]> {
        match &self.target.kind {
            TargetKind::Classes(classes) => Some(classes),
            TargetKind::Number { .. } => None,
        }
    }
}

impl TryFrom<Draft> for Schema {
    type Error = SchemaError;
    fn try_from(draft: Draft) -> Result<Self, SchemaError> {
        draft.check()
    }
}

/// Parses a schema's text; a syntax error names its line.
fn read_draft(text: &str) -> Result<Draft, SchemaError> {
    toml::from_str(text).map_err(|error| SchemaError::Syntax(error.to_string().trim_end().into()))
}
