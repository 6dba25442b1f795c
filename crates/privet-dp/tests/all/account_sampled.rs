//! Sampled releases: against each other, and refusals. (Against `dp-accounting`: `account_vectors.rs`.)

use privet_core::{Budget, Neighbours, Unit};
use privet_dp::account::{self, AccountError, Cost, Event, renyi};
use proptest::prelude::*;

/// Loss distributions are composed on grids chosen anew each time, so laws hold up to this.
const GRID: f64 = 5e-3;

fn repeated(neighbours: Neighbours, count: u32, cost: Cost) -> Event {
    let event = Event::Use { neighbours, unit: Unit::Record, cost };
    Event::Repeat { count, event: Box::new(event) }
}

fn poisson(rate: f64, noise_scale: f64) -> Cost {
    Cost::PoissonGaussian { rate, sensitivity: 1.0, noise_scale, grid: None }
}

fn batches(population: u64, batch: u64, noise_scale: f64) -> Cost {
    let sensitivity = 1.0;
    Cost::WithoutReplacementGaussian { population, batch, sensitivity, noise_scale, grid: None }
}

fn delta(event: &Event, epsilon: f64) -> f64 {
    account::delta(event, epsilon).unwrap()
}

fn relation() -> impl Strategy<Value = Neighbours> {
    prop_oneof![Just(Neighbours::AddRemove), Just(Neighbours::ReplaceOne)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cost_grows_with_rate_and_count_and_falls_with_noise(
        neighbours in relation(), ln_rate in -7.0..-0.2_f64, noise in 0.5..5.0_f64,
        count in 1_u32..2_000, epsilon in 0.05..3.0_f64,
    ) {
        let rate = ln_rate.exp();
        let here = delta(&repeated(neighbours, count, poisson(rate, noise)), epsilon);
        let allowed = |more: f64| here <= (more * (1.0 + GRID)).max(1e-14);
        let rarer = delta(&repeated(neighbours, count, poisson(1.1 * rate, noise)), epsilon);
        prop_assert!(allowed(rarer), "rate: {here:e} {rarer:e}");
        let longer = delta(&repeated(neighbours, count + count / 5 + 1, poisson(rate, noise)), epsilon);
        prop_assert!(allowed(longer), "count: {here:e} {longer:e}");
        let louder = delta(&repeated(neighbours, count, poisson(rate, 0.9 * noise)), epsilon);
        prop_assert!(allowed(louder), "noise: {here:e} {louder:e}");
    }

    /// A release more never lowers δ, however small it is.
    #[test]
    fn a_release_more_never_lowers_the_cost(
        neighbours in relation(), ln_rate in -12.0..-0.2_f64, ln_noise in -1.0..3.0_f64,
        count in 1_u32..2_000, epsilon in 0.01..3.0_f64, ln_small in -20.0..-3.0_f64,
    ) {
        let sampled = repeated(neighbours, count, poisson(ln_rate.exp(), ln_noise.exp()));
        let small = gaussian(neighbours, ln_small.exp());
        // In total variation, which e^ε times bounds what it can add.
        let moved = delta(&small, 0.0) * epsilon.exp();
        let (least, most) = account::bracket(&sampled, epsilon).unwrap();
        let together = delta(&both(sampled, small), epsilon);
        prop_assert!(least <= together, "{least:e} {together:e}");
        prop_assert!(together <= (most + moved) * 1.05 + 1e-14, "{most:e} {together:e}");
    }

    /// Sampling gains, never loses; and replace-one costs at least what add/remove does.
    #[test]
    fn amplification_is_never_worse_than_no_sampling(
        rate in 0.001..1.0_f64, noise in 0.5..20.0_f64, count in 1_u32..300, epsilon in 0.05..3.0_f64,
    ) {
        let plain = |neighbours, sensitivity| {
            let cost = Cost::Gaussian { sensitivity, noise_scale: noise, grid: None };
            delta(&repeated(neighbours, count, cost), epsilon)
        };
        let added = delta(&repeated(Neighbours::AddRemove, count, poisson(rate, noise)), epsilon);
        let replaced = delta(&repeated(Neighbours::ReplaceOne, count, poisson(rate, noise)), epsilon);
        let (one, two) = (plain(Neighbours::AddRemove, 1.0), plain(Neighbours::ReplaceOne, 2.0));
        prop_assert!(added <= one * (1.0 + GRID) + 1e-14, "{added:e} {one:e}");
        prop_assert!(replaced <= two * (1.0 + GRID) + 1e-14, "{replaced:e} {two:e}");
        prop_assert!(added <= replaced * (1.0 + GRID) + 1e-14, "{added:e} {replaced:e}");
        // A batch of fixed size, at the same rate and the same move of the sum.
        let batch = (rate * 1e6).ceil() as u64;
        let fixed = delta(&repeated(Neighbours::ReplaceOne, count, batches(1_000_000, batch, noise)), epsilon);
        prop_assert!(added <= fixed * (1.0 + GRID) + 1e-14, "{added:e} {fixed:e}");
        prop_assert!(fixed <= one * (1.0 + GRID) + 1e-14, "{fixed:e} {one:e}");
    }
}

fn both(one: Event, other: Event) -> Event {
    Event::All(vec![one, other])
}

fn gaussian(neighbours: Neighbours, sensitivity: f64) -> Event {
    let cost = Cost::Gaussian { sensitivity, noise_scale: 1.0, grid: None };
    Event::Use { neighbours, unit: Unit::Record, cost }
}

/// Values below which the truth is not, from thousand single uses and from transforms of our own.
#[test]
fn a_small_release_beside_sampled_ones_hides_nothing() {
    let many = |rate, noise| repeated(Neighbours::AddRemove, 1000, poisson(rate, noise));
    for (noise, epsilon, least) in [(0.9, 1.0, 1.5e-39), (0.82, 2.0, 8e-39), (0.96, 0.5, 2.4e-39)] {
        let event = both(gaussian(Neighbours::AddRemove, 1e-6), many(1e-6, noise));
        assert!(delta(&event, epsilon) >= least, "{noise}: {:e}", delta(&event, epsilon));
    }
    let quiet = repeated(Neighbours::ReplaceOne, 1000, poisson(0.01, 1.0540925533894598e5));
    let event = both(gaussian(Neighbours::ReplaceOne, 5e-7), quiet);
    assert!(delta(&event, 6.623e-5) >= 1.0e-34);
    let epsilon = account::epsilon(&event, 1e-26).unwrap();
    assert!(delta(&event, epsilon) <= 1e-26 && epsilon > 4e-5, "{epsilon:e}");
    assert!(delta(&event, 2.675e-5) >= 5e-12);
    let few = repeated(Neighbours::ReplaceOne, 10, poisson(1e-5, 0.5));
    let event = both(gaussian(Neighbours::ReplaceOne, 1e-5), few);
    let epsilon = account::epsilon(&event, 1e-9).unwrap();
    assert!((0.19..0.22).contains(&epsilon), "{epsilon}");
}

#[test]
fn next_to_no_release_is_not_none() {
    for rate in [1e-100, 0.5] {
        let event = repeated(Neighbours::AddRemove, 2, poisson(rate, 1e200));
        let actual = delta(&event, 0.0);
        assert!(actual > 0.0 && actual <= 1e-140, "{actual:e}");
    }
}

/// Where δ is too small for any grid, it is still no worse than without sampling.
#[test]
fn next_to_nothing_is_bounded_by_the_release_of_all_records() {
    let (count, noise, epsilon) = (13, 19.167508639661143, 1.8462961637703212);
    for (neighbours, cost, moves) in [
        (Neighbours::ReplaceOne, poisson(0.001, noise), 2.0),
        (Neighbours::AddRemove, poisson(0.001, noise), 1.0),
        (Neighbours::ReplaceOne, batches(1_000_000, 1000, noise), 1.0),
    ] {
        let all = Cost::Gaussian { sensitivity: moves, noise_scale: noise, grid: None };
        let (sampled, all) = (repeated(neighbours, count, cost), repeated(neighbours, count, all));
        assert!(delta(&sampled, epsilon) <= delta(&all, epsilon) * (1.0 + 1e-12));
    }
    // Far below the resolution of a transform.
    for rate in [0.00346, 0.0035, 0.0038] {
        let event = repeated(Neighbours::ReplaceOne, 1569, poisson(rate, 4.0237));
        assert!([2.7, 2.8, 2.9].iter().all(|epsilon| delta(&event, *epsilon) <= 1e-40), "{rate}");
    }
}

#[test]
fn at_rate_one_it_is_the_gaussian() {
    for count in [1, 7] {
        for (neighbours, cost, sensitivity) in [
            (Neighbours::AddRemove, poisson(1.0, 3.0), 1.0),
            (Neighbours::ReplaceOne, poisson(1.0, 3.0), 2.0),
            (Neighbours::ReplaceOne, batches(50, 50, 3.0), 1.0),
        ] {
            let gaussian = Cost::Gaussian { sensitivity, noise_scale: 3.0, grid: None };
            let (got, want) =
                (repeated(neighbours, count, cost), repeated(neighbours, count, gaussian));
            for epsilon in [0.0, 0.5, 2.0] {
                let ratio = delta(&got, epsilon) / delta(&want, epsilon);
                assert!((ratio - 1.0).abs() < 1e-11, "{neighbours} {count} {epsilon}: {ratio}");
            }
        }
    }
    // And continuously so.
    let (near, full) = (poisson(1.0 - 1e-7, 3.0), poisson(1.0, 3.0));
    let at = |cost: Cost| delta(&repeated(Neighbours::AddRemove, 20, cost), 1.0);
    let ratio = at(near) / at(full);
    assert!((1.0 - 1e-5..1.0 + 1e-4).contains(&ratio), "{ratio}");
}

/// Mironov, Talwar & Zhang's binomial sum at integer orders; between them the divergence grows.
#[test]
fn divergences_are_the_binomial_sum_at_integer_orders() {
    for (rate, shift) in [(0.01_f64, 1.0_f64), (0.3, 0.2), (0.05, 1.5), (0.9, 1.2)] {
        let mut last = 0.0;
        for order in 2..20 {
            let alpha = f64::from(order);
            let mut ways = 1.0;
            let sum: f64 = (0..=order)
                .map(|k| {
                    if k > 0 {
                        ways *= f64::from(order - k + 1) / f64::from(k);
                    }
                    let k = f64::from(k);
                    ways * (1.0 - rate).powf(alpha - k)
                        * rate.powf(k)
                        * (k * (k - 1.0) * shift * shift / 2.0).exp()
                })
                .sum();
            let want = sum.ln() / (alpha - 1.0);
            let got = renyi::poisson_gaussian(alpha, rate, shift);
            assert!(got >= want * (1.0 - 1e-12), "{rate} {shift} {order}: {got} {want}");
            assert!(got <= want * (1.0 + 1e-9) + 3e-11, "{rate} {shift} {order}: {got} {want}");
            let before = renyi::poisson_gaussian(alpha - 0.5, rate, shift);
            assert!(last <= before && before <= got, "{rate} {shift} {order}");
            last = got;
            assert!(renyi::without_replacement(alpha, rate, shift) >= got * (1.0 - 1e-9));
        }
    }
}

/// The sum (4.10.1) at a setting worked out by hand: α = 2, τ = 0.1, σ′ = 1.
#[test]
fn the_sum_for_batches_has_its_value() {
    let want = (1.0 + 0.01 * (2.0 * 1_f64.exp())).ln();
    let got = renyi::without_replacement(2.0, 0.1, 1.0);
    assert!((got / want - 1.0).abs() < 1e-9, "{got} {want}");
}

/// Composing the two directions of the Poisson pair on their own would undercharge fixed batches
/// (Lebeda et al. 2024); the difference is real.
#[test]
fn fixed_batches_cost_more_than_poisson_samples() {
    let (count, epsilon) = (1_000, 0.5);
    let poisson = delta(&repeated(Neighbours::AddRemove, count, poisson(0.01, 0.8)), epsilon);
    let fixed = delta(&repeated(Neighbours::ReplaceOne, count, batches(10_000, 100, 0.8)), epsilon);
    assert!(fixed > 1.2 * poisson, "{fixed:e} {poisson:e}");
}

/// There is no event for the batches of a shuffled epoch, so it cannot be charged as sampled: such a
/// file is refused, and every sampled event names a sampler that draws afresh. Charged correctly, as one
/// use on the one batch that the record is in, an epoch costs more than n/b Poisson draws where batches
/// are small.
#[test]
fn a_shuffled_epoch_cannot_be_charged_as_sampled() {
    let known = serde_json::to_string(&poisson(0.01, 1.0)).unwrap();
    assert!(serde_json::from_str::<Cost>(&known).is_ok());
    for kind in ["shuffled-gaussian", "shuffled", "permutation-gaussian", "epoch"] {
        let claimed = known.replace("poisson-gaussian", kind);
        assert!(serde_json::from_str::<Cost>(&claimed).is_err(), "{claimed}");
    }
    let labelled = known.replace("\"rate\"", "\"shuffled\":true,\"rate\"");
    assert!(serde_json::from_str::<Cost>(&labelled).is_err(), "{labelled}");
    let epoch = Cost::Gaussian { sensitivity: 1.0, noise_scale: 1.0, grid: None };
    let charged = delta(&repeated(Neighbours::ReplaceOne, 1, epoch), 1.0);
    let namesake = delta(&repeated(Neighbours::AddRemove, 100, poisson(0.01, 1.0)), 1.0);
    assert!(namesake < 0.1 * charged, "{namesake:e} {charged:e}");
}

#[test]
fn what_is_not_covered_is_refused() {
    for rate in [0.0, -0.1, 1.5, f64::NAN, f64::INFINITY] {
        let event = repeated(Neighbours::AddRemove, 1, poisson(rate, 1.0));
        assert!(matches!(account::delta(&event, 1.0), Err(AccountError::Rate { .. })), "{rate}");
    }
    for (population, batch) in [(10, 0), (10, 11), (0, 0)] {
        let event = repeated(Neighbours::ReplaceOne, 1, batches(population, batch, 1.0));
        assert!(matches!(account::delta(&event, 1.0), Err(AccountError::Batch { .. })));
    }
    let event = repeated(Neighbours::AddRemove, 1, batches(10, 2, 1.0));
    assert!(matches!(account::delta(&event, 1.0), Err(AccountError::SampledRelation { .. })));
    for cost in [poisson(0.1, 1.0), batches(10, 1, 1.0)] {
        let unit = Unit::User { max_records: 2 };
        let event = Event::Use { neighbours: Neighbours::ReplaceOne, unit, cost };
        assert!(matches!(account::delta(&event, 1.0), Err(AccountError::SampledUnit { .. })));
    }
}

/// The δ that the test "one of T answers is above x" attains, T uses of rate q and shift μ: a lower
/// bound.
fn achieved(rate: f64, shift: f64, count: u32, epsilon: f64) -> f64 {
    let tail = |x: f64| 0.5 * libm::erfc(x / std::f64::consts::SQRT_2);
    let any = |tail: f64| -libm::expm1(f64::from(count) * libm::log1p(-tail));
    let gain = |x: f64| {
        let present = (1.0 - rate) * tail(x) + rate * tail(x - shift);
        any(present) - libm::exp(epsilon) * any(tail(x))
    };
    (0..300).map(|k| gain(0.1 * f64::from(k))).fold(0.0, f64::max)
}

/// Little noise, where e^{μx} overflows on the way: a sampled record is detected, and δ accounts for it.
#[test]
fn little_noise_is_never_charged_as_none() {
    for (rate, noise_scale, count) in
        [(0.3, 0.125, 2), (1e-3, 0.125, 30), (0.02, 0.2, 1000), (0.1, 0.04, 3), (1e-5, 1e-3, 50)]
    {
        let sampled = batches(100_000, (rate * 1e5) as u64, noise_scale);
        let relations = [Neighbours::AddRemove, Neighbours::ReplaceOne];
        let events = relations
            .map(|relation| repeated(relation, count, poisson(rate, noise_scale)))
            .into_iter()
            .chain([repeated(Neighbours::ReplaceOne, count, sampled)]);
        for event in events {
            for epsilon in [0.01, 1.0, 8.0, 20.0] {
                let least = achieved(rate, 1.0 / noise_scale, count, epsilon);
                let actual = delta(&event, epsilon);
                assert!(actual >= least * (1.0 - 1e-9), "{event:?} at {epsilon}: {actual} {least}");
            }
        }
    }
    for order in [1.001, 2.0, 9.5, 15.0, 30.0] {
        for shift in [4.0, 4.7, 5.0, 8.0, 20.0, 29.0] {
            // Sampled often it is nearly the Gaussian; seldom, at least q^α of its moment.
            let often = renyi::poisson_gaussian(order, 1.0 - 1e-12, shift);
            assert!((often / renyi::gaussian(order, shift) - 1.0).abs() < 1e-6, "{order} {shift}");
            let seldom = renyi::poisson_gaussian(order, 1e-3, shift);
            let part = order * libm::log(1e-3) / (order - 1.0);
            assert!(seldom >= renyi::gaussian(order, shift) * (1.0 - 1e-12) + part);
        }
    }
}

/// A search that starts far below the noise needed does not end there.
#[test]
fn calibration_is_not_led_to_little_noise() {
    let budget = Budget::new(8.0, 1e-5).unwrap();
    for (rate, count) in [(1.6e-5, 100), (1e-4, 30), (1e-3, 10)] {
        let event = |scale| repeated(Neighbours::AddRemove, count, poisson(rate, scale));
        let scale = account::calibrate(&budget, 5e-3..=50.0, event).unwrap();
        let least = achieved(rate, 1.0 / scale, count, 8.0);
        assert!(least <= 1e-5, "{rate} {count}: noise {scale} lets through {least}");
    }
}
