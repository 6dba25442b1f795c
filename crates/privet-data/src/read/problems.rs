//! All problems of a table under its schema, in one pass: positions and kinds, never a cell's content.
//!
//! For the holder of the table, to correct the schema. Derived from private records: it goes to the
//! terminal and nowhere else.

use super::{ReadOptions, collect, collect::Collector, open::Input};
use crate::{encode::Encoding, error::DataError, schema::Schema};
use std::{fmt, path::Path};

/// Rows listed for each kind of problem.
const NAMED: usize = 5;
/// The largest number of kinds that are kept; further kinds are left out.
const MOST_KINDS: usize = 1000;

/// One kind of problem in one column.
#[derive(Clone, PartialEq)]
pub struct TableProblem {
    /// The problem and the accepted values, without the row.
    pub words: String,
    /// The first rows affected; the first of the file, header included, is 1. Empty for a problem of
    /// the header.
    pub rows: Vec<u64>,
    /// The number of cells or rows affected.
    pub count: u64,
}

impl fmt::Display for TableProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)?;
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows: Vec<String> = self.rows.iter().map(u64::to_string).collect();
        let more = if self.count as usize > rows.len() { ", …" } else { "" };
        let times = if self.count == 1 { String::new() } else { format!("{} times: ", self.count) };
        write!(f, " ({times}row {}{more})", rows.join(", "))
    }
}

impl fmt::Debug for TableProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TableProblem(withheld)")
    }
}

/// Problems that a collector noted instead of stopping at the first.
#[derive(Default)]
pub(super) struct Notes {
    found: Vec<TableProblem>,
}

impl Notes {
    /// Notes a problem, with its row if it has one.
    pub(super) fn note(&mut self, error: &DataError) {
        let (words, row) = match error {
            DataError::Cell { row, column, problem, accepted, .. } => {
                (format!("{column}: {problem}; accepted: {accepted}"), Some(*row))
            }
            DataError::Ragged { row, found, expected, .. } => {
                (format!("{found} cells; {expected} are accepted"), Some(*row))
            }
            DataError::TooLong { row, longest, .. } => {
                (format!("longer than {longest} bytes"), Some(*row))
            }
            error => (error.to_string(), None),
        };
        let place = self.found.iter().position(|known| known.words == words);
        match place {
            Some(place) => {
                let known = &mut self.found[place];
                known.count += 1;
                if known.rows.len() < NAMED {
                    known.rows.extend(row);
                }
            }
            None if self.found.len() < MOST_KINDS => {
                let rows = row.into_iter().collect();
                self.found.push(TableProblem { words, rows, count: 1 });
            }
            None => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }
}

/// All problems of a training table in one file; none exactly if [`super::read`] accepts it.
pub fn problems(
    path: impl AsRef<Path>,
    schema: &Schema,
    options: &ReadOptions<'_>,
) -> Result<Vec<TableProblem>, DataError> {
    let input = Input::Path(path.as_ref());
    let pixels = schema.of_pixels();
    let schema = pixels.as_ref().unwrap_or(schema);
    let (encoding, place) = (Encoding::new(schema), input.place());
    let mut collector = Collector::labelled(schema, &encoding, &place, options);
    collector.notes = Some(Notes::default());
    let outcome = collect(input, schema.file().format, &mut collector, options);
    let notes = collector.notes.take().unwrap_or_default();
    match outcome {
        // The error that ended the reading is among the notes, or is the only one.
        Err(_) if !notes.is_empty() => Ok(notes.found),
        Err(error) => Err(error),
        Ok(()) => Ok(notes.found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SMALL_SCHEMA;

    fn all(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, text).unwrap();
        let schema = Schema::from_toml(SMALL_SCHEMA).unwrap();
        let found = problems(&path, &schema, &ReadOptions::default()).unwrap();
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn all_problems_come_at_once_with_places_and_no_values() {
        let schema = Schema::from_toml(SMALL_SCHEMA).unwrap();
        let target = &schema.target().column;
        let classes = schema.classes().unwrap();
        let mut text = format!("age,work,town,smokes,{target}\n");
        text += &format!("41,private,york,no,{}\n", classes[0]);
        text += &format!("SECRET,private,york,SECRET,{}\n", classes[0]);
        text += "SECRET,private,york,no,SECRET\n";
        text += "1,private\n";
        let found = all(&text);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found.iter().all(|words| !words.contains("SECRET")), "{found:?}");
        assert!(found[0].contains("age") && found[0].contains("2 times: row 3, 4"), "{found:?}");
        assert!(found[3].contains("row 5"), "{found:?}");
        let found = all(&format!("age,town,smokes,{target},extra,more\n"));
        assert_eq!(found.len(), 3, "a column is missing, and two are not in the schema: {found:?}");
    }
}
