//! Trainings that are suspended and resumed, if need be by another process.
//!
//! A checkpoint is a [`Suspended`] session: its whole budget, the number of draws made, and the walk,
//! whose weights and moments are functions of noisy answers alone. It holds no records, no randomness
//! and no exact sums, so that anyone who may read the model may read it. Resuming a copy would spend
//! twice; therefore the journal beside it (`FILE.journal`) commits every draw before it is made, and
//! marks every state as used before it is resumed. A copied state alone is refused; state *and* journal
//! copied together could both be resumed, and nothing here can detect it (`SECURITY.md`, copied states).
//! No position of noise is used again: each process draws from a source of its own, and from a key for
//! samples of its own.
//!
//! A state is checked against its request: schema, number of rows, budget, method, settings. A ledger,
//! if one has paid, checks that the table is the one of the start; otherwise that is the operator's
//! responsibility, and each step is charged to the records that it read either way.
//!
//! A process that ends early loses the steps since the last checkpoint. Their noise was drawn and may
//! have been seen, so they stay charged and are skipped: training resumes with as many steps less.
//!
//! After its last step a training is suspended once more, and ends only when [`Finished::settle`]
//! confirms that the network is written: if a process ends in between, the training is resumed and gives
//! the same network.

use super::examples::Examples;
use super::trainer::{Trainer, Worker};
use super::update::{Query, Training};
use super::{InitialSource, Network, TrainedNetwork, decide};
use crate::release::allowance::Allowance;
use crate::release::plan::{no_budget, plan};
use crate::release::task::Task;
use crate::release::watch::StepWatch;
use crate::{LearnError, Plan, Released, Request};
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::write::{Destination, Existing};
use privet_dp::gate::{
    GateError, Journal, LedgerEntry, Purse, PurseError, Session, Spend, Suspended,
};
use privet_dp::noise::Source;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Format identifier of checkpoint files.
const FORMAT: &str = "privet-checkpoint-1";

/// Contents of a file: the request and the suspended session.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    format: String,
    request: Request<Network>,
    session: Suspended<Training>,
}

/// A training with checkpoints.
#[derive(Debug)]
pub struct Checkpointed {
    path: PathBuf,
    plan: Plan<Network>,
    trainer: Arc<dyn Trainer>,
    session: Suspended<Training>,
}

/// Reason for the end of a walk.
enum WalkEnd {
    /// A checkpoint is due.
    Paused,
    /// An error.
    Failed(LearnError),
}

impl From<GateError> for WalkEnd {
    fn from(error: GateError) -> Self {
        Self::Failed(error.into())
    }
}

/// The trainer of a settled plan, with the initial weights if a file gives them.
fn trainer(plan: &Plan<Network>, weights: Option<&[f32]>) -> Result<Arc<dyn Trainer>, LearnError> {
    let request = plan.request();
    let budget = request.budget.ok_or_else(|| no_budget(request))?;
    let (allowance, method) = (Allowance::new(budget, &request.noise), &request.task.method);
    let decision = decide(plan.facts(), &allowance, method)?;
    let Worker::Steps(trainer) = decision.worker else {
        return Err(LearnError::NotCovered {
            what: format!(
                "method {method} cannot be put aside: it has an un-noised half, or decides on the way what it spends"
            ),
            instead: "leave the checkpoint out, or take method dp-sgd",
        });
    };
    if Some(&trainer.event()?) != plan.events() {
        return Err(GateError::NotAsPlanned.into());
    }
    let InitialSource::File(_) = plan.facts().begin else { return Ok(trainer) };
    let weights = weights.unwrap_or_default();
    let row = Matrix::Dense(DenseMatrix::new(weights.to_vec(), 1, weights.len()));
    Ok(trainer.with_weights(trainer.begins().from(&row)?))
}

/// A training about to begin: all checks have passed, and its journal exists. If dropped, nothing was
/// drawn, and the journal is removed.
#[must_use = "nothing begins before `begin`"]
pub struct ReadyTraining {
    path: PathBuf,
    trainer: Arc<dyn Trainer>,
    start: serde_json::Value,
    journal: Option<Journal>,
}

impl ReadyTraining {
    /// Reserves everything in the journal and writes the first state. The plan is the checked one, and
    /// may by now name the ledger that has spent it.
    pub fn begin(
        mut self,
        plan: &Plan<Network>,
        source: &mut dyn Source,
    ) -> Result<Checkpointed, LearnError> {
        let events = plan.events().cloned().ok_or(GateError::NotAsPlanned)?;
        if Some(&self.trainer.event()?) != plan.events() {
            return Err(GateError::NotAsPlanned.into());
        }
        let mut journal = self.journal.take().ok_or(GateError::NotAsPlanned)?;
        let start = std::mem::take(&mut self.start);
        let session = Session::open_walking(Spend::Exactly(events), start, source, &mut journal)?;
        let mut session = session.entered_in(plan.ledger_entry().cloned());
        let walk = session.begin::<Training>()?;
        let session = session.suspend(walk, 0)?;
        keep(&self.path, plan.request(), &session)?;
        let (path, trainer) = (self.path.clone(), self.trainer.clone());
        Ok(Checkpointed { path, plan: plan.clone(), trainer, session })
    }
}

impl Drop for ReadyTraining {
    fn drop(&mut self) {
        if self.journal.take().is_some() {
            // If the removal fails, the next start refuses the journal with an explanation.
            let _ = std::fs::remove_file(journal_of(&self.path));
        }
    }
}

impl Checkpointed {
    /// Refuses a plan whose training cannot be suspended, before anything is paid or read.
    pub fn can_be_put_aside(
        plan: &Plan<Network>,
        weights: Option<&[f32]>,
    ) -> Result<(), LearnError> {
        trainer(plan, weights)?.begins().weights().map(drop)
    }

    /// Makes all checks that can precede the first draw, and creates the journal: refuses a method that
    /// cannot be suspended, a table that the plan does not admit, a file that exists, a folder that is
    /// not writable. A caller that pays for the whole training in advance pays after this.
    pub fn ready(
        plan: &Plan<Network>,
        weights: Option<&[f32]>,
        path: &Path,
        table: &dyn Table,
    ) -> Result<ReadyTraining, LearnError> {
        let trainer = trainer(plan, weights)?;
        trainer.begins().weights()?;
        Network::admit(plan.facts(), table)?;
        Examples::check_table(table)?;
        let journal = journal_of(path);
        if path.exists() || journal.exists() {
            let why = "it or its journal is there already: go on with it, or name another";
            return Err(checkpoint_error(path, why));
        }
        let start = trainer.begins().walk(trainer.schedule()).ok_or(GateError::Malformed)?;
        let journal = Some(Journal::create(&journal).map_err(GateError::from)?);
        Ok(ReadyTraining { path: path.into(), trainer, start, journal })
    }

    /// Reads a state; nothing is committed yet. `weights` are those of the public file of initial
    /// weights, if there is one.
    pub fn read(path: &Path, weights: Option<&[f32]>) -> Result<Self, LearnError> {
        let failed = |source| LearnError::File { path: path.display().to_string(), source };
        let bytes = std::fs::read(path).map_err(failed)?;
        let state: State = serde_json::from_slice(&bytes).map_err(|error| {
            checkpoint_error(path, &format!("not a checkpoint, or cut: {error}"))
        })?;
        if state.format != FORMAT {
            return Err(checkpoint_error(path, &format!("accepted is the format {FORMAT}")));
        }
        let plan = plan(&state.request)?;
        let planned = plan.events().cloned().map(Spend::Exactly);
        if plan.request() != &state.request || Some(state.session.spend()) != planned.as_ref() {
            return Err(checkpoint_error(path, "what it may spend is not what its request plans"));
        }
        let trainer = trainer(&plan, weights)?;
        Ok(Self { path: path.into(), plan, trainer, session: state.session })
    }

    /// Ledger entry of the training's spending; `None` if no ledger is kept.
    pub fn ledger_entry(&self) -> Option<&LedgerEntry> {
        self.session.ledger_entry()
    }

    /// Plan of the training.
    pub fn plan(&self) -> &Plan<Network> {
        &self.plan
    }

    /// Number of steps made, by this state.
    pub fn steps_made(&self) -> u64 {
        self.session.draws()
    }

    /// Refuses a state of another training than this one.
    pub fn is_of(&self, asked: &Plan<Network>) -> Result<(), LearnError> {
        let (own, asked) = (self.plan.request(), asked.request());
        let what = if own.task.net != asked.task.net {
            "it is of another network"
        } else if own != asked {
            "it is of another schema, number of rows, budget, method or setting"
        } else {
            return Ok(());
        };
        Err(checkpoint_error(&self.path, what))
    }

    /// Makes at most `every` steps: returns the release at the end, or the suspended state.
    pub fn advance(
        self,
        table: &dyn Table,
        every: u32,
        source: &mut dyn Source,
        monitor: &dyn Monitor,
    ) -> Result<Advanced, LearnError> {
        let Self { path, plan, trainer, session } = self;
        Network::admit(plan.facts(), table)?;
        let examples = Examples::of(plan.facts(), table)?;
        let (request, watch) = (plan.request(), StepWatch::new(monitor));
        let claim = *plan.guarantee().ok_or(GateError::NotAsPlanned)?;
        let mut journal = Journal::open(&journal_of(&path)).map_err(GateError::from)?;
        let kept = |session: &Suspended<Training>| {
            keep(&path, request, session).map_err(|error| PurseError::NotKept(error.to_string()))
        };
        let generation = session.generation().saturating_add(1);
        let (mut session, mut walk) = session.resume(source, &mut journal, kept)?;
        let mut left = every.max(1);
        let outcome = session.walk(&mut walk, |query: &Query, session| {
            // Draws that a process made and lost stay charged, and their steps are skipped.
            if session.draws() > u64::from(query.step) {
                return Ok(session.gather::<f64>(Vec::new())?);
            }
            if left == 0 {
                return Err(WalkEnd::Paused);
            }
            left -= 1;
            Ok(trainer.answer(&examples, query, session, &watch)?)
        });
        watch.went_on()?;
        match outcome {
            Ok(Some(tensors)) => {
                let release = session.conclude(tensors, plan.statement(claim)?)?;
                let session = session.suspend(walk, generation)?;
                // The earlier state is sufficient: the network is in memory.
                let _ = keep(&path, request, &session);
                let network = Released::from_release(release)?;
                Ok(Advanced::Done(Box::new(Finished { network, path })))
            }
            Ok(None) => Err(GateError::NotAsPlanned.into()),
            Err(WalkEnd::Failed(error)) => Err(error),
            Err(WalkEnd::Paused) => {
                let session = session.suspend(walk, generation)?;
                // The earlier state is sufficient: the journal has the draws.
                keep(&path, request, &session)?;
                Ok(Advanced::SuspendedStream(Box::new(Self { path, plan, trainer, session })))
            }
        }
    }

    /// Trains to the end, with a checkpoint every `every` steps.
    pub fn finish(
        mut self,
        table: &dyn Table,
        every: u32,
        source: &mut dyn Source,
        monitor: &dyn Monitor,
    ) -> Result<Finished, LearnError> {
        loop {
            match self.advance(table, every, source, monitor)? {
                Advanced::Done(finished) => return Ok(*finished),
                Advanced::SuspendedStream(aside) => self = *aside,
            }
        }
    }
}

/// A training at its end, whose network is not written yet: until it is settled, resuming it gives the
/// same network.
#[derive(Debug)]
#[must_use = "nothing is written yet, and the training has not ended"]
pub struct Finished {
    network: TrainedNetwork,
    path: PathBuf,
}

impl Finished {
    /// The released network.
    pub fn network(&self) -> &TrainedNetwork {
        &self.network
    }

    /// Ends the training, once the network is written: it cannot be resumed any more.
    pub fn settle(self) -> Result<TrainedNetwork, LearnError> {
        let mut journal = Journal::open(&journal_of(&self.path)).map_err(GateError::from)?;
        journal.record_settlement(self.network.certificate()).map_err(GateError::from)?;
        Ok(self.network)
    }
}

/// State of a training after some steps.
#[derive(Debug)]
pub enum Advanced {
    /// At its end.
    Done(Box<Finished>),
    /// Suspended.
    SuspendedStream(Box<Checkpointed>),
}

/// Path of a checkpoint's journal.
fn journal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".journal");
    name.into()
}

fn keep(
    path: &Path,
    request: &Request<Network>,
    session: &Suspended<Training>,
) -> Result<(), LearnError> {
    #[derive(Serialize)]
    struct CheckpointFile<'a> {
        format: &'static str,
        request: &'a Request<Network>,
        session: &'a Suspended<Training>,
    }
    let text = serde_json::to_vec(&CheckpointFile { format: FORMAT, request, session })
        .map_err(|_| GateError::Malformed)?;
    Ok(Destination::open(path, Existing::Own)?.write(&text)?)
}

fn checkpoint_error(path: &Path, why: &str) -> LearnError {
    let why = privet_core::printable(why).into_owned();
    LearnError::NotAStream { path: path.display().to_string(), why }
}
