//! The purse of one session.

use crate::{Ledger, LedgerError, Note};
use privet_core::Whose;
use privet_dp::account::Guarantee;
use privet_dp::gate::{Certificate, Entered, Purse, PurseError, Spend};
use std::borrow::BorrowMut;

/// What is asked for, and on which data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The data set's name.
    pub dataset: String,
    /// What is done, in a word or two: the verb and method.
    pub doing: String,
    /// Who and why.
    pub note: Note,
    /// What the release will claim.
    pub claim: Option<Guarantee>,
    /// Whether it is to be the only release ever, and may take the whole limit.
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

/// Pays for one session from a ledger. Dropped before the first draw, what it reserved is void; dropped later, or killed,
/// it stays spent.
///
/// A release that is made is never lost for its ledger's sake: [`Purse::settled`] keeps the certificate, and the entry is
/// closed by [`Self::close`], once the release is where it belongs, or else when this is dropped. An entry that cannot be
/// closed stays drawn, and counts as spent.
#[derive(Debug)]
pub struct Paying<L: BorrowMut<Ledger> = Ledger> {
    ledger: L,
    asked: Asked,
    whose: Whose,
    stage: Stage,
    spend: Option<Spend>,
    reservation: u64,
    entered: Option<Entered>,
    /// Of the release that was made.
    made: Option<Certificate>,
    /// Whether an entry that nobody closed is closed when this is dropped.
    closes: bool,
}

impl<L: BorrowMut<Ledger>> Paying<L> {
    /// From a ledger, its own or a borrowed one.
    pub fn new(ledger: L, asked: Asked) -> Self {
        let (stage, spend, reservation, entered) = (Stage::Nothing, None, 0, None);
        let (whose, made, closes) = (Whose::NotSaid, None, true);
        Self { ledger, asked, whose, stage, spend, reservation, entered, made, closes }
    }

    /// For whoever writes the release down and closes the entry then: dropped before, it stays open.
    pub fn until_closed(mut self) -> Self {
        self.closes = false;
        self
    }

    /// Closes the entry of a release that is where it belongs; nothing where none was made. Where that fails the release
    /// stays what it is, and its entry counts as spent.
    pub fn close(&mut self) -> Result<(), LedgerError> {
        let Some(certificate) = self.made.take_if(|_| self.stage == Stage::Made) else {
            return Ok(());
        };
        self.stage = Stage::Ended;
        let (reservation, who) = (self.reservation, self.asked.note.who.clone());
        let closed = self.ledger.borrow_mut().settle(reservation, &who, Some(&certificate));
        closed.map(|_| ()).map_err(|why| LedgerError::NotClosed { reservation, why: why.into() })
    }

    /// Sets aside what the session will spend, on disk, before a record is read. Once.
    pub fn set_aside(&mut self, spend: &Spend) -> Result<(), LedgerError> {
        match self.stage {
            Stage::Nothing => {
                let entered = self.ledger.borrow_mut().reserve(&self.asked, &self.whose, spend)?;
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

    /// The ledger, for what else is asked of it meanwhile.
    pub fn ledger(&mut self) -> &mut Ledger {
        self.ledger.borrow_mut()
    }

    /// What is asked for.
    pub fn asked(&self) -> &Asked {
        &self.asked
    }

    /// States what the release will claim, before it is reserved.
    pub fn claim(&mut self, claim: Guarantee) {
        self.asked.claim = Some(claim);
    }

    /// States who a unit is, before it is reserved: each record by itself, or whom a schema's `[unit]` says.
    pub fn of(&mut self, whose: Whose) {
        if self.stage == Stage::Nothing {
            self.whose = whose;
        }
    }

    /// Whether it is reserved, or further.
    pub fn is_set_aside(&self) -> bool {
        self.stage != Stage::Nothing
    }

    /// Spends all of it at once: for a stream, whose draws are made by processes that come and go under a journal of
    /// its own. Gives back what its certificates state. An entry that cannot be closed stays open, and counts as spent.
    pub fn spend_whole(mut self, spend: &Spend) -> Result<Entered, LedgerError> {
        self.set_aside(spend)?;
        let entered = self.ledger.borrow_mut().draw(self.reservation, &self.asked.note.who)?;
        self.stage = Stage::Ended;
        let _ = self.ledger.borrow_mut().settle(self.reservation, &self.asked.note.who, None);
        Ok(entered)
    }
}

impl<L: BorrowMut<Ledger>> Purse for Paying<L> {
    fn spent_on(&mut self, whose: &Whose) -> Result<(), PurseError> {
        // What a plan does not say, whoever handed the identifiers over may have said.
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
                let who = self.asked.note.who.clone();
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
            // The whole of it is spent from the first draw on.
            Stage::Drawn => Ok(()),
            Stage::Nothing | Stage::Made | Stage::Ended => {
                Err(PurseError::Refused("nothing is reserved for this session".into()))
            }
        }
    }

    fn put_aside(&mut self, _generation: u64, _digest: &str) -> Result<(), PurseError> {
        Err(elsewhere())
    }

    fn fresh(&self, _: &Spend, _: u64, _: u64, _: &str) -> Result<(), PurseError> {
        Err(elsewhere())
    }

    fn resumed(&mut self, _generation: u64) -> Result<u64, PurseError> {
        Err(elsewhere())
    }

    fn settled(&mut self, certificate: &Certificate) -> Result<(), PurseError> {
        if self.stage != Stage::Drawn {
            return Err(PurseError::Refused("nothing was drawn in this session".into()));
        }
        (self.stage, self.made) = (Stage::Made, Some(certificate.clone()));
        Ok(())
    }

    fn void(&mut self, reason: &'static str) -> Result<(), PurseError> {
        if self.stage == Stage::Reserved {
            self.ledger.borrow_mut().void(self.reservation, &self.asked.note.who, reason)?;
        }
        self.stage = Stage::Ended;
        Ok(())
    }

    fn entered(&self) -> Option<Entered> {
        self.entered.clone()
    }
}

/// A stream's states are in its journal; the ledger has spent all of it at the start.
fn elsewhere() -> PurseError {
    PurseError::Refused("a ledger keeps no states of sessions: a journal does".into())
}

impl<L: BorrowMut<Ledger>> Drop for Paying<L> {
    fn drop(&mut self) {
        if self.closes {
            let _ = self.close();
        }
        if self.stage == Stage::Reserved {
            // Where that fails it goes on counting.
            let who = self.asked.note.who.clone();
            let _ = self.ledger.borrow_mut().void(
                self.reservation,
                &who,
                "refused before the first draw",
            );
        }
    }
}
