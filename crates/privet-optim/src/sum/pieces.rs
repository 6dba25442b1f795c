//! The contract of every back end: the pieces into which rows are cut, and the order in which their
//! sums are merged.
//!
//! The cut depends on the number of rows and columns and on the size of the partial sums, never on
//! threads, storage or back end; piece k of P holds rows ⌊k·n/P⌋ up to ⌊(k+1)·n/P⌋; each piece is
//! summed as by one call of [`Statistic::add`], and partial sums are merged in the order of their
//! pieces. So every sum, also a floating-point one, has the same bits on one thread as on sixty-four,
//! from memory as from a file.

use super::{RecordsError, Statistic};
use rayon::prelude::*;
use std::ops::Range;

/// The largest number of pieces at a time.
const PIECES: usize = 64;
/// The smallest number of rows in a piece.
const FEWEST_PIECE_ROWS: usize = 1024;
/// The largest number of rows in a piece.
const MOST_PIECE_ROWS: usize = 1 << 18;
/// For dense rows of up to this many columns, also the largest size in bytes: the part of a file that a
/// thread holds.
const DENSE_PIECE: (usize, usize) = (4096, 1 << 25);
/// Beyond eight pieces, their partial sums together take at most this many bytes (they are allocated
/// and merged in every pass), and always at most the rows' own or four times this.
const PIECE_BYTES: usize = 1 << 20;
/// Beyond two pieces, at most this many: sparse rows of millions of columns take less than their sum.
const FEW_BYTES: usize = 1 << 26;
/// Partial sums kept at a time never take more than this together, except for a single one.
const MOST_BYTES: usize = 1 << 30;

/// The number of pieces for a sum whose partial sums take `bytes`.
pub fn pieces(rows: usize, columns: usize, bytes: usize) -> usize {
    let (most_columns, most_bytes) = DENSE_PIECE;
    // Sparse rows may have any number of columns, which does not determine their size.
    let wide = match columns <= most_columns {
        true => rows.saturating_mul(4 * columns).div_ceil(most_bytes),
        false => 0,
    };
    at_a_time(rows, columns, bytes)
        .max(rows.div_ceil(MOST_PIECE_ROWS))
        .max(wide.min(rows / FEWEST_PIECE_ROWS))
}

/// The number of pieces that are summed before they are merged.
fn at_a_time(rows: usize, columns: usize, bytes: usize) -> usize {
    let bytes = bytes.max(1);
    let cheap = (PIECE_BYTES / bytes).max((FEW_BYTES / bytes).clamp(2, 8));
    let dense = rows.saturating_mul(columns).saturating_mul(4);
    let room = (4 * PIECE_BYTES).max(dense).min(MOST_BYTES) / bytes;
    (rows / FEWEST_PIECE_ROWS).min(PIECES).min(cheap).min(room).max(1)
}

/// The rows of piece `piece` of `pieces`.
pub fn rows_of(piece: usize, pieces: usize, rows: usize) -> Range<usize> {
    let edge = |k: usize| (k as u128 * rows as u128 / pieces.max(1) as u128) as usize;
    edge(piece)..edge(piece + 1)
}

/// The sum over all pieces, in parallel, merged in order.
pub(super) fn sum_pieces<S: Statistic>(
    statistic: &S,
    rows: usize,
    columns: usize,
    partial: impl Fn(Range<usize>) -> Result<S::Sum, RecordsError> + Sync,
) -> Result<S::Sum, RecordsError> {
    let bytes = statistic.bytes(columns);
    let (pieces, wave) = (pieces(rows, columns, bytes), at_a_time(rows, columns, bytes));
    if pieces == 1 {
        return partial(0..rows);
    }
    let mut total: Option<S::Sum> = None;
    for first in (0..pieces).step_by(wave) {
        let sums: Result<Vec<S::Sum>, _> = (first..pieces.min(first + wave))
            .into_par_iter()
            .map(|piece| partial(rows_of(piece, pieces, rows)))
            .collect();
        for sum in sums? {
            match &mut total {
                Some(total) => statistic.merge(total, sum),
                None => total = Some(sum),
            }
        }
    }
    Ok(total.unwrap_or_else(|| statistic.zero(columns)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_all_rows_and_none_is_too_long() {
        for rows in [0, 1, 1023, 5000, 1_000_000, 1 << 30] {
            for bytes in [64, 1 << 20, 1 << 30] {
                let count = pieces(rows, 50, bytes);
                let ranges: Vec<_> = (0..count).map(|k| rows_of(k, count, rows)).collect();
                assert_eq!(ranges[0].start, 0);
                assert_eq!(ranges[count - 1].end, rows);
                assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
                assert!(ranges.iter().all(|range| range.len() <= MOST_PIECE_ROWS));
                let wide = pieces(rows, 300, bytes);
                let longest = rows_of(0, wide, rows).len().max(rows_of(wide - 1, wide, rows).len());
                assert!(
                    longest * 300 * 4 <= DENSE_PIECE.1 + 300 * 4
                        || longest <= 2 * FEWEST_PIECE_ROWS
                );
                let together = at_a_time(rows, 50, bytes);
                assert!(together == 1 || together * bytes <= MOST_BYTES);
            }
        }
    }
}
