//! Labels by votes: every aggregator under both relations.
//!
//! The seeds are fixed. At a confidence of 1 − 10⁻¹⁰ another seed would refute one of the twelve true claims with
//! probability below 2·10⁻⁹.

use privet_audit::attack::AttackOptions;
use privet_audit::votes::{Subject, audit};

#[test]
fn labels_are_as_private_as_claimed() {
    let options = AttackOptions { runs: 4_000, confidence: 1.0 - 1e-10, seed: 45 };
    let mut audited = 0;
    for subject in Subject::all(4.0, 1e-5).unwrap() {
        let sound = audit(&subject, &options, &()).unwrap();
        assert!(!sound.refuted, "{subject:?}: {sound:?}");
        // The attack sees something, so that it could have seen too much.
        let seen = sound.epsilon_lower;
        println!("{} {}: {seen}", subject.name(), subject.neighbours);
        // Two-sided noise and two thresholds show less of what they are charged.
        let least = match subject.name().as_str() {
            "sparse-vector" => 1.0,
            name if name.starts_with("sparse-vector") => 0.1,
            _ => 0.0,
        };
        assert!(seen >= least, "{subject:?}: {sound:?}");
        audited += 1;
    }
    assert_eq!(audited, 12);
}
