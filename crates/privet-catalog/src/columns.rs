//! Columns, schemas and cells, shared by the sets that are tables.

use super::{Lines, Split, Task};
use privet_data::{
    DataError, Place,
    schema::{
        BasisDraft, ClipDraft, ColumnDraft, ColumnType, Draft, MissingDraft, Scale, Schema,
        SchemaError, TargetDraft, Transform,
    },
};
use std::path::Path;

pub(super) fn number(name: &str, low: f64, high: f64) -> ColumnDraft {
    ColumnDraft {
        name: name.into(),
        kind: ColumnType::Number,
        bounds: Some([low, high]),
        scale: Some(Scale::Unit),
        // Methods chosen by name get the papers' columns; the default may expand them in a basis.
        basis: Some(BasisDraft::Word("auto".into())),
        ..ColumnDraft::default()
    }
}

pub(super) fn logarithm(name: &str, high: f64) -> ColumnDraft {
    ColumnDraft { transform: Some(Transform::Log1p), ..number(name, 0.0, high) }
}

pub(super) fn binary(name: &str) -> ColumnDraft {
    ColumnDraft { name: name.into(), kind: ColumnType::Binary, ..ColumnDraft::default() }
}

pub(super) fn binary_of(name: &str, values: [&str; 2]) -> ColumnDraft {
    ColumnDraft { values: Some(values.map(String::from)), ..binary(name) }
}

/// The column, with an indicator of missing cells.
pub(super) fn missing_as_category(column: ColumnDraft) -> ColumnDraft {
    ColumnDraft { missing: Some(MissingDraft::Word("category".into())), ..column }
}

/// A category with its values separated by blanks.
pub(super) fn category(name: &str, values: &str) -> ColumnDraft {
    ColumnDraft {
        name: name.into(),
        kind: ColumnType::Category,
        categories: Some(values.split_whitespace().map(String::from).collect()),
        ..ColumnDraft::default()
    }
}

pub(super) fn schema(
    target: &str,
    classes: &[&str],
    columns: Vec<ColumnDraft>,
) -> Result<Schema, SchemaError> {
    draft(target, classes, columns).of_file().check()
}

pub(super) fn draft(target: &str, classes: &[&str], columns: Vec<ColumnDraft>) -> Draft {
    Draft {
        clip: ClipDraft::default(),
        target: TargetDraft {
            column: Some(target.into()),
            classes: Some(classes.iter().map(|class| (*class).into()).collect()),
            ..TargetDraft::default()
        },
        columns,
        ..Draft::default()
    }
}

/// The header of a table: the schema's columns, then the target.
pub(super) fn header(schema: &Schema) -> String {
    let names = schema.columns().iter().map(|column| column.name.as_str());
    names.chain([schema.target().column.as_str()]).collect::<Vec<_>>().join(",")
}

pub(super) fn task(schema: Schema, rows: Lines) -> Task {
    Task { header: header(&schema), schema, rows, split: Split::Rows }
}

/// Cells of each line, blanks removed; lines with another number of cells are refused.
pub(super) fn cells<'a>(
    bytes: &'a [u8],
    separator: u8,
    count: usize,
    path: &Path,
) -> impl Iterator<Item = Result<Vec<&'a [u8]>, DataError>> {
    let place = Place::Path(path.into());
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty() && !line.starts_with(b"|")).map(move |line| {
        let cells: Vec<&[u8]> =
            line.split(|byte| *byte == separator).map(<[u8]>::trim_ascii).collect();
        if cells.len() == count {
            Ok(cells)
        } else {
            Err(DataError::Damaged { file: place.clone(), format: "original" })
        }
    })
}
