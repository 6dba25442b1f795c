//! Suspended sessions, which may be resumed by another process.
//!
//! A [`Suspended`] is the state of a session: its budget, its progress, and its walk. All of it is
//! public once the session's answers are: it holds noisy answers and public numbers, no records and no
//! randomness. The resuming process draws from a source of its own.
//!
//! **Single use.** Two processes that resume one state would each draw an answer, and only one of them
//! would be charged. So a state has a generation, and [`Suspended::resume`] first commits, through the
//! [`Purse`], that this generation is resumed: durably, under a lock, in a place apart from the state. A
//! state that was resumed before is refused. The next generation is kept first, so that a process that
//! ends between the two loses nothing. Every draw is committed before it is made; if more draws were
//! committed than the state counts, their answers were lost with a process, and they count as made.
//! Without a purse ([`()`]) a copied state cannot be told from its original; nor can, with one, a state
//! that was copied together with its journal.

use super::seal::to_hex;
use super::session::Progress;
use super::walk::RunningWalk;
use super::{
    GateError, LedgerEntry, Purse, PurseError, ReceivingWalk, Session, Spend, Walk, sorted,
};
use crate::account::{Event, Tally};
use crate::noise::{Source, SystemRandom};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A suspended session, with its walk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspended<W> {
    /// Identifies it among sessions of the same plan.
    id: String,
    /// The generation: 0 at first, one more after each resumption.
    generation: u64,
    /// The session's whole budget.
    spend: Spend,
    /// The number of draws made.
    draws: u64,
    /// The charged events under a filter, run-length encoded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    charged: Vec<(u32, Event)>,
    /// True if any of the noise is reproducible.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    repeatable: bool,
    /// True if a certificate of the whole was released.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    certified: bool,
    /// The ledger entry of the whole budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entered: Option<LedgerEntry>,
    /// The learner's part of the state.
    walk: W,
}

impl<W: Walk> Suspended<W> {
    /// The generation: 0 at first, one more after each resumption.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The session's whole budget.
    pub fn spend(&self) -> &Spend {
        &self.spend
    }

    /// The number of draws made.
    pub fn draws(&self) -> u64 {
        self.draws
    }

    /// Its walk so far: made of noisy answers and public numbers alone.
    pub fn walk(&self) -> &W {
        &self.walk
    }

    /// Identifies it among sessions of the same plan.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The ledger entry of the whole budget; `None` if no ledger is kept.
    pub fn ledger_entry(&self) -> Option<&LedgerEntry> {
        self.entered.as_ref()
    }

    /// SHA-256 of the whole state, which the purse keeps: only a state that a session suspended can be
    /// resumed.
    fn digest(&self) -> Result<String, GateError> {
        let written = serde_json::to_value(self).map_err(|_| GateError::Malformed)?;
        Ok(to_hex(&Sha256::digest(sorted(&written))))
    }
}

fn new_id() -> Result<String, GateError> {
    let mut source = SystemRandom::new().map_err(GateError::Noise)?;
    Ok(format!("{:016x}{:016x}", source.next_u64(), source.next_u64()))
}

/// True if the number of draws determines which draws they were, that is, if an event that may stop
/// early comes last.
fn told_by_number(spend: &Spend) -> bool {
    fn draws_told(event: &Event, last: bool) -> bool {
        match event {
            Event::Use { .. } | Event::Selected { .. } | Event::BestOf { .. } => true,
            Event::All(parts) => {
                let end = parts.len().saturating_sub(1);
                parts.iter().enumerate().all(|(place, part)| draws_told(part, last && place == end))
            }
            Event::Repeat { count, event } => draws_told(event, last && *count <= 1),
            Event::UpTo { event, .. } => last && draws_told(event, false),
        }
    }
    match spend {
        Spend::Exactly(event) => draws_told(event, true),
        // The state lists the charged events.
        Spend::Within(_) => true,
    }
}

impl Session<'_> {
    /// Suspends the session, to be written down and resumed later. Generation 0 is the first.
    pub fn suspend<W: Walk>(
        self,
        walking: RunningWalk<W>,
        generation: u64,
    ) -> Result<Suspended<W>, GateError> {
        if walking.session != self.number() {
            return Err(GateError::Foreign);
        }
        if self.is_hidden() {
            return Err(GateError::Hidden);
        }
        let id = match self.state_id() {
            Some(id) => id.to_string(),
            None => new_id()?,
        };
        let (certified, entered) = (self.certified(), self.ledger_entry());
        let (spend, progress, repeatable, purse) = self.into_rest();
        if !told_by_number(&spend) {
            return Err(GateError::NotAsPlanned);
        }
        let (draws, charged) = match progress {
            Progress::Planned { draws, .. } => (draws, Vec::new()),
            Progress::Filtered { draws, charged, .. } => (draws, charged),
        };
        let walk = walking.walk;
        let state = Suspended {
            id,
            generation,
            spend,
            draws,
            charged,
            repeatable,
            certified,
            entered,
            walk,
        };
        // Without a purse nothing could distinguish it from a forged state.
        let purse = purse.ok_or_else(PurseError::without_purse)?;
        purse.put_aside(generation, &state.digest()?)?;
        Ok(state)
    }
}

impl<W: Walk> Suspended<W> {
    /// Resumes the session. `keep` writes the next generation of the same state in place of this one,
    /// whole or not at all; then this one is committed as resumed.
    pub fn resume<'a>(
        self,
        source: &'a mut dyn Source,
        purse: &'a mut dyn Purse,
        keep: impl FnOnce(&Self) -> Result<(), PurseError>,
    ) -> Result<(Session<'a>, RunningWalk<W>), GateError> {
        self.taken_up(|_| (), source, purse, keep)
    }

    fn taken_up<'a>(
        mut self,
        tell: impl FnOnce(&mut W),
        source: &'a mut dyn Source,
        purse: &'a mut dyn Purse,
        keep: impl FnOnce(&Self) -> Result<(), PurseError>,
    ) -> Result<(Session<'a>, RunningWalk<W>), GateError> {
        let generation = self.generation;
        if !told_by_number(&self.spend) {
            return Err(GateError::NotAsPlanned);
        }
        purse.check_resumable(&self.spend, generation, self.draws, &self.digest()?)?;
        self.generation = generation.checked_add(1).ok_or(GateError::NotAsPlanned)?;
        tell(&mut self.walk);
        purse.put_aside(self.generation, &self.digest()?)?;
        keep(&self)?;
        let committed = purse.record_resumption(generation)?;
        let lost = committed.checked_sub(self.draws).ok_or(GateError::NotAsPlanned)?;
        let mut session = Session::taken_up(
            self.spend,
            source,
            purse,
            (self.id, self.repeatable, self.certified),
            self.entered,
        );
        match session.progress_mut() {
            // The plan and the number of draws determine their leaves.
            Progress::Planned { .. } => session.forfeit(committed)?,
            Progress::Filtered { .. } => {
                for (count, event) in self.charged {
                    session.admit_again(count, event)?;
                }
                if lost > 0 {
                    // The lost queries and their costs are unknown: no further query is allowed.
                    return Err(GateError::NotAsPlanned);
                }
            }
        }
        session.goes_on_from_here();
        let number = session.number();
        Ok((session, RunningWalk { walk: self.walk, session: number }))
    }
}

impl<W: ReceivingWalk> Suspended<W> {
    /// As [`Suspended::resume`], with public news for the walk. The news is part of the state that is
    /// written down before anything is drawn, so that a process that ends early leaves a state with its
    /// query.
    pub fn resume_told<'a>(
        self,
        news: W::News,
        source: &'a mut dyn Source,
        purse: &'a mut dyn Purse,
        keep: impl FnOnce(&Self) -> Result<(), PurseError>,
    ) -> Result<(Session<'a>, RunningWalk<W>), GateError> {
        self.taken_up(|walk| walk.receive(news), source, purse, keep)
    }
}

impl Session<'_> {
    /// Charges again the events that a state lists as charged.
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
