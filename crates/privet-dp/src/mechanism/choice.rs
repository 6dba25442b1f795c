//! One choice among a list of candidates by their scores: the exponential mechanism, exactly.
//!
//! **Theorem** (McSherry & Talwar 2007; Durfee & Rogers 2019). Between neighbours let the score of
//! candidate c change by m_c, integers that all lie in an interval of length `spread`. Candidate c with
//! probability ∝ e^(rate·score_c) has bounded range **rate·spread**.
//!
//! *Proof.* The log ratio of c's probabilities is rate·m_c less a number that is the same for all c. ∎
//!
//! Scores that change by at most Δ either way have spread 2Δ; scores that all change in the same
//! direction, Δ. Finite arithmetic: integers, drawn exactly ([`choose_by_weight`], [`choose_lazily`]);
//! every candidate has a probability above 0, so that pure ε holds. The number of sampling rounds
//! depends on the scores: the running time is not private. Tested by `tests/all/selection.rs`.

use super::grid::round_up;
use crate::account::{Cost, Event};
use crate::gate::{GateError, Noisy, Private, Session};
use crate::noise::{NoiseError, Parts, RATE, choose_by_weight, choose_lazily};
use privet_core::{Neighbours, Unit};

/// One choice among candidates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The neighbour relation that the spread was derived for.
    pub neighbours: Neighbours,
    /// The unit that the spread was derived for.
    pub unit: Unit,
    /// Largest difference between the changes of two scores, in units of score.
    pub spread: u64,
    /// The rate per unit of score.
    pub rate: f64,
    /// The number of candidates.
    pub candidates: usize,
}

impl Choice {
    fn leaf(&self) -> Event {
        let cost = Cost::BoundedRange { range: self.range_of_rate(self.rate) };
        Event::Use { neighbours: self.neighbours, unit: self.unit, cost }
    }

    /// The event of the choice.
    pub fn event(&self) -> Result<Event, GateError> {
        RATE.check(self.rate).map_err(NoiseError::Setting)?;
        Ok(self.leaf())
    }

    /// The range charged for a choice at this rate.
    pub fn range_of_rate(&self, rate: f64) -> f64 {
        round_up(self.spread as f64 * rate)
    }

    /// The same choice at the rate that costs this range, up to rounding.
    pub fn with_range(&self, range: f64) -> Self {
        Self { rate: range / self.range_of_rate(1.0), ..*self }
    }

    /// Makes the choice: returns the candidate's index, from 0.
    pub fn run(
        &self,
        scores: Private<Vec<i64>>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<usize>, GateError> {
        let scores = scores.open();
        if scores.len() != self.candidates || scores.is_empty() {
            return Err(GateError::Malformed);
        }
        let source = session.charge(self.leaf())?;
        let chosen = choose_by_weight(&scores, self.rate, source)?;
        Ok(session.mark_noisy(chosen))
    }

    /// The same choice among candidates in parts, few of whose scores are computed; `None` if the
    /// division was stopped, after which nothing may be released.
    pub fn run_lazily<P: Parts>(
        &self,
        parts: Private<P>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Option<usize>>, GateError> {
        let mut parts = parts.open();
        if parts.whole().size != self.candidates as u64 {
            return Err(GateError::Malformed);
        }
        let source = session.charge(self.leaf())?;
        let chosen = choose_lazily(&mut parts, self.rate, source)?;
        Ok(session.mark_noisy(chosen.map(|candidate| candidate as usize)))
    }
}
