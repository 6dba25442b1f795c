//! `privet schema new --epsilon`: a schema estimated privately from the records, at a cost.

use super::new::{New, TargetIs, toml_list, toml_text};
use crate::failure::Failure;
use crate::head::{FlagPresence, Head, head};
use crate::order::{Table, UnsettledRelease};
use crate::output;
use crate::progress::Meter;
use crate::spending::BudgetFlags;
use crate::{say, sentences};
use clap::Args;
use privet_core::{Neighbours, Relation, Unit, printable};
use privet_data::read::{Header, KeyCap, SurveyedColumns, held_keys};
use privet_data::schema::{Draft, Invalid, Origin, UnitDraft};
use privet_data::write::Destination;
use privet_dp::noise::{Source, SystemRandom};
use privet_learn::file::{self, Seal, from_json};
use privet_learn::private_estimates::price;
use privet_learn::statistics::outline::{
    ColumnSuggestion, Outline, Suggestion, holding, suggest_columns,
};
use privet_learn::{Plan, Released, plan};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// A look at the records that is paid for.
#[derive(Args, Debug)]
#[command(next_help_heading = "From private records")]
pub struct PaidLook {
    #[command(flatten)]
    pub head: Head<OfOutline>,
    /// Columns whose numbers are codes: their cells are categories
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', requires = "epsilon")]
    categories: Vec<String>,
    /// Columns to leave out: they cost nothing, and the others get less noise
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', requires = "epsilon")]
    leave_out: Vec<String>,
    /// Where to write what was released, with its certificate; the schema carries its price in any case
    #[arg(long, value_name = "FILE", requires = "epsilon")]
    certificate: Option<PathBuf>,
    #[command(flatten)]
    budget: BudgetFlags,
}

head! {
    pub OfOutline {
        data: (FlagPresence::Never, ""),
        schema: (FlagPresence::Never, ""),
        epsilon: (
            FlagPresence::Perhaps,
            " for types, bounds and categories that are filled in from the records, privately",
        ),
        delta: ", but not 0 [default: 1/N², N the number of rows]",
        neighbours: (
            Neighbours::ReplaceOne,
            "replace-one (row count public) or add-remove (row count private); the same must be asked for in training",
        ),
        only_with_epsilon: true,
    }
}

impl PaidLook {
    /// The text of the schema, and the release to settle once it is written.
    pub fn filled_in(
        &self,
        asked: &New,
        header: &Header,
        epsilon: f64,
    ) -> Result<(String, PaidEstimate), Failure> {
        for (flag, names) in [("--categories", &self.categories), ("--leave-out", &self.leave_out)]
        {
            if let Some(name) = names.iter().find(|name| !header.names.contains(name)) {
                return Err(Failure::input(format!(
                    "{flag} {name}: the table has no such column; accepted: {}",
                    header.names.join(", ")
                )));
            }
        }
        let is_classes = self.target_is_classes(asked)?;
        let unit = match (&asked.unit, asked.max_records) {
            (None, _) => None,
            (Some(column), Some(max_records)) => {
                let spelling = asked.unit_spelling;
                Some(UnitDraft { column: column.clone(), max_records, spelling })
            }
            (Some(_), None) => {
                return Err(Failure::input(
                    "--max-records is missing: with --unit, how many rows of each person are used",
                ));
            }
        };
        let neighbours = self.head.neighbours;
        let owner = match &unit {
            Some(unit) => Unit::User { max_records: unit.max_records },
            None => Unit::Record,
        };
        let relation = Relation::new(neighbours, owner);
        let looked_at =
            |name: &&String| Some(*name) != asked.unit.as_ref() && !self.leave_out.contains(name);
        let columns: Vec<String> = header.names.iter().filter(looked_at).cloned().collect();
        let classes = asked.target.iter().filter(|_| is_classes);
        let mut texts: Vec<String> = self.categories.iter().chain(classes).cloned().collect();
        texts.retain(|name| columns.contains(name));
        let task = Outline::of(columns.clone(), texts);
        let planned = |rows: u64| -> Result<Plan<Outline>, Failure> {
            let budget = (epsilon, self.head.delta);
            let unit = unit.clone();
            let request = task.clone().request(&header.file, unit, rows, neighbours, budget)?;
            Ok(plan(&request)?)
        };
        // The layout of the file: each line is a record, whatever its content.
        let some = (epsilon, Some(0.5));
        let of_file = task.clone().request(&header.file, unit.clone(), 1, neighbours, some)?;
        let drop = Some(Invalid::Drop);
        let laid_out = Draft { invalid: drop, ..of_file.schema.into() }.check()?;
        let table = Table::new(&asked.table, &laid_out, relation, self.head.rows)?;
        let open = || -> Result<_, Failure> {
            let open = |path| output::open_for("--certificate", path, asked.force, &[&asked.table]);
            self.certificate.as_deref().map(open).transpose()
        };
        let (certificate, reserved) =
            self.budget.reserve(table, ("outline", false), planned, open)?;
        let mut source =
            SystemRandom::new().map_err(|error| Failure::Environment(error.to_string()))?;
        let (ready, (holds, lines)) = reserved.read(|plan| {
            let most_keys = plan.keys_a_column().map(|most| {
                let mut secret = [0; 16];
                source.fill_bytes(&mut secret);
                KeyCap::new(most, secret)
            });
            let _meter = Meter::spinner(&format!("reading {}", asked.table.display()));
            let sought = SurveyedColumns {
                columns: columns.iter().map(String::as_str).collect(),
                texts: task.texts.iter().map(String::as_str).collect(),
                unit: plan.schema().unit_column(),
                most_keys,
            };
            Ok(holding(plan.clone(), held_keys(&asked.table, &header.file, &sought)?)?)
        })?;
        let ready = ready.with(|_| Ok::<_, Failure>(holds))?;
        let made = ready.draw(&lines, &mut source, &AtomicBool::new(false))?;
        let text = file::to_json(made.released(), None)?;
        let released: Released<Outline> =
            from_json(text.as_bytes(), Seal::Required).map_err(Failure::input)?;
        let paid = price(&released)?;
        let price = sentences::budget(paid.epsilon, paid.delta);
        #[derive(Serialize)]
        struct Stated {
            origin: Origin,
        }
        let stated = Stated { origin: Origin { paid: Some(paid), ..Origin::default() } };
        let origin = toml::to_string(&stated).map_err(|error| Failure::input(error.to_string()))?;
        let schema =
            write_schema(asked, header, &suggest_columns(&released), &self.leave_out, &origin);
        Ok((
            schema,
            PaidEstimate { made, certificate: certificate.map(|place| (place, text)), price },
        ))
    }

    /// True if the target is declared as classes; refused before anything is read or paid for where its
    /// kind was not given.
    fn target_is_classes(&self, asked: &New) -> Result<bool, Failure> {
        let Some(target) = &asked.target else { return Ok(false) };
        let listed = self.categories.contains(target);
        let name = printable(target);
        match (asked.target_is, listed) {
            (Some(TargetIs::Number), true) => Err(Failure::input(format!(
                "--target-is number: --categories {name} says that its numbers are codes; leave one out"
            ))),
            (Some(is), _) => Ok(is == TargetIs::Classes),
            (None, true) => Ok(true),
            (None, false) => Err(Failure::input(format!(
                "--target-is is missing: whether {name} is classes or a number. Labels may be written as numbers, 0 \
                 and 1, and the records are not asked; accepted: --target-is classes or --target-is number"
            ))),
        }
    }
}

/// A private estimate that was paid for.
pub struct PaidEstimate {
    made: UnsettledRelease<Outline>,
    certificate: Option<(Destination, String)>,
    price: String,
}

impl PaidEstimate {
    /// Settles after the schema is written: writes the certificate, if requested, and closes the ledger
    /// entry.
    pub fn settle(self) -> Result<(), Failure> {
        let certificate = match self.certificate {
            Some((place, text)) => output::keep(place, &text).map(|placed| placed.misplaced),
            None => Ok(None),
        };
        let (_, settled) = self.made.settle();
        say!("spent on this schema: {}", self.price);
        certificate?.map_or(Ok(()), Err).and(settled)
    }
}

fn write_schema(
    asked: &New,
    header: &Header,
    found: &[ColumnSuggestion],
    left_out: &[String],
    origin: &str,
) -> String {
    let mut missing: Vec<String> =
        found.iter().flat_map(|column| column.missing.iter().cloned()).collect();
    missing.sort();
    missing.dedup();
    let mut text = String::from(
        "# Filled in by a private look at the records, whose price stands under [origin.paid]: every certificate made\n\
         # under this schema states it. Bounds leave out what few people hold, at each end some per cent of the numbers\n\
         # (less with more rows and a larger epsilon): widen them where you know better. Categories are those that enough\n\
         # people hold. Nothing stood out of the noise where less than half of a column was found, as the noisy counts\n\
         # say. You may edit everything but [origin] and [unit].\n\n\
         invalid = \"drop\"                # a record with a cell that does not fit counts as empty\n\
         other_columns = \"ignore\"\n",
    );
    text.push_str(&asked.head(&header.file, &missing));
    let of = |name: &str| found.iter().find(|column| column.name == name);
    let target = asked.target.as_deref();
    let _ = write!(text, "\n[target]\ncolumn = {}\n", target.map_or("\"\"".into(), toml_text));
    let wanted = |column: &&ColumnSuggestion| match (asked.target_is, &column.what) {
        (Some(TargetIs::Number), what) => matches!(what, Suggestion::Number(..)),
        // A label that was not found is not a class: none stands for the others.
        (_, _) => column.most,
    };
    text.push_str(&match target.and_then(of).filter(wanted).map(|column| &column.what) {
        Some(Suggestion::Category(texts)) if texts.len() > 1 => {
            format!("classes = {}\n", toml_list(texts.iter()))
        }
        Some(Suggestion::Number(low, high)) => {
            format!("bounds = [{}, {}]\n", toml_number(*low), toml_number(*high))
        }
        _ if asked.target_is == Some(TargetIs::Number) => {
            "# bounds = [low, high]          # what it can be at all: nothing stood out of the noise\n".into()
        }
        _ => "classes = []                    # the labels in order: nothing stood out of the noise\n".into(),
    });
    text.push_str(&asked.unit_table());
    let _ = write!(text, "\n{origin}");
    for column in found.iter().filter(|column| Some(column.name.as_str()) != target) {
        let _ = write!(text, "\n[[columns]]\nname = {}\n", toml_text(&column.name));
        let mut can_miss = !column.missing.is_empty();
        match &column.what {
            Suggestion::Number(low, high) => {
                let (low, high) = (toml_number(*low), toml_number(*high));
                let _ = write!(text, "type = \"number\"\nbounds = [{low}, {high}]\n");
            }
            Suggestion::Dates(first, last) => {
                let _ = write!(
                    text,
                    "type = \"date\"\nrange = [\"{first:04}-01-01\", \"{last:04}-12-31\"]\n"
                );
            }
            Suggestion::Category(texts) => {
                let listed = toml_list(texts.iter());
                let few = match column.most {
                    true => "",
                    false => "              # more than half of the cells hold others",
                };
                let _ = write!(
                    text,
                    "type = \"category\"\ncategories = {listed}\nunknown = \"other\"{few}\n"
                );
            }
            Suggestion::Nothing => {
                can_miss = false;
                text.push_str(
                    "type = \"ignore\"                 # nothing stood out of the noise\n",
                );
            }
        }
        if can_miss {
            text.push_str("missing = \"category\"\n");
        }
    }
    for name in left_out {
        let _ = write!(text, "\n[[columns]]\nname = {}\ntype = \"ignore\"\n", toml_text(name));
    }
    text
}

/// A number in TOML syntax.
fn toml_number(value: f64) -> String {
    toml::Value::Float(value).to_string()
}
