//! Paying for a release from a ledger, in the steps of [`crate::order`].

use crate::failure::Failure;
use crate::progress::Meter;
use crate::releasing::only_once;
use crate::say;
use clap::Args;
use privet_data::Schema;
use privet_dp::gate::{LedgerEntry, Purse, Spend};
use privet_learn::pay::{Payer, Price, RawRows};
use privet_ledger::identity::TableFingerprint;
use privet_ledger::{BudgetRequest, Ledger, LedgerError, Note, SessionPurse, State};
use std::path::{Path, PathBuf};

/// The name of a ledger that lies beside the data.
pub const LEDGER_NAME: &str = "privet.ledger";
/// Says that no ledger is wanted.
const NO_LEDGER: &str = "none";

/// Who pays.
#[derive(Args, Debug)]
#[command(next_help_heading = "Budget")]
pub struct BudgetFlags {
    /// Pay from this ledger, and release nothing that would exceed its limit; see `privet budget`
    /// [default: privet.ledger beside the data, if there is one; none pays from nowhere]
    #[arg(long, value_name = "LEDGER", env = "PRIVET_LEDGER", hide_env_values = true)]
    ledger: Option<PathBuf>,
    /// What the ledger calls the table [default: the file's name without its ending]
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// Count a table that the ledger has not seen as this data set: rows were added or left out
    #[arg(long, value_name = "NAME", conflicts_with = "dataset")]
    same_as: Option<String>,
    /// Why it is released, for the ledger
    #[arg(long, value_name = "WORDS")]
    purpose: Option<String>,
    /// Spend the data set's whole limit on this one release
    #[arg(long)]
    whole: bool,
}

/// A release that is to be paid for, or not.
pub struct Spending {
    paying: Option<SessionPurse>,
    same_as: bool,
    note: Note,
}

impl BudgetFlags {
    /// Refuses to go on with a stream that the ledger, where there is one, has not spent on the data set that
    /// is asked for. What comes back pays for nothing more: it recognises the table. `repeatable` says that
    /// the noise comes from a seed.
    pub fn paid_before(
        &self,
        data: Option<&Path>,
        entered: Option<&LedgerEntry>,
        repeatable: bool,
    ) -> Result<Spending, Failure> {
        let Some(path) = self.path(data)? else {
            return match entered {
                None => self.without_ledger(),
                Some(_) => Err(Failure::Refused(
                    "this was paid for from a ledger, which is not beside the table: name it with --ledger".into(),
                )),
            };
        };
        let Some(entered) = entered else {
            return Err(Failure::Refused(format!(
                "this was begun without a ledger, so that {} does not know of it; begin another, or go on \
                 unpaid with --ledger none",
                path.display()
            )));
        };
        let mut spending =
            self.paid_from_ledger(&path, data, "a stream that goes on", repeatable)?;
        if let Some(paying) = &mut spending.paying {
            let asked = paying.request().dataset.clone();
            let found = paying.ledger().find(entered).map_err(|error| match error {
                LedgerError::Certificate(why) => Failure::Refused(format!(
                    "the stream was not paid for from {}: {why}",
                    path.display()
                )),
                error => error.into(),
            })?;
            if found.dataset != asked {
                return Err(Failure::Refused(format!(
                    "the stream was paid for by the data set '{0}', and goes on with that alone, not with \
                     '{1}'; --dataset '{0}' is accepted where the table is that one, --same-as '{0}' where \
                     rows were added or left out",
                    privet_core::printable(&found.dataset),
                    privet_core::printable(&asked)
                )));
            }
            if !matches!(found.state, State::Drawn | State::Settled) {
                return Err(Failure::Refused(format!(
                    "the stream was not paid for from {}: entry {} was never spent",
                    path.display(),
                    found.reservation
                )));
            }
        }
        Ok(spending)
    }

    /// Opens the ledger, if there is one. `repeatable` says that the noise comes from a seed.
    pub fn spending(
        &self,
        data: Option<&Path>,
        doing: &str,
        repeatable: bool,
    ) -> Result<Spending, Failure> {
        let Some(path) = self.path(data)? else { return self.without_ledger() };
        let mut spending = self.paid_from_ledger(&path, data, doing, repeatable)?;
        if let Some(paying) = &mut spending.paying {
            let name = privet_core::printable(&paying.request().dataset).into_owned();
            say!("paying from {} for '{name}'", path.display());
        }
        Ok(spending)
    }

    /// Nobody pays; what is for a ledger alone is refused.
    fn without_ledger(&self) -> Result<Spending, Failure> {
        let given = [
            ("--dataset", self.dataset.is_some()),
            ("--same-as", self.same_as.is_some()),
            ("--purpose", self.purpose.is_some()),
            ("--whole", self.whole),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Failure::input(format!(
                "{flag} is for a ledger, and there is none: accepted with --ledger"
            ))),
            None => Ok(Spending { paying: None, same_as: false, note: self.note() }),
        }
    }

    /// From the ledger of this path, for a data set that it has.
    fn paid_from_ledger(
        &self,
        path: &Path,
        data: Option<&Path>,
        doing: &str,
        repeatable: bool,
    ) -> Result<Spending, Failure> {
        if repeatable {
            return Err(Failure::Refused(
                "--seed: noise that can be made again protects nobody, so that no budget can pay for it; \
                 leave it out, or give --ledger none where the data are public"
                    .into(),
            ));
        }
        let name = self.dataset.clone().or_else(|| self.same_as.clone());
        let dataset = name.or_else(|| data.map(name_of)).ok_or_else(|| {
            Failure::input("--dataset is missing: what the ledger calls whom the rows are of")
        })?;
        let ledger = open(path)?;
        // Refused before anything else is done.
        ledger.books().account(&dataset)?;
        let (note, same_as) = (self.note(), self.same_as.is_some());
        let asked = BudgetRequest {
            dataset,
            doing: doing.into(),
            note: note.clone(),
            claim: None,
            whole: self.whole,
        };
        let paying = Some(SessionPurse::new(ledger, asked).until_closed());
        Ok(Spending { paying, same_as, note })
    }

    fn note(&self) -> Note {
        Note { who: system_user(), purpose: self.purpose.clone().unwrap_or_default() }
    }

    fn path(&self, data: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
        match &self.ledger {
            Some(path) if path.as_os_str() == NO_LEDGER => Ok(None),
            Some(path) => Ok(Some(path.clone())),
            None => data.map_or(Ok(None), |data| existing_path(ledger_beside(data))),
        }
    }
}

/// The path, where something is there, be it a link that leads nowhere; `None` only where nothing is. Where
/// that cannot be told, nobody may take it for nothing.
fn existing_path(path: PathBuf) -> Result<Option<PathBuf>, Failure> {
    match std::fs::symlink_metadata(&path) {
        Ok(_) => Ok(Some(path)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let words = format!(
                "{}: whether a ledger lies there cannot be told: {error}; name one with --ledger, or none \
                 with --ledger none",
                path.display()
            );
            Err(Failure::file_in_words(words, &error))
        }
    }
}

impl Payer for Spending {
    type Error = Failure;
    type Print = TableFingerprint;

    fn purse(&mut self) -> Option<&mut dyn Purse> {
        self.paying.as_mut().map(|paying| paying as &mut dyn Purse)
    }

    fn reserve(&mut self, price: &Price<'_>) -> Result<(), Failure> {
        let Some(paying) = &mut self.paying else { return Ok(()) };
        if let Some(claim) = price.claim.filter(|_| !paying.is_set_aside()) {
            paying.claim(claim);
        }
        paying.of(price.schema.unit_definition());
        paying.set_aside(&price.spend).map_err(|error| match error.is_environment() {
            true => Failure::Environment(format!("{error}. Nothing was spent")),
            false => error.into(),
        })
    }

    fn print(&mut self, rows: RawRows<'_, Failure>) -> Result<Option<TableFingerprint>, Failure> {
        let Some(paying) = &mut self.paying else { return Ok(None) };
        let Some(mut printer) = paying.ledger().printer()? else { return Ok(None) };
        rows(&mut |row| printer.row(row))?;
        Ok(Some(printer.finish()))
    }

    fn recognise(&mut self, print: TableFingerprint) -> Result<(), Failure> {
        let Some(paying) = &mut self.paying else { return Ok(()) };
        let dataset = paying.request().dataset.clone();
        Ok(paying.ledger().recognise(&dataset, &print, self.same_as, &self.note)?)
    }

    fn spend_whole(self, spend: &Spend) -> Result<Option<LedgerEntry>, Failure> {
        Ok(self.paying.map(|paying| paying.spend_whole(spend)).transpose()?)
    }

    /// The same, and says what is left.
    fn close(&mut self) -> Result<(), Failure> {
        if let Some(paying) = &mut self.paying {
            paying.close()?;
        }
        self.tell();
        Ok(())
    }
}

impl Spending {
    fn tell(&mut self) {
        let Some(paying) = &mut self.paying else { return };
        let name = paying.request().dataset.clone();
        let books = paying.ledger().books();
        let (Ok(account), head) = (books.account(&name), books.head()) else { return };
        let paid = format!(
            "paid for by '{name}': {} of its budget is spent, {} is left (ledger entry {})",
            per_cent(account.share()),
            per_cent((1.0 - account.share()).max(0.0)),
            head.sequence
        );
        say!("{}", crate::sentences::wrap_lines(&paid, "").trim_end());
    }
}

/// The print of a table under the ledger's secret; `None` where the ledger knows tables by their names alone.
pub fn print_of(
    ledger: &mut Ledger,
    path: &Path,
    schema: Option<&Schema>,
) -> Result<Option<TableFingerprint>, Failure> {
    let Some(mut printer) = ledger.printer()? else { return Ok(None) };
    raw_rows(path, schema, &mut |row| printer.row(row))?;
    Ok(Some(printer.finish()))
}

/// The rows of a table, in the one form by which a ledger knows them again.
pub fn raw_rows(
    path: &Path,
    schema: Option<&Schema>,
    each: &mut dyn FnMut(&[u8]),
) -> Result<(), Failure> {
    if only_once(path) {
        return Err(Failure::input(format!(
            "{}: a ledger reads a table once more, to know it again; a file is accepted, not a pipe",
            path.display()
        )));
    }
    let _meter = Meter::spinner("recognising the table");
    Ok(privet_data::read::raw_rows(path, schema, each)?)
}

/// Opens a ledger by its path, or by the address of a server.
pub fn open(path: &Path) -> Result<Ledger, Failure> {
    match address(path) {
        Some(address) => connect(address),
        None => Ok(Ledger::open(path)?),
    }
}

/// The same, only to look at: nothing is made or changed.
pub fn look(path: &Path) -> Result<Ledger, Failure> {
    match address(path) {
        Some(address) => look_at(address),
        None => Ok(Ledger::open_read_only(path)?),
    }
}

/// The address, if it is one of a server.
pub fn address(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    (text.starts_with("postgres://") || text.starts_with("postgresql://")).then_some(text)
}

#[cfg(feature = "postgres")]
pub fn connect(address: &str) -> Result<Ledger, Failure> {
    Ok(Ledger::connect(address, &system_user())?)
}

#[cfg(feature = "postgres")]
fn look_at(address: &str) -> Result<Ledger, Failure> {
    Ok(Ledger::open_read_only_at(address)?)
}

#[cfg(not(feature = "postgres"))]
pub fn connect(_address: &str) -> Result<Ledger, Failure> {
    Err(Failure::input(
        "--ledger: this command was built without PostgreSQL; build it with the feature postgres, or name a file",
    ))
}

#[cfg(not(feature = "postgres"))]
fn look_at(address: &str) -> Result<Ledger, Failure> {
    connect(address)
}

/// The ledger that lies beside a table: in its folder, where the table is one, so that it is the same
/// for the files in it.
pub fn ledger_beside(data: &Path) -> PathBuf {
    if data.is_dir() { data.join(LEDGER_NAME) } else { data.with_file_name(LEDGER_NAME) }
}

/// What a table is called where nobody says: the file's name without its endings.
pub fn name_of(data: &Path) -> String {
    let name = data.file_name().unwrap_or_default().to_string_lossy();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.into(),
        _ => name.into(),
    }
}

/// Who is at work, as the system calls them.
pub fn system_user() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| "unknown".into())
}

/// A share for people.
pub fn per_cent(share: f64) -> String {
    match share {
        share if !share.is_finite() => "all".into(),
        share if share > 0.0 && share < 0.001 => "less than 0.1 %".into(),
        share => format!("{:.1} %", 100.0 * share),
    }
}
