//! `centred-gd`: the rows' mean under noise, then [`super::gd`] on rows less that mean.
//!
//! Where all rows point much the same way, as those of images do, most of a row's length says nothing: centred
//! and made as long as allowed again, a row says more for the same noise.
//!
//! **Theorem.** Let ‖xᵢ‖₂ ≤ R and let a unit own at most k records. Stage one releases Σxᵢ + N(0, σ₀²I); stage
//! two is T steps of [`super::gd`] on the rows c(xᵢ) = clip(R·(xᵢ − m)/‖xᵢ − m‖), m any function of stage one and public
//! numbers, each step's gradients summed under N(0, σ²I). Together they have the curve of a Gaussian mechanism
//! of multiplier **√(Δ₀²/σ₀² + T·Δ²/σ²)**, with Δ₀ = **2kR** and Δ = **2kG** under replace-one, **kR** and
//! **kG** under add/remove, G that of [`super::gd`] for rows within R.
//!
//! *Proof.* Between neighbours Σxᵢ loses at most k rows and gains at most k others (replace-one), or one of the
//! two: Δ₀. Given stage one, m is a fixed vector and c maps single rows to rows within R
//! ([`privet_data::centre`]): neighbours are mapped to neighbours, and each step has sensitivity Δ at every θ,
//! as in [`super::gd`]. Adaptive composition keeps products of dominating pairs, and a product of Gaussian
//! pairs is one of the root of the sum of their squares, as there. The mean divides by the *declared* n,
//! never by the number of rows. ∎
//!
//! *In finite arithmetic.* Stage one's sum is that of [`ExactGradient`] at θ = 0 for squares and labels 1,
//! whose slopes are −1: exact integers. Stage two's rows are on the grid of R again. Both roundings to the
//! noise's grid are charged.
//!
//! **Settings.** `share` a of μ² for the mean, 0.03 unless given: the noise on m is then of length √p·R/(μ√a·n)
//! under add/remove, far below the mean's own. m is shrunk by what is known of its noise,
//! max(0, 1 − pσ₀²/‖Σ̂‖²), and kept within R: post-processing. The constant column stays as it is.
//! `slope` S of several classes, 0.4 unless given, as small as it can be without losing accuracy.
//!
//! **How far to go.** As [`super::gd`], with two constants for what centring changes. Centred rows are spread:
//! their mean's curvature is taken for β/√p, between that of rows in all p directions alike (β/p) and that of
//! rows in one (β). And what rows shared no longer lengthens every margin, so weights must be larger: B = 45/R
//! for each problem instead of 16/R. Both were chosen on 50,000 training rows each of MNIST and Fashion-MNIST
//! (scattering, 1,200 features), judged on the other 10,000 of their training rows.
//!
//! - δ = 0 is refused, as by [`super::gd`]. Rows are kept in memory, dense, once more.
//! - A released model keeps the mean beside its weights, and centres what it predicts for.
//! - Tested by `tests/all/centred_gd.rs`.

use super::Decision;
use super::descent::{self, Descent, Schedule};
use super::gd::{self, BALL};
use super::predicted;
use super::watch::StepWatch;
use crate::allowance::Allowance;
use crate::answers::{Answers, Here, Questions, SumNoise};
use crate::facts::Facts;
use crate::method::{Method, MethodInfo, RIDGE_SETTING, Scores};
use crate::model::LinearWeights;
use crate::request::{Calibration, RIDGE, STEPS};
use crate::settings::{SettingInfo, Shown};
use crate::support::Support;
use crate::task::Procedure;
use crate::{LearnError, admit};
use privet_core::Range;
use privet_data::Dataset;
use privet_data::centre::centred;
use privet_data::matrix::Matrix;
use privet_data::read::Report;
use privet_data::schema::RADIUS;
use privet_dp::account::{self, Event};
use privet_dp::gate::{Arithmetic, GateError, Next, Noised, Session, Walk};
use privet_dp::mechanism::Gaussian;
use privet_optim::loss::Loss;
use privet_optim::solver::Monitor;
use privet_optim::sum::{Exact, ExactGradient, Labels, Table};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::sync::Arc;

/// Limits on the share of the mean.
pub const SHARE: Range = Range::open("share", 0.0, 1.0);
/// Limits on the slope of several classes; at √2 nothing is clipped.
pub const SLOPE: Range = Range::from("slope", 0.01, 1.5);

/// A line about it.
pub const INFO: MethodInfo = MethodInfo {
    name: "centred-gd",
    summary: "buys the rows' mean with a little of the budget, then gradient descent as gd on rows less \
              that mean; for rows that all point much the same way, as those of images do",
    source: "Tramèr & Boneh 2021 (fixed features of images); accounting of Dong et al. 2022",
    guarantee: "(ε, δ) in finite arithmetic; no pure ε",
    settings: &[
        SettingInfo::whole(STEPS, "noised steps; chosen from public facts unless given"),
        SettingInfo::number(
            SHARE,
            "share of the mean in the squared multiplier; 0.03 unless given",
        ),
        SettingInfo::number(SLOPE, "what a row's slope is clipped to; 0.4 unless given")
            .also("for more than two classes and the logistic loss"),
        RIDGE_SETTING.meaning("strength of λ/2·‖θ‖² beside the sum of losses; none unless given"),
    ],
    scores: Scores::ClippedJoint,
    noised: "the sum of all rows, and the sum of all gradients at each step",
    any_storage: true,
};

/// Its settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CentredGd {
    /// T.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// a.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// S of several classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<f64>,
    /// λ of the sum form; none unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ridge: Option<f64>,
}

/// a of the rule.
const DEFAULT_SHARE: f64 = 0.03;
/// S of the rule, for several classes.
const DEFAULT_SLOPE: f64 = 0.4;
/// B·R of the rule.
const EXPECTED_NORM: f64 = 45.0;

/// β and tr H of centred rows.
fn shape(facts: &Facts) -> (f64, f64) {
    let (smoothness, trace) = gd::shape(facts);
    (smoothness / (facts.columns as f64).sqrt(), trace)
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    calibration: Calibration,
    options: &CentredGd,
) -> Result<Decision, LearnError> {
    let refused = |what: String, instead| Err(LearnError::NotCovered { what, instead });
    if calibration == Calibration::Printed {
        return refused(
            "no paper prints constants for method centred-gd".into(),
            "leave out the calibration, or give sound",
        );
    }
    if budget.is_pure() {
        return refused(
            "method centred-gd adds Gaussian noise, which has no finite epsilon at delta = 0"
                .into(),
            "give a delta above 0, or method amp, objective or output",
        );
    }
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
    let slope = SLOPE.check(options.slope.unwrap_or(DEFAULT_SLOPE))?;
    if options.slope.is_some() && !joint {
        return refused(
            "slope is for more than two classes and the logistic loss".into(),
            "leave out the slope",
        );
    }
    let slope = if joint { slope } else { gd::slope(facts) };
    // Pays for the rounding of these few operations.
    let above = facts.radius * (1.0 + 16.0 * f64::EPSILON);
    let together = if joint { 1.0 } else { f64::from(facts.problems).sqrt() };
    let of_mean = facts.relation().shift(above);
    let of_step = facts.relation().shift(slope * above * together);
    let one = 1.0 / account::gaussian::mu(budget.epsilon(), budget.delta());
    let rows = facts.rows as f64;
    let noise = of_step * one / (rows * (1.0 - share).sqrt());
    let pace = gd::pace_to(facts, noise, steps, EXPECTED_NORM, shape(facts));
    let gaussian = |sensitivity, noise_scale, coordinates| Gaussian {
        neighbours: facts.neighbours,
        unit: facts.unit,
        sensitivity,
        noise_scale,
        coordinates,
    };
    let step_over_mean = of_step / of_mean * (share * f64::from(pace.steps) / (1.0 - share)).sqrt();
    let stages = |scale: f64| Centring {
        mean: gaussian(of_mean, scale, facts.columns),
        step: gaussian(of_step, scale * step_over_mean, facts.columns * facts.problems as usize),
        slope,
        rows,
        bias: facts.bias,
        radius: facts.radius,
        columns: facts.columns,
        schedule: Schedule {
            steps: pace.steps,
            rate: pace.rate / rows,
            momentum: pace.momentum,
            ridge,
            averaged: pace.averaged,
            ball: BALL / facts.radius,
        },
    };
    let scale = budget.least(of_mean * one / share.sqrt(), |scale| stages(scale).event())?;
    Ok(Decision {
        procedure: Arc::new(stages(scale)),
        settled: Method::CentredGd(CentredGd {
            steps: Some(pace.steps),
            share: Some(share),
            slope: joint.then_some(slope),
            ridge: options.ridge,
        }),
        arithmetic: Arithmetic::Finite,
        notes: vec![],
    })
}

/// A mean, then a descent for all problems at once.
#[derive(Debug, Clone)]
struct Centring {
    /// What is done to the sum of all rows.
    mean: Gaussian,
    /// What is done to each gradient.
    step: Gaussian,
    /// S.
    slope: f64,
    /// n, declared.
    rows: f64,
    bias: bool,
    radius: f64,
    columns: usize,
    schedule: Schedule,
}

impl Centring {
    fn event(&self) -> Result<Event, GateError> {
        let steps =
            Event::Repeat { count: self.schedule.steps, event: Box::new(self.step.event()?) };
        Ok(Event::All(vec![self.mean.event()?, steps]))
    }

    /// −Σx, in whole numbers.
    fn sum_of_rows(&self) -> Questions {
        let statistic = ExactGradient {
            loss: Loss::Squared { clip: 1.0 },
            theta: vec![0.0; self.columns],
            radius: self.radius,
            slope: 1.0,
        };
        Questions { unit: statistic.unit(), each: vec![Exact::Gradient(statistic)] }
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

    fn settings(&self) -> Shown {
        Shown::of([
            ("ridge", self.schedule.ridge),
            ("sum_noise", self.mean.noise_scale),
            ("gradient_noise", self.step.noise_scale),
            ("slope", self.slope),
            ("steps", f64::from(self.schedule.steps)),
        ])
    }

    fn predicted_excess(&self, facts: &Facts) -> Option<f64> {
        let (rows, steps) = (facts.rows as f64, self.schedule.steps);
        let Schedule { rate, momentum, averaged, .. } = self.schedule;
        let noise = self.step.noise_scale / (rows * f64::from(steps).sqrt());
        let time = rate * rows * gd::reach(steps, momentum, averaged);
        Some(predicted::descent(facts, noise, time, shape(facts).1))
    }

    fn walk(&self) -> Option<serde_json::Value> {
        let descent =
            descent::Start { schedule: self.schedule, coordinates: self.step.coordinates };
        let start = Start {
            descent,
            columns: self.columns,
            bias: self.bias,
            rows: self.rows,
            radius: self.radius,
            noise_scale: self.mean.noise_scale,
        };
        serde_json::to_value(start).ok()
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noised<LinearWeights>, LearnError> {
        let data = admit::in_memory(table, INFO.name, "centred rows")?;
        let gradient = gd::Question::of(facts, gd::joint(facts), self.slope);
        let of_mean = SumNoise::Gaussian(self.mean.clone());
        let of_step = SumNoise::Gaussian(self.step.clone());
        let (moved, answers) = (OnceCell::<Dataset>::new(), OnceCell::<Here<'_>>::new());
        let watch = StepWatch::new(monitor);
        let mut walk = session.begin::<Stages>()?;
        let noised = session.walk(&mut walk, |question, session| {
            if !watch.step() {
                return Err(LearnError::from(GateError::Unanswered));
            }
            let Question::Gradient { mean, theta } = question else {
                let records = Here(vec![admit::records(data, &Labels::Same)?]);
                return records.answer(&self.sum_of_rows(), &of_mean, session);
            };
            let moved = moved.get_or_init(|| Dataset {
                features: Matrix::Dense(centred(&data.features, mean, self.radius)),
                target: data.target.clone(),
                units: None,
                report: Report::default(),
            });
            let here = match answers.get() {
                Some(here) => here,
                None => {
                    let here = gradient.looked_at(moved)?;
                    answers.get_or_init(|| here)
                }
            };
            here.answer(&gradient.at(theta), &of_step, session)
        });
        watch.went_on()?;
        Ok(noised?.ok_or(GateError::NotAsPlanned)?)
    }
}

/// What both stages begin from.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Start {
    descent: descent::Start,
    columns: usize,
    bias: bool,
    rows: f64,
    radius: f64,
    /// On the sum of all rows.
    noise_scale: f64,
}

/// Both stages: the mean, once it is known, and the descent.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stages {
    start: Start,
    mean: Option<Vec<f64>>,
    descent: Descent,
}

/// What is asked.
#[derive(Debug, Clone, Serialize)]
enum Question {
    /// −Σx.
    Sum,
    /// The gradient at θ over rows less this.
    Gradient { mean: Vec<f64>, theta: Vec<f64> },
}

impl Walk for Stages {
    type Start = Start;
    type Question = Question;
    type Answer = Vec<f64>;
    type Artefact = LinearWeights;

    fn begin(start: Start) -> Self {
        Self { start, mean: None, descent: Descent::begin(start.descent) }
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<Question, LinearWeights> {
        let answer = match (&self.mean, answer) {
            (None, None) => return Next::Ask(Question::Sum),
            (None, Some(sum)) => {
                self.mean = Some(self.start.mean(&sum));
                None
            }
            (Some(_), answer) => answer,
        };
        let mean = self.mean.clone().unwrap_or_default();
        match self.descent.next(answer) {
            Next::Ask(theta) => Next::Ask(Question::Gradient { mean, theta }),
            Next::Release(theta) => {
                let weights = theta.chunks(self.start.columns.max(1)).map(<[_]>::to_vec).collect();
                Next::Release(LinearWeights { weights, centre: Some(mean) })
            }
            Next::End => Next::End,
        }
    }
}

impl Start {
    /// m of a noised −Σx: shrunk by what is known of its noise, within R, and without the constant column.
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
        // Asks "within?", so that what overflowed becomes no centre at all.
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
        Start { descent, columns: 3, bias: true, rows: 10.0, radius: 2.0, noise_scale: 1.0 }
    }

    #[test]
    fn the_mean_is_shrunk_by_its_noise_and_stays_within_the_radius() {
        // Σ = (6, −8): m = (0.6, −0.8), and of its squared length 1 the noise has 3/100.
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
    fn first_the_sum_then_gradients_then_both() {
        let mut walk = Stages::begin(start());
        assert!(matches!(walk.next(None), Next::Ask(Question::Sum)));
        let Next::Ask(Question::Gradient { mean, theta }) = walk.next(Some(vec![-30.0, 0.0, 0.0]))
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
}
