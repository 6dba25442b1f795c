//! From files to bounded rows, one record at a time.
//!
//! - The layout of a file is declared by the schema (see [`crate::schema`]); gzip and Zstandard are
//!   recognised by their first bytes.
//! - In training ([`Purpose::Train`]): every column of the file must be in the schema, an unlisted
//!   category is refused unless the schema says otherwise, and with a privacy unit at most
//!   `max_records` rows of each user are kept.
//! - In evaluation or prediction: columns may come in any order and there may be more of them; an
//!   unlisted category is treated as the schema says, and where it says `error` as none of the column's
//!   categories; [`Report`] counts them. Rows are never dropped.
//! - Invalid records are treated as the schema says: [`crate::schema::Invalid`]. Unless they are
//!   refused, every line is a record (an empty one too), and each row depends on its own line alone:
//!   `one_line_changes_one_row`. Where the first line is a record as well, compression is recognised by
//!   the file's name (`.gz`, `.zst`) and not by its first bytes.
//! - A record has at most [`LONGEST_RECORD`] bytes, so that memory stays bounded.
//! - A table may be several files: a folder, or a pattern ([`files_of`]). They are read as one, in the
//!   order of their names.
//! - Every refusal names file, row, column and the accepted values, never a cell's content. No input
//!   makes a reader panic; panics of third-party decoders are caught.

mod canonical;
mod collect;
mod count;
mod csv;
mod fence;
mod files;
mod header;
mod identifier;
mod images;
mod keys;
mod libsvm;
mod lines;
pub mod memory;
mod open;
#[cfg(feature = "parquet")]
mod parquet;
mod problems;
mod spelled;
mod split;
mod survey;
mod unchanged;
mod unit;

pub use canonical::{RowForm, raw_rows};
pub use count::count_records;
pub use fence::inside_fence;
pub use files::{files_of, is_several};
pub use header::{Header, HeaderDoubt};
pub use keys::{
    CellKey, HeldKeys, KeyCap, LONGEST_KEY, MISSING, SurveyedColumns, bin_edges, bin_of, held_keys,
};
pub use lines::LONGEST_RECORD;
pub use open::decompressed;
pub use problems::{TableProblem, problems};
pub use survey::{ColumnSurvey, survey};
pub use unchanged::Unchanged;
pub(crate) use unchanged::{file_changed, state_of};
pub use unit::UNIT_KEY;

use crate::{
    dataset::{Dataset, Features},
    encode::Encoding,
    error::{DataError, Place},
    keyed::Key,
    schema::{Format, Schema},
};
use collect::Collector;
use open::{Input, KnownBy};
use std::{fmt, path::Path};

/// The use of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Training.
    Train,
    /// Evaluation: labels are compared with predictions.
    Evaluate,
}

/// Options of a reader.
#[derive(Clone, Copy)]
pub struct ReadOptions<'a> {
    /// The use of the rows.
    pub purpose: Purpose,
    /// The key that chooses the rows kept of a user with too many; see [`UNIT_KEY`].
    pub unit_key: Key,
    /// True if a table without records is accepted. Where the number of rows is private it must be: a
    /// refusal would distinguish the empty table from its neighbours.
    pub allow_empty: bool,
    /// True if the records of a table in memory may decide whether rows are stored dense or sparse; see
    /// [`memory::numbers`].
    pub any_storage: bool,
    /// A column of the file whose cells are kept as texts, in [`Report::kept`]: names of the rows of a
    /// prediction.
    pub keep: Option<&'a str>,
    /// Progress callback: bytes read and bytes in total (for Parquet: rows).
    pub progress: Option<&'a dyn Fn(u64, u64)>,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        Self {
            purpose: Purpose::Train,
            unit_key: UNIT_KEY,
            allow_empty: false,
            any_storage: false,
            keep: None,
            progress: None,
        }
    }
}

/// Counts and notes about a reading. Derived from private data: show it only to the holder of the data.
#[derive(Clone, Default, PartialEq)]
pub struct Report {
    /// Per column: the number of cells with an unlisted category, and their treatment.
    pub unknown: Vec<UnknownCells>,
    /// Rows dropped because their user had more than `max_records`.
    pub surplus_rows: u64,
    /// Rows dropped because they have no identifier of a unit, where the schema does not refuse that.
    pub nobodys_rows: u64,
    /// Bad cells replaced by their column's substitute.
    pub stand_ins: u64,
    /// Null records, by index from 0 and rising; see [`crate::schema::Invalid`].
    pub null_rows: Vec<usize>,
    /// The cells of the column named in [`ReadOptions::keep`], one per row.
    pub kept: Vec<String>,
}

/// Unlisted categories of one column.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownCells {
    /// The column.
    pub column: String,
    /// The number of cells.
    pub cells: u64,
    /// The category they are treated as.
    pub counted_as: String,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for unknown in &self.unknown {
            let UnknownCells { column, cells, counted_as } = unknown;
            writeln!(
                f,
                "column \"{column}\": {cells} cells hold a category that the schema does not \
                 list; they count as {counted_as}"
            )?;
        }
        if self.surplus_rows > 0 {
            writeln!(
                f,
                "{} rows beyond max_records of their user were left out",
                self.surplus_rows
            )?;
        }
        if self.nobodys_rows > 0 {
            writeln!(f, "{} rows do not say whose they are and were left out", self.nobodys_rows)?;
        }
        if self.stand_ins > 0 {
            writeln!(f, "{} invalid cells count as the stand-in of their column", self.stand_ins)?;
        }
        if !self.null_rows.is_empty() {
            writeln!(
                f,
                "{} rows are invalid and count as null records, which hold nothing",
                self.null_rows.len()
            )?;
        }
        Ok(())
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Report(withheld)")
    }
}

/// Reads labelled records.
pub fn read(
    path: impl AsRef<Path>,
    schema: &Schema,
    options: &ReadOptions<'_>,
) -> Result<Dataset, DataError> {
    let files = files_of(path.as_ref())?;
    let inputs: Vec<Input<'_>> = files.iter().map(|file| Input::Path(file)).collect();
    read_inputs(&inputs, schema.file().format, schema, options)
}

/// Reads labelled records of one file and passes them to `see`, `rows` at a time and in order, as soon
/// as they are encoded: they are never in memory together.
///
/// # Panics
/// In training with a unit column: choosing users' records needs all of them.
pub fn read_pieces(
    file: &Path,
    schema: &Schema,
    options: &ReadOptions<'_>,
    rows: usize,
    see: &mut (dyn FnMut(&Dataset) -> Result<(), DataError> + Send),
) -> Result<Report, DataError> {
    let chosen = options.purpose == Purpose::Train && schema.unit_column().is_some();
    assert!(!chosen, "users' records are chosen among all");
    let mut piece = |read: Dataset| {
        let encoded = images::read_as(schema, |_| Ok(read))?;
        see(&encoded)
    };
    let pixels = schema.image().and_then(|_| schema.of_pixels());
    let schema = pixels.as_ref().unwrap_or(schema);
    let (encoding, input) = (Encoding::new(schema), Input::Path(file));
    let place = input.place();
    let mut collector = Collector::labelled(schema, &encoding, &place, options);
    collector.hand_over_every(rows, &mut piece);
    collect(input, schema.file().format, &mut collector, options)?;
    collector.into_report()
}

/// Reads records for prediction; a target column is ignored.
pub fn read_features(
    path: impl AsRef<Path>,
    schema: &Schema,
    options: &ReadOptions<'_>,
) -> Result<Features, DataError> {
    let files = files_of(path.as_ref())?;
    let inputs: Vec<Input<'_>> = files.iter().map(|file| Input::Path(file)).collect();
    images::read_as(schema, |schema| {
        let encoding = Encoding::new(schema);
        let places: Vec<Place> = inputs.iter().map(Input::place).collect();
        let mut collector = Collector::for_prediction(schema, &encoding, first(&places));
        collector.keep = options.keep.map(|name| (name, None));
        collect_all(&inputs, &places, schema.file().format, &mut collector, options)?;
        collector.into_features()
    })
}

/// Reads labelled CSV from memory, whatever the schema's format; for tests and fuzzing.
pub fn csv_bytes(bytes: &[u8], schema: &Schema) -> Result<Dataset, DataError> {
    read_inputs(&[Input::Bytes(bytes)], Format::Csv, schema, &ReadOptions::default())
}

/// Reads labelled LIBSVM text from memory; the schema's format must be LIBSVM.
pub fn libsvm_bytes(bytes: &[u8], schema: &Schema) -> Result<Dataset, DataError> {
    read_inputs(&[Input::Bytes(bytes)], Format::Libsvm, schema, &ReadOptions::default())
}

/// Reads labelled Parquet from memory, whatever the schema's format; for tests and fuzzing.
pub fn parquet_bytes(bytes: &[u8], schema: &Schema) -> Result<Dataset, DataError> {
    read_inputs(&[Input::Bytes(bytes)], Format::Parquet, schema, &ReadOptions::default())
}

fn read_inputs(
    inputs: &[Input<'_>],
    format: Format,
    schema: &Schema,
    options: &ReadOptions<'_>,
) -> Result<Dataset, DataError> {
    images::read_as(schema, |schema| {
        let encoding = Encoding::new(schema);
        let places: Vec<Place> = inputs.iter().map(Input::place).collect();
        let mut collector = Collector::labelled(schema, &encoding, first(&places), options);
        collect_all(inputs, &places, format, &mut collector, options)?;
        collector.into_dataset()
    })
}

/// The first of several places.
fn first(places: &[Place]) -> &Place {
    places.first().unwrap_or(&Place::Memory)
}

/// Reads all records of all inputs, as of one.
fn collect_all<'a>(
    inputs: &[Input<'_>],
    places: &'a [Place],
    format: Format,
    collector: &mut Collector<'a>,
    options: &ReadOptions<'_>,
) -> Result<(), DataError> {
    // Each of several files counts for the same share of the progress.
    const PARTS: u64 = 1000;
    for (number, (input, place)) in inputs.iter().zip(places).enumerate() {
        collector.place = place;
        let told = |done: u64, total: u64| {
            let part = (u128::from(PARTS) * u128::from(done) / u128::from(total.max(1))) as u64;
            if let Some(progress) = options.progress {
                progress(PARTS * number as u64 + part, PARTS * inputs.len() as u64);
            }
        };
        let several = ReadOptions { progress: options.progress.map(|_| &told as _), ..*options };
        let options = if inputs.len() == 1 { options } else { &several };
        collect(*input, format, collector, options)
            .map_err(|error| error.differing_from(first(places)))?;
    }
    Ok(())
}

fn collect(
    input: Input<'_>,
    format: Format,
    collector: &mut Collector<'_>,
    options: &ReadOptions<'_>,
) -> Result<(), DataError> {
    let known_by = known_by(format, collector.schema);
    match format {
        Format::Csv => csv::read(input.open(known_by, options.progress)?, collector),
        Format::Libsvm => libsvm::read(input.open(known_by, options.progress)?, collector),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(input, collector, options.progress),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(DataError::NotBuilt { file: input.place(), format: "parquet" }),
    }
}

/// Chooses how compression is recognised: not by a first line that is a record, of any content.
fn known_by(format: Format, schema: &Schema) -> KnownBy {
    let first_line_is_a_record = format == Format::Libsvm || !schema.file().header;
    match first_line_is_a_record && schema.invalid().is_total() {
        true => KnownBy::Name,
        false => KnownBy::Content,
    }
}

/// Clones a place into an error.
fn clone_place(place: &Place) -> Place {
    place.clone()
}
