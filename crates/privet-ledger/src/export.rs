//! Exports: entries and certificates' hashes, never the fingerprints of tables.

use crate::books::{Books, Reservation, State};
use crate::{Ledger, LedgerError};
use privet_core::UnitDefinition;
use serde_json::{Value, json};

/// Format name of exports.
const FORMAT: &str = "privet-ledger-export-1";

/// The state of every data set: its limit, and what is spent of it.
pub fn accounts(books: &Books) -> Vec<Value> {
    let accounts = books.accounts().iter().map(|(name, account)| {
        json!({
            "dataset": name,
            "epsilon": account.limit.epsilon,
            "delta": account.limit.delta,
            "neighbours": account.limit.filter.neighbours,
            "unit": account.limit.filter.unit,
            "whose": account.whose,
            "filter": account.limit.kind(),
            "share_spent": account.share(),
            "epsilon_spent": finite(account.proved_epsilon()),
            "releases": account.releases,
        })
    });
    accounts.collect()
}

/// Every entry with its hash, and the state of every data set.
pub fn as_json(ledger: &mut Ledger) -> Result<Value, LedgerError> {
    let entries = ledger.entries()?;
    let entries = entries.into_iter().map(|stored| {
        // The text itself, byte for byte: its hash is of these bytes.
        json!({ "hash": stored.hash, "text": stored.text })
    });
    let entries: Vec<Value> = entries.collect();
    let books = ledger.books();
    Ok(json!({
        "format": FORMAT,
        "head": books.head(),
        "datasets": accounts(books),
        "entries": entries,
    }))
}

fn finite(value: f64) -> Value {
    if value.is_finite() { value.into() } else { Value::Null }
}

/// One row per reservation.
pub fn as_csv(ledger: &Ledger) -> String {
    let mut text = String::from(
        "entry,when,who,dataset,state,doing,purpose,epsilon,delta,share_of_limit,certificate_sha256,unit\n",
    );
    let books = ledger.books();
    for held in books.reservations().values() {
        let account = books.accounts().get(&held.dataset);
        let share = account.map_or(0.0, |account| held.price.share(&account.limit.exact()));
        // The unit is stated by the release, or of the data set afterwards.
        let stated = account.map(|account| &account.whose).filter(|_| !held.whose.is_said());
        text.push_str(&line(held, share, stated.unwrap_or(&held.whose)));
    }
    text
}

fn line(held: &Reservation, share: f64, whose: &UnitDefinition) -> String {
    let claim = |of: fn(&privet_dp::account::Guarantee) -> f64| {
        held.claim.as_ref().map_or(String::new(), |claim| of(claim).to_string())
    };
    let share = if held.state == State::Void { 0.0 } else { share };
    let cells = [
        held.sequence.to_string(),
        held.at.clone(),
        held.who.clone(),
        held.dataset.clone(),
        held.state.word().into(),
        held.doing.clone(),
        held.purpose.clone(),
        claim(|claim| claim.epsilon),
        claim(|claim| claim.delta),
        share.to_string(),
        held.certificate.clone().unwrap_or_default(),
        whose.to_string(),
    ];
    let quoted = cells.map(|cell| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    });
    quoted.join(",") + "\n"
}
