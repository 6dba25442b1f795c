//! Streams: all releases together.
//!
//! The seeds are fixed. At a confidence of 1 − 10⁻¹⁰ another seed would refute one of the six true claims with probability
//! below 10⁻⁹. A false one would not be refuted only if a bound from 5,000 judging runs were off by more than 7 of its
//! standard deviations: below 10⁻⁹ for all of them.

use privet_audit::attack::AttackOptions;
use privet_audit::streams::{Of, Subject, audit, audit_against};
use privet_core::Budget;

/// Not refuted at their ε, refuted at half of it, and most of it is seen: the pairs are nearly sharp.
#[test]
fn streams_are_as_private_as_claimed_and_hardly_more() {
    let options = AttackOptions { runs: 10_000, confidence: 1.0 - 1e-10, seed: 43 };
    let (budget, half) = (Budget::new(4.0, 1e-5).unwrap(), Budget::new(2.0, 1e-5).unwrap());
    for subject in Subject::all(budget) {
        let sound = audit(&subject, &options, &()).unwrap();
        assert!(!sound.refuted, "{subject:?}: {sound:?}");
        let bold = audit_against(&subject, half, &options, &()).unwrap();
        println!("{:?}: {:?} {:?}", subject.of, sound.epsilon_lower_gaussian, bold.refuted);
        // The slot that differs is the fourth of twelve: points and sums before it say nothing.
        let seen = sound.epsilon_lower_gaussian.unwrap_or(sound.epsilon_lower);
        // Gradient steps on empty slots shrink a difference faster than their lemma has it.
        let least = if subject.of == Of::Giga { 0.5 } else { 1.2 };
        assert!(seen > least, "{subject:?}: {sound:?}");
        if matches!(subject.of, Of::Ftrl("buffered" | "square-root") | Of::Tally) {
            assert!(bold.refuted, "{subject:?}: {bold:?}");
        }
    }
}
