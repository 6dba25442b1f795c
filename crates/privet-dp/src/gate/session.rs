//! Charging before drawing: a session reserves the budget, refuses draws that were not planned, and
//! opens the gate at the end.
//!
//! 1. [`Session::open`] reserves the whole [`Spend`] with the [`Purse`], before anything is drawn.
//! 2. A mechanism requests randomness by [`Session::charge`]. The event is compared with the plan
//!    *before* the noise is drawn ([`Spend::Exactly`]), or admitted by the filter ([`Spend::Within`]);
//!    the purse commits the index of the draw; then the session lends the randomness.
//! 3. From then on the noisy value may steer later steps ([`Session::walk`]): the events are charged in
//!    full whatever use is made of the answers, so this is post-processing of an adaptive composition.
//!    With `Within` the *next event* may depend on the answers too, which the theorems of
//!    [`crate::account::filter`] allow, and no others.
//! 4. [`Session::settle`] checks that the plan was carried out and attaches the certificate. After the
//!    first draw the whole plan is spent: [`Session::abort`] gives a certificate that says so.
//!
//! Never readable, whatever a session does: the linear term b of objective perturbation and AMP, the
//! intermediate iterates of `psgd`, samples and orders of records, and runs under [`Event::Selected`]:
//! no mechanism returns them as [`Noisy`].

use super::plan_position::PlanPosition;
use super::walk::{Next, RunningWalk, Walk};
use super::{Certificate, LedgerEntry, Purse, PurseError, Release, Statement};
use crate::account::{AccountError, Event, Filter, Tally};
use crate::mechanism::shares::{NoiseMode, Participants, PartyChannel};
use crate::noise::{NoiseError, Origin, SampleKey, Source};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reason for which the gate released nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// The recorded events are not the planned ones. Nothing is released; the noise drawn so far is
    /// spent.
    #[error("the noise drawn is not the noise planned; nothing was released")]
    NotAsPlanned,
    /// A noisy value of another session was passed in.
    #[error("a noised value of another computation was handed in; nothing was released")]
    Foreign,
    /// A solver's certificate does not reach the tolerance that the theorem needs.
    #[error("the solver's certificate does not meet the planned tolerance; nothing was released")]
    NotCertified,
    /// A value has the wrong number of coordinates, or one that is not finite.
    #[error("a value to be noised is not a finite vector of the planned length")]
    Malformed,
    /// One of several runs, of which only the best may be shown, was about to be released.
    #[error("one of several runs of which only the best is shown cannot be let out by itself")]
    Hidden,
    /// The query on the records failed, or the run was stopped.
    #[error("the records could not be asked; nothing was released")]
    Unanswered,
    /// A mechanism without a protocol for several parties was run among them.
    #[error("this noise cannot be added among parties: sums under Gaussian noise alone can")]
    Alone,
    /// The other parties or servers did not complete the round; the noise drawn so far is spent.
    #[error("the round among the parties was not completed: {0}")]
    PartyChannel(String),
    /// The keeper of the budget refused.
    #[error(transparent)]
    Purse(#[from] PurseError),
    /// The noise could not be drawn.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// The accountant refused the events.
    #[error(transparent)]
    Account(#[from] AccountError),
}

/// The budget of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spend {
    /// These events, in this order, and no others.
    Exactly(Event),
    /// Any events that a filter admits, each chosen after the answers before it.
    Within(Filter),
}

/// A noisy value, not yet released. [`Session::settle`] or [`Session::emit`] releases it; until then it
/// can only be passed to a [`Walk`], so it cannot be printed either.
pub struct Noisy<T> {
    value: T,
    session: u64,
}

impl<T> fmt::Debug for Noisy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Noisy(withheld until settled)")
    }
}

impl<T> Noisy<T> {
    /// Post-processing by a plain function.
    pub fn map<U>(self, function: fn(T) -> U) -> Noisy<U> {
        Noisy { value: function(self.value), session: self.session }
    }
}

impl Noisy<Vec<f64>> {
    /// Splits the values into rows of `length` numbers, a public length; the last row may be shorter.
    pub fn rows_of(self, length: usize) -> Noisy<Vec<Vec<f64>>> {
        let rows = self.value.chunks(length.max(1)).map(<[f64]>::to_vec).collect();
        Noisy { value: rows, session: self.session }
    }
}

static NEXT: AtomicU64 = AtomicU64::new(1);

/// Owns the randomness of one computation, charges every draw before it is made, and opens the gate if
/// the charged events are the planned ones.
pub struct Session<'a> {
    number: u64,
    spend: Spend,
    progress: Progress,
    source: &'a mut dyn Source,
    sample_key: Option<SampleKey>,
    purse: Option<&'a mut dyn Purse>,
    /// Initial data of the session's walk, until it begins.
    walk: Option<serde_json::Value>,
    /// True for one of several runs, which may release nothing ([`super::select`]).
    hidden: bool,
    /// True if any noise is reproducible (fixed seed): then nothing is claimed of the whole.
    repeatable: bool,
    /// Identifier of the state that the session was resumed from.
    state_id: Option<String>,
    /// Number of draws made before the session was resumed; `None` if it was not.
    taken_up_after: Option<u64>,
    /// True if a certificate of the whole was released.
    certified: bool,
    /// The ledger entry of this spending, from the resumed state or the caller.
    entered: Option<LedgerEntry>,
    /// The other holders of records, and the channel to them.
    together: Option<(Participants, &'a dyn PartyChannel)>,
}

/// Progress of a session.
pub(super) enum Progress {
    /// Planned events: the position in the plan, and the number of charged draws.
    Planned { course: PlanPosition, draws: u64 },
    /// Events under a filter; the charged ones are run-length encoded.
    Filtered { tally: Tally, charged: Vec<(u32, Event)>, draws: u64 },
}

impl<'a> Session<'a> {
    /// Starts a computation that executes `planned`, without a purse.
    pub fn start(planned: Event, source: &'a mut dyn Source) -> Self {
        Self::new(Spend::Exactly(planned), source, None)
    }

    /// As [`Session::start`], for a walk that begins from `start`: plain data of the plan.
    pub fn start_walking(
        planned: Event,
        start: serde_json::Value,
        source: &'a mut dyn Source,
    ) -> Self {
        Self { walk: Some(start), ..Self::start(planned, source) }
    }

    /// Reserves `spend` with the purse and starts.
    pub fn open(
        spend: Spend,
        source: &'a mut dyn Source,
        purse: &'a mut dyn Purse,
    ) -> Result<Self, GateError> {
        if let Spend::Within(filter) = &spend {
            filter.check()?;
        }
        purse.reserve(&spend)?;
        Ok(Self::new(spend, source, Some(purse)))
    }

    /// As [`Session::open`], for a walk that begins from `start`: plain data of the plan.
    pub fn open_walking(
        spend: Spend,
        start: serde_json::Value,
        source: &'a mut dyn Source,
        purse: &'a mut dyn Purse,
    ) -> Result<Self, GateError> {
        Ok(Self { walk: Some(start), ..Self::open(spend, source, purse)? })
    }

    /// Lends the session to `work`, which queries the records, and settles its result. Refused if `work`
    /// left another session in its place.
    pub fn carry_out<T, E: From<GateError>>(
        mut self,
        statement: Statement,
        work: impl FnOnce(&mut Self) -> Result<Noisy<T>, E>,
    ) -> Result<Release<T>, E> {
        let number = self.number;
        let noisy = work(&mut self)?;
        if self.number != number {
            return Err(GateError::Foreign.into());
        }
        Ok(self.settle(noisy, statement)?)
    }

    fn new(spend: Spend, source: &'a mut dyn Source, purse: Option<&'a mut dyn Purse>) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let progress = match &spend {
            Spend::Exactly(planned) => {
                Progress::Planned { course: PlanPosition::of(planned), draws: 0 }
            }
            Spend::Within(_) => {
                Progress::Filtered { tally: Tally::default(), charged: Vec::new(), draws: 0 }
            }
        };
        Self {
            number,
            spend,
            progress,
            source,
            sample_key: None,
            purse,
            walk: None,
            hidden: false,
            repeatable: false,
            state_id: None,
            taken_up_after: None,
            certified: false,
            entered: None,
            together: None,
        }
    }

    /// Makes the session a distributed one: all servers add noise, and mechanisms without a proof for
    /// that are refused.
    pub fn distributed_among(
        mut self,
        among: Participants,
        together: &'a dyn PartyChannel,
    ) -> Self {
        self.together = Some((among, together));
        self
    }

    /// True if other parties hold records too.
    pub(crate) fn is_together(&self) -> bool {
        self.together.is_some()
    }

    /// The protocol by which the servers draw the noise; the default without other parties.
    pub(crate) fn noise_mode(&self) -> NoiseMode {
        self.together.map(|(among, _)| among.noise).unwrap_or_default()
    }

    /// The number of records that this party declared; `None` without other parties, and where one
    /// process holds all of them.
    pub fn declared_rows(&self) -> Option<u64> {
        self.together.and_then(|(_, together)| together.declared_rows())
    }

    /// Charges a leaf whose noise the servers add, and lends the randomness for the shares.
    pub(crate) fn charge_together(
        &mut self,
        leaf: Event,
    ) -> Result<(Participants, &'a dyn PartyChannel, &mut dyn Source), GateError> {
        let (among, together) = self.together.ok_or(GateError::Alone)?;
        self.repeatable |= together.origin() == Origin::FixedSeed;
        Ok((among, together, self.charge_leaf(leaf)?))
    }

    /// The session of one of several runs, which releases nothing.
    pub(super) fn hidden_run(
        planned: Event,
        walk: Option<serde_json::Value>,
        source: &'a mut dyn Source,
    ) -> Self {
        Self { hidden: true, walk, ..Self::start(planned, source) }
    }

    /// A noisy value of this run, for its score; it stays inside the run.
    pub(super) fn within_run<'n, T>(&self, noisy: &'n Noisy<T>) -> Result<&'n T, GateError> {
        match (self.hidden, noisy.session == self.number) {
            (true, true) => Ok(&noisy.value),
            _ => Err(GateError::Foreign),
        }
    }

    /// The noisy value of the run with this number, once the run has carried out its whole plan.
    pub(super) fn hidden_outcome<T>(self, number: u64, noisy: Noisy<T>) -> Result<T, GateError> {
        let complete =
            matches!(&self.progress, Progress::Planned { course, .. } if course.complete());
        if self.number != number || !complete {
            return Err(GateError::NotAsPlanned);
        }
        self.unwrap_own(noisy)
    }

    /// Begins the walk that the session was opened with; once.
    pub fn begin<W: Walk>(&mut self) -> Result<RunningWalk<W>, GateError> {
        let start = self.walk.take().ok_or(GateError::NotAsPlanned)?;
        let start = serde_json::from_value(start).map_err(|_| GateError::Malformed)?;
        Ok(RunningWalk { walk: W::begin(start), session: self.number })
    }

    /// Resumes a session on a budget reserved before.
    pub(super) fn taken_up(
        spend: Spend,
        source: &'a mut dyn Source,
        purse: &'a mut dyn Purse,
        (id, repeatable, certified): (String, bool, bool),
        entered: Option<LedgerEntry>,
    ) -> Self {
        let state_id = Some(id);
        Self { repeatable, state_id, certified, entered, ..Self::new(spend, source, Some(purse)) }
    }

    /// Attaches the ledger entry in which the whole budget was spent before the session was opened.
    pub fn entered_in(mut self, entered: Option<LedgerEntry>) -> Self {
        self.entered = entered;
        self
    }

    /// The ledger entry of this session's spending.
    pub(super) fn ledger_entry(&self) -> Option<LedgerEntry> {
        let told = self.purse.as_ref().and_then(|purse| purse.ledger_entry());
        told.or_else(|| self.entered.clone())
    }

    pub(super) fn certified(&self) -> bool {
        self.certified
    }

    pub(super) fn is_hidden(&self) -> bool {
        self.hidden
    }

    pub(super) fn state_id(&self) -> Option<&str> {
        self.state_id.as_deref()
    }

    /// Marks a resumed session: all draws so far were made before it was resumed.
    pub(super) fn goes_on_from_here(&mut self) {
        self.taken_up_after = Some(self.draws());
    }

    /// True if the session was resumed and has drawn nothing since.
    pub(crate) fn just_taken_up(&self) -> bool {
        self.taken_up_after == Some(self.draws())
    }

    pub(super) fn progress_mut(&mut self) -> &mut Progress {
        &mut self.progress
    }

    /// The parts that are kept when the session is suspended.
    pub(super) fn into_rest(self) -> (Spend, Progress, bool, Option<&'a mut dyn Purse>) {
        (self.spend, self.progress, self.repeatable, self.purse)
    }

    /// True if any noise was drawn: from then on the budget is spent, whatever happens.
    pub fn has_spent(&self) -> bool {
        self.draws() > 0
    }

    /// The number of charged draws.
    pub fn draws(&self) -> u64 {
        match &self.progress {
            Progress::Planned { draws, .. } | Progress::Filtered { draws, .. } => *draws,
        }
    }

    /// The session's budget.
    pub fn spend(&self) -> &Spend {
        &self.spend
    }

    /// Charges a leaf and lends the randomness for exactly that draw. Refused, with nothing drawn, if
    /// the leaf is not the plan's next one or does not fit the filter.
    pub(crate) fn charge(&mut self, leaf: Event) -> Result<&mut dyn Source, GateError> {
        if self.is_together() {
            return Err(GateError::Alone);
        }
        self.charge_leaf(leaf)
    }

    fn charge_leaf(&mut self, leaf: Event) -> Result<&mut dyn Source, GateError> {
        let index = self.draws();
        match (&mut self.progress, &self.spend) {
            (Progress::Planned { course, draws }, _) => {
                if !course.advance(&leaf) {
                    return Err(GateError::NotAsPlanned);
                }
                *draws += 1;
            }
            (Progress::Filtered { tally, charged, draws }, Spend::Within(filter)) => {
                *tally = filter.admit(tally, &leaf)?;
                *draws += 1;
                match charged.last_mut() {
                    Some((count, last)) if *last == leaf && *count < u32::MAX => *count += 1,
                    _ => charged.push((1, leaf)),
                }
            }
            (Progress::Filtered { .. }, Spend::Exactly(_)) => return Err(GateError::NotAsPlanned),
        }
        if let Some(purse) = &mut self.purse {
            purse.drawn(index)?;
        }
        let repeatable = self.source.origin() == Origin::FixedSeed;
        // A certificate released before the noise became reproducible does not cover this draw.
        self.certified &= self.repeatable || !repeatable;
        self.repeatable |= repeatable;
        Ok(self.source)
    }

    /// Index, from 0, of the next draw of this leaf, if it is the plan's next leaf: a mechanism of
    /// several draws checks that its own index agrees.
    pub(crate) fn place_in(&self, leaf: &Event) -> Option<u64> {
        match &self.progress {
            Progress::Planned { course, .. } if course.next() == Some(leaf) => {
                Some(course.draws_completed())
            }
            _ => None,
        }
    }

    /// Counts draws that were made before: in the resumed state, or in a process that ended before it
    /// could keep their answers.
    pub(super) fn forfeit(&mut self, count: u64) -> Result<(), GateError> {
        for _ in 0..count {
            let Progress::Planned { course, draws } = &mut self.progress else {
                return Err(GateError::NotAsPlanned);
            };
            // More draws may have been committed at once than are planned: then all of them count as
            // made.
            let Some(next) = course.next().cloned() else { break };
            course.advance(&next);
            *draws += 1;
        }
        Ok(())
    }

    /// The randomness, for a further draw that an event charged before already covers.
    pub(crate) fn source(&mut self) -> &mut dyn Source {
        self.source
    }

    /// The secret key under which this session samples records, drawn at the first use.
    pub(crate) fn sample_key(&mut self) -> &SampleKey {
        let source = &mut self.source;
        self.sample_key.get_or_insert_with(|| SampleKey::draw(&mut **source))
    }

    /// A number that identifies this session.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Marks a value as a noisy value of this session.
    pub(crate) fn mark_noisy<T>(&self, value: T) -> Noisy<T> {
        Noisy { value, session: self.number }
    }

    /// Returns the inner value if it belongs to this session.
    fn unwrap_own<T>(&self, noisy: Noisy<T>) -> Result<T, GateError> {
        if noisy.session == self.number { Ok(noisy.value) } else { Err(GateError::Foreign) }
    }

    /// Combines several noisy values into one.
    pub fn gather<T>(&self, parts: Vec<Noisy<T>>) -> Result<Noisy<Vec<T>>, GateError> {
        let values =
            parts.into_iter().map(|part| self.unwrap_own(part)).collect::<Result<_, _>>()?;
        Ok(self.mark_noisy(values))
    }

    /// Runs a walk until it has something to release (`Some`) or ends (`None`). `respond` answers its
    /// queries from the records, and can return only noisy values of this session.
    pub fn walk<W: Walk, E: From<GateError>>(
        &mut self,
        walking: &mut RunningWalk<W>,
        mut respond: impl FnMut(&W::Query, &mut Self) -> Result<Noisy<W::Answer>, E>,
    ) -> Result<Option<Noisy<W::Artefact>>, E> {
        if walking.session != self.number {
            return Err(GateError::Foreign.into());
        }
        let mut answer = None;
        loop {
            match walking.walk.next(answer.take()) {
                Next::Ask(query) => {
                    let noisy = respond(&query, self)?;
                    answer = Some(self.unwrap_own(noisy)?);
                }
                Next::Release(artefact) => return Ok(Some(self.mark_noisy(artefact))),
                Next::End => return Ok(None),
            }
        }
    }

    /// Opens the gate: checks that exactly the planned events were charged and attaches the certificate,
    /// which states the guarantee that the accountant proves for them. With a fixed seed nothing is
    /// proved, and the certificate says so.
    pub fn settle<T>(
        mut self,
        noisy: Noisy<T>,
        statement: Statement,
    ) -> Result<Release<T>, GateError> {
        let release = self.conclude(noisy, statement)?;
        if let Some(purse) = &mut self.purse {
            purse.record_settlement(release.certificate())?;
        }
        Ok(release)
    }

    /// As [`Session::settle`], for a session that is suspended once more: the purse is notified later,
    /// when the release is written.
    pub fn conclude<T>(
        &mut self,
        noisy: Noisy<T>,
        statement: Statement,
    ) -> Result<Release<T>, GateError> {
        if let Progress::Planned { course, .. } = &self.progress
            && !course.complete()
        {
            return Err(GateError::NotAsPlanned);
        }
        self.emit(noisy, statement)
    }

    /// Releases one of several values, and the session continues. The certificate claims the budget of
    /// the *whole* session: one release spends all of it.
    pub fn emit<T>(
        &mut self,
        noisy: Noisy<T>,
        statement: Statement,
    ) -> Result<Release<T>, GateError> {
        let value = self.unwrap_own(noisy)?;
        self.repeatable |= self.source.origin() == Origin::FixedSeed;
        let certificate = self.certificate(statement)?;
        self.certified = true;
        Ok(Release::new(value, certificate))
    }

    /// One of very many releases of a stream, under the certificate released before ([`Session::emit`]):
    /// it claims the whole session, this release included. Refused if there is no such certificate.
    pub fn open_covered<'n, T>(&self, noisy: &'n Noisy<T>) -> Result<&'n T, GateError> {
        if self.hidden {
            return Err(GateError::Hidden);
        }
        match (noisy.session == self.number, self.certified) {
            (false, _) => Err(GateError::Foreign),
            (true, false) => Err(GateError::NotAsPlanned),
            (true, true) => Ok(&noisy.value),
        }
    }

    /// Ends a session early. If anything was drawn, the certificate states that the whole plan is spent.
    /// If nothing was, the reservation is void.
    pub fn abort(mut self, mut statement: Statement) -> Result<Option<Certificate>, GateError> {
        let spent = self.has_spent();
        if !spent {
            if let Some(purse) = &mut self.purse {
                purse.void("aborted before the first draw")?;
            }
            return Ok(None);
        }
        statement.notes.push(super::ENDED_EARLY.into());
        let certificate = self.certificate(statement)?;
        if let Some(purse) = &mut self.purse {
            purse.record_settlement(&certificate)?;
        }
        Ok(Some(certificate))
    }

    fn certificate(&self, statement: Statement) -> Result<Certificate, GateError> {
        if self.hidden {
            return Err(GateError::Hidden);
        }
        let origin = if self.repeatable { Origin::FixedSeed } else { self.source.origin() };
        // A release of this session is visible to everyone.
        statement.claim.for_everyone()?;
        let mut certificate = match (&self.spend, &self.progress) {
            (Spend::Exactly(planned), _) => Certificate::new(planned.clone(), origin, statement)?,
            (Spend::Within(filter), Progress::Filtered { charged, .. }) => {
                let repeated = |(count, event): &(u32, Event)| match count {
                    1 => event.clone(),
                    count => Event::Repeat { count: *count, event: Box::new(event.clone()) },
                };
                let events = Event::All(charged.iter().map(repeated).collect());
                Certificate::within(*filter, events, origin, statement)?
            }
            (Spend::Within(_), Progress::Planned { .. }) => return Err(GateError::NotAsPlanned),
        };
        certificate.ledger = self.ledger_entry();
        Ok(certificate)
    }
}
