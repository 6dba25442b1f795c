//! `privet describe`: what a table looks like, under noise.

use crate::failure::Failure;
use crate::head::{Given, Head, head};
use crate::progress::Meter;
use crate::releasing::{Releasing, read_table};
use clap::Args;
use privet_data::Schema;
use privet_learn::statistics::describe::{BINS, Describe as Task};
use privet_learn::{Plan, plan};
use std::sync::atomic::AtomicBool;

/// Describe a table privately: counts, means, quantiles, histograms, correlations, in one release
#[derive(Args, Debug)]
#[command(
    long_about = "\
Describes the columns that the schema declares: how many records are in each category, and of
each number its mean, spread, quantiles and histogram within the declared bounds, how often it
is missing, and how numbers are correlated. All of it is one release with one certificate:
every sum that it is made of gets the same noise, and every number is shown with what the
noise alone may have done to it. Bounds and categories come from the schema, never from the
records; values beyond the bounds count as the nearest bound.

What is left out costs nothing: with fewer --columns, or without correlations, the same budget
buys less noise. Stand-ins that the schema declares for missing cells are not used here: those
cells are counted.

Everything spent on the same records adds up: a description of ε = 0.2 and a model of ε = 1
reveal as much as ε = 1.2. `privet verify` and `privet inspect` take the file as they take a
model's.",
    after_help = "\
Examples:
  privet describe table.csv --schema s.toml --epsilon 0.2 --out table.json
  privet describe table.csv --schema s.toml --epsilon 0.2 --columns age,work --out two.json
  privet describe table.csv --schema s.toml --epsilon 0.5 --delta 0 --correlations no \\
      --out pure.json --json"
)]
pub struct Describe {
    #[command(flatten)]
    head: Head<OfDescription>,
    /// Only these columns, the target among them if it is named
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    #[arg(
        long, value_name = "K",
        help = format!("Bins of each histogram, evenly over the bounds: {BINS} [default: 32]"),
    )]
    bins: Option<u32>,
    /// Whether numbers are correlated with each other: yes or no [default: yes for 2 to 24 numbers]
    #[arg(long, value_name = "YES|NO", value_parser = yes_or_no)]
    correlations: Option<bool>,
    #[command(flatten)]
    releasing: Releasing,
}

head! {
    OfDescription {
        epsilon: (Given::Always, " of the whole description"),
        delta: "; 0 needs far more noise where there are many columns [default: 1/rows²]",
    }
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" | "true" => Ok(true),
        "no" | "false" => Ok(false),
        _ => Err("accepted: yes, no".into()),
    }
}

impl Describe {
    /// Refuses before a record is read whatever can be refused then.
    pub fn run(self) -> Result<(), Failure> {
        let head = &self.head;
        let schema = head.schema()?;
        let (table, inputs) = (head.table(&schema)?, head.inputs(&[]));
        let plan = |rows| self.plan(&schema, rows);
        let (place, reserved) = self.releasing.reserve(table, &inputs, "describe", plan)?;
        let read =
            |plan: &Plan<Task>| read_table(head.data(), plan.schema(), head.relation(&schema));
        let (ready, data) = reserved.read(read)?;
        let mut source = self.releasing.source()?;
        let made = ready.run(&data, source.as_mut(), &AtomicBool::new(false))?;
        self.releasing.keep(place, made)
    }

    fn plan(&self, schema: &Schema, rows: u64) -> Result<Plan<Task>, Failure> {
        let Self { columns, bins, correlations, .. } = self;
        let task = Task { columns: columns.clone(), bins: *bins, correlations: *correlations };
        let (head, budget) = (&self.head, self.head.budget()?);
        let request = task.request(schema, rows, head.neighbours, budget)?;
        let _meter = Meter::spinner("planning");
        Ok(plan(&request)?)
    }
}
