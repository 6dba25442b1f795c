//! Streams: all releases together.
//!
//! The seeds are fixed. At a confidence of 1 − 10⁻¹⁰ another seed would refute one of the eight true
//! claims with probability below 10⁻⁹. A false one would survive only if a bound from 5,000 judging runs
//! were off by more than 7 of its standard deviations: below 10⁻⁹ for all of them.

use privet_audit::attack::AttackOptions;
use privet_audit::streams::{Setting, audit, audit_against};
use privet_core::Budget;

/// Not refuted at their ε, refuted at half of it (at a quarter for `giga`, whose charge is larger than
/// necessary, and for `experts`, of which one draw is attacked): the pairs are nearly sharp.
#[test]
fn streams_are_as_private_as_claimed_and_hardly_more() {
    let options = AttackOptions { runs: 10_000, confidence: 1.0 - 1e-10, seed: 43 };
    let budget = Budget::new(4.0, 1e-5).unwrap();
    for setting in Setting::all(budget) {
        let sound = audit(&setting, &options, &()).unwrap();
        assert!(!sound.refuted, "{setting:?}: {sound:?}");
        let less = if setting.of.sharp() { 2.0 } else { 1.0 };
        let less = Budget::new(less, 1e-5).unwrap();
        let bold = audit_against(&setting, less, &options, &()).unwrap();
        println!("{}: {:?} {:?}", setting.of.name(), sound.epsilon_lower_gaussian, bold.refuted);
        assert!(bold.refuted, "{setting:?}: {bold:?}");
    }
}
