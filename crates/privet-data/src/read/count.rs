//! Counts the records of a table by their line structure alone: no cell is decoded, and none is
//! refused.
//!
//! Where the number of rows is public and undeclared, a plan needs it before any ε is spent, and a
//! record's content must not decide a refusal then. A record here is what it is to the reader of the
//! same schema; lines that the reader refuses count as well. Tested by `counted_as_they_are_read`.

use super::{
    clone_place,
    csv::skip_byte_order_mark,
    files_of, known_by,
    lines::{LONGEST_RECORD, Line, next_line},
    open::{Input, Stream},
    split::{PerLine, QuotedRecords, RecordEnd, Records},
};
use crate::{
    error::{DataError, Place},
    schema::{Format, Schema},
};
use csv::ByteRecord;
use std::path::Path;

/// The number of records of a table, over all its files; a table without records is refused.
pub fn count_records(
    path: impl AsRef<Path>,
    schema: &Schema,
    progress: Option<&dyn Fn(u64, u64)>,
) -> Result<u64, DataError> {
    let path = path.as_ref();
    let mut records = 0_u64;
    for file in files_of(path)? {
        let input = Input::Path(&file);
        let open = || input.open(known_by(schema.file().format, schema), progress);
        records += match schema.file().format {
            Format::Csv => lines(open()?, schema, &input.place())?,
            Format::Libsvm => sparse_lines(open()?, schema)?,
            #[cfg(feature = "parquet")]
            Format::Parquet => super::parquet::count(input)?,
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => {
                return Err(DataError::NotBuilt { file: input.place(), format: "parquet" });
            }
        };
    }
    if records == 0 {
        return Err(DataError::Empty { file: Place::Path(path.into()) });
    }
    Ok(records)
}

fn lines(mut stream: Stream<'_>, schema: &Schema, place: &Place) -> Result<u64, DataError> {
    let facts = schema.file();
    if facts.header {
        skip_byte_order_mark(&mut stream)?;
    }
    match schema.invalid().is_total() {
        // A quoted cell may hold line breaks.
        false => count_lines(&mut QuotedRecords::new(stream, facts), facts.header, place),
        true if facts.header => {
            let mut records = PerLine::new(stream, facts);
            header(&mut records, &mut ByteRecord::new(), place)?;
            physical(&mut records.into_stream())
        }
        true => physical(&mut stream),
    }
}

/// Skips the header: the first line that is not empty.
fn header(
    records: &mut impl Records,
    record: &mut ByteRecord,
    place: &Place,
) -> Result<(), DataError> {
    loop {
        let (file, longest) = (clone_place(place), LONGEST_RECORD);
        match records.next(record)? {
            RecordEnd::Record => return Ok(()),
            RecordEnd::Blank => {}
            RecordEnd::End => return Err(DataError::Empty { file }),
            RecordEnd::TooLong => return Err(DataError::TooLong { file, row: 1, longest }),
            RecordEnd::Open => return Err(DataError::Damaged { file, format: "csv" }),
        }
    }
}

fn count_lines(
    records: &mut impl Records,
    has_header: bool,
    place: &Place,
) -> Result<u64, DataError> {
    let mut record = ByteRecord::new();
    if has_header {
        header(records, &mut record, place)?;
    }
    let mut count = 0;
    loop {
        match records.next(&mut record)? {
            RecordEnd::End => return Ok(count),
            // The end of this record is unknown, and the reader refuses it.
            RecordEnd::TooLong => return Ok(count + 1),
            RecordEnd::Record | RecordEnd::Blank | RecordEnd::Open => count += 1,
        }
    }
}

/// Every physical line is a record, whatever its content.
fn physical(stream: &mut Stream<'_>) -> Result<u64, DataError> {
    let (mut line, mut count) = (Vec::new(), 0);
    loop {
        let found = next_line(&mut stream.bytes, &mut line, LONGEST_RECORD, true);
        match found.map_err(|error| stream.origin.failed(error))? {
            Line::End => return Ok(count),
            Line::Whole | Line::TooLong => count += 1,
        }
    }
}

/// Without a policy for bad records, empty lines and comments are not records.
fn sparse_lines(mut stream: Stream<'_>, schema: &Schema) -> Result<u64, DataError> {
    if schema.invalid().is_total() {
        return physical(&mut stream);
    }
    let (mut line, mut count) = (Vec::new(), 0);
    loop {
        let found = next_line(&mut stream.bytes, &mut line, LONGEST_RECORD, true);
        match found.map_err(|error| stream.origin.failed(error))? {
            Line::End => return Ok(count),
            Line::TooLong => count += 1,
            Line::Whole => {
                let text = line.split(|byte| *byte == b'#').next().unwrap_or_default();
                count += u64::from(!text.trim_ascii().is_empty());
            }
        }
    }
}
