//! Schemas: public facts as JSON or TOML, and the encoding they define.

use crate::error::{Failure, Outcome};
use crate::input;
use numpy::{PyArray1, PyArray2, PyArrayMethods, ToPyArray};
use privet_data::Encoding;
use privet_data::matrix::Matrix;
use privet_data::schema::{
    BasisDraft, ColumnDraft, ColumnKind, ColumnType, Draft, Scale, TargetKind,
};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Checked public facts about a table.
#[pyclass(module = "privet._privet", frozen)]
pub struct Schema(pub privet_data::Schema);

fn draft(json: &str) -> Outcome<Draft> {
    serde_json::from_str(json).map_err(|error| Failure::json("schema: ", &error))
}

#[pymethods]
impl Schema {
    /// From JSON, checked.
    #[new]
    fn new(json: &str) -> Outcome<Self> {
        Ok(Self(draft(json)?.of_file().check()?))
    }

    /// From TOML, checked.
    #[staticmethod]
    fn from_toml(text: &str) -> Outcome<Self> {
        Ok(Self(privet_data::Schema::from_toml(text)?))
    }

    /// From a TOML file, checked.
    #[staticmethod]
    fn load(path: PathBuf) -> Outcome<Self> {
        Ok(Self(privet_data::Schema::load(path)?))
    }

    /// From JSON without columns, with a column of numbers for each name; checked.
    #[staticmethod]
    fn of_numbers(
        json: &str,
        names: Vec<String>,
        low: Vec<f64>,
        high: Vec<f64>,
        symmetric: bool,
    ) -> Outcome<Self> {
        let mut draft = draft(json)?;
        let scale = Some(if symmetric { Scale::Symmetric } else { Scale::None });
        let bounds = low.into_iter().zip(high);
        draft.columns.extend(names.into_iter().zip(bounds).map(|(name, (low, high))| {
            let (kind, bounds) = (ColumnType::Number, Some([low, high]));
            let basis = symmetric.then(|| BasisDraft::Word("auto".into()));
            ColumnDraft { name, kind, bounds, scale, basis, ..ColumnDraft::default() }
        }));
        Ok(Self(draft.check()?))
    }

    /// The normal form, the same for equal schemas.
    fn to_json(&self) -> Outcome<String> {
        Ok(serde_json::to_string(&self.0)?)
    }

    fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> Outcome<(Py<PyAny>, (String,))> {
        Ok((slf.get_type().unbind().into_any(), (slf.get().to_json()?,)))
    }

    /// Names of the columns that are features.
    #[getter]
    fn features(&self) -> Vec<&str> {
        let is_feature = |kind: &ColumnKind| {
            !matches!(kind, ColumnKind::Ignore | ColumnKind::Target | ColumnKind::Unit)
        };
        let columns = self.0.columns().iter().filter(|column| is_feature(&column.kind));
        // The parts of a date are read from one column.
        let mut names: Vec<&str> = columns.map(|column| column.source()).collect();
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(*name));
        names
    }

    /// Further labels with their class index, and the class index of unlisted labels.
    #[getter]
    fn labels(&self) -> (Vec<(String, u32)>, Option<u32>) {
        let labels = &self.0.target().labels;
        (labels.of.clone(), labels.others)
    }

    /// The number of features of a table without names, read by position; `None` where there are other
    /// columns.
    #[getter]
    fn number_features(&self) -> Option<usize> {
        Encoding::new(&self.0).number_features()
    }

    /// The number of inputs of a network: all encoded columns but the constant one.
    #[getter]
    fn network_inputs(&self) -> usize {
        let encoding = Encoding::new(&self.0.linear());
        encoding.width() - usize::from(encoding.has_bias())
    }

    /// Names of the encoded columns.
    #[getter]
    fn encoded_columns(&self) -> Vec<String> {
        Encoding::new(&self.0).column_names()
    }

    #[getter]
    fn target(&self) -> &str {
        &self.0.target().column
    }

    #[getter]
    fn classes(&self) -> Option<Vec<String>> {
        self.0.classes().map(<[_]>::to_vec)
    }

    #[getter]
    fn target_bounds(&self) -> Option<(f64, f64)> {
        match self.0.target().kind {
            TargetKind::Classes(_) => None,
            TargetKind::Number { low, high } => Some((low, high)),
        }
    }

    /// The column of unit identifiers.
    #[getter]
    fn unit(&self) -> Option<&str> {
        self.0.unit_column().map(|unit| unit.column.as_str())
    }

    /// True if no record can make reading a table fail.
    #[getter]
    fn is_total(&self) -> bool {
        self.0.invalid().is_total()
    }

    /// The value of the constant column.
    #[getter]
    fn bias(&self) -> Option<f64> {
        self.0.bias()
    }

    /// The factor on encoded entries where scores are sums over columns (`rows = "fill"`); 1 elsewhere.
    #[getter]
    fn score_factor(&self) -> f64 {
        Encoding::new(&self.0).score_factor()
    }

    /// True if a score is a sum over columns for every row, whatever its norm.
    #[getter]
    fn is_additive(&self) -> bool {
        Encoding::new(&self.0).is_additive()
    }

    /// Upper bound on the Euclidean norm of a row.
    #[getter]
    fn radius(&self) -> f64 {
        Encoding::new(&self.0).l2_radius()
    }

    /// Slope and offset of each encoded column but the constant one, as a linear function of its
    /// feature; `None` where some are not linear.
    #[expect(clippy::type_complexity, reason = "two arrays")]
    #[pyo3(signature = () -> "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]] | None")]
    fn lines<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let (slopes, offsets): (Vec<f64>, Vec<f64>) =
            Encoding::new(&self.0).lines()?.into_iter().unzip();
        Some((slopes.to_pyarray(py), offsets.to_pyarray(py)))
    }

    /// The schema for counting records by a column.
    fn counting(&self, by: &str) -> Outcome<Self> {
        Ok(Self(self.0.counting(by)?))
    }

    /// Encoded, clipped rows as a `float32` array.
    #[pyo3(signature = (features) -> "numpy.typing.NDArray[numpy.float32]")]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        features: &Bound<'py, PyAny>,
    ) -> Outcome<Bound<'py, PyArray2<f32>>> {
        if self.0.clip().rows == privet_data::schema::Rows::Fill {
            return Err(Failure::value(
                "rows = \"fill\": such rows are as long as the clip to learn from, and not when they are \
                 scored; accepted is a schema with rows = \"clip\"",
            ));
        }
        let features = input::features(features, &self.0, &input::to_use())?;
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
}
