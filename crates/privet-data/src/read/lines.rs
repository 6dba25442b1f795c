//! Physical lines in bounded memory.

use std::io::{self, BufRead};

/// The largest size of a record in bytes, in every reader. A longer record is refused, or becomes the
/// null record where the schema says so; it is never held in memory.
pub const LONGEST_RECORD: usize = 1 << 24;

/// The outcome of reading a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// The stream is at its end.
    End,
    /// A line, without its ending.
    Whole,
    /// More bytes than are accepted.
    TooLong,
}

/// Reads up to the next `\n` into `line`, without it and without one `\r` before it. Keeps nothing of a
/// line that is too long; skips the rest of it if `pass_over`, and leaves it otherwise.
pub(super) fn next_line(
    bytes: &mut dyn BufRead,
    line: &mut Vec<u8>,
    longest: usize,
    pass_over: bool,
) -> io::Result<Line> {
    line.clear();
    let (mut started, mut too_long) = (false, false);
    loop {
        let piece = match bytes.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = piece.iter().position(|byte| *byte == b'\n');
        let found = &piece[..end.unwrap_or(piece.len())];
        let last = end.is_some() || piece.is_empty();
        started |= !piece.is_empty();
        too_long |= line.len() + found.len() > longest;
        if too_long {
            line.clear();
        } else {
            line.extend_from_slice(found);
        }
        let used = found.len() + usize::from(end.is_some());
        bytes.consume(used);
        if too_long && (last || !pass_over) {
            return Ok(Line::TooLong);
        }
        if last {
            line.pop_if(|byte| *byte == b'\r');
            return Ok(if started { Line::Whole } else { Line::End });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::BufReader;

    /// All lines of a text, `None` for one that is too long; the buffer is small, so that lines cross
    /// its end.
    fn lines(text: &[u8], longest: usize) -> Vec<Option<Vec<u8>>> {
        let mut bytes = BufReader::with_capacity(3, text);
        let (mut line, mut found) = (Vec::new(), Vec::new());
        loop {
            match next_line(&mut bytes, &mut line, longest, true).unwrap() {
                Line::End => return found,
                Line::Whole => found.push(Some(line.clone())),
                Line::TooLong => found.push(None),
            }
        }
    }

    #[test]
    fn what_ends_a_line_is_not_in_it() {
        let line = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(lines(b"", 9), []);
        assert_eq!(lines(b"a", 9), [line("a")]);
        assert_eq!(lines(b"a\r\n\nb\rc\n", 9), [line("a"), line(""), line("b\rc")]);
    }

    proptest! {
        /// One entry per line, whatever they hold: one that is too long does not affect its neighbours.
        #[test]
        fn a_line_depends_on_its_own_bytes_alone(
            texts in prop::collection::vec("[ab\r,\"]{0,12}", 1..8),
            longest in 0..12_usize,
        ) {
            let text: String = texts.iter().map(|text| format!("{text}\n")).collect();
            let expected: Vec<Option<Vec<u8>>> = texts
                .iter()
                .map(|text| (text.len() <= longest).then_some(text))
                .map(|text| Some(text?.strip_suffix('\r').unwrap_or(text?).as_bytes().to_vec()))
                .collect();
            prop_assert_eq!(lines(text.as_bytes(), longest), expected);
        }
    }
}
