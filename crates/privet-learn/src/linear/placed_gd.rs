//! `placed-gd`: knots where records are, then [`super::centred_gd`] on features at them, over rows of
//! levels.
//!
//! Evenly spaced knots miss a skewed number: most records lie between two of them. Here a histogram of
//! every number is bought, knots are placed where it is dense (`placement.rs`), and a number enters as
//! itself, as its place among the knots, and as hats at even and at placed ones (`features.rs`). Rows are
//! levels: a number at the nearest of 241 even knots, a category at its value, so that a pass over a row
//! is a look-up and an integer addition a column ([`privet_optim::sum::LevelGradient`]).
//!
//! **Theorem.** Let a unit own at most k records; let a row's features F (a function of its codes) have
//! norm at most R under every placement of knots. Four stages release, each a sum over records under
//! Gaussian noise: (1) counts of all p numbers' bins and blocks, (2) ΣF, (3) the records of both classes,
//! (4) T gradients of the loss over (z, b), z = s·(F − m), ‖z‖ ≤ R, b the constant, multipliers clipped to S,
//! m any function of stages 1 and 2. Together they have the curve of a Gaussian mechanism of multiplier
//! **√(Δ₁²/σ₁² + Δ₂²/σ₂² + Δ₃²/σ₃² + T·Δ₄²/σ₄²)**, with
//!
//! | | Δ₁ | Δ₂ | Δ₃ | Δ₄ |
//! |---|---|---|---|---|
//! | add/remove | k√(2p) | kR | k | kS√(R² + b²) |
//! | replace-one | 2k√p | 2kR | k√2 | 2kS√(R² + b²) |
//!
//! *Proof.* (1) A record is in at most one bin and one block of each number: its part has norm at most
//! √(2p); counts are not negative, so that k records exchanged for others change them by at most √2 times
//! k√(2p). (2) By the features' bound, with the placed knots fixed by stage 1. (3) A record is in at most
//! one class; k records moved from one class to the other change both counts by k. (4) Given the
//! stages before, features, m and scale are fixed functions of a row's codes, with ‖z‖ ≤ R by the claim
//! of [`LevelGradient`], whose condition holds since each feature is a function of one run and a multiple
//! of 2⁻²⁰, so that ‖F − m‖² is the sum of its `lengths` and `centre`, to far less than 2⁻³⁰R² in f64. Between neighbours each
//! sum loses at most k terms and gains at most k others (replace-one), or one of the two. Adaptive
//! composition keeps products of dominating pairs, as in [`super::gd`]. Denominators are the *declared*
//! n and noisy counts, never the number of rows. ∎
//!
//! *In finite arithmetic.* All four are sums of integers, mapped linearly in integers
//! ([`privet_optim::sum::LinearImage`]): no rounding but each record's own truncation toward 0, before
//! the noise's grid, which is charged.
//!
//! **Settings.** 4, 3 and 1 % of μ² go to the histogram, the mean and the classes (these from e = 2,000 on),
//! the rest to the descent.
//!
//! - `knots` K: e^⅕ from 3 to 12 unless given, e as in [`super::auto`], and fewer where there would be
//!   less than 12 rows, or 6 of e, for each feature.
//! - S = ½, the logistic loss's own slope at score 0; b = R/5. The constant is not scaled with the row:
//!   an intercept that is costs unbalanced tables up to .8 points of AUC.
//! - The mean is shrunk as that of [`super::centred_gd`]. Variances, for step sizes, are those of the noisy
//!   density.
//! - The descent's length is [`super::gd`]'s rule for the features' number and norm, with at most 80 steps
//!   up to 500 features. It starts at the intercept of the noisy base rate p: with slopes clipped to S the
//!   constant score u of the larger class has e^u = p/(S(1 − p)) − 1.
//! - In the model every row has one scale s̄, ℛ over the root of the features' variances: a score is
//!   s̄·⟨F − m, θ⟩ + bθ₀, a sum over columns. (With each row's own s, AUC is .0002 to .002 higher, and no shape
//!   function exact.)
//!
//! Constants were chosen on ten public tables (`docs/tuning-log.md`).
//!
//! **Model.** ⟨F, θ⟩ is a table over levels, piecewise linear between those 241 knots: it is released as
//! weights of encoded columns, beside knots and mean ([`Placed`]), so that a raw cell's score needs no
//! level.
//!
//! - Two classes, the logistic loss, and columns that are levels; δ = 0 is refused.
//! - Tested by `linear/placed_gd/tests.rs`.

use super::Decision;
use super::centred_gd::{self, Shrunk};
use super::descent::{self, Descent, Schedule};
use super::features::{Features, GRID, Layout};
use super::gd::{self, BALL_TIMES_RADIUS};
use super::placement::{self, BLOCKS};
use super::predicted;
use crate::LearnError;
use crate::linear::auto;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores};
use crate::linear::model::{LinearWeights, Placed};
use crate::linear::problems;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::answers::{Answers, LocalRecords, Queries, SumNoise};
use crate::release::ask::ask_by_steps;
use crate::release::covers::{Coverage, MethodCoverage};
use crate::release::registry::{FINITE_ARITHMETIC, Info};
use crate::release::request::{Calibration, RIDGE, STEPS};
use crate::release::settings::{PlanNumbers, settings};
use crate::release::task::{Procedure, SumNoiseBound};
use crate::release::watch::StepWatch;
use crate::release::weight_noise::{Confidence, NORMAL, WeightNoise};
use privet_core::{Range, Relation};
use privet_data::encode::Levels;
use privet_dp::account::{self, Event};
use privet_dp::gate::{Arithmetic, GateError, Next, Noisy, Session, Walk};
use privet_dp::mechanism::Gaussian;
use privet_optim::loss::Loss;
use privet_optim::solver::Monitor;
use privet_optim::sum::{
    Exact, Labels, LevelCounts, LevelGradient, LevelRows, Occupied, STRETCH, Table,
};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::sync::Arc;

/// Limits on the number of knots.
pub const KNOTS: Range = Range::from("knots", 3.0, 32.0);

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "placed-gd",
    summary: "buys a histogram of every number, places knots where records are, then gradient descent as \
              centred-gd on piecewise-linear functions with those knots",
    source: "docs/learners.md; accounting of Dong et al. 2022",
    guarantee: FINITE_ARITHMETIC,
    settings: PlacedGd::SETTINGS,
    noisy: "counts of every number's bins, the sum of all rows, the sizes of both classes, and the sum of all gradients at \
            each step",
    private: true,
    covers: MethodCoverage {
        several: Coverage::one_problem("give two classes as target, or method centred-gd"),
        ..gd::COVERS
    },
    more: LearnerFacts { scores: Scores::Clipped, any_storage: true },
};

settings! {
    /// Settings of `placed-gd`.
    #[derive(Copy)]
    pub struct PlacedGd {
        steps: u32 [STEPS] "noised steps; chosen from public facts unless given";
        knots: u32 [KNOTS] "knots of each number, even ones and as many placed ones; chosen from public facts unless given";
        /// λ of the sum form; none unless given.
        ridge: f64 = RIDGE_SETTING.meaning("strength of λ/2·‖θ‖² beside the sum of losses; none unless given");
    }
}

/// The shares of μ² for the histogram, the mean and the classes.
const SHARES: [f64; 3] = [0.04, 0.03, 0.01];
/// The bound S to which derivatives are clipped.
pub(crate) const SLOPE: f64 = 0.5;

/// Room for rounding above what a run can release.
const ABOVE: f64 = 1.0 + 1e-9;
/// The constant's share b/R of a row's norm.
const BESIDE: f64 = 0.2;
/// Least and largest K of the rule.
const FEWEST: u32 = 3;
const MOST: u32 = 12;
/// The least rows of each feature, and its least share of e.
const ROWS: f64 = 12.0;
const WORTH: f64 = 6.0;
/// The e from which placing knots pays, and from which the classes' sizes are worth their price: the start
/// that they give also takes from the rarer class's first steps.
const PLACED_FROM: f64 = 1000.0;
const COUNTED_FROM: f64 = 2000.0;

/// The rule's K for a table of these levels and effective size; `None` where placing knots does not pay.
pub(crate) fn knots(levels: &[Levels], rows: u64, worth: f64) -> Option<u32> {
    let most = worth.powf(0.2).round().clamp(f64::from(FEWEST), f64::from(MOST)) as u32;
    let fits = |knots: &u32| {
        let Some(layout) = Layout::of(levels, *knots) else { return false };
        let features = layout.features() as f64;
        layout.numbers() > 0 && rows as f64 >= ROWS * features && worth >= WORTH * features
    };
    (FEWEST..=most).rev().find(fits).filter(|_| worth >= PLACED_FROM)
}

/// The facts of a table of features.
fn of_features(facts: &Facts, layout: &Layout) -> Facts {
    let radius = layout.radius() * (1.0 + BESIDE * BESIDE).sqrt();
    Facts { columns: layout.features() + 1, radius, ..facts.clone() }
}

/// The constant b beside a row of norm R, on the features' grid.
fn beside(layout: &Layout) -> f64 {
    Features::on_grid(&[BESIDE * layout.radius()])[0]
}

/// The change of counts of which a record has a part of norm at most 1: parts are not negative, so that
/// an exchange counts √2.
fn count_shift(relation: Relation) -> f64 {
    f64::from(relation.unit.records()) * relation.sides().sqrt() * (1.0 + 16.0 * f64::EPSILON)
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    _calibration: Calibration,
    options: &PlacedGd,
) -> Result<Decision, LearnError> {
    let refused = |what: &str, instead| Err(LearnError::NotCovered { what: what.into(), instead });
    if facts.problems > 1 || facts.loss != Loss::Logistic {
        return refused(
            "method placed-gd is for two classes and the logistic loss",
            "leave out the loss, or take method centred-gd",
        );
    }
    if facts.shared {
        return refused("method placed-gd among several parties", "take method centred-gd");
    }
    let worth = auto::effective_size(facts.rows, budget.epsilon(), facts.relation(), 2);
    let hats = match options.knots {
        Some(knots) => KNOTS.check(f64::from(knots))? as u32,
        None => knots(&facts.levels, facts.rows, worth).unwrap_or(FEWEST),
    };
    let Some(layout) = Layout::of(&facts.levels, hats) else {
        return refused(
            "method placed-gd needs numbers whose basis is left open, and no pairs, waves or sparse features",
            "leave out basis, scale and pairs in the schema, or take method centred-gd",
        );
    };
    let steps =
        options.steps.map(|steps| STEPS.check(f64::from(steps)).map(|_| steps)).transpose()?;
    let ridge = options.ridge.map(|ridge| RIDGE.check(ridge)).transpose()?.unwrap_or(0.0);
    let (relation, rows) = (facts.relation(), facts.rows as f64);
    // The factor covers the rounding of these few operations.
    let above = layout.radius() * (1.0 + 16.0 * f64::EPSILON);
    let numbers = layout.numbers();
    let of_counts = count_shift(relation);
    let sensitivities = [
        of_counts * (2.0 * numbers as f64).sqrt(),
        relation.shift(above),
        of_counts,
        relation.shift(SLOPE * above * (1.0 + BESIDE * BESIDE).sqrt()),
    ];
    let one = 1.0 / account::gaussian::mu(budget.epsilon(), budget.delta());
    let bought = [numbers > 0, true, worth >= COUNTED_FROM];
    let mut shares = SHARES;
    shares.iter_mut().zip(bought).for_each(|(share, bought)| *share *= f64::from(u8::from(bought)));
    let left = 1.0 - shares.iter().sum::<f64>();
    let own = of_features(facts, &layout);
    let noise = sensitivities[3] * one * facts.widening / (rows * left.sqrt());
    let (pace, short) = gd::short_pace(&own, noise, steps, centred_gd::most_steps(own.columns));
    let gaussian = |sensitivity, noise_scale, coordinates| Gaussian {
        neighbours: facts.neighbours,
        unit: facts.unit,
        sensitivity,
        noise_scale,
        coordinates,
    };
    let cells = numbers * (GRID as usize + BLOCKS);
    // The first stage's noise is searched for; the others' are in proportion.
    let first = usize::from(numbers == 0);
    let least = |stage: usize, share: f64| sensitivities[stage] * one / share.sqrt();
    let of_first = least(first, shares[first]);
    let stages = |scale: f64| {
        let of = |stage: usize, share: f64| match stage == first {
            true => scale,
            false => scale * (least(stage, share) / of_first),
        };
        let step = of(3, left / f64::from(pace.steps));
        Placing {
            histogram: bought[0].then(|| gaussian(sensitivities[0], of(0, shares[0]), cells)),
            mean: gaussian(sensitivities[1], of(1, shares[1]), layout.features()),
            classes: bought[2].then(|| gaussian(sensitivities[2], of(2, shares[2]), 2)),
            step: gaussian(sensitivities[3], step, own.columns),
            layout: layout.clone(),
            rows,
            weights: facts.weights.clone(),
            columns: facts.columns,
            constant: facts.ranges.last().map_or(1.0, |(low, high)| low + high),
            fastest: (short * short).clamp(1.0, centred_gd::FASTEST),
            schedule: Schedule {
                steps: pace.steps,
                rate: pace.rate / rows,
                momentum: pace.momentum,
                ridge,
                averaged: pace.averaged,
                ball: BALL_TIMES_RADIUS / layout.radius(),
            },
        }
    };
    let scale = budget.least_scale(of_first, |scale| stages(scale).event())?;
    Ok(Decision {
        procedure: Arc::new(stages(scale)),
        settled: Method::PlacedGd(PlacedGd {
            steps: Some(pace.steps),
            knots: Some(hats),
            ridge: options.ridge,
        }),
        arithmetic: Arithmetic::Finite,
        notes: vec![],
    })
}

/// The procedure: a histogram, a mean, two counts, then a descent.
#[derive(Debug, Clone)]
struct Placing {
    /// The mechanism on the counts of bins and blocks, if there are numbers.
    histogram: Option<Gaussian>,
    /// The mechanism on the sum of all rows' features.
    mean: Gaussian,
    /// The mechanism on the sizes of both classes, if they are bought.
    classes: Option<Gaussian>,
    /// The mechanism on each gradient.
    step: Gaussian,
    layout: Layout,
    /// The declared number of rows n.
    rows: f64,
    /// The weights of the classes; empty if both are 1.
    weights: Vec<f64>,
    /// The number of encoded columns.
    columns: usize,
    /// The entry of the constant column.
    constant: f64,
    /// The largest step size of a feature, as a multiple of η.
    fastest: f64,
    schedule: Schedule,
}

impl Placing {
    fn event(&self) -> Result<Event, GateError> {
        let steps =
            Event::Repeat { count: self.schedule.steps, event: Box::new(self.step.event()?) };
        let mut stages = Vec::new();
        if let Some(histogram) = &self.histogram {
            stages.push(histogram.event()?);
        }
        stages.push(self.mean.event()?);
        if let Some(classes) = &self.classes {
            stages.push(classes.event()?);
        }
        stages.push(steps);
        Ok(Event::All(stages))
    }

    /// The public numbers that the walk starts from.
    fn start(&self) -> Start {
        Start {
            descent: descent::Start { schedule: self.schedule, coordinates: self.step.coordinates },
            layout: self.layout.clone(),
            columns: self.columns,
            constant: self.constant,
            rows: self.rows,
            weights: self.weights.clone(),
            histogram_noise: self.histogram.as_ref().map(|histogram| histogram.noise_scale),
            mean_noise: self.mean.noise_scale,
            counted: self.classes.is_some(),
            fastest: self.fastest,
        }
    }

    /// Bound on the noise of each feature's coefficient, to first order: as that of
    /// [`super::centred_gd`] with the largest step size for all, if the descent is stable at them, which is
    /// assumed.
    fn feature_noise(&self, facts: &Facts) -> Option<f64> {
        let own = of_features(facts, &self.layout);
        let slack = if self.fastest > 1.0 { centred_gd::VARIANCE_SLACK } else { 1.0 };
        let curvature = facts.rows as f64 * gd::shape(&own).0 * slack;
        let stable = self.schedule.is_stable(curvature);
        stable.then(|| self.schedule.gain() * self.step.noise_scale * self.fastest)
    }

    /// The reason why no run can have placed these knots, with this mean and scale; `None` if none is known.
    fn refused(&self, placed: &Placed) -> Option<&'static str> {
        let hats = self.layout.hats as usize;
        let rises = |knots: &Vec<u16>| {
            knots.len() == hats
                && knots.first() == Some(&0)
                && knots.last() == Some(&(GRID as u16 - 1))
                && knots.windows(2).all(|pair| pair[0] < pair[1])
        };
        if placed.knots.len() != self.layout.numbers() || !placed.knots.iter().all(rises) {
            return Some("its knots are none that a run could have placed");
        }
        let (radius, mean) = (self.layout.radius(), &placed.mean);
        let on_grid = Features::on_grid(mean) == *mean;
        let short = squares(mean) <= (radius * ABOVE).powi(2);
        if mean.len() != self.layout.features() || !on_grid || !short {
            return Some("its mean is none of its features");
        }
        match (0.5 / ABOVE..=STRETCH * ABOVE).contains(&placed.scale) {
            true => None,
            false => Some("its scale is that of no row"),
        }
    }

    /// The features behind a model's weights.
    fn features(&self, found: &LinearWeights) -> Option<Features> {
        let placed = found.placed.as_ref().filter(|placed| self.refused(placed).is_none())?;
        Some(self.layout.map(&placed.knots))
    }
}

impl Procedure<super::Erm> for Placing {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(Self::event(self)?)
    }

    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        let placed = found.placed.as_ref()?;
        if let Some(why) = self.refused(placed) {
            return Some(why);
        }
        let reach = placed.scale * self.schedule.ball * ABOVE;
        let (weights, length) = (found.weights.first()?, squares(&placed.mean).sqrt());
        let (last, columns) = weights.split_last()?;
        let coded = self.layout.map(&placed.knots).coded(weights.len());
        let within = columns.iter().zip(coded).all(|(weight, coded)| match coded {
            true => weight.abs() <= 2.0 * reach,
            false => *weight == 0.0,
        });
        let most = (beside(&self.layout) / placed.scale + length) * reach;
        match within && (last * self.constant).abs() <= most {
            true => None,
            false => Some("its weights are none that a descent could have reached"),
        }
    }

    fn settings(&self) -> PlanNumbers {
        let shown = PlanNumbers::of([
            ("ridge", self.schedule.ridge),
            ("sum_noise", self.mean.noise_scale),
            ("gradient_noise", self.step.noise_scale),
            ("steps", f64::from(self.schedule.steps)),
            ("knots", f64::from(self.layout.hats)),
        ]);
        let shown =
            shown.and("class_noise", self.classes.as_ref().map(|classes| classes.noise_scale));
        shown.and("bin_noise", self.histogram.as_ref().map(|histogram| histogram.noise_scale))
    }

    fn predicted_excess(&self, facts: &Facts) -> Option<f64> {
        let own = of_features(facts, &self.layout);
        let (rows, steps) = (facts.rows as f64, self.schedule.steps);
        let Schedule { rate, momentum, averaged, .. } = self.schedule;
        let noise = self.step.noise_scale / (rows * f64::from(steps).sqrt());
        let time = rate * rows * gd::averaged_reach(steps, momentum, averaged);
        Some(predicted::descent(&own, noise, time, gd::shape(&own).1))
    }

    /// Of a sum of weights: the features behind it, each under the same noise, to first order and given
    /// the stages before the descent.
    fn sum_noise<'a>(
        &'a self,
        facts: &Facts,
        found: &'a LinearWeights,
    ) -> Option<SumNoiseBound<'a>> {
        let (noise, placed) = (self.feature_noise(facts)?, found.placed.as_ref()?);
        let features = self.features(found)?;
        let last = facts.columns as u32 - 1;
        Some(Box::new(move |sum| {
            let constant = sum.iter().filter(|(at, _)| *at == last).map(|(_, x)| x).sum::<f64>();
            let constant = constant / self.constant;
            let mut behind = features.behind(sum);
            let pairs = behind.iter_mut().zip(&placed.mean);
            pairs.for_each(|(x, m)| *x = placed.scale * (*x - constant * m));
            let own = constant * beside(&self.layout);
            noise * (squares(&behind) + own * own).sqrt()
        }))
    }

    fn weight_laws(&self, facts: &Facts, found: &LinearWeights) -> Option<WeightNoise> {
        let bound = self.sum_noise(facts, found)?;
        let each = (0..facts.columns as u32).map(|column| bound(&[(column, 1.0)]));
        let deviations = vec![each.collect()];
        Some(WeightNoise { deviations, beyond: NORMAL, confidence: Confidence::FirstOrder })
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
        let runs = self.layout.runs();
        let labels = problems::problem(facts, 0);
        let mut inner = admit::records(table, &labels)?;
        inner.look_at_grid(facts.radius);
        let records = match table.in_memory() {
            Some(data) => {
                let own = problems::labels(facts, data, 0)?;
                let unfit = |_| LearnError::DataShape("the levels are not those of the plan");
                let levels = LevelRows::new(&data.features, own, runs.clone(), inner);
                Box::new(levels.map_err(unfit)?)
            }
            None => inner,
        };
        let levels = LocalRecords(vec![records]);
        let classes = LocalRecords(vec![admit::records(table, &Labels::Joint { classes: 2 })?]);
        let counts = |image| {
            let query = Exact::LevelCounts(LevelCounts { runs: runs.clone() });
            Queries { image: Some(image), ..Queries::of(vec![query], 1.0) }
        };
        let of = |gaussian: &Gaussian| SumNoise::Gaussian(gaussian.clone());
        // The features and the lengths of the descent, once they are known.
        let mapped = RefCell::new(None);
        let watch = StepWatch::new(monitor);
        ask_by_steps::<Stages>(session, &watch, |query, session| match query {
            Query::Histogram => {
                let histogram = self.histogram.as_ref().ok_or(GateError::NotAsPlanned)?;
                let cells = self.layout.cells(placement::block, BLOCKS);
                levels.answer(&counts(cells), &of(histogram), session)
            }
            Query::Sum { knots } => {
                let image = self.layout.map(knots).sums();
                levels.answer(&counts(image), &of(&self.mean), session)
            }
            Query::Classes => {
                let noise = self.classes.as_ref().ok_or(GateError::NotAsPlanned)?;
                let marker = facts.columns - 1;
                let query = Exact::Occupied(Occupied::Classes { count: 2, marker });
                classes.answer(&Queries::of(vec![query], 1.0), &of(noise), session)
            }
            Query::Gradient { knots, mean, theta } => {
                let mut mapped = mapped.borrow_mut();
                let (lengths, features, image) = mapped.get_or_insert_with(|| {
                    let features = self.layout.map(knots);
                    let image = features.gradients(mean, beside(&self.layout));
                    let lengths = features.lengths(mean);
                    (lengths, features, image)
                });
                let along = |(m, t): (&f64, &f64)| m * t;
                let statistic = LevelGradient {
                    runs: runs.clone(),
                    loss: facts.loss,
                    scores: features.scores(theta),
                    taken: mean.iter().zip(theta).map(along).sum(),
                    constant: beside(&self.layout) * theta.last().copied().unwrap_or(0.0),
                    lengths: lengths.clone(),
                    centre: squares(mean),
                    reach: self.layout.radius(),
                    slope: SLOPE,
                };
                let unit = statistic.unit();
                let query = Queries::of(vec![Exact::LevelGradient(statistic)], unit);
                levels.answer(
                    &Queries { image: Some(image.clone()), ..query },
                    &of(&self.step),
                    session,
                )
            }
        })
    }
}

/// The public numbers that all stages start from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Start {
    descent: descent::Start,
    layout: Layout,
    columns: usize,
    constant: f64,
    rows: f64,
    weights: Vec<f64>,
    /// The noise scale of the counts of bins and blocks, if there are numbers.
    histogram_noise: Option<f64>,
    /// The noise scale of the sum of all rows' features.
    mean_noise: f64,
    /// True if the sizes of the classes are bought.
    counted: bool,
    /// The largest step size of a feature, as a multiple of η.
    fastest: f64,
}

/// The state of all stages: what each released, once it has, and the descent.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stages {
    start: Start,
    /// The noisy density of each number, once it is known.
    densities: Option<Vec<Vec<f64>>>,
    knots: Vec<Vec<u16>>,
    mean: Option<Vec<f64>>,
    /// True once the descent has its start and step sizes.
    begun: bool,
    /// The scale of a typical row.
    scale: f64,
    descent: Descent,
}

/// The walk's queries.
#[derive(Debug, Clone, Serialize)]
enum Query {
    /// Counts of every number's bins and blocks.
    Histogram,
    /// The sum of all rows' features at these knots.
    Sum { knots: Vec<Vec<u16>> },
    /// The number of records of each class.
    Classes,
    /// The gradient at θ over features less the mean.
    Gradient { knots: Vec<Vec<u16>>, mean: Vec<f64>, theta: Vec<f64> },
}

impl Walk for Stages {
    type Start = Start;
    type Query = Query;
    type Answer = Vec<f64>;
    type Artefact = LinearWeights;

    fn begin(start: Start) -> Self {
        let descent = Descent::begin(start.descent);
        let densities = start.histogram_noise.is_none().then(Vec::new);
        Self { start, densities, knots: Vec::new(), mean: None, begun: false, scale: 1.0, descent }
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<Query, LinearWeights> {
        let mut answer = answer;
        if self.densities.is_none() {
            let Some(counts) = answer.take() else { return Next::Ask(Query::Histogram) };
            let densities = self.start.densities(&counts);
            let hats = self.start.layout.hats as usize;
            let place = |density: &Vec<f64>| placement::place(density, hats, self.start.rows);
            self.knots = densities.iter().map(place).collect();
            self.densities = Some(densities);
        }
        if self.mean.is_none() {
            let Some(sum) = answer.take() else {
                return Next::Ask(Query::Sum { knots: self.knots.clone() });
            };
            self.mean = Some(self.start.mean(&sum));
        }
        let mean = self.mean.clone().unwrap_or_default();
        if !self.begun {
            let sizes = match (self.start.counted, answer.take()) {
                (true, None) => return Next::Ask(Query::Classes),
                (_, sizes) => sizes,
            };
            self.begun = true;
            self.begin_at(&mean, sizes.as_deref());
        }
        match self.descent.next(answer) {
            Next::Ask(theta) => {
                Next::Ask(Query::Gradient { knots: self.knots.clone(), mean, theta })
            }
            Next::Release(theta) => Next::Release(self.release(&mean, &theta)),
            Next::End => Next::End,
        }
    }
}

impl Stages {
    /// Sets the descent's step sizes, and its start at the intercept of the noisy sizes of the classes.
    fn begin_at(&mut self, mean: &[f64], sizes: Option<&[f64]>) {
        let start = &self.start;
        let features = start.layout.map(&self.knots);
        let densities = self.densities.as_deref().unwrap_or_default();
        let mut spreads = start.spreads(&features, mean, densities);
        let (radius, all) = (start.layout.radius(), spreads.iter().sum::<f64>());
        let length = all.clamp((radius / STRETCH).powi(2), 4.0 * radius * radius).sqrt();
        self.scale = radius / length;
        let beside = beside(&start.layout);
        spreads.push((beside / self.scale).powi(2));
        self.descent.at_rates(centred_gd::rates(&spreads, start.fastest));
        let mut point = vec![0.0; spreads.len()];
        if let (Some(constant), Some(sizes)) = (point.last_mut(), sizes) {
            *constant = intercept(sizes, &start.weights) / beside;
        }
        self.descent.start_at(point);
    }

    /// The model: tables over the levels, as weights of the encoded columns.
    fn release(&self, mean: &[f64], theta: &[f64]) -> LinearWeights {
        let (start, features) = (&self.start, self.start.layout.map(&self.knots));
        let along: f64 = mean.iter().zip(theta).map(|(m, t)| m * t).sum();
        let own = beside(&start.layout) * theta.last().copied().unwrap_or(0.0);
        let scores: Vec<f64> = features.scores(theta).iter().map(|x| x * self.scale).collect();
        let mut weights = features.at_columns(&scores, start.columns);
        if let Some(constant) = weights.last_mut() {
            *constant = (own - self.scale * along) / start.constant;
        }
        let placed = Placed { knots: self.knots.clone(), mean: mean.to_vec(), scale: self.scale };
        LinearWeights { placed: Some(placed), ..LinearWeights::of(vec![weights]) }
    }
}

impl Start {
    /// The density of each number from the noisy counts of its bins and blocks.
    fn densities(&self, counts: &[f64]) -> Vec<Vec<f64>> {
        let (bins, noise) = (GRID as usize, self.histogram_noise.unwrap_or(0.0));
        let own = counts.chunks(bins + BLOCKS).take(self.layout.numbers());
        own.map(|own| {
            let (fine, coarse) = own.split_at(bins.min(own.len()));
            placement::density(fine, coarse, noise)
        })
        .collect()
    }

    /// The mean m from the noisy ΣF, on the features' grid.
    fn mean(&self, sum: &[f64]) -> Vec<f64> {
        let shrunk = Shrunk {
            rows: self.rows,
            radius: self.layout.radius(),
            noise_scale: self.mean_noise,
            bias: false,
        };
        Features::on_grid(&shrunk.mean(sum.iter().copied()))
    }

    /// The variance of each feature: of a number's from its noisy density, where there is one; at most the
    /// bound of its range and mean.
    fn spreads(&self, features: &Features, mean: &[f64], densities: &[Vec<f64>]) -> Vec<f64> {
        let mut spreads = centred_gd::spreads(&self.layout.ranges(), mean, false);
        let mut densities = densities.iter();
        let (starts, _) = self.layout.runs().starts();
        for ((.., knots), start) in self.layout.runs.iter().zip(starts) {
            let density = if *knots > 0 { densities.next() } else { None };
            let all: f64 = density.map_or(0.0, |density| density.iter().sum());
            let Some(density) = density.filter(|_| all >= self.rows / 2.0) else { continue };
            let mut moments = std::collections::BTreeMap::<usize, (f64, f64)>::new();
            for (bin, f) in density.iter().enumerate() {
                for (at, x) in features.at_code(start as usize + 1 + bin) {
                    let moment = moments.entry(at).or_default();
                    *moment = (moment.0 + f / all * x, moment.1 + f / all * x * x);
                }
            }
            for (at, (first, second)) in moments {
                spreads[at] = (second - first * first).clamp(0.0, spreads[at].max(0.0));
            }
        }
        spreads
    }
}

/// The score of a table of nothing but noisy class sizes.
fn intercept(sizes: &[f64], weights: &[f64]) -> f64 {
    let of = |class: usize| {
        let weight = weights.get(class).copied().unwrap_or(1.0);
        sizes.get(class).copied().filter(|size| size.is_finite()).unwrap_or(0.0).max(1.0) * weight
    };
    let (first, second) = (of(0), of(1));
    let share = (first.max(second) / (first + second)).clamp(0.5, 0.999);
    let score = (share / (SLOPE * (1.0 - share)) - 1.0).ln().max(0.0);
    if second >= first { score } else { -score }
}

fn squares(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum()
}

#[cfg(test)]
mod tests;
