//! `privet online`: models and counts from a stream, released as rows arrive.

use crate::failure::Failure;
use crate::keys;
use crate::lines_in::LinesIn;
use crate::releasing::Releasing;
use crate::say;
use crate::settings::{assignment, within};
use clap::{Args, Subcommand, ValueEnum};
use privet_core::{Budget, DELTA, EPSILON, Neighbours};
use privet_data::encode::Encoding;
use privet_data::matrix::Matrix;
use privet_data::write::{Destination, Existing};
use privet_data::{Dataset, Schema};
use privet_dp::continual::StateKey;
use privet_dp::gate::{GateError, Journal};
use privet_learn::online::live::{Aside, Live};
use privet_learn::online::tally::Tally;
use privet_learn::online::{BATCH, HORIZON, Method, Online, Streamed};
use privet_learn::{Calibration, LearnError, Plan, Request, Words, plan};
use serde_json::json;
use std::io::{BufReader, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Learn from a stream, or count in it, and release as rows arrive
#[derive(Args, Debug)]
pub struct OnlineVerb {
    #[command(subcommand)]
    what: What,
}

/// What is done with the stream.
#[derive(Subcommand, Debug)]
enum What {
    Train(Train),
    Count(Count),
}

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shown {
    /// The model after each step, as JSON; covered by the certificate, for everyone
    Models,
    /// A prediction for each row, by the model that this call put out before it came (none says 0); each is for whoever
    /// sent the row
    Predictions,
    /// Nothing but the file at the end
    None,
}

/// What both take.
#[derive(Args, Debug)]
struct Streaming {
    /// The public schema (TOML), with invalid = "drop" or "stand-in"; not for a stream that goes on
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<PathBuf>,
    #[arg(
        long, value_name = "E", value_parser = within(EPSILON), allow_hyphen_values = true,
        help = format!("Privacy budget ε of the whole stream: {EPSILON}. Smaller is more private; privet picks \
                        none for you"),
    )]
    epsilon: Option<f64>,
    #[arg(
        long, value_name = "D", value_parser = within(DELTA), allow_hyphen_values = true,
        help = "Probability δ with which ε may fail, above 0 [default: 1/T²]",
    )]
    delta: Option<f64>,
    #[arg(
        long, value_name = "T",
        help = format!("How many rows the stream has at most, {}: what the noise is planned for",
                       HORIZON.whole()),
    )]
    horizon: Option<u64>,
    #[arg(long, value_name = "B", help = format!("Rows a step, {}: one release for each [default: 1]", BATCH.whole()))]
    batch: Option<u32>,
    /// Only replace-one: a slot's record is another, or none
    #[arg(long, value_name = "RELATION", default_value_t = Neighbours::ReplaceOne)]
    neighbours: Neighbours,
    /// Keeps what is left of the stream between calls, with FILE.journal beside it; made by the first call
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Seals what is known of records without noise into the state, under this secret key (see `privet keygen`).
    /// Without it that is written nowhere, and sums begin anew at each call, with more noise
    #[arg(long, value_name = "KEYFILE", requires = "state")]
    state_key: Option<PathBuf>,
    /// How many steps are committed to the journal at once. If the process is killed, the steps of its call up to the next
    /// commit count as made
    #[arg(long, value_name = "K", requires = "state", default_value_t = 1)]
    commit: u64,
    /// Rows as CSV [default: standard input]
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,
    #[command(flatten)]
    releasing: Releasing,
}

/// Learn from rows as they arrive, and release every model
#[derive(Args, Debug)]
#[command(
    long_about = "\
Reads rows as CSV from standard input and learns from each as it arrives. All models from the first to the
last are together within the budget. The file --out is written before the first row is read, with the
certificate of the whole stream, and again at the end with the last model in it.

Every line takes a slot: one that does not fit the schema counts as an empty slot. Streams are neighbours
that differ in one slot: its record is another, or there is none. After T rows nothing more is learnt or
released.

Reading waits for whoever reads the output. With --state the stream goes on in a later call, from where it
was; steps that a killed process lost count as made.",
    after_help = "\
Examples:
  privet online train --schema s.toml --epsilon 1 --horizon 100000 --out last.json < rows.csv > models.jsonl
  privet online train --schema s.toml --epsilon 1 --horizon 100000 --batch 100 --state s.state \\
      --state-key s.key --out last.json < monday.csv
  privet online train --state s.state --state-key s.key --out last.json --force < tuesday.csv"
)]
struct Train {
    #[arg(
        long, value_name = "M",
        help = format!("Which learner: {} [default: ftrl]", Method::accepted()),
    )]
    method: Option<Method>,
    /// What models minimise [default: logistic for classes, squared for a number]
    #[arg(long, value_name = "LOSS")]
    loss: Option<String>,
    /// A setting of the learner's own, NAME=VALUE
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    #[arg(
        long, value_name = "C", default_value_t = Calibration::Sound,
        help = format!("Whose constants: {}", Calibration::ACCEPTED),
    )]
    calibration: Calibration,
    /// What a line of the output says
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Shown::Models)]
    lines: Shown,
    #[command(flatten)]
    streaming: Streaming,
}

/// Count rows by a column as they arrive, and release every running count
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  privet online count --schema s.toml --by job --epsilon 1 --horizon 100000 --out jobs.json < rows.csv")]
struct Count {
    /// The column: one of declared categories, of two values, or the target if it has classes
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    #[command(flatten)]
    streaming: Streaming,
}

impl OnlineVerb {
    /// Plans, opens the stream, and goes on until it ends.
    pub fn run(self) -> Result<(), Failure> {
        match self.what {
            What::Train(train) => train.run(),
            What::Count(count) => count.run(),
        }
    }
}

impl Streaming {
    fn schema(&self) -> Result<Schema, Failure> {
        let path = self.schema.as_ref();
        let path = path
            .ok_or_else(|| Failure::input("--schema is missing: the public schema of the rows"))?;
        Ok(Schema::load(path)?)
    }

    fn horizon(&self) -> Result<u64, Failure> {
        self.horizon.ok_or_else(|| {
            Failure::input(
                "--horizon is missing: the noise is planned for a number of rows, of which there may be fewer",
            )
        })
    }

    /// What is given beside a state that says it already.
    fn given_again(&self) -> Option<&'static str> {
        let given = [
            ("--schema", self.schema.is_some()),
            ("--epsilon", self.epsilon.is_some()),
            ("--delta", self.delta.is_some()),
            ("--horizon", self.horizon.is_some()),
            ("--batch", self.batch.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    fn key(&self) -> Result<Option<StateKey>, Failure> {
        let read = |path: &PathBuf| keys::read_secret(path).map(|secret| StateKey::new(*secret));
        self.state_key.as_ref().map(read).transpose()
    }

    fn input(&self) -> Result<Box<dyn Read>, Failure> {
        Ok(match &self.rows {
            None => Box::new(std::io::stdin()),
            Some(path) => Box::new(
                std::fs::File::open(path)
                    .map_err(|error| Failure::file(&path.display().to_string(), &error))?,
            ),
        })
    }

    /// Carries a stream out: one that is begun by `planned`, or the one that was put aside.
    fn carry_out<T: Streamed>(
        &self,
        again: Option<&'static str>,
        planned: impl FnOnce() -> Result<Plan<T>, Failure>,
        show: impl FnMut(&Plan<T>, Step<'_>, u32, &[f64], &mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        let key = self.key()?;
        match &self.state {
            None => self.whole(planned()?, show),
            Some(path) => {
                let aside = if path.exists() {
                    if let Some(flag) = again.or_else(|| self.given_again()) {
                        return Err(Failure::input(format!(
                            "{flag}: {} says it already, and goes on as it was begun; leave it out, or name \
                             another state",
                            path.display()
                        )));
                    }
                    self.releasing.place(&self.inputs())?;
                    let aside: Aside<T> = read_state(path)?;
                    self.releasing.paid_before(None, aside.is_paid())?;
                    aside
                } else {
                    self.begin(path, &planned()?, key.as_ref())?
                };
                self.go_on(path, aside, key.as_ref(), show)
            }
        }
    }

    /// A stream that one call reads to its end.
    fn whole<T: Streamed>(
        &self,
        plan: Plan<T>,
        mut show: impl FnMut(&Plan<T>, Step<'_>, u32, &[f64], &mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        let place = self.releasing.place(&self.inputs())?;
        let mut rows =
            LinesIn::new(BufReader::with_capacity(1 << 16, self.input()?), plan.schema())?;
        let plan = self.releasing.spending(None, "online, a stream")?.spend_whole(plan)?;
        let mut source = self.releasing.source()?;
        let (mut live, first) = Live::begin(&plan, source.as_mut())?;
        self.releasing.keep_beside(place, &first)?;
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        let mut beyond = false;
        while let Some(data) = rows.next(live.batch(), |from| from.buffer().len())? {
            beyond = piece(&mut live, &data, &mut out, |slots, step, values, out| {
                show(&plan, slots, step, values, out)
            })?;
            if beyond {
                break;
            }
        }
        drop(out);
        if let Some(last) = live.released()? {
            self.releasing.replace(&last)?;
        }
        finished(live.left(), beyond);
        Ok(())
    }

    /// Opens a stream and writes its first state, before a row is read.
    fn begin<T: Streamed>(
        &self,
        path: &Path,
        plan: &Plan<T>,
        key: Option<&StateKey>,
    ) -> Result<Aside<T>, Failure> {
        let place = self.releasing.place(&self.inputs())?;
        let journal = journal_of(path);
        if journal.exists() {
            return Err(Failure::input(format!(
                "{}: its journal is there without it; name another state, or remove the journal if nothing was \
                 ever released from it",
                path.display()
            )));
        }
        let plan = &self.releasing.spending(None, "online, a stream")?.spend_whole(plan.clone())?;
        let mut source = self.releasing.source()?;
        let mut journal =
            Journal::create(&journal).map_err(|error| LearnError::from(GateError::from(error)))?;
        let (live, first) = Live::begin_kept(plan, source.as_mut(), &mut journal)?;
        let aside = live.suspend(key)?;
        write_state(path, &aside)?;
        self.releasing.keep_beside(place, &first)?;
        Ok(aside)
    }

    fn go_on<T: Streamed>(
        &self,
        path: &Path,
        aside: Aside<T>,
        key: Option<&StateKey>,
        mut show: impl FnMut(&Plan<T>, Step<'_>, u32, &[f64], &mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        let schema = aside.request().schema.clone();
        let batch = batch_of(aside.request())?;
        let mut rows = LinesIn::new(BufReader::with_capacity(1 << 16, self.input()?), &schema)?;
        let mut source = self.releasing.source()?;
        let mut journal = Journal::open(&journal_of(path))
            .map_err(|error| LearnError::from(GateError::from(error)))?
            .ahead(self.commit);
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        // Taken up once a call and put aside at its end: where sums are cut must be told by numbers of slots alone, never by
        // how long the lines are that hold the records.
        let kept = |next: &Aside<T>| write_state(path, next);
        let mut live = aside.resume(key, source.as_mut(), &mut journal, kept)?;
        let (plan, mut beyond) = (live.plan().clone(), false);
        let steps = T::pace(plan.facts()).1;
        if live.left() < steps {
            say!(
                "step {} of {steps} is next; rows that were sent before, to a call that was killed among them, are not \
                 sent again",
                steps - live.left() + 1
            );
        }
        while let Some(data) = rows.next(batch, |from| from.buffer().len())? {
            beyond = piece(&mut live, &data, &mut out, |slots, step, values, out| {
                show(&plan, slots, step, values, out)
            })?;
            if beyond {
                break;
            }
        }
        drop(out);
        let (last, left) = (live.released()?, live.left());
        write_state(path, &live.suspend(key)?)?;
        if let Some(last) = last {
            self.releasing.replace(&last)?;
        }
        finished(left, beyond);
        Ok(())
    }

    fn inputs(&self) -> Vec<&Path> {
        let all = [&self.schema, &self.state, &self.state_key, &self.rows];
        all.into_iter().flatten().map(PathBuf::as_path).collect()
    }
}

fn batch_of<T: Streamed>(request: &Request<T>) -> Result<usize, Failure> {
    Ok(T::pace(&T::facts(request)?).0 as usize)
}

/// The records of a step.
struct Step<'a> {
    data: &'a Dataset,
    rows: Range<usize>,
}

/// Takes a piece of the stream; whether it had more rows than the stream has slots.
fn piece<T: Streamed>(
    live: &mut Live<'_, T>,
    data: &Dataset,
    out: &mut impl Write,
    mut show: impl FnMut(Step<'_>, u32, &[f64], &mut dyn Write) -> std::io::Result<()>,
) -> Result<bool, Failure> {
    let (mut failed, mut row, batch) = (None, 0, live.batch());
    let taken = live.take(data, |step, values| {
        let slots = Step { data, rows: row..(row + batch).min(data.rows()) };
        row = slots.rows.end;
        show(slots, step, values, out).map_err(|error| {
            failed = Some(error);
            LearnError::Gate(GateError::Unanswered)
        })
    });
    if let Some(error) = failed {
        return Err(Failure::stdout(error));
    }
    let beyond = taken? < data.rows();
    out.flush().map_err(Failure::stdout)?;
    Ok(beyond)
}

fn finished(left: u32, beyond: bool) {
    if beyond {
        say!(
            "the horizon is reached: nothing is learnt from, and nothing released for, the rows beyond it; more of \
             them need another budget"
        );
    } else if left > 0 {
        say!("the stream ended before its horizon; the whole budget is spent all the same");
    }
}

fn journal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".journal");
    name.into()
}

fn read_state<T: Streamed>(path: &Path) -> Result<Aside<T>, Failure> {
    let shown = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| Failure::file(&shown, &error))?;
    let refused =
        |why: String| Failure::input(format!("{shown}: not a state of such a stream: {why}"));
    Aside::read(&bytes).map_err(refused)
}

fn write_state<T: Streamed>(path: &Path, aside: &Aside<T>) -> Result<(), LearnError> {
    let text = serde_json::to_vec(aside).map_err(|_| GateError::Malformed)?;
    Ok(Destination::open(path, Existing::Replace)?.write(&text)?)
}

impl Train {
    fn run(self) -> Result<(), Failure> {
        if self.lines == Shown::Predictions {
            say!(
                "note: a prediction depends on the features of its own row. Hand it to whoever sent the row; the \
                 certificate covers the models, which everyone may see"
            );
        }
        let given = [
            ("--method", self.method.is_some()),
            ("--loss", self.loss.is_some()),
            ("--set", !self.set.is_empty()),
        ];
        let again = given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag);
        let lines = self.lines;
        let mut model: Vec<f64> = vec![];
        self.streaming.carry_out(
            again,
            || self.plan(),
            |plan, slots, step, weights, out| match lines {
                Shown::None => Ok(()),
                Shown::Models => writeln!(out, "{}", json!({ "step": step, "weights": weights })),
                Shown::Predictions => {
                    for row in slots.rows {
                        writeln!(out, "{}", predicted(plan, slots.data, row, &model))?;
                    }
                    model = weights.to_vec();
                    Ok(())
                }
            },
        )
    }

    fn plan(&self) -> Result<Plan<Online>, Failure> {
        let Streaming { epsilon, delta, neighbours, batch, .. } = &self.streaming;
        let method = self.method.clone().unwrap_or_default();
        if !method.is_private() {
            return Err(Failure::input(
                "--method non-private: nothing that it releases is protected, so it is not for streams that others \
                 see; it is there for `privet bench`",
            ));
        }
        let words = Words {
            epsilon: *epsilon,
            delta: *delta,
            neighbours: *neighbours,
            loss: self.loss.clone(),
            settings: self.set.clone(),
            calibration: self.calibration,
            ..Words::of(privet_learn::Method::NonPrivate(Default::default()))
        };
        let schema = self.streaming.schema()?;
        let request = Online::request(&schema, self.streaming.horizon()?, method, &words)?;
        let task = Online { batch: *batch, ..request.task.clone() };
        Ok(plan(&Request { task, ..request })?)
    }
}

/// What the model that was out says of a row.
fn predicted(plan: &Plan<Online>, data: &Dataset, row: usize, model: &[f64]) -> String {
    let weight = |column: usize| model.get(column).copied().unwrap_or(0.0);
    let score: f64 = match &data.features {
        Matrix::Dense(dense) => dense
            .row(row)
            .iter()
            .enumerate()
            .map(|(column, x)| f64::from(*x) * weight(column))
            .sum(),
        Matrix::Csr(csr) => {
            let (columns, values) = csr.row(row);
            columns.iter().zip(values).map(|(c, x)| f64::from(*x) * weight(*c as usize)).sum()
        }
    };
    match plan.schema().classes() {
        Some(classes) => {
            let class = classes.get(usize::from(score > 0.0)).cloned().unwrap_or_default();
            json!({ "prediction": class, "score": score }).to_string()
        }
        None => {
            let number = plan.request().task.loss.prediction(score).clamp(-1.0, 1.0);
            let number = Encoding::new(plan.schema()).decode_target(number);
            json!({ "prediction": number }).to_string()
        }
    }
}

impl Count {
    fn run(self) -> Result<(), Failure> {
        let again = self.by.is_some().then_some("--by");
        self.streaming.carry_out(
            again,
            || self.plan(),
            |plan, _, step, counts, out| {
                let cells: serde_json::Map<_, _> = plan
                    .facts()
                    .cells
                    .names
                    .iter()
                    .zip(counts)
                    .map(|(name, count)| (name.clone(), json!(count)))
                    .collect();
                writeln!(out, "{}", json!({ "step": step, "counts": cells }))
            },
        )
    }

    fn plan(&self) -> Result<Plan<Tally>, Failure> {
        let by = self.by.clone().ok_or_else(|| {
            Failure::input(
                "--by is missing: the column to count by, one whose categories the schema declares",
            )
        })?;
        let Streaming { epsilon, delta, neighbours, batch, .. } = &self.streaming;
        let epsilon = epsilon.ok_or_else(|| {
            Failure::input(format!("--epsilon is missing: counts need a privacy budget, {EPSILON}"))
        })?;
        let horizon = self.streaming.horizon()?;
        let budget = Budget::new(epsilon, delta.unwrap_or_else(|| Budget::usual_delta(horizon)))?;
        let task = Tally { batch: *batch, ..Tally::by(by) };
        let request = task.request(&self.streaming.schema()?, horizon)?.within(budget);
        Ok(plan(&Request { neighbours: *neighbours, ..request })?)
    }
}
