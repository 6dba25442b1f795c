//! The header of a table, read alone: for writing a schema before any record is read.

use super::{
    clone_place,
    csv::skip_byte_order_mark,
    lines::{LONGEST_RECORD, Line, next_line},
    open::{Input, KnownBy},
};
use crate::{
    error::DataError,
    schema::{DateOrder, FileFacts, Format, is_date},
};
use std::{collections::HashMap, path::Path};

/// Accepted separators, the most common first.
pub const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The first line of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// The names of its columns.
    pub names: Vec<String>,
    /// The layout of the file, as far as its name and its header show it.
    pub file: FileFacts,
}

/// A reason to doubt that a first line is a header. Its words could then be a person's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderDoubt {
    /// A name that is a number.
    Number,
    /// A name that is a date.
    Date,
    /// A name that is empty.
    Empty,
    /// A name that occurs twice.
    Repeated,
}

impl std::fmt::Display for HeaderDoubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Number => "a number",
            Self::Date => "a date",
            Self::Empty => "empty",
            Self::Repeated => "there twice",
        })
    }
}

impl Header {
    /// Reads the header of a file: its first line that is not empty, or a Parquet file's names. Of
    /// several separators, takes the one that gives the most columns.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let mut file = FileFacts::by_name(path);
        let input = Input::Path(path);
        let place = input.place();
        match file.format {
            Format::Libsvm => Err(DataError::Unsupported {
                file: place,
                what: "a sparse file, whose columns have no names",
                accepted: "a file with a header: CSV or Parquet",
            }),
            #[cfg(feature = "parquet")]
            Format::Parquet => Ok(Self { names: super::parquet::names(input)?, file }),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => Err(DataError::NotBuilt { file: place, format: "parquet" }),
            Format::Csv => {
                let mut stream = input.open(KnownBy::Content, None)?;
                skip_byte_order_mark(&mut stream)?;
                let mut line = Vec::new();
                while line.trim_ascii().is_empty() {
                    let found = next_line(&mut stream.bytes, &mut line, LONGEST_RECORD, false);
                    match found.map_err(|error| stream.origin.failed(error))? {
                        Line::End => return Err(DataError::Empty { file: clone_place(&place) }),
                        Line::TooLong => {
                            let (file, longest) = (clone_place(&place), LONGEST_RECORD);
                            return Err(DataError::TooLong { file, row: 1, longest });
                        }
                        Line::Whole => {}
                    }
                }
                let text = String::from_utf8(line)
                    .map_err(|_| DataError::NotText { file: clone_place(&place) })?;
                let named = path.to_string_lossy().to_ascii_lowercase().contains(".tsv");
                let first = if named { b'\t' } else { b',' };
                let names = |separator: u8| split_line(&text, separator);
                let mut best = first;
                for separator in SEPARATORS {
                    if names(separator).len() > names(best).len() {
                        best = separator;
                    }
                }
                file.separator = best;
                Ok(Self { names: names(best), file })
            }
        }
    }

    /// The reasons to doubt that this is a header, each with the position of the name, from 1.
    pub fn doubts(&self) -> Vec<(usize, HeaderDoubt)> {
        let mut times: HashMap<&str, usize> = HashMap::new();
        self.names.iter().for_each(|name| *times.entry(name).or_default() += 1);
        let dated = |name: &str| {
            [DateOrder::Ymd, DateOrder::Dmy, DateOrder::Mdy].iter().any(|o| is_date(name, *o))
        };
        let header_doubt = |name: &String| match name.as_str() {
            "" => Some(HeaderDoubt::Empty),
            name if name.parse::<f64>().is_ok() => Some(HeaderDoubt::Number),
            name if dated(name) => Some(HeaderDoubt::Date),
            name if times[name] > 1 => Some(HeaderDoubt::Repeated),
            _ => None,
        };
        let found = self.names.iter().enumerate();
        found
            .filter_map(|(place, name)| {
                header_doubt(name).map(|header_doubt| (place + 1, header_doubt))
            })
            .collect()
    }
}

/// The cells of one line.
fn split_line(line: &str, separator: u8) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(line.as_bytes());
    let mut record = csv::StringRecord::new();
    match reader.read_record(&mut record) {
        Ok(true) => record.iter().map(|cell| cell.trim().to_string()).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, text: &str) -> Header {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        Header::read(&path).unwrap()
    }

    #[test]
    fn the_separator_is_found_by_the_header() {
        for (text, separator) in [
            ("age,ward,y\n1;2;3;4,5,6\n", b','),
            ("age;ward;\"a,b\"\n", b';'),
            ("age\tward\ty\n", b'\t'),
            ("\u{feff}age|ward|y\r\n", b'|'),
            ("age\n", b','),
        ] {
            let found = header("t.csv", text);
            assert_eq!(
                (found.file.separator, found.names[0].as_str()),
                (separator, "age"),
                "{text}"
            );
        }
        assert_eq!(header("t.csv", "age;ward;\"a,b\"\n").names[2], "a,b");
    }

    #[test]
    fn a_line_that_may_be_a_record_is_doubted() {
        for (text, doubts) in [
            ("age,ward\n", vec![]),
            ("41,ward\n", vec![(1, HeaderDoubt::Number)]),
            ("name,2024-03-05\n", vec![(2, HeaderDoubt::Date)]),
            ("name,05.03.2024\n", vec![(2, HeaderDoubt::Date)]),
            ("name,,x\n", vec![(2, HeaderDoubt::Empty)]),
            ("a,b,a\n", vec![(1, HeaderDoubt::Repeated), (3, HeaderDoubt::Repeated)]),
        ] {
            assert_eq!(header("t.csv", text).doubts(), doubts, "{text}");
        }
    }
}
