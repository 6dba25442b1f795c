//! The short form: from a file of records, a schema and a budget to a model, and from a model and a file
//! to predictions.

use crate::release::{File, released};
use crate::{Budget, Erm, Loss, Model, Neighbours, Request, Schema};
use privet_core::Relation;
use privet_data::DataError;
use privet_data::read::{Purpose, ReadOptions, read_features};
use privet_learn::LearnError;
use std::path::Path;

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
        "the number of rows is private under add-remove, and where the schema has a [unit]: declare about how many there \
         are, from public knowledge"
    )]
    RowsArePrivate,
}

/// Trains a model on a file of records: logistic for classes, squared loss for a number, with the
/// default method, under replace-one neighbours. For anything else there is [`Request`].
pub fn train(records: impl AsRef<Path>, schema: &Schema, budget: Budget) -> Result<Model, Error> {
    if schema.unit_column().is_some() {
        return Err(Error::RowsArePrivate);
    }
    let relation = Relation::new(Neighbours::ReplaceOne, schema.unit());
    let file = File::new(records.as_ref(), schema, relation, None)?;
    let loss = if schema.classes().is_some() { Loss::Logistic } else { Loss::SQUARED };
    let task = Erm { loss, method: "auto".parse()? };
    released(file, |rows| {
        let request = Request::new(schema.clone(), rows, relation.neighbours, task.clone());
        Ok(crate::plan(&request.with_budget(budget))?)
    })
}

/// Predicts every row of a file: the names of classes, or numbers.
pub fn predict(model: &Model, rows: impl AsRef<Path>) -> Result<Vec<String>, Error> {
    let options = ReadOptions { purpose: Purpose::Evaluate, ..ReadOptions::default() };
    let features = read_features(rows, &model.request().schema, &options)?;
    Ok(model.predict(&features.matrix).in_words(&model.request().schema))
}
