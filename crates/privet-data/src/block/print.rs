//! A fingerprint of a set of rows, independent of their partition: the sum over rows of a checksum of
//! each.
//!
//! A caller that sends rows to several machines for sums can check by it that every row was counted
//! once: a row counted twice, or not at all, changes the sum, for any partition into blocks and any
//! order of addition. It detects accidents, not deceit.

use super::checksum;
use crate::matrix::Matrix;
use crate::{Dataset, Target};

/// The sum, modulo 2⁶⁴, of a checksum of each row with its target; units left out.
pub fn print_of_rows(rows: &Dataset) -> u64 {
    let (mut sum, mut bytes) = (0_u64, Vec::new());
    for row in 0..rows.rows() {
        bytes.clear();
        match &rows.features {
            Matrix::Dense(dense) => {
                let columns = dense.columns();
                let values = &dense.values()[row * columns..(row + 1) * columns];
                add(&mut bytes, values, |value| value.to_le_bytes());
            }
            Matrix::Csr(csr) => {
                let (columns, values) = csr.row(row);
                add(&mut bytes, columns, |column| column.to_le_bytes());
                add(&mut bytes, values, |value| value.to_le_bytes());
            }
        }
        match &rows.target {
            Target::Class { codes, .. } => bytes.extend(codes[row].to_le_bytes()),
            Target::Number(numbers) => bytes.extend(numbers[row].to_le_bytes()),
        }
        sum = sum.wrapping_add(checksum(&bytes));
    }
    sum
}

/// Appends words of four bytes, many at a time.
fn add<T: Copy>(bytes: &mut Vec<u8>, words: &[T], of: impl Fn(T) -> [u8; 4]) {
    let before = bytes.len();
    bytes.resize(before + 4 * words.len(), 0);
    let places = bytes[before..].as_chunks_mut::<4>().0;
    places.iter_mut().zip(words).for_each(|(place, word)| *place = of(*word));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{CsrMatrix, DenseMatrix};

    #[test]
    fn rows_that_are_missing_repeated_or_changed_are_seen_and_cuts_are_not() {
        let dense = DenseMatrix::new((0..24).map(|k| k as f32).collect(), 6, 4);
        let starts = vec![0, 2, 3, 3, 4, 6, 7];
        let csr = CsrMatrix::new(starts, vec![0, 3, 1, 2, 0, 1, 3], vec![0.5; 7], 4);
        for features in [Matrix::Dense(dense), Matrix::Csr(csr)] {
            let target = Target::Number((0..6).map(f64::from).collect());
            let all = Dataset { features, target, units: None, report: Default::default() };
            let of = |places: &[usize]| print_of_rows(&all.select(places));
            let whole = print_of_rows(&all);
            assert_eq!(of(&[0, 1]).wrapping_add(of(&[2, 3, 4, 5])).wrapping_add(of(&[])), whole);
            assert_eq!(of(&[5, 3, 1, 0, 2, 4]), whole, "in any order");
            assert_ne!(of(&[0, 1, 2, 0, 1, 2]), whole, "three twice, three not at all");
            assert_ne!(of(&[0, 1, 2, 3, 4]), whole);
        }
    }
}
