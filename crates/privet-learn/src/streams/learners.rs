//! The list of online learners (`registry.rs`), and what all of them do with rows.

use super::baseline::{self, NonPrivate};
use super::experts::{self, Experts};
use super::following::Following;
use super::ftrl::{self, Ftrl};
use super::giga::{self, Giga};
use super::implicit::{self, Implicit};
use super::leader::{self, Leader};
use super::slopes::Slots;
use super::{Horizon, Online, Stream};
use crate::linear::watch::StepWatch;
use crate::release::allowance::Allowance;
use crate::release::covers::Asked;
use crate::release::note::Note;
use crate::release::registry::registry;
use crate::release::request::Calibration;

use crate::LearnError;
use crate::release::admit;
use crate::release::task::Procedure;
use privet_dp::continual::Heard;
use privet_dp::gate::{GateError, Noised, Session};
use privet_dp::mechanism::Stream as Steps;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use std::ops::Range;
use std::sync::Arc;

/// What a private learner under Gaussian noise guarantees.
pub(super) const STREAM: &str =
    "(ε, δ) in finite arithmetic; no pure ε; replace-one neighbours only";

/// The un-noised half of a stream: what answers a walk from records.
pub trait Hidden {
    /// One step, from these rows and the model that is out.
    fn step(
        &mut self,
        slots: &Slots<'_>,
        rows: Range<usize>,
        theta: &[f64],
        session: &mut Session<'_>,
    ) -> Result<Noised<Heard>, LearnError>;

    /// The steps under correlated noise, where it has such: only those can be put aside.
    fn steps(&mut self) -> Option<&mut Option<Steps>> {
        None
    }
}

/// A learner that can be run on a table or be handed rows as they come.
pub(crate) trait Learner: Procedure<Online> {
    /// What a live walk begins from, and the half that stays secret.
    fn live(&self) -> Result<(serde_json::Value, Box<dyn Hidden>), LearnError>;
}

/// What a method decides.
pub(crate) struct Decision {
    /// What to do.
    pub learner: Arc<dyn Learner>,
    /// With every choice made.
    pub settled: Method,
    /// Conditions.
    pub notes: Vec<Note>,
}

impl Decision {
    pub(super) fn new(learner: impl Learner + 'static, settled: Method) -> Self {
        Self { learner: Arc::new(learner), settled, notes: vec![] }
    }
}

/// All rows of a table in their order, `batch` of them a step.
pub(super) fn over_table(
    horizon: &Horizon,
    table: &dyn Table,
    session: &mut Session<'_>,
    monitor: &dyn Monitor,
    hidden: &mut dyn Hidden,
) -> Result<Noised<Stream>, LearnError> {
    let data = admit::in_memory(table, "online", "rows in their order")?;
    let slots = Slots::of(horizon, data)?;
    over_slots(&slots, horizon.batch, session, &StepWatch::new(monitor), hidden)
}

/// The same of slots.
pub(super) fn over_slots(
    slots: &Slots<'_>,
    batch: u32,
    session: &mut Session<'_>,
    watch: &StepWatch<'_>,
    hidden: &mut dyn Hidden,
) -> Result<Noised<Stream>, LearnError> {
    let mut walk = session.begin::<Following>()?;
    let mut row = 0;
    let released = session.walk(&mut walk, |theta, session| {
        if !watch.step() {
            return Err(LearnError::Gate(GateError::Unanswered));
        }
        // A table of users may have fewer rows than are declared: the rest of the slots are empty.
        let rows = row.min(slots.len())..(row + batch as usize).min(slots.len());
        row += batch as usize;
        hidden.step(slots, rows, theta, session)
    });
    watch.went_on()?;
    Ok(released?.ok_or(GateError::NotAsPlanned)?)
}

registry! {
    /// An online learner, with its own settings.
    pub enum Method: Info<()>, all METHODS, default Ftrl;
    dispatched(self, horizon: &Horizon, allowance: &Allowance<'_>, calibration: Calibration) -> Result<Decision, LearnError>;
    /// Follow the leader of noised gradients.
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
    /// Decides everything from public facts, or refuses what the learner does not cover.
    pub(crate) fn plan(
        &self,
        horizon: &Horizon,
        allowance: &Allowance<'_>,
        calibration: Calibration,
    ) -> Result<Decision, LearnError> {
        let (relation, problems) = (horizon.facts.relation(), horizon.facts.problems);
        let asked = Asked { relation, pure: allowance.is_pure(), calibration, problems };
        self.info().covers.check(self.name(), asked)?;
        self.dispatched(horizon, allowance, calibration)
    }
}
