//! Two-sided bounds and the trade-off curve.

use crate::account_common::Composition;
use privet_core::{Neighbours, Unit};
use privet_dp::account::{
    self, AccountError, Cost, Event, Grid, LossShape, ObjectiveCost, ObjectiveNoise, OutputNoise,
    Sign, TradeOff, bracket, gaussian,
};
use proptest::prelude::*;

fn used(neighbours: Neighbours, cost: Cost) -> Event {
    Event::Use { neighbours, unit: Unit::Record, cost }
}

fn repeated(count: u32, event: Event) -> Event {
    Event::Repeat { count, event: Box::new(event) }
}

fn release(sensitivity: f64, grid: Option<Grid>) -> Cost {
    Cost::Gaussian { sensitivity, noise_scale: 1.0, grid }
}

fn objective(sign: Sign) -> ObjectiveCost {
    ObjectiveCost {
        loss: LossShape { lipschitz: 1.0, curvature: 0.25, sign, logistic: sign == Sign::Fixed },
        radius: 1.0,
        ridge: 2.0,
        noise: ObjectiveNoise::Gaussian { noise_scale: 8.0, grid: None },
    }
}

/// Never above the reference's pessimistic estimate; never below its optimistic one by more than 4 %,
/// and often above it. (Batches without replacement are left out: the mechanisms that attain them are
/// not composed.)
#[test]
fn lower_bounds_lie_between_the_reference_and_our_own_upper_bound() {
    for text in
        [include_str!("../../vectors/composition.json"), include_str!("../../vectors/sampled.json")]
    {
        let cases: Vec<Composition> = serde_json::from_str(text).unwrap();
        // Every third: the finest grids take a while.
        for case in cases.iter().step_by(3) {
            let (lower, upper) = bracket(&case.event, case.epsilon).unwrap();
            assert!(lower <= upper && lower <= case.high * (1.0 + 1e-9), "{lower:e} {case:?}");
            assert!(lower >= 0.96 * case.low, "loose: {lower:e} {upper:e} {case:?}");
            assert_eq!(upper, account::delta(&case.event, case.epsilon).unwrap());
        }
    }
}

/// Exact results are in between, and close to both.
#[test]
fn closed_forms_are_in_between() {
    let many = repeated(30, used(Neighbours::ReplaceOne, release(0.1, None)));
    let beside = Event::All(vec![
        many.clone(),
        used(
            Neighbours::ReplaceOne,
            Cost::Laplace { sensitivity: 1e-6, noise_scale: 1.0, step: None },
        ),
    ]);
    for epsilon in [0.0, 0.5, 2.0] {
        let exact = gaussian::delta(epsilon, 0.1 * 30_f64.sqrt());
        for event in [&many, &beside] {
            let (lower, upper) = bracket(event, epsilon).unwrap();
            assert!(lower <= exact * (1.0 + 1e-5) && exact <= upper * (1.0 + 1e-12), "{epsilon}");
            assert!(lower >= 0.99 * exact && upper <= 1.002 * exact, "{lower} {exact} {upper}");
        }
    }
}

/// Mechanisms that one leaf describes without being composed of known laws: the lower bound is the cost
/// of one instance.
#[test]
fn instances_that_occur_are_below() {
    let replaced = Neighbours::ReplaceOne;
    let mu = 2.0 / 8.0;
    let minima = Cost::ApproximateMinima {
        objective: objective(Sign::Any),
        output_sensitivity: 0.1,
        output: OutputNoise::Gaussian { noise_scale: 2.0, grid: None },
    };
    // A move of 2LR/λ + Δ under a deviation √(σ²/λ²+τ²): (1 + 0.1)/√(16+4).
    let minima_mu = 1.1 / 20_f64.sqrt();
    for (cost, want) in [
        (Cost::Objective(objective(Sign::Fixed)), gaussian::delta(0.2, mu)),
        (Cost::Objective(objective(Sign::Any)), gaussian::delta(0.2, mu)),
        (minima, gaussian::delta(0.2, minima_mu)),
        (Cost::ZeroConcentrated { rho: 0.02 }, gaussian::delta(0.2, 0.2)),
        (Cost::L2Laplace { sensitivity: 0.5, noise_scale: 1.0 }, -(-0.15_f64).exp_m1()),
        (Cost::BoundedRange { range: 0.8 }, -(-0.2_f64).exp_m1() / (1.0 + (-0.4_f64).exp())),
    ] {
        let (lower, upper) = bracket(&used(replaced, cost.clone()), 0.2).unwrap();
        assert!((lower / want - 1.0).abs() < 1e-6, "{cost:?}: {lower} {want}");
        assert!(upper >= want, "{cost:?}");
    }
    let leak = used(replaced, Cost::Approximate { epsilon: 0.1, delta: 1e-3 });
    let (lower, upper) = bracket(&leak, 5.0).unwrap();
    assert!((lower / 1e-3 - 1.0).abs() < 1e-6 && upper >= 1e-3, "{lower} {upper}");
}

#[test]
fn bad_arguments_are_refused() {
    let event = used(Neighbours::ReplaceOne, release(1.0, None));
    assert!(matches!(bracket(&event, f64::NAN), Err(AccountError::Negative { .. })));
    let broken = used(Neighbours::ReplaceOne, release(f64::NAN, None));
    assert!(bracket(&broken, 1.0).is_err() && TradeOff::new(&broken).is_err());
    let curve = TradeOff::new(&event).unwrap();
    for alpha in [-0.1, 1.1, f64::NAN] {
        assert!(matches!(curve.at(alpha), Err(AccountError::NotProbability { .. })), "{alpha}");
    }
}

/// Φ(Φ⁻¹(1−α)−μ), α = Φ(−z).
#[test]
fn the_trade_off_of_a_gaussian_is_its_closed_form() {
    let phi = |z: f64| 0.5 * libm::erfc(-z / 2_f64.sqrt());
    for mu in [0.2, 1.0, 3.0] {
        let curve = TradeOff::new(&used(Neighbours::ReplaceOne, release(mu, None))).unwrap();
        for z in [-3.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.5] {
            let (found, exact) = (curve.at(phi(-z)).unwrap(), phi(z - mu));
            assert!(found <= exact, "{mu} {z}: {found} {exact}");
            assert!(found >= exact - 3e-4 * mu, "{mu} {z}: {found} {exact}");
        }
    }
}

/// At both ends, with no protection, and with a grid.
#[test]
fn trade_off_curves_end_where_they_must() {
    let grid = Some(Grid { step: 2_f64.powi(-20), coordinates: 10 });
    for cost in [release(0.5, None), release(0.5, grid), Cost::Pure { epsilon: 1.0 }] {
        let curve = TradeOff::new(&used(Neighbours::ReplaceOne, cost)).unwrap();
        assert!(curve.at(0.0).unwrap() >= 1.0 - 1e-6);
        assert_eq!(curve.at(1.0).unwrap(), 0.0);
    }
    let leak = used(Neighbours::ReplaceOne, Cost::Approximate { epsilon: 0.0, delta: 1.0 });
    assert_eq!(TradeOff::new(&leak).unwrap().at(0.0).unwrap(), 0.0);
    // Randomised response: 1/(1+e^ε) for both errors at once.
    let pure = TradeOff::new(&used(Neighbours::ReplaceOne, Cost::Pure { epsilon: 1.0 })).unwrap();
    let corner = 1.0 / (1.0 + 1_f64.exp());
    assert!((pure.at(corner).unwrap() - corner).abs() < 1e-9);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn brackets_are_in_order(
        rate in 0.001..0.9_f64, noise in 0.6..6.0_f64, count in 1_u32..300, epsilon in 0.0..4.0_f64,
        shift in 0.01..1.0_f64, replaced in any::<bool>(),
    ) {
        let neighbours = if replaced { Neighbours::ReplaceOne } else { Neighbours::AddRemove };
        let sampled = Cost::PoissonGaussian { rate, sensitivity: 1.0, noise_scale: noise, grid: None };
        let laplace = Cost::Laplace { sensitivity: shift, noise_scale: 1.0, step: None };
        let event = Event::All(vec![
            repeated(count, used(neighbours, sampled)),
            repeated(2, used(neighbours, laplace)),
        ]);
        let (lower, upper) = bracket(&event, epsilon).unwrap();
        prop_assert!(lower <= upper, "{lower:e} {upper:e}");
        prop_assert!(upper < 1e-12 || lower >= 0.5 * upper, "{lower:e} {upper:e}");
    }

    #[test]
    fn trade_off_curves_fall_and_are_convex(mu in 0.01..4.0_f64, a in 0.0..1.0_f64, b in 0.0..1.0_f64) {
        let curve = TradeOff::new(&used(Neighbours::AddRemove, release(mu, None))).unwrap();
        let at = |alpha: f64| curve.at(alpha).unwrap();
        let (low, high) = (a.min(b), a.max(b));
        prop_assert!(at(low) >= at(high) && at(low) <= 1.0 - low);
        prop_assert!(at(0.5 * (low + high)) <= 0.5 * (at(low) + at(high)) + 1e-12);
    }
}
