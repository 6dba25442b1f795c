//! Rows on other machines give the model of memory, bit for bit, for any division among them; answers
//! from other rows than the requested ones are refused.

use crate::common::{Case, data, remote_rows};
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_dp::noise::FixedSeed;
use privet_learn::{LearnError, Request, admit_piece, plan};
use privet_optim::sum::Table;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

const ROWS: usize = 3000;

fn weights(request: &Request, table: &dyn Table) -> Result<Vec<Vec<f64>>, LearnError> {
    let release = plan(request)?.run(table, &mut FixedSeed::new(11), &AtomicBool::new(false))?;
    Ok(release.value().weights.clone())
}

#[test]
fn learners_that_ask_for_sums_give_the_same_bits_from_other_machines() {
    let methods =
        ["gd", "centred-gd", "sgd", "amp", "objective", "output", "ssp", "linear", "auto"];
    for classes in [2, 3] {
        let data = data(ROWS, classes, 5);
        for method in methods {
            let request = Case::of(method).rows(ROWS as u64).classes(classes);
            let from_memory = weights(&request, &data).unwrap();
            for machines in [1, 2, 7] {
                let table = remote_rows(&data, machines, |_| {});
                let actual = weights(&request, &table);
                assert_eq!(actual.unwrap(), from_memory, "{method}, {classes} classes, {machines}");
                assert!(table.machines().asked() > 0);
            }
        }
    }
}

#[test]
fn answers_of_other_rows_or_kinds_are_refused() {
    let data = data(ROWS, 2, 5);
    let meddling: [fn(&mut Vec<Vec<u8>>); 4] = [
        |parts| drop(parts.pop()),
        |parts| parts.push(parts[0].clone()),
        |parts| _ = parts[0].pop(),
        |parts| parts[0].clear(),
    ];
    for method in ["gd", "centred-gd", "amp", "ssp", "sgd"] {
        let request = Case::of(method).rows(ROWS as u64);
        for (number, meddle) in meddling.into_iter().enumerate() {
            let refused = weights(&request, &remote_rows(&data, 3, meddle));
            assert!(refused.is_err(), "{method}, {number}");
        }
    }
}

/// Rows of one machine twice and of another, as many, not at all: twice the charged sensitivity.
#[test]
fn rows_that_are_counted_twice_in_place_of_others_are_refused() {
    let data = data(ROWS, 2, 5);
    for method in ["gd", "centred-gd", "amp", "ssp"] {
        let request = Case::of(method).rows(ROWS as u64);
        let twice = remote_rows(&data, 2, |parts| {
            assert_eq!(parts.len(), 2, "parts of equal lengths");
            parts[1] = parts[0].clone();
        });
        // Each learner ends with a message of its own; unmodified answers are released (above).
        assert!(weights(&request, &twice).is_err(), "{method}");
    }
}

/// An engine that gives an earlier answer of the same rows, of the same or of another fit, that has two
/// pieces change places, or that turns a bit: each trained another model.
#[test]
fn answers_that_were_kept_moved_or_changed_are_refused() {
    let data = data(ROWS, 2, 5);
    for method in ["gd", "centred-gd", "amp", "objective", "ssp", "sgd"] {
        let request = Case::of(method).rows(ROWS as u64);
        let kept = Arc::new(Mutex::new(Vec::<Vec<Vec<u8>>>::new()));
        let (all, replayed) = (kept.clone(), kept.clone());
        let recorded = remote_rows(&data, 3, move |parts| all.lock().unwrap().push(parts.clone()));
        weights(&request, &recorded).unwrap();
        let asked = kept.lock().unwrap().len();
        let again = (Mutex::new(0), asked);
        let of_another_fit = remote_rows(&data, 3, move |parts| {
            let mut number = again.0.lock().unwrap();
            *parts = replayed.lock().unwrap()[(*number).min(again.1 - 1)].clone();
            *number += 1;
        });
        assert!(weights(&request, &of_another_fit).is_err(), "{method}: of another fit");
        let (last, replayed) =
            (Mutex::new(Vec::<Vec<Vec<u8>>>::new()), Arc::new(AtomicBool::new(false)));
        let seen = replayed.clone();
        let of_another_question = remote_rows(&data, 3, move |parts| {
            let mut last = last.lock().unwrap();
            let alike = |earlier: &&Vec<Vec<u8>>| {
                earlier.len() == parts.len() && earlier[0].len() == parts[0].len()
            };
            let actual = last.iter().rev().find(alike).cloned();
            last.push(parts.clone());
            seen.fetch_or(actual.is_some(), Ordering::Relaxed);
            *parts = actual.unwrap_or_else(|| parts.clone());
        });
        let refused = weights(&request, &of_another_question).is_err();
        assert_eq!(refused, replayed.load(Ordering::Relaxed), "{method}: replayed");
        assert!(refused || method == "ssp", "{method} asks alike more than once");
        let turned = remote_rows(&data, 3, |parts| *parts[0].last_mut().unwrap() ^= 1);
        assert!(weights(&request, &turned).is_err(), "{method}: a bit");
    }
    let moved = remote_rows(&data, 3, |parts| parts.swap(0, 1));
    assert!(weights(&Case::of("amp").rows(ROWS as u64), &moved).is_err(), "pieces change places");
    assert!(weights(&Case::of("sgd").rows(ROWS as u64), &moved).is_err(), "rows change places");
}

#[test]
fn a_learner_that_needs_rows_refuses_other_machines_in_words() {
    let data = data(ROWS, 2, 5);
    let table = remote_rows(&data, 2, |_| {});
    let refused = weights(&Case::of("psgd").rows(ROWS as u64), &table).unwrap_err();
    assert!(matches!(refused, LearnError::NeedsMemory { .. }), "{refused}");
}

#[test]
fn a_piece_is_admitted_by_the_rule_of_the_whole() {
    let data = data(ROWS, 2, 5);
    let request = plan(&Case::of("gd").rows(ROWS as u64)).unwrap().request().clone();
    admit_piece(&request, &data.select(&[1, 2, 3])).unwrap();
    admit_piece(&request, &data.select(&[])).unwrap();
    let mut long = data.select(&[1, 2, 3]);
    long.features = match long.features {
        Matrix::Dense(dense) => {
            let values = dense.values().iter().map(|x| x * 1000.0 + 1000.0).collect();
            Matrix::Dense(DenseMatrix::new(values, 3, dense.columns()))
        }
        other => other,
    };
    assert!(matches!(admit_piece(&request, &long), Err(LearnError::DataShape(_))));
}
