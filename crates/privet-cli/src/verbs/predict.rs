//! `privet predict`: applies a model to new rows.

use super::evaluate::Decision;
use crate::failure::Failure;
use crate::progress::Meter;
use crate::usable::UsableModel;
use crate::{output, say, sentences, settings};
use clap::Args;
use privet_data::Schema;
use privet_data::matrix::Matrix;
use privet_data::read::{Purpose, ReadOptions, Report, read_features};
use privet_data::schema::Draft;
use privet_learn::linear::model::Predictions;
use std::path::{Path, PathBuf};

/// Predict for new rows
#[derive(Args, Debug)]
#[command(
    long_about = "\
Predicts for each row of a table, as CSV with the column `prediction`; with --proba one column of
probabilities for each class beside it.

The table needs the columns of the schema, in any order; others are ignored, and the target may be
missing. A category that the schema does not list counts as the schema says; where it says `error`,
as none of the column's categories. How many there were is said on standard error.

A row with a bad cell, or with too few or too many, is refused, unless the schema the model was trained
with has another policy (`invalid`): where that says null record, the row's `prediction` is empty.

Predictions cost no budget: the model is public in the sense of its certificate. They do say
something about the rows you predict for.",
    after_help = "\
Examples:
  privet predict model.json new.csv
  privet predict model.json new.csv --proba --out predictions.csv
  privet predict model.json new.csv --id patient             # whose each prediction is
  cat new.csv | privet predict model.json - > predictions.csv
  privet predict model.json new.parquet --schema new.toml    # same columns, another kind of file"
)]
pub struct Predict {
    /// The model file
    model: PathBuf,
    /// The rows to predict for; - is standard input
    #[arg(value_parser = settings::table())]
    data: PathBuf,
    /// Where to write the CSV; - is standard output
    #[arg(long, value_name = "CSV", default_value = "-")]
    out: PathBuf,
    /// Overwrite a file that is there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    decision: Decision,
    /// A column of the rows to repeat beside each prediction, such as a number that names them
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// Add a probability for each class (logistic models)
    #[arg(long)]
    proba: bool,
    /// How this file is written, if otherwise than the training file: a schema that differs from
    /// the model's in [file] only
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<PathBuf>,
}

impl Predict {
    /// Loads, reads, predicts, writes.
    pub fn run(self) -> Result<(), Failure> {
        let model = UsableModel::load(&self.model)?;
        let schema = fitting_schema(model.schema(), self.schema.as_deref())?;
        if self.id.is_some() && !schema.file().header {
            let words = "--id: the table has no header that could name a column; accepted with one that has";
            return Err(Failure::input(words));
        }
        let mut out = output::open(&self.out, self.force, &[&self.model, &self.data])?;
        let meter = Meter::bar(&format!("reading {}", self.data.display()));
        let tell = |done, total| meter.at(done, total);
        let options = ReadOptions {
            purpose: Purpose::Evaluate,
            progress: Some(&tell),
            keep: self.id.as_deref(),
            ..ReadOptions::default()
        };
        let features = read_features(&self.data, &schema, &options)?;
        drop(meter);
        tell_unknown(&features.report);

        let predictions = match self.decision.threshold()? {
            Some(threshold) => predict_above(&model, &features.matrix, threshold)?,
            None => model.predict(&features.matrix)?,
        };
        let probabilities = if self.proba {
            let refused = || {
                Failure::input(
                    "--proba: this model gives no probabilities; a classifier trained with \
                     --loss logistic does, and so does a network",
                )
            };
            let classes = schema.classes().ok_or_else(refused)?;
            Some((classes, model.probabilities(&features.matrix)?.ok_or_else(refused)?))
        } else {
            None
        };
        let ids = self.id.as_deref().map(|name| (name, features.report.kept.as_slice()));
        let text = csv_text(&schema, &predictions, probabilities, ids, &features.report.null_rows)?;
        output::write(&mut out, &self.out, text.as_bytes())?;
        if !out.is_standard() {
            let mode = output::mode(out.file().is_some());
            say!("predictions written to {}{mode}", self.out.display());
        }
        Ok(())
    }
}

/// The second of two classes where its probability is above a threshold, the first elsewhere.
fn predict_above(
    model: &UsableModel,
    features: &Matrix,
    threshold: f64,
) -> Result<Predictions, Failure> {
    let two = model.schema().classes().is_some_and(|classes| classes.len() == 2);
    let shares = model.probabilities(features)?.filter(|_| two).ok_or_else(|| {
        Failure::input("--threshold: accepted for models that give two classes their probabilities")
    })?;
    let second = |row: &[f64]| u32::from(row[1] > threshold);
    Ok(Predictions::Classes(shares.chunks(2).map(second).collect()))
}

/// Removes the encoding of numbers from a schema.
fn without_encoding(draft: &mut Draft) {
    draft.bias = None;
    draft.pairs.clear();
    // Raised where rows are not clipped.
    (draft.clip.rows, draft.clip.radius) = (None, 1.0);
    for column in &mut draft.columns {
        (column.scale, column.basis) = (None, None);
    }
}

/// The model's own schema, or the caller's if both describe records alike.
pub fn fitting_schema(own: &Schema, given: Option<&Path>) -> Result<Schema, Failure> {
    let Some(path) = given else { return Ok(own.clone()) };
    let schema = Schema::load(path)?;
    let bare = |schema: &Schema| {
        let mut draft = Draft::from(schema.clone());
        draft.file = Default::default();
        // Fields that decide nothing about a record.
        (draft.storage, draft.origin, draft.other_columns) = (None, None, None);
        draft
    };
    let (mut ours, mut theirs) = (bare(own), bare(&schema));
    if ours == theirs {
        return Ok(schema);
    }
    if schema.is_open() {
        // The plan decided the open parts of the schema: only the others must match.
        for draft in [&mut ours, &mut theirs] {
            without_encoding(draft);
        }
        if ours == theirs {
            let file = Draft::from(schema).file;
            let read = Draft { file, ..Draft::from(own.clone()) };
            return read.check().map_err(|error| Failure::input(error.to_string()));
        }
    }
    let differs = if ours.target != theirs.target {
        "[target]".to_string()
    } else if ours.invalid != theirs.invalid {
        "invalid".into()
    } else if ours.clip != theirs.clip || ours.bias != theirs.bias {
        "[clip] or bias".into()
    } else {
        let name = |place: usize, draft: &Draft| draft.columns.get(place).map(|c| c.name.clone());
        let longest = ours.columns.len().max(theirs.columns.len());
        (0..longest)
            .find(|&place| ours.columns.get(place) != theirs.columns.get(place))
            .and_then(|place| name(place, &theirs).or_else(|| name(place, &ours)))
            .map_or("[unit] or [libsvm]".into(), |name| format!("column \"{name}\""))
    };
    Err(Failure::input(format!(
        "--schema {}: does not fit the model: {differs} differs; accepted is the model's own \
         schema with another [file]",
        path.display()
    )))
}

/// Reports the treatment of categories that the schema does not list, and their number.
pub fn tell_unknown(report: &Report) {
    for line in report.to_string().lines() {
        say!("{}", sentences::wrap_lines(&format!("note: {line}"), "").trim_end());
    }
}

fn csv_text(
    schema: &Schema,
    predictions: &Predictions,
    probabilities: Option<(&[String], Vec<f64>)>,
    ids: Option<(&str, &[String])>,
    null_rows: &[usize],
) -> Result<String, Failure> {
    let failed = |error: csv::Error| Failure::Environment(error.to_string());
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut header = vec!["prediction".to_string()];
    let mut shares = None;
    if let Some((classes, values)) = &probabilities {
        header.extend(classes.iter().map(|class| format!("probability {class}")));
        shares = Some(values.chunks(classes.len().max(1)));
    }
    if let Some((name, _)) = ids {
        header.insert(0, name.to_string());
    }
    writer.write_record(&header).map_err(failed)?;
    for (place, label) in predictions.in_words(schema).into_iter().enumerate() {
        let mut row = vec![label];
        if let Some(values) = shares.as_mut().and_then(Iterator::next) {
            row.extend(values.iter().map(f64::to_string));
        }
        if null_rows.binary_search(&place).is_ok() {
            row.iter_mut().for_each(String::clear);
        }
        if let Some((_, ids)) = ids {
            row.insert(0, ids.get(place).cloned().unwrap_or_default());
        }
        writer.write_record(&row).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| Failure::Environment(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| Failure::Environment(error.to_string()))
}
