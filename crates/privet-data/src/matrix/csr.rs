//! Compressed sparse rows.

/// Rows of (column, value) pairs, columns increasing within a row.
#[derive(Clone)]
pub struct CsrMatrix {
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
    columns: usize,
}

impl CsrMatrix {
    /// Row i owns entries `starts[i]..starts[i + 1]`.
    ///
    /// # Panics
    /// If the parts do not fit together.
    pub fn new(starts: Vec<usize>, indices: Vec<u32>, values: Vec<f32>, columns: usize) -> Self {
        assert!(starts.first() == Some(&0) && starts.last() == Some(&indices.len()));
        assert!(starts.windows(2).all(|w| w[0] <= w[1]) && indices.len() == values.len());
        for row in starts.windows(2) {
            let row = &indices[row[0]..row[1]];
            assert!(row.windows(2).all(|w| w[0] < w[1]), "columns must increase within a row");
            assert!(row.last().is_none_or(|&last| (last as usize) < columns), "column too large");
        }
        Self { starts, indices, values, columns }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One row's columns and values.
    pub fn row(&self, row: usize) -> (&[u32], &[f32]) {
        let range = self.starts[row]..self.starts[row + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// The start of each row's entries, then the number of entries.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Column of each entry.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Value of each entry.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns the vectors of starts, columns and values for reuse.
    pub(crate) fn into_parts(self) -> (Vec<usize>, Vec<u32>, Vec<f32>) {
        (self.starts, self.indices, self.values)
    }

    /// Bytes of storage.
    pub fn bytes(&self) -> usize {
        self.starts.len() * size_of::<usize>() + self.indices.len() * 8
    }
}
