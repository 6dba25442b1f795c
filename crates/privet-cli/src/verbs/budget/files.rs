//! `privet budget export` and `import`.

use super::LedgerFlags;
use crate::failure::Failure;
use crate::output::{self, print_exact};
use crate::settings::assignment;
use crate::spending::{look, open, per_cent, system_user};
use clap::{Args, ValueEnum};
use privet_core::printable;
use privet_ledger::{Note, as_csv, as_json};
use std::path::PathBuf;

/// Which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Every entry with its hash, to be checked elsewhere
    Json,
    /// A line a release
    Csv,
}

/// Write the ledger's entries to standard output; nothing of the data is in them
#[derive(Args, Debug)]
pub struct Export {
    #[command(flatten)]
    which: LedgerFlags,
    /// As what
    #[arg(long, value_enum, default_value_t = Form::Json)]
    form: Form,
}

/// Take in what another ledger spent on the same data
#[derive(Args, Debug)]
#[command(long_about = "\
Takes in what another ledger spent on the same data: a copy of this one that went its own way, or one that was
kept on a copy of the table. To the safe side: all that counts there and is not here is entered as spent, even
beyond the limit (then nothing more fits). Taking in the same ledger again adds what is new.")]
pub struct Import {
    #[command(flatten)]
    which: LedgerFlags,
    /// The other ledger
    other: PathBuf,
    /// What a data set of the other is called here; may be given several times
    #[arg(long = "called", value_name = "THERE=HERE", value_parser = assignment)]
    called: Vec<(String, String)>,
}

impl Export {
    /// Reads and prints the entries.
    pub fn run(self) -> Result<(), Failure> {
        let mut ledger = self.which.look()?;
        match self.form {
            Form::Json => print_exact(&format!("{:#}\n", as_json(&mut ledger)?)),
            Form::Csv => print_exact(&as_csv(&ledger)),
        }
    }
}

impl Import {
    /// Reads the other ledger and writes into this one.
    pub fn run(self) -> Result<(), Failure> {
        let mut other = look(&self.other)?;
        let mut ledger = open(&self.which.ledger)?;
        let names = self.called.into_iter().collect();
        let note = Note { who: system_user(), purpose: String::new() };
        let merged = ledger.take_in(&mut other, &names, &note)?;
        let mut text = String::new();
        for taken in merged {
            let releases = if taken.releases == 1 { "release" } else { "releases" };
            text.push_str(&format!(
                "{}: {} {releases} taken in, {} of the limit here\n",
                printable(&taken.dataset),
                taken.releases,
                per_cent(taken.share)
            ));
        }
        output::report(&text)
    }
}
