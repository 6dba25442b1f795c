//! `privet vote`: labels of public rows by the votes of models, each trained on a part of the records.

use crate::failure::Failure;
use crate::head::{FlagPresence, Head, NOT_FOR_A_STREAM, head};
use crate::order::{MadeRelease, ReadyPlan};
use crate::output::{self};
use crate::progress::Meter;
use crate::releasing::{Releasing, read_table};
use crate::say;
use crate::settings::assignment;
use clap::Args;
use privet_core::Neighbours;
use privet_data::matrix::Matrix;
use privet_data::read::{Purpose, ReadOptions, read_features};
use privet_data::{Dataset, Encoding, Schema};
use privet_learn::votes::command::Program;
use privet_learn::votes::student::{Student, Study};
use privet_learn::votes::{Aggregator, Teach, Teacher, Vote as Task, with_rows_and_teachers};
use privet_learn::{Plan, plan};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Label public rows by the votes of models trained on parts of the records, privately
#[derive(Args, Debug)]
#[command(
    long_about = "\
Learns with any model: the records are cut into chunks by secret coins, a model (a teacher) is
trained on each, all of them vote on the rows of a public file, and labels that no one's records
decide are written, with a certificate, into one file. What you learn from those labels costs
nothing more; the public rows themselves are NOT protected, and need no label of their own.

  sparse-vector     a label where so many agree that no one's records matter, and none elsewhere; the
                    budget pays for rows without one and ends after --set cutoff=T of them
                    (the default)
  estimated-sparse-vector
                    the same, where a private estimate of how often teachers dissent chooses T
  gnmax             the largest count under noise, for every row; each is paid for
  confident-gnmax   the same for rows on which many agree
  agreed-gnmax      for all rows if a private test finds agreement, else for none

Teachers: logistic, least-squares, tree, forest, nearest; propagation, which spreads a few labels
among public rows that resemble one another, so that a thousand teachers of few rows can vote
(give thousands of public rows, and gnmax); or --teacher-cmd, any program.

The program is run once for each chunk by `sh -c` in a folder of its own, finds train.csv (encoded
columns x0, x1, …, and label, the number of the class from 0) and queries.csv there, and writes
predictions.csv, a class number a line. It has no environment to speak of, no network (a machine
that cannot cut it off, by unshare, runs no program without --teacher-network, and the file then
says so), and limits of its own: --teacher-seconds of processor time, 8 GiB of
address space, 1 GiB a file, for each process; by the clock 20 times as long. A program that fails
on some records, or meets a limit, votes for the first class. What is promised assumes that each
learns from its own chunk alone and that none meets a limit because of the others: give ample
limits, on a machine with processors, memory and disk for all that run at a time (as many as it
has processors, at most 16). Run only programs that you trust.

Everything spent on the same records adds up: labels at ε = 1 and a model at ε = 1 reveal as much
as ε = 2.",
    after_help = "\
Examples:
  privet vote table.csv --schema s.toml --public new.csv --epsilon 1 --delta 1e-6 \\
      --teacher forest --out labels.json --labels labels.csv
  privet vote table.csv --schema s.toml --public new.csv --epsilon 2 --teachers 250 \\
      --student forest --apply other.csv --predictions predictions.csv --out labels.json
  privet vote table.csv --schema s.toml --public new.csv --epsilon 1 --teachers 1000 \\
      --teacher propagation --aggregator gnmax --student least-squares --spread \\
      --apply other.csv --predictions predictions.csv --out labels.json
  privet vote table.csv --schema s.toml --public new.csv --epsilon 1 \\
      --teacher-cmd 'python3 /home/me/teach.py' --out labels.json"
)]
pub struct Vote {
    #[command(flatten)]
    asked: VoteArguments,
    #[arg(
        long, value_name = "HOW",
        help = format!("What makes labels of votes: {} [default: sparse-vector]", Aggregator::accepted()),
    )]
    aggregator: Option<Aggregator>,
    /// Ask about the first N of the public rows only; teachers by propagation, and a student that
    /// spreads labels, see the others beside them [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    ask: Option<u64>,
    /// Choose the rows of --ask among all public ones, in R rounds: those that a provisional student of
    /// the labels so far is least sure of, and as many in order (aggregators gnmax, sparse-vector)
    /// [default: the first N]
    #[arg(long, value_name = "R", requires = "ask", value_parser = clap::value_parser!(u32).range(2..=100))]
    choose: Option<u32>,
    /// Also write the labels as CSV: a line for each row asked about (with --choose for each public
    /// row), empty where there is none
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    #[arg(
        long, value_name = "LEARNER", requires = "apply",
        help = format!("Train this learner on the labelled public rows: {}", Teacher::students()),
    )]
    student: Option<String>,
    /// Before the student learns, spread labels among public rows that resemble one another: it learns
    /// from all of them, and labels that noise made wrong are outvoted
    #[arg(long, requires = "student")]
    spread: bool,
    /// Rows whose class the student predicts; the target column is not needed
    #[arg(long, value_name = "FILE", requires = "student", requires = "predictions")]
    apply: Option<PathBuf>,
    /// Where the student's predictions go
    #[arg(long, value_name = "FILE", requires = "apply")]
    predictions: Option<PathBuf>,
    #[command(flatten)]
    releasing: Releasing,
}

/// What `vote` and `answer` ask for alike.
#[derive(Args, Debug)]
pub struct VoteArguments {
    #[command(flatten)]
    pub head: Head<OfVotes>,
    /// The public rows that are voted on: a table of the same schema, whose rows are NOT protected;
    /// the target column is not needed
    #[arg(long, value_name = "FILE")]
    pub public: PathBuf,
    /// How many models vote, at most one a row [default: chosen from public facts]
    #[arg(long, value_name = "B")]
    pub teachers: Option<u32>,
    #[arg(
        long, value_name = "LEARNER",
        help = format!("What each of them is: {} [default: logistic]", Teacher::accepted()),
    )]
    pub teacher: Option<String>,
    /// A program that learns and predicts instead, as a shell command
    #[arg(long, value_name = "COMMAND", conflicts_with = "teacher")]
    pub teacher_cmd: Option<String>,
    /// Seconds of its own processor time that the program has for each chunk; by the clock 20 times
    /// as long, which none should meet
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub teacher_seconds: u64,
    /// Let the program run where this machine cannot cut its network off: it could send records away.
    /// The file says so
    #[arg(long, requires = "teacher_cmd")]
    pub teacher_network: bool,
    /// A setting of the teachers, by name; may be given several times
    #[arg(long = "teach", value_name = "NAME=VALUE", value_parser = assignment)]
    pub teach: Vec<(String, String)>,
    /// A setting of the aggregator, by name; may be given several times
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
}

head! {
    pub OfVotes {
        schema: (FlagPresence::Perhaps, NOT_FOR_A_STREAM),
        epsilon: (FlagPresence::Perhaps, ""),
        delta: ", above 0 [default: 1/N², N the number of rows]",
        neighbours: (
            Neighbours::ReplaceOne,
            "replace-one (row count public), add-remove (row count private) or replace-label (labels alone are \
             protected, all other columns are taken for public)",
        ),
    }
}

/// A program without access to the network.
const ALONE: &str = "a program of the holder's";
/// A program with access to the network.
const WITH_NETWORK: &str = "a program of the holder's, which had the network";

impl VoteArguments {
    /// The schema with its encoding fully determined.
    pub fn schema(&self) -> Result<Schema, Failure> {
        Ok(self.head.schema()?.linear())
    }

    /// Reads the table.
    pub fn records(&self, schema: &Schema) -> Result<Dataset, Failure> {
        read_table(self.head.data(), schema, self.head.relation(schema))
    }

    /// The teachers' learner.
    pub fn teacher(&self) -> Result<Teacher, Failure> {
        if let Some(program) = self.command()? {
            // The command may name paths: it stays out of the certificate.
            let what = if program.is_apart() { ALONE } else { WITH_NETWORK };
            return Ok(Teacher::Outside { what: what.into() });
        }
        let teacher = Teacher::by_name(self.teacher.as_deref().unwrap_or("logistic"))?;
        let set = |teacher: Teacher, (name, value): &(String, String)| teacher.with(name, value);
        Ok(self.teach.iter().try_fold(teacher, set)?)
    }

    /// The teacher program, if there is one; refused where it would have the network without the user's
    /// consent.
    fn command(&self) -> Result<Option<Program>, Failure> {
        let Some(command) = &self.teacher_cmd else { return Ok(None) };
        let program = Program::new(command, Duration::from_secs(self.teacher_seconds));
        if program.is_apart() || self.teacher_network {
            return Ok(Some(program));
        }
        Err(Failure::input(
            "--teacher-cmd: this machine lets nobody cut a program off from the network (unshare -rn does not work), so \
             that the program could send records away, which no noise helps against. Run it where unshare works, or give \
             --teacher-network if you trust it; the file then says so",
        ))
    }

    /// The plan for a task, of known rows or of a stream.
    pub fn plan(&self, schema: &Schema, rows: u64, of: Task) -> Result<Plan<Task>, Failure> {
        let set = |how: Aggregator, (name, value): &(String, String)| how.with(name, value);
        let aggregator = self.set.iter().try_fold(of.aggregator.clone(), set)?;
        let teachers = self.teachers;
        let task = Task { teachers, teacher: self.teacher()?, aggregator, ..of };
        let request = task.request(schema, rows, self.head.neighbours, self.head.budget()?)?;
        let _meter = Meter::spinner("planning");
        Ok(plan(&request)?)
    }

    /// The teacher program, if there is one, rehearsed on invented rows; `stated` is the teacher of the
    /// plan.
    pub fn program(
        &self,
        schema: &Schema,
        stated: &Teacher,
    ) -> Result<Option<Arc<dyn Teach>>, Failure> {
        let Some(program) = self.command()? else { return Ok(None) };
        if !program.is_apart() {
            let stated = matches!(stated, Teacher::Outside { what } if what == WITH_NETWORK);
            if !stated {
                return Err(Failure::input(
                    "--teacher-cmd: this machine lets nobody cut a program off from the network (unshare -rn does not \
                     work), and the stream was begun, and is certified, without one; go on where unshare works",
                ));
            }
            say!(
                "note: the teacher has the network, and could send records away; the file says that it had it"
            );
        }
        let _meter = Meter::spinner("rehearsing the teacher on made-up rows");
        let classes = schema.classes().map_or(2, <[String]>::len);
        program.rehearse(Encoding::new(schema).width(), classes)?;
        Ok(Some(Arc::new(program)))
    }
}

/// Public rows, encoded by the schema, without their target.
pub fn public_rows(path: &Path, schema: &Schema) -> Result<Matrix, Failure> {
    let meter = Meter::bar(&format!("reading {}", path.display()));
    let tell = |done, total| meter.at(done, total);
    let options =
        ReadOptions { purpose: Purpose::Evaluate, progress: Some(&tell), ..ReadOptions::default() };
    Ok(read_features(path, schema, &options)?.matrix)
}

impl Vote {
    /// Votes; refuses everything it can before a record is read.
    pub fn run(self) -> Result<(), Failure> {
        let schema = self.asked.schema()?;
        let public = public_rows(&self.asked.public, &schema)?;
        let task = Task::of_first(self.ask.unwrap_or(u64::MAX), &public);
        let aggregator = self.aggregator.clone().unwrap_or_default();
        let task = Task { choose: self.choose, aggregator, ..task };
        let study = self.student.as_deref().map(Study::by_name).transpose()?;
        let study = study.map(|study| Study { spread: self.spread, ..study });
        let apply = self.apply.as_deref().map(|path| public_rows(path, &schema)).transpose()?;
        let inputs = self.asked.head.inputs(&[Some(&self.asked.public), self.apply.as_deref()]);
        let force = self.releasing.overwrites();
        let open = |flag: &str, path: &Option<PathBuf>| {
            path.as_ref().map(|path| output::open_for(flag, path, force, &inputs)).transpose()
        };
        let mut table = open("--labels", &self.labels)?;
        let mut told = open("--predictions", &self.predictions)?;
        let program = self.asked.program(&schema, &self.asked.teacher()?)?;
        let from = self.asked.head.table(&schema)?;
        let plan = |rows| self.asked.plan(&schema, rows, task.clone());
        let beside = [self.labels.as_deref(), self.predictions.as_deref()];
        let taken: Vec<&Path> =
            inputs.iter().copied().chain(beside.into_iter().flatten()).collect();
        let (place, reserved) = self.releasing.reserve(from, &taken, "vote", plan)?;
        let (ready, data) = reserved.read(|_| self.asked.records(&schema))?;
        let ready = ready.with(|plan| with_rows_and_teachers(plan, &public, program))?;
        let labels = self.execute(ready, &data)?;
        let (found, keep) = (labels.released().artefact(), &self.releasing);
        let classes = match self.choose {
            Some(_) => found.by_row(public.rows()),
            None => found.classes(),
        };
        keep.keep(place, labels)?;
        if let (Some(table), Some(path)) = (&mut table, &self.labels) {
            output::write_for("--labels", table, path, csv(&schema, &classes).as_bytes())?;
            say!("labels as CSV written to {}", path.display());
        }
        if let (Some(study), Some(rows), Some(out), Some(path)) =
            (study, apply, &mut told, &self.predictions)
        {
            let count = schema.classes().map_or(2, <[String]>::len);
            let student = Student::fit(&study, &public, &classes, count)?.ok_or_else(|| {
                Failure::input(
                    "--student: no public row has a label, so there is nothing to learn from",
                )
            })?;
            let predicted: Vec<_> = student.predict(&rows)?.into_iter().map(Some).collect();
            output::write_for("--predictions", out, path, csv(&schema, &predicted).as_bytes())?;
            say!("the student's predictions written to {}", path.display());
        }
        Ok(())
    }

    fn execute(
        &self,
        ready: ReadyPlan<Task>,
        data: &Dataset,
    ) -> Result<MadeRelease<Task>, Failure> {
        let mut source = self.releasing.source()?;
        let _meter = Meter::spinner("training teachers");
        Ok(ready.draw(data, source.as_mut(), &AtomicBool::new(false))?.into())
    }
}

/// A class per line, empty without a label, under the target's name.
pub fn csv(schema: &Schema, classes: &[Option<u32>]) -> String {
    let quoted = |text: &str| match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    };
    let names = schema.classes().unwrap_or_default();
    let name = match schema.target().column.as_str() {
        "" => "label",
        name => name,
    };
    let cell = |class: &Option<u32>| {
        let word = class.and_then(|class| names.get(class as usize));
        word.map(|word| quoted(word)).unwrap_or_default() + "\n"
    };
    format!("{}\n{}", quoted(name), classes.iter().map(cell).collect::<String>())
}
