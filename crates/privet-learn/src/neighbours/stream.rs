//! Questions that come in batches, answered by the records nearby from one budget, by successive
//! processes.
//!
//! The first process plans for a number of questions in all, with one distance and K for every batch,
//! reserves the whole cost in a journal and writes the state of the session beside it. Every later
//! process resumes the state, answers its questions, and suspends again. Every certificate claims the
//! whole cost.
//!
//! **Nothing secret is kept between batches.** The votes used up by each unit are recomputed from the
//! records and the earlier questions, which are public and stored in the state
//! ([`privet_dp::mechanism::Individual`], with the proof). A batch's questions are stored before its
//! first draw: if a process ends before releasing its answers, records count as having voted, and draws
//! as made.
//!
//! **Tables may lose and gain records** between two batches: records taken out have no part in later
//! answers, at no cost to other units. A *changed* record is another record, with K votes of its own:
//! the certificate says so. A person with several records may change undetected; the votes such a person
//! has used could not be recomputed, so a stream with persons as units is refused.

use super::answer_plan::AnswerPlan;
use super::{Nearby, NoisyVotes};
use crate::release::note::Condition;
use crate::release::task::Task;
use crate::statistics::stream::{State, journal_of, new_journal, replace_state, state_error};
use crate::{LearnError, Plan, Released, Request};
use privet_data::matrix::Matrix;
use privet_dp::gate::{
    GateError, Journal, LedgerEntry, Next, PurseError, ReceivingWalk, Session, Spend, Suspended,
    Walk,
};
use privet_dp::noise::Source;
use privet_optim::solver::{Monitor, Progress, SolveError};
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// The note in every certificate of a stream.
pub(super) const STREAM_NOTE: Condition = Condition::new(
    "table-changed-between-batches",
    "questions came in batches, and the table may have lost and gained records between them: a \
     record that was changed counts as one taken out and another put in, each with votes of its own; of someone whose \
     record was changed b times the noise hides √(b + 1) times less",
);

/// The learner's part of the state: questions and noisy votes alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerWalk {
    /// Every question so far.
    asked: Vec<Vec<f64>>,
    /// The number of questions before this batch.
    before: usize,
    /// SHA-256 of the settled request: guarantees that the distance and the schema, by which votes are
    /// replayed, are unchanged.
    request: String,
}

/// A request's fingerprint.
fn print_of(request: &Request<Nearby>) -> Result<String, LearnError> {
    let written = serde_json::to_vec(request).map_err(|_| GateError::Malformed)?;
    Ok(Sha256::digest(written).iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Walk for AnswerWalk {
    type Start = Self;
    type Query = (Vec<Vec<f64>>, Vec<Vec<f64>>);
    type Answer = Vec<Vec<f64>>;
    type Artefact = NoisyVotes;

    fn begin(start: Self) -> Self {
        start
    }

    fn next(&mut self, answer: Option<Vec<Vec<f64>>>) -> Next<Self::Query, NoisyVotes> {
        let (before, batch) = self.asked.split_at(self.before.min(self.asked.len()));
        match answer {
            None => Next::Ask((before.to_vec(), batch.to_vec())),
            Some(votes) => {
                let (first, questions) = (before.len() as u64, batch.to_vec());
                Next::Release(NoisyVotes { votes, first, questions })
            }
        }
    }
}

impl ReceivingWalk for AnswerWalk {
    type News = Vec<Vec<f64>>;

    fn receive(&mut self, batch: Vec<Vec<f64>>) {
        self.before = self.asked.len();
        self.asked.extend(batch);
    }
}

/// A stream of questions: answers batch after batch from one budget.
#[derive(Debug)]
pub struct Answers {
    path: PathBuf,
    plan: Plan<Nearby>,
    session: Suspended<AnswerWalk>,
}

impl Answers {
    /// Plans, reserves the whole cost in a new journal and writes the first state. Refused if either
    /// file exists.
    pub fn begin(
        plan: &Plan<Nearby>,
        path: &Path,
        source: &mut dyn Source,
    ) -> Result<Self, LearnError> {
        if plan.request().task.stream.is_none() {
            return Err(LearnError::NotCovered {
                what: "the plan is for one batch of questions".into(),
                instead: "plan for a stream of them",
            });
        }
        let events = plan.events().cloned().ok_or(GateError::NotAsPlanned)?;
        let mut journal = new_journal(path)?;
        let request = print_of(plan.request())?;
        let start = serde_json::to_value(AnswerWalk { asked: Vec::new(), before: 0, request });
        let start = start.map_err(|_| GateError::Malformed)?;
        let spend = Spend::Exactly(events);
        let session = Session::open_walking(spend, start, source, &mut journal)?;
        let mut session = session.entered_in(plan.ledger_entry().cloned());
        let walk = session.begin::<AnswerWalk>()?;
        let session = session.suspend(walk, 0)?;
        replace_state(path, plan.request(), &session)?;
        Ok(Self { path: path.into(), plan: plan.clone(), session })
    }

    /// Reads a state; nothing is committed yet.
    pub fn read(path: &Path) -> Result<Self, LearnError> {
        let state = State::<Nearby, AnswerWalk>::read(path)?;
        let plan = state.plan(path)?;
        // The journal authenticates the session, and so this fingerprint, but not the rest of the file.
        if state.session.walk().request != print_of(plan.request())? {
            return Err(state_error(path, "its request is not the one that it was begun with"));
        }
        Ok(Self { path: path.into(), plan, session: state.session })
    }

    /// The ledger entry that records the spending; `None` if no ledger was kept.
    pub fn ledger_entry(&self) -> Option<&LedgerEntry> {
        self.session.ledger_entry()
    }

    /// The plan that all batches share.
    pub fn plan(&self) -> &Plan<Nearby> {
        &self.plan
    }

    /// The number of questions left.
    pub fn questions_left(&self) -> u64 {
        let asked = self.session.walk().asked.len();
        self.plan.request().task.in_all().saturating_sub(asked) as u64
    }

    /// Answers a batch and suspends the session; also returns the number of questions left.
    pub fn next(
        self,
        table: &dyn Table,
        rows: &Matrix,
        source: &mut dyn Source,
        monitor: &dyn Monitor,
    ) -> Result<(Released<Nearby>, u64), LearnError> {
        let (found, left) = (rows.rows() as u64, self.questions_left());
        if found > left || found == 0 {
            let all = self.plan.request().task.in_all();
            let why = match left {
                0 => "all its questions are asked: more of them need another budget".into(),
                left => {
                    format!(
                        "{found} questions, where 1 to {left} are left of the {all} planned for"
                    )
                }
            };
            return Err(state_error(&self.path, &why));
        }
        let Self { path, plan, session } = self;
        let batch = Nearby::of(rows).questions;
        let asked = Nearby { questions: batch.clone(), ..plan.request().task.clone() };
        asked.check(plan.facts())?;
        let answering = AnswerPlan::of_settled(&plan)?;
        Nearby::admit(plan.facts(), table)?;
        let claim = *plan.guarantee().ok_or(GateError::NotAsPlanned)?;
        let (gradient_norm, tolerance) = (f64::INFINITY, 0.0);
        if !monitor.proceed(Progress { iteration: 0, gradient_norm, tolerance, precise: false }) {
            return Err(LearnError::Solve(SolveError::Stopped));
        }
        let mut journal = Journal::open(&journal_of(&path)).map_err(GateError::from)?;
        let kept = |session: &Suspended<AnswerWalk>| {
            replace_state(&path, plan.request(), session)
                .map_err(|error| PurseError::NotKept(error.to_string()))
        };
        let generation = session.generation().saturating_add(1);
        let (mut session, mut walk) = session.resume_told(batch, source, &mut journal, kept)?;
        let votes = session.walk(&mut walk, |(before, batch), session| {
            answering.votes((plan.facts(), table), (before, batch), session, monitor)
        });
        let votes = votes?.ok_or(GateError::NotAsPlanned)?;
        let release = session.emit(votes, plan.statement(claim)?)?;
        let session = session.suspend(walk, generation)?;
        // The state kept before the draws suffices: it has the questions, and the journal has the draws.
        let _ = replace_state(&path, plan.request(), &session);
        let left = Self { path, plan, session }.questions_left();
        Ok((Released::from_release(release)?, left))
    }
}
