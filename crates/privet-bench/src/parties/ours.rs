//! The product among parties: every sum through shares, two servers, each with noise of its own.
//!
//! | method | content | parties |
//! |---|---|---|
//! | `gd` | as it plans itself | all in one process ([`ManyParties`]) |
//! | `gd, ridge` | with J's own λ, by rounds; only among the fewest parties (see below) | the same |
//! | `ssp` | of numbers alone: it has moments for squares | the same |
//! | `auto` | with features of its own | the same |
//! | `output` | the mean of the parties' minimisers, J's λ | threads, servers in one process ([`InProcessServers`]) |
//!
//! Sums do not depend on the split of the rows: `gd, ridge` is measured once. Gaps are of J on the rows
//! as the method has them encoded (with a constant column or not), where the model is one of those: not
//! of rows less their mean (`centred-gd`), whose constant is free.

use super::problem::{Rows, Shape, first_rows, folder, read, rows_in_order};
use super::{DealtData, Parties, line};
use crate::error::BenchError;
use crate::parts::{Emit, Settings};
use crate::score::score;
use crate::suite::RunObserver;
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema};
use privet_dp::account::{Cost, Event};
use privet_dp::mechanism::shares::{InProcess, NoiseMode, Participants};
use privet_dp::noise::SystemRandom;
use privet_learn::linear::model::Model;
use privet_learn::{Erm, Method, Plan, Request, plan};
use privet_optim::loss::Loss;
use privet_parties::{InProcessServers, ManyParties, Names, PartiesError, Party, authority};
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Largest number of parties with a thread each.
const THREADS: u32 = 1000;
/// Largest number of rounds of `gd, ridge`.
const ROUNDS: u32 = 200;

/// Number of values in all rounds of a plan, which go to every server as shares and come back as
/// openings.
fn numbers(planned: &Event) -> u64 {
    match planned {
        Event::Use { cost: Cost::Gaussian { grid: Some(grid), .. }, .. } => grid.coordinates,
        Event::All(all) => all.iter().map(numbers).sum(),
        Event::Repeat { count, event } => u64::from(*count) * numbers(event),
        _ => 0,
    }
}

/// Number of rounds of a plan.
fn rounds(planned: &Event) -> u64 {
    match planned {
        Event::Use { .. } => 1,
        Event::All(all) => all.iter().map(rounds).sum(),
        Event::Repeat { count, event } => u64::from(*count) * rounds(event),
        _ => 0,
    }
}

fn parties_error(error: PartiesError) -> BenchError {
    match error {
        PartiesError::Learn(error) => error.into(),
        error => BenchError::Suite { file: super::NAME.into(), why: error.to_string() },
    }
}

/// A request: a name in the results, a method, and its settings.
struct ComparedMethod {
    name: &'static str,
    method: &'static str,
    settings: Vec<(&'static str, String)>,
}

impl ComparedMethod {
    fn new(name: &'static str, method: &'static str) -> Self {
        Self { name, method, settings: Vec::new() }
    }

    fn with(mut self, setting: &'static str, value: impl ToString) -> Self {
        self.settings.push((setting, value.to_string()));
        self
    }

    fn all(suite: &Parties, shape: Shape, rows: u64, parties: u32, fewest: bool) -> Vec<Self> {
        let ridge = suite.ridge * rows as f64;
        let mut all = vec![Self::new("gd", "gd"), Self::new("auto", "auto")];
        if fewest {
            let steps = suite.rounds.iter().filter(|rounds| **rounds <= ROUNDS);
            let gd = |steps| Self::new("gd, ridge", "gd").with("ridge", ridge).with("steps", steps);
            all.extend(steps.map(gd));
        }
        if shape == Shape::Clipped {
            all.push(Self::new("ssp", "ssp"));
        }
        if parties <= THREADS {
            all.push(Self::new("output", "output").with("ridge", ridge));
        }
        all
    }
}

/// The objective J on the rows as a method encodes them, and its least value.
struct ObjectiveEvaluation {
    shape: Shape,
    ridge: f64,
    train: Rows,
    best: f64,
}

impl ObjectiveEvaluation {
    fn new(train: &Dataset, shape: Shape, ridge: f64) -> Result<Self, BenchError> {
        let train = rows_in_order(train, shape, &(0..train.rows()).collect::<Vec<_>>());
        let best = train.minimum((shape, ridge), 0..train.count(), None, 1e-8)?;
        let best = train.objective(shape, &best, ridge);
        Ok(Self { shape, ridge, train, best })
    }

    fn gap(&self, theta: &[f64]) -> f64 {
        self.train.objective(self.shape, theta, self.ridge) - self.best
    }
}

struct Set {
    folder: PathBuf,
    training: usize,
    test: usize,
    loss: Loss,
    rows: u64,
    /// 100 for numbers, else 1: R² in per cent, as in the curves.
    per_cent: f64,
}

impl Set {
    /// Training rows, and test rows: those of the test part, then some unused ones of the training part.
    fn tables(&self, schema: &Schema) -> Result<(Dataset, [Dataset; 2]), BenchError> {
        let (test, _) = first_rows(&read(&self.folder, "test", schema)?, [self.test, 0]);
        // R² is of one table.
        let more = if self.per_cent > 1.0 { 0 } else { self.test.saturating_sub(test.rows()) };
        let (train, rest) =
            first_rows(&read(&self.folder, "train", schema)?, [self.training, more]);
        Ok((train, [test, rest]))
    }

    fn request(&self, asked: &ComparedMethod, schema: &Schema) -> Result<Request, BenchError> {
        let task = Erm { loss: self.loss, method: asked.method.parse::<Method>()? };
        let request = Request::new(schema.clone(), self.rows, Neighbours::ReplaceOne, task);
        let with = |request: Request, (name, value): &(&'static str, String)| {
            Ok::<_, BenchError>(request.with(name, value)?)
        };
        asked.settings.iter().try_fold(request, with)
    }

    fn score(&self, model: &Model, schema: &Schema, test: &[Dataset; 2]) -> f64 {
        let parts = test.iter().filter(|part| part.rows() > 0);
        let right = parts.map(|part| part.rows() as f64 * score(model, schema, part).1);
        self.per_cent * right.sum::<f64>() / test_rows(test) as f64
    }
}

/// Number of test rows.
fn test_rows(test: &[Dataset; 2]) -> usize {
    test.iter().map(Dataset::rows).sum()
}

/// Runs all parties in one process, one party's sums after the other's.
fn in_a_crowd(planned: &Plan, train: &Dataset, among: Participants) -> Result<Model, BenchError> {
    let crowd = ManyParties::new(train.clone(), among, Box::new(SystemRandom::new()?));
    let (mut own, mut servers) = (SystemRandom::new()?, SystemRandom::new()?);
    let together = InProcess::new(among, &mut servers);
    let never = AtomicBool::new(false);
    Ok(Model::from_release(planned.run_among(&crowd, &together, &mut own, &never, None)?)?)
}

/// Runs each party in a thread of its own, with every message as over a network.
fn in_a_room(
    (planned, schema): (&Plan, &Schema),
    train: &Dataset,
    among: Participants,
) -> Result<Model, BenchError> {
    let crowd = ManyParties::new(train.clone(), among, Box::new(SystemRandom::new()?));
    let holder = |(at, part): (usize, &Dataset)| (format!("p{at}"), part.rows() as u64);
    let server = |at: u32| (format!("s{at}"), format!("127.0.0.1:{}", 7001 + at));
    let names = Names {
        parties: crowd.parts().iter().enumerate().map(holder).collect(),
        servers: (0..among.servers).map(server).collect(),
    };
    let agreement =
        authority::without_certificates((planned, schema), &names, 3600).map_err(parties_error)?;
    let room = InProcessServers::new(&agreement).map_err(parties_error)?;
    let take_part = |at: usize, part: &Dataset| -> Result<Model, BenchError> {
        let party = Party::new(agreement.clone(), &names.parties[at].0, "", room.line(at));
        let party = party.map_err(parties_error)?;
        party.join().map_err(parties_error)?;
        let (mut own, never) = (SystemRandom::new()?, AtomicBool::new(false));
        let release = planned.run_among(part, &party, &mut own, &never, None)?;
        party.finish();
        Ok(Model::from_release(release)?)
    };
    let mut models = std::thread::scope(|scope| {
        let start = |(at, part)| scope.spawn(move || take_part(at, part));
        let runs: Vec<_> = crowd.parts().iter().enumerate().map(start).collect();
        let ended = |run: std::thread::ScopedJoinHandle<'_, Result<Model, BenchError>>| {
            run.join().unwrap_or_else(|_| {
                Err(parties_error(PartiesError::Ended("a party panicked".into())))
            })
        };
        runs.into_iter().map(ended).collect::<Result<Vec<_>, _>>()
    })?;
    // All parties end with the same model.
    models.pop().ok_or_else(|| parties_error(PartiesError::InvalidRequest("no parties".into())))
}

/// Runs the part on one set.
pub(super) fn ours(
    suite: &Parties,
    dealt: &DealtData,
    settings: &Settings,
    watch: &dyn RunObserver,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let folder = folder(dealt, settings)?;
    let schema = Schema::load(folder.join("schema.toml"))?;
    let linear = schema.linear();
    let of_numbers = suite.ridge_sets.iter().flatten().any(|set| set.dataset == dealt.dataset);
    let (shape, loss, per_cent) = match of_numbers {
        true => (Shape::Clipped, Loss::SQUARED, 100.0),
        false => (Shape::Logistic, Loss::Logistic, 1.0),
    };
    let (training, test) = (dealt.training, dealt.test);
    let mut set = Set { folder, training, test, loss, rows: 0, per_cent };
    let (train, test) = set.tables(&linear)?;
    set.rows = train.rows() as u64;
    let plain = plan(&set.request(&ComparedMethod::new("", "non-private"), &linear)?)?;
    let plain = plain.run(&train, &mut SystemRandom::new()?, &AtomicBool::new(false))?;
    let best = set.score(&Model::from_release(plain)?, &linear, &test);
    let mut judges: Vec<(Schema, ObjectiveEvaluation)> = Vec::new();
    let known = suite.logistic.iter().chain(suite.ridge_sets.iter().flatten());
    let fewest =
        known.filter(|set| set.dataset == dealt.dataset).flat_map(|set| &set.parties).min();
    for parties in &dealt.parties {
        let among =
            Participants { parties: *parties, servers: 2, honest: 1, noise: NoiseMode::Shares };
        let asked = ComparedMethod::all(suite, shape, set.rows, *parties, fewest == Some(parties));
        for asked in &asked {
            let schema = if asked.method == "auto" { &schema } else { &linear };
            let budget = Budget::new(suite.epsilon, suite.delta)?;
            let planned =
                plan(&set.request(asked, schema)?.with_budget(budget).shared_among(among))?;
            let (train, test) = set.tables(planned.schema())?;
            let (name, rounds) = (asked.name, planned.events().map_or(0, rounds));
            watch.say(&format!("ours: {name} on {} among {parties} parties", dealt.dataset));
            for run in 0..suite.runs {
                let started = Instant::now();
                let model = match asked.method {
                    "output" => in_a_room((&planned, schema), &train, among)?,
                    _ => in_a_crowd(&planned, &train, among)?,
                };
                let seconds = started.elapsed().as_secs_f64();
                let gap = match (&model.weights().centre, model.weights().weights.as_slice()) {
                    (None, [theta]) if asked.method != "auto" => {
                        let of = planned.schema();
                        if !judges.iter().any(|(known, _)| known == of) {
                            judges.push((
                                of.clone(),
                                ObjectiveEvaluation::new(&train, shape, suite.ridge)?,
                            ));
                        }
                        let judge = judges.iter().find(|(known, _)| known == of);
                        judge.map(|(_, judge)| judge.gap(theta))
                    }
                    _ => None,
                };
                let found = set.score(&model, planned.schema(), &test);
                emit(line(
                    "ours",
                    name,
                    json!({
                        "dataset": dealt.dataset, "parties": parties, "method": name, "rounds": rounds, "run": run,
                        "chosen": planned.request().task.method.name(), "epsilon": suite.epsilon, "delta": suite.delta,
                        "rows": set.rows, "tested": test_rows(&test), "gap": gap,
                        "accuracy": found, "accuracy-loss": best - found, "best": best, "seconds": seconds,
                        "bytes-a-party": 2 * 16 * u64::from(among.servers) * planned.events().map_or(0, numbers),
                    }),
                ))?;
            }
        }
    }
    Ok(())
}
