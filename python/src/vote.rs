//! Labels by votes: planned, run with teachers written in Python, read.

use crate::error::{Failure, Outcome};
use crate::input;
use crate::ledger::{self, Handed, Order, Paid};
use crate::plan::Plan;
use crate::released::Released;
use crate::schema::Schema;
use crate::watched::{Threads, call_python, run_watched};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray2};
use privet_core::Neighbours;
use privet_learn::votes::student;
use privet_learn::votes::teacher::{filled_rows, inside_teacher};
use privet_learn::votes::{
    Aggregator, Ballot, NO_LABEL, Teach, Teacher, TrainingData, Vote, with_rows_and_teachers,
};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::sync::Arc;

/// A Python function that trains teachers: from rows, labels, chunks and queries to a class number for
/// each teacher and query, below 0 where a teacher failed.
struct Callback(Py<PyAny>);

impl std::fmt::Debug for Callback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Callback")
    }
}

impl Callback {
    fn call(&self, py: Python<'_>, school: &TrainingData<'_>) -> PyResult<Vec<Ballot>> {
        let matrix = |values: Vec<f32>, columns: usize| {
            let rows = values.len() / columns.max(1);
            values.into_pyarray(py).reshape([rows, columns])
        };
        let (columns, data) = (school.queries.columns(), school.data);
        let rows = matrix(filled_rows(&data.features, 0..data.rows()), columns)?;
        let queries = matrix(filled_rows(school.queries, 0..school.queries.rows()), columns)?;
        let labels: Bound<'_, PyArray1<u32>> = school.labels().to_vec().into_pyarray(py);
        let place = |chunk: &Vec<usize>| {
            chunk.iter().map(|row| *row as i64).collect::<Vec<_>>().into_pyarray(py)
        };
        let chunks = PyList::new(py, school.chunks.iter().map(place))?;
        let told = self.0.call1(py, (rows, labels, chunks, queries, school.classes))?;
        let told: PyReadonlyArray2<'_, i64> = told.extract(py)?;
        let ballot = |votes: numpy::ndarray::ArrayView1<'_, i64>| -> Ballot {
            votes.iter().map(|class| u32::try_from(*class).ok()).collect()
        };
        Ok(told.as_array().outer_iter().map(ballot).collect())
    }
}

impl Teach for Callback {
    fn ballots(
        &self,
        school: &TrainingData<'_>,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Ballot>> {
        if !go_on() {
            return None;
        }
        // Teachers were rehearsed on invented rows; an error now may depend on records, and counts as a
        // vote. Only a request to stop the program ends the run.
        let told = Python::attach(|py| {
            let stop = |error: &PyErr| error.is_instance_of::<PyKeyboardInterrupt>(py);
            match call_python(|| self.call(py, school)) {
                Err(error) if stop(&error) => None,
                told => Some(told.unwrap_or_default()),
            }
        });
        told.filter(|_| go_on())
    }
}

/// A teacher that panics votes for the first class; a message for each would reveal the number of
/// panics.
fn quiet_inside_teachers() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !inside_teacher() {
                usual(panic);
            }
        }));
    });
}

/// Makes the plan of labels from public facts: `queries` public rows, or these. A teacher that is not
/// built in is described in words.
#[pyfunction]
#[pyo3(signature = (schema, queries, rows, *, epsilon, delta, neighbours, teachers,
                    teacher, what, teach, aggregator, settings, ask, choose, public,
                    notes, prior_fits = Vec::new()))]
pub fn plan_labels(
    py: Python<'_>,
    schema: &Bound<'_, Schema>,
    queries: u64,
    rows: u64,
    epsilon: f64,
    delta: Option<f64>,
    neighbours: &str,
    teachers: Option<u32>,
    teacher: Option<&str>,
    what: String,
    teach: Vec<(String, String)>,
    aggregator: &str,
    settings: Vec<(String, String)>,
    ask: Option<u64>,
    choose: Option<u32>,
    public: Option<&Bound<'_, PyAny>>,
    notes: Vec<String>,
    prior_fits: Vec<String>,
) -> Outcome<Plan> {
    let mut aggregator = aggregator.parse::<Aggregator>()?;
    for (name, value) in settings {
        aggregator = aggregator.with(&name, &value)?;
    }
    let mut teacher = match teacher {
        Some(name) => Teacher::by_name(name)?,
        None => Teacher::Outside { what },
    };
    for (name, value) in teach {
        teacher = teacher.with(&name, &value)?;
    }
    let neighbours = neighbours.parse::<Neighbours>()?;
    let schema = schema.get().0.linear();
    let ask = ask.unwrap_or(u64::MAX);
    let of = match public {
        Some(public) => {
            let rows = input::features(public, &schema, &input::to_use())?.matrix;
            Vote::of_first(ask, &rows)
        }
        None => Vote { beside: queries.saturating_sub(ask), ..Vote::on(queries.min(ask)) },
    };
    let task = Vote { teachers, teacher, aggregator, choose, ..of };
    let request = task.request(&schema, rows, neighbours, (epsilon, delta))?.after_fits(prior_fits);
    let plan = run_watched(py, |_| privet_learn::plan(&request))??;
    Ok(Plan::noting(plan, notes))
}

/// Spreads labels of public rows, class numbers or −1, among rows that resemble one another.
pub fn spread<'py>(
    py: Python<'py>,
    schema: &privet_data::Schema,
    public: &Bound<'_, PyAny>,
    codes: Vec<i32>,
) -> Outcome<Bound<'py, PyArray1<i32>>> {
    let rows = input::features(public, schema, &input::to_use())?.matrix;
    let labels: Vec<Option<u32>> = codes.into_iter().map(|code| u32::try_from(code).ok()).collect();
    let classes = schema.classes().map_or(0, <[String]>::len);
    let spread = run_watched(py, |_| student::spread(&rows, &labels, classes))??;
    Ok(spread.into_iter().map(code).collect::<Vec<_>>().into_pyarray(py))
}

fn code(class: Option<u32>) -> i32 {
    class.map_or(NO_LABEL, |class| class as i32)
}

/// Runs it: one release, for the rows of `public`.
pub fn run(
    py: Python<'_>,
    plan: &privet_learn::Plan<Vote>,
    handed: Handed<'_, '_>,
    seed: Option<u64>,
    public: Option<&Bound<'_, PyAny>>,
    teach: Option<Py<PyAny>>,
    paid: Option<Paid>,
) -> Outcome<Released> {
    let missing = || Failure::value("public is missing: rows that teachers vote on are accepted");
    quiet_inside_teachers();
    let public = public.ok_or_else(missing)?;
    let queries = input::features(public, &plan.request().schema, &input::to_use())?;
    let by = if teach.is_some() { Threads::Own } else { Threads::Shared };
    let teach = teach.map(|call| Arc::new(Callback(call)) as Arc<dyn Teach>);
    let ready = run_watched(py, |_| with_rows_and_teachers(plan.clone(), &queries.matrix, teach))??;
    let order = Order { plan: &ready, doing: "vote", seed, by, paid };
    Ok(Released::of_run(ledger::carried_out(py, order, handed, true)?))
}

/// The class index of each public row, −1 without a label.
pub fn codes<'py>(
    py: Python<'py>,
    released: &privet_learn::Released<Vote>,
) -> Bound<'py, PyArray1<i32>> {
    let (labels, task) = (released.artefact(), &released.request().task);
    if task.stream {
        return labels.labels.clone().into_pyarray(py);
    }
    let by_row = labels.by_row(task.queries.saturating_add(task.beside) as usize);
    by_row.into_iter().map(code).collect::<Vec<_>>().into_pyarray(py)
}
