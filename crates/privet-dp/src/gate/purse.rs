//! What a session tells whoever keeps the budget: before, during and after.
//!
//! Order: reserve (durably) → read and validate records → commit each draw → draw → settle. A refusal
//! before the first draw voids the reservation; from the first draw on it is spent, whatever happens. So a
//! crash can waste budget, never hide spending.

use super::{Certificate, Entered, Spend};
use privet_core::Whose;

/// Why a purse refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PurseError {
    /// It would be more than is left.
    #[error("the budget does not allow it: {0}")]
    Refused(String),
    /// This state was used before: another draw from it would be a second answer that nobody charged.
    #[error(
        "state and journal do not fit: the session went on from here before, or the journal is an older \
             copy (generation {seen} there, {generation} in the state); take the newest of both"
    )]
    Stale {
        /// Of the state.
        generation: u64,
        /// The newest that was committed.
        seen: u64,
    },
    /// Somebody else holds it.
    #[error("{0} is in use by another process")]
    InUse(String),
    /// It could not be written, so nothing may be drawn.
    #[error("what is to be spent could not be written down: {0}")]
    NotKept(String),
}

impl PurseError {
    /// Nobody keeps account, so that nothing can be put aside.
    pub(super) fn nobody() -> Self {
        Self::Refused("a session is put aside and taken up with a journal or a ledger only".into())
    }
}

/// Keeps account of what sessions spend. `()` keeps none, and lets no session be put aside.
pub trait Purse {
    /// Is told who a unit is of whatever is reserved next; refused where that is set aside for another already. Whoever
    /// keeps no limit on users has no use for it.
    fn spent_on(&mut self, _whose: &Whose) -> Result<(), PurseError> {
        Ok(())
    }

    /// Sets aside all that may be spent, durably, before anything is drawn.
    fn reserve(&mut self, spend: &Spend) -> Result<(), PurseError>;

    /// Commits, durably, that draw number `index` (from 0) is about to be made.
    fn drawn(&mut self, index: u64) -> Result<(), PurseError>;

    /// Remembers, durably, the digest of a state of this generation before it is written down anywhere. There
    /// may be several: any of them may be the one on disk when a process ends.
    fn put_aside(&mut self, generation: u64, digest: &str) -> Result<(), PurseError>;

    /// Refuses a state that was gone on from before, that is of another session, or that was never put aside.
    /// Commits nothing.
    fn fresh(
        &self,
        spend: &Spend,
        generation: u64,
        draws: u64,
        digest: &str,
    ) -> Result<(), PurseError>;

    /// Commits, durably, that a session goes on from its state of this generation. Gives back how many draws
    /// were committed: one more than the state knows of means that an answer was lost.
    fn resumed(&mut self, generation: u64) -> Result<u64, PurseError>;

    /// All that was reserved is spent, and the release is made, with this certificate.
    fn settled(&mut self, certificate: &Certificate) -> Result<(), PurseError>;

    /// Nothing was drawn: what was reserved is free again. `reason` is a word, never a value.
    fn void(&mut self, reason: &'static str) -> Result<(), PurseError>;

    /// Where in a ledger this spending is written down, which certificates then state; `None` where there is
    /// no ledger.
    fn entered(&self) -> Option<Entered> {
        None
    }
}

impl Purse for () {
    fn reserve(&mut self, _spend: &Spend) -> Result<(), PurseError> {
        Ok(())
    }
    fn drawn(&mut self, _index: u64) -> Result<(), PurseError> {
        Ok(())
    }
    /// A state that was copied or made up could not be told from the one that was put aside.
    fn put_aside(&mut self, _generation: u64, _digest: &str) -> Result<(), PurseError> {
        Err(PurseError::nobody())
    }
    fn fresh(&self, _: &Spend, _: u64, _: u64, _: &str) -> Result<(), PurseError> {
        Err(PurseError::nobody())
    }
    fn resumed(&mut self, _generation: u64) -> Result<u64, PurseError> {
        Err(PurseError::nobody())
    }
    fn settled(&mut self, _certificate: &Certificate) -> Result<(), PurseError> {
        Ok(())
    }
    fn void(&mut self, _reason: &'static str) -> Result<(), PurseError> {
        Ok(())
    }
}
