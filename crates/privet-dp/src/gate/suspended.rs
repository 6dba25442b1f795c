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
//! Without a purse ([`()`]) a copied state cannot be told from its original; nor can, with one, a state that was copied
//! together with its journal.

use super::seal::to_hex;
use super::session::Progress;
use super::walk::Walking;
use super::{Entered, GateError, Informed, Purse, PurseError, Session, Spend, Walk, sorted};
use crate::account::{Event, Tally};
use crate::noise::{Source, SystemRandom};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A session that was put aside, with its walk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspended<W> {
    /// Tells it from others of the same plan.
    id: String,
    /// How often it was put aside.
    generation: u64,
    /// What may be spent in all.
    spend: Spend,
    /// How many draws were made.
    draws: u64,
    /// Under a filter: what was charged, each with how often in a row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    charged: Vec<(u32, Event)>,
    /// Whether any of the noise can be made again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    repeatable: bool,
    /// Whether a certificate of the whole was let out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    certified: bool,
    /// Where a ledger has all that may be spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entered: Option<Entered>,
    /// The learner's half.
    walk: W,
}

impl<W: Walk> Suspended<W> {
    /// How often it was put aside.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// What may be spent in all.
    pub fn spend(&self) -> &Spend {
        &self.spend
    }

    /// How many draws were made.
    pub fn draws(&self) -> u64 {
        self.draws
    }

    /// Its walk, as far as it is: made of noised answers and public numbers alone.
    pub fn walk(&self) -> &W {
        &self.walk
    }

    /// Tells it from others of the same plan.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where a ledger has all that may be spent; `None` where none was kept.
    pub fn entered(&self) -> Option<&Entered> {
        self.entered.as_ref()
    }

    /// SHA-256 of all that it says, which the purse keeps: only what a session put aside is gone on from.
    fn digest(&self) -> Result<String, GateError> {
        let written = serde_json::to_value(self).map_err(|_| GateError::Malformed)?;
        Ok(to_hex(&Sha256::digest(sorted(&written))))
    }
}

fn new_id() -> Result<String, GateError> {
    let mut source = SystemRandom::new().map_err(GateError::Noise)?;
    Ok(format!("{:016x}{:016x}", source.next_u64(), source.next_u64()))
}

/// Whether the number of draws tells which they were: something that may happen fewer times than planned is
/// followed by nothing else.
fn told_by_number(spend: &Spend) -> bool {
    fn told(event: &Event, last: bool) -> bool {
        match event {
            Event::Use { .. } | Event::Selected { .. } | Event::BestOf { .. } => true,
            Event::All(parts) => {
                let end = parts.len().saturating_sub(1);
                parts.iter().enumerate().all(|(place, part)| told(part, last && place == end))
            }
            Event::Repeat { count, event } => told(event, last && *count <= 1),
            Event::UpTo { event, .. } => last && told(event, false),
        }
    }
    match spend {
        Spend::Exactly(event) => told(event, true),
        // What was charged is in the state.
        Spend::Within(_) => true,
    }
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
        if self.is_hidden() {
            return Err(GateError::Hidden);
        }
        let id = match self.state_id() {
            Some(id) => id.to_string(),
            None => new_id()?,
        };
        let (certified, entered) = (self.certified(), self.entered());
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
        // Without a purse nothing could tell it from one that was made up.
        let purse = purse.ok_or_else(PurseError::nobody)?;
        purse.put_aside(generation, &state.digest()?)?;
        Ok(state)
    }
}

impl<W: Walk> Suspended<W> {
    /// Takes the session up where it was put aside. `keep` writes the next generation of the same state down
    /// in place of this one, whole or not at all; then this one is committed as gone on from.
    pub fn resume<'a>(
        self,
        source: &'a mut dyn Source,
        purse: &'a mut dyn Purse,
        keep: impl FnOnce(&Self) -> Result<(), PurseError>,
    ) -> Result<(Session<'a>, Walking<W>), GateError> {
        self.taken_up(|_| (), source, purse, keep)
    }

    fn taken_up<'a>(
        mut self,
        tell: impl FnOnce(&mut W),
        source: &'a mut dyn Source,
        purse: &'a mut dyn Purse,
        keep: impl FnOnce(&Self) -> Result<(), PurseError>,
    ) -> Result<(Session<'a>, Walking<W>), GateError> {
        let generation = self.generation;
        if !told_by_number(&self.spend) {
            return Err(GateError::NotAsPlanned);
        }
        purse.fresh(&self.spend, generation, self.draws, &self.digest()?)?;
        self.generation = generation.checked_add(1).ok_or(GateError::NotAsPlanned)?;
        tell(&mut self.walk);
        purse.put_aside(self.generation, &self.digest()?)?;
        keep(&self)?;
        let committed = purse.resumed(generation)?;
        let lost = committed.checked_sub(self.draws).ok_or(GateError::NotAsPlanned)?;
        let mut session = Session::taken_up(
            self.spend,
            source,
            purse,
            (self.id, self.repeatable, self.certified),
            self.entered,
        );
        match session.progress_mut() {
            // Which leaves they were follows from the plan and their number.
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
        session.goes_on_from_here();
        let number = session.number();
        Ok((session, Walking { walk: self.walk, session: number }))
    }
}

impl<W: Informed> Suspended<W> {
    /// The same, with news for the walk. They are part of the state that is written down before anything is drawn, so that
    /// a process that ends early leaves a state that knows what it asked.
    pub fn resume_told<'a>(
        self,
        news: W::News,
        source: &'a mut dyn Source,
        purse: &'a mut dyn Purse,
        keep: impl FnOnce(&Self) -> Result<(), PurseError>,
    ) -> Result<(Session<'a>, Walking<W>), GateError> {
        self.taken_up(|walk| walk.told(news), source, purse, keep)
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
