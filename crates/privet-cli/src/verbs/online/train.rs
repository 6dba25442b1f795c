//! `privet online train`: models, or predictions by them.

use super::Streaming;
use super::stream::{Lines, Step};
use crate::failure::Failure;
use crate::say;
use crate::settings::assignment;
use clap::{Args, ValueEnum};
use privet_data::Dataset;
use privet_data::encode::Encoding;
use privet_data::matrix::Matrix;
use privet_learn::streams::{Method, Online};
use privet_learn::{Calibration, Plan, Request, RequestOptions, plan};
use serde_json::json;
use std::io::Write;

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LineContent {
    /// The model after each step, as JSON; covered by the certificate, for everyone
    Models,
    /// A prediction for each row, by the newest model that was out before it came (none says 0); each is
    /// for whoever sent the row
    Predictions,
    /// Nothing but the file at the end
    None,
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
was; steps that a killed process lost count as made. A state that is older than its journal is refused;
copies of both, or both brought back from a backup, go on a second time, with noise that nobody has charged
for: keep them where one process finds them.",
    after_help = "\
Examples:
  privet online train --schema s.toml --epsilon 1 --horizon 100000 --out last.json < rows.csv > models.jsonl
  privet online train --schema s.toml --epsilon 1 --horizon 100000 --batch 100 --state s.state \\
      --state-key s.key --out last.json < monday.csv
  privet online train --state s.state --state-key s.key --out last.json --force < tuesday.csv"
)]
pub(super) struct Train {
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
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = LineContent::Models)]
    lines: LineContent,
    #[command(flatten)]
    streaming: Streaming,
}

impl Train {
    pub(super) fn run(self) -> Result<(), Failure> {
        if self.lines == LineContent::Predictions {
            say!(
                "note: a prediction depends on the features of its own row. Hand it to whoever sent the row; the \
                 certificate covers the models, which everyone may see"
            );
        }
        let given = [
            ("method", self.method.is_some()),
            ("loss", self.loss.is_some()),
            ("set", !self.set.is_empty()),
        ];
        let mut lines = OutputLines { what: self.lines, model: vec![] };
        self.streaming.carry_out(&given, || self.plan(), &mut lines)
    }

    fn plan(&self) -> Result<Plan<Online>, Failure> {
        let Streaming { head, batch, .. } = &self.streaming;
        let method = self.method.clone().unwrap_or_default();
        if !method.is_private() {
            return Err(Failure::input(
                "--method non-private: nothing that it releases is protected, so it is not for streams that others \
                 see; it is there for `privet-bench`",
            ));
        }
        let words = RequestOptions {
            epsilon: head.epsilon,
            delta: head.delta,
            neighbours: head.neighbours,
            loss: self.loss.clone(),
            settings: self.set.clone(),
            calibration: self.calibration,
            ..RequestOptions::of(privet_learn::Method::NonPrivate(Default::default()))
        };
        let schema = head.schema()?;
        let request = Online::request(&schema, self.streaming.horizon()?, method, &words)?;
        let task = Online { batch: *batch, ..request.task.clone() };
        Ok(plan(&Request { task, ..request })?)
    }
}

/// The output lines of a call.
struct OutputLines {
    what: LineContent,
    /// The newest released model, if it is needed.
    model: Vec<f64>,
}

impl Lines<Online> for OutputLines {
    fn out_already(&mut self, weights: &[f64]) {
        self.model = weights.to_vec();
    }

    fn write(
        &mut self,
        plan: &Plan<Online>,
        records: Step<'_>,
        (step, weights): (u32, &[f64]),
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        match self.what {
            LineContent::None => Ok(()),
            LineContent::Models => writeln!(out, "{}", json!({ "step": step, "weights": weights })),
            LineContent::Predictions => {
                for row in records.rows {
                    writeln!(out, "{}", predicted(plan, records.data, row, &self.model))?;
                }
                self.model = weights.to_vec();
                Ok(())
            }
        }
    }
}

/// The score ⟨x, θ⟩ of a row and the weights of one class.
fn score(data: &Dataset, row: usize, weights: &[f64]) -> f64 {
    let weight = |column: usize| weights.get(column).copied().unwrap_or(0.0);
    match &data.features {
        Matrix::Dense(dense) => {
            let entries = dense.row(row).iter().enumerate();
            entries.map(|(column, x)| f64::from(*x) * weight(column)).sum()
        }
        Matrix::Csr(csr) => {
            let (columns, values) = csr.row(row);
            columns.iter().zip(values).map(|(c, x)| f64::from(*x) * weight(*c as usize)).sum()
        }
    }
}

/// The prediction of a row by the newest released model.
fn predicted(plan: &Plan<Online>, data: &Dataset, row: usize, model: &[f64]) -> String {
    match plan.schema().classes() {
        Some(classes) if classes.len() > 2 => {
            let columns = data.features.columns().max(1);
            let scores: Vec<f64> = (0..classes.len())
                .map(|class| score(data, row, model.get(class * columns..).unwrap_or_default()))
                .collect();
            // The first of equal scores.
            let best = (1..scores.len())
                .fold(0, |best, k| if scores[k] > scores[best] { k } else { best });
            json!({ "prediction": classes[best], "scores": scores }).to_string()
        }
        Some(classes) => {
            let score = score(data, row, model);
            let class = classes.get(usize::from(score > 0.0)).cloned().unwrap_or_default();
            json!({ "prediction": class, "score": score }).to_string()
        }
        None => {
            let score = score(data, row, model);
            let number = plan.request().task.loss.prediction(score).clamp(-1.0, 1.0);
            let number = Encoding::new(plan.schema()).decode_target(number);
            json!({ "prediction": number }).to_string()
        }
    }
}
