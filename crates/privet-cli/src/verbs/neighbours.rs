//! `privet neighbours`: answers to public questions, by the votes of the records near each.

use crate::failure::Failure;
use crate::output::number;
use crate::progress::Meter;
use crate::releasing::{Releasing, read_table, rows_needed};
use crate::settings::{self, within};
use crate::words;
use clap::Args;
use privet_core::{DELTA, EPSILON, Neighbours as Relations, Relation, printable};
use privet_data::Schema;
use privet_data::read::{Purpose, ReadOptions, read_features};
use privet_learn::model::Predictions;
use privet_learn::transfer::neighbours::{Nearby, VOTES, WITHIN};
use privet_learn::{Plan, Released, plan};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Answer public questions by the votes of the records near each, and write the answers with their certificate
#[derive(Args, Debug)]
#[command(
    long_about = "\
Answers every row of a public file of questions by the records of a table that are near it: each
record within a distance votes for its own class (or number), and the votes are released under
noise, with about how many voted. No model is trained.

A record that is near to none of the questions pays nothing and loses nothing. One that is near
to many votes in the first few (--votes) and then stays out; who that is, is not shown. So the
noise depends on how often one record may vote, and not on how many questions there are.

Distances are those of encoded rows (as the schema scales numbers and unfolds categories). Where
no --within is given it is chosen from the questions, the declared number of rows and the
budget: as near as leaves enough voters for the noise, were records spread as the questions are.
Likewise --votes: as many questions as 9 in 10 of them have within that distance.

The questions are public: they stand in the certificate, and nothing protects them. All answers
are one release. Asking again, even the same, is another one, and adds up.",
    after_help = "\
Examples:
  privet neighbours table.csv --schema s.toml --questions new.csv --epsilon 1 --rows 20000 \\
      --out answers.json
  privet neighbours table.csv --schema s.toml --questions new.csv --epsilon 1 --rows 20000 \\
      --within 0.4 --votes 20 --out answers.json"
)]
pub struct Neighbours {
    /// The table: CSV (.gz, .zst), LIBSVM or Parquet, as the schema says
    data: PathBuf,
    /// The public schema (TOML)
    #[arg(long, value_name = "SCHEMA")]
    schema: PathBuf,
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
    epsilon: f64,
    #[arg(
        long, value_name = "D", value_parser = within(DELTA), allow_hyphen_values = true,
        help = format!("What probabilities may differ by beyond e^ε, δ: {DELTA}, but not 0 \
                        [default: 1/N², N the number of rows]"),
    )]
    delta: Option<f64>,
    /// Whose difference must not show: one record (or user) added or removed (then the number of
    /// rows is private too), or one exchanged for another
    #[arg(long, value_name = "RELATION", default_value_t = Relations::AddRemove)]
    neighbours: Relations,
    /// Number of rows you declare; required where it is private (add-remove, or users with several
    /// rows) [default: that of the file]
    #[arg(long, value_name = "N", value_parser = settings::rows)]
    rows: Option<u64>,
    #[command(flatten)]
    releasing: Releasing,
}

impl Neighbours {
    /// Refuses before a record is read whatever can be refused then.
    pub fn run(self) -> Result<(), Failure> {
        let schema = Schema::load(&self.schema)?.linear();
        let relation = Relation::new(self.neighbours, schema.unit());
        if self.rows.is_none() && !relation.count_is_public() {
            return Err(rows_needed(relation));
        }
        let task = self.asked(&schema)?;
        let some = self.plan(&task, &schema, self.rows.unwrap_or(10_000))?;
        let place = self.releasing.place(&[&self.data, &self.schema, &self.questions])?;
        let mut spending = self.releasing.spending(Some(&self.data), "neighbours")?;
        if self.rows.is_some() {
            spending.reserve(&some)?;
        }
        let data = read_table(&self.data, &schema, relation)?;
        let planned = match self.rows {
            Some(_) => some,
            None => self.plan(&task, &schema, data.rows() as u64)?,
        };
        spending.reserve(&planned)?;
        spending.recognise(&self.data, Some(&schema))?;
        let mut source = self.releasing.source()?;
        let meter = Meter::spinner("answering");
        let release = spending.run(&planned, &data, source.as_mut(), &AtomicBool::new(false))?;
        drop(meter);
        let answered: Released<Nearby> = Released::from_release(release)?;
        let (noise, other) = words::settings(&planned.settings());
        let told = format!("{}(noise: {noise}; {other})\n", list(&answered));
        self.releasing.keep(place, &answered, "answers", (told, as_json(&answered, &planned)))
    }

    /// The questions, encoded as records are.
    fn asked(&self, schema: &Schema) -> Result<Nearby, Failure> {
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
        Ok(Nearby { within: self.within, votes: self.votes, ..Nearby::of(&rows.matrix) })
    }

    fn plan(&self, task: &Nearby, schema: &Schema, rows: u64) -> Result<Plan<Nearby>, Failure> {
        let budget = (self.epsilon, self.delta);
        let request = task.clone().request(schema, rows, self.neighbours, budget)?;
        let _meter = Meter::spinner("planning");
        Ok(plan(&request)?)
    }
}

/// Each answer as text.
fn labels(answered: &Released<Nearby>) -> Vec<String> {
    let schema = &answered.request().schema;
    match answered.artefact().predictions(schema) {
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
        request.task.questions.len()
    )
}
