//! Rows kept by other machines: the worker's functions, and a plan run by queries to workers.
//!
//! A worker encodes a piece of a table (`cluster_encode`), cuts and keeps it as bytes (`cluster_cut`),
//! and answers queries about it (`cluster_answer`, `cluster_rows`), each answer sealed to its query;
//! answers are merged on the way (`cluster_merge`). [`Machines`] passes a plan's queries to a Python
//! function that carries them to the workers. Noise is drawn by the process that runs the plan, and
//! nowhere else.

use crate::error::{Failure, Outcome};
use crate::input;
use crate::ledger::{KnownByName, Order};
use crate::watched::{call_python, run_watched};
use privet_data::block;
use privet_data::read::memory;
use privet_learn::statistics::count::Count;
use privet_learn::{AnyPlan, Erm, LearnError, Request, Task, admit_piece};
use privet_optim::sum::{
    QueryMessage, RecordsError, Remote, RemoteRows, RowMachines, answer_query, merge_answers,
    rows_at,
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList};
use std::sync::{Arc, Mutex, PoisonError};

/// This package's version.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The description of a plan for a worker: version, the family of its request, and the request.
#[derive(serde::Serialize, serde::Deserialize)]
struct TaskMessage {
    version: String,
    family: Family,
    request: serde_json::Value,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Family {
    Erm,
    Count,
}

/// The description of a plan for workers.
pub fn describe_plan(plan: &AnyPlan) -> Outcome<String> {
    let (family, request) = match plan {
        AnyPlan::Model(plan) => (Family::Erm, serde_json::to_value(plan.request())?),
        AnyPlan::Counts(plan) => (Family::Count, serde_json::to_value(plan.request())?),
        _ => {
            return Err(Failure::value(
                "rows that other machines keep are for linear models and counts, which are accepted",
            ));
        }
    };
    Ok(serde_json::to_string(&TaskMessage { version: VERSION.into(), family, request })?)
}

fn blocks(error: block::BlockError) -> Failure {
    Failure::value(error)
}

fn parse_query(query: &str) -> Outcome<QueryMessage> {
    Ok(QueryMessage::read(query)?)
}

fn no_answer(error: RecordsError) -> Failure {
    LearnError::Records(error).into()
}

/// Encodes, clips and checks the rows of some columns by a plan's request: returns the bytes to keep,
/// the number of rows, their checksum, and their public facts as JSON. All rows of a unit must be among
/// them.
#[pyfunction]
pub fn cluster_encode<'py>(
    py: Python<'py>,
    columns: &Bound<'py, PyList>,
    told: &str,
) -> Outcome<(Bound<'py, PyBytes>, usize, u64, String)> {
    fn encoded<T: Task>(
        columns: &Bound<'_, PyList>,
        request: serde_json::Value,
    ) -> Outcome<privet_data::Dataset> {
        let request: Request<T> = serde_json::from_value(request)?;
        // Public facts decide the storage, so that it is the same on every machine.
        let options = input::to_learn(true, false);
        let rows = input::table_of(columns, &request.schema, &options)?;
        run_watched(columns.py(), |_| admit_piece(&request, &rows))??;
        Ok(rows)
    }
    let TaskMessage { version, family, request } = serde_json::from_str(told)?;
    if version != VERSION {
        return Err(Failure::value(format!(
            "privet on a worker is of version {VERSION}, and the plan was made by {version}: install the same wheel on \
             every machine"
        )));
    }
    let rows = match family {
        Family::Erm => encoded::<Erm>(columns, request)?,
        Family::Count => encoded::<Count>(columns, request)?,
    };
    let (kept, bytes) = run_watched(py, |_| (RemoteRows::of(&rows), block::to_bytes(&rows)))?;
    let kept = serde_json::to_string(&kept.map_err(no_answer)?)?;
    let (count, checksum) = block::print_of(&bytes).map_err(blocks)?;
    Ok((PyBytes::new(py, &bytes), count, checksum, kept))
}

/// Cuts ranges of rows out of a block, each a block of its own.
#[pyfunction]
pub fn cluster_cut<'py>(
    py: Python<'py>,
    bytes: &[u8],
    ranges: Vec<(usize, usize)>,
) -> Outcome<Vec<Bound<'py, PyBytes>>> {
    let parts = py.detach(|| -> Result<Vec<Vec<u8>>, block::BlockError> {
        let rows = block::from_bytes(&[bytes])?;
        let cut = |(from, to): (usize, usize)| {
            let places: Vec<usize> = (from..to.min(rows.rows())).collect();
            block::to_bytes(&rows.select(&places))
        };
        Ok(ranges.into_iter().map(cut).collect())
    });
    Ok(parts.map_err(blocks)?.iter().map(|part| PyBytes::new(py, part)).collect())
}

/// The number of rows of a block, and its checksum.
#[pyfunction]
pub fn cluster_print(bytes: &[u8]) -> Outcome<(usize, u64)> {
    block::print_of(bytes).map_err(blocks)
}

/// Answers a query from these blocks, which are one piece.
#[pyfunction]
pub fn cluster_answer<'py>(
    py: Python<'py>,
    question: &str,
    piece: usize,
    bytes: Vec<PyBackedBytes>,
) -> Outcome<Bound<'py, PyBytes>> {
    let question = parse_query(question)?;
    let answer = run_watched(py, |_| {
        let rows = block::from_bytes(&bytes).map_err(|error| error.to_string())?;
        answer_query(&question, piece, &rows).map_err(|error| error.to_string())
    })?;
    Ok(PyBytes::new(py, &answer.map_err(Failure::value)?))
}

/// Merges several answers to a query whose sums are exact.
#[pyfunction]
pub fn cluster_merge<'py>(
    py: Python<'py>,
    question: &str,
    columns: usize,
    parts: Vec<PyBackedBytes>,
) -> Outcome<Bound<'py, PyBytes>> {
    let question = parse_query(question)?;
    let answer = py.detach(|| merge_answers(&question, columns, &parts)).map_err(no_answer)?;
    Ok(PyBytes::new(py, &answer))
}

/// The rows that a query names and this block holds; `first` is the index of the block's first row.
#[pyfunction]
pub fn cluster_rows<'py>(
    py: Python<'py>,
    question: &str,
    first: usize,
    bytes: &[u8],
) -> Outcome<Bound<'py, PyBytes>> {
    let question = parse_query(question)?;
    let found = py.detach(|| {
        let rows = block::from_bytes(&[bytes]).map_err(|error| error.to_string())?;
        rows_at(&question, first, &rows).map_err(|error| error.to_string())
    });
    Ok(PyBytes::new(py, &found.map_err(Failure::value)?))
}

/// A number for the unit of each row, equal for rows of one unit; 0 for a row without a unit.
#[pyfunction]
pub fn cluster_units(unit: &Bound<'_, PyAny>, schema: &crate::schema::Schema) -> Outcome<Vec<i64>> {
    let (column, rows) = input::one_column(unit, &schema.0)?;
    Ok(memory::unit_numbers(column.as_ref(), rows, &schema.0)
        .into_iter()
        .map(|number| number as i64)
        .collect())
}

/// What was raised last by whoever carries questions, for its words.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// Machines that a Python function asks.
struct Machines {
    ask: Py<PyAny>,
    raised: Raised,
}

impl RowMachines for Machines {
    fn ask(&self, query: &QueryMessage) -> Result<Vec<Vec<u8>>, RecordsError> {
        let ask = |py: Python<'_>| -> PyResult<Vec<Vec<u8>>> {
            self.ask.call1(py, (query.text(),))?.extract(py)
        };
        let answer = Python::attach(|py| call_python(|| ask(py)));
        answer.map_err(|raised| {
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
            RecordsError::BackEnd("other machines did not answer".into())
        })
    }
}

/// Carries a plan out on rows that other machines keep: `encode` has them read and tells what is known of
/// each piece, `ask` carries questions.
pub fn carried_out_elsewhere<T: Task>(
    py: Python<'_>,
    order: Order<'_, T>,
    encode: &Bound<'_, PyAny>,
    ask: Py<PyAny>,
) -> Outcome<privet_learn::Released<T>> {
    let raised = Raised::default();
    let read = || -> Outcome<Remote<Machines>> {
        let known: Vec<String> = call_python(|| encode.call0())?.extract()?;
        let known: Vec<RemoteRows> =
            known.iter().map(|text| serde_json::from_str(text)).collect::<Result<_, _>>()?;
        let kept = RemoteRows::of_all(&known)
            .ok_or_else(|| Failure::value("no machine keeps a row of this table"))?;
        Ok(Remote::new(Machines { ask, raised: raised.clone() }, kept))
    };
    let released = order.release::<Remote<Machines>, _>(py, KnownByName, read);
    // What was raised by whoever carries questions says more than that there was no answer.
    let told = |failure: Failure| {
        raised.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(failure, Failure::from)
    };
    released.map_err(told)
}
