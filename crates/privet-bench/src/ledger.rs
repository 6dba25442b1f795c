//! The suite `ledger`: the speed of a ledger, and the tightness of its filters.
//!
//! | measure | definition |
//! |---|---|
//! | recomposition-seconds | opening a ledger of 10⁵ entries: every hash, price and limit recomputed |
//! | reservations-a-second | reserve and draw, each on disk before it returns |
//! | epsilon-over-accountant-… | a filter's ε of releases that fill its limit, over the accountant's bound |
//! | releases-over-summing | the number of releases that fit, over the number under a sum of ε |

use crate::error::BenchError;
use privet_core::{Budget, Neighbours, Relation, Unit, UnitDefinition};
use privet_dp::account::{self, Cost, Event, Grid, guarantee};
use privet_dp::gate::{Purse, Spend};
use privet_ledger::{BudgetRequest, Kind, Ledger, LedgerError, Limit, Note};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// The suite's name.
pub const NAME: &str = "ledger";
/// Its file of results.
const FILE: &str = "results.json";
/// Its targets.
const TARGETS: &str = include_str!("../suites-ledger.toml");
/// Entries of the ledger that is opened.
const ENTRIES: u64 = 100_000;
/// Releases that each writer makes.
const RELEASES: usize = 200;
/// Writers at once.
const WRITERS: usize = 8;

/// A bound on a measure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Target {
    /// Name of the measure.
    pub measure: String,
    /// Lower bound.
    pub at_least: Option<f64>,
    /// Upper bound.
    pub at_most: Option<f64>,
    /// The reason for the bound.
    pub note: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Targets {
    targets: Vec<Target>,
}

impl Target {
    /// True if a number meets the bound.
    pub fn is_met(&self, found: f64) -> bool {
        self.at_least.is_none_or(|least| found >= least)
            && self.at_most.is_none_or(|most| found <= most)
    }
}

/// The measurements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// The version and the date.
    pub made: String,
    /// The measures by name.
    pub measures: BTreeMap<String, f64>,
}

/// The targets.
pub fn targets() -> Result<Vec<Target>, BenchError> {
    let read: Result<Targets, _> = toml::from_str(TARGETS);
    Ok(read.map_err(|error| ledger_error(error.to_string()))?.targets)
}

fn ledger_error(why: String) -> BenchError {
    BenchError::Suite { file: "suite ledger".into(), why }
}

impl From<LedgerError> for BenchError {
    fn from(error: LedgerError) -> Self {
        ledger_error(error.to_string())
    }
}

/// Measures everything, in a folder for it; `say` receives messages on progress.
pub fn run(out: &Path, entries: Option<u64>, say: &dyn Fn(&str)) -> Result<Results, BenchError> {
    std::fs::create_dir_all(out).map_err(BenchError::on_path(out))?;
    let folder = tempfile::tempdir_in(out).map_err(BenchError::on_path(out))?;
    let mut measures = BTreeMap::new();
    let mut keep = |name: &str, value: f64| {
        say(&format!("{name}: {value:.4}"));
        measures.insert(name.to_string(), value);
    };
    say("reservations");
    keep("reservations-a-second", writers(&folder.path().join("one"), 1)?);
    keep("reservations-a-second-8-writers", writers(&folder.path().join("eight"), WRITERS)?);
    say("recomposition");
    keep(
        "recomposition-seconds",
        seconds_to_open(&folder.path().join("long"), entries.unwrap_or(ENTRIES))?,
    );
    for kind in [Kind::Renyi, Kind::Zcdp, Kind::Gaussian] {
        keep(&format!("epsilon-over-accountant-{kind}"), looseness(kind)?);
    }
    keep("releases-over-summing", over_summing()?);
    let results =
        Results { made: format!("{} {}", privet_dp::gate::VERSION, privet_core::now()), measures };
    let text =
        serde_json::to_vec_pretty(&results).map_err(|error| ledger_error(error.to_string()))?;
    let path = out.join(FILE);
    std::fs::write(&path, text).map_err(BenchError::on_path(&path))?;
    Ok(results)
}

/// Each target, with its measurement.
pub fn check(out: &Path) -> Result<Vec<(Target, Option<f64>)>, BenchError> {
    let path = out.join(FILE);
    let text = std::fs::read(&path).map_err(BenchError::on_path(&path))?;
    let results: Results =
        serde_json::from_slice(&text).map_err(|error| ledger_error(error.to_string()))?;
    let found = |target: Target| {
        let measured = results.measures.get(&target.measure).copied();
        (target, measured)
    };
    Ok(targets()?.into_iter().map(found).collect())
}

fn limit(kind: Kind, epsilon: f64) -> Result<Limit, BenchError> {
    let budget = Budget::new(epsilon, 1e-6).map_err(|error| ledger_error(error.to_string()))?;
    Ok(Limit::new(kind, None, budget, Relation::new(Neighbours::ReplaceOne, Unit::Record))?)
}

/// A Gaussian release of this μ, with noise on a grid as real releases have.
fn gaussian(mu: f64) -> Event {
    let cost = Cost::Gaussian {
        sensitivity: mu,
        noise_scale: 1.0,
        grid: Some(Grid { step: 2_f64.powi(-40), coordinates: 10 }),
    };
    Event::Use { neighbours: Neighbours::ReplaceOne, unit: Unit::Record, cost }
}

fn budget_request(event: &Event) -> Result<BudgetRequest, BenchError> {
    Ok(BudgetRequest {
        dataset: "table".into(),
        doing: "bench".into(),
        note: Note { who: "bench".into(), purpose: "to measure".into() },
        claim: Some(guarantee(event, 1e-9).map_err(|error| ledger_error(error.to_string()))?),
        whole: false,
    })
}

fn make_ledger(path: &Path, kind: Kind, epsilon: f64) -> Result<Ledger, BenchError> {
    let mut ledger = Ledger::create(path, "bench")?;
    ledger.add(
        "table",
        limit(kind, epsilon)?,
        &UnitDefinition::NotSaid,
        &Note::default(),
        None,
        false,
    )?;
    Ok(ledger)
}

fn release(
    ledger: &mut Ledger,
    budget_request: &BudgetRequest,
    event: &Event,
) -> Result<(), BenchError> {
    let mut paying = ledger.purse_for(budget_request.clone());
    paying.set_aside(&Spend::Exactly(event.clone()))?;
    paying.drawn(0).map_err(|error| ledger_error(error.to_string()))
}

fn writers(path: &Path, count: usize) -> Result<f64, BenchError> {
    drop(make_ledger(path, Kind::Renyi, 8.0)?);
    let event = gaussian(1e-4);
    let wish = budget_request(&event)?;
    let start = Instant::now();
    std::thread::scope(|scope| {
        let work = || -> Result<(), BenchError> {
            let mut ledger = Ledger::open(path)?;
            (0..RELEASES).try_for_each(|_| release(&mut ledger, &wish, &event))
        };
        let writers: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        let ended = |writer: std::thread::ScopedJoinHandle<'_, Result<(), BenchError>>| {
            writer.join().unwrap_or_else(|_| Err(ledger_error("a writer ended early".into())))
        };
        writers.into_iter().try_for_each(ended)
    })?;
    Ok((count * RELEASES) as f64 / start.elapsed().as_secs_f64())
}

/// Seconds to open a ledger of so many entries, the fastest of three; all its events differ.
fn seconds_to_open(path: &Path, entries: u64) -> Result<f64, BenchError> {
    let mut ledger = make_ledger(path, Kind::Renyi, 8.0)?;
    let event = gaussian(1e-5);
    let wish = budget_request(&event)?;
    let spends = (0..entries / 3).map(|k| Spend::Exactly(gaussian(1e-5 * (1.0 + 1e-6 * k as f64))));
    ledger.fill(&wish, spends)?;
    drop(ledger);
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        let opened = Ledger::open_read_only(path)?;
        best = best.min(start.elapsed().as_secs_f64());
        if opened.books().sequence() < entries {
            return Err(ledger_error(format!("only {} entries", opened.books().sequence())));
        }
    }
    Ok(best)
}

/// The ε that a filter proves of 100 equal releases that fill its limit, over the accountant's bound.
fn looseness(kind: Kind) -> Result<f64, BenchError> {
    let limit = limit(kind, 1.0)?;
    let wrong = |error: account::AccountError| ledger_error(error.to_string());
    let fits = |mu: f64| {
        let all = Event::Repeat { count: 100, event: Box::new(gaussian(mu)) };
        let price = limit.price(&all).ok().flatten();
        price.is_some_and(|price| price.is_within(&limit.exact(), &price))
    };
    let (mut low, mut high) = (1e-6, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if fits(middle) { low = middle } else { high = middle }
    }
    let all = Event::Repeat { count: 100, event: Box::new(gaussian(low)) };
    let price = limit.price(&all).map_err(wrong)?.ok_or_else(|| ledger_error("no price".into()))?;
    Ok(limit.proved_epsilon(&price) / account::epsilon(&all, 1e-6).map_err(wrong)?)
}

/// The number of releases of ε = 0.02, δ = 1e-9 that the default filter admits, over the number under a
/// sum.
fn over_summing() -> Result<f64, BenchError> {
    let limit = limit(Kind::Renyi, 1.0)?;
    let wrong = |error: account::AccountError| ledger_error(error.to_string());
    let met = |scale: f64| {
        account::epsilon(&gaussian(1.0 / scale), 1e-9).is_ok_and(|epsilon| epsilon <= 0.02)
    };
    let (mut low, mut high) = (1.0, 1e6);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if met(middle) { high = middle } else { low = middle }
    }
    let price = limit.price(&gaussian(1.0 / high)).map_err(wrong)?;
    let price = price.ok_or_else(|| ledger_error("no price".into()))?;
    Ok((1.0 / price.share(&limit.exact())).floor() / (1.0_f64 / 0.02).floor())
}
