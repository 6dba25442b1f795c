//! Inner loops over row-major dense rows of f32, arithmetic in f64.
//!
//! A row is read twice while it is in the first-level cache: once for its margin, once for the
//! gradient. Four rows go together in the second loop, so the gradient is loaded and stored once
//! for four rows.

use super::fma;

const LANES: usize = 8;

/// The inner product ⟨row, vector⟩, with at most `columns + 8` roundings between any product and the
/// result.
#[inline(always)]
pub fn dot<const F: bool>(row: &[f32], vector: &[f64]) -> f64 {
    let (chunks, rest) = row.as_chunks::<LANES>();
    let (vector_chunks, vector_rest) = vector.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (x, v) in chunks.iter().zip(vector_chunks) {
        for lane in 0..LANES {
            sums[lane] = fma::<F>(f64::from(x[lane]), v[lane], sums[lane]);
        }
    }
    let mut tail = 0.0;
    for (&x, &v) in rest.iter().zip(vector_rest) {
        tail = fma::<F>(f64::from(x), v, tail);
    }
    let half = [sums[0] + sums[4], sums[1] + sums[5], sums[2] + sums[6], sums[3] + sums[7]];
    (half[0] + half[2]) + (half[1] + half[3]) + tail
}

/// Computes margins[i] = ⟨row i, vector⟩ for consecutive rows.
#[inline(always)]
pub fn margins<const F: bool>(values: &[f32], columns: usize, vector: &[f64], margins: &mut [f64]) {
    if columns == 0 {
        margins.fill(0.0);
        return;
    }
    for (row, margin) in values.chunks_exact(columns).zip(margins) {
        *margin = dot::<F>(row, vector);
    }
}

/// Adds sum += Σ multipliers[i] · row i.
#[inline(always)]
pub fn accumulate<const F: bool>(
    values: &[f32],
    columns: usize,
    multipliers: &[f64],
    sum: &mut [f64],
) {
    if columns == 0 {
        return;
    }
    let (fours, rest) = multipliers.as_chunks::<4>();
    let mut rows = values.chunks_exact(4 * columns);
    for (m, four) in fours.iter().zip(&mut rows) {
        let (a, four) = four.split_at(columns);
        let (b, four) = four.split_at(columns);
        let (c, d) = four.split_at(columns);
        for ((((s, &a), &b), &c), &d) in sum.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            let t = fma::<F>(m[0], f64::from(a), *s);
            let t = fma::<F>(m[1], f64::from(b), t);
            let t = fma::<F>(m[2], f64::from(c), t);
            *s = fma::<F>(m[3], f64::from(d), t);
        }
    }
    for (&m, row) in rest.iter().zip(values[fours.len() * 4 * columns..].chunks_exact(columns)) {
        for (s, &x) in sum.iter_mut().zip(row) {
            *s = fma::<F>(m, f64::from(x), *s);
        }
    }
}

/// Computes margins[i] = ⟨row i, v⟩ for each of `W` vectors that lie side by side: `table[j]` holds
/// entry j of each. `N` rows are processed together.
///
/// # Panics
/// If the table does not have one entry per column.
#[inline(always)]
pub fn dots<const F: bool, const W: usize, const N: usize>(
    values: &[f32],
    columns: usize,
    table: &[[f64; W]],
    margins: &mut [[f64; W]],
) {
    assert_eq!(table.len(), columns, "θ must have an entry per column");
    if columns == 0 {
        margins.fill([0.0; W]);
        return;
    }
    let (groups, rest) = margins.as_chunks_mut::<N>();
    let mut blocks = values.chunks_exact(N * columns);
    for (margins, block) in groups.iter_mut().zip(&mut blocks) {
        let rows: [&[f32]; N] = std::array::from_fn(|i| &block[i * columns..(i + 1) * columns]);
        *margins = dots_of(rows, table, fma::<F>);
    }
    for (margin, row) in rest.iter_mut().zip(blocks.remainder().chunks_exact(columns)) {
        [*margin] = dots_of([row], table, fma::<F>);
    }
}

#[inline(always)]
fn dots_of<const W: usize, const N: usize>(
    rows: [&[f32]; N],
    table: &[[f64; W]],
    add: impl Fn(f64, f64, f64) -> f64,
) -> [[f64; W]; N] {
    let mut sums = [[0.0; W]; N];
    let rows = rows.map(|row| &row[..table.len()]);
    for (j, vector) in table.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(rows) {
            let x = f64::from(row[j]);
            for lane in 0..W {
                sums[lane] = add(x, vector[lane], sums[lane]);
            }
        }
    }
    sums
}

/// Adds sums += Σ row i·multipliers[i]ᵀ, laid out as the table of [`dots`]. Four rows are processed
/// together.
///
/// # Panics
/// As [`dots`].
#[inline(always)]
pub fn scatter_all<const F: bool, const W: usize>(
    values: &[f32],
    columns: usize,
    multipliers: &[[f64; W]],
    sums: &mut [[f64; W]],
) {
    assert_eq!(sums.len(), columns, "the sum must have an entry per column");
    if columns == 0 {
        return;
    }
    let (fours, rest) = multipliers.as_chunks::<4>();
    let mut blocks = values.chunks_exact(4 * columns);
    for (m, block) in fours.iter().zip(&mut blocks) {
        let rows: [&[f32]; 4] = std::array::from_fn(|i| &block[i * columns..(i + 1) * columns]);
        for (j, sum) in sums.iter_mut().enumerate() {
            for (m, row) in m.iter().zip(rows) {
                let x = f64::from(row[j]);
                for lane in 0..W {
                    sum[lane] = fma::<F>(m[lane], x, sum[lane]);
                }
            }
        }
    }
    for (m, row) in rest.iter().zip(blocks.remainder().chunks_exact(columns)) {
        for (sum, &x) in sums.iter_mut().zip(row) {
            for lane in 0..W {
                sum[lane] = fma::<F>(m[lane], f64::from(x), sum[lane]);
            }
        }
    }
}

/// Rows that [`gram`] processes at a time: few enough for the first-level cache at a hundred columns.
pub const GRAM_ROWS: usize = 32;
/// A register tile of the Gram matrix: rows × columns.
const TILE: (usize, usize) = (4, 8);

/// The number of scratch entries that [`gram`] needs.
pub fn gram_scratch(columns: usize) -> usize {
    GRAM_ROWS * columns.next_multiple_of(TILE.1)
}

/// Adds gram += Σ weights[i] · row i (row i)ᵀ for at most [`GRAM_ROWS`] rows. Fills the upper triangle
/// of a row-major square matrix; below the diagonal, tiles that straddle it leave symmetric entries.
#[inline(always)]
pub fn gram<const F: bool>(
    values: &[f32],
    columns: usize,
    weights: &[f64],
    scratch: &mut [f64],
    gram: &mut [f64],
) {
    let width = columns.next_multiple_of(TILE.1);
    let scaled = &mut scratch[..weights.len() * width];
    for ((row, &w), out) in
        values.chunks_exact(columns.max(1)).zip(weights).zip(scaled.chunks_exact_mut(width.max(1)))
    {
        let root = w.sqrt();
        for (o, &x) in out.iter_mut().zip(row) {
            *o = root * f64::from(x);
        }
        out[columns..].fill(0.0);
    }
    for k in (0..columns).step_by(TILE.1) {
        for j in (0..columns.min(k + TILE.1)).step_by(TILE.0) {
            let mut tile = [[0.0; TILE.1]; TILE.0];
            for row in scaled.chunks_exact(width) {
                // Arrays of known length: the tile then stays in registers.
                let (Some(right), Some(left)) =
                    (row[k..].first_chunk::<{ TILE.1 }>(), row[j..].first_chunk::<{ TILE.0 }>())
                else {
                    continue; // never: the width is a multiple of both
                };
                for a in 0..TILE.0 {
                    for b in 0..TILE.1 {
                        tile[a][b] = fma::<F>(left[a], right[b], tile[a][b]);
                    }
                }
            }
            for (sums, j) in tile.iter().zip(j..columns) {
                let target =
                    &mut gram[j * columns + k..(j * columns + k + TILE.1).min((j + 1) * columns)];
                target.iter_mut().zip(sums).for_each(|(g, s)| *g += s);
            }
        }
    }
}

/// Adds sum[j] += Σ weights[i] · row i[j]².
#[inline(always)]
pub fn squares<const F: bool>(values: &[f32], columns: usize, weights: &[f64], sum: &mut [f64]) {
    if columns == 0 {
        return;
    }
    for (row, &w) in values.chunks_exact(columns).zip(weights) {
        for (s, &x) in sum.iter_mut().zip(row) {
            let x = f64::from(x);
            *s = fma::<F>(w * x, x, *s);
        }
    }
}
