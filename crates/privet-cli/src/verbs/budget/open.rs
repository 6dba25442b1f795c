//! `privet budget open`: a limit for a table.

use crate::failure::Failure;
use crate::output;
use crate::sentences;
use crate::settings::{column, range_parser};
use crate::spending::{address, connect, ledger_beside, name_of, print_of, system_user};
use clap::Args;
use privet_core::{
    Budget, DELTA, EPSILON, Neighbours, Relation, Spelling, Unit, UnitDefinition, printable,
};
use privet_data::Schema;
use privet_ledger::{Kind, Ledger, Limit, Note};
use serde_json::json;
use std::path::PathBuf;

/// Fix what may be spent on a table in all; makes the ledger if there is none
#[derive(Args, Debug)]
#[command(
    long_about = "\
Fixes what may be spent on a table in all: ε and δ, towards one relation and one unit, and by which filter that
is kept. None of it can be changed afterwards. The table is read once, so that the ledger knows it again: as CSV
or Parquet, in any order of rows, under any name. One that shares more than 20 % of its rows with a data set of
the ledger is asked about: --same-as counts it there, --new opens it on its own all the same.

Filters:
  renyi      one Rényi order, fixed here; admits every kind of release (the default)
  zcdp       zero-concentrated; releases without a ρ count by their claimed ε and δ
  gaussian   Gaussian releases alone, and the tightest for those
  sum        adds up ε and δ; the only one at δ = 0

Without DATA (and with --name) the data set is known by its name, for a stream.",
    after_help = "\
Examples:
  privet budget open table.csv --schema s.toml --epsilon 3 --delta 1e-6
  privet budget open visits.parquet --epsilon 1 --delta 1e-6 --unit user:5 --neighbours add-remove
  privet budget open --name clicks --ledger clicks.ledger --epsilon 1 --delta 1e-6"
)]
pub struct Open {
    /// The table: CSV (.gz, .zst), LIBSVM or Parquet
    data: Option<PathBuf>,
    /// The public schema, where it says how the file is laid out and what the unit is
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<PathBuf>,
    /// The ledger [default: privet.ledger beside the data]
    #[arg(long, value_name = "LEDGER", env = "PRIVET_LEDGER", hide_env_values = true)]
    ledger: Option<PathBuf>,
    /// What the table is called [default: the file's name without its ending]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[arg(
        long, value_name = "E", value_parser = range_parser(EPSILON), allow_hyphen_values = true,
        required_unless_present = "same_as",
        help = format!("ε of everything together: {EPSILON}"),
    )]
    epsilon: Option<f64>,
    #[arg(
        long, value_name = "D", value_parser = range_parser(DELTA), allow_hyphen_values = true,
        required_unless_present = "same_as",
        help = format!("δ of everything together: {DELTA}. Far below 1 / number of rows"),
    )]
    delta: Option<f64>,
    /// Neighbouring tables: replace-one (row count public) or add-remove (row count private)
    #[arg(long, value_name = "RELATION", default_value_t = Neighbours::ReplaceOne)]
    neighbours: Neighbours,
    /// Whose data: record, or user:K for a user with at most K records [default: the schema's, or record]
    #[arg(long, value_name = "UNIT", value_parser = unit)]
    unit: Option<Unit>,
    /// Which column says whose a record is, where the unit is a user [default: the schema's, or that of
    /// the first release]
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    unit_column: Option<String>,
    /// How the limit is kept: renyi, zcdp, gaussian or sum [default: renyi, at δ = 0 sum]
    #[arg(long, value_name = "FILTER")]
    filter: Option<Kind>,
    /// The Rényi order [default: at which most Gaussian releases fit]
    #[arg(long, value_name = "A")]
    order: Option<f64>,
    /// Count this table as a data set that the ledger has: no limit of its own
    #[arg(long, value_name = "NAME", conflicts_with_all = ["epsilon", "delta", "filter", "order", "unit", "unit_column", "new", "name"])]
    same_as: Option<String>,
    /// Open it on its own though it shares rows with another; the ledger says so
    #[arg(long)]
    new: bool,
    /// Why, for the ledger
    #[arg(long, value_name = "WORDS", default_value = "")]
    purpose: String,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// `record` or `user:K`.
fn unit(text: &str) -> Result<Unit, String> {
    let most = |count: &str| count.parse::<u32>().ok().filter(|count| *count > 0);
    match text.split_once(':') {
        None if text == "record" => Ok(Unit::Record),
        Some(("user", count)) => most(count)
            .map(|max_records| Unit::User { max_records })
            .ok_or_else(|| "accepted is user:K, K the most records that one user has".into()),
        _ => Err("accepted: record, or user:K for a user with at most K records".into()),
    }
}

impl Open {
    /// The definition of a unit: the column given, read as the schema specifies, or the schema's own.
    fn unit_definition(&self, schema: Option<&Schema>) -> Result<UnitDefinition, Failure> {
        let said = schema.map_or(UnitDefinition::NotSaid, Schema::unit_definition);
        let user = self.unit.or(schema.map(Schema::unit)).unwrap_or(Unit::Record);
        match (&self.unit_column, said) {
            (None, said) => Ok(said.of(user)),
            (Some(_), _) if user == Unit::Record => Err(Failure::input(
                "--unit-column: the unit is a record; accepted with --unit user:K, or a schema with [unit]",
            )),
            (Some(name), UnitDefinition::Column { column, .. }) if column != *name => {
                Err(Failure::input(format!(
                    "--unit-column {}: the schema's unit is '{}'; leave one of them out",
                    printable(name),
                    printable(&column)
                )))
            }
            (Some(_), said @ UnitDefinition::Column { .. }) => Ok(said),
            (Some(name), _) => Ok(UnitDefinition::Column {
                column: name.clone(),
                trim: schema.is_none_or(|schema| schema.file().trim),
                spelling: schema
                    .and_then(Schema::unit_column)
                    .map_or(Spelling::Text, |unit| unit.spelling),
            }),
        }
    }

    /// Reads the table and writes the limit to the ledger.
    pub fn run(self) -> Result<(), Failure> {
        let schema = self.schema.as_ref().map(Schema::load).transpose()?;
        let Some(path) = self.ledger.clone().or_else(|| self.data.as_deref().map(ledger_beside))
        else {
            return Err(Failure::input(
                "--ledger is missing: there is no table that it could lie beside",
            ));
        };
        let note = Note { who: system_user(), purpose: self.purpose.clone() };
        let whose = self.unit_definition(schema.as_ref())?;
        let limit = match (self.epsilon, self.delta) {
            (Some(epsilon), Some(delta)) if self.same_as.is_none() => {
                let unit = self.unit.or(schema.as_ref().map(Schema::unit)).unwrap_or(Unit::Record);
                let kind =
                    self.filter.unwrap_or(if delta == 0.0 { Kind::Sum } else { Kind::Renyi });
                let relation = Relation::new(self.neighbours, unit);
                Some(Limit::new(kind, self.order, Budget::new(epsilon, delta)?, relation)?)
            }
            _ => None,
        };
        // Checked before a ledger is created.
        if let Some(data) = &self.data {
            std::fs::metadata(data)
                .map_err(|error| Failure::file(&data.display().to_string(), &error))?;
        }
        let name = self.name.clone().or_else(|| self.data.as_deref().map(name_of));
        let name =
            name.ok_or_else(|| Failure::input("--name is missing: what the data set is called"))?;
        let mut ledger = match address(&path) {
            Some(address) => connect(address)?,
            None if path.exists() => Ledger::open(&path)?,
            None if self.same_as.is_some() => {
                return Err(privet_ledger::LedgerError::Absent {
                    path: path.display().to_string(),
                }
                .into());
            }
            None => Ledger::create(&path, &note.who)?,
        };
        let print = match &self.data {
            Some(data) => print_of(&mut ledger, data, schema.as_ref())?,
            None => None,
        };
        let name = match (&self.same_as, limit) {
            (Some(same), _) => {
                if let Some(print) = &print {
                    ledger.recognise(same, print, true, &note)?;
                }
                same.clone()
            }
            (None, Some(limit)) => {
                ledger.add(&name, limit, &whose, &note, print, self.new)?;
                name
            }
            (None, None) => return Err(Failure::input("--epsilon and --delta are missing")),
        };
        let account = ledger.books().account(&name)?;
        if self.json {
            return output::print_json(&json!({
                "ledger": path.display().to_string(), "dataset": name, "limit": account.limit,
                "whose": account.whose,
            }));
        }
        let kept = format!(
            "{name}: at most {} for {}, kept by the filter {}",
            sentences::budget(account.limit.epsilon, account.limit.delta),
            account.limit.relation(),
            super::look::filter(&account.limit),
        );
        let kept = match sentences::unit_sentence(account.limit.filter.unit, &account.whose) {
            Some(whose) => format!("{kept}; {whose}"),
            None => kept,
        };
        output::report(&format!(
            "{}ledger: {}{}\n",
            sentences::wrap_lines(&kept, ""),
            printable(&path.display().to_string()),
            if address(&path).is_some() {
                ""
            } else {
                " (only you can read it; keep it with the data)"
            },
        ))
    }
}
