//! Columns on disk.
//!
//! Flat columns are decoded column by column ([`super::parquet_columns`]) and their rows encoded by all cores, nested ones row
//! by row. Numbers and texts are taken as stored; a null is a missing cell. Only the columns that the
//! schema needs are decoded. The decoder is fenced: its errors and panics alike mean a damaged
//! file. Rows are numbered from 1. What is decoded at a time is bounded: a column of one row group holds
//! at most [`LARGEST_CHUNK`] bytes, by what the file states, and the texts of a row [`LONGEST_RECORD`].

use super::{
    collect::{Collector, Record},
    fence::fenced,
    here,
    identifier::Identifier,
    lines::LONGEST_RECORD,
    open::Input,
    parquet_columns::{Batch, each_batch, is_flat},
    parquet_nesting, parquet_unit,
    raw::RowForm,
};
use crate::{
    encode::Cell,
    error::{DataError, Place},
};
use parquet::{
    basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical},
    errors::ParquetError,
    file::{
        metadata::ParquetMetaDataReader,
        reader::{ChunkReader, FileReader, SerializedFileReader},
        serialized_reader::ReadOptionsBuilder,
    },
    record::{Field, Row, reader::RowIter},
    schema::types::{SchemaDescriptor, Type},
};
use rayon::prelude::*;
use std::{
    fs::File,
    io::{self, Cursor, Read, Seek, SeekFrom},
    ops::Range,
    sync::Arc,
};

/// The most bytes, before compression, of one column in one row group.
const LARGEST_CHUNK: i64 = 1 << 30;

/// Where one row's cells are.
enum Fields<'a> {
    /// In a row of its own.
    Row(Vec<&'a Field>),
    /// In a row of a batch of columns.
    Batch(&'a Batch, usize),
}

impl<'a> Fields<'a> {
    fn get(&self, position: usize) -> Option<&'a Field> {
        match self {
            Self::Row(fields) => fields.get(position).copied(),
            Self::Batch(batch, row) => batch.cell(*row, position),
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Row(fields) => fields.len(),
            Self::Batch(batch, _) => batch.count(),
        }
    }
}

/// One row's cells, with the schema's idea of missing texts and numbers.
struct Cells<'a> {
    fields: Fields<'a>,
    missing: &'a [String],
    missing_numbers: &'a [f64],
    /// Of columns that are read as dates, how many of their units a day has, where their type says so.
    per_day: &'a [Option<i64>],
}

impl Cells<'_> {
    /// How many bytes its texts have.
    fn length(&self) -> usize {
        let length = |position: usize| match self.fields.get(position) {
            Some(Field::Str(text)) => text.len(),
            Some(Field::Bytes(bytes)) => bytes.len(),
            _ => 0,
        };
        (0..self.fields.count()).map(length).sum()
    }

    /// A number, unless it is one of those that count as missing (`"-999"`, `"NaN"`).
    fn number(&self, value: f64) -> Cell<'_> {
        match self.missing_numbers.iter().any(|m| *m == value || (m.is_nan() && value.is_nan())) {
            true => Cell::Missing,
            false => Cell::Number(value),
        }
    }

    fn integer(&self, value: i64) -> Cell<'_> {
        match self.number(value as f64) {
            Cell::Missing => Cell::Missing,
            _ => Cell::Integer(value),
        }
    }
}

impl Record for Cells<'_> {
    fn cell(&self, position: usize) -> Cell<'_> {
        let text = |bytes| match self.missing.iter().any(|text| text.as_bytes() == bytes) {
            true => Cell::Missing,
            false => Cell::Text(bytes),
        };
        if let Some(Some(per_day)) = self.per_day.get(position) {
            let ticks = match self.fields.get(position) {
                Some(Field::Date(days)) => Some((*days).into()),
                Some(
                    Field::Long(ticks)
                    | Field::TimestampMillis(ticks)
                    | Field::TimestampMicros(ticks),
                ) => Some(*ticks),
                _ => None,
            };
            if let Some(ticks) = ticks {
                return match self.integer(ticks) {
                    Cell::Integer(ticks) => Cell::Moment { ticks, per_day: *per_day },
                    cell => cell,
                };
            }
        }
        match self.fields.get(position) {
            None | Some(Field::Null) => Cell::Missing,
            Some(Field::Bool(true)) => Cell::Text(b"true"),
            Some(Field::Bool(false)) => Cell::Text(b"false"),
            Some(Field::Byte(value)) => self.integer((*value).into()),
            Some(Field::Short(value)) => self.integer((*value).into()),
            Some(Field::Int(value)) => self.integer((*value).into()),
            Some(Field::Long(value)) => self.integer(*value),
            Some(Field::UByte(value)) => self.integer((*value).into()),
            Some(Field::UShort(value)) => self.integer((*value).into()),
            Some(Field::UInt(value)) => self.integer((*value).into()),
            Some(Field::ULong(value)) => match i64::try_from(*value) {
                Ok(value) => self.integer(value),
                Err(_) => self.number(*value as f64),
            },
            Some(Field::Float16(value)) => self.number(value.to_f64()),
            Some(Field::Float(value)) => self.number((*value).into()),
            Some(Field::Double(value)) => self.number(*value),
            Some(Field::Date(value)) => self.integer((*value).into()),
            Some(Field::TimestampMillis(value) | Field::TimestampMicros(value)) => {
                self.integer(*value)
            }
            Some(Field::Str(value)) => text(value.as_bytes()),
            Some(Field::Bytes(value)) => text(value.data()),
            Some(_) => Cell::Unsupported,
        }
    }

    fn identifier(&self, position: usize) -> Identifier<'_> {
        self.fields.get(position).map_or(Identifier::Missing, parquet_unit::identifier)
    }
}

pub(super) fn read(
    input: Input<'_>,
    collector: &mut Collector<'_>,
    progress: Option<&dyn Fn(u64, u64)>,
) -> Result<(), DataError> {
    let place = here(collector.place);
    let outcome = fenced(|| match input {
        Input::Path(path) => {
            let failed = |source| DataError::File { file: here(&place), source };
            let mut file = File::open(path).map_err(failed)?;
            check_nesting(&mut file, &place)?;
            let (root, reader) = open(file).map_err(|e| refused(&place, &e))?;
            read_rows(&root, &reader, collector, progress)
        }
        Input::Bytes(bytes) => {
            check_nesting(&mut Cursor::new(bytes), &place)?;
            let bytes = bytes::Bytes::copy_from_slice(bytes);
            let (root, reader) = open(bytes).map_err(|e| refused(&place, &e))?;
            read_rows(&root, &reader, collector, progress)
        }
    });
    outcome.unwrap_or_else(|| Err(damaged(&place)))
}

/// The names of a file's columns.
pub(super) fn names(input: Input<'_>) -> Result<Vec<String>, DataError> {
    let place = input.place();
    let (root, _) = opened(input, &place)?;
    Ok(root.get_fields().iter().map(|field| field.name().to_string()).collect())
}

/// Every row, in the one form of [`super::raw`]. A column that cannot be decoded, which no schema may need, is
/// no reason to refuse the file: its cells are marked, from the first that cannot.
pub(super) fn raw_rows(input: Input<'_>, each: &mut dyn FnMut(&[u8])) -> Result<(), DataError> {
    let place = input.place();
    let (root, reader) = opened(input, &place)?;
    let form = RowForm::new(root.get_fields().iter().map(|field| field.name().as_bytes()));
    let all: Vec<usize> = (0..root.get_fields().len()).collect();
    // By what the file states, so that it is the same for whoever asks.
    let small = |column: &usize| check_sizes(&reader, &[*column], &place).is_ok();
    let small: Vec<usize> = all.iter().copied().filter(small).collect();
    if small.is_empty() {
        check_sizes(&reader, &all, &place)?;
    }
    let (mut done, mut bytes) = (0_u64, Vec::new());
    let flat = root.get_fields().iter().all(|column| is_flat(column));
    let whole = small == all
        && fenced(|| -> Result<(), ParquetError> {
            if flat {
                let broken = |error: Option<ParquetError>| {
                    error.unwrap_or_else(|| {
                        ParquetError::General("a column cannot be decoded".into())
                    })
                };
                return each_batch(&reader, &all, broken, &mut |batch| {
                    for row in 0..batch.rows() {
                        let fields: Vec<_> = all.iter().map(|at| batch.cell(row, *at)).collect();
                        write_raw(&form, &fields, &mut bytes);
                        each(&bytes);
                        done += 1;
                    }
                    Ok(())
                });
            }
            for row in reader.get_row_iter(None)? {
                let row: Row = row?;
                let fields: Vec<_> = row.get_column_iter().map(|(_, field)| Some(field)).collect();
                write_raw(&form, &fields, &mut bytes);
                each(&bytes);
                done += 1;
            }
            Ok(())
        })
        .is_some_and(|outcome| outcome.is_ok());
    if whole { Ok(()) } else { raw_by_column(&reader, &small, done, &form, &place, each) }
}

/// The rows after the first `done`, each column decoded on its own, so that one that fails takes no other
/// with it.
fn raw_by_column(
    reader: &dyn FileReader,
    small: &[usize],
    done: u64,
    form: &RowForm,
    place: &Place,
    each: &mut dyn FnMut(&[u8]),
) -> Result<(), DataError> {
    let root = reader.metadata().file_metadata().schema();
    let rows_of = |column: usize| {
        let fields = vec![root.get_fields()[column].clone()];
        let projection = Type::group_type_builder(root.name()).with_fields(fields).build()?;
        reader.get_row_iter(Some(projection))
    };
    let mut why = None;
    let mut columns: Vec<Option<RowIter<'_>>> = (0..root.get_fields().len())
        .map(|column| match small.contains(&column).then(|| fenced(|| rows_of(column))).flatten() {
            Some(Ok(rows)) => Some(rows),
            Some(Err(error)) => {
                why = Some(refused(place, &error));
                None
            }
            None => None,
        })
        .collect();
    let total = u64::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(0);
    let mut bytes = Vec::new();
    for number in 0..total {
        let mut row: Vec<Option<Row>> = Vec::with_capacity(columns.len());
        for column in &mut columns {
            let next = column.as_mut().and_then(|rows| fenced(|| rows.next()).flatten());
            match next {
                Some(Ok(cell)) => row.push(Some(cell)),
                Some(Err(error)) => {
                    why = Some(refused(place, &error));
                    row.push(None);
                }
                None => row.push(None),
            }
            if row.last().is_some_and(Option::is_none) {
                *column = None;
            }
        }
        if row.iter().all(Option::is_none) {
            return Err(why.unwrap_or_else(|| damaged(place)));
        }
        if number >= done {
            let fields: Vec<Option<&Field>> = row
                .iter()
                .map(|row| row.as_ref()?.get_column_iter().next().map(|(_, field)| field))
                .collect();
            write_raw(form, &fields, &mut bytes);
            each(&bytes);
        }
    }
    Ok(())
}

/// A row in its one form; a cell that could not be decoded is marked as of no kind that is known.
fn write_raw(form: &RowForm, fields: &[Option<&Field>], bytes: &mut Vec<u8>) {
    let day = |field: &Option<&Field>| match field {
        // As a file of text has it.
        Some(Field::Date(days)) => u64::try_from(*days)
            .ok()
            .map(|days| privet_core::timestamp(days * 86_400)[..10].to_string()),
        _ => None,
    };
    let days: Vec<Option<String>> = fields.iter().map(day).collect();
    let null = Field::Null;
    let known = fields.iter().map(|field| field.unwrap_or(&null)).collect();
    let cells =
        Cells { fields: Fields::Row(known), missing: &[], missing_numbers: &[], per_day: &[] };
    form.write(bytes, |place| match (days.get(place), fields.get(place)) {
        (Some(Some(day)), _) => Cell::Text(day.as_bytes()),
        (_, Some(None)) => Cell::Unsupported,
        _ => cells.cell(place),
    });
}

/// A file on disk, looked at before it is decoded.
fn opened(
    input: Input<'_>,
    place: &Place,
) -> Result<(Arc<Type>, SerializedFileReader<File>), DataError> {
    let Input::Path(path) = input else { return Err(damaged(place)) };
    let outcome = fenced(|| {
        let failed = |source| DataError::File { file: here(place), source };
        let mut file = File::open(path).map_err(failed)?;
        check_nesting(&mut file, place)?;
        open(file).map_err(|error| refused(place, &error))
    });
    outcome.unwrap_or_else(|| Err(damaged(place)))
}

fn damaged(place: &Place) -> DataError {
    DataError::Damaged { file: here(place), format: "parquet" }
}

/// Refuses a file whose columns are nested so deeply that decoding them could end the program.
fn check_nesting(file: &mut (impl Read + Seek), place: &Place) -> Result<(), DataError> {
    let footer = match footer(file) {
        Ok(footer) => footer,
        Err(source) if source.kind() == io::ErrorKind::UnexpectedEof => None,
        Err(source) => return Err(DataError::File { file: here(place), source }),
    };
    let shallow = footer.is_some_and(|footer| parquet_nesting::is_shallow(&footer));
    if shallow { Ok(()) } else { Err(damaged(place)) }
}

/// The file's footer, if it is as long as it says.
fn footer(file: &mut (impl Read + Seek)) -> io::Result<Option<Vec<u8>>> {
    let Some(end) = file.seek(SeekFrom::End(0))?.checked_sub(8) else { return Ok(None) };
    let mut last = [0; 8];
    file.seek(SeekFrom::Start(end))?;
    file.read_exact(&mut last)?;
    let length = parquet_nesting::footer_length(last);
    let Some(start) = end.checked_sub(length) else { return Ok(None) };
    file.seek(SeekFrom::Start(start))?;
    let mut footer = Vec::new();
    file.take(length).read_to_end(&mut footer)?;
    Ok(Some(footer))
}

/// The columns as the file describes them, and a reader that decodes them as [`decoded`] says.
fn open<R: ChunkReader + 'static>(
    source: R,
) -> Result<(Arc<Type>, SerializedFileReader<R>), ParquetError> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&source)?;
    let root = metadata.file_metadata().schema_descr().root_schema_ptr();
    let fields = root.get_fields().iter().map(decoded).collect::<Result<_, _>>()?;
    let decoded = Type::group_type_builder(root.name()).with_fields(fields).build()?;
    let schema = Arc::new(SchemaDescriptor::new(Arc::new(decoded)));
    let options = ReadOptionsBuilder::new().with_parquet_schema(schema).build();
    Ok((root, SerializedFileReader::new_with_options(source, options)?))
}

/// The column as it is decoded: texts as their bytes, so that one that is no UTF-8 is a cell like any other
/// and not the end of reading, as in a file of text.
fn decoded(column: &Arc<Type>) -> Result<Arc<Type>, ParquetError> {
    use ConvertedType as As;
    let info = column.get_basic_info();
    let text = column.is_primitive()
        && column.get_physical_type() == Physical::BYTE_ARRAY
        && matches!(info.converted_type(), As::UTF8 | As::ENUM | As::JSON);
    if !text {
        return Ok(column.clone());
    }
    let repetition = if info.has_repetition() { info.repetition() } else { Repetition::REQUIRED };
    let bytes = Type::primitive_type_builder(column.name(), Physical::BYTE_ARRAY);
    bytes.with_repetition(repetition).build().map(Arc::new)
}

/// A codec that is not built in is told apart from damage by the decoder's own message.
fn refused(place: &Place, error: &ParquetError) -> DataError {
    let text = match error {
        ParquetError::General(text) | ParquetError::NYI(text) => text.as_str(),
        _ => "",
    };
    if text.contains("Disabled feature") || text.contains("codec") {
        DataError::Unsupported {
            file: here(place),
            what: "a compression codec",
            accepted: "Parquet without compression, or with snappy, gzip, lz4 or zstd",
        }
    } else {
        damaged(place)
    }
}

/// Refuses columns of which one row group could not be held in memory.
fn check_sizes(reader: &dyn FileReader, wanted: &[usize], place: &Place) -> Result<(), DataError> {
    let metadata = reader.metadata();
    let descriptor = metadata.file_metadata().schema_descr();
    let is_wanted = |leaf: usize| wanted.contains(&descriptor.get_column_root_idx(leaf));
    let leaves: Vec<usize> =
        (0..descriptor.num_columns()).filter(|leaf| is_wanted(*leaf)).collect();
    let too_large = metadata.row_groups().iter().any(|group| {
        let sizes = leaves.iter().filter_map(|leaf| group.columns().get(*leaf));
        sizes.into_iter().any(|chunk| !(0..=LARGEST_CHUNK).contains(&chunk.uncompressed_size()))
    });
    match too_large {
        false => Ok(()),
        true => Err(DataError::Unsupported {
            file: here(place),
            what: "a row group in which a column holds more than 1 GiB",
            accepted: "smaller row groups",
        }),
    }
}

/// How many units of a column of dates or times a day has, by its type.
fn units_a_day(column: &Type) -> Option<i64> {
    // The older form of times, which is decoded to milliseconds.
    if column.is_primitive() && column.get_physical_type() == Physical::INT96 {
        return Some(86_400_000);
    }
    let info = column.get_basic_info();
    let by_logical = match info.logical_type_ref() {
        Some(LogicalType::Date) => Some(1),
        Some(LogicalType::Timestamp(time)) => Some(match time.unit {
            TimeUnit::MILLIS => 86_400_000,
            TimeUnit::MICROS => 86_400_000_000,
            TimeUnit::NANOS => 86_400_000_000_000,
        }),
        _ => None,
    };
    by_logical.or(match info.converted_type() {
        ConvertedType::DATE => Some(1),
        ConvertedType::TIMESTAMP_MILLIS => Some(86_400_000),
        ConvertedType::TIMESTAMP_MICROS => Some(86_400_000_000),
        _ => None,
    })
}

fn read_rows(
    described: &Type,
    reader: &dyn FileReader,
    collector: &mut Collector<'_>,
    progress: Option<&dyn Fn(u64, u64)>,
) -> Result<(), DataError> {
    let place = here(collector.place);
    let broken = |error: ParquetError| refused(&place, &error);
    let root = reader.metadata().file_metadata().schema();
    let names: Vec<&[u8]> =
        described.get_fields().iter().map(|field| field.name().as_bytes()).collect();
    let mut layout = collector.layout(&names)?;
    if let Some(column) = layout.unit.map(|position| &described.get_fields()[position])
        && !parquet_unit::names_users(column)
    {
        let (file, column) = (here(&place), column.name().into());
        return Err(DataError::UnitType { file, column, accepted: parquet_unit::ACCEPTED });
    }
    let total = u64::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(0);

    // Decode the wanted columns only, in the file's order; positions then count those.
    let mut keep = collector.keep.and_then(|(_, place)| place);
    let places = [&mut layout.target, &mut layout.unit, &mut keep];
    let places = layout.columns.iter_mut().chain(places);
    let places: Vec<&mut usize> = places.filter_map(Option::as_mut).collect();
    let mut wanted: Vec<usize> = places.iter().map(|place| **place).collect();
    wanted.sort_unstable();
    wanted.dedup();
    for place in places {
        *place = wanted.partition_point(|position| *position < *place);
    }
    if let Some((_, place)) = &mut collector.keep {
        *place = keep;
    }
    check_sizes(reader, &wanted, &place)?;
    let missing = collector.schema.file().missing_values.as_slice();
    let missing_numbers: Vec<f64> = missing.iter().filter_map(|text| text.parse().ok()).collect();
    let dates = collector.schema.columns().iter().filter_map(|column| column.date.as_ref());
    let dates: Vec<&str> = dates.map(|date| date.column.as_str()).collect();
    let unit_of = |position: &usize| {
        let column = &described.get_fields()[*position];
        dates.contains(&column.name()).then(|| units_a_day(column)).flatten()
    };
    let per_day: Vec<Option<i64>> = wanted.iter().map(unit_of).collect();
    let take = |collector: &mut Collector<'_>, number: u64, fields: Fields<'_>| {
        let cells = Cells { fields, missing, missing_numbers: &missing_numbers, per_day: &per_day };
        if cells.length() > LONGEST_RECORD {
            let (file, longest) = (here(&place), LONGEST_RECORD);
            collector.unreadable(|| DataError::TooLong { file, row: number, longest })
        } else {
            collector.record(number, &layout, &cells)
        }
    };
    let told = |number: u64| {
        if let Some(progress) = progress.filter(|_| number.is_multiple_of(1024) || number == total)
        {
            progress(number, total.max(number));
        }
    };
    let mut number = 0_u64;
    let flat = wanted.iter().all(|position| is_flat(&root.get_fields()[*position]));
    if flat && !wanted.is_empty() {
        let broken = |error: Option<ParquetError>| match error {
            Some(error) => refused(&place, &error),
            None => damaged(&place),
        };
        let parts = rayon::current_num_threads().max(1);
        let mut beside: Vec<Collector<'_>> = (0..parts).map_while(|_| collector.beside()).collect();
        return each_batch(reader, &wanted, broken, &mut |batch| {
            let first = number;
            let some = |collector: &mut Collector<'_>, rows: Range<usize>| {
                let mut rows = rows.into_iter();
                rows.try_for_each(|row| {
                    take(collector, first + row as u64 + 1, Fields::Batch(batch, row))
                })
            };
            if beside.is_empty() {
                some(collector, 0..batch.rows())?;
            } else {
                // Side by side, and taken over in order: the first refusal is that of the first row.
                let edge = |part: usize| part * batch.rows() / parts;
                let taken: Vec<_> = beside
                    .par_iter_mut()
                    .enumerate()
                    .map(|(part, one)| fenced(|| some(one, edge(part)..edge(part + 1))))
                    .collect();
                for (one, outcome) in beside.iter_mut().zip(taken) {
                    outcome.unwrap_or_else(|| Err(damaged(&place)))?;
                    collector.absorb(one)?;
                }
            }
            number += batch.rows() as u64;
            told(number);
            Ok(())
        });
    }
    let fields = wanted.iter().map(|position| root.get_fields()[*position].clone()).collect();
    let projection = Type::group_type_builder(root.name()).with_fields(fields).build();
    let rows = reader.get_row_iter(Some(projection.map_err(broken)?)).map_err(broken)?;
    for row in rows {
        let row: Row = row.map_err(broken)?;
        number += 1;
        let fields = Fields::Row(row.get_column_iter().map(|(_, field)| field).collect());
        take(collector, number, fields)?;
        told(number);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{Schema, read::csv_bytes, read::parquet_bytes};
    use parquet::data_type::{ByteArrayType, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    const SCHEMA: &str = "[clip]\nnorm = \"linf\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nclasses = [\"a\", \"b\"]\n\
                          [[columns]]\nname = \"when\"\ntype = \"date\"\nrange = [\"1960-01-01\", \"2030-12-31\"]\n\
                          parts = [\"year\", \"month\", \"weekday\", \"hour\"]\n";

    fn file(kind: &str, ticks: &[i64]) -> Vec<u8> {
        let message =
            format!("message t {{ required int64 when{kind}; required binary y (UTF8); }}");
        let message = Arc::new(parse_message_type(&message).unwrap());
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, message, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(ticks, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let labels = vec!["a".into(); ticks.len()];
        column.typed::<ByteArrayType>().write_batch(&labels, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        bytes
    }

    /// The unit is that of the column's type, near 1970 and far from it: what a pandas frame writes is in nanoseconds.
    #[test]
    fn times_are_read_in_the_unit_of_their_type() {
        let plain = Schema::from_toml(SCHEMA).unwrap();
        let schema = Schema::from_toml(&format!("[file]\nformat = \"parquet\"\n{SCHEMA}")).unwrap();
        let text = b"when,y\n2024-03-05 14:30:00,a\n1970-01-01 00:10:00,a\n1969-12-31 18:00:00,a\n1971-07-02 06:00:00,a\n";
        let expected = csv_bytes(text, &plain).unwrap();
        let seconds = [1_709_649_000, 600, -21_600, 47_282_400];
        for (kind, factor) in [
            (" (TIMESTAMP(MILLIS,true))", 1_000),
            (" (TIMESTAMP(MICROS,true))", 1_000_000),
            (" (TIMESTAMP(NANOS,true))", 1_000_000_000),
        ] {
            let bytes = file(kind, &seconds.map(|second: i64| second * factor));
            let found = parquet_bytes(&bytes, &schema).unwrap();
            for row in 0..seconds.len() {
                assert_eq!(
                    found.features.dense_row(row),
                    expected.features.dense_row(row),
                    "{kind}, row {row}"
                );
            }
        }
        // Without a type the size has to tell.
        for factor in [1_000, 1_000_000, 1_000_000_000] {
            let found = parquet_bytes(&file("", &[seconds[0] * factor]), &schema).unwrap();
            assert_eq!(found.features.dense_row(0), expected.features.dense_row(0), "{factor}");
        }
    }
}
