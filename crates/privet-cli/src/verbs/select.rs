//! `privet select`: which few of many columns matter, under noise.

use crate::failure::Failure;
use crate::order::Table;
use crate::output::number;
use crate::progress::Meter;
use crate::releasing::{Releasing, read_table};
use crate::settings::{self, assignment, within};
use crate::words;
use clap::Args;
use privet_core::{DELTA, EPSILON, Neighbours, Relation, printable};
use privet_data::Schema;
use privet_learn::selection::{Select as Task, Selector};
use privet_learn::{Plan, Released, plan};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Choose columns by how much they say of the target, privately, and write them with their certificate
#[derive(Args, Debug)]
#[command(
    long_about = "\
Chooses so many columns of a table, those that say most of the target, and writes them with a
certificate into one file. Columns are those of the encoded table: a number is one, a category is
one for each of its values.

  correlation   the most associated columns, one after the other (the default)
  exponential   a set of columns by how well it fits, among up to 50,000,000 sets
  distance      what most chunks of the records choose, if so many agree that no one matters
  subsample     the same over many random parts of the records; needs many rows
  lasso-stability
                what the LASSO keeps, if a proof says that no one's records matter; needs very
                many rows, and says how many

distance, subsample and lasso-stability may choose nothing: then no answer was stable enough. That is said plainly,
is a release like any other, and spends the budget as well. `privet methods --select` lists the
settings of each.

Everything spent on the same records adds up: columns chosen at ε = 1 and a model of them at ε = 1
reveal as much as ε = 2.",
    after_help = "\
Examples:
  privet select table.csv --schema s.toml --size 10 --epsilon 1 --out columns.json
  privet select table.csv --schema s.toml --size 2 --method distance --epsilon 2 --delta 1e-6 \\
      --set chunks=200 --out columns.json"
)]
pub struct Select {
    /// The table: CSV (.gz, .zst), LIBSVM or Parquet, as the schema says
    data: PathBuf,
    /// The public schema (TOML)
    #[arg(long, value_name = "SCHEMA")]
    schema: PathBuf,
    /// How many columns to choose
    #[arg(long, value_name = "S")]
    size: u32,
    /// How they are chosen
    #[arg(long, value_name = "METHOD", default_value = "correlation")]
    method: Selector,
    #[arg(
        long, value_name = "E", value_parser = within(EPSILON), allow_hyphen_values = true,
        help = format!("Privacy budget ε: {EPSILON}. Smaller is more private; privet picks none for you"),
    )]
    epsilon: f64,
    #[arg(
        long, value_name = "D", value_parser = within(DELTA), allow_hyphen_values = true,
        help = format!("What probabilities may differ by beyond e^ε, δ: {DELTA}; 0 asks for pure ε \
                        [default: 1/N², N the number of rows]"),
    )]
    delta: Option<f64>,
    /// Whose difference must not show: one record (or user) exchanged for another, or one added
    /// or removed (then the number of rows is private too)
    #[arg(long, value_name = "RELATION", default_value_t = Neighbours::ReplaceOne)]
    neighbours: Neighbours,
    /// Number of rows you declare; required where it is private (add-remove, or users with several
    /// rows) [default: that of the file]
    #[arg(long, value_name = "N", value_parser = settings::rows)]
    rows: Option<u64>,
    /// A setting of the method, by name; may be given several times
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    #[command(flatten)]
    releasing: Releasing,
}

impl Select {
    /// Refuses before a record is read whatever can be refused then.
    pub fn run(self) -> Result<(), Failure> {
        let schema = Schema::load(&self.schema)?;
        let relation = Relation::new(self.neighbours, schema.unit());
        let table = Table::new(&self.data, &schema, relation, self.rows)?;
        let (inputs, doing): ([&Path; 2], _) =
            ([&self.data, &self.schema], format!("select {}", self.method));
        let plan = |rows| self.plan(&schema, rows);
        let (place, reserved) = self.releasing.reserve(table, &inputs, &doing, plan)?;
        let (ready, data) = reserved.read(|_| read_table(&self.data, &schema, relation))?;
        let planned = ready.plan().clone();
        let mut source = self.releasing.source()?;
        let made = ready.run(&data, source.as_mut(), &AtomicBool::new(false))?;
        let (noise, other) = words::settings(&planned.settings());
        self.releasing.keep(place, made, "support", |support| {
            let told = format!("{}(noise: {noise}; {other})\n", list(support));
            Ok((told, as_json(support, &planned)))
        })
    }

    fn plan(&self, schema: &Schema, rows: u64) -> Result<Plan<Task>, Failure> {
        let set = |method: Selector, (name, value): &(String, String)| method.with(name, value);
        let method = self.set.iter().try_fold(self.method, set)?;
        let task = Task { size: self.size, method };
        let budget = (self.epsilon, self.delta);
        let request = task.request(schema, rows, self.neighbours, budget)?;
        let _meter = Meter::spinner("planning");
        Ok(plan(&request)?)
    }
}

/// The columns for people.
pub fn list(support: &Released<Task>) -> String {
    match support.artefact().names(&support.request().schema) {
        Some(names) => names.iter().map(|name| format!("  {}\n", printable(name))).collect(),
        None => {
            "  nothing: no answer was stable enough to be released; the budget is spent\n".into()
        }
    }
}

fn as_json(support: &Released<Task>, plan: &Plan<Task>) -> Value {
    let request = support.request();
    json!({
        "method": request.task.method.name(),
        "size": request.task.size,
        "columns": support.artefact().columns,
        "names": support.artefact().names(&request.schema),
        "settings": plan.settings(),
        "rows": request.rows,
        "neighbours": request.neighbours,
        "unit": request.schema.unit(),
    })
}

/// What it is, in a sentence.
pub fn purpose(support: &Released<Task>) -> String {
    let request = support.request();
    let target = match request.schema.target().column.as_str() {
        "" => "the label".to_string(),
        name => format!("\"{}\"", printable(name)),
    };
    let size = number(f64::from(request.task.size));
    format!("{size} columns that say much of {target}, chosen by method {}.", request.task.method)
}
