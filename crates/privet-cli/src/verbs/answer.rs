//! `privet answer`: labels of public rows in batches, from one budget.

use super::vote::{VoteArguments, csv, public_rows};
use crate::failure::Failure;
use crate::order::MadeRelease;
use crate::output;
use crate::progress::Meter;
use crate::releasing::{ReleasePlace, Releasing};
use crate::say;
use clap::Args;
use privet_data::matrix::Matrix;
use privet_data::write::Destination;
use privet_data::{Dataset, Schema};
use privet_learn::votes::stream::Answers;
use privet_learn::votes::{Aggregator, Teach, Teacher, Vote as Task};
use std::path::{Path, PathBuf};
use std::sync::Arc;
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
and nothing secret is stored. FILE and FILE.journal belong together. A FILE that is older than its
journal is refused; copies of both, or both brought back from a backup, go on a second time, with noise
that nobody has charged for: keep them where one process finds them.",
    after_help = "\
Examples:
  privet answer table.csv --schema s.toml --public monday.csv --epsilon 1 --delta 1e-6 --rows 50000 \\
      --queries 10000 --set cutoff=20 --stream s.answers --out monday.json
  privet answer table.csv --stream s.answers --public tuesday.csv --out tuesday.json"
)]
pub struct Answer {
    #[command(flatten)]
    asked: VoteArguments,
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

/// Inputs of a batch besides the table.
struct BatchInputs {
    public: Matrix,
    labels: Option<Destination>,
    program: Option<Arc<dyn Teach>>,
}

impl Answer {
    /// Answers a batch; refuses everything it can before a record is read.
    pub fn run(self) -> Result<(), Failure> {
        match self.stream.exists() {
            true => self.go_on(),
            false => self.begin(),
        }
    }

    /// Reads the public rows, and checks that they can be voted on and their labels written.
    fn prepare(&self, schema: &Schema, teacher: &Teacher) -> Result<BatchInputs, Failure> {
        let public = public_rows(&self.asked.public, schema)?;
        let force = self.releasing.overwrites();
        let open = |path: &PathBuf| output::open_for("--labels", path, force, &self.inputs());
        let labels = self.labels.as_ref().map(open).transpose()?;
        Ok(BatchInputs { public, labels, program: self.asked.program(schema, teacher)? })
    }

    /// Pays for the whole stream and answers its first batch.
    fn begin(&self) -> Result<(), Failure> {
        let queries = self.queries.ok_or_else(|| {
            Failure::input(format!(
                "--queries is missing: {} is not there yet, and a stream is begun with the number of rows that it \
                 is planned for",
                self.stream.display()
            ))
        })?;
        let schema = self.asked.schema()?;
        let head = &self.asked.head;
        if head.rows.is_none() && head.relation(&schema).count_is_public() {
            return Err(Failure::input(
                "--rows is missing: tables may change between batches, and each must have the number of rows that is \
                 declared here, or give --neighbours add-remove",
            ));
        }
        let table = head.table(&schema)?;
        let prepared = self.prepare(&schema, &self.asked.teacher()?)?;
        let first = prepared.public.rows() as u64;
        if !(1..=queries).contains(&first) {
            return Err(Failure::input(format!(
                "--queries {queries}: there are {first} rows in this batch alone; 1 to {queries} are accepted"
            )));
        }
        output::refuse_existing("--stream", &self.stream)?;
        let aggregator = self.aggregator.clone().unwrap_or_default();
        let task = Task { stream: true, aggregator, ..Task::on(queries) };
        let plan = |rows| self.asked.plan(&schema, rows, task.clone());
        let (inputs, doing) = (self.input_files(), "answer, a stream");
        let (place, reserved) = self.releasing.reserve(table, &inputs, doing, plan)?;
        let (ready, data) = reserved.read(|_| self.asked.records(&schema))?;
        let mut source = self.releasing.source()?;
        let planned = ready.spend_whole(&data)?;
        let stream = Answers::begin(&planned, &self.stream, source.as_mut())?;
        self.answer(stream, place, &data, prepared)
    }

    /// Answers the next batch.
    fn go_on(&self) -> Result<(), Failure> {
        let asked = &self.asked;
        let more = [
            ("queries", self.queries.is_some()),
            ("teachers", asked.teachers.is_some()),
            ("teacher", asked.teacher.is_some()),
            ("teach", !asked.teach.is_empty()),
            ("aggregator", self.aggregator.is_some()),
            ("set", !asked.set.is_empty()),
        ];
        asked.head.not_again(&self.stream, &more)?;
        let stream = Answers::read(&self.stream)?;
        let (plan, entered) = (stream.plan(), stream.ledger_entry());
        let prepared = self.prepare(plan.schema(), &plan.request().task.teacher)?;
        let (place, data) =
            self.releasing.read_again(asked.head.data(), &self.input_files(), plan, entered)?;
        self.answer(stream, place, &data, prepared)
    }

    fn answer(
        &self,
        stream: Answers,
        place: ReleasePlace,
        data: &Dataset,
        prepared: BatchInputs,
    ) -> Result<(), Failure> {
        let BatchInputs { public, labels, program } = prepared;
        let planned = stream.plan().clone();
        let mut source = self.releasing.source()?;
        let meter = Meter::spinner("training teachers");
        let quiet = AtomicBool::new(false);
        let (answered, left) = stream.next(data, &public, program, source.as_mut(), &quiet)?;
        drop(meter);
        let text = csv(planned.schema(), &answered.artefact().classes());
        self.releasing.keep(place, MadeRelease::of(answered))?;
        if let (Some(mut labels), Some(path)) = (labels, &self.labels) {
            output::write_for("--labels", &mut labels, path, text.as_bytes())?;
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

    /// Files that the release must not overwrite.
    fn input_files(&self) -> Vec<&Path> {
        self.inputs().into_iter().chain(self.labels.as_deref()).collect()
    }

    fn inputs(&self) -> Vec<&Path> {
        self.asked.head.inputs(&[Some(&self.asked.public), Some(&self.stream)])
    }
}
