//! Entrants take turns, round by round, and the rounds of each make one line: the one driver of the
//! races in which every entrant repeats the same work.

use super::environment::{Environment, Rival};
use super::peer::Peer;
use super::{Emit, line, notice, number};
use crate::error::BenchError;
use privet_cli::say;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::ffi::OsString;
use std::time::Duration;

/// Seconds after which an entrant has no further turn.
const SECONDS: f64 = 20.0;

/// An entrant with its answers so far.
pub(super) struct Entrant<'a> {
    who: String,
    /// Largest number of turns.
    rounds: usize,
    /// The fields of its line beside the measurements; an object.
    known: Value,
    work: Box<dyn FnMut() -> Result<Value, BenchError> + 'a>,
    answers: Vec<Value>,
    /// The reason why it is out.
    failed: Option<BenchError>,
}

impl<'a> Entrant<'a> {
    /// An entrant with so many turns at most. Each answer is an object, with `seconds` if the time
    /// counts.
    pub fn new(
        who: impl Into<String>,
        rounds: usize,
        known: Value,
        work: impl FnMut() -> Result<Value, BenchError> + 'a,
    ) -> Self {
        let (answers, work) = (Vec::new(), Box::new(work));
        Self { who: who.into(), rounds, known, work, answers, failed: None }
    }

    fn turn(&mut self) {
        let over = RoundSeconds::of(&self.answers).total() >= SECONDS;
        if over || self.failed.is_some() || self.answers.len() >= self.rounds {
            return;
        }
        match (self.work)() {
            Ok(answer) => self.answers.push(answer),
            Err(error) => self.failed = Some(error),
        }
    }
}

/// Runs all turns, then emits a line per entrant: its known fields, the `measured` ones from its
/// answers, and the reason why it is out, if it is.
pub(super) fn take(
    race: &str,
    mut entrants: Vec<Entrant<'_>>,
    measured: impl Fn(&[Value]) -> Value,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    for _ in 0..entrants.iter().map(|entrant| entrant.rounds).max().unwrap_or(0) {
        entrants.iter_mut().for_each(Entrant::turn);
    }
    for Entrant { who, mut known, answers, failed, .. } in entrants {
        if !answers.is_empty() {
            let found = measured(&answers);
            say!("race: {race}, {who}: {found}");
            found.as_object().into_iter().flatten().for_each(|(key, value)| {
                known[key] = value.clone();
            });
        }
        if let Some(error) = failed {
            known["notice"] = json!(error.to_string());
        }
        emit(line(race, &who, known))?;
    }
    Ok(())
}

/// A rival's process, started again after a question that it did not answer.
pub(super) struct Opponent<'a> {
    environment: &'a Environment,
    rival: Rival,
    script: &'static str,
    arguments: Vec<OsString>,
    limit: Duration,
    peer: RefCell<Option<Peer>>,
}

impl<'a> Opponent<'a> {
    /// Starts a script of a rival, with a time limit for each answer; `None` if the rival is not
    /// installed, and `None` with a notice if it does not start.
    pub fn start(
        race: &str,
        environment: &'a Environment,
        (rival, script): (Rival, &'static str),
        arguments: Vec<OsString>,
        limit: Duration,
        emit: Emit<'_>,
    ) -> Result<Option<Self>, BenchError> {
        match environment.start(rival, script, &arguments) {
            Ok(peer) => Ok(peer.map(|peer| {
                let peer = RefCell::new(Some(peer));
                Self { environment, rival, script, arguments, limit, peer }
            })),
            Err(error) => {
                emit(notice(race, rival.name(), &error.to_string()))?;
                Ok(None)
            }
        }
    }

    /// Its name with the version of its first package.
    pub fn name(&self) -> String {
        format!("{} {}", self.rival.name(), self.version(self.rival.name()))
    }

    /// The version that it stated of a package.
    pub fn version(&self, package: &str) -> String {
        self.peer.borrow().as_ref().map_or("unknown", |peer| peer.version(package)).into()
    }

    /// Sends a question and waits for the answer.
    pub fn ask(&self, question: &Value) -> Result<Value, BenchError> {
        let mut peer = self.peer.borrow_mut();
        if peer.is_none() {
            *peer = self.environment.start(self.rival, self.script, &self.arguments)?;
        }
        let answer = peer.as_mut().map_or(Ok(Value::Null), |peer| peer.ask(question, self.limit));
        if answer.is_err() {
            *peer = None;
        }
        Ok(answer?)
    }
}

/// Seconds of the rounds of one entrant, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct RoundSeconds(pub Vec<f64>);

impl RoundSeconds {
    /// The times of the answers that have one.
    pub fn of(answers: &[Value]) -> Self {
        let mut times = Self::default();
        let seconds = answers.iter().map(|answer| number(answer, "seconds"));
        seconds.filter(|seconds| seconds.is_finite()).for_each(|seconds| times.push(seconds));
        times
    }

    pub fn push(&mut self, seconds: f64) {
        let place = self.0.partition_point(|known| *known < seconds);
        self.0.insert(place, seconds);
    }

    pub fn fastest(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }

    pub fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }

    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Line;

    #[test]
    fn times_are_kept_in_order() {
        let mut times = RoundSeconds::default();
        assert!(times.fastest().is_nan());
        [3.0, 1.0, 2.0].into_iter().for_each(|seconds| times.push(seconds));
        assert_eq!((times.fastest(), times.median(), times.total()), (1.0, 2.0, 6.0));
    }

    #[test]
    fn everybody_has_turns_until_rounds_or_patience_end_or_it_fails() {
        let (turns, mut lines) = (RefCell::new(String::new()), Vec::new());
        let work = |who: char, seconds: f64| {
            let turns = &turns;
            move || {
                turns.borrow_mut().push(who);
                Ok(json!({ "seconds": seconds }))
            }
        };
        let out = || Err(super::super::RaceError::NotTwoClasses.into());
        let entrants = vec![
            Entrant::new("quick", 3, json!({ "at": 1 }), work('a', 1.0)),
            Entrant::new("slow", 3, json!({}), work('b', SECONDS)),
            Entrant::new("once", 1, json!({}), work('c', 1.0)),
            Entrant::new("out", 3, json!({}), out),
        ];
        let measured = |answers: &[Value]| json!({ "fits": answers.len() });
        let mut emit = |line: Line| {
            let Line::Race(line) = line else { panic!("not a race") };
            lines.push(line);
            Ok(())
        };
        take("sprint", entrants, measured, &mut emit).unwrap();
        assert_eq!(turns.into_inner(), "abcaa");
        let fits: Vec<_> = lines.iter().map(|line| line.measured.get("fits").cloned()).collect();
        assert_eq!(fits, [Some(json!(3)), Some(json!(1)), Some(json!(1)), None]);
        assert_eq!(lines[0].measured["at"], 1);
        assert!(lines[3].measured.contains_key("notice") && lines[3].who == "out");
    }
}
