//! Every row in canonical form, for digests: a column that cannot be decoded does not affect the
//! others.

use super::super::{canonical::RowForm, collect::Record as _, fence::catch_panic, open::Input};
use super::cells::{Cells, Fields};
use super::columns::{each_batch, is_flat};
use super::open::{check_sizes, damaged, open_checked, parquet_error};
use crate::{
    encode::Cell,
    error::{DataError, Place},
};
use parquet::{
    errors::ParquetError,
    file::reader::FileReader,
    record::{Field, Row, reader::RowIter},
    schema::types::Type,
};

/// Passes on every row, in the canonical form of [`super::super::canonical`]. A column that cannot be
/// decoded, which no schema may need, is no reason to refuse the file: its cells are marked, from the
/// first that cannot be decoded.
pub(in super::super) fn raw_rows(
    input: Input<'_>,
    each: &mut dyn FnMut(&[u8]),
) -> Result<(), DataError> {
    let place = input.place();
    let (root, reader) = open_checked(input, &place)?;
    let form = RowForm::new(root.get_fields().iter().map(|field| field.name().as_bytes()));
    let all: Vec<usize> = (0..root.get_fields().len()).collect();
    // By the sizes that the file states, so that the result is the same for every caller.
    let small = |column: &usize| check_sizes(&reader, &[*column], &place).is_ok();
    let small: Vec<usize> = all.iter().copied().filter(small).collect();
    if small.is_empty() {
        check_sizes(&reader, &all, &place)?;
    }
    let (mut done, mut bytes) = (0_u64, Vec::new());
    let flat = root.get_fields().iter().all(|column| is_flat(column));
    let whole = small == all
        && catch_panic(|| -> Result<(), ParquetError> {
            if flat {
                let broken = |error: Option<ParquetError>| {
                    error.unwrap_or_else(|| {
                        ParquetError::General("a column cannot be decoded".into())
                    })
                };
                return each_batch(&reader, &all, broken, &mut |batch| {
                    for row in 0..batch.rows() {
                        let fields: Vec<_> = all.iter().map(|at| batch.cell(row, *at)).collect();
                        write_raw(&form, &fields, &mut bytes);
                        each(&bytes);
                        done += 1;
                    }
                    Ok(())
                });
            }
            for row in reader.get_row_iter(None)? {
                let row: Row = row?;
                let fields: Vec<_> = row.get_column_iter().map(|(_, field)| Some(field)).collect();
                write_raw(&form, &fields, &mut bytes);
                each(&bytes);
                done += 1;
            }
            Ok(())
        })
        .is_some_and(|outcome| outcome.is_ok());
    if whole { Ok(()) } else { raw_by_column(&reader, &small, done, &form, &place, each) }
}

/// The rows after the first `done`, each column decoded on its own, so that one that fails does not
/// affect the others.
fn raw_by_column(
    reader: &dyn FileReader,
    small: &[usize],
    done: u64,
    form: &RowForm,
    place: &Place,
    each: &mut dyn FnMut(&[u8]),
) -> Result<(), DataError> {
    let root = reader.metadata().file_metadata().schema();
    let rows_of = |column: usize| {
        let fields = vec![root.get_fields()[column].clone()];
        let projection = Type::group_type_builder(root.name()).with_fields(fields).build()?;
        reader.get_row_iter(Some(projection))
    };
    let mut why = None;
    let mut columns: Vec<Option<RowIter<'_>>> = (0..root.get_fields().len())
        .map(|column| {
            match small.contains(&column).then(|| catch_panic(|| rows_of(column))).flatten() {
                Some(Ok(rows)) => Some(rows),
                Some(Err(error)) => {
                    why = Some(parquet_error(place, &error));
                    None
                }
                None => None,
            }
        })
        .collect();
    let total = u64::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(0);
    let mut bytes = Vec::new();
    for number in 0..total {
        let mut row: Vec<Option<Row>> = Vec::with_capacity(columns.len());
        for column in &mut columns {
            let next = column.as_mut().and_then(|rows| catch_panic(|| rows.next()).flatten());
            match next {
                Some(Ok(cell)) => row.push(Some(cell)),
                Some(Err(error)) => {
                    why = Some(parquet_error(place, &error));
                    row.push(None);
                }
                None => row.push(None),
            }
            if row.last().is_some_and(Option::is_none) {
                *column = None;
            }
        }
        if row.iter().all(Option::is_none) {
            return Err(why.unwrap_or_else(|| damaged(place)));
        }
        if number >= done {
            let fields: Vec<Option<&Field>> = row
                .iter()
                .map(|row| row.as_ref()?.get_column_iter().next().map(|(_, field)| field))
                .collect();
            write_raw(form, &fields, &mut bytes);
            each(&bytes);
        }
    }
    Ok(())
}

/// Writes a row in canonical form; a cell that could not be decoded is marked as of an unsupported
/// type.
fn write_raw(form: &RowForm, fields: &[Option<&Field>], bytes: &mut Vec<u8>) {
    let day = |field: &Option<&Field>| match field {
        // The text of the date, as in a text file.
        Some(Field::Date(days)) => u64::try_from(*days)
            .ok()
            .map(|days| privet_core::timestamp(days * 86_400)[..10].to_string()),
        _ => None,
    };
    let days: Vec<Option<String>> = fields.iter().map(day).collect();
    let null = Field::Null;
    let known = fields.iter().map(|field| field.unwrap_or(&null)).collect();
    let cells =
        Cells { fields: Fields::Row(known), missing: &[], missing_numbers: &[], per_day: &[] };
    form.write(bytes, |place| match (days.get(place), fields.get(place)) {
        (Some(Some(day)), _) => Cell::Text(day.as_bytes()),
        (_, Some(None)) => Cell::Unsupported,
        _ => cells.cell(place),
    });
}
