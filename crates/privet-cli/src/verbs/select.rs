//! `privet select`: which few of many columns matter, under noise.

use crate::failure::Failure;
use crate::head::{Head, Told, Usual};
use crate::progress::Meter;
use crate::releasing::{Releasing, read_table};
use crate::settings::assignment;
use clap::Args;
use privet_data::Schema;
use privet_learn::selection::{Select as Task, Selector};
use privet_learn::{Plan, plan};
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
    #[command(flatten)]
    head: Head<Usual>,
    /// How many columns to choose
    #[arg(long, value_name = "S")]
    size: u32,
    /// How they are chosen
    #[arg(long, value_name = "METHOD", default_value = "correlation")]
    method: Selector,
    /// A setting of the method, by name; may be given several times
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    #[command(flatten)]
    releasing: Releasing,
}

impl Select {
    /// Refuses before a record is read whatever can be refused then.
    pub fn run(self) -> Result<(), Failure> {
        let head = &self.head;
        let schema = head.schema()?;
        let (table, inputs) = (head.table(&schema)?, head.inputs(&[]));
        let doing = format!("select {}", self.method);
        let plan = |rows| self.plan(&schema, rows);
        let (place, reserved) = self.releasing.reserve(table, &inputs, &doing, plan)?;
        let (ready, data) =
            reserved.read(|_| read_table(head.data(), &schema, head.relation(&schema)))?;
        let mut source = self.releasing.source()?;
        let made = ready.run(&data, source.as_mut(), &AtomicBool::new(false))?;
        self.releasing.keep(place, made)
    }

    fn plan(&self, schema: &Schema, rows: u64) -> Result<Plan<Task>, Failure> {
        let set = |method: Selector, (name, value): &(String, String)| method.with(name, value);
        let method = self.set.iter().try_fold(self.method, set)?;
        let task = Task { size: self.size, method };
        let Told { neighbours, .. } = *self.head;
        let request = task.request(schema, rows, neighbours, self.head.budget()?)?;
        let _meter = Meter::spinner("planning");
        Ok(plan(&request)?)
    }
}
