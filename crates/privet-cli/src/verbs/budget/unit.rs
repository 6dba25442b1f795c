//! `privet budget unit`: defines the unit of a data set whose entry lacks it.

use super::LedgerFlags;
use crate::failure::Failure;
use crate::settings::column;
use crate::spending::{open, system_user};
use crate::{output, sentences};
use clap::Args;
use privet_core::{Spelling, UnitDefinition, printable};
use privet_dp::gate::Certificate;
use privet_ledger::{Ledger, LedgerError, Note, State};

/// State whose records are one user's in a data set of an earlier version, which did not write it down
#[derive(Args, Debug)]
#[command(long_about = "\
States which column says whose a record is in a data set whose limit is for users and that does not know it: ledgers
of 0.2.0 did not write it down. The statement is an entry of its own, in your name, and is never changed. It is compared
with the certificates that the ledger keeps; releases whose certificate it has not, and those taken in from other
ledgers, are taken at your word, and it says how many.")]
pub struct UnitOf {
    #[command(flatten)]
    which: LedgerFlags,
    /// The data set
    #[arg(value_name = "NAME")]
    dataset: String,
    /// The column that says whose a record is
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    column: String,
    /// Blanks around an identifier count: the schema has trim = false
    #[arg(long)]
    blanks: bool,
    #[arg(
        long, value_name = "SPELLING", default_value_t = Spelling::Text,
        help = format!("When two identifiers, written differently, name one user: {}", Spelling::ACCEPTED),
    )]
    spelling: Spelling,
}

impl UnitOf {
    /// Compares it with the certificates and writes it to the ledger.
    pub fn run(self) -> Result<(), Failure> {
        let mut ledger = open(&self.which.ledger)?;
        let whose = UnitDefinition::Column {
            column: self.column.clone(),
            trim: !self.blanks,
            spelling: self.spelling,
        };
        ledger.books().account(&self.dataset)?;
        let unchecked = check_definition(&mut ledger, &self.dataset, &whose)?;
        let note = Note { who: system_user(), purpose: String::new() };
        ledger.state_unit(&self.dataset, &whose, &note)?;
        let message =
            format!("{}: a user is {whose}, as {} says", printable(&self.dataset), note.who);
        let mut text = sentences::wrap_lines(&message, "");
        for (releases, why) in [
            (unchecked.own, "no certificate that says it is in the ledger"),
            (unchecked.taken_in, "taken in from other ledgers, which did not say it"),
        ] {
            if releases > 0 {
                let message = format!("releases for which nothing shows it: {releases} ({why})");
                text.push_str(&sentences::wrap_lines(&message, ""));
            }
        }
        output::report(&text)
    }
}

/// The number of releases without evidence of their unit.
#[derive(Default)]
struct Unchecked {
    /// Releases of this ledger without a certificate that states it.
    own: u64,
    /// Releases of other ledgers: their certificates are not here.
    taken_in: u64,
}

/// Refuses a definition that the ledger's certificates contradict.
fn check_definition(
    ledger: &mut Ledger,
    dataset: &str,
    whose: &UnitDefinition,
) -> Result<Unchecked, Failure> {
    let account = ledger.books().account(dataset)?;
    let taken_in = account.imported.values().map(|taken| taken.releases).sum();
    let counted = ledger.books().reservations().values();
    let counted = counted.filter(|held| held.dataset == dataset && held.state != State::Void);
    let kept: Vec<Option<String>> = counted.map(|held| held.certificate.clone()).collect();
    let mut unchecked = Unchecked { taken_in, ..Unchecked::default() };
    for hash in kept {
        let text = hash.map(|hash| ledger.certificate(&hash)).transpose()?.flatten();
        let stated = text.as_deref().and_then(unit_of).unwrap_or_default();
        if stated.is_said() && stated != *whose {
            return Err(LedgerError::OtherUnit {
                name: dataset.into(),
                whose: stated,
                requested: whose.clone(),
            }
            .into());
        }
        unchecked.own += u64::from(!stated.is_said());
    }
    Ok(unchecked)
}

/// The definition of a unit in the request that a certificate carries.
fn unit_of(text: &str) -> Option<UnitDefinition> {
    serde_json::from_str::<Certificate>(text).ok().as_ref().map(privet_learn::whose_of)
}
