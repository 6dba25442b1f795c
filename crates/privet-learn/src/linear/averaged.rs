//! Offline learning by averaging the points of an online learner (POffL), with noise on the mean.
//!
//! After Thakurta 2013, Algorithm 5.4 (Jain, Kothari & Thakurta 2012), with its sensitivity corrected
//! (erratum C1) and a hard cap on the uses of a record (C12).
//!
//! **Algorithm.** Implicit gradient steps ([`crate::streams::base`]) at η = 1/(Ψt) over the rows in
//! their order, K times over: T = Kn steps, every record in exactly K of them, independently of the
//! records. The weighted mean of the T points is released under Gaussian noise: weights t + 1
//! (`linear`), or equal (`even`, as printed).
//!
//! **Theorem.** Let one record be replaced. The mean moves by at most
//!
//! - `linear`: **Δ = 2SR(K + 1)/(Ψ(Kn + 3))**, without a logarithm;
//! - `even`: **Δ = (2SR/(ΨT))·Σ_{k<K} (H_{T+1} − H_{kn+1})**, H the harmonic numbers; for K = 1 below
//!   (2SR/Ψ)·ln(T + 1)/T.
//!
//! *Proof.* Change the record in one of its K steps after the other: every table in between is a stream
//! of T records. A change at step i moves the point after t ≥ i steps by at most 2SR/(Ψ(t + 1)), and no
//! point before. A record at index j of a pass is at the steps kn + j; j = 1 is the worst. With weights
//! t + 1: Σₖ(T − kn)·2SR/Ψ = (2SR/Ψ)·nK(K + 1)/2, over Σ(t + 1) = T(T + 3)/2. With equal ones:
//! Σₖ Σ_{t>kn} 2SR/(Ψ(t + 1)), over T. ∎ Rounding adds at most [`base::slack`] to (t + 1) times each
//! distance, and a sum of T points is off by at most (T + 4)u times its norm, on both sides.
//!
//! Printed, β lacks 1/Ψ: at Ψ = 0.01 the noise is a hundredth of what it must be, and a stream of one
//! coordinate shows it (erratum C1). For use on a table the thesis draws rows with replacement and
//! bounds their repeats by ln T, which fails far more often than stated (C12): here nothing is drawn.
//! The points are within SR/Ψ of 0 by themselves, since (t + 1)‖θₜ₊₁‖ ≤ t‖θₜ‖ + SR/Ψ: no ball is needed.
//!
//! - Ψ = λ/n, λ `ridge` of the sum form; K `passes`; `weights`: linear or even
//! - K classes are one against the rest, all side by side: √K·Δ.
//! - Replace-one records only: an added row moves every later one.
//! - Tested by `tests/all/averaged.rs`.

use super::Decision;
use super::{gd, ridge as rule};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores};
use crate::linear::model::LinearWeights;
use crate::linear::problems;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::covers::{Coverage, MethodCoverage, TableAccess};
use crate::release::registry::Info;
use crate::release::request::{Calibration, RIDGE};
use crate::release::settings::{PlanNumbers, settings};
use crate::release::support::Support;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use crate::release::weight_noise::WeightNoise;
use crate::streams::base::{self, Ball};
use privet_core::Range;
use privet_data::Dataset;
use privet_data::matrix::Matrix;
use privet_dp::account::{self, Event};
use privet_dp::gate::{Arithmetic, GateError, Noisy, Private, Session};
use privet_dp::mechanism::Gaussian;
use privet_optim::loss::Loss;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Limits on the number of passes K.
pub const PASSES: Range = Range::from("passes", 1.0, 1_001.0);
/// Upper bound on the number of steps.
const MOST_STEPS: u64 = 1_000_000_000;

/// The reason that it needs a public number of rows.
const PUBLIC_COUNT: Coverage = Coverage::No {
    why: "goes over rows in their order, and one that is added or taken out moves every later one",
    instead: "give neighbours replace-one and no unit, or another method",
};

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "averaged",
    summary: "takes implicit gradient steps over the rows in their order and adds noise to the mean of all \
              points",
    source: "Thakurta 2013, Algorithm 5.4, with its sensitivity put right",
    guarantee: "(ε, δ) in finite arithmetic; no pure ε; replace-one neighbours only",
    settings: Averaged::SETTINGS,
    noisy: "the mean of all points",
    private: true,
    covers: MethodCoverage {
        printed: Coverage::unprinted(
            "has a printed noise that lacks a factor of one over the ridge, and hides nothing",
        ),
        private_count: PUBLIC_COUNT,
        users: PUBLIC_COUNT,
        pure: Coverage::gaussian("give a delta above 0, far below one over the number of rows"),
        needs: TableAccess::Memory,
        ..MethodCoverage::ALL
    },
    more: LearnerFacts { scores: Scores::Clipped, any_storage: true },
};

/// The weights of points in the mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// Weights t + 1.
    #[default]
    Linear,
    /// Equal weights.
    Even,
}

settings! {
    /// Settings of `averaged`.
    #[derive(Copy)]
    pub struct Averaged {
        /// λ of the sum form.
        ridge: f64 = RIDGE_SETTING;
        passes: u32 [PASSES] "how often every row is used; 1 unless given";
        weights: Weights ["linear or even"]
            "how points count in the mean: later ones more, or all the same; linear unless given";
    }
}

/// A walk over the rows and the mean of its points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AveragedWalk {
    /// The number of rows n.
    pub rows: u64,
    /// The number of passes K.
    pub passes: u32,
    /// The weights of points in the mean.
    pub weights: Weights,
    /// Ψ, S, and a ball whose boundary is never reached.
    pub ball: Ball,
}

impl AveragedWalk {
    /// The number of steps T.
    pub fn steps(&self) -> u64 {
        self.rows * u64::from(self.passes)
    }

    /// The sensitivity Δ of the theorem without rounding, R the radius of rows.
    pub fn sensitivity(&self, radius: f64) -> f64 {
        let (n, k, t) = (self.rows as f64, f64::from(self.passes), self.steps() as f64);
        let each = 2.0 * self.ball.slope * radius / self.ball.ridge;
        match self.weights {
            Weights::Linear => each * (k + 1.0) / (k * n + 3.0),
            Weights::Even => {
                let last = harmonic(t + 1.0);
                let parts = (0..self.passes).map(|pass| last - harmonic(f64::from(pass) * n + 1.0));
                // The factor covers the truncated series.
                each / t * parts.sum::<f64>() * (1.0 + 1e-9)
            }
        }
    }

    /// Bound on the effect of rounding on the sensitivity.
    pub fn rounding(&self, radius: f64, columns: usize) -> f64 {
        let t = self.steps() as f64;
        let steps = u32::try_from(self.steps()).unwrap_or(u32::MAX);
        let slack = base::slack(&self.ball, 0.0, radius, columns, steps);
        let of_points = match self.weights {
            Weights::Linear => 2.0 / (t + 3.0),
            Weights::Even => harmonic(t + 1.0) / t,
        };
        slack * of_points + 2.0 * (t + 4.0) * f64::EPSILON * self.ball.radius
    }

    /// The mean of the points. `goes_on` is asked before each pass, and stops the walk if false.
    pub fn mean(
        &self,
        loss: Loss,
        data: &Dataset,
        labels: &[f64],
        mut goes_on: impl FnMut() -> bool,
    ) -> Vec<f64> {
        let columns = data.features.columns();
        let (mut theta, mut sum) = (vec![0.0; columns], vec![0.0; columns]);
        let (mut entries, mut t, mut all) = (Vec::new(), 0.0, 0.0);
        for _ in 0..self.passes {
            if !goes_on() {
                break;
            }
            for (row, label) in labels.iter().enumerate() {
                entries.clear();
                push_entries(&data.features, row, &mut entries);
                t += 1.0;
                let slope = |u: f64| loss.derivative(u, *label);
                base::implicit(
                    &self.ball,
                    &mut theta,
                    &entries,
                    1.0 / (self.ball.ridge * t),
                    slope,
                );
                let weight = match self.weights {
                    Weights::Linear => t + 1.0,
                    Weights::Even => 1.0,
                };
                all += weight;
                sum.iter_mut().zip(&theta).for_each(|(sum, theta)| *sum += weight * theta);
            }
        }
        let all = f64::max(all, 1.0);
        sum.iter_mut().for_each(|sum| *sum /= all);
        sum
    }
}

/// The harmonic number H_m for integers m ≥ 1: summed below 100, by its asymptotic series above.
fn harmonic(m: f64) -> f64 {
    if m < 100.0 {
        return (1..=m as u32).map(|k| 1.0 / f64::from(k)).sum();
    }
    m.ln() + 0.577_215_664_901_532_9 + 1.0 / (2.0 * m) - 1.0 / (12.0 * m * m)
}

fn push_entries(features: &Matrix, row: usize, into: &mut Vec<(usize, f64)>) {
    match features {
        Matrix::Dense(dense) => {
            let entries = dense.row(row).iter().enumerate();
            into.extend(entries.filter(|(_, x)| **x != 0.0).map(|(c, x)| (c, f64::from(*x))));
        }
        Matrix::Csr(csr) => {
            let (columns, values) = csr.row(row);
            let entries = columns.iter().zip(values).filter(|(_, x)| **x != 0.0);
            into.extend(entries.map(|(c, x)| (*c as usize, f64::from(*x))));
        }
    }
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    _calibration: Calibration,
    options: &Averaged,
) -> Result<Decision, LearnError> {
    let passes = PASSES.check(f64::from(options.passes.unwrap_or(1)))? as u32;
    let weights = options.weights.unwrap_or_default();
    let slope = gd::separate_slope(facts);
    let together = f64::from(facts.problems).sqrt();
    let mu = account::gaussian::mu(budget.epsilon(), budget.delta());
    let k = f64::from(passes);
    let per_ridge = 2.0 * slope * facts.radius * (k + 1.0) / k * together / mu;
    let ridge = RIDGE.check(options.ridge.unwrap_or_else(|| rule::for_output(facts, per_ridge)))?;
    let each = ridge / facts.rows as f64;
    let ball = Ball { radius: 1.01 * slope * facts.radius / each, ridge: each, slope };
    let walk = AveragedWalk { rows: facts.rows, passes, weights, ball };
    let moved = walk.sensitivity(facts.radius);
    let rounding = walk.rounding(facts.radius, facts.columns);
    let fits = walk.steps() <= MOST_STEPS && moved.is_finite() && rounding <= 0.5 * moved;
    if !(fits && ball.radius.is_finite()) {
        return Err(LearnError::NotCovered {
            what: format!("the rounding of {} steps cannot be bounded", walk.steps()),
            instead: "give fewer passes or a larger ridge, or method output",
        });
    }
    let gaussian = |noise_scale| Gaussian {
        neighbours: facts.neighbours,
        unit: facts.unit,
        sensitivity: (moved + rounding) * together * (1.0 + 32.0 * f64::EPSILON),
        noise_scale,
        coordinates: facts.columns * facts.problems as usize,
    };
    let scale = budget.least_scale(moved * together / mu, |scale| gaussian(scale).event())?;
    Ok(Decision {
        procedure: Arc::new(Averaging { walk, gaussian: gaussian(scale), columns: facts.columns }),
        settled: Method::Averaged(Averaged {
            ridge: Some(ridge),
            passes: Some(passes),
            weights: Some(weights),
        }),
        arithmetic: Arithmetic::Finite,
        notes: vec![],
    })
}

/// The procedure: passes over the rows, noise on the mean of the points.
#[derive(Debug, Clone)]
struct Averaging {
    walk: AveragedWalk,
    gaussian: Gaussian,
    columns: usize,
}

impl Procedure<super::Erm> for Averaging {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.gaussian.event()?)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("ridge", self.walk.ball.ridge * self.walk.rows as f64),
            ("passes", f64::from(self.walk.passes)),
            ("weight_noise", self.gaussian.noise_scale),
        ])
    }

    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        Support::gaussian(self.gaussian.noise_scale).refuses(&found.weights)
    }

    fn weight_noise(&self, _facts: &Facts) -> Option<f64> {
        Some(self.gaussian.noise_scale)
    }

    fn weight_laws(&self, _facts: &Facts, _found: &LinearWeights) -> Option<WeightNoise> {
        Some(WeightNoise::exactly(self.gaussian.noise_scale))
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<LinearWeights>, LearnError> {
        let data = admit::in_memory(table, INFO.name, "rows in their order")?;
        let watch = StepWatch::new(monitor);
        let mut means = Vec::with_capacity(self.gaussian.coordinates);
        for problem in 0..facts.problems {
            let labels = problems::labels(facts, data, problem)?;
            if labels.len() != data.features.rows() {
                return Err(GateError::Malformed.into());
            }
            means.extend(self.walk.mean(facts.loss, data, &labels, || watch.step()));
        }
        watch.went_on()?;
        let noisy = self.gaussian.run(Private::new(means), session)?;
        Ok(noisy.rows_of(self.columns).map(LinearWeights::of))
    }
}
