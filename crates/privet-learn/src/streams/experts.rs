//! Private experts: at every step one column is drawn by exponential weights, and that column alone is
//! the model.
//!
//! After Jain & Thakurta 2014, §5.2 (follow the leader over the simplex with an entropy term), constants
//! re-derived.
//!
//! **Algorithm.** Record t gives column j the cost cₜⱼ = −y·x̄ⱼ/τ, x̄ its entry clamped to ±τ and y its
//! label (∓1, or a number in [−1, 1]): a column that agrees with the labels has a low cost. After a step
//! of B records column j is drawn with probability ∝ e^(−Cⱼ/λ), Cⱼ the sum of its costs so far; with
//! `signs = both` also −j, at −Cⱼ.
//!
//! **Theorem.** Costs are integer multiples of 1/M, at most M of them, a function of their record alone.
//! One changed slot moves every later Cⱼ by a number in [−2M, 2M], by one in [−M, M] if it is emptied:
//! each draw has bounded range **4/λ** ([`privet_dp::mechanism::Choice`], spread 4M), those before the
//! slot 0. T/B draws cost as many bounded-range mechanisms, composed adaptively: ρ = 2(T/B)/λ² of
//! zero-concentrated privacy, or less by the accountant's other bounds. ∎ Cumulative sums are exact and
//! secret; δ = 0 is offered. The draws are exact ([`privet_dp::noise::choose_by_weight`]); the running
//! time of a draw depends on the sums.
//!
//! **Regret** against the best column: λ·ln p + BT/(2λ) in expectation (exponential weights on costs in
//! [−1, 1], the model B steps old at most). Privacy requires λ ≥ √(2T/(Bρ)). With B = 1 that is √T·ln
//! p·√(2/ρ): the √(T log p) of the paper is not reached by that λ, whose own term is λ ln p. Both terms
//! are least together at B = 2√(ln p/ρ): **2√T·(ln p)^¾/ρ^¼**. So B is that unless a batch is given, and
//! λ is the larger of the λ that privacy requires and √(BT/(2 ln p)).
//!
//! - τ `clip`, λ `entropy`; `signs`: plus or both
//! - Tested by `tests/all/experts.rs`.

use super::gradients::StreamRecords;
use super::learners::{Decision, Learner, SecretState};
use super::stream_walk::{Rule, StreamWalk};
use super::{Horizon, Method, Online, Stream};
use super::{NO_ADD_REMOVE, NO_USERS, ONE_TARGET};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::frank_wolfe::{CLIP, usual_range};
use crate::linear::simplex::ENTROPY;
use crate::release::allowance::Allowance;
use crate::release::covers::{Coverage, MethodCoverage, NOT_PRINTED, TableAccess};
use crate::release::registry::Info;
use crate::release::request::Calibration;
use crate::release::settings::{PlanNumbers, settings};
use crate::release::task::Procedure;
use privet_core::Budget;
use privet_dp::account::Event;
use privet_dp::continual::StreamAnswer;
use privet_dp::gate::{GateError, Noisy, Private, Session};
use privet_dp::mechanism::Choice;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// Units of a cost, M: costs are integer multiples of 1/M.
pub const UNITS: i64 = 1 << 20;

/// Registry entry of `experts`.
pub const INFO: Info = Info {
    name: "experts",
    summary: "draws one column a step by exponential weights, and follows it",
    source: "Jain & Thakurta 2014, §5.2, constants re-derived",
    guarantee: "(ε, δ) and pure ε in finite arithmetic; replace-one neighbours only",
    settings: Experts::SETTINGS,
    noisy: "the choice of a column by what it has cost so far",
    private: true,
    covers: MethodCoverage {
        printed: Coverage::unprinted(NOT_PRINTED),
        several: ONE_TARGET,
        needs: TableAccess::Memory,
        private_count: NO_ADD_REMOVE,
        users: NO_USERS,
        ..MethodCoverage::ALL
    },
    more: (),
};

/// Signs of the columns that are experts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Signs {
    /// The columns.
    #[default]
    Plus,
    /// The columns, and each with a negative sign.
    Both,
}

settings! {
    /// Settings of `experts`.
    #[derive(Copy)]
    pub struct Experts {
        clip: f64 [CLIP]
            "what every entry is clamped to, both ways; chosen from the schema unless given";
        entropy: f64 [ENTROPY]
            "λ of the weights e^(−cost/λ); from the budget, or larger if that is better, unless given";
        signs: Signs ["plus or both"]
            "whether a column may also be followed with a minus; plus unless given";
    }
}

impl Experts {
    fn candidates(&self, columns: usize) -> usize {
        match self.signs.unwrap_or_default() {
            Signs::Plus => columns,
            Signs::Both => 2 * columns,
        }
    }

    /// Default number of records of a step, B.
    pub(super) fn batch(&self, budget: Option<Budget>, facts: &Facts) -> u32 {
        let Some(budget) = budget else { return 1 };
        let rows = facts.rows as f64;
        let ln = (self.candidates(facts.columns).max(2) as f64).ln();
        let delta = if budget.is_pure() { 1.0 / (rows * rows) } else { budget.delta() };
        let rho = budget.epsilon().powi(2) / (4.0 * (1.0 / delta).ln());
        (2.0 * (ln / rho).sqrt()).clamp(1.0, rows.sqrt().max(1.0)).round() as u32
    }
}

/// Plans from public facts alone.
pub(super) fn plan(
    horizon: &Horizon,
    allowance: &Allowance<'_>,
    _calibration: Calibration,
    options: &Experts,
) -> Result<Decision, LearnError> {
    let facts = &horizon.facts;
    let clip = CLIP.check(options.clip.unwrap_or(facts.entry_scale.min(facts.entry_bound)))?;
    let candidates = options.candidates(facts.columns);
    let choice = Choice {
        neighbours: facts.neighbours,
        unit: facts.unit,
        spread: 4 * UNITS as u64,
        rate: 1.0,
        candidates,
    };
    let at = |lambda: f64| Choice { rate: 1.0 / (lambda * UNITS as f64), ..choice };
    // The noise of a choice is parametrised by one over its range, 4/λ.
    let least = || {
        let repeated = |scale: f64| {
            let event = Box::new(at(4.0 * scale).event()?);
            Ok::<_, GateError>(Event::Repeat { count: horizon.steps, event })
        };
        let floor = 0.25 / usual_range(allowance, f64::from(horizon.steps));
        Ok::<_, LearnError>(4.0 * allowance.least_scale(floor, repeated)?)
    };
    let lambda = match (options.entropy, allowance.settled_scale()) {
        // A plan that is made again: the accountant confirms it.
        (Some(lambda), Some(_)) => ENTROPY.check(lambda)?,
        (Some(lambda), None) => {
            let (lambda, least) = (ENTROPY.check(lambda)?, least()?);
            if lambda < least {
                return Err(LearnError::NotCovered {
                    what: format!(
                        "entropy {lambda}: this budget and horizon need {least:.4} at least"
                    ),
                    instead: "give a larger entropy, or leave it out",
                });
            }
            lambda
        }
        (None, _) => {
            let ln = (candidates.max(2) as f64).ln();
            least()?.max((f64::from(horizon.batch) * facts.rows as f64 / (2.0 * ln)).sqrt())
        }
    };
    let signs = options.signs.unwrap_or_default();
    let settled = Experts { clip: Some(clip), entropy: Some(lambda), signs: Some(signs) };
    let learner = Drawing { choice: at(lambda), horizon: horizon.clone(), clip, lambda };
    Ok(Decision::new(learner, Method::Experts(settled)))
}

/// The learner.
#[derive(Debug, Clone)]
struct Drawing {
    choice: Choice,
    horizon: Horizon,
    clip: f64,
    /// Temperature of the weights, λ, in units of cost.
    lambda: f64,
}

impl Drawing {
    fn start(&self, live: bool) -> StreamWalk {
        let steps = self.horizon.steps;
        let keep = super::kept_steps(self.horizon.kept, steps);
        StreamWalk {
            live,
            ..StreamWalk::new(Rule::Chosen, steps, self.horizon.facts.columns, keep)
        }
    }

    fn begin(&self) -> Sums {
        let scores = Zeroizing::new(vec![0; self.choice.candidates]);
        Sums { own: self.clone(), scores }
    }
}

/// Negated cost of a column at a record, in units: at most [`UNITS`] in absolute value.
pub fn agreement(x: f64, label: f64, clip: f64) -> i64 {
    let part = label.clamp(-1.0, 1.0) * (x / clip).clamp(-1.0, 1.0);
    // A NaN (none is expected here) counts as 0.
    ((part * UNITS as f64) as i64).clamp(-UNITS, UNITS)
}

/// Secret state: the negated sums of costs.
struct Sums {
    own: Drawing,
    scores: Zeroizing<Vec<i64>>,
}

impl SecretState for Sums {
    fn step(
        &mut self,
        slots: &StreamRecords<'_>,
        rows: std::ops::Range<usize>,
        _theta: &[f64],
        session: &mut Session<'_>,
    ) -> Result<Noisy<StreamAnswer>, LearnError> {
        let columns = self.own.horizon.facts.columns;
        let both = self.own.choice.candidates > columns;
        for row in rows {
            let (label, scores, clip) = (slots.label(row), &mut self.scores, self.own.clip);
            slots.each(row, |column, x| {
                let agreed = agreement(x, label, clip);
                scores[column] += agreed;
                if both {
                    scores[columns + column] -= agreed;
                }
            });
        }
        let chosen = self.own.choice.run(Private::new(self.scores.to_vec()), session)?;
        Ok(chosen.map(|place| StreamAnswer::Row(vec![place as f64])))
    }
}

impl Procedure<Online> for Drawing {
    fn event(&self) -> Result<Event, LearnError> {
        let event = Box::new(self.choice.event()?);
        Ok(Event::Repeat { count: self.horizon.steps, event })
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("steps", f64::from(self.horizon.steps)),
            ("batch", f64::from(self.horizon.batch)),
            ("experts", self.choice.candidates as f64),
            ("clip", self.clip),
            ("entropy", self.lambda),
        ])
    }

    fn walk(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self.start(false)).ok()
    }

    fn refuses(&self, found: &Stream) -> Option<&'static str> {
        let both = self.choice.candidates > self.horizon.facts.columns;
        let one = |weights: &Vec<f64>| {
            let mut chosen = weights.iter().filter(|weight| **weight != 0.0);
            let single = chosen.next().is_some_and(|w| *w == 1.0 || (both && *w == -1.0));
            single && chosen.next().is_none()
        };
        (!found.values.iter().all(one)).then_some("a model is not one column")
    }

    fn run(
        &self,
        horizon: &Horizon,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<Stream>, LearnError> {
        let mut hidden = self.begin();
        super::learners::over_table(horizon, table, session, monitor, &mut hidden)
    }
}

impl Learner for Drawing {
    fn live(&self) -> Result<(serde_json::Value, Box<dyn SecretState>), LearnError> {
        let start = serde_json::to_value(self.start(true)).map_err(|_| GateError::Malformed)?;
        Ok((start, Box::new(self.begin())))
    }
}
