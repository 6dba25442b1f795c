//! What the entries add up to: the state of every data set and of every reservation.
//!
//! ```text
//!              ┌─► void
//!  reserved ───┤
//!              └─► drawn ─► settled
//! ```
//!
//! A reservation counts from its entry on, until it is void; one that was left by a crash goes on counting. Once it is
//! drawn it is spent for good. [`Books::take`] refuses an entry that does not follow, that states another price than its
//! events have, or with which a data set would exceed its limit: nothing is spent from such a ledger.

use crate::LedgerError;
use crate::entry::{Charged, Entry, FORMAT, NOTHING, Priced, Reserved, Stored, Taken, What};
use crate::exact::Exact;
use crate::limit::Limit;
use privet_core::Whose;
use privet_dp::account::{self, AccountError, Event, Guarantee};
use privet_dp::gate::{Entered, Spend};
use std::collections::{BTreeMap, HashMap};

/// How far a reservation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Set aside; nothing was drawn.
    Reserved,
    /// Noise was about to be drawn: it is spent.
    Drawn,
    /// Spent, and the release was made.
    Settled,
    /// Free again.
    Void,
}

impl State {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Drawn => "drawn",
            Self::Settled => "settled",
            Self::Void => "void",
        }
    }
}

/// A reservation.
#[derive(Debug, Clone)]
pub struct Held {
    /// Its entry.
    pub sequence: u64,
    /// The data set.
    pub dataset: String,
    /// What it costs.
    pub price: Exact,
    /// How far it is.
    pub state: State,
    /// By what it is charged.
    pub charged: Charged,
    /// What it claims.
    pub claim: Option<Guarantee>,
    /// Who a unit is, as far as it was said.
    pub whose: Whose,
    /// What is done.
    pub doing: String,
    /// Why.
    pub purpose: String,
    /// When.
    pub at: String,
    /// Who.
    pub who: String,
    /// SHA-256 of its certificate.
    pub certificate: Option<String>,
}

/// A data set.
#[derive(Debug, Clone)]
pub struct Account {
    /// What may be spent on it.
    pub limit: Limit,
    /// Who a unit is, as far as it was said.
    pub whose: Whose,
    /// Whether the first release that counts said it, rather than whoever opened it.
    whose_by_release: bool,
    /// What counts as spent: all that is not void.
    pub spent: Exact,
    /// How many reservations count.
    pub releases: u64,
    /// Whether one release took the whole limit.
    pub whole: bool,
    /// When it was opened.
    pub at: String,
    /// Why.
    pub purpose: String,
    /// Its entry.
    pub sequence: u64,
    /// What was taken in of other ledgers: by the hash of each reservation there, or, as 0.2.0 did, by the first entry of
    /// a branch.
    pub imported: BTreeMap<String, Imported>,
    /// Data sets with which it shares rows, though it is another.
    pub shares_rows_with: Vec<String>,
}

/// What was taken in of another ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Of a branch as a whole: how far it was, and its hash there.
    pub until: Option<(u64, String)>,
    /// What it had spent.
    pub price: Exact,
    /// How many releases.
    pub releases: u64,
}

impl Account {
    /// Takes down who a unit is of something that is about to count; false where it is another than of what counts
    /// already. Where nobody said it before 0.2.1, nothing that says it fits beside what does not.
    fn counts_for(&mut self, whose: &Whose) -> bool {
        let whose = whose.clone().of(self.limit.filter.unit);
        if !self.whose.is_said() && whose.is_said() && self.releases == 0 {
            (self.whose, self.whose_by_release) = (whose.clone(), true);
        }
        self.whose == whose
    }

    /// Forgets what a release said that no longer counts.
    fn forget_unit(&mut self) {
        if self.releases == 0 && self.whose_by_release {
            (self.whose, self.whose_by_release) = (Whose::NotSaid, false);
        }
    }

    /// Counts what another ledger spent. What is known already counts once, at the larger of both prices.
    fn take_in(&mut self, entry: &str, taken: Imported) {
        let earlier = self.imported.remove(entry).unwrap_or_default();
        let now = Imported {
            until: taken.until,
            price: taken.price.max(&earlier.price),
            releases: taken.releases.max(earlier.releases),
        };
        self.spent = self.spent.less(&earlier.price).and(&now.price);
        self.releases = self.releases.saturating_sub(earlier.releases).saturating_add(now.releases);
        self.imported.insert(entry.into(), now);
    }

    /// Whether something of this price fits.
    pub fn allows(&self, price: &Exact) -> bool {
        !self.whole && self.spent.and(price).within(&self.limit.exact(), price)
    }

    /// Which share of the limit is spent.
    pub fn share(&self) -> f64 {
        let spent = self.spent.share(&self.limit.exact());
        if self.whole { 1.0 + spent } else { spent }
    }

    /// What is proved of all that was spent, at the limit's δ. Infinite where nothing is: something was taken in
    /// beside a release that took the whole limit.
    pub fn proved(&self) -> f64 {
        match (self.whole, self.spent.is_nothing()) {
            (true, true) => self.limit.epsilon,
            (true, false) => f64::INFINITY,
            (false, _) => self.limit.proved(&self.spent),
        }
    }
}

/// The state of a ledger, from its entries alone.
#[derive(Debug, Clone, Default)]
pub struct Books {
    ledger: String,
    sequence: u64,
    hash: String,
    /// The newest clock, and the entries at which it went back.
    clock: String,
    backwards: Vec<u64>,
    accounts: BTreeMap<String, Account>,
    held: BTreeMap<u64, Held>,
    /// Prices that were found before, by the filter's data set and the text of what is spent.
    prices: HashMap<(String, Charged, String), Exact>,
}

/// Why nothing of another unit counts.
const OTHER_UNIT: &str = "its unit is not who the limit is for";
/// How many prices are remembered.
const REMEMBERED: usize = 4096;

impl Books {
    /// Which ledger.
    pub fn ledger(&self) -> &str {
        &self.ledger
    }

    /// The newest entry.
    pub fn head(&self) -> Entered {
        let (ledger, hash) = (self.ledger.clone(), self.hash.clone());
        Entered { ledger, sequence: self.sequence, hash }
    }

    /// How many entries there are.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The hash that the next entry follows.
    pub(crate) fn previous(&self) -> &str {
        if self.sequence == 0 { NOTHING } else { &self.hash }
    }

    /// The data sets, by name.
    pub fn accounts(&self) -> &BTreeMap<String, Account> {
        &self.accounts
    }

    /// The reservations, by entry.
    pub fn held(&self) -> &BTreeMap<u64, Held> {
        &self.held
    }

    /// Entries at which a clock was behind one before. Nothing rests on clocks.
    pub fn backwards(&self) -> &[u64] {
        &self.backwards
    }

    /// A data set.
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

    /// Takes the next entry in.
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

    /// Refuses an entry that [`Self::take`] would refuse: takes it into a copy of what it touches.
    pub(crate) fn admit(&mut self, stored: &Stored) -> Result<(), LedgerError> {
        let what = Entry::read(stored)?.what;
        let of = match &what {
            What::Drawn { reservation }
            | What::Settled { reservation, .. }
            | What::Void { reservation, .. } => self.held.get(reservation).cloned(),
            _ => None,
        };
        let named = match &what {
            What::Opened { dataset, .. }
            | What::Unit { dataset, .. }
            | What::Seen { dataset }
            | What::Imported { dataset, .. }
            | What::Reserved(Reserved { dataset, .. }) => Some(dataset),
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
            (What::Began { ledger, format }, 1) => {
                if format != FORMAT {
                    return Err(LedgerError::Version { found: format.clone() });
                }
                self.ledger.clone_from(ledger);
            }
            (What::Began { .. }, _) | (_, 1) => {
                return Err(broken("only the first entry begins a ledger"));
            }
            (What::Opened { dataset, limit, whose, purpose, shares_rows_with }, sequence) => {
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
            (What::Unit { dataset, whose }, _) => {
                let account = self
                    .accounts
                    .get_mut(dataset)
                    .ok_or_else(|| broken("it names a data set that was not opened"))?;
                if account.whose.is_said() || whose.goes_without_saying() {
                    return Err(broken("it says who a unit is, which is known, or says nobody"));
                }
                account.whose = whose.clone();
            }
            (What::Seen { dataset }, _) => {
                if !self.accounts.contains_key(dataset) {
                    return Err(broken("it names a data set that was not opened"));
                }
            }
            (What::Reserved(reserved), _) => self.reserve(entry, reserved)?,
            (What::Drawn { reservation }, _) => {
                self.step(entry, *reservation, &[State::Reserved], State::Drawn)?;
            }
            (What::Settled { reservation, certificate }, _) => {
                self.step(entry, *reservation, &[State::Drawn], State::Settled)?;
                if let Some(held) = self.held.get_mut(reservation) {
                    held.certificate.clone_from(certificate);
                }
            }
            (What::Void { reservation, .. }, _) => {
                self.step(entry, *reservation, &[State::Reserved], State::Void)?;
                let held = &self.held[reservation];
                if let Some(account) = self.accounts.get_mut(&held.dataset) {
                    account.spent = account.spent.less(&held.price);
                    account.releases = account.releases.saturating_sub(1);
                    account.whole &= held.charged != Charged::Whole;
                    account.forget_unit();
                }
            }
            (
                What::Imported { branch, sequence, hash, dataset, whose, price, releases, each },
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
                    // A later import of the same branch stands for the earlier one: its entries only grow.
                    let until = Some((*sequence, hash.clone()));
                    let (price, releases) = (*price, *releases);
                    account.take_in(branch, Imported { until, price, releases });
                }
                let sum = each.iter().fold(Exact::default(), |sum, one| sum.and(&one.price));
                let count = each.iter().fold(0_u64, |sum, one| sum.saturating_add(one.releases));
                if !each.is_empty() && (sum != *price || count != *releases) {
                    return Err(broken("its parts do not add up to what it states"));
                }
                for Taken { entry, price, releases } in each {
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
            Charged::Whole => {
                // Nothing was ever asked, so that which rule is taken depends on no answer.
                let claim = reserved.claim.filter(|claim| within(claim, &account.limit));
                if account.releases > 0 || account.whole || claim.is_none() {
                    return Err(broken("it takes the whole limit, of which it may not".into()));
                }
                account.whole = true;
            }
            Charged::Events | Charged::Claim if account.allows(&price) => {
                account.spent = account.spent.and(&price);
            }
            Charged::Events | Charged::Claim => {
                return Err(broken("with it the limit is exceeded".into()));
            }
        }
        account.releases = account.releases.saturating_add(1);
        let held = Held {
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

    /// Finds a price before it is needed where others wait. What is wrong with it is found again there.
    pub(crate) fn remember_price(&mut self, reserved: &Reserved) {
        let _ = self.price_again(reserved);
    }

    /// The price of what was reserved, found again; at least what was stated.
    fn price_again(&mut self, reserved: &Reserved) -> Result<Exact, String> {
        let Some(account) = self.accounts.get(&reserved.dataset) else {
            return Err("it names a data set that was not opened".into());
        };
        let text = match reserved.charged {
            Charged::Events => reserved.spend.get().to_string(),
            Charged::Claim | Charged::Whole => format!("{:?}", reserved.claim),
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
                if self.prices.len() < REMEMBERED {
                    self.prices.insert(key, found);
                }
                found
            }
        };
        // Another platform's arithmetic may differ in the last digits.
        let (stated, again) = (reserved.price.spent(), found.spent());
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

/// Whether a claim is within a limit, towards the same relation and unit.
pub(crate) fn within(claim: &Guarantee, limit: &Limit) -> bool {
    claim.epsilon <= limit.epsilon
        && claim.delta <= limit.delta
        && (claim.neighbours, claim.unit) == (limit.filter.neighbours, limit.filter.unit)
}

/// Whether events prove a claim.
pub(crate) fn proves(events: &Event, claim: &Guarantee) -> Result<bool, AccountError> {
    let relation = account::relation(events)?;
    let met = if claim.delta == 0.0 {
        account::epsilon(events, 0.0)? <= claim.epsilon
    } else {
        claim.epsilon.is_finite() && account::delta(events, claim.epsilon)? <= claim.delta
    };
    Ok(met && relation == (claim.neighbours, claim.unit))
}

/// The price by what is charged. That the events prove the claim is not looked at here.
pub(crate) fn price(
    limit: &Limit,
    spend: &Spend,
    claim: Option<&Guarantee>,
    charged: Charged,
) -> Result<Option<Exact>, AccountError> {
    match (charged, Priced::from(spend)) {
        (Charged::Events, Priced::Events(event)) => limit.price(event),
        (Charged::Events, Priced::Filter(filter)) => limit.price_of(filter),
        (Charged::Claim, _) => claim.map_or(Ok(None), |claim| limit.price_of_claim(claim)),
        (Charged::Whole, _) => Ok(Some(Exact::default())),
    }
}
