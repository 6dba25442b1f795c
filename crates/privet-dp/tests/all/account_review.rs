//! Silent failures of an accountant: squares that underflow, bins that overflow, and short cuts that
//! fall below an existing mechanism.

use privet_core::{Neighbours, Unit};
use privet_dp::account::{
    Cost, Event, LossShape, ObjectiveCost, ObjectiveNoise, Sign, delta, epsilon, gaussian,
};

fn once(cost: Cost) -> Event {
    Event::Use { neighbours: Neighbours::AddRemove, unit: Unit::Record, cost }
}

fn repeated(cost: Cost, count: u32) -> Event {
    Event::Repeat { count, event: Box::new(once(cost)) }
}

/// μ² underflows below 1e-154, and once made such a release (0, 0)-private.
#[test]
fn a_tiny_gaussian_release_is_not_free() {
    for sensitivity in [5e-324, 1e-300, 1e-170, 1e-158, 1e-150] {
        for count in [1, 1_000_000] {
            let event =
                repeated(Cost::Gaussian { sensitivity, noise_scale: 1.0, grid: None }, count);
            let attained = gaussian::delta(0.0, sensitivity * f64::from(count).sqrt());
            let actual = delta(&event, 0.0).unwrap();
            assert!(actual >= attained * (1.0 - 1e-12), "{sensitivity}: {actual} < {attained}");
            assert_eq!(epsilon(&event, 0.0).unwrap(), f64::INFINITY);
        }
    }
}

/// δ(0) = (1−e^{−r/2})²/(1−e^{−r}) ≈ r/4, also where r² underflows.
#[test]
fn a_tiny_range_keeps_its_total_variation() {
    for range in [1e-300, 1e-170, 1e-100, 1e-3] {
        let actual = delta(&once(Cost::BoundedRange { range }), 0.0).unwrap();
        assert!((0.999..1.001).contains(&(actual / (range / 4.0))), "{range}: {actual}");
    }
}

/// Bins of composed losses are counted in integers, which once overflowed.
#[test]
fn enormous_epsilons_are_answered() {
    let objective = ObjectiveCost {
        loss: LossShape { lipschitz: 1.0, curvature: 0.25, sign: Sign::Fixed, logistic: true },
        radius: 1.0,
        ridge: 1.0,
        noise: ObjectiveNoise::Gaussian { noise_scale: 4.0, grid: None },
    };
    let event = Event::All(vec![
        repeated(Cost::Objective(objective), 2),
        once(Cost::ZeroConcentrated { rho: 0.1 }),
        once(Cost::Laplace { sensitivity: 1.0, noise_scale: 1.0, step: None }),
    ]);
    for e in [1e3, 1e9, 1e10, 1e19, 1e300, f64::MAX] {
        let actual = delta(&event, e).unwrap();
        assert!((0.0..=1.0).contains(&actual), "{e}: {actual}");
    }
}

/// A mechanism of range r exists whose loss is t or t−r; K of them are a binomial sum.
#[test]
fn composed_ranges_are_not_below_a_mechanism_that_exists() {
    for (range, count) in [(0.07_f64, 50_u32), (1.3, 50), (0.3, 7), (6.0, 3)] {
        let event = repeated(Cost::BoundedRange { range }, count);
        for part in [0.3, 0.45, 0.5, 0.55, 0.7] {
            let top = part * range;
            let p = -(top - range).exp_m1() / -(-range).exp_m1();
            for place in [0.0, 0.05, 0.15, 0.3, 0.6] {
                let e = place * f64::from(count) * range;
                let (mut attained, mut ways) = (0.0, 1.0);
                for j in 0..=count {
                    let loss = f64::from(count) * top - f64::from(j) * range;
                    let mass = ways * p.powi((count - j) as i32) * (1.0 - p).powi(j as i32);
                    attained += mass * -(e - loss).min(0.0).exp_m1();
                    ways *= f64::from(count - j) / f64::from(j + 1);
                }
                let actual = delta(&event, e).unwrap();
                assert!(
                    actual >= attained * (1.0 - 1e-9),
                    "{range} {count} {e}: {actual} {attained}"
                );
            }
        }
    }
}
