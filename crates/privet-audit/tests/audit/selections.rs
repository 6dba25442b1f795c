//! Choices of columns: every selector, under every relation that it covers.
//!
//! The seeds are fixed. At a confidence of 1 − 10⁻¹⁰ another seed would refute one of the thirteen true
//! claims with probability below 3·10⁻⁹.

use privet_audit::attack::AttackOptions;
use privet_audit::selections::{Setting, audit, audit_against};
use privet_core::Budget;

/// Not refuted at their ε; refuted at half of it if the pair is sharp.
#[test]
fn choices_are_as_private_as_claimed_and_hardly_more() {
    let options = AttackOptions { runs: 8_000, confidence: 1.0 - 1e-10, seed: 43 };
    let mut audited = 0;
    for setting in Setting::all(4.0, 1e-5).unwrap() {
        let sound = audit(&setting, &options, &()).unwrap();
        assert!(!sound.refuted, "{setting:?}: {sound:?}");
        if setting.sharp {
            let half = Budget::new(2.0, setting.budget.delta()).unwrap();
            let bold = audit_against(&setting, half, &options, &()).unwrap();
            assert!(bold.refuted, "{setting:?}: {bold:?}");
        }
        audited += 1;
    }
    assert_eq!(audited, 13);
}
