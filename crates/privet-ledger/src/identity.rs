//! Recognises a table by keyed hashes of its rows.
//!
//! - **Fingerprint**: Σ F(row) mod 2²⁵⁶ over the rows, F = HMAC-SHA-256 under the ledger's secret: the
//!   same for the same rows in any order (Clarke, Devadas, van Dijk, Gassend & Suh 2003, "Incremental
//!   multiset hash functions").
//! - **Sketch**: the 4096 smallest distinct F(row), truncated to 64 bits. Of two tables' sketches, the
//!   hashes up to the smaller of the two largest are a random sample of the union of the rows. It
//!   estimates, to a few parts in a hundred, the share of the smaller table's rows that the larger has:
//!   copies with rows added or removed are recognised.
//!
//! Both count as data: an unkeyed hash of a small table would confirm a guess of it. They are stored in
//! the ledger's file alone, under the same secret, and in no export, report or server. Not recognised:
//! rows whose cells were changed, tables with other columns, and pieces so small that hardly any of
//! their rows is in the sketch of the whole (below about a thousandth of 4 million rows, fewer of small
//! tables).

use crate::entry::hexadecimal;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use zeroize::Zeroizing;

/// Length of the secret in bytes.
pub(crate) const SECRET: usize = 32;
/// Maximum number of hashes in a sketch.
const MOST_SKETCH_HASHES: usize = 4096;
/// Overlap above which two tables may be the same data set, as a share of the smaller one's rows.
pub const OVERLAP: f64 = 0.2;

/// Fingerprint and sketch of a table, under the secret of one ledger.
#[derive(Clone, PartialEq, Eq)]
pub struct TableFingerprint {
    pub(crate) fingerprint: [u8; 32],
    pub(crate) rows: u64,
    /// In ascending order.
    pub(crate) sketch: Vec<u64>,
}

impl fmt::Debug for TableFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Print(withheld)")
    }
}

/// A table that was used as a data set.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub dataset: String,
    pub print: TableFingerprint,
}

impl Identity {
    pub fn read(dataset: String, fingerprint: &[u8], rows: i64, sketch: &[u8]) -> Option<Self> {
        let fingerprint = fingerprint.try_into().ok()?;
        let (hashes, rest) = sketch.as_chunks::<8>();
        let sketch: Vec<u64> = hashes.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let sound = rest.is_empty() && sketch.len() <= MOST_SKETCH_HASHES && sketch.is_sorted();
        let rows = u64::try_from(rows).ok()?;
        sound.then_some(Self { dataset, print: TableFingerprint { fingerprint, rows, sketch } })
    }
}

impl TableFingerprint {
    pub(crate) fn sketch_bytes(&self) -> Vec<u8> {
        self.sketch.iter().flat_map(|hash| hash.to_le_bytes()).collect()
    }

    /// True if both tables have the same rows.
    pub fn has_same_rows(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint && self.rows == other.rows
    }

    /// Estimates the share of the smaller table's distinct rows that the other has.
    pub fn overlap(&self, other: &Self) -> f64 {
        let last = |print: &Self| match print.sketch.last() {
            // All of its rows are in it.
            Some(last) if print.sketch.len() == MOST_SKETCH_HASHES => *last,
            _ => u64::MAX,
        };
        let upto = last(self).min(last(other));
        let below = |print: &Self| print.sketch.partition_point(|hash| *hash <= upto);
        let (few, many) = if below(self) <= below(other) { (self, other) } else { (other, self) };
        let sample = &few.sketch[..below(few)];
        if sample.is_empty() {
            return 0.0;
        }
        let shared = sample.iter().filter(|hash| many.sketch.binary_search(hash).is_ok()).count();
        shared as f64 / sample.len() as f64
    }
}

/// Computes the [`TableFingerprint`] of a table, row by row.
pub struct Printer {
    inner: Sha256,
    outer: Sha256,
    sum: [u64; 4],
    rows: u64,
    sketch: BTreeSet<u64>,
}

impl fmt::Debug for Printer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Printer(withheld)")
    }
}

impl Printer {
    pub(crate) fn new(secret: &Zeroizing<[u8; SECRET]>) -> Self {
        // HMAC (RFC 2104): both halves begin with a block of the key.
        let begun = |pad: u8| {
            let mut block = Zeroizing::new([pad; 64]);
            block.iter_mut().zip(secret.iter()).for_each(|(byte, key)| *byte ^= key);
            let mut hash = Sha256::new();
            hash.update(&block[..]);
            hash
        };
        let (inner, outer) = (begun(0x36), begun(0x5c));
        Self { inner, outer, sum: [0; 4], rows: 0, sketch: BTreeSet::new() }
    }

    /// Adds a row, in the one encoding that every file format is converted to.
    pub fn row(&mut self, bytes: &[u8]) {
        let mut inner = self.inner.clone();
        inner.update(bytes);
        let mut outer = self.outer.clone();
        outer.update(inner.finalize());
        let hash: [u8; 32] = outer.finalize().into();
        let (parts, _) = hash.as_chunks::<8>();
        let mut carry = false;
        for (sum, part) in self.sum.iter_mut().zip(parts) {
            let (one, first) = sum.overflowing_add(u64::from_le_bytes(*part));
            let (two, second) = one.overflowing_add(u64::from(carry));
            (*sum, carry) = (two, first | second);
        }
        self.rows += 1;
        let short = u64::from_be_bytes(parts[3]);
        if self.sketch.len() < MOST_SKETCH_HASHES {
            self.sketch.insert(short);
        } else if self.sketch.last().is_some_and(|last| short < *last) && self.sketch.insert(short)
        {
            self.sketch.pop_last();
        }
    }

    /// Returns the print of the rows added.
    pub fn finish(self) -> TableFingerprint {
        let mut fingerprint = [0; 32];
        for (bytes, sum) in fingerprint.chunks_exact_mut(8).zip(self.sum) {
            bytes.copy_from_slice(&sum.to_le_bytes());
        }
        TableFingerprint { fingerprint, rows: self.rows, sketch: self.sketch.into_iter().collect() }
    }
}

/// 128 random bits in hexadecimal.
pub(crate) fn new_number() -> Result<String, getrandom::Error> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)?;
    Ok(hexadecimal(&bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(rows: impl Iterator<Item = u32>, secret: u8) -> TableFingerprint {
        let mut printer = Printer::new(&Zeroizing::new([secret; SECRET]));
        rows.for_each(|row| printer.row(&row.to_le_bytes()));
        printer.finish()
    }

    /// RFC 4231 has no case with a 32-byte key; this one is by Python's hmac.
    #[test]
    fn the_row_hash_is_hmac() {
        let print = print(std::iter::once(7), 1);
        assert_eq!(hexadecimal(&print.fingerprint), HMAC);
        assert_eq!(print.sketch.len(), 1);
    }
    const HMAC: &str = "ff35ded340a937c21ae0732073f5c58e94711a60c25687396080307037e6ffbe";

    #[test]
    fn order_does_not_matter_and_everything_else_does() {
        let one = print(0..1000, 1);
        assert!(one.has_same_rows(&print((0..1000).rev(), 1)));
        for other in
            [print(0..999, 1), print(1..1001, 1), print((0..1000).chain([5]), 1), print(0..1000, 2)]
        {
            assert!(!one.has_same_rows(&other));
        }
        // Two equal rows do not cancel, as they would under exclusive or.
        assert!(!print([3, 3].into_iter(), 1).has_same_rows(&print([4, 4].into_iter(), 1)));
    }

    /// Binomial sample of at least 800 rows: off by 0.12 with probability below
    /// 2·exp(−2·800·0.12²) < 1e-9.
    #[test]
    fn overlaps_are_found_whatever_the_sizes() {
        let whole = print(0..40_000, 9);
        for (other, share) in [
            (print(0..40_000, 9), 1.0),
            (print(0..44_000, 9), 1.0),
            (print(10_000..20_000, 9), 1.0),
            (print(20_000..60_000, 9), 0.5),
            (print(36_000..76_000, 9), 0.1),
            (print(50_000..90_000, 9), 0.0),
        ] {
            assert!(
                (whole.overlap(&other) - share).abs() < 0.12,
                "{share}: {}",
                whole.overlap(&other)
            );
            assert_eq!(whole.overlap(&other), other.overlap(&whole));
        }
        assert_eq!(print(0..0, 9).overlap(&whole), 0.0);
        let small = print(0..10, 9);
        assert_eq!(small.overlap(&print(5..15, 9)), 0.5);
    }
}
