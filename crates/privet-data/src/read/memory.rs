//! Tables that another program holds in memory: arrays and frames passed by a caller.
//!
//! Features come as rows of numbers ([`numbers`]), as sparse rows ([`sparse`]) or as named columns of
//! cells ([`columns`]); [`labelled`] joins them with labels and, where the schema has a unit, with each
//! row's identifier. A [`table`] has all of them among its named columns. The rules are those of the
//! file readers; rows count from 0.

use super::{
    ReadOptions, Report, clone_place, collect::Collector, collect::Record, identifier::Identifier,
    identifier::Names, images, unit::UNIT_KEY, unit::UnitCap,
};
use crate::{
    dataset::{Dataset, Features, NULL_NUMBER, Target},
    encode::{Cell, EncodedNumbers, Encoding, NumberRows, NumbersError, UnknownIn},
    error::{DataError, Place, Problem},
    keyed,
    matrix::MatrixBuilder,
    schema::{Schema, TargetKind},
};

/// One column: a cell for each row.
pub trait Cells {
    /// The cell of a row.
    fn cell(&self, row: usize) -> Cell<'_>;
}

/// Labels, one per row.
#[derive(Clone, Copy)]
pub enum Labels<'a> {
    /// Indices in the schema's list of classes.
    Codes(&'a [u32]),
    /// Numbers in the target's own unit.
    Numbers(&'a [f64]),
}

/// Reads a table of numbers only, one column for each feature of the schema, in its order. Where the
/// schema leaves the storage open and `any_storage` is set, the records decide whether rows are stored
/// dense or sparse. That decides the order in which a row's entries are added up, so a learner whose
/// proof depends on it must be given rows whose storage follows from public facts.
pub fn numbers(
    table: &impl NumberRows,
    schema: &Schema,
    any_storage: bool,
    unknown_in: UnknownIn,
) -> Result<Features, DataError> {
    images::read_as(schema, |schema| plain_numbers(table, schema, any_storage, unknown_in))
}

fn plain_numbers(
    table: &impl NumberRows,
    schema: &Schema,
    any_storage: bool,
    unknown_in: UnknownIn,
) -> Result<Features, DataError> {
    let encoding = Encoding::new(schema);
    let storage = match schema.storage() {
        None if any_storage => None,
        _ => Some(encoding.storage()),
    };
    let encoded =
        encoding.encode_numbers(table, storage, unknown_in).map_err(|refused| match refused {
            NumbersError::NotFinite { row, column } => {
                cell(row, column, Problem::NotFinite, "finite numbers")
            }
            NumbersError::Columns { expected, found } => {
                DataError::Ragged { file: Place::Table, row: 0, found, expected }
            }
            NumbersError::NotNumbers => DataError::Unsupported {
                file: Place::Table,
                what: "numbers alone, though the schema has columns of other kinds",
                accepted: "a table whose columns have the schema's names",
            },
        })?;
    let EncodedNumbers { matrix, null_rows } = encoded;
    Ok(Features { matrix, report: Report { null_rows, ..Report::default() } })
}

/// Sparse rows of numbers: column indices, from 0 and increasing, and as many values.
pub fn sparse<'a, I, V>(
    rows: impl Iterator<Item = (I, V)>,
    schema: &Schema,
    unknown_in: UnknownIn,
) -> Result<Features, DataError>
where
    I: Iterator<Item = u64> + 'a,
    V: Iterator<Item = f64> + 'a,
{
    images::read_as(schema, |schema| plain_sparse(rows, schema, unknown_in))
}

fn plain_sparse<'a, I, V>(
    rows: impl Iterator<Item = (I, V)>,
    schema: &Schema,
    unknown_in: UnknownIn,
) -> Result<Features, DataError>
where
    I: Iterator<Item = u64> + 'a,
    V: Iterator<Item = f64> + 'a,
{
    let encoding = Encoding::new(schema);
    let accepted = "a schema of plain numbers";
    let Some(features) = encoding.number_features() else {
        let what = "sparse numbers, though the schema has columns of other kinds";
        return Err(DataError::Unsupported { file: Place::Table, what, accepted });
    };
    let mut builder = MatrixBuilder::new(encoding.storage(), encoding.width());
    let mut encoder = encoding.rows(unknown_in);
    let places = feature_places(schema);
    let accepted = "finite numbers, columns in order";
    let mut null_rows = Vec::new();
    let (mut pairs, mut entries): (Vec<(u32, f64)>, Vec<f64>) = (Vec::new(), Vec::new());
    for (row, (indices, values)) in rows.enumerate() {
        let finite = schema.libsvm().is_some();
        let read = read_pairs(indices.zip(values), features, finite, &mut pairs);
        let encoded = match read {
            Err((column, problem)) => Err(cell(row, column, problem, accepted)),
            Ok(()) if finite => Ok(encoder.encode_sparse(pairs.iter().copied())),
            Ok(()) => {
                entries.clear();
                entries.resize(features, 0.0);
                pairs.iter().for_each(|(at, value)| entries[*at as usize] = *value);
                let number =
                    |source: usize| Cell::Number(places[source].map_or(0.0, |at| entries[at]));
                encoder.encode(number).map_err(|(source, error)| {
                    cell(row, places[source].unwrap_or(source), error.problem, accepted)
                })
            }
        };
        match encoded {
            Ok(encoded) => builder.push(encoded),
            Err(_) if schema.invalid().is_total() => {
                null_rows.push(row);
                builder.push(&[]);
            }
            Err(error) => return Err(error),
        }
    }
    let report = Report { null_rows, stand_ins: encoder.stand_ins(), ..Report::default() };
    Ok(Features { matrix: builder.finish(), report })
}

/// Fills in the entries of a sparse row, or returns the column of one that is out of order or, if
/// `finite`, not finite.
fn read_pairs(
    given: impl Iterator<Item = (u64, f64)>,
    features: usize,
    finite: bool,
    pairs: &mut Vec<(u32, f64)>,
) -> Result<(), (usize, Problem)> {
    pairs.clear();
    for (index, value) in given {
        let problem = match pairs.last() {
            _ if index >= features as u64 => Some(Problem::IndexOutOfRange),
            Some((last, _)) if u64::from(*last) >= index => Some(Problem::IndexNotIncreasing),
            _ if finite && !value.is_finite() => Some(Problem::NotFinite),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err((index as usize, problem));
        }
        pairs.push((index as u32, value));
    }
    Ok(())
}

/// The position of each of the schema's columns among the features.
fn feature_places(schema: &Schema) -> Vec<Option<usize>> {
    let mut next = 0..;
    let columns = schema.columns().iter();
    columns.map(|column| if column.kind.width() > 0 { next.next() } else { None }).collect()
}

fn cell(row: usize, column: usize, problem: Problem, accepted: &str) -> DataError {
    DataError::Cell {
        file: Place::Table,
        row: row as u64,
        column: format!("column {column}"),
        problem,
        accepted: accepted.into(),
    }
}

/// One row of named columns.
struct Row<'a> {
    columns: &'a [(&'a str, &'a dyn Cells)],
    row: usize,
    missing: &'a [String],
    missing_numbers: &'a [f64],
    trim: bool,
}

impl Record for Row<'_> {
    fn cell(&self, position: usize) -> Cell<'_> {
        let Some((_, column)) = self.columns.get(position) else { return Cell::Missing };
        let number = |value: f64| {
            self.missing_numbers.iter().any(|m| *m == value || (m.is_nan() && value.is_nan()))
        };
        let cell = match column.cell(self.row) {
            Cell::Text(text) if self.trim => Cell::Text(text.trim_ascii()),
            cell => cell,
        };
        match cell {
            Cell::Text(text) if self.missing.iter().any(|word| word.as_bytes() == text) => {
                Cell::Missing
            }
            Cell::Number(value) if number(value) => Cell::Missing,
            Cell::Integer(value) if number(value as f64) => Cell::Missing,
            cell => cell,
        }
    }

    fn identifier(&self, position: usize) -> Identifier<'_> {
        self.columns.get(position).map_or(Cell::Missing, |(_, column)| column.cell(self.row)).into()
    }
}

/// Reads named columns of `rows` cells each; those of the schema are found by name.
pub fn columns(
    table: &[(&str, &dyn Cells)],
    rows: usize,
    schema: &Schema,
    options: &ReadOptions<'_>,
) -> Result<Features, DataError> {
    images::read_as(schema, |schema| {
        let (encoding, place) = (Encoding::new(schema), Place::Table);
        let mut collector = Collector::features(schema, &encoding, &place, options);
        collect(table, rows, &mut collector)?;
        collector.into_features()
    })
}

/// Reads named columns of `rows` cells each, the target and the unit among them: all that a file has.
pub fn table(
    table: &[(&str, &dyn Cells)],
    rows: usize,
    schema: &Schema,
    options: &ReadOptions<'_>,
) -> Result<Dataset, DataError> {
    images::read_as(schema, |schema| {
        let (encoding, place) = (Encoding::new(schema), Place::Table);
        let mut collector = Collector::labelled(schema, &encoding, &place, options);
        collect(table, rows, &mut collector)?;
        collector.into_dataset()
    })
}

fn collect(
    table: &[(&str, &dyn Cells)],
    rows: usize,
    collector: &mut Collector<'_>,
) -> Result<(), DataError> {
    let file = collector.schema.file();
    let (trim, missing) = (file.trim, file.missing_values.as_slice());
    let names = table.iter().map(|(name, _)| if trim { name.trim_ascii() } else { name });
    let names: Vec<&[u8]> = names.map(str::as_bytes).collect();
    let layout = collector.layout(&names)?;
    let missing_numbers: Vec<f64> = missing.iter().filter_map(|text| text.parse().ok()).collect();
    for row in 0..rows {
        let cells = Row { columns: table, row, missing, missing_numbers: &missing_numbers, trim };
        collector.record(row as u64, &layout, &cells)?;
    }
    Ok(())
}

/// Joins features with their labels, and keeps at most `max_records` rows of each unit where the schema
/// has one. Identifiers in `units` must be exact: a number that was rounded on its way into a
/// [`Cell::Number`] below 2⁵³ can no longer be distinguished from another.
pub fn labelled(
    features: Features,
    labels: Labels<'_>,
    units: Option<&dyn Cells>,
    schema: &Schema,
    options: &ReadOptions<'_>,
) -> Result<Dataset, DataError> {
    let Features { matrix, mut report } = features;
    let rows = matrix.rows();
    let found = match labels {
        Labels::Codes(codes) => codes.len(),
        Labels::Numbers(numbers) => numbers.len(),
    };
    let label = |row: usize, problem, accepted: &str| DataError::Cell {
        file: Place::Table,
        row: row as u64,
        column: "label".into(),
        problem,
        accepted: accepted.into(),
    };
    if found != rows {
        return Err(label(found.min(rows), Problem::Missing, "one label for each row"));
    }
    let encoding = Encoding::new(schema);
    let mut bad = Vec::new();
    let mut mend = |row: usize, problem, accepted: &str| match schema.invalid().is_total() {
        true => {
            bad.push(row);
            Ok(())
        }
        false => Err(label(row, problem, accepted)),
    };
    let mut target = match (labels, &schema.target().kind) {
        (Labels::Codes(codes), TargetKind::Classes(classes)) => {
            let count = classes.len();
            for row in (0..rows).filter(|row| codes[*row] as usize >= count) {
                mend(row, Problem::UnknownClass, "one of the schema's classes")?;
            }
            Target::Class { codes: codes.to_vec(), count }
        }
        (Labels::Numbers(numbers), TargetKind::Number { .. }) => {
            let encoder = encoding.rows(UnknownIn::Training);
            let encode = |(row, value): (usize, &f64)| {
                let encoded = encoder.number_target(Cell::Number(*value));
                encoded.or_else(|error| {
                    mend(row, error.problem, &error.accepted).map(|()| NULL_NUMBER)
                })
            };
            Target::Number(numbers.iter().enumerate().map(encode).collect::<Result<_, _>>()?)
        }
        _ => {
            return Err(DataError::Unsupported {
                file: clone_place(&Place::Table),
                what: "labels of another kind than the schema's target",
                accepted: "classes for a target of classes, numbers for one with bounds",
            });
        }
    };
    // A record with a bad label becomes the null record, which has a label of its own.
    let matrix = if bad.is_empty() { matrix } else { matrix.without_entries_of(&bad) };
    report.null_rows.extend(bad);
    report.null_rows.sort_unstable();
    report.null_rows.dedup();
    target.set_null(&report.null_rows);
    let dataset = Dataset { features: matrix, target, units: None, report };
    let cap = UnitCap::new(schema, options.unit_key);
    let (Some(mut cap), Some(unit), Some(units)) = (cap, schema.unit_column(), units) else {
        return Ok(dataset);
    };
    for row in 0..rows {
        let Err(error) = cap.row(units.cell(row).into()) else { continue };
        if schema.invalid().is_total() {
            cap.count_unidentified();
            continue;
        }
        return Err(DataError::Cell {
            file: Place::Table,
            row: row as u64,
            column: format!("column \"{}\"", unit.column),
            problem: error.problem,
            accepted: error.accepted,
        });
    }
    Ok(cap.apply(dataset))
}

/// A number for each row's unit: equal for the rows of one unit (and for those of some others), 0 where
/// there is no identifier. For a table in pieces, each of which must have all rows of its units.
pub fn unit_numbers(units: &dyn Cells, rows: usize, schema: &Schema) -> Vec<u64> {
    let spelling = schema.unit_column().map(|unit| unit.spelling).unwrap_or_default();
    let names = Names::new(schema.file(), spelling);
    let number = |row| match names.name(units.cell(row).into()) {
        Ok(name) => keyed::hash("piece", &UNIT_KEY, &[&name]),
        Err(_) => 0,
    };
    (0..rows).map(number).collect()
}
