//! Ranges and categories of a *public* table's columns, for filling in a schema from it.
//!
//! Nothing here is private, and nothing here may be used on records that are to be protected: it
//! returns the smallest and largest value and every category.

use super::{
    clone_place,
    csv::skip_byte_order_mark,
    open::{Input, KnownBy},
    split::{QuotedRecords, RecordEnd, Records},
};
use crate::{
    error::DataError,
    schema::{DateOrder, FileFacts, Format, is_date},
};
use csv::ByteRecord;
use std::{collections::BTreeSet, path::Path};

/// The largest number of different texts that are kept of a column.
const MOST_KEPT_TEXTS: usize = 64;
/// Texts that count as missing.
const MISSING: [&str; 7] = ["", "?", "NA", "N/A", "NaN", "nan", "null"];

/// The content of one column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnSurvey {
    /// Its name.
    pub name: String,
    /// Cells that are not missing.
    pub cells: u64,
    /// The number of cells that are finite numbers.
    pub numbers: u64,
    /// The smallest and the largest number.
    pub bounds: Option<(f64, f64)>,
    /// The number of cells that are dates, by [`DateOrder`]: year, day or month first.
    pub dates: [u64; 3],
    /// The first and the last day, of dates with the year first.
    pub days: Option<(String, String)>,
    /// The different texts, in order; `None` if there are more than are kept.
    pub texts: Option<BTreeSet<String>>,
    /// The texts met that count as missing.
    pub missing: BTreeSet<String>,
}

impl ColumnSurvey {
    fn see(&mut self, cell: &str) {
        if MISSING.contains(&cell) {
            self.missing.insert(cell.into());
            return;
        }
        self.cells += 1;
        if let Some(value) = cell.parse::<f64>().ok().filter(|value| value.is_finite()) {
            self.numbers += 1;
            let (low, high) = self.bounds.unwrap_or((value, value));
            self.bounds = Some((low.min(value), high.max(value)));
        } else {
            let orders = [DateOrder::Ymd, DateOrder::Dmy, DateOrder::Mdy];
            for (count, order) in self.dates.iter_mut().zip(orders) {
                *count += u64::from(is_date(cell, order));
            }
            if is_date(cell, DateOrder::Ymd) {
                let day = cell.split(['T', ' ']).next().unwrap_or_default().to_string();
                let (first, last) = self.days.take().unwrap_or((day.clone(), day.clone()));
                self.days = Some((first.min(day.clone()), last.max(day)));
            }
        }
        if let Some(texts) = &mut self.texts {
            if texts.len() < MOST_KEPT_TEXTS || texts.contains(cell) {
                texts.insert(cell.into());
            } else {
                self.texts = None;
            }
        }
    }
}

/// Reads a whole public table.
pub fn survey(path: &Path, facts: &FileFacts) -> Result<Vec<ColumnSurvey>, DataError> {
    let input = Input::Path(path);
    let place = input.place();
    if facts.format != Format::Csv {
        return Err(DataError::Unsupported {
            file: place,
            what: "another format than CSV",
            accepted: "a CSV file",
        });
    }
    let mut stream = input.open(KnownBy::Content, None)?;
    skip_byte_order_mark(&mut stream)?;
    let mut records = QuotedRecords::new(stream, facts);
    let mut record = ByteRecord::new();
    let mut columns: Vec<ColumnSurvey> = Vec::new();
    for row in 1_u64.. {
        match records.next(&mut record)? {
            RecordEnd::End => break,
            RecordEnd::Record => {}
            RecordEnd::Blank => continue,
            RecordEnd::Open | RecordEnd::TooLong => {
                return Err(DataError::Damaged { file: clone_place(&place), format: "csv" });
            }
        }
        let cells = record.iter().map(|cell| String::from_utf8_lossy(cell.trim_ascii()));
        if columns.is_empty() {
            columns = cells
                .map(|name| ColumnSurvey {
                    name: name.into_owned(),
                    texts: Some(BTreeSet::new()),
                    ..ColumnSurvey::default()
                })
                .collect();
            continue;
        }
        if record.len() != columns.len() {
            let (found, expected) = (record.len(), columns.len());
            return Err(DataError::Ragged { file: clone_place(&place), row, found, expected });
        }
        for (column, cell) in columns.iter_mut().zip(cells) {
            column.see(&cell);
        }
    }
    Ok(columns)
}
