//! Flat columns of a Parquet file, decoded column by column and passed on batch by batch.
//!
//! Decoded row by row, as by [`parquet::record`], each row allocates a copy of every column's name:
//! Covertype then takes ten times as long. Cells are the same [`Field`]s, made by the same conversions,
//! so that a file has the same cells either way. Nested columns are left to the reader of rows
//! ([`is_flat`]).

use super::super::fence::catch_panic;
use parquet::{
    basic::Repetition,
    column::reader::{ColumnReader, ColumnReaderImpl},
    data_type::{DataType, FixedLenByteArrayType},
    errors::ParquetError,
    file::reader::FileReader,
    record::Field,
    schema::types::{ColumnDescPtr, Type},
};
use std::sync::mpsc::{channel, sync_channel};

/// Rows of a batch: few enough that the cells of some hundred columns stay in the processor's cache.
const ROWS_PER_BATCH: usize = 1024;
/// Batches that may be decoded ahead of their use.
const BATCHES_AHEAD: usize = 2;

/// True if every cell of this column of the file is one value or null.
pub(super) fn is_flat(column: &Type) -> bool {
    let info = column.get_basic_info();
    column.is_primitive() && !(info.has_repetition() && info.repetition() == Repetition::REPEATED)
}

/// Some rows of flat columns, decoded.
#[derive(Default)]
pub(super) struct Batch {
    columns: Vec<Vec<Field>>,
    rows: usize,
}

impl Batch {
    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The cell of a row, in the order of the columns.
    pub(super) fn cell(&self, row: usize, column: usize) -> Option<&Field> {
        self.columns.get(column)?.get(row)
    }

    /// The number of columns.
    pub(super) fn count(&self) -> usize {
        self.columns.len()
    }
}

/// Decodes the columns at these indices of a file, all of them flat, on a thread of its own, and passes
/// each batch to `see` on this one, until the end or an error of `see`. An error of `see` for earlier
/// rows comes before a decoding error.
pub(super) fn each_batch<E>(
    file: &dyn FileReader,
    wanted: &[usize],
    broken: impl Fn(Option<ParquetError>) -> E,
    see: &mut dyn FnMut(&Batch) -> Result<(), E>,
) -> Result<(), E> {
    let mut columns = Columns::new(file, wanted);
    std::thread::scope(|scope| {
        let (full, decoded) = sync_channel::<Option<Result<Batch, ParquetError>>>(BATCHES_AHEAD);
        let (again, empty) = channel::<Batch>();
        scope.spawn(move || {
            loop {
                let mut batch = empty.try_recv().unwrap_or_default();
                // Inside the fence a panic is silent, and means a damaged file.
                let outcome =
                    catch_panic(|| columns.next_batch(&mut batch)).map(|done| done.map(|()| batch));
                let last = !matches!(&outcome, Some(Ok(batch)) if batch.rows > 0);
                if full.send(outcome).is_err() || last {
                    return;
                }
            }
        });
        for outcome in decoded {
            let batch =
                outcome.ok_or_else(|| broken(None))?.map_err(|error| broken(Some(error)))?;
            if batch.rows == 0 {
                break;
            }
            see(&batch)?;
            // The decoding thread may have ended.
            let _ = again.send(batch);
        }
        Ok(())
    })
}

/// Batches of rows of some flat columns.
struct Columns<'a> {
    file: &'a dyn FileReader,
    /// Indices of the columns among the leaves of the file.
    leaves: Vec<usize>,
    /// The next row group.
    group: usize,
    /// Remaining rows of the group before it.
    left: usize,
    columns: Vec<Column>,
}

/// One column of a row group.
struct Column {
    reader: ColumnReader,
    description: ColumnDescPtr,
    /// Definition levels, which mark nulls; empty in a column without any.
    levels: Vec<i16>,
}

impl<'a> Columns<'a> {
    fn new(file: &'a dyn FileReader, wanted: &[usize]) -> Self {
        let description = file.metadata().file_metadata().schema_descr();
        let leaf = |column: &usize| {
            (0..description.num_columns())
                .find(|leaf| description.get_column_root_idx(*leaf) == *column)
        };
        let leaves = wanted.iter().filter_map(leaf).collect();
        Self { file, leaves, group: 0, left: 0, columns: Vec::new() }
    }

    /// Decodes the next rows into a batch, replacing its rows; none at the end.
    fn next_batch(&mut self, batch: &mut Batch) -> Result<(), ParquetError> {
        batch.rows = 0;
        while self.left == 0 {
            if self.group == self.file.num_row_groups() {
                return Ok(());
            }
            self.open_group()?;
        }
        let rows = self.left.min(ROWS_PER_BATCH);
        batch.columns.resize_with(self.columns.len(), Vec::new);
        for (column, cells) in self.columns.iter_mut().zip(&mut batch.columns) {
            column.read(rows, cells)?;
        }
        (self.left, batch.rows) = (self.left - rows, rows);
        Ok(())
    }

    fn open_group(&mut self) -> Result<(), ParquetError> {
        let group = self.file.get_row_group(self.group)?;
        let description = self.file.metadata().file_metadata().schema_descr();
        let open = |leaf: &usize| {
            Ok(Column {
                reader: group.get_column_reader(*leaf)?,
                description: description.column(*leaf),
                levels: Vec::new(),
            })
        };
        self.columns = self.leaves.iter().map(open).collect::<Result<_, ParquetError>>()?;
        self.left = usize::try_from(group.metadata().num_rows())
            .map_err(|_| ParquetError::General("a row group of fewer than no rows".into()))?;
        self.group += 1;
        Ok(())
    }
}

impl Column {
    fn read(&mut self, rows: usize, cells: &mut Vec<Field>) -> Result<(), ParquetError> {
        let Self { reader, description, levels } = self;
        use ColumnReader as Of;
        let into = (levels, cells);
        match reader {
            Of::BoolColumnReader(reader) => {
                fill(reader, description, rows, into, |d, x| Ok(Field::convert_bool(d, x)))
            }
            Of::Int32ColumnReader(reader) => {
                fill(reader, description, rows, into, |d, x| Ok(Field::convert_int32(d, x)))
            }
            Of::Int64ColumnReader(reader) => {
                fill(reader, description, rows, into, |d, x| Ok(Field::convert_int64(d, x)))
            }
            Of::Int96ColumnReader(reader) => {
                fill(reader, description, rows, into, |d, x| Ok(Field::convert_int96(d, x)))
            }
            Of::FloatColumnReader(reader) => {
                fill(reader, description, rows, into, |d, x| Ok(Field::convert_float(d, x)))
            }
            Of::DoubleColumnReader(reader) => {
                fill(reader, description, rows, into, |d, x| Ok(Field::convert_double(d, x)))
            }
            Of::ByteArrayColumnReader(reader) => {
                fill(reader, description, rows, into, Field::convert_byte_array)
            }
            Of::FixedLenByteArrayColumnReader(reader) => {
                type Fixed = <FixedLenByteArrayType as DataType>::T;
                let convert = |d: &ColumnDescPtr, x: Fixed| Field::convert_byte_array(d, x.into());
                fill(reader, description, rows, into, convert)
            }
        }
    }
}

/// Decodes this many rows, replacing those before.
fn fill<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    description: &ColumnDescPtr,
    rows: usize,
    (levels, cells): (&mut Vec<i16>, &mut Vec<Field>),
    convert: impl Fn(&ColumnDescPtr, T::T) -> Result<Field, ParquetError>,
) -> Result<(), ParquetError> {
    levels.clear();
    cells.clear();
    let deepest = description.max_def_level();
    let mut values: Vec<T::T> = Vec::with_capacity(rows);
    let mut read = 0;
    while read < rows {
        let nulls = (deepest > 0).then_some(&mut *levels);
        let (records, ..) = reader.read_records(rows - read, nulls, None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::EOF("a column ends before its row group".into()));
        }
        read += records;
    }
    let mut values = values.into_iter();
    let mut next = || values.next().ok_or_else(|| ParquetError::EOF("a value is missing".into()));
    for row in 0..rows {
        let there = deepest == 0 || levels.get(row).is_some_and(|level| *level == deepest);
        cells.push(if there { convert(description, next()?)? } else { Field::Null });
    }
    Ok(())
}
