//! MNIST and Fashion-MNIST, from their IDX files.
//!
//! IDX: four bytes of magic (two zeros, the element type 8 = unsigned byte, the number of
//! dimensions), each dimension as a big-endian `u32`, then the elements.

use super::{CatalogError, Entry, Lines, Split, Task, files::original, sparse};
use privet_data::{
    DataError, Place,
    schema::{ClipDraft, Draft, ImageDraft, Norm, Schema, SchemaError},
};
use std::{io::Write, path::Path};

/// The number of MNIST's training images used, as in the papers' experiments.
const TRAINING_IMAGES: usize = 55_000;

/// The dimensions and elements of an IDX file of bytes.
fn idx(bytes: &[u8], dimensions: usize) -> Option<(Vec<usize>, &[u8])> {
    let (magic, rest) = bytes.split_at_checked(4)?;
    if magic != [0, 0, 8, u8::try_from(dimensions).ok()?] {
        return None;
    }
    let (sizes, elements) = rest.split_at_checked(4 * dimensions)?;
    let sizes: Vec<usize> = sizes
        .chunks_exact(4)
        .map(|size| size.iter().fold(0, |value, byte| value << 8 | usize::from(*byte)))
        .collect();
    let count = sizes.iter().try_fold(1_usize, |count, size| count.checked_mul(*size))?;
    (elements.len() == count).then_some((sizes, elements))
}

/// Both files' images, pooled and split like the other sets, as plain numbers.
pub(super) fn pixels(entry: &Entry, from: &Path) -> Result<Task, CatalogError> {
    let training = if entry.name == "mnist" { TRAINING_IMAGES } else { usize::MAX };
    let (rows, _) = rows(entry, from, training)?;
    Ok(Task { schema: schema()?, header: String::new(), rows, split: Split::Rows })
}

/// All images as plain numbers, none of them clipped, with their published split: for networks.
pub(super) fn published_pixels(entry: &Entry, from: &Path) -> Result<Task, CatalogError> {
    let (rows, training) = rows(entry, from, usize::MAX)?;
    // No image has a larger norm: 784 entries of at most 1.
    let clip = ClipDraft { norm: Norm::L2, radius: 28.0, rows: None };
    let schema = Draft { clip, bias: None, ..Draft::from(schema()?) }.check()?;
    Ok(Task { schema, header: String::new(), rows, split: Split::Published(training) })
}

/// All images as images, with their published split.
pub(super) fn images(entry: &Entry, from: &Path) -> Result<Task, CatalogError> {
    let (rows, training) = rows(entry, from, usize::MAX)?;
    let image = ImageDraft { width: 28, height: 28, ..ImageDraft::default() };
    let schema = Draft { image: Some(image), ..Draft::from(schema()?) }.check()?;
    Ok(Task { schema, header: String::new(), rows, split: Split::Published(training) })
}

fn schema() -> Result<Schema, SchemaError> {
    let classes = (0..10).map(|digit: u8| digit.to_string()).collect();
    sparse::schema(784, Some([0.0, 255.0]), classes)
}

/// The lines of both files, at most `training` of the first, and the number of lines from the first.
/// Written sparse: four pixels in five are blank.
fn rows(entry: &Entry, from: &Path, training: usize) -> Result<(Lines, usize), CatalogError> {
    let mut rows = Lines::default();
    let (mut line, mut first) = (Vec::new(), None);
    for (pair, limit) in entry.files.chunks_exact(2).zip([training, usize::MAX]) {
        let (images, path) = original(entry, &pair[0], from)?;
        let (labels, _) = original(entry, &pair[1], from)?;
        let damaged = || DataError::Damaged { file: Place::Path(path.clone()), format: "IDX" };
        let (sizes, pixels) = idx(&images, 3).ok_or_else(damaged)?;
        let (_, labels) = idx(&labels, 1).ok_or_else(damaged)?;
        if sizes[1..] != [28, 28] || sizes[0] != labels.len() {
            return Err(damaged().into());
        }
        for (image, label) in pixels.chunks_exact(784).zip(labels).take(limit) {
            line.clear();
            line.push(b'0' + label);
            for (index, pixel) in (1..).zip(image).filter(|(_, pixel)| **pixel > 0) {
                // Writing to memory cannot fail.
                let _ = write!(line, " {index}:{pixel}");
            }
            rows.push(&line);
        }
        first = first.or(Some(rows.len()));
    }
    Ok((rows, first.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::idx;

    #[test]
    fn a_cut_or_foreign_file_is_not_idx() {
        let good = [0, 0, 8, 1, 0, 0, 0, 2, 7, 9];
        assert_eq!(idx(&good, 1), Some((vec![2], &[7, 9][..])));
        assert_eq!(idx(&good, 3), None);
        for length in 0..good.len() {
            assert_eq!(idx(&good[..length], 1), None);
        }
        assert_eq!(idx(&[0, 0, 8, 2, 255, 255, 255, 255, 255, 255, 255, 255], 2), None);
    }
}
