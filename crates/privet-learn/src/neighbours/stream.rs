//! Questions that come in batches, answered by the records nearby from one budget, by processes that come and go.
//!
//! The first process plans for so many questions in all, with a distance and K that every batch keeps to, reserves the
//! whole in a journal and writes the state of the session beside it. Every later one takes the state up, answers its
//! questions, and puts the state aside. Every certificate claims the whole.
//!
//! **Nothing secret is kept between batches.** Who has used up their votes is found again from the records and the questions
//! before, which are public and stand in the state ([`privet_dp::mechanism::Individual`], with the proof). They are
//! written down before the first draw of their batch: were a process to end before its answers are let out, records
//! count as having voted, and draws as made.
//!
//! **Tables may lose and gain records** between two batches: whoever is taken out has no part in answers to come, and
//! nobody else pays for it. A record that is *changed* is another record, which may vote K times of its own: the
//! certificate says so. A person with several records may change without anybody's noticing; what such a person has
//! spent could not be found again, and a stream of persons is refused.

use super::answering::Answering;
use super::{Answered, Nearby};
use crate::LearnError;
use crate::release::plan::Plan;
use crate::release::released::Released;
use crate::release::request::Request;
use crate::release::task::Task;
use crate::statistics::stream::{State, journal_of, keep, new_journal, refused};
use privet_data::matrix::Matrix;
use privet_dp::gate::{
    Entered, GateError, Informed, Journal, Next, PurseError, Session, Spend, Suspended, Walk,
};
use privet_dp::noise::Source;
use privet_optim::solver::{Monitor, Progress, SolveError};
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// What every certificate of a stream says.
pub(super) const CHANGED: &str = "questions came in batches, and the table may have lost and gained records between them: a \
     record that was changed counts as one taken out and another put in, each with votes of its own; of someone whose \
     record was changed b times the noise hides √(b + 1) times less";

/// The learner's half: questions and noised votes alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asking {
    /// Every question so far.
    asked: Vec<Vec<f64>>,
    /// How many of them came before this batch.
    before: usize,
    /// SHA-256 of the settled request: the distance and the schema, by which votes are replayed, stay what they were.
    request: String,
}

/// By what a request is known again.
fn print_of(request: &Request<Nearby>) -> Result<String, LearnError> {
    let written = serde_json::to_vec(request).map_err(|_| GateError::Malformed)?;
    Ok(Sha256::digest(written).iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Walk for Asking {
    type Start = Self;
    type Question = (Vec<Vec<f64>>, Vec<Vec<f64>>);
    type Answer = Vec<Vec<f64>>;
    type Artefact = Answered;

    fn begin(start: Self) -> Self {
        start
    }

    fn next(&mut self, answer: Option<Vec<Vec<f64>>>) -> Next<Self::Question, Answered> {
        let (before, batch) = self.asked.split_at(self.before.min(self.asked.len()));
        match answer {
            None => Next::Ask((before.to_vec(), batch.to_vec())),
            Some(votes) => {
                let (first, questions) = (before.len() as u64, batch.to_vec());
                Next::Release(Answered { votes, first, questions })
            }
        }
    }
}

impl Informed for Asking {
    type News = Vec<Vec<f64>>;

    fn told(&mut self, batch: Vec<Vec<f64>>) {
        self.before = self.asked.len();
        self.asked.extend(batch);
    }
}

/// A stream of questions.
#[derive(Debug)]
pub struct Answers {
    path: PathBuf,
    plan: Plan<Nearby>,
    session: Suspended<Asking>,
}

impl Answers {
    /// Plans, reserves everything in a new journal and writes the first state. Refused if either file is there already.
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
        let start = serde_json::to_value(Asking { asked: Vec::new(), before: 0, request });
        let start = start.map_err(|_| GateError::Malformed)?;
        let spend = Spend::Exactly(events);
        let session = Session::open_walking(spend, start, source, &mut journal)?;
        let mut session = session.entered_in(plan.entered.clone());
        let walk = session.begin::<Asking>()?;
        let session = session.suspend(walk, 0)?;
        keep(path, plan.request(), &session)?;
        Ok(Self { path: path.into(), plan: plan.clone(), session })
    }

    /// Reads a state; nothing is committed yet.
    pub fn read(path: &Path) -> Result<Self, LearnError> {
        let state = State::<Nearby, Asking>::read(path)?;
        let plan = state.plan(path)?;
        // The journal vouches for the session, and so for this print, not for what lies beside it.
        if state.session.walk().request != print_of(plan.request())? {
            return Err(refused(path, "its request is not the one that it was begun with"));
        }
        Ok(Self { path: path.into(), plan, session: state.session })
    }

    /// Where a ledger has spent it; `None` where none was kept.
    pub fn entered(&self) -> Option<&Entered> {
        self.session.entered()
    }

    /// What it is a stream of.
    pub fn plan(&self) -> &Plan<Nearby> {
        &self.plan
    }

    /// How many questions may still be asked.
    pub fn left(&self) -> u64 {
        let asked = self.session.walk().asked.len();
        self.plan.request().task.in_all().saturating_sub(asked) as u64
    }

    /// Answers a batch, and puts the session aside for the next one; says how many questions are left.
    pub fn next(
        self,
        table: &dyn Table,
        rows: &Matrix,
        source: &mut dyn Source,
        monitor: &dyn Monitor,
    ) -> Result<(Released<Nearby>, u64), LearnError> {
        let (found, left) = (rows.rows() as u64, self.left());
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
            return Err(refused(&self.path, &why));
        }
        let Self { path, plan, session } = self;
        let batch = Nearby::of(rows).questions;
        let asked = Nearby { questions: batch.clone(), ..plan.request().task.clone() };
        asked.check(plan.facts())?;
        let answering = Answering::settled(&plan)?;
        Nearby::admit(plan.facts(), table)?;
        let claim = *plan.guarantee().ok_or(GateError::NotAsPlanned)?;
        let (gradient_norm, tolerance) = (f64::INFINITY, 0.0);
        if !monitor.proceed(Progress { iteration: 0, gradient_norm, tolerance, precise: false }) {
            return Err(LearnError::Solve(SolveError::Stopped));
        }
        let mut journal = Journal::open(&journal_of(&path)).map_err(GateError::from)?;
        let kept = |session: &Suspended<Asking>| {
            keep(&path, plan.request(), session)
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
        // The state that was kept before the draws is good enough: it has the questions, and the journal knows of the
        // draws.
        let _ = keep(&path, plan.request(), &session);
        let left = Self { path, plan, session }.left();
        Ok((Released::from_release(release)?, left))
    }
}
