//! Generated rows in files of rows: one part per file, made by all cores, the same on every machine.

use crate::error::BenchError;
use privet_catalog as catalog;
use privet_catalog::synth::Logistic;
use privet_data::block::{BLOCK_ROWS, BlockWriter};
use privet_data::encode::{Cell, Encoding, UnknownIn};
use privet_data::matrix::MatrixBuilder;
use privet_data::schema::Schema;
use privet_data::{Dataset, Target};
use rayon::prelude::*;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Rows of a file.
pub(super) const SHARD: usize = 1 << 18;
/// The part from which held-out rows are drawn; no file has it.
const HELD_OUT: u64 = u64::MAX;

/// A distribution of rows with its public facts.
pub(super) struct GeneratedRows {
    pub schema: Schema,
    law: Logistic,
}

impl GeneratedRows {
    /// With the distribution of a stand-in and so many columns, the constant one included.
    pub fn like(name: &str, columns: usize) -> Result<Self, BenchError> {
        let law = Logistic { features: columns - 1, ..catalog::law_of(name) };
        let mut text = String::from(
            "bias = true\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nclasses = [\"-1\", \"1\"]\n",
        );
        for column in 0..law.features {
            // Writing to memory cannot fail.
            let _ = write!(
                text,
                "[[columns]]\nname = \"x{column}\"\ntype = \"number\"\nbounds = [-10, 10]\nscale = \"none\"\n"
            );
        }
        Ok(Self { schema: Schema::from_toml(&text)?, law })
    }

    /// Bytes of this many rows.
    pub fn bytes(&self, rows: usize) -> f64 {
        4.0 * rows as f64 * (self.law.features + 2) as f64
    }

    /// Draws the rows of a part, some at a time.
    fn draw(
        &self,
        part: u64,
        rows: usize,
        see: &mut dyn FnMut(Dataset) -> Result<(), BenchError>,
    ) -> Result<(), BenchError> {
        let encoding = Encoding::new(&self.schema);
        let mut encoder = encoding.rows(UnknownIn::Training);
        let place = |name: &str| name.strip_prefix('x').and_then(|number| number.parse().ok());
        let places: Vec<Option<usize>> =
            self.schema.columns().iter().map(|column| place(&column.name)).collect();
        let (mut records, mut record) = (self.law.part(part), Vec::new());
        for start in (0..rows).step_by(BLOCK_ROWS) {
            let count = BLOCK_ROWS.min(rows - start);
            let mut matrix = MatrixBuilder::new(encoding.storage(), encoding.width());
            let mut codes = Vec::with_capacity(count);
            for _ in 0..count {
                codes.push(records.next_into(&mut record));
                let cell = |source: usize| match places[source] {
                    Some(place) => Cell::Number(record[place]),
                    None => Cell::Missing,
                };
                // Normal numbers are within their bounds, or moved there.
                matrix.push(encoder.encode(cell).unwrap_or_default());
            }
            let target = Target::Class { codes, count: 2 };
            let features = matrix.finish();
            see(Dataset { features, target, units: None, report: Default::default() })?;
        }
        Ok(())
    }

    /// Test rows.
    pub fn held_out(&self, rows: usize) -> Result<Vec<Dataset>, BenchError> {
        let mut all = Vec::new();
        self.draw(HELD_OUT, rows, &mut |some| {
            all.push(some);
            Ok(())
        })?;
        Ok(all)
    }

    /// Writes files of rows into a folder.
    pub fn write(&self, folder: &Path, rows: usize) -> Result<Shards, BenchError> {
        let mut shards = Shards::empty(folder)?;
        let parts: Vec<usize> = (0..rows.div_ceil(SHARD)).collect();
        let write = |part: &usize| -> Result<PathBuf, BenchError> {
            let path = folder.join(format!("{part:06}.rows"));
            let mut writer = BlockWriter::create(&path)?;
            let count = SHARD.min(rows - part * SHARD);
            self.draw(*part as u64, count, &mut |some| Ok(writer.push(&some)?))?;
            writer.finish()?;
            Ok(path)
        };
        shards.files = parts.par_iter().map(write).collect::<Result<_, _>>()?;
        Ok(shards)
    }
}

/// Files of rows, removed when dropped.
pub(super) struct Shards {
    folder: PathBuf,
    pub files: Vec<PathBuf>,
}

impl Shards {
    /// No files yet. Made first: partly written files are removed too.
    pub fn empty(folder: &Path) -> Result<Self, BenchError> {
        std::fs::create_dir_all(folder).map_err(BenchError::on_path(folder))?;
        Ok(Self { folder: folder.into(), files: Vec::new() })
    }
}

impl Drop for Shards {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
