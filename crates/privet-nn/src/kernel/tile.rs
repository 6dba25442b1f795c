//! A product divided into tiles that stay in registers.

use super::Strided;
use super::lanes::Lanes;

/// Addresses and strides of a tile, in values; B's and C's rows are dense.
#[derive(Clone, Copy)]
struct Tile {
    a: *const f32,
    a_row: usize,
    a_column: usize,
    b: *const f32,
    c: *mut f32,
    columns: usize,
    inner: usize,
    accumulate: bool,
}

/// Computes `ROWS` × (`VECTORS` registers) of C. Unless `WHOLE`, the last register has `part` values.
/// Pointers wrap rather than being checked: `super::product_at` checked the ranges.
#[inline(always)]
unsafe fn tile<L: Lanes, const ROWS: usize, const VECTORS: usize, const WHOLE: bool>(
    tile: Tile,
    part: usize,
) {
    // SAFETY: every row, column and inner index is inside its slice; a partial register accesses its
    // `part` values alone.
    unsafe {
        let mut sums = [[L::zero(); VECTORS]; ROWS];
        if tile.accumulate {
            let mut from = tile.c.cast_const();
            for sums in &mut sums {
                for (vector, sum) in sums.iter_mut().enumerate() {
                    let from = from.wrapping_add(vector * L::WIDTH);
                    *sum = if WHOLE || vector + 1 < VECTORS {
                        L::load(from)
                    } else {
                        L::load_part(from, part)
                    };
                }
                from = from.wrapping_add(tile.columns);
            }
        }
        let mut a = tile.a;
        let mut b = tile.b;
        for _ in 0..tile.inner {
            let mut values = [L::zero(); VECTORS];
            for (vector, value) in values.iter_mut().enumerate() {
                let from = b.wrapping_add(vector * L::WIDTH);
                *value = if WHOLE || vector + 1 < VECTORS {
                    L::load(from)
                } else {
                    L::load_part(from, part)
                };
            }
            for (row, sums) in sums.iter_mut().enumerate() {
                let factor = L::spread(a.wrapping_add(row.wrapping_mul(tile.a_row)));
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum = factor.multiply_add(value, *sum);
                }
            }
            a = a.wrapping_add(tile.a_column);
            b = b.wrapping_add(tile.columns);
        }
        let mut to = tile.c;
        for sums in sums {
            for (vector, sum) in sums.into_iter().enumerate() {
                let to = to.wrapping_add(vector * L::WIDTH);
                if WHOLE || vector + 1 < VECTORS { sum.store(to) } else { sum.store_part(to, part) }
            }
            to = to.wrapping_add(tile.columns);
        }
    }
}

/// Computes all rows of some columns, `MOST` at a time.
#[inline(always)]
unsafe fn strip<L: Lanes, const MOST: usize, const VECTORS: usize, const WHOLE: bool>(
    mut at: Tile,
    rows: usize,
    part: usize,
) {
    let mut left = rows;
    // SAFETY: as `tile`; the loop ends with the rows.
    unsafe {
        macro_rules! rows_of {
            ($count:expr) => {
                while left >= $count {
                    tile::<L, $count, VECTORS, WHOLE>(at, part);
                    at.a = at.a.wrapping_add(at.a_row.wrapping_mul($count));
                    at.c = at.c.wrapping_add(at.columns.wrapping_mul($count));
                    left -= $count;
                }
            };
        }
        if MOST == 12 {
            rows_of!(12);
        }
        if MOST >= 6 {
            rows_of!(6);
        }
        rows_of!(4);
        rows_of!(2);
        rows_of!(1);
    }
}

/// C (+)= A·B in tiles of `MOST` rows and two registers.
///
/// # Safety
/// The processor has the instructions of `L`, and the slices are as long as `super::product_at` checks.
#[inline(always)]
pub(super) unsafe fn product<L: Lanes, const MOST: usize>(
    (rows, columns, inner): (usize, usize, usize),
    a: Strided,
    b: &[f32],
    c: &mut [f32],
    accumulate: bool,
) {
    let (b, c) = (b.as_ptr(), c.as_mut_ptr());
    let mut column = 0;
    while column < columns {
        let left = columns - column;
        let at = Tile {
            a: a.values.as_ptr(),
            a_row: a.row,
            a_column: a.column,
            b: b.wrapping_add(column),
            c: c.wrapping_add(column),
            columns,
            inner,
            accumulate,
        };
        // SAFETY: `left` columns remain from `column` on, and no more of them are accessed.
        unsafe {
            if left >= 2 * L::WIDTH {
                strip::<L, MOST, 2, true>(at, rows, L::WIDTH);
            } else if left > L::WIDTH {
                strip::<L, MOST, 2, false>(at, rows, left - L::WIDTH);
            } else if left == L::WIDTH {
                strip::<L, MOST, 1, true>(at, rows, L::WIDTH);
            } else {
                strip::<L, MOST, 1, false>(at, rows, left);
            }
        }
        column += 2 * L::WIDTH;
    }
}
