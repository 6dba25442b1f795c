//! Export of a model: as ONNX, as SQL, as a table of coefficients; networks as ONNX alone.
//!
//! Each format starts from raw cells and ends with the prediction of `privet predict`: the encoding of a
//! cell by the schema ([`Recipe`]), the clipping of a row, the subtraction of a centre if the model has
//! one, and the weights. It is post-processing of a release: it costs nothing and reads no record.
//!
//! With e the encoded row, S = ⟨e, θ⟩, Q = ‖e‖², A = ⟨e, m⟩ and f a function of Q alone, a score is f·S;
//! with a centre m it is s·(f·S − ⟨m, θ⟩), where s = R/max(√(f²Q − 2fA + ‖m‖²), R/8), and 0 if Q = 0. So
//! every format needs three sums over columns and a few operations on them. privet stores rows truncated
//! to 24 bits, which these formats do not do: scores agree to about seven digits.

mod coefficients;
mod onnx;
mod protobuf;
mod sql;

pub use coefficients::coefficients;
pub use onnx::{network, onnx};
pub use sql::{LARGEST_QUERY, sql};

use crate::error::LearnError;
use crate::linear::gd::LOGISTIC_SLOPE;
use crate::linear::learners::Scores;
use crate::linear::model::Model;
use privet_data::centre::Centre;
use privet_data::encode::{Encoding, OwnEntry, Recipe, RecipePair, RecipeRule, RowScaling};
use privet_data::schema::{Rows, TargetKind};
use privet_optim::Loss;

/// A linear model, ready for export.
struct Scorer {
    recipe: Recipe,
    /// Weights, a vector for each problem.
    weights: Vec<Vec<f64>>,
    factor: Factor,
    centre: Option<Centred>,
    outcome: Outcome,
}

/// Factor f of a row, a function of its squared norm Q.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Factor {
    /// A constant.
    Always(f64),
    /// Clip: min(1, R/√Q).
    AtMost(f64),
    /// Scale to norm R: R/√Q, and 0 for a row of zeros.
    To(f64),
}

impl Factor {
    fn of(recipe: &Recipe) -> Result<Self, LearnError> {
        match recipe.length {
            RowScaling::AsItIs => Ok(Self::Always(1.0)),
            RowScaling::Times(factor) => Ok(Self::Always(factor)),
            RowScaling::AtMost(radius) => Ok(Self::AtMost(radius)),
            RowScaling::EachAtMost(radius) if largest_entry(recipe) <= radius => {
                Ok(Self::Always(1.0))
            }
            RowScaling::EachAtMost(_) => {
                refuse("its entries are clipped one by one, below what the columns can be")
            }
        }
    }
}

/// Centre that is subtracted from rows.
struct Centred {
    /// Centre, m.
    mean: Vec<f64>,
    /// Squared norm of the centre, ‖m‖².
    squares: f64,
    /// Radius of rows, R.
    radius: f64,
    /// Least norm after centring, R/8.
    shortest: f64,
    /// Products with the weights, ⟨m, θ⟩, one for each problem.
    along: Vec<f64>,
}

/// Prediction from scores.
enum Outcome {
    /// The larger score wins, the first on a tie; of two classes there is one score.
    Classes {
        names: Vec<String>,
        /// Conversion of a score to a probability, if the loss has one.
        chances: Option<Probabilities>,
    },
    /// low + (high − low)(z + 1)/2 with z the score, clamped to [−1, 1].
    Number {
        low: f64,
        high: f64,
        /// `least` and `shift`: z = 2(exp(min(u − shift, 0)) − least)/(1 − least) − 1.
        poisson: Option<(f64, f64)>,
    },
}

/// Conversion of scores to probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Probabilities {
    /// σ(score), normalised for more than two classes.
    Sigmoid,
    /// 1 − p = 1/(1 + S(1 + e^|score|)) with this S, normalised for more than two.
    Clipped(f64),
    /// e^score, normalised.
    Softmax,
}

/// Refuses a model that cannot be exported.
fn refuse<T>(why: &str) -> Result<T, LearnError> {
    Err(LearnError::Export(why.into()))
}

impl Scorer {
    fn new(model: &Model) -> Result<Self, LearnError> {
        let schema = &model.request().schema;
        let encoding = Encoding::new(schema);
        let recipe = match encoding.recipe(schema) {
            Ok(recipe) => recipe,
            Err(why) => return refuse(why),
        };
        if recipe.columns.is_empty() {
            return refuse("it has no columns");
        }
        let weights = model.weights();
        let centre = weights.centre.as_ref().map(|mean| {
            let centre = Centre::new(mean, encoding.l2_radius());
            Centred {
                squares: centre.mean().iter().map(|x| x * x).sum(),
                along: centre.inner_products(&weights.weights),
                radius: encoding.l2_radius(),
                shortest: centre.shortest(),
                mean: centre.mean().to_vec(),
            }
        });
        let factor = match centre.is_some() && schema.clip().rows == Rows::Fill {
            true => Factor::To(schema.clip().radius),
            false => Factor::of(&recipe)?,
        };
        let outcome = match &schema.target().kind {
            TargetKind::Number { low, high } => {
                let poisson = match model.loss() {
                    Loss::Poisson { least, shift } => Some((least, shift)),
                    _ => None,
                };
                Outcome::Number { low: *low, high: *high, poisson }
            }
            TargetKind::Classes(names) => {
                let chances =
                    (model.loss() == Loss::Logistic).then(|| match model.request().scores() {
                        Scores::Separate => Probabilities::Sigmoid,
                        Scores::ClippedJoint if weights.weights.len() > 1 => Probabilities::Softmax,
                        Scores::Clipped | Scores::ClippedJoint => {
                            Probabilities::Clipped(LOGISTIC_SLOPE)
                        }
                    });
                Outcome::Classes { names: names.clone(), chances }
            }
        };
        Ok(Self { recipe, weights: weights.weights.clone(), factor, centre, outcome })
    }

    /// Vectors whose products with a row are needed: the weights of each problem, then the centre.
    fn vectors(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.weights.iter().chain(self.centre.as_ref().map(|centre| &centre.mean))
    }
}

/// Upper bound on the absolute value of an entry.
fn largest_entry(recipe: &Recipe) -> f64 {
    let mut largest = recipe.constant.map_or(1.0, |(_, value)| value.max(1.0));
    for column in &recipe.columns {
        if let RecipeRule::Number { low, high, own, piecewise } = &column.rule {
            let own = match own {
                Some(OwnEntry::AsItIs) => low.abs().max(high.abs()),
                Some(OwnEntry::Log) => (high - low).ln_1p(),
                _ => 1.0,
            };
            let heights = piecewise.iter().flat_map(|piecewise| piecewise.heights.iter().flatten());
            largest = heights.fold(largest.max(own), |a, b| a.max(*b));
        }
    }
    for pair in &recipe.pairs {
        largest = match pair {
            RecipePair::PiecewiseLinear { piecewise, .. } => {
                piecewise[0].heights.iter().flatten().fold(largest, |a, b| a.max(*b))
            }
            RecipePair::Slopes { weight, .. } => largest.max(*weight),
        };
    }
    largest
}
