//! An audit from a single run (Steinke, Nasr & Jagielski 2023), for learners too slow to run often.
//!
//! m canaries enter the table by independent fair coins; after one run the auditor guesses some of the
//! coins and abstains from the rest.
//!
//! **Theorem** (their Thm 5.2). If the learner is (ε, δ)-DP in each canary, and v of r guesses are
//! right, then with W ~ Binomial(r, e^ε/(1 + e^ε))
//! Pr\[V ≥ v\] ≤ Pr\[W ≥ v\] + 2mδ·max over i = 1 … v of Pr\[v > W ≥ v − i\]/i.
//!
//! The largest ε at which the right-hand side is still at most 1 − confidence is a lower bound on the
//! true one; the p-value grows with ε, so it is found by bisection from below. Under replace-one the
//! theorem holds with "in" and "out" being two values of one row, here two labels.
//!
//! The number of guesses is fixed beforehand: the m/8 highest and m/8 lowest scores. The canaries lie on
//! axes of their own, so one run trains on an m-dimensional table.
//!
//! Tested by `the_bound_is_exact_for_randomised_response`, `tests/audit/learners.rs`.

use crate::claim::CONFIDENCE;
use crate::interval::binomial_cdf;
use crate::learner::Setting;
use crate::pairs::{self, Row};
use crate::{AuditError, learner};
use privet_core::{Neighbours, Range};
use privet_dp::noise::{FixedSeed, Source};
use serde::Serialize;
use std::sync::atomic::AtomicBool;

/// Limits on the number of canaries.
pub const CANARIES: Range = Range::from("canaries", 8.0, 20_000.0);

/// Result of a single run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OneRun {
    /// Name of the method.
    pub method: &'static str,
    /// The claimed ε.
    pub epsilon_claimed: f64,
    /// The claimed δ.
    pub delta: f64,
    /// Lower bound on the true ε.
    pub epsilon_lower: f64,
    /// True if the claim is refuted.
    pub refuted: bool,
    /// The number of canaries.
    pub canaries: u64,
    /// The number of coins guessed.
    pub guesses: u64,
    /// The number of right guesses.
    pub right: u64,
    /// Confidence of the bound.
    pub confidence: f64,
}

/// Upper bound on the probability of `right` or more right guesses of `guesses` if (ε, δ)-DP holds.
pub fn p_value(canaries: u64, guesses: u64, right: u64, epsilon: f64, delta: f64) -> f64 {
    let q = 1.0 / (1.0 + libm::exp(-epsilon));
    // Pr[W ≥ k]
    let at_least = |k: u64| if k == 0 { 1.0 } else { 1.0 - binomial_cdf(k - 1, guesses, q) };
    let tail = at_least(right);
    let rise = |i: u64| (at_least(right - i) - tail) / i as f64;
    let steepest = if delta > 0.0 { (1..=right).map(rise).fold(0.0, f64::max) } else { 0.0 };
    (tail + 2.0 * canaries as f64 * delta * steepest).min(1.0)
}

/// The lower bound on ε at this confidence.
pub fn epsilon_lower(canaries: u64, guesses: u64, right: u64, delta: f64, confidence: f64) -> f64 {
    let excluded = |e: f64| p_value(canaries, guesses, right, e, delta) < 1.0 - confidence;
    if !excluded(0.0) {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 50.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if excluded(middle) { low = middle } else { high = middle }
    }
    low
}

/// Runs a learner once, with `canaries` rows that are each present or absent.
pub fn audit(
    setting: &Setting,
    canaries: u64,
    confidence: f64,
    seed: u64,
) -> Result<OneRun, AuditError> {
    CANARIES.check(canaries as f64)?;
    CONFIDENCE.check(confidence)?;
    let width = canaries as usize;
    let setting = Setting { rows: canaries, ..setting.clone() };
    let method = setting.method.name();
    let plan = learner::first_plan(&setting, width)?;
    let Some(guarantee) = plan.guarantee() else {
        return Err(AuditError::NothingClaimed { method });
    };
    let mut source = FixedSeed::new(crate::runs::scramble(seed));
    let coins: Vec<bool> = (0..width).map(|_| source.bits(1) == 1).collect();
    let rows: Vec<Row> = (0..width)
        .filter(|place| coins[*place] || setting.neighbours == Neighbours::ReplaceOne)
        .map(|place| Row { axis: place, value: 1.0, positive: coins[place] })
        .collect();
    let data = pairs::table(&plan.request().schema, width, &rows)?;
    let (weights, _) = plan.run(&data, &mut source, &AtomicBool::new(false))?.into_parts();
    let first = weights.weights.first().cloned().unwrap_or_default();

    let mut order: Vec<usize> = (0..width.min(first.len())).collect();
    order.sort_by(|a, b| first[*a].total_cmp(&first[*b]));
    let side = (width / 8).max(1);
    let low = order.iter().take(side).filter(|place| !coins[**place]).count();
    let high = order.iter().rev().take(side).filter(|place| coins[**place]).count();
    let (guesses, right) = (2 * side as u64, (low + high) as u64);
    let lower = epsilon_lower(canaries, guesses, right, guarantee.delta, confidence);
    Ok(OneRun {
        method,
        epsilon_claimed: guarantee.epsilon,
        delta: guarantee.delta,
        epsilon_lower: lower,
        refuted: lower > guarantee.epsilon,
        canaries,
        guesses,
        right,
        confidence,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Randomised response attains the theorem with equality at δ = 0. Fixed seed; 300 experiments of a
    /// bound that fails with probability at most 5 %: more than 40 failures have probability below 1e-7
    /// (Chernoff).
    #[test]
    fn the_bound_is_exact_for_randomised_response() {
        let mut source = FixedSeed::new(5);
        let truth = 1.0_f64;
        let q = 1.0 / (1.0 + (-truth).exp());
        let mut failures = 0;
        let mut sum = 0.0;
        for _ in 0..300 {
            let right = (0..400).filter(|_| (source.next_u64() as f64) < q * 2f64.powi(64)).count();
            let bound = epsilon_lower(400, 400, right as u64, 0.0, 0.95);
            failures += usize::from(bound > truth);
            sum += bound;
        }
        assert!(failures <= 40, "{failures} of 300");
        assert!(sum / 300.0 > 0.75, "no power: {}", sum / 300.0);
    }

    #[test]
    fn the_p_value_grows_with_epsilon_and_delta() {
        let mut last = 0.0;
        for epsilon in [0.0, 0.3, 1.0, 2.0, 4.0] {
            let p = p_value(100, 50, 40, epsilon, 0.0);
            assert!(p >= last && p <= p_value(100, 50, 40, epsilon, 1e-3));
            last = p;
        }
        assert_eq!(p_value(100, 50, 0, 0.0, 0.0), 1.0);
        // 10 right of 10 at ε = 0: 2⁻¹⁰.
        assert!((p_value(10, 10, 10, 0.0, 0.0) - 2f64.powi(-10)).abs() < 1e-12);
    }
}
