//! Taking a model away: as ONNX, as SQL, as a table of coefficients; networks as ONNX alone.
//!
//! Each form starts from raw cells and ends with the prediction of `privet predict`: what the schema makes of a cell
//! ([`Recipe`]), what becomes of a row's length, what is taken from it where the model has a centre, and the weights.
//! It is post-processing of a release: it costs nothing and reads no record.
//!
//! With e the encoded row, S = ⟨e, θ⟩, Q = ‖e‖², A = ⟨e, m⟩ and f a function of Q alone, a score is f·S; with a centre m it
//! is s·(f·S − ⟨m, θ⟩), where s = R/max(√(f²Q − 2fA + ‖m‖²), R/8), and 0 where Q = 0. So every form needs three sums
//! over columns and a few operations on them. privet stores rows truncated to 24 bits, which these forms do not do:
//! scores agree to about seven digits.

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
use privet_data::encode::{Encoding, Length, Own, Recipe, RecipePair, RecipeRule};
use privet_data::schema::{Rows, TargetKind};
use privet_optim::Loss;

/// A linear model written out.
struct Scorer {
    recipe: Recipe,
    /// A row a problem.
    weights: Vec<Vec<f64>>,
    factor: Factor,
    centre: Option<Centred>,
    outcome: Outcome,
}

/// f, of a row's squared length Q.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Factor {
    /// A number.
    Always(f64),
    /// min(1, R/√Q).
    AtMost(f64),
    /// R/√Q, and 0 for a row of zeros.
    To(f64),
}

impl Factor {
    fn of(recipe: &Recipe) -> Result<Self, LearnError> {
        match recipe.length {
            Length::AsItIs => Ok(Self::Always(1.0)),
            Length::Times(factor) => Ok(Self::Always(factor)),
            Length::AtMost(radius) => Ok(Self::AtMost(radius)),
            Length::EachAtMost(radius) if largest_entry(recipe) <= radius => Ok(Self::Always(1.0)),
            Length::EachAtMost(_) => {
                refuse("its entries are clipped one by one, below what the columns can be")
            }
        }
    }
}

/// What is taken from rows.
struct Centred {
    /// m.
    mean: Vec<f64>,
    /// ‖m‖².
    squares: f64,
    /// R.
    radius: f64,
    /// R/8.
    shortest: f64,
    /// ⟨m, θ⟩, a problem each.
    along: Vec<f64>,
}

/// What scores mean.
enum Outcome {
    /// The larger score wins, the first on a tie; of two classes there is one score.
    Classes {
        names: Vec<String>,
        /// How a score becomes a probability, if it does.
        chances: Option<Chances>,
    },
    /// low + (high − low)(z + 1)/2 with z the score, clamped to [−1, 1].
    Number {
        low: f64,
        high: f64,
        /// `least` and `shift`: z = 2(exp(min(u − shift, 0)) − least)/(1 − least) − 1.
        poisson: Option<(f64, f64)>,
    },
}

/// How scores become probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Chances {
    /// σ(score), normalised for more than two classes.
    Sigmoid,
    /// 1 − p = 1/(1 + S(1 + e^|score|)) with this S, normalised for more than two.
    Clipped(f64),
    /// e^score, normalised.
    Softmax,
}

/// Refuses what cannot be taken away.
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
                along: centre.along(&weights.weights),
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
                        Scores::Separate => Chances::Sigmoid,
                        Scores::ClippedJoint if weights.weights.len() > 1 => Chances::Softmax,
                        Scores::Clipped | Scores::ClippedJoint => Chances::Clipped(LOGISTIC_SLOPE),
                    });
                Outcome::Classes { names: names.clone(), chances }
            }
        };
        Ok(Self { recipe, weights: weights.weights.clone(), factor, centre, outcome })
    }

    /// The vectors whose products with a row are needed: a weight vector a problem, then the centre.
    fn vectors(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.weights.iter().chain(self.centre.as_ref().map(|centre| &centre.mean))
    }
}

/// The largest magnitude that an entry can have.
fn largest_entry(recipe: &Recipe) -> f64 {
    let mut largest = recipe.constant.map_or(1.0, |(_, value)| value.max(1.0));
    for column in &recipe.columns {
        if let RecipeRule::Number { low, high, own, bends } = &column.rule {
            let own = match own {
                Some(Own::AsItIs) => low.abs().max(high.abs()),
                Some(Own::Log) => (high - low).ln_1p(),
                _ => 1.0,
            };
            let heights = bends.iter().flat_map(|bends| bends.heights.iter().flatten());
            largest = heights.fold(largest.max(own), |a, b| a.max(*b));
        }
    }
    for pair in &recipe.pairs {
        largest = match pair {
            RecipePair::Bends { bends, .. } => {
                bends[0].heights.iter().flatten().fold(largest, |a, b| a.max(*b))
            }
            RecipePair::Slopes { weight, .. } => largest.max(*weight),
        };
    }
    largest
}
