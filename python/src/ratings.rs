//! Completed ratings: planned, released, recommended from.

use crate::error::{Failure, Outcome};
use crate::held::Held;
use crate::ledger::Paid;
use crate::noise::source;
use crate::watched::{released, watched};
use privet_core::{Budget, Neighbours};
use privet_data::ratings::{self, Layout, OwnRatings, Rated, RatingFacts};
use privet_data::schema::{Draft, Invalid, UNNAMED_UNIT};
use privet_learn::ratings::{Complete, LocalState, Method, Shape};
use privet_learn::{Released, Task};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;
use std::path::PathBuf;

/// What was learnt of items, with its certificate. Holds nothing else of the ratings.
#[pyclass(module = "privet._privet", frozen)]
pub struct Factors(Held<Complete>);

impl Factors {
    /// Read from a file.
    pub fn loaded(held: Held<Complete>) -> Self {
        Self(held)
    }

    fn rated(&self) -> Outcome<Rated<'_>> {
        Rated::of(&self.0.request().schema).map_err(Failure::value)
    }
}

/// A user's ratings by the places of their items; an item that is not listed is left out.
fn own(given: &[(String, f64)], rated: &Rated<'_>, places: &HashMap<&str, usize>) -> OwnRatings {
    let mut own = OwnRatings::default();
    for (item, rating) in given {
        if let Some(place) = places.get(item.as_str()) {
            own.and(*place, *rating, rated);
        }
    }
    own
}

fn places<'a>(rated: &Rated<'a>) -> HashMap<&'a str, usize> {
    rated.items.iter().enumerate().map(|(place, item)| (item.as_str(), place)).collect()
}

#[pymethods]
impl Factors {
    /// Plans from public facts, and learns from users' ratings: for each a list of (item, rating).
    #[staticmethod]
    #[pyo3(signature = (users, items, bounds, most, n_users, *, unit, epsilon, delta, neighbours, invalid, method, settings, seed, paid = None))]
    fn learn(
        py: Python<'_>,
        users: Vec<Vec<(String, f64)>>,
        items: Vec<String>,
        bounds: (f64, f64),
        most: u32,
        n_users: u64,
        unit: Option<&str>,
        epsilon: f64,
        delta: f64,
        neighbours: &str,
        invalid: &str,
        method: &str,
        settings: Vec<(String, String)>,
        seed: Option<u64>,
        paid: Option<Paid>,
    ) -> Outcome<Self> {
        let facts =
            RatingFacts { layout: Layout::Triples, items, bounds: [bounds.0, bounds.1], most };
        // Where users come under no name, whether those of two fits are the same nobody knows.
        let schema = ratings::schema(&facts).map_err(Failure::value)?;
        let schema = ratings::with_unit(&schema, unit.unwrap_or(UNNAMED_UNIT));
        let mut draft = Draft::from(schema.map_err(Failure::value)?);
        draft.invalid = (invalid == "drop").then_some(Invalid::Drop);
        let schema = draft.check().map_err(Failure::value)?;
        let method: Method = method.parse()?;
        let method =
            settings.iter().try_fold(method, |method, (name, value)| method.with(name, value))?;
        let neighbours: Neighbours = neighbours.parse()?;
        let asked = Complete::by(method).request(schema.clone(), n_users, neighbours);
        let request = asked.within(Budget::new(epsilon, delta)?);
        let plan = watched(py, |_| privet_learn::plan(&request))??;
        let rated = Rated::of(&schema).map_err(Failure::value)?;
        let places = places(&rated);
        let rows = users.iter().map(|given| own(given, &rated, &places)).collect();
        let table = ratings::table(rows, &rated);
        let mut source = source(seed)?;
        let release = match paid {
            None => released(py, |stop| plan.run(&table, source.as_mut(), stop))?,
            Some(paid) => paid.run_known(py, &plan, "complete", source.as_mut(), &table)?,
        };
        Ok(Self(Held::released(Released::from_release(release)?)))
    }

    /// Reads it from the bytes of its file.
    #[staticmethod]
    #[pyo3(signature = (bytes, *, sealed = true))]
    fn from_bytes(bytes: &[u8], sealed: bool) -> Outcome<Self> {
        Held::from_bytes(bytes, sealed).map(Self)
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        self.0.to_bytes(py)
    }

    /// Writes its file.
    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> Outcome<()> {
        self.0.save(py, &path, overwrite)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Outcome<(Py<PyAny>, (Bound<'py, PyBytes>,))> {
        let from_bytes = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((from_bytes.unbind(), (self.to_bytes(py)?,)))
    }

    /// The public list of items.
    #[getter]
    fn items(&self) -> Outcome<Vec<String>> {
        Ok(self.rated()?.items.to_vec())
    }

    /// What one user is predicted to say of every item, in the order of the list.
    fn predict(&self, py: Python<'_>, given: Vec<(String, f64)>) -> Outcome<Vec<f64>> {
        let rated = self.rated()?;
        let table = ratings::table(vec![own(&given, &rated, &places(&rated))], &rated);
        let shape: Shape = Complete::facts(self.0.request())?;
        let own = || self.0.artefact().predictions(&LocalState::of(&table.features, 0), &shape);
        watched(py, |_| own())
    }

    /// What the certificate claims, as JSON.
    fn claim(&self) -> String {
        self.0.claim()
    }

    /// The certificate as JSON.
    fn certificate(&self) -> Outcome<String> {
        self.0.document()
    }

    /// Checks it without data: the verdict as JSON.
    fn verify(&self, py: Python<'_>) -> Outcome<String> {
        self.0.verdict(py)
    }
}
