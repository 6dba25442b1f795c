//! A live stream: a session that receives records as they arrive.
//!
//! The session is opened and its certificate made before the first record arrives; from then on every
//! step makes a draw of it, and everything is released under that certificate, which claims the whole
//! stream. After the last step nothing more is released.
//!
//! **Suspending.** Where a [`Journal`] commits draws, a stream can be suspended ([`Live::suspend`]) and
//! resumed by another process ([`SuspendedStream::resume`]). Its releases are in the written state; its
//! secret state is included sealed under a key, or left out, and then sums begin anew from there, with
//! more noise ([`privet_dp::continual::Running::begin_anew`]). Steps that a process lost count as made:
//! their slots are skipped, and no second answer is drawn for any of them. A state is used once. **Where**
//! a stream is suspended must not depend on records, only on numbers of slots: neighbouring streams
//! must be cut at the same slot, or else the terms of other records before the cut would distinguish
//! them. This is the caller's responsibility.

use super::learners::SecretState;
use super::stream_walk::StreamWalk;
use super::{Stream, Streamed};
use crate::release::plan::plan;
use crate::{LearnError, Plan, Released, Request};
use privet_data::Dataset;
use privet_dp::continual::StateKey;
use privet_dp::gate::{
    GateError, Journal, LedgerEntry, Noisy, PurseError, RunningWalk, Session, Spend, Suspended,
};
use privet_dp::noise::Source;
use serde::{Deserialize, Serialize};

/// A running stream.
pub struct Live<'a, T: Streamed> {
    plan: Plan<T>,
    session: Session<'a>,
    walk: RunningWalk<StreamWalk>,
    hidden: Box<dyn SecretState>,
    taken: u32,
    /// Number of steps whose answers a process lost, still to be skipped.
    lost: u32,
    /// True until the walk has been notified that sums begin anew.
    anew: bool,
    generation: u64,
    latest: Option<Noisy<Stream>>,
    /// Newest release when the stream was resumed.
    before: Option<Vec<f64>>,
}

impl<T: Streamed> std::fmt::Debug for Live<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Live({} steps left)", self.steps_left())
    }
}

/// A suspended stream, as serialised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct SuspendedStream<T: Streamed> {
    format: String,
    request: Request<T>,
    session: Suspended<StreamWalk>,
    /// Secret state, sealed under a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sealed: Option<String>,
}

/// Format identifier of serialised states.
const FORMAT: &str = "privet-online-1";

fn not_put_aside() -> LearnError {
    LearnError::NotCovered {
        what: "only streams whose noise is correlated by buffers can be put aside".into(),
        instead: "give method ftrl or counts, with factor buffered",
    }
}

impl<'a, T: Streamed> Live<'a, T> {
    /// Opens the session; nothing is drawn yet. Also returns the certificate of the whole stream, with
    /// an empty release.
    pub fn begin(
        plan: &Plan<T>,
        source: &'a mut dyn Source,
    ) -> Result<(Self, Released<T>), LearnError> {
        let events = plan.events().cloned().ok_or(GateError::NotAsPlanned)?;
        let (start, hidden) = T::learner(plan)?;
        Self::open_stream(plan, Session::start_walking(events, start, source), hidden)
    }

    /// Refuses a plan whose stream cannot be suspended, before anything is paid.
    pub fn can_be_put_aside(plan: &Plan<T>) -> Result<(), LearnError> {
        let (_, mut hidden) = T::learner(plan)?;
        let can =
            hidden.steps().and_then(Option::as_mut).is_some_and(|steps| steps.can_be_put_aside());
        if can { Ok(()) } else { Err(not_put_aside()) }
    }

    /// As [`Self::begin`], with a new journal in which every draw is committed before it is made, so
    /// that the stream can be suspended.
    pub fn begin_kept(
        plan: &Plan<T>,
        source: &'a mut dyn Source,
        journal: &'a mut Journal,
    ) -> Result<(Self, Released<T>), LearnError> {
        Self::can_be_put_aside(plan)?;
        let events = plan.events().cloned().ok_or(GateError::NotAsPlanned)?;
        let (start, hidden) = T::learner(plan)?;
        let spend = Spend::Exactly(events);
        Self::open_stream(plan, Session::open_walking(spend, start, source, journal)?, hidden)
    }

    fn open_stream(
        plan: &Plan<T>,
        mut session: Session<'a>,
        hidden: Box<dyn SecretState>,
    ) -> Result<(Self, Released<T>), LearnError> {
        session = session.entered_in(plan.ledger_entry().cloned());
        let walk = session.begin::<StreamWalk>()?;
        let (plan, latest) = (plan.clone(), None);
        let (taken, lost, anew, generation) = (0, 0, false, 0);
        let before = None;
        let mut live =
            Self { plan, session, walk, hidden, taken, lost, anew, generation, latest, before };
        // The walk begins with an empty release.
        live.latest = live
            .session
            .walk(&mut live.walk, |_, _| Err(LearnError::from(GateError::NotAsPlanned)))?;
        let released = live.released()?.ok_or(GateError::NotAsPlanned)?;
        Ok((live, released))
    }

    /// The plan of the stream.
    pub fn plan(&self) -> &Plan<T> {
        &self.plan
    }

    /// Newest release when the stream was resumed, for predicting the first records that arrive now.
    pub fn taken_up_with(&self) -> Option<&[f64]> {
        self.before.as_deref()
    }

    /// Number of steps left.
    pub fn steps_left(&self) -> u32 {
        T::batch_and_steps(self.plan.facts()).1.saturating_sub(self.taken).saturating_sub(self.lost)
    }

    /// Number of records of a step.
    pub fn batch(&self) -> usize {
        T::batch_and_steps(self.plan.facts()).0 as usize
    }

    /// Makes steps from these records, a batch each, the last of which may be short; passes every
    /// release to `release` with the number of its step. Refuses records that do not fit the plan,
    /// before any of them is used; ignores records beyond the last step.
    ///
    /// Returns the number of records used.
    pub fn take(
        &mut self,
        data: &Dataset,
        mut release: impl FnMut(u32, &[f64]) -> Result<(), LearnError>,
    ) -> Result<usize, LearnError> {
        let slots = T::slots(self.plan.facts(), data)?;
        self.catch_up()?;
        let mut row = 0;
        while row < slots.len() && self.steps_left() > 0 {
            let rows = row..(row + self.batch()).min(slots.len());
            row = rows.end;
            let hidden = &mut self.hidden;
            let released = self.session.walk(&mut self.walk, |theta, session| {
                hidden.step(&slots, rows.clone(), theta, session)
            })?;
            self.taken += 1;
            let released = released.ok_or(GateError::NotAsPlanned)?;
            release(self.taken, self.session.open_covered(&released)?.last().unwrap_or_default())?;
            self.latest = Some(released);
        }
        Ok(row)
    }

    /// Notifies the walk of what happened since it was suspended: sums that begin anew, and lost steps.
    fn catch_up(&mut self) -> Result<(), LearnError> {
        if self.lost == 0 && !self.anew {
            return Ok(());
        }
        let Self { hidden, taken, lost, anew, .. } = self;
        let told = self.session.walk(&mut self.walk, |_, session| {
            let steps = hidden.steps().and_then(Option::as_mut).ok_or(GateError::NotAsPlanned)?;
            if std::mem::take(anew) {
                return Ok(steps.tell_anew(session));
            }
            // All is reported: the query is made again when a record arrives.
            *lost = lost.checked_sub(1).ok_or(GateError::Unanswered)?;
            *taken += 1;
            Ok::<_, LearnError>(steps.pass_over(session)?)
        });
        match told {
            Ok(None) | Err(LearnError::Gate(GateError::Unanswered)) => Ok(()),
            Ok(Some(_)) => Err(GateError::NotAsPlanned.into()),
            Err(error) => Err(error),
        }
    }

    /// The newest release with its certificate, for a file; `None` if there is none since the last call.
    pub fn released(&mut self) -> Result<Option<Released<T>>, LearnError> {
        let Some(latest) = self.latest.take() else { return Ok(None) };
        let claim = *self.plan.guarantee().ok_or(GateError::NotAsPlanned)?;
        let release = self.session.emit(latest, self.plan.statement(claim)?)?;
        Released::from_release(release).map(Some)
    }

    /// Suspends the stream; its secret state is sealed under the key, or left out without one. Only for
    /// a stream begun with a journal.
    pub fn suspend(mut self, key: Option<&StateKey>) -> Result<SuspendedStream<T>, LearnError> {
        self.catch_up()?;
        let steps = self.hidden.steps().and_then(Option::take).ok_or_else(not_put_aside)?;
        let session = self.session.suspend(self.walk, self.generation)?;
        let context = context(&session, self.taken);
        let sealed = key.map(|key| steps.seal(key, &context)).transpose()?;
        let request = self.plan.request().clone();
        Ok(SuspendedStream { format: FORMAT.into(), request, session, sealed })
    }
}

fn context(session: &Suspended<StreamWalk>, taken: u32) -> String {
    format!("{} after step {taken}", session.id())
}

impl<T: Streamed> SuspendedStream<T> {
    /// Ledger entry of the stream's spending; `None` if no ledger is kept.
    pub fn ledger_entry(&self) -> Option<&LedgerEntry> {
        self.session.ledger_entry()
    }

    /// Reads a suspended stream from JSON.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let state: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if state.format != FORMAT {
            return Err(format!("accepted is the format {FORMAT}"));
        }
        Ok(state)
    }

    /// Request of the stream.
    pub fn request(&self) -> &Request<T> {
        &self.request
    }

    /// True if the secret state is included, sealed under a key.
    pub fn is_sealed(&self) -> bool {
        self.sealed.is_some()
    }

    /// Resumes the stream. `keep` replaces the written state by the given one. A sealed state without a
    /// key is refused; without a sealed state, sums begin anew.
    pub fn resume<'a>(
        self,
        key: Option<&StateKey>,
        source: &'a mut dyn Source,
        journal: &'a mut Journal,
        keep: impl FnOnce(&Self) -> Result<(), LearnError>,
    ) -> Result<Live<'a, T>, LearnError> {
        let plan = plan(&self.request)?;
        let planned = plan.events().cloned().map(Spend::Exactly);
        if plan.request() != &self.request || Some(self.session.spend()) != planned.as_ref() {
            return Err(GateError::NotAsPlanned.into());
        }
        let (_, mut hidden) = T::learner(&plan)?;
        // One draw a step.
        let taken = u32::try_from(self.session.draws()).map_err(|_| GateError::Malformed)?;
        let place = hidden.steps().ok_or_else(not_put_aside)?;
        let steps = place.take().ok_or_else(not_put_aside)?;
        *place = Some(match (&self.sealed, key) {
            (Some(sealed), Some(key)) => {
                steps.unseal(key, &context(&self.session, taken), sealed)?
            }
            (Some(_), None) => {
                return Err(LearnError::NotCovered {
                    what: "the state is sealed under a key, and none is given".into(),
                    instead: "give the key file that it was put aside with",
                });
            }
            (None, _) => steps.after(taken)?,
        });
        let anew = self.sealed.is_none() && taken > 0;
        let walk = self.session.walk();
        let before = (walk.taken > 0).then(|| walk.theta.clone());
        let Self { format, request, session, sealed } = self;
        let generation = session.generation().saturating_add(1);
        let kept = |session: &Suspended<StreamWalk>| {
            let (format, request) = (format.clone(), request.clone());
            let next = Self { format, request, session: session.clone(), sealed: sealed.clone() };
            keep(&next).map_err(|error| PurseError::NotKept(error.to_string()))
        };
        let (session, walk) = session.resume(source, journal, kept)?;
        let lost = u32::try_from(session.draws()).map_err(|_| GateError::Malformed)? - taken;
        let latest = None;
        Ok(Live { plan, session, walk, hidden, taken, lost, anew, generation, latest, before })
    }
}
