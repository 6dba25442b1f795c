//! The bodies of the fuzz targets: any bytes in, no panic out.
//!
//! Each function takes raw bytes and returns how many of its stages they passed, so that the
//! replay test can tell that a seed meant to be valid still is. `fuzz/` calls them under libFuzzer
//! (`make fuzz`, nightly); `tests/replay.rs` calls them on the committed corpus (`make test`,
//! stable). Beyond "no panic" they assert what the rest of the program relies on:
//!
//! | target | reads | asserted |
//! |---|---|---|
//! | [`schema`] | a schema in TOML | it reads back from its own text; its encoding has a finite positive radius |
//! | [`csv`], [`libsvm`], [`parquet`] | a table, with a fixed schema | as many targets as rows, known classes, every row within the radius |
//! | [`model`] | a model file | verification ends with a verdict; a valid one has a finite ε |
#![forbid(unsafe_code)]

use privet_data::matrix::Matrix;
use privet_data::{DataError, Dataset, Encoding, Schema, Target, read};
use privet_learn::file::{Seal, from_json};
use std::sync::LazyLock;

/// A target's body.
pub type Body = fn(&[u8]) -> usize;

/// Every target by name.
pub const TARGETS: [(&str, Body); 5] =
    [("schema", schema), ("csv", csv), ("libsvm", libsvm), ("parquet", parquet), ("model", model)];

/// Larger inputs only slow the search down.
const LARGEST: usize = 1 << 20;

/// Columns of every type, so that each encoder meets strange cells.
pub const TABLE_SCHEMA: &str = include_str!("../../../fuzz/table.toml");

/// A sparse table.
pub const SPARSE_SCHEMA: &str = r#"
[file]
format = "libsvm"
[clip]
norm = "linf"
radius = 0.5
[target]
classes = ["-1", "+1"]
[libsvm]
features = 1000
bounds = [-10, 10]
"#;

/// A schema in TOML.
pub fn schema(bytes: &[u8]) -> usize {
    let Ok(text) = std::str::from_utf8(&bytes[..bytes.len().min(LARGEST)]) else { return 0 };
    let Ok(schema) = Schema::from_toml(text) else { return 0 };
    let again = Schema::from_toml(&schema.to_toml());
    assert_eq!(again.as_ref(), Ok(&schema), "a schema must read back from its own text");
    let encoding = Encoding::new(&schema);
    assert!(encoding.width() > 0);
    assert!(encoding.l2_radius() > 0.0 && encoding.l2_radius().is_finite());
    1
}

/// A table as CSV, possibly compressed.
pub fn csv(bytes: &[u8]) -> usize {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| fixed(TABLE_SCHEMA));
    table(bytes, &SCHEMA, read::csv_bytes)
}

/// A table as LIBSVM text, possibly compressed.
pub fn libsvm(bytes: &[u8]) -> usize {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| fixed(SPARSE_SCHEMA));
    table(bytes, &SCHEMA, read::libsvm_bytes)
}

/// A table as Parquet.
pub fn parquet(bytes: &[u8]) -> usize {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| fixed(TABLE_SCHEMA));
    table(bytes, &SCHEMA, read::parquet_bytes)
}

/// A model file: read without and with its seal, then verified.
pub fn model(bytes: &[u8]) -> usize {
    let bytes = &bytes[..bytes.len().min(LARGEST)];
    let Ok(model) = from_json(bytes, Seal::Unchecked) else { return 0 };
    let verdict = privet_learn::verify(&model);
    if !verdict.valid {
        return 1;
    }
    assert!(verdict.guarantee.is_some_and(|found| found.epsilon.is_finite()));
    assert!(from_json(bytes, Seal::Required).is_ok(), "a valid model has an unbroken seal");
    2
}

fn fixed(text: &str) -> Schema {
    Schema::from_toml(text).expect("the fixed schemas are valid")
}

fn table(
    bytes: &[u8],
    schema: &Schema,
    reader: fn(&[u8], &Schema) -> Result<Dataset, DataError>,
) -> usize {
    let data = match reader(&bytes[..bytes.len().min(LARGEST)], schema) {
        Ok(data) => data,
        Err(error) => {
            // Messages and reason codes are made from the same odd input.
            assert!(!error.to_string().is_empty() && !error.code().is_empty());
            return 0;
        }
    };
    let encoding = Encoding::new(schema);
    assert_eq!(data.target.len(), data.features.rows());
    assert_eq!(data.features.columns(), encoding.width());
    if let Target::Class { codes, count } = &data.target {
        assert!(codes.iter().all(|code| (*code as usize) < *count));
    }
    if let Some(units) = &data.units {
        assert_eq!(units.len(), data.features.rows());
    }
    let radius = encoding.l2_radius();
    for row in 0..data.features.rows() {
        let squares: f64 = match &data.features {
            Matrix::Dense(dense) => dense.row(row).iter().map(square).sum(),
            Matrix::Csr(sparse) => sparse.row(row).1.iter().map(square).sum(),
        };
        assert!(squares.sqrt() <= radius * (1.0 + 1e-12), "a row is longer than the radius");
    }
    1
}

fn square(entry: &f32) -> f64 {
    f64::from(*entry).powi(2)
}
