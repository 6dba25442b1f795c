//! Row-major dense rows.

/// A dense row-major matrix.
#[derive(Clone)]
pub struct DenseMatrix {
    values: Vec<f32>,
    rows: usize,
    columns: usize,
}

impl DenseMatrix {
    /// A matrix of `rows · columns` values, row after row.
    ///
    /// # Panics
    /// If the length is not `rows · columns`.
    pub fn new(values: Vec<f32>, rows: usize, columns: usize) -> Self {
        assert_eq!(values.len(), rows * columns, "values do not fill rows × columns");
        Self { values, rows, columns }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns the vector of values, row after row, for reuse.
    pub(crate) fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// Bytes of storage.
    pub fn bytes(&self) -> usize {
        self.values.len() * size_of::<f32>()
    }
}
