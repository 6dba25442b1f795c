//! Streams: a learner that receives records as they come, and its releases.

use crate::error::{Failure, Outcome};
use crate::input;
use crate::noise::source;
use crate::released::Released;
use crate::schema::Schema;
use crate::watched::{run_watched, single_thread};
use numpy::{PyArray1, ToPyArray};
use privet_core::Neighbours;
use privet_data::Dataset;
use privet_data::matrix::Matrix;
use privet_learn::streams::live::Live;
use privet_learn::streams::{Method, Online};
use privet_learn::{LearnError, Plan, Request, RequestOptions};
use pyo3::prelude::*;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

/// Rows taken, steps left, and the newest model if there is a new one.
type TakenRows = (usize, u32, Option<Vec<f64>>);

/// A request to the thread that holds the session.
enum Order {
    /// Take steps on these records: replies with the rows taken, the steps left, the newest model.
    Take(Box<Dataset>, Sender<Result<TakenRows, LearnError>>),
    /// The newest model with its certificate.
    Released(Sender<Result<Option<privet_learn::Released<Online>>, LearnError>>),
}

/// A running stream. Its state without noise lives on a thread of its own, and nowhere else.
#[pyclass(module = "privet._privet", frozen)]
pub struct OnlineStream {
    plan: Plan<Online>,
    orders: Mutex<Sender<Order>>,
    weights: Mutex<Vec<f64>>,
    first: Mutex<Option<privet_learn::Released<Online>>>,
    process: u32,
}

fn stream_gone() -> Failure {
    Failure::value(
        "the stream has ended, or is of another process: streams are not taken along by a fork",
    )
}

impl OnlineStream {
    fn order<T>(&self, py: Python<'_>, make: impl FnOnce(Sender<T>) -> Order) -> Outcome<T>
    where
        T: Send,
    {
        // A fork does not copy the thread that would answer.
        if self.process != std::process::id() {
            return Err(stream_gone());
        }
        let (reply, answer) = channel();
        let orders = self.orders.lock().map_err(|_| stream_gone())?;
        orders.send(make(reply)).map_err(|_| stream_gone())?;
        drop(orders);
        py.detach(move || answer.recv()).map_err(|_| stream_gone())
    }
}

#[pymethods]
impl OnlineStream {
    /// Plans and opens the stream; nothing is drawn yet.
    #[new]
    #[pyo3(signature = (schema, horizon, *, epsilon, delta, neighbours, method, settings,
                        batch, seed, prior_fits = Vec::new()))]
    fn new(
        py: Python<'_>,
        schema: &Bound<'_, Schema>,
        horizon: u64,
        epsilon: Option<f64>,
        delta: Option<f64>,
        neighbours: &str,
        method: &str,
        settings: Vec<(String, String)>,
        batch: u32,
        seed: Option<u64>,
        prior_fits: Vec<String>,
    ) -> Outcome<Self> {
        let words = RequestOptions {
            epsilon,
            delta,
            neighbours: neighbours.parse::<Neighbours>()?,
            settings,
            ..RequestOptions::of(privet_learn::Method::NonPrivate(Default::default()))
        };
        let method: Method = method.parse()?;
        let asked = Online::request(&schema.get().0, horizon, method, &words)?;
        let task = asked.task.clone().in_batches(batch);
        let request = Request { task, prior_fits, ..asked };
        let plan = run_watched(py, |_| privet_learn::plan(&request))??;
        let mut source = source(seed)?;
        let (ready, begun) = channel();
        let (orders, taken) = channel::<Order>();
        let own = plan.clone();
        std::thread::Builder::new()
            .name("privet-stream".into())
            .spawn(move || {
                let _alone = single_thread();
                let (mut live, first) = match Live::begin(&own, source.as_mut()) {
                    Ok(begun) => begun,
                    Err(error) => return drop(ready.send(Err(error))),
                };
                let _ = ready.send(Ok(first));
                for order in taken {
                    match order {
                        Order::Take(data, reply) => {
                            let mut newest = None;
                            let done = live.take(&data, |_, weights| {
                                newest = Some(weights.to_vec());
                                Ok(())
                            });
                            let _ = reply.send(done.map(|rows| (rows, live.steps_left(), newest)));
                        }
                        Order::Released(reply) => drop(reply.send(live.released())),
                    }
                }
            })
            .map_err(|error| Failure::value(format!("no thread for the stream: {error}")))?;
        let first = py.detach(move || begun.recv()).map_err(|_| stream_gone())??;
        let weights = Mutex::new(vec![0.0; plan.facts().width()]);
        let first = Mutex::new(Some(first));
        let process = std::process::id();
        Ok(Self { plan, orders: Mutex::new(orders), weights, first, process })
    }

    /// Takes steps on rows: returns the number of rows taken, and of steps left.
    fn take(
        &self,
        py: Python<'_>,
        features: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyAny>,
    ) -> Outcome<(usize, u32)> {
        let options = input::to_learn(false, false);
        let data = input::dataset(features, labels, None, self.plan.schema(), &options)?;
        let (rows, left, newest) = self.order(py, |reply| Order::Take(Box::new(data), reply))??;
        if let Some(newest) = newest {
            *self.weights.lock().map_err(|_| stream_gone())? = newest;
        }
        Ok((rows, left))
    }

    /// The score ⟨x, θ⟩ of the newest model for each row; with several classes all rows of the first,
    /// then all of the second, …
    #[pyo3(signature = (features) -> "numpy.typing.NDArray[numpy.float64]")]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        features: &Bound<'py, PyAny>,
    ) -> Outcome<Bound<'py, PyArray1<f64>>> {
        let rows = input::features(features, self.plan.schema(), &input::to_use())?.matrix;
        let weights = self.weights.lock().map_err(|_| stream_gone())?;
        let columns = rows.columns().max(1);
        let all: Vec<f64> = weights.chunks(columns).flat_map(|own| scores(&rows, own)).collect();
        Ok(all.to_pyarray(py))
    }

    /// The newest weights.
    #[getter]
    fn weights(&self) -> Outcome<Vec<f64>> {
        Ok(self.weights.lock().map_err(|_| stream_gone())?.clone())
    }

    /// Number of records in a step.
    #[getter]
    fn batch(&self) -> u32 {
        self.plan.facts().batch
    }

    /// The newest model with its certificate; `None` if there is none since the last call.
    fn released(&self, py: Python<'_>) -> Outcome<Option<Released>> {
        let newest = self.order(py, Order::Released)??;
        let first = self.first.lock().map_err(|_| stream_gone())?.take();
        Ok(newest.or(first).map(Released::of_run::<Online>))
    }
}

fn scores(rows: &Matrix, weights: &[f64]) -> Vec<f64> {
    let weight = |column: usize| weights.get(column).copied().unwrap_or(0.0);
    (0..rows.rows())
        .map(|row| match rows {
            Matrix::Dense(dense) => {
                let entries = dense.row(row).iter().enumerate();
                entries.map(|(column, x)| f64::from(*x) * weight(column)).sum()
            }
            Matrix::Csr(csr) => {
                let (columns, values) = csr.row(row);
                columns.iter().zip(values).map(|(c, x)| f64::from(*x) * weight(*c as usize)).sum()
            }
        })
        .collect()
}
