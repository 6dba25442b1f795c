//! `privet budget`: the total limit on a table, and its spending.

mod files;
mod look;
mod open;
mod report;
mod unit;

pub use look::rounded_up;

use crate::failure::Failure;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Keep account of every ε that is spent on a table, and of what is left
#[derive(Args, Debug)]
#[command(
    long_about = "\
A ledger says what may be spent on a table in all, and remembers every release. Each verb that spends (train,
tune, describe, count, select, complete, online, vote, answer, neighbours, evaluate --epsilon, party train) pays
from it with --ledger, or by itself from a privet.ledger that lies beside the data: what is to be spent is written
down before a record is read, and a release that would exceed the limit is refused.

Limits are kept by a privacy filter, not by adding up ε: many small releases cost less than their sum. A crash
can waste budget, never hide spending. Entries form a chain of hashes, and certificates state where in it they
are, so that an edited ledger is found (`privet budget verify --certificates DIR`).

A limit on users is for those of one column: a release whose schema says otherwise whose a record is is refused.",
    after_help = "\
Examples:
  privet budget open table.csv --schema s.toml --epsilon 3 --delta 1e-6
  privet train table.csv --schema s.toml --epsilon 0.5 --out m.json --purpose \"a first look\"
  privet budget show privet.ledger
  privet budget report privet.ledger --html budget.html"
)]
pub struct Budget {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Open(open::Open),
    Show(look::Show),
    History(look::History),
    Verify(look::Verify),
    Unit(unit::UnitOf),
    Void(look::Void),
    Export(files::Export),
    Import(files::Import),
    Report(report::Report),
}

/// Which ledger.
#[derive(Args, Debug)]
struct LedgerFlags {
    /// The ledger
    #[arg(value_name = "LEDGER", env = "PRIVET_LEDGER", hide_env_values = true)]
    ledger: PathBuf,
}

impl LedgerFlags {
    /// Opens the ledger read-only.
    fn look(&self) -> Result<privet_ledger::Ledger, Failure> {
        crate::spending::look(&self.ledger)
    }
}

impl Budget {
    /// Runs the subcommand.
    pub fn run(self) -> Result<(), Failure> {
        match self.verb {
            Verb::Open(verb) => verb.run(),
            Verb::Show(verb) => verb.run(),
            Verb::History(verb) => verb.run(),
            Verb::Verify(verb) => verb.run(),
            Verb::Unit(verb) => verb.run(),
            Verb::Void(verb) => verb.run(),
            Verb::Export(verb) => verb.run(),
            Verb::Import(verb) => verb.run(),
            Verb::Report(verb) => verb.run(),
        }
    }
}
