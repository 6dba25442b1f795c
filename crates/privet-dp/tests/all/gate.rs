//! The gate opens for exactly the planned events, and for nothing else.

use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, Event, LossShape, ObjectiveCost, ObjectiveNoise, Sign};
use privet_dp::gate::{Arithmetic, CertificateError, GateError, Private, Session, Statement};
use privet_dp::mechanism::{Distance, Gaussian, Laplace, OutputLaw, PerturbedObjective};
use privet_dp::noise::{FixedSeed, SystemRandom};
use serde_json::json;

fn gaussian(noise_scale: f64) -> Gaussian {
    Gaussian {
        neighbours: Neighbours::ReplaceOne,
        unit: Unit::Record,
        sensitivity: 1.0,
        noise_scale,
        coordinates: 3,
    }
}

fn value() -> Private<Vec<f64>> {
    Private::new(vec![1.0, -2.0, 1e6])
}

fn twice(event: Event) -> Event {
    Event::Repeat { count: 2, event: Box::new(event) }
}

#[test]
fn what_was_planned_is_released_with_its_certificate() {
    let mechanism = gaussian(4.0);
    let planned = twice(mechanism.event().unwrap());
    let claim = account::guarantee(&planned, 1e-6).unwrap();
    let mut source = SystemRandom::new().unwrap();
    let mut session = Session::start(planned, &mut source);
    assert!(!session.has_spent());
    let first = mechanism.run(value(), &mut session).unwrap();
    assert!(session.has_spent());
    let second = mechanism.run(value(), &mut session).unwrap();
    let both = session.gather(vec![first, second]).unwrap();
    let release =
        session.settle(both, Statement::new(claim, Arithmetic::Finite, json!({}))).unwrap();
    assert_eq!(release.value().len(), 2);
    assert_eq!(release.certificate().recheck().unwrap(), Some(claim));
}

#[test]
fn less_noise_than_planned_or_another_mechanism_opens_nothing() {
    let claim = account::guarantee(&gaussian(4.0).event().unwrap(), 1e-6).unwrap();
    for executed in [3.9, 4.1] {
        let mut source = FixedSeed::new(1);
        let mut session = Session::start(gaussian(4.0).event().unwrap(), &mut source);
        let refused = gaussian(executed).run(value(), &mut session);
        assert_eq!(refused.err(), Some(GateError::NotAsPlanned));
        assert!(!session.has_spent(), "refused before anything was drawn");
    }
    // One draw too few.
    let mut source = FixedSeed::new(1);
    let mut session = Session::start(twice(gaussian(4.0).event().unwrap()), &mut source);
    let noisy = gaussian(4.0).run(value(), &mut session).unwrap();
    let outcome = session.settle(noisy, Statement::new(claim, Arithmetic::Finite, json!({})));
    assert_eq!(outcome.err(), Some(GateError::NotAsPlanned));
}

#[test]
fn a_value_of_another_run_is_refused() {
    let event = gaussian(4.0).event().unwrap();
    let claim = account::guarantee(&event, 1e-6).unwrap();
    let (mut one, mut two) = (FixedSeed::new(1), FixedSeed::new(2));
    let mut first = Session::start(event.clone(), &mut one);
    let mut second = Session::start(event, &mut two);
    let foreign = gaussian(4.0).run(value(), &mut first).unwrap();
    let _own = gaussian(4.0).run(value(), &mut second).unwrap();
    let outcome = second.settle(foreign, Statement::new(claim, Arithmetic::Finite, json!({})));
    assert_eq!(outcome.err(), Some(GateError::Foreign));
}

#[test]
fn the_gate_does_not_believe_a_claim() {
    let event = gaussian(4.0).event().unwrap();
    let honest = account::guarantee(&event, 1e-6).unwrap();
    let mut boast = honest;
    boast.epsilon /= 2.0;
    let mut source = SystemRandom::new().unwrap();
    let mut session = Session::start(event, &mut source);
    let noisy = gaussian(4.0).run(value(), &mut session).unwrap();
    let release = session.settle(noisy, Statement::new(boast, Arithmetic::Finite, json!({})));
    let mut certificate = release.unwrap().certificate().clone();
    assert_eq!(certificate.guarantee.as_ref(), Some(&honest));
    // Nor does a later reader.
    certificate.guarantee = Some(boast);
    assert!(matches!(certificate.recheck(), Err(CertificateError::TooStrong { .. })));
}

#[test]
fn a_fixed_seed_claims_nothing() {
    let event = gaussian(4.0).event().unwrap();
    let claim = account::guarantee(&event, 1e-6).unwrap();
    let mut source = FixedSeed::new(1);
    let mut session = Session::start(event, &mut source);
    let noisy = gaussian(4.0).run(value(), &mut session).unwrap();
    let release =
        session.settle(noisy, Statement::new(claim, Arithmetic::Finite, json!({}))).unwrap();
    let certificate = release.certificate();
    assert_eq!(certificate.recheck().unwrap(), None);
    assert!(certificate.guarantee.as_ref().unwrap().epsilon.is_infinite());
    assert!(certificate.notes[0].contains("NOT PRIVATE"));
}

fn perturbed() -> PerturbedObjective {
    PerturbedObjective {
        neighbours: Neighbours::ReplaceOne,
        unit: Unit::Record,
        objective: ObjectiveCost {
            loss: LossShape { lipschitz: 1.0, curvature: 0.25, sign: Sign::Fixed, logistic: true },
            radius: 1.0,
            ridge: 2.0,
            noise: ObjectiveNoise::Gaussian { noise_scale: 8.0, grid: None },
        },
        tolerance: 1e-3,
        coordinates: 3,
        output: OutputLaw::Gaussian(0.5),
    }
}

#[test]
fn a_token_wants_the_distance_proved() {
    let planned = perturbed().event().unwrap();
    for bad in [6e-4, f64::NAN, f64::INFINITY] {
        let mut source = FixedSeed::new(1);
        let mut session = Session::start(planned.clone(), &mut source);
        let (noise, token) = perturbed().draw(&mut session).unwrap();
        assert_eq!(noise.as_slice().len(), 3);
        let outcome = token.release(value(), Distance(bad), &mut session);
        assert_eq!(outcome.err(), Some(GateError::NotCertified));
        assert!(session.has_spent());
    }
    let mut source = FixedSeed::new(1);
    let mut session = Session::start(planned, &mut source);
    let (_, token) = perturbed().draw(&mut session).unwrap();
    assert!(token.release(value(), Distance(5e-4), &mut session).is_ok());
}

/// Otherwise a minimiser drawn with little noise could leave under the record of another run.
#[test]
fn a_token_of_another_run_is_refused() {
    let mut weak = perturbed();
    weak.objective.noise = ObjectiveNoise::Gaussian { noise_scale: 0.01, grid: None };
    let (mut one, mut two) = (FixedSeed::new(1), FixedSeed::new(2));
    let mut first = Session::start(weak.event().unwrap(), &mut one);
    let mut second = Session::start(perturbed().event().unwrap(), &mut two);
    let (_, foreign) = weak.draw(&mut first).unwrap();
    let (_, _own) = perturbed().draw(&mut second).unwrap();
    let outcome = foreign.release(value(), Distance(1e-4), &mut second);
    assert_eq!(outcome.err(), Some(GateError::Foreign));
}

/// Δ_out = 2(γ + η)/λ + rounding, never less.
#[test]
fn the_output_sensitivity_contains_every_part() {
    let event = perturbed().event().unwrap();
    let Event::Use { cost: account::Cost::ApproximateMinima { output_sensitivity, .. }, .. } =
        event
    else {
        panic!("not the event of approximate minima");
    };
    let (step_b, step_out) = (2_f64.powi(3 - 40), 2_f64.powi(-1 - 40));
    let root = 3_f64.sqrt();
    let needed = 2.0 * (1e-3 + step_b * root / 2.0) / 2.0 + step_out * root;
    assert!(output_sensitivity >= needed && output_sensitivity < needed * (1.0 + 1e-12));
}

/// Released values sit on the grid, so that no bit below it can tell neighbours apart.
#[test]
fn released_values_sit_on_the_grid() {
    let laplace = Laplace {
        neighbours: Neighbours::AddRemove,
        unit: Unit::Record,
        sensitivity: 1.0,
        noise_scale: 3.0,
        step: 0.25,
        on_grid: false,
        coordinates: 2,
    };
    let mixed = Event::All(vec![laplace.event(), gaussian(4.0).event().unwrap()]);
    let refusal = account::guarantee(&mixed, 1e-6).unwrap_err().to_string();
    assert!(refusal.contains("group privacy"), "mixed relations are refused: {refusal}");

    let claim = account::guarantee(&laplace.event(), 0.0).unwrap();
    assert!((claim.epsilon - (1.0 + 2.0 * 0.25) / 3.0).abs() < 1e-12);
    let mut source = FixedSeed::new(5);
    let mut session = Session::start(laplace.event(), &mut source);
    let noisy = laplace.run(Private::new(vec![0.1, 17.3]), &mut session).unwrap();
    let release =
        session.settle(noisy, Statement::new(claim, Arithmetic::Finite, json!({}))).unwrap();
    assert!(release.value().iter().all(|x| (x / 0.25).fract() == 0.0));
}
