//! Gradients under correlated noise: `dp-ftrl`.
//!
//! After Kairouz et al. 2021 (DP-FTRL) and Choquette-Choo et al. 2023 (several participations).
//!
//! Records are not sampled: step t takes the next `batch` rows of the table, pass after pass. The noise
//! of the steps is correlated so that running sums of gradients have little of it
//! ([`privet_dp::continual`]).
//!
//! **Theorem.** Let gᵢ(w) have norm at most C as in [`super::sampled`], and let neighbours differ in the
//! record of one row (replace-one). A row takes part in at most ⌈T/E⌉ steps, each E = ⌈n/batch⌉ after
//! the one before. Then the T rows of the noisy stream are one Gaussian release of sensitivity
//! 2C·sens(factor; ⌈T/E⌉, E) and its rounding ([`privet_dp::mechanism::Continual`]). *Proof.* There: the
//! contribution of a step in which the row takes part is a function of earlier answers and of that
//! step's records, and moves by at most 2C. ∎
//!
//! The optimiser reads ŝₜ − ŝₜ₋₁ at step t, ŝ the noisy running sum: post-processing.
//!
//! - Add/remove is refused: every later record would move to another step. So are units of several
//!   records.
//! - Sums are in integers (`sums = exact`): the certificate says `finite`.
//! - There is no amplification by sampling. It is useful where samples cannot be drawn, or for many
//!   passes.

use super::examples::Examples;
use super::initial_weights::InitialWeights;
use super::learners::Method;
use super::options::Settings;
use super::sampled::check_accountable;
use super::schedule::{Sizes, sizes};
use super::tensors::Tensors;
use super::trainer::{Decision, Worker};
use super::update::{Schedule, Training};
use super::{NetFacts, Network};
use crate::LearnError;
use crate::release::allowance::Allowance;
use crate::release::ask::ask_by_steps;
use crate::release::note::Condition;
use crate::release::settings::PlanNumbers;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use crate::streams::{calibrated, only_slots};
use privet_data::matrix::Matrix;
use privet_dp::account::Event;
use privet_dp::continual::{Factor, Participation, Running, StreamAnswer, search};
use privet_dp::gate::{Arithmetic, GateError, Noisy, Private, Session};
use privet_dp::mechanism::Continual;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Plans from public facts alone.
pub(crate) fn plan(
    facts: &NetFacts,
    budget: &Allowance<'_>,
    method: &Method,
) -> Result<Decision, LearnError> {
    check_accountable(budget, method)?;
    only_slots(facts.table.relation())?;
    let mut settled = Settings::default();
    let Sizes { steps, batch, clip, schedule } = sizes(facts, method, &mut settled)?;
    if batch > facts.table.rows {
        return Err(LearnError::NotCovered {
            what: format!("batch = {batch} of {} rows", facts.table.rows),
            instead: "give a batch up to the number of rows",
        });
    }
    let pass = facts.table.rows.div_ceil(batch) as u32;
    let participation = Participation { times: steps.div_ceil(pass), separation: pass };
    let given = &method.settings().buffers;
    let factor = match given.is_empty() {
        true => search(steps, participation),
        false => Factor::Buffered {
            weights: given.iter().map(|buffer| buffer[0]).collect(),
            decays: given.iter().map(|buffer| buffer[1]).collect(),
        },
    };
    factor.check(steps)?;
    if let Factor::Buffered { weights, decays } = &factor {
        settled.buffers = weights.iter().zip(decays).map(|(w, d)| [*w, *d]).collect();
    }
    let continual = calibrated(
        |noise_scale| Continual {
            neighbours: facts.table.neighbours,
            unit: facts.table.unit,
            factor: factor.clone(),
            steps,
            participation,
            bound: facts.table.relation().shift(clip),
            noise_scale,
            coordinates: facts.net.trainable(),
            step_unit: privet_nn::grid(clip),
        },
        budget,
    )?;
    let correlated =
        Correlated { begins: InitialWeights::of(facts), continual, schedule, batch, clip };
    Ok(Decision {
        worker: Worker::Whole(Arc::new(correlated)),
        settled,
        arithmetic: Arithmetic::Finite,
        notes: vec![IN_ORDER.into()],
    })
}

const IN_ORDER: Condition = Condition::new(
    "records-in-order",
    "records take part in the order of the table, pass after pass; neighbouring tables differ in the record of \
     one place",
);

/// A training under correlated noise.
#[derive(Debug, Clone)]
struct Correlated {
    begins: InitialWeights,
    continual: Continual,
    schedule: Schedule,
    batch: u64,
    clip: f64,
}

/// Answer of a walk for a row of the stream; empty for a lost one.
fn row(answer: StreamAnswer) -> Vec<f64> {
    match answer {
        StreamAnswer::Row(row) => row,
        StreamAnswer::Lost | StreamAnswer::Anew => Vec::new(),
    }
}

impl Procedure<Network> for Correlated {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.continual.event()?)
    }

    fn refuses(&self, found: &Tensors) -> Option<&'static str> {
        self.begins.refuses(found)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("weights", self.begins.net.trainable() as f64),
            ("steps", f64::from(self.schedule.steps)),
            ("batch", self.batch as f64),
            ("clip", self.clip),
            ("rate", self.schedule.rate),
            ("step_noise", self.continual.noise_scale),
        ])
    }

    fn walk(&self) -> Option<serde_json::Value> {
        let Continual { factor, steps, coordinates, .. } = &self.continual;
        let running = Running::new(factor, *steps, *coordinates).ok()?;
        self.begins.walk_along(&self.schedule, Some(running))
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
        let mut stream = self.continual.begin()?;
        let pass = facts.table.rows.div_ceil(self.batch);
        ask_by_steps::<Training>(session, &watch, |query, session| {
            let first = (u64::from(query.step) % pass * self.batch) as u32;
            let last = (u64::from(first) + self.batch).min(examples.rows() as u64) as u32;
            let rows: Vec<u32> = (first..last).collect();
            let sum = examples.exact_sum(&query.at, &rows, self.clip);
            let sum = sum.ok_or(GateError::Unanswered)?;
            let steps = sum.counts.iter().map(|count| *count as i64);
            let steps = Zeroizing::new(steps.collect::<Vec<i64>>());
            Ok(stream.step(Private::new(&steps), session)?.map(row))
        })
    }
}
