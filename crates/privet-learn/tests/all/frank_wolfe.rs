//! Frank–Wolfe, from request to verified model.

use crate::common::{Case, Change, LOSSES, RELATIONS, data, sparse, uniform, with_values};
use privet_core::{Budget, Unit};
use privet_data::Dataset;
use privet_dp::account::{self, Cost, Event};
use privet_dp::noise::FixedSeed;
use privet_learn::linear::frank_wolfe::{self, FrankWolfe, Path, ScoreTerms};
use privet_learn::{Allowance, Facts, LearnError, Method, plan, verify};
use privet_optim::vertex::{ColumnScores, GridMatrix, Move};
use proptest::prelude::*;

fn case(epsilon: f64, delta: f64) -> Case {
    Case::of("frank-wolfe").budget(epsilon, delta)
}

fn with(options: FrankWolfe) -> Case {
    case(1.0, 1e-6).method(Method::FrankWolfe(options))
}

/// Every loss, relation and number of classes trains, verifies and claims the request's budget.
#[test]
fn every_combination_trains_and_verifies() {
    for classes in [2, 3] {
        let (training, test) = (data(4000, classes, 1), data(2000, classes, 2));
        for loss in LOSSES {
            for (neighbours, delta) in RELATIONS.into_iter().zip([1e-6, 0.0]) {
                let case = case(4.0, delta).classes(classes).neighbours(neighbours).loss(loss);
                let least = 0.75 - 0.15 * f64::from(classes - 2);
                case.set("steps", "12").learns(&training, &test, least);
            }
        }
    }
}

/// The same choices for the same coins, whether rows are stored with their zeros or without, on both
/// paths.
#[test]
fn sparse_and_dense_rows_give_the_same_model() {
    // Some zeros, so that storages differ.
    let one = with_values(&data(4000, 2, 5), |values, _| {
        values.iter_mut().enumerate().filter(|(at, _)| at % 7 < 3).for_each(|(_, x)| *x = 0.0);
    });
    let two = sparse(&one);
    for path in [Path::Forward, Path::FrankWolfe] {
        let options = FrankWolfe { steps: Some(40), path: Some(path), ..FrankWolfe::default() };
        let (one, two) = (with(options).seeded(&one), with(options).seeded(&two));
        assert_eq!(one.weights().weights, two.weights().weights);
    }
}

#[test]
fn settings_are_checked_and_what_is_not_covered_is_refused() {
    let options = FrankWolfe::default();
    let bad = [
        FrankWolfe { steps: Some(0), ..options },
        FrankWolfe { steps: Some(1_000_001), ..options },
        FrankWolfe { radius: Some(0.0), ..options },
        FrankWolfe { radius: Some(f64::NAN), ..options },
        FrankWolfe { clip: Some(-1.0), ..options },
        FrankWolfe { clip: Some(f64::INFINITY), ..options },
    ];
    for bad in bad {
        assert!(matches!(plan(&with(bad)), Err(LearnError::Setting(_))), "{bad:?}");
    }
    let printed = |options, delta| with(options).delta(delta).printed();
    for (options, delta) in [
        (options, 0.0),
        (FrankWolfe { steps: Some(1), ..options }, 1e-6),
        (FrankWolfe { steps: Some(9), path: Some(Path::Forward), ..options }, 1e-6),
    ] {
        let refused = plan(&printed(options, delta));
        assert!(matches!(refused, Err(LearnError::NotCovered { .. })), "{options:?}");
    }
    let method: Method = "frank-wolfe".parse().unwrap();
    assert!(method.with("path", "forward").is_ok() && method.with("path", "back").is_err());
}

/// Pure: T choices of range ε/T. With δ the ranges are larger once T is.
#[test]
fn the_budget_is_spent_to_the_end() {
    for (delta, steps, least) in [(0.0, 5, 0.2), (1e-6, 5, 0.2), (1e-6, 400, 0.01)] {
        let planned = case(1.0, delta).set("steps", &steps.to_string()).plan();
        let Some(Event::Repeat { count, event }) = planned.events() else { panic!("no steps") };
        assert_eq!(*count, steps);
        let Some(Cost::BoundedRange { range }) = event.single_cost() else { panic!("no range") };
        assert!(*range >= least * (1.0 - 1e-5), "{delta} {steps}: {range}");
        let spent = account::epsilon(planned.events().unwrap(), delta).unwrap();
        assert!(spent <= 1.0 && spent > 0.99, "{spent}");
    }
}

/// With few records under much noise there are few steps; nothing jumps between nearly equal tables.
#[test]
fn the_pace_moves_gently() {
    for rows in [300.0, 4e3, 5e4, 1e6] {
        for columns in [10, 2000, 100_000] {
            for (epsilon, problems) in [(0.05, 1), (0.5, 7), (5.0, 1)] {
                let pace = |rows: f64, columns: usize| {
                    let facts = Facts::of(&case(1.0, 1e-6)).unwrap();
                    let facts = Facts { rows: rows as u64, columns, problems, ..facts };
                    frank_wolfe::steps_and_radius(
                        &facts,
                        &Allowance::new(Budget::new(epsilon, 1e-9).unwrap(), &[]),
                    )
                };
                let here = pace(rows, columns);
                for (n, p) in [(1.2, 1.0), (0.8, 1.0), (1.0, 1.2), (1.0, 0.8)] {
                    let there = pace(rows * n, (columns as f64 * p) as usize);
                    let (steps, reach) = (there.steps / here.steps, there.reach / here.reach);
                    assert!((0.7..1.3).contains(&steps), "{steps}");
                    assert!((0.7..1.3).contains(&reach), "{reach}");
                }
            }
        }
    }
}

/// PRIV-14: the printed noise composes to ε(1 + ε/(4 ln(1/δ))) by its own argument; the claim is what
/// the accountant proves.
#[test]
fn printed_noise_claims_what_is_proved() {
    let request = case(1.0, 1e-8).set("steps", "30").printed();
    let planned = request.plan();
    let Some(Event::Repeat { count: 29, event }) = planned.events() else { panic!("not 29") };
    let Some(Cost::Pure { epsilon }) = event.single_cost() else { panic!("not pure") };
    // ε₀ = ε/√(2T·ln(1/δ)), T = 30.
    let printed = 1.0 / (60.0 * 1e8_f64.ln()).sqrt();
    // Truncation of the bounds to their grids makes the sensitivity smaller by up to 2⁻¹³.
    assert!((epsilon / printed - 1.0).abs() < 2e-4, "{epsilon} {printed}");
    let tail = 1e8_f64.ln();
    let composed = (2.0 * 30.0 * tail).sqrt() * printed + 30.0 * printed * printed / 2.0;
    assert!((composed / (1.0 + 1.0 / (4.0 * tail)) - 1.0).abs() < 1e-9);
    assert!(composed > 1.013, "{composed}");
    let model = request.model(&data(4000, 2, 1));
    let verdict = verify(&model);
    assert!(verdict.valid, "{:?}", verdict.checks);
    let claimed = verdict.guarantee.unwrap().epsilon;
    assert!(claimed < 1.0, "the accountant is tighter than the theorem: {claimed}");
    assert!(model.certificate().notes.iter().any(|note| note.contains("PRIV-14")));
    // Not so at a large ε and many steps.
    let planned = request.budget(10.0, 1e-8).set("steps", "300").plan();
    let claimed = planned.guarantee().unwrap().epsilon;
    assert!((10.0..10.1).contains(&claimed), "{claimed}");
}

#[test]
fn a_certificate_states_every_setting() {
    let chosen = case(1.0, 1e-6).model(&data(4000, 2, 1));
    let Method::FrankWolfe(settled) = chosen.request().task.method else {
        panic!("another method")
    };
    assert!(settled.steps.is_some() && settled.radius.is_some() && settled.clip.is_some());
    assert!(verify(&chosen).valid);
}

/// Scores along a path of choices.
fn scores(terms: &ScoreTerms, facts: &Facts, data: &Dataset, path: &[Move]) -> Vec<i64> {
    let features = GridMatrix::new(&data.features, terms.features).unwrap();
    let labels = data.target.signed().unwrap();
    let mut scores = ColumnScores::new(&features, &labels, facts.loss, terms.slopes).unwrap();
    path.iter().for_each(|step| scores.apply_move(*step, |_, _| {}));
    scores.scores().to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// The sensitivity of each step, after random choices, with random and extreme neighbours: records
    /// replaced by others, by their opposites, by duplicates, by zeros; removed.
    #[test]
    fn neighbouring_tables_move_every_score_within_the_bound(
        seed in any::<u64>(), change in prop::sample::select(Change::ALL.to_vec()), records in 1_u32..4,
        steps in 0_usize..8, shrinks in any::<bool>(), as_sparse in any::<bool>(),
        clip in prop::sample::select(vec![0.05, 0.3, 1.0]),
    ) {
        let (whole, fresh) = (data(12, 2, seed), data(12, 2, seed ^ 0x5555));
        let columns = whole.features.columns();
        let changed = change.of(&whole, 0, records as usize, &fresh);
        let stored = |data: &Dataset| if as_sparse { sparse(data) } else { data.clone() };
        let mut source = FixedSeed::new(seed);
        let path: Vec<Move> = (0..steps).map(|at| Move {
            column: (uniform(&mut source).abs() * columns as f64) as usize % columns,
            negative: uniform(&mut source) > 0.0,
            shrink: if shrinks { 1.0 - 1.0 / (at as f64 + 2.0) } else { 1.0 },
            add: 30.0 * uniform(&mut source).abs(),
            revise_all: shrinks && at % 3 == 0,
        }).collect();
        for loss in LOSSES {
            let request = case(1.0, 1e-6).neighbours(change.neighbours()).loss(loss);
            let mut facts = Facts::of(&request).unwrap();
            facts.unit = Unit::User { max_records: records };
            let terms = ScoreTerms::new(&facts, clip, frank_wolfe::slope(&facts));
            let one = scores(&terms, &facts, &stored(&whole), &path);
            let two = scores(&terms, &facts, &stored(&changed), &path);
            for (a, b) in one.iter().zip(&two) {
                prop_assert!(a.abs_diff(*b) <= terms.sensitivity, "{} > {}", a.abs_diff(*b), terms.sensitivity);
            }
        }
    }
}
