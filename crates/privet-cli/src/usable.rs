//! Models that predict, of any family: linear ones, tuned ones and networks.

use crate::failure::Failure;
use privet_data::matrix::Matrix;
use privet_data::{Schema, Target};
use privet_learn::file::{self, Seal};
use privet_learn::model::{Model, Predictions};
use privet_learn::nonconvex::TrainedNetwork;
use privet_learn::{Loaded, ranking};
use privet_optim::loss::Loss;
use std::path::Path;

/// A model that predicts.
#[derive(Debug)]
pub enum Usable {
    /// A linear one.
    Linear(Box<Model>),
    /// A network.
    Network(Box<TrainedNetwork>),
}

impl Usable {
    /// Reads one; files of other families are refused in words.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        match file::load_any(path, Seal::Required)? {
            Loaded::Model(model) => Ok(Self::Linear(Box::new(model))),
            Loaded::Network(network) => Ok(Self::Network(Box::new(network))),
            // Refused in the words that are used for every file of another kind.
            _ => Ok(Self::Linear(Box::new(file::load_predictor(path, Seal::Required)?))),
        }
    }

    /// The schema of its records.
    pub fn schema(&self) -> &Schema {
        match self {
            Self::Linear(model) => &model.request().schema,
            Self::Network(network) => &network.request().schema,
        }
    }

    /// What it predicts for each row.
    pub fn predict(&self, features: &Matrix) -> Result<Predictions, Failure> {
        Ok(match self {
            Self::Linear(model) => model.predict(features),
            Self::Network(network) => network.predict(features)?,
        })
    }

    /// A probability for each row and class, if it has them.
    pub fn probabilities(&self, features: &Matrix) -> Result<Option<Vec<f64>>, Failure> {
        Ok(match self {
            Self::Linear(model) if model.loss() == Loss::Logistic => model.probabilities(features),
            Self::Linear(_) => None,
            Self::Network(network) => network.probabilities(features)?,
        })
    }

    /// How well it ranks records of two classes; `None` for other targets, or where one class is absent.
    pub fn ranking(&self, features: &Matrix, target: &Target) -> Result<Option<f64>, Failure> {
        let Target::Class { codes, count } = target else { return Ok(None) };
        match self {
            Self::Linear(model) => Ok(model.ranking(features, codes)),
            Self::Network(_) if *count != 2 => Ok(None),
            Self::Network(network) => {
                let shares = network.probabilities(features)?.unwrap_or_default();
                let scores: Vec<f64> = shares.chunks(2).map(|row| row[1]).collect();
                let positive: Vec<bool> = codes.iter().map(|code| *code == 1).collect();
                Ok(ranking::area(&scores, &positive))
            }
        }
    }
}
