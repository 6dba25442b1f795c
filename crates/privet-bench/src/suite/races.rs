//! The suite `race`: speed beside peers, in a results file like any other.
//!
//! The lines of a race are kept once the race is over, so that entrants are compared within one run; a run
//! that was ended goes on with the races that are not there yet.

use super::journal::Journal;
use super::{Onlooker, Outcome};
use crate::error::BenchError;
use crate::head;
use crate::line::Line;
use crate::race::{self, Kind, Settings};
use std::path::Path;

/// Its name.
pub const NAME: &str = "race";
/// What it shows, in a line.
pub const TITLE: &str =
    "Speed beside peers: fit, accountant, samplers, networks, growth with rows and columns";

/// Runs the races that are asked for into a folder.
pub fn run(
    settings: &Settings,
    out: &Path,
    resume: bool,
    watch: &dyn Onlooker,
) -> Result<Outcome, BenchError> {
    let text = format!("name = \"{NAME}\"\ntitle = \"{TITLE}\"\n");
    let (mut journal, past) = Journal::open(out, &text, resume)?;
    let mut write = |line: &Line| {
        let mut written = Ok(());
        watch.writing(&mut || written = journal.append(line));
        written
    };
    write(&Line::Head(head::now(NAME)))?;
    let mut outcome = Outcome::default();
    for (place, kind) in settings.races.iter().enumerate() {
        watch.progress(place as u64, settings.races.len() as u64, f64::NAN);
        if past.lines.iter().any(|line| is_of(line, *kind)) {
            watch.say(&format!("{kind}: there already"));
            continue;
        }
        let mut lines = Vec::new();
        race::run(&Settings { races: vec![*kind], ..settings.clone() }, &mut |line| {
            lines.push(line);
            Ok(())
        })?;
        lines.iter().try_for_each(&mut write)?;
        outcome.made += lines.len() as u64;
    }
    Ok(outcome)
}

/// The growth race leaves lines of `growth-rows` and `growth-columns`.
fn is_of(line: &Line, kind: Kind) -> bool {
    match line {
        Line::Race(line) => line.race.split('-').next() == Some(kind.to_string().as_str()),
        _ => false,
    }
}
