//! Very many tiny losses, where a rounding error a use decides: never below a loss that is attained.
//!
//! The lower bounds here share no code with the composition of losses: closed forms, and the limit
//! theorem with its error (Berry and Esseen's, with the constant 0.56).

use privet_core::{Neighbours, Unit};
use privet_dp::account::{
    Cost, Event, Grid, LossShape, ObjectiveCost, ObjectiveNoise, Sign, delta, epsilon, gaussian,
    sampled,
};

fn sampled_event(rate: f64, noise_scale: f64, neighbours: Neighbours) -> Event {
    let cost = Cost::PoissonGaussian { rate, sensitivity: 1.0, noise_scale, grid: None };
    Event::Use { neighbours, unit: Unit::Record, cost }
}

fn laplace(sensitivity: f64, neighbours: Neighbours) -> Event {
    let cost = Cost::Laplace { sensitivity, noise_scale: 1.0, step: None };
    Event::Use { neighbours, unit: Unit::Record, cost }
}

/// 2^`power` uses.
fn doubled(event: Event, power: u32) -> Event {
    let half = power / 2;
    let inner = Event::Repeat { count: 1 << half, event: Box::new(event) };
    Event::Repeat { count: 1 << (power - half), event: Box::new(inner) }
}

/// Differences of e^loss below 10⁻¹⁵ have no digits: 2⁴⁰ such uses once seemed to cost δ = 10⁻¹⁵⁰ at
/// ε = 10⁻⁶, where a Gaussian release with the same variance of the loss costs 9.5·10⁻⁸.
#[test]
fn a_million_million_tiny_losses_are_not_free() {
    for (neighbours, moves, known) in
        [(Neighbours::ReplaceOne, 2.0, 9.5e-8), (Neighbours::AddRemove, 1.0, 5.7e-9)]
    {
        let event = doubled(sampled_event(0.01, 2e10, neighbours), 40);
        let limit = gaussian::delta(1e-6, moves * 0.01 / 2e10 * (1_u64 << 20) as f64);
        assert!((limit / known - 1.0).abs() < 0.01, "{limit} {known}");
        let actual = delta(&event, 1e-6).unwrap();
        assert!((limit * (1.0 - 1e-6)..5.0 * limit).contains(&actual), "{actual} {limit}");
    }
}

/// Nor does adding them make anything cheaper.
#[test]
fn adding_tiny_losses_never_lowers_epsilon() {
    for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
        let ten = Event::Repeat { count: 10, event: Box::new(laplace(0.3, neighbours)) };
        let tiny = doubled(sampled_event(0.01, 2e10, neighbours), 40);
        let alone = epsilon(&ten, 1e-9).unwrap();
        let both = epsilon(&Event::All(vec![ten, tiny]), 1e-9).unwrap();
        assert!(both >= alone * (1.0 - 1e-7), "{both} {alone}");
    }
}

/// One sampled release under replace-one, at a shift below the last digit of 1.
#[test]
fn a_shift_below_the_last_digit_of_one_is_seen() {
    for (noise_scale, e, want) in
        [(1e16, 1.05e-16, 7.6e-18), (1e12, 1.05e-12, 7.6e-14), (1e3, 1.05e-3, 7.6e-5)]
    {
        let actual = delta(&sampled_event(0.5, noise_scale, Neighbours::ReplaceOne), e).unwrap();
        assert!((actual / want - 1.0).abs() < 0.01, "{noise_scale}: {actual} {want}");
    }
}

/// One sampled release at shifts from 10⁻¹⁸ on: never below mpmath's, and close to it.
#[test]
fn one_sampled_release_is_just_above_the_truth_at_every_scale() {
    let rows: Vec<(String, f64, f64, f64, f64)> =
        serde_json::from_str(include_str!("../../vectors/tiny.json")).unwrap();
    assert!(rows.len() > 400);
    for (name, rate, shift, e, want) in rows {
        let curve = match name.as_str() {
            "present" => sampled::present,
            "absent" => sampled::absent_record_delta,
            _ => sampled::opposite_shifts_delta,
        };
        let actual = curve(e, rate, shift);
        // The digits of the file are rounded, too; `absent` is rounded up where w is near 0.
        assert!(
            actual >= want * (1.0 - 2e-16),
            "{name} {rate:e} {shift:e} {e:e}: {actual:e} {want:e}"
        );
        let loose = if name == "absent" { 1e-6 } else { 1e-9 };
        assert!(
            actual <= want * (1.0 + loose),
            "{name} {rate:e} {shift:e} {e:e}: {actual:e} {want:e}"
        );
    }
}

/// Numbers that look random, the same ones every time.
struct Numbers(u64);

impl Numbers {
    fn unit(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// 10 to a uniform power.
    fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(low + (high - low) * self.unit())
    }
}

/// Any event of any size, under add/remove.
fn any(numbers: &mut Numbers) -> Event {
    let cost = match (8.0 * numbers.unit()) as u32 {
        0 => Cost::PoissonGaussian {
            rate: numbers.magnitude(-12.0, -0.01),
            sensitivity: 1.0,
            noise_scale: numbers.magnitude(-2.0, 18.0),
            grid: None,
        },
        1 => Cost::Gaussian {
            sensitivity: numbers.magnitude(-18.0, 1.0),
            noise_scale: 1.0,
            grid: None,
        },
        2 => Cost::Laplace {
            sensitivity: numbers.magnitude(-18.0, 1.0),
            noise_scale: 1.0,
            step: None,
        },
        3 => Cost::BoundedRange { range: numbers.magnitude(-18.0, 1.0) },
        4 => Cost::ZeroConcentrated { rho: numbers.magnitude(-30.0, 1.0) },
        5 => Cost::Pure { epsilon: numbers.magnitude(-18.0, 1.0) },
        6 => Cost::Laplace {
            sensitivity: numbers.magnitude(-9.0, 1.0),
            noise_scale: 1.0,
            step: Some(1e-9),
        },
        _ => Cost::Objective(ObjectiveCost {
            loss: LossShape { lipschitz: 1.0, curvature: 0.25, sign: Sign::Fixed, logistic: true },
            radius: 1.0,
            ridge: numbers.magnitude(-3.0, 12.0),
            noise: ObjectiveNoise::Gaussian {
                noise_scale: numbers.magnitude(-1.0, 15.0),
                grid: None,
            },
        }),
    };
    let event = Event::Use { neighbours: Neighbours::AddRemove, unit: Unit::Record, cost };
    doubled(event, (40.0 * numbers.unit() * numbers.unit()) as u32)
}

/// Whatever is added, δ stays at or above that of a part whose curve is known in closed form.
#[test]
fn no_addition_makes_a_closed_form_cheaper() {
    let mut numbers = Numbers(12);
    for round in 0..150 {
        let scale = numbers.magnitude(-15.0, 0.5);
        let (alone, e, known) = match round % 3 {
            0 => {
                let e = scale * 3.0 * numbers.unit();
                let cost = Cost::Gaussian { sensitivity: scale, noise_scale: 1.0, grid: None };
                (cost, e, gaussian::delta(e, scale))
            }
            1 => {
                let e = scale * numbers.unit();
                let cost = Cost::Laplace { sensitivity: scale, noise_scale: 1.0, step: None };
                (cost, e, -(0.5 * (e - scale)).exp_m1())
            }
            _ => {
                let e = scale * numbers.unit();
                (Cost::Pure { epsilon: scale }, e, -(e - scale).exp_m1() / (1.0 + (-scale).exp()))
            }
        };
        let alone =
            Event::Use { neighbours: Neighbours::AddRemove, unit: Unit::Record, cost: alone };
        let added: Vec<Event> = (0..1 + round % 3).map(|_| any(&mut numbers)).collect();
        let event = Event::All(std::iter::once(alone).chain(added).collect());
        let actual = delta(&event, e).unwrap();
        assert!(
            actual >= known * (1.0 - 1e-12) && actual <= 1.0,
            "{actual:e} {known:e} at {e:e}: {event:?}"
        );
    }
}

/// N uses of a sampled release with a tiny shift: by the limit theorem the sum of the losses is above
/// e+a with a probability of at least Φ̄((e+a−m)/s)−0.56·E|X|³/√N, and each such loss costs at least
/// 1−e^{−a}.
#[test]
fn very_many_tiny_losses_are_never_below_their_limit() {
    let mut numbers = Numbers(3);
    for round in 0..60 {
        let power = 20 + (21.0 * numbers.unit()) as u32;
        let rate = numbers.magnitude(-9.0, -0.5);
        let noise_scale = numbers.magnitude(3.0, 18.0);
        let (neighbours, moves) = if round % 2 == 0 {
            (Neighbours::AddRemove, 1.0)
        } else {
            (Neighbours::ReplaceOne, 2.0)
        };
        let uses = (1_u64 << power) as f64;
        // To within a thousandth: shifts are below 10⁻³.
        let spread = moves * rate / noise_scale * uses.sqrt() * (1.0 - 2e-3);
        if spread > 2.0 {
            continue;
        }
        let e = spread * 2.5 * numbers.unit();
        let away = 0.7 * spread;
        let reached = (e + away - spread * spread / 2.0) / spread;
        let rare = 0.5 * libm::erfc(reached / std::f64::consts::SQRT_2);
        let least = (rare - 0.56 * 1.61 / uses.sqrt()) * -(-away).exp_m1();
        let event = doubled(sampled_event(rate, noise_scale, neighbours), power);
        let actual = delta(&event, e).unwrap();
        assert!(actual >= least, "{actual:e} {least:e} at {e:e}: {event:?}");
        // And δ falls with ε, and is met by the ε that is found for it.
        let back = epsilon(&event, actual.min(0.5)).unwrap();
        assert!(delta(&event, back).unwrap() <= actual.min(0.5) * (1.0 + 1e-9), "{back} {e}");
    }
}

/// Squares of very many leaves are added up, each sum rounded up: listing them is never cheaper than
/// repeating one.
#[test]
fn a_long_list_of_small_leaves_costs_what_its_repetition_does() {
    let leaf = |mu: f64| Event::Use {
        neighbours: Neighbours::AddRemove,
        unit: Unit::Record,
        cost: Cost::Gaussian { sensitivity: mu, noise_scale: 1.0, grid: None },
    };
    let (large, small, count) = (leaf(1.0), leaf(1.03e-8), 100_000);
    let mut listed = vec![large.clone()];
    listed.extend((0..count).map(|_| small.clone()));
    let together = (1.0 + f64::from(count) * 1.03e-8_f64.powi(2)).sqrt();
    for e in [1.0, 8.0, 30.0] {
        let actual = delta(&Event::All(listed.clone()), e).unwrap();
        let truth = gaussian::delta(e, together * (1.0 - 1e-15));
        assert!(actual >= truth * (1.0 - 1e-12), "{e}: {actual:e} is below {truth:e}");
        assert!(actual <= truth * (1.0 + 1e-6));
    }
}

/// A printed plan that proves nothing is rejected at once: dozens of compositions would only show it
/// slowly.
#[test]
fn noise_far_too_small_has_no_epsilon() {
    let step = Event::Use {
        neighbours: Neighbours::ReplaceOne,
        unit: Unit::Record,
        cost: Cost::PoissonGaussian {
            rate: 0.0025,
            sensitivity: 1.0,
            noise_scale: 0.0117,
            grid: Some(Grid { step: 2_f64.powi(-47), coordinates: 9 }),
        },
    };
    let all = Event::Repeat { count: 1000, event: Box::new(step) };
    assert_eq!(epsilon(&all, 1e-6), Ok(f64::INFINITY));
}
