//! Taking in what another ledger spent on the same data.
//!
//! Two people with copies of a table, or of a ledger, each spend; both together is what the table has lost. Everything
//! that the other one counts, and that is not in this one, is priced again under this one's limits and entered as
//! spent, whatever the limit says: it has happened. To the safe side:
//! - entries that both share (a copied ledger) count once, unless they are void here and not there;
//! - a reservation that both share, that is still open here and was drawn from there, is spent here too: nobody
//!   can free it, or draw from it once more;
//! - a ledger that is taken in again, further on, stands for its earlier state; one that has gone another way since is
//!   taken in beside it, what they share twice.

use crate::books::{Imported, State, price};
use crate::entry::{Charged, Entry, What};
use crate::exact::Exact;
use crate::ledger::Writing;
use crate::{Books, Ledger, LedgerError, Limit, Note};
use privet_core::printable;
use std::collections::BTreeMap;

/// What was taken in.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The data set.
    pub dataset: String,
    /// How many releases.
    pub releases: u64,
    /// The share of the limit here that they take.
    pub share: f64,
}

impl Ledger {
    /// Takes in what `other` spent; `names` says what its data sets are called here, where that differs.
    pub fn take_in(
        &mut self,
        other: &mut Self,
        names: &BTreeMap<String, String>,
        note: &Note,
    ) -> Result<Vec<Merged>, LedgerError> {
        self.catch_up()?;
        other.catch_up()?;
        let theirs = other.entries()?;
        let ours = self.entries()?;
        let shared = ours.iter().zip(&theirs).take_while(|(a, b)| a.hash == b.hash).count() as u64;
        let Some(first) = theirs.get(shared as usize) else {
            return Err(LedgerError::Import("it has nothing that is not in this ledger".into()));
        };
        let (branch, head) = (first.hash.clone(), other.books().head());
        let mut sums: BTreeMap<String, (Exact, u64)> = BTreeMap::new();
        let mut drawn = Vec::new();
        for stored in &theirs {
            let What::Reserved(reserved) = Entry::read(stored)?.what else { continue };
            let state = |books: &Books| books.held().get(&stored.sequence).map(|held| held.state);
            let (here, there) = (state(self.books()), state(other.books()));
            let shares = stored.sequence <= shared;
            let spent_there = matches!(there, Some(State::Drawn | State::Settled));
            if shares && spent_there && here == Some(State::Reserved) {
                drawn.push(stored.sequence);
            }
            if there == Some(State::Void) || (shares && here != Some(State::Void)) {
                continue;
            }
            let here = names.get(&reserved.dataset).unwrap_or(&reserved.dataset);
            let account = self.books().account(here)?;
            let spend = reserved.spend().map_err(|error| LedgerError::Import(error.to_string()))?;
            let by = |charged| price(&account.limit, &spend, reserved.claim.as_ref(), charged);
            let found = match by(Charged::Events)? {
                Some(found) => found,
                None => by(Charged::Claim)?.ok_or_else(|| {
                    LedgerError::Import(format!(
                        "its entry {} has no price under the filter of '{}'",
                        stored.sequence,
                        printable(here)
                    ))
                })?,
            };
            let (sum, count) = sums.entry(here.clone()).or_default();
            (*sum, *count) = (sum.and(&found), *count + 1);
        }
        for (name, account) in other.books().accounts() {
            let here = names.get(name).unwrap_or(name);
            let ours = self.books().accounts().get(here);
            // What it took in itself is in the quantities of its own limit.
            for (branch, taken) in &account.imported {
                let known = ours.and_then(|ours| ours.imported.get(branch));
                if known.is_some_and(|known| known.price == taken.price) {
                    continue;
                }
                let same = ours.is_some_and(|ours| {
                    let law = |limit: &Limit| limit.filter.limit.up_to(1.0);
                    law(&ours.limit) == law(&account.limit)
                        && ours.limit.relation() == account.limit.relation()
                });
                if !same {
                    return Err(LedgerError::Import(format!(
                        "it took in another ledger on '{}', under another filter, relation or unit than \
                         here: take that one in here",
                        printable(name)
                    )));
                }
                let (sum, count) = sums.entry(here.clone()).or_default();
                (*sum, *count) = (sum.and(&taken.price), *count + taken.releases);
            }
        }
        for reservation in drawn {
            self.write(&note.who, |books| {
                match books.held().get(&reservation).map(|held| held.state) {
                    Some(State::Reserved) => Ok(Some(Writing::only(What::Drawn { reservation }))),
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
        for (dataset, (sum, releases)) in sums {
            let limit = self.books().account(&dataset)?.limit.exact();
            let earlier = self.books().account(&dataset)?.imported.get(&branch).cloned();
            // Whether it only grew since it was taken in.
            let grown = |earlier: &Imported| {
                let at = earlier.sequence.checked_sub(1).and_then(|at| theirs.get(at as usize));
                at.is_some_and(|stored| stored.hash == earlier.hash)
            };
            let branch = match &earlier {
                Some(earlier) if !grown(earlier) => head.hash.clone(),
                _ => branch.clone(),
            };
            let share = sum.share(&limit);
            self.write(&note.who, |_| {
                Ok(Some(Writing::only(What::Imported {
                    branch: branch.clone(),
                    sequence: head.sequence,
                    hash: head.hash.clone(),
                    dataset: dataset.clone(),
                    price: sum,
                    releases,
                })))
            })?;
            merged.push(Merged { dataset, releases, share });
        }
        Ok(merged)
    }
}
