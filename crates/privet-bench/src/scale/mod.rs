//! The suite `scale`: tables of millions of rows, from files of rows.
//!
//! | part | what | file |
//! |---|---|---|
//! | stand-ins | Uber's four sets in full size, beside the model without privacy | `models` |
//! | growth | time, memory and bytes a second against the rows, from memory and from files | `models` |
//! | bandwidth | a pass in bytes a second, beside those of memory and disk | `bandwidth` |
//! | files | from CSV and Parquet to a model, by the command itself | `files`, `source` |
//! | race | beside scikit-learn in memory and out of core | `race` |
//! | url | 100,000 sparse rows of 20 million columns, as the URL set of Jain & Thakurta has | `url` |
//!
//! Rows are made up by all cores, encoded, and written into files of rows (`shards`), which go when a size is done. Lines
//! are those of races, of `scale-PART`; a size that is there already is not measured again.

mod bandwidth;
mod files;
mod fit;
mod models;
mod race;
mod shards;
mod source;
mod url;

use crate::error::BenchError;
use crate::head;
use crate::line::{Line, Race};
use crate::parts::target::{Finding, Target, held_against};
use crate::parts::{self, Harness, Settings};
use crate::suite::{Onlooker, Outcome};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// Its name.
pub const NAME: &str = "scale";
/// The suite as written.
pub const TEXT: &str = include_str!("../../suites/scale.sizes.toml");
/// Its parts.
pub const PARTS: [&str; 6] = ["stand-ins", "growth", "bandwidth", "files", "race", "url"];
/// How the names of its lines begin.
const PREFIX: &str = "scale";

/// The suite.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scale {
    /// Its name.
    pub name: String,
    /// What it shows, in a line.
    pub title: String,
    /// Our learners.
    pub methods: Vec<String>,
    /// The four sets.
    pub stand_ins: StandIns,
    /// One width, many lengths.
    pub growth: Growth,
    /// Tables whose passes are held against memory and disk.
    pub bandwidth: Vec<Rectangle>,
    /// From CSV and Parquet.
    pub files: Sources,
    /// Beside others.
    pub race: Beside,
    /// Very many columns.
    pub url: Wide,
    /// What must be reached.
    pub targets: Vec<Target>,
}

/// Which sets.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StandIns {
    /// By their names.
    pub sizes: Vec<String>,
    /// Budgets.
    pub epsilons: Vec<f64>,
    /// Rows that models are judged on.
    pub held_out: usize,
}

/// Which lengths.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// n.
    pub rows: Vec<usize>,
    /// p, the constant one included.
    pub columns: usize,
    /// The budget.
    pub epsilon: f64,
}

/// A number of rows and of columns.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rectangle {
    /// n.
    pub rows: usize,
    /// p, the constant one included.
    pub columns: usize,
}

impl Rectangle {
    /// As a size is called.
    fn name(&self) -> String {
        format!("{}-columns", self.columns)
    }
}

/// Tables as people have them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sources {
    /// n.
    pub rows: Vec<usize>,
    /// p, the constant one included.
    pub columns: usize,
    /// The budget.
    pub epsilon: f64,
    /// Bytes that the command may take for rows.
    pub memory: u64,
    /// A table of whole numbers that is read into memory.
    pub covertype: Rectangle,
}

/// What is raced.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Beside {
    /// n.
    pub rows: usize,
    /// p, the constant one included.
    pub columns: usize,
    /// The budget.
    pub epsilon: f64,
    /// Rows that models are judged on.
    pub held_out: usize,
    /// How often the peer that goes out of core sees all rows, each in a fit of its own.
    pub epochs: Vec<u32>,
}

/// A sparse table of very many columns.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Wide {
    /// n.
    pub rows: usize,
    /// p.
    pub columns: usize,
    /// Entries of a row.
    pub entries: usize,
    /// Budgets.
    pub epsilons: Vec<f64>,
    /// δ.
    pub delta: f64,
    /// Our learners.
    pub methods: Vec<String>,
    /// Rows that models are judged on.
    pub held_out: usize,
    /// λ of the model without privacy.
    pub ridge: f64,
}

/// The suite that comes with privet.
pub fn suite() -> Result<Scale, BenchError> {
    parts::parsed(NAME, TEXT)
}

/// A size that is wanted: its name in the suite, and which part of its rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SizeSelection {
    pub name: String,
    pub part: usize,
}

impl SizeSelection {
    /// So many rows of a size that has so many.
    pub fn rows(&self, all: usize) -> usize {
        (all / self.part).max(1000)
    }

    /// As lines call it.
    pub fn label(&self) -> String {
        match self.part {
            1 => self.name.clone(),
            part => format!("{}/{part}", self.name),
        }
    }
}

/// Which of these sizes are wanted: all in full if none is named.
fn wanted(sizes: &[String], known: &[String]) -> Vec<SizeSelection> {
    let whole = |name: &String| SizeSelection { name: name.clone(), part: 1 };
    if sizes.is_empty() {
        return known.iter().map(whole).collect();
    }
    let read = |size: &String| {
        let (name, part) = size.split_once('/').unwrap_or((size, "1"));
        let part = part.parse().ok().filter(|part| *part > 0)?;
        known.iter().any(|known| known == name).then(|| SizeSelection { name: name.into(), part })
    };
    sizes.iter().filter_map(read).collect()
}

fn checked(settings: &Settings) -> Result<Scale, BenchError> {
    let mut suite = suite()?;
    parts::all_known("part", &settings.parts, &PARTS)?;
    let known: Vec<String> = PARTS.iter().flat_map(|part| suite.sizes_of(part)).collect();
    let is_unknown = |size: &&String| wanted(&[(*size).clone()], &known).is_empty();
    if let Some(size) = settings.datasets.iter().find(is_unknown) {
        let (given, accepted) = (size.clone(), known.join(", "));
        return Err(BenchError::Unknown { what: "size", given, accepted });
    }
    if !settings.epsilons.is_empty() {
        suite.stand_ins.epsilons = settings.epsilons.clone();
        suite.url.epsilons = settings.epsilons.clone();
    }
    Ok(suite)
}

/// The size of the race.
const RACE: &str = "race";
/// The size of the sparse table.
const URL: &str = "url";
/// The size of the table of whole numbers.
const COVERTYPE: &str = "covertype";

impl Scale {
    /// The sizes of a part, by name.
    fn sizes_of(&self, part: &str) -> Vec<String> {
        let names = |rows: &[usize]| rows.iter().map(usize::to_string).collect::<Vec<_>>();
        match part {
            "stand-ins" => self.stand_ins.sizes.clone(),
            "growth" => names(&self.growth.rows),
            "bandwidth" => self.bandwidth.iter().map(Rectangle::name).collect(),
            "files" => [names(&self.files.rows), vec![COVERTYPE.into()]].concat(),
            "url" => vec![URL.into()],
            _ => vec![RACE.into()],
        }
    }
}

/// The slope of the logarithm of the time against that of the rows, from the length that was measured before.
fn slope(part: &str, facts: &Value, before: &[Race]) -> Option<f64> {
    let same = |race: &&Race| {
        let same = |key: &str| race.measured.get(key) == facts.get(key);
        race.race == format!("{PREFIX}-{part}")
            && ["method", "storage", "columns"].into_iter().all(same)
    };
    let of = |race: &Race, key: &str| race.measured.get(key).and_then(Value::as_f64);
    let last = before.iter().rfind(same)?;
    let times = facts["seconds"].as_f64()? / of(last, "seconds")?;
    Some(times.ln() / (facts["rows"].as_f64()? / of(last, "rows")?).ln())
}

/// A line of a part.
pub(crate) fn line(part: &str, who: &str, mut measured: Value) -> Line {
    measured["cores"] = head::cores().into();
    parts::line(format!("{PREFIX}-{part}"), who, measured)
}

/// Runs the parts and sizes that are asked for into a folder.
pub fn run(
    settings: &Settings,
    out: &Path,
    resume: bool,
    watch: &dyn Onlooker,
) -> Result<Outcome, BenchError> {
    let suite = checked(settings)?;
    let mut harness = Harness::open((NAME, TEXT), out, resume, watch)?;
    std::fs::create_dir_all(&settings.work).map_err(BenchError::at(&settings.work))?;
    for part in PARTS.into_iter().filter(|part| settings.wants(part)) {
        for size in wanted(&settings.datasets, &suite.sizes_of(part)) {
            let label = size.label();
            let of = |line: &Race| {
                let named = line.measured.get("size").and_then(Value::as_str);
                line.race == format!("{PREFIX}-{part}") && named == Some(label.as_str())
            };
            if harness.is_there(&format!("{part}, {label}"), of) {
                continue;
            }
            harness.measure(|before, emit| {
                let mut emit = |line: Line| {
                    if let Line::Race(race) = &line {
                        watch.say(&format!("{}: {}", race.who, Value::from(race.measured.clone())));
                    }
                    emit(line)
                };
                match part {
                    "stand-ins" => models::stand_in(&suite, settings, &size, &mut emit),
                    "growth" => models::growth(&suite, settings, &size, before, &mut emit),
                    "bandwidth" => bandwidth::run(&suite, settings, &size, &mut emit),
                    "files" => files::run(&suite, settings, &size, before, &mut emit),
                    "url" => url::run(&suite, settings, &size, &mut emit),
                    _ => race::run(&suite, settings, &size, &mut emit),
                }
            })?;
        }
    }
    Ok(harness.outcome)
}

/// Holds the results in a folder against the targets.
pub fn check(folder: &Path) -> Result<Vec<Finding>, BenchError> {
    held_against(folder, (NAME, TEXT, PREFIX), suite()?.targets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn the_suite_is_whole_and_sizes_are_read() {
        let suite = suite().unwrap();
        assert_eq!(suite.name, NAME);
        for target in &suite.targets {
            assert!(PARTS.contains(&target.part.as_str()), "{target:?}");
            assert!(target.at_least.is_some() != target.at_most.is_some(), "{target:?}");
        }
        let wanted = |sizes: &[&str]| {
            let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
            super::wanted(&sizes, &suite.stand_ins.sizes)
        };
        assert_eq!(wanted(&[]).len(), 4);
        let some = wanted(&["uber-4/100", "100000"]);
        assert_eq!(some, [SizeSelection { name: "uber-4".into(), part: 100 }]);
        assert_eq!((some[0].rows(19_000_000), some[0].label()), (190_000, "uber-4/100".into()));
        let settings = |sizes: &[&str]| Settings {
            datasets: sizes.iter().map(ToString::to_string).collect(),
            ..nothing()
        };
        checked(&settings(&["uber-4/100", "100000", "race/10"])).unwrap();
        for wrong in ["uber-9", "uber-1/0", "uber-1/x"] {
            assert!(checked(&settings(&[wrong])).is_err(), "{wrong}");
        }
    }

    fn nothing() -> Settings {
        Settings {
            originals: PathBuf::new(),
            work: PathBuf::new(),
            parts: vec![],
            datasets: vec![],
            epsilons: vec![],
            runs: None,
            python: PathBuf::new(),
            program: None,
        }
    }

    /// A size small enough for a test goes all the way, and nothing of its rows is left.
    #[test]
    fn a_small_size_is_measured() {
        struct Nobody;
        impl Onlooker for Nobody {
            fn say(&self, _words: &str) {}
            fn progress(&self, _done: u64, _total: u64, _seconds_left: f64) {}
            fn writing(&self, write: &mut dyn FnMut()) {
                write();
            }
        }
        let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let settings = Settings {
            work: work.path().join("w"),
            parts: ["stand-ins", "growth", "bandwidth", "files", "url"].map(String::from).into(),
            datasets: [
                "uber-3/9000",
                "100000/50",
                "20-columns/9000",
                "200000/100",
                "covertype/100",
                "url/1000",
            ]
            .map(String::from)
            .into(),
            epsilons: vec![1.0],
            ..nothing()
        };
        let out = folder.path().join("out");
        let outcome = run(&settings, &out, false, &Nobody).unwrap();
        assert!(outcome.made >= 17, "{outcome:?}");
        assert_eq!(std::fs::read_dir(&settings.work).unwrap().count(), 0);
        let findings = check(&out).unwrap();
        assert!(findings.iter().all(|finding| finding.mean.is_none()), "no size of the targets");
        assert_eq!(run(&settings, &out, true, &Nobody).unwrap().made, 0, "all there already");
    }
}
