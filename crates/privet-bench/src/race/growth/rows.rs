//! Generated rows for the growth curves, and their export.
//!
//! **Law.** Entries are uniform on [−1, 1]/√k, k of them a row: all columns of a dense row, and of a
//! sparse one [`NONZEROS`] at distinct random columns. The label is the sign of ⟨x, w⟩ + noise, with w
//! drawn once, entries ±1. One seed for every size.

use crate::error::BenchError;
use crate::race::RaceError;
use privet_data::bound::Clip;
use privet_data::matrix::{CsrMatrix, DenseMatrix, Matrix};
use privet_data::read::Report;
use privet_data::schema::Storage;
use privet_data::{Dataset, Schema, Target};
use privet_dp::noise::{FixedSeed, Source};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Number of nonzero entries of a sparse row.
pub const NONZEROS: usize = 50;
const SEED: u64 = 20_261_115;
/// Half the width of the label's noise, beside a standard deviation of ⟨x, w⟩ of 1/√3.
const LABEL_NOISE: f64 = 0.5;

/// A shape of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Records.
    pub rows: usize,
    /// Features.
    pub columns: usize,
    /// Dense or sparse.
    pub storage: Storage,
}

impl Size {
    /// Entries stored in each row.
    fn entries(self) -> usize {
        match self.storage {
            Storage::Dense => self.columns,
            Storage::Csr => NONZEROS.min(self.columns),
        }
    }

    /// Bytes of its matrix.
    pub fn bytes(self) -> u64 {
        let entries = self.rows * self.entries();
        (match self.storage {
            Storage::Dense => 4 * entries,
            // A value and a column each, and the row offsets.
            Storage::Csr => 8 * entries + 8 * (self.rows + 1),
        }) as u64
    }

    /// The schema of such rows.
    pub fn schema(self) -> Result<Schema, BenchError> {
        Ok(Schema::from_toml(&format!(
            "[file]\nformat = \"libsvm\"\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\nclasses = [\"-1\", \
             \"1\"]\n[libsvm]\nfeatures = {}\nbounds = [-1.0, 1.0]\n",
            self.columns
        ))?)
    }

    /// Draws the rows.
    pub fn draw(self) -> Result<Dataset, BenchError> {
        let clip = Clip::new(self.schema()?.clip());
        let mut source = FixedSeed::new(SEED);
        let signs: Vec<f64> =
            (0..self.columns).map(|_| if source.bits(1) == 0 { -1.0 } else { 1.0 }).collect();
        let entries = self.entries();
        let scale = 1.0 / (entries.max(1) as f64).sqrt();
        let mut row: Vec<(u32, f64)> = (0..entries as u32).map(|column| (column, 0.0)).collect();
        let mut columns = Vec::new();
        let mut values = Vec::with_capacity(self.rows * entries);
        let mut indices = Vec::new();
        if self.storage == Storage::Csr {
            indices.reserve_exact(self.rows * entries);
        }
        let mut codes = Vec::with_capacity(self.rows);
        for _ in 0..self.rows {
            if self.storage == Storage::Csr {
                distinct(&mut columns, entries, self.columns, &mut source);
                row.iter_mut().zip(&columns).for_each(|(entry, column)| entry.0 = *column);
            }
            row.iter_mut().for_each(|entry| entry.1 = scale * symmetric(&mut source));
            let score: f64 = row.iter().map(|(column, x)| x * signs[*column as usize]).sum();
            codes.push(u32::from(score + LABEL_NOISE * symmetric(&mut source) > 0.0));
            clip.apply(&mut row);
            values.extend(row.iter().map(|(_, value)| *value as f32));
            if self.storage == Storage::Csr {
                indices.extend(row.iter().map(|(column, _)| *column));
            }
        }
        let features = match self.storage {
            Storage::Dense => Matrix::Dense(DenseMatrix::new(values, self.rows, self.columns)),
            Storage::Csr => {
                let starts = (0..=self.rows).map(|row| row * entries).collect();
                Matrix::Csr(CsrMatrix::new(starts, indices, values, self.columns))
            }
        };
        let target = Target::Class { codes, count: 2 };
        Ok(Dataset { features, target, units: None, report: Report::default() })
    }
}

/// Uniform on [−1, 1).
fn symmetric(source: &mut FixedSeed) -> f64 {
    // 53 bits, as many as an f64 holds.
    (source.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Distinct random columns, ascending.
fn distinct(columns: &mut Vec<u32>, count: usize, of: usize, source: &mut FixedSeed) {
    columns.clear();
    while columns.len() < count {
        let column = source.below(of as u64) as u32;
        if let Err(place) = columns.binary_search(&column) {
            columns.insert(place, column);
        }
    }
}

/// The extensions of the files of an export.
pub const EXTENSIONS: [&str; 4] = ["values", "labels", "indices", "starts"];

/// Writes rows as `peers/growth.py` reads them.
pub fn export(data: &Dataset, stem: &Path) -> Result<(), BenchError> {
    let write = |extension: &str, bytes: &mut dyn Iterator<Item = [u8; 8]>, width: usize| {
        let path = stem.with_extension(extension);
        let written = || -> io::Result<()> {
            let mut file = BufWriter::with_capacity(1 << 20, File::create(&path)?);
            for word in bytes {
                file.write_all(&word[..width])?;
            }
            file.flush()
        };
        written().map_err(BenchError::on_path(&path))
    };
    let labels = data.target.signed().ok_or(RaceError::NotTwoClasses)?;
    write("labels", &mut labels.iter().map(|label| single(*label as f32)), 4)?;
    match &data.features {
        Matrix::Dense(dense) => {
            write("values", &mut dense.values().iter().map(|value| single(*value)), 4)
        }
        Matrix::Csr(csr) => {
            write("values", &mut csr.values().iter().map(|value| single(*value)), 4)?;
            let indices = csr.indices().iter().map(|index| u64::from(*index).to_le_bytes());
            write("indices", &mut indices.into_iter(), 4)?;
            let starts = csr.starts().iter().map(|start| (*start as u64).to_le_bytes());
            write("starts", &mut starts.into_iter(), 8)
        }
    }
}

/// The bytes of a 32-bit number, and four more.
fn single(value: f32) -> [u8; 8] {
    u64::from(value.to_bits()).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_to_the_radius_and_the_export_holds_them() {
        let folder = tempfile::tempdir().unwrap();
        for storage in [Storage::Dense, Storage::Csr] {
            let size = Size { rows: 40, columns: 70, storage };
            let data = size.draw().unwrap();
            assert_eq!(data.features.bytes() as u64, size.bytes());
            let labels = data.target.signed().unwrap();
            assert!(labels.contains(&1.0) && labels.contains(&-1.0));
            for row in 0..40 {
                let dense = data.features.dense_row(row);
                let squares: f64 = dense.iter().map(|x| f64::from(*x).powi(2)).sum();
                assert!(squares <= 1.0 && squares > 0.1);
                let found = dense.iter().filter(|x| **x != 0.0).count();
                assert_eq!(found, if storage == Storage::Csr { NONZEROS } else { 70 });
            }
            let stem = folder.path().join("rows");
            export(&data, &stem).unwrap();
            let bytes = std::fs::read(stem.with_extension("values")).unwrap();
            let first = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let dense = data.features.dense_row(0);
            assert_eq!(Some(&first), dense.iter().find(|x| **x != 0.0));
            let width = if storage == Storage::Csr { NONZEROS } else { 70 };
            assert_eq!(bytes.len(), 4 * 40 * width);
        }
    }
}
