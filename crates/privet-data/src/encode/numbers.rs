//! Encoding of whole tables of numbers, in parallel.
//!
//! A table without categories needs no cells: each number goes through its column's map, and the row is
//! clipped and stored. The arithmetic is that of [`super::RowEncoder`], entry by entry in the same
//! order, so both give the same bits (a zero, which is left out here, adds exactly nothing to a norm):
//! `both_ways_give_the_same_bits`.
//!
//! Where the storage is left open, a sample of rows decides which storage is faster. Sums are over the
//! same entries, but sparse rows may be added in another order, so results that depend on the last bits
//! of a sum (a solver's path and the model it ends at, within its proved tolerance) may differ:
//! [`crate::read::ReadOptions::any_storage`]. The running time then reveals how many entries are zero.

use super::column::{Fallback, Number, Rule, UnknownIn};
use super::one_row::{Maps, OneRow};
use super::{Encoding, Storage};
use crate::matrix::{CsrMatrix, DenseMatrix, Matrix};
use rayon::prelude::*;
use std::sync::Mutex;

/// Rows that a thread processes at a time.
const ROWS_PER_PIECE: usize = 256;
/// Below this fraction of non-zero entries, sparse storage needs less memory and time.
const SPARSE_BELOW: f64 = 0.25;
/// About this many rows are sampled to estimate that fraction.
const LOOKED_AT: usize = 512;

/// Rows of numbers, one for each feature of a schema, in its order.
pub trait NumberRows: Sync {
    /// The number of rows.
    fn rows(&self) -> usize;
    /// The length of each row.
    fn columns(&self) -> usize;
    /// Writes a row into `entries`, which has the length of a row.
    fn write(&self, row: usize, entries: &mut [f64]);
}

/// The reason a table of numbers could not be encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumbersError {
    /// The rows' length differs from the schema's number of features.
    Columns {
        /// The number of features of the schema.
        expected: usize,
        /// The length of the rows.
        found: usize,
    },
    /// The schema has features that are not plain numbers.
    NotNumbers,
    /// An entry is NaN or infinite.
    NotFinite {
        /// Its row, from 0.
        row: usize,
        /// Its column, from 0.
        column: usize,
    },
}

/// A table of numbers after encoding.
#[derive(Debug, Clone)]
pub struct EncodedNumbers {
    /// One row per record.
    pub matrix: Matrix,
    /// The rows, from 0 and rising, that are the null record; see [`crate::schema::Invalid`].
    pub null_rows: Vec<usize>,
}

impl Encoding {
    /// The row length that [`Encoding::encode_numbers`] accepts; `None` where the schema has features
    /// that are not plain numbers.
    pub fn number_features(&self) -> Option<usize> {
        self.pixels.or_else(|| Some(self.maps()?.features()))
    }

    /// Slope and offset of each encoded column but the constant one, as a line of its feature, before
    /// bounds and clip; `None` where some are not lines.
    pub fn lines(&self) -> Option<Vec<(f64, f64)>> {
        if !self.pairs.is_empty() {
            return None;
        }
        if !self.pairs.is_empty() || self.fourier.is_some() {
            return None;
        }
        match self.maps()? {
            Maps::Alike { features, bounds } => {
                let slope = bounds.map_or(1.0, |(low, high)| 1.0 / low.abs().max(high.abs()));
                Some(vec![(slope, 0.0); features])
            }
            Maps::Each(numbers) | Maps::KeepingZero(numbers) => {
                numbers.iter().map(|(_, number)| number.line()).collect()
            }
        }
    }

    /// Encodes and clips a table that holds a plain number for each feature. Without a storage, uses
    /// whichever is faster, estimated from a sample of rows.
    pub fn encode_numbers(
        &self,
        table: &impl NumberRows,
        storage: Option<Storage>,
        unknown_in: UnknownIn,
    ) -> Result<EncodedNumbers, NumbersError> {
        let maps = self.maps().ok_or(NumbersError::NotNumbers)?;
        let (expected, found) = (maps.features(), table.columns());
        if found != expected {
            return Err(NumbersError::Columns { expected, found });
        }
        let storage = storage.unwrap_or_else(|| self.quicker(table, &maps, unknown_in));
        // Rows with a bad entry, and the column of that entry.
        let bad = Mutex::new(Vec::new());
        let refuse = |row: usize, column: usize| {
            bad.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((row, column));
        };
        let matrix = match storage {
            Storage::Dense => self.encode_dense(table, &maps, unknown_in, refuse),
            Storage::Csr => self.encode_sparse_rows(table, &maps, unknown_in, refuse),
        };
        let mut bad = bad.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        bad.sort_unstable();
        match bad.first() {
            Some(&(row, column)) if !self.invalid.is_total() => {
                Err(NumbersError::NotFinite { row, column })
            }
            _ => {
                let null_rows = bad.into_iter().map(|(row, _)| row).collect();
                Ok(EncodedNumbers { matrix, null_rows })
            }
        }
    }

    /// The maps of all columns with their first encoded column, if each is a number whose missing cells
    /// are refused.
    fn plain_numbers(&self) -> Option<Vec<(u32, Number)>> {
        if self.image {
            return None;
        }
        let number =
            |encoder: &super::column::ColumnEncoder| match (&encoder.rule, &encoder.missing) {
                _ if encoder.date.is_some() => None,
                (Rule::Number(number), Fallback::Refuse) => Some((encoder.start(), number.clone())),
                _ => None,
            };
        self.encoders.iter().map(number).collect()
    }

    fn maps(&self) -> Option<Maps> {
        let plain = self.plain_numbers()?;
        let together = !self.pairs.is_empty() || self.fourier.is_some();
        let alone = !together && plain.iter().all(|(_, number)| number.hats.is_none());
        Some(match self.libsvm {
            Some((features, bounds)) => Maps::Alike { features: features as usize, bounds },
            None if alone && plain.iter().all(|(_, number)| number.encode(0.0) == 0.0) => {
                Maps::KeepingZero(plain)
            }
            None => Maps::Each(plain),
        })
    }

    fn quicker(&self, table: &impl NumberRows, maps: &Maps, unknown_in: UnknownIn) -> Storage {
        let mut encoder = OneRow::new(self, maps, unknown_in);
        let (mut rows, mut entries) = (0, 0);
        for row in (0..table.rows()).step_by((table.rows() / LOOKED_AT).max(1)) {
            rows += 1;
            // A row that is not finite is refused later.
            entries += encoder.encode(table, row).map_or(0, <[_]>::len);
        }
        let sparse = (entries as f64) < SPARSE_BELOW * (rows * self.width) as f64;
        if sparse { Storage::Csr } else { Storage::Dense }
    }

    fn encode_dense(
        &self,
        table: &impl NumberRows,
        maps: &Maps,
        unknown_in: UnknownIn,
        refuse: impl Fn(usize, usize) + Sync,
    ) -> Matrix {
        let (rows, width) = (table.rows(), self.width);
        let mut values = vec![0.0_f32; rows * width];
        values.par_chunks_mut((width * ROWS_PER_PIECE).max(1)).enumerate().for_each(
            |(piece, values)| {
                let mut encoder = OneRow::new(self, maps, unknown_in);
                for (place, stored) in values.chunks_mut(width.max(1)).enumerate() {
                    let row = piece * ROWS_PER_PIECE + place;
                    match encoder.encode(table, row) {
                        Ok(pairs) => {
                            pairs
                                .iter()
                                .for_each(|(at, value)| stored[*at as usize] = *value as f32);
                        }
                        Err(column) => refuse(row, column),
                    }
                }
            },
        );
        Matrix::Dense(DenseMatrix::new(values, rows, width))
    }

    fn encode_sparse_rows(
        &self,
        table: &impl NumberRows,
        maps: &Maps,
        unknown_in: UnknownIn,
        refuse: impl Fn(usize, usize) + Sync,
    ) -> Matrix {
        let rows = table.rows();
        let piece = |piece: usize| {
            let mut encoder = OneRow::new(self, maps, unknown_in);
            let (mut ends, mut indices, mut values) = (Vec::new(), Vec::new(), Vec::new());
            for row in piece * ROWS_PER_PIECE..rows.min((piece + 1) * ROWS_PER_PIECE) {
                match encoder.encode(table, row) {
                    Ok(pairs) => {
                        for (at, value) in pairs.iter().filter(|(_, value)| *value != 0.0) {
                            indices.push(*at);
                            values.push(*value as f32);
                        }
                    }
                    Err(column) => refuse(row, column),
                }
                ends.push(indices.len());
            }
            (ends, indices, values)
        };
        let pieces: Vec<(Vec<usize>, Vec<u32>, Vec<f32>)> =
            (0..rows.div_ceil(ROWS_PER_PIECE)).into_par_iter().map(piece).collect();
        let entries = pieces.iter().map(|(_, indices, _)| indices.len()).sum();
        let mut starts = Vec::with_capacity(rows + 1);
        let (mut all_indices, mut all_values) =
            (Vec::with_capacity(entries), Vec::with_capacity(entries));
        starts.push(0);
        for (ends, indices, values) in pieces {
            let before = all_indices.len();
            starts.extend(ends.into_iter().map(|end| before + end));
            all_indices.extend(indices);
            all_values.extend(values);
        }
        Matrix::Csr(CsrMatrix::new(starts, all_indices, all_values, self.width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;
    use crate::encode::Cell;
    use crate::matrix::MatrixBuilder;
    use proptest::prelude::*;

    struct Rows(Vec<[f64; 3]>);

    impl NumberRows for Rows {
        fn rows(&self) -> usize {
            self.0.len()
        }
        fn columns(&self) -> usize {
            3
        }
        fn write(&self, row: usize, entries: &mut [f64]) {
            entries.copy_from_slice(&self.0[row]);
        }
    }

    fn schema(scale: &str, bias: bool, storage: &str, radius: f64) -> Schema {
        unfolded(scale, bias, storage, radius, false)
    }

    fn unfolded(scale: &str, bias: bool, storage: &str, radius: f64, bases: bool) -> Schema {
        let mut text = format!(
            "bias = {bias}\nstorage = \"{storage}\"\n[clip]\nnorm = \"l2\"\nradius = {radius:?}\n\
             [target]\ncolumn = \"y\"\nclasses = [\"a\", \"b\"]\n"
        );
        for (name, bounds) in [("u", "[0, 10]"), ("v", "[-3, 5]"), ("w", "[-1, 1]")] {
            text += &format!(
                "[[columns]]\nname = \"{name}\"\ntype = \"number\"\nbounds = {bounds}\n\
                 scale = \"{scale}\"\n"
            );
            let basis = match name {
                "u" => "{ hats = 5, knots = \"log\" }",
                "v" => "{ hats = 7, cyclic = true, weight = 1.5 }",
                _ => "{ knots = [-0.5, 0, 0.75] }",
            };
            text += &if bases { format!("basis = {basis}\n") } else { String::new() };
        }
        if bases {
            text = text.replacen("[clip]\n", "[clip]\nrows = \"fill\"\n", 1);
            text += "[fourier]\ncount = 4\nwidth = 0.7\n";
            text += "[[pairs]]\ncolumns = [\"w\", \"u\"]\nhats = 3\nweight = 0.5\n";
        }
        Schema::from_toml(&text).unwrap()
    }

    proptest! {
        #[test]
        fn both_ways_give_the_same_bits(
            rows in prop::collection::vec(prop::array::uniform3(-12.0..12.0_f64), 0..600),
            scale in prop::sample::select(vec!["unit", "symmetric", "none"]),
            storage in prop::sample::select(vec!["dense", "csr"]),
            bias in any::<bool>(),
            radius in prop::sample::select(vec![0.3, 1.0, 1.7, 40.0]),
            bases in any::<bool>(),
            scored in any::<bool>(),
        ) {
            let encoding = Encoding::new(&unfolded(scale, bias, storage, radius, bases));
            let unknown_in = if scored { UnknownIn::Prediction } else { UnknownIn::Training };
            let mut encoder = encoding.rows(unknown_in);
            let mut builder = MatrixBuilder::new(encoding.storage(), encoding.width());
            for row in &rows {
                builder.push(encoder.encode(|source| Cell::Number(row[source])).unwrap());
            }
            let one_by_one = builder.finish();
            let at_once = encoding.encode_numbers(&Rows(rows.clone()), None, unknown_in).unwrap().matrix;
            let storage = Some(encoding.storage());
            let asked = encoding.encode_numbers(&Rows(rows.clone()), storage, unknown_in).unwrap().matrix;
            prop_assert_eq!(matches!(asked, Matrix::Csr(_)), storage == Some(Storage::Csr));
            prop_assert_eq!(at_once.rows(), rows.len());
            for row in 0..rows.len() {
                prop_assert_eq!(at_once.dense_row(row), one_by_one.dense_row(row));
                prop_assert_eq!(asked.dense_row(row), one_by_one.dense_row(row));
            }
        }
    }

    #[test]
    fn an_entry_that_is_not_finite_is_named() {
        for storage in ["dense", "csr"] {
            let encoding = Encoding::new(&schema("unit", true, storage, 1.0));
            let storage = Some(encoding.storage());
            let mut rows = vec![[0.5; 3]; 1000];
            rows[700][1] = f64::NAN;
            rows[900][0] = f64::INFINITY;
            let refused =
                encoding.encode_numbers(&Rows(rows), storage, UnknownIn::Training).unwrap_err();
            assert_eq!(refused, NumbersError::NotFinite { row: 700, column: 1 });
        }
    }

    #[test]
    fn rows_of_mostly_zeros_are_stored_sparse_where_the_storage_is_open() {
        let encoding = Encoding::new(&schema("none", false, "dense", 40.0));
        for (every, sparse) in [(1, false), (3, false), (7, true), (1000, true)] {
            let value = |at: usize| if at.is_multiple_of(every) { 1.0 } else { 0.0 };
            let rows = Rows((0..3001).map(|row| [0, 1, 2].map(|at| value(3 * row + at))).collect());
            let [open, dense] = [None, Some(Storage::Dense)].map(|storage| {
                encoding.encode_numbers(&rows, storage, UnknownIn::Training).unwrap().matrix
            });
            assert_eq!(matches!(open, Matrix::Csr(_)), sparse, "{every}");
            assert!((0..3001).all(|row| open.dense_row(row) == dense.dense_row(row)));
        }
        let none =
            encoding.encode_numbers(&Rows(Vec::new()), None, UnknownIn::Training).unwrap().matrix;
        assert_eq!((none.rows(), none.columns()), (0, 3));
    }
}
