//! Columns on disk.
//!
//! Numbers and texts are taken as stored; a null is a missing cell. Only the columns that the
//! schema needs are decoded. The decoder is fenced: its errors and panics alike mean a damaged
//! file. Rows are numbered from 1.

use super::{
    collect::{Collector, Record},
    here,
    open::Input,
};
use crate::{
    encode::Cell,
    error::{DataError, Place},
};
use parquet::{
    errors::ParquetError,
    file::reader::{FileReader, SerializedFileReader},
    record::{Field, Row},
    schema::types::Type,
};
use std::{
    fs::File,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// One row's cells, with the schema's idea of missing texts.
struct Cells<'a> {
    fields: Vec<&'a Field>,
    missing: &'a [String],
}

impl Record for Cells<'_> {
    fn cell(&self, position: usize) -> Cell<'_> {
        let text = |bytes| match self.missing.iter().any(|text| text.as_bytes() == bytes) {
            true => Cell::Missing,
            false => Cell::Text(bytes),
        };
        match self.fields.get(position) {
            None | Some(Field::Null) => Cell::Missing,
            Some(Field::Bool(true)) => Cell::Text(b"true"),
            Some(Field::Bool(false)) => Cell::Text(b"false"),
            Some(Field::Byte(value)) => Cell::Integer((*value).into()),
            Some(Field::Short(value)) => Cell::Integer((*value).into()),
            Some(Field::Int(value)) => Cell::Integer((*value).into()),
            Some(Field::Long(value)) => Cell::Integer(*value),
            Some(Field::UByte(value)) => Cell::Integer((*value).into()),
            Some(Field::UShort(value)) => Cell::Integer((*value).into()),
            Some(Field::UInt(value)) => Cell::Integer((*value).into()),
            Some(Field::ULong(value)) => match i64::try_from(*value) {
                Ok(value) => Cell::Integer(value),
                Err(_) => Cell::Number(*value as f64),
            },
            Some(Field::Float16(value)) => Cell::Number(value.to_f64()),
            Some(Field::Float(value)) => Cell::Number((*value).into()),
            Some(Field::Double(value)) => Cell::Number(*value),
            Some(Field::Date(value)) => Cell::Integer((*value).into()),
            Some(Field::TimestampMillis(value) | Field::TimestampMicros(value)) => {
                Cell::Integer(*value)
            }
            Some(Field::Str(value)) => text(value.as_bytes()),
            Some(Field::Bytes(value)) => text(value.data()),
            Some(_) => Cell::Unsupported,
        }
    }
}

pub(super) fn read(
    input: Input<'_>,
    collector: &mut Collector<'_>,
    progress: Option<&dyn Fn(u64, u64)>,
) -> Result<(), DataError> {
    let place = here(collector.place);
    let fenced = catch_unwind(AssertUnwindSafe(|| match input {
        Input::Path(path) => {
            let file = File::open(path)
                .map_err(|source| DataError::File { file: here(&place), source })?;
            let reader = SerializedFileReader::new(file).map_err(|_| damaged(&place))?;
            read_rows(&reader, collector, progress)
        }
        Input::Bytes(bytes) => {
            let bytes = bytes::Bytes::copy_from_slice(bytes);
            let reader = SerializedFileReader::new(bytes).map_err(|_| damaged(&place))?;
            read_rows(&reader, collector, progress)
        }
    }));
    fenced.unwrap_or_else(|_| Err(damaged(&place)))
}

fn damaged(place: &Place) -> DataError {
    DataError::Damaged { file: here(place), format: "parquet" }
}

fn read_rows(
    reader: &dyn FileReader,
    collector: &mut Collector<'_>,
    progress: Option<&dyn Fn(u64, u64)>,
) -> Result<(), DataError> {
    let place = here(collector.place);
    let broken = |_: ParquetError| damaged(&place);
    let root = reader.metadata().file_metadata().schema();
    let names: Vec<&[u8]> = root.get_fields().iter().map(|field| field.name().as_bytes()).collect();
    let mut layout = collector.layout(&names)?;
    let total = u64::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(0);

    // Decode the wanted columns only, in the file's order; positions then count those.
    let places = layout.columns.iter_mut().chain([&mut layout.target, &mut layout.unit]);
    let places: Vec<&mut usize> = places.filter_map(Option::as_mut).collect();
    let mut wanted: Vec<usize> = places.iter().map(|place| **place).collect();
    wanted.sort_unstable();
    wanted.dedup();
    for place in places {
        *place = wanted.partition_point(|position| *position < *place);
    }
    let fields = wanted.iter().map(|position| root.get_fields()[*position].clone()).collect();
    let projection = Type::group_type_builder(root.name()).with_fields(fields).build();
    let rows = reader.get_row_iter(Some(projection.map_err(broken)?)).map_err(broken)?;

    let missing = collector.schema.file().missing_values.as_slice();
    for (number, row) in (1_u64..).zip(rows) {
        let row: Row = row.map_err(broken)?;
        let cells =
            Cells { fields: row.get_column_iter().map(|(_, field)| field).collect(), missing };
        collector.record(number, &layout, &cells)?;
        if let Some(progress) = progress.filter(|_| number % 4096 == 0 || number == total) {
            progress(number, total.max(number));
        }
    }
    Ok(())
}
