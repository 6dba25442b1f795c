//! Private estimates beside a model: outlines of tables for schemas, curvature for intervals.
//!
//! The seeds are fixed. At a confidence of 1 − 10⁻¹⁰ another seed would refute one of the ten true
//! claims with probability at most 10⁻⁹.

use privet_audit::attack::AttackOptions;
use privet_audit::{curvatures, outlines};
use privet_core::Budget;

const CONFIDENCE: f64 = 1.0 - 1e-10;

/// Never refuted as claimed; refuted at half of ε, or at a quarter of δ if texts are one unit's alone.
#[test]
fn outlines_are_as_private_as_claimed_and_hardly_more() {
    let options = AttackOptions { runs: 8_000, confidence: CONFIDENCE, seed: 47 };
    for setting in outlines::Setting::all(4.0, 1e-5, (1.0, 0.4)).unwrap() {
        let sound = outlines::audit(&setting, &options, &()).unwrap();
        assert!(!sound.refuted, "{setting:?}: {sound:?}");
        let (epsilon, delta) = (setting.budget.epsilon(), setting.budget.delta());
        let less = match setting.alone {
            true => Budget::new(epsilon, delta / 4.0),
            false => Budget::new(epsilon / 2.0, delta),
        };
        let bold = outlines::audit_against(&setting, less.unwrap(), &options, &()).unwrap();
        assert!(bold.refuted, "{setting:?}: {bold:?}");
    }
}

/// Curvature against its own event: refuted by the event of a model at a quarter of ε.
#[test]
fn curvature_is_as_private_as_its_event_claims_and_hardly_more() {
    let options = AttackOptions { runs: 6_000, confidence: CONFIDENCE, seed: 53 };
    for setting in curvatures::Setting::all(60.0, 1e-5).unwrap() {
        let sound = curvatures::audit(&setting, &options, &()).unwrap();
        assert!(!sound.refuted, "{setting:?}: {sound:?}");
        let less = Budget::new(setting.budget.epsilon() / 4.0, setting.budget.delta()).unwrap();
        let bold = curvatures::audit_against(&setting, less, &options, &()).unwrap();
        assert!(bold.refuted, "{setting:?}: {bold:?}");
    }
}
