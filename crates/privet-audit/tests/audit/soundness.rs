//! True claims are not refuted.
//!
//! At confidence 0.999 an audit of a true claim refutes it with probability at most 0.001; the bounds
//! are far from attained together, and over 600 audits none is expected to. The seeds are fixed.
//!
//! This test alone would not detect slightly invalid bounds: at confidence 0.9 a tenth of the audits may
//! refute. More than 50 of 200 would have probability below 1e-9 at a tenth.

use privet_audit::attack::{AttackOptions, audit};
use privet_audit::printed::{Choice, Shift};
use privet_audit::{Claim, Target};
use privet_core::Budget;

fn never_refuted(target: &dyn Target, what: &str) {
    let claim = Claim::stated(Budget::new(1.0, 0.0).unwrap());
    let mut closest = 0.0_f64;
    for seed in 0..200 {
        let options = AttackOptions { runs: 600, confidence: 0.999, seed };
        let finding = audit(target, &claim, &options, &()).unwrap();
        assert!(!finding.refuted, "{what}, seed {seed}: {finding:?}");
        closest = closest.max(finding.epsilon_lower);
    }
    assert!(closest > 0.3, "{what}: no attack at all would pass this test: {closest}");
}

#[test]
fn laplace_is_not_refuted_in_200_audits() {
    never_refuted(&Shift::laplace(vec![1.0], 1.0).unwrap(), "Laplace");
}

#[test]
fn l2_laplace_is_not_refuted_in_200_audits() {
    never_refuted(&Shift::l2_laplace(vec![0.6, 0.8], 1.0).unwrap(), "ℓ2-Laplace");
}

#[test]
fn the_exponential_mechanism_is_not_refuted_in_200_audits() {
    let scores = [vec![0.0; 2], vec![1.0, -1.0]];
    let [first, second] = scores;
    never_refuted(&Choice::new(first, second, 2.0), "exponential");
}

/// The number refuted of 200 audits at confidence 0.9.
fn refuted_at_low_confidence(target: &dyn Target) -> usize {
    let claim = Claim::stated(Budget::new(1.0, 0.0).unwrap());
    let refuted = (0..200).filter(|seed| {
        let options = AttackOptions { runs: 2_000, confidence: 0.9, seed: 1_000 + *seed };
        audit(target, &claim, &options, &()).unwrap().refuted
    });
    refuted.count()
}

#[test]
fn low_confidence_is_kept_too_and_a_mild_excess_would_show() {
    let often = refuted_at_low_confidence(&Shift::laplace(vec![1.0], 1.0).unwrap());
    assert!(often <= 50, "{often} of 200");
    let bold = refuted_at_low_confidence(&Shift::laplace(vec![1.0], 1.0 / 1.4).unwrap());
    assert!(bold > 50, "at ε = 1.4 only {bold} of 200");
}
