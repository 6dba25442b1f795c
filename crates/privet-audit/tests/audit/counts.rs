//! Private counts: both laws, both relations, records and users.
//!
//! The seeds are fixed. At a confidence of 1 − 10⁻¹⁰ another seed would refute one of the eight true
//! claims with probability below 10⁻⁹. A false claim would survive, or a lower bound fall short of the
//! required one, only if a bound from 10⁴ judging runs were off by more than 7 of its standard
//! deviations: below 10⁻⁹ for all of them.

use privet_audit::attack::AttackOptions;
use privet_audit::counts::{Setting, audit, audit_against, law};
use privet_core::Budget;
use privet_learn::statistics::count::Law;

/// Refuted at half their ε, not refuted at it, and most of it is visible: the pairs are sharp.
#[test]
fn counts_are_as_private_as_claimed_and_hardly_more() {
    let options = AttackOptions { runs: 20_000, confidence: 1.0 - 1e-10, seed: 41 };
    let mut audited = 0;
    for setting in Setting::all(4.0, 1e-5).unwrap() {
        let sound = audit(&setting, &options, &()).unwrap();
        assert!(!sound.refuted, "{setting:?}: {sound:?}");
        let seen = match law(&setting) {
            Law::Laplace => sound.epsilon_lower,
            Law::Gaussian => sound.epsilon_lower_gaussian.unwrap(),
        };
        assert!(seen > 2.2, "{setting:?}: {sound:?}");
        let half = Budget::new(2.0, setting.budget.delta()).unwrap();
        let bold = audit_against(&setting, half, &options, &()).unwrap();
        assert!(bold.refuted, "{setting:?}: {bold:?}");
        audited += 1;
    }
    assert_eq!(audited, 8);
}
