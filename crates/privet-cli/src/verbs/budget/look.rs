//! `privet budget show`, `history`, `verify` and `void`.

use super::LedgerFlags;
use crate::failure::Failure;
use crate::output::{self, json_number, number};
use crate::progress::Meter;
use crate::spending::{open, per_cent, system_user};
use crate::{say, sentences};
use clap::Args;
use privet_core::printable;
use privet_dp::account::filter::Law;
use privet_dp::gate::Certificate;
use privet_ledger::{Ledger, Limit, State};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Show what was spent on each data set, and what is left
#[derive(Args, Debug)]
pub struct Show {
    #[command(flatten)]
    which: LedgerFlags,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// List every release: when, who, why, and what it cost
#[derive(Args, Debug)]
pub struct History {
    #[command(flatten)]
    which: LedgerFlags,
    /// Only of this data set
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Check the chain of entries, every price and limit, and certificates that were given out
#[derive(Args, Debug)]
#[command(long_about = "\
Checks that each entry follows the one before, that each price is what its events cost, and that no limit was
exceeded. With --certificates, that every release in the folder is one that the ledger has, as it was then: so
that entries that were edited, taken out, cut off or written anew are found, as far as certificates exist.

It cannot find spending of which no certificate is left and whose entries were cut off at the end or written
anew, nor releases that were made without the ledger.")]
pub struct Verify {
    #[command(flatten)]
    which: LedgerFlags,
    /// A folder with released files (.json)
    #[arg(long, value_name = "DIR")]
    certificates: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Free a reservation from which nothing was drawn: one that a killed process left
#[derive(Args, Debug)]
#[command(long_about = "\
Frees a reservation from which nothing was drawn. Every draw is written down before it is made, so that a
reservation without one has released nothing; a process that still holds it can then no longer draw.")]
pub struct Void {
    #[command(flatten)]
    which: LedgerFlags,
    /// The entry of the reservation; see `privet budget history`
    entry: u64,
}

/// The filter in words.
pub fn filter(limit: &Limit) -> String {
    match limit.filter.limit {
        Law::Renyi { order, .. } => format!("renyi at order {}", number(order)),
        Law::Concentrated { rho } => format!("zcdp up to ρ = {}", number(rho)),
        Law::Gaussian { mu } => format!("gaussian up to μ = {}", number(mu)),
        Law::Sum { .. } => "sum".into(),
    }
}

impl Show {
    /// Reads and prints the accounts.
    pub fn run(self) -> Result<(), Failure> {
        let ledger = self.which.look()?;
        let books = ledger.books();
        if self.json {
            let sets: Vec<Value> = books
                .accounts()
                .iter()
                .map(|(name, account)| {
                    json!({
                        "dataset": name,
                        "epsilon": account.limit.epsilon,
                        "delta": account.limit.delta,
                        "neighbours": account.limit.filter.neighbours,
                        "unit": account.limit.filter.unit,
                        "whose": account.whose,
                        "filter": account.limit.filter,
                        "share_spent": json_number(account.share()),
                        "epsilon_spent": json_number(account.proved_epsilon()),
                        "releases": account.releases,
                        "purpose": account.purpose,
                    })
                })
                .collect();
            return output::print_json(&json!({ "head": books.head(), "datasets": sets }));
        }
        let mut text = String::new();
        for (name, account) in books.accounts() {
            let limit = &account.limit;
            text.push_str(&format!("{}\n", printable(name)));
            text.push_str(&format!(
                "  limit    {} for {}\n           kept by the filter {}\n",
                sentences::budget(limit.epsilon, limit.delta),
                limit.relation(),
                filter(limit)
            ));
            if let Some(whose) = sentences::unit_sentence(limit.filter.unit, &account.whose) {
                text.push_str(&format!("  unit     {whose}\n"));
            }
            let releases = if account.releases == 1 { "release" } else { "releases" };
            let proved = match account.releases {
                0 => String::new(),
                _ => format!(
                    ", together ε = {} at that δ",
                    number(rounded_up(account.proved_epsilon()))
                ),
            };
            text.push_str(&format!(
                "  spent    {} by {} {releases}{proved}\n  left     {}\n",
                per_cent(account.share()),
                account.releases,
                per_cent((1.0 - account.share()).max(0.0))
            ));
            let waiting: Vec<String> = books
                .reservations()
                .values()
                .filter(|held| held.state == State::Reserved && held.dataset == *name)
                .map(|held| held.sequence.to_string())
                .collect();
            if !waiting.is_empty() {
                text.push_str(&format!(
                    "  reserved, nothing drawn: entry {}. Where no process is at work any more,\n  \
                     `privet budget void` frees it\n",
                    waiting.join(", ")
                ));
            }
        }
        if text.is_empty() {
            text.push_str("no data set yet: `privet budget open` adds one\n");
        }
        let head = books.head();
        text.push_str(&format!("{} entries; head {}\n", head.sequence, head.hash));
        output::print(&text)
    }
}

/// Rounded up to three digits.
pub fn rounded_up(value: f64) -> f64 {
    if !value.is_finite() || value == 0.0 {
        return value;
    }
    let power = 10_f64.powi(2 - value.abs().log10().floor() as i32);
    (value * power).ceil() / power
}

impl History {
    /// Reads and prints the releases.
    pub fn run(self) -> Result<(), Failure> {
        let ledger = self.which.look()?;
        let books = ledger.books();
        if let Some(name) = &self.dataset {
            books.account(name)?;
        }
        let wanted = |dataset: &str| self.dataset.as_deref().is_none_or(|name| name == dataset);
        let held = || books.reservations().values().filter(|held| wanted(&held.dataset));
        let share = |held: &privet_ledger::Reservation| match held.state {
            State::Void => 0.0,
            _ if held.charged == privet_ledger::entry::PriceBasis::Whole => 1.0,
            _ => books
                .accounts()
                .get(&held.dataset)
                .map_or(0.0, |account| held.price.share(&account.limit.exact())),
        };
        if self.json {
            let all: Vec<Value> = held().map(|held| json!({
                "entry": held.sequence, "when": held.at, "who": held.who, "dataset": held.dataset,
                "state": held.state.word(), "whose": held.whose, "doing": held.doing, "purpose": held.purpose,
                "epsilon": held.claim.map(|claim| json_number(claim.epsilon)),
                "delta": held.claim.map(|claim| claim.delta),
                "share_of_limit": json_number(share(held)), "certificate_sha256": held.certificate,
            })).collect();
            return output::print_json(&Value::from(all));
        }
        let mut rows = vec![
            ["entry", "when", "what", "state", "ε asked", "of the limit"]
                .map(String::from)
                .to_vec(),
        ];
        // Person, data set and purpose go below each line: beside it they are wider than a terminal.
        let mut below = Vec::new();
        for held in held() {
            rows.push(vec![
                held.sequence.to_string(),
                held.at.get(..16).unwrap_or(&held.at).replace('T', " "),
                printable(&held.doing).into_owned(),
                held.state.word().into(),
                held.claim.map_or("–".into(), |claim| number(claim.epsilon)),
                per_cent(share(held)),
            ]);
            let who = format!("{} by {}: {}", held.dataset, held.who, held.purpose);
            below.push(sentences::wrap_lines(who.trim_end_matches(": "), "       "));
        }
        let table = output::table(&rows);
        let mut lines = table.lines();
        let mut text: String = lines.by_ref().take(2).map(|line| format!("{line}\n")).collect();
        lines.zip(below).for_each(|(line, below)| text.push_str(&format!("{line}\n{below}")));
        output::print(&text)?;
        for (name, account) in books.accounts().iter().filter(|(name, _)| wanted(name)) {
            let taken: u64 = account.imported.values().map(|taken| taken.releases).sum();
            if taken > 0 {
                let releases = if taken == 1 { "release" } else { "releases" };
                say!("'{}': {taken} {releases} of other ledgers were taken in", printable(name));
            }
        }
        if !books.backwards().is_empty() {
            let at: Vec<String> = books.backwards().iter().map(u64::to_string).collect();
            say!("a clock went back at entry {}; nothing rests on clocks", at.join(", "));
        }
        Ok(())
    }
}

impl Verify {
    /// Reads the whole ledger, then each certificate.
    pub fn run(self) -> Result<(), Failure> {
        let meter = Meter::spinner("verifying");
        // Reading checks every price and limit.
        let mut ledger = self.which.look()?;
        ledger.check_claims()?;
        let mut found = Vec::new();
        if let Some(folder) = &self.certificates {
            let failed = |error| Failure::file(&folder.display().to_string(), &error);
            let mut files: Vec<PathBuf> = Vec::new();
            for entry in std::fs::read_dir(folder).map_err(failed)? {
                files.push(entry.map_err(failed)?.path());
            }
            files.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
            files.sort();
            for path in files {
                let outcome = check(&mut ledger, &path);
                found.push((path, outcome));
            }
        }
        drop(meter);
        let bad = found.iter().filter(|(_, outcome)| outcome.is_err()).count();
        let head = ledger.books().head();
        if self.json {
            let each: Vec<Value> = found
                .iter()
                .map(|(path, outcome)| {
                    json!({
                        "file": path.display().to_string(), "fits": outcome.is_ok(),
                        "why": outcome.as_ref().err(), "entry": outcome.as_ref().ok(),
                    })
                })
                .collect();
            let units: Vec<Value> = ledger
                .books()
                .accounts()
                .iter()
                .map(|(name, account)| json!({ "dataset": name, "whose": account.whose }))
                .collect();
            output::print_json(
                &json!({ "valid": bad == 0, "head": head, "units": units, "certificates": each }),
            )?;
        } else {
            let mut text = format!(
                "the chain of {} entries holds; every price and limit was found again\nhead {}\n",
                head.sequence, head.hash
            );
            for (name, account) in ledger.books().accounts() {
                if let Some(whose) =
                    sentences::unit_sentence(account.limit.filter.unit, &account.whose)
                {
                    text.push_str(&format!("{}: {whose}\n", printable(name)));
                }
            }
            for (path, outcome) in &found {
                let name = path.display().to_string();
                let words = match outcome {
                    Ok(entry) => format!("fits entry {entry}"),
                    Err(why) => format!("DOES NOT FIT: {why}"),
                };
                text.push_str(&format!("{}: {words}\n", printable(&name)));
            }
            if bad == 0 { output::report(&text)? } else { output::print(&text)? }
        }
        if bad == 0 { Ok(()) } else { Err(Failure::Told) }
    }
}

/// The reservation that a file's certificate matches.
fn check(ledger: &mut Ledger, path: &Path) -> Result<u64, String> {
    let text = std::fs::read(path).map_err(|error| error.to_string())?;
    let document: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    privet_dp::gate::seal::check(&document).map_err(|error| error.to_string())?;
    let certificate: Certificate = serde_json::from_value(document["certificate"].clone())
        .map_err(|error| error.to_string())?;
    ledger
        .check_certificate(&certificate, &privet_learn::whose_of(&certificate))
        .map(|checked| checked.reservation)
        .map_err(|error| error.to_string())
}

impl Void {
    /// Writes the entry that voids the reservation.
    pub fn run(self) -> Result<(), Failure> {
        let mut ledger = open(&self.which.ledger)?;
        ledger.void(self.entry, &system_user(), "by hand")?;
        output::report(&format!("entry {} is void: what it reserved is free again\n", self.entry))
    }
}
