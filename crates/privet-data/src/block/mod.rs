//! Encoded rows in a plain file: blocks of rows, then a table of contents.
//!
//! The rows are those of the readers, clipped and truncated, with their targets and units. The file is
//! as private as the table: only its owner can read it. A file that ends without its table of contents
//! was not finished and is refused; so is one whose bytes changed, one of an earlier format, and one
//! that lies under another name than it was written under. The name identifies the rows ([`Cache`]: of
//! which file of which table, in which state, encoded by which schema), so the table of contents holds
//! it and its checksum covers it.
//!
//! ```text
//! block 0 | block 1 | … | table of contents (JSON) | its checksum (u64) | its length (u64) | "privet-rows-4\n"
//! ```
//! Within a block, little-endian: sparse rows have the length of each row (u32), columns (u32) and
//! values (f32), dense rows the values; then targets (u32 codes or f64), then units (u64) if there are
//! any.
//!
//! - [`BlockFiles`]: several files as one table.
//! - [`Cache`]: the files of a table that does not fit into memory, made once and reused.

mod bytes;
mod cache;
mod folder;
mod print;
mod read;
mod several;
mod write;

pub use bytes::{from_bytes, print_of, to_bytes};
pub use cache::{Cache, CacheRetention, Encoded, tidy_all};
pub use print::print_of_rows;
pub use read::BlockFile;
pub use several::BlockFiles;
pub use write::BlockWriter;

use serde::{Deserialize, Serialize};
use std::path::Path;

/// The last bytes of a finished file.
const MAGIC: &[u8; 14] = b"privet-rows-4\n";

/// Last bytes of earlier formats: their checksums missed some changes (pairs of signs), and their
/// tables of contents had neither a checksum nor a name. Such files are made again.
const EARLIER_ENDINGS: [&[u8; 14]; 3] =
    [b"privet-rows-1\n", b"privet-rows-2\n", b"privet-rows-3\n"];

/// The largest size of a table of contents in bytes, to write or to read: that of some 3·10¹⁰ rows.
const LARGEST_CONTENTS: u64 = 1 << 30;

/// The largest size of a block's entry in it, in bytes.
const LONGEST_ENTRY: u64 = 128;

/// The prefix of the name of a file that is being written.
const UNFINISHED_PREFIX: &str = ".half-";

/// Rows per block.
pub const BLOCK_ROWS: usize = 4096;

/// The reason a file of rows could not be written or read. Names the file, never a value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlockError {
    /// The operating system refused.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is not a file of rows, was truncated, or was changed.
    #[error("{path}: {what}; encode the table again")]
    Damaged {
        /// The file.
        path: String,
        /// The problem.
        what: &'static str,
    },
    /// Rows do not fit on the disk.
    #[error(
        "{folder}: the disk is full, and encoded rows need {needed} bytes more; free as many, or name another \
         folder"
    )]
    Full {
        /// The folder.
        folder: String,
        /// The approximate number of missing bytes.
        needed: u64,
    },
    /// A folder for encoded rows exists already, and others than its owner may enter it.
    #[error(
        "{folder}: {what}, so that others may see or plant encoded rows; remove it, or name another folder"
    )]
    NotOwn {
        /// The folder.
        folder: String,
        /// The problem.
        what: &'static str,
    },
    /// Another process encodes the same table in the same place.
    #[error("{folder}: another privet is writing there; wait for it, or name another folder")]
    InUse {
        /// The folder.
        folder: String,
    },
    /// More rows than one file can hold.
    #[error("{path}: a file of rows holds {most} of them at most; give the table as several files")]
    TooLong {
        /// The file.
        path: String,
        /// The largest accepted number.
        most: u64,
    },
    /// Pieces of rows differ in kind.
    #[error("rows of another kind than those before: {what}")]
    Mixed {
        /// The difference.
        what: &'static str,
    },
}

/// The kind of rows in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    columns: usize,
    sparse: bool,
    /// The number of classes; `None` for numbers.
    classes: Option<usize>,
    units: bool,
}

/// One block in the table of contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    offset: u64,
    bytes: u64,
    rows: usize,
    /// Stored entries of a sparse block.
    entries: usize,
    checksum: u64,
}

/// The table of contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    /// The name that the file was written under.
    name: String,
    kind: Kind,
    rows: usize,
    blocks: Vec<Entry>,
}

/// The name that a file's table of contents must hold.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// XXH3 of 64 bits: detects damage, not deceit.
fn checksum(bytes: &[u8]) -> u64 {
    twox_hash::XxHash3_64::oneshot(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{CsrMatrix, DenseMatrix, Matrix};
    use crate::{Dataset, Target};

    fn dataset(sparse: bool, rows: usize, numbers: bool, units: bool) -> Dataset {
        let features = if sparse {
            let starts = (0..=rows).map(|row| row / 2).collect();
            let entries = rows / 2;
            let indices = (0..entries).map(|k| k as u32 % 7).collect();
            Matrix::Csr(CsrMatrix::new(starts, indices, vec![0.25; entries], 7))
        } else {
            let values = (0..rows * 3).map(|k| k as f32 / 4096.0).collect();
            Matrix::Dense(DenseMatrix::new(values, rows, 3))
        };
        let target = if numbers {
            Target::Number((0..rows).map(|k| k as f64 / rows.max(1) as f64).collect())
        } else {
            Target::Class { codes: (0..rows).map(|k| k as u32 % 5).collect(), count: 5 }
        };
        let units = units.then(|| (0..rows as u64).map(|k| k * k).collect());
        Dataset { features, target, units, report: Default::default() }
    }

    fn same(a: &Dataset, b: &Dataset) -> bool {
        let features =
            (0..a.rows()).all(|row| a.features.dense_row(row) == b.features.dense_row(row));
        a.rows() == b.rows() && features && a.target == b.target && a.units == b.units
    }

    #[test]
    fn rows_come_back_as_they_were_whole_or_in_part() {
        let folder = tempfile::tempdir().unwrap();
        for (sparse, rows) in [(false, 0), (true, 1), (false, 9000), (true, 10_000)] {
            let data = dataset(sparse, rows, sparse, !sparse);
            let path = folder.path().join(format!("{rows}.rows"));
            let mut writer = BlockWriter::create(&path).unwrap();
            // For every partition into pieces.
            for start in (0..rows).step_by(1234) {
                let places: Vec<usize> = (start..rows.min(start + 1234)).collect();
                writer.push(&data.select(&places)).unwrap();
            }
            if rows == 0 {
                writer.push(&data).unwrap();
            }
            writer.finish().unwrap();
            let file = BlockFile::open(&path).unwrap();
            assert_eq!(file.rows(), rows);
            assert!(same(&file.piece(0..rows).unwrap(), &data));
            for range in [0..rows / 3, rows / 3..rows, rows / 2..rows / 2] {
                let places: Vec<usize> = range.clone().collect();
                assert!(same(&file.piece(range).unwrap(), &data.select(&places)));
            }
            let some: Vec<usize> = (0..rows).step_by(977).collect();
            assert!(same(&file.rows_at(&some).unwrap(), &data.select(&some)));
            // In portions, across blocks, from the middle.
            let files = BlockFiles::open(&[&path, &path]).unwrap();
            let twice: Vec<usize> = (0..rows).chain(0..rows).collect();
            for at_a_time in [1, 700, 5000, 30_000] {
                let (mut next, end) = (rows / 3, 2 * rows - rows / 7);
                let seen = files.portions::<BlockError>(
                    next..end,
                    at_a_time.max(rows / 100),
                    &mut |some| {
                        let full = at_a_time.max(rows / 100).min(end - next);
                        assert_eq!(some.rows(), full);
                        assert!(same(some, &data.select(&twice[next..next + full])));
                        next += full;
                        Ok(())
                    },
                );
                assert!(seen.is_ok() && next == end);
            }
        }
    }

    #[test]
    fn a_file_that_is_cut_or_changed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.rows");
        let mut writer = BlockWriter::create(&path).unwrap();
        writer.push(&dataset(false, 5000, false, false)).unwrap();
        // Pieces of another kind are refused.
        assert!(writer.push(&dataset(true, 5, false, false)).is_err());
        writer.finish().unwrap();
        let whole = std::fs::read(&path).unwrap();
        for cut in [0, 1, 13, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert!(matches!(BlockFile::open(&path), Err(BlockError::Damaged { .. })), "{cut}");
        }
        for place in [0, 20_000, whole.len() - 300, whole.len() - 20, whole.len() - 5] {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            std::fs::write(&path, &changed).unwrap();
            let refused = BlockFile::open(&path).and_then(|file| file.piece(0..5000)).is_err();
            assert!(refused, "byte {place} of {}", whole.len());
        }
        // Numbers far too large in the table of contents are damage, not an overflow.
        let huge = format!(
            r#"{{"name":"table.rows","kind":{{"columns":{0},"sparse":false,"classes":2,"units":true}},"rows":{0},"blocks":[{{"offset":0,"bytes":{0},"rows":{0},"entries":{0},"checksum":0}}]}}"#,
            u64::MAX
        );
        let mut forged = huge.clone().into_bytes();
        forged.extend(checksum(huge.as_bytes()).to_le_bytes());
        forged.extend((huge.len() as u64).to_le_bytes());
        forged.extend(MAGIC);
        std::fs::write(&path, forged).unwrap();
        let words = BlockFile::open(&path).unwrap_err().to_string();
        assert!(words.contains("its table of contents does not add up"), "{words}");
        // A file that was dropped unfinished leaves nothing behind.
        let begun = folder.path().join("begun.rows");
        let mut writer = BlockWriter::create(&begun).unwrap();
        writer.push(&dataset(false, 9000, false, false)).unwrap();
        drop(writer);
        assert!(!begun.exists());
    }

    /// The reference values of XXH3 (64 bits, seed 0), and changes of signs, which a hash without
    /// rotation misses in pairs.
    #[test]
    fn the_checksum_is_xxh3_and_sees_pairs_of_signs() {
        assert_eq!(checksum(b""), 0x2d06_8005_38d3_94c2);
        let block = dataset(false, 40, false, false);
        let (bytes, _) = super::write::block(&block, 0, 40);
        let whole = checksum(&bytes);
        for one in (3..bytes.len()).step_by(4) {
            for other in (one + 4..bytes.len()).step_by(4) {
                let mut changed = bytes.clone();
                changed[one] ^= 0x80;
                changed[other] ^= 0x80;
                assert_ne!(checksum(&changed), whole, "signs at {one} and {other}");
            }
        }
    }

    #[test]
    fn a_file_under_anothers_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for (name, rows) in [("one.rows", 10), ("other.rows", 12)] {
            let mut writer = BlockWriter::create(&place(name)).unwrap();
            writer.push(&dataset(false, rows, false, false)).unwrap();
            writer.finish().unwrap();
        }
        std::fs::rename(place("one.rows"), place("kept")).unwrap();
        std::fs::rename(place("other.rows"), place("one.rows")).unwrap();
        let words = BlockFile::open(&place("one.rows")).unwrap_err().to_string();
        assert!(words.contains("under another name") && words.contains("again"), "{words}");
        assert!(BlockFiles::open(&[place("one.rows")]).is_err());
        // Under its own name it is accepted, in any folder.
        std::fs::create_dir(place("elsewhere")).unwrap();
        std::fs::rename(place("kept"), place("elsewhere/one.rows")).unwrap();
        assert_eq!(BlockFile::open(&place("elsewhere/one.rows")).unwrap().rows(), 10);
    }

    #[test]
    fn a_file_of_an_earlier_format_is_told_as_such() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.rows");
        let mut writer = BlockWriter::create(&path).unwrap();
        writer.push(&dataset(false, 10, false, false)).unwrap();
        writer.finish().unwrap();
        BlockFile::open(&path).unwrap().verify().unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let tail = bytes.len() - MAGIC.len();
        for earlier in EARLIER_ENDINGS {
            bytes[tail..].copy_from_slice(earlier);
            std::fs::write(&path, &bytes).unwrap();
            let words = BlockFile::open(&path).unwrap_err().to_string();
            assert!(
                words.contains("earlier format") && words.contains("encode the table again"),
                "{words}"
            );
        }
    }
}
