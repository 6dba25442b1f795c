//! Intervals of released weights for the noise of privacy alone.
//!
//! An interval contains the weight without noise in 95 of 100 releases. It is post-processing of the
//! released model and public facts, at no cost, and it covers the noise of privacy alone: not sampling
//! error, nor the effect of clipping, early stopping and a ridge.
//!
//! | learner | standard deviation | confidence |
//! |---|---|---|
//! | `output`, `psgd`, `psgd-strong`, `averaged` | of the noise added | exact |
//! | `ssp` | noisy moments ([`crate::linear::ssp`]) | estimated |
//! | `gd`, `sgd`, `centred-gd`, `placed-gd` | gain times a step's noise ([`crate::linear`]) | bound to first order |
//! | `amp`, `objective`, `linear` | ‖b‖/λ and the output noise | proved bound, mostly wide |
//! | `gd`, `centred-gd`, `amp` if `intervals = bought` | noisy curvature ([`super::curvature`]) | estimated |
//! | others | – | not known |
//!
//! The first-order bound is proved for a quadratic loss, not where the loss's curvature changes along
//! the descent. The proved bound is wide since the curvature, which would narrow it, is private.
//! Estimates are to first order.
//!
//! Tested by simulation in `tests/all/certainty.rs`.

use crate::linear::model::Model;
use crate::release::weight_noise::Confidence;
use privet_data::encode::Encoding;
use serde::Serialize;

/// A weight with its interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WeightInterval {
    /// The linear problem: the index of a class of several, or 0.
    pub problem: usize,
    /// The index of its encoded column.
    pub column: usize,
    /// The column's name.
    pub name: String,
    /// The released weight.
    pub weight: f64,
    /// Lower end: the weight without noise is above it, and below `high`, in 95 of 100 releases; `None`
    /// if unknown.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// The weight's distance from 0, in half widths of the interval.
    pub evidence: Option<f64>,
}

impl WeightInterval {
    /// True if the interval contains 0; `None` without an interval.
    pub fn may_be_noise(&self) -> Option<bool> {
        Some(self.low? <= 0.0 && 0.0 <= self.high?)
    }
}

/// The weights of a model with their intervals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Certainty {
    /// The precision to which the noise is known; `None` if unknown.
    #[serde(rename = "surety")]
    pub confidence: Option<Confidence>,
    /// True if the model is the best of several: then intervals are those of one training, and hold less
    /// often.
    pub chosen: bool,
    /// The meaning of the intervals, in words.
    pub told: String,
    /// The weights of each problem, those with the most evidence first.
    pub weights: Vec<Vec<WeightInterval>>,
}

/// The note on intervals of a model chosen among several.
const CHOSEN_MODEL_NOTE: &str = " These are intervals of one training. The best of several was chosen, by a score that lucky noise \
                      helps: they hold the weights without noise less often.";

/// The note on every interval.
const SAMPLING: &str = " How another sample of people would differ is not in it.";

/// The meaning of the intervals, in words.
fn in_words(
    confidence: Option<Confidence>,
    (bought, centred): (bool, bool),
    chosen: bool,
) -> String {
    let lies = "where the weight without the noise of privacy lies, in";
    let told = match confidence {
        Some(Confidence::Exact) => {
            format!("{lies} 95 of 100 releases, from the law of that noise.{SAMPLING}")
        }
        Some(Confidence::Estimated) => format!(
            "{lies} about 95 of 100 releases, estimated to first order from {}.{SAMPLING}",
            match (bought, centred) {
                (true, false) => {
                    "the noised curvature, which was bought (more where the noise hides it)"
                }
                (true, true) => {
                    "the noised curvature, which was bought, given the noised mean of all rows: what the noise in that \
                     mean does is not in it, and by simulation single weights are held as seldom as in 80"
                }
                (false, _) => "the noised moments",
            }
        ),
        Some(Confidence::FirstOrder) => format!(
            "{lies} at least 95 of 100 releases to first order in that noise: a bound from public numbers, proved where the \
             loss is a square, and by simulation alone where it is not.{SAMPLING}"
        ),
        Some(Confidence::Bound) => format!(
            "{lies} at least 95 of 100 releases, by a bound from public numbers that is wider than it need be: what would \
             narrow it is private, and can be bought by some methods (intervals = bought).{SAMPLING}"
        ),
        None => {
            return "How far the noise of this method moves a weight is not known from public numbers: small weights may \
                    be noise."
                .into();
        }
    };
    if chosen { told + CHOSEN_MODEL_NOTE } else { told }
}

impl Model {
    /// Returns each weight with its interval.
    pub fn certainty(&self) -> Certainty {
        let encoding = Encoding::new(&self.request().schema);
        let laws =
            crate::plan(self.request()).ok().and_then(|plan| plan.weight_laws(self.weights()));
        let weighed = |problem: usize, column: usize, weight: f64| {
            let margin = laws.as_ref().and_then(|laws| {
                Some(laws.beyond * laws.deviation(problem, column)?)
                    .filter(|margin| margin.is_finite())
            });
            WeightInterval {
                problem,
                column,
                name: encoding.column_name(column).unwrap_or_default(),
                weight,
                low: margin.map(|margin| weight - margin),
                high: margin.map(|margin| weight + margin),
                evidence: margin.filter(|margin| *margin > 0.0).map(|margin| weight.abs() / margin),
            }
        };
        let rows = self.weights().weights.iter().enumerate();
        let sorted = |(problem, row): (usize, &Vec<f64>)| {
            let all =
                row.iter().enumerate().map(|(column, weight)| weighed(problem, column, *weight));
            let mut all: Vec<WeightInterval> = all.collect();
            all.sort_by(|a, b| {
                let known = |one: &WeightInterval| one.evidence.unwrap_or(0.0);
                known(b).total_cmp(&known(a)).then(b.weight.abs().total_cmp(&a.weight.abs()))
            });
            all
        };
        let weights = rows.map(sorted).collect();
        let confidence = laws.map(|laws| laws.confidence);
        // The certificate of a tuning covers a model that is a part of it.
        let chosen = self.certificate().request.get("candidates").is_some();
        let what = (self.method().buys_intervals(), self.weights().centre.is_some());
        let told = in_words(confidence, what, chosen);
        Certainty { confidence, chosen, told, weights }
    }
}
