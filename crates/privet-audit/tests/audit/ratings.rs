//! Completed ratings: every method, both relations, attacked by a planted user.
//!
//! The seeds are fixed. At a confidence of 1 − 10⁻¹⁰ another seed would refute one of the true claims
//! with probability below 10⁻⁹.

use privet_audit::attack::AttackOptions;
use privet_audit::ratings::{Setting, audit, audit_against};
use privet_core::Budget;

#[test]
fn completed_ratings_are_as_private_as_claimed() {
    let options = AttackOptions { runs: 2_000, confidence: 1.0 - 1e-10, seed: 43 };
    let mut audited = 0;
    for setting in Setting::all(4.0, 1e-5).unwrap() {
        let default = setting.method.to_string() == "moments";
        let options = if default { options } else { AttackOptions { runs: 500, ..options } };
        let sound = audit(&setting, &options, &()).unwrap();
        assert!(!sound.refuted, "{setting:?}: {sound:?}");
        // The attack on the default method is strong enough to refute a quarter of its ε.
        if default {
            let less = Budget::new(1.0, setting.budget.delta()).unwrap();
            let bold = audit_against(&setting, less, &options, &()).unwrap();
            assert!(bold.refuted, "{setting:?}: {bold:?}");
        }
        audited += 1;
    }
    assert_eq!(audited, 14);
}
