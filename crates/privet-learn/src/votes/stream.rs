//! Questions that come in batches, answered from one budget by processes that come and go.
//!
//! The first process plans for m̃ questions and T without a stable answer, reserves all of it in a journal and writes the
//! state of the session beside it. Every later one takes the state up, draws chunks anew, trains teachers, answers its
//! questions, and puts the state aside. Every certificate claims the whole: whoever has seen one batch may see all of them.
//!
//! **Nothing secret is kept between batches**: neither the threshold's noise nor who was in which chunk. A batch begins with
//! a new threshold, and so with one more of the T runs of the sparse vector ([`privet_dp::mechanism::StableAnswers`]):
//! T pays for questions without an answer *and* for batches. The theorem holds for chunks drawn anew: given all coins, each
//! batch's distances satisfy its conditions.
//!
//! Tables may change between batches, as those of [`crate::statistics::stream`], whose journal this is.

use super::teacher::Teach;
use super::vote::{Naming, Polled, asking};
use super::{Aggregator, Vote};
use crate::LearnError;
use crate::linear::watch::StepWatch;
use crate::release::plan::Plan;
use crate::release::released::Released;
use crate::release::task::Task;
use crate::statistics::stream::{State, journal_of, keep, new_journal, refused};
use privet_data::matrix::Matrix;
use privet_dp::gate::{Entered, GateError, Journal, PurseError, Session, Spend, Suspended};
use privet_dp::noise::Source;
use privet_optim::solver::{Monitor, Progress, SolveError};
use privet_optim::sum::Table;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A stream of questions.
#[derive(Debug)]
pub struct Answers {
    path: PathBuf,
    plan: Plan<Vote>,
    session: Suspended<Naming>,
    /// Questions that were asked, by the state that was read.
    asked: u64,
}

/// Why nothing more is answered.
const ENDED: &str = "nothing more is answered: so many questions were left without a stable answer, or batches begun, as \
                     the budget pays for. More of them need another budget";

impl Answers {
    /// Plans, reserves everything in a new journal and writes the first state. Refused if either file is there already.
    pub fn begin(
        plan: &Plan<Vote>,
        path: &Path,
        source: &mut dyn Source,
    ) -> Result<Self, LearnError> {
        if !plan.request().task.stream {
            return Err(LearnError::NotCovered {
                what: "the plan is for one batch of questions".into(),
                instead: "plan for a stream of them",
            });
        }
        let events = plan.events().cloned().ok_or(GateError::NotAsPlanned)?;
        let mut journal = new_journal(path)?;
        let start = serde_json::to_value(Naming::of(&plan.request().task));
        let start = start.map_err(|_| GateError::Malformed)?;
        let spend = Spend::Exactly(events);
        let session = Session::open_walking(spend, start, source, &mut journal)?;
        let mut session = session.entered_in(plan.entered.clone());
        let walk = session.begin::<Naming>()?;
        let session = session.suspend(walk, 0)?;
        keep(path, plan.request(), &session)?;
        Ok(Self { path: path.into(), plan: plan.clone(), session, asked: 0 })
    }

    /// Reads a state; nothing is committed yet.
    pub fn read(path: &Path) -> Result<Self, LearnError> {
        let state = State::<Vote, Naming>::read(path)?;
        let plan = state.plan(path)?;
        // What was asked before is told by the walk, which only a session opens; its written form says it as well.
        let written = serde_json::to_value(&state.session).map_err(|_| GateError::Malformed)?;
        let asked = written["walk"]["asked"].as_u64().unwrap_or(0);
        Ok(Self { path: path.into(), plan, session: state.session, asked })
    }

    /// Where a ledger has spent it; `None` where none was kept.
    pub fn entered(&self) -> Option<&Entered> {
        self.session.entered()
    }

    /// What it is a stream of.
    pub fn plan(&self) -> &Plan<Vote> {
        &self.plan
    }

    /// How many questions may still be asked.
    pub fn left(&self) -> u64 {
        self.plan.request().task.queries.saturating_sub(self.asked)
    }

    /// How many questions without an answer, or batches, are left, by this state; a process that ended early may have
    /// used more.
    pub fn unstable_left(&self) -> u64 {
        let cutoff = match self.plan.request().task.aggregator {
            Aggregator::SparseVector(settings) => settings.cutoff.unwrap_or(1),
            _ => 0,
        };
        // The leak is the first draw.
        u64::from(cutoff).saturating_sub(self.session.draws().saturating_sub(1))
    }

    /// Answers a batch, and puts the session aside for the next one.
    pub fn next(
        self,
        table: &dyn Table,
        rows: &Matrix,
        teach: Option<Arc<dyn Teach>>,
        source: &mut dyn Source,
        monitor: &dyn Monitor,
    ) -> Result<(Released<Vote>, u64), LearnError> {
        if self.unstable_left() == 0 {
            return Err(refused(&self.path, ENDED));
        }
        let found = rows.rows() as u64;
        if found > self.left() || found == 0 {
            return Err(refused(
                &self.path,
                &format!(
                    "{found} questions, where 1 to {} are left of the {} that were planned for",
                    self.left(),
                    self.plan.request().task.queries
                ),
            ));
        }
        let Self { path, plan, session, .. } = self;
        let voting = asking(&plan, rows, teach)?;
        Vote::admit(plan.facts(), table)?;
        let claim = *plan.guarantee().ok_or(GateError::NotAsPlanned)?;
        let (gradient_norm, tolerance) = (f64::INFINITY, 0.0);
        if !monitor.proceed(Progress { iteration: 0, gradient_norm, tolerance, precise: false }) {
            return Err(LearnError::Solve(SolveError::Stopped));
        }
        let mut journal = Journal::open(&journal_of(&path)).map_err(GateError::from)?;
        let kept = |session: &Suspended<Naming>| {
            keep(&path, plan.request(), session)
                .map_err(|error| PurseError::NotKept(error.to_string()))
        };
        let generation = session.generation().saturating_add(1);
        let (mut session, mut walk) = session.resume(source, &mut journal, kept)?;
        let watch = StepWatch::new(monitor);
        let mut polled = Polled::default();
        let labels = session.walk(&mut walk, |batch, session| {
            voting.once(batch, &mut polled, (plan.facts(), table), session, &watch)
        });
        let labels = match labels {
            // The journal knows of more draws than the state.
            Err(LearnError::Gate(GateError::NotAsPlanned)) => return Err(refused(&path, ENDED)),
            labels => labels?.ok_or(GateError::NotAsPlanned)?,
        };
        let release = session.emit(labels, plan.statement(claim)?)?;
        let session = session.suspend(walk, generation)?;
        // The state that was kept before the draws is good enough: the journal knows of them.
        let _ = keep(&path, plan.request(), &session);
        let after = Self { path, plan, asked: 0, session };
        let left = after.unstable_left();
        Ok((Released::from_release(release)?, left))
    }
}
