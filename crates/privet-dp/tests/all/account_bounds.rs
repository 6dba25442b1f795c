//! Events of a hostile file: refused, or bounded, and δ falls as ε grows.

use privet_core::{Neighbours, Unit};
use privet_dp::account::{
    AccountError, Cost, Event, Grid, Guarantee, LossShape, ObjectiveCost, ObjectiveNoise, Sign,
    delta, epsilon,
};

fn once(cost: Cost) -> Event {
    Event::Use { neighbours: Neighbours::AddRemove, unit: Unit::Record, cost }
}

fn laplace(sensitivity: f64) -> Event {
    once(Cost::Laplace { sensitivity, noise_scale: 1.0, step: None })
}

/// Comparing ever more different mechanisms with each other would take ever longer.
#[test]
fn too_many_different_mechanisms_are_refused() {
    let all = |count: u32| Event::All((1..=count).map(|k| laplace(1e-9 * f64::from(k))).collect());
    assert!(epsilon(&all(4096), 0.0).is_ok());
    assert_eq!(delta(&all(4097), 1.0), Err(AccountError::TooManyKinds { most: 4096 }));
    assert_eq!(delta(&all(200_000), 1.0), Err(AccountError::TooManyKinds { most: 4096 }));
}

/// ρ adds up: a list of parts costs the same as its sum, and composing each part's curve cost more.
#[test]
fn concentrated_parts_add_up() {
    let concentrated = |rho: f64| once(Cost::ZeroConcentrated { rho });
    let many = Event::All((1..=40).map(|k| concentrated(1e-3 * f64::from(k))).collect());
    let one = concentrated(0.82);
    for e in [0.5, 3.0, 9.0] {
        let (many, one) = (delta(&many, e).unwrap(), delta(&one, e).unwrap());
        assert!((many / one - 1.0).abs() < 1e-9, "{e}: {many} {one}");
    }
}

/// A stated δ is within a budget's limits: smaller ones took a minute.
#[test]
fn a_guarantee_is_read_within_the_limits_of_a_budget() {
    let read = |delta: &str| {
        let neighbours = serde_json::to_string(&Neighbours::AddRemove).unwrap();
        let unit = serde_json::to_string(&Unit::Record).unwrap();
        let text =
            format!(r#"{{"neighbours":{neighbours},"unit":{unit},"epsilon":1.0,"delta":{delta}}}"#);
        serde_json::from_str::<Guarantee>(&text)
    };
    for good in ["0.0", "1e-100", "1e-6"] {
        assert!(read(good).is_ok(), "{good}");
    }
    for bad in ["1e-300", "-1.0", "1.0"] {
        assert!(read(bad).unwrap_err().to_string().contains("delta"), "{bad}");
    }
}

/// The charge for a grid grows with e^ε, and once made δ(700) far larger than δ(25).
#[test]
fn delta_falls_with_epsilon_also_where_a_grid_is_charged() {
    let gaussian = |noise_scale: f64, bits: i32| {
        let grid = Some(Grid { step: noise_scale * 2_f64.powi(-bits), coordinates: 1000 });
        once(Cost::Gaussian { sensitivity: 1.0, noise_scale, grid })
    };
    let objective = |noise_scale: f64| {
        once(Cost::Objective(ObjectiveCost {
            loss: LossShape { lipschitz: 1.0, curvature: 0.25, sign: Sign::Fixed, logistic: true },
            radius: 1.0,
            ridge: 1.0,
            noise: ObjectiveNoise::Gaussian {
                noise_scale,
                grid: Some(Grid { step: noise_scale * 2_f64.powi(-30), coordinates: 20 }),
            },
        }))
    };
    let leaky = once(Cost::Approximate { epsilon: 0.1, delta: 1e-7 });
    let events = [
        gaussian(1.0, 12),
        gaussian(5.0, 30),
        gaussian(0.3, 40),
        objective(3.0),
        Event::All(vec![gaussian(4.0, 30), leaky]),
        Event::All(vec![gaussian(4.0, 30), once(Cost::Pure { epsilon: 0.5 })]),
    ];
    for event in events {
        let mut last = 1.0;
        for k in 0..400 {
            let e = 1e-3 * 1.04_f64.powi(k);
            let here = delta(&event, e).unwrap();
            assert!(here <= last * (1.0 + 1e-12), "{e}: {here:e} after {last:e}, {event:?}");
            last = here;
        }
        assert!(last <= delta(&event, 25.0).unwrap() * (1.0 + 1e-12));
        assert!(delta(&event, f64::MAX).unwrap() <= last * (1.0 + 1e-12));
    }
}
