//! How sure a released weight is: what the noise of privacy alone may have done to it.
//!
//! An interval says where the weight without noise lies, in 95 of 100 releases. It is made of the released model and public facts, so that it costs nothing, and it is about the
//! noise of privacy alone: how another sample of people would differ is not in it, nor what clipping, early stopping and
//! a ridge hold back.
//!
//! | learner | standard deviation | surety |
//! |---|---|---|
//! | `output`, `psgd`, `psgd-strong`, `averaged` | that of the noise added | exact |
//! | `ssp` | from the noised moments ([`crate::linear::ssp`]) | estimated, to first order |
//! | `gd`, `sgd`, `centred-gd` | gain of the schedule times that of a step ([`crate::linear`]) | a bound to first order: proved where the loss is a square, not where its curvature changes on the way |
//! | `amp`, `objective`, `linear` | ‖b‖/λ and the output noise | a bound, proved, mostly a wide one: what would narrow it is the curvature, which is private |
//! | `gd`, `centred-gd`, `amp` with `intervals = bought` | from the curvature, which was bought ([`crate::linear::curvature`]) | estimated, to first order |
//! | others | – | not known |
//!
//! Tested by simulation in `tests/all/certainty.rs`.

use crate::linear::model::Model;
use privet_data::encode::Encoding;
use serde::Serialize;

/// Φ⁻¹(0.975).
pub const NORMAL: f64 = 1.959_963_984_540_054;
/// Of a Laplace variable, in standard deviations: ln 20/√2.
pub const LAPLACE: f64 = 2.118_302_605_249_42;

/// How well the noise of a weight is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surety {
    /// Its law is that of the noise added.
    Exact,
    /// From noised numbers of the release, to first order in the noise.
    Estimated,
    /// It is at most that to first order in the noise: proved where the loss is a square, observed where it is not.
    FirstOrder,
    /// It is at most that.
    Bound,
}

/// The noise in each released weight.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightLaws {
    /// Standard deviations, a row a problem and a column each; one row, or one number, stands for all.
    pub deviations: Vec<Vec<f64>>,
    /// How many of them an interval reaches to either side.
    pub beyond: f64,
    /// How well they are known.
    pub surety: Surety,
}

impl WeightLaws {
    /// Gaussian noise of one scale on every weight.
    pub fn exactly(deviation: f64) -> Self {
        Self { deviations: vec![vec![deviation]], beyond: NORMAL, surety: Surety::Exact }
    }

    /// At most that on every weight, to first order.
    pub fn first_order(deviation: f64) -> Self {
        Self { deviations: vec![vec![deviation]], beyond: NORMAL, surety: Surety::FirstOrder }
    }

    /// Of one weight.
    pub fn deviation(&self, problem: usize, column: usize) -> Option<f64> {
        let row = self.deviations.get(problem).or(self.deviations.first())?;
        row.get(column).or(row.first().filter(|_| row.len() == 1)).copied()
    }
}

/// A weight with what is known of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Weighed {
    /// Which linear problem: a class of several, or 0.
    pub problem: usize,
    /// Its encoded column.
    pub column: usize,
    /// The column's name.
    pub name: String,
    /// As it was released.
    pub weight: f64,
    /// From here without the noise, in 95 of 100 releases; `None` where nothing is known.
    pub low: Option<f64>,
    /// To here.
    pub high: Option<f64>,
    /// How many half widths of the interval it is from 0.
    pub evidence: Option<f64>,
}

impl Weighed {
    /// Whether the interval holds 0; `None` where there is none.
    pub fn may_be_noise(&self) -> Option<bool> {
        Some(self.low? <= 0.0 && 0.0 <= self.high?)
    }
}

/// All weights of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Certainty {
    /// How well the noise is known; `None` where nothing is.
    pub surety: Option<Surety>,
    /// Whether the model is the best of several: then intervals are those of one training, and hold less often.
    pub chosen: bool,
    /// What the intervals are, in words.
    pub told: String,
    /// Of each problem the weights, those with the most evidence first.
    pub weights: Vec<Vec<Weighed>>,
}

/// What choosing does to intervals.
const CHOSEN: &str = " These are intervals of one training. The best of several was chosen, by a score that lucky noise \
                      helps: they hold the weights without noise less often.";

/// Of every interval.
const SAMPLING: &str = " How another sample of people would differ is not in it.";

/// What intervals are.
fn in_words(surety: Option<Surety>, (bought, centred): (bool, bool), chosen: bool) -> String {
    let lies = "where the weight without the noise of privacy lies, in";
    let told = match surety {
        Some(Surety::Exact) => {
            format!("{lies} 95 of 100 releases, from the law of that noise.{SAMPLING}")
        }
        Some(Surety::Estimated) => format!(
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
        Some(Surety::FirstOrder) => format!(
            "{lies} at least 95 of 100 releases to first order in that noise: a bound from public numbers, proved where the \
             loss is a square, and by simulation alone where it is not.{SAMPLING}"
        ),
        Some(Surety::Bound) => format!(
            "{lies} at least 95 of 100 releases, by a bound from public numbers that is wider than it need be: what would \
             narrow it is private, and can be bought by some methods (intervals = bought).{SAMPLING}"
        ),
        None => {
            return "How far the noise of this method moves a weight is not known from public numbers: small weights may \
                    be noise."
                .into();
        }
    };
    if chosen { told + CHOSEN } else { told }
}

impl Model {
    /// Each weight with its interval.
    pub fn certainty(&self) -> Certainty {
        let encoding = Encoding::new(&self.request().schema);
        let laws =
            crate::plan(self.request()).ok().and_then(|plan| plan.weight_laws(self.weights()));
        let weighed = |problem: usize, column: usize, weight: f64| {
            let margin = laws.as_ref().and_then(|laws| {
                Some(laws.beyond * laws.deviation(problem, column)?)
                    .filter(|margin| margin.is_finite())
            });
            Weighed {
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
            let mut all: Vec<Weighed> = all.collect();
            all.sort_by(|a, b| {
                let known = |one: &Weighed| one.evidence.unwrap_or(0.0);
                known(b).total_cmp(&known(a)).then(b.weight.abs().total_cmp(&a.weight.abs()))
            });
            all
        };
        let weights = rows.map(sorted).collect();
        let surety = laws.map(|laws| laws.surety);
        // A model that is part of a tuning is certified by it.
        let chosen = self.certificate().request.get("candidates").is_some();
        let what = (self.method().buys_intervals(), self.weights().centre.is_some());
        let told = in_words(surety, what, chosen);
        Certainty { surety, chosen, told, weights }
    }
}
