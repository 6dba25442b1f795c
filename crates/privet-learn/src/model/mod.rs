//! What is released: linear weights, and how they predict.

pub mod file;
mod strict;

use crate::LearnError;
use crate::method::Scores;
use crate::request::Request;
use privet_data::encode::Encoding;
use privet_data::matrix::Matrix;
use privet_dp::gate::{Certificate, Release};
use privet_optim::loss::Loss;
use serde::{Deserialize, Serialize};

/// One weight vector for two classes or a number; one per class for more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearWeights {
    /// A row a problem, a column an encoded column (bias last, if any).
    pub weights: Vec<Vec<f64>>,
}

/// A released model with its certificate; the schema and loss are those of the request that the
/// certificate carries.
#[derive(Debug, Clone)]
pub struct Model {
    weights: LinearWeights,
    request: Request,
    certificate: Certificate,
    /// The file it was read from, if it was.
    origin: Option<file::Origin>,
}

/// A prediction for each row.
#[derive(Debug, Clone, PartialEq)]
pub enum Predictions {
    /// Class codes, in the order of the schema.
    Classes(Vec<u32>),
    /// Numbers in the target's own unit.
    Numbers(Vec<f64>),
}

impl Model {
    /// From a release.
    pub fn from_release(release: Release<LinearWeights>) -> Result<Self, LearnError> {
        let (weights, certificate) = release.into_parts();
        Self::new(weights, certificate)
            .map_err(|why| LearnError::NotAModel { path: "release".into(), why })
    }

    pub(crate) fn new(weights: LinearWeights, certificate: Certificate) -> Result<Self, String> {
        let request: Request = serde_json::from_value(certificate.request.clone())
            .map_err(|error| format!("its request cannot be read: {error}"))?;
        let known = serde_json::to_value(&request).map_err(|error| error.to_string())?;
        if let Some(field) = strict::unknown_field(&certificate.request, &known) {
            return Err(format!("its request has a field that is not known: {field}"));
        }
        let encoding = Encoding::new(&request.schema);
        let problems = match encoding.classes() {
            Some(count) if count > 2 => count,
            _ => 1,
        };
        let fits = weights.weights.len() == problems
            && weights.weights.iter().all(|row| row.len() == encoding.width())
            && weights.weights.iter().flatten().all(|weight| weight.is_finite());
        if fits {
            Ok(Self { weights, request, certificate, origin: None })
        } else {
            Err("its weights do not fit its schema".into())
        }
    }

    /// The weights.
    pub fn weights(&self) -> &LinearWeights {
        &self.weights
    }

    /// What was asked for.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// What it can reveal.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// ⟨x, θ⟩ for each row and problem, problems innermost.
    pub fn scores(&self, features: &Matrix) -> Vec<f64> {
        let mut scores = Vec::with_capacity(features.rows() * self.weights.weights.len());
        for row in 0..features.rows() {
            for weights in &self.weights.weights {
                scores.push(dot(features, row, weights));
            }
        }
        scores
    }

    /// The most likely class (the first on a tie), or the predicted number.
    pub fn predict(&self, features: &Matrix) -> Predictions {
        let (scores, problems) = (self.scores(features), self.weights.weights.len());
        let encoding = Encoding::new(&self.request.schema);
        match encoding.classes() {
            None => Predictions::Numbers(
                scores
                    .iter()
                    // The target's bounds are public: nothing beyond them can be right.
                    .map(|score| self.request.loss.prediction(*score).clamp(-1.0, 1.0))
                    .map(|number| encoding.decode_target(number))
                    .collect(),
            ),
            Some(_) if problems == 1 => {
                Predictions::Classes(scores.iter().map(|score| u32::from(*score > 0.0)).collect())
            }
            Some(_) => Predictions::Classes(scores.chunks(problems).map(largest).collect()),
        }
    }

    /// A probability for each row and class, classes innermost: σ(score) for two, normalised σ for
    /// more; where slopes were clipped or classes fitted jointly, what that estimates. `None` unless the
    /// loss is logistic.
    pub fn probabilities(&self, features: &Matrix) -> Option<Vec<f64>> {
        if self.request.loss != Loss::Logistic {
            return None;
        }
        let (scores, problems) = (self.scores(features), self.weights.weights.len());
        let kind = self.request.scores();
        let (jointly, slopes_clipped) = (kind == Scores::ClippedJoint, kind != Scores::Separate);
        let sigmoid = |score: f64| 1.0 / (1.0 + (-score).exp());
        // e^z = p/(S(1 − p)) − 1 for p > ½ ([`crate::erm::gd`]), so that 1 − p = 1/(1 + S(1 + e^z)).
        let clipped = |score: f64| {
            let odds = crate::erm::gd::LOGISTIC_SLOPE * (1.0 + score.abs().exp());
            // Where clipping leaves no more to say than ½, the predicted class is still the likelier one.
            let even = if score == 0.0 { 0.5 } else { 0.5 - f64::EPSILON };
            let wrong = (1.0 / (1.0 + odds)).min(even);
            if score > 0.0 { 1.0 - wrong } else { wrong }
        };
        let sigmoid = |score| if slopes_clipped { clipped(score) } else { sigmoid(score) };
        Some(if problems == 1 {
            scores.iter().flat_map(|score| [sigmoid(-score), sigmoid(*score)]).collect()
        } else {
            scores
                .chunks(problems)
                .flat_map(|row| {
                    let largest = row.iter().fold(f64::MIN, |a, b| a.max(*b));
                    let share = |score: &f64| {
                        if jointly { (score - largest).exp() } else { sigmoid(*score) }
                    };
                    let raw: Vec<f64> = row.iter().map(share).collect();
                    let total: f64 = raw.iter().sum::<f64>().max(f64::MIN_POSITIVE);
                    raw.into_iter().map(move |share| share / total)
                })
                .collect()
        })
    }
}

/// ⟨x, θ⟩ for one row.
fn dot(features: &Matrix, row: usize, weights: &[f64]) -> f64 {
    match features {
        Matrix::Dense(dense) => {
            dense.row(row).iter().zip(weights).map(|(x, weight)| f64::from(*x) * weight).sum()
        }
        Matrix::Csr(csr) => {
            let (columns, values) = csr.row(row);
            columns.iter().zip(values).map(|(j, x)| f64::from(*x) * weights[*j as usize]).sum()
        }
    }
}

fn largest(scores: &[f64]) -> u32 {
    let mut best = 0;
    for (place, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = place;
        }
    }
    best as u32
}
