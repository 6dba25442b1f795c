//! The rows of a schema's columns: decoded in batches whose rows are encoded in parallel, or, where a
//! column is nested, row by row.

use super::super::{clone_place, collect::Collector, fence::catch_panic, lines::LONGEST_RECORD};
use super::cells::{Cells, Fields};
use super::columns::{each_batch, is_flat};
use super::open::{check_sizes, damaged, parquet_error};
use super::{times::units_a_day, unit};
use crate::error::DataError;
use parquet::{errors::ParquetError, file::reader::FileReader, record::Row, schema::types::Type};
use rayon::prelude::*;
use std::ops::Range;

pub(super) fn read_rows(
    described: &Type,
    reader: &dyn FileReader,
    collector: &mut Collector<'_>,
    progress: Option<&dyn Fn(u64, u64)>,
) -> Result<(), DataError> {
    let place = clone_place(collector.place);
    let broken = |error: ParquetError| parquet_error(&place, &error);
    let root = reader.metadata().file_metadata().schema();
    let names: Vec<&[u8]> =
        described.get_fields().iter().map(|field| field.name().as_bytes()).collect();
    let mut layout = collector.layout(&names)?;
    if let Some(column) = layout.unit.map(|position| &described.get_fields()[position])
        && !unit::names_users(column)
    {
        let (file, column) = (clone_place(&place), column.name().into());
        return Err(DataError::UnitType { file, column, accepted: unit::ACCEPTED });
    }
    let total = u64::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(0);

    // Only the wanted columns are decoded, in the file's order; positions then count those.
    let mut keep = collector.keep.and_then(|(_, place)| place);
    let places = [&mut layout.target, &mut layout.unit, &mut keep];
    let places = layout.columns.iter_mut().chain(places);
    let places: Vec<&mut usize> = places.filter_map(Option::as_mut).collect();
    let mut wanted: Vec<usize> = places.iter().map(|place| **place).collect();
    wanted.sort_unstable();
    wanted.dedup();
    for place in places {
        *place = wanted.partition_point(|position| *position < *place);
    }
    if let Some((_, place)) = &mut collector.keep {
        *place = keep;
    }
    check_sizes(reader, &wanted, &place)?;
    let missing = collector.schema.file().missing_values.as_slice();
    let missing_numbers: Vec<f64> = missing.iter().filter_map(|text| text.parse().ok()).collect();
    let dates = collector.schema.columns().iter().filter_map(|column| column.date.as_ref());
    let dates: Vec<&str> = dates.map(|date| date.column.as_str()).collect();
    let unit_of = |position: &usize| {
        let column = &described.get_fields()[*position];
        dates.contains(&column.name()).then(|| units_a_day(column)).flatten()
    };
    let per_day: Vec<Option<i64>> = wanted.iter().map(unit_of).collect();
    let take = |collector: &mut Collector<'_>, number: u64, fields: Fields<'_>| {
        let cells = Cells { fields, missing, missing_numbers: &missing_numbers, per_day: &per_day };
        if cells.length() > LONGEST_RECORD {
            let (file, longest) = (clone_place(&place), LONGEST_RECORD);
            collector.unreadable(|| DataError::TooLong { file, row: number, longest })
        } else {
            collector.record(number, &layout, &cells)
        }
    };
    let told = |number: u64| {
        if let Some(progress) = progress.filter(|_| number.is_multiple_of(1024) || number == total)
        {
            progress(number, total.max(number));
        }
    };
    let mut number = 0_u64;
    let flat = wanted.iter().all(|position| is_flat(&root.get_fields()[*position]));
    if flat && !wanted.is_empty() {
        let broken = |error: Option<ParquetError>| match error {
            Some(error) => parquet_error(&place, &error),
            None => damaged(&place),
        };
        let parts = rayon::current_num_threads().max(1);
        let mut beside: Vec<Collector<'_>> = (0..parts).map_while(|_| collector.beside()).collect();
        return each_batch(reader, &wanted, broken, &mut |batch| {
            let first = number;
            let some = |collector: &mut Collector<'_>, rows: Range<usize>| {
                let mut rows = rows.into_iter();
                rows.try_for_each(|row| {
                    take(collector, first + row as u64 + 1, Fields::Batch(batch, row))
                })
            };
            if beside.is_empty() {
                some(collector, 0..batch.rows())?;
            } else {
                // Encoded in parallel, and merged in order: the first refusal is that of the first row.
                let edge = |part: usize| part * batch.rows() / parts;
                let taken: Vec<_> = beside
                    .par_iter_mut()
                    .enumerate()
                    .map(|(part, one)| catch_panic(|| some(one, edge(part)..edge(part + 1))))
                    .collect();
                for (one, outcome) in beside.iter_mut().zip(taken) {
                    outcome.unwrap_or_else(|| Err(damaged(&place)))?;
                    collector.absorb(one)?;
                }
            }
            number += batch.rows() as u64;
            told(number);
            Ok(())
        });
    }
    let fields = wanted.iter().map(|position| root.get_fields()[*position].clone()).collect();
    let projection = Type::group_type_builder(root.name()).with_fields(fields).build();
    let rows = reader.get_row_iter(Some(projection.map_err(broken)?)).map_err(broken)?;
    for row in rows {
        let row: Row = row.map_err(broken)?;
        number += 1;
        let fields = Fields::Row(row.get_column_iter().map(|(_, field)| field).collect());
        take(collector, number, fields)?;
        told(number);
    }
    Ok(())
}
