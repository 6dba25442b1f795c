//! `privet count`: noisy counts of the records in each declared category.

use crate::failure::Failure;
use crate::head::{FlagPresence, Head, NOT_FOR_A_STREAM, head};
use crate::order::MadeRelease;
use crate::output::{self};
use crate::progress::Meter;
use crate::releasing::{ReleasePlace, Releasing, read_table};
use crate::say;
use clap::Args;
use privet_core::Budget;
use privet_data::Schema;
use privet_learn::statistics::count::Count as Task;
use privet_learn::statistics::stream::Stream;
use privet_learn::{Plan, plan};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Count records by a column, privately, and write the counts with their certificate
#[derive(Args, Debug)]
#[command(
    long_about = "\
Counts the records in each category that the schema declares for a column (or each class of
the target), adds noise to every count, and writes them with a certificate into one file.
Categories come from the schema, never from the records, so that one that nobody is in has a
noisy count as well; counts below 0 are noise around next to nobody. `privet verify` and
`privet inspect` take the file as they take a model's.

Several releases from one budget: --times T plans for at most T of them and --stream FILE keeps
what is left between calls, by whichever process makes them. The table may change in between.
Every certificate claims the budget of all T together. FILE and FILE.journal belong together. A FILE
that is older than its journal is refused; copies of both, or both brought back from a backup, go on a
second time, with noise that nobody has charged for: keep them where one process finds them.

Everything spent on the same records adds up: counts of ε = 1 and a model of ε = 1 reveal as
much as ε = 2.",
    after_help = "\
Examples:
  privet count table.csv --schema s.toml --by job --epsilon 0.5 --out jobs.json
  privet count monday.csv --schema s.toml --by job --epsilon 1 --delta 1e-6 --times 5 \\
      --stream jobs.stream --out monday.json
  privet count tuesday.csv --stream jobs.stream --out tuesday.json"
)]
pub struct Count {
    #[command(flatten)]
    head: Head<OfCounts>,
    /// The column: one of declared categories, of two values, or the target if it has classes
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// How often counts may be released at most, with --stream
    #[arg(long, value_name = "T", requires = "stream")]
    times: Option<u32>,
    /// Keeps what is left of a budget for several releases; made by the first call
    #[arg(long, value_name = "FILE")]
    stream: Option<PathBuf>,
    #[command(flatten)]
    releasing: Releasing,
}

head! {
    OfCounts {
        schema: (FlagPresence::Perhaps, NOT_FOR_A_STREAM),
        epsilon: (FlagPresence::Perhaps, " of all releases together"),
        delta: ". Above 0 it makes many releases less noisy [default: 0]",
    }
}

impl Count {
    /// Counts; refuses everything it can before a record is read.
    pub fn run(self) -> Result<(), Failure> {
        match self.stream.clone() {
            Some(path) if path.exists() => self.go_on(&path),
            Some(path) => self.begin(&path),
            None => self.once(),
        }
    }

    fn once(&self) -> Result<(), Failure> {
        let schema = self.head.schema()?;
        let (table, relation) = (self.head.table(&schema)?, self.head.relation(&schema));
        let plan = |rows| self.plan(&schema, rows);
        let (place, reserved) = self.releasing.reserve(table, &self.inputs(), "count", plan)?;
        let read = |plan: &Plan<Task>| read_table(self.head.data(), plan.schema(), relation);
        let (ready, data) = reserved.read(read)?;
        let mut source = self.releasing.source()?;
        let made = ready.draw(&data, source.as_mut(), &AtomicBool::new(false))?;
        self.releasing.keep(place, made)
    }

    /// Makes the first of several releases.
    fn begin(&self, path: &Path) -> Result<(), Failure> {
        if self.times.is_none() {
            return Err(Failure::input(format!(
                "--times is missing: {} is not there yet, and a stream is begun with the number of \
                 releases that it is planned for",
                path.display()
            )));
        }
        let schema = self.head.schema()?;
        let relation = self.head.relation(&schema);
        if self.head.rows.is_none() && relation.count_is_public() {
            return Err(Failure::input(
                "--rows is missing: tables may change between releases, and each must have the number \
                 of rows that is declared here, or give --neighbours add-remove",
            ));
        }
        let table = self.head.table(&schema)?;
        output::refuse_existing("--stream", path)?;
        let (plan, inputs) = (|rows| self.plan(&schema, rows), self.inputs());
        let (place, reserved) = self.releasing.reserve(table, &inputs, "count, a stream", plan)?;
        let read = |plan: &Plan<Task>| read_table(self.head.data(), plan.schema(), relation);
        let (ready, data) = reserved.read(read)?;
        let mut source = self.releasing.source()?;
        let planned = ready.spend_whole(&data)?;
        let stream = Stream::begin(&planned, path, source.as_mut())?;
        self.release(stream, &data, place)
    }

    /// Makes the next of several releases.
    fn go_on(&self, path: &Path) -> Result<(), Failure> {
        let more = [("by", self.by.is_some()), ("times", self.times.is_some())];
        self.head.not_again(path, &more)?;
        let stream = Stream::read(path)?;
        if stream.releases_left() == 0 {
            return Err(Failure::input(format!(
                "--stream {}: all its releases are made; more of them need another budget",
                path.display()
            )));
        }
        let (place, data) = self.releasing.read_again(
            self.head.data(),
            &self.inputs(),
            stream.plan(),
            stream.ledger_entry(),
        )?;
        self.release(stream, &data, place)
    }

    fn release(
        &self,
        stream: Stream,
        data: &privet_data::Dataset,
        place: ReleasePlace,
    ) -> Result<(), Failure> {
        let mut source = self.releasing.source()?;
        let (counts, left) = stream.next(data, source.as_mut())?;
        let words = match left {
            0 => "this was the last release of the stream\n".to_string(),
            left => format!("{left} more from the same budget\n"),
        };
        self.releasing.keep(place, MadeRelease::of(counts))?;
        say!("{}", words.trim_end());
        Ok(())
    }

    fn inputs(&self) -> Vec<&Path> {
        self.head.inputs(&[self.stream.as_deref()])
    }

    fn plan(&self, schema: &Schema, rows: u64) -> Result<Plan<Task>, Failure> {
        let by = self.by.clone().ok_or_else(|| {
            Failure::input(
                "--by is missing: the column to count by, one whose categories the schema declares",
            )
        })?;
        let (epsilon, delta) = self.head.budget()?;
        let budget = Budget::new(epsilon, delta.unwrap_or(0.0))?;
        let task = Task { by, times: self.times, law: None };
        let request = task.request(schema, rows, self.head.neighbours)?.with_budget(budget);
        let _meter = Meter::spinner("planning");
        Ok(plan(&request)?)
    }
}
