//! Whole tables of numbers at once, by all threads.
//!
//! A table without categories needs no cells: each number goes through its column's map, and the row is
//! clipped and stored. The arithmetic is that of [`super::RowEncoder`], entry by entry in the same
//! order, so both give the same bits (a zero, which is left out here, adds exactly nothing to a norm):
//! `both_ways_give_the_same_bits`.

use super::column::{MissingRule, Number, Rule};
use super::{Encoding, Storage, UnknownIn};
use crate::matrix::{DenseMatrix, Matrix, MatrixBuilder};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows that a thread takes at a time.
const PIECE: usize = 256;

/// Rows of numbers, one for each feature of a schema, in its order.
pub trait NumberRows: Sync {
    /// How many rows.
    fn rows(&self) -> usize;
    /// How many numbers each has.
    fn columns(&self) -> usize;
    /// Writes a row into `entries`, which is as long.
    fn write(&self, row: usize, entries: &mut [f64]);
}

/// Why a table of numbers could not be encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumbersError {
    /// A row has another number of entries than the schema has features.
    Columns {
        /// How many the schema has.
        expected: usize,
        /// How many there are.
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

impl Encoding {
    /// How many numbers a row of [`Encoding::encode_numbers`] has; `None` where the schema has features
    /// that are not plain numbers.
    pub fn number_features(&self) -> Option<usize> {
        let plain = self.plain()?;
        Some(self.libsvm.map_or(plain.len(), |(features, _)| features as usize))
    }

    /// Encodes and clips a table that holds a plain number for each feature.
    pub fn encode_numbers(&self, table: &impl NumberRows) -> Result<Matrix, NumbersError> {
        let plain = self.plain().ok_or(NumbersError::NotNumbers)?;
        let expected = self.libsvm.map_or(plain.len(), |(features, _)| features as usize);
        let found = table.columns();
        if found != expected {
            return Err(NumbersError::Columns { expected, found });
        }
        if self.libsvm.is_none() && self.storage == Storage::Dense {
            self.encode_dense(table, &plain)
        } else {
            self.encode_pairs(table, &plain)
        }
    }

    /// The maps of all columns, if each is a number that may not be missing.
    fn plain(&self) -> Option<Vec<Number>> {
        let number =
            |encoder: &super::column::ColumnEncoder| match (&encoder.rule, &encoder.missing) {
                (Rule::Number(number), MissingRule::Refuse) => Some(*number),
                _ => None,
            };
        self.encoders.iter().map(number).collect()
    }

    fn encode_dense(
        &self,
        table: &impl NumberRows,
        plain: &[Number],
    ) -> Result<Matrix, NumbersError> {
        let (rows, width, features) = (table.rows(), self.width, plain.len());
        let mut values = vec![0.0_f32; rows * width];
        let refused = AtomicUsize::new(usize::MAX);
        values.par_chunks_mut(width * PIECE).enumerate().for_each(|(piece, values)| {
            let mut entries = vec![0.0; width];
            let mut pairs: Vec<(u32, f64)> = Vec::with_capacity(width);
            for (place, stored) in values.chunks_mut(width).enumerate() {
                let row = piece * PIECE + place;
                table.write(row, &mut entries[..features]);
                // All of them, without a way out: the loop is then done several at a time.
                if entries[..features].iter().fold(false, |odd, x| odd | !x.is_finite()) {
                    let column = entries[..features].iter().position(|x| !x.is_finite());
                    let first = row * features + column.unwrap_or(0);
                    refused.fetch_min(first, Ordering::Relaxed);
                    return;
                }
                pairs.clear();
                for ((at, entry), number) in (0_u32..).zip(&entries).zip(plain) {
                    let encoded = number.encode(*entry);
                    if encoded != 0.0 {
                        pairs.push((at, encoded));
                    }
                }
                pairs.extend(self.bias.map(|value| (width as u32 - 1, value)));
                self.clip.apply(&mut pairs);
                pairs.iter().for_each(|(at, value)| stored[*at as usize] = *value as f32);
            }
        });
        match refused.into_inner() {
            usize::MAX => Ok(Matrix::Dense(DenseMatrix::new(values, rows, width))),
            place => {
                Err(NumbersError::NotFinite { row: place / features, column: place % features })
            }
        }
    }

    fn encode_pairs(
        &self,
        table: &impl NumberRows,
        plain: &[Number],
    ) -> Result<Matrix, NumbersError> {
        let mut builder = MatrixBuilder::new(self.storage, self.width);
        let mut rows = self.rows(UnknownIn::Training);
        let mut entries = vec![0.0; table.columns()];
        for row in 0..table.rows() {
            table.write(row, &mut entries);
            if let Some(column) = entries.iter().position(|x| !x.is_finite()) {
                return Err(NumbersError::NotFinite { row, column });
            }
            let numbered = (0_u32..).zip(entries.iter().copied());
            builder.push(match self.libsvm {
                Some(_) => rows.encode_sparse(numbered.filter(|(_, value)| *value != 0.0)),
                None => rows.encode_pairs(
                    numbered.zip(plain).map(|((at, value), number)| (at, number.encode(value))),
                ),
            });
        }
        Ok(builder.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;
    use crate::encode::Cell;
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
        let mut text = format!(
            "bias = {bias}\nstorage = \"{storage}\"\n[clip]\nnorm = \"l2\"\nradius = {radius:?}\n\
             [target]\ncolumn = \"y\"\nclasses = [\"a\", \"b\"]\n"
        );
        for (name, bounds) in [("u", "[0, 10]"), ("v", "[-3, 5]"), ("w", "[-1, 1]")] {
            text += &format!(
                "[[columns]]\nname = \"{name}\"\ntype = \"number\"\nbounds = {bounds}\n\
                 scale = \"{scale}\"\n"
            );
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
        ) {
            let encoding = Encoding::new(&schema(scale, bias, storage, radius));
            let mut encoder = encoding.rows(UnknownIn::Training);
            let mut builder = MatrixBuilder::new(encoding.storage(), encoding.width());
            for row in &rows {
                builder.push(encoder.encode(|source| Cell::Number(row[source])).unwrap());
            }
            let one_by_one = builder.finish();
            let at_once = encoding.encode_numbers(&Rows(rows.clone())).unwrap();
            prop_assert_eq!(at_once.rows(), rows.len());
            for row in 0..rows.len() {
                prop_assert_eq!(at_once.dense_row(row), one_by_one.dense_row(row));
            }
        }
    }

    #[test]
    fn an_entry_that_is_not_finite_is_named() {
        for storage in ["dense", "csr"] {
            let encoding = Encoding::new(&schema("unit", true, storage, 1.0));
            let mut rows = vec![[0.5; 3]; 1000];
            rows[700][1] = f64::NAN;
            rows[900][0] = f64::INFINITY;
            let refused = encoding.encode_numbers(&Rows(rows)).unwrap_err();
            assert_eq!(refused, NumbersError::NotFinite { row: 700, column: 1 });
        }
    }
}
