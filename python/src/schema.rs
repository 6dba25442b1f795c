//! Schemas: public facts as JSON or TOML, and what they make of a table.

use crate::error::{Failure, Outcome};
use crate::input;
use numpy::{PyArray2, PyArrayMethods, ToPyArray};
use privet_data::matrix::Matrix;
use privet_data::schema::{ColumnKind, Draft, TargetKind};
use privet_data::{Encoding, Schema};
use pyo3::prelude::*;
use serde_json::json;

/// A schema from JSON, checked.
pub fn checked(json: &str) -> Outcome<Schema> {
    let draft: Draft =
        serde_json::from_str(json).map_err(|error| Failure::json("schema: ", &error))?;
    Ok(draft.check()?)
}

/// TOML to JSON, checked.
#[pyfunction]
pub fn schema_from_toml(text: &str) -> Outcome<String> {
    Ok(serde_json::to_string(&Schema::from_toml(text)?)?)
}

/// JSON to TOML, checked.
#[pyfunction]
pub fn schema_to_toml(schema: &str) -> Outcome<String> {
    Ok(checked(schema)?.to_toml())
}

/// A schema's one form, and what follows from it (features, encoded columns, classes or bounds, unit),
/// both as JSON.
#[pyfunction]
pub fn schema_checked(schema: &str) -> Outcome<(String, String)> {
    let schema = checked(schema)?;
    let encoding = Encoding::new(&schema);
    let is_feature = |kind: &ColumnKind| {
        !matches!(kind, ColumnKind::Ignore | ColumnKind::Target | ColumnKind::Unit)
    };
    let names = schema.columns().iter().filter(|column| is_feature(&column.kind));
    let bounds = match schema.target().kind {
        TargetKind::Classes(_) => None,
        TargetKind::Number { low, high } => Some([low, high]),
    };
    let facts = json!({
        "features": names.map(|column| &column.name).collect::<Vec<_>>(),
        "sparse_features": schema.libsvm().map(|facts| facts.features),
        "numbers_only": encoding.number_features().is_some(),
        "encoded": encoding.column_names(),
        "radius": encoding.l2_radius(),
        "target": schema.target().column,
        "classes": schema.classes(),
        "target_bounds": bounds,
        "unit": schema.unit_column().map(|unit| &unit.column),
        "max_records": schema.unit_column().map(|unit| unit.max_records),
        "bias": schema.bias(),
    });
    Ok((serde_json::to_string(&schema)?, facts.to_string()))
}

/// Encoded, clipped rows as a `float32` array.
#[pyfunction]
pub fn schema_encode<'py>(
    py: Python<'py>,
    schema: &str,
    features: &Bound<'py, PyAny>,
) -> Outcome<Bound<'py, PyArray2<f32>>> {
    let schema = checked(schema)?;
    let features = input::features(features, &schema, &input::to_use())?;
    let (rows, columns) = (features.matrix.rows(), features.matrix.columns());
    let values = match features.matrix {
        Matrix::Dense(dense) => dense.values().to_pyarray(py),
        sparse => {
            let values = (0..rows).flat_map(|row| sparse.dense_row(row)).collect::<Vec<f32>>();
            values.to_pyarray(py)
        }
    };
    Ok(values.reshape([rows, columns])?)
}
