//! Tuned models: every law of the number of trials, both relations.
//!
//! The seeds are fixed. At a confidence of 1 − 10⁻¹⁰ another seed would refute one of the six true
//! claims with probability below 10⁻⁹.

use privet_audit::attack::AttackOptions;
use privet_audit::tunings::{Setting, audit, audit_against};
use privet_core::Budget;

/// Not refuted at their ε, and refuted at a twentieth of it: the audit has power.
#[test]
fn tuned_models_are_as_private_as_claimed() {
    let options = AttackOptions { runs: 1_500, confidence: 1.0 - 1e-10, seed: 47 };
    for setting in Setting::all(8.0, 1e-5).unwrap() {
        let sound = audit(&setting, &options, &()).unwrap();
        assert!(!sound.refuted, "{setting:?}: {sound:?}");
        println!("{setting:?}: at least {:.2} of 8 is seen", sound.epsilon_lower);
        let less = Budget::new(0.4, setting.budget.delta()).unwrap();
        let bold = audit_against(&setting, less, &options, &()).unwrap();
        assert!(bold.refuted, "{setting:?}: {bold:?}");
    }
}
