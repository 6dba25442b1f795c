//! Selections through the gate. False failure ≤ 1e-10 a test.

use crate::noise_common::{allowed_count_error, fresh};
use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, Cost, Event};
use privet_dp::gate::{Arithmetic, GateError, Private, Session, Statement};
use privet_dp::mechanism::{Choice, Scores, Selection, SelectionLaw, Vertex};
use privet_dp::noise::{FixedSeed, SignedChoice, Source};
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
    Selection { neighbours, unit, sensitivity: 10, law, columns: 4, coefficients, peeled: None }
}

fn run(selection: &Selection, scores: &[i64], source: &mut dyn Source) -> Vec<f64> {
    let planned = selection.event().unwrap();
    let claim = account::guarantee(&planned, 1e-6).unwrap();
    let mut session = Session::start(planned, source);
    let noisy = selection.run(Private::new(Fixed(scores.to_vec())), &mut session).unwrap();
    let release =
        session.settle(noisy, Statement::new(claim, Arithmetic::Finite, json!({}))).unwrap();
    release.into_parts().0
}

/// With hardly any noise the choice is the descent direction of the steepest column, then of the next
/// one, and coefficients are added at their columns.
#[test]
fn the_best_vertices_come_first() {
    for law in [SelectionLaw::Exponential(1.0), SelectionLaw::Laplace(0.5)] {
        let actual =
            run(&selection(law, vec![2.0, 3.0, 4.0]), &[700, -900, 0, 500], &mut FixedSeed::new(3));
        assert_eq!(actual, [-3.0, 2.0, 0.0, -4.0], "{law:?}");
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
    // The range that a certificate states reproduces the selection.
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

/// A run that differs from the plan is refused, and so is a selection that cannot be made.
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
            Ok(noisy) => {
                session.settle(noisy, Statement::new(claim, Arithmetic::Finite, json!({}))).err()
            }
            Err(refused) => {
                assert!(!session.has_spent());
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
        assert!(!session.has_spent());
    }
}

/// A chosen column cannot be chosen again, nor the columns that it removes.
#[test]
fn peeled_columns_come_once() {
    for law in [SelectionLaw::Exponential(1e-9), SelectionLaw::Laplace(1e6)] {
        for seed in 0..20 {
            let all = Selection { peeled: Some(4), ..selection(law, vec![1.0; 4]) };
            let actual = run(&all, &[5, -9, 0, 7], &mut FixedSeed::new(seed));
            assert_eq!(actual.iter().map(|x| x.abs()).collect::<Vec<_>>(), [1.0; 4], "{law:?}");
            let halves = Selection { peeled: Some(2), ..selection(law, vec![1.0; 2]) };
            let actual = run(&halves, &[5, -9, 0, 7], &mut FixedSeed::new(seed));
            let classes = [actual[0].abs() + actual[2].abs(), actual[1].abs() + actual[3].abs()];
            assert_eq!(classes, [1.0; 2], "{law:?}: {actual:?}");
        }
    }
}

/// After columns are removed the law is that over the others; the last one stays.
#[test]
fn choices_have_the_law_of_what_is_left() {
    let (rate, draws) = (0.01, 200_000_usize);
    let scores = [100_i64, -50, 9_000, 30, 0];
    let mut choice = SignedChoice::new(5, rate).unwrap();
    scores.iter().enumerate().for_each(|(column, score)| choice.set(column, *score));
    choice.remove(2);
    choice.remove(3);
    choice.set(3, 20_000);
    let (mut source, seed) = fresh();
    let mut counts = [0_u32; 5];
    (0..draws).for_each(|_| counts[choice.draw(&mut source).0] += 1);
    let weights = [0, 1, 4].map(|column: usize| 2.0 * (rate * scores[column] as f64).cosh());
    assert_eq!((counts[2], counts[3]), (0, 0));
    for (column, weight) in [0, 1, 4].into_iter().zip(weights) {
        let expected = weight / weights.iter().sum::<f64>();
        let gap = (f64::from(counts[column]) - draws as f64 * expected).abs();
        assert!(gap <= allowed_count_error(draws, expected, 3), "{counts:?}, seed {seed}");
    }
    [0, 1, 4].into_iter().for_each(|column| choice.remove(column));
    assert_eq!(choice.draw(&mut source).0, 4);
}

/// One choice of a list: charged for its spread, and of the law.
#[test]
fn a_choice_of_a_list_has_its_law_and_is_charged() {
    let (neighbours, unit) = (Neighbours::AddRemove, Unit::Record);
    let choice = Choice { neighbours, unit, spread: 20, rate: 0.05, candidates: 3 };
    let event = choice.event().unwrap();
    let Event::Use { cost: Cost::BoundedRange { range }, .. } = event else { panic!() };
    assert!((1.0..1.0 + 1e-14).contains(&range), "{range}");
    let scores = [40_i64, 20, -10];
    let (draws, (mut source, seed)) = (20_000_usize, fresh());
    let claim = account::guarantee(&event, 1e-6).unwrap();
    let mut counts = [0_u32; 3];
    for _ in 0..draws {
        let mut session = Session::start(event.clone(), &mut source);
        let noisy = choice.run(Private::new(scores.to_vec()), &mut session).unwrap();
        let statement = Statement::new(claim, Arithmetic::Finite, json!({}));
        counts[session.settle(noisy, statement).unwrap().into_parts().0] += 1;
    }
    let weights = scores.map(|score| (0.05 * score as f64).exp());
    for (count, weight) in counts.iter().zip(weights) {
        let expected = weight / weights.iter().sum::<f64>();
        let gap = (f64::from(*count) - draws as f64 * expected).abs();
        assert!(gap <= allowed_count_error(draws, expected, 3), "{counts:?}, seed {seed}");
    }
    let mut session = Session::start(event, &mut source);
    let short = choice.run(Private::new(vec![1]), &mut session);
    assert_eq!(short.err(), Some(GateError::Malformed));
}
