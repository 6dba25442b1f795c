//! `privet count`: how many records are in each declared category, under noise.

use crate::failure::Failure;
use crate::order::{Made, Table};
use crate::output::{self, number};
use crate::progress::Meter;
use crate::releasing::{Place, Releasing, read_table};
use crate::say;
use crate::settings::{self, within};
use clap::Args;
use privet_core::{Budget, DELTA, EPSILON, Neighbours, Relation};
use privet_data::Schema;
use privet_learn::statistics::count::{Count as Task, Counts, Law};
use privet_learn::statistics::stream::Stream;
use privet_learn::{Plan, Released, plan};
use serde_json::{Value, json};
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
    /// The table: CSV (.gz, .zst), LIBSVM or Parquet, as the schema says; - is standard input
    #[arg(value_parser = settings::table())]
    data: PathBuf,
    /// The public schema (TOML); not for a stream that goes on
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<PathBuf>,
    /// The column: one of declared categories, of two values, or the target if it has classes
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    #[arg(
        long, value_name = "E", value_parser = within(EPSILON), allow_hyphen_values = true,
        help = format!("Privacy budget ε of all releases together: {EPSILON}. Smaller is more private; \
                        privet picks none for you"),
    )]
    epsilon: Option<f64>,
    #[arg(
        long, value_name = "D", value_parser = within(DELTA), allow_hyphen_values = true,
        help = format!("What probabilities may differ by beyond e^ε, δ: {DELTA}. Above 0 it makes many releases \
                        less noisy [default: 0]"),
    )]
    delta: Option<f64>,
    /// Whose difference must not show: one record (or user) exchanged for another, or one added
    /// or removed (then the number of rows is private too) [default: replace-one]
    #[arg(long, value_name = "RELATION")]
    neighbours: Option<Neighbours>,
    /// Number of rows you declare; required where it is private (add-remove, or users with several
    /// rows) [default: that of the file]
    #[arg(long, value_name = "N", value_parser = settings::rows)]
    rows: Option<u64>,
    /// How often counts may be released at most, with --stream
    #[arg(long, value_name = "T", requires = "stream")]
    times: Option<u32>,
    /// Keeps what is left of a budget for several releases; made by the first call
    #[arg(long, value_name = "FILE")]
    stream: Option<PathBuf>,
    #[command(flatten)]
    releasing: Releasing,
}

impl Count {
    /// Refuses before a record is read whatever can be refused then.
    pub fn run(self) -> Result<(), Failure> {
        match self.stream.clone() {
            Some(path) if path.exists() => self.go_on(&path),
            Some(path) => self.begin(&path),
            None => self.once(),
        }
    }

    fn once(&self) -> Result<(), Failure> {
        let (schema, relation) = self.facts()?;
        let table = Table::new(&self.data, &schema, relation, self.rows)?;
        let plan = |rows| self.plan(&schema, rows);
        let (place, reserved) = self.releasing.reserve(table, &self.inputs(), "count", plan)?;
        let read = |plan: &Plan<Task>| read_table(&self.data, plan.schema(), relation);
        let (ready, data) = reserved.read(read)?;
        let mut source = self.releasing.source()?;
        self.keep(place, ready.run(&data, source.as_mut(), &AtomicBool::new(false))?)
    }

    /// The first of several releases.
    fn begin(&self, path: &Path) -> Result<(), Failure> {
        if self.times.is_none() {
            return Err(Failure::input(format!(
                "--times is missing: {} is not there yet, and a stream is begun with the number of \
                 releases that it is planned for",
                path.display()
            )));
        }
        let (schema, relation) = self.facts()?;
        if self.rows.is_none() && relation.count_is_public() {
            return Err(Failure::input(
                "--rows is missing: tables may change between releases, and each must have the number \
                 of rows that is declared here, or give --neighbours add-remove",
            ));
        }
        let table = Table::new(&self.data, &schema, relation, self.rows)?;
        output::fresh("--stream", path)?;
        let (plan, inputs) = (|rows| self.plan(&schema, rows), self.inputs());
        let (place, reserved) = self.releasing.reserve(table, &inputs, "count, a stream", plan)?;
        let read = |plan: &Plan<Task>| read_table(&self.data, plan.schema(), relation);
        let (ready, data) = reserved.read(read)?;
        let mut source = self.releasing.source()?;
        let planned = ready.spend_whole(&data)?;
        let stream = Stream::begin(&planned, path, source.as_mut())?;
        self.release(stream, &data, place)
    }

    /// The next of several releases.
    fn go_on(&self, path: &Path) -> Result<(), Failure> {
        let given = [
            ("--schema", self.schema.is_some()),
            ("--by", self.by.is_some()),
            ("--epsilon", self.epsilon.is_some()),
            ("--delta", self.delta.is_some()),
            ("--neighbours", self.neighbours.is_some()),
            ("--rows", self.rows.is_some()),
            ("--times", self.times.is_some()),
        ];
        if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
            return Err(Failure::input(format!(
                "{flag}: {} says it already, and goes on as it was begun; leave it out, or name another \
                 stream",
                path.display()
            )));
        }
        let stream = Stream::read(path)?;
        if stream.left() == 0 {
            return Err(Failure::input(format!(
                "--stream {}: all its releases are made; more of them need another budget",
                path.display()
            )));
        }
        let (place, data) = self.releasing.read_again(
            &self.data,
            &self.inputs(),
            stream.plan(),
            stream.entered(),
        )?;
        self.release(stream, &data, place)
    }

    fn release(
        &self,
        stream: Stream,
        data: &privet_data::Dataset,
        place: Place,
    ) -> Result<(), Failure> {
        let mut source = self.releasing.source()?;
        let (counts, left) = stream.next(data, source.as_mut())?;
        let words = match left {
            0 => "this was the last release of the stream\n".to_string(),
            left => format!("{left} more from the same budget\n"),
        };
        self.keep(place, Made::of(counts))?;
        say!("{}", words.trim_end());
        Ok(())
    }

    fn keep(&self, place: Place, counts: Made<Task>) -> Result<(), Failure> {
        self.releasing.keep(place, counts, "counts", |counts| Ok((table(counts), as_json(counts))))
    }

    fn inputs(&self) -> Vec<&Path> {
        [Some(&self.data), self.schema.as_ref(), self.stream.as_ref()]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .collect()
    }

    /// The schema and the relation.
    fn facts(&self) -> Result<(Schema, Relation), Failure> {
        let path = self.schema.as_ref().ok_or_else(|| {
            Failure::input("--schema is missing: the public schema that declares the categories")
        })?;
        let schema = Schema::load(path)?;
        let relation = Relation::new(self.neighbours(), schema.unit());
        Ok((schema, relation))
    }

    fn neighbours(&self) -> Neighbours {
        self.neighbours.unwrap_or(Neighbours::ReplaceOne)
    }

    fn plan(&self, schema: &Schema, rows: u64) -> Result<Plan<Task>, Failure> {
        let missing = |what: &str| Failure::input(what);
        let by = self.by.clone().ok_or_else(|| {
            missing(
                "--by is missing: the column to count by, one whose categories the schema declares",
            )
        })?;
        let epsilon = self.epsilon.ok_or_else(|| {
            missing(&format!("--epsilon is missing: counts need a privacy budget, {EPSILON}"))
        })?;
        let budget = Budget::new(epsilon, self.delta.unwrap_or(0.0))?;
        let task = Task { by, times: self.times, law: None };
        let request = task.request(schema, rows, self.neighbours())?.within(budget);
        let _meter = Meter::spinner("planning");
        Ok(plan(&request)?)
    }
}

/// The counts for people, with their noise.
pub fn table(counts: &Released<Task>) -> String {
    let Counts { by, cells, noise } = counts.artefact();
    let law = counts.request().task.law.unwrap_or(Law::Laplace);
    let within = number(law.margin(*noise).ceil());
    let mut rows = vec![vec![by.clone(), "count".into(), "±".into()]];
    for cell in cells {
        rows.push(vec![cell.category.clone(), number(cell.count.round()), within.clone()]);
    }
    format!(
        "{}(a count is within ± of the truth in 95 of 100 releases; below 0 is noise\naround next to nobody)\n",
        output::table(&rows)
    )
}

fn as_json(counts: &Released<Task>) -> Value {
    let request = counts.request();
    json!({
        "by": request.task.by,
        "cells": counts.artefact().cells,
        "noise": counts.artefact().noise,
        "law": request.task.law,
        "times": request.task.times,
        "rows": request.rows,
        "neighbours": request.neighbours,
        "unit": request.schema.unit(),
    })
}
