//! Sessions that are put aside and taken up again, by another process if need be.
//!
//! A [`Suspended`] is what a session knows: what may be spent, how far it is, and its walk. All of it is
//! public once the session's answers are: it holds noised answers and public numbers, no records and no
//! randomness. The process that takes it up draws from a source of its own.
//!
//! **Single use.** Two processes that go on from one state would each draw an answer, and only one of
//! them would be charged. So a state has a generation, and [`Suspended::resume`] first commits, through the
//! [`Purse`], that this generation is gone on from: durably, under a lock, in a place that is not the state.
//! One that was gone on from before is refused. The next generation is kept first, so that a process that
//! ends between the two loses nothing. Every draw is committed before it is made; where more draws
//! were committed than the state knows of, their answers were lost with a process, and they count as made.
//! Without a purse ([`()`]) a copied state cannot be told from its original.

use super::session::Progress;
use super::walk::Walking;
use super::{GateError, Purse, PurseError, Session, Spend, Walk};
use crate::account::{Event, Tally};
use crate::noise::Source;
use serde::{Deserialize, Serialize};

/// A session that was put aside, with its walk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspended<W> {
    /// How often it was put aside.
    pub generation: u64,
    /// What may be spent in all.
    pub spend: Spend,
    /// How many draws were made.
    pub draws: u64,
    /// Under a filter: what was charged, each with how often in a row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub charged: Vec<(u32, Event)>,
    /// The learner's half.
    walk: W,
}

impl Session<'_> {
    /// Puts the session aside, to be written down and taken up later. Generation 0 is the first.
    pub fn suspend<W: Walk>(
        self,
        walking: Walking<W>,
        generation: u64,
    ) -> Result<Suspended<W>, GateError> {
        if walking.session != self.number() {
            return Err(GateError::Foreign);
        }
        let (spend, progress) = self.into_progress();
        let (draws, charged) = match progress {
            Progress::Planned { draws, .. } => (draws, Vec::new()),
            Progress::Filtered { draws, charged, .. } => (draws, charged),
        };
        Ok(Suspended { generation, spend, draws, charged, walk: walking.walk })
    }
}

impl<W: Walk> Suspended<W> {
    /// Takes the session up where it was put aside. `keep` writes the next generation of the same state down
    /// in place of this one, whole or not at all; then this one is committed as gone on from.
    pub fn resume<'a>(
        mut self,
        source: &'a mut dyn Source,
        purse: &'a mut dyn Purse,
        keep: impl FnOnce(&Self) -> Result<(), PurseError>,
    ) -> Result<(Session<'a>, Walking<W>), GateError> {
        let generation = self.generation;
        purse.fresh(&self.spend, generation, self.draws)?;
        self.generation = generation.checked_add(1).ok_or(GateError::NotAsPlanned)?;
        keep(&self)?;
        let committed = purse.resumed(&self.spend, generation, self.draws)?;
        let lost = committed.checked_sub(self.draws).ok_or(GateError::NotAsPlanned)?;
        let mut session = Session::taken_up(self.spend, source, purse);
        match session.progress_mut() {
            // Which leaves they were follows from the plan.
            Progress::Planned { .. } => session.forfeit(committed)?,
            Progress::Filtered { .. } => {
                for (count, event) in self.charged {
                    session.admit_again(count, event)?;
                }
                if lost > 0 {
                    // What was asked, and so what it cost, is not known: nothing more may be asked.
                    return Err(GateError::NotAsPlanned);
                }
            }
        }
        let number = session.number();
        Ok((session, Walking { walk: self.walk, session: number }))
    }
}

impl Session<'_> {
    /// Charges again what a state says was charged.
    fn admit_again(&mut self, count: u32, event: Event) -> Result<(), GateError> {
        let Spend::Within(filter) = *self.spend() else { return Err(GateError::NotAsPlanned) };
        let Progress::Filtered { tally, charged, draws } = self.progress_mut() else {
            return Err(GateError::NotAsPlanned);
        };
        let mut after: Tally = *tally;
        for _ in 0..count {
            after = filter.admit(&after, &event)?;
        }
        (*tally, *draws) = (after, *draws + u64::from(count));
        charged.push((count, event));
        Ok(())
    }
}
