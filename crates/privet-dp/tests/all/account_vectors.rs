//! Accounting against independent sources: `vectors/*.json`, each with the script that wrote it.

use crate::account_common::Composition;
use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, Cost, Event, concentrated, gaussian, pure};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Curve {
    kind: String,
    parameter: f64,
    epsilon: f64,
    delta: f64,
    of: String,
}

fn event(kind: &str, parameter: f64) -> Event {
    let cost = match kind {
        "gaussian" => Cost::Gaussian { sensitivity: parameter, noise_scale: 1.0, grid: None },
        "laplace" => Cost::Laplace { sensitivity: parameter, noise_scale: 1.0, step: None },
        "pure" => Cost::Pure { epsilon: parameter },
        "zcdp" => Cost::ZeroConcentrated { rho: parameter },
        _ => panic!("unknown kind {kind}"),
    };
    Event::Use { neighbours: Neighbours::ReplaceOne, unit: Unit::Record, cost }
}

/// `curves.json` by `curves.py` (mpmath): never below the reference, at most 1e-9 above.
#[test]
fn single_mechanisms_are_never_below_the_reference() {
    let cases: Vec<Curve> =
        serde_json::from_str(include_str!("../../vectors/curves.json")).expect("curves.json");
    assert!(cases.len() > 200);
    for case in cases {
        let event = event(&case.kind, case.parameter);
        let (got, want) = match case.of.as_str() {
            "delta" => (account::delta(&event, case.epsilon).unwrap(), case.delta),
            _ => (account::epsilon(&event, case.delta).unwrap(), case.epsilon),
        };
        assert!(got >= want, "rounded the unsafe way: {got:e} for {case:?}");
        assert!(got <= want * (1.0 + 1e-9), "loose: {got:e} for {case:?}");
    }
}

/// The curves themselves, at the same places as through an event.
#[test]
fn curves_and_events_agree() {
    for e in [0.0, 0.3, 1.0] {
        let through = |kind, parameter| account::delta(&event(kind, parameter), e).unwrap();
        assert!((through("laplace", 1.5) / pure::laplace(e, 1.5) - 1.0).abs() < 1e-11);
        assert!((through("pure", 1.5) / pure::response(e, 1.5) - 1.0).abs() < 1e-11);
        assert!((through("gaussian", 0.7) / gaussian::delta(e, 0.7) - 1.0).abs() < 1e-11);
        assert!((through("zcdp", 0.7) / concentrated::delta(0.7, e) - 1.0).abs() < 1e-11);
    }
}

/// δ at every point is inside [L(1−1e-9), 1.005·U] of the reference's optimistic and pessimistic
/// estimates, and the ε at that δ is the original one. Returns the number of points.
fn bracketed(name: &str, text: &str) -> usize {
    let cases: Vec<Composition> = serde_json::from_str(text).expect(name);
    let mut wrong = Vec::new();
    for case in &cases {
        let delta = account::delta(&case.event, case.epsilon).unwrap();
        if !(case.low * (1.0 - 1e-9)..=case.high * 1.005).contains(&delta) {
            wrong.push(format!("{delta:e} for {case:?}"));
        }
    }
    assert!(wrong.is_empty(), "{name}, {} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    cases.len()
}

/// `composition.json`, `sampled.json` and `batches.json` by the scripts of the same names
/// (`dp-accounting` at discretisation 1e-5).
#[test]
fn compositions_lie_between_optimist_and_pessimist() {
    let plain = bracketed("composition.json", include_str!("../../vectors/composition.json"));
    let sampled = bracketed("sampled.json", include_str!("../../vectors/sampled.json"));
    let batches = bracketed("batches.json", include_str!("../../vectors/batches.json"));
    assert!(plain >= 70 && sampled >= 120 && batches >= 50, "{plain} {sampled} {batches}");
    assert!(plain + sampled + batches >= 200);
}

/// The inverse: the ε at the computed δ is the original one, nearly.
#[test]
fn epsilons_of_compositions_lead_back() {
    let cases: Vec<Composition> =
        serde_json::from_str(include_str!("../../vectors/composition.json")).expect("composition");
    for case in &cases {
        let delta = account::delta(&case.event, case.epsilon).unwrap();
        let epsilon = account::epsilon(&case.event, delta).unwrap();
        assert!(epsilon <= case.epsilon * (1.0 + 1e-6), "{epsilon} for {case:?}");
    }
}
