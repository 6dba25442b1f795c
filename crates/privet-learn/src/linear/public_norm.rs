//! A bound on the spectral norm of public rows, which the answers of a teacher are noised by.

use super::ight::for_row;
use privet_data::matrix::{DenseMatrix, Matrix};

/// A number that ‖X‖₂ does not pass, of public rows: the smallest of three bounds, the last a factorisation of
/// c²I − K for the smaller Gram matrix K, where that has at most `FACTORISED` rows.
pub fn norm_bound(rows: &Matrix) -> f64 {
    let (mut square, mut longest) = (0.0, 0.0_f64);
    let mut sums = vec![0.0; rows.columns()];
    for row in 0..rows.rows() {
        let mut own = 0.0;
        for_row(rows, row, |column, x| {
            square += x * x;
            own += x.abs();
            sums[column] += x.abs();
        });
        longest = longest.max(own);
    }
    let widest = sums.iter().copied().fold(0.0, f64::max);
    let simple = square.sqrt().min((longest * widest).sqrt()) * (1.0 + 1e-9);
    let least = rows.rows().min(rows.columns());
    if least > FACTORISED || square == 0.0 {
        return simple.max(f64::MIN_POSITIVE);
    }
    let dense = dense(rows);
    let gram = gram(&dense, rows.rows(), rows.columns());
    // At first about what a few powers give from below.
    let mut vector = vec![1.0; least];
    let mut value = 0.0;
    for _ in 0..60 {
        let next: Vec<f64> = gram
            .chunks(least)
            .map(|row| row.iter().zip(&vector).map(|(a, v)| a * v).sum::<f64>())
            .collect();
        let length = next.iter().map(|x| x * x).sum::<f64>().sqrt();
        let before = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        value = if before > 0.0 { length / before } else { 0.0 };
        vector = next.into_iter().map(|x| x / length.max(f64::MIN_POSITIVE)).collect();
    }
    // An entry of the diagonal is a bound from below, and above 0.
    let largest = (0..least).map(|at| gram[at * least + at]).fold(0.0, f64::max);
    let mut bound = (value * 1.01).max(largest);
    while bound.sqrt() < simple {
        if is_above(&gram, least, bound) {
            return bound.sqrt() * (1.0 + 1e-9);
        }
        bound *= 1.02;
    }
    simple
}

/// Rows of the Gram matrix that is factorised, at most.
const FACTORISED: usize = 2_000;

fn dense(rows: &Matrix) -> DenseMatrix {
    let values = (0..rows.rows()).flat_map(|row| rows.dense_row(row)).collect();
    DenseMatrix::new(values, rows.rows(), rows.columns())
}

/// XXᵀ or XᵀX, whichever is smaller.
fn gram(rows: &DenseMatrix, count: usize, columns: usize) -> Vec<f64> {
    let wide = count <= columns;
    let size = count.min(columns);
    let mut gram = vec![0.0; size * size];
    if wide {
        for a in 0..size {
            for b in 0..=a {
                let products = rows.row(a).iter().zip(rows.row(b));
                let sum: f64 = products.map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
                (gram[a * size + b], gram[b * size + a]) = (sum, sum);
            }
        }
    } else {
        for row in 0..count {
            let entries: Vec<f64> = rows.row(row).iter().map(|x| f64::from(*x)).collect();
            for (a, x) in entries.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                let line = &mut gram[a * size..(a + 1) * size];
                line.iter_mut().zip(&entries).for_each(|(sum, y)| *sum += x * y);
            }
        }
    }
    gram
}

/// Whether cI − K is positive, by Cholesky, with room for its rounding.
fn is_above(gram: &[f64], size: usize, bound: f64) -> bool {
    let mut lower = vec![0.0; size * size];
    for row in 0..size {
        let (before, rest) = lower.split_at_mut(row * size);
        let own = &mut rest[..size];
        for column in 0..row {
            let other = &before[column * size..column * size + column];
            let sum: f64 = own[..column].iter().zip(other).map(|(a, b)| a * b).sum();
            own[column] = (-gram[row * size + column] - sum) / before[column * size + column];
        }
        let sum: f64 = own[..row].iter().map(|a| a * a).sum();
        let left = bound - gram[row * size + row] - sum;
        if left.is_nan() || left <= 1e-6 * bound {
            return false;
        }
        own[row] = left.sqrt();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_are_bounded_and_nearly_so() {
        // Orthogonal rows: of length 2, √5 and 1.
        let values = vec![2.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.4, -0.2];
        let rows = Matrix::Dense(DenseMatrix::new(values, 3, 3));
        let bound = norm_bound(&rows);
        assert!((5_f64.sqrt()..=1.02 * 5_f64.sqrt()).contains(&bound), "{bound}");
        let tall = Matrix::Dense(DenseMatrix::new(vec![1.0; 12], 6, 2));
        let bound = norm_bound(&tall);
        assert!((12_f64.sqrt()..=1.02 * 12_f64.sqrt()).contains(&bound), "{bound}");
    }
}
