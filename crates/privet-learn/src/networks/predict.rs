//! What a trained network says of new rows.

use super::examples::{Examples, inputs};
use super::update::Penalty;
use super::{NetFacts, Network};
use crate::LearnError;
use crate::linear::model::Predictions;
use crate::release::released::Released;
use crate::release::task::Task;
use privet_data::encode::Encoding;
use privet_data::matrix::Matrix;
use privet_nn::Workspace;
use privet_optim::sum::Table;

/// A network with its certificate.
pub type TrainedNetwork = Released<Network>;

impl Released<Network> {
    /// The network's outputs for each row, outputs innermost.
    pub fn outputs(&self, features: &Matrix) -> Result<Vec<f32>, LearnError> {
        let facts: NetFacts = Network::facts(self.request())?;
        let unfit = |why: String| LearnError::NotAModel { path: "model".into(), why };
        let weights = self.artefact().flat(&facts.net).map_err(unfit)?;
        if features.columns() != facts.table.columns {
            return Err(LearnError::DataShape("the number of encoded columns differs"));
        }
        facts
            .net
            .predict(&weights, &inputs(&facts, features), &mut Workspace::new())
            .map_err(|error| unfit(error.to_string()))
    }

    /// The most likely class (the first on a tie), or the predicted number.
    pub fn predict(&self, features: &Matrix) -> Result<Predictions, LearnError> {
        let outputs = self.outputs(features)?;
        let encoding = Encoding::new(&self.request().schema);
        let each = outputs.len().checked_div(features.rows()).unwrap_or(1).max(1);
        Ok(match encoding.classes() {
            // The target's bounds are public: nothing beyond them can be right.
            None => Predictions::Numbers(
                outputs
                    .iter()
                    .map(|output| encoding.decode_target(f64::from(*output).clamp(-1.0, 1.0)))
                    .collect(),
            ),
            Some(_) if each == 1 => Predictions::Classes(
                outputs.iter().map(|output| u32::from(*output > 0.0)).collect(),
            ),
            Some(_) => Predictions::Classes(outputs.chunks(each).map(largest).collect()),
        })
    }

    /// A probability for each row and class, classes innermost; `None` for a number.
    pub fn probabilities(&self, features: &Matrix) -> Result<Option<Vec<f64>>, LearnError> {
        let Some(classes) = Encoding::new(&self.request().schema).classes() else {
            return Ok(None);
        };
        let outputs = self.outputs(features)?;
        if self.request().task.net.loss == privet_nn::Loss::Logistic {
            let sigmoid = |output: &f32| 1.0 / (1.0 + (-f64::from(*output)).exp());
            let both = |output: &f32| [1.0 - sigmoid(output), sigmoid(output)];
            return Ok(Some(outputs.iter().flat_map(both).collect()));
        }
        Ok(Some(outputs.chunks(classes.max(1)).flat_map(softmax).collect()))
    }

    /// The mean loss on labelled rows, as it was minimised without penalties. It is computed from the rows
    /// without noise: it is not private.
    pub fn mean_loss(
        &self,
        features: &Matrix,
        target: &privet_data::Target,
    ) -> Result<f64, LearnError> {
        let outputs = self.outputs(features)?;
        let each = outputs.len().checked_div(target.len()).unwrap_or(1).max(1);
        let log_one = |x: f64| if x > 30.0 { x } else { x.exp().ln_1p() };
        let losses = outputs.chunks(each).enumerate().map(|(row, outputs)| match target {
            privet_data::Target::Class { codes, .. } if each == 1 => {
                let output = f64::from(outputs[0]);
                log_one(output) - f64::from(codes[row]) * output
            }
            privet_data::Target::Class { codes, .. } => {
                -softmax(outputs)[codes[row] as usize].max(f64::MIN_POSITIVE).ln()
            }
            privet_data::Target::Number(values) => {
                0.5 * (f64::from(outputs[0]) - values[row]).powi(2)
            }
        });
        Ok(losses.sum::<f64>() / target.len().max(1) as f64)
    }
}

impl Released<Network> {
    /// The length of the mean gradient of what was minimised, penalties included, on these records. Computed from them
    /// without noise: it is not private.
    pub fn gradient_norm(&self, table: &dyn Table) -> Result<f64, LearnError> {
        let facts = Network::facts(self.request())?;
        let unfit = |why: String| LearnError::NotAModel { path: "model".into(), why };
        let weights = self.artefact().flat(&facts.net).map_err(unfit)?;
        let examples = Examples::of(&facts, table)?;
        let everyone: Vec<u32> = (0..examples.rows() as u32).collect();
        let sum = examples.plain_sum(&weights, &everyone);
        let sum = sum.ok_or(LearnError::DataShape("the records do not fit the network"))?;
        let settings = self.request().task.method.settings();
        let penalty = Penalty {
            ridge: settings.weight_decay.unwrap_or(0.0),
            nonconvex: settings.nonconvex.unwrap_or(0.0),
        };
        let rows = examples.rows().max(1) as f64;
        let slope = |(sum, x): (&f64, &f32)| sum / rows + penalty.slope(f64::from(*x));
        Ok(sum.iter().zip(&weights).map(slope).map(|x| x * x).sum::<f64>().sqrt())
    }
}

fn softmax(outputs: &[f32]) -> Vec<f64> {
    let largest = outputs.iter().fold(f64::MIN, |a, b| a.max(f64::from(*b)));
    let raw: Vec<f64> = outputs.iter().map(|output| (f64::from(*output) - largest).exp()).collect();
    let total: f64 = raw.iter().sum();
    raw.into_iter().map(|share| share / total).collect()
}

fn largest(outputs: &[f32]) -> u32 {
    let mut best = 0;
    for (place, output) in outputs.iter().enumerate() {
        if *output > outputs[best] {
            best = place;
        }
    }
    best as u32
}
