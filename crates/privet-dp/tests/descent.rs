//! Noisy descent through the gate.

use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, Event};
use privet_dp::gate::{Arithmetic, GateError, Private, Session};
use privet_dp::mechanism::{Descent, Gaussian, Schedule, Units};
use privet_dp::noise::{FixedSeed, SystemRandom};
use serde_json::json;
use std::sync::atomic::{AtomicU32, Ordering};

const TARGET: [f64; 2] = [300.0, -100.0];

fn descent(noise_scale: f64, steps: u32) -> Descent {
    Descent {
        gaussian: Gaussian {
            neighbours: Neighbours::AddRemove,
            unit: Unit::Record,
            sensitivity: 1.0,
            noise_scale,
            coordinates: 2,
        },
        steps,
        schedule: Schedule { rate: 0.1, momentum: 0.5, ridge: 0.0, averaged: 10, ball: 1000.0 },
    }
}

/// The gradient of ½‖θ − target‖², in units of 2⁻³⁰.
fn gradient(point: &[f64]) -> Option<Private<Units>> {
    let unit = 2_f64.powi(-30);
    let counts = point.iter().zip(TARGET).map(|(x, t)| ((x - t) / unit) as i128).collect();
    Some(Private::new(Units { counts, unit }))
}

/// Every step is recorded, the cost is that of one Gaussian mechanism of √T times the multiplier,
/// and the minimum is found as closely as the noise allows.
#[test]
fn a_descent_settles_and_arrives() {
    let descent = descent(4.0, 200);
    let planned = descent.event().unwrap();
    assert!(matches!(planned, Event::Repeat { count: 200, .. }));
    let claim = account::guarantee(&planned, 1e-6).unwrap();
    let mut source = SystemRandom::new().unwrap();
    let mut session = Session::start(planned, &mut source);
    let noised = descent.run(&mut session, gradient).unwrap();
    let release =
        session.settle(noised.rows_of(1), claim, Arithmetic::Finite, vec![], json!({})).unwrap();
    // What noise leaves has a scale below 2 (4·√0.1, and averaged): ten of those, below 1e-22.
    for (row, target) in release.value().iter().zip(TARGET) {
        assert!((row[0] - target).abs() < 20.0, "{row:?}");
    }
    let one = Gaussian { noise_scale: 10.0, ..self::descent(1.0, 1).gaussian };
    let many = Descent {
        gaussian: Gaussian { noise_scale: 100.0, ..one.clone() },
        ..self::descent(1.0, 100)
    };
    let epsilon = |event: &Event| account::epsilon(event, 1e-6).unwrap();
    let ratio = epsilon(&many.event().unwrap()) / epsilon(&one.event().unwrap());
    assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
}

#[test]
fn fewer_or_more_steps_than_planned_open_nothing() {
    let planned = descent(4.0, 5).event().unwrap();
    let claim = account::guarantee(&planned, 1e-6).unwrap();
    for executed in [descent(4.0, 4), descent(4.0, 6), descent(3.9, 5)] {
        let mut source = FixedSeed::new(1);
        let mut session = Session::start(planned.clone(), &mut source);
        let noised = executed.run(&mut session, gradient).unwrap();
        let outcome = session.settle(noised, claim, Arithmetic::Finite, vec![], json!({}));
        assert_eq!(outcome.err(), Some(GateError::NotAsPlanned));
    }
}

/// A refusal at the first question comes before any noise; at a later one the draws are spent, and
/// nothing is handed out.
#[test]
fn a_refused_question_ends_the_run() {
    for (answers, spent) in [(0, false), (3, true)] {
        let mut source = FixedSeed::new(1);
        let mut session = Session::start(descent(4.0, 5).event().unwrap(), &mut source);
        let asked = AtomicU32::new(0);
        let outcome = descent(4.0, 5).run(&mut session, |point| {
            if asked.fetch_add(1, Ordering::Relaxed) < answers { gradient(point) } else { None }
        });
        assert_eq!(outcome.err(), Some(GateError::Malformed));
        assert_eq!(session.spent(), spent);
    }
    // A sum of the wrong length, or in units that are no power of two.
    for (length, unit) in [(1, 1.0), (2, 0.3)] {
        let mut source = FixedSeed::new(1);
        let mut session = Session::start(descent(4.0, 5).event().unwrap(), &mut source);
        let outcome = descent(4.0, 5)
            .run(&mut session, |_| Some(Private::new(Units { counts: vec![0; length], unit })));
        assert_eq!(outcome.err(), Some(GateError::Malformed));
    }
}
