//! Counts released repeatedly from one budget, by successive processes.
//!
//! The first process plans for at most a number of releases ([`privet_dp::account::Event::UpTo`]),
//! reserves all of them in a journal and writes the state of the session beside it. Every later process
//! resumes the state, counts the table as it is then, releases, and suspends again. Every certificate
//! claims the cost of all releases: a reader of one may see them all.
//!
//! **Protection.** A unit's records may be in every table that is counted: each release is charged in
//! full, and composition is adaptive, so that tables may be corrected from one to the next; they may
//! grow or shrink if the number of rows is private.
//!
//! **Copies.** The journal (`FILE.journal`) commits the generation before a draw, and refuses a state
//! that is older, or a copy of one that was resumed already. Copying *both* files, or restoring both
//! from a backup, continues the stream twice undetected: a ledger was charged once, when the stream
//! began, and both copies state its entry.

use super::count::{Count, NoisyCounts, Tabulating};
use crate::release::plan::plan;
use crate::release::task::Task;
use crate::{LearnError, Plan, Released, Request};
use privet_data::write::{Destination, Existing};
use privet_dp::gate::{
    GateError, Journal, LedgerEntry, PurseError, Session, Spend, Suspended, Walk,
};
use privet_dp::noise::Source;
use privet_optim::sum::Table;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A stream's state file: its request and the suspended session.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "T: Task, W: Serialize + DeserializeOwned")]
pub(crate) struct State<T, W> {
    format: String,
    pub request: Request<T>,
    pub session: Suspended<W>,
}

impl<T: Task, W: Walk> State<T, W> {
    /// Reads a state file; nothing is committed yet.
    pub fn read(path: &Path) -> Result<Self, LearnError> {
        let failed = |source| LearnError::File { path: path.display().to_string(), source };
        let bytes = std::fs::read(path).map_err(failed)?;
        let state: Self = serde_json::from_slice(&bytes)
            .map_err(|error| state_error(path, &error.to_string()))?;
        match state.format == FORMAT {
            true => Ok(state),
            false => Err(state_error(path, &format!("accepted is the format {FORMAT}"))),
        }
    }

    /// The plan of its request, if it has the event that the session may spend.
    pub fn plan(&self, path: &Path) -> Result<Plan<T>, LearnError> {
        let plan = plan(&self.request)?;
        let planned = plan.events().cloned().map(Spend::Exactly);
        if plan.request() != &self.request || Some(self.session.spend()) != planned.as_ref() {
            return Err(state_error(path, "what it may spend is not what its request plans"));
        }
        Ok(plan)
    }
}

/// Creates the journal of a new stream; refused if the stream or its journal exists.
pub(crate) fn new_journal(path: &Path) -> Result<Journal, LearnError> {
    if path.exists() {
        let why = "there is one already: go on with it, or name another";
        return Err(state_error(path, why));
    }
    let journal = journal_of(path);
    if journal.exists() {
        let why = "its journal is there without it: a process ended while it began, or the file was \
                   moved. Name another, or remove the journal if nothing was ever released from it";
        return Err(state_error(path, why));
    }
    Ok(Journal::create(&journal).map_err(GateError::from)?)
}

/// The refusal of a further release.
const ALL_RELEASES_MADE: &str = "all its releases are made (one that a process lost counts as made): more of them \
                     need another budget";

/// The format of state files.
const FORMAT: &str = "privet-stream-1";

/// A stream of counts: released several times from one budget.
#[derive(Debug)]
pub struct Stream {
    path: PathBuf,
    plan: Plan<Count>,
    session: Suspended<Tabulating>,
}

impl Stream {
    /// Plans, reserves the whole cost in a new journal and writes the first state. Refused if either
    /// file exists.
    pub fn begin(
        plan: &Plan<Count>,
        path: &Path,
        source: &mut dyn Source,
    ) -> Result<Self, LearnError> {
        let counting = counting(plan)?;
        let events = plan.events().cloned().ok_or(GateError::NotAsPlanned)?;
        let mut journal = new_journal(path)?;
        let start = serde_json::to_value(counting.start()).map_err(|_| GateError::Malformed)?;
        let spend = Spend::Exactly(events);
        let session = Session::open_walking(spend, start, source, &mut journal)?;
        let mut session = session.entered_in(plan.ledger_entry().cloned());
        let walk = session.begin::<Tabulating>()?;
        let session = session.suspend(walk, 0)?;
        let stream = Self { path: path.into(), plan: plan.clone(), session };
        replace_state(&stream.path, stream.plan.request(), &stream.session)?;
        Ok(stream)
    }

    /// Reads a state; nothing is committed yet.
    pub fn read(path: &Path) -> Result<Self, LearnError> {
        let state = State::<Count, Tabulating>::read(path)?;
        let plan = state.plan(path)?;
        counting(&plan)?;
        Ok(Self { path: path.into(), plan, session: state.session })
    }

    /// The plan that all releases share.
    pub fn plan(&self) -> &Plan<Count> {
        &self.plan
    }

    /// The ledger entry that records the spending; `None` if no ledger was kept.
    pub fn ledger_entry(&self) -> Option<&LedgerEntry> {
        self.session.ledger_entry()
    }

    /// The number of releases left, by this state; a process that ended early may have used one more.
    pub fn releases_left(&self) -> u64 {
        let times = self.plan.request().task.times.unwrap_or(1);
        u64::from(times).saturating_sub(self.session.draws())
    }

    /// Counts the table, releases, and suspends the session; also returns the number of releases left.
    pub fn next(
        self,
        table: &dyn Table,
        source: &mut dyn Source,
    ) -> Result<(Released<Count>, u64), LearnError> {
        if self.releases_left() == 0 {
            return Err(state_error(&self.path, ALL_RELEASES_MADE));
        }
        let Self { path, plan, session } = self;
        let (counting, request) = (counting(&plan)?, plan.request());
        Count::admit(plan.facts(), table)?;
        let claim = *plan.guarantee().ok_or(GateError::NotAsPlanned)?;
        let mut journal = Journal::open(&journal_of(&path)).map_err(GateError::from)?;
        let kept = |session: &Suspended<Tabulating>| {
            replace_state(&path, request, session)
                .map_err(|error| PurseError::NotKept(error.to_string()))
        };
        let generation = session.generation().saturating_add(1);
        let (mut session, mut walk) = session.resume(source, &mut journal, kept)?;
        let counts = session.walk(&mut walk, |(), session| counting.release_counts(table, session));
        let counts = match counts {
            // The journal has more draws than the state.
            Err(LearnError::Gate(GateError::NotAsPlanned)) => {
                return Err(state_error(&path, ALL_RELEASES_MADE));
            }
            counts => counts?.ok_or(GateError::NotAsPlanned)?,
        };
        let release = session.emit(counts, plan.statement(claim)?)?;
        let session = session.suspend(walk, generation)?;
        // The state kept before the draw suffices: the journal has the draw.
        let _ = replace_state(&path, request, &session);
        let left = u64::from(counting.times).saturating_sub(session.draws());
        Ok((Released::from_release(release)?, left))
    }
}

/// The path of a stream's journal.
pub(crate) fn journal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".journal");
    name.into()
}

/// Replaces the state file of a stream, atomically.
pub(crate) fn replace_state<T: Task, W: Walk>(
    path: &Path,
    request: &Request<T>,
    session: &Suspended<W>,
) -> Result<(), LearnError> {
    #[derive(Serialize)]
    #[serde(bound = "T: Task, W: Serialize")]
    struct StateFile<'a, T, W> {
        format: &'static str,
        request: &'a Request<T>,
        session: &'a Suspended<W>,
    }
    let state = StateFile { format: FORMAT, request, session };
    let text = serde_json::to_vec_pretty(&state).map_err(|_| GateError::Malformed)?;
    Ok(Destination::open(path, Existing::Own)?.write(&text)?)
}

fn counting(plan: &Plan<Count>) -> Result<NoisyCounts, LearnError> {
    // A stream draws its own noise; among parties the servers draw it.
    if plan.request().among.is_some() {
        return Err(GateError::Alone.into());
    }
    Ok(NoisyCounts::of_settled(plan.request(), plan.facts()).ok_or(GateError::NotAsPlanned)?)
}

pub(crate) fn state_error(path: &Path, why: &str) -> LearnError {
    let why = privet_core::printable(why).into_owned();
    LearnError::NotAStream { path: path.display().to_string(), why }
}
