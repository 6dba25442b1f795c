//! From arrays and columns to bounded rows, in one pass and without a copy in between.
//!
//! Features are one of
//! - a NumPy array of two dimensions, `float64` or `float32`, in any order and with any strides;
//! - a tuple `(data, indices, indptr, columns)` of a CSR matrix;
//! - a list of columns `(name, kind, values, more)`: see [`Column`].

use crate::error::{Failure, Outcome};
use crate::watched::{reading, run_watched};
use numpy::{
    Element, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray,
    PyUntypedArrayMethods,
};
use privet_data::encode::{Cell, NumberRows, UnknownIn};
use privet_data::read::memory::{self, Cells, Labels};
use privet_data::read::{Purpose, ReadOptions, RowForm};
use privet_data::schema::{Categories, ColumnKind};
use privet_data::{Dataset, Features, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Numbers of an array of either precision.
enum Table<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
}

/// The array, for threads that do not hold the interpreter's lock.
struct View<'a, T>(numpy::ndarray::ArrayView2<'a, T>);

impl<T: Copy + Into<f64> + Sync> NumberRows for View<'_, T> {
    fn rows(&self) -> usize {
        self.0.nrows()
    }
    fn columns(&self) -> usize {
        self.0.ncols()
    }
    fn write(&self, row: usize, entries: &mut [f64]) {
        let row = self.0.row(row);
        match row.as_slice() {
            Some(values) => {
                entries.iter_mut().zip(values).for_each(|(entry, value)| *entry = (*value).into());
            }
            None => {
                entries.iter_mut().zip(row).for_each(|(entry, value)| *entry = (*value).into());
            }
        }
    }
}

/// One column of a frame: `(name, "number" | "integer", values, is_missing or None)`, or
/// `(name, "text", codes, entries)` where the code −1 means missing, −2 an unreadable cell, and entries
/// are texts, numbers, which mean the same as in a column of numbers, and booleans, which are written as
/// the schema's column of that name writes them. A pair is a text, if the schema lists it, else the
/// value that it spells: NumPy turns all numbers of an array into texts for the sake of one entry.
struct Column {
    name: String,
    values: Values,
    /// The spelling of 0 and 1 among its numbers, where the schema lists truth values and neither
    /// number.
    truths: Option<[&'static str; 2]>,
}

/// The code of an unreadable cell.
const BAD_CELL: i64 = -2;

enum Values {
    Numbers(Vec<f64>, Option<Vec<bool>>),
    Integers(Vec<i64>, Option<Vec<bool>>),
    Entries(Vec<i64>, Vec<Read>),
}

/// A distinct cell of a column of objects. Each kind is tried in turn, and a boolean is a number too.
#[derive(FromPyObject)]
enum Entry {
    Truth(bool),
    Words(String),
    Integer(i64),
    Number(f64),
    Spelled(String, Option<Other>),
}

/// The value that a text spells; a text where it cannot be read.
#[derive(FromPyObject)]
enum Other {
    Truth(bool),
    Void(#[expect(dead_code, reason = "read only to be told from the others")] String),
    Integer(i64),
    Number(f64),
}

/// An entry as a column of a schema reads it.
enum Read {
    Words(String),
    Integer(i64),
    Number(f64),
    Missing,
    Bad,
}

impl Entry {
    /// Writes truth values as `spelling`; `listed` is true for texts that the schema lists.
    fn read(self, spelling: [&str; 2], listed: impl Fn(&str) -> bool) -> Read {
        let truth = |truth| Read::Words(spelling[usize::from(truth)].to_owned());
        match self {
            Self::Truth(value) => truth(value),
            Self::Words(text) => Read::Words(text),
            Self::Integer(value) => Read::Integer(value),
            Self::Number(value) => Read::Number(value),
            Self::Spelled(text, _) if listed(&text) => Read::Words(text),
            Self::Spelled(_, other) => match other {
                Some(Other::Truth(value)) => truth(value),
                Some(Other::Integer(value)) => Read::Integer(value),
                Some(Other::Number(value)) => Read::Number(value),
                Some(Other::Void(_)) => Read::Bad,
                None => Read::Missing,
            },
        }
    }
}

impl Column {
    fn new(given: &Bound<'_, PyAny>, schema: &Schema) -> Outcome<Self> {
        let (name, kind, values, more): (String, String, Bound<'_, PyAny>, Bound<'_, PyAny>) =
            given.extract()?;
        let missing = || -> Outcome<Option<Vec<bool>>> {
            if more.is_none() { Ok(None) } else { vector(&more).map(Some) }
        };
        let listed = |text: &str| lists(schema, &name, text);
        let spelling = TRUTHS.iter().find(|pair| pair.iter().any(|text| listed(text))).copied();
        let values = match kind.as_str() {
            "number" => Values::Numbers(vector(&values)?, missing()?),
            "integer" => Values::Integers(vector(&values)?, missing()?),
            "text" => {
                // The error of the extraction may contain characters of the text.
                let entries = more.extract::<Vec<Entry>>().map_err(|_| {
                    Failure::value(format!("column \"{name}\" has a text that is not Unicode"))
                })?;
                let spelling = spelling.unwrap_or(TRUTHS[0]);
                let entries = entries.into_iter().map(|entry| entry.read(spelling, listed));
                Values::Entries(vector(&values)?, entries.collect())
            }
            other => return Err(Failure::value(format!("'{other}' is not a kind of column"))),
        };
        let truths = spelling.filter(|_| !listed("0") && !listed("1"));
        Ok(Self { name, values, truths })
    }

    fn len(&self) -> usize {
        match &self.values {
            Values::Numbers(values, _) => values.len(),
            Values::Integers(values, _) => values.len(),
            Values::Entries(codes, _) => codes.len(),
        }
    }

    /// The truth value that a number stands for: NumPy turns them into 0 and 1 beside another number.
    fn truth(&self, value: f64) -> Option<Cell<'_>> {
        let text = match self.truths? {
            [text, _] if value == 0.0 => text,
            [_, text] if value == 1.0 => text,
            _ => return None,
        };
        Some(Cell::Text(text.as_bytes()))
    }

    fn number(&self, value: f64) -> Cell<'_> {
        self.truth(value).unwrap_or(Cell::Number(value))
    }

    fn integer(&self, value: i64) -> Cell<'_> {
        self.truth(value as f64).unwrap_or(Cell::Integer(value))
    }
}

impl Cells for Column {
    fn cell(&self, row: usize) -> Cell<'_> {
        let missing = |mask: &Option<Vec<bool>>| {
            mask.as_ref().is_some_and(|mask| mask.get(row).copied().unwrap_or(true))
        };
        match &self.values {
            Values::Numbers(_, mask) | Values::Integers(_, mask) if missing(mask) => Cell::Missing,
            Values::Numbers(values, _) => {
                values.get(row).map_or(Cell::Missing, |value| self.number(*value))
            }
            Values::Integers(values, _) => {
                values.get(row).map_or(Cell::Missing, |value| self.integer(*value))
            }
            Values::Entries(codes, _) if codes.get(row) == Some(&BAD_CELL) => Cell::Unsupported,
            Values::Entries(codes, entries) => {
                let entry = |code: &i64| entries.get(usize::try_from(*code).ok()?);
                match codes.get(row).and_then(entry) {
                    Some(Read::Words(text)) => Cell::Text(text.as_bytes()),
                    Some(Read::Integer(value)) => self.integer(*value),
                    Some(Read::Number(value)) => self.number(*value),
                    Some(Read::Bad) => Cell::Unsupported,
                    Some(Read::Missing) | None => Cell::Missing,
                }
            }
        }
    }
}

/// Spellings of false and true: the one that the schema lists, and 0 and 1 among numbers.
const TRUTHS: [[&str; 2]; 4] =
    [["false", "true"], ["False", "True"], ["FALSE", "TRUE"], ["0", "1"]];

/// True if the schema lists a text for the column of that name; for numbers, 0 and 1.
fn lists(schema: &Schema, name: &str, text: &str) -> bool {
    if schema.target().column == name {
        return schema.classes().is_some_and(|classes| classes.iter().any(|class| class == text));
    }
    let column = schema.columns().iter().find(|column| column.name == name);
    match column.map(|column| &column.kind) {
        Some(ColumnKind::Number { .. }) => text == "0" || text == "1",
        Some(ColumnKind::Binary { values, .. }) => values.iter().any(|value| value == text),
        Some(ColumnKind::Category { categories: Categories::Listed(texts), .. }) => {
            texts.iter().any(|listed| listed == text)
        }
        _ => false,
    }
}

/// Refuses memory that cannot be read entry by entry: strides that are no multiple of an entry's size,
/// or an unaligned address. A field of a packed record array has both, and read in whole steps it would
/// put one record into several rows.
fn readable<T>(array: &Bound<'_, PyUntypedArray>, start: *const T) -> Outcome<()> {
    let size = size_of::<T>().max(1) as isize;
    let mut axes = array.shape().iter().zip(array.strides());
    if array.is_empty()
        || (start.is_aligned() && axes.all(|(length, step)| *length < 2 || step % size == 0))
    {
        return Ok(());
    }
    Err(Failure::value(
        "an array's entries are not in steps of their own length, or not aligned; a copy of it \
         (numpy.array(X, order=\"C\")) is accepted",
    ))
}

/// A view of one dimension.
fn entries<'py, T: Element>(values: &Bound<'py, PyAny>) -> Outcome<PyReadonlyArray1<'py, T>> {
    let array: PyReadonlyArray1<'py, T> = values.extract()?;
    readable::<T>(array.as_untyped(), array.data())?;
    Ok(array)
}

/// A view of two dimensions.
fn table<'py, T: Element>(values: &Bound<'py, PyAny>) -> Outcome<PyReadonlyArray2<'py, T>> {
    let array: PyReadonlyArray2<'py, T> = values.extract()?;
    readable::<T>(array.as_untyped(), array.data())?;
    Ok(array)
}

/// A copy of one dimension.
fn vector<T: Element + Clone>(values: &Bound<'_, PyAny>) -> Outcome<Vec<T>> {
    Ok(entries(values)?.as_array().to_vec())
}

/// True if it is an array of this many dimensions and this type.
fn is_of<'a, 'py, A: FromPyObject<'a, 'py>>(values: &'a Bound<'py, PyAny>) -> bool {
    values.extract::<A>().is_ok()
}

/// Bounded rows from any accepted form of features.
pub fn features(given: &Bound<'_, PyAny>, schema: &Schema, options: &Reading) -> Outcome<Features> {
    if let Ok(list) = given.cast::<PyList>() {
        return frame(list, schema, options);
    }
    if let Ok(parts) = given.cast::<PyTuple>() {
        return sparse(parts, schema, unknown_in(options));
    }
    let table = if is_of::<PyReadonlyArray2<'_, f64>>(given) {
        Table::Double(table(given)?)
    } else {
        Table::Single(table(given)?)
    };
    let (py, any_storage, unknown_in) = (given.py(), options.any_storage, unknown_in(options));
    Ok(match &table {
        Table::Double(table) => {
            let view = View(table.as_array());
            reading(py, || memory::numbers(&view, schema, any_storage, unknown_in))??
        }
        Table::Single(table) => {
            let view = View(table.as_array());
            reading(py, || memory::numbers(&view, schema, any_storage, unknown_in))??
        }
    })
}

/// Columns of equal length, and their number of rows.
fn columns(list: &Bound<'_, PyList>, schema: &Schema) -> Outcome<(Vec<Column>, usize)> {
    let columns =
        list.iter().map(|column| Column::new(&column, schema)).collect::<Outcome<Vec<_>>>()?;
    let rows = columns.first().map_or(0, Column::len);
    if let Some(odd) = columns.iter().find(|column| column.len() != rows) {
        let (name, found) = (&odd.name, odd.len());
        return Err(Failure::value(format!("column \"{name}\" has {found} rows; others {rows}")));
    }
    Ok((columns, rows))
}

/// A single column, and its number of rows.
pub fn one_column(given: &Bound<'_, PyAny>, schema: &Schema) -> Outcome<(Box<dyn Cells>, usize)> {
    let column = Column::new(given, schema)?;
    let rows = column.len();
    Ok((Box::new(column), rows))
}

fn column_names(columns: &[Column]) -> Vec<(&str, &dyn Cells)> {
    columns.iter().map(|column| (column.name.as_str(), column as &dyn Cells)).collect()
}

fn frame(list: &Bound<'_, PyList>, schema: &Schema, options: &Reading) -> Outcome<Features> {
    let (columns, rows) = columns(list, schema)?;
    let read = || memory::columns(&column_names(&columns), rows, schema, &options.options());
    Ok(run_watched(list.py(), |_| read())??)
}

/// A table whose target and unit, if there is one, are among its columns.
pub fn table_of(list: &Bound<'_, PyList>, schema: &Schema, options: &Reading) -> Outcome<Dataset> {
    let (columns, rows) = columns(list, schema)?;
    let read = || memory::table(&column_names(&columns), rows, schema, &options.options());
    Ok(run_watched(list.py(), |_| read())??)
}

fn sparse(parts: &Bound<'_, PyTuple>, schema: &Schema, unknown_in: UnknownIn) -> Outcome<Features> {
    type Parts<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, usize);
    let (data, indices, starts, columns): Parts<'_> = parts.extract()?;
    let expected = privet_data::Encoding::new(schema).number_features();
    if expected.is_some_and(|expected| expected != columns) {
        let expected = expected.unwrap_or(0);
        return Err(Failure::value(format!("X has {columns} features; {expected} are accepted")));
    }
    // Integers of either width are widened; no value is copied.
    let (indices, starts): (Vec<i64>, Vec<i64>) = (integers(&indices)?, integers(&starts)?);
    let length = indices.len();
    // Overlapping rows would contain one record twice.
    let in_order = starts.windows(2).all(|pair| pair[0] <= pair[1]);
    let within = |start: &i64| usize::try_from(*start).is_ok_and(|start| start <= length);
    if !(in_order && starts.iter().all(within)) {
        return Err(Failure::value(
            "the rows of a CSR matrix overlap or reach beyond its values; accepted is an indptr that \
             rises from 0 to at most as many values as there are",
        ));
    }
    if is_of::<PyReadonlyArray1<'_, f64>>(&data) {
        let data = entries::<f64>(&data)?;
        let rows = Sparse::new(data.as_slice().ok(), &indices, &starts)?;
        return Ok(reading(parts.py(), || memory::sparse(rows.each(), schema, unknown_in))??);
    }
    let data = entries::<f32>(&data)?;
    let rows = Sparse::new(data.as_slice().ok(), &indices, &starts)?;
    Ok(reading(parts.py(), || memory::sparse(rows.each(), schema, unknown_in))??)
}

/// The rows of a CSR matrix whose parts fit together.
struct Sparse<'a, T> {
    values: &'a [T],
    indices: &'a [i64],
    starts: &'a [i64],
}

impl<'a, T: Copy + Into<f64>> Sparse<'a, T> {
    fn new(values: Option<&'a [T]>, indices: &'a [i64], starts: &'a [i64]) -> Outcome<Self> {
        let values = values.filter(|values| values.len() == indices.len()).ok_or_else(|| {
            Failure::value("a CSR matrix with as many indices as values is accepted")
        })?;
        Ok(Self { values, indices, starts })
    }

    fn each(
        &self,
    ) -> impl Iterator<Item = (impl Iterator<Item = u64> + 'a, impl Iterator<Item = f64> + 'a)> + 'a
    {
        let (values, indices) = (self.values, self.indices);
        let place = |index: &i64| u64::try_from(*index).unwrap_or(u64::MAX);
        self.starts.windows(2).map(move |pair| {
            let row = pair[0] as usize..pair[1] as usize;
            (indices[row.clone()].iter().map(place), values[row].iter().map(|x| (*x).into()))
        })
    }
}

fn integers(values: &Bound<'_, PyAny>) -> Outcome<Vec<i64>> {
    if is_of::<PyReadonlyArray1<'_, i32>>(values) {
        return Ok(entries::<i32>(values)?
            .as_array()
            .iter()
            .map(|value| i64::from(*value))
            .collect());
    }
    vector(values)
}

/// Labelled rows: `labels` is a `uint32` array of class indices, or a `float64` one of numbers; `units`
/// is a column of unit identifiers.
pub fn dataset(
    given: &Bound<'_, PyAny>,
    labels: &Bound<'_, PyAny>,
    units: Option<&Bound<'_, PyAny>>,
    schema: &Schema,
    options: &Reading,
) -> Outcome<Dataset> {
    let features = features(given, schema, options)?;
    let units = units.map(|units| Column::new(units, schema)).transpose()?;
    let units = units.as_ref().map(|column| column as &dyn Cells);
    if is_of::<PyReadonlyArray1<'_, u32>>(labels) {
        let codes: Vec<u32> = vector(labels)?;
        return Ok(memory::labelled(
            features,
            Labels::Codes(&codes),
            units,
            schema,
            &options.options(),
        )?);
    }
    let numbers: Vec<f64> = vector(labels)?;
    Ok(memory::labelled(features, Labels::Numbers(&numbers), units, schema, &options.options())?)
}

/// The raw rows, each in the one form by which a ledger recognises it.
pub fn raw_rows(
    given: &Bound<'_, PyAny>,
    labels: &Bound<'_, PyAny>,
    units: Option<&Bound<'_, PyAny>>,
    schema: &Schema,
    each: &mut dyn FnMut(&[u8]),
) -> Outcome<()> {
    let labels: Vec<f64> = if is_of::<PyReadonlyArray1<'_, u32>>(labels) {
        vector::<u32>(labels)?.into_iter().map(f64::from).collect()
    } else {
        vector(labels)?
    };
    let units = units.map(|units| Column::new(units, schema)).transpose()?;
    let unit = |row: usize| units.as_ref().map_or(Cell::Missing, |units| units.cell(row));
    let label = |row: usize| labels.get(row).map_or(Cell::Missing, |value| Cell::Number(*value));
    let mut bytes = Vec::new();
    if let Ok(list) = given.cast::<PyList>() {
        let (columns, rows) = columns(list, schema)?;
        let names = columns.iter().map(|column| column.name.as_str());
        let form = RowForm::new(names.chain(["label", "unit"]));
        for row in 0..rows {
            form.write(&mut bytes, |place| match place.checked_sub(columns.len()) {
                None => columns[place].cell(row),
                Some(0) => label(row),
                Some(_) => unit(row),
            });
            each(&bytes);
        }
        return Ok(());
    }
    if let Ok(parts) = given.cast::<PyTuple>() {
        type Parts<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, usize);
        let (data, indices, starts, _): Parts<'_> = parts.extract()?;
        let (indices, starts): (Vec<i64>, Vec<i64>) = (integers(&indices)?, integers(&starts)?);
        let values: Vec<f64> = if is_of::<PyReadonlyArray1<'_, f64>>(&data) {
            vector(&data)?
        } else {
            vector::<f32>(&data)?.into_iter().map(f64::from).collect()
        };
        for (row, pair) in starts.windows(2).enumerate() {
            let range = pair[0] as usize..pair[1] as usize;
            let entries: Vec<(String, f64)> = range
                .filter_map(|at| Some((indices.get(at)?.to_string(), *values.get(at)?)))
                .collect();
            let names = entries.iter().map(|(name, _)| name.as_str());
            let form = RowForm::new(names.chain(["label", "unit"]));
            form.write(&mut bytes, |place| match place.checked_sub(entries.len()) {
                None => Cell::Number(entries[place].1),
                Some(0) => label(row),
                Some(_) => unit(row),
            });
            each(&bytes);
        }
        return Ok(());
    }
    let numbers = |rows: usize,
                   columns: usize,
                   at: &dyn Fn(usize, usize) -> f64,
                   each: &mut dyn FnMut(&[u8])| {
        let names = (0..columns).map(|place| place.to_string());
        let form = RowForm::new(names.chain(["label".to_string(), "unit".to_string()]));
        let mut bytes = Vec::new();
        for row in 0..rows {
            form.write(&mut bytes, |place| match place.checked_sub(columns) {
                None => Cell::Number(at(row, place)),
                Some(0) => label(row),
                Some(_) => unit(row),
            });
            each(&bytes);
        }
    };
    if is_of::<PyReadonlyArray2<'_, f64>>(given) {
        let table = table::<f64>(given)?;
        let view = table.as_array();
        numbers(view.nrows(), view.ncols(), &|row, place| view[[row, place]], each);
    } else {
        let table = table::<f32>(given)?;
        let view = table.as_array();
        numbers(view.nrows(), view.ncols(), &|row, place| f64::from(view[[row, place]]), each);
    }
    Ok(())
}

/// The use of the rows, for reading unknown categories.
fn unknown_in(options: &Reading) -> UnknownIn {
    match options.purpose {
        Purpose::Train => UnknownIn::Training,
        _ => UnknownIn::Prediction,
    }
}

/// Options of reading a table, for threads that do not hold the interpreter's lock.
#[derive(Clone, Copy)]
pub struct Reading {
    purpose: Purpose,
    allow_empty: bool,
    any_storage: bool,
}

impl Reading {
    /// The options for the readers.
    pub fn options(self) -> ReadOptions<'static> {
        let Self { purpose, allow_empty, any_storage } = self;
        ReadOptions { purpose, allow_empty, any_storage, ..ReadOptions::default() }
    }
}

/// Options of reading a table for training.
pub fn to_learn(allow_empty: bool, any_storage: bool) -> Reading {
    Reading { purpose: Purpose::Train, allow_empty, any_storage }
}

/// Options of reading a table for prediction or comparison.
pub fn to_use() -> Reading {
    Reading { purpose: Purpose::Evaluate, allow_empty: true, any_storage: true }
}

/// Options of reading public rows that are queried.
pub fn to_ask() -> Reading {
    Reading { purpose: Purpose::Evaluate, allow_empty: false, any_storage: false }
}
