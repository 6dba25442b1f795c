//! Rows less a public vector, each as long as the clip allows again.
//!
//! **Claim.** For every vector m the map x ↦ clip(R·(x − m)/‖x − m‖) is one of single rows, and what it
//! returns has ‖·‖₂ ≤ R exactly and is on the grid of [`Clip`]: so under neighbouring tables, of whichever
//! relation, the mapped tables are neighbours of rows within R. *Proof.* [`Clip::apply`] proves the bound of
//! whatever row it is given; a row's image is computed from it and m alone, entry by entry in column order. ∎
//!
//! A row of zeros, the null record among them, stays one. A row's bits depend neither on its place, nor on
//! the threads, nor on how rows are stored: `a_row_is_centred_by_itself`.

use crate::bound::Clip;
use crate::matrix::{DenseMatrix, Matrix};
use crate::schema::{ClipFacts, Norm, Rows};
use rayon::prelude::*;

/// Rows that a thread takes at a time.
const PIECE: usize = 256;

/// The rows less `mean`, each of length `radius` up to its grid.
///
/// # Panics
/// When the radius is outside [`crate::schema::RADIUS`], or `mean` has not an entry a column.
pub fn centred(features: &Matrix, mean: &[f64], radius: f64) -> DenseMatrix {
    let (rows, columns) = (features.rows(), features.columns());
    assert_eq!(mean.len(), columns, "an entry a column");
    let clip = Clip::new(ClipFacts { norm: Norm::L2, radius, rows: Rows::Clip });
    let mut values = vec![0.0_f32; rows * columns];
    values.par_chunks_mut((PIECE * columns).max(1)).enumerate().for_each(|(piece, values)| {
        let mut moved = vec![0.0; columns];
        for (place, stored) in values.chunks_exact_mut(columns.max(1)).enumerate() {
            let row = features.dense_row(PIECE * piece + place);
            if row.iter().all(|x| *x == 0.0) {
                continue;
            }
            let apart = row.iter().zip(mean).map(|(x, m)| f64::from(*x) - m);
            moved.iter_mut().zip(apart).for_each(|(into, x)| *into = x);
            let length = moved.iter().map(|x| x * x).sum::<f64>().sqrt();
            let factor = if length > 0.0 { radius / length } else { 0.0 };
            moved.iter_mut().for_each(|x| *x *= factor);
            clip.apply(&mut moved);
            stored.iter_mut().zip(&moved).for_each(|(into, x)| *into = *x as f32);
        }
    });
    DenseMatrix::new(values, rows, columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::MatrixBuilder;
    use crate::schema::Storage;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_row_is_centred_by_itself(
            rows in prop::collection::vec(prop::array::uniform4(-1.0..1.0_f32), 1..600),
            mean in prop::array::uniform4(prop_oneof![4 => -1.0..1.0_f64, 1 => Just(0.0), 1 => -1e9..1e9_f64]),
            radius in prop::sample::select(vec![1e-3, 0.7, 1.0, 5.0]),
            threads in 1_usize..4, at in any::<prop::sample::Index>(),
        ) {
            let at = at.index(rows.len());
            let pairs = |row: &[f32; 4]| (0..).zip(row.map(f64::from)).collect::<Vec<_>>();
            let built = |storage, rows: &[[f32; 4]]| {
                let mut builder = MatrixBuilder::new(storage, 4);
                rows.iter().for_each(|row| builder.push(&pairs(row)));
                builder.finish()
            };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let alone = centred(&built(Storage::Dense, &rows[at..=at]), &mean, radius);
            for storage in [Storage::Dense, Storage::Csr] {
                let all = pool.install(|| centred(&built(storage, &rows), &mean, radius));
                prop_assert_eq!(all.row(at), alone.row(0));
            }
            let squares: f64 = alone.row(0).iter().map(|x| f64::from(*x).powi(2)).sum();
            // Four squares of 24-bit numbers: their sum is off by less than 1e-15.
            prop_assert!(squares <= radius * radius * (1.0 + 1e-15));
            prop_assert!(squares >= radius * radius * (1.0 - 1e-5), "as long as it may be");
        }
    }

    #[test]
    fn rows_of_zeros_stay() {
        let rows = Matrix::Dense(DenseMatrix::new(vec![0.0, 0.0, 0.25, 0.5], 2, 2));
        let centred = centred(&rows, &[0.25, 0.5], 1.0);
        assert_eq!((centred.row(0), centred.row(1)), (&[0.0, 0.0][..], &[0.0, 0.0][..]));
    }
}
