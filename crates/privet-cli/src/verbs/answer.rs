//! `privet answer`: labels of public rows in batches, from one budget.

use super::vote::{Asked, as_json, csv, public_rows, shown};
use crate::failure::Failure;
use crate::output;
use crate::progress::Meter;
use crate::releasing::{Releasing, read_table, rows_needed};
use crate::say;
use clap::Args;
use privet_learn::transfer::stream::Answers;
use privet_learn::transfer::{Aggregator, Vote as Task};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Answer batches of questions about public rows from one budget, by the votes of models
#[derive(Args, Debug)]
#[command(
    long_about = "\
Labels public rows as `privet vote` does, but in batches that come when they come: the first
call plans for at most --queries M rows in all and reserves the whole budget, --stream FILE
keeps what is left between calls, by whichever process makes them. Answers on which the teachers
agree are free. Each row without a stable answer, and each batch, uses up one of --set cutoff=T;
then the stream ends.

Which rows a later batch asks about may depend on the labels before. Every certificate claims
the budget of the whole stream. Teachers are trained anew, on chunks drawn anew, for each batch,
and nothing secret is stored. FILE and FILE.journal belong together and are gone on from once:
an older copy is refused.",
    after_help = "\
Examples:
  privet answer table.csv --schema s.toml --public monday.csv --epsilon 1 --delta 1e-6 --rows 50000 \\
      --queries 10000 --set cutoff=20 --stream s.answers --out monday.json
  privet answer table.csv --stream s.answers --public tuesday.csv --out tuesday.json"
)]
pub struct Answer {
    /// The table: CSV (.gz, .zst), LIBSVM or Parquet, as the schema says
    data: PathBuf,
    #[command(flatten)]
    asked: Asked,
    #[arg(
        long, value_name = "HOW",
        help = format!("What makes labels of votes, of those that take batches: {} [default: sparse-vector]",
                       Aggregator::streaming()),
    )]
    aggregator: Option<Aggregator>,
    /// How many public rows may be asked about at most, all batches together; for the first call
    #[arg(long, value_name = "M")]
    queries: Option<u64>,
    /// Keeps what is left of the budget; made by the first call
    #[arg(long, value_name = "FILE")]
    stream: PathBuf,
    /// Also write the labels as CSV: a line for each public row, empty where there is none
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    #[command(flatten)]
    releasing: Releasing,
}

impl Answer {
    /// Refuses before a record is read whatever can be refused then.
    pub fn run(self) -> Result<(), Failure> {
        let stream = match self.stream.exists() {
            true => self.go_on()?,
            false => self.begin()?,
        };
        let request = stream.plan().request().clone();
        let public = public_rows(&self.asked.public, &request.schema)?;
        let inputs = [
            Some(&self.data),
            self.asked.schema.as_ref(),
            Some(&self.asked.public),
            Some(&self.stream),
        ];
        let inputs: Vec<&Path> = inputs.into_iter().flatten().map(PathBuf::as_path).collect();
        let place = self.releasing.place(&inputs)?;
        let mut table =
            self.labels.as_ref().map(|path| output::open(path, false, &inputs)).transpose()?;
        let program = self.asked.program(stream.plan())?;
        let data = read_table(&self.data, &request.schema, request.relation())?;
        let planned = stream.plan().clone();
        let mut source = self.releasing.source()?;
        let meter = Meter::spinner("training teachers");
        let quiet = AtomicBool::new(false);
        let (labels, left) = stream.next(&data, &public, program, source.as_mut(), &quiet)?;
        drop(meter);
        let own = (shown(&labels, &planned), as_json(&labels, &planned));
        self.releasing.keep(place, &labels, "labels", own)?;
        if let (Some(table), Some(path)) = (&mut table, &self.labels) {
            output::write(
                table,
                path,
                csv(&request.schema, &labels.artefact().classes()).as_bytes(),
            )?;
            say!("labels as CSV written to {}", path.display());
        }
        match left {
            0 => say!("the stream is at its end: nothing more is answered"),
            left => {
                say!("{left} more rows without a stable answer, or batches, before the stream ends")
            }
        }
        Ok(())
    }

    fn begin(&self) -> Result<Answers, Failure> {
        let queries = self.queries.ok_or_else(|| {
            Failure::input(format!(
                "--queries is missing: {} is not there yet, and a stream is begun with the number of rows that it \
                 is planned for",
                self.stream.display()
            ))
        })?;
        let (schema, relation) = self.asked.facts()?;
        if self.asked.rows.is_none() && relation.count_is_public() {
            return Err(Failure::input(
                "--rows is missing: tables may change between batches, and each must have the number of rows that is \
                 declared here, or give --neighbours add-remove",
            ));
        }
        let rows = self.asked.rows.ok_or_else(|| rows_needed(relation))?;
        let aggregator = self.aggregator.clone().unwrap_or_default();
        let task = Task { stream: true, aggregator, ..Task::on(queries) };
        let planned = self.asked.plan(&schema, rows, task)?;
        // What can be refused is, before a stream is there.
        public_rows(&self.asked.public, &schema)?;
        self.asked.program(&planned)?;
        let mut spending = self.releasing.spending(Some(&self.data), "answer, a stream")?;
        spending.reserve(&planned)?;
        spending.recognise(&self.data, Some(&schema))?;
        let planned = spending.spend_whole(planned)?;
        let mut source = self.releasing.source()?;
        Ok(Answers::begin(&planned, &self.stream, source.as_mut())?)
    }

    fn go_on(&self) -> Result<Answers, Failure> {
        let asked = &self.asked;
        let given = [
            ("--schema", asked.schema.is_some()),
            ("--epsilon", asked.epsilon.is_some()),
            ("--delta", asked.delta.is_some()),
            ("--neighbours", asked.neighbours.is_some()),
            ("--rows", asked.rows.is_some()),
            ("--queries", self.queries.is_some()),
            ("--teachers", asked.teachers.is_some()),
            ("--teacher", asked.teacher.is_some()),
            ("--teach", !asked.teach.is_empty()),
            ("--aggregator", self.aggregator.is_some()),
            ("--set", !asked.set.is_empty()),
        ];
        if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
            return Err(Failure::input(format!(
                "{flag}: {} says it already, and goes on as it was begun; leave it out, or name another stream",
                self.stream.display()
            )));
        }
        let answers = Answers::read(&self.stream)?;
        let mut paid = self.releasing.paid_before(Some(&self.data), answers.entered())?;
        paid.recognise(&self.data, Some(&answers.plan().request().schema))?;
        Ok(answers)
    }
}
