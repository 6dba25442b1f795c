//! The suite `race`: speed beside peers, in a results file like any other.
//!
//! The lines of a race are kept once the race is over, so that entrants are compared within one run; a
//! resumed run continues with the missing races.

use super::{Outcome, RunObserver};
use crate::error::BenchError;
use crate::line::Race;
use crate::parts::{Harness, Settings};
use crate::race::{self, Kind};
use std::path::Path;

/// Its name.
pub const NAME: &str = "race";
/// A one-line description.
pub const TITLE: &str =
    "Speed beside peers: fit, accountant, samplers, networks, growth with rows and columns";

/// Runs the requested races into a folder.
pub fn run(
    settings: &Settings,
    out: &Path,
    resume: bool,
    watch: &dyn RunObserver,
) -> Result<Outcome, BenchError> {
    let wanted = Kind::by_names(&settings.parts)?;
    let races = race::Settings {
        originals: settings.originals.clone(),
        work: settings.work.clone(),
        races: vec![],
        python: settings.python.clone(),
        server: (settings.program.clone().unwrap_or_default(), vec!["serve-growth".into()]),
        quick: false,
    };
    let text = format!("name = \"{NAME}\"\ntitle = \"{TITLE}\"\n");
    let mut harness = Harness::open((NAME, &text), out, resume, watch)?;
    for (place, kind) in wanted.iter().enumerate() {
        harness.at(place, wanted.len());
        if harness.is_there(&kind.to_string(), |line| is_of(line, *kind)) {
            continue;
        }
        let one = race::Settings { races: vec![*kind], ..races.clone() };
        harness.measure(|_, emit| race::run(&one, emit))?;
    }
    Ok(harness.outcome)
}

/// The growth race leaves lines of `growth-rows` and `growth-columns`.
fn is_of(line: &Race, kind: Kind) -> bool {
    line.race.split('-').next() == Some(kind.to_string().as_str())
}
