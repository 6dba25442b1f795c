//! The short form: from a file of records, a schema and a budget to a model, and from a model and a file
//! to predictions.

use crate::{Budget, Erm, Loss, Model, Neighbours, Request, Schema, SystemRandom};
use privet_data::DataError;
use privet_data::read::{Purpose, ReadOptions, read, read_features};
use privet_learn::LearnError;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The reason why training or prediction failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The schema or the file.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The plan, its proof or its execution.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The operating system gives no randomness.
    #[error("no randomness: {0}")]
    Randomness(String),
    /// The number of rows is private, and must be declared.
    #[error(
        "the schema has a [unit], and then the number of rows is private: declare it in a Request, plan it and \
         run the plan"
    )]
    RowsArePrivate,
}

/// Trains a model on a file of records: logistic for classes, squared loss for a number, with the
/// default method, under replace-one neighbours. For anything else there is [`Request`].
pub fn train(records: impl AsRef<Path>, schema: &Schema, budget: Budget) -> Result<Model, Error> {
    if schema.unit_column().is_some() {
        return Err(Error::RowsArePrivate);
    }
    let (records, options) = (records.as_ref(), ReadOptions::default());
    let rows = read(records, &schema.of_rows(), &options)?.rows() as u64;
    let loss = if schema.classes().is_some() { Loss::Logistic } else { Loss::SQUARED };
    let task = Erm { loss, method: "auto".parse()? };
    let request = Request::new(schema.clone(), rows, Neighbours::ReplaceOne, task);
    let plan = crate::plan(&request.within(budget))?;
    let table = read(records, plan.schema(), &options)?;
    let mut noise = SystemRandom::new().map_err(|error| Error::Randomness(error.to_string()))?;
    let release = plan.run(&table, &mut noise, &AtomicBool::new(false))?;
    Ok(Model::from_release(release)?)
}

/// Predicts every row of a file: the names of classes, or numbers.
pub fn predict(model: &Model, rows: impl AsRef<Path>) -> Result<Vec<String>, Error> {
    let options = ReadOptions { purpose: Purpose::Evaluate, ..ReadOptions::default() };
    let features = read_features(rows, &model.request().schema, &options)?;
    Ok(model.predict(&features.matrix).in_words(&model.request().schema))
}
