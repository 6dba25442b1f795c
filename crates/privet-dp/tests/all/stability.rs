//! The stability test through the gate. False failure ≤ 1e-10 a test.

use crate::noise_common::{allowed_count_error, fresh};
use privet_core::{Neighbours, Unit};
use privet_dp::account;
use privet_dp::gate::{Arithmetic, GateError, Private, Session, Statement};
use privet_dp::mechanism::{Stability, WithDistance};
use privet_dp::noise::Source;
use serde_json::json;

fn test(noise_scale: f64, delta: f64) -> Stability {
    Stability { neighbours: Neighbours::AddRemove, unit: Unit::Record, noise_scale, delta }
}

fn run(test: &Stability, distance: i64, source: &mut dyn Source) -> Option<u8> {
    let planned = test.event().unwrap();
    let claim = account::guarantee(&planned, 0.1).unwrap();
    let mut session = Session::start(planned, source);
    let actual = WithDistance { answer: 7, distance };
    let noisy = test.run(Private::new(actual), &mut session).unwrap();
    let statement = Statement::new(claim, Arithmetic::Finite, json!({}));
    session.settle(noisy, statement).unwrap().into_parts().0
}

/// Pr[N > t] ≤ δ, and one less would be too much.
#[test]
fn the_threshold_is_the_least_that_leaks_no_more_than_delta() {
    for scale in [0.01_f64, 0.3, 1.0, 2.0, 17.5, 1e4] {
        for delta in [0.4_f64, 1e-2, 1e-6, 1e-30, 1e-300] {
            let decay = (-1.0 / scale).exp();
            let ln_beyond = |t: f64| -(t + 1.0) / scale - decay.ln_1p();
            let t = test(scale, delta).threshold() as f64;
            assert!(ln_beyond(t) <= delta.ln(), "{scale} {delta} {t}");
            assert!(t == 0.0 || ln_beyond(t - 1.0) > delta.ln() - 1e-9, "{scale} {delta} {t}");
        }
    }
}

/// The charge is (1/s, δ), as the theorem says, and no more.
#[test]
fn it_costs_epsilon_and_delta() {
    let event = test(0.5, 1e-6).event().unwrap();
    let epsilon = account::epsilon(&event, 1e-6).unwrap();
    assert!((2.0..2.0 + 1e-9).contains(&epsilon), "{epsilon}");
    assert!(account::delta(&event, 0.0).unwrap() > 0.4);
    for bad in [0.0, 0.5, f64::NAN, -1.0] {
        assert!(test(1.0, bad).event().is_err(), "{bad}");
        assert!(test(bad.min(0.0), 1e-6).event().is_err(), "{bad}");
    }
}

/// The frequency of an answer at each distance is that of the discrete Laplace law: at 0 at most δ.
#[test]
fn answers_come_out_as_often_as_the_law_says() {
    let (draws, delta) = (2_000, 0.01);
    let test = test(1.5, delta);
    let t = test.threshold();
    let (mut source, seed) = fresh();
    let decay = (-1.0_f64 / 1.5).exp();
    for distance in [0, 1, t, t + 1, t + 4] {
        let needed = t + 1 - distance;
        let expected = match needed {
            1.. => decay.powi(needed as i32) / (1.0 + decay),
            _ => 1.0 - decay.powi((1 - needed) as i32) / (1.0 + decay),
        };
        let released = (0..draws).filter(|_| run(&test, distance, &mut source).is_some()).count();
        let gap = (released as f64 - draws as f64 * expected).abs();
        assert!(
            gap <= allowed_count_error(draws, expected, 5),
            "{distance}: {released}, seed {seed}"
        );
        assert!(distance > 0 || expected <= delta);
    }
    // Far below 0 is 0.
    assert!((0..200).all(|_| run(&test, i64::MIN, &mut source).is_none() || t < 40));
}

/// Nothing is drawn for a test that was not planned.
#[test]
fn another_test_than_planned_is_refused() {
    let (mut source, _) = fresh();
    let mut session = Session::start(test(1.0, 1e-6).event().unwrap(), &mut source);
    let actual = Private::new(WithDistance { answer: 7_u8, distance: 99 });
    let other = test(0.5, 1e-6).run(actual, &mut session);
    assert_eq!(other.err(), Some(GateError::NotAsPlanned));
    assert!(!session.has_spent());
}
