//! Private descriptions: both laws, both relations, records and users.
//!
//! The seeds are fixed. At a confidence of 1 − 10⁻¹⁰ another seed would refute one of the eight true
//! claims with probability below 10⁻⁹.

use privet_audit::attack::AttackOptions;
use privet_audit::descriptions::{Setting, audit, audit_against};
use privet_core::{Budget, Neighbours};

/// Never refuted at their ε. If one unit moves all sums by their whole sensitivity, refuted at half of
/// ε, and at a quarter for δ = 0: Laplace noise on many sums shows its whole ε in rare events alone.
#[test]
fn descriptions_are_as_private_as_claimed_and_hardly_more() {
    let options = AttackOptions { runs: 12_000, confidence: 1.0 - 1e-10, seed: 43 };
    for setting in Setting::all(4.0, 1e-5).unwrap() {
        let sound = audit(&setting, &options, &()).unwrap();
        assert!(!sound.refuted, "{setting:?}: {sound:?}");
        if setting.neighbours == Neighbours::AddRemove {
            let stated = if setting.budget.is_pure() { 1.0 } else { 2.0 };
            let less = Budget::new(stated, setting.budget.delta()).unwrap();
            let bold = audit_against(&setting, less, &options, &()).unwrap();
            assert!(bold.refuted, "{setting:?}: {bold:?}");
        }
    }
}
