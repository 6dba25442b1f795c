//! The meaning of ε and δ for an attacker.
//!
//! An attacker decides whether a record is in the table (or which of two records is), knows everything
//! else, and accuses falsely with probability at most α. For every (ε, δ) that holds, the probability of
//! a true accusation is at most min(e^ε·α + δ, 1 − e^(−ε)(1 − δ − α)) (Wasserman & Zhou 2010; Kairouz,
//! Oh & Viswanath 2015); of several pairs the least bound counts.
//!
//! The attacker's odds after seeing an outcome are the odds before, times the likelihood ratio e^L of
//! that outcome. δ is no bound on Pr\[L > ε\]: (ε, δ) bounds E\[(1 − e^(ε − L))₊\] ≤ δ, so that by
//! Markov's inequality Pr\[L > ε + ln c\] ≤ δ·c/(c − 1) for every c > 1. So a suspicion grows by more
//! than c·e^ε ([`GROWTH_SLACK`] is the c in use) with probability at most [`growth_probability`]; with δ
//! = 0 never by more than e^ε.

use privet_dp::account::{self, Event};

/// The rates α of false accusations that are reported.
pub const FALSE_RATES: [f64; 5] = [0.001, 0.01, 0.05, 0.1, 0.5];

/// Upper bound on the probability of a true accusation at a rate of false ones.
pub fn true_rate(pairs: &[(f64, f64)], false_rate: f64) -> f64 {
    let bound = |(epsilon, delta): &(f64, f64)| {
        let power = epsilon.exp();
        let one = power * false_rate + delta;
        let other = 1.0 - (1.0 - delta - false_rate) / power;
        if one.is_nan() { 1.0 } else { one.min(other) }
    };
    pairs.iter().map(bound).fold(1.0_f64, f64::min).clamp(false_rate.min(1.0), 1.0)
}

/// Upper bound on the accuracy of the best guess between two equally likely worlds.
pub fn best_guess(pairs: &[(f64, f64)]) -> f64 {
    let right = |(epsilon, delta): &(f64, f64)| {
        let power = epsilon.min(700.0).exp();
        (power + delta) / (1.0 + power)
    };
    pairs.iter().map(right).fold(1.0, f64::min)
}

/// The factor c beyond e^ε by which a suspicion may grow where δ > 0.
pub const GROWTH_SLACK: f64 = 1.1;

/// Upper bound on the posterior of a suspicion with this prior, except with a probability of
/// [`growth_probability`].
pub fn suspicion((epsilon, delta): (f64, f64), prior: f64) -> f64 {
    let slack = if delta == 0.0 { 1.0 } else { GROWTH_SLACK };
    let grown = prior * slack * epsilon.min(700.0).exp();
    grown / (grown + 1.0 - prior)
}

/// Upper bound on the probability that a suspicion grows further.
pub fn growth_probability(delta: f64) -> f64 {
    (delta * GROWTH_SLACK / (GROWTH_SLACK - 1.0)).min(1.0)
}

/// Points (ε, δ(ε)) of a curve up to a largest ε, where the accountant proves one; includes the claim.
pub fn curve(events: Option<&Event>, claim: (f64, f64), points: usize) -> Vec<(f64, f64)> {
    let most = claim.0;
    let mut found: Vec<(f64, f64)> = events
        .map(|events| {
            (0..points)
                .filter_map(|place| {
                    let epsilon = most * place as f64 / points as f64;
                    let delta = account::delta(events, epsilon).ok()?;
                    (delta.is_finite() && delta <= 1.0).then_some((epsilon, delta))
                })
                .collect()
        })
        .unwrap_or_default();
    found.push(claim);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odds_are_those_of_the_theorem() {
        // ε = ln 3, δ = 0: three in four, and 0.05 becomes 0.15.
        let pairs = [(3_f64.ln(), 0.0)];
        assert!((best_guess(&pairs) - 0.75).abs() < 1e-12);
        assert!((true_rate(&pairs, 0.05) - 0.15).abs() < 1e-12);
        assert!((true_rate(&pairs, 0.9) - (1.0 - 0.1 / 3.0)).abs() < 1e-12);
        assert!((suspicion((3_f64.ln(), 0.0), 0.5) - 0.75).abs() < 1e-12);
        assert!((suspicion((3_f64.ln(), 1e-6), 0.5) - 3.3 / 4.3).abs() < 1e-12);
        // At ε = 0 nothing is revealed, and no bound exceeds 1.
        assert_eq!(true_rate(&[(0.0, 0.0)], 0.1), 0.1);
        assert_eq!(true_rate(&[(800.0, 0.5)], 0.1), 1.0);
        // Of several pairs the least bound counts.
        assert!(true_rate(&[(3_f64.ln(), 0.0), (0.0, 0.01)], 0.05) < 0.061);
    }

    /// With Gaussian noise that meets (ε, δ) exactly, the loss exceeds ε far more often than δ, and
    /// ε + ln 1.1 no more often than the bound.
    #[test]
    fn suspicions_grow_further_no_more_often_than_is_told() {
        for (epsilon, delta) in [(1.0, 1e-6), (0.1, 1e-6), (1.0, 2.5e-9), (0.1, 1e-9), (4.0, 1e-5)]
        {
            let mu = account::gaussian::mu(epsilon, delta);
            // L is normal of mean mu²/2 and variance mu².
            let above = |loss: f64| {
                let place = (loss - mu * mu / 2.0) / mu;
                0.5 * libm::erfc(place / std::f64::consts::SQRT_2)
            };
            assert!(above(epsilon) > 5.0 * delta, "{epsilon} {delta}");
            assert!(
                above(epsilon + GROWTH_SLACK.ln()) <= growth_probability(delta),
                "{epsilon} {delta}"
            );
        }
    }
}
