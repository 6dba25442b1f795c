//! Entropy-regularised minimisation released by sampling, from request to verified model.

mod common;

use common::{SCHEMA, accuracy, seeded, train, uniform};
use privet_core::{Budget, Neighbours};
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::{Dataset, Schema, Target, read};
use privet_dp::account::{Cost, Event};
use privet_dp::noise::FixedSeed;
use privet_learn::erm::frank_wolfe::slope;
use privet_learn::erm::simplex::{Simplex, Terms};
use privet_learn::{Calibration, Erm, Facts, LearnError, Method, Request, plan, verify};
use privet_optim::loss::Loss;
use privet_optim::vertex::GridMatrix;
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

fn data(rows: usize, seed: u64) -> Dataset {
    let mut source = FixedSeed::new(seed);
    let mut text = String::from("a,b,y\n");
    for _ in 0..rows {
        let (a, b, e) = (uniform(&mut source), uniform(&mut source), uniform(&mut source));
        let label = if 2.0 * a - b + 0.3 * e > 0.0 { "yes" } else { "no" };
        text.push_str(&format!("{a},{b},{label}\n"));
    }
    read::csv_bytes(text.as_bytes(), &Schema::from_toml(SCHEMA).unwrap()).unwrap()
}

fn request(epsilon: f64, delta: f64, options: Simplex) -> Request {
    Request {
        schema: Schema::from_toml(SCHEMA).unwrap(),
        rows: 4000,
        budget: Some(Budget::new(epsilon, delta).unwrap()),
        neighbours: Neighbours::ReplaceOne,
        calibration: Calibration::Sound,
        noise: vec![],
        task: Erm { loss: Loss::Logistic, method: Method::Simplex(options) },
    }
}

#[test]
fn it_trains_and_verifies() {
    let (training, test) = (data(4000, 1), data(2000, 2));
    let losses = [Loss::Logistic, Loss::HuberSvm { h: 0.5 }, Loss::SQUARED];
    for (loss, delta) in losses.into_iter().zip([1e-6, 0.0, 1e-6]) {
        let options = Simplex { radius: Some(4.0), ..Simplex::default() };
        let request = request(8.0, delta, options).with_loss(loss);
        let model = train(&request, &training);
        let verdict = verify(&model);
        assert!(verdict.valid, "{loss:?}: {:?}", verdict.checks);
        assert_eq!(verdict.guarantee.unwrap().epsilon, 8.0);
        let Method::Simplex(settled) = model.request().task.method else {
            panic!("another method")
        };
        assert!(settled.draws.is_some() && settled.entropy.is_some());
        let found = accuracy(&seeded(&request, &training), &test);
        assert!(found > 0.7, "{loss:?}: accuracy {found}");
    }
}

/// λ given: as many draws as the budget allows; both given: confirmed or refused.
#[test]
fn entropy_and_draws_determine_each_other() {
    let wide = Simplex { radius: Some(2.0), entropy: Some(500.0), ..Simplex::default() };
    let planned = plan(&request(1.0, 1e-6, wide)).unwrap();
    let Some(Event::Repeat { count, event }) = planned.events() else { panic!("no draws") };
    assert!(*count >= 2, "{count}");
    let Some(Cost::BoundedRange { range }) = event.single_cost() else { panic!("no range") };
    // (4Sκ/λ)(1 + ncκ²/λ), a little more for what is inexact: S = ½, κ = 2τ, τ = 1/√3.
    let reach = 2.0 / 3_f64.sqrt();
    let ideal = 2.0 * reach / 500.0 * (1.0 + 4000.0 * 0.25 * reach * reach / 500.0);
    assert!((1.0..1.02).contains(&(range / ideal)), "{}", range / ideal);
    let more = Simplex { draws: Some(count + 1), ..wide };
    assert!(matches!(plan(&request(1.0, 1e-6, more)), Err(LearnError::NotCovered { .. })));
    let same = Simplex { draws: Some(*count), ..wide };
    assert_eq!(plan(&request(1.0, 1e-6, same)).unwrap().events(), planned.events());
}

#[test]
fn what_is_not_covered_is_refused() {
    let asked = request(1.0, 1e-6, Simplex::default());
    let hidden = Request { neighbours: Neighbours::AddRemove, ..asked.clone() };
    let refused = plan(&hidden).unwrap_err().to_string();
    assert!(refused.contains("public number of rows"), "{refused}");
    let printed = Request { calibration: Calibration::Printed, ..asked };
    assert!(matches!(plan(&printed), Err(LearnError::NotCovered { .. })));
    let options = Simplex::default();
    for bad in [
        Simplex { draws: Some(0), ..options },
        Simplex { entropy: Some(0.0), ..options },
        Simplex { entropy: Some(f64::NAN), ..options },
        Simplex { radius: Some(-1.0), ..options },
        Simplex { clip: Some(0.0), ..options },
    ] {
        let refused = plan(&request(1.0, 1e-6, bad));
        assert!(matches!(refused, Err(LearnError::Setting(_))), "{bad:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    /// The theorem: the scores from which columns are drawn, each at its own data set's minimiser.
    #[test]
    fn neighbouring_tables_move_every_score_within_the_bound(
        seed in any::<u64>(), kind in 0_usize..4, entropy in prop::sample::select(vec![0.3, 3.0, 30.0]),
        radius in prop::sample::select(vec![0.5, 5.0]),
    ) {
        let rows = 20;
        let whole = data(rows, seed);
        let columns = whole.features.columns();
        let Matrix::Dense(dense) = &whole.features else { panic!("not dense") };
        let Target::Class { codes, count } = &whole.target else { panic!("no classes") };
        let (mut values, mut other) = (dense.values().to_vec(), codes.clone());
        other[0] = 1 - other[0];
        match kind {
            0 => values[..columns].fill(0.0),
            1 => values[..columns].iter_mut().for_each(|x| *x = -*x),
            2 => values.copy_within(columns * 5..columns * 6, 0),
            _ => {}
        }
        let features = Matrix::Dense(DenseMatrix::new(values, rows, columns));
        let target = Target::Class { codes: other, count: *count };
        let changed = Dataset { features, target, ..whole.clone() };
        for loss in [Loss::Logistic, Loss::HuberSvm { h: 0.1 }] {
            let asked = Request { rows: rows as u64, ..request(1.0, 1e-6, Simplex::default()) }.with_loss(loss);
            let facts = Facts::of(&asked).unwrap();
            let terms = Terms::new(&facts, 0.5, radius, entropy).unwrap();
            prop_assert!((terms.problem.slopes.clip() - slope(&facts)).abs() < 1e-12);
            let solve = |data: &Dataset| {
                let features = GridMatrix::new(&data.features, terms.features).unwrap();
                let labels = data.target.signed().unwrap();
                let quiet = AtomicBool::new(false);
                terms.problem.solve(&features, &labels, terms.distance, &quiet).unwrap()
            };
            for (a, b) in solve(&whole).iter().zip(solve(&changed)) {
                prop_assert!(a.abs_diff(b) <= terms.sensitivity);
            }
        }
    }
}
