//! `privet neighbours`: answers to public questions, by the votes of the records near each.

use crate::failure::Failure;
use crate::order::{Made, Table};
use crate::output::{self, number};
use crate::progress::Meter;
use crate::releasing::{Place, Releasing, read_table};
use crate::settings::{self, within};
use crate::{say, words};
use clap::Args;
use privet_core::{DELTA, EPSILON, Neighbours as Relations, Relation, printable};
use privet_data::matrix::Matrix;
use privet_data::read::{Purpose, ReadOptions, read_features};
use privet_data::{Dataset, Schema};
use privet_learn::linear::model::Predictions;
use privet_learn::neighbours::stream::Answers;
use privet_learn::neighbours::{Nearby, VOTES, WITHIN};
use privet_learn::{Plan, Released, plan};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Answer public questions by the votes of the records near each, and write the answers with their certificate
#[derive(Args, Debug)]
#[command(
    long_about = "\
Answers every row of a public file of questions by the records of a table that are near it: each
record within a distance votes for its own class (or number), and the votes are released under
noise, with about how many voted. No model is trained.

A record that is near to none of the questions pays nothing and loses nothing. One that is near
to many votes in the first few (--votes; a number votes for both ends of its bounds, and in the
middle up to twice as often) and then stays out; who that is, is not shown. So the noise depends on how often one record may vote, and not on how many questions there are.

Distances are those of encoded rows (as the schema scales numbers and unfolds categories). Where
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
    /// The table: CSV (.gz, .zst), LIBSVM or Parquet, as the schema says
    data: PathBuf,
    /// The public schema (TOML)
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<PathBuf>,
    /// The public questions: rows with the columns of the schema; the target may be missing
    #[arg(long, value_name = "FILE")]
    questions: PathBuf,
    #[arg(
        long, value_name = "R", value_parser = within(WITHIN), allow_hyphen_values = true,
        help = format!("How near a record must be to vote: {WITHIN} [default: from the questions]"),
    )]
    within: Option<f64>,
    #[arg(
        long, value_name = "K",
        help = format!("In how many answers one record (or person) may vote: {} \
                        [default: from the questions]", VOTES.whole()),
    )]
    votes: Option<u32>,
    #[arg(
        long, value_name = "E", value_parser = within(EPSILON), allow_hyphen_values = true,
        help = format!("Privacy budget ε: {EPSILON}. Smaller is more private; privet picks none for you"),
    )]
    epsilon: Option<f64>,
    #[arg(
        long, value_name = "D", value_parser = within(DELTA), allow_hyphen_values = true,
        help = format!("What probabilities may differ by beyond e^ε, δ: {DELTA}, but not 0 \
                        [default: 1/N², N the number of rows]"),
    )]
    delta: Option<f64>,
    /// Whose difference must not show: one record (or user) added or removed (then the number of
    /// rows is private too), or one exchanged for another [default: add-remove]
    #[arg(long, value_name = "RELATION")]
    neighbours: Option<Relations>,
    /// Number of rows you declare; required where it is private (add-remove, or users with several
    /// rows) [default: that of the file]
    #[arg(long, value_name = "N", value_parser = settings::rows)]
    rows: Option<u64>,
    /// Keeps what is left of the budget for questions that come later; made by the first call
    #[arg(long, value_name = "FILE")]
    stream: Option<PathBuf>,
    /// How many questions there are in all, these included; for the first call with --stream
    #[arg(long, value_name = "M", requires = "stream")]
    queries: Option<u32>,
    #[command(flatten)]
    releasing: Releasing,
}

/// A stream, where its answers go, the table, and the questions of this batch.
type Batch = (Answers, Place, Dataset, Matrix);

impl Neighbours {
    /// Refuses before a record is read whatever can be refused then.
    pub fn run(self) -> Result<(), Failure> {
        match self.stream.clone() {
            Some(stream) => self.batch(&stream),
            None => self.once(),
        }
    }

    /// All questions at once.
    fn once(&self) -> Result<(), Failure> {
        let (schema, relation) = self.facts()?;
        let table = Table::new(&self.data, &schema, relation, self.rows)?;
        let task = self.asked(&schema)?;
        let plan = |rows| self.plan(&task, &schema, rows);
        let (place, reserved) =
            self.releasing.reserve(table, &self.inputs(), "neighbours", plan)?;
        let (ready, data) = reserved.read(|_| read_table(&self.data, &schema, relation))?;
        let planned = ready.plan().clone();
        let mut source = self.releasing.source()?;
        let meter = Meter::spinner("answering");
        let made = ready.run(&data, source.as_mut(), &AtomicBool::new(false))?;
        drop(meter);
        self.keep(place, made, &planned)
    }

    /// Questions of a stream, its first or the next ones.
    fn batch(&self, path: &Path) -> Result<(), Failure> {
        let (stream, place, data, questions) = match path.exists() {
            true => self.go_on(path)?,
            false => self.begin(path)?,
        };
        let planned = stream.plan().clone();
        let mut source = self.releasing.source()?;
        let meter = Meter::spinner("answering");
        let quiet = AtomicBool::new(false);
        let (answered, left) = stream.next(&data, &questions, source.as_mut(), &quiet)?;
        drop(meter);
        self.keep(place, Made::of(answered), &planned)?;
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
        let (schema, relation) = self.facts()?;
        if self.rows.is_none() {
            return Err(Failure::input(
                "--rows is missing: tables may change between batches, and what is planned for is declared here",
            ));
        }
        let table = Table::new(&self.data, &schema, relation, self.rows)?;
        let questions = self.read(&schema)?;
        let task = Nearby { stream: Some(in_all), ..self.asked_of(&questions) };
        if task.questions.len() > in_all as usize {
            return Err(Failure::input(format!(
                "--queries {in_all}: there are {} questions in this batch alone",
                task.questions.len()
            )));
        }
        output::fresh("--stream", path)?;
        let plan = |rows| self.plan(&task, &schema, rows);
        let (inputs, doing) = (self.inputs(), "neighbours, a stream");
        let (place, reserved) = self.releasing.reserve(table, &inputs, doing, plan)?;
        let (ready, data) = reserved.read(|_| read_table(&self.data, &schema, relation))?;
        let mut source = self.releasing.source()?;
        let planned = ready.spend_whole(&data)?;
        let stream = Answers::begin(&planned, path, source.as_mut())?;
        Ok((stream, place, data, questions))
    }

    fn go_on(&self, path: &Path) -> Result<Batch, Failure> {
        let given = [
            ("--schema", self.schema.is_some()),
            ("--within", self.within.is_some()),
            ("--votes", self.votes.is_some()),
            ("--epsilon", self.epsilon.is_some()),
            ("--delta", self.delta.is_some()),
            ("--neighbours", self.neighbours.is_some()),
            ("--rows", self.rows.is_some()),
            ("--queries", self.queries.is_some()),
        ];
        if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
            return Err(Failure::input(format!(
                "{flag}: {} says it already, and goes on as it was begun; leave it out, or name another stream",
                path.display()
            )));
        }
        let stream = Answers::read(path)?;
        let questions = self.read(stream.plan().schema())?;
        let (place, data) = self.releasing.read_again(
            &self.data,
            &self.inputs(),
            stream.plan(),
            stream.entered(),
        )?;
        Ok((stream, place, data, questions))
    }

    /// The schema and the relation.
    fn facts(&self) -> Result<(Schema, Relation), Failure> {
        let path = self.schema.as_ref().ok_or_else(|| {
            Failure::input(
                "--schema is missing: the public schema of the table and of the questions",
            )
        })?;
        let schema = Schema::load(path)?.linear();
        let relation = Relation::new(self.relation(), schema.unit());
        Ok((schema, relation))
    }

    fn relation(&self) -> Relations {
        self.neighbours.unwrap_or(Relations::AddRemove)
    }

    /// Files that are read.
    fn inputs(&self) -> Vec<&Path> {
        let files =
            [Some(&self.data), self.schema.as_ref(), Some(&self.questions), self.stream.as_ref()];
        files.into_iter().flatten().map(PathBuf::as_path).collect()
    }

    fn keep(
        &self,
        place: Place,
        answered: Made<Nearby>,
        planned: &Plan<Nearby>,
    ) -> Result<(), Failure> {
        let (noise, other) = words::settings(&planned.settings());
        self.releasing.keep(place, answered, "answers", |answered| {
            let told = format!("{}(noise: {noise}; {other})\n", list(answered));
            Ok((told, as_json(answered, planned)))
        })
    }

    fn asked(&self, schema: &Schema) -> Result<Nearby, Failure> {
        Ok(self.asked_of(&self.read(schema)?))
    }

    fn asked_of(&self, questions: &Matrix) -> Nearby {
        Nearby { within: self.within, votes: self.votes, ..Nearby::of(questions) }
    }

    /// The questions, encoded as records are.
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
        let epsilon = self.epsilon.ok_or_else(|| {
            Failure::input(format!(
                "--epsilon is missing: answers need a privacy budget, {EPSILON}"
            ))
        })?;
        let budget = (epsilon, self.delta);
        let request = task.clone().request(schema, rows, self.relation(), budget)?;
        let _meter = Meter::spinner("planning");
        Ok(plan(&request)?)
    }
}

/// Each answer as text.
fn labels(answered: &Released<Nearby>) -> Vec<String> {
    let schema = &answered.request().schema;
    match answered.artefact().predictions(schema, Nearby::noise(answered.request())) {
        Predictions::Numbers(values) => values.into_iter().map(number).collect(),
        Predictions::Classes(codes) => {
            let classes = schema.classes().unwrap_or_default();
            let name = |code: u32| classes.get(code as usize).map_or("", |name| name.as_str());
            codes.into_iter().map(|code| printable(name(code)).into_owned()).collect()
        }
    }
}

/// The answers for people: the first few.
pub fn list(answered: &Released<Nearby>) -> String {
    const FIRST: usize = 20;
    let labels = labels(answered);
    let counts = answered.artefact().counts();
    let line = |(place, (label, count)): (usize, (&String, &f64))| {
        format!("  {}: {label} (about {} near)\n", place + 1, number(count.max(0.0).round()))
    };
    let mut text: String = labels.iter().zip(&counts).enumerate().take(FIRST).map(line).collect();
    if labels.len() > FIRST {
        text.push_str(&format!("  … and {} more, in the file\n", labels.len() - FIRST));
    }
    text
}

fn as_json(answered: &Released<Nearby>, plan: &Plan<Nearby>) -> Value {
    let request = answered.request();
    json!({
        "answers_given": labels(answered),
        "asked_before": answered.artefact().first,
        "counts": answered.artefact().counts(),
        "votes": answered.artefact().votes,
        "settings": plan.settings(),
        "rows": request.rows,
        "neighbours": request.neighbours,
        "unit": request.schema.unit(),
    })
}

/// What it is, in a sentence.
pub fn purpose(answered: &Released<Nearby>) -> String {
    let request = answered.request();
    let target = match request.schema.target().column.as_str() {
        "" => "the label".to_string(),
        name => format!("\"{}\"", printable(name)),
    };
    format!(
        "Answers to {} public questions about {target}, each by the votes of the records near it.",
        answered.artefact().votes.len()
    )
}
