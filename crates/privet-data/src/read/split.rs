//! Splits bytes into records of cells, in bounded memory.
//!
//! Where a bad record is refused, a quoted cell may hold line breaks ([`QuotedRecords`]). Where it is not, a
//! record is one physical line ([`PerLine`]): a quote left open would merge the records after it into
//! one, so that one line could change any number of rows.

use super::{
    lines::{LONGEST_RECORD, Line, next_line},
    open::{Origin, Stream},
};
use crate::{error::DataError, schema::FileFacts};
use csv::{ByteRecord, Reader, ReaderBuilder};
use csv_core::ReadRecordResult;
use std::{
    cell::Cell,
    io::{self, BufRead, Read},
    rc::Rc,
};

/// The outcome of reading a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordEnd {
    /// The file is at its end.
    End,
    /// A record.
    Record,
    /// An empty line.
    Blank,
    /// A line with a quote left open.
    Open,
    /// A line that is too long.
    TooLong,
}

/// A source of records.
pub(super) trait Records {
    /// Reads the next record into `record`.
    fn next(&mut self, record: &mut ByteRecord) -> Result<RecordEnd, DataError>;
}

/// Bytes that the CSV reader requests at a time.
const BUFFER: usize = 1 << 17;
/// Bytes that a record may read before it is known to be too long: its last piece is read to the end.
const MOST_RECORD_BYTES: usize = LONGEST_RECORD + 2 * BUFFER;

/// An empty line, which is not a record, for the parser to read first: it drops a byte order mark from
/// the start of its input, and that must not depend on which record comes first.
const PASS_THE_START: &[u8] = b"\n";

/// Records whose quoted cells may hold line breaks.
pub(super) struct QuotedRecords<'a> {
    reader: Reader<LimitedReader<'a>>,
    left: Rc<Cell<usize>>,
    origin: Origin,
}

/// A stream that returns an error once a record has read more than [`MOST_RECORD_BYTES`].
struct LimitedReader<'a> {
    bytes: Box<dyn BufRead + 'a>,
    left: Rc<Cell<usize>>,
}

impl Read for LimitedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            return Err(io::Error::other("record too long"));
        }
        let count = self.bytes.read(buffer)?;
        self.left.set(self.left.get().saturating_sub(count));
        Ok(count)
    }
}

impl<'a> QuotedRecords<'a> {
    pub(super) fn new(stream: Stream<'a>, facts: &FileFacts) -> Self {
        let Stream { bytes, origin } = stream;
        let left = Rc::new(Cell::new(MOST_RECORD_BYTES));
        let reader = ReaderBuilder::new()
            .delimiter(facts.separator)
            .quoting(facts.quote.is_some())
            .quote(facts.quote.unwrap_or(b'"'))
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(BUFFER)
            .from_reader(LimitedReader {
                bytes: Box::new(PASS_THE_START.chain(bytes)),
                left: left.clone(),
            });
        Self { reader, left, origin }
    }
}

impl Records for QuotedRecords<'_> {
    fn next(&mut self, record: &mut ByteRecord) -> Result<RecordEnd, DataError> {
        self.left.set(MOST_RECORD_BYTES);
        match self.reader.read_byte_record(record) {
            Ok(true) if record.as_slice().len() > LONGEST_RECORD => Ok(RecordEnd::TooLong),
            Ok(true) => Ok(RecordEnd::Record),
            Ok(false) => Ok(RecordEnd::End),
            Err(_) if self.left.get() == 0 => Ok(RecordEnd::TooLong),
            Err(error) => Err(self.origin.failed(error.into())),
        }
    }
}

/// Records that are physical lines.
pub(super) struct PerLine<'a> {
    stream: Stream<'a>,
    /// True until the header is read: a header that is too long is refused, so that its rest need not
    /// be read.
    awaits_header: bool,
    reader: csv_core::Reader,
    line: Vec<u8>,
    cells: Vec<u8>,
    ends: Vec<usize>,
}

impl<'a> PerLine<'a> {
    pub(super) fn new(stream: Stream<'a>, facts: &FileFacts) -> Self {
        let reader = csv_core::ReaderBuilder::new()
            .delimiter(facts.separator)
            .quoting(facts.quote.is_some())
            .quote(facts.quote.unwrap_or(b'"'))
            .terminator(csv_core::Terminator::Any(b'\n'))
            .build();
        let awaits_header = facts.header;
        Self {
            stream,
            awaits_header,
            reader,
            line: Vec::new(),
            cells: Vec::new(),
            ends: vec![0; 64],
        }
    }

    /// The rest of the stream; no line read so far affects it.
    pub(super) fn into_stream(self) -> Stream<'a> {
        self.stream
    }

    /// Splits the line into cells. No state is carried over to the next line.
    fn split(&mut self, record: &mut ByteRecord) -> RecordEnd {
        if self.line.is_empty() {
            return RecordEnd::Blank;
        }
        self.line.push(b'\n');
        self.cells.resize(self.cells.len().max(self.line.len() + 1), 0);
        self.reader.reset();
        self.reader.read_record(PASS_THE_START, &mut self.cells, &mut self.ends);
        let (mut used, mut written, mut count) = (0, 0, 0);
        loop {
            let (input, output) = (&self.line[used..], &mut self.cells[written..]);
            let (result, read, wrote, ended) =
                self.reader.read_record(input, output, &mut self.ends[count..]);
            (used, written, count) = (used + read, written + wrote, count + ended);
            match result {
                ReadRecordResult::Record => break,
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                // All input is used and no record has ended.
                _ => return RecordEnd::Open,
            }
        }
        record.clear();
        let mut start = 0;
        for &end in &self.ends[..count] {
            record.push_field(&self.cells[start..end]);
            start = end;
        }
        RecordEnd::Record
    }
}

impl Records for PerLine<'_> {
    fn next(&mut self, record: &mut ByteRecord) -> Result<RecordEnd, DataError> {
        let pass_over = !self.awaits_header;
        let found = next_line(&mut self.stream.bytes, &mut self.line, LONGEST_RECORD, pass_over);
        match found.map_err(|error| self.stream.origin.failed(error))? {
            Line::End => Ok(RecordEnd::End),
            Line::TooLong => Ok(RecordEnd::TooLong),
            Line::Whole => {
                let found = self.split(record);
                self.awaits_header &= found != RecordEnd::Record;
                Ok(found)
            }
        }
    }
}
