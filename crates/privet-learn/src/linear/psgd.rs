//! Permutation descent: passes over the records in a secret order, noise on the result alone.
//!
//! After Wu, Li, Kumar, Chaudhuri, Jha & Naughton, SIGMOD 2017, Algorithm 1; Thakkar 2019, Algorithm 2.
//!
//! **Theorem.** Let ℓ be convex with ℓ″ ≤ c, β = cR², and **η_t ≤ 2/β**. The result of T passes moves by
//! at most the Δ of [`super::permutation`] with r = 1. For a constant step size and one problem that is
//! **2mTηSR/k** and a charge for rounding; for step sizes that fall, 2mSR/k times the sum of the step
//! sizes of each pass's first update. *Proof.* η_t·cR² ≤ 2 makes every update non-expansive; the rest is
//! there. ∎
//!
//! Without η ≤ 2/β the steps can drive two points apart, and the theorem is false (PRIV-9): such a step
//! size is refused when planning.
//!
//! | `schedule` | η_t | offset o |
//! |---|---|---|
//! | `constant` | η | |
//! | `decreasing` | 2/(β(t + o)) | 2/(βη) − 1, so that η₁ = η |
//! | `square-root` | 2/(β(√t + o)) | the same |
//!
//! **Length of the descent.** Δ/σ = μ gives σ = 2SRτ/(nμ) for a constant step size and a time τ = TNη:
//! neither T nor k has an influence. That noise costs ½σ²·tr H, the remaining bias B²/(2τ); balanced,
//! τ = (B²/(2s²·tr H))^⅓ with s = 2√K·SR/(nμ), the formula of [`super::gd`] without its second part,
//! since noise that is added at the end does not settle. T = [`DEFAULT_PASSES`], k so that η is about
//! 1/(2β), and η so that the time is τ, at most 1/β.
//!
//! - η `rate`, of the mean form; k `batch`; T `passes`; tr H ≤ KcR²; B as there
//! - `Printed`: σ = √(2 ln(2/δ))·2TηLR/(kε) (of falling step sizes, the sum), S = L, the budget split
//!   evenly between problems; the certificate claims what the exact curve proves for Δ.
//! - Tested by `tests/all/permutation.rs`.

use super::Decision;
use super::permutation::{
    BATCH, DEFAULT_PASSES, PASSES, PermutationWalk, RATE, Rates, check_table, checked_batch,
    checked_passes, printed_factor,
};
use super::predicted;
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, Scores};
use crate::release::allowance::Allowance;
use crate::release::covers::{Coverage, MethodCoverage, TableAccess};
use crate::release::registry::{FINITE_ARITHMETIC, Info};
use crate::release::request::Calibration;
use crate::release::settings::{SettingInfo, settings};
use privet_dp::account;
use privet_dp::gate::Arithmetic;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The setting `passes`, for both permutation methods.
pub(super) const PASSES_SETTING: SettingInfo =
    SettingInfo::integer(PASSES, "passes over the records; 10 unless given");

/// The setting `batch`, for both permutation methods.
pub(super) const BATCH_SETTING: SettingInfo =
    SettingInfo::integer(BATCH, "rows of a batch; chosen from public facts unless given")
        .with_limit("at most the number of rows");

/// Cases that both learners of this theorem cover.
pub(super) const COVERS: MethodCoverage = MethodCoverage {
    pure: Coverage::gaussian("give a delta above 0, or method amp, objective or output"),
    needs: TableAccess::Memory,
    ..MethodCoverage::ALL
};

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "psgd",
    summary: "passes over the records in a secret random order, batch by batch, and adds noise to the \
              result",
    source: "Wu et al. 2017; Thakkar 2019, Algorithm 2",
    guarantee: FINITE_ARITHMETIC,
    settings: Psgd::SETTINGS,
    noisy: "the weights that the last pass ends at",
    private: true,
    covers: COVERS,
    more: LearnerFacts { scores: Scores::Clipped, any_storage: true },
};

settings! {
    /// Settings of `psgd`.
    #[derive(Copy)]
    pub struct Psgd {
        passes: u32 = PASSES_SETTING;
        batch: u64 = BATCH_SETTING;
        rate: f64 [RATE]
            "first rate of the mean gradient; chosen from public facts unless given",
            also "at most 2/β, β the smoothness of the loss";
        schedule: Schedule ["constant, decreasing or square-root"]
            "how rates go on; constant unless given";
    }
}

/// The course of step sizes after the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// Constant.
    #[default]
    Constant,
    /// Falling as 1/t.
    Decreasing,
    /// Falling as 1/√t.
    SquareRoot,
}

impl Schedule {
    /// The step sizes that begin with `first`, which is at most 2/β.
    pub fn rates(self, smoothness: f64, first: f64) -> Rates {
        let offset = (2.0 / (smoothness * first) - 1.0).max(0.0);
        match self {
            Self::Constant => Rates::Constant(first),
            Self::Decreasing => Rates::Decreasing { smoothness, offset },
            Self::SquareRoot => Rates::SquareRoot { smoothness, offset },
        }
    }
}

/// The time τ of the rule.
fn time(facts: &Facts, budget: &Allowance<'_>, slope: f64) -> f64 {
    let mu = account::gaussian::mu(budget.epsilon(), budget.delta());
    let problems = f64::from(facts.problems);
    let records = f64::from(facts.unit.records());
    let noise = 2.0 * records * problems.sqrt() * slope * facts.radius / (facts.rows as f64 * mu);
    predicted::walking_time(facts, noise, problems * facts.loss.smoothness(facts.radius))
}

/// The first step size at which the time is `time`, at most 1/β.
fn first_rate(schedule: Schedule, smoothness: f64, updates: f64, time: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0 / smoothness);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if schedule.rates(smoothness, middle).time(updates) < time {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    calibration: Calibration,
    options: &Psgd,
) -> Result<Decision, LearnError> {
    let slope = check_table(facts, calibration, INFO.name)?;
    let smoothness = facts.loss.smoothness(facts.radius);
    let schedule = options.schedule.unwrap_or_default();
    let time = time(facts, budget, slope);
    let passes = checked_passes(options.passes)?;
    let wanted = facts.rows as f64 * f64::from(DEFAULT_PASSES) / (2.0 * smoothness * time);
    let batch = checked_batch(facts, options.batch, wanted)?;
    let updates = f64::from(passes) * (facts.rows / batch) as f64;
    let rate = match options.rate {
        Some(rate) => RATE.check(rate)?,
        None => first_rate(schedule, smoothness, updates, time),
    };
    let most = 2.0 / smoothness;
    if rate > most {
        return Err(LearnError::NotCovered {
            what: format!(
                "rate = {rate}: steps keep two models from drifting apart only for rates of at most \
                 2/β = {most}, β = {smoothness} the smoothness of the {} loss on rows of length {}",
                facts.loss.name(),
                facts.radius,
            ),
            instead: "give a smaller rate or a smaller clipping radius, or leave the rate out",
        });
    }
    let walk = PermutationWalk { rates: schedule.rates(smoothness, rate), passes, batch, slope };
    let printed = (calibration == Calibration::Printed).then(|| {
        let moved = 2.0 * facts.gradient_bound() / batch as f64;
        printed_factor(facts, budget) * moved * walk.printed_weight(facts)
    });
    let procedure = walk.with_least_noise(facts, budget, printed)?;
    Ok(Decision {
        procedure: Arc::new(procedure),
        settled: Method::Psgd(Psgd {
            passes: Some(passes),
            batch: Some(batch),
            rate: Some(rate),
            schedule: Some(schedule),
        }),
        arithmetic: Arithmetic::Finite,
        notes: vec![],
    })
}
