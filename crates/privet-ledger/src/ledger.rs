//! The ledger: opening, quoting, reserving and settling, and checking certificates.

use crate::books::{Account, Books, State, claim_within, events_prove, price};
use crate::entry::{Entry, EntryContent, FORMAT, Note, PriceBasis, Reserved, Stored, hash};
use crate::exact::Exact;
use crate::identity::{Identity, OVERLAP, Printer, TableFingerprint, new_number};
use crate::limit::Limit;
use crate::session_purse::{BudgetRequest, SessionPurse};
use crate::sqlite::Sqlite;
use crate::store::{Batch, Store};
use crate::{LedgerError, books};
use privet_core::{UnitDefinition, printable};
use privet_dp::account::{self, Event};
use privet_dp::gate::{Certificate, LedgerEntry, Spend, VERSION};
use std::path::Path;

/// An open ledger. Other processes may write to the same one meanwhile.
pub struct Ledger {
    store: Box<dyn Store>,
    books: Books,
    clock: fn() -> String,
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ledger({}, {} entries)", self.books.ledger(), self.books.sequence())
    }
}

/// A data set that shares rows with a table.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownDataset {
    /// Name of the data set.
    pub dataset: String,
    /// True if both have the same rows.
    pub same: bool,
    /// Estimated share of the smaller one's distinct rows that the other has.
    pub overlap: f64,
}

/// Cost of a release that was not reserved yet.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceQuote {
    /// Its price as a share of the limit.
    pub share: f64,
    /// The share of the limit that is left.
    pub left: f64,
    /// True if it stays within the limit.
    pub fits: bool,
    /// The ε proved for everything spent before, at the limit's δ.
    pub before: f64,
    /// The ε proved after this release, at the limit's δ.
    pub after: f64,
    /// Basis of its price.
    pub charged: PriceBasis,
    price: Exact,
}

/// A certificate that matches its ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// Number of its reservation.
    pub reservation: u64,
    /// Name of the data set.
    pub dataset: String,
    /// State of the reservation.
    pub state: State,
}

impl Ledger {
    /// Creates a ledger in a new file that only its owner can read.
    pub fn create(path: &Path, who: &str) -> Result<Self, LedgerError> {
        Self::begin(Box::new(Sqlite::create(path)?), who)
    }

    /// Opens the ledger in a file: reads every entry, and refuses the ledger if one does not follow from
    /// those before.
    pub fn open(path: &Path) -> Result<Self, LedgerError> {
        Self::read(Box::new(Sqlite::open(path, false)?))
    }

    /// Opens a ledger read-only.
    pub fn open_read_only(path: &Path) -> Result<Self, LedgerError> {
        Self::read(Box::new(Sqlite::open(path, true)?))
    }

    /// Opens the ledger on a PostgreSQL server; begins one if there is none.
    #[cfg(feature = "postgres")]
    pub fn connect(address: &str, who: &str) -> Result<Self, LedgerError> {
        let ledger = Self::read(Box::new(crate::server::Server::connect(address)?))?;
        match ledger.books.sequence() {
            0 => Self::begin(ledger.store, who),
            _ => Ok(ledger),
        }
    }

    /// Opens the ledger on a PostgreSQL server read-only: creates nothing there.
    #[cfg(feature = "postgres")]
    pub fn open_read_only_at(address: &str) -> Result<Self, LedgerError> {
        Self::read(Box::new(crate::server::Server::open_read_only(address)?))
    }

    fn begin(store: Box<dyn Store>, who: &str) -> Result<Self, LedgerError> {
        let mut ledger = Self { store, books: Books::default(), clock: privet_core::now };
        let number = number()?;
        ledger.write(who, |books| {
            // Another process began it meanwhile.
            if books.sequence() > 0 {
                return Ok(None);
            }
            let what = EntryContent::Began { ledger: number.clone(), format: FORMAT.into() };
            Ok(Some(Writing::only(what)))
        })?;
        Ok(ledger)
    }

    fn read(store: Box<dyn Store>) -> Result<Self, LedgerError> {
        let mut ledger = Self { store, books: Books::default(), clock: privet_core::now };
        ledger.catch_up()?;
        Ok(ledger)
    }

    /// Replaces the clock; for tests.
    pub fn with_clock(self, clock: fn() -> String) -> Self {
        Self { clock, ..self }
    }

    /// Replaces the back end; for tests.
    #[cfg(test)]
    pub(crate) fn with_store(self, store: impl FnOnce(Box<dyn Store>) -> Box<dyn Store>) -> Self {
        Self { store: store(self.store), ..self }
    }

    /// Reads the entries that others wrote since.
    pub fn catch_up(&mut self) -> Result<(), LedgerError> {
        let Self { store, books, .. } = self;
        store.read(books.sequence(), &mut |stored| books.take(&stored))
    }

    /// State of the ledger after the entries read so far.
    pub fn books(&self) -> &Books {
        &self.books
    }

    /// Returns every entry, in order.
    pub fn entries(&mut self) -> Result<Vec<Stored>, LedgerError> {
        let mut all = Vec::new();
        self.store.read(0, &mut |stored| {
            all.push(stored);
            Ok(())
        })?;
        Ok(all)
    }

    /// Returns a stored certificate by its hash.
    pub fn certificate(&mut self, hash: &str) -> Result<Option<String>, LedgerError> {
        self.store.certificate(hash)
    }

    /// Opens a data set. `print` identifies its table: a table already in the ledger is refused, and one
    /// that shares rows with another data set is refused unless `as_new`. If `whose` states no unit, the
    /// first release does.
    pub fn add(
        &mut self,
        name: &str,
        limit: Limit,
        whose: &UnitDefinition,
        note: &Note,
        print: Option<TableFingerprint>,
        as_new: bool,
    ) -> Result<(), LedgerError> {
        let long = name.is_empty() || name.chars().count() > 200;
        if long || name.chars().any(char::is_control) || name.trim() != name {
            return Err(LedgerError::BadName { name: name.into() });
        }
        if !limit.holds() {
            return Err(LedgerError::Limit("the filter does not prove the limit".into()));
        }
        let mut shares_rows_with = Vec::new();
        if let Some(print) = &print {
            for known in self.overlapping_datasets(print)? {
                let KnownDataset { dataset, same, overlap } = known;
                if same {
                    return Err(LedgerError::Identity(format!(
                        "this table is in the ledger already, as '{}': what is spent on it counts there",
                        printable(&dataset)
                    )));
                }
                if !as_new {
                    return Err(LedgerError::Identity(format!(
                        "this table shares about {:.0} % of its rows with the data set '{1}'. If they are the same \
                         people, what is spent on both adds up: --same-as '{1}' counts it there. --new opens it as \
                         one of its own all the same, and the ledger says so",
                        100.0 * overlap,
                        printable(&dataset)
                    )));
                }
                shares_rows_with.push(dataset);
            }
        }
        self.write(&note.who, |books| {
            if books.accounts().contains_key(name) {
                return Err(LedgerError::NameTaken { name: name.into() });
            }
            let what = EntryContent::Opened {
                dataset: name.into(),
                limit,
                whose: whose.clone().of(limit.filter.unit),
                purpose: note.purpose.clone(),
                shares_rows_with: shares_rows_with.clone(),
            };
            let identity = print.clone().map(|print| Identity { dataset: name.into(), print });
            Ok(Some(Writing { identity, ..Writing::only(what) }))
        })?;
        Ok(())
    }

    /// States the unit of a data set that was opened without one: by 0.2.0, or by name only.
    pub fn state_unit(
        &mut self,
        name: &str,
        whose: &UnitDefinition,
        note: &Note,
    ) -> Result<(), LedgerError> {
        self.write(&note.who, |books| {
            let account = books.account(name)?;
            let known = account.whose.clone();
            match (known.is_said(), known == *whose) {
                (true, true) => Ok(None),
                (true, false) => {
                    let (name, requested) = (name.into(), whose.clone());
                    Err(LedgerError::OtherUnit { name, whose: known, requested })
                }
                (false, _) if whose.goes_without_saying() => Err(LedgerError::UnitNotSaid(format!(
                    "the limit of '{}' is for users; a column that says whose a record is is accepted",
                    printable(name)
                ))),
                (false, _) => {
                    let (dataset, whose) = (name.into(), whose.clone());
                    Ok(Some(Writing::only(EntryContent::Unit { dataset, whose })))
                }
            }
        })?;
        Ok(())
    }

    /// Returns a printer of tables; `None` if the ledger identifies tables by name only.
    pub fn printer(&mut self) -> Result<Option<Printer>, LedgerError> {
        Ok(self.store.identities()?.map(|(secret, _)| Printer::new(&secret)))
    }

    /// Returns the data sets that share rows with a table, those with the same rows first.
    pub fn overlapping_datasets(
        &mut self,
        print: &TableFingerprint,
    ) -> Result<Vec<KnownDataset>, LedgerError> {
        let mut found: Vec<KnownDataset> = Vec::new();
        let identities = self.store.identities()?.map(|(_, all)| all).unwrap_or_default();
        for Identity { dataset, print: other } in identities {
            let (same, overlap) = (print.has_same_rows(&other), print.overlap(&other));
            if !same && overlap <= OVERLAP {
                continue;
            }
            match found.iter_mut().find(|known| known.dataset == dataset) {
                Some(known) => {
                    known.same |= same;
                    known.overlap = known.overlap.max(overlap);
                }
                None => found.push(KnownDataset { dataset, same, overlap }),
            }
        }
        found.sort_by_key(|known| !known.same);
        Ok(found)
    }

    /// Refuses a table that is not the data set of this name, or is another one as well. With `same_as`
    /// a table not seen before counts as this data set from here on.
    pub fn recognise(
        &mut self,
        name: &str,
        print: &TableFingerprint,
        same_as: bool,
        note: &Note,
    ) -> Result<(), LedgerError> {
        let account = self.books.account(name)?.clone();
        let Some((_, identities)) = self.store.identities()? else { return Ok(()) };
        let known = self.overlapping_datasets(print)?;
        let declared = |other: &str| {
            let theirs = self.books.accounts().get(other);
            account.shares_rows_with.iter().any(|shared| shared == other)
                || theirs.is_some_and(|it| it.shares_rows_with.iter().any(|shared| shared == name))
        };
        let own = known.iter().find(|known| known.dataset == name);
        // A table with exactly the rows of this data set passes, whatever else they share.
        let same = own.is_some_and(|own| own.same);
        if let Some(other) = known.iter().find(|known| {
            known.dataset != name && (known.same || (!same && !declared(&known.dataset)))
        }) {
            let KnownDataset { dataset, same, overlap } = other;
            let what = match same {
                true => "is".to_string(),
                false => format!("shares about {:.0} % of its rows with", 100.0 * overlap),
            };
            return Err(LedgerError::Identity(format!(
                "the table {what} the data set '{0}', not '{1}': what is spent on it counts there. \
                 --dataset '{0}' (or --same-as '{0}') is accepted",
                printable(dataset),
                printable(name)
            )));
        }
        if same {
            return Ok(());
        }
        let first = !identities.iter().any(|identity| identity.dataset == name);
        if !first && !same_as {
            let words = match own {
                Some(own) => format!(
                    "the table is not as the ledger knows '{0}': about {1:.0} % of the rows of the smaller of both \
                     are in the other. If rows were added or left out, --same-as '{0}' counts it as the same data set",
                    printable(name),
                    100.0 * own.overlap
                ),
                None => format!(
                    "the table is not the one that the ledger knows as '{0}', and shares hardly a row with it. \
                     `privet budget open` opens it under a name of its own; if it is the same people in another \
                     form, --same-as '{0}' counts it as the same data set",
                    printable(name)
                ),
            };
            return Err(LedgerError::Identity(words));
        }
        // A part of a table stored already adds nothing to recognise it by.
        let part = identities.iter().any(|known| {
            known.dataset == name
                && print.rows <= known.print.rows
                && print.overlap(&known.print) > 0.9
        });
        if part {
            return Ok(());
        }
        self.write(&note.who, |_| {
            let identity = Some(Identity { dataset: name.into(), print: print.clone() });
            Ok(Some(Writing {
                identity,
                ..Writing::only(EntryContent::Seen { dataset: name.into() })
            }))
        })?;
        Ok(())
    }

    /// Computes the cost of a release and whether it fits. Its unit may be left open here; the release
    /// itself must state it.
    pub fn quote(
        &mut self,
        request: &BudgetRequest,
        whose: &UnitDefinition,
        spend: &Spend,
    ) -> Result<PriceQuote, LedgerError> {
        self.catch_up()?;
        let account = self.books.account(&request.dataset)?;
        if whose.clone().of(account.limit.filter.unit).is_said() {
            same_unit(account, &request.dataset, whose)?;
        }
        let (charged, price) = charge(account, request, spend)?;
        Ok(quote(account, charged, price))
    }

    /// Returns the purse of one session, paid from this ledger.
    pub fn purse_for(&mut self, request: BudgetRequest) -> SessionPurse<&mut Self> {
        SessionPurse::new(self, request)
    }

    /// Reserves a session's budget on disk. Returns the entry.
    pub(crate) fn reserve(
        &mut self,
        request: &BudgetRequest,
        whose: &UnitDefinition,
        spend: &Spend,
    ) -> Result<LedgerEntry, LedgerError> {
        // Outside the transaction: accounting may take a while, and a limit never changes.
        self.catch_up()?;
        let (charged, price) = charge(self.books.account(&request.dataset)?, request, spend)?;
        let written = serde_json::value::to_raw_value(spend)
            .map_err(|error| LedgerError::Limit(format!("what is to be spent: {error}")))?;
        let reserved = Reserved {
            dataset: request.dataset.clone(),
            whose: whose.clone(),
            spend: written,
            claim: request.claim,
            charged,
            price,
            doing: request.doing.clone(),
            purpose: request.note.purpose.clone(),
        };
        self.books.remember_price(&reserved);
        self.write(&request.note.who, |books| {
            let account = books.account(&request.dataset)?;
            let whose = same_unit(account, &request.dataset, whose)?;
            let quote = quote(account, charged, price);
            if !quote.fits {
                return Err(LedgerError::Exceeds(exceeds(request, account, &quote)));
            }
            Ok(Some(Writing::only(EntryContent::Reserved(Reserved { whose, ..reserved.clone() }))))
        })
    }

    /// Commits that noise is about to be drawn under a reservation: it is spent from here on.
    pub(crate) fn draw(&mut self, reservation: u64, who: &str) -> Result<LedgerEntry, LedgerError> {
        self.write(who, |books| {
            in_state(books, reservation, State::Reserved)?;
            Ok(Some(Writing::only(EntryContent::Drawn { reservation })))
        })
    }

    /// Closes the entry of a release that was made.
    pub(crate) fn settle(
        &mut self,
        reservation: u64,
        who: &str,
        certificate: Option<&Certificate>,
    ) -> Result<LedgerEntry, LedgerError> {
        let text = certificate.map(serde_json::to_string).transpose().map_err(|error| {
            LedgerError::State { sequence: reservation, why: format!("its certificate: {error}") }
        })?;
        let kept = text.map(|text| (hash(&text), text));
        self.write(who, |books| {
            in_state(books, reservation, State::Drawn)?;
            let certificate = kept.as_ref().map(|(hash, _)| hash.clone());
            let what = EntryContent::Settled { reservation, certificate };
            Ok(Some(Writing { certificate: kept.clone(), ..Writing::only(what) }))
        })
    }

    /// Reserves, draws and settles these releases in one transaction: builds a long ledger for a
    /// benchmark.
    pub fn fill(
        &mut self,
        request: &BudgetRequest,
        spends: impl Iterator<Item = Spend>,
    ) -> Result<(), LedgerError> {
        let Self { store, books, clock } = self;
        let mut spends = spends;
        let mut filled = books.clone();
        store.append(books.sequence(), &mut |others| {
            others.iter().try_for_each(|stored| books.take(stored))?;
            filled.clone_from(books);
            let mut entries = Vec::new();
            let (mut sequence, mut previous) = (books.sequence(), books.previous().to_string());
            let account = books.account(&request.dataset)?;
            let mut push = |what: EntryContent| -> Result<u64, LedgerError> {
                sequence += 1;
                let (at, who, version) = (clock(), request.note.who.clone(), VERSION.into());
                let (nonce, previous_hash) = (number()?, previous.clone());
                let entry =
                    Entry { sequence, previous: previous_hash, nonce, at, who, version, what };
                let stored = entry.to_stored()?;
                previous.clone_from(&stored.hash);
                entries.push(stored);
                Ok(sequence)
            };
            for spend in spends.by_ref() {
                let (charged, price) = charge(account, request, &spend)?;
                let written = serde_json::value::to_raw_value(&spend)
                    .map_err(|error| LedgerError::Limit(error.to_string()))?;
                let reservation = push(EntryContent::Reserved(Reserved {
                    dataset: request.dataset.clone(),
                    whose: account.whose.clone(),
                    spend: written,
                    claim: request.claim,
                    charged,
                    price,
                    doing: request.doing.clone(),
                    purpose: request.note.purpose.clone(),
                }))?;
                push(EntryContent::Drawn { reservation })?;
                push(EntryContent::Settled { reservation, certificate: None })?;
            }
            entries.iter().try_for_each(|stored| filled.take(stored))?;
            Ok(Batch { entries, ..Batch::default() })
        })?;
        *books = filled;
        Ok(())
    }

    /// Frees a reservation under which nothing was drawn. A process that still holds it can no longer
    /// draw.
    pub fn void(&mut self, reservation: u64, who: &str, reason: &str) -> Result<(), LedgerError> {
        self.write(who, |books| {
            in_state(books, reservation, State::Reserved)?;
            Ok(Some(Writing::only(EntryContent::Void { reservation, reason: reason.into() })))
        })?;
        Ok(())
    }

    /// Returns the reservation behind an entry that a certificate or stream states. The entry must be in
    /// this ledger, with the hash stated, and its reservation not void.
    pub fn find(&mut self, entered: &LedgerEntry) -> Result<Checked, LedgerError> {
        let refused = |words: String| Err(LedgerError::Certificate(words));
        if entered.ledger != self.books.ledger() {
            return refused(format!("it is of another ledger, {}", printable(&entered.ledger)));
        }
        let Some(stored) = self.store.entry(entered.sequence)? else {
            return refused(format!(
                "the ledger ends at entry {}, before its entry {}: entries were cut off",
                self.books.sequence(),
                entered.sequence
            ));
        };
        if stored.hash != entered.hash {
            return refused(format!(
                "entry {} is not the one that it was made under: the ledger was rewritten there or before",
                entered.sequence
            ));
        }
        let reservation = match Entry::read(&stored)?.what {
            EntryContent::Reserved(_) => stored.sequence,
            EntryContent::Drawn { reservation } | EntryContent::Settled { reservation, .. } => {
                reservation
            }
            _ => return refused(format!("entry {} is of no release", entered.sequence)),
        };
        match self.books.reservations().get(&reservation) {
            None => refused(format!("entry {reservation} reserved nothing")),
            Some(held) if held.state == State::Void => {
                refused(format!("entry {reservation} is void, and yet there is a release of it"))
            }
            Some(held) => {
                Ok(Checked { reservation, dataset: held.dataset.clone(), state: held.state })
            }
        }
    }

    /// Checks that a certificate belongs to this ledger and states the events reserved. If the release
    /// was settled with a certificate, it must be that one: another under the same entry is of a release
    /// that was never paid for. `whose` is the unit as far as the certificate states it; it must be the
    /// unit paid for.
    pub fn check_certificate(
        &mut self,
        certificate: &Certificate,
        whose: &UnitDefinition,
    ) -> Result<Checked, LedgerError> {
        let refused = |words: String| Err(LedgerError::Certificate(words));
        let Some(entered) = &certificate.ledger else {
            return refused("it was not made under a ledger".into());
        };
        let checked = self.find(entered)?;
        let reservation = checked.reservation;
        let of = self.store.entry(reservation)?.map(|stored| Entry::read(&stored)).transpose()?;
        let Some(EntryContent::Reserved(reserved)) = of.map(|entry| entry.what) else {
            return refused(format!("entry {reservation} reserved nothing"));
        };
        let spend = reserved.spend().ok();
        let same = match (spend, &certificate.events, &certificate.filter) {
            (Some(Spend::Exactly(planned)), Some(events), None) => planned == *events,
            (Some(Spend::Within(filter)), _, Some(stated)) => filter == *stated,
            _ => false,
        };
        if !same {
            return refused(format!("entry {reservation} reserved other events than it states"));
        }
        let account = self.books.account(&reserved.dataset)?;
        let stated = whose.clone().of(account.limit.filter.unit);
        let paid = reserved.whose.of(account.limit.filter.unit);
        // A reservation of 0.2.0 states no unit; the data set may have had one stated since.
        let paid = if paid.is_said() { paid } else { account.whose.clone() };
        if stated.is_said() && paid.is_said() && stated != paid {
            return refused(format!(
                "entry {reservation} paid for another unit: {paid}, and it says {stated}"
            ));
        }
        let settled =
            self.books.reservations().get(&reservation).and_then(|held| held.certificate.clone());
        if let Some(settled) = settled {
            // If the stored text was edited or is gone, only its hash is left to compare with.
            let kept = self.store.certificate(&settled)?.filter(|text| hash(text) == settled);
            let same = match kept.and_then(|text| serde_json::from_str(&text).ok()) {
                Some(kept) => is_of(certificate, &kept),
                None => serde_json::to_string(&bare(certificate))
                    .is_ok_and(|text| hash(&text) == settled),
            };
            if !same {
                return refused(format!(
                    "entry {reservation} was settled with another certificate: it paid for another release"
                ));
            }
        }
        Ok(checked)
    }

    /// Checks that the events of every release charged by its claim, or as the whole limit, prove the
    /// claim. The books check all else.
    pub fn check_claims(&mut self) -> Result<(), LedgerError> {
        let mut proved: Vec<(String, String)> = Vec::new();
        for stored in self.entries()? {
            let EntryContent::Reserved(reserved) = Entry::read(&stored)?.what else { continue };
            if reserved.charged == PriceBasis::Events {
                continue;
            }
            let broken =
                |why: &str| LedgerError::Broken { sequence: stored.sequence, why: why.into() };
            let key = (reserved.spend.get().to_string(), format!("{:?}", reserved.claim));
            if proved.contains(&key) {
                continue;
            }
            let spend = reserved.spend().map_err(|_| broken("what is spent cannot be read"))?;
            let (Spend::Exactly(events), Some(claim)) = (&spend, &reserved.claim) else {
                return Err(broken("it is charged by a claim that it does not state"));
            };
            if !books::events_prove(events, claim)? {
                return Err(broken("its events do not prove the claim that it is charged by"));
            }
            proved.push(key);
        }
        Ok(())
    }

    /// Appends one entry, made from the books inside the transaction; `None` appends nothing. An entry
    /// that the books would refuse is not written, even if `make` returned it: it would break the ledger
    /// for good.
    pub(crate) fn write(
        &mut self,
        who: &str,
        mut make: impl FnMut(&Books) -> Result<Option<Writing>, LedgerError>,
    ) -> Result<LedgerEntry, LedgerError> {
        let Self { store, books, clock } = self;
        let mut written = None;
        store.append(books.sequence(), &mut |others| {
            others.iter().try_for_each(|stored| books.take(stored))?;
            let Some(Writing { what, certificate, identity }) = make(books)? else {
                return Ok(Batch::default());
            };
            let entry = Entry {
                sequence: books.sequence() + 1,
                previous: books.previous().into(),
                nonce: number()?,
                at: clock(),
                who: who.into(),
                version: VERSION.into(),
                what,
            };
            let stored = entry.to_stored()?;
            books.check_entry(&stored)?;
            written = Some(stored.clone());
            Ok(Batch { entries: vec![stored], certificate, identity })
        })?;
        // Committed: only now do the books count it.
        if let Some(stored) = written {
            books.take(&stored)?;
        }
        Ok(books.head())
    }
}

/// The certificate without the digest and signature that its file adds.
fn bare(certificate: &Certificate) -> Certificate {
    Certificate { digest: None, signature: None, ..certificate.clone() }
}

/// True if a certificate is the settled one, or its variant for one unit alone, which is made afterwards
/// and says so in its last note.
fn is_of(certificate: &Certificate, settled: &Certificate) -> bool {
    let mut stated = bare(certificate);
    if let (Some(part), Some(whole)) = (&mut stated.guarantee, &settled.guarantee)
        && part.seen_by != whole.seen_by
    {
        part.seen_by = whole.seen_by;
        stated.notes.pop();
        stated.made.clone_from(&settled.made);
    }
    stated == bare(settled)
}

fn number() -> Result<String, LedgerError> {
    new_number().map_err(|error| LedgerError::Environment {
        path: "of this machine's randomness".into(),
        doing: "written",
        why: error.to_string(),
    })
}

/// An entry to be written, and what is stored with it.
pub(crate) struct Writing {
    pub what: EntryContent,
    pub certificate: Option<(String, String)>,
    pub identity: Option<Identity>,
}

impl Writing {
    pub fn only(what: EntryContent) -> Self {
        Self { what, certificate: None, identity: None }
    }
}

fn in_state(books: &Books, reservation: u64, state: State) -> Result<(), LedgerError> {
    match books.reservations().get(&reservation) {
        Some(held) if held.state == state => Ok(()),
        Some(held) => {
            let why = match held.state {
                State::Void => "the reservation is void: nothing may be drawn from it",
                State::Reserved => "nothing was drawn from it",
                State::Drawn => "noise was drawn: it is spent",
                State::Settled => "it is spent and settled",
            };
            Err(LedgerError::State { sequence: reservation, why: why.into() })
        }
        None => {
            Err(LedgerError::State { sequence: reservation, why: "it reserved nothing".into() })
        }
    }
}

/// Returns the unit of a release to be paid for; refuses one that is not the limit's.
fn same_unit(
    account: &Account,
    name: &str,
    whose: &UnitDefinition,
) -> Result<UnitDefinition, LedgerError> {
    let requested = whose.clone().of(account.limit.filter.unit);
    let shown = printable(name);
    if !requested.is_said() {
        return Err(LedgerError::UnitNotSaid(format!(
            "the limit of '{shown}' is for users, and this release does not say whose records are one user's (the limit \
             says: {}). A schema with [unit] says it, of ratings without a header --unit-column; in Python groups that have \
             a name, or Ledger(…, unit=…)",
            account.whose
        )));
    }
    match (account.whose.is_said(), account.whose == requested) {
        (true, true) => Ok(requested),
        (true, false) => Err(LedgerError::OtherUnit {
            name: name.into(),
            whose: account.whose.clone(),
            requested,
        }),
        (false, _) if account.releases == 0 => Ok(requested),
        (false, _) => Err(LedgerError::UnitNotSaid(format!(
            "the ledger does not know whose records were one user's in what was spent on '{shown}' before (entries of 0.2.0 \
             do not say it); of this release it is {requested}. If it was the same, `privet budget unit` states it"
        ))),
    }
}

/// Returns the basis and price of a release.
fn charge(
    account: &Account,
    request: &BudgetRequest,
    spend: &Spend,
) -> Result<(PriceBasis, Exact), LedgerError> {
    let limit = &account.limit;
    let (neighbours, unit) = match spend {
        Spend::Exactly(events) => account::relation(events)?,
        Spend::Within(filter) => (filter.neighbours, filter.unit),
    };
    if (neighbours, unit) != (limit.filter.neighbours, limit.filter.unit) {
        return Err(LedgerError::OtherRelation {
            name: request.dataset.clone(),
            neighbours: limit.filter.neighbours,
            unit: limit.filter.unit,
            asked_neighbours: neighbours,
            asked_unit: unit,
        });
    }
    let proved = |events: &Event| -> Result<bool, LedgerError> {
        Ok(match &request.claim {
            Some(claim) if claim.seen_by.is_everyone() => events_prove(events, claim)?,
            _ => false,
        })
    };
    let claimed = |spend: &Spend| match spend {
        Spend::Exactly(events) => proved(events),
        Spend::Within(_) => Ok(false),
    };
    if request.whole {
        let fits = request.claim.is_some_and(|claim| claim_within(&claim, limit));
        if !fits || !claimed(spend)? {
            return Err(LedgerError::Exceeds(format!(
                "the whole limit of '{}', ε = {} at δ = {:e}, does not pay for this release",
                printable(&request.dataset),
                limit.epsilon,
                limit.delta
            )));
        }
        return Ok((PriceBasis::Whole, Exact::default()));
    }
    let events = price(limit, spend, request.claim.as_ref(), PriceBasis::Events)?;
    let fits = |price: &Exact| price.is_within(&limit.exact(), price);
    if let Some(found) = events.filter(fits) {
        return Ok((PriceBasis::Events, found));
    }
    // Charged by its claim if its events have no price, or one beyond the whole limit (grids at a very
    // large ε).
    let claim = match claimed(spend)? {
        true => price(limit, spend, request.claim.as_ref(), PriceBasis::Claim)?,
        false => None,
    };
    if let Some(found) = claim.filter(|claim| events.is_none() || fits(claim)) {
        return Ok((PriceBasis::Claim, found));
    }
    if let Some(found) = events {
        return Ok((PriceBasis::Events, found));
    }
    Err(LedgerError::Exceeds(format!(
        "the filter '{}' of the data set '{}' has no bound for this kind of release. It was fixed when the data \
         set was opened; renyi admits every kind",
        limit.kind(),
        printable(&request.dataset)
    )))
}

fn quote(account: &Account, charged: PriceBasis, price: Exact) -> PriceQuote {
    let limit = account.limit.exact();
    let whole = charged == PriceBasis::Whole;
    let fits = match whole {
        true => account.releases == 0 && !account.whole,
        false => account.allows(&price),
    };
    let after = match whole {
        true => account.limit.epsilon,
        false => account.limit.proved_epsilon(&account.spent.and(&price)),
    };
    PriceQuote {
        share: if whole { 1.0 } else { price.share(&limit) },
        left: (1.0 - account.share()).max(0.0),
        fits,
        before: account.proved_epsilon(),
        after,
        charged,
        price,
    }
}

/// Message with the price and what is left.
fn exceeds(request: &BudgetRequest, account: &Account, quote: &PriceQuote) -> String {
    let limit = &account.limit;
    let name = printable(&request.dataset);
    let per_cent = |share: f64| format!("{:.1} %", 100.0 * share);
    let mut words = format!(
        "it would exceed the budget of '{name}' (ε = {} at δ = {:e}): this release costs {} of it, and {} is left",
        limit.epsilon,
        limit.delta,
        per_cent(quote.share),
        per_cent(quote.left),
    );
    if account.whole {
        words.push_str("; one release took the whole of it");
    } else if account.releases > 0 {
        let releases = if account.releases == 1 { "release" } else { "releases" };
        words.push_str(&format!("; {} {releases} spent the rest", account.releases));
    } else if request.claim.is_some_and(|claim| claim_within(&claim, limit)) {
        words.push_str(
            ". A limit on several releases is kept by a bound that is less tight than that of one: as the only \
             release ever, with nothing after it, this one fits (--whole)",
        );
    }
    words.push_str(". Nothing was spent");
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry that the books would refuse is not written, even if a caller of [`Ledger::write`] lets
    /// it through.
    #[test]
    fn nothing_is_written_that_would_break_the_ledger() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l");
        let mut ledger = Ledger::create(&path, "tester").unwrap();
        let head = ledger.books.head();
        let (dataset, reservation) = ("nobody".to_string(), 1);
        for what in [
            EntryContent::Began { ledger: "00".repeat(16), format: FORMAT.into() },
            EntryContent::Unit { dataset: dataset.clone(), whose: UnitDefinition::column("id") },
            EntryContent::Seen { dataset },
            EntryContent::Drawn { reservation },
            EntryContent::Settled { reservation, certificate: None },
            EntryContent::Void { reservation, reason: String::new() },
        ] {
            let refused = ledger.write("tester", |_| Ok(Some(Writing::only(what.clone()))));
            let refused = refused.unwrap_err();
            assert!(matches!(refused, LedgerError::State { sequence: 2, .. }), "{refused}");
            assert_eq!(ledger.books.head(), head);
        }
        assert_eq!(Ledger::open(&path).unwrap().books.head(), head);
    }
}
