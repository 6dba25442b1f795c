//! Registry of online learners (`registry.rs`), and their common loop over rows.

use super::baseline::{self, NonPrivate};
use super::experts::{self, Experts};
use super::ftrl::{self, Ftrl};
use super::giga::{self, Giga};
use super::gradients::StreamRecords;
use super::implicit::{self, Implicit};
use super::leader::{self, Leader};
use super::stream_walk::StreamWalk;
use super::{Horizon, Online, Stream};
use crate::release::allowance::Allowance;
use crate::release::ask::ask_by_steps;
use crate::release::covers::RequestFacts;
use crate::release::note::Note;
use crate::release::registry::registry;
use crate::release::request::Calibration;
use crate::release::watch::StepWatch;

use crate::LearnError;
use crate::release::admit;
use crate::release::task::Procedure;
use privet_dp::continual::StreamAnswer;
use privet_dp::gate::{Noisy, Session};
use privet_dp::mechanism::Stream as Steps;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use std::ops::Range;
use std::sync::Arc;

/// Guarantee of a private learner under Gaussian noise.
pub(super) const STREAM: &str =
    "(ε, δ) in finite arithmetic; no pure ε; replace-one neighbours only";

/// Secret state of a stream, without noise: computes from records the answers of a walk.
pub trait SecretState {
    /// Makes one step from these rows and the newest released model.
    fn step(
        &mut self,
        slots: &StreamRecords<'_>,
        rows: Range<usize>,
        theta: &[f64],
        session: &mut Session<'_>,
    ) -> Result<Noisy<StreamAnswer>, LearnError>;

    /// Steps under correlated noise, if the learner has them: only those can be suspended.
    fn steps(&mut self) -> Option<&mut Option<Steps>> {
        None
    }
}

/// A learner that runs on a table or on rows as they arrive.
pub(crate) trait Learner: Procedure<Online> {
    /// Start of a live walk, and the secret state.
    fn live(&self) -> Result<(serde_json::Value, Box<dyn SecretState>), LearnError>;
}

/// A method's plan.
pub(crate) struct Decision {
    /// Learner to run.
    pub learner: Arc<dyn Learner>,
    /// The method with every setting filled in.
    pub settled: Method,
    /// Conditions of the guarantee.
    pub notes: Vec<Note>,
}

impl Decision {
    pub(super) fn new(learner: impl Learner + 'static, settled: Method) -> Self {
        Self { learner: Arc::new(learner), settled, notes: vec![] }
    }
}

/// Runs over all rows of a table in their order, `batch` of them a step.
pub(super) fn over_table(
    horizon: &Horizon,
    table: &dyn Table,
    session: &mut Session<'_>,
    monitor: &dyn Monitor,
    hidden: &mut dyn SecretState,
) -> Result<Noisy<Stream>, LearnError> {
    let data = admit::in_memory(table, "online", "rows in their order")?;
    let slots = StreamRecords::of(horizon, data)?;
    over_slots(&slots, horizon.batch, session, &StepWatch::new(monitor), hidden)
}

/// Runs over all slots in their order, `batch` of them a step.
pub(super) fn over_slots(
    slots: &StreamRecords<'_>,
    batch: u32,
    session: &mut Session<'_>,
    watch: &StepWatch<'_>,
    hidden: &mut dyn SecretState,
) -> Result<Noisy<Stream>, LearnError> {
    let mut row = 0;
    ask_by_steps::<StreamWalk>(session, watch, |theta, session| {
        // A table of users may have fewer rows than declared: the remaining slots are empty.
        let rows = row.min(slots.len())..(row + batch as usize).min(slots.len());
        row += batch as usize;
        hidden.step(slots, rows, theta, session)
    })
}

registry! {
    /// An online learner, with its own settings.
    pub enum Method: Info<()>, all METHODS, default Ftrl;
    dispatched(self, horizon: &Horizon, allowance: &Allowance<'_>, calibration: Calibration) -> Result<Decision, LearnError>;
    /// Follow the leader of noisy gradients.
    Ftrl(Ftrl) = ftrl::INFO, ftrl::plan;
    /// Implicit gradient descent.
    Implicit(Implicit) = implicit::INFO, implicit::plan;
    /// Projected gradient descent.
    Giga(Giga) = giga::INFO, giga::plan;
    /// The leader of all costs so far.
    Leader(Leader) = leader::INFO, leader::plan;
    /// One column a step.
    Experts(Experts) = experts::INFO, experts::plan;
    /// No noise at all, for comparison.
    NonPrivate(NonPrivate) = baseline::INFO, baseline::plan;
}

impl Method {
    /// Plans from public facts alone, or refuses a case that the learner does not cover.
    pub(crate) fn plan(
        &self,
        horizon: &Horizon,
        allowance: &Allowance<'_>,
        calibration: Calibration,
    ) -> Result<Decision, LearnError> {
        let (relation, problems) = (horizon.facts.relation(), horizon.facts.problems);
        let requested = RequestFacts { relation, pure: allowance.is_pure(), calibration, problems };
        self.info().covers.check(self.name(), requested)?;
        self.dispatched(horizon, allowance, calibration)
    }
}
