//! Seeded matrices for tests.

use privet_data::matrix::{CsrMatrix, DenseMatrix, Matrix};

/// A small generator (Knuth's constants, output mixed); statistics do not depend on its quality.
pub struct Lcg(pub u64);

impl Lcg {
    pub fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
    /// Uniform in [−1, 1).
    pub fn centred(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }
    pub fn sign(&mut self) -> f64 {
        if self.next() & 1 == 0 { 1.0 } else { -1.0 }
    }
}

/// Truncated to the grid of radius 1.
fn on_grid(x: f64) -> f32 {
    ((x * 8_388_608.0).trunc() / 8_388_608.0) as f32
}

pub fn random_dense(random: &mut Lcg, rows: usize, columns: usize) -> Matrix {
    let scale = 1.0 / (columns as f64).sqrt();
    let values = (0..rows * columns).map(|_| on_grid(random.centred() * scale)).collect();
    Matrix::Dense(DenseMatrix::new(values, rows, columns))
}

/// The same rows with their zeros.
pub fn dense(matrix: &Matrix) -> Matrix {
    let values = (0..matrix.rows()).flat_map(|row| matrix.dense_row(row)).collect();
    Matrix::Dense(DenseMatrix::new(values, matrix.rows(), matrix.columns()))
}

pub fn random_csr(random: &mut Lcg, rows: usize, columns: usize, entries: usize) -> Matrix {
    let scale = 1.0 / (entries as f64).sqrt();
    let (mut starts, mut indices, mut values) = (vec![0], vec![], vec![]);
    for _ in 0..rows {
        let mut chosen: Vec<u32> =
            (0..entries).map(|_| (random.next() % columns as u64) as u32).collect();
        chosen.sort_unstable();
        chosen.dedup();
        values.extend(chosen.iter().map(|_| on_grid(random.centred() * scale)));
        indices.extend(chosen);
        starts.push(indices.len());
    }
    Matrix::Csr(CsrMatrix::new(starts, indices, values, columns))
}

pub fn select_rows(matrix: &Matrix, order: &[usize]) -> Matrix {
    match matrix {
        Matrix::Dense(m) => {
            let values = order.iter().flat_map(|&i| m.row(i).to_vec()).collect();
            Matrix::Dense(DenseMatrix::new(values, order.len(), m.columns()))
        }
        Matrix::Csr(m) => {
            let (mut starts, mut indices, mut values) = (vec![0], vec![], vec![]);
            for &i in order {
                let (j, x) = m.row(i);
                indices.extend_from_slice(j);
                values.extend_from_slice(x);
                starts.push(indices.len());
            }
            Matrix::Csr(CsrMatrix::new(starts, indices, values, m.columns()))
        }
    }
}
