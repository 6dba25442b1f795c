//! Replays the entries: the state of every data set and of every reservation.
//!
//! ```text
//!              ┌─► void
//!  reserved ───┤
//!              └─► drawn ─► settled
//! ```
//!
//! A reservation counts against the limit from its entry on, until it is void; one left open by a crash
//! goes on counting. Once drawn it is spent for good. [`Books::take`] refuses an entry that does not
//! follow the one before, states less than the price of its events, or makes a data set exceed its
//! limit: nothing is spent from such a ledger.

use crate::LedgerError;
use crate::entry::{
    Entry, EntryContent, FORMAT, ImportedRelease, NO_PREDECESSOR, PriceBasis, PricedBudget,
    Reserved, Stored,
};
use crate::exact::Exact;
use crate::limit::Limit;
use privet_core::UnitDefinition;
use privet_dp::account::{self, AccountError, Event, Guarantee};
use privet_dp::gate::{LedgerEntry, Spend};
use std::collections::{BTreeMap, HashMap};

/// State of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Its price counts; nothing was drawn.
    Reserved,
    /// Noise was about to be drawn: it is spent.
    Drawn,
    /// Spent, and the release was made.
    Settled,
    /// Cancelled before noise was drawn: its price no longer counts.
    Void,
}

impl State {
    /// Returns the state in one word, as exports have it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Drawn => "drawn",
            Self::Settled => "settled",
            Self::Void => "void",
        }
    }
}

/// A reservation: the budget of one session.
#[derive(Debug, Clone)]
pub struct Reservation {
    /// The number of the entry that made it.
    pub sequence: u64,
    /// Name of the data set.
    pub dataset: String,
    /// Its price, in the quantities of the data set's limit.
    pub price: Exact,
    /// Its state.
    pub state: State,
    /// Basis of the price: events, claim or the whole limit.
    pub charged: PriceBasis,
    /// The (ε, δ) that its release will claim.
    pub claim: Option<Guarantee>,
    /// Unit of the release: records, or users by a column; `NotSaid` if no entry states it.
    pub whose: UnitDefinition,
    /// The action, in a word or two: verb and method.
    pub doing: String,
    /// Purpose, in free text.
    pub purpose: String,
    /// Time of the entry, by its writer's clock.
    pub at: String,
    /// User name of the writer.
    pub who: String,
    /// SHA-256 of its certificate, once it is settled with one.
    pub certificate: Option<String>,
}

/// State of a data set.
#[derive(Debug, Clone)]
pub struct Account {
    /// Limit on all its releases together.
    pub limit: Limit,
    /// Unit of the data set: records, or users by a column; `NotSaid` while no entry states it.
    pub whose: UnitDefinition,
    /// True if the unit was set by the first release that counts, not at the opening.
    whose_by_release: bool,
    /// Price of every reservation that is not void, and of imports.
    pub spent: Exact,
    /// The number of releases that count.
    pub releases: u64,
    /// True if one release took the whole limit.
    pub whole: bool,
    /// Time of its opening.
    pub at: String,
    /// Purpose, in free text.
    pub purpose: String,
    /// The number of the entry that opened it.
    pub sequence: u64,
    /// Spending imported from other ledgers, keyed by the hash of each reservation there or, as 0.2.0
    /// wrote it, by the first entry of a branch.
    pub imported: BTreeMap<String, Imported>,
    /// Data sets that its table shared rows with when it was opened as a new one.
    pub shares_rows_with: Vec<String>,
}

/// Spending imported from another ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Of a branch imported as a whole: its last entry, and that entry's hash.
    pub until: Option<(u64, String)>,
    /// Its price, in the quantities of the limit here.
    pub price: Exact,
    /// The number of releases.
    pub releases: u64,
}

impl Account {
    /// Sets or compares the unit before a release counts; false if it differs from the unit of what
    /// counts already. Entries from before 0.2.1 may state no unit: a release that states one does not
    /// match them.
    fn counts_for(&mut self, whose: &UnitDefinition) -> bool {
        let whose = whose.clone().of(self.limit.filter.unit);
        if !self.whose.is_said() && whose.is_said() && self.releases == 0 {
            (self.whose, self.whose_by_release) = (whose.clone(), true);
        }
        self.whose == whose
    }

    /// Clears a unit that only a void release had set.
    fn forget_unit(&mut self) {
        if self.releases == 0 && self.whose_by_release {
            (self.whose, self.whose_by_release) = (UnitDefinition::NotSaid, false);
        }
    }

    /// Counts spending of another ledger. An entry imported before counts once, at the larger of both
    /// prices.
    fn take_in(&mut self, entry: &str, taken: Imported) {
        let earlier = self.imported.remove(entry).unwrap_or_default();
        let now = Imported {
            until: taken.until,
            price: taken.price.max(&earlier.price),
            releases: taken.releases.max(earlier.releases),
        };
        self.spent = self.spent.minus(&earlier.price).and(&now.price);
        self.releases = self.releases.saturating_sub(earlier.releases).saturating_add(now.releases);
        self.imported.insert(entry.into(), now);
    }

    /// True if a further release of this price stays within the limit.
    pub fn allows(&self, price: &Exact) -> bool {
        !self.whole && self.spent.and(price).is_within(&self.limit.exact(), price)
    }

    /// The share of the limit that is spent.
    pub fn share(&self) -> f64 {
        let spent = self.spent.share(&self.limit.exact());
        if self.whole { 1.0 + spent } else { spent }
    }

    /// The ε proved for everything spent, at the limit's δ. Infinite if none is proved: something was
    /// imported beside a release that took the whole limit.
    pub fn proved_epsilon(&self) -> f64 {
        match (self.whole, self.spent.is_nothing()) {
            (true, true) => self.limit.epsilon,
            (true, false) => f64::INFINITY,
            (false, _) => self.limit.proved_epsilon(&self.spent),
        }
    }
}

/// State of a ledger, computed from its entries alone.
#[derive(Debug, Clone, Default)]
pub struct Books {
    ledger: String,
    sequence: u64,
    hash: String,
    /// The newest time stated, and the entries at which the clock went back.
    clock: String,
    backwards: Vec<u64>,
    accounts: BTreeMap<String, Account>,
    held: BTreeMap<u64, Reservation>,
    /// Prices computed before, by data set, basis and text of what is spent.
    prices: HashMap<(String, PriceBasis, String), Exact>,
}

/// Message for an entry of another unit than the data set's.
const OTHER_UNIT: &str = "its unit is not who the limit is for";
/// Maximum number of prices kept in memory.
const MOST_CACHED_PRICES: usize = 4096;

impl Books {
    /// The ledger's identifier, 128 random bits in hexadecimal.
    pub fn ledger(&self) -> &str {
        &self.ledger
    }

    /// Number and hash of the newest entry.
    pub fn head(&self) -> LedgerEntry {
        let (ledger, hash) = (self.ledger.clone(), self.hash.clone());
        LedgerEntry { ledger, sequence: self.sequence, hash }
    }

    /// The number of entries.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The hash that the next entry must state as its predecessor's.
    pub(crate) fn previous(&self) -> &str {
        if self.sequence == 0 { NO_PREDECESSOR } else { &self.hash }
    }

    /// The data sets, by name.
    pub fn accounts(&self) -> &BTreeMap<String, Account> {
        &self.accounts
    }

    /// The reservations, by the number of their entry.
    pub fn reservations(&self) -> &BTreeMap<u64, Reservation> {
        &self.held
    }

    /// Numbers of the entries whose clock is behind an earlier one. No check depends on clocks.
    pub fn backwards(&self) -> &[u64] {
        &self.backwards
    }

    /// Returns a data set; an unknown name is an error that lists the known ones.
    pub fn account(&self, name: &str) -> Result<&Account, LedgerError> {
        self.accounts.get(name).ok_or_else(|| {
            let known = match self.accounts.is_empty() {
                true => "none".to_string(),
                false => self
                    .accounts
                    .keys()
                    .map(|name| privet_core::printable(name).into_owned())
                    .collect::<Vec<_>>()
                    .join(", "),
            };
            LedgerError::NoDataSet { name: name.into(), known }
        })
    }

    /// Applies the next entry, or refuses it.
    pub fn take(&mut self, stored: &Stored) -> Result<(), LedgerError> {
        let expected = self.sequence + 1;
        let broken = |why: String| LedgerError::Broken { sequence: stored.sequence, why };
        if stored.sequence != expected {
            let sequence = expected.min(stored.sequence);
            return Err(LedgerError::Broken {
                sequence,
                why: "it is missing, or there twice".into(),
            });
        }
        let entry = Entry::read(stored)?;
        if entry.previous != self.previous() {
            return Err(broken("it does not follow the entry before, which was changed".into()));
        }
        self.apply(&entry)?;
        if entry.at < self.clock {
            self.backwards.push(entry.sequence);
        } else {
            self.clock = entry.at;
        }
        self.sequence = stored.sequence;
        self.hash.clone_from(&stored.hash);
        Ok(())
    }

    /// Refuses an entry that [`Self::take`] would refuse, by applying it to a copy of the accounts it
    /// touches.
    pub(crate) fn check_entry(&mut self, stored: &Stored) -> Result<(), LedgerError> {
        let what = Entry::read(stored)?.what;
        let of = match &what {
            EntryContent::Drawn { reservation }
            | EntryContent::Settled { reservation, .. }
            | EntryContent::Void { reservation, .. } => self.held.get(reservation).cloned(),
            _ => None,
        };
        let named = match &what {
            EntryContent::Opened { dataset, .. }
            | EntryContent::Unit { dataset, .. }
            | EntryContent::Seen { dataset }
            | EntryContent::Imported { dataset, .. }
            | EntryContent::Reserved(Reserved { dataset, .. }) => Some(dataset),
            _ => of.as_ref().map(|held| &held.dataset),
        };
        let known = named.and_then(|name| self.accounts.get_key_value(name));
        let mut copy = Self {
            ledger: self.ledger.clone(),
            sequence: self.sequence,
            hash: self.hash.clone(),
            accounts: known
                .map(|(name, account)| (name.clone(), account.clone()))
                .into_iter()
                .collect(),
            held: of.map(|held| (held.sequence, held)).into_iter().collect(),
            prices: std::mem::take(&mut self.prices),
            ..Self::default()
        };
        let taken = copy.take(stored);
        self.prices = copy.prices;
        taken.map_err(|error| match error {
            LedgerError::Broken { sequence, why } => {
                LedgerError::State { sequence, why: format!("it is not written, since {why}") }
            }
            error => error,
        })
    }

    fn apply(&mut self, entry: &Entry) -> Result<(), LedgerError> {
        let broken = |why: &str| LedgerError::Broken { sequence: entry.sequence, why: why.into() };
        match (&entry.what, entry.sequence) {
            (EntryContent::Began { ledger, format }, 1) => {
                if format != FORMAT {
                    return Err(LedgerError::Version { found: format.clone() });
                }
                self.ledger.clone_from(ledger);
            }
            (EntryContent::Began { .. }, _) | (_, 1) => {
                return Err(broken("only the first entry begins a ledger"));
            }
            (
                EntryContent::Opened { dataset, limit, whose, purpose, shares_rows_with },
                sequence,
            ) => {
                if !limit.holds() {
                    return Err(broken("its filter does not prove the limit that it states"));
                }
                let account = Account {
                    limit: *limit,
                    whose: whose.clone().of(limit.filter.unit),
                    whose_by_release: false,
                    spent: Exact::default(),
                    releases: 0,
                    whole: false,
                    at: entry.at.clone(),
                    purpose: purpose.clone(),
                    sequence,
                    imported: BTreeMap::new(),
                    shares_rows_with: shares_rows_with.clone(),
                };
                if self.accounts.insert(dataset.clone(), account).is_some() {
                    return Err(broken("it opens a data set that was open already"));
                }
            }
            (EntryContent::Unit { dataset, whose }, _) => {
                let account = self
                    .accounts
                    .get_mut(dataset)
                    .ok_or_else(|| broken("it names a data set that was not opened"))?;
                if account.whose.is_said() || whose.goes_without_saying() {
                    return Err(broken("it says who a unit is, which is known, or says nobody"));
                }
                account.whose = whose.clone();
            }
            (EntryContent::Seen { dataset }, _) => {
                if !self.accounts.contains_key(dataset) {
                    return Err(broken("it names a data set that was not opened"));
                }
            }
            (EntryContent::Reserved(reserved), _) => self.reserve(entry, reserved)?,
            (EntryContent::Drawn { reservation }, _) => {
                self.step(entry, *reservation, &[State::Reserved], State::Drawn)?;
            }
            (EntryContent::Settled { reservation, certificate }, _) => {
                self.step(entry, *reservation, &[State::Drawn], State::Settled)?;
                if let Some(held) = self.held.get_mut(reservation) {
                    held.certificate.clone_from(certificate);
                }
            }
            (EntryContent::Void { reservation, .. }, _) => {
                self.step(entry, *reservation, &[State::Reserved], State::Void)?;
                let held = &self.held[reservation];
                if let Some(account) = self.accounts.get_mut(&held.dataset) {
                    account.spent = account.spent.minus(&held.price);
                    account.releases = account.releases.saturating_sub(1);
                    account.whole &= held.charged != PriceBasis::Whole;
                    account.forget_unit();
                }
            }
            (
                EntryContent::Imported {
                    branch,
                    sequence,
                    hash,
                    dataset,
                    whose,
                    price,
                    releases,
                    each,
                },
                _,
            ) => {
                let account = self
                    .accounts
                    .get_mut(dataset)
                    .ok_or_else(|| broken("it names a data set that was not opened"))?;
                if !account.counts_for(whose) {
                    return Err(broken(OTHER_UNIT));
                }
                if each.is_empty() {
                    // A later import of the same branch replaces the earlier one: its entries only grow.
                    let until = Some((*sequence, hash.clone()));
                    let (price, releases) = (*price, *releases);
                    account.take_in(branch, Imported { until, price, releases });
                }
                let sum = each.iter().fold(Exact::default(), |sum, one| sum.and(&one.price));
                let count = each.iter().fold(0_u64, |sum, one| sum.saturating_add(one.releases));
                if !each.is_empty() && (sum != *price || count != *releases) {
                    return Err(broken("its parts do not add up to what it states"));
                }
                for ImportedRelease { entry, price, releases } in each {
                    let (price, releases) = (*price, *releases);
                    account.take_in(entry, Imported { until: None, price, releases });
                }
            }
        }
        Ok(())
    }

    fn reserve(&mut self, entry: &Entry, reserved: &Reserved) -> Result<(), LedgerError> {
        let broken = |why: String| LedgerError::Broken { sequence: entry.sequence, why };
        let price = self.price_again(reserved).map_err(broken)?;
        let Some(account) = self.accounts.get_mut(&reserved.dataset) else {
            return Err(broken("it names a data set that was not opened".into()));
        };
        if !account.counts_for(&reserved.whose) {
            return Err(broken(OTHER_UNIT.into()));
        }
        match reserved.charged {
            PriceBasis::Whole => {
                // There was no earlier release, so the choice of this rule depends on no answer.
                let claim = reserved.claim.filter(|claim| claim_within(claim, &account.limit));
                if account.releases > 0 || account.whole || claim.is_none() {
                    return Err(broken("it takes the whole limit, of which it may not".into()));
                }
                account.whole = true;
            }
            PriceBasis::Events | PriceBasis::Claim if account.allows(&price) => {
                account.spent = account.spent.and(&price);
            }
            PriceBasis::Events | PriceBasis::Claim => {
                return Err(broken("with it the limit is exceeded".into()));
            }
        }
        account.releases = account.releases.saturating_add(1);
        let held = Reservation {
            sequence: entry.sequence,
            dataset: reserved.dataset.clone(),
            price,
            state: State::Reserved,
            charged: reserved.charged,
            claim: reserved.claim,
            whose: reserved.whose.clone().of(account.limit.filter.unit),
            doing: reserved.doing.clone(),
            purpose: reserved.purpose.clone(),
            at: entry.at.clone(),
            who: entry.who.clone(),
            certificate: None,
        };
        self.held.insert(entry.sequence, held);
        Ok(())
    }

    /// Computes and keeps a price before the transaction that needs it. An error is met again there.
    pub(crate) fn remember_price(&mut self, reserved: &Reserved) {
        let _ = self.price_again(reserved);
    }

    /// Recomputes the price of a reservation; the result is at least the price stated.
    fn price_again(&mut self, reserved: &Reserved) -> Result<Exact, String> {
        let Some(account) = self.accounts.get(&reserved.dataset) else {
            return Err("it names a data set that was not opened".into());
        };
        let text = match reserved.charged {
            PriceBasis::Events => reserved.spend.get().to_string(),
            PriceBasis::Claim | PriceBasis::Whole => format!("{:?}", reserved.claim),
        };
        let key = (reserved.dataset.clone(), reserved.charged, text);
        let found = match self.prices.get(&key) {
            Some(price) => *price,
            None => {
                let spend = reserved.spend().map_err(|error| error.to_string())?;
                let found =
                    price(&account.limit, &spend, reserved.claim.as_ref(), reserved.charged);
                let found = found.map_err(|error| error.to_string())?;
                let found = found.ok_or("its events have no price under the limit's filter")?;
                if self.prices.len() < MOST_CACHED_PRICES {
                    self.prices.insert(key, found);
                }
                found
            }
        };
        // Another platform's arithmetic may differ in the last digits.
        let (stated, again) = (reserved.price.spent_quantity(), found.spent_quantity());
        if stated < again * (1.0 - 1e-9) {
            return Err("it states less than its events cost".into());
        }
        Ok(found.max(&reserved.price))
    }

    fn step(
        &mut self,
        entry: &Entry,
        reservation: u64,
        from: &[State],
        to: State,
    ) -> Result<(), LedgerError> {
        let broken = |why: String| LedgerError::Broken { sequence: entry.sequence, why };
        let held = self.held.get_mut(&reservation);
        let held = held.ok_or_else(|| broken(format!("entry {reservation} reserved nothing")))?;
        if !from.contains(&held.state) {
            let (number, word) = (reservation, held.state.word());
            return Err(broken(format!("entry {number} is {word}, and cannot be {}", to.word())));
        }
        held.state = to;
        Ok(())
    }
}

/// True if a claim is within a limit, with the same neighbours and unit.
pub(crate) fn claim_within(claim: &Guarantee, limit: &Limit) -> bool {
    claim.epsilon <= limit.epsilon
        && claim.delta <= limit.delta
        && (claim.neighbours, claim.unit) == (limit.filter.neighbours, limit.filter.unit)
}

/// True if the events prove the claim.
pub(crate) fn events_prove(events: &Event, claim: &Guarantee) -> Result<bool, AccountError> {
    let relation = account::relation(events)?;
    let met = if claim.delta == 0.0 {
        account::epsilon(events, 0.0)? <= claim.epsilon
    } else {
        claim.epsilon.is_finite() && account::delta(events, claim.epsilon)? <= claim.delta
    };
    Ok(met && relation == (claim.neighbours, claim.unit))
}

/// Computes a price on the given basis. Does not check that the events prove the claim.
pub(crate) fn price(
    limit: &Limit,
    spend: &Spend,
    claim: Option<&Guarantee>,
    charged: PriceBasis,
) -> Result<Option<Exact>, AccountError> {
    match (charged, PricedBudget::from(spend)) {
        (PriceBasis::Events, PricedBudget::Events(event)) => limit.price(event),
        (PriceBasis::Events, PricedBudget::Filter(filter)) => limit.price_of(filter),
        (PriceBasis::Claim, _) => claim.map_or(Ok(None), |claim| limit.price_of_claim(claim)),
        (PriceBasis::Whole, _) => Ok(Some(Exact::default())),
    }
}
