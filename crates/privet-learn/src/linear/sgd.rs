//! Noisy gradient descent on a random sample of the records at each step.
//!
//! After Bassily, Smith & Thakurta 2014 and Abadi et al. 2016; Thakkar 2019, Algorithm 4.
//!
//! **Theorem.** Let each record's gradient have norm at most G at every θ ([`super::gd`]: table of S and
//! G) and let the unit be one record. T steps, each from the sum over a fresh secret sample of the
//! records plus N(0, σ²I), cost T sampled Gaussian releases of contribution G
//! ([`privet_dp::mechanism::SampledGaussian`]). *Proof.* There. Sums are exact integers, whose rounding
//! to the noise's grid is charged; step sizes, momentum, ridge and averaging read public numbers and
//! noisy sums alone. Sums are divided by the *expected* size of a sample, a public number. ∎
//!
//! | `sampling` | sample | relations |
//! |---|---|---|
//! | `poisson` (default) | each record with probability q = batch/n | both |
//! | `without-replacement` | `batch` of the n records | replace-one: the number of rows is public |
//!
//! Poisson is the default under replace-one too: its pair loses 4q²·sinh(μ²) to second order, less than
//! q²(e^{4μ²} − 1) of the other, μ = G/σ.
//!
//! A unit of several records is refused: sampling *records* includes a group with a probability that is
//! not q, and the theorems of the accountant are for one record.
//!
//! **Batch and steps.** With s = Δ/(μn) as in [`super::gd`], a time τ gathers a variance of ps²τ² from
//! the noise, for any T and q, while amplification is nearly free; that is, while the noise multiplier
//! σ/G ≈ Ew/√T is above [`MULTIPLIER`], E = qT the epochs and w = Δ/(μG). Hence T = 200w within
//! [`STEPS_TAKEN`] and E = 20, or more where w is so small that the multiplier would not be reached,
//! within [`EPOCHS`]. Both depend on budget and relation alone, so that a sample is a fixed share of the
//! rows. Sampling gathers a variance of at most G²τ²/(En): the time τ is that of [`super::gd`]'s balance
//! for a noise of √(s² + G²/(pEn)). With momentum m = 0.9 and the mean of the last half of the points
//! the step size is (1 − m)τ/(¾T), at most 1/β.
//!
//! - `Printed`: σ² = 16(LR)²T·ln(1/δ)/(nε)² on the *mean* gradient, S = L, one against the rest with an
//!   evenly split budget, k = 50 and T = 1000 unless given. There samples are drawn *with* replacement;
//!   here they are `poisson` or `without-replacement`, which the accountant knows. The formula's
//!   conditions (ε < c₁q²T, σk/LR ≥ 1) are not in print and often fail (PRIV-13): the certificate claims
//!   what the accountant proves.
//! - δ = 0 is refused: Gaussian noise has no finite ε there. So is q ≥ 1: that is [`super::gd`]. So are
//!   ε > 100 and δ > 0.1, which promise next to nothing and take long to account for, as do δ < 10⁻³⁰.
//!   For the same reason σ/G is at least [`LEAST_MULTIPLIER`].
//! - Tested by `tests/all/sampled.rs`.

use super::Decision;
use super::descent::{Descent, Schedule, Start};
use super::gd::{self, BALL_TIMES_RADIUS, Query, SAFE_RADII};
use super::permutation::{BATCH, RATE};
use super::{calibrated, evenly_split, predicted};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores};
use crate::linear::model::LinearWeights;
use crate::release::allowance::Allowance;
use crate::release::ask::ask;
use crate::release::covers::{Coverage, MethodCoverage};
use crate::release::note::Condition;
use crate::release::registry::Info;
use crate::release::request::{Calibration, RIDGE, STEPS};
use crate::release::settings::PlanNumbers;
use crate::release::settings::settings;
use crate::release::support::Support;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use privet_dp::account::{self, Event};
use privet_dp::gate::{Arithmetic, GateError, Noisy, Private, Session};
use privet_dp::mechanism::{Draw, SampledGaussian};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "sgd",
    summary: "gradient descent, at each step on a fresh secret sample of the records under Gaussian \
              noise; several classes are fitted jointly",
    source: "Bassily et al. 2014; Abadi et al. 2016; Thakkar 2019, Algorithm 4",
    guarantee: "(ε, δ) in finite arithmetic; no pure ε; one record a unit",
    settings: Sgd::SETTINGS,
    noisy: "the sum of the gradients of a sample, at each step",
    private: true,
    covers: MethodCoverage {
        pure: Coverage::gaussian("give a delta above 0, or method amp, objective or output"),
        users: Coverage::No {
            why: "samples records, and amplification by sampling is proved for one record a unit",
            instead: "leave out the unit, or give method gd",
        },
        ..MethodCoverage::ALL
    },
    more: LearnerFacts { scores: Scores::ClippedJoint, any_storage: true },
};

settings! {
    /// Settings of `sgd`.
    #[derive(Copy)]
    pub struct Sgd {
        steps: u32 [STEPS] "noised steps; chosen from public facts unless given";
        batch: u64 [BATCH]
            "expected rows of a sample; chosen from public facts unless given",
            also "below the number of rows";
        rate: f64 [RATE] "rate of the mean gradient; chosen from public facts unless given";
        sampling: Sampling ["poisson, or under replace-one without-replacement"]
            "how samples are drawn; poisson unless given";
        /// λ of the sum form; none unless given.
        ridge: f64 = RIDGE_SETTING.meaning("strength of λ/2·‖θ‖² beside the sum of losses; none unless given");
    }
}

/// The sampling scheme.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// Each record independently.
    #[default]
    Poisson,
    /// A fixed number of records.
    WithoutReplacement,
}

/// Limits on the rule's epochs.
pub const EPOCHS: RangeInclusive<f64> = 20.0..=100.0;
/// Limits on the rule's steps.
pub const STEPS_TAKEN: RangeInclusive<f64> = 200.0..=1000.0;
/// The ratio σ/G that the rule does not go below if possible.
pub const MULTIPLIER: f64 = 2.0;

/// The momentum m.
const MOMENTUM: f64 = 0.9;
/// The ratio of the time with the mean of the last half of the points to the whole time.
const AVERAGED_SHARE: f64 = 0.75;
/// The batch k and steps T of `Printed`.
const PRINTED: (u64, u32) = (50, 1000);
/// The least noise searched, as a fraction of an unsampled descent's.
const FLOOR: f64 = 1e-3;

/// The least σ/G of a plan. If records are hardly ever sampled, less would do; but the privacy losses of
/// the steps would then spread over thousands, and composing them take minutes, a cost that a submitted
/// file could impose on a verifier.
pub const LEAST_MULTIPLIER: f64 = 0.1;
/// The largest ε and δ of a plan, for the same reason.
const LARGEST_EPSILON: f64 = 100.0;
const LARGEST_DELTA: f64 = 0.1;
/// The least δ of a plan.
const LEAST_DELTA: f64 = 1e-30;

/// The steps T and the batch of the rule; `noise` is s.
pub fn sampled_pace(facts: &Facts, noise: f64) -> (u32, u64) {
    let rows = facts.rows as f64;
    let within = |x: f64, range: &RangeInclusive<f64>| x.clamp(*range.start(), *range.end());
    let whole = noise * rows / gd::contribution(facts);
    let steps = within(200.0 * whole, &STEPS_TAKEN).round();
    let epochs = within(MULTIPLIER * steps.sqrt() / whole, &EPOCHS);
    let batch = (epochs * rows / steps).max(16.0).min(rows / 2.0).max(1.0).round();
    (steps as u32, batch as u64)
}

/// The noise s with the variance of sampling.
fn total_noise(facts: &Facts, noise: f64, steps: u32, batch: u64) -> f64 {
    let coordinates = facts.columns as f64 * f64::from(facts.problems);
    let sampled = gd::contribution(facts).powi(2) / (f64::from(steps) * batch as f64);
    (noise * noise + sampled / coordinates).sqrt()
}

/// The step size at which T steps take the time that balances noise and remaining bias, at most 1/β.
fn usual_rate(facts: &Facts, noise: f64, steps: u32) -> f64 {
    let (smoothness, trace) = gd::shape(facts);
    let time = predicted::settling_time(facts, noise, trace);
    ((1.0 - MOMENTUM) * time / (AVERAGED_SHARE * f64::from(steps))).min(1.0 / smoothness)
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    calibration: Calibration,
    options: &Sgd,
) -> Result<Decision, LearnError> {
    check_covered(facts, budget)?;
    let printed = calibration == Calibration::Printed;
    let steps =
        options.steps.map(|steps| STEPS.check(f64::from(steps)).map(|_| steps)).transpose()?;
    let ridge = options.ridge.map(|ridge| RIDGE.check(ridge)).transpose()?.unwrap_or(0.0);
    let rate = options.rate.map(|rate| RATE.check(rate)).transpose()?;
    let batch = options.batch.map(|batch| BATCH.check(batch as f64).map(|_| batch)).transpose()?;
    let mu = account::gaussian::mu(budget.epsilon(), budget.delta());
    let (rows, one_step) = (facts.rows as f64, gd::sensitivity(facts) / mu);
    let (usual_steps, usual_batch) = if printed {
        (PRINTED.1, PRINTED.0.min((facts.rows / 2).max(1)))
    } else {
        sampled_pace(facts, one_step / rows)
    };
    let (steps, batch) = (steps.unwrap_or(usual_steps), batch.unwrap_or(usual_batch));
    let sampling = options.sampling.unwrap_or_default();
    let draw = draw(facts, sampling, batch)?;
    let noise = total_noise(facts, one_step / rows, steps, batch);
    let rate = rate.unwrap_or_else(|| usual_rate(facts, noise, steps));
    let (slope, joint, contribution) = if printed {
        let together = f64::from(facts.problems).sqrt() * (1.0 + 16.0 * f64::EPSILON);
        (facts.shape.lipschitz, false, facts.gradient_bound() * together)
    } else {
        (gd::slope(facts), gd::joint(facts), gd::contribution(facts))
    };
    let sampled = |noise_scale: f64| Sampled {
        sampled: SampledGaussian {
            neighbours: facts.neighbours,
            unit: facts.unit,
            draw,
            contribution,
            noise_scale,
            coordinates: facts.columns * facts.problems as usize,
        },
        columns: facts.columns,
        batch,
        ridge,
        slope,
        joint,
        schedule: Schedule {
            steps,
            rate: rate / batch as f64,
            momentum: MOMENTUM,
            // Of the sum over all records, of which a sample has a fraction.
            ridge: ridge * batch as f64 / rows,
            averaged: steps.div_ceil(2),
            ball: BALL_TIMES_RADIUS / facts.radius,
        },
    };
    let scale = if printed {
        let (epsilon, delta) = evenly_split(facts, budget);
        let variance = 16.0 * f64::from(steps) * (1.0 / delta).ln();
        let scale = variance.sqrt() * facts.gradient_bound() * batch as f64 / (rows * epsilon);
        if scale < LEAST_MULTIPLIER * contribution {
            return Err(LearnError::NotCovered {
                what: format!(
                    "printed noise of {:.1e} times what a record contributes to a step",
                    scale / contribution
                ),
                instead: "give a larger batch, more steps or a smaller epsilon, so that it is 0.1 or \
                          more, or sound calibration",
            });
        }
        scale
    } else {
        // All problems are in one vector, so that nothing is repeated.
        let single = Facts { problems: 1, ..facts.clone() };
        let unsampled = one_step * f64::from(steps).sqrt();
        let floor = (FLOOR * unsampled).max(LEAST_MULTIPLIER * contribution);
        calibrated(&single, budget, floor, |scale| sampled(scale).event())?
    };
    let notes = if printed { vec![PRINTED_NOTE.into()] } else { vec![] };
    Ok(Decision {
        procedure: Arc::new(sampled(scale)),
        settled: Method::Sgd(Sgd {
            steps: Some(steps),
            batch: Some(batch),
            rate: Some(rate),
            sampling: Some(sampling),
            ridge: options.ridge,
        }),
        arithmetic: Arithmetic::Finite,
        notes,
    })
}

/// The note in a certificate with printed constants.
const PRINTED_NOTE: Condition = Condition::new(
    "printed-sampling",
    "printed noise; samples are drawn as the events say, not with replacement as \
     in print, and the claim is the accountant's",
);

/// Refuses budgets whose sampled steps would take long to account for; methods over all records accept
/// them.
pub(crate) fn check_accountable(
    budget: &Allowance<'_>,
    method: &str,
    [smaller, larger]: [&'static str; 2],
) -> Result<(), LearnError> {
    if budget.epsilon() > LARGEST_EPSILON || budget.delta() > LARGEST_DELTA {
        return Err(LearnError::NotCovered {
            what: format!(
                "epsilon = {} at delta = {:e} with method {method}: sampled steps are accounted for up to \
                 epsilon = {LARGEST_EPSILON} and delta = {LARGEST_DELTA}, beyond which next to nothing \
                 is promised",
                budget.epsilon(),
                budget.delta()
            ),
            instead: smaller,
        });
    }
    if budget.delta() > 0.0 && budget.delta() < LEAST_DELTA {
        return Err(LearnError::NotCovered {
            what: format!(
                "delta = {:e} with method {method}: sampled steps are accounted for from delta = \
                 {LEAST_DELTA:e} on",
                budget.delta()
            ),
            instead: larger,
        });
    }
    Ok(())
}

/// Refuses plans that no theorem covers, or that would take long to account for.
fn check_covered(facts: &Facts, budget: &Allowance<'_>) -> Result<(), LearnError> {
    let instead = ["give a smaller budget, or method gd", "give a larger delta, or method gd"];
    check_accountable(budget, "sgd", instead)?;
    if !SAFE_RADII.contains(&facts.radius) {
        return Err(LearnError::NotCovered {
            what: format!("method sgd cannot sum rows of length {:e} exactly", facts.radius),
            instead: "give a clipping radius from 1e-60 to 1e60",
        });
    }
    Ok(())
}

/// The sampler.
fn draw(facts: &Facts, sampling: Sampling, batch: u64) -> Result<Draw, LearnError> {
    if batch >= facts.rows {
        return Err(LearnError::NotCovered {
            what: format!("batch = {batch} of {} rows: a sampling rate of 1 or more", facts.rows),
            instead: "give a batch below the number of rows; method gd takes all of them",
        });
    }
    sampler(facts, sampling, batch)
}

/// The sampler of a batch below the number of rows.
pub(crate) fn sampler(facts: &Facts, sampling: Sampling, batch: u64) -> Result<Draw, LearnError> {
    match sampling {
        Sampling::Poisson => Ok(Draw::Poisson { rate: batch as f64 / facts.rows as f64 }),
        Sampling::WithoutReplacement if facts.relation().count_is_public() => {
            Ok(Draw::WithoutReplacement { population: facts.rows, batch })
        }
        Sampling::WithoutReplacement => Err(LearnError::NotCovered {
            what: format!(
                "samples of a fixed size under {} neighbours with {} as the unit: they need a \
                 public number of records",
                facts.neighbours, facts.unit
            ),
            instead: "give sampling = poisson",
        }),
    }
}

/// The procedure: a descent on samples for all problems at once.
#[derive(Debug, Clone)]
struct Sampled {
    /// The mechanism on each gradient.
    sampled: SampledGaussian,
    /// The parameters of the descent.
    schedule: Schedule,
    columns: usize,
    batch: u64,
    ridge: f64,
    slope: f64,
    joint: bool,
}

impl Sampled {
    fn event(&self) -> Result<Event, GateError> {
        let event = Box::new(self.sampled.event()?);
        Ok(Event::Repeat { count: self.schedule.steps, event })
    }
}

impl Procedure<super::Erm> for Sampled {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(Self::event(self)?)
    }

    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        let support = Support::Ball(self.schedule.ball);
        support.refuses(&found.weights)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("steps", f64::from(self.schedule.steps)),
            ("batch", self.batch as f64),
            ("rate", self.schedule.rate * self.batch as f64),
            ("gradient_noise", self.sampled.noise_scale),
        ])
        .and("ridge", (self.ridge > 0.0).then_some(self.ridge))
    }

    fn predicted_excess(&self, facts: &Facts) -> Option<f64> {
        let (batch, steps) = (self.batch as f64, f64::from(self.schedule.steps));
        let Schedule { rate, momentum, .. } = self.schedule;
        let noise = self.sampled.noise_scale / (batch * steps.sqrt());
        let noise = total_noise(facts, noise, self.schedule.steps, self.batch);
        let time = AVERAGED_SHARE * steps * rate * batch / (1.0 - momentum);
        Some(predicted::descent(facts, noise, time, gd::shape(facts).1))
    }

    fn weight_noise(&self, facts: &Facts) -> Option<f64> {
        let curvature = self.batch as f64 * gd::shape(facts).0;
        let gain = self.schedule.is_stable(curvature).then(|| self.schedule.gain());
        gain.map(|gain| gain * self.sampled.noise_scale)
    }

    fn walk(&self) -> Option<serde_json::Value> {
        let start = Start { schedule: self.schedule, coordinates: self.sampled.coordinates };
        serde_json::to_value(start).ok()
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<LinearWeights>, LearnError> {
        let query = Query::of(facts, self.joint, self.slope);
        // Sums every record once, unsampled and unreleased: one that cannot be summed exactly must be
        // refused now, not when a sample includes it.
        let start = vec![0.0; self.sampled.coordinates];
        query.records(table)?.sums(&query.at(&start)).ok_or(GateError::Malformed)?;
        let watch = StepWatch::new(monitor);
        let noisy = ask::<Descent>(session, &watch, |theta, session| {
            Ok(self.sampled.run(Private::new(table.rows()), session, |sample| {
                let sum = watch.step().then(|| query.ask_some(theta, table, sample)).flatten();
                sum.map(Private::new)
            })?)
        })?;
        Ok(noisy.rows_of(self.columns).map(LinearWeights::of))
    }
}
