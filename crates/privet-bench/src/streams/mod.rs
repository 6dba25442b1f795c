//! The suite `thakurta-online`: what learning from a private stream costs, in accuracy, regret and time.
//!
//! | part | what | file |
//! |---|---|---|
//! | accuracy | rows predicted before they are learnt from, beside no noise and river | [`accuracy`] |
//! | regret | against T, beside the powers of the theorems | [`regret`] |
//! | experts | regret over √(T ln p) | [`regret`] |
//! | pace | rows a second on one core | [`accuracy`] |
//!
//! Lines are those of races, of `stream-PART`; the suite's own file says what is measured and what must be reached
//! ([`check`]). A part that is there already is not measured again.

pub mod accuracy;
pub mod check;
pub mod regret;

use crate::error::BenchError;
use crate::head;
use crate::line::{Line, Race};
use crate::suite::{Journal, Onlooker, Outcome};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Its name.
pub const NAME: &str = "thakurta-online";
/// The suite as written.
pub const TEXT: &str = include_str!("../../suites/thakurta-online.streams.toml");
/// Its parts.
pub const PARTS: [&str; 4] = ["accuracy", "regret", "experts", "pace"];

/// The suite.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Streams {
    /// Its name.
    pub name: String,
    /// What it shows, in a line.
    pub title: String,
    /// How often each private learner is run.
    pub runs: u32,
    /// Real streams.
    pub accuracy: Accuracy,
    /// Made-up rows.
    pub regret: Regret,
    /// Many columns.
    pub experts: Experts,
    /// Time.
    pub pace: Pace,
    /// What must be reached.
    pub targets: Vec<check::Target>,
}

/// Which real streams.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accuracy {
    /// Of the catalog.
    pub datasets: Vec<String>,
    /// `filed`, `shuffled`.
    pub orders: Vec<String>,
    /// Budgets.
    pub epsilons: Vec<f64>,
    /// Rows a step.
    pub batches: Vec<u32>,
}

/// Which horizons.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Regret {
    /// Learners.
    pub methods: Vec<String>,
    /// T is ten to these.
    pub powers: Vec<u32>,
    /// The budget.
    pub epsilon: f64,
}

/// How many experts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experts {
    /// p.
    pub columns: Vec<usize>,
    /// T.
    pub rows: usize,
    /// The budget.
    pub epsilon: f64,
}

/// What is timed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// T.
    pub rows: usize,
    /// p.
    pub columns: usize,
    /// Rows a step.
    pub batches: Vec<u32>,
    /// The budget.
    pub epsilon: f64,
}

/// The suite that comes with privet.
pub fn suite() -> Result<Streams, BenchError> {
    toml::from_str(TEXT)
        .map_err(|error| BenchError::Suite { file: format!("{NAME}.toml"), why: error.to_string() })
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Folder with the originals of the catalog.
    pub originals: PathBuf,
    /// Where prepared sets and river's environment are kept.
    pub work: PathBuf,
    /// Which parts; all of them if none is named.
    pub parts: Vec<String>,
    /// Only these data sets.
    pub datasets: Vec<String>,
    /// These budgets instead of the suite's.
    pub epsilons: Vec<f64>,
    /// Runs instead of the suite's number.
    pub runs: Option<u32>,
    /// The interpreter that makes river's environment.
    pub python: PathBuf,
}

/// Takes each line as it comes.
pub(crate) type Emit<'a> = &'a mut dyn FnMut(Line) -> Result<(), BenchError>;

/// A line of a part.
pub(crate) fn line(part: &str, who: &str, measured: Value) -> Line {
    let measured = match measured {
        Value::Object(measured) => measured,
        _ => Map::new(),
    };
    Line::Race(Race { race: format!("stream-{part}"), who: who.into(), measured })
}

impl Settings {
    fn checked(&self, suite: &Streams) -> Result<Streams, BenchError> {
        let unknown = |what, given: &String, accepted: String| BenchError::Unknown {
            what,
            given: given.clone(),
            accepted,
        };
        if let Some(part) = self.parts.iter().find(|part| !PARTS.contains(&part.as_str())) {
            return Err(unknown("part", part, PARTS.join(", ")));
        }
        let known = &suite.accuracy.datasets;
        if let Some(name) = self.datasets.iter().find(|name| !known.contains(name)) {
            return Err(unknown("data set", name, known.join(", ")));
        }
        let mut wanted = suite.clone();
        wanted.runs = self.runs.unwrap_or(suite.runs);
        if !self.datasets.is_empty() {
            wanted.accuracy.datasets = self.datasets.clone();
        }
        if !self.epsilons.is_empty() {
            wanted.accuracy.epsilons = self.epsilons.clone();
        }
        Ok(wanted)
    }
}

/// Runs the parts that are asked for into a folder.
pub fn run(
    settings: &Settings,
    out: &Path,
    resume: bool,
    watch: &dyn Onlooker,
) -> Result<Outcome, BenchError> {
    let suite = settings.checked(&suite()?)?;
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
        let of = format!("stream-{part}");
        if past.lines.iter().any(|line| matches!(line, Line::Race(line) if line.race == of)) {
            watch.say(&format!("{part}: there already"));
            continue;
        }
        let mut lines = Vec::new();
        let mut emit = |line: Line| -> Result<(), BenchError> {
            lines.push(line);
            Ok(())
        };
        match part {
            "accuracy" => {
                let missing = accuracy::accuracy(&suite, settings, watch, &mut emit)?;
                outcome.missing.extend(missing);
            }
            "regret" => regret::regret(&suite, watch, &mut emit)?,
            "experts" => regret::experts(&suite, watch, &mut emit)?,
            _ => accuracy::pace(&suite, watch, &mut emit)?,
        }
        outcome.made += lines.len() as u64;
        lines.into_iter().try_for_each(&mut write)?;
    }
    Ok(outcome)
}
