//! Samplers and low bits.

use privet_audit::attack::Options;
use privet_audit::bits::{self, FloatingPoint, Scalar};
use privet_audit::learner::{Subject, low_bits};
use privet_audit::pairs::Pair;
use privet_audit::samplers::{allowed, audit, gap, gap_of_integers};
use privet_core::{Budget, Neighbours};
use privet_dp::noise::{DiscreteLaplace, FixedSeed, GridGaussian};

/// Fixed seed; any other fails with probability at most 1e-9.
#[test]
fn every_sampler_has_its_law() {
    for fit in audit(60_000, 1).unwrap() {
        assert!(fit.passes(), "{fit:?}");
    }
}

#[test]
fn a_scale_ten_per_cent_off_is_caught() {
    let draws = 200_000;
    let mut source = FixedSeed::new(2);
    let mut drawn = vec![0; draws];
    DiscreteLaplace::new(3.3 * 1.1).unwrap().fill(&mut drawn, &mut source);
    assert!(gap_of_integers(&mut drawn, 200, |k| (-k.abs() / 3.3).exp()) > allowed(draws));
    let mut drawn = vec![0.0; draws];
    GridGaussian::new(1.1).unwrap().fill(&mut drawn, &mut source);
    assert!(gap(&mut drawn, privet_audit::normal::cdf) > allowed(draws));
}

/// The hole of textbook Laplace noise is found, by its last bits alone; none in ours.
#[test]
fn low_bits_betray_plain_noise_and_not_ours() {
    let options = Options { runs: 20_000, confidence: 0.999, seed: 3 };
    let find = |kind| {
        let target = FloatingPoint { kind, epsilon: 0.5 };
        bits::audit(&target, &target.claim().unwrap(), &options, &()).unwrap()
    };
    let plain = find(Scalar::PlainLaplace);
    assert!(plain.refuted && plain.epsilon_lower > 1.0, "{plain:?}");
    for kind in [Scalar::GridLaplace, Scalar::GridGaussian, Scalar::L2Laplace] {
        let found = find(kind);
        assert!(!found.refuted, "{kind:?}: {found:?}");
    }
}

/// A minimiser's last bits show what the solver met: unrounded, `objective` on all-equal tables was refuted at
/// ε ≥ 4.5, and `linear` on a canary at 3.8, both at 4,000 runs.
#[test]
fn low_bits_of_a_released_minimiser_say_nothing() {
    for (method, pair) in [("objective", Pair::AllEqual), ("linear", Pair::Canary)] {
        let budget = Budget::new(1.0, 1e-5).unwrap();
        let subject = Subject::new(method.parse().unwrap(), budget, Neighbours::AddRemove);
        let options = Options { runs: 3_000, confidence: 0.999, seed: 4 };
        let found = low_bits(&subject, pair, &options, &()).unwrap();
        assert!(!found.refuted, "{method}: {found:?}");
    }
}
