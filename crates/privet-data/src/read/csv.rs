//! Delimiter-separated text.

use super::{
    clone_place,
    collect::{Collector, Layout, Record},
    lines::LONGEST_RECORD,
    open::Stream,
    split::{PerLine, QuotedRecords, RecordEnd, Records},
};
use crate::{encode::Cell, error::DataError};
use csv::ByteRecord;
use std::io;

/// A record with the schema's rules for missing cells and blanks.
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
    let facts = collector.schema.file();
    // Without a header the mark is part of the first record, like any other character: if it were
    // dropped, removing that record would drop it from the next one.
    if facts.header {
        skip_byte_order_mark(&mut stream)?;
    }
    if collector.schema.invalid().is_total() {
        read_records(&mut PerLine::new(stream, facts), collector)
    } else {
        read_records(&mut QuotedRecords::new(stream, facts), collector)
    }
}

fn read_records(
    records: &mut impl Records,
    collector: &mut Collector<'_>,
) -> Result<(), DataError> {
    let (facts, place) = (collector.schema.file(), collector.place);
    let mut record = ByteRecord::new();
    let mut header = Header::Awaited;
    for row in 1_u64.. {
        let found = records.next(&mut record)?;
        let too_long =
            || DataError::TooLong { file: clone_place(place), row, longest: LONGEST_RECORD };
        let damaged = || DataError::Damaged { file: clone_place(place), format: "csv" };
        if facts.header && header == Header::Awaited {
            match found {
                // A header without records may be a table; nothing at all is not.
                RecordEnd::End => return Err(DataError::Empty { file: clone_place(place) }),
                RecordEnd::Blank => {}
                RecordEnd::TooLong => return Err(too_long()),
                RecordEnd::Open => return Err(damaged()),
                RecordEnd::Record => {
                    let trim = |cell| if facts.trim { <[u8]>::trim_ascii(cell) } else { cell };
                    let names: Vec<&[u8]> = record.iter().map(trim).collect();
                    header = Header::Known(collector.layout(&names)?, record.len());
                }
            }
            continue;
        }
        match found {
            RecordEnd::End => break,
            RecordEnd::Record => {}
            RecordEnd::TooLong => {
                collector.unreadable(too_long)?;
                continue;
            }
            RecordEnd::Blank | RecordEnd::Open => {
                collector.unreadable(damaged)?;
                continue;
            }
        }
        let (layout, expected) = header.layout(collector, record.len());
        if record.len() != expected {
            let found = record.len();
            let ragged = || DataError::Ragged { file: clone_place(place), row, found, expected };
            collector.unreadable(ragged)?;
            continue;
        }
        let cells = Cells { record: &record, trim: facts.trim, missing: &facts.missing_values };
        collector.record(row, layout, &cells)?;
    }
    Ok(())
}

/// Positions of the schema's columns, and the number of cells of a record.
#[derive(Debug, PartialEq)]
enum Header {
    /// Not known yet.
    Awaited,
    Known(Layout, usize),
    /// By position, for records with this many cells (the last field), in a file without a header.
    Positions(Layout, usize, usize),
}

impl Header {
    /// Without a header, by position. In prediction the target may be left out: the first record
    /// decides, or each for itself where no record may change how others are read.
    fn layout(&mut self, collector: &Collector<'_>, cells: usize) -> (&Layout, usize) {
        let stale = match self {
            Self::Awaited => true,
            Self::Known(..) => false,
            Self::Positions(_, _, of) => collector.schema.invalid().is_total() && *of != cells,
        };
        if stale {
            let columns = collector.schema.places();
            let shorter = !collector.labels && cells + 1 == columns;
            let expected = columns - usize::from(shorter);
            *self = Self::Positions(collector.positions(cells), expected, cells);
        }
        match self {
            Self::Known(layout, expected) | Self::Positions(layout, expected, _) => {
                (layout, *expected)
            }
            Self::Awaited => unreachable!("it was just made"),
        }
    }
}

/// Skips U+FEFF, with which some programs begin a file.
pub(super) fn skip_byte_order_mark(stream: &mut Stream<'_>) -> Result<(), DataError> {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    loop {
        let marked = match stream.bytes.fill_buf() {
            Ok(start) => start.starts_with(MARK),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(stream.origin.failed(error)),
        };
        if marked {
            stream.bytes.consume(MARK.len());
        }
        return Ok(());
    }
}
