//! Selections through the gate. False failure ≤ 1e-10 a test.

mod noise_common;

use noise_common::{allowed_count_error, fresh};
use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, Cost, Event};
use privet_dp::gate::{Arithmetic, GateError, Private, Session, Statement};
use privet_dp::mechanism::{Scores, Selection, SelectionLaw, Vertex};
use privet_dp::noise::{FixedSeed, Source};
use serde_json::json;

/// Scores of the first step; after a choice its column's score becomes 0.
struct Fixed(Vec<i64>);

impl Scores for Fixed {
    fn advance(&mut self, chosen: Option<Vertex>, report: &mut dyn FnMut(usize, i64)) -> bool {
        match chosen {
            None => self.0.iter().enumerate().for_each(|(column, score)| report(column, *score)),
            Some(vertex) => report(vertex.column, 0),
        }
        true
    }
}

fn selection(law: SelectionLaw, coefficients: Vec<f64>) -> Selection {
    let (neighbours, unit) = (Neighbours::ReplaceOne, Unit::Record);
    Selection { neighbours, unit, sensitivity: 10, law, columns: 4, coefficients }
}

fn run(selection: &Selection, scores: &[i64], source: &mut dyn Source) -> Vec<f64> {
    let planned = selection.event().unwrap();
    let claim = account::guarantee(&planned, 1e-6).unwrap();
    let mut session = Session::start(planned, source);
    let noised = selection.run(Private::new(Fixed(scores.to_vec())), &mut session).unwrap();
    let release =
        session.settle(noised, Statement::new(claim, Arithmetic::Finite, json!({}))).unwrap();
    release.into_parts().0
}

/// With hardly any noise the choice is the descent direction of the steepest column, then of the
/// next one, and coefficients go where they belong.
#[test]
fn the_best_vertices_come_first() {
    for law in [SelectionLaw::Exponential(1.0), SelectionLaw::Laplace(0.5)] {
        let found =
            run(&selection(law, vec![2.0, 3.0, 4.0]), &[700, -900, 0, 500], &mut FixedSeed::new(3));
        assert_eq!(found, [-3.0, 2.0, 0.0, -4.0], "{law:?}");
    }
}

#[test]
fn each_choice_is_charged() {
    let exponential = selection(SelectionLaw::Exponential(0.01), vec![1.0; 7]);
    let Event::Repeat { count: 7, event } = exponential.event().unwrap() else { panic!() };
    let Event::Use { cost: Cost::BoundedRange { range }, .. } = *event else { panic!() };
    assert!((0.2..0.2 + 1e-14).contains(&range), "{range}");
    let laplace = selection(SelectionLaw::Laplace(40.0), vec![1.0]);
    let epsilon = account::epsilon(&laplace.event().unwrap(), 0.0).unwrap();
    assert!((0.5..0.5 + 1e-14).contains(&epsilon), "{epsilon}");
    // What a certificate states can be put back.
    let again = exponential.with_range(range);
    let SelectionLaw::Exponential(rate) = again.law else { panic!() };
    assert!((rate / 0.01 - 1.0).abs() < 1e-14);
}

/// Laplace: the most probable outcome's probability under two neighbouring score vectors, which differ
/// by Δ against it everywhere, is within e^ε, and close to it.
#[test]
fn the_laplace_bound_holds_and_is_nearly_attained() {
    let (mut source, seed) = fresh();
    let laplace = selection(SelectionLaw::Laplace(20.0), vec![1.0]); // ε = 1
    let rounds = 20_000;
    let mut hits = |scores: &[i64]| {
        (0..rounds).filter(|_| run(&laplace, scores, &mut source)[0] > 0.0).count() as f64
    };
    let (one, other) = (hits(&[-50, 0, 0, 0]), hits(&[-40, 10, -10, 10]));
    let slack = allowed_count_error(rounds, 0.5, 4);
    assert!(one - slack <= 1_f64.exp() * (other + slack), "{one} {other}, seed {seed}");
    assert!(one > other + slack, "{one} {other}, seed {seed}");
}

/// What would be another run is refused, and so is a selection that cannot be made.
#[test]
fn nothing_leaves_but_what_was_planned() {
    let planned = selection(SelectionLaw::Exponential(0.1), vec![1.0; 3]);
    let claim = account::guarantee(&planned.event().unwrap(), 1e-6).unwrap();
    for executed in [
        selection(SelectionLaw::Exponential(0.1), vec![1.0; 2]),
        selection(SelectionLaw::Exponential(0.2), vec![1.0; 3]),
        selection(SelectionLaw::Laplace(20.0), vec![1.0; 3]),
    ] {
        let mut source = FixedSeed::new(1);
        let mut session = Session::start(planned.event().unwrap(), &mut source);
        // Another law is refused before it draws; fewer choices than planned, at the end.
        let outcome = match executed.run(Private::new(Fixed(vec![1; 4])), &mut session) {
            Ok(noised) => {
                session.settle(noised, Statement::new(claim, Arithmetic::Finite, json!({}))).err()
            }
            Err(refused) => {
                assert!(!session.spent());
                Some(refused)
            }
        };
        assert_eq!(outcome, Some(GateError::NotAsPlanned));
    }
    for law in [SelectionLaw::Exponential(0.0), SelectionLaw::Laplace(f64::NAN)] {
        assert!(selection(law, vec![1.0]).event().is_err());
    }
    for law in [SelectionLaw::Exponential(1.0), SelectionLaw::Laplace(1.0)] {
        let mut source = FixedSeed::new(1);
        let mut session = Session::start(planned.event().unwrap(), &mut source);
        // A column that does not exist, and no columns at all: refused before any draw.
        let wide = selection(law, vec![1.0]);
        assert!(wide.run(Private::new(Fixed(vec![1; 5])), &mut session).is_err());
        let none = Selection { columns: 0, ..wide };
        assert!(none.run(Private::new(Fixed(vec![])), &mut session).is_err());
        assert!(!session.spent());
    }
}
