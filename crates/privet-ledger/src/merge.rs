//! Import of another ledger's spending on the same data.
//!
//! Two people with copies of a table, or of a ledger, each spend; the table has lost both together.
//! Every release that the other ledger counts, and this one does not, is priced again under the limits
//! here and entered as spent, even beyond the limit: it has happened. Conservatively:
//! - entries that both share (a copied ledger) count once, unless they are void here and not there;
//! - a shared reservation that is still open here and was drawn there is spent here too: nobody can free
//!   it, or draw from it once more;
//! - every release is identified by the hash of its entry, which covers all that came before it: it
//!   counts once through any number of copies, and so does a release of this ledger that another one had
//!   imported;
//! - ledgers of 0.2.0 recorded an imported branch as a whole: it is recognised if the other ledger has
//!   the same last entry, and counted once more if it has not.

use crate::books::{Account, Imported, State, price};
use crate::entry::{Entry, EntryContent, ImportedRelease, PriceBasis, Reserved, Stored};
use crate::exact::Exact;
use crate::ledger::Writing;
use crate::{Books, Ledger, LedgerError, Limit, Note};
use privet_core::{UnitDefinition, printable};
use std::collections::{BTreeMap, HashMap};

/// Spending imported on one data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// Name of the data set here.
    pub dataset: String,
    /// The number of releases.
    pub releases: u64,
    /// Their price as a share of the limit here.
    pub share: f64,
}

impl Ledger {
    /// Imports the spending of `other`; `names` maps its data sets to those here where the names differ.
    pub fn take_in(
        &mut self,
        other: &mut Self,
        names: &BTreeMap<String, String>,
        note: &Note,
    ) -> Result<Vec<Merged>, LedgerError> {
        self.catch_up()?;
        other.catch_up()?;
        let (ours, theirs) = (self.entries()?, other.entries()?);
        let shared = ours.iter().zip(&theirs).take_while(|(a, b)| a.hash == b.hash).count() as u64;
        let Some(first) = theirs.get(shared as usize) else {
            return Err(LedgerError::Import("it has nothing that is not in this ledger".into()));
        };
        let (branch, head) = (first.hash.clone(), other.books().head());
        let merging = Merging {
            here: self.books(),
            there: other.books(),
            names,
            theirs: &theirs,
            shared,
            own: own_hashes(self.books(), &ours),
        };
        let drawn = merging.drawn();
        let mut found = merging.releases()?;
        for (dataset, (whose, more)) in merging.taken_in_there()? {
            add_releases(&mut found, &dataset, whose, more)?;
        }
        for reservation in drawn {
            self.write(&note.who, |books| {
                match books.reservations().get(&reservation).map(|held| held.state) {
                    Some(State::Reserved) => {
                        Ok(Some(Writing::only(EntryContent::Drawn { reservation })))
                    }
                    Some(State::Void) => Err(LedgerError::State {
                        sequence: reservation,
                        why: "it was freed meanwhile, and was drawn from there: take it in again"
                            .into(),
                    }),
                    _ => Ok(None),
                }
            })?;
        }
        let mut merged = Vec::new();
        for (dataset, (whose, each)) in found.into_iter().filter(|(_, (_, each))| !each.is_empty())
        {
            let limit = self.books().account(&dataset)?.limit.exact();
            let price = each.iter().fold(Exact::default(), |sum, one| sum.and(&one.price));
            let releases = each.iter().map(|one| one.releases).sum();
            self.write(&note.who, |books| {
                // Checked again inside the transaction: a release may have stated the unit here
                // meanwhile.
                same_unit(&whose, books.account(&dataset)?, &dataset)?;
                Ok(Some(Writing::only(EntryContent::Imported {
                    branch: branch.clone(),
                    sequence: head.sequence,
                    hash: head.hash.clone(),
                    dataset: dataset.clone(),
                    whose: whose.clone(),
                    price,
                    releases,
                    each: each.clone(),
                })))
            })?;
            merged.push(Merged { dataset, releases, share: price.share(&limit) });
        }
        Ok(merged)
    }
}

/// New spending by data set here: the unit there, and the releases.
type NewSpending = BTreeMap<String, (UnitDefinition, Vec<ImportedRelease>)>;

/// Adds releases to a data set here; all must have one unit, whichever names they had there.
fn add_releases(
    found: &mut NewSpending,
    name: &str,
    whose: UnitDefinition,
    more: Vec<ImportedRelease>,
) -> Result<(), LedgerError> {
    let known = found.entry(name.into()).or_insert_with(|| (whose.clone(), Vec::new()));
    if known.0 != whose {
        return Err(LedgerError::Import(format!(
            "what would count on '{}' is of two units there: {}, and {whose}",
            printable(name),
            known.0
        )));
    }
    known.1.extend(more);
    Ok(())
}

/// Two ledgers, one of which is imported into the other.
struct Merging<'a> {
    here: &'a Books,
    there: &'a Books,
    names: &'a BTreeMap<String, String>,
    theirs: &'a [Stored],
    /// The number of entries at the start of both.
    shared: u64,
    /// This ledger's reservations that count, by hash, and the data set of each.
    own: HashMap<String, String>,
}

fn own_hashes(books: &Books, entries: &[Stored]) -> HashMap<String, String> {
    let counts = |stored: &Stored| {
        let held = books.reservations().get(&stored.sequence)?;
        (held.state != State::Void).then(|| (stored.hash.clone(), held.dataset.clone()))
    };
    entries.iter().filter_map(counts).collect()
}

fn state(books: &Books, sequence: u64) -> Option<State> {
    books.reservations().get(&sequence).map(|held| held.state)
}

impl Merging<'_> {
    /// Shared reservations that are still open here, and were drawn there.
    fn drawn(&self) -> Vec<u64> {
        let spent = |sequence: &u64| {
            let there = state(self.there, *sequence);
            matches!(there, Some(State::Drawn | State::Settled))
                && state(self.here, *sequence) == Some(State::Reserved)
        };
        (1..=self.shared).filter(spent).collect()
    }

    /// Releases of the other ledger that do not count here yet.
    fn releases(&self) -> Result<NewSpending, LedgerError> {
        let mut found = NewSpending::new();
        for stored in self.theirs {
            let EntryContent::Reserved(reserved) = Entry::read(stored)?.what else { continue };
            let shares = stored.sequence <= self.shared;
            let (here, there) =
                (state(self.here, stored.sequence), state(self.there, stored.sequence));
            if there == Some(State::Void) || (shares && here != Some(State::Void)) {
                continue;
            }
            let (name, account) = self.account(&reserved.dataset)?;
            if !shares && self.imported_whole(account, stored) {
                continue;
            }
            let whose = self.same_unit(&reserved.dataset, account)?;
            let price = price_of_release(account, &reserved, stored.sequence, name)?;
            let taken = ImportedRelease { entry: stored.hash.clone(), price, releases: 1 };
            if let Some(taken) = news(account, taken) {
                add_releases(&mut found, name, whose, vec![taken])?;
            }
        }
        Ok(found)
    }

    /// Spending that the other ledger had imported itself, in the quantities of its own limit.
    fn taken_in_there(&self) -> Result<NewSpending, LedgerError> {
        let mut found = NewSpending::new();
        for (there, account) in self.there.accounts() {
            for (entry, Imported { price, releases, .. }) in &account.imported {
                let name = self.names.get(there).unwrap_or(there);
                // A release of this ledger that came back.
                if self.own.get(entry) == Some(name) {
                    continue;
                }
                let (name, ours) = self.account(there)?;
                let taken =
                    ImportedRelease { entry: entry.clone(), price: *price, releases: *releases };
                let Some(taken) = news(ours, taken) else { continue };
                let law = |limit: &Limit| limit.filter.limit.up_to(1.0);
                let same = law(&ours.limit) == law(&account.limit)
                    && ours.limit.relation() == account.limit.relation();
                if !same {
                    return Err(LedgerError::Import(format!(
                        "it took in another ledger on '{}', under another filter, relation or unit than \
                         here: take that one in here",
                        printable(there)
                    )));
                }
                let whose = self.same_unit(there, ours)?;
                add_releases(&mut found, name, whose, vec![taken])?;
            }
        }
        Ok(found)
    }

    /// Returns the data set here for a name there.
    fn account<'a>(&'a self, there: &'a str) -> Result<(&'a str, &'a Account), LedgerError> {
        let name = self.names.get(there).map_or(there, String::as_str);
        Ok((name, self.here.account(name)?))
    }

    /// Returns the unit of a data set there; refuses one that is not the unit here.
    fn same_unit(&self, there: &str, ours: &Account) -> Result<UnitDefinition, LedgerError> {
        let theirs = self.there.account(there)?.whose.clone();
        same_unit(&theirs, ours, there).map(|()| theirs)
    }

    /// True if 0.2.0 imported this entry with its branch as a whole: the other ledger has the same last
    /// entry.
    fn imported_whole(&self, account: &Account, stored: &Stored) -> bool {
        account.imported.values().filter_map(|taken| taken.until.as_ref()).any(|(end, hash)| {
            let last = end.checked_sub(1).and_then(|at| self.theirs.get(at as usize));
            stored.sequence <= *end && last.is_some_and(|last| last.hash == *hash)
        })
    }
}

/// Refuses spending whose unit is another than here, or not stated: its prices do not apply here, and a
/// unit stated later would cover both.
fn same_unit(theirs: &UnitDefinition, ours: &Account, name: &str) -> Result<(), LedgerError> {
    let open = !ours.whose.is_said() && ours.releases == 0;
    match theirs.is_said() && (open || *theirs == ours.whose) {
        true => Ok(()),
        false => Err(LedgerError::Import(format!(
            "a unit of '{}' is {theirs} there, and {} here: what was spent on the one cannot be counted on the other. \
             Where it is not said and is the same, `privet budget unit` states it, in each ledger that does not say it",
            printable(name),
            ours.whose
        ))),
    }
}

/// Returns a release that was not imported before, or at a smaller price.
fn news(account: &Account, taken: ImportedRelease) -> Option<ImportedRelease> {
    let known = account.imported.get(&taken.entry);
    let less = known.is_none_or(|known| known.price.max(&taken.price) != known.price);
    less.then_some(taken)
}

/// Price of a release under the limit here.
fn price_of_release(
    account: &Account,
    reserved: &Reserved,
    sequence: u64,
    name: &str,
) -> Result<Exact, LedgerError> {
    let spend = reserved.spend().map_err(|error| LedgerError::Import(error.to_string()))?;
    let by = |charged| price(&account.limit, &spend, reserved.claim.as_ref(), charged);
    match by(PriceBasis::Events)? {
        Some(found) => Ok(found),
        None => by(PriceBasis::Claim)?.ok_or_else(|| {
            LedgerError::Import(format!(
                "its entry {sequence} has no price under the filter of '{}'",
                printable(name)
            ))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Batch, Identities, Store};
    use crate::{BudgetRequest, Kind};
    use privet_core::{Budget, Neighbours, Relation, Unit};
    use privet_dp::account::{Cost, Event};
    use privet_dp::gate::Spend;
    use std::path::Path;

    const USER: Unit = Unit::User { max_records: 5 };

    fn note() -> Note {
        Note { who: "tester".into(), purpose: String::new() }
    }

    /// A ledger with a limit on users, none of whose entries states the unit.
    fn opened(path: &Path) -> Ledger {
        let mut ledger = Ledger::create(path, "tester").unwrap();
        let relation = Relation::new(Neighbours::ReplaceOne, USER);
        let budget = Budget::new(1.0, 1e-6).unwrap();
        let limit = Limit::new(Kind::Gaussian, None, budget, relation).unwrap();
        ledger.add("riders", limit, &UnitDefinition::NotSaid, &note(), None, false).unwrap();
        ledger
    }

    fn release(ledger: &mut Ledger, column: &str) {
        let cost = Cost::Gaussian { sensitivity: 0.05, noise_scale: 1.0, grid: None };
        let event = Event::Use { neighbours: Neighbours::ReplaceOne, unit: USER, cost };
        let (dataset, doing) = ("riders".into(), "test".into());
        let request = BudgetRequest { dataset, doing, note: note(), claim: None, whole: false };
        let mut paying = ledger.purse_for(request);
        paying.of(UnitDefinition::column(column));
        paying.spend_whole(&Spend::Exactly(event)).unwrap();
    }

    /// A store in which another process writes to our ledger whenever the other one is read.
    struct Meanwhile {
        inner: Box<dyn Store>,
        writes: Box<dyn FnMut() + Send>,
    }

    impl Store for Meanwhile {
        fn read(
            &mut self,
            after: u64,
            each: &mut dyn FnMut(Stored) -> Result<(), LedgerError>,
        ) -> Result<(), LedgerError> {
            (self.writes)();
            self.inner.read(after, each)
        }

        fn append(
            &mut self,
            after: u64,
            make: &mut dyn FnMut(&[Stored]) -> Result<Batch, LedgerError>,
        ) -> Result<(), LedgerError> {
            self.inner.append(after, make)
        }

        fn entry(&mut self, sequence: u64) -> Result<Option<Stored>, LedgerError> {
            self.inner.entry(sequence)
        }

        fn certificate(&mut self, hash: &str) -> Result<Option<String>, LedgerError> {
            self.inner.certificate(hash)
        }

        fn identities(&mut self) -> Result<Option<Identities>, LedgerError> {
            self.inner.identities()
        }
    }

    /// The unit is compared again inside the transaction: meanwhile another release may have stated it.
    /// An import once wrote its entry all the same, and the ledger was broken for good.
    #[test]
    fn a_release_of_others_that_comes_between_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ours");
        let mut ours = opened(&path);
        let mut theirs = opened(&folder.path().join("theirs"));
        release(&mut theirs, "id");
        let (mut between, mut times) = (Ledger::open(&path).unwrap(), 0);
        // The first reading finds the new entries; ours was read before.
        let writes = Box::new(move || {
            times += 1;
            if times == 2 {
                release(&mut between, "visit");
            }
        });
        let mut theirs = theirs.with_store(|inner| Box::new(Meanwhile { inner, writes }));
        let refused = ours.take_in(&mut theirs, &BTreeMap::new(), &note()).unwrap_err();
        assert!(matches!(refused, LedgerError::Import(_)), "{refused}");
        let words = refused.to_string();
        assert!(words.contains("\"id\"") && words.contains("\"visit\""), "{words}");
        let mut again = Ledger::open(&path).unwrap();
        assert_eq!(again.books().accounts()["riders"].releases, 1);
        release(&mut again, "visit");
    }
}
