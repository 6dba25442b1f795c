//! `privet evaluate`: measures a model on labelled rows.

use super::predict::{fitting_schema, tell_unknown};
use crate::failure::Failure;
use crate::head::{FlagPresence, Head, head};
use crate::output;
use crate::progress::Meter;
use crate::releasing::{PerhapsReleasing, Releasing, read_table};
use crate::settings::range_parser;
use crate::usable::UsableModel;
use crate::{say, sentences};
use clap::Args;
use privet_core::Range;
use privet_data::read::{Purpose, ReadOptions, read};
use privet_data::{Dataset, Schema};
use privet_learn::file::{self, Seal};
use privet_learn::statistics::evaluate::report;
use privet_learn::statistics::evaluate::{
    Evaluate as Task, Form, Measures, Metrics, THRESHOLD, taken_for_public, threshold_by_cost,
};
use privet_learn::{LearnError, Plan, plan};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Limits on a share of records.
const SHARE: Range = Range::open("share", 0.0, 1.0);

/// Measure a model on labelled rows, privately with --epsilon
#[derive(Args, Debug)]
#[command(
    long_about = "\
Compares predictions with the labels of a table.

For classes: accuracy beside that of always saying the largest class, the confusion matrix, recall
and precision; where the model has scores, the area under the ROC curve (how often a record of the
second class has the higher score than one of the first); where it has probabilities, log loss,
Brier score and calibration. For a number: root mean square and mean absolute error in its own
unit, beside always saying the mean, and R². Rows that are null records under the schema's policy
for bad ones (`invalid`) are left out.

Without --epsilon all of it is computed from the rows without noise and is NOT private: look at it
only if you may see those rows, and publish none of it. With --epsilon everything that is shown,
the number of rows and the warnings included, comes from one noised release with a certificate,
written to --out; numbers then have intervals for the noise. It spends budget, as training does.
The model must be public then: one that was released with a guarantee that holds, or that you
declare to be public (--model-is-public). What it was learnt with adds to this: `privet total`.
Log loss counts a probability below 1 % as 1 %, with and without --epsilon.

A decision threshold for two classes is given (--threshold) or follows from what errors cost
(--costs MISSED:FALSE_ALARM), from those numbers alone; `privet predict` takes the same flags.
--share S tells which threshold would call that share of these records positive.",
    after_help = "\
Examples:
  privet evaluate model.json test.csv
  privet evaluate model.json test.csv --json          {\"accuracy\": 0.84, \"auc\": 0.89, …}
  privet evaluate model.json test.csv --epsilon 0.5 --out worth.json
  privet evaluate model.json test.csv --costs 10:1     a missed case costs ten false alarms"
)]
pub struct Evaluate {
    /// The model file
    model: PathBuf,
    #[command(flatten)]
    head: Head<OfWorth>,
    #[command(flatten)]
    decision: Decision,
    /// Tell the threshold above which this share of the records lies (two classes)
    #[arg(long, value_name = "S", value_parser = range_parser(SHARE), allow_hyphen_values = true)]
    share: Option<f64>,
    /// The model is public, made without these records, though its file has no guarantee that holds;
    /// the certificate states that you said so
    #[arg(long, requires = "epsilon")]
    model_is_public: bool,
    #[command(flatten)]
    releasing: PerhapsReleasing,
}

head! {
    OfWorth {
        data: (FlagPresence::Always, "Labelled rows; - is standard input"),
        schema: (
            FlagPresence::Perhaps,
            "How this file is written, if otherwise than the training file: a schema that differs from the model's in \
             [file] only",
        ),
        epsilon: (FlagPresence::Perhaps, " of what is shown, without which nothing here is private"),
        only_with_epsilon: true,
    }
}

/// When the second of two classes is predicted.
#[derive(Args, Debug, Clone, Copy)]
pub struct Decision {
    #[arg(
        long, value_name = "P", value_parser = range_parser(THRESHOLD), allow_hyphen_values = true,
        help = format!("Predict the second of two classes where its probability is above this: {THRESHOLD} \
                        [default: 0.5]"),
    )]
    threshold: Option<f64>,
    /// The same by cost: what a missed record of the second class costs against a false alarm, as 10:1
    #[arg(long, value_name = "MISSED:ALARM", value_parser = costs, conflicts_with = "threshold")]
    costs: Option<(f64, f64)>,
}

impl Decision {
    /// The threshold, from the flags alone.
    pub fn threshold(&self) -> Result<Option<f64>, Failure> {
        match self.costs {
            Some((missed, alarm)) => Ok(Some(threshold_by_cost(missed, alarm)?)),
            None => Ok(self.threshold),
        }
    }
}

fn costs(text: &str) -> Result<(f64, f64), String> {
    let parsed = text.split_once(':').and_then(|(missed, alarm)| {
        let (missed, alarm) = (missed.trim().parse().ok()?, alarm.trim().parse().ok()?);
        threshold_by_cost(missed, alarm).ok().map(|_| (missed, alarm))
    });
    parsed.ok_or_else(|| "two numbers above 0 are accepted, as 10:1".into())
}

impl Evaluate {
    /// Loads, reads, evaluates.
    pub fn run(self) -> Result<(), Failure> {
        let model = UsableModel::load(&self.model)?;
        let schema = fitting_schema(model.schema(), self.head.schema_path())?;
        let threshold = self.decision.threshold()?;
        match (self.head.epsilon, self.releasing.releasing()) {
            (Some(_), Some(releasing)) => self.release(&model, &schema, threshold, releasing),
            (Some(_), None) => Err(Failure::input(
                "--out is missing: where to write the evaluation with its certificate; - is standard output",
            )),
            (None, None) => self.look(&model, &schema, threshold),
            (None, Some(_)) => Err(Failure::input(
                "--epsilon is missing: only what is released privately is written, with its certificate",
            )),
        }
    }

    /// Evaluates without noise, for a caller who may see the rows.
    fn look(
        &self,
        model: &UsableModel,
        schema: &Schema,
        threshold: Option<f64>,
    ) -> Result<(), Failure> {
        self.releasing.refuse_release_flags()?;
        let form =
            Form::exact(schema, model.output_kind(), threshold).map_err(threshold_refused)?;
        let meter = Meter::bar(&format!("reading {}", self.head.data().display()));
        let tell = |done, total| meter.at(done, total);
        let options = ReadOptions {
            purpose: Purpose::Evaluate,
            progress: Some(&tell),
            ..ReadOptions::default()
        };
        let data = read(self.head.data(), schema, &options)?;
        drop(meter);
        tell_unknown(&data.report);
        if data.report.null_rows.len() == data.rows() {
            return Err(Failure::input("every row is invalid; at least one valid row is needed"));
        }
        let metrics = exact(model, &data, &form)?;
        let banner = "NOT PRIVATE: what follows is computed from these rows without noise. Keep it to yourself, and \
                      choose no model by it; --epsilon releases it privately";
        say!("{}", sentences::wrap_lines(banner, "").trim_end());
        match self.releasing.json {
            true => {
                let mut shown = report::as_json(&metrics);
                self.add_share(&metrics, &mut shown)?;
                output::print_json(&shown)
            }
            false => output::print(
                &(sentences::parts(&report::parts(&metrics), "")
                    + &self.share_in_words(&metrics)?),
            ),
        }
    }

    /// Evaluates with noise, from one budget.
    fn release(
        &self,
        model: &UsableModel,
        schema: &Schema,
        threshold: Option<f64>,
        releasing: &Releasing,
    ) -> Result<(), Failure> {
        let (table, budget) = (self.head.table(schema)?, self.head.budget()?);
        let guarantee = file::load_any(&self.model, Seal::Required)?.verify().guarantee;
        taken_for_public(guarantee.as_ref(), self.model_is_public)?;
        let digest = model.digest().unwrap_or_default().to_string();
        let declared_public = self.model_is_public;
        let task = Task { model: digest, says: model.output_kind(), threshold, declared_public };
        let planned = |rows: u64| -> Result<Plan<Task>, Failure> {
            let request = task.clone().request(schema, rows, self.head.neighbours, budget);
            plan(&request.map_err(threshold_refused)?).map_err(threshold_refused)
        };
        if self.share.is_some()
            && (schema.classes().map_or(0, <[_]>::len), model.output_kind()) != SHARE_KINDS
        {
            return Err(no_share());
        }
        let (place, reserved) = releasing.reserve(table, &self.inputs(), "evaluate", planned)?;
        let (ready, judged) = reserved.read(|plan| {
            let data = read_table(self.head.data(), schema, self.head.relation(schema))?;
            Ok(model.judge_predictions(&data, plan.facts())?.table(plan.facts()))
        })?;
        let mut source = releasing.source()?;
        let made = ready.draw(&judged, source.as_mut(), &AtomicBool::new(false))?;
        releasing.keep_with(place, made, |found, told| {
            let metrics = Metrics::of(found.request(), found.artefact())
                .ok_or_else(|| Failure::input("what was released does not fit its request"))?;
            self.add_share(&metrics, told)?;
            self.share_in_words(&metrics)
        })
    }

    fn inputs(&self) -> Vec<&Path> {
        self.head.inputs(&[Some(&self.model)])
    }

    fn add_share(&self, metrics: &Metrics, shown: &mut Value) -> Result<(), Failure> {
        let Some(share) = self.share else { return Ok(()) };
        let found = metrics.threshold_by_share(share).ok_or_else(no_share)?;
        shown["threshold_for_share"] = match metrics.private {
            true => serde_json::to_value(found).unwrap_or_default(),
            false => found.value.into(),
        };
        Ok(())
    }

    fn share_in_words(&self, metrics: &Metrics) -> Result<String, Failure> {
        let Some(share) = self.share else { return Ok(String::new()) };
        let found = metrics.threshold_by_share(share).ok_or_else(no_share)?;
        Ok(report::threshold(share, &found))
    }
}

/// A share of records applies to two classes with probabilities.
const SHARE_KINDS: (usize, privet_learn::statistics::evaluate::OutputKind) =
    (2, privet_learn::statistics::evaluate::OutputKind::Probabilities);

fn no_share() -> Failure {
    Failure::input("--share: accepted for models that give two classes their probabilities")
}

/// A threshold for a model without probabilities is bad input, not a gap in a proof.
fn threshold_refused(error: LearnError) -> Failure {
    match error {
        LearnError::NotCovered { what, instead } if what.contains("threshold") => {
            Failure::input(format!("--threshold: {what}; accepted: {instead}"))
        }
        error => error.into(),
    }
}

/// The metrics of a model on rows, without noise.
fn exact(model: &UsableModel, data: &Dataset, form: &Form) -> Result<Metrics, Failure> {
    Ok(Metrics::exact(form, &model.judge_predictions(data, form)?))
}

/// The accuracy of a model of classes on rows, without noise.
pub fn accuracy(model: &UsableModel, data: &Dataset) -> Result<f64, Failure> {
    let form = Form::exact(model.schema(), model.output_kind(), None)?;
    match exact(model, data, &form)?.measures {
        Measures::Classes(own) => Ok(own.accuracy.value),
        Measures::Number(_) => Err(Failure::input("a number has no accuracy")),
    }
}
