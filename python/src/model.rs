//! Released models: weights with their certificate.

use crate::error::{Failure, Outcome};
use crate::held::{Held, seal};
use crate::input;
use crate::schema::Schema;
use crate::tune::Tuned;
use crate::watched::watched;
use numpy::{PyArray1, PyArray2, PyArrayMethods, ToPyArray};
use privet_data::Encoding;
use privet_learn::Erm;
use privet_learn::file;
use privet_learn::linear::model::Predictions;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// A released model: noised weights with their certificate. Holds nothing else of the records.
#[pyclass(module = "privet._privet", frozen)]
pub struct Model(pub Held<Erm>, Option<Py<Tuned>>);

impl Model {
    /// A model by itself.
    pub fn new(held: Held<Erm>) -> Self {
        Self(held, None)
    }

    /// The model of a tuning, which is kept as part of that.
    pub fn of(held: Held<Erm>, whole: Py<Tuned>) -> Self {
        Self(held, Some(whole))
    }

    fn features(&self, given: &Bound<'_, PyAny>) -> Outcome<privet_data::Features> {
        input::features(given, &self.0.request().schema, &input::to_use())
    }
}

#[pymethods]
impl Model {
    /// Reads a model from the bytes of its file.
    #[staticmethod]
    #[pyo3(signature = (bytes, *, sealed = true))]
    fn from_bytes(bytes: &[u8], sealed: bool) -> Outcome<Self> {
        Held::from_bytes(bytes, sealed).map(Self::new)
    }

    /// Reads a model file.
    #[staticmethod]
    #[pyo3(signature = (path, *, sealed = true))]
    fn load(path: PathBuf, sealed: bool) -> Outcome<Self> {
        Ok(Self::new(Held::loaded(file::load(&path, seal(sealed))?)))
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        self.0.to_bytes(py)
    }

    /// Writes its file.
    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> Outcome<()> {
        self.0.save(py, &path, overwrite)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> Outcome<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        if let Some(whole) = &self.1 {
            return Ok((
                py.get_type::<Tuned>().getattr("model")?,
                (whole.bind(py).clone().into_any(),),
            ));
        }
        let from_bytes = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((from_bytes, (self.to_bytes(py)?.into_any(),)))
    }

    /// The schema that was asked for.
    fn schema(&self) -> Schema {
        Schema(self.0.request().schema.clone())
    }

    /// What the certificate claims, as JSON.
    fn claim(&self) -> String {
        self.0.claim()
    }

    /// The certificate as JSON.
    fn certificate(&self) -> Outcome<String> {
        self.0.document()
    }

    /// What was asked for, as JSON.
    fn request(&self) -> Outcome<String> {
        Ok(serde_json::to_string(self.0.request())?)
    }

    /// The plan that its public facts give, as JSON.
    fn plan(&self, py: Python<'_>) -> Outcome<String> {
        let request = self.0.request();
        crate::plan::decided(&watched(py, |_| privet_learn::plan(request))??, None)
    }

    /// A row of weights for each linear problem.
    fn weights<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyArray2<f64>>> {
        PyArray2::from_vec2(py, &self.0.weights().weights).map_err(Failure::value)
    }

    /// What is taken from every encoded row before it is weighed, if anything is.
    fn centre<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        Some(self.0.weights().centre.as_ref()?.to_pyarray(py))
    }

    /// Names of the encoded columns.
    fn column_names(&self) -> Vec<String> {
        Encoding::new(&self.0.request().schema).column_names()
    }

    /// Each weight with what the noise of privacy may have done to it, as JSON.
    fn certainty(&self, py: Python<'_>) -> Outcome<String> {
        Ok(serde_json::to_string(&watched(py, |_| self.0.certainty())?)?)
    }

    /// Rows as the weights meet them: encoded, and centred where the model has a centre.
    fn rows<'py>(
        &self,
        py: Python<'py>,
        features: &Bound<'py, PyAny>,
    ) -> Outcome<Bound<'py, PyArray2<f64>>> {
        let matrix = self.features(features)?.matrix;
        let rows = watched(py, |_| self.0.scored_rows(&matrix))?;
        Ok(rows.to_pyarray(py).reshape([matrix.rows(), matrix.columns()])?)
    }

    /// As an ONNX file.
    fn to_onnx<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        let bytes = watched(py, |_| privet_learn::export::onnx(&self.0))??;
        Ok(PyBytes::new(py, &bytes))
    }

    /// As one query of SQL.
    fn to_sql(&self, table: &str, id: Option<&str>) -> Outcome<String> {
        Ok(privet_learn::export::sql(&self.0, table, id)?)
    }

    /// Encoded columns with their weights, as CSV.
    fn to_csv(&self) -> Outcome<String> {
        Ok(privet_learn::export::coefficients(&self.0)?)
    }

    /// What it says of each column, as JSON.
    fn shapes(&self, py: Python<'_>) -> Outcome<String> {
        Ok(crate::shapes::to_json(&watched(py, |_| self.0.shapes())?))
    }

    /// The same as a page of HTML.
    fn page(&self, py: Python<'_>) -> Outcome<String> {
        let verdict = self.0.judged(py)?;
        watched(py, |_| privet_cli::page::page(&self.0, &verdict))
    }

    /// ⟨x, θ⟩ for each row and problem.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        features: &Bound<'py, PyAny>,
    ) -> Outcome<Bound<'py, PyArray2<f64>>> {
        let rows = self.features(features)?.matrix;
        let scores = watched(py, |_| self.0.scores(&rows))?;
        let problems = self.0.weights().weights.len();
        Ok(scores.to_pyarray(py).reshape([rows.rows(), problems])?)
    }

    /// The most likely class of each row, by its place among the classes.
    fn predict_codes<'py>(
        &self,
        py: Python<'py>,
        features: &Bound<'py, PyAny>,
    ) -> Outcome<Bound<'py, PyArray1<u32>>> {
        let rows = self.features(features)?.matrix;
        match watched(py, |_| self.0.predict(&rows))? {
            Predictions::Classes(codes) => Ok(codes.to_pyarray(py)),
            Predictions::Numbers(_) => Err(Failure::value("this model predicts a number")),
        }
    }

    /// The predicted number of each row, in the target's own unit.
    fn predict_numbers<'py>(
        &self,
        py: Python<'py>,
        features: &Bound<'py, PyAny>,
    ) -> Outcome<Bound<'py, PyArray1<f64>>> {
        let rows = self.features(features)?.matrix;
        match watched(py, |_| self.0.predict(&rows))? {
            Predictions::Numbers(numbers) => Ok(numbers.to_pyarray(py)),
            Predictions::Classes(_) => Err(Failure::value("this model predicts a class")),
        }
    }

    /// A probability for each row and class; `None` unless the loss is logistic.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        features: &Bound<'py, PyAny>,
    ) -> Outcome<Option<Bound<'py, PyArray2<f64>>>> {
        let rows = self.features(features)?.matrix;
        let found = watched(py, |_| self.0.probabilities(&rows))?;
        let classes = self.0.request().schema.classes().map_or(0, <[_]>::len);
        let Some(found) = found else { return Ok(None) };
        Ok(Some(found.to_pyarray(py).reshape([rows.rows(), classes])?))
    }

    /// Checks it without data: the verdict as JSON.
    fn verify(&self, py: Python<'_>) -> Outcome<String> {
        self.0.verdict(py)
    }
}
