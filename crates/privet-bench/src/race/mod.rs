//! Races: the same work done by privet and by its peers, in one run, on one machine, on the same data.
//!
//! | race | ours | peers |
//! |---|---|---|
//! | [`fit`] | `amp` and `auto` on Adult | scikit-learn, diffprivlib, the papers' AMP through SciPy |
//! | [`accountant`] | ε of an event, noise for a budget | dp-accounting |
//! | [`samplers`] | exact draws a second | OpenDP |
//! | [`network`] | examples a second of a network, clipped one by one | Opacus, torch |
//! | [`growth`] | time and memory against rows and columns | scikit-learn |
//!
//! Entrants take turns (`turns`), and the fastest round of each counts, so that other work on the
//! machine affects all of them alike. Peers come from the package index at pinned versions, in virtual
//! environments made here ([`environment`]).

pub mod accountant;
pub mod check;
pub mod environment;
mod error;
pub mod fit;
pub mod growth;
pub mod network;
pub mod peer;
pub mod samplers;
mod turns;

use crate::error::BenchError;
use crate::line::Line;
use crate::parts::{Emit, line};
use environment::{Environment, Rival};
pub use error::RaceError;
use privet_cli::say;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::PathBuf;
use std::{fmt, str::FromStr};
use turns::RoundSeconds;

/// A race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Fitting a model.
    Fit,
    /// Accounting.
    Accountant,
    /// Drawing noise.
    Samplers,
    /// Steps of a network.
    Network,
    /// Growth against rows and columns.
    Growth,
}

impl Kind {
    /// All races.
    pub const ALL: [Self; 5] =
        [Self::Fit, Self::Accountant, Self::Samplers, Self::Network, Self::Growth];

    /// The races of these names; all if there is none.
    pub fn by_names(names: &[String]) -> Result<Vec<Self>, RaceError> {
        match names {
            [] => Ok(Self::ALL.into()),
            names => names.iter().map(|name| name.parse()).collect(),
        }
    }

    /// Its name, its rivals, and the function that runs it.
    fn facts(self) -> (&'static str, &'static [Rival], Runner) {
        match self {
            Self::Fit => ("fit", &[Rival::ScikitLearn, Rival::Diffprivlib], fit::run),
            Self::Accountant => ("accountant", &[Rival::DpAccounting], accountant::run),
            Self::Samplers => ("samplers", &[Rival::OpenDp], samplers::run),
            Self::Network => ("network", &[Rival::Opacus], network::run),
            Self::Growth => ("growth", &[Rival::ScikitLearn], growth::run),
        }
    }
}

type Runner = fn(&Settings, &Environment, Emit<'_>) -> Result<(), BenchError>;

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.facts().0)
    }
}

impl FromStr for Kind {
    type Err = RaceError;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|kind| kind.to_string() == word);
        found.ok_or_else(|| RaceError::Unknown {
            given: word.into(),
            accepted: Self::ALL.map(|kind| kind.to_string()).join(", "),
        })
    }
}

/// The options of a race.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The folder of the originals ([`privet_catalog`]); the fit race needs Adult.
    pub originals: PathBuf,
    /// Folder of environments, prepared data and exports; existing ones are used.
    pub work: PathBuf,
    /// The races.
    pub races: Vec<Kind>,
    /// The interpreter that makes the peers' environments.
    pub python: PathBuf,
    /// A command that calls [`growth::serve`], for fits in a process of their own: a program and its
    /// arguments.
    pub server: (PathBuf, Vec<OsString>),
    /// Tiny sizes, one round, no peers: a test that everything works.
    pub quick: bool,
}

/// Runs the races and emits a line per entrant.
///
/// Peers are installed first, before anything is measured; one that cannot be is named in a line with a
/// `notice`, and the others race on.
pub fn run(settings: &Settings, emit: Emit<'_>) -> Result<(), BenchError> {
    let busy = busy().filter(|_| !settings.quick);
    if let Some(busy) = &busy {
        say!("race: {busy}");
    }
    std::fs::create_dir_all(&settings.work).map_err(BenchError::on_path(&settings.work))?;
    let mut rivals: Vec<Rival> = Vec::new();
    for rival in settings.races.iter().flat_map(|race| race.facts().1) {
        if !settings.quick && !rivals.contains(rival) {
            rivals.push(*rival);
        }
    }
    let environment = Environment::make(&settings.work, &settings.python, &rivals)?;
    for (name, rivals, run) in settings.races.iter().map(|race| race.facts()) {
        if let Some(busy) = &busy {
            emit(notice(name, "machine", busy))?;
        }
        for (rival, reason) in environment.missing.iter().filter(|(one, _)| rivals.contains(one)) {
            emit(notice(name, rival.name(), reason))?;
        }
        say!("race: {name}");
        run(settings, &environment, emit)?;
    }
    Ok(())
}

/// The load per core above which other work causes a notice.
const BUSY: f64 = 0.5;

/// A warning where the machine has other work: taking turns evens out slow moments, but threads that
/// wait for each other, as those of BLAS do, lose more than their share.
fn busy() -> Option<String> {
    let load = std::fs::read_to_string("/proc/loadavg").ok()?;
    let load: f64 = load.split_whitespace().next()?.parse().ok()?;
    let cores = std::thread::available_parallelism().ok()?.get();
    (load > BUSY * cores as f64).then(|| {
        format!(
            "the load was {load} on {cores} cores before the race began: entrants with several threads lose \
             more by others' work, so ratios and slopes need an idle machine"
        )
    })
}

/// The line of an entrant without a result, with the reason.
fn notice(race: &str, who: &str, reason: &str) -> Line {
    line(race, who, json!({ "notice": reason }))
}

/// A number in a peer's answer; NaN where there is none.
fn number(answer: &Value, key: &str) -> f64 {
    answer[key].as_f64().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(work: &std::path::Path) -> Settings {
        Settings {
            originals: work.join("none"),
            work: work.into(),
            races: vec![Kind::Samplers],
            python: work.join("no-such-python"),
            server: (PathBuf::new(), Vec::new()),
            quick: false,
        }
    }

    #[test]
    fn without_python_nothing_is_measured_and_the_error_says_what_is_needed() {
        let folder = tempfile::tempdir().unwrap();
        let mut lines = 0;
        let failure = run(&settings(folder.path()), &mut |_| {
            lines += 1;
            Ok(())
        });
        let failure = failure.unwrap_err();
        assert!(matches!(failure, BenchError::Race(RaceError::NoPython { .. })), "{failure:?}");
        let words = failure.to_string();
        assert!(words.contains("no-such-python") && words.contains("venv module"), "{words}");
        assert_eq!(lines, 0);
    }

    #[test]
    fn races_are_known_by_their_names() {
        for kind in Kind::ALL {
            assert_eq!(kind.to_string().parse::<Kind>().unwrap(), kind);
        }
        let unknown = "sprint".parse::<Kind>().unwrap_err().to_string();
        assert!(
            unknown.contains("sprint") && unknown.contains("accountant, samplers"),
            "{unknown}"
        );
    }
}
