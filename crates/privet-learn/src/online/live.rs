//! A stream that is handed records as they come.
//!
//! The session is opened and its certificate made before the first record is at hand; from then on every step takes
//! a draw of it, and every model goes out under that certificate, which claims the whole stream. After the last step
//! nothing more is released, whatever comes.

use super::method::Hidden;
use super::walk::Following;
use super::{Stream, Streamed};
use crate::LearnError;
use crate::plan::Plan;
use crate::released::Released;
use privet_data::Dataset;
use privet_dp::gate::{GateError, Noised, Session, Walking};
use privet_dp::noise::Source;

/// A stream under way.
pub struct Live<'a, T: Streamed> {
    plan: Plan<T>,
    session: Session<'a>,
    walk: Walking<Following>,
    hidden: Box<dyn Hidden>,
    taken: u32,
    latest: Option<Noised<Stream>>,
}

impl<T: Streamed> std::fmt::Debug for Live<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Live({} steps left)", self.left())
    }
}

impl<'a, T: Streamed> Live<'a, T> {
    /// Opens the session; nothing is drawn yet. What comes back beside it is the certificate of the whole
    /// stream, with nothing released in it.
    pub fn begin(
        plan: &Plan<T>,
        source: &'a mut dyn Source,
    ) -> Result<(Self, Released<T>), LearnError> {
        let events = plan.events().cloned().ok_or(GateError::NotAsPlanned)?;
        let (start, hidden) = T::learner(plan)?;
        let mut session = Session::start_walking(events, start, source);
        let walk = session.begin::<Following>()?;
        let mut live = Self { plan: plan.clone(), session, walk, hidden, taken: 0, latest: None };
        // The walk begins with a release of nothing.
        live.latest = live.session.walk(&mut live.walk, |_, _| {
            Err(LearnError::from(GateError::NotAsPlanned))
        })?;
        let released = live.released()?.ok_or(GateError::NotAsPlanned)?;
        Ok((live, released))
    }

    /// How many steps are left.
    pub fn left(&self) -> u32 {
        T::pace(self.plan.facts()).1.saturating_sub(self.taken)
    }

    /// How many records make a step.
    pub fn batch(&self) -> usize {
        T::pace(self.plan.facts()).0 as usize
    }

    /// Takes steps from these records, a batch each, the last of which may be short; hands every release to
    /// `release` as it comes, with the number of its step. Refused, before any of them is used, where they are
    /// no records of the plan; records beyond the last step are left alone.
    ///
    /// Gives back how many records were taken.
    pub fn take(
        &mut self,
        data: &Dataset,
        mut release: impl FnMut(u32, &[f64]) -> Result<(), LearnError>,
    ) -> Result<usize, LearnError> {
        let slots = T::slots(self.plan.facts(), data)?;
        let mut row = 0;
        while row < slots.len() && self.left() > 0 {
            let rows = row..(row + self.batch()).min(slots.len());
            row = rows.end;
            let hidden = &mut self.hidden;
            let released = self.session.walk(&mut self.walk, |theta, session| {
                hidden.step(&slots, rows.clone(), theta, session)
            })?;
            self.taken += 1;
            let released = released.ok_or(GateError::NotAsPlanned)?;
            release(self.taken, self.session.covered(&released)?.last().unwrap_or_default())?;
            self.latest = Some(released);
        }
        Ok(row)
    }

    /// The newest release with its certificate, for a file; `None` if there is none since the last call.
    pub fn released(&mut self) -> Result<Option<Released<T>>, LearnError> {
        let Some(latest) = self.latest.take() else { return Ok(None) };
        let claim = *self.plan.guarantee().ok_or(GateError::NotAsPlanned)?;
        let release = self.session.emit(latest, self.plan.statement(claim)?)?;
        Released::from_release(release).map(Some)
    }
}
