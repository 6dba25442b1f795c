//! Filters hold against an adversary that chooses each event, and when to stop, by the answers so far.
//!
//! Simulated: the loss of each answer is known exactly, so E(1 − e^(ε − ΣL))₊ over runs in one world is an
//! unbiased estimate of the δ that is attained in that direction. Values lie in [0, 1], so by Hoeffding's
//! inequality the mean of n runs exceeds its expectation by t with probability at most exp(−2nt²): the
//! allowance below makes a false failure less likely than 1e-9 a comparison.

use privet_core::{Neighbours, Unit};
use privet_dp::account::filter::Law;
use privet_dp::account::{AccountError, Cost, Event, Filter, Tally};
use privet_dp::noise::{FixedSeed, Source};

const RUNS: usize = 60_000;

fn allowance() -> f64 {
    (1e9_f64.ln() / (2.0 * RUNS as f64)).sqrt()
}

fn used(cost: Cost) -> Event {
    Event::Use { neighbours: Neighbours::AddRemove, unit: Unit::Record, cost }
}

fn gaussian(mu: f64) -> Event {
    used(Cost::Gaussian { sensitivity: mu, noise_scale: 1.0, grid: None })
}

fn filter(limit: Law) -> Filter {
    Filter { neighbours: Neighbours::AddRemove, unit: Unit::Record, limit, distance: 0.0 }
}

fn uniform(source: &mut FixedSeed) -> f64 {
    (source.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

fn normal(source: &mut FixedSeed) -> f64 {
    let (u, v) = (1.0 - uniform(source), uniform(source));
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// ΣL of one run under a filter: while the loss is low it asks small questions, when it is ahead it
/// stakes more, and once it has won enough it stops.
fn run(filter: &Filter, pure: bool, source: &mut FixedSeed) -> f64 {
    let (mut tally, mut total) = (Tally::default(), 0.0);
    for turn in 0..60 {
        if total > 2.5 {
            break;
        }
        let size = if total > 0.5 { 0.45 } else { 0.15 };
        let response = pure && turn % 2 == 0;
        let event = if response { used(Cost::Pure { epsilon: size }) } else { gaussian(size) };
        match filter.admit(&tally, &event) {
            Ok(after) => tally = after,
            Err(AccountError::Exhausted) => break,
            Err(error) => panic!("{error}"),
        }
        total += if response {
            let right = uniform(source) < size.exp() / (1.0 + size.exp());
            if right { size } else { -size }
        } else {
            size * size / 2.0 + size * normal(source)
        };
    }
    total
}

fn attained(filter: &Filter, pure: bool, epsilon: f64, seed: u64) -> f64 {
    let mut source = FixedSeed::new(seed);
    let mut sum = 0.0;
    for _ in 0..RUNS {
        sum += (1.0 - (epsilon - run(filter, pure, &mut source)).exp()).max(0.0);
    }
    sum / RUNS as f64
}

#[test]
fn no_adversary_exceeds_a_filter() {
    for (limit, pure) in [
        (Law::Gaussian { mu: 1.0 }, false),
        (Law::Concentrated { rho: 0.5 }, true),
        (Law::Renyi { order: 3.0, limit: 1.5 }, true),
    ] {
        let filter = filter(limit);
        for epsilon in [0.25, 1.0, 2.0] {
            let claimed = filter.delta(epsilon).unwrap();
            let found = attained(&filter, pure, epsilon, 7);
            assert!(
                found <= claimed + allowance(),
                "{limit:?} at {epsilon}: {found} for {claimed}"
            );
        }
    }
}

/// The test is tested: a filter that lets through four times its claim is caught.
#[test]
fn a_filter_of_twice_the_limit_is_caught() {
    let generous = filter(Law::Gaussian { mu: 2.0 });
    let claimed = filter(Law::Gaussian { mu: 1.0 }).delta(1.0).unwrap();
    assert!(attained(&generous, false, 1.0, 7) > claimed + allowance());
}

#[test]
fn kinds_without_a_bound_and_other_relations_are_refused() {
    let admit = |limit, event: &Event| filter(limit).admit(&Tally::default(), event);
    let mu = Law::Gaussian { mu: 1.0 };
    let rho = Law::Concentrated { rho: 0.5 };
    let order = Law::Renyi { order: 2.0, limit: 1.0 };
    let pure = used(Cost::Pure { epsilon: 0.1 });
    let sampled =
        used(Cost::PoissonGaussian { rate: 0.1, sensitivity: 1.0, noise_scale: 4.0, grid: None });
    let known_badly = used(Cost::Approximate { epsilon: 0.1, delta: 1e-9 });
    assert_eq!(admit(mu, &pure), Err(AccountError::NotAdmitted));
    assert!(admit(rho, &pure).is_ok() && admit(order, &pure).is_ok());
    for limit in [mu, rho] {
        assert_eq!(admit(limit, &sampled), Err(AccountError::NotAdmitted));
    }
    assert!(admit(order, &sampled).is_ok());
    for limit in [mu, rho, order] {
        assert_eq!(admit(limit, &known_badly), Err(AccountError::NotAdmitted));
        assert_eq!(admit(limit, &gaussian(9.0)), Err(AccountError::Exhausted));
        assert!(admit(limit, &gaussian(f64::NAN)).is_err());
    }
    let other = Event::Use {
        neighbours: Neighbours::ReplaceOne,
        unit: Unit::Record,
        cost: Cost::Gaussian { sensitivity: 0.1, noise_scale: 1.0, grid: None },
    };
    assert!(matches!(admit(mu, &other), Err(AccountError::MixedNeighbours { .. })));
    for odd in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        assert!(filter(Law::Gaussian { mu: odd }).guarantee(1e-6).is_err());
        assert!(filter(Law::Renyi { order: odd, limit: 1.0 }).guarantee(1e-6).is_err());
    }
}

/// Exactly as much as an ordinary composition of the same total would be.
#[test]
fn a_gaussian_filter_costs_what_the_composition_does() {
    let filter = filter(Law::Gaussian { mu: 0.5 });
    let event = gaussian(0.5);
    for delta in [1e-3, 1e-6, 1e-9] {
        let limit = filter.guarantee(delta).unwrap().epsilon;
        let composed = privet_dp::account::epsilon(&event, delta).unwrap();
        assert!((limit / composed - 1.0).abs() < 1e-6, "{limit} and {composed}");
    }
}
