//! Models that predict, of any family: linear ones, tuned ones and networks.

use crate::failure::Failure;
use privet_data::matrix::Matrix;
use privet_data::{Dataset, Schema};
use privet_learn::Loaded;
use privet_learn::file::{self, Seal};
use privet_learn::linear::model::{Model, Predictions, load_predictor};
use privet_learn::networks::TrainedNetwork;
use privet_learn::statistics::evaluate::{Form, Judgements, OutputKind};
use privet_optim::loss::Loss;
use std::path::Path;

/// A model that predicts.
#[derive(Debug)]
pub enum UsableModel {
    /// A linear one.
    Linear(Box<Model>),
    /// A network.
    Network(Box<TrainedNetwork>),
}

impl UsableModel {
    /// Reads a model; files of other families are refused in words.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        match file::load_any(path, Seal::Required)? {
            Loaded::Model(model) => Ok(Self::Linear(Box::new(model))),
            Loaded::Network(network) => Ok(Self::Network(Box::new(network))),
            // Refused with the message for every file of another kind.
            _ => Ok(Self::Linear(Box::new(load_predictor(path, Seal::Required)?))),
        }
    }

    /// The schema of its records.
    pub fn schema(&self) -> &Schema {
        match self {
            Self::Linear(model) => &model.request().schema,
            Self::Network(network) => &network.request().schema,
        }
    }

    /// The prediction for each row.
    pub fn predict(&self, features: &Matrix) -> Result<Predictions, Failure> {
        Ok(match self {
            Self::Linear(model) => model.predict(features),
            Self::Network(network) => network.predict(features)?,
        })
    }

    /// A probability for each row and class, if the model has them.
    pub fn probabilities(&self, features: &Matrix) -> Result<Option<Vec<f64>>, Failure> {
        Ok(match self {
            Self::Linear(model) if model.loss() == Loss::Logistic => model.probabilities(features),
            Self::Linear(_) => None,
            Self::Network(network) => network.probabilities(features)?,
        })
    }

    /// The kind of its predictions.
    pub fn output_kind(&self) -> OutputKind {
        match self {
            Self::Linear(model) => OutputKind::of_model(model),
            Self::Network(network) => OutputKind::of_network(network),
        }
    }

    /// Its predictions beside the true labels.
    pub fn judge_predictions(&self, data: &Dataset, form: &Form) -> Result<Judgements, Failure> {
        Ok(match self {
            Self::Linear(model) => Judgements::by_model(model, data, form)?,
            Self::Network(network) => Judgements::by_network(network, data, form)?,
        })
    }

    /// The digest of its file.
    pub fn digest(&self) -> Option<&str> {
        let certificate = match self {
            Self::Linear(model) => model.certificate(),
            Self::Network(network) => network.certificate(),
        };
        certificate.digest.as_deref()
    }
}
