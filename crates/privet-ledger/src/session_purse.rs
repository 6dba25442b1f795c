//! The purse of one session.

use crate::{Ledger, LedgerError, Note};
use privet_core::UnitDefinition;
use privet_dp::account::Guarantee;
use privet_dp::gate::{Certificate, LedgerEntry, Purse, PurseError, Spend};
use std::borrow::BorrowMut;

/// Request for a budget: the data set and what for.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetRequest {
    /// Name of the data set.
    pub dataset: String,
    /// The action, in a word or two: verb and method.
    pub doing: String,
    /// Writer and purpose.
    pub note: Note,
    /// The (ε, δ) that the release will claim.
    pub claim: Option<Guarantee>,
    /// True if it shall be the only release ever, and may take the whole limit.
    pub whole: bool,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Stage {
    Nothing,
    Reserved,
    Drawn,
    /// The release is made; its entry is still open.
    Made,
    Ended,
}

/// Pays for one session from a ledger. Dropped before the first draw, its reservation is void; dropped
/// later, or killed, it stays spent.
///
/// A release is never lost because its ledger failed: [`Purse::record_settlement`] keeps the certificate, and
/// [`Self::close`] closes the entry once the release is stored, or else the drop does. An entry that
/// cannot be closed stays drawn, and counts as spent.
#[derive(Debug)]
pub struct SessionPurse<L: BorrowMut<Ledger> = Ledger> {
    ledger: L,
    request: BudgetRequest,
    whose: UnitDefinition,
    stage: Stage,
    spend: Option<Spend>,
    reservation: u64,
    entered: Option<LedgerEntry>,
    /// Certificate of the release, until its entry is closed.
    made: Option<Certificate>,
    /// True if dropping this closes the entry.
    closes: bool,
}

impl<L: BorrowMut<Ledger>> SessionPurse<L> {
    /// Creates the purse of one session on an owned or borrowed ledger.
    pub fn new(ledger: L, request: BudgetRequest) -> Self {
        let (stage, spend, reservation, entered) = (Stage::Nothing, None, 0, None);
        let (whose, made, closes) = (UnitDefinition::NotSaid, None, true);
        Self { ledger, request, whose, stage, spend, reservation, entered, made, closes }
    }

    /// Leaves closing to the caller, who first stores the release: if this is dropped before, the entry
    /// stays open.
    pub fn until_closed(mut self) -> Self {
        self.closes = false;
        self
    }

    /// Closes the entry of a release that was stored; does nothing if none was made. If it fails the
    /// release stays valid, and its entry counts as spent.
    pub fn close(&mut self) -> Result<(), LedgerError> {
        let Some(certificate) = self.made.take_if(|_| self.stage == Stage::Made) else {
            return Ok(());
        };
        self.stage = Stage::Ended;
        let (reservation, who) = (self.reservation, self.request.note.who.clone());
        let closed = self.ledger.borrow_mut().settle(reservation, &who, Some(&certificate));
        closed.map(|_| ()).map_err(|why| LedgerError::NotClosed { reservation, why: why.into() })
    }

    /// Reserves the session's budget on disk, before a record is read. A second call must state the same
    /// budget.
    pub fn set_aside(&mut self, spend: &Spend) -> Result<(), LedgerError> {
        match self.stage {
            Stage::Nothing => {
                let entered =
                    self.ledger.borrow_mut().reserve(&self.request, &self.whose, spend)?;
                self.reservation = entered.sequence;
                self.entered = Some(entered);
                (self.stage, self.spend) = (Stage::Reserved, Some(spend.clone()));
                Ok(())
            }
            Stage::Reserved if self.spend.as_ref() == Some(spend) => Ok(()),
            _ => Err(LedgerError::State {
                sequence: self.reservation,
                why: "it was reserved for something else".into(),
            }),
        }
    }

    /// The ledger, for other operations meanwhile.
    pub fn ledger(&mut self) -> &mut Ledger {
        self.ledger.borrow_mut()
    }

    /// The request.
    pub fn request(&self) -> &BudgetRequest {
        &self.request
    }

    /// Sets the (ε, δ) that the release will claim, before the budget is reserved.
    pub fn claim(&mut self, claim: Guarantee) {
        self.request.claim = Some(claim);
    }

    /// Sets the unit, before the budget is reserved: each record, or the user of a schema's `[unit]`.
    pub fn of(&mut self, whose: UnitDefinition) {
        if self.stage == Stage::Nothing {
            self.whose = whose;
        }
    }

    /// True once the budget is reserved.
    pub fn is_set_aside(&self) -> bool {
        self.stage != Stage::Nothing
    }

    /// Spends the whole budget at once: for a stream, whose draws are made by several processes under a
    /// journal of its own. Returns the entry that its certificates state. If the entry cannot be closed
    /// it stays open, and counts as spent.
    pub fn spend_whole(mut self, spend: &Spend) -> Result<LedgerEntry, LedgerError> {
        self.set_aside(spend)?;
        let entered = self.ledger.borrow_mut().draw(self.reservation, &self.request.note.who)?;
        self.stage = Stage::Ended;
        let _ = self.ledger.borrow_mut().settle(self.reservation, &self.request.note.who, None);
        Ok(entered)
    }
}

impl<L: BorrowMut<Ledger>> Purse for SessionPurse<L> {
    fn spent_on(&mut self, whose: &UnitDefinition) -> Result<(), PurseError> {
        // If the plan states no unit, the identifiers' caller may have.
        if !whose.is_said() || self.whose == *whose {
            return Ok(());
        }
        if self.stage != Stage::Nothing {
            return Err(PurseError::Refused(format!(
                "it was reserved for another unit: {}, and this session is about {whose}",
                self.whose
            )));
        }
        self.whose = whose.clone();
        Ok(())
    }

    fn reserve(&mut self, spend: &Spend) -> Result<(), PurseError> {
        Ok(self.set_aside(spend)?)
    }

    fn drawn(&mut self, _index: u64) -> Result<(), PurseError> {
        match self.stage {
            Stage::Reserved => {
                let who = self.request.note.who.clone();
                let drawn = self.ledger.borrow_mut().draw(self.reservation, &who);
                let entered = drawn.map_err(|why| match why.into() {
                    PurseError::NotKept(why) => {
                        PurseError::NotKept(format!("{why}. No noise was drawn"))
                    }
                    why => why,
                })?;
                (self.stage, self.entered) = (Stage::Drawn, Some(entered));
                Ok(())
            }
            // The whole budget is spent from the first draw on.
            Stage::Drawn => Ok(()),
            Stage::Nothing | Stage::Made | Stage::Ended => {
                Err(PurseError::Refused("nothing is reserved for this session".into()))
            }
        }
    }

    fn put_aside(&mut self, _generation: u64, _digest: &str) -> Result<(), PurseError> {
        Err(state_in_journal())
    }

    fn check_resumable(&self, _: &Spend, _: u64, _: u64, _: &str) -> Result<(), PurseError> {
        Err(state_in_journal())
    }

    fn record_resumption(&mut self, _generation: u64) -> Result<u64, PurseError> {
        Err(state_in_journal())
    }

    fn record_settlement(&mut self, certificate: &Certificate) -> Result<(), PurseError> {
        if self.stage != Stage::Drawn {
            return Err(PurseError::Refused("nothing was drawn in this session".into()));
        }
        (self.stage, self.made) = (Stage::Made, Some(certificate.clone()));
        Ok(())
    }

    fn void(&mut self, reason: &'static str) -> Result<(), PurseError> {
        if self.stage == Stage::Reserved {
            self.ledger.borrow_mut().void(self.reservation, &self.request.note.who, reason)?;
        }
        self.stage = Stage::Ended;
        Ok(())
    }

    fn ledger_entry(&self) -> Option<LedgerEntry> {
        self.entered.clone()
    }
}

/// Error of operations on a stream's state: the journal keeps it, and the ledger spent the whole budget
/// at the start.
fn state_in_journal() -> PurseError {
    PurseError::Refused("a ledger keeps no states of sessions: a journal does".into())
}

impl<L: BorrowMut<Ledger>> Drop for SessionPurse<L> {
    fn drop(&mut self) {
        if self.closes {
            let _ = self.close();
        }
        if self.stage == Stage::Reserved {
            // If this fails, the reservation goes on counting.
            let who = self.request.note.who.clone();
            let _ = self.ledger.borrow_mut().void(
                self.reservation,
                &who,
                "refused before the first draw",
            );
        }
    }
}
