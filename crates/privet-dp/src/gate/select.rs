//! The best of a secret random number of runs ([`Event::Selected`], [`crate::account::selected`]).
//!
//! A run is a plain `fn` of the records and a session of its own, whose plan is one run's event; it
//! returns a score and a value, both noisy values of that session. The number of runs is drawn exactly
//! from the law ([`crate::noise::runs`]); the result is the value of the best score, the first of
//! several that are equally good (runs are exchangeable, so that this is as good as any random
//! tie-break).
//!
//! The theorem hides the other runs, all scores and the number of runs, so:
//! - the session of a run releases nothing: emitting or settling from it is refused
//!   ([`GateError::Hidden`]);
//! - the noisy values of a run belong to no other session: passed to one, they give
//!   [`GateError::Foreign`];
//! - a run is a `fn` and captures nothing; a walk in its session begins from plain data of the plan, and
//!   the value is passed to the `fn` that scores it and to nothing else; a run that keeps count in a
//!   static or inside the records defeats this, and must not be written;
//! - the plan charges the whole: [`Event::Selected`] or [`Event::BestOf`], once.
//!
//! **The running time reveals the number of runs** to an observer who can measure it, and an error ends
//! all of them: keep the start and end of a computation private from observers who must learn neither.
//! A run cannot capture:
//! ```compile_fail,E0308
//! use privet_dp::account::{Event, Runs};
//! use privet_dp::gate::{GateError, Noisy, Session};
//! fn count(session: &mut Session<'_>, law: Runs, event: Event) -> Result<Noisy<f64>, GateError> {
//!     let mut runs = 0;
//!     session.select(law, event, &(), |_, _| { runs += 1; Err(GateError::Hidden) }, || 0.0)
//! }
//! ```
//! nor keep the noisy values of another run:
//! ```compile_fail,E0308
//! use privet_dp::account::{Event, Runs};
//! use privet_dp::gate::{GateError, Noisy, Session};
//! fn keep(session: &mut Session<'_>, law: Runs, event: Event, kept: &mut Vec<Noisy<(f64, f64)>>) {
//!     let run = |_: &(), _: &mut Session<'_>| -> Result<Noisy<(f64, f64)>, GateError> {
//!         kept.pop().ok_or(GateError::Hidden)
//!     };
//!     let _ = session.select(law, event, &(), run, || 0.0);
//! }
//! ```

use super::{GateError, Noisy, Session};
use crate::account::{Event, Runs};
use crate::noise::{NoiseError, Source, runs};

/// A candidate of [`Session::select_among`].
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The event of one run, its score included.
    pub event: Event,
    /// The initial data of its walk, if it has one: plain data of the plan.
    pub walk: Option<serde_json::Value>,
}

/// A run of a candidate, in two steps, each a `fn` of the records, the candidate's index and a session
/// of the run's own.
#[derive(Debug)]
pub struct Trial<R: ?Sized, T, E> {
    /// Computes the value.
    pub make: Make<R, T, E>,
    /// Scores the value.
    pub score: Score<R, T, E>,
}

/// The first step of a [`Trial`].
pub type Make<R, T, E> = fn(&R, usize, &mut Session<'_>) -> Result<Noisy<T>, E>;
/// The second step of a [`Trial`].
pub type Score<R, T, E> = fn(&R, usize, &T, &mut Session<'_>) -> Result<Noisy<f64>, E>;

/// One run: queries the records in a session of its own and returns a score and a value.
pub type Run<R, T, E> = fn(&R, &mut Session<'_>) -> Result<Noisy<(f64, T)>, E>;

impl Session<'_> {
    /// Runs `run` a secret number of times, charged as [`Event::Selected`] of `event`, and returns the
    /// value of the best score; if the law draws zero runs, the public answer of `otherwise`. A score of
    /// NaN is the worst.
    pub fn select<R: ?Sized, T, E: From<GateError>>(
        &mut self,
        law: Runs,
        event: Event,
        records: &R,
        run: Run<R, T, E>,
        otherwise: fn() -> T,
    ) -> Result<Noisy<T>, E> {
        // Check before anything is charged.
        check(law).map_err(GateError::from)?;
        let whole = Event::Selected { law, event: Box::new(event.clone()) };
        let source = self.charge(whole)?;
        let mut best: Option<(f64, T)> = None;
        for _ in 0..draw(law, source).map_err(GateError::from)? {
            let mut hidden = Session::hidden_run(event.clone(), None, &mut *source);
            let number = hidden.number();
            let noisy = run(records, &mut hidden)?;
            let (score, value) = hidden.hidden_outcome(number, noisy)?;
            keep_better(&mut best, score, value);
        }
        Ok(self.mark_noisy(best.map_or_else(otherwise, |(_, value)| value)))
    }

    /// As [`Session::select`], where each run uses one of several candidates, drawn uniformly: returns
    /// the index of the best run's candidate and its value, or `None` if there was no run. Charged as
    /// [`Event::BestOf`] of their events.
    pub fn select_among<R: ?Sized, T, E: From<GateError>>(
        &mut self,
        law: Runs,
        candidates: &[Candidate],
        records: &R,
        trial: Trial<R, T, E>,
    ) -> Result<Noisy<Option<(usize, T)>>, E> {
        check(law).map_err(GateError::from)?;
        let events = candidates.iter().map(|candidate| candidate.event.clone()).collect();
        let source = self.charge(Event::BestOf { law, candidates: events })?;
        let mut best: Option<(f64, (usize, T))> = None;
        for _ in 0..draw(law, source).map_err(GateError::from)? {
            let place = source.below(candidates.len() as u64) as usize;
            let Candidate { event, walk } = &candidates[place];
            let mut hidden = Session::hidden_run(event.clone(), walk.clone(), &mut *source);
            let number = hidden.number();
            let made = (trial.make)(records, place, &mut hidden)?;
            let value = hidden.within_run(&made)?;
            let score = (trial.score)(records, place, value, &mut hidden)?;
            let score = *hidden.within_run(&score)?;
            let value = hidden.hidden_outcome(number, made)?;
            keep_better(&mut best, score, (place, value));
        }
        Ok(self.mark_noisy(best.map(|(_, found)| found)))
    }
}

/// Keeps the first of several equally good runs; a score of NaN is the worst.
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
