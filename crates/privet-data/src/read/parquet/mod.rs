//! Parquet files.
//!
//! Flat columns are decoded column by column (`columns`) and their rows encoded in parallel (`rows`),
//! nested ones row by row. Numbers and texts are taken as stored; a null is a missing cell (`cells`).
//! Only the columns that the schema needs are decoded. The decoder is fenced: its errors and panics
//! alike mean a damaged file. Rows are numbered from 1. The memory for decoding is bounded (`open`): a
//! column of one row group holds at most [`LARGEST_CHUNK`](open::LARGEST_CHUNK) bytes, by the file's
//! own statement, and the texts of a row [`LONGEST_RECORD`](super::lines::LONGEST_RECORD).

mod canonical;
mod cells;
mod columns;
mod nesting;
mod open;
mod rows;
mod times;
mod unit;

pub(super) use canonical::raw_rows;

use self::open::{check_nesting, damaged, open, open_checked, parquet_error};
use super::{clone_place, collect::Collector, fence::catch_panic, open::Input};
use crate::error::DataError;
use parquet::file::reader::FileReader;
use std::{fs::File, io::Cursor};

/// Reads the columns that the collector's schema needs.
pub(super) fn read(
    input: Input<'_>,
    collector: &mut Collector<'_>,
    progress: Option<&dyn Fn(u64, u64)>,
) -> Result<(), DataError> {
    let place = clone_place(collector.place);
    let outcome = catch_panic(|| match input {
        Input::Path(path) => {
            let failed = |source| DataError::File { file: clone_place(&place), source };
            let mut file = File::open(path).map_err(failed)?;
            check_nesting(&mut file, &place)?;
            let (root, reader) = open(file).map_err(|e| parquet_error(&place, &e))?;
            rows::read_rows(&root, &reader, collector, progress)
        }
        Input::Bytes(bytes) => {
            check_nesting(&mut Cursor::new(bytes), &place)?;
            let bytes = bytes::Bytes::copy_from_slice(bytes);
            let (root, reader) = open(bytes).map_err(|e| parquet_error(&place, &e))?;
            rows::read_rows(&root, &reader, collector, progress)
        }
    });
    outcome.unwrap_or_else(|| Err(damaged(&place)))
}

/// The number of rows that a file's footer states: no column is decoded.
pub(super) fn count(input: Input<'_>) -> Result<u64, DataError> {
    let place = input.place();
    let (_, reader) = open_checked(input, &place)?;
    let mut groups = reader.metadata().row_groups().iter();
    let rows = groups
        .try_fold(0_u64, |rows, group| rows.checked_add(u64::try_from(group.num_rows()).ok()?));
    rows.ok_or_else(|| damaged(&place))
}

/// The names of a file's columns.
pub(super) fn names(input: Input<'_>) -> Result<Vec<String>, DataError> {
    let place = input.place();
    let (root, _) = open_checked(input, &place)?;
    Ok(root.get_fields().iter().map(|field| field.name().to_string()).collect())
}
