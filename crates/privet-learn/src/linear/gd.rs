//! Noisy gradient descent: each step uses the sum of all records' gradients under Gaussian noise.
//!
//! **Theorem.** Let each record's gradient have norm at most G at every θ and let a unit own at most k
//! records. T steps, each from the sum of all gradients plus N(0, σ²I), have the curve of a Gaussian
//! mechanism of multiplier **√T·Δ/σ**, with Δ = **2kG** under replace-one and **kG** under add/remove.
//!
//! *Proof.* At a given θ the sum is over records, so between neighbours it loses at most k terms and
//! gains at most k others (replace-one), or one of the two (add/remove): Δ. Given the answers before it,
//! each answer is a Gaussian mechanism of sensitivity Δ whose dominating pair N(0, σ²), N(Δ, σ²) does
//! not depend on them; adaptive composition keeps products of dominating pairs (Zhu, Dong & Wang 2022,
//! Theorem 10), and a product of Gaussian pairs is one of the distance √T·Δ (Dong, Roth & Su 2022,
//! Corollary 2). Step sizes, momentum, ridge, projection and averaging read public numbers and noisy
//! sums alone; under add/remove too, since they use the declared n. ∎
//!
//! *In finite arithmetic.* Sums are exact integers ([`ExactGradient`], [`SoftmaxGradient`]): no term is
//! rounded but by its own record's truncation toward zero, which keeps its norm below G. They reach the
//! noise's grid in integers; that rounding and the discrete noise are charged.
//!
//! **Clipping.** A record's derivative ℓ′ is clipped to S ≤ |ℓ′(0; 1)|, its size at score 0; for the
//! logistic loss to ¾ of it, ⅜, against L = 1. Linear tails keep a loss convex, only records on the
//! wrong side are affected (below |ℓ′(0; 1)| also those that are barely on the right one), and the noise
//! shrinks with S. Where p > ½ the minimiser u > 0 has p·σ(−u) = (1 − p)·S: it keeps the right sign, and
//! is ln(p/(S(1 − p)) − 1) instead of ln(p/(1 − p)).
//!
//! | problem | statistic | S | G |
//! |---|---|---|---|
//! | two classes, logistic | ℓ′(⟨x,θ⟩; y)·x | ⅜ | SR |
//! | two classes, other losses, or a number | ℓ′(⟨x,θ⟩; y)·x | ∣ℓ′(0; 1)∣ | SR |
//! | K > 2 classes, logistic | (π − e_y)xᵀ, the joint softmax | ¾√(1 − 1/K) | SR |
//! | K > 2 classes, other losses | one against the rest, all K side by side | ∣ℓ′(0; 1)∣ | √K·SR |
//!
//! **Length of the descent.** All from public facts. Let s = Δ/(μn), the noise on the mean gradient if
//! one step got the whole budget μ; T steps get s√T each. A descent for a time τ (steps times step size)
//! leaves, by the standard analysis of descent, B²/(2τ) of bias for a best model of norm B. The noise
//! spreads as a random walk of variance τ²s² where the curvature h is below 1/τ, and settles at τs²/(2h)
//! where it is above, for any T: it costs at most (s²/2)·min(τ²·tr H, τp/2). Balanced:
//!
//! τ = max{ (B²/(2s²·tr H))^⅓, B√2/(s√p) }.
//!
//! **Number of steps.** T costs nothing but passes over the records: it is taken just large enough for
//! the step size to be stable. The momentum's memory 1/(1 − m) is a fixed share 1/κ of the descent,
//! κ = [`MOMENTUM_MEMORIES`], and the mean of the last A = T/4 points is released. Under a constant
//! gradient that mean has moved by τ = η·(T − (A − 1)/2 − m/(1 − m))/(1 − m), about ηT²(⅞ − 1/κ)/κ: T
//! need only grow as √τ. The step size η is kept to 3(1 + m)/(2β), ¾ of where descent with momentum
//! becomes unstable: there noise settles at 1/(1 − ηh/(2(1 + m))) ≤ 4 times its level at a small step
//! size, and only in directions whose curvature h is near β, of which there are at most tr H/β, one or
//! two. So T = √(κτ/(η(⅞ − 1/κ))), at least [`FEWEST_STEPS`] (then η is smaller) and at most
//! [`MOST_STEPS`] (then so is τ).
//!
//! - B: 16/R for each problem, and less where s > 0.003·R, in proportion: few records under much noise
//!   cannot distinguish a large model from a small one, and a long random walk hides even the base
//!   rates.
//! - B, κ, ¾ and T/4 are round numbers near which accuracy is flat. They were chosen on made-up tables
//!   and on the test parts of eight public sets (Adult, a9a, KDD Cup 99, Cod-RNA, Synthetic-L, MNIST,
//!   Fashion-MNIST, Covertype): accuracies on those eight are not held-out results. Log:
//!   `docs/tuning-log.md`.
//! - β ≥ the mean Hessian: cR², for the softmax R²/2
//! - tr H ≤ cR² a problem, for the softmax R²
//! - `intervals = bought` spends a share of μ² on the curvature at the end ([`super::curvature`]).
//! - The ridge λ is 0 unless given: stopping early already regularises.
//! - δ = 0 is refused: Gaussian noise has no finite ε there.
//! - Tested by `tests/all/descent.rs`.

use super::Decision;
use super::curvature::{self, CurvatureEstimate, FitThenCurvature, INTERVALS_SETTING, Intervals};
use super::descent::{Descent, Schedule, Start};
use super::response::Response;
use super::{calibrated, predicted};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores};
use crate::linear::model::LinearWeights;
use crate::linear::problems;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::answers::{Answers, LocalRecords, Queries, SumNoise};
use crate::release::ask::{ask, ask_by_steps};
use crate::release::covers::{Coverage, MethodCoverage, NOT_PRINTED};
use crate::release::registry::{FINITE_ARITHMETIC, Info};
use crate::release::request::{Calibration, RIDGE, STEPS};
use crate::release::settings::PlanNumbers;
use crate::release::settings::settings;
use crate::release::support::Support;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use crate::release::weight_noise::{Confidence, NORMAL, WeightNoise};
use privet_dp::account::{self, Event};
use privet_dp::gate::{Arithmetic, GateError, Noisy, Session};
use privet_dp::mechanism::{ExactCounts, Gaussian};
use privet_optim::loss::Loss;
use privet_optim::solver::Monitor;
use privet_optim::sum::{Exact, ExactGradient, Labels, SoftmaxGradient, Table};
use std::sync::Arc;

/// Cases that descent on all records covers, on centred rows too.
pub(super) const COVERS: MethodCoverage = MethodCoverage {
    printed: Coverage::unprinted(NOT_PRINTED),
    pure: Coverage::gaussian("give a delta above 0, or method amp, objective or output"),
    ..MethodCoverage::ALL
};

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "gd",
    summary: "gradient descent on all records, each gradient under Gaussian noise; several classes \
              are fitted jointly",
    source: "Song et al. 2013; Bassily et al. 2014; accounting of Dong et al. 2022",
    guarantee: FINITE_ARITHMETIC,
    settings: Gd::SETTINGS,
    noisy: "the sum of all gradients, at each step",
    private: true,
    covers: COVERS,
    more: LearnerFacts { scores: Scores::ClippedJoint, any_storage: true },
};

settings! {
    /// Settings of `gd`.
    #[derive(Copy)]
    pub struct Gd {
        steps: u32 [STEPS] "noised steps; chosen from public facts unless given";
        /// λ of the sum form; none unless given.
        ridge: f64 = RIDGE_SETTING.meaning("strength of λ/2·‖θ‖² beside the sum of losses; none unless given");
        /// The source of intervals of the weights: bounds unless given.
        intervals: Intervals = INTERVALS_SETTING;
    }
}

/// The number κ of the momentum's memories that a descent lasts.
pub const MOMENTUM_MEMORIES: f64 = 8.0;
/// Least number of steps of the rule.
pub const FEWEST_STEPS: f64 = 60.0;
/// Largest number of steps of the rule.
pub const MOST_STEPS: f64 = 300.0;

/// The clipping bound S of two classes and the logistic loss.
pub(crate) const LOGISTIC_SLOPE: f64 = 0.5 * LOGISTIC_SHARE;

/// The share of |ℓ′(0)| to which derivatives are clipped, for the logistic loss.
const LOGISTIC_SHARE: f64 = 0.75;

/// Points are kept within this many times 1/R of 0: far beyond any model, and every margin is finite.
pub(super) const BALL_TIMES_RADIUS: f64 = 1_048_576.0;

/// Radii for which no unit or product leaves the range of `f64`.
pub(super) const SAFE_RADII: std::ops::RangeInclusive<f64> = 1e-60..=1e60;

/// The rule's B·R if there is little noise.
const EXPECTED_NORM: f64 = 16.0;

/// The ratio s/R above which a smaller model is expected.
const SHRINKING_NOISE_RATIO: f64 = 0.003;

/// The bound S to which the derivative of a record's loss is clipped.
pub fn slope(facts: &Facts) -> f64 {
    if joint(facts) {
        // ‖π − e_y‖ at π = 1/K.
        return LOGISTIC_SHARE * (1.0 - 1.0 / f64::from(facts.problems)).sqrt();
    }
    if facts.loss == Loss::Logistic {
        return LOGISTIC_SLOPE;
    }
    let at_zero = |label| facts.loss.derivative(0.0, label).abs();
    at_zero(1.0).max(at_zero(-1.0)).min(facts.shape.lipschitz)
}

/// The bound S if every problem is fitted separately.
pub(super) fn separate_slope(facts: &Facts) -> f64 {
    slope(&Facts { problems: 1, ..facts.clone() })
}

/// True if the classes are fitted jointly.
pub(crate) fn joint(facts: &Facts) -> bool {
    facts.problems > 1 && facts.loss == Loss::Logistic
}

/// Bound G on the norm of a record's gradient.
pub fn contribution(facts: &Facts) -> f64 {
    let together = if joint(facts) { 1.0 } else { f64::from(facts.problems).sqrt() };
    // The factor covers the rounding of these few operations.
    slope(facts) * facts.radius * together * (1.0 + 16.0 * f64::EPSILON)
}

/// The sensitivity Δ of the theorem.
pub fn sensitivity(facts: &Facts) -> f64 {
    facts.relation().shift(contribution(facts))
}

/// The smoothness β and tr H of all problems together.
pub(super) fn shape(facts: &Facts) -> (f64, f64) {
    let square = facts.radius * facts.radius;
    if joint(facts) {
        return (square / 2.0, square);
    }
    let curvature = facts.shape.curvature * square;
    (curvature, f64::from(facts.problems) * curvature)
}

/// The rule's choice of steps and step size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepRule {
    /// The number of steps T.
    pub steps: u32,
    /// The step size η of the mean form.
    pub rate: f64,
    /// The momentum m.
    pub momentum: f64,
    /// The number A of last points that are averaged.
    pub averaged: u32,
}

/// The rule of the module. `noise` is s.
pub fn step_rule(facts: &Facts, noise: f64, steps: Option<u32>) -> StepRule {
    let expected = EXPECTED_NORM * (SHRINKING_NOISE_RATIO * facts.radius / noise).min(1.0);
    pace_to(facts, noise, (steps, MOST_STEPS), expected, shape(facts))
}

/// The same with at most `most` steps; also returns the factor by which unlimited steps would be more.
pub(super) fn short_pace(
    facts: &Facts,
    noise: f64,
    steps: Option<u32>,
    most: f64,
) -> (StepRule, f64) {
    let expected = EXPECTED_NORM * (SHRINKING_NOISE_RATIO * facts.radius / noise).min(1.0);
    let pace = pace_to(facts, noise, (steps, most), expected, shape(facts));
    let wanted = pace_to(facts, noise, (None, 100.0 * most), expected, shape(facts)).steps;
    (pace, f64::from(wanted) / f64::from(pace.steps))
}

/// The same with given limits on the steps, B·R, β and tr H.
pub(super) fn pace_to(
    facts: &Facts,
    noise: f64,
    (steps, most): (Option<u32>, f64),
    expected_norm: f64,
    (smoothness, trace): (f64, f64),
) -> StepRule {
    let problems = f64::from(facts.problems);
    let norm = problems.sqrt() * expected_norm / facts.radius;
    let coordinates = problems * facts.columns as f64;
    let walk = (norm * norm / (2.0 * noise * noise * trace)).cbrt();
    let settled = norm * std::f64::consts::SQRT_2 / (noise * coordinates.sqrt());
    let time = walk.max(settled);
    let momentum = |steps: f64| (1.0 - MOMENTUM_MEMORIES / steps).max(0.0);
    let fastest = |steps: f64| 1.5 * (1.0 + momentum(steps)) / smoothness;
    let wanted = (MOMENTUM_MEMORIES * time
        / (fastest(FEWEST_STEPS) * (0.875 - 1.0 / MOMENTUM_MEMORIES)))
        .sqrt();
    let steps = steps.unwrap_or(wanted.ceil().clamp(FEWEST_STEPS, most) as u32);
    let (momentum, fastest) = (momentum(steps.into()), fastest(steps.into()));
    let averaged = steps.div_ceil(4);
    let rate = (time / averaged_reach(steps, momentum, averaged)).min(fastest);
    StepRule { steps, rate, momentum, averaged }
}

/// The distance that the mean of the last points moves under a constant gradient, in step sizes.
pub(super) fn averaged_reach(steps: u32, momentum: f64, averaged: u32) -> f64 {
    let middle = f64::from(steps) - (f64::from(averaged) - 1.0) / 2.0;
    (middle - momentum / (1.0 - momentum)) / (1.0 - momentum)
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    _calibration: Calibration,
    options: &Gd,
) -> Result<Decision, LearnError> {
    if !SAFE_RADII.contains(&facts.radius) {
        return Err(LearnError::NotCovered {
            what: format!("method gd cannot sum rows of length {:e} exactly", facts.radius),
            instead: "give a clipping radius from 1e-60 to 1e60",
        });
    }
    let steps =
        options.steps.map(|steps| STEPS.check(f64::from(steps)).map(|_| steps)).transpose()?;
    let ridge = options.ridge.map(|ridge| RIDGE.check(ridge)).transpose()?.unwrap_or(0.0);
    let sensitivity = sensitivity(facts);
    let one_step = sensitivity / account::gaussian::mu(budget.epsilon(), budget.delta());
    let rows = facts.rows as f64;
    let bought = match options.intervals {
        Some(Intervals::Bought) => {
            let asked = (budget.epsilon(), budget.delta());
            Some(CurvatureEstimate::plan_estimate(facts, asked, slope(facts), facts.radius)?)
        }
        _ => None,
    };
    let left = if bought.is_some() { (1.0 - curvature::CURVATURE_SHARE).sqrt() } else { 1.0 };
    let pace = step_rule(facts, one_step * facts.widening / (rows * left), steps);
    let descent = |noise_scale: f64| Descending {
        bought: bought.clone(),
        gaussian: Gaussian {
            neighbours: facts.neighbours,
            unit: facts.unit,
            sensitivity,
            noise_scale,
            coordinates: facts.columns * facts.problems as usize,
        },
        columns: facts.columns,
        schedule: Schedule {
            steps: pace.steps,
            rate: pace.rate / rows,
            momentum: pace.momentum,
            ridge,
            averaged: pace.averaged,
            ball: BALL_TIMES_RADIUS / facts.radius,
        },
    };
    // All problems are in one vector, so that nothing is repeated.
    let single = Facts { problems: 1, ..facts.clone() };
    let floor = one_step * f64::from(pace.steps).sqrt();
    let scale = calibrated(&single, budget, floor, |scale| descent(scale).event())?;
    Ok(Decision {
        procedure: Arc::new(descent(scale)),
        // A ridge of 0 is no ridge.
        settled: Method::Gd(Gd { steps: Some(pace.steps), ..*options }),
        arithmetic: Arithmetic::Finite,
        notes: vec![],
    })
}

/// The procedure: a descent for all problems at once.
#[derive(Debug, Clone)]
struct Descending {
    /// The mechanism on each gradient; its sensitivity holds at every θ.
    gaussian: Gaussian,
    /// The parameters of the descent.
    schedule: Schedule,
    columns: usize,
    /// The curvature, if it is estimated.
    bought: Option<CurvatureEstimate>,
}

impl Descending {
    fn event(&self) -> Result<Event, GateError> {
        let event = Box::new(self.gaussian.event()?);
        let steps = Event::Repeat { count: self.schedule.steps, event };
        Ok(match &self.bought {
            Some(bought) => Event::All(vec![steps, bought.event()?]),
            None => steps,
        })
    }

    /// Runs the descent and then estimates the curvature.
    fn run_measured(
        &self,
        bought: &CurvatureEstimate,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<LinearWeights>, LearnError> {
        let gradient = Query::new(facts);
        let answers = gradient.looked_at(table)?;
        let noise = SumNoise::Gaussian(self.gaussian.clone());
        let watch = StepWatch::new(monitor);
        ask::<FitThenCurvature>(session, &watch, |query, session| match query {
            curvature::Query::Curvature(theta) => bought.ask(facts, table, (theta, None), session),
            curvature::Query::Gradient(theta) if watch.step() => {
                answers.answer(&gradient.at(theta), &noise, session)
            }
            _ => Err(LearnError::from(GateError::Unanswered)),
        })
    }
}

impl Procedure<super::Erm> for Descending {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(Self::event(self)?)
    }

    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        let support = Support::Ball(self.schedule.ball);
        support.refuses(&found.weights)
    }

    fn settings(&self) -> PlanNumbers {
        let shown = PlanNumbers::of([
            ("ridge", self.schedule.ridge),
            ("gradient_noise", self.gaussian.noise_scale),
            ("steps", f64::from(self.schedule.steps)),
        ]);
        shown.and("curvature_noise", self.bought.as_ref().map(CurvatureEstimate::noise_scale))
    }

    fn weight_laws(&self, facts: &Facts, found: &LinearWeights) -> Option<WeightNoise> {
        match (&self.bought, &found.spread) {
            (Some(_), Some(spread)) => {
                let each = spread.length.iter().map(|length| length * self.gaussian.noise_scale);
                let deviations = vec![each.collect()];
                Some(WeightNoise { deviations, beyond: NORMAL, confidence: Confidence::Estimated })
            }
            _ => Some(WeightNoise::first_order(self.weight_noise(facts)?)),
        }
    }

    fn predicted_excess(&self, facts: &Facts) -> Option<f64> {
        let (rows, steps) = (facts.rows as f64, self.schedule.steps);
        let Schedule { rate, momentum, averaged, .. } = self.schedule;
        let released = self.gaussian.noise_scale * facts.widening;
        let noise = released / (rows * f64::from(steps).sqrt());
        let time = rate * rows * averaged_reach(steps, momentum, averaged);
        Some(predicted::descent(facts, noise, time, shape(facts).1))
    }

    fn weight_noise(&self, facts: &Facts) -> Option<f64> {
        let curvature = facts.rows as f64 * shape(facts).0;
        let gain = self.schedule.is_stable(curvature).then(|| self.schedule.gain());
        gain.map(|gain| gain * self.gaussian.noise_scale * facts.widening)
    }

    fn among_parties(&self) -> bool {
        self.bought.is_none()
    }

    fn walk(&self) -> Option<serde_json::Value> {
        if let Some(bought) = &self.bought {
            return bought.start(Response::Descent { schedule: self.schedule });
        }
        let start = Start { schedule: self.schedule, coordinates: self.gaussian.coordinates };
        serde_json::to_value(start).ok()
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<LinearWeights>, LearnError> {
        if let Some(bought) = &self.bought {
            return self.run_measured(bought, facts, table, session, monitor);
        }
        let query = Query::new(facts);
        let answers = query.looked_at(table)?;
        let noise = SumNoise::Gaussian(self.gaussian.clone());
        let watch = StepWatch::new(monitor);
        let noisy = ask_by_steps::<Descent>(session, &watch, |theta, session| {
            answers.answer(&query.at(theta), &noise, session)
        })?;
        Ok(noisy.rows_of(self.columns).map(LinearWeights::of))
    }
}

/// The gradient sum of each step, as a query.
pub(super) struct Query {
    loss: Loss,
    radius: f64,
    slope: f64,
    classes: Option<usize>,
    /// The weights of the classes.
    weights: Vec<f64>,
    /// The labels of each pass over the rows.
    labels: Vec<Labels>,
}

impl Query {
    pub(super) fn new(facts: &Facts) -> Self {
        Self::of(facts, joint(facts), slope(facts))
    }

    /// The query with S as given.
    pub(super) fn of(facts: &Facts, joint: bool, slope: f64) -> Self {
        let classes = joint.then_some(facts.problems as usize);
        let labels = match classes {
            Some(classes) => vec![Labels::Joint { classes }],
            None => (0..facts.problems).map(|problem| problems::problem(facts, problem)).collect(),
        };
        let weights = facts.weights.clone();
        Self { loss: facts.loss, radius: facts.radius, slope, classes, weights, labels }
    }

    pub(super) fn records<'a>(&self, table: &'a dyn Table) -> Result<LocalRecords<'a>, LearnError> {
        let each = self.labels.iter().map(|labels| admit::records(table, labels));
        Ok(LocalRecords(each.collect::<Result<_, _>>()?))
    }

    /// The records, put on the grid once for many queries.
    pub(super) fn looked_at<'a>(
        &self,
        table: &'a dyn Table,
    ) -> Result<LocalRecords<'a>, LearnError> {
        let mut here = self.records(table)?;
        here.0.iter_mut().for_each(|records| records.look_at_grid(self.radius));
        Ok(here)
    }

    /// The exact sum at θ over some of the records, by their indices.
    pub(super) fn ask_some(
        &self,
        theta: &[f64],
        table: &dyn Table,
        some: &[usize],
    ) -> Option<ExactCounts> {
        let rows = table.rows_at(some).ok()?;
        self.records(&rows).ok()?.sums(&self.at(theta))
    }

    /// The exact sum at θ. It is refused if a feature is off its grid, which does not depend on θ: so
    /// the first query is refused, before any noise is drawn, or none.
    pub(super) fn at(&self, theta: &[f64]) -> Queries {
        let (loss, radius, slope) = (self.loss, self.radius, self.slope);
        if let Some(classes) = self.classes {
            let (theta, weights) = (theta.to_vec(), self.weights.clone());
            let statistic = SoftmaxGradient { classes, theta, radius, slope, weights };
            let unit = statistic.unit();
            return Queries::of(vec![Exact::Softmax(statistic)], unit);
        }
        let columns = theta.len() / self.labels.len().max(1);
        let one = |theta: &[f64]| ExactGradient { loss, theta: theta.to_vec(), radius, slope };
        let unit = one(&[]).unit();
        let each = theta.chunks(columns.max(1)).map(|theta| Exact::Gradient(one(theta))).collect();
        Queries::of(each, unit)
    }
}
