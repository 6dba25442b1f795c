//! Entropy-regularised minimisation released by sampling, from request to verified model.

use crate::common::{Case, Change, data};
use privet_core::Neighbours;
use privet_data::Dataset;
use privet_dp::account::{Cost, Event};
use privet_learn::linear::frank_wolfe::slope;
use privet_learn::linear::simplex::{EntropicTerms, Simplex};
use privet_learn::{Facts, LearnError, Method};
use privet_optim::loss::Loss;
use privet_optim::vertex::GridMatrix;
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

fn case(epsilon: f64, delta: f64, options: Simplex) -> Case {
    Case::of("simplex").budget(epsilon, delta).method(Method::Simplex(options))
}

#[test]
fn it_trains_and_verifies() {
    let (training, test) = (data(4000, 2, 1), data(2000, 2, 2));
    let losses = [Loss::Logistic, Loss::HuberSvm { h: 0.5 }, Loss::SQUARED];
    for (loss, delta) in losses.into_iter().zip([1e-6, 0.0, 1e-6]) {
        let options = Simplex { radius: Some(4.0), ..Simplex::default() };
        let model = case(8.0, delta, options).loss(loss).learns(&training, &test, 0.7);
        let Method::Simplex(settled) = model.request().task.method else {
            panic!("another method")
        };
        assert!(settled.draws.is_some() && settled.entropy.is_some());
    }
}

/// λ given: as many draws as the budget allows; both given: confirmed or refused.
#[test]
fn entropy_and_draws_determine_each_other() {
    let wide = Simplex { radius: Some(2.0), entropy: Some(500.0), ..Simplex::default() };
    let planned = case(1.0, 1e-6, wide).plan();
    let Some(Event::Repeat { count, event }) = planned.events() else { panic!("no draws") };
    assert!(*count >= 2, "{count}");
    let Some(Cost::BoundedRange { range }) = event.single_cost() else { panic!("no range") };
    // (4Sκ/λ)(1 + ncκ²/λ), a little more for what is inexact: S = ½, κ = 2τ, τ = 1/√3.
    let reach = 2.0 / 3_f64.sqrt();
    let ideal = 2.0 * reach / 500.0 * (1.0 + 4000.0 * 0.25 * reach * reach / 500.0);
    assert!((1.0..1.02).contains(&(range / ideal)), "{}", range / ideal);
    let more = Simplex { draws: Some(count + 1), ..wide };
    assert!(matches!(case(1.0, 1e-6, more).refusal(), LearnError::NotCovered { .. }));
    let same = Simplex { draws: Some(*count), ..wide };
    assert_eq!(case(1.0, 1e-6, same).plan().events(), planned.events());
}

#[test]
fn what_is_not_covered_is_refused() {
    let request = case(1.0, 1e-6, Simplex::default());
    let refused = request.clone().neighbours(Neighbours::AddRemove).refusal().to_string();
    assert!(refused.contains("public number of rows"), "{refused}");
    assert!(matches!(request.printed().refusal(), LearnError::NotCovered { .. }));
    let options = Simplex::default();
    for bad in [
        Simplex { draws: Some(0), ..options },
        Simplex { entropy: Some(0.0), ..options },
        Simplex { entropy: Some(f64::NAN), ..options },
        Simplex { radius: Some(-1.0), ..options },
        Simplex { clip: Some(0.0), ..options },
    ] {
        let refused = case(1.0, 1e-6, bad).refusal();
        assert!(matches!(refused, LearnError::Setting(_)), "{bad:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    /// The theorem: the scores from which columns are drawn, each at its own data set's minimiser.
    #[test]
    fn neighbouring_tables_move_every_score_within_the_bound(
        seed in any::<u64>(), change in prop::sample::select(Change::ALL[1..].to_vec()), entropy in prop::sample::select(vec![0.3, 3.0, 30.0]),
        radius in prop::sample::select(vec![0.5, 5.0]),
    ) {
        let (whole, fresh) = (data(20, 2, seed), data(20, 2, seed ^ 0x5555));
        let changed = change.of(&whole, 0, 1, &fresh);
        for loss in [Loss::Logistic, Loss::HuberSvm { h: 0.1 }] {
            let facts = Facts::of(&Case::of("simplex").rows(20).loss(loss)).unwrap();
            let terms = EntropicTerms::new(&facts, 0.5, radius, entropy).unwrap();
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
