//! The fit: from a matrix in memory to a model, on Adult.
//!
//! The matrix is exported as LIBSVM text, value for value, so that peers fit the very same rows;
//! scikit-learn's solvers are not private and regularised with C = 1/λ of our plan. diffprivlib is
//! raced at its defaults, and at the best point of a small grid chosen on the test rows, in its favour;
//! its guarantee has δ = 0, and so has that of one of our entrants.

use super::environment::{Environment, Rival};
use super::turns::{self, Entrant, Opponent, RoundSeconds};
use super::{Emit, RaceError, Settings, number};
use crate::error::BenchError;
use crate::memory;
use crate::score::score;
use privet_catalog as catalog;
use privet_cli::say;
use privet_core::{Budget, Neighbours};
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::SystemRandom;
use privet_learn::linear::model::Model;
use privet_learn::{Calibration, Erm, Plan, Request, plan};
use privet_optim::loss::Loss;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const RACE: &str = "fit";
/// The budgets raced.
const EPSILONS: [f64; 2] = [0.1, 1.0];
/// Turns of every entrant; the fastest and the median count, and the mean accuracy.
const ROUNDS: usize = 11;
const LIMIT: Duration = Duration::from_secs(120);
/// diffprivlib's budget: its default.
const PURE_EPSILON: f64 = 1.0;
/// The values of C from which diffprivlib's best is chosen, with and without an intercept.
const GRID: [f64; 6] = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0];
/// Fits at each point of the grid.
const SCREENING_FITS: usize = 5;

/// The data in both storages, and the path of their export.
struct Course {
    schema: Schema,
    stored: [(&'static str, Dataset); 2],
    test: Dataset,
    export: PathBuf,
}

/// One of our entrants before its first turn.
struct PlannedEntrant<'a> {
    who: String,
    storage: &'static str,
    epsilon: f64,
    training: &'a Dataset,
    plan: Plan,
    plan_seconds: f64,
}

/// Runs the race.
pub fn run(
    settings: &Settings,
    environment: &Environment,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let course = Course::prepare(settings)?;
    let rounds = if settings.quick { 1 } else { ROUNDS };
    let mut start = |rival: (Rival, &'static str), radius: Option<f64>| {
        let arguments = course.arguments(radius);
        Opponent::start(RACE, environment, rival, arguments, LIMIT, emit)
    };
    let scikit_learn = start((Rival::ScikitLearn, "fit.py"), None)?;
    let radius = course.schema.clip().radius;
    let diffprivlib = start((Rival::Diffprivlib, "diffprivlib_fit.py"), Some(radius))?;
    let source = RefCell::new(SystemRandom::new()?);
    let ours = our_entrants(&course)?;
    let mut entrants: Vec<Entrant<'_>> =
        ours.iter().map(|own| own.entrant(&course, rounds, &source)).collect();
    let theirs = scikit_learn.iter().flat_map(|peer| peer_entrants(&ours, peer));
    let theirs = theirs.chain(diffprivlib.iter().flat_map(grid));
    entrants.extend(theirs.map(|(peer, who, question)| {
        let known = course.known(&question);
        Entrant::new(who, rounds, known, move || peer.ask(&question))
    }));
    turns::take(RACE, entrants, measured, emit)
}

/// The results of an entrant, from its answers.
fn measured(answers: &[Value]) -> Value {
    let times = RoundSeconds::of(answers);
    let all = |key| answers.iter().map(move |answer| number(answer, key));
    let mut found = json!({
        "seconds": times.fastest(),
        "median_seconds": times.median(),
        "fits": answers.len(),
        "accuracy": all("accuracy").sum::<f64>() / answers.len() as f64,
    });
    // A peer may have a λ of its own; memory is measured for ours alone.
    for key in ["ridge", "peak_over_matrix"] {
        if let Some(value) = all(key).filter(|value| value.is_finite()).reduce(f64::max) {
            found[key] = json!(value);
        }
    }
    found
}

impl Course {
    fn prepare(settings: &Settings) -> Result<Self, BenchError> {
        let folder = settings.work.join("adult");
        if !folder.join("schema.toml").exists() {
            catalog::prepare("adult", &settings.originals, &folder, None)?;
        }
        // All entrants on the same rows, those of the papers.
        let schema = Schema::load(folder.join("schema.toml"))?.linear();
        let read =
            |name: &str| read::read(folder.join(name), &schema, &read::ReadOptions::default());
        let (training, test) = (read("train.csv")?, read("test.csv")?);
        let export = settings.work.join("adult.svm");
        for (path, data) in [(export.clone(), &training), (export.with_extension("test"), &test)] {
            std::fs::write(&path, libsvm(data)?).map_err(BenchError::on_path(&path))?;
        }
        let dense = to_dense(&training);
        Ok(Self { schema, stored: [("csr", training), ("dense", dense)], test, export })
    }

    fn columns(&self) -> usize {
        self.test.features.columns()
    }

    /// The arguments of a peer's script: the files, the columns, and the radius if it needs one.
    fn arguments(&self, radius: Option<f64>) -> Vec<OsString> {
        let numbers = [Some(self.columns().to_string()), radius.map(|radius| radius.to_string())];
        let files = [self.export.clone(), self.export.with_extension("test")];
        let files = files.into_iter().map(PathBuf::into_os_string);
        files.chain(numbers.into_iter().flatten().map(OsString::from)).collect()
    }

    /// The fields of an entrant's line beside its results; a peer's question has the same ones.
    fn known(&self, entrant: &Value) -> Value {
        json!({
            "storage": entrant["storage"].as_str().unwrap_or("dense"),
            "epsilon": entrant["epsilon"],
            "ridge": entrant["ridge"],
            "rows": self.stored[0].1.rows(),
            "columns": self.columns(),
        })
    }
}

/// Our entrants: `amp` and `auto` in both storages and at both budgets, and `amp` with δ = 0.
fn our_entrants(course: &Course) -> Result<Vec<PlannedEntrant<'_>>, BenchError> {
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
                    calibration: Calibration::Sound,
                    noise: vec![],
                    among: None,
                    prior_fits: vec![],
                    task: Erm { loss: Loss::Logistic, method: method.parse()? },
                })?;
                let plan_seconds = started.elapsed().as_secs_f64();
                let who = match (method, pure) {
                    ("amp", false) => "privet amp".into(),
                    ("amp", true) => "privet amp, δ = 0".into(),
                    _ => format!("privet auto ({})", plan.request().task.method),
                };
                entrants.push(PlannedEntrant {
                    who,
                    storage,
                    epsilon,
                    training,
                    plan,
                    plan_seconds,
                });
            }
        }
    }
    Ok(entrants)
}

impl PlannedEntrant<'_> {
    /// The fields of its line, which a peer beside it receives as well.
    fn facts(&self) -> Value {
        let ridge = self.plan.settings().get("ridge");
        json!({ "storage": self.storage, "epsilon": self.epsilon, "ridge": ridge })
    }

    fn entrant<'a>(
        &'a self,
        course: &'a Course,
        rounds: usize,
        source: &'a RefCell<SystemRandom>,
    ) -> Entrant<'a> {
        let Self { plan, training, .. } = self;
        let matrix = training.features.bytes();
        let mut known = course.known(&self.facts());
        known["plan_seconds"] = json!(self.plan_seconds);
        known["matrix_bytes"] = json!(matrix);
        Entrant::new(self.who.clone(), rounds, known, move || {
            let before = memory::start();
            let started = Instant::now();
            let release =
                plan.run(*training, &mut *source.borrow_mut(), &AtomicBool::new(false))?;
            let seconds = started.elapsed().as_secs_f64();
            let more = before.zip(memory::peak()).map(|(from, to)| to.saturating_sub(from));
            let model = Model::from_release(release)?;
            Ok(json!({
                "seconds": seconds,
                "accuracy": score(&model, &plan.request().schema, &course.test).1 / 100.0,
                "peak_over_matrix": more.map(|more| 1.0 + more as f64 / matrix as f64),
            }))
        })
    }
}

/// A peer, its entrant's name and its question.
type PeerFit<'a> = (&'a Opponent<'a>, String, Value);

/// scikit-learn's entrants, beside ours of the same storage, budget and λ.
fn peer_entrants<'a>(ours: &[PlannedEntrant<'_>], peer: &'a Opponent<'a>) -> Vec<PeerFit<'a>> {
    let mut entrants = Vec::new();
    for own in ours.iter().filter(|own| own.who == "privet amp") {
        let solvers: &[&str] = match own.storage {
            "csr" => &["liblinear"],
            _ => &["lbfgs", "newton-cholesky", "published-amp"],
        };
        for solver in solvers {
            let who = match *solver {
                "published-amp" => {
                    format!("AMP as published (SciPy {} BFGS)", peer.version("scipy"))
                }
                solver => format!("{} {solver}", peer.name()),
            };
            let mut question = own.facts();
            question["solver"] = json!(solver);
            entrants.push((peer, who, question));
        }
    }
    entrants
}

/// diffprivlib's entrants: its defaults, and the point of the grid with the best mean accuracy on the test
/// rows, unless the peer fails on the grid.
fn grid<'a>(peer: &'a Opponent<'a>) -> Vec<PeerFit<'a>> {
    let name = format!("{}, δ = 0", peer.name());
    let defaults = (peer, format!("{name}, defaults"), json!({ "epsilon": PURE_EPSILON }));
    say!("race: looking for the best C of diffprivlib");
    let points = GRID.iter().flat_map(|c| [(c, true), (c, false)]).map(|(c, intercept)| {
        let question = json!({ "epsilon": PURE_EPSILON, "C": c, "fit_intercept": intercept });
        let fits = (0..SCREENING_FITS).map(|_| Ok(number(&peer.ask(&question)?, "accuracy")));
        Ok((fits.sum::<Result<f64, BenchError>>()?, question))
    });
    let Ok(points) = points.collect::<Result<Vec<_>, BenchError>>() else { return vec![defaults] };
    let best = points.into_iter().rev().max_by(|(one, _), (other, _)| one.total_cmp(other));
    let best = best.map(|(_, best)| {
        let intercept = if best["fit_intercept"] == true { "" } else { ", no intercept" };
        (peer, format!("{name}, C = {}{intercept} (best of a grid)", best["C"]), best)
    });
    [defaults].into_iter().chain(best).collect()
}

/// The same rows, stored densely.
fn to_dense(data: &Dataset) -> Dataset {
    let values = (0..data.rows()).flat_map(|row| data.features.dense_row(row)).collect();
    let dense = DenseMatrix::new(values, data.rows(), data.features.columns());
    Dataset { features: Matrix::Dense(dense), ..data.clone() }
}

/// The rows as LIBSVM text; the shortest decimal form of an `f32` is read back exactly.
fn libsvm(data: &Dataset) -> Result<String, BenchError> {
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
