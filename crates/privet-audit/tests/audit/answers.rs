//! Answers by nearby records: both relations, records and users.
//!
//! The seeds are fixed; confidence and power are those of `counts`.

use privet_audit::Claim;
use privet_audit::answers::{QUESTIONS, Setting, audit, audit_against};
use privet_audit::attack::{self, AttackOptions};
use privet_audit::printed::Shift;
use privet_core::Budget;

/// Refuted at half their ε, not refuted at it, and most of it is visible: the pairs are sharp.
#[test]
fn answers_are_as_private_as_claimed_and_hardly_more() {
    let options = AttackOptions { runs: 20_000, confidence: 1.0 - 1e-10, seed: 43 };
    for setting in Setting::all(4.0, 1e-5).unwrap() {
        let sound = audit(&setting, &options, &()).unwrap();
        assert!(!sound.refuted, "{setting:?}: {sound:?}");
        assert!(sound.epsilon_lower_gaussian.unwrap() > 2.2, "{setting:?}: {sound:?}");
        let half = Budget::new(2.0, 1e-5).unwrap();
        let bold = audit_against(&setting, half, &options, &()).unwrap();
        assert!(bold.refuted, "{setting:?}: {bold:?}");
    }
}

/// Without the filter a record near every query would vote in each, under noise calibrated for two.
#[test]
fn without_the_filter_the_claim_is_refuted() {
    let setting = Setting::all(4.0, 1e-5).unwrap().pop().unwrap();
    let plan = setting.make_plan(setting.budget).unwrap();
    let noise = plan.settings().get("vote_noise").unwrap();
    let claim = Claim::certified(plan.guarantee().unwrap(), plan.events().unwrap()).unwrap();
    let target = Shift::gaussian(vec![1.0; QUESTIONS], noise).unwrap();
    let options = AttackOptions { runs: 20_000, confidence: 1.0 - 1e-10, seed: 44 };
    assert!(attack::audit(&target, &claim, &options, &()).unwrap().refuted);
}
