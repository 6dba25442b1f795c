//! A method's plan, and the execution of a training from its first step to its last.

use super::examples::Examples;
use super::initial_weights::InitialWeights;
use super::options::Settings;
use super::tensors::Tensors;
use super::update::{Query, Training};
use super::{NetFacts, Network};
use crate::LearnError;
use crate::release::ask::ask;
use crate::release::note::Note;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use privet_data::matrix::Matrix;
use privet_dp::gate::{Arithmetic, GateError, Noisy, Session};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
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
            Self::Steps(trainer) => trainer,
            Self::Whole(procedure) => procedure,
        }
    }
}

/// A training whose queries are answered one by one.
pub(crate) trait Trainer: Procedure<Network> {
    /// Network and initial weights.
    fn begins(&self) -> &InitialWeights;

    /// Returns the training with the initial weights of a public file.
    fn begun_from(&self, row: &Matrix) -> Result<Arc<dyn Trainer>, LearnError>;

    /// Answers a query, under noise that is charged.
    fn answer(
        &self,
        examples: &Examples,
        query: &Query,
        session: &mut Session<'_>,
        watch: &StepWatch<'_>,
    ) -> Result<Noisy<Vec<f64>>, GateError>;
}

/// Runs a training from its first step to its last.
pub(super) fn train(
    trainer: &dyn Trainer,
    facts: &NetFacts,
    table: &dyn Table,
    session: &mut Session<'_>,
    monitor: &dyn Monitor,
) -> Result<Noisy<Tensors>, LearnError> {
    trainer.begins().weights()?;
    let examples = Examples::of(facts, table)?;
    let watch = StepWatch::new(monitor);
    ask::<Training>(session, &watch, |query, session| {
        Ok(trainer.answer(&examples, query, session, &watch)?)
    })
}

/// Indices of records as a network has them; a table has fewer than 2³² rows ([`Examples::of`]).
pub(super) fn record_indices(sample: &[usize]) -> Zeroizing<Vec<u32>> {
    Zeroizing::new(sample.iter().map(|place| *place as u32).collect())
}
