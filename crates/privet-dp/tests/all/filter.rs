//! Filters hold against an adversary that chooses each event, and when to stop, by the answers so far.
//!
//! Simulated: the loss of each answer is known exactly, so E(1 − e^(ε − ΣL))₊ over runs in one world is
//! an unbiased estimate of the attained δ in that direction. Values lie in [0, 1], so by Hoeffding's
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
    Filter {
        neighbours: Neighbours::AddRemove,
        unit: Unit::Record,
        limit,
        distance: 0.0,
        leak: 0.0,
    }
}

fn uniform(source: &mut FixedSeed) -> f64 {
    (source.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

fn normal(source: &mut FixedSeed) -> f64 {
    let (u, v) = (1.0 - uniform(source), uniform(source));
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// ΣL of one run under a filter: small queries while the loss is low, larger ones when it is ahead, and
/// none once it has won enough.
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
            let actual = attained(&filter, pure, epsilon, 7);
            assert!(
                actual <= claimed + allowance(),
                "{limit:?} at {epsilon}: {actual} for {claimed}"
            );
        }
    }
}

/// The test is tested: a filter that admits four times its claim is caught.
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

/// Exactly the cost of an ordinary composition of the same total.
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

/// Events that reveal everything with probability δ, chosen by the answers: the claim counts every δ,
/// and an adversary that bets on them stays within it.
#[test]
fn a_leak_is_charged_and_limited() {
    let leaky = |delta| used(Cost::Approximate { epsilon: 0.1, delta });
    for limit in [
        Law::Concentrated { rho: 0.5 },
        Law::Renyi { order: 3.0, limit: 1.5 },
        Law::Sum { epsilon: 1.0 },
    ] {
        let without = filter(limit);
        let filter = Filter { leak: 0.01, ..without };
        let more = filter.delta(1.0).unwrap() - without.delta(1.0).unwrap();
        assert!((0.01..0.0100001).contains(&more), "{limit:?}: {more}");
        let once = filter.admit(&Tally::default(), &leaky(0.006)).unwrap();
        assert_eq!(filter.admit(&once, &leaky(0.006)), Err(AccountError::Exhausted));
        let twice = filter.admit(&once, &leaky(0.003)).unwrap();
        assert!(twice.leak() >= 0.009 && twice.leak() < 0.0090001);
        assert_eq!(filter.admit(&Tally::default(), &leaky(0.5)), Err(AccountError::Exhausted));
        // Many leaves in one event leak together.
        let many = Event::Repeat { count: 4, event: Box::new(leaky(0.003)) };
        assert_eq!(filter.admit(&Tally::default(), &many), Err(AccountError::Exhausted));
        if matches!(limit, Law::Sum { .. }) {
            continue; // its losses never exceed it
        }
        let mut source = FixedSeed::new(11);
        let mut sum = 0.0;
        for _ in 0..RUNS {
            let mut loss = run(&without, true, &mut source);
            // Stakes its leak where it is behind.
            if loss < 0.5 && uniform(&mut source) < 0.01 {
                loss = f64::INFINITY;
            }
            sum += (1.0 - (1.0 - loss).exp()).max(0.0);
        }
        let claimed = filter.delta(1.0).unwrap();
        assert!(sum / RUNS as f64 <= claimed + allowance(), "{limit:?}");
    }
}

/// The law of sums: it admits as many events as the limit divides into, and proves the limit.
#[test]
fn a_sum_of_epsilons_is_what_it_says() {
    let filter = filter(Law::Sum { epsilon: 1.0 });
    let quarter = used(Cost::Pure { epsilon: 0.25 });
    let mut tally = Tally::default();
    let mut admitted = 0;
    while let Ok(after) = filter.admit(&tally, &quarter) {
        (tally, admitted) = (after, admitted + 1);
    }
    assert_eq!(admitted, 4);
    assert_eq!(filter.admit(&Tally::default(), &gaussian(0.1)), Err(AccountError::NotAdmitted));
    assert_eq!(filter.guarantee(0.0).unwrap().epsilon, 1.0);
    assert!(filter.delta(0.5).unwrap() > 0.0);
}

/// A session under a filter of its own costs at least as much as any events that it admits.
#[test]
fn a_session_under_a_filter_costs_all_that_its_limit_lets_through() {
    let wide = [
        Law::Gaussian { mu: 3.0 },
        Law::Concentrated { rho: 5.0 },
        Law::Renyi { order: 4.0, limit: 9.0 },
    ];
    let session = filter(Law::Gaussian { mu: 0.7 });
    for limit in wide {
        let ledger = filter(limit);
        let price = ledger.price_of(&session).unwrap();
        let event = ledger.price(&gaussian(0.7)).unwrap();
        assert!(price.spent() >= event.spent() * (1.0 - 1e-9), "{limit:?}");
        assert!(price.spent() <= event.spent() * (1.0 + 1e-9), "{limit:?}");
    }
    let other = filter(Law::Renyi { order: 5.0, limit: 1.0 });
    for limit in wide {
        assert_eq!(filter(limit).price_of(&other), Err(AccountError::NotAdmitted));
    }
}
