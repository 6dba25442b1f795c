//! The grid of b in released minimisers.
//!
//! At a confidence of 0.999 another seed would refute a sound method here with probability below 10⁻³
//! for each of four; the seed is fixed. The bare fixture is refuted with certainty.

use privet_audit::AttackOptions;
use privet_audit::phase::{Released, audit};
use privet_core::Budget;

/// The phase of Σxy − θΣx² alone distinguished two tables 199 times in 200.
#[test]
fn the_phase_of_b_betrays_a_bare_minimiser_and_no_method() {
    let options = AttackOptions { runs: 2_000, confidence: 0.999, seed: 11 };
    for method in ["linear-rotated", "linear", "objective", "amp"] {
        let find = |released| {
            let budget = Budget::new(1.0, 1e-5).unwrap();
            audit(&method.parse().unwrap(), budget, released, &options, &()).unwrap()
        };
        let bare = find(Released::Bare);
        assert!(bare.refuted && bare.epsilon_lower > 3.0, "{method}: {bare:?}");
        let planned = find(Released::AsPlanned);
        assert!(!planned.refuted, "{method}: {planned:?}");
    }
}
