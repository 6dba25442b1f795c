//! `privet tune`: the best of a secret number of trainings, paid for as a whole.

use crate::failure::Failure;
use crate::head::{FlagPresence, Head, head};
use crate::progress::Meter;
use crate::releasing::{Releasing, read_table};
use crate::settings::{RequestFlags, range_parser};
use clap::Args;
use privet_data::Schema;
use privet_learn::tuning::{Law, TRIALS, Tune as Task, candidates_of_toml, grid};
use privet_learn::{Calibration, Method, Plan, Request, plan};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Train the best of several methods and settings, privately, and write it with its certificate
#[derive(Args, Debug)]
#[command(
    long_about = "\
Tries methods and settings on the records and releases the model of the best trial, in one file
with one certificate that pays for all of it. Candidates are every combination of the values in
--set NAME=A,B,C for the given --method, or those of a file (--candidates):

  [[candidates]]
  method = \"gd\"
  steps = [10, 40]       # a list makes a candidate of each, and lists multiply
  [[candidates]]
  method = \"amp\"

A trial draws a candidate by lot, trains it, and counts under noise how many records it predicts
rightly. How many trials are made is random and secret, and so are all models but the best and
all scores (Papernot & Steinke 2022); that is why 30 of them cost two or three times the ε of one,
not 30 times.
How long the command takes tells about how many there were, and is not hidden: let nobody see it
who is not to know.

`--method auto` of `privet train` tries nothing and has the whole budget for one model. It is
the better buy where candidates differ by less than the noise of half the budget or less costs;
the certificate's first note says what public facts say of that.

`privet predict`, `evaluate`, `verify` and `inspect` take the file as they take a model's.",
    after_help = "\
Examples:
  privet tune table.csv --schema s.toml --epsilon 2 --method gd --set steps=10,40,160 \\
      --set ridge=1,100 --out best.json
  privet tune table.csv --schema s.toml --epsilon 2 --candidates tries.toml --trials 30 \\
      --law logarithmic --out best.json"
)]
pub struct Tune {
    #[command(flatten)]
    head: Head<OfTuning>,
    #[arg(
        long, value_name = "M",
        help = format!("A method to try, with every combination of those settings of --set that it has; may be given \
                        several times: {}", Method::accepted()),
    )]
    method: Vec<Method>,
    /// A file of candidates (TOML), in place of --method
    #[arg(long, value_name = "FILE", conflicts_with = "method")]
    candidates: Option<PathBuf>,
    #[arg(
        long, value_name = "T", value_parser = range_parser(TRIALS),
        help = format!("Trials expected: {TRIALS} [default: twice the candidates, and at least 10]"),
    )]
    trials: Option<f64>,
    /// The law of their number: poisson (close to what is expected), geometric, or logarithmic (often
    /// few, sometimes very many) [default: of the first two the one that leaves a trial more]
    #[arg(long, value_name = "LAW", value_parser = law)]
    law: Option<Law>,
    #[command(flatten)]
    settings: RequestFlags,
    #[command(flatten)]
    releasing: Releasing,
}

head! {
    OfTuning {
        schema: (
            FlagPresence::Always,
            "The public schema (TOML). Columns whose encoding it leaves open are encoded as the first candidate would have it",
        ),
        epsilon: (FlagPresence::Perhaps, ""),
    }
}

fn law(text: &str) -> Result<Law, String> {
    serde_json::from_value(text.into())
        .map_err(|_| "accepted: poisson, logarithmic, geometric".to_string())
}

impl Tune {
    /// Tunes; refuses everything it can before a record is read.
    pub fn run(self) -> Result<(), Failure> {
        let schema = self.head.schema()?;
        let table = self.head.table(&schema)?;
        let candidates = self.list()?;
        let inputs = self.head.inputs(&[self.candidates.as_deref()]);
        let plan = |rows| self.plan(&schema, rows, &candidates);
        let (place, reserved) = self.releasing.reserve(table, &inputs, "tune", plan)?;
        let read = |plan: &Plan<Task>| {
            read_table(self.head.data(), plan.schema(), self.head.relation(&schema))
        };
        let (ready, data) = reserved.read(read)?;
        let mut source = self.releasing.source()?;
        // No progress is shown: steps would reveal the number of trials.
        let meter = Meter::spinner("tuning");
        let made = ready.draw(&data, source.as_mut(), &AtomicBool::new(false))?;
        drop(meter);
        self.releasing.keep(place, made)
    }

    /// The candidates, in order.
    fn list(&self) -> Result<Vec<Method>, Failure> {
        let lists: Vec<(String, Vec<String>)> = self
            .settings
            .own_settings()
            .into_iter()
            .map(|(name, values)| (name, values.split(',').map(|v| v.trim().into()).collect()))
            .collect();
        if let Some(path) = &self.candidates {
            if let Some((name, _)) = lists.first() {
                return Err(Failure::input(format!(
                    "{name} is given beside --candidates: settings stand in that file"
                )));
            }
            let text = std::fs::read_to_string(path).map_err(|error| {
                Failure::input(format!("--candidates {}: {error}", path.display()))
            })?;
            return Ok(candidates_of_toml(&text)?);
        }
        if self.method.is_empty() {
            return Err(Failure::input(
                "--method is missing: what to try, such as --method gd --set steps=10,40, or --candidates FILE; \
                 `privet methods` lists methods and settings",
            ));
        }
        if let Some((name, _)) =
            lists.iter().find(|(name, _)| !self.method.iter().any(|m| m.has(name)))
        {
            return Err(Failure::input(format!(
                "{name} is a setting of none of the methods; `privet methods` lists what each has"
            )));
        }
        let mut all = Vec::new();
        for method in &self.method {
            let own: Vec<_> = lists.iter().filter(|(name, _)| method.has(name)).cloned().collect();
            all.extend(grid(method, &own)?);
        }
        Ok(all)
    }

    fn plan(
        &self,
        schema: &Schema,
        rows: u64,
        candidates: &[Method],
    ) -> Result<Plan<Task>, Failure> {
        let _meter = Meter::spinner("planning");
        let method = candidates.first().cloned().ok_or_else(|| {
            Failure::input("--candidates: the file has none; tables [[candidates]] are accepted")
        })?;
        let flags = self.settings.of_no_method();
        let Request { budget, neighbours, task, .. } =
            flags.request(&self.head, (schema, rows), &method, Calibration::Sound)?;
        let task = Task {
            loss: task.loss,
            candidates: candidates.to_vec(),
            trials: self.trials,
            law: self.law,
            trial_epsilon: None,
        };
        let request = Request::new(schema.clone(), rows, neighbours, task);
        Ok(plan(&Request { budget, ..request })?)
    }
}
