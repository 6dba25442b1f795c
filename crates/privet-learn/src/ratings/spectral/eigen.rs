//! The largest eigenvalues of a symmetric matrix kept as a triangle, by orthogonal iteration.
//!
//! What it is applied to is noised already, so that its accuracy concerns nobody's privacy.

/// A symmetric matrix by its lower triangle, row after row, the diagonal included.
pub(in crate::ratings) struct Triangle {
    entries: Vec<f64>,
    size: usize,
}

/// Passes: the ratio of neighbouring eigenvalues is seldom so near 1 that more would be seen.
const PASSES: u32 = 60;

impl Triangle {
    pub(in crate::ratings) fn new(entries: Vec<f64>, size: usize) -> Self {
        Self { entries, size }
    }

    fn times(&self, vector: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.size];
        let mut start = 0;
        for i in 0..self.size {
            let row = &self.entries[start..start + i];
            let mut sum = 0.0;
            for ((entry, x), out) in row.iter().zip(vector).zip(&mut product) {
                sum += entry * x;
                *out += entry * vector[i];
            }
            product[i] += sum + self.entries[start + i] * vector[i];
            start += i + 1;
        }
        product
    }

    /// The largest `count` eigenvalues with orthonormal vectors, the largest first, of a matrix none of whose
    /// eigenvalues is far below −`shift`.
    pub(in crate::ratings) fn largest(&self, count: usize, shift: f64) -> Vec<(f64, Vec<f64>)> {
        // A fixed start with nothing in common with any axis.
        let entry = |place: usize, j: usize| {
            ((place + 1) as f64 * (j as f64 + 0.5) * 0.618_034).sin() + 0.01
        };
        let mut basis: Vec<Vec<f64>> =
            (0..count).map(|place| (0..self.size).map(|j| entry(place, j)).collect()).collect();
        orthonormal(&mut basis);
        for _ in 0..PASSES {
            basis = basis
                .iter()
                .map(|vector| {
                    let mut product = self.times(vector);
                    product.iter_mut().zip(vector).for_each(|(y, x)| *y += shift * x);
                    product
                })
                .collect();
            orthonormal(&mut basis);
        }
        let value = |vector: &Vec<f64>| dot(vector, &self.times(vector));
        let mut found: Vec<(f64, Vec<f64>)> =
            basis.into_iter().map(|vector| (value(&vector), vector)).collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Gram–Schmidt, twice; a vector that vanishes becomes an axis.
pub(super) fn orthonormal(basis: &mut [Vec<f64>]) {
    for place in 0..basis.len() {
        let (before, rest) = basis.split_at_mut(place);
        let vector = &mut rest[0];
        for other in before.iter().chain(before.iter()) {
            let along = dot(other, vector);
            vector.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
        }
        unit(vector);
    }
}

/// Scales to length 1.
pub(super) fn unit(vector: &mut [f64]) {
    let largest = vector.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        vector.fill(0.0);
        if let Some(first) = vector.first_mut() {
            *first = 1.0;
        }
        return;
    }
    vector.iter_mut().for_each(|x| *x /= largest);
    let norm = dot(vector, vector).sqrt();
    vector.iter_mut().for_each(|x| *x /= norm);
}
