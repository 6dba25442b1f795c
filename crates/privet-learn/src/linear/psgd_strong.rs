//! Permutation descent with a ridge: the steps contract, and old differences fade.
//!
//! After Wu et al. 2017, Algorithm 2; Thakkar 2019, Algorithm 3.
//!
//! **Theorem.** Let ℓ be convex with ℓ″ ≤ c, β = cR², ξ = λ/n > 0 and
//! η_t = min{1/(β + ξ), 1/(ξt)}, **t counting updates**, in θ ← θ − η_t(mean gradient of the batch + ξθ).
//! The result of T passes over N batches of k slots moves by at most the Δ of [`super::permutation`]
//! with W ≤ T·min{1/(β + ξ), 1/(ξTN)}; for one problem **2mSR/(ξkN)** ≈ 2mSR/λ and a charge for rounding.
//!
//! *Proof.* r_t = 1 − η_tξ, and η_tβ ≤ 2r_t because η_t(β + 2ξ) ≤ (β + 2ξ)/(β + ξ) ≤ 2. Let
//! w_t = η_tΠ_{s>t} r_s. While η = 1/(β + ξ), w_t = r·w_{t+1} ≤ w_{t+1}. Once η_t = 1/(ξt), r_s = 1 − 1/s and
//! the product telescopes: w_t = (1/ξt)·(t/TN) = 1/(ξTN). At the change, with t₁ ≥ (β + ξ)/ξ the first
//! update of the second kind, w_{t₁−1} = (t₁ − 1)/((β + ξ)TN) < 1/(ξTN). If the second kind never
//! comes, w_t ≤ 1/(β + ξ) < 1/(ξTN). So no update weighs more than the minimum stated. ∎
//!
//! The ridge's own gradient ξθ does not depend on records: S, and not S + ξ‖θ‖, counts, and no
//! projection is needed. (In print the Lipschitz constant of the regularised loss is used, which needs
//! one.) The noise is that of output perturbation, without a minimiser to be proved; but θ is not the
//! minimiser until TN is well above β/ξ.
//!
//! - λ `ridge`, of the sum form; by default as for [`super::output`]. k: so that N is about 4(β + ξ)/ξ.
//! - Departs from print: there t counts passes, for which the stated 2Δ/(ξm) is wrong by up to two
//!   orders of magnitude (PRIV-12). `Printed` keeps the noise σ = √(2 ln(2/δ))·2LR/(ξnε), S = L, and counts
//!   updates; the certificate claims what the exact curve proves for Δ.
//! - Tested by `tests/all/permutation.rs`.

use super::Decision;
use super::permutation::{
    PermutationWalk, Rates, check_table, checked_batch, checked_passes, printed_factor,
};
use super::psgd::{self, BATCH_SETTING, PASSES_SETTING};
use super::ridge as rule;
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores};
use crate::release::allowance::Allowance;
use crate::release::registry::{FINITE_ARITHMETIC, Info};
use crate::release::request::{Calibration, RIDGE};
use crate::release::settings::settings;
use privet_dp::account;
use privet_dp::gate::Arithmetic;
use std::sync::Arc;

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "psgd-strong",
    summary: "passes over the records in a secret random order with a ridge and falling rates, and \
              adds noise to the result",
    source: "Wu et al. 2017; Thakkar 2019, Algorithm 3",
    guarantee: FINITE_ARITHMETIC,
    settings: PsgdStrong::SETTINGS,
    noisy: "the weights that the last pass ends at",
    private: true,
    covers: psgd::COVERS,
    more: LearnerFacts { scores: Scores::Clipped, any_storage: true },
};

settings! {
    /// Settings of `psgd-strong`.
    #[derive(Copy)]
    pub struct PsgdStrong {
        passes: u32 = PASSES_SETTING;
        batch: u64 = BATCH_SETTING;
        /// λ of the sum form.
        ridge: f64 = RIDGE_SETTING;
    }
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    calibration: Calibration,
    options: &PsgdStrong,
) -> Result<Decision, LearnError> {
    let slope = check_table(facts, calibration, INFO.name)?;
    let (rows, smoothness) = (facts.rows as f64, facts.loss.smoothness(facts.radius));
    let mu = account::gaussian::mu(budget.epsilon(), budget.delta());
    let shift = 2.0 * f64::from(facts.unit.records()) * slope * facts.radius;
    let per_ridge = shift * f64::from(facts.problems).sqrt() / mu;
    let chosen = || rule::for_output(facts, per_ridge);
    let ridge = RIDGE.check(options.ridge.unwrap_or_else(chosen))?;
    let mean = ridge / rows;
    let passes = checked_passes(options.passes)?;
    let batch = checked_batch(facts, options.batch, rows * mean / (4.0 * (smoothness + mean)))?;
    let rates = Rates::Strong { smoothness, ridge: mean };
    let walk = PermutationWalk { rates, passes, batch, slope };
    let printed = (calibration == Calibration::Printed)
        .then(|| printed_factor(facts, budget) * 2.0 * facts.gradient_bound() / ridge);
    let procedure = walk.with_least_noise(facts, budget, printed)?;
    Ok(Decision {
        procedure: Arc::new(procedure),
        settled: Method::PsgdStrong(PsgdStrong {
            passes: Some(passes),
            batch: Some(batch),
            ridge: Some(ridge),
        }),
        arithmetic: Arithmetic::Finite,
        notes: vec![],
    })
}
