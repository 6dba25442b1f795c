//! DP-AGD: descent on all records whose step sizes, and the budget of each step, are chosen adaptively.
//!
//! After Lee & Kifer 2018, "Concentrated differentially private gradient descent with adaptive
//! per-iteration privacy budget". A step measures the gradient under noise, tries 21 step lengths along
//! its direction, from 0 on, and takes the one with least loss, chosen under noise. If that is 0, the
//! direction was too noisy: a further tenth of the gradient's budget is spent on it, both measurements
//! are averaged weighted by their costs, and lengths are tried again; later gradients have the larger
//! budget from the start. When the budget has no room for a step, it ends.
//!
//! **Theorem.** Let ‖gᵢ(w)‖₂ ≤ C for every record and w, and 0 ≤ sᵢ(w) ≤ S integers. For any choice of
//! queries by earlier answers, if their prices
//!
//! | query | price ρ |
//! |---|---|
//! | Σgᵢ(w) + N(0, σ²I) | (shift(C)/σ)²/2, rounding to the grid charged besides |
//! | one of w₀ … w₂₀, wₖ with probability ∝ exp(−r·(Σsᵢ(wₖ) + hₖ)), hₖ public | (r·shift(S))²/8 |
//!
//! add up to at most ρ, the whole is ρ-zCDP. *Proof.* The first is a Gaussian release
//! ([`privet_dp::mechanism::Gaussian`]). Between neighbours every score moves by a number of one
//! interval: [0, S] or [−S, 0] for each record added or removed, so that two moves differ by at most
//! shift(S) ([`privet_core::Relation::shift`]), for any hₖ: the choice has bounded range r·shift(S)
//! ([`privet_dp::mechanism::Choice`]) and is (r·shift(S))²/8-zCDP. The next event, and whether there is
//! one, is a function of the answers: the filter of [`privet_dp::account::filter`] covers that. ∎
//!
//! - C `clip`; S is 2²⁰ steps of min(ℓᵢ, `clip_loss`) ([`privet_nn::Net::clipped_loss_steps`]); hₖ the
//!   penalty at wₖ times the declared number of rows.
//! - Departs from print: choices are paid for by their range, a quarter of what ε²/2 would charge; four
//!   fifths of each step go to the gradient (the authors' script gives it about a twentieth); candidates
//!   are chosen by exponential weights, exactly.
//! - The certificate states the limit and the events. `verify` admits them one after the other, and
//!   replays the books (`books`): each event is one of the two possible next ones, and the last left no
//!   room for another.
//! - Sums are in integers, choices are exact: the certificate says `finite`. Units of several records
//!   are covered.
//! - Tested by `networks/agd/tests.rs`.

mod budget;
mod line_search;
#[cfg(test)]
mod tests;

use self::budget::{GradientBudget, GradientPrices};
use self::line_search::{Descent, Query, Start, point_along};
use super::examples::Examples;
use super::initial_weights::InitialWeights;
use super::learners::Method;
use super::options::{CLIP, CLIP_LOSS, LONGEST, NONCONVEX, Settings, WEIGHT_DECAY};
use super::sampled::check_accountable;
use super::tensors::{Layout, Tensors};
use super::trainer::{Decision, Worker};
use super::update::Penalty;
use super::{BALL_RADIUS, NetFacts, Network};
use crate::LearnError;
use crate::release::again::same_event;
use crate::release::allowance::Allowance;
use crate::release::ask::ask;
use crate::release::note::Condition;
use crate::release::request::STEPS;
use crate::release::settings::PlanNumbers;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use privet_core::{Budget, Neighbours, Unit};
use privet_data::matrix::Matrix;
use privet_dp::account::filter::Law;
use privet_dp::account::{self, Cost, Event, Filter};
use privet_dp::gate::{Arithmetic, GateError, Noisy, Private, Session};
use privet_dp::mechanism::{Choice, Gaussian};
use privet_dp::noise::GridGaussian;
use privet_nn::LOSS_STEPS;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use std::sync::Arc;

/// Default number of steps that the budget is divided into.
const USUAL_STEPS: u32 = 60;
/// Default norm of the longest step that is tried at first.
const USUAL_LONGEST: f64 = 0.3;
/// Default clip of one record's loss.
const USUAL_CLIP_LOSS: f64 = 1.0;
/// Number of step lengths that are tried, 0 included.
const CANDIDATES: usize = 21;
/// Factor of a price below its charge, for rounding.
const PRICE_ROUNDING: f64 = 1.0 - 1e-9;
/// Upper bound on the grid step of the noise relative to its scale.
const GRID: f64 = 1.0 / (1_u64 << 40) as f64;

/// Plans from public facts alone.
pub(crate) fn plan(
    facts: &NetFacts,
    budget: &Allowance<'_>,
    method: &Method,
) -> Result<Decision, LearnError> {
    check_accountable(budget, method)?;
    let given = method.settings();
    let steps = STEPS.check(f64::from(given.steps.unwrap_or(USUAL_STEPS)))? as u32;
    let clip = CLIP.check(given.clip.unwrap_or(1.0))?;
    let clip_loss = CLIP_LOSS.check(given.clip_loss.unwrap_or(USUAL_CLIP_LOSS))?;
    let longest = LONGEST.check(given.longest.unwrap_or(USUAL_LONGEST))?;
    let penalty = Penalty {
        ridge: WEIGHT_DECAY.check(given.weight_decay.unwrap_or(0.0))?,
        nonconvex: NONCONVEX.check(given.nonconvex.unwrap_or(0.0))?,
    };
    let settled = Settings {
        steps: Some(steps),
        clip: Some(clip),
        clip_loss: Some(clip_loss),
        longest: Some(longest),
        weight_decay: Some(penalty.ridge).filter(|ridge| *ridge > 0.0),
        nonconvex: Some(penalty.nonconvex).filter(|penalty| *penalty > 0.0),
        ..Settings::default()
    };
    let coordinates = facts.net.trainable();
    let draws = GradientPrices::for_steps(1.0, steps).most_gradients();
    let distance = GridGaussian::new(1.0).map_err(GateError::from)?.distance(coordinates as u64);
    let distance = distance * draws * (1.0 + 1e-12);
    let (neighbours, unit) = (facts.table.neighbours, facts.table.unit);
    let mu = account::gaussian::mu(budget.epsilon(), budget.delta());
    // Noise on grids costs a part of δ without any ρ.
    let spared = (1.0 + budget.epsilon().exp()) * distance * (1.0 + 1e-9);
    let least =
        Budget::new(budget.epsilon(), budget.delta() - spared).map_err(|_| too_few_steps(facts))?;
    let scale = budget
        .with_budget(least)
        .least_scale(1.0 / mu, |scale| Ok(whole_event(neighbours, unit, scale)))?;
    let limit = Filter {
        neighbours,
        unit,
        limit: Law::Concentrated { rho: 0.5 / (scale * scale) * PRICE_ROUNDING },
        distance,
        leak: 0.0,
    };
    let adaptive = Adaptive {
        begins: InitialWeights::of(facts),
        scale,
        limit,
        prices: GradientPrices::for_steps(limit.limit.limit(), steps),
        coordinates,
        rows: facts.table.rows,
        clip,
        clip_loss,
        longest,
        penalty,
        steps,
        shift: facts.table.relation().shift(clip),
        spread: facts.table.relation().records() as u64 * LOSS_STEPS,
    };
    adaptive
        .gradient(adaptive.prices.least_gradient_price())
        .ok_or_else(|| too_few_steps(facts))?
        .event()?;
    Ok(Decision {
        worker: Worker::Whole(Arc::new(adaptive)),
        settled,
        arithmetic: Arithmetic::Finite,
        notes: vec![ADAPTIVE_STEPS_NOTE.into()],
    })
}

/// Note on every run.
const ADAPTIVE_STEPS_NOTE: Condition = Condition::new(
    "steps-chosen-within-limit",
    "how much is spent on each step, and how many steps there are, was decided on the way from noised \
     answers: the guarantee is that of the limit, all of which counts as spent",
);

fn too_few_steps(facts: &NetFacts) -> LearnError {
    LearnError::NotCovered {
        what: format!(
            "the budget leaves no room over {} weights: it is too small to be divided into steps, or its epsilon so large \
             that noise on a grid costs more than its delta",
            facts.net.trainable()
        ),
        instead: "give an epsilon up to 20, a larger delta or fewer steps",
    }
}

/// The whole as one event: the noise of a single Gaussian release of sensitivity 1.
fn whole_event(neighbours: Neighbours, unit: Unit, scale: f64) -> Event {
    Event::Use { neighbours, unit, cost: Cost::ZeroConcentrated { rho: 0.5 / (scale * scale) } }
}

/// A training with adaptively chosen events.
#[derive(Debug, Clone)]
struct Adaptive {
    begins: InitialWeights,
    /// Noise scale of the whole.
    scale: f64,
    limit: Filter,
    prices: GradientPrices,
    coordinates: usize,
    rows: u64,
    clip: f64,
    clip_loss: f64,
    longest: f64,
    penalty: Penalty,
    steps: u32,
    /// Sensitivity of the sum of gradients.
    shift: f64,
    /// Upper bound on the difference between two candidates' moves of their scores.
    spread: u64,
}

impl Adaptive {
    /// Gaussian mechanism of a gradient at this price; `None` if it leaves no room for rounding.
    fn gradient(&self, price: f64) -> Option<Gaussian> {
        // With the rounding, the charge is for (shift + σ·GRID·√p)/σ.
        let grid = GRID * (self.coordinates as f64).sqrt();
        let ratio = (2.0 * price).sqrt() * PRICE_ROUNDING - grid * (1.0 + 1e-9);
        (ratio > grid).then(|| Gaussian {
            neighbours: self.limit.neighbours,
            unit: self.limit.unit,
            sensitivity: self.shift,
            noise_scale: self.shift / ratio,
            coordinates: self.coordinates,
        })
    }

    /// The choice among candidates, at its price.
    fn choice(&self) -> Choice {
        let choice = Choice {
            neighbours: self.limit.neighbours,
            unit: self.limit.unit,
            spread: self.spread,
            rate: 1.0,
            candidates: CANDIDATES,
        };
        choice.with_range((8.0 * self.prices.choice).sqrt() * PRICE_ROUNDING)
    }

    /// Answers a query, under noise that is charged.
    fn answer(
        &self,
        examples: &Examples,
        query: &Query,
        session: &mut Session<'_>,
        watch: &StepWatch<'_>,
    ) -> Result<Noisy<Vec<f64>>, GateError> {
        if !watch.step() {
            return Err(GateError::Unanswered);
        }
        let everyone: Vec<u32> = (0..examples.rows() as u32).collect();
        match query {
            Query::Gradient { at, price } => {
                let sum = examples.exact_sum(at, &everyone, self.clip);
                let gaussian = self.gradient(*price).ok_or(GateError::NotAsPlanned)?;
                let sum = Private::new(sum.ok_or(GateError::Unanswered)?);
                gaussian.run_units(sum, session)
            }
            Query::Choice { from, along, lengths, handicaps } => {
                let frozen = self.begins.weights().map_err(|_| GateError::NotAsPlanned)?;
                let frozen = &frozen[self.coordinates..];
                let score = |(length, handicap): (&f64, &i64)| {
                    let at = point_along(from, along, *length);
                    let at: Vec<f32> =
                        at.iter().map(|x| *x as f32).chain(frozen.to_vec()).collect();
                    let steps = examples.loss_steps(&at, &everyone, self.clip_loss)?;
                    Some(-(steps + handicap))
                };
                let scores: Option<Vec<i64>> = lengths.iter().zip(handicaps).map(score).collect();
                let scores = Private::new(scores.ok_or(GateError::Unanswered)?);
                Ok(self.choice().run(scores, session)?.map(|chosen| vec![chosen as f64]))
            }
        }
    }
}

impl Procedure<Network> for Adaptive {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(whole_event(self.limit.neighbours, self.limit.unit, self.scale))
    }

    fn limit(&self) -> Option<Filter> {
        Some(self.limit)
    }

    fn never_charges(&self, leaves: &mut dyn Iterator<Item = &Event>) -> Option<&'static str> {
        let mut books = GradientBudget::new(self.prices);
        let gradient = |price: f64| self.gradient(price)?.event().ok();
        let Ok(choice) = self.choice().event() else {
            return Some("its method has no such events");
        };
        let (never, too_soon) =
            ("an event is not one that its method could come to", "its method does not end there");
        let mut any = false;
        while let Some(measured) = leaves.next() {
            let after = books.possible_purchases().into_iter().flatten().find(|(price, _)| {
                gradient(*price).is_some_and(|event| same_event(&event, measured))
            });
            let Some((_, after)) = after else { return Some(never) };
            match leaves.next() {
                None => return Some(too_soon),
                Some(chosen) if same_event(&choice, chosen) => {}
                Some(_) => return Some(never),
            }
            (books, any) = (after, true);
        }
        let over = any && books.buy_gradient().is_none();
        (!over).then_some(too_soon)
    }

    fn refuses(&self, found: &Tensors) -> Option<&'static str> {
        self.begins.refuses(found)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("weights", self.coordinates as f64),
            ("steps", f64::from(self.steps)),
            ("clip", self.clip),
            ("clip_loss", self.clip_loss),
            ("longest", self.longest),
            ("rho", self.limit.limit.limit()),
        ])
        .and("first_gradient_noise", self.gradient(self.prices.gradient).map(|g| g.noise_scale))
    }

    fn walk(&self) -> Option<serde_json::Value> {
        let start = Start {
            prices: self.prices,
            weights: self.begins.weights().ok()?.to_vec(),
            layout: Layout::of(&self.begins.net),
            rows: self.rows as f64,
            penalty: self.penalty,
            longest: self.longest,
            lengths: CANDIDATES,
            loss_step: self.clip_loss / LOSS_STEPS as f64,
            ball: BALL_RADIUS,
        };
        serde_json::to_value(start).ok()
    }

    fn with_public(
        &self,
        rows: &Matrix,
    ) -> Option<Result<Arc<dyn Procedure<Network>>, LearnError>> {
        let begun = self.begins.begun(rows)?;
        Some(begun.map(|begins| Arc::new(Self { begins, ..self.clone() }) as Arc<_>))
    }

    fn run(
        &self,
        facts: &NetFacts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<Tensors>, LearnError> {
        self.begins.weights()?;
        let examples = Examples::of(facts, table)?;
        let watch = StepWatch::new(monitor);
        ask::<Descent>(session, &watch, |query, session| {
            Ok(self.answer(&examples, query, session, &watch)?)
        })
    }
}
