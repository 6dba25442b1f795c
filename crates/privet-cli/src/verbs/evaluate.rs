//! `privet evaluate`: how good is it?

use super::predict::{fitting_schema, tell_unknown};
use crate::failure::Failure;
use crate::output::{self, number};
use crate::progress::Meter;
use crate::say;
use clap::Args;
use privet_data::read::{Purpose, ReadOptions, read};
use privet_data::{Dataset, Encoding, Target};
use privet_learn::model::file::{self, Seal};
use privet_learn::model::{Model, Predictions};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Measure a model on labelled rows (the number is not private)
#[derive(Args, Debug)]
#[command(
    long_about = "\
Compares predictions with the labels of a table: accuracy for classes (with two of them also the area
under the ROC curve: how often a record of the second class has the higher score than one of the
first), root mean square error for a number, in its own unit. Rows that are null records under the schema's policy for bad ones
(`invalid`) are left out.

The number is computed from the table without noise: it is NOT private. Publish it only if those
rows are public anyway; do not choose a model by it on private rows.",
    after_help = "\
Examples:
  privet evaluate model.json test.csv
  privet evaluate model.json test.csv --json          {\"accuracy\": 0.84, \"auc\": 0.89, …}"
)]
pub struct Evaluate {
    /// The model file
    model: PathBuf,
    /// Labelled rows
    data: PathBuf,
    /// How this file is written, if otherwise than the training file: a schema that differs from
    /// the model's in [file] only
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Evaluate {
    /// Loads, reads, compares.
    pub fn run(self) -> Result<(), Failure> {
        let model = file::load_predictor(&self.model, Seal::Required)?;
        let schema = fitting_schema(&model, self.schema.as_deref())?;
        let meter = Meter::bar(&format!("reading {}", self.data.display()));
        let tell = |done, total| meter.at(done, total);
        let options = ReadOptions {
            purpose: Purpose::Evaluate,
            progress: Some(&tell),
            ..ReadOptions::default()
        };
        let data = read(&self.data, &schema, &options)?;
        drop(meter);
        tell_unknown(&data.report);
        let data = valid(data)?;
        let rows = data.rows();
        let (name, value) = measure(&model, &data)?;
        let ranking = match &data.target {
            Target::Class { codes, .. } => model.ranking(&data.features, codes),
            Target::Number(_) => None,
        };
        say!("this number is itself not private: it is computed from these rows without noise");
        if self.json {
            let mut result = json!({ "rows": rows });
            result[name] = Value::from(value);
            if let Some(ranking) = ranking {
                result["auc"] = Value::from(ranking);
            }
            output::print_json(&result)
        } else {
            let ranking =
                ranking.map_or(String::new(), |area| format!(", ranking (AUC) {}", number(area)));
            output::print(&format!("{name} {}{ranking} on {rows} rows\n", number(value)))
        }
    }
}

/// The rows that are no null records: those say nothing of a model.
fn valid(data: Dataset) -> Result<Dataset, Failure> {
    let null = &data.report.null_rows;
    if null.is_empty() {
        return Ok(data);
    }
    let kept: Vec<usize> =
        (0..data.rows()).filter(|row| null.binary_search(row).is_err()).collect();
    match kept.is_empty() {
        true => Err(Failure::input("every row is invalid; at least one valid row is needed")),
        false => Ok(data.select(&kept)),
    }
}

/// How well the model predicts these rows: what is measured, and the number.
pub fn measure(model: &Model, data: &Dataset) -> Result<(&'static str, f64), Failure> {
    let rows = data.rows() as f64;
    match (model.predict(&data.features), &data.target) {
        (Predictions::Classes(found), Target::Class { codes, .. }) => {
            let right = found.iter().zip(codes).filter(|(a, b)| a == b).count();
            Ok(("accuracy", right as f64 / rows))
        }
        (Predictions::Numbers(found), Target::Number(encoded)) => {
            let encoding = Encoding::new(&model.request().schema);
            let truth = encoded.iter().map(|value| encoding.decode_target(*value));
            let squares = found.iter().zip(truth).map(|(a, b)| (a - b) * (a - b));
            Ok(("rmse", (squares.sum::<f64>() / rows).sqrt()))
        }
        _ => Err(Failure::input("the model's target is of another kind than the data's")),
    }
}
