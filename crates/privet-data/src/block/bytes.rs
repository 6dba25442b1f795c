//! One block of rows as bytes, for sending between machines.
//!
//! ```text
//! length of what follows up to the rows (u64) | kind and contents (JSON) | the rows, as in a file
//! ```

use super::read::{AssembledRows, size_of};
use super::write::{block, kind_of};
use super::{BlockError, Entry, Kind, checksum};
use crate::Dataset;
use serde::{Deserialize, Serialize};

/// The header before the rows.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    kind: Kind,
    entry: Entry,
}

/// Rows as bytes, their units left out.
pub fn to_bytes(rows: &Dataset) -> Vec<u8> {
    let (body, entries) = block(rows, 0, rows.rows());
    let kind = Kind { units: false, ..kind_of(rows) };
    let entry = Entry { offset: 0, bytes: 0, rows: rows.rows(), entries, checksum: 0 };
    let length = size_of(kind, &entry);
    // Units come last, so that truncation drops them.
    let body = &body[..body.len().min(length as usize)];
    let mut head = Head { kind, entry: Entry { bytes: length, ..entry } };
    head.entry.checksum = rows_checksum(&head, body);
    let head = serde_json::to_vec(&head).unwrap_or_default();
    let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(body);
    bytes
}

/// The checksum of the rows and of their header.
fn rows_checksum(head: &Head, body: &[u8]) -> u64 {
    let bare = Head { kind: head.kind, entry: Entry { checksum: 0, ..head.entry } };
    checksum(body) ^ checksum(&serde_json::to_vec(&bare).unwrap_or_default())
}

fn damaged(what: &'static str) -> BlockError {
    BlockError::Damaged { path: "rows that were sent".into(), what }
}

fn head(bytes: &[u8]) -> Result<(Head, &[u8]), BlockError> {
    let (length, rest) = bytes.split_first_chunk().ok_or_else(|| damaged("they are cut short"))?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let (text, body) =
        rest.split_at_checked(length).ok_or_else(|| damaged("they are cut short"))?;
    let head: Head = serde_json::from_slice(text).map_err(|_| damaged("they are none"))?;
    let length = body.len() as u64;
    // Only the exact header that `to_bytes` writes is accepted.
    let as_written = head.entry.offset == 0
        && head.entry.bytes == length
        && serde_json::to_vec(&head).is_ok_and(|written| written == text);
    if head.kind.units || !as_written || size_of(head.kind, &head.entry) != length {
        return Err(damaged("they do not add up"));
    }
    Ok((head, body))
}

/// The number of rows of a block, and the checksum that it carries; the rows themselves are not read.
pub fn print_of(bytes: &[u8]) -> Result<(usize, u64), BlockError> {
    let (head, _) = head(bytes)?;
    Ok((head.entry.rows, head.entry.checksum))
}

/// The rows of several blocks, one after the other. Blocks that were changed, or that differ in kind,
/// are refused.
pub fn from_bytes(parts: &[impl AsRef<[u8]>]) -> Result<Dataset, BlockError> {
    let mut all: Option<(Kind, AssembledRows)> = None;
    for part in parts {
        let (head, body) = head(part.as_ref())?;
        if rows_checksum(&head, body) != head.entry.checksum {
            return Err(damaged("they were changed"));
        }
        let (kind, gathered) = all.get_or_insert_with(|| {
            (head.kind, AssembledRows::for_rows(head.kind, head.entry.rows))
        });
        if *kind != head.kind {
            return Err(BlockError::Mixed { what: "columns, storage or classes differ" });
        }
        gathered.add_whole(&head.entry, body).ok_or_else(|| damaged("they are odd"))?;
    }
    let (_, gathered) = all.ok_or_else(|| damaged("there are none"))?;
    Ok(gathered.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;
    use crate::matrix::{CsrMatrix, DenseMatrix, Matrix};

    fn rows(sparse: bool, numbers: bool) -> Dataset {
        let features = match sparse {
            true => Matrix::Csr(CsrMatrix::new(vec![0, 1, 1, 3], vec![2, 0, 1], vec![0.5; 3], 3)),
            false => Matrix::Dense(DenseMatrix::new((0..9).map(|k| k as f32).collect(), 3, 3)),
        };
        let target = match numbers {
            true => Target::Number(vec![0.25, -1.0, 1.0]),
            false => Target::Class { codes: vec![1, 0, 4], count: 5 },
        };
        let units = Some(vec![7, 7, 9]);
        Dataset { features, target, units, report: Default::default() }
    }

    #[test]
    fn blocks_that_are_sent_join_as_they_were_cut() {
        for (sparse, numbers) in [(true, true), (false, false), (true, false), (false, true)] {
            let all = rows(sparse, numbers);
            let parts: Vec<_> =
                [&[0_usize][..], &[], &[1, 2]].map(|some| to_bytes(&all.select(some))).into();
            let joined = from_bytes(&parts).unwrap();
            assert_eq!(joined.rows(), 3);
            assert!((0..3).all(|k| joined.features.dense_row(k) == all.features.dense_row(k)));
            assert!(joined.target == all.target && joined.units.is_none());
            assert_eq!(print_of(&parts[2]).unwrap().0, 2);
        }
    }

    #[test]
    fn changed_cut_or_mixed_blocks_are_refused() {
        let whole = to_bytes(&rows(false, false));
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            // Within the header a change may only be one of blanks; there are none.
            assert!(from_bytes(&[changed]).is_err(), "byte {place}");
            assert!(from_bytes(&[&whole[..place]]).is_err(), "cut at {place}");
        }
        assert!(from_bytes(&[whole.clone(), to_bytes(&rows(true, false))]).is_err());
        let none: [&[u8]; 0] = [];
        assert!(from_bytes(&none).is_err());
    }
}
