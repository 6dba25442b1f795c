//! A method's plan, and the execution of a training from its first step to its last.

use super::examples::Examples;
use super::initial_weights::InitialWeights;
use super::options::Settings;
use super::tensors::Tensors;
use super::update::{Query, Schedule, Training};
use super::{NetFacts, Network};
use crate::LearnError;
use crate::release::ask::ask;
use crate::release::note::Note;
use crate::release::settings::PlanNumbers;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use privet_data::matrix::Matrix;
use privet_dp::account::Event;
use privet_dp::gate::{Arithmetic, GateError, Noisy, Session};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use std::fmt::Debug;
use std::sync::Arc;
use zeroize::Zeroizing;

/// A method's plan.
pub(crate) struct Decision {
    pub worker: Worker,
    pub settled: Settings,
    pub arithmetic: Arithmetic,
    pub notes: Vec<Note>,
}

/// Execution of a method.
pub(crate) enum Worker {
    /// Query by query, so that it can be suspended between two.
    Steps(Arc<dyn Trainer>),
    /// As a whole: it has a secret state, or an adaptive budget.
    Whole(Arc<dyn Procedure<Network>>),
}

impl Worker {
    /// Procedure from the first step to the last.
    pub fn procedure(self) -> Arc<dyn Procedure<Network>> {
        match self {
            Self::Steps(trainer) => Arc::new(Stepwise(trainer)),
            Self::Whole(procedure) => procedure,
        }
    }
}

/// A training whose queries are answered one by one.
pub(crate) trait Trainer: Debug + Send + Sync {
    /// The cost of all its answers.
    fn event(&self) -> Result<Event, LearnError>;

    /// The main numbers of the plan, for people.
    fn settings(&self) -> PlanNumbers;

    /// Network and initial weights.
    fn begins(&self) -> &InitialWeights;

    /// Steps and their sizes.
    fn schedule(&self) -> &Schedule;

    /// The training from other initial weights.
    fn with_weights(&self, begins: InitialWeights) -> Arc<dyn Trainer>;

    /// Answers a query, under noise that is charged.
    fn answer(
        &self,
        examples: &Examples,
        query: &Query,
        session: &mut Session<'_>,
        watch: &StepWatch<'_>,
    ) -> Result<Noisy<Vec<f64>>, GateError>;
}

/// The procedure of a trainer: its walk from the first step to the last.
#[derive(Debug, Clone)]
struct Stepwise(Arc<dyn Trainer>);

impl Procedure<Network> for Stepwise {
    fn event(&self) -> Result<Event, LearnError> {
        self.0.event()
    }

    fn settings(&self) -> PlanNumbers {
        self.0.settings()
    }

    fn refuses(&self, found: &Tensors) -> Option<&'static str> {
        self.0.begins().refuses(found)
    }

    fn walk(&self) -> Option<serde_json::Value> {
        self.0.begins().walk(self.0.schedule())
    }

    fn with_public(
        &self,
        rows: &Matrix,
    ) -> Option<Result<Arc<dyn Procedure<Network>>, LearnError>> {
        let begun = self.0.begins().begun(rows)?;
        Some(begun.map(|begins| Arc::new(Self(self.0.with_weights(begins))) as Arc<_>))
    }

    fn run(
        &self,
        facts: &NetFacts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<Tensors>, LearnError> {
        self.0.begins().weights()?;
        let examples = Examples::of(facts, table)?;
        let watch = StepWatch::new(monitor);
        ask::<Training>(session, &watch, |query, session| {
            Ok(self.0.answer(&examples, query, session, &watch)?)
        })
    }
}

/// Indices of records as a network has them; a table has fewer than 2³² rows ([`Examples::of`]).
pub(super) fn record_indices(sample: &[usize]) -> Zeroizing<Vec<u32>> {
    Zeroizing::new(sample.iter().map(|place| *place as u32).collect())
}
