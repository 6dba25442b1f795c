//! Text with separators.

use super::{
    collect::{Collector, Record},
    here,
    open::Stream,
};
use crate::{
    encode::Cell,
    error::{DataError, Place},
};
use csv::{ByteRecord, ErrorKind, ReaderBuilder};
use std::io;

/// A record with the schema's idea of missing cells and blanks.
struct Cells<'a> {
    record: &'a ByteRecord,
    trim: bool,
    missing: &'a [String],
}

impl Record for Cells<'_> {
    fn cell(&self, position: usize) -> Cell<'_> {
        let Some(cell) = self.record.get(position) else { return Cell::Missing };
        let cell = if self.trim { cell.trim_ascii() } else { cell };
        if self.missing.iter().any(|text| text.as_bytes() == cell) {
            Cell::Missing
        } else {
            Cell::Text(cell)
        }
    }
}

pub(super) fn read(mut stream: Stream<'_>, collector: &mut Collector<'_>) -> Result<(), DataError> {
    let schema = collector.schema;
    let (facts, place) = (schema.file(), collector.place);
    skip_byte_order_mark(&mut stream)?;
    let mut reader = ReaderBuilder::new()
        .delimiter(facts.separator)
        .quoting(facts.quote.is_some())
        .quote(facts.quote.unwrap_or(b'"'))
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(1 << 17)
        .from_reader(&mut stream.bytes);
    let mut record = ByteRecord::new();
    let mut row = 0_u64;
    let mut layout = None;
    let failure = loop {
        match reader.read_byte_record(&mut record) {
            Ok(true) => row += 1,
            Ok(false) => break None,
            Err(error) => break Some(error),
        }
        let (layout, expected) = match &layout {
            Some(layout) => layout,
            None if facts.header => {
                let trim = |cell| if facts.trim { <[u8]>::trim_ascii(cell) } else { cell };
                let names: Vec<&[u8]> = record.iter().map(trim).collect();
                layout = Some((collector.layout(&names)?, record.len()));
                continue;
            }
            None => {
                let positions = collector.positions(record.len());
                let shorter = !collector.labels && record.len() + 1 == schema.columns().len();
                let expected = schema.columns().len() - usize::from(shorter);
                layout.insert((positions, expected))
            }
        };
        if record.len() != *expected {
            let (found, expected) = (record.len(), *expected);
            return Err(DataError::Ragged { file: here(place), row, found, expected });
        }
        let cells = Cells { record: &record, trim: facts.trim, missing: &facts.missing_values };
        collector.record(row, layout, &cells)?;
    };
    drop(reader);
    match failure {
        // A header without records may be a table; nothing at all is not.
        None if facts.header && layout.is_none() => Err(DataError::Empty { file: here(place) }),
        None => Ok(()),
        Some(error) => Err(refused(&stream, place, error)),
    }
}

fn refused(stream: &Stream<'_>, place: &Place, error: csv::Error) -> DataError {
    match error.into_kind() {
        ErrorKind::Io(source) => stream.failed(source),
        _ => DataError::Damaged { file: here(place), format: "csv" },
    }
}

/// Some programs begin a file with U+FEFF.
fn skip_byte_order_mark(stream: &mut Stream<'_>) -> Result<(), DataError> {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    loop {
        let marked = match stream.bytes.fill_buf() {
            Ok(start) => start.starts_with(MARK),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(stream.failed(error)),
        };
        if marked {
            stream.bytes.consume(MARK.len());
        }
        return Ok(());
    }
}
