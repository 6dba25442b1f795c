//! The interface between a session and the keeper of its budget: before, during and after.
//!
//! Order: reserve (durably) → read and validate records → commit each draw → draw → settle. A refusal
//! before the first draw voids the reservation; from the first draw on it is spent, whatever happens. So a
//! crash can waste budget, never hide spending.

use super::{Certificate, LedgerEntry, Spend};
use privet_core::UnitDefinition;

/// Reason for a purse's refusal.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PurseError {
    /// It would exceed the remaining budget.
    #[error("the budget does not allow it: {0}")]
    Refused(String),
    /// This state was used before: another draw from it would be a second answer without a charge.
    #[error(
        "state and journal do not fit: the session went on from here before, or the journal is an older \
             copy (generation {seen} there, {generation} in the state); take the newest of both"
    )]
    Stale {
        /// The state's generation.
        generation: u64,
        /// The newest committed generation.
        seen: u64,
    },
    /// Another process holds it.
    #[error("{0} is in use by another process")]
    InUse(String),
    /// It could not be written, so nothing may be drawn.
    #[error("what is to be spent could not be written down: {0}")]
    NotKept(String),
}

impl PurseError {
    /// Without a purse nothing can be suspended.
    pub(super) fn without_purse() -> Self {
        Self::Refused("a session is put aside and taken up with a journal or a ledger only".into())
    }
}

/// Records the spending of sessions. `()` keeps no record, and suspends no session.
pub trait Purse {
    /// Receives the definition of a unit for all later reservations; refuses if the budget belongs to
    /// another definition. A purse without limits on users ignores it.
    fn spent_on(&mut self, _whose: &UnitDefinition) -> Result<(), PurseError> {
        Ok(())
    }

    /// Reserves the whole budget, durably, before anything is drawn.
    fn reserve(&mut self, spend: &Spend) -> Result<(), PurseError>;

    /// Commits, durably, draw number `index` (from 0) before it is made.
    fn drawn(&mut self, index: u64) -> Result<(), PurseError>;

    /// Records, durably, the digest of a state of this generation before it is written down anywhere.
    /// There may be several: any of them may be the one on disk when a process ends.
    fn put_aside(&mut self, generation: u64, digest: &str) -> Result<(), PurseError>;

    /// Refuses a state that was resumed before, that belongs to another session, or that was never
    /// suspended. Commits nothing.
    fn check_resumable(
        &self,
        spend: &Spend,
        generation: u64,
        draws: u64,
        digest: &str,
    ) -> Result<(), PurseError>;

    /// Commits, durably, that a session resumes its state of this generation. Returns the number of
    /// committed draws: one more than the state counts means that an answer was lost.
    fn record_resumption(&mut self, generation: u64) -> Result<u64, PurseError>;

    /// Records that the whole reservation is spent, and the release made, with this certificate.
    fn record_settlement(&mut self, certificate: &Certificate) -> Result<(), PurseError>;

    /// Frees the reservation, as nothing was drawn. `reason` is a word, never a value.
    fn void(&mut self, reason: &'static str) -> Result<(), PurseError>;

    /// The ledger entry of this spending, which certificates then state; `None` if there is no ledger.
    fn ledger_entry(&self) -> Option<LedgerEntry> {
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
    /// Refuses: a copied or forged state could not be told from the suspended one.
    fn put_aside(&mut self, _generation: u64, _digest: &str) -> Result<(), PurseError> {
        Err(PurseError::without_purse())
    }
    fn check_resumable(&self, _: &Spend, _: u64, _: u64, _: &str) -> Result<(), PurseError> {
        Err(PurseError::without_purse())
    }
    fn record_resumption(&mut self, _generation: u64) -> Result<u64, PurseError> {
        Err(PurseError::without_purse())
    }
    fn record_settlement(&mut self, _certificate: &Certificate) -> Result<(), PurseError> {
        Ok(())
    }
    fn void(&mut self, _reason: &'static str) -> Result<(), PurseError> {
        Ok(())
    }
}
