//! `centred-gd`: a noisy mean of the rows, then [`super::gd`] on rows less that mean.
//!
//! If all rows have much the same direction, as those of images do, and those of tables whose columns
//! are mostly one value, most of a row's norm carries no information: centred and scaled up to the
//! radius again, a row is more informative under the same noise.
//!
//! **Theorem.** Let ‖xᵢ‖₂ ≤ R and let a unit own at most k records. Stage one releases Σxᵢ + N(0, σ₀²I);
//! stage two is T steps of [`super::gd`] on the rows c(xᵢ) = R·(xᵢ − m)/‖xᵢ − m‖ ([`Centre`]), m any
//! function of stage one and public numbers, each step's gradients summed under N(0, σ²I). Together they
//! have the curve of a Gaussian mechanism of multiplier **√(Δ₀²/σ₀² + T·Δ²/σ²)**, with Δ₀ = **2kR** and
//! Δ = **2kG** under replace-one, **kR** and **kG** under add/remove, G that of [`super::gd`] for rows
//! within R.
//!
//! *Proof.* Between neighbours Σxᵢ loses at most k rows and gains at most k others (replace-one), or one
//! of the two: Δ₀. Given stage one, m is a fixed vector and c maps single rows to rows within R
//! ([`privet_data::centre`], where it is proved): neighbours are mapped to neighbours, and each step has
//! sensitivity Δ at every θ, as in [`super::gd`]. Adaptive composition keeps products of dominating
//! pairs, and a product of Gaussian pairs is one of the root of the sum of their squares, as there. The
//! mean divides by the *declared* n, never by the number of rows. ∎
//!
//! *In finite arithmetic.* Stage one's sum is that of [`ExactGradient`] at θ = 0 for squares and labels
//! 1, whose derivatives are −1: exact integers. Stage two's sums are integers over the rows (x̃, d) that
//! stand for c(x) ([`privet_data::centre`]), from which m times the last entry is subtracted in integers
//! ([`Recentring`]): so each record's part is a multiple, of at most S, of a vector within R. Both roundings
//! to the noise's grid are charged.
//!
//! **Settings.** `share` a of μ² for the mean, 0.03 unless given: the noise on m then has norm
//! √p·R/(μ√a·n) under add/remove, far below the mean's own. m is shrunk by the known scale of its noise,
//! max(0, 1 − pσ₀²/‖Σ̂‖²), and kept within R: post-processing. The constant column is not centred.
//! `slope` S of several classes: unless given that of [`super::gd`], and 0.4 for images, as small as it
//! can be there without losing accuracy.
//!
//! **Length of the descent.** As [`super::gd`]; for images with two other constants. Their centred rows
//! are spread: their mean's curvature is taken for β/√p, between that of rows in all p directions alike
//! (β/p) and that of rows in one (β). And the rows' common part no longer adds to every margin, so
//! weights must be larger: B = 45/R for each problem instead of 16/R. Both were chosen on training rows
//! of MNIST and Fashion-MNIST (`docs/tuning-log.md`).
//!
//! **Fewer steps, by the mean.** An entry between public bounds a and b with mean m has a variance of at
//! most (b − m)(m − a). So the noisy mean, already paid for, shows in which columns rows hardly vary:
//! there a descent is slow, and larger step sizes help. Whole rows of tables without a ridge take at
//! most 80 steps (more from 500 columns on, and 300 from 1,500: pairs of numbers have rare ones); where
//! the rule of [`super::gd`] would take w times as many, column j has the step size
//! √(1.01/(qⱼ/q + 0.01)) times η, at most w² and 10 times, qⱼ its variance by the bound and q the
//! largest; all together reduced where that raises Σ rateⱼ·qⱼ to more than 1.3 times Σ qⱼ. That is a
//! rule, not a proof that descent is stable: where many rare columns are correlated and the wide ones
//! hardly vary, steps may oscillate, and the mean of the last points is released. Privacy does not
//! depend on it. Against 300 steps at one rate hardly anything is lost (`docs/tuning-log.md`).
//!
//! - `intervals = bought` spends a share of μ² on the curvature of the centred rows at the end
//!   ([`super::curvature`]): one Gaussian event more. Its intervals are conditional on the mean, as the
//!   bounds are: the effect of the noise in m on weights is not included.
//! - δ = 0 is refused, as by [`super::gd`]. Rows in memory are copied once, sparse ones sparse; rows on
//!   disk or on other machines are centred on every pass.
//! - A released model keeps the mean beside its weights, and centres the rows that it predicts for.
//! - Tested by `tests/all/centred_gd.rs`.

use super::Decision;
use super::curvature::{self, CurvatureEstimate, INTERVALS_SETTING, Intervals};
use super::descent::{self, Descent, Schedule};
use super::gd::{self, BALL_TIMES_RADIUS};
use super::predicted;
use super::response::Response;
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores};
use crate::linear::model::{LinearWeights, Spread};
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::answers::{Answers, LocalRecords, Queries, SumNoise};
use crate::release::ask::ask;
use crate::release::registry::{FINITE_ARITHMETIC, Info};
use crate::release::request::{Calibration, RIDGE, STEPS};
use crate::release::settings::{PlanNumbers, settings};
use crate::release::support::Support;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use crate::release::weight_noise::{Confidence, NORMAL, WeightNoise};
use privet_core::Range;
use privet_data::centre::Centre;
use privet_data::schema::RADIUS;
use privet_dp::account::{self, Event};
use privet_dp::gate::{Arithmetic, GateError, Next, Noisy, Session, Walk};
use privet_dp::mechanism::Gaussian;
use privet_optim::loss::Loss;
use privet_optim::solver::Monitor;
use privet_optim::sum::{Exact, ExactGradient, Labels, Recentring, Table};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::sync::Arc;

/// Limits on the share of the mean.
pub const SHARE: Range = Range::open("share", 0.0, 1.0);
/// Limits on the clipping of derivatives, for several classes; at √2 nothing is clipped.
pub const SLOPE: Range = Range::from("slope", 0.01, 1.5);

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "centred-gd",
    summary: "buys the rows' mean with a little of the budget, then gradient descent as gd on rows less \
              that mean; for rows that have much in common, as those of images and of most tables",
    source: "Tramèr & Boneh 2021 (fixed features of images); accounting of Dong et al. 2022",
    guarantee: FINITE_ARITHMETIC,
    settings: CentredGd::SETTINGS,
    noisy: "the sum of all rows, and the sum of all gradients at each step",
    private: true,
    covers: gd::COVERS,
    more: LearnerFacts { scores: Scores::ClippedJoint, any_storage: true },
};

settings! {
    /// Settings of `centred-gd`.
    #[derive(Copy)]
    pub struct CentredGd {
        steps: u32 [STEPS] "noised steps; chosen from public facts unless given";
        share: f64 [SHARE] "share of the mean in the squared multiplier; 0.03 unless given";
        slope: f64 [SLOPE]
            "what a row's slope is clipped to; unless given as for gd, and 0.4 for images",
            also "for more than two classes and the logistic loss";
        /// λ of the sum form; none unless given.
        ridge: f64 = RIDGE_SETTING.meaning("strength of λ/2·‖θ‖² beside the sum of losses; none unless given");
        /// The source of intervals of the weights: bounds unless given.
        intervals: Intervals = INTERVALS_SETTING;
    }
}

/// The rule's share a of μ² for the mean.
const DEFAULT_SHARE: f64 = 0.03;
/// The rule's clipping bound S, for images of several classes.
const DEFAULT_SLOPE: f64 = 0.4;
/// Largest number of steps of the rule, for tables of so many columns: of very many, as pairs of numbers
/// make them, some are so rare that no step size makes up for steps.
fn most_steps(columns: usize) -> f64 {
    80.0 + (0.22 * (columns as f64 - 500.0)).clamp(0.0, gd::MOST_STEPS - 80.0)
}
/// The largest step size of a column, as a multiple of η.
const FASTEST: f64 = 10.0;
/// The part of the largest variance added to each column's, which limits a rare column's step size.
const RARE_COLUMN_VARIANCE: f64 = 0.01;
/// Upper bound on the increase of the sum of all variances by step sizes, as far as the mean shows them:
/// short of 4/3, since a descent has ¾ of the largest stable step size. It proves nothing: columns may
/// vary less than their bound, and several together.
const VARIANCE_SLACK: f64 = 1.3;
/// The rule's B·R, for images.
const EXPECTED_NORM: f64 = 45.0;

/// The smoothness β and tr H of centred rows.
fn shape(facts: &Facts) -> (f64, f64) {
    let (smoothness, trace) = gd::shape(facts);
    let spread = if facts.image { (facts.columns as f64).sqrt() } else { 1.0 };
    (smoothness / spread, trace)
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    _calibration: Calibration,
    options: &CentredGd,
) -> Result<Decision, LearnError> {
    let refused = |what: String, instead| Err(LearnError::NotCovered { what, instead });
    if RADIUS.check(facts.radius).is_err() {
        return refused(
            format!("method centred-gd cannot clip rows to a length of {:e} again", facts.radius),
            "give a clipping radius for which rows are from 1e-6 to 1e6 long",
        );
    }
    let joint = gd::joint(facts);
    let steps =
        options.steps.map(|steps| STEPS.check(f64::from(steps)).map(|_| steps)).transpose()?;
    let ridge = options.ridge.map(|ridge| RIDGE.check(ridge)).transpose()?.unwrap_or(0.0);
    let share = SHARE.check(options.share.unwrap_or(DEFAULT_SHARE))?;
    let usual = if facts.image { DEFAULT_SLOPE } else { gd::slope(facts) };
    let slope = SLOPE.check(options.slope.unwrap_or(usual))?;
    if options.slope.is_some() && !joint {
        return refused(
            "slope is for more than two classes and the logistic loss".into(),
            "leave out the slope",
        );
    }
    let slope = if joint { slope } else { gd::slope(facts) };
    // The factor covers the rounding of these few operations.
    let above = facts.radius * (1.0 + 16.0 * f64::EPSILON);
    let together = if joint { 1.0 } else { f64::from(facts.problems).sqrt() };
    let of_mean = facts.relation().shift(above);
    let of_step = facts.relation().shift(slope * above * together);
    let one = 1.0 / account::gaussian::mu(budget.epsilon(), budget.delta());
    let rows = facts.rows as f64;
    let bought = match options.intervals {
        Some(Intervals::Bought) => {
            if facts.image {
                return Err(LearnError::NotCovered {
                    what: "intervals = bought: steps on images are longer than a descent is proved to be stable at".into(),
                    instead: "leave out the intervals, or take gd",
                });
            }
            let asked = (budget.epsilon(), budget.delta());
            Some(CurvatureEstimate::plan_estimate(
                facts,
                asked,
                slope,
                curvature::centred_length(facts),
            )?)
        }
        _ => None,
    };
    let left = if bought.is_some() { (1.0 - curvature::CURVATURE_SHARE).sqrt() } else { 1.0 };
    let noise = of_step * one * facts.widening / (rows * (1.0 - share).sqrt() * left);
    let (pace, short) = match facts.image {
        true => {
            (gd::pace_to(facts, noise, (steps, gd::MOST_STEPS), EXPECTED_NORM, shape(facts)), 1.0)
        }
        // A ridge would mean another strength in each column.
        false if !facts.ranges.is_empty() && ridge == 0.0 => {
            gd::short_pace(facts, noise, steps, most_steps(facts.columns))
        }
        false => (gd::step_rule(facts, noise, steps), 1.0),
    };
    let gaussian = |sensitivity, noise_scale, coordinates| Gaussian {
        neighbours: facts.neighbours,
        unit: facts.unit,
        sensitivity,
        noise_scale,
        coordinates,
    };
    let step_over_mean = of_step / of_mean * (share * f64::from(pace.steps) / (1.0 - share)).sqrt();
    let stages = |scale: f64| Centring {
        bought: bought.clone(),
        mean: gaussian(of_mean, scale, facts.columns),
        step: gaussian(of_step, scale * step_over_mean, facts.columns * facts.problems as usize),
        slope,
        rows,
        widening: facts.widening,
        bias: facts.bias,
        radius: facts.radius,
        columns: facts.columns,
        fastest: (short * short).clamp(1.0, FASTEST),
        ranges: if short > 1.0 { facts.ranges.clone() } else { Vec::new() },
        schedule: Schedule {
            steps: pace.steps,
            rate: pace.rate / rows,
            momentum: pace.momentum,
            ridge,
            averaged: pace.averaged,
            ball: BALL_TIMES_RADIUS / facts.radius,
        },
    };
    let scale = budget.least_scale(of_mean * one / share.sqrt(), |scale| stages(scale).event())?;
    Ok(Decision {
        procedure: Arc::new(stages(scale)),
        settled: Method::CentredGd(CentredGd {
            steps: Some(pace.steps),
            share: Some(share),
            slope: joint.then_some(slope),
            ridge: options.ridge,
            intervals: options.intervals,
        }),
        arithmetic: Arithmetic::Finite,
        notes: vec![],
    })
}

/// The procedure: a mean, then a descent for all problems at once.
#[derive(Debug, Clone)]
struct Centring {
    /// The mechanism on the sum of all rows.
    mean: Gaussian,
    /// The mechanism on each gradient.
    step: Gaussian,
    /// The bound S to which derivatives are clipped.
    slope: f64,
    /// The declared number of rows n.
    rows: f64,
    /// The factor of the released noise over the noise charged.
    widening: f64,
    bias: bool,
    radius: f64,
    columns: usize,
    /// The largest step size of a column, as a multiple of η.
    fastest: f64,
    /// The ranges of the entries of rows.
    ranges: Vec<(f64, f64)>,
    schedule: Schedule,
    /// The curvature, if it is estimated.
    bought: Option<CurvatureEstimate>,
}

impl Centring {
    fn event(&self) -> Result<Event, GateError> {
        let steps =
            Event::Repeat { count: self.schedule.steps, event: Box::new(self.step.event()?) };
        let mut stages = vec![self.mean.event()?, steps];
        if let Some(bought) = &self.bought {
            stages.push(bought.event()?);
        }
        Ok(Event::All(stages))
    }

    /// The public numbers that the walk starts from.
    fn start(&self) -> Start {
        Start {
            descent: descent::Start { schedule: self.schedule, coordinates: self.step.coordinates },
            columns: self.columns,
            bias: self.bias,
            rows: self.rows,
            radius: self.radius,
            noise_scale: self.mean.noise_scale * self.widening,
            fastest: self.fastest,
            ranges: self.ranges.clone(),
            curvature_noise: self.bought.as_ref().map(CurvatureEstimate::noise_scale),
        }
    }

    /// The query −Σx, in integers.
    fn sum_of_rows(&self) -> Queries {
        let statistic = ExactGradient {
            loss: Loss::Squared { clip: 1.0 },
            theta: vec![0.0; self.columns],
            radius: self.radius,
            slope: 1.0,
        };
        let unit = statistic.unit();
        Queries::of(vec![Exact::Gradient(statistic)], unit)
    }
}

impl Procedure<super::Erm> for Centring {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(Self::event(self)?)
    }

    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        let outside = found.centre.iter().any(|mean| length(mean) > self.radius * (1.0 + 1e-9));
        if outside {
            return Some("the centre is further out than any row can be");
        }
        Support::Ball(self.schedule.ball).refuses(&found.weights)
    }

    fn settings(&self) -> PlanNumbers {
        let shown = PlanNumbers::of([
            ("ridge", self.schedule.ridge),
            ("sum_noise", self.mean.noise_scale),
            ("gradient_noise", self.step.noise_scale),
            ("slope", self.slope),
            ("steps", f64::from(self.schedule.steps)),
        ]);
        shown.and("curvature_noise", self.bought.as_ref().map(CurvatureEstimate::noise_scale))
    }

    fn predicted_excess(&self, facts: &Facts) -> Option<f64> {
        let (rows, steps) = (facts.rows as f64, self.schedule.steps);
        let Schedule { rate, momentum, averaged, .. } = self.schedule;
        let noise = self.step.noise_scale * self.widening / (rows * f64::from(steps).sqrt());
        let time = rate * rows * gd::averaged_reach(steps, momentum, averaged);
        Some(predicted::descent(facts, noise, time, shape(facts).1))
    }

    /// Given the mean, as that of [`super::gd`]: to first order, times the largest effect of the
    /// columns' step sizes, if descent is stable at them, which is assumed. Images have no shape
    /// functions to draw it around.
    fn weight_noise(&self, facts: &Facts) -> Option<f64> {
        let slack = if self.fastest > 1.0 { VARIANCE_SLACK } else { 1.0 };
        let curvature = facts.rows as f64 * gd::shape(facts).0 * slack;
        let known = !facts.image && self.schedule.is_stable(curvature);
        known.then(|| self.schedule.gain() * self.step.noise_scale * self.widening * self.fastest)
    }

    /// With D the columns' step sizes, θ = D^½θ′ moves as a descent of curvature D^½HD^½ under noise of
    /// covariance σ²D: so the covariance of θ′ is at most that of noise σ²·max D, and that of θ at most
    /// D times as much.
    fn weight_noises(&self, facts: &Facts, found: &LinearWeights) -> Option<Vec<f64>> {
        let whole = self.weight_noise(facts)?;
        let rates = found.centre.as_ref().map(|mean| self.start().rates(mean)).unwrap_or_default();
        let of = |column| rates.get(column).copied().unwrap_or(1.0);
        Some((0..facts.columns).map(|column| whole * (of(column) / self.fastest).sqrt()).collect())
    }

    fn weight_laws(&self, facts: &Facts, found: &LinearWeights) -> Option<WeightNoise> {
        if let (Some(_), Some(spread)) = (&self.bought, &found.spread) {
            let each = spread.length.iter().map(|length| length * self.step.noise_scale);
            let deviations = vec![each.collect()];
            return Some(WeightNoise {
                deviations,
                beyond: NORMAL,
                confidence: Confidence::Estimated,
            });
        }
        let deviations = vec![self.weight_noises(facts, found)?];
        Some(WeightNoise { deviations, beyond: NORMAL, confidence: Confidence::FirstOrder })
    }

    fn among_parties(&self) -> bool {
        self.bought.is_none()
    }

    fn walk(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self.start()).ok()
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<LinearWeights>, LearnError> {
        if !table.offers_less() {
            return Err(LearnError::NeedsMemory { method: INFO.name, needs: "centred rows" });
        }
        let reaching = Facts { radius: Centre::norm_bound(self.radius), ..facts.clone() };
        let gradient = gd::Query::of(&reaching, gd::joint(facts), self.slope);
        let of_mean = SumNoise::Gaussian(self.mean.clone());
        let of_step = SumNoise::Gaussian(self.step.clone());
        let (moved, answers) =
            (OnceCell::<Box<dyn Table + '_>>::new(), OnceCell::<LocalRecords<'_>>::new());
        let watch = StepWatch::new(monitor);
        ask::<Stages>(session, &watch, |query, session| {
            let (mean, theta, of_curvature) = match query {
                Query::Sum if watch.step() => {
                    let records = LocalRecords(vec![admit::records(table, &Labels::Same)?]);
                    return records.answer(&self.sum_of_rows(), &of_mean, session);
                }
                Query::Gradient { mean, theta } if watch.step() => (mean, theta, false),
                Query::Curvature { mean, theta } => (mean, theta, true),
                _ => return Err(LearnError::from(GateError::Unanswered)),
            };
            let centre = Centre::new(mean, self.radius);
            let moved = match moved.get() {
                Some(moved) => moved,
                None => {
                    let recentring = table.recentred(&centre)?;
                    moved.get_or_init(|| recentring)
                }
            };
            let here = match answers.get() {
                Some(here) => here,
                None => {
                    let here = gradient.looked_at(moved.as_ref())?;
                    answers.get_or_init(|| here)
                }
            };
            let points: Vec<f64> =
                theta.chunks(self.columns.max(1)).flat_map(|theta| centre.point(theta)).collect();
            let recentring = Recentring { units: centre.units(), bits: Centre::BITS };
            if of_curvature {
                let bought = self.bought.as_ref().ok_or(GateError::NotAsPlanned)?;
                return bought.ask(
                    &reaching,
                    moved.as_ref(),
                    (&points, Some(&recentring)),
                    session,
                );
            }
            let questions = Queries { recentring: Some(recentring), ..gradient.at(&points) };
            here.answer(&questions, &of_step, session)
        })
    }
}

/// The public numbers that both stages start from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Start {
    descent: descent::Start,
    columns: usize,
    bias: bool,
    rows: f64,
    radius: f64,
    /// The noise scale of the sum of all rows.
    noise_scale: f64,
    /// The largest step size of a column, as a multiple of η.
    fastest: f64,
    /// The ranges of the entries of rows; empty if all columns have the same step size.
    ranges: Vec<(f64, f64)>,
    /// The noise scale of the curvature, if it is estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    curvature_noise: Option<f64>,
}

/// The state of both stages: the mean, once it is known, and the descent.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stages {
    start: Start,
    mean: Option<Vec<f64>>,
    descent: Descent,
    /// The weights, while their curvature is queried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    found: Option<Vec<f64>>,
}

/// The walk's queries.
#[derive(Debug, Clone, Serialize)]
enum Query {
    /// The sum −Σx.
    Sum,
    /// The gradient at θ over rows less the mean.
    Gradient { mean: Vec<f64>, theta: Vec<f64> },
    /// The curvature at θ over rows less the mean.
    Curvature { mean: Vec<f64>, theta: Vec<f64> },
}

impl Walk for Stages {
    type Start = Start;
    type Query = Query;
    type Answer = Vec<f64>;
    type Artefact = LinearWeights;

    fn begin(start: Start) -> Self {
        let descent = Descent::begin(start.descent);
        Self { start, mean: None, descent, found: None }
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<Query, LinearWeights> {
        let answer = match (&self.mean, answer) {
            (None, None) => return Next::Ask(Query::Sum),
            (None, Some(sum)) => {
                let mean = self.start.mean(&sum);
                let rates = self.start.rates(&mean);
                let problems = self.start.descent.coordinates / self.start.columns.max(1);
                self.descent.at_rates(rates.repeat(problems));
                self.mean = Some(mean);
                None
            }
            (Some(_), answer) => answer,
        };
        let mean = self.mean.clone().unwrap_or_default();
        if let Some(theta) = self.found.clone() {
            let (Some(noisy), Some(scale)) = (answer, self.start.curvature_noise) else {
                return Next::Ask(Query::Curvature { mean, theta });
            };
            let rates = self.start.rates(&mean);
            let response = Response::Descent { schedule: self.start.descent.schedule };
            let length = response.lengths(&noisy, self.start.columns, scale, &rates);
            let spread = Some(Spread { along: Vec::new(), length });
            self.found = None;
            self.start.curvature_noise = None;
            let found = LinearWeights::of(vec![theta]);
            return Next::Release(LinearWeights { centre: Some(mean), spread, ..found });
        }
        match self.descent.next(answer) {
            Next::Ask(theta) => Next::Ask(Query::Gradient { mean, theta }),
            Next::Release(theta) if self.start.curvature_noise.is_some() => {
                self.found = Some(theta.clone());
                Next::Ask(Query::Curvature { mean, theta })
            }
            Next::Release(theta) => {
                let weights = theta.chunks(self.start.columns.max(1)).map(<[_]>::to_vec).collect();
                Next::Release(LinearWeights { centre: Some(mean), ..LinearWeights::of(weights) })
            }
            Next::End => Next::End,
        }
    }
}

impl Start {
    /// The step sizes of the columns by the rule of the module, as multiples of η; empty if all are 1.
    fn rates(&self, mean: &[f64]) -> Vec<f64> {
        if self.fastest <= 1.0 || self.ranges.len() != mean.len() {
            return Vec::new();
        }
        let spread = |((low, high), m): (&(f64, f64), &f64)| ((high - m) * (m - low)).max(0.0);
        let mut spreads: Vec<f64> = self.ranges.iter().zip(mean).map(spread).collect();
        if self.bias
            && let (Some(own), Some((low, high))) = (spreads.last_mut(), self.ranges.last())
        {
            *own = (low * low).max(high * high);
        }
        let (widest, all) =
            spreads.iter().fold((0.0_f64, 0.0), |(most, sum), q| (most.max(*q), sum + q));
        if !(widest > 0.0 && all.is_finite()) {
            return Vec::new();
        }
        let rate = |q: &f64| {
            ((1.0 + RARE_COLUMN_VARIANCE) / (q / widest + RARE_COLUMN_VARIANCE))
                .sqrt()
                .min(self.fastest)
        };
        let rates: Vec<f64> = spreads.iter().map(rate).collect();
        let together: f64 = rates.iter().zip(&spreads).map(|(rate, q)| rate * q).sum();
        let kept = (VARIANCE_SLACK * all / together).min(1.0);
        rates.iter().map(|rate| rate * kept).collect()
    }

    /// The mean m from a noisy −Σx: shrunk by the known scale of its noise, within R, and without the
    /// constant column.
    fn mean(&self, sum: &[f64]) -> Vec<f64> {
        let mut mean: Vec<f64> = sum.iter().map(|x| -x / self.rows).collect();
        if self.bias
            && let Some(constant) = mean.last_mut()
        {
            *constant = 0.0;
        }
        let length = length(&mean);
        let noise = self.noise_scale / self.rows * (mean.len() as f64).sqrt();
        let kept = (1.0 - (noise / length).powi(2)).min(self.radius / length);
        // Asks "within?", so that a sum that overflowed gives no centre.
        let kept = if kept > 0.0 && length.is_finite() { kept } else { 0.0 };
        mean.iter_mut().for_each(|x| *x = if kept > 0.0 { *x * kept } else { 0.0 });
        mean
    }
}

fn length(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Start {
        let schedule =
            Schedule { steps: 1, rate: 0.5, momentum: 0.0, ridge: 0.0, averaged: 1, ball: 9.0 };
        let descent = descent::Start { schedule, coordinates: 6 };
        Start {
            descent,
            columns: 3,
            bias: true,
            rows: 10.0,
            radius: 2.0,
            noise_scale: 1.0,
            fastest: 1.0,
            ranges: Vec::new(),
            curvature_noise: None,
        }
    }

    #[test]
    fn the_mean_is_shrunk_by_its_noise_and_stays_within_the_radius() {
        // Σ = (6, −8): m = (0.6, −0.8), and the noise makes 3/100 of its squared norm 1.
        let mean = start().mean(&[-6.0, 8.0, 5.0]);
        let expected = [0.6 * 0.97, -0.8 * 0.97, 0.0];
        assert!(mean.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-12), "{mean:?}");
        assert_eq!(start().mean(&[1.0, 1.0, 0.0]), [0.0; 3], "nothing but noise");
        assert!(length(&start().mean(&[1e9, 1.0, 0.0])) <= 2.0 * (1.0 + 1e-12));
        for odd in [f64::MAX, f64::INFINITY, f64::NAN] {
            assert_eq!(start().mean(&[odd, 1.0, 0.0]), [0.0; 3]);
        }
    }

    #[test]
    fn columns_that_hardly_vary_go_faster() {
        let ranges = vec![(-1.0, 1.0), (0.0, 1.0), (0.0, 1.0)];
        let walk = |fastest| Start { fastest, ranges: ranges.clone(), ..start() };
        assert!(walk(1.0).rates(&[0.0; 3]).is_empty(), "no step is short of what is wanted");
        // Variances of at most 1, 0.0099 and, of the constant, 1: the second has √(1.01/0.0199) = 7.1
        // times the step size, and Σ rate·q = 2.07 is no more than 1.3 times Σ q = 2.01.
        let rates = walk(10.0).rates(&[0.0, 0.01, 0.0]);
        let expected = [1.0, (1.01_f64 / 0.0199).sqrt(), 1.0];
        assert!(rates.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-12), "{rates:?}");
        assert_eq!(walk(3.0).rates(&[0.0, 0.01, 0.0])[1], 3.0, "as fast as wanted");
        // Many of them would raise the curvature: all are reduced.
        let many = Start { bias: false, ranges: vec![(0.0, 1.0); 100], fastest: 10.0, ..start() };
        let mean: Vec<f64> = (0..100).map(|at| if at == 0 { 0.5 } else { 0.01 }).collect();
        let (rates, q) = (many.rates(&mean), |m: f64| m * (1.0 - m));
        let raised: f64 = rates.iter().zip(&mean).map(|(rate, m)| rate * q(*m)).sum();
        let all: f64 = mean.iter().map(|m| q(*m)).sum();
        assert!((raised / all - VARIANCE_SLACK).abs() < 1e-12, "{}", raised / all);
    }

    #[test]
    fn first_the_sum_then_gradients_then_both() {
        let mut walk = Stages::begin(start());
        assert!(matches!(walk.next(None), Next::Ask(Query::Sum)));
        let Next::Ask(Query::Gradient { mean, theta }) = walk.next(Some(vec![-30.0, 0.0, 0.0]))
        else {
            panic!("a gradient")
        };
        assert_eq!((mean[1], theta), (0.0, vec![0.0; 6]));
        let text = serde_json::to_string(&walk).unwrap();
        let mut walk: Stages = serde_json::from_str(&text).unwrap();
        let Next::Release(found) = walk.next(Some(vec![2.0; 6])) else { panic!("weights") };
        assert_eq!(found.weights, [[-1.0; 3], [-1.0; 3]]);
        assert_eq!(found.centre, Some(mean));
        assert!(matches!(walk.next(None), Next::End));
    }

    #[test]
    fn the_curvature_is_asked_for_last_and_spread_over_the_weights() {
        let descent = descent::Start { coordinates: 3, ..start().descent };
        let bought = Start { descent, curvature_noise: Some(0.1), ..start() };
        let mut walk = Stages::begin(bought);
        assert!(matches!(walk.next(None), Next::Ask(Query::Sum)));
        assert!(matches!(walk.next(Some(vec![0.0; 3])), Next::Ask(Query::Gradient { .. })));
        let query = walk.next(Some(vec![2.0; 3]));
        let Next::Ask(Query::Curvature { theta, .. }) = query else { panic!("the curvature") };
        assert_eq!(theta, [-1.0; 3]);
        let text = serde_json::to_string(&walk).unwrap();
        let mut walk: Stages = serde_json::from_str(&text).unwrap();
        assert!(matches!(walk.next(None), Next::Ask(Query::Curvature { .. })));
        let Next::Release(found) = walk.next(Some(vec![0.0; 9])) else { panic!("weights") };
        // One step at a rate of ½, and no curvature.
        assert_eq!(found.spread.unwrap().length, [0.5; 3]);
        assert!(matches!(walk.next(None), Next::End));
    }
}
