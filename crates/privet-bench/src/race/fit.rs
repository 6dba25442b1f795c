//! The fit: from a matrix in memory to a model, on Adult.
//!
//! The matrix is exported as LIBSVM text, value for value, so that peers fit the very same rows;
//! scikit-learn's solvers are not private and regularised with C = 1/λ of our plan. diffprivlib is
//! raced at its defaults, and at the best point of a small grid chosen on the test rows, in its favour;
//! its guarantee has δ = 0, and so has that of one of our entrants.

use super::environment::{Environment, Rival};
use super::peer::Peer;
use super::{RaceError, Settings, Times, line, notice, number};
use crate::catalog;
use crate::error::BenchError;
use crate::line::Line;
use crate::memory;
use crate::score::score;
use privet_core::{Budget, Neighbours};
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::SystemRandom;
use privet_learn::model::Model;
use privet_learn::{Calibration, Plan, Request, plan};
use privet_optim::loss::Loss;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The budgets raced.
const EPSILONS: [f64; 2] = [0.1, 1.0];
/// Turns of every entrant; the fastest and the median count, and the mean accuracy.
const ROUNDS: usize = 11;
/// An entrant that has had so many seconds has no further turn.
const SECONDS: f64 = 20.0;
const LIMIT: Duration = Duration::from_secs(120);
/// diffprivlib's budget: its default.
const PURE_EPSILON: f64 = 1.0;
/// The values of C from which diffprivlib's best is chosen, with and without an intercept.
const GRID: [f64; 6] = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0];
/// Fits at each point of the grid.
const SCREENED: usize = 5;

/// Who fits.
enum Fitter<'a> {
    Ours { plan: Box<Plan>, training: &'a Dataset, plan_seconds: f64, extra: Option<u64> },
    Theirs { rival: Rival, question: Value },
}

/// An entrant with its results so far.
struct Entrant<'a> {
    who: String,
    storage: &'static str,
    epsilon: f64,
    ridge: Option<f64>,
    fitter: Fitter<'a>,
    times: Times,
    accuracies: Vec<f64>,
    /// Why it is out.
    failed: Option<RaceError>,
}

/// The data in both storages, and where they were exported to.
struct Course {
    schema: Schema,
    stored: [(&'static str, Dataset); 2],
    test: Dataset,
    export: PathBuf,
}

/// The peers' processes.
#[derive(Default)]
struct Peers {
    scikit_learn: Option<Peer>,
    diffprivlib: Option<Peer>,
}

impl Peers {
    fn get(&mut self, rival: Rival) -> Option<&mut Peer> {
        match rival {
            Rival::Diffprivlib => self.diffprivlib.as_mut(),
            _ => self.scikit_learn.as_mut(),
        }
    }
}

/// Runs the race.
pub fn run(
    settings: &Settings,
    environment: &Environment,
    emit: &mut dyn FnMut(Line) -> Result<(), BenchError>,
) -> Result<(), BenchError> {
    let course = Course::prepare(settings)?;
    let mut peers = course.peers(environment, emit)?;
    let mut entrants = ours(&course)?;
    entrants.extend(theirs(&entrants, &mut peers));
    let rounds = if settings.quick { 1 } else { ROUNDS };
    let mut source = SystemRandom::new().map_err(RaceError::from)?;
    for round in 0..rounds {
        eprintln!("race: fit, round {} of {rounds}", round + 1);
        for entrant in &mut entrants {
            if entrant.times.total() < SECONDS && entrant.failed.is_none() {
                let turn = entrant.turn(&course.test, &mut source, &mut peers);
                entrant.failed = turn.err();
            }
        }
    }
    entrants.iter().try_for_each(|entrant| emit(entrant.line(&course)))
}

impl Course {
    fn prepare(settings: &Settings) -> Result<Self, RaceError> {
        let folder = settings.work.join("adult");
        if !folder.join("schema.toml").exists() {
            catalog::prepare("adult", &settings.originals, &folder, None)?;
        }
        let schema = Schema::load(folder.join("schema.toml"))?;
        let read = |name: &str| read::read(folder.join(name), &schema, &read::Options::default());
        let (training, test) = (read("train.csv")?, read("test.csv")?);
        let export = settings.work.join("adult.svm");
        for (path, data) in [(export.clone(), &training), (export.with_extension("test"), &test)] {
            std::fs::write(&path, libsvm(data)?).map_err(RaceError::file(path))?;
        }
        let dense = to_dense(&training);
        Ok(Self { schema, stored: [("csr", training), ("dense", dense)], test, export })
    }

    fn columns(&self) -> usize {
        self.test.features.columns()
    }

    /// Starts the peers; one that does not start is out.
    fn peers(
        &self,
        environment: &Environment,
        emit: &mut dyn FnMut(Line) -> Result<(), BenchError>,
    ) -> Result<Peers, BenchError> {
        let export: &Path = &self.export;
        let mut arguments = vec![
            export.into(),
            export.with_extension("test").into(),
            self.columns().to_string().into(),
        ];
        let mut started = |rival: Rival, script, arguments: &[_]| {
            environment.start(rival, script, arguments).or_else(|error| {
                emit(notice("fit", rival.name(), &error.to_string())).map(|()| None)
            })
        };
        let scikit_learn = started(Rival::ScikitLearn, "fit.py", &arguments)?;
        arguments.push(self.schema.clip().radius.to_string().into());
        let diffprivlib = started(Rival::Diffprivlib, "diffprivlib_fit.py", &arguments)?;
        Ok(Peers { scikit_learn, diffprivlib })
    }
}

/// Our entrants: `amp` and `auto` in both storages and at both budgets, and `amp` with δ = 0.
fn ours(course: &Course) -> Result<Vec<Entrant<'_>>, RaceError> {
    let mut entrants = Vec::new();
    for (storage, training) in &course.stored {
        let rows = training.rows() as u64;
        let small = Budget::usual_delta(rows);
        for epsilon in EPSILONS {
            for (method, delta) in [("amp", small), ("auto", small), ("amp", 0.0)] {
                let pure = delta == 0.0;
                if pure && (epsilon != PURE_EPSILON || *storage != "dense") {
                    continue;
                }
                let started = Instant::now();
                let plan = plan(&Request {
                    schema: course.schema.clone(),
                    rows,
                    budget: Some(Budget::new(epsilon, delta)?),
                    neighbours: Neighbours::ReplaceOne,
                    loss: Loss::Logistic,
                    method: method.parse()?,
                    calibration: Calibration::Sound,
                })?;
                let plan_seconds = started.elapsed().as_secs_f64();
                let who = match (method, pure) {
                    ("amp", false) => "privet amp".into(),
                    ("amp", true) => "privet amp, δ = 0".into(),
                    _ => format!("privet auto ({})", plan.request().method),
                };
                let ridge = plan.settings().get("ridge");
                let fitter =
                    Fitter::Ours { plan: Box::new(plan), training, plan_seconds, extra: None };
                entrants.push(Entrant::new(who, storage, epsilon, ridge, fitter));
            }
        }
    }
    Ok(entrants)
}

/// The peers' entrants, beside ours of the same storage, budget and λ.
fn theirs<'a>(ours: &[Entrant<'a>], peers: &mut Peers) -> Vec<Entrant<'a>> {
    let mut entrants = Vec::new();
    if let Some(peer) = &peers.scikit_learn {
        let (sklearn, scipy) = (peer.version("scikit-learn"), peer.version("scipy"));
        for own in ours.iter().filter(|own| own.who == "privet amp") {
            let solvers: &[&str] = match own.storage {
                "csr" => &["liblinear"],
                _ => &["lbfgs", "newton-cholesky", "published-amp"],
            };
            for solver in solvers {
                let who = match *solver {
                    "published-amp" => format!("AMP as published (SciPy {scipy} BFGS)"),
                    solver => format!("scikit-learn {sklearn} {solver}"),
                };
                let question = json!({
                    "solver": solver, "storage": own.storage, "ridge": own.ridge, "epsilon": own.epsilon,
                });
                let fitter = Fitter::Theirs { rival: Rival::ScikitLearn, question };
                entrants.push(Entrant::new(who, own.storage, own.epsilon, own.ridge, fitter));
            }
        }
    }
    if let Some(peer) = &mut peers.diffprivlib {
        let name = format!("diffprivlib {}, δ = 0", peer.version("diffprivlib"));
        let mut enter = |who, question: Value| {
            let fitter = Fitter::Theirs { rival: Rival::Diffprivlib, question };
            entrants.push(Entrant::new(who, "dense", PURE_EPSILON, None, fitter));
        };
        enter(format!("{name}, defaults"), json!({ "epsilon": PURE_EPSILON }));
        eprintln!("race: looking for the best C of diffprivlib");
        if let Some(best) = best_of_grid(peer) {
            let intercept = if best["fit_intercept"] == true { "" } else { ", no intercept" };
            enter(format!("{name}, C = {}{intercept} (best of a grid)", best["C"]), best);
        }
    }
    entrants
}

/// The point of the grid with the best mean accuracy on the test rows; none if the peer fails.
fn best_of_grid(peer: &mut Peer) -> Option<Value> {
    let mut best: Option<(f64, Value)> = None;
    for (c, intercept) in GRID.iter().flat_map(|c| [(c, true), (c, false)]) {
        let question = json!({ "epsilon": PURE_EPSILON, "C": c, "fit_intercept": intercept });
        let mut total = 0.0;
        for _ in 0..SCREENED {
            total += number(&peer.ask(&question, LIMIT).ok()?, "accuracy");
        }
        if best.as_ref().is_none_or(|(known, _)| total > *known) {
            best = Some((total, question));
        }
    }
    best.map(|(_, question)| question)
}

impl<'a> Entrant<'a> {
    fn new(
        who: String,
        storage: &'static str,
        epsilon: f64,
        ridge: Option<f64>,
        fitter: Fitter<'a>,
    ) -> Self {
        let (times, accuracies) = (Times::default(), Vec::new());
        Self { who, storage, epsilon, ridge, fitter, times, accuracies, failed: None }
    }

    /// Fits once.
    fn turn(
        &mut self,
        test: &Dataset,
        source: &mut SystemRandom,
        peers: &mut Peers,
    ) -> Result<(), RaceError> {
        match &mut self.fitter {
            Fitter::Ours { plan, training, extra, .. } => {
                let before = memory::start();
                let started = Instant::now();
                let release = plan.run(*training, source, &AtomicBool::new(false))?;
                self.times.push(started.elapsed().as_secs_f64());
                let more = before.zip(memory::peak()).map(|(from, to)| to.saturating_sub(from));
                *extra = more.max(*extra);
                let model = Model::from_release(release)?;
                self.accuracies.push(score(&model, &plan.request().schema, test).1 / 100.0);
            }
            Fitter::Theirs { rival, question } => {
                let Some(peer) = peers.get(*rival) else { return Ok(()) };
                let answer = peer.ask(question, LIMIT)?;
                self.times.push(number(&answer, "seconds"));
                self.accuracies.push(number(&answer, "accuracy"));
                self.ridge = answer["ridge"].as_f64().or(self.ridge);
            }
        }
        Ok(())
    }

    fn line(&self, course: &Course) -> Line {
        let training = &course.stored[0].1;
        let mut measured = json!({
            "storage": self.storage,
            "epsilon": self.epsilon,
            "ridge": self.ridge,
            "rows": training.rows(),
            "columns": training.features.columns(),
            "seconds": self.times.fastest(),
            "median_seconds": self.times.median(),
            "fits": self.accuracies.len(),
            "accuracy": self.accuracies.iter().sum::<f64>() / self.accuracies.len() as f64,
        });
        if let Fitter::Ours { training, plan_seconds, extra, .. } = &self.fitter {
            let matrix = training.features.bytes();
            measured["plan_seconds"] = json!(plan_seconds);
            measured["matrix_bytes"] = json!(matrix);
            measured["peak_over_matrix"] =
                json!(extra.map(|extra| 1.0 + extra as f64 / matrix as f64));
        }
        if let Some(error) = &self.failed {
            measured["notice"] = json!(error.to_string());
        }
        line("fit", &self.who, measured)
    }
}

/// The same rows, stored densely.
fn to_dense(data: &Dataset) -> Dataset {
    let values = (0..data.rows()).flat_map(|row| data.features.dense_row(row)).collect();
    let dense = DenseMatrix::new(values, data.rows(), data.features.columns());
    Dataset { features: Matrix::Dense(dense), ..data.clone() }
}

/// The rows as LIBSVM text; the shortest decimal form of an `f32` is read back exactly.
fn libsvm(data: &Dataset) -> Result<String, RaceError> {
    let labels = data.target.signed().ok_or(RaceError::NotTwoClasses)?;
    let mut text = String::new();
    for (row, label) in labels.iter().enumerate() {
        let _ = write!(text, "{label}");
        for (column, value) in data.features.dense_row(row).iter().enumerate() {
            if *value != 0.0 {
                let _ = write!(text, " {}:{value}", column + 1);
            }
        }
        text.push('\n');
    }
    Ok(text)
}
