//! Trained networks: every method, both relations, attacked by a planted record and from a single run.
//!
//! The seeds are fixed. At a confidence of 1 − 10⁻¹⁰ another seed would refute one of the true claims with
//! probability below 10⁻⁸.

use privet_audit::attack::AttackOptions;
use privet_audit::networks::{Subject, audit, one_run};
use privet_core::Neighbours;

#[test]
fn networks_are_as_private_as_claimed() {
    let options = AttackOptions { runs: 1_000, confidence: 1.0 - 1e-10, seed: 47 };
    for subject in Subject::all(4.0, 1e-5).unwrap() {
        let sound = audit(&subject, &options, &()).unwrap();
        assert!(!sound.refuted, "{subject:?}: {sound:?}");
    }
}

#[test]
fn one_run_refutes_no_true_claim() {
    for subject in Subject::all(8.0, 1e-5).unwrap() {
        let found = one_run(&subject, 400, 1.0 - 1e-10, 5).unwrap();
        assert!(!found.refuted, "{subject:?}: {found:?}");
        // The guesses are good ones where no other record's sampling is in the way.
        if subject.method.info().name == "dp-gd" && subject.neighbours == Neighbours::ReplaceOne {
            assert!(found.right >= 80, "{subject:?}: {found:?}");
        }
    }
}
