//! Counts by keys of an unknown domain, through the gate. False failure ≤ 1e-9 a test.

use crate::noise_common::{allowed_count_error, fresh};
use privet_core::{Neighbours, Unit};
use privet_dp::account;
use privet_dp::gate::{Arithmetic, Private, Session, Statement};
use privet_dp::mechanism::StableHistogram;
use privet_dp::noise::Source;
use serde_json::json;
use std::collections::BTreeMap;

fn by(neighbours: Neighbours, keys: u32, noise_scale: f64, delta: f64) -> StableHistogram {
    StableHistogram { neighbours, unit: Unit::Record, keys, noise_scale, delta }
}

fn run(by: &StableHistogram, counts: &[(u32, u64)], source: &mut dyn Source) -> Vec<(u32, f64)> {
    let planned = by.event().unwrap();
    let claim = account::guarantee(&planned, 0.3).unwrap();
    let mut session = Session::start(planned, source);
    let counts: BTreeMap<u32, u64> = counts.iter().copied().collect();
    let noisy = by.run(Private::new(counts), &mut session).unwrap();
    let statement = Statement::new(claim, Arithmetic::Finite, json!({}));
    session.settle(noisy, statement).unwrap().into_parts().0
}

/// Keys of a single unit are released with probability at most δ′, all of them together, and not far
/// below: the threshold is not larger than it must be.
#[test]
fn what_one_unit_alone_holds_leaks_as_seldom_as_charged() {
    let (mut source, seed) = fresh();
    for (keys, delta) in [(1, 0.05), (6, 0.2)] {
        let by = by(Neighbours::AddRemove, keys, 3.0, delta);
        let alone: Vec<(u32, u64)> = (0..keys).map(|key| (key, 1)).collect();
        let draws = 4_000_usize;
        let leaked = (0..draws).filter(|_| !run(&by, &alone, &mut source).is_empty()).count();
        // At least one of independent ones.
        let expected = 1.0 - (1.0 - delta / f64::from(keys)).powi(keys as i32);
        let off = (leaked as f64 - draws as f64 * expected).abs();
        assert!(off <= allowed_count_error(draws, expected, 2), "seed {seed}: {leaked} {expected}");
        assert!(expected <= delta * (1.0 + 1e-12));
    }
}

/// Large counts are released with Gaussian noise, empty ones never.
#[test]
fn what_many_hold_comes_out_with_its_noise() {
    let (mut source, seed) = fresh();
    // Keys of a single unit are released with δ′/2 in each run: never in 2,000, except with probability
    // 1e-10.
    let by = by(Neighbours::ReplaceOne, 2, 2.0, 1e-13);
    let threshold = by.threshold().unwrap();
    let mut squares = 0.0;
    for _ in 0..2_000 {
        let actual = run(&by, &[(1, 0), (4, 500), (9, 1)], &mut source);
        assert!(actual.len() == 1 && actual[0].0 == 4 && actual[0].1 >= threshold, "{actual:?}");
        squares += (actual[0].1 - 500.0).powi(2) / 4.0;
    }
    // χ² of 2,000 degrees: beyond 6.5 standard deviations with probability below 1e-9.
    assert!((squares - 2_000.0).abs() < 6.8 * (4_000.0_f64).sqrt(), "seed {seed}: {squares}");
}

/// √m or √(2m) over σ, and δ′ beside it; nothing less.
#[test]
fn it_costs_what_the_theorem_says() {
    for (neighbours, differing) in [(Neighbours::AddRemove, 5.0), (Neighbours::ReplaceOne, 10.0)] {
        let (sigma, delta) = (4.0, 1e-6);
        let event = by(neighbours, 5, sigma, delta).event().unwrap();
        let mu = f64::sqrt(differing) / sigma;
        for epsilon in [0.1, 0.5, 2.0] {
            let gaussian = account::gaussian::delta(epsilon, mu);
            let expected = delta + (1.0 - delta) * gaussian;
            let charged = account::delta(&event, epsilon).unwrap();
            assert!(charged >= expected * (1.0 - 1e-9), "{epsilon}: {charged} {expected}");
            assert!(charged <= expected * (1.0 + 1e-3) + 1e-9, "{epsilon}: {charged} {expected}");
        }
    }
    // A threshold against the tail of the normal law.
    let actual = by(Neighbours::AddRemove, 4, 10.0, 4e-6);
    assert!((actual.threshold().unwrap() - (1.0 + 10.0 * 4.753_424_308_822_899)).abs() < 1e-5);
    for bad in [0.0, 0.5, -1.0, f64::NAN] {
        assert!(by(Neighbours::AddRemove, 4, 10.0, bad).event().is_err(), "{bad}");
    }
    assert!(by(Neighbours::AddRemove, 0, 10.0, 1e-6).event().is_err());
}
