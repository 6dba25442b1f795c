//! Released linear models: weights, and predictions.

use crate::Released;
use crate::error::LearnError;
use crate::families::Loaded;
use crate::linear::Erm;
use crate::linear::learners::{Method, Scores};
use crate::release::file::{self, Seal};
use crate::release::task::Artefact;
use privet_data::Schema;
use privet_data::bound::Clip;
use privet_data::centre::Centre;
use privet_data::encode::Encoding;
use privet_data::matrix::Matrix;
use privet_data::schema::{ClipFacts, Rows};
use privet_data::write::{Existing, Written};
use privet_optim::loss::Loss;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// One weight vector for two classes or a number; one per class for more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearWeights {
    /// A row per problem, an entry per encoded column (bias last, if any).
    pub weights: Vec<Vec<f64>>,
    /// The centre subtracted from every row before scoring, a noisy mean
    /// ([`crate::linear::centred_gd`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub centre: Option<Vec<f64>>,
    /// The effect of noise on the weights ([`crate::linear::ssp`], [`crate::linear::curvature`]), itself
    /// noisy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
}

/// The effect of noise on the weights: for `ssp`, M is the noisy, filtered inverse of Σxxᵀ that the
/// weights are computed with; for other methods it is from the estimated curvature
/// ([`crate::linear::curvature`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// (M·θ)ⱼ, a row per problem; only of `ssp`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub along: Vec<Vec<f64>>,
    /// ‖M·eⱼ‖₂, an entry per column.
    pub length: Vec<f64>,
}

impl Spread {
    /// True if the model has a spread, of the right form, only if its method keeps one, and always if it
    /// estimates the curvature (a model of `ssp` may lack it). (M is positive semidefinite, so that
    /// ⟨θ, Mθ⟩ ≥ 0.)
    pub(crate) fn fits(model: &LinearWeights, method: &Method, columns: usize) -> bool {
        let bought = method.buys_intervals();
        let ssp = matches!(method, Method::Ssp(_));
        let Some(Self { along, length }) = &model.spread else { return !bought };
        let problems = model.weights.len();
        let against = |(theta, along): (&Vec<f64>, &Vec<f64>)| {
            let products = || theta.iter().zip(along).map(|(a, b)| a * b);
            products().sum::<f64>() >= -1e-9 * products().map(f64::abs).sum::<f64>()
        };
        let finite =
            |numbers: &Vec<f64>| numbers.len() == columns && numbers.iter().all(|x| x.is_finite());
        let rows = if ssp { problems } else { 0 };
        (ssp || bought)
            && along.len() == rows
            && along.iter().chain([length]).all(finite)
            && length.iter().all(|x| *x >= 0.0)
            && model.weights.iter().zip(along).all(against)
    }
}

/// A released linear model with its certificate; the schema and loss are those of the request that the
/// certificate carries.
pub type Model = Released<Erm>;

impl LinearWeights {
    /// Weights without centre and spread, a row per problem.
    pub fn of(weights: Vec<Vec<f64>>) -> Self {
        Self { weights, centre: None, spread: None }
    }
}

impl Artefact for LinearWeights {
    const KIND: &'static str = "linear";

    fn numbers(&self) -> Vec<f64> {
        self.weights.iter().chain(&self.centre).flatten().copied().collect()
    }
}

/// A prediction for each row.
#[derive(Debug, Clone, PartialEq)]
pub enum Predictions {
    /// Class codes, in the order of the schema.
    Classes(Vec<u32>),
    /// Numbers in the target's unit.
    Numbers(Vec<f64>),
}

impl Predictions {
    /// Predictions in words: the names of a schema's classes, or numbers.
    pub fn in_words(&self, schema: &Schema) -> Vec<String> {
        let classes = schema.classes().unwrap_or_default();
        match self {
            Self::Numbers(values) => values.iter().map(f64::to_string).collect(),
            Self::Classes(codes) => {
                let name = |code: &u32| classes.get(*code as usize).cloned().unwrap_or_default();
                codes.iter().map(name).collect()
            }
        }
    }
}

/// Reads what predicts: a linear model, or that of the best trial of a tuning, under the tuning's
/// certificate.
pub fn load_predictor(path: &Path, seal: Seal) -> Result<Model, LearnError> {
    predictor_from_json(&file::bytes_of(path)?, seal).map_err(|why| file::file_error(path, &why))
}

/// The same of the bytes of a file.
pub fn predictor_from_json(bytes: &[u8], seal: Seal) -> Result<Model, String> {
    match file::any_from_json(bytes, seal) {
        Ok(Loaded::Tuned(tuned)) => tuned.model().ok_or_else(|| {
            "no trial was made, which the law of their number allows: it holds no model".into()
        }),
        _ => file::from_json(bytes, seal),
    }
}

impl Model {
    /// Reads a model's file, and refuses one whose seal is broken.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LearnError> {
        load_predictor(path.as_ref(), Seal::Required)
    }

    /// Writes model and certificate into one file, readable by its owner alone. An existing file is
    /// kept: then, or if it cannot be written, the model goes to another path, which is returned.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<Written, LearnError> {
        file::save(self, path.as_ref(), None, Existing::Keep)
    }

    /// The weights.
    pub fn weights(&self) -> &LinearWeights {
        self.artefact()
    }

    /// The loss that was minimised.
    pub fn loss(&self) -> Loss {
        self.request().task.loss
    }

    /// The method that trained it.
    pub fn method(&self) -> &Method {
        &self.request().task.method
    }

    /// ⟨x, θ⟩ for each row and problem, problems innermost; x is centred first if the model has a
    /// centre.
    pub fn scores(&self, features: &Matrix) -> Vec<f64> {
        let radius = || Encoding::new(&self.request().schema).l2_radius();
        let centred = self.weights().centre.as_ref();
        let mut scores = Vec::with_capacity(features.rows() * self.weights().weights.len());
        if let Some(mean) = centred {
            // Centred rows are the training rows, each scaled up to the radius if rows are filled.
            let clip = self.request().schema.clip();
            let filled = (clip.rows == Rows::Fill).then(|| fill_to_norm(features, clip));
            let (rows, centre) = (filled.as_ref().unwrap_or(features), Centre::new(mean, radius()));
            let weights = &self.weights().weights;
            let taken = centre.inner_products(weights);
            for row in 0..rows.rows() {
                scores.extend(centre.scores(&rows.entries(row), weights, &taken));
            }
            return scores;
        }
        for row in 0..features.rows() {
            for weights in &self.weights().weights {
                scores.push(dot(features, row, weights));
            }
        }
        scores
    }

    /// The rows whose products with the weights are the scores, entries innermost.
    pub fn scored_rows(&self, features: &Matrix) -> Vec<f64> {
        let Some(mean) = self.weights().centre.as_ref() else {
            return (0..features.rows())
                .flat_map(|row| features.dense_row(row))
                .map(f64::from)
                .collect();
        };
        let schema = &self.request().schema;
        let filled =
            (schema.clip().rows == Rows::Fill).then(|| fill_to_norm(features, schema.clip()));
        let rows = filled.as_ref().unwrap_or(features);
        let centre = Centre::new(mean, Encoding::new(schema).l2_radius());
        (0..rows.rows()).flat_map(|row| centre.row(&rows.dense_row(row))).collect()
    }

    /// The most likely class (the first on a tie), or the predicted number.
    pub fn predict(&self, features: &Matrix) -> Predictions {
        let (scores, problems) = (self.scores(features), self.weights().weights.len());
        let encoding = Encoding::new(&self.request().schema);
        match encoding.classes() {
            None => Predictions::Numbers(
                scores
                    .iter()
                    // The target's bounds are public: no number outside them can be right.
                    .map(|score| self.loss().prediction(*score).clamp(-1.0, 1.0))
                    .map(|number| encoding.decode_target(number))
                    .collect(),
            ),
            Some(_) if problems == 1 => {
                Predictions::Classes(scores.iter().map(|score| u32::from(*score > 0.0)).collect())
            }
            Some(_) => Predictions::Classes(scores.chunks(problems).map(largest).collect()),
        }
    }

    /// The area under the ROC curve of the scores, of two classes, given the codes of the records.
    /// `None` for other targets, or if one class is absent.
    pub fn ranking(&self, features: &Matrix, codes: &[u32]) -> Option<f64> {
        let two = self.request().schema.classes().is_some_and(|classes| classes.len() == 2);
        let positive: Vec<bool> = codes.iter().map(|code| *code == 1).collect();
        two.then(|| crate::statistics::ranking::area(&self.scores(features), &positive)).flatten()
    }

    /// A probability for each row and class, classes innermost: σ(score) for two, normalised σ for more;
    /// if derivatives were clipped or classes fitted jointly, the probabilities that such a model
    /// estimates. `None` unless the loss is logistic.
    pub fn probabilities(&self, features: &Matrix) -> Option<Vec<f64>> {
        if self.loss() != Loss::Logistic {
            return None;
        }
        let (scores, problems) = (self.scores(features), self.weights().weights.len());
        let kind = self.request().scores();
        let (jointly, slopes_clipped) = (kind == Scores::ClippedJoint, kind != Scores::Separate);
        let sigmoid = |score: f64| 1.0 / (1.0 + (-score).exp());
        // e^z = p/(S(1 − p)) − 1 for p > ½ ([`crate::linear::gd`]), so that 1 − p = 1/(1 + S(1 + e^z)).
        let clipped = |score: f64| {
            let odds = crate::linear::gd::LOGISTIC_SLOPE * (1.0 + score.abs().exp());
            // Where clipping leaves ½ on both sides, the predicted class is still the likelier one.
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

/// ⟨x, θ⟩ of training rows, row by row: x is centred first if the model has a centre. A row's score is
/// added up in the order of its columns, so that it has the same bits in any storage and beside any
/// other rows.
pub(crate) struct RowScores<'a> {
    weights: &'a [Vec<f64>],
    centre: Option<(Centre, Vec<f64>)>,
}

impl<'a> RowScores<'a> {
    /// For rows of this radius.
    pub(crate) fn new(model: &'a LinearWeights, radius: f64) -> Self {
        let centre = model.centre.as_ref().map(|mean| {
            let centre = Centre::new(mean, radius);
            let taken = centre.inner_products(&model.weights);
            (centre, taken)
        });
        Self { weights: &model.weights, centre }
    }

    /// A score for each problem.
    pub(crate) fn of(&self, features: &Matrix, row: usize) -> Vec<f64> {
        match &self.centre {
            Some((centre, taken)) => centre.scores(&features.entries(row), self.weights, taken),
            None => self.weights.iter().map(|weights| dot(features, row, weights)).collect(),
        }
    }
}

/// The rows, each scaled up to the largest norm that the clip allows.
fn fill_to_norm(features: &Matrix, clip: ClipFacts) -> Matrix {
    let (rows, columns) = (features.rows(), features.columns());
    let values: Vec<f64> =
        (0..rows).flat_map(|row| features.dense_row(row)).map(f64::from).collect();
    Matrix::Dense(Clip::new(clip).dense(&values, rows, columns))
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

/// The index of the first of the largest.
pub(crate) fn largest(scores: &[f64]) -> u32 {
    let mut best = 0;
    for (place, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = place;
        }
    }
    best as u32
}
