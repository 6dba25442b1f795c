//! The suite `wang-parties`: what it costs in accuracy that nobody may see anybody's records.
//!
//! | part | what | file |
//! |---|---|---|
//! | logistic | gap and accuracy against rounds, by the thesis' methods made sound | [`curves`] |
//! | ridge | the same on numbers | [`curves`] |
//! | ours | the product among parties, through shares | [`ours`] |
//! | noise | Table 6.1, printed beside sound | [`noise`] |
//!
//! Lines are those of races, of `parties-PART`; what is there already of a part, a set and a number of parties is not measured again.

pub mod curves;
pub mod noise;
pub mod ours;
pub mod problem;

use crate::error::BenchError;
use crate::head;
use crate::line::{Line, Race};
use crate::streams::check::{Finding, Target, held_against};
use crate::streams::{Emit, Settings};
use crate::suite::{Journal, Onlooker, Outcome};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::Path;

/// Its name.
pub const NAME: &str = "wang-parties";
/// The suite as written.
pub const TEXT: &str = include_str!("../../suites/wang-parties.parties.toml");
/// Its parts.
pub const PARTS: [&str; 4] = ["logistic", "ridge", "ours", "noise"];

/// The suite.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parties {
    /// Its name.
    pub name: String,
    /// What it shows, in a line.
    pub title: String,
    /// How often each learner is run.
    pub runs: u32,
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// λ of the mean form.
    pub ridge: f64,
    /// T of descents, each a run of its own with its own noise.
    pub rounds: Vec<u32>,
    /// Of classes.
    pub logistic: Vec<Dealt>,
    /// Of numbers.
    pub ridge_sets: Option<Vec<Dealt>>,
    /// What must be reached.
    pub targets: Vec<Target>,
}

/// A data set dealt out to parties.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dealt {
    /// Of the catalog, or `generated-95`.
    pub dataset: String,
    /// Rows to learn from.
    pub training: usize,
    /// Rows to judge by.
    pub test: usize,
    /// m.
    pub parties: Vec<u32>,
}

/// The suite that comes with privet.
pub fn suite() -> Result<Parties, BenchError> {
    toml::from_str(TEXT)
        .map_err(|error| BenchError::Suite { file: format!("{NAME}.toml"), why: error.to_string() })
}

/// A line of a part.
pub(crate) fn line(part: &str, who: &str, measured: Value) -> Line {
    let measured = match measured {
        Value::Object(measured) => measured,
        _ => Map::new(),
    };
    Line::Race(Race { race: format!("parties-{part}"), who: who.into(), measured })
}

/// Holds the results in a folder against the targets.
pub fn check(folder: &Path) -> Result<Vec<Finding>, BenchError> {
    held_against(folder, (NAME, TEXT, "parties"), suite()?.targets)
}

fn wanted(settings: &Settings) -> Result<Parties, BenchError> {
    let mut suite = suite()?;
    if let Some(part) = settings.parts.iter().find(|part| !PARTS.contains(&part.as_str())) {
        return Err(BenchError::Unknown {
            what: "part",
            given: part.clone(),
            accepted: PARTS.join(", "),
        });
    }
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
        if let Some(name) = settings.datasets.iter().find(|name| !known.contains(name)) {
            let (given, accepted) = (name.clone(), known.join(", "));
            return Err(BenchError::Unknown { what: "data set", given, accepted });
        }
        suite.logistic.retain(|dealt| settings.datasets.contains(&dealt.dataset));
        if let Some(sets) = &mut suite.ridge_sets {
            sets.retain(|dealt| settings.datasets.contains(&dealt.dataset));
        }
    }
    Ok(suite)
}

/// Runs the parts that are asked for into a folder.
pub fn run(
    settings: &Settings,
    out: &Path,
    resume: bool,
    watch: &dyn Onlooker,
) -> Result<Outcome, BenchError> {
    let suite = wanted(settings)?;
    let (mut journal, past) = Journal::open(out, TEXT, resume)?;
    let mut write = |line: Line| {
        let mut written = Ok(());
        watch.writing(&mut || written = journal.append(&line));
        written
    };
    write(Line::Head(head::now(NAME)))?;
    let mut outcome = Outcome::default();
    for (place, part) in PARTS.into_iter().enumerate() {
        watch.progress(place as u64, PARTS.len() as u64, f64::NAN);
        if !settings.parts.is_empty() && !settings.parts.iter().any(|wanted| wanted == part) {
            continue;
        }
        let sets: Vec<&Dealt> = match part {
            "logistic" | "ours" => suite.logistic.iter().collect(),
            "ridge" => suite.ridge_sets.iter().flatten().collect(),
            _ => Vec::new(),
        };
        // One number of parties at a time, so that what is cut off loses no more than that.
        let dealt_to = |dealt: &Dealt| {
            let alone = |m: &u32| Dealt { parties: vec![*m], ..dealt.clone() };
            dealt.parties.iter().map(alone).collect::<Vec<_>>()
        };
        let sets: Vec<Dealt> = sets.into_iter().flat_map(dealt_to).collect();
        let of = format!("parties-{part}");
        let there = |dealt: Option<&Dealt>| {
            past.lines.iter().any(|line| match line {
                Line::Race(line) if line.race == of => dealt.is_none_or(|dealt| {
                    line.measured.get("dataset") == Some(&Value::from(dealt.dataset.as_str()))
                        && dealt
                            .parties
                            .iter()
                            .map(|m| Some(Value::from(*m)))
                            .any(|m| line.measured.get("parties") == m.as_ref())
                }),
                _ => false,
            })
        };
        if part == "noise" {
            if !there(None) {
                noise::table(&suite, &mut |line| {
                    outcome.made += 1;
                    write(line)
                })?;
            }
            continue;
        }
        for dealt in &sets {
            if there(Some(dealt)) {
                let (dataset, m) = (&dealt.dataset, &dealt.parties[0]);
                watch.say(&format!("{part}: {dataset} among {m} parties is there already"));
                continue;
            }
            let mut lines = Vec::new();
            let emit: Emit<'_> = &mut |line: Line| {
                lines.push(line);
                Ok(())
            };
            let done = match part {
                "ours" => ours::ours(&suite, dealt, settings, watch, emit),
                _ => curves::curves(&suite, (part, dealt), settings, watch, emit),
            };
            match done {
                Ok(()) => {}
                Err(error @ BenchError::Catalog(_)) => {
                    let missing = format!("{part}, {}: {error}", dealt.dataset);
                    if !outcome.missing.contains(&missing) {
                        outcome.missing.push(missing);
                    }
                }
                Err(error) => return Err(error),
            }
            outcome.made += lines.len() as u64;
            lines.into_iter().try_for_each(&mut write)?;
        }
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_of_a_part_and_of_what_is_measured() {
        let suite = suite().unwrap();
        assert_eq!(suite.name, NAME);
        for target in &suite.targets {
            assert!(PARTS.contains(&target.part.as_str()), "{target:?}");
            assert!(target.at_least.is_some() != target.at_most.is_some(), "{target:?}");
            let dealt = suite.logistic.iter().find(|dealt| target.of["dataset"] == dealt.dataset);
            let parties = target.of["parties"].as_u64().unwrap();
            assert!(dealt.unwrap().parties.iter().any(|m| u64::from(*m) == parties), "{target:?}");
        }
    }
}
