//! The best of a secret random number of runs ([`Event::Selected`], [`crate::account::selected`]).
//!
//! A run is a plain `fn` of the records and a session of its own, whose plan is one run's event; it hands back a
//! score and a value, both noised in that session. How often it is called is drawn from the law, exactly
//! ([`crate::noise::runs`]); the value of the best score comes out, the first of several that are equally
//! good (runs are exchangeable, so that this is as good as any tie-break by lot).
//!
//! The theorem hides the losers, all scores and the number of runs, so:
//! - the session of a run lets nothing out: to emit or settle from it is refused ([`GateError::Hidden`]);
//! - what a run noised is of no other session: handed to one, it is [`GateError::Foreign`];
//! - a run is a `fn` and captures nothing; a walk in its session begins from plain data of the plan, and what
//!   was made is handed to the `fn` that scores it and to nobody else; a run that keeps count in a static or
//!   inside the records defeats this, and must not be written;
//! - what the plan charges is the whole: [`Event::Selected`] or [`Event::BestOf`], once.
//!
//! **The running time tells the number of runs** to whoever can measure it, and an error ends all of them: whoever
//! is to be kept from either must not see when a computation began and ended.
//!
//! A run cannot capture:
//! ```compile_fail,E0308
//! use privet_dp::account::{Event, Runs};
//! use privet_dp::gate::{GateError, Noised, Session};
//! fn count(session: &mut Session<'_>, law: Runs, event: Event) -> Result<Noised<f64>, GateError> {
//!     let mut runs = 0;
//!     session.select(law, event, &(), |_, _| { runs += 1; Err(GateError::Hidden) }, || 0.0)
//! }
//! ```
//! nor keep what another run noised:
//! ```compile_fail,E0308
//! use privet_dp::account::{Event, Runs};
//! use privet_dp::gate::{GateError, Noised, Session};
//! fn keep(session: &mut Session<'_>, law: Runs, event: Event, kept: &mut Vec<Noised<(f64, f64)>>) {
//!     let run = |_: &(), _: &mut Session<'_>| -> Result<Noised<(f64, f64)>, GateError> {
//!         kept.pop().ok_or(GateError::Hidden)
//!     };
//!     let _ = session.select(law, event, &(), run, || 0.0);
//! }
//! ```

use super::{GateError, Noised, Session};
use crate::account::{Event, Runs};
use crate::noise::{NoiseError, Source, runs};

/// A candidate of [`Session::select_among`].
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// One run of it, its score included.
    pub event: Event,
    /// What its walk begins from, if it is one: plain data of the plan.
    pub walk: Option<serde_json::Value>,
}

/// A run of a candidate, in two steps, each a `fn` of the records, the candidate's place and a session of the
/// run's own.
#[derive(Debug)]
pub struct Trial<R: ?Sized, T, E> {
    /// Makes the value.
    pub make: Make<R, T, E>,
    /// Scores what was made.
    pub score: Score<R, T, E>,
}

/// The first step of a [`Trial`].
pub type Make<R, T, E> = fn(&R, usize, &mut Session<'_>) -> Result<Noised<T>, E>;
/// The second step of a [`Trial`].
pub type Score<R, T, E> = fn(&R, usize, &T, &mut Session<'_>) -> Result<Noised<f64>, E>;

/// One run: asks the records in a session of its own for a score and a value.
pub type Run<R, T, E> = fn(&R, &mut Session<'_>) -> Result<Noised<(f64, T)>, E>;

impl Session<'_> {
    /// Runs `run` a secret number of times, each charging `event`, and gives the value of the best score; where
    /// the law allows no run at all and none is made, what `otherwise` says, a public answer. A score that is
    /// no number is the worst.
    pub fn select<R: ?Sized, T, E: From<GateError>>(
        &mut self,
        law: Runs,
        event: Event,
        records: &R,
        run: Run<R, T, E>,
        otherwise: fn() -> T,
    ) -> Result<Noised<T>, E> {
        // Before anything is charged.
        check(law).map_err(GateError::from)?;
        let whole = Event::Selected { law, event: Box::new(event.clone()) };
        let source = self.charge(whole)?;
        let mut best: Option<(f64, T)> = None;
        for _ in 0..draw(law, source).map_err(GateError::from)? {
            let mut hidden = Session::hidden(event.clone(), None, &mut *source);
            let number = hidden.number();
            let noised = run(records, &mut hidden)?;
            let (score, value) = hidden.hidden_outcome(number, noised)?;
            keep_better(&mut best, score, value);
        }
        Ok(self.noised(best.map_or_else(otherwise, |(_, value)| value)))
    }

    /// The same where each run is of one of several candidates, drawn by an even lot: the place of the best
    /// run's and what it made, or `None` where no run was made at all. Charged as [`Event::BestOf`] of their
    /// events.
    pub fn select_among<R: ?Sized, T, E: From<GateError>>(
        &mut self,
        law: Runs,
        candidates: &[Candidate],
        records: &R,
        trial: Trial<R, T, E>,
    ) -> Result<Noised<Option<(usize, T)>>, E> {
        check(law).map_err(GateError::from)?;
        let events = candidates.iter().map(|candidate| candidate.event.clone()).collect();
        let source = self.charge(Event::BestOf { law, candidates: events })?;
        let mut best: Option<(f64, (usize, T))> = None;
        for _ in 0..draw(law, source).map_err(GateError::from)? {
            let place = source.below(candidates.len() as u64) as usize;
            let Candidate { event, walk } = &candidates[place];
            let mut hidden = Session::hidden(event.clone(), walk.clone(), &mut *source);
            let number = hidden.number();
            let made = (trial.make)(records, place, &mut hidden)?;
            let value = hidden.within_run(&made)?;
            let score = (trial.score)(records, place, value, &mut hidden)?;
            let score = *hidden.within_run(&score)?;
            let value = hidden.hidden_outcome(number, made)?;
            keep_better(&mut best, score, (place, value));
        }
        Ok(self.noised(best.map(|(_, found)| found)))
    }
}

/// Keeps the first of those that are equally good; a score that is no number is the worst.
fn keep_better<T>(best: &mut Option<(f64, T)>, score: f64, value: T) {
    let score = if score.is_nan() { f64::NEG_INFINITY } else { score };
    if best.as_ref().is_none_or(|(most, _)| score > *most) {
        *best = Some((score, value));
    }
}

fn check(law: Runs) -> Result<(), NoiseError> {
    match law {
        Runs::NegativeBinomial { eta, gamma } => runs::check_negative_binomial(eta, gamma),
        Runs::Poisson { mean } => runs::check_poisson(mean),
    }
}

fn draw(law: Runs, source: &mut dyn Source) -> Result<u64, NoiseError> {
    match law {
        Runs::NegativeBinomial { eta, gamma } => runs::negative_binomial(eta, gamma, source),
        Runs::Poisson { mean } => runs::poisson(mean, source),
    }
}
