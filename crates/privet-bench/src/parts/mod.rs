//! Suites in parts, and their common code: [`streams`], [`scale`], [`parties`] and the races
//! ([`races`]).
//!
//! ```text
//!  declared (TOML) ──► parts that are asked for ──► lines, once each ──► results.jsonl ──► report, targets
//! ```
//!
//! A part is measured at once (or a size of it, or a set among so many parties: as its suite declares),
//! and its lines are kept once it is over, so that compared numbers come from one run; an existing
//! measurement is not repeated. Lines are those of races. Two suites are of other kinds: those of
//! learners on data sets ([`mod@crate::suite`]), whose lines decide the next run, and [`crate::ledger`],
//! whose few numbers are measured together and not kept by the line.

pub mod target;

use crate::error::BenchError;
use crate::head;
use crate::line::{Line, Race};
use crate::race::{Kind, check};
use crate::suite::{Journal, Outcome, RunObserver, races};
use crate::{parties, scale, streams};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use target::Finding;

/// The options of a run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Folder with the originals of the catalog.
    pub originals: PathBuf,
    /// Folder of rows, prepared sets and the peers' environments.
    pub work: PathBuf,
    /// The requested parts; all of them if empty.
    pub parts: Vec<String>,
    /// Only these data sets; of [`scale`] sizes, each perhaps with a fraction of its rows
    /// (`uber-4/100`).
    pub datasets: Vec<String>,
    /// These budgets instead of the suite's.
    pub epsilons: Vec<f64>,
    /// Runs instead of the suite's number.
    pub runs: Option<u32>,
    /// The interpreter that makes the peers' environments.
    pub python: PathBuf,
    /// This command itself, for measurements in a process of their own; `None` without one.
    pub program: Option<PathBuf>,
}

impl Settings {
    /// True if a part is requested.
    pub(crate) fn is_requested(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|wanted| wanted == part)
    }
}

/// A suite in parts that comes with privet.
#[derive(Debug, Clone, Copy)]
pub struct PartSuite {
    /// Its name.
    pub name: &'static str,
    /// The word for its parts.
    pub kind: &'static str,
    /// The progress message while it runs.
    pub doing: &'static str,
    /// A one-line description.
    pub title: fn() -> Result<String, BenchError>,
    /// The parts that a run with these names would measure, as far as that is known beforehand.
    pub parts: fn(&[String]) -> Result<Vec<String>, BenchError>,
    /// Runs the requested parts into a folder, from the beginning or resumed.
    pub run: fn(&Settings, &Path, bool, &dyn RunObserver) -> Result<Outcome, BenchError>,
    /// Compares the results in a folder with the targets.
    pub check: fn(&Path) -> Result<Vec<Finding>, BenchError>,
}

/// All suites in parts.
pub const PART_SUITES: [PartSuite; 4] = [
    PartSuite {
        name: races::NAME,
        kind: "races",
        doing: "racing",
        title: || Ok(races::TITLE.into()),
        parts: |named| Ok(Kind::by_names(named)?.iter().map(ToString::to_string).collect()),
        run: races::run,
        check: check::check,
    },
    PartSuite {
        name: streams::NAME,
        kind: "parts",
        doing: "streams",
        title: || Ok(streams::suite()?.title),
        parts: |_| Ok(streams::PARTS.map(String::from).into()),
        run: streams::run,
        check: streams::check,
    },
    PartSuite {
        name: scale::NAME,
        kind: "parts",
        doing: "large tables",
        title: || Ok(scale::suite()?.title),
        parts: |_| Ok(scale::PARTS.map(String::from).into()),
        run: scale::run,
        check: scale::check,
    },
    PartSuite {
        name: parties::NAME,
        kind: "parts",
        doing: "parties",
        title: || Ok(parties::suite()?.title),
        parts: |_| Ok(parties::PARTS.map(String::from).into()),
        run: parties::run,
        check: parties::check,
    },
];

/// The suite in parts of that name.
pub fn find(name: &str) -> Option<&'static PartSuite> {
    PART_SUITES.iter().find(|known| known.name == name)
}

/// Parses a suite.
pub(crate) fn parsed<Suite: DeserializeOwned>(name: &str, text: &str) -> Result<Suite, BenchError> {
    toml::from_str(text)
        .map_err(|error| BenchError::Suite { file: format!("{name}.toml"), why: error.to_string() })
}

/// Refuses the first unknown name.
pub(crate) fn all_known(
    what: &'static str,
    given: &[String],
    known: &[impl AsRef<str>],
) -> Result<(), BenchError> {
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    match given.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            Err(BenchError::Unknown { what, given: name.clone(), accepted: known.join(", ") })
        }
    }
}

/// Receives each line as it is measured.
pub type Emit<'a> = &'a mut dyn FnMut(Line) -> Result<(), BenchError>;

/// A line; `measured` must be an object.
pub(crate) fn line(race: impl Into<String>, who: &str, measured: Value) -> Line {
    let measured = match measured {
        Value::Object(measured) => measured,
        _ => Map::new(),
    };
    Line::Race(Race { race: race.into(), who: who.into(), measured })
}

/// A suite in parts while it writes its results file.
pub(crate) struct Harness<'a> {
    journal: Journal,
    watch: &'a dyn RunObserver,
    /// All measurements so far.
    pub lines: Vec<Race>,
    /// The outcome of this run.
    pub outcome: Outcome,
}

impl<'a> Harness<'a> {
    /// Opens the results of a suite of this name and text, and writes a head for the measurements from
    /// now on.
    pub fn open(
        (name, text): (&str, &str),
        out: &Path,
        resume: bool,
        watch: &'a dyn RunObserver,
    ) -> Result<Self, BenchError> {
        let (journal, past) = Journal::open(out, text, resume)?;
        let race = |line| match line {
            Line::Race(race) => Some(race),
            _ => None,
        };
        let lines = past.lines.into_iter().filter_map(race).collect();
        let mut harness = Self { journal, watch, lines, outcome: Outcome::default() };
        harness.put(&Line::Head(head::now(name)))?;
        Ok(harness)
    }

    fn put(&mut self, line: &Line) -> Result<(), BenchError> {
        let mut written = Ok(());
        self.watch.writing(&mut || written = self.journal.append(line));
        written
    }

    /// Reports the progress.
    pub fn at(&self, done: usize, all: usize) {
        self.watch.progress(done as u64, all as u64, f64::NAN);
    }

    /// True if such a line exists, which is reported.
    pub fn is_there(&self, what: &str, of: impl FnMut(&Race) -> bool) -> bool {
        let there = self.lines.iter().any(of);
        if there {
            self.watch.say(&format!("{what}: there already"));
        }
        there
    }

    /// Runs a measurement, which may read earlier ones, and keeps its lines once it is over.
    pub fn measure(
        &mut self,
        run: impl FnOnce(&[Race], Emit<'_>) -> Result<(), BenchError>,
    ) -> Result<(), BenchError> {
        let mut made = Vec::new();
        run(&self.lines, &mut |line| {
            made.push(line);
            Ok(())
        })?;
        for line in made {
            self.put(&line)?;
            self.outcome.made += 1;
            if let Line::Race(race) = line {
                self.lines.push(race);
            }
        }
        Ok(())
    }
}
