//! Counts of declared categories: planned, released, read.

use crate::cluster;
use crate::describe::Description;
use crate::error::{Failure, Outcome};
use crate::evaluate::Evaluation;
use crate::held::{Held, seal};
use crate::input;
use crate::ledger::{self, Paid};
use crate::model::Model;
use crate::nearby::Answers;
use crate::network::TrainedNetwork;
use crate::online::{Stream, Tallies};
use crate::ratings::Factors;
use crate::schema::Schema;
use crate::select::Support;
use crate::tune::Tuned;
use crate::vote::Labels;
use crate::watched::watched;
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, read};
use privet_learn::statistics::count::{Count, Law};
use privet_learn::{Loaded, Released, file};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use serde_json::json;
use std::path::PathBuf;

/// Records with target and unit, read under a schema; nothing of them can be seen but how many there are.
#[pyclass(module = "privet._privet", frozen)]
pub struct Records(pub Dataset);

#[pymethods]
impl Records {
    /// From named columns, or from the file at a path.
    #[new]
    #[pyo3(signature = (given, schema, allow_empty, any_storage = true))]
    fn new(
        py: Python<'_>,
        given: &Bound<'_, PyAny>,
        schema: &Schema,
        allow_empty: bool,
        any_storage: bool,
    ) -> Outcome<Self> {
        let options = input::to_learn(allow_empty, any_storage);
        if let Ok(list) = given.cast::<PyList>() {
            return Ok(Self(input::table_of(list, &schema.0, &options)?));
        }
        let path: PathBuf = given.extract()?;
        Ok(Self(watched(py, |_| read::read(&path, &schema.0, &options.options()))??))
    }

    /// How many there are; for whoever may know it.
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }
}

/// What decides the guarantee of counts, fixed before any record is read.
#[pyclass(module = "privet._privet", frozen)]
pub struct CountPlan(privet_learn::Plan<Count>);

#[pymethods]
impl CountPlan {
    /// Makes the plan from public facts.
    #[new]
    #[pyo3(signature = (schema, by, rows, *, epsilon, delta, neighbours, law))]
    fn new(
        py: Python<'_>,
        schema: &Bound<'_, Schema>,
        by: String,
        rows: u64,
        epsilon: f64,
        delta: f64,
        neighbours: &str,
        law: Option<&str>,
    ) -> Outcome<Self> {
        let law = law.map(law_named).transpose()?;
        let task = Count { by, times: None, law };
        let asked = task.request(&schema.get().0, rows, neighbours.parse::<Neighbours>()?)?;
        let request = asked.within(Budget::new(epsilon, delta)?);
        Ok(Self(watched(py, |_| privet_learn::plan(&request))??))
    }

    /// What was decided, as JSON.
    fn to_json(&self) -> String {
        let request = self.0.request();
        json!({
            "by": request.task.by,
            "law": request.task.law,
            "categories": self.0.facts().names,
            "noise": self.0.settings().get("count_noise"),
            "rows": request.rows,
            "neighbours": request.neighbours,
            "unit": request.schema.unit(),
            "whose": request.whose(),
            "guarantee": self.0.guarantee(),
            "arithmetic": self.0.arithmetic(),
            "events": self.0.events(),
            "notes": self.0.notes(),
        })
        .to_string()
    }

    /// Carries it out: one release.
    #[pyo3(signature = (records, seed, paid = None))]
    fn run(
        &self,
        py: Python<'_>,
        records: &Records,
        seed: Option<u64>,
        paid: Option<Paid>,
    ) -> Outcome<Counts> {
        let release = ledger::carried_out_on(py, &self.0, "count", seed, &records.0, paid)?;
        Ok(Counts(Held::released(Released::from_release(release)?)))
    }

    /// What workers that keep rows are told of it.
    fn told(&self) -> Outcome<String> {
        cluster::told_count(&self.0)
    }

    /// The schema by which it has rows encoded.
    fn schema(&self) -> Schema {
        Schema(self.0.request().schema.clone())
    }

    /// Carries it out on rows that other machines keep.
    #[pyo3(signature = (encode, ask, seed, paid = None))]
    fn run_elsewhere(
        &self,
        py: Python<'_>,
        encode: &Bound<'_, PyAny>,
        ask: Py<PyAny>,
        seed: Option<u64>,
        paid: Option<Paid>,
    ) -> Outcome<Counts> {
        let release =
            cluster::carried_out_elsewhere(py, &self.0, "count", encode, ask, seed, paid)?;
        Ok(Counts(Held::released(Released::from_release(release)?)))
    }
}

/// A law by its name.
pub fn law_named(name: &str) -> Outcome<Law> {
    let refused = || Failure::value(format!("'{name}' is not a law; accepted: laplace, gaussian"));
    serde_json::from_value(name.into()).map_err(|_| refused())
}

/// Released counts with their certificate. Holds nothing else of the records.
#[pyclass(module = "privet._privet", frozen)]
pub struct Counts(Held<Count>);

#[pymethods]
impl Counts {
    /// Reads counts from the bytes of their file.
    #[staticmethod]
    #[pyo3(signature = (bytes, *, sealed = true))]
    fn from_bytes(bytes: &[u8], sealed: bool) -> Outcome<Self> {
        Held::from_bytes(bytes, sealed).map(Self)
    }

    /// The bytes of their file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        self.0.to_bytes(py)
    }

    /// Writes their file.
    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> Outcome<()> {
        self.0.save(py, &path, overwrite)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Outcome<(Py<PyAny>, (Bound<'py, PyBytes>,))> {
        let from_bytes = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((from_bytes.unbind(), (self.to_bytes(py)?,)))
    }

    /// The column.
    #[getter]
    fn by(&self) -> &str {
        &self.0.artefact().by
    }

    /// Each category with its count, in declared order.
    #[getter]
    fn cells(&self) -> Vec<(String, f64)> {
        let cells = self.0.artefact().cells.iter();
        cells.map(|cell| (cell.category.clone(), cell.count)).collect()
    }

    /// The standard deviation of the noise on each count.
    #[getter]
    fn noise(&self) -> f64 {
        self.0.artefact().noise
    }

    /// The law of the noise.
    #[getter]
    fn law(&self) -> Option<&'static str> {
        self.0.request().task.law.map(Law::name)
    }

    /// How far a count is from the truth at most, in 95 of 100 cases.
    #[getter]
    fn margin(&self) -> f64 {
        let law = self.0.request().task.law.unwrap_or(Law::Laplace);
        law.margin(self.0.artefact().noise)
    }

    /// What the certificate claims, as JSON.
    fn claim(&self) -> String {
        self.0.claim()
    }

    /// The certificate as JSON.
    fn certificate(&self) -> Outcome<String> {
        self.0.document()
    }

    /// Checks them without data: the verdict as JSON.
    fn verify(&self, py: Python<'_>) -> Outcome<String> {
        self.0.verdict(py)
    }
}

/// Reads a file of any family.
#[pyfunction]
#[pyo3(signature = (path, *, sealed = true))]
pub fn load(py: Python<'_>, path: PathBuf, sealed: bool) -> Outcome<Py<PyAny>> {
    Ok(match file::load_any(&path, seal(sealed))? {
        Loaded::Model(model) => Py::new(py, Model::new(Held::loaded(model)))?.into_any(),
        Loaded::Counts(counts) => Py::new(py, Counts(Held::loaded(counts)))?.into_any(),
        Loaded::Description(found) => Py::new(py, Description(Held::loaded(found)))?.into_any(),
        Loaded::Evaluation(found) => Py::new(py, Evaluation(Held::loaded(found)))?.into_any(),
        Loaded::Tuned(found) => Py::new(py, Tuned(Held::loaded(found)))?.into_any(),
        Loaded::Support(found) => Py::new(py, Support(Held::loaded(found)))?.into_any(),
        Loaded::Factors(found) => Py::new(py, Factors::loaded(Held::loaded(found)))?.into_any(),
        Loaded::Stream(found) => Py::new(py, Stream(Held::loaded(found)))?.into_any(),
        Loaded::Network(found) => Py::new(py, TrainedNetwork(Held::loaded(found)))?.into_any(),
        Loaded::Tally(found) => Py::new(py, Tallies(Held::loaded(found)))?.into_any(),
        Loaded::Labels(found) => Py::new(py, Labels(Held::loaded(found)))?.into_any(),
        Loaded::Answers(found) => Py::new(py, Answers(Held::loaded(found)))?.into_any(),
        Loaded::Outlined(_) => {
            return Err(Failure::value(
                "an outline of a table, which a schema was made of: `privet inspect` reads it; accepted are models, counts and \
                 what else is released from records under a schema",
            ));
        }
    })
}
