//! Generated tables in common file formats: a folder of CSV or Parquet files, their columns numbers and
//! a class.

use super::shards::SHARD;
use crate::error::BenchError;
use privet_data::schema::Schema;
use rayon::prelude::*;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// The format of a table's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Csv,
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Format {
    /// All formats that this program can write and read.
    pub fn all() -> Vec<Self> {
        vec![
            Self::Csv,
            #[cfg(feature = "parquet")]
            Self::Parquet,
        ]
    }

    /// Its name, and the extension of its files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        }
    }
}

/// Columns of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Numbers with five decimals, within ±10.
    Reals,
    /// Integers: ten columns up to 7,000, the others zeros and ones, as in Covertype.
    Whole,
}

/// Generates the next record: fills in the numbers, returns the class.
pub(super) type Next = Box<dyn FnMut(&mut Vec<f64>) -> u32>;

/// A generated table.
pub(super) struct Source<'a> {
    pub kind: Kind,
    /// Number of columns without the class.
    pub columns: usize,
    pub rows: usize,
    /// The records of a part.
    pub records: &'a (dyn Fn(u64) -> Next + Sync),
}

impl Source<'_> {
    /// The schema to read it by.
    pub fn schema(&self, format: Format) -> Result<(Schema, String), BenchError> {
        let mut text = format!(
            "bias = true\n[file]\nformat = \"{}\"\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
             classes = [\"0\", \"1\"]\n",
            format.name()
        );
        for column in 0..self.columns {
            let bounds = match self.kind {
                Kind::Reals => "[-10, 10]",
                Kind::Whole if column < 10 => "[0, 7000]",
                Kind::Whole => "[0, 1]",
            };
            // Writing to memory cannot fail.
            let _ = write!(
                text,
                "[[columns]]\nname = \"x{column}\"\ntype = \"number\"\nbounds = {bounds}\nscale = \"none\"\n"
            );
        }
        Ok((Schema::from_toml(&text)?, text))
    }

    /// Writes its files into a folder, all cores at a time; returns their total bytes.
    pub fn write(&self, folder: &Path, format: Format) -> Result<u64, BenchError> {
        fs::create_dir_all(folder).map_err(BenchError::on_path(folder))?;
        let write = |part: usize| {
            let path = folder.join(format!("part-{part:04}.{}", format.name()));
            let rows = SHARD.min(self.rows - part * SHARD);
            let next = (self.records)(part as u64);
            match format {
                Format::Csv => self.csv(&path, rows, next)?,
                #[cfg(feature = "parquet")]
                Format::Parquet => self.parquet(&path, rows, next)?,
            }
            Ok(fs::metadata(&path).map_err(BenchError::on_path(&path))?.len())
        };
        let bytes: Result<Vec<u64>, BenchError> =
            (0..self.rows.div_ceil(SHARD)).into_par_iter().map(write).collect();
        Ok(bytes?.iter().sum())
    }

    fn csv(&self, path: &Path, rows: usize, mut next: Next) -> Result<(), BenchError> {
        let mut written = || -> std::io::Result<()> {
            let mut file = BufWriter::with_capacity(1 << 20, fs::File::create(path)?);
            let header: Vec<String> =
                (0..self.columns).map(|column| format!("x{column}")).collect();
            writeln!(file, "{},y", header.join(","))?;
            let (mut record, mut text) = (Vec::new(), String::new());
            for _ in 0..rows {
                let class = next(&mut record);
                text.clear();
                for value in &record {
                    // Writing to memory cannot fail.
                    let _ = match self.kind {
                        Kind::Reals => write!(text, "{value:.5},"),
                        Kind::Whole => write!(text, "{value},"),
                    };
                }
                writeln!(file, "{text}{class}")?;
            }
            file.flush()
        };
        written().map_err(BenchError::on_path(path))
    }

    #[cfg(feature = "parquet")]
    fn parquet(&self, path: &Path, rows: usize, mut next: Next) -> Result<(), BenchError> {
        use parquet::data_type::{DoubleType, Int64Type};
        use parquet::file::writer::SerializedFileWriter;
        use parquet::schema::parser::parse_message_type;
        let kind = if self.kind == Kind::Reals { "double" } else { "int64" };
        let columns: String =
            (0..self.columns).map(|column| format!("required {kind} x{column}; ")).collect();
        let message = format!("message table {{ {columns}required int64 y; }}");
        let (mut values, mut classes) = (vec![Vec::with_capacity(rows); self.columns], Vec::new());
        let mut record = Vec::new();
        for _ in 0..rows {
            classes.push(i64::from(next(&mut record)));
            let round = |value: f64| match self.kind {
                Kind::Reals => (value * 1e5).round() / 1e5,
                Kind::Whole => value,
            };
            values.iter_mut().zip(&record).for_each(|(column, value)| column.push(round(*value)));
        }
        let written = || -> Result<(), parquet::errors::ParquetError> {
            let file = fs::File::create(path)?;
            let message = std::sync::Arc::new(parse_message_type(&message)?);
            let mut writer = SerializedFileWriter::new(file, message, Default::default())?;
            let mut group = writer.next_row_group()?;
            for column in &values {
                let Some(mut into) = group.next_column()? else { break };
                if self.kind == Kind::Reals {
                    into.typed::<DoubleType>().write_batch(column, None, None)?;
                } else {
                    let whole: Vec<i64> = column.iter().map(|value| *value as i64).collect();
                    into.typed::<Int64Type>().write_batch(&whole, None, None)?;
                }
                into.close()?;
            }
            if let Some(mut into) = group.next_column()? {
                into.typed::<Int64Type>().write_batch(&classes, None, None)?;
                into.close()?;
            }
            group.close()?;
            writer.close().map(|_| ())
        };
        written().map_err(|error| BenchError::on_path(path)(std::io::Error::other(error)))
    }
}

/// A folder that is removed when dropped.
pub(super) struct Passing(pub PathBuf);

impl Drop for Passing {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
