//! Released models: weights with their certificate.

use crate::error::{Failure, Outcome};
use crate::input;
use crate::schema::Schema;
use crate::watched::watched;
use numpy::{PyArray1, PyArray2, PyArrayMethods, ToPyArray};
use privet_data::Encoding;
use privet_data::write::Existing;
use privet_learn::model::file::{self, Seal};
use privet_learn::model::{self, Predictions};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use std::path::PathBuf;

/// A released model: noised weights with their certificate. Holds nothing else of the records.
#[pyclass(module = "privet._privet", frozen)]
pub struct Model(pub model::Model, pub Kept);

/// Where a model comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// From a fit: it is sealed when it is written.
    InMemory,
    /// From a file: its seal is the one it came with, or none.
    InFile,
}

impl Model {
    /// The text of its file. What came from a file is not sealed anew.
    fn written(&self) -> Outcome<String> {
        if self.1 == Kept::InFile {
            self.0.check_seal().map_err(Failure::value)?;
        }
        Ok(file::to_json(&self.0, None)?)
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
        let seal = if sealed { Seal::Required } else { Seal::Unchecked };
        let read = file::from_json(bytes, seal);
        let kept = |model| Self(model, Kept::InFile);
        read.map(kept).map_err(|why| Failure::value(format!("not a privet model: {why}")))
    }

    /// Reads a model file.
    #[staticmethod]
    #[pyo3(signature = (path, *, sealed = true))]
    fn load(path: PathBuf, sealed: bool) -> Outcome<Self> {
        let seal = if sealed { Seal::Required } else { Seal::Unchecked };
        Ok(Self(file::load(&path, seal)?, Kept::InFile))
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.written()?.as_bytes()))
    }

    /// Writes its file, whole or not at all, readable by its owner alone. It was paid for: if it cannot be
    /// put there it is put elsewhere, and the exception says where.
    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> Outcome<()> {
        self.written()?;
        let existing = if overwrite { Existing::Replace } else { Existing::Keep };
        let kept = py.detach(|| file::save(&self.0, &path, None, existing))?;
        kept.instead.map_or(Ok(()), |why| Err(Failure::kept(why, &kept.path)))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Outcome<(Py<PyAny>, (Bound<'py, PyBytes>,))> {
        let from_bytes = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((from_bytes.unbind(), (self.to_bytes(py)?,)))
    }

    /// The schema that was asked for.
    fn schema(&self) -> Schema {
        Schema(self.0.request().schema.clone())
    }

    /// What the certificate claims, as JSON: all of it but the request and the proof of its origin.
    fn claim(&self) -> String {
        let certificate = self.0.certificate();
        json!({
            "guarantee": certificate.guarantee,
            "neighbours": self.0.request().neighbours,
            "unit": self.0.request().schema.unit(),
            "arithmetic": certificate.arithmetic,
            "notes": certificate.notes,
        })
        .to_string()
    }

    /// The certificate as JSON.
    fn certificate(&self) -> Outcome<String> {
        Ok(serde_json::to_string(self.0.certificate())?)
    }

    /// What was asked for, as JSON.
    fn request(&self) -> Outcome<String> {
        Ok(serde_json::to_string(self.0.request())?)
    }

    /// The plan that its public facts give, as JSON.
    fn plan(&self, py: Python<'_>) -> Outcome<String> {
        let request = self.0.request();
        Ok(crate::plan::decided(&watched(py, |_| privet_learn::plan(request))??))
    }

    /// A row of weights for each linear problem.
    fn weights<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyArray2<f64>>> {
        PyArray2::from_vec2(py, &self.0.weights().weights).map_err(Failure::value)
    }

    /// Names of the encoded columns.
    fn column_names(&self) -> Vec<String> {
        Encoding::new(&self.0.request().schema).column_names()
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
        // A model of a fit has no seal yet; the file it would be written to has. A file without one is
        // not valid.
        let verdict = match self.1 {
            Kept::InFile => watched(py, |_| privet_learn::verify(&self.0))?,
            Kept::InMemory => {
                let text = file::to_json(&self.0, None)?;
                let sealed =
                    file::from_json(text.as_bytes(), Seal::Required).map_err(Failure::value)?;
                watched(py, |_| privet_learn::verify(&sealed))?
            }
        };
        Ok(serde_json::to_string(&verdict)?)
    }
}
