//! What ε and δ mean as an attacker's odds.
//!
//! Somebody wants to tell whether a record is in the table (or which of two records is), knows everything else, and
//! accuses falsely with probability α at most. For every (ε, δ) that holds, the share of true accusations is at most
//! min(e^ε·α + δ, 1 − e^(−ε)(1 − δ − α)) (Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015); of several pairs the
//! least counts.

use privet_dp::account::{self, Event};

/// False accusations for which the odds are told.
pub const FALSE_RATES: [f64; 5] = [0.001, 0.01, 0.05, 0.1, 0.5];

/// The largest share of true accusations at a rate of false ones.
pub fn true_rate(pairs: &[(f64, f64)], false_rate: f64) -> f64 {
    let bound = |(epsilon, delta): &(f64, f64)| {
        let power = epsilon.exp();
        let one = power * false_rate + delta;
        let other = 1.0 - (1.0 - delta - false_rate) / power;
        if one.is_nan() { 1.0 } else { one.min(other) }
    };
    pairs.iter().map(bound).fold(1.0_f64, f64::min).clamp(false_rate.min(1.0), 1.0)
}

/// How often the best guess between two equally likely worlds is right.
pub fn best_guess(pairs: &[(f64, f64)]) -> f64 {
    let right = |(epsilon, delta): &(f64, f64)| {
        let power = epsilon.min(700.0).exp();
        (power + delta) / (1.0 + power)
    };
    pairs.iter().map(right).fold(1.0, f64::min)
}

/// What a suspicion of this probability can grow to, give or take δ.
pub fn suspicion(epsilon: f64, prior: f64) -> f64 {
    let grown = prior * epsilon.min(700.0).exp();
    grown / (grown + 1.0 - prior)
}

/// Points (ε, δ(ε)) of a curve up to a largest ε, where the accountant finds one; the claim among them.
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
        assert!((suspicion(3_f64.ln(), 0.5) - 0.75).abs() < 1e-12);
        // Nothing is revealed by nothing, and no more than everything by anything.
        assert_eq!(true_rate(&[(0.0, 0.0)], 0.1), 0.1);
        assert_eq!(true_rate(&[(800.0, 0.5)], 0.1), 1.0);
        // Of several pairs the least counts.
        assert!(true_rate(&[(3_f64.ln(), 0.0), (0.0, 0.01)], 0.05) < 0.061);
    }
}
