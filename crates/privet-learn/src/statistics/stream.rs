//! Counts released again and again from one budget, by processes that come and go.
//!
//! The first process plans for at most so many releases ([`privet_dp::account::Event::UpTo`]), reserves all of them in a journal
//! and writes the state of the session beside it. Every later one takes the state up, counts the table as it
//! is then, releases, and puts the state aside. Every certificate claims the whole: whoever has seen one
//! release may see all of them.
//!
//! **What is protected.** A unit's records may be in every table that is counted: each release is charged in
//! full, and composition is adaptive, so that tables may be corrected from one to the next; they may grow or
//! shrink where the number of rows is private.
//!
//! **Copies.** The journal (`FILE.journal`) commits the generation before a draw, and refuses a state that is older or a
//! copy of one that was gone on from. Whoever copies *both* files, or brings both back from a backup, goes on twice, and
//! nothing can tell: a ledger has paid once, when the stream began, and both copies state its entry.

use super::count::{Count, Counting, Tabulating};
use crate::LearnError;
use crate::release::plan::{Plan, plan};
use crate::release::released::Released;
use crate::release::request::Request;
use crate::release::task::Task;
use privet_data::write::{Destination, Existing};
use privet_dp::gate::{Entered, GateError, Journal, PurseError, Session, Spend, Suspended, Walk};
use privet_dp::noise::Source;
use privet_optim::sum::Table;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A file of a stream: what it is for, and the session that was put aside.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "T: Task, W: Serialize + DeserializeOwned")]
pub(crate) struct State<T, W> {
    format: String,
    pub request: Request<T>,
    pub session: Suspended<W>,
}

impl<T: Task, W: Walk> State<T, W> {
    /// Reads one; nothing is committed yet.
    pub fn read(path: &Path) -> Result<Self, LearnError> {
        let failed = |source| LearnError::File { path: path.display().to_string(), source };
        let bytes = std::fs::read(path).map_err(failed)?;
        let state: Self =
            serde_json::from_slice(&bytes).map_err(|error| refused(path, &error.to_string()))?;
        match state.format == FORMAT {
            true => Ok(state),
            false => Err(refused(path, &format!("accepted is the format {FORMAT}"))),
        }
    }

    /// The plan of its request, if that is what it may spend.
    pub fn plan(&self, path: &Path) -> Result<Plan<T>, LearnError> {
        let plan = plan(&self.request)?;
        let planned = plan.events().cloned().map(Spend::Exactly);
        if plan.request() != &self.request || Some(self.session.spend()) != planned.as_ref() {
            return Err(refused(path, "what it may spend is not what its request plans"));
        }
        Ok(plan)
    }
}

/// A journal for a new stream; refused if the stream or its journal is there already.
pub(crate) fn new_journal(path: &Path) -> Result<Journal, LearnError> {
    if path.exists() {
        let why = "there is one already: go on with it, or name another";
        return Err(refused(path, why));
    }
    let journal = journal_of(path);
    if journal.exists() {
        let why = "its journal is there without it: a process ended while it began, or the file was \
                   moved. Name another, or remove the journal if nothing was ever released from it";
        return Err(refused(path, why));
    }
    Ok(Journal::create(&journal).map_err(GateError::from)?)
}

/// Why nothing more is released.
const ENDED: &str = "all its releases are made (one that a process lost counts as made): more of them \
                     need another budget";

/// The form of such files.
const FORMAT: &str = "privet-stream-1";

/// Counts that are released several times.
#[derive(Debug)]
pub struct Stream {
    path: PathBuf,
    plan: Plan<Count>,
    session: Suspended<Tabulating>,
}

impl Stream {
    /// Plans, reserves everything in a new journal and writes the first state. Refused if either file is
    /// there already.
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
        let mut session = session.entered_in(plan.entered.clone());
        let walk = session.begin::<Tabulating>()?;
        let session = session.suspend(walk, 0)?;
        let stream = Self { path: path.into(), plan: plan.clone(), session };
        keep(&stream.path, stream.plan.request(), &stream.session)?;
        Ok(stream)
    }

    /// Reads a state; nothing is committed yet.
    pub fn read(path: &Path) -> Result<Self, LearnError> {
        let state = State::<Count, Tabulating>::read(path)?;
        let plan = state.plan(path)?;
        counting(&plan)?;
        Ok(Self { path: path.into(), plan, session: state.session })
    }

    /// What is released each time.
    pub fn plan(&self) -> &Plan<Count> {
        &self.plan
    }

    /// Where a ledger has spent it; `None` where none was kept.
    pub fn entered(&self) -> Option<&Entered> {
        self.session.entered()
    }

    /// How many releases are left, by this state; a process that ended early may have used one more.
    pub fn left(&self) -> u64 {
        let times = self.plan.request().task.times.unwrap_or(1);
        u64::from(times).saturating_sub(self.session.draws())
    }

    /// Counts the table, releases, and puts the session aside for the next time.
    pub fn next(
        self,
        table: &dyn Table,
        source: &mut dyn Source,
    ) -> Result<(Released<Count>, u64), LearnError> {
        if self.left() == 0 {
            return Err(refused(&self.path, ENDED));
        }
        let Self { path, plan, session } = self;
        let (counting, request) = (counting(&plan)?, plan.request());
        Count::admit(plan.facts(), table)?;
        let claim = *plan.guarantee().ok_or(GateError::NotAsPlanned)?;
        let mut journal = Journal::open(&journal_of(&path)).map_err(GateError::from)?;
        let kept = |session: &Suspended<Tabulating>| {
            keep(&path, request, session).map_err(|error| PurseError::NotKept(error.to_string()))
        };
        let generation = session.generation().saturating_add(1);
        let (mut session, mut walk) = session.resume(source, &mut journal, kept)?;
        let counts = session.walk(&mut walk, |(), session| counting.once(table, session));
        let counts = match counts {
            // The journal knows of more draws than the state.
            Err(LearnError::Gate(GateError::NotAsPlanned)) => return Err(refused(&path, ENDED)),
            counts => counts?.ok_or(GateError::NotAsPlanned)?,
        };
        let release = session.emit(counts, plan.statement(claim)?)?;
        let session = session.suspend(walk, generation)?;
        // The state that was kept before the draw is good enough: the journal knows of the draw.
        let _ = keep(&path, request, &session);
        let left = u64::from(counting.times).saturating_sub(session.draws());
        Ok((Released::from_release(release)?, left))
    }
}

/// Where the journal of a stream is kept.
pub(crate) fn journal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".journal");
    name.into()
}

/// Writes the state of a stream in place of the one before it, whole or not at all.
pub(crate) fn keep<T: Task, W: Walk>(
    path: &Path,
    request: &Request<T>,
    session: &Suspended<W>,
) -> Result<(), LearnError> {
    #[derive(Serialize)]
    #[serde(bound = "T: Task, W: Serialize")]
    struct Written<'a, T, W> {
        format: &'static str,
        request: &'a Request<T>,
        session: &'a Suspended<W>,
    }
    let state = Written { format: FORMAT, request, session };
    let text = serde_json::to_vec_pretty(&state).map_err(|_| GateError::Malformed)?;
    Ok(Destination::open(path, Existing::Own)?.write(&text)?)
}

fn counting(plan: &Plan<Count>) -> Result<Counting, LearnError> {
    // A stream draws its own noise; among parties the servers do.
    if plan.request().among.is_some() {
        return Err(GateError::Alone.into());
    }
    Ok(Counting::settled(plan.request(), plan.facts()).ok_or(GateError::NotAsPlanned)?)
}

pub(crate) fn refused(path: &Path, why: &str) -> LearnError {
    let why = privet_core::printable(why).into_owned();
    LearnError::NotAStream { path: path.display().to_string(), why }
}
