//! `privet neighbours`: answers public queries by the votes of the records near each.

use crate::failure::Failure;
use crate::head::{FlagPresence, Head, NOT_FOR_A_STREAM, RELATIONS_HELP, head};
use crate::order::MadeRelease;
use crate::output::{self};
use crate::progress::Meter;
use crate::releasing::{ReleasePlace, Releasing, read_table};
use crate::say;
use crate::settings::range_parser;
use clap::Args;
use privet_core::Neighbours as Relations;
use privet_data::matrix::Matrix;
use privet_data::read::{Purpose, ReadOptions, read_features};
use privet_data::{Dataset, Schema};
use privet_learn::neighbours::stream::Answers;
use privet_learn::neighbours::{Nearby, VOTES, WITHIN};
use privet_learn::{Plan, plan};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Answer public questions by the votes of the records near each, and write the answers with their
/// certificate
#[derive(Args, Debug)]
#[command(
    long_about = "\
Answers every row of a public file of questions by the records of a table that are near it: each
record within a distance votes for its own class (or number), and the votes are released under
noise, with about how many voted. No model is trained.

A record that is near to none of the questions pays nothing and loses nothing. One that is near
to many votes in the first few (--votes; a number votes for both ends of its bounds, and in the
middle up to twice as often) and then stays out; who that is, is not shown. So the noise depends on how often one record may vote, and not on how many questions there are.

Distances are those of encoded rows (as the schema scales numbers and encodes categories). Where
no --within is given it is chosen from the questions, the declared number of rows and the
budget: as near as leaves enough voters for the noise, were records spread as the questions are.
Likewise --votes: as many questions as 9 in 10 of them have within that distance.

The questions are public: they stand in the certificate, and nothing protects them. All answers
are one release. Asking again, even the same, is another one, and adds up; but questions that
come later may be planned for: --stream FILE --queries M begins a stream of M questions in all,
of which this file's are the first, and the next calls need FILE and their questions alone. Every
certificate claims the whole. FILE holds no secret: what records have spent is found again from the
questions before, so records may leave and join the table between two calls. A record that is
changed counts as another. FILE and FILE.journal belong together. A FILE that is older than its
journal is refused; copies of both, or both brought back from a backup, go on a second time, with noise
that nobody has charged for: keep them where one process finds them.",
    after_help = "\
Examples:
  privet neighbours table.csv --schema s.toml --questions new.csv --epsilon 1 --rows 20000 \\
      --out answers.json
  privet neighbours table.csv --schema s.toml --questions new.csv --epsilon 1 --rows 20000 \\
      --within 0.4 --votes 20 --out answers.json
  privet neighbours table.csv --schema s.toml --questions monday.csv --epsilon 1 --rows 20000 \\
      --stream s.answers --queries 5000 --out monday.json
  privet neighbours table.csv --questions tuesday.csv --stream s.answers --out tuesday.json"
)]
pub struct Neighbours {
    #[command(flatten)]
    head: Head<OfAnswers>,
    /// The public questions: rows with the columns of the schema; the target may be missing
    #[arg(long, value_name = "FILE")]
    questions: PathBuf,
    #[arg(
        long, value_name = "R", value_parser = range_parser(WITHIN), allow_hyphen_values = true,
        help = format!("How near a record must be to vote: {WITHIN} [default: from the questions]"),
    )]
    within: Option<f64>,
    #[arg(
        long, value_name = "K",
        help = format!("In how many answers one record (or person) may vote: {} \
                        [default: from the questions]", VOTES.whole()),
    )]
    votes: Option<u32>,
    /// Keeps what is left of the budget for questions that come later; made by the first call
    #[arg(long, value_name = "FILE")]
    stream: Option<PathBuf>,
    /// How many questions there are in all, these included; for the first call with --stream
    #[arg(long, value_name = "M", requires = "stream")]
    queries: Option<u32>,
    #[command(flatten)]
    releasing: Releasing,
}

head! {
    OfAnswers {
        schema: (FlagPresence::Perhaps, NOT_FOR_A_STREAM),
        epsilon: (FlagPresence::Perhaps, ""),
        delta: ", but not 0 [default: 1/N², N the number of rows]",
        neighbours: (Relations::AddRemove, RELATIONS_HELP),
    }
}

/// A stream, the place of its answers, the table, and the queries of this batch.
type Batch = (Answers, ReleasePlace, Dataset, Matrix);

impl Neighbours {
    /// Answers; refuses everything it can before a record is read.
    pub fn run(self) -> Result<(), Failure> {
        match self.stream.clone() {
            Some(stream) => self.batch(&stream),
            None => self.once(),
        }
    }

    /// Answers all queries at once.
    fn once(&self) -> Result<(), Failure> {
        let schema = self.schema()?;
        let table = self.head.table(&schema)?;
        let task = self.request(&schema)?;
        let plan = |rows| self.plan(&task, &schema, rows);
        let (place, reserved) =
            self.releasing.reserve(table, &self.inputs(), "neighbours", plan)?;
        let (ready, data) = reserved.read(|_| self.table(&schema))?;
        let mut source = self.releasing.source()?;
        let meter = Meter::spinner("answering");
        let made = ready.draw(&data, source.as_mut(), &AtomicBool::new(false))?;
        drop(meter);
        self.releasing.keep(place, made)
    }

    /// Answers a batch of a stream, its first or a later one.
    fn batch(&self, path: &Path) -> Result<(), Failure> {
        let (stream, place, data, questions) = match path.exists() {
            true => self.go_on(path)?,
            false => self.begin(path)?,
        };
        let mut source = self.releasing.source()?;
        let meter = Meter::spinner("answering");
        let quiet = AtomicBool::new(false);
        let (answered, left) = stream.next(&data, &questions, source.as_mut(), &quiet)?;
        drop(meter);
        self.releasing.keep(place, MadeRelease::of(answered))?;
        match left {
            0 => say!("the stream is at its end: nothing more is answered"),
            left => say!("{left} more questions before the stream ends"),
        }
        Ok(())
    }

    fn begin(&self, path: &Path) -> Result<Batch, Failure> {
        let in_all = self.queries.ok_or_else(|| {
            Failure::input(format!(
                "--queries is missing: {} is not there yet, and a stream is begun with the number of questions that it is \
                 planned for",
                path.display()
            ))
        })?;
        let schema = self.schema()?;
        if self.head.rows.is_none() {
            return Err(Failure::input(
                "--rows is missing: tables may change between batches, and what is planned for is declared here",
            ));
        }
        let table = self.head.table(&schema)?;
        let questions = self.read(&schema)?;
        let task = Nearby { stream: Some(in_all), ..self.asked_of(&questions) };
        if task.questions.len() > in_all as usize {
            return Err(Failure::input(format!(
                "--queries {in_all}: there are {} questions in this batch alone",
                task.questions.len()
            )));
        }
        output::refuse_existing("--stream", path)?;
        let plan = |rows| self.plan(&task, &schema, rows);
        let (inputs, doing) = (self.inputs(), "neighbours, a stream");
        let (place, reserved) = self.releasing.reserve(table, &inputs, doing, plan)?;
        let (ready, data) = reserved.read(|_| self.table(&schema))?;
        let mut source = self.releasing.source()?;
        let planned = ready.spend_whole(&data)?;
        let stream = Answers::begin(&planned, path, source.as_mut())?;
        Ok((stream, place, data, questions))
    }

    fn go_on(&self, path: &Path) -> Result<Batch, Failure> {
        let more = [
            ("within", self.within.is_some()),
            ("votes", self.votes.is_some()),
            ("queries", self.queries.is_some()),
        ];
        self.head.not_again(path, &more)?;
        let stream = Answers::read(path)?;
        let questions = self.read(stream.plan().schema())?;
        let (place, data) = self.releasing.read_again(
            self.head.data(),
            &self.inputs(),
            stream.plan(),
            stream.ledger_entry(),
        )?;
        Ok((stream, place, data, questions))
    }

    /// The schema with its encoding fully determined.
    fn schema(&self) -> Result<Schema, Failure> {
        Ok(self.head.schema()?.linear())
    }

    fn table(&self, schema: &Schema) -> Result<Dataset, Failure> {
        read_table(self.head.data(), schema, self.head.relation(schema))
    }

    /// The files that are read.
    fn inputs(&self) -> Vec<&Path> {
        self.head.inputs(&[Some(&self.questions), self.stream.as_deref()])
    }

    fn request(&self, schema: &Schema) -> Result<Nearby, Failure> {
        Ok(self.asked_of(&self.read(schema)?))
    }

    fn asked_of(&self, questions: &Matrix) -> Nearby {
        Nearby { within: self.within, votes: self.votes, ..Nearby::of(questions) }
    }

    /// The queries, encoded as records are.
    fn read(&self, schema: &Schema) -> Result<Matrix, Failure> {
        let meter = Meter::bar(&format!("reading {}", self.questions.display()));
        let tell = |done, total| meter.at(done, total);
        let options = ReadOptions {
            purpose: Purpose::Evaluate,
            progress: Some(&tell),
            ..ReadOptions::default()
        };
        let rows = read_features(&self.questions, schema, &options)?;
        if rows.matrix.rows() == 0 {
            return Err(Failure::input(format!(
                "--questions {}: it has no rows; at least one is needed",
                self.questions.display()
            )));
        }
        drop(meter);
        super::predict::tell_unknown(&rows.report);
        Ok(rows.matrix)
    }

    fn plan(&self, task: &Nearby, schema: &Schema, rows: u64) -> Result<Plan<Nearby>, Failure> {
        let (head, budget) = (&self.head, self.head.budget()?);
        let request = task.clone().request(schema, rows, head.neighbours, budget)?;
        let _meter = Meter::spinner("planning");
        Ok(plan(&request)?)
    }
}
