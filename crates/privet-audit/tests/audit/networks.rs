//! Trained networks: every method, both relations, attacked by a planted record and from a single run.
//!
//! The seeds are fixed. At a confidence of 1 − 10⁻¹⁰ another seed would refute one of the true claims with
//! probability below 10⁻⁸.

use privet_audit::attack::AttackOptions;
use privet_audit::networks::{Subject, audit, audit_against, one_run};
use privet_core::Budget;

#[test]
fn networks_are_as_private_as_claimed() {
    let options = AttackOptions { runs: 1_000, confidence: 1.0 - 1e-10, seed: 47 };
    let mut refuted = 0;
    for subject in Subject::all(4.0, 1e-5).unwrap() {
        let sound = audit(&subject, &options, &()).unwrap();
        assert!(!sound.refuted, "{subject:?}: {sound:?}");
        // The attack is sharp: a quarter of the ε of the plainest is refuted.
        if ["dp-gd", "dp-sgd"].contains(&subject.method.info().name) {
            let less = Budget::new(1.0, subject.budget.delta()).unwrap();
            let bold = audit_against(&subject, less, &options, &()).unwrap();
            refuted += u32::from(bold.refuted);
            assert!(bold.refuted, "{subject:?}: {bold:?}");
        }
    }
    assert_eq!(refuted, 5);
}

#[test]
fn one_run_refutes_no_true_claim() {
    for subject in Subject::all(8.0, 1e-5).unwrap() {
        let found = one_run(&subject, 400, 1.0 - 1e-10, 5).unwrap();
        assert!(!found.refuted, "{subject:?}: {found:?}");
        if subject.method.info().name == "dp-gd" {
            assert!(found.epsilon_lower > 0.2, "{subject:?}: {found:?}");
        }
    }
}
