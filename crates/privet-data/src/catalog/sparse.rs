//! Sets in sparse text.

use super::{Entry, Lines, Task, files::original};
use crate::{
    error::DataError,
    schema::{ClipDraft, Draft, FileDraft, Format, LibsvmDraft, Schema, SchemaError, TargetDraft},
};
use std::path::Path;

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

/// a9a, with the split it is published with. Its test file stops at feature 122 of 123.
pub(super) fn a9a(entry: &Entry, from: &Path) -> Result<Task, DataError> {
    let schema = schema(123, Some([0.0, 1.0]), vec!["-1".into(), "+1".into()])?;
    let mut rows = Lines::default();
    let mut published_train = None;
    for file in entry.files {
        let (bytes, _) = original(entry, file, from)?;
        let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        lines.filter(|line| !line.is_empty()).for_each(|line| rows.push(line));
        published_train = published_train.or(Some(rows.len()));
    }
    Ok(Task { schema, header: String::new(), rows, published_train })
}
