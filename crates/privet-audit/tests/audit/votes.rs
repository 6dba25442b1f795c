//! Labels by votes: every aggregator, at each of its decisions, under both relations.
//!
//! The seeds are fixed. At a confidence of 1 − 10⁻¹¹ another seed would refute one of the twenty true
//! claims with probability 2·10⁻¹⁰ at most. A false one would survive only if the errors on 5,000
//! judging runs were off by more than 7 of their standard deviations (by the exact laws it is 12 or
//! more): below 10⁻¹⁰ for all of them.

use privet_audit::attack::AttackOptions;
use privet_audit::votes::{Setting, audit, audit_against};
use privet_core::Budget;

/// Not refuted at their ε, refuted at a quarter of it.
#[test]
fn labels_are_as_private_as_claimed_and_not_four_times_as_much() {
    let options = AttackOptions { runs: 10_000, confidence: 1.0 - 1e-11, seed: 45 };
    let quarter = Budget::new(2.0, 1e-5).unwrap();
    let mut audited = 0;
    for setting in Setting::all(8.0, 1e-5).unwrap() {
        let sound = audit(&setting, &options, &()).unwrap();
        assert!(!sound.refuted, "{setting:?}: {sound:?}");
        let bold = audit_against(&setting, quarter, &options, &()).unwrap();
        println!(
            "{}, {}, {}: {:.3} {:?}, {:?} by {:?}",
            setting.name(),
            setting.decides,
            setting.neighbours,
            sound.epsilon_lower,
            sound.epsilon_lower_gaussian,
            bold.refuted_by,
            bold.statistic
        );
        assert!(bold.refuted, "{setting:?}: {bold:?}");
        audited += 1;
    }
    assert_eq!(audited, 20);
}
