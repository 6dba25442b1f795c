//! What a method decides, and a training from its first step to its last.

use super::begins::Begins;
use super::examples::Examples;
use super::options::Settings;
use super::tensors::Tensors;
use super::update::{Question, Training};
use super::{NetFacts, Network};
use crate::LearnError;
use crate::linear::watch::StepWatch;
use crate::release::note::Note;
use crate::release::task::Procedure;
use privet_data::matrix::Matrix;
use privet_dp::gate::{Arithmetic, GateError, Noised, Session};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use std::sync::Arc;
use zeroize::Zeroizing;

/// What a method decides.
pub(crate) struct Decision {
    pub worker: Worker,
    pub settled: Settings,
    pub arithmetic: Arithmetic,
    pub notes: Vec<Note>,
}

/// How it is carried out.
pub(crate) enum Worker {
    /// Question by question, so that it can be put aside between two.
    Steps(Arc<dyn Trainer>),
    /// As a whole: it has an un-noised half, or decides on the way what it spends.
    Whole(Arc<dyn Procedure<Network>>),
}

impl Worker {
    /// To be run from its first step to its last.
    pub fn procedure(self) -> Arc<dyn Procedure<Network>> {
        match self {
            Self::Steps(trainer) => trainer,
            Self::Whole(procedure) => procedure,
        }
    }
}

/// A training whose questions are put to records one by one.
pub(crate) trait Trainer: Procedure<Network> {
    /// The network and where it begins.
    fn begins(&self) -> &Begins;

    /// The same, with the weights of a public file to begin from.
    fn begun_from(&self, row: &Matrix) -> Result<Arc<dyn Trainer>, LearnError>;

    /// The answer to a question, noised and charged.
    fn answer(
        &self,
        examples: &Examples,
        question: &Question,
        session: &mut Session<'_>,
        watch: &StepWatch<'_>,
    ) -> Result<Noised<Vec<f64>>, GateError>;
}

/// A training from its first step to its last.
pub(super) fn train(
    trainer: &dyn Trainer,
    facts: &NetFacts,
    table: &dyn Table,
    session: &mut Session<'_>,
    monitor: &dyn Monitor,
) -> Result<Noised<Tensors>, LearnError> {
    trainer.begins().weights()?;
    let examples = Examples::of(facts, table)?;
    let watch = StepWatch::new(monitor);
    let mut walk = session.begin::<Training>()?;
    let noised = session.walk(&mut walk, |question: &Question, session| {
        trainer.answer(&examples, question, session, &watch)
    });
    watch.went_on()?;
    Ok(noised?.ok_or(GateError::NotAsPlanned)?)
}

/// Places of records as a network counts them; a table has fewer than 2³² rows ([`Examples::of`]).
pub(super) fn places(sample: &[usize]) -> Zeroizing<Vec<u32>> {
    Zeroizing::new(sample.iter().map(|place| *place as u32).collect())
}
