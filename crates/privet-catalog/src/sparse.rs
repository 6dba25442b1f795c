//! Sets in sparse text.

use super::{
    CatalogError, Entry, Lines, Split, Task, columns::cells, files::original, tables::COD_RNA,
};
use privet_data::{
    DataError, Place,
    schema::{ClipDraft, Draft, FileDraft, Format, LibsvmDraft, Schema, SchemaError, TargetDraft},
};
use std::{io::Write, path::Path};

pub(super) fn schema(
    features: u32,
    bounds: Option<[f64; 2]>,
    classes: Vec<String>,
) -> Result<Schema, SchemaError> {
    let draft = Draft {
        file: FileDraft { format: Some(Format::Libsvm), ..FileDraft::default() },
        clip: ClipDraft::default(),
        target: TargetDraft { classes: Some(classes), ..TargetDraft::default() },
        libsvm: Some(LibsvmDraft { features, bounds }),
        ..Draft::default()
    };
    draft.check()
}

/// A set in sparse text, with its published split. All values are in [0, 1]. The test file of a9a stops
/// at feature 122 of 123.
pub(super) fn load_published(entry: &Entry, from: &Path) -> Result<Task, CatalogError> {
    let schema = schema(entry.columns as u32, Some([0.0, 1.0]), vec!["-1".into(), "+1".into()])?;
    let mut rows = Lines::default();
    let mut training = None;
    for file in entry.files {
        let (bytes, _) = original(entry, file, from)?;
        let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        lines.filter(|line| !line.is_empty()).for_each(|line| rows.push(line));
        training = training.or(Some(rows.len()));
    }
    let split = training.map_or(Split::Rows, Split::Published);
    Ok(Task { schema, header: String::new(), rows, split })
}

/// Cod-RNA followed by columns of zeros: the first eight columns are those of `cod-rna`, scaled to
/// [0, 1] by the same bounds, and rows are split alike.
pub(super) fn cod_rna_with_zeros(entry: &Entry, from: &Path) -> Result<Task, CatalogError> {
    let schema = schema(entry.columns as u32, Some([0.0, 1.0]), vec!["-1".into(), "1".into()])?;
    let (bytes, path) = original(entry, &entry.files[0], from)?;
    let damaged = || DataError::Damaged { file: Place::Path(path.clone()), format: "original" };
    let (mut rows, mut line) = (Lines::default(), Vec::new());
    for cells in cells(&bytes, b',', COD_RNA.len() + 1, &path) {
        let cells = cells?;
        line.clear();
        line.extend_from_slice(cells[0]);
        for ((cell, (_, low, high)), index) in cells[1..].iter().zip(COD_RNA).zip(1..) {
            let text = std::str::from_utf8(cell).map_err(|_| damaged())?;
            let value: f64 = text.parse().map_err(|_| damaged())?;
            let scaled = (value.clamp(low, high) - low) / (high - low);
            // Writing to memory cannot fail.
            let _ = write!(line, " {index}:{scaled}");
        }
        rows.push(&line);
    }
    Ok(Task { schema, header: String::new(), rows, split: Split::Rows })
}
