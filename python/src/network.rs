//! Networks: planned, and used for prediction.

use crate::error::{Failure, Outcome};
use crate::plan::Plan;
use crate::released::Released;
use crate::schema::Schema;
use crate::watched::run_watched;
use numpy::{PyArray1, PyArray2, PyArrayMethods, ToPyArray};
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_learn::RequestOptions;
use privet_learn::linear::model::Predictions;
use privet_learn::networks::{InitialSource, Network};
use privet_nn::Net;
use pyo3::prelude::*;

/// Makes the plan of a training from public facts; `net` is the description as JSON, `weights` a public
/// network to start from.
#[pyfunction]
#[pyo3(signature = (schema, net, rows, *, epsilon, delta, neighbours, method, settings, seed, weights, scale,
                    shift, notes, prior_fits = Vec::new()))]
pub fn plan_network(
    py: Python<'_>,
    schema: &Bound<'_, Schema>,
    net: &str,
    rows: u64,
    epsilon: Option<f64>,
    delta: Option<f64>,
    neighbours: &str,
    method: &str,
    settings: Vec<(String, String)>,
    seed: u64,
    weights: Option<&Bound<'_, Released>>,
    scale: Option<f64>,
    shift: Option<f64>,
    notes: Vec<String>,
    prior_fits: Vec<String>,
) -> Outcome<Plan> {
    let net =
        serde_json::from_str(net).map_err(|error| Failure::value(format!("layers: {error}")))?;
    let public = match weights {
        None => None,
        Some(public) => {
            Net::new(&net).map_err(|error| Failure::value(format!("layers: {error}")))?;
            let begin = InitialSource::file(&net, public.get().trained()?);
            Some(begin.map_err(|why| Failure::value(format!("initial_weights: {why}")))?)
        }
    };
    let (begin, public) = public.unzip();
    let begin = begin.unwrap_or(InitialSource::Seed(seed));
    let task = Network { begin: Some(begin), scale, shift, ..Network::new(net, method.parse()?) };
    let words = RequestOptions {
        epsilon,
        delta,
        neighbours: neighbours.parse()?,
        settings,
        ..RequestOptions::of("auto".parse()?)
    };
    let request = task.request(&schema.get().0, rows, &words)?.after_fits(prior_fits);
    let mut plan = run_watched(py, |_| privet_learn::plan(&request))??;
    if let Some(weights) = public {
        let columns = weights.len();
        let weights = Matrix::Dense(DenseMatrix::new(weights, 1, columns));
        plan = run_watched(py, |_| plan.with_public(&weights))??;
    }
    Ok(Plan::noting(plan, notes))
}

/// The index of the most likely class of each row.
pub fn predict_codes<'py>(
    py: Python<'py>,
    network: &privet_learn::Released<Network>,
    rows: &Matrix,
) -> Outcome<Bound<'py, PyArray1<u32>>> {
    match run_watched(py, |_| network.predict(rows))?? {
        Predictions::Classes(codes) => Ok(codes.to_pyarray(py)),
        Predictions::Numbers(_) => Err(Failure::value("this network predicts a number")),
    }
}

/// A probability for each row and class.
pub fn probabilities<'py>(
    py: Python<'py>,
    network: &privet_learn::Released<Network>,
    rows: &Matrix,
) -> Outcome<Bound<'py, PyArray2<f64>>> {
    let shares = run_watched(py, |_| network.probabilities(rows))??;
    let shares = shares.ok_or_else(|| Failure::value("this network predicts a number"))?;
    let classes = shares.len().checked_div(rows.rows()).unwrap_or(0);
    Ok(shares.to_pyarray(py).reshape([rows.rows(), classes])?)
}
