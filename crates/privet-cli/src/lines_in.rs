//! Rows that arrive on a stream, one per line: as many as are available, and at least one.
//!
//! Every physical line is a record, whatever its content: one that does not fit becomes the null record
//! by the schema's policy, and takes its slot. A line that is too long counts as an empty one.

use crate::failure::Failure;
use privet_data::read::{LONGEST_RECORD, csv_bytes};
use privet_data::schema::Format;
use privet_data::{Dataset, Schema};
use std::io::BufRead;

/// Bytes after which a piece is passed on, if it contains a line.
const PIECE_BYTES: usize = 1 << 18;

/// Reads pieces of a stream of rows.
pub struct LinesIn<R> {
    from: R,
    schema: Schema,
    header: Vec<u8>,
    /// Lines that wait for others of their batch, each with its line end.
    waiting: Vec<u8>,
    lines: usize,
    ended: bool,
}

impl<R: BufRead> LinesIn<R> {
    /// Of rows under this schema; reads the header.
    pub fn new(from: R, schema: &Schema) -> Result<Self, Failure> {
        if schema.file().format != Format::Csv {
            return Err(Failure::input("a stream is read as CSV: the schema's format must be csv"));
        }
        if !schema.invalid().is_total() {
            return Err(Failure::input(
                "a stream goes on whatever a line holds: give invalid = \"drop\" or \"stand-in\" in the schema, so \
                 that a line that does not fit counts as an empty slot",
            ));
        }
        let mut rows = Self {
            from,
            schema: schema.clone(),
            header: Vec::new(),
            waiting: Vec::new(),
            lines: 0,
            ended: false,
        };
        if schema.file().header {
            rows.line()?;
            rows.header = std::mem::take(&mut rows.waiting);
            if std::mem::take(&mut rows.lines) == 0 {
                return Err(Failure::input("standard input ended before the header"));
            }
            // Refuses names that do not fit before waiting for rows.
            let mut probe = rows.header.clone();
            probe.push(b'\n');
            csv_bytes(&probe, schema)?;
        }
        Ok(rows)
    }

    /// Appends the next line to the waiting ones, or detects the end.
    fn line(&mut self) -> Result<(), Failure> {
        let start = self.waiting.len();
        let failed = |error| Failure::file("the stream of rows", &error);
        let limit = LONGEST_RECORD as u64 + 1;
        let mut limited = std::io::Read::take(&mut self.from, limit);
        let found = limited.read_until(b'\n', &mut self.waiting).map_err(failed)?;
        if found == 0 {
            self.ended = true;
            return Ok(());
        }
        self.lines += 1;
        if self.waiting.last() != Some(&b'\n') {
            if found as u64 == limit {
                self.waiting.truncate(start);
                self.pass_over().map_err(failed)?;
            }
            self.waiting.push(b'\n');
        }
        Ok(())
    }

    /// Skips the rest of a line that is too long.
    fn pass_over(&mut self) -> std::io::Result<()> {
        loop {
            let piece = self.from.fill_buf()?;
            let end = piece.iter().position(|byte| *byte == b'\n');
            let (used, last) = (end.map_or(piece.len(), |end| end + 1), piece.is_empty());
            self.from.consume(used);
            if end.is_some() || last {
                return Ok(());
            }
        }
    }

    /// Whole batches of rows, as many as are available; the last one may be short. `None` at the end.
    pub fn next(
        &mut self,
        batch: usize,
        at_hand: impl Fn(&R) -> usize,
    ) -> Result<Option<Dataset>, Failure> {
        while !self.ended
            && (self.lines < batch
                || (self.waiting.len() < PIECE_BYTES && at_hand(&self.from) > 0)
                || !self.lines.is_multiple_of(batch))
        {
            self.line()?;
        }
        if self.lines == 0 {
            return Ok(None);
        }
        let mut text = self.header.clone();
        text.append(&mut self.waiting);
        let data = csv_bytes(&text, &self.schema)?;
        if data.rows() != std::mem::take(&mut self.lines) {
            return Err(Failure::input("a line of the stream is not one row under this schema"));
        }
        Ok(Some(data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    const SCHEMA: &str = "invalid = \"drop\"\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
         classes = [\"no\", \"yes\"]\n[[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [0, 1]\n";

    fn pieces(text: &str, batch: usize, buffer: usize) -> Vec<usize> {
        let schema = Schema::from_toml(SCHEMA).unwrap();
        let from = BufReader::with_capacity(buffer, text.as_bytes());
        let mut rows = LinesIn::new(from, &schema).unwrap();
        let mut found = vec![];
        while let Some(data) = rows.next(batch, |from| from.buffer().len()).unwrap() {
            found.push(data.rows());
        }
        found
    }

    #[test]
    fn every_line_is_a_row_and_batches_stay_whole() {
        let text = "a,y\n0.5,yes\n\nwhat\n1,no\n\"0,yes\n0.1,no,7\n0.2,yes";
        assert_eq!(pieces(text, 1, 4096), [7]);
        assert_eq!(pieces(text, 3, 4096), [7], "the last batch is short");
        // One at a time where no more is available.
        assert_eq!(pieces(text, 1, 1).iter().sum::<usize>(), 7);
        assert!(pieces(text, 2, 1).iter().rev().skip(1).all(|rows| rows % 2 == 0));
        assert_eq!(pieces("a,y\n", 1, 64), [0; 0]);
        let refusing = SCHEMA.replace("invalid = \"drop\"\n", "");
        let schema = Schema::from_toml(&refusing).unwrap();
        assert!(LinesIn::new(text.as_bytes(), &schema).err().unwrap().to_string().contains("drop"));
    }
}
