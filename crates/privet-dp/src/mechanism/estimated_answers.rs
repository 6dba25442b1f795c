//! Stable answers with a cutoff from a private estimate: Remark 11 of Thakkar 2019.
//!
//! T, the number of unstable queries after which nothing more is answered, costs noise if it is large
//! and answers if it is small; the true number of such queries is private. So it is estimated first,
//! under noise.
//!
//! **Theorem.** Let an integer q of the records change by at most Δ between neighbours; let A₁, A₂, … be
//! [`StableAnswers`], each of which is (ε₂, δ)-DP by itself, and N discrete Laplace of scale s. To draw
//! N, to choose one of the Aⱼ by a rule that reads q + N and public facts alone, to carry that one out,
//! and to release j, is **(Δ/s + ε₂, δ)**-DP.
//!
//! *Proof.* q + N is (Δ/s)-DP (the mass of N at k is ∝ e^(−|k|/s)). For each of its values v the rest is
//! A_{j(v)} with fresh coins. For a set S of outcomes with sections S_v, and P_v, P′_v the laws of
//! A_{j(v)} on neighbours D, D′, P(S) = Σ_v Pr\[q + N = v\]·P_v(S_v) ≤ Σ_v Pr\[q + N = v\]·min{1,
//! e^ε₂·P′_v(S_v) + δ} ≤ Σ_v e^(Δ/s)·Pr\[q′ + N = v\]·e^ε₂·P′_v(S_v) + Σ_v
//! Pr\[q + N = v\]·δ = e^(Δ/s + ε₂)·P′(S) + δ. ∎
//!
//! The charge is that of the whole, an (ε, δ) event: j is known only once q + N is.
//! [`EstimatedAnswers::event`] recomputes that each Aⱼ keeps within (ε₂, δ). The rule is a list of
//! limits, plain data.
//!
//! - *Departs from print*: there half of the records is reserved, and the error of models on it is
//!   estimated. Here q is the number of votes on the public queries against the winner, which changes by
//!   one a query and needs neither labels nor a half.
//! - Finite arithmetic: integers and exact draws. Tested by `tests/all/estimated_answers.rs`.

use super::grid::round_up;
use super::stability::WithDistance;
use super::stable_answers::{QueryAnswer, StableAnswers};
use crate::account::{self, Cost, Event};
use crate::gate::{GateError, Noisy, Private, Session};
use crate::noise::{DiscreteLaplace, LAPLACE_SCALE, NoiseError};

/// The cutoff T of the chosen alternative, and the answer to each query.
type EstimatedOutcome<A> = (u32, Vec<QueryAnswer<A>>);

/// Stable answers by one of several alternatives.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimatedAnswers {
    /// The Aⱼ, each with the largest estimate at which it may be chosen; the first that may be is
    /// chosen, and the last if none may.
    pub alternatives: Vec<(i64, StableAnswers)>,
    /// Sensitivity Δ of the estimated integer.
    pub sensitivity: u64,
    /// Scale s of the estimate's noise.
    pub noise_scale: f64,
    /// The parameter ε₂ of each alternative.
    pub answers_epsilon: f64,
    /// The parameter δ of each alternative.
    pub delta: f64,
}

impl EstimatedAnswers {
    /// The event, whichever alternative is chosen.
    pub fn event(&self) -> Result<Event, GateError> {
        LAPLACE_SCALE.check(self.noise_scale).map_err(NoiseError::Setting)?;
        let (_, first) = self.alternatives.first().ok_or(GateError::Malformed)?;
        let (neighbours, unit) = (first.neighbours, first.unit);
        for (_, answers) in &self.alternatives {
            let costs = account::delta(&answers.event()?, self.answers_epsilon)?;
            let alike = (answers.neighbours, answers.unit) == (neighbours, unit);
            // Refuses NaN as well.
            let within = costs <= self.delta;
            if !(alike && within) {
                return Err(GateError::Malformed);
            }
        }
        let epsilon =
            round_up(round_up(self.sensitivity as f64 / self.noise_scale) + self.answers_epsilon);
        let cost = Cost::Approximate { epsilon, delta: self.delta };
        Ok(Event::Use { neighbours, unit, cost })
    }

    /// The alternative that an estimate selects.
    fn selected_alternative(&self, estimate: i64) -> Option<&StableAnswers> {
        let fits = self.alternatives.iter().find(|(limit, _)| estimate <= *limit);
        fits.or(self.alternatives.last()).map(|(_, answers)| answers)
    }

    /// Estimates, chooses and answers all queries; returns the chosen T, too.
    ///
    /// The estimated integer is private, and so are answers and distances:
    /// ```compile_fail,E0308
    /// # use privet_dp::{gate::{Private, Session}, mechanism::{EstimatedAnswers, Proxied}};
    /// fn open(of: &EstimatedAnswers, found: Private<Vec<Proxied<u8>>>, session: &mut Session<'_>) {
    ///     let _ = of.run(41, found, session);
    /// }
    /// ```
    pub fn run<A>(
        &self,
        estimated: Private<i64>,
        found: Private<Vec<WithDistance<A>>>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<EstimatedOutcome<A>>, GateError> {
        let law = DiscreteLaplace::new(self.noise_scale)?;
        let source = session.charge(self.event()?)?;
        let estimate = estimated.open().saturating_add(law.draw(source));
        let taken = self.selected_alternative(estimate).ok_or(GateError::Malformed)?;
        let mut answering = taken.begin_covered()?;
        let hear = |found| answering.hear(found, session);
        let heard = found.open().into_iter().map(hear).collect::<Result<Vec<_>, _>>()?;
        Ok(session.mark_noisy((taken.cutoff, heard)))
    }
}
