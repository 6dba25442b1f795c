//! The suite `wang-parties`: the cost in accuracy of keeping each party's records to itself.
//!
//! | part | content | file |
//! |---|---|---|
//! | logistic | gap and accuracy against rounds, by the thesis' methods made sound | [`curves`] |
//! | ridge | the same on numbers | [`curves`] |
//! | flat | the gaps among the most parties, over those among the fewest | here |
//! | ours | the product among parties, through shares | [`ours`] |
//! | joint | gates, bytes and seconds of noise that servers draw together | [`joint`] |
//! | noise | Table 6.1, printed beside sound | [`noise`] |
//!
//! Lines are those of races, named `parties-PART`; an existing measurement of a part, a set and a number
//! of parties is not repeated.

pub mod curves;
pub mod joint;
pub mod noise;
pub mod ours;
pub mod problem;

use crate::error::BenchError;
use crate::line::{Line, Race};
use crate::parts::target::{Finding, Target, held_against};
use crate::parts::{self, Harness, Settings};
use crate::suite::{Outcome, RunObserver};
use problem::GENERATED;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Its name.
pub const NAME: &str = "wang-parties";
/// The suite as written.
pub const TEXT: &str = include_str!("../../suites/wang-parties.parties.toml");
/// Its parts.
pub const PARTS: [&str; 6] = ["logistic", "ridge", "flat", "ours", "joint", "noise"];
/// Prefix of the names of its lines.
const PREFIX: &str = "parties";

/// The suite.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parties {
    /// Its name.
    pub name: String,
    /// A one-line description.
    pub title: String,
    /// Number of runs of each learner.
    pub runs: u32,
    /// The ε of the budget.
    pub epsilon: f64,
    /// The δ of the budget.
    pub delta: f64,
    /// Regularisation λ of the mean form.
    pub ridge: f64,
    /// Numbers of rounds T of descents, each a run of its own with its own noise.
    pub rounds: Vec<u32>,
    /// The settings of `mpc-grad-chosen`.
    pub chosen: curves::ChosenGradSettings,
    /// Data sets with classes.
    pub logistic: Vec<DealtData>,
    /// Data sets with numbers.
    pub ridge_sets: Option<Vec<DealtData>>,
    /// The targets.
    pub targets: Vec<Target>,
}

/// A data set split among parties.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DealtData {
    /// A name of the catalog, or `generated-95`.
    pub dataset: String,
    /// Number of training rows.
    pub training: usize,
    /// Number of test rows.
    pub test: usize,
    /// Numbers m of parties.
    pub parties: Vec<u32>,
}

/// The suite that comes with privet.
pub fn suite() -> Result<Parties, BenchError> {
    parts::parsed(NAME, TEXT)
}

/// A line of a part.
pub(crate) fn line(part: &str, who: &str, measured: Value) -> Line {
    parts::line(format!("{PREFIX}-{part}"), who, measured)
}

/// Compares the results in a folder with the targets.
pub fn check(folder: &Path) -> Result<Vec<Finding>, BenchError> {
    held_against(folder, (NAME, TEXT, PREFIX), suite()?.targets)
}

fn requested_suite(settings: &Settings) -> Result<Parties, BenchError> {
    let mut suite = suite()?;
    parts::all_known("part", &settings.parts, &PARTS)?;
    suite.runs = settings.runs.unwrap_or(suite.runs);
    if let [epsilon] = settings.epsilons[..] {
        suite.epsilon = epsilon;
    }
    if !settings.datasets.is_empty() {
        let known: Vec<String> = suite
            .logistic
            .iter()
            .chain(suite.ridge_sets.iter().flatten())
            .map(|dealt| dealt.dataset.clone())
            .collect();
        parts::all_known("data set", &settings.datasets, &known)?;
        suite.logistic.retain(|dealt| settings.datasets.contains(&dealt.dataset));
        if let Some(sets) = &mut suite.ridge_sets {
            sets.retain(|dealt| settings.datasets.contains(&dealt.dataset));
        }
    }
    Ok(suite)
}

/// The lines of a part.
fn of_part<'a>(lines: &'a [Race], part: &str) -> impl Iterator<Item = &'a Map<String, Value>> {
    let race = format!("{PREFIX}-{part}");
    lines.iter().filter(move |line| line.race == race).map(|line| &line.measured)
}

/// True if a line is of this set and one of these numbers of parties.
fn is_of(measured: &Map<String, Value>, dealt: &DealtData) -> bool {
    let is = |key: &str, value: Value| measured.get(key) == Some(&value);
    is("dataset", dealt.dataset.as_str().into())
        && dealt.parties.iter().any(|m| is("parties", (*m).into()))
}

/// For each method measured among the fewest and the most parties of a set, the quotient of its mean
/// gaps.
fn flat(dealt: &DealtData, lines: &[Race]) -> Vec<Line> {
    let ends = [dealt.parties.iter().min(), dealt.parties.iter().max()];
    let [Some(few), Some(many)] = ends else { return Vec::new() };
    let gaps = |m: &u32| {
        let alone = DealtData { parties: vec![*m], ..dealt.clone() };
        let mut gaps: BTreeMap<(String, u64), Vec<f64>> = BTreeMap::new();
        for measured in ["logistic", "ridge"].iter().flat_map(|part| of_part(lines, part)) {
            let said = (measured.get("method"), measured.get("rounds"), measured.get("gap"));
            if let (Some(Value::String(method)), Some(rounds), Some(gap)) = said
                && is_of(measured, &alone)
                && let (Some(rounds), Some(gap)) = (rounds.as_u64(), gap.as_f64())
            {
                gaps.entry((method.clone(), rounds)).or_default().push(gap);
            }
        }
        gaps
    };
    let (at_few, at_many) = (gaps(few), gaps(many));
    let mean = |gaps: &[f64]| gaps.iter().sum::<f64>() / gaps.len().max(1) as f64;
    let ratio = |(key, gaps): (&(String, u64), &Vec<f64>)| {
        let ratio = mean(at_many.get(key)?) / mean(gaps);
        let (method, rounds) = key;
        let measured = json!({
            "dataset": dealt.dataset, "method": method, "rounds": rounds, "few": few, "many": many, "ratio": ratio,
        });
        Some(line("flat", method, measured))
    };
    at_few.iter().filter_map(ratio).collect()
}

/// Runs the requested parts into a folder.
pub fn run(
    settings: &Settings,
    out: &Path,
    resume: bool,
    watch: &dyn RunObserver,
) -> Result<Outcome, BenchError> {
    let suite = requested_suite(settings)?;
    let mut harness = Harness::open((NAME, TEXT), out, resume, watch)?;
    for (place, part) in PARTS.into_iter().enumerate() {
        harness.at(place, PARTS.len());
        if !settings.is_requested(part) {
            continue;
        }
        for dealt in sets(&suite, part) {
            let lines = &harness.lines;
            let there = |dealt: &DealtData| match part {
                "flat" => of_part(lines, part)
                    .any(|line| line.get("dataset") == Some(&dealt.dataset.as_str().into())),
                _ => of_part(lines, part).any(|line| is_of(line, dealt)),
            };
            // The last measurement of a part without sets.
            let last = if part == "joint" { "seconds" } else { "method" };
            let whole = || of_part(lines, part).any(|line| line.contains_key(last));
            if dealt.as_ref().map_or_else(whole, there) {
                let of =
                    dealt.map_or_else(String::new, |DealtData { dataset, parties, .. }| {
                        format!(": {dataset} among {parties:?} parties")
                    });
                watch.say(&format!("{part}{of} is there already"));
                continue;
            }
            let mut missing = None;
            harness.measure(|lines, emit| {
                let done = match (part, &dealt) {
                    ("joint", _) => joint::joint(watch, emit),
                    ("flat", Some(dealt)) => flat(dealt, lines).into_iter().try_for_each(emit),
                    ("ours", Some(dealt)) => ours::ours(&suite, dealt, settings, watch, emit),
                    (_, Some(dealt)) => {
                        curves::curves(&suite, (part, dealt), settings, watch, emit)
                    }
                    (_, None) => noise::table(&suite, emit),
                };
                match done {
                    Err(error @ (BenchError::Catalog(_) | BenchError::Race(_))) => {
                        let of = dealt.as_ref().map(|dealt| format!(", {}", dealt.dataset));
                        missing = Some(format!("{part}{}: {error}", of.unwrap_or_default()));
                        Ok(())
                    }
                    done => done,
                }
            })?;
            let missing = missing.filter(|missing| !harness.outcome.missing.contains(missing));
            harness.outcome.missing.extend(missing);
        }
    }
    Ok(harness.outcome)
}

/// The units of a part that are measured at once: a set and a number of parties, so that an interruption
/// loses no more than that; all numbers of parties of a set; or the whole.
fn sets(suite: &Parties, part: &str) -> Vec<Option<DealtData>> {
    let numbers = || suite.ridge_sets.iter().flatten();
    let sets: Vec<&DealtData> = match part {
        "logistic" => suite.logistic.iter().collect(),
        "ridge" => numbers().collect(),
        // Generated data has no schema.
        "ours" => {
            suite.logistic.iter().chain(numbers().filter(|set| set.dataset != GENERATED)).collect()
        }
        "flat" => return suite.logistic.iter().chain(numbers()).cloned().map(Some).collect(),
        _ => return vec![None],
    };
    let alone =
        |(dealt, m): (&DealtData, &u32)| Some(DealtData { parties: vec![*m], ..dealt.clone() });
    let each = sets.into_iter().flat_map(|dealt| dealt.parties.iter().map(move |m| (dealt, m)));
    each.map(alone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_of_a_part_and_of_what_is_measured() {
        let suite = suite().unwrap();
        assert_eq!(suite.name, NAME);
        let all = || suite.logistic.iter().chain(suite.ridge_sets.iter().flatten());
        for target in &suite.targets {
            assert!(PARTS.contains(&target.part.as_str()), "{target:?}");
            assert!(target.at_least.is_some() != target.at_most.is_some(), "{target:?}");
            let set = |set: &Value| all().find(|dealt| *set == dealt.dataset).cloned();
            let Some(dealt) = target.of.get("dataset").map(|of| set(of).expect("a set")) else {
                assert_eq!(target.part, "joint", "{target:?}");
                continue;
            };
            let parties = target.of.get("parties").map(|m| m.as_u64().unwrap());
            assert_eq!(parties.is_none(), target.part == "flat", "{target:?}");
            let has = |m: u64| dealt.parties.iter().any(|own| u64::from(*own) == m);
            assert!(parties.is_none_or(has), "{target:?}");
        }
    }

    #[test]
    fn gaps_among_the_most_parties_are_set_beside_those_among_the_fewest() {
        let suite = suite().unwrap();
        let dealt = &suite.logistic[0];
        let gap = |parties: u32, method: &str, gap: f64| {
            let measured = json!({
                "dataset": dealt.dataset, "parties": parties, "method": method, "rounds": 50, "gap": gap,
            });
            let Line::Race(line) = line("logistic", method, measured) else { panic!() };
            line
        };
        let lines = [
            gap(100, "a", 1.0),
            gap(100, "a", 3.0),
            gap(1000, "a", 50.0),
            gap(50_000, "a", 5.0),
            gap(100, "b", 1.0),
        ];
        let flat = flat(dealt, &lines);
        let [Line::Race(found)] = &flat[..] else { panic!("{flat:?}") };
        assert_eq!(found.race, "parties-flat");
        assert_eq!(
            (&found.measured["method"], &found.measured["ratio"]),
            (&"a".into(), &2.5.into())
        );
    }
}
