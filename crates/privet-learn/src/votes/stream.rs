//! Queries that come in batches, answered from one budget by successive processes.
//!
//! The first process plans for m̃ queries and T without a stable answer, reserves all of it in a journal
//! and writes the state of the session beside it. Every later one resumes the state, draws chunks anew,
//! trains teachers, answers its queries, and suspends the session. Every certificate claims the whole: a
//! reader of one batch may read all of them.
//!
//! **Nothing secret is kept between batches**: neither the threshold's noise nor the assignment to
//! chunks. A batch begins with a new threshold, and so with one more of the T runs of the sparse vector
//! ([`privet_dp::mechanism::StableAnswers`]): unanswered queries *and* batches count towards T. The
//! theorem holds for chunks drawn anew: given all coins, each batch's distances satisfy its conditions.
//!
//! Tables may change between batches, as those of [`crate::statistics::stream`], whose journal this is.

use super::teacher::Teach;
use super::vote::{RunState, VoteWalk, with_public_rows};
use super::{Aggregator, Vote};
use crate::release::task::Task;
use crate::release::watch::StepWatch;
use crate::statistics::stream::{State, journal_of, new_journal, replace_state, state_error};
use crate::{LearnError, Plan, Released};
use privet_data::matrix::Matrix;
use privet_dp::gate::{GateError, Journal, LedgerEntry, PurseError, Session, Spend, Suspended};
use privet_dp::noise::Source;
use privet_optim::solver::{Monitor, Progress, SolveError};
use privet_optim::sum::Table;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A suspended stream of queries.
#[derive(Debug)]
pub struct Answers {
    path: PathBuf,
    plan: Plan<Vote>,
    session: Suspended<VoteWalk>,
    /// Number of queries made, by the state that was read.
    asked: u64,
}

/// Reason for answering no more queries.
const NO_MORE_ANSWERS: &str = "nothing more is answered: so many questions were left without a stable answer, or batches begun, as \
                     the budget pays for. More of them need another budget";

impl Answers {
    /// Plans, reserves everything in a new journal and writes the first state. Refused if either file
    /// exists.
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
        let start = serde_json::to_value(VoteWalk::of(&plan.request().task));
        let start = start.map_err(|_| GateError::Malformed)?;
        let spend = Spend::Exactly(events);
        let session = Session::open_walking(spend, start, source, &mut journal)?;
        let mut session = session.entered_in(plan.ledger_entry().cloned());
        let walk = session.begin::<VoteWalk>()?;
        let session = session.suspend(walk, 0)?;
        replace_state(path, plan.request(), &session)?;
        Ok(Self { path: path.into(), plan: plan.clone(), session, asked: 0 })
    }

    /// Reads a state; nothing is committed yet.
    pub fn read(path: &Path) -> Result<Self, LearnError> {
        let state = State::<Vote, VoteWalk>::read(path)?;
        let plan = state.plan(path)?;
        // The walk holds the number of queries made, but only a session opens it; its serialised form
        // holds it as well.
        let written = serde_json::to_value(&state.session).map_err(|_| GateError::Malformed)?;
        let asked = written["walk"]["asked"].as_u64().unwrap_or(0);
        Ok(Self { path: path.into(), plan, session: state.session, asked })
    }

    /// Ledger entry of the stream's spending; `None` if no ledger is kept.
    pub fn ledger_entry(&self) -> Option<&LedgerEntry> {
        self.session.ledger_entry()
    }

    /// Plan of the stream.
    pub fn plan(&self) -> &Plan<Vote> {
        &self.plan
    }

    /// Number of queries left.
    pub fn queries_left(&self) -> u64 {
        self.plan.request().task.queries.saturating_sub(self.asked)
    }

    /// Number of unanswered queries or batches left, by this state; a process that ended early may have
    /// used more.
    pub fn unstable_left(&self) -> u64 {
        let cutoff = match self.plan.request().task.aggregator {
            Aggregator::SparseVector(settings) => settings.cutoff.unwrap_or(1),
            _ => 0,
        };
        // The leak is the first draw.
        u64::from(cutoff).saturating_sub(self.session.draws().saturating_sub(1))
    }

    /// Answers a batch, and suspends the session for the next one.
    pub fn next(
        self,
        table: &dyn Table,
        rows: &Matrix,
        teach: Option<Arc<dyn Teach>>,
        source: &mut dyn Source,
        monitor: &dyn Monitor,
    ) -> Result<(Released<Vote>, u64), LearnError> {
        if self.unstable_left() == 0 {
            return Err(state_error(&self.path, NO_MORE_ANSWERS));
        }
        let found = rows.rows() as u64;
        if found > self.queries_left() || found == 0 {
            return Err(state_error(
                &self.path,
                &format!(
                    "{found} questions, where 1 to {} are left of the {} that were planned for",
                    self.queries_left(),
                    self.plan.request().task.queries
                ),
            ));
        }
        let Self { path, plan, session, .. } = self;
        let voting = with_public_rows(&plan, rows, teach)?;
        Vote::admit(plan.facts(), table)?;
        let claim = *plan.guarantee().ok_or(GateError::NotAsPlanned)?;
        let (gradient_norm, tolerance) = (f64::INFINITY, 0.0);
        if !monitor.proceed(Progress { iteration: 0, gradient_norm, tolerance, precise: false }) {
            return Err(LearnError::Solve(SolveError::Stopped));
        }
        let mut journal = Journal::open(&journal_of(&path)).map_err(GateError::from)?;
        let kept = |session: &Suspended<VoteWalk>| {
            replace_state(&path, plan.request(), session)
                .map_err(|error| PurseError::NotKept(error.to_string()))
        };
        let generation = session.generation().saturating_add(1);
        let (mut session, mut walk) = session.resume(source, &mut journal, kept)?;
        let watch = StepWatch::new(monitor);
        let mut polled = RunState::default();
        let labels = session.walk(&mut walk, |batch, session| {
            voting.answer_batch(batch, &mut polled, (plan.facts(), table), session, &watch)
        });
        let labels = match labels {
            // The journal has more draws than the state.
            Err(LearnError::Gate(GateError::NotAsPlanned)) => {
                return Err(state_error(&path, NO_MORE_ANSWERS));
            }
            labels => labels?.ok_or(GateError::NotAsPlanned)?,
        };
        let release = session.emit(labels, plan.statement(claim)?)?;
        let session = session.suspend(walk, generation)?;
        // The state that was kept before the draws is sufficient: the journal has them.
        let _ = replace_state(&path, plan.request(), &session);
        let after = Self { path, plan, asked: 0, session };
        let left = after.unstable_left();
        Ok((Released::from_release(release)?, left))
    }
}
