//! Sample and aggregate, from request to verified model.

use crate::common::{Case, RELATIONS, data, failed, sparse, uniform};
use privet_core::Neighbours;
use privet_dp::gate::Arithmetic;
use privet_dp::noise::{FixedSeed, SystemRandom};
use privet_learn::linear::sample_aggregate::Clip;
use privet_learn::{LearnError, Method, plan, verify};
use privet_optim::loss::Loss;
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

fn case(classes: u32, epsilon: f64, delta: f64) -> Case {
    Case::of("sample-aggregate").classes(classes).rows(3000).budget(epsilon, delta)
}

#[test]
fn every_combination_trains_and_verifies() {
    for classes in [2, 3] {
        let (training, test) = (data(3000, classes, 1), data(2000, classes, 2));
        for (neighbours, delta) in RELATIONS.into_iter().flat_map(|n| [(n, 1e-6), (n, 0.0)]) {
            for loss in [Loss::Logistic, Loss::SQUARED] {
                let case = case(classes, 4.0, delta).neighbours(neighbours).loss(loss);
                case.learns(&training, &test, 0.85 - 0.2 * f64::from(classes - 2));
                let model = case.verified(&sparse(&training));
                assert_eq!(model.certificate().arithmetic, Arithmetic::Finite);
            }
        }
    }
}

/// All records of a user are in one block, so that a user costs no more than a record.
#[test]
fn a_user_costs_no_more_than_a_record() {
    let users = case(2, 1.0, 1e-6).users(3);
    let (one, many) = (case(2, 1.0, 1e-6).plan(), users.plan());
    let noise = |plan: &privet_learn::Plan| plan.settings().get("output_noise").unwrap();
    assert_eq!(noise(&one), noise(&many));
    users.verified(&users.data(1));
}

/// Tables without records, with one, or with fewer than blocks train like any other.
#[test]
fn empty_blocks_are_nothing_to_tell() {
    let planned = case(2, 1.0, 1e-6).neighbours(Neighbours::AddRemove).plan();
    let mut source = SystemRandom::new().unwrap();
    for rows in [0, 1, 5, 2999] {
        let table = data(3000, 2, 1).select(&(0..rows).collect::<Vec<_>>());
        let release = planned.run(&table, &mut source, &AtomicBool::new(false)).unwrap();
        assert!(release.value().weights[0].iter().all(|weight| weight.is_finite()));
    }
}

#[test]
fn settings_are_checked_and_what_is_not_covered_is_refused() {
    let method: Method = "sample-aggregate".parse().unwrap();
    let with = |setting: &str, value: &str| {
        let method = method.with(setting, value)?;
        plan(&case(2, 1.0, 1e-6).method(method))
    };
    for (setting, value) in
        [("blocks", "1"), ("blocks", "1000000"), ("bound", "0.5"), ("ridge", "3")]
    {
        assert!(with(setting, value).is_ok(), "{setting} = {value}");
    }
    for (setting, value) in [
        ("blocks", "0"),
        ("blocks", "1000001"),
        ("bound", "0"),
        ("bound", "-1"),
        ("bound", "1e307"),
        ("ridge", "0"),
    ] {
        assert!(matches!(with(setting, value), Err(LearnError::Setting(_))), "{setting} = {value}");
    }
    for (setting, value) in [("blocks", "2.5"), ("bound", "nan"), ("blocks", "many")] {
        assert!(matches!(with(setting, value), Err(LearnError::SettingValue { .. })));
    }
    assert!(matches!(case(2, 1.0, 1e-6).printed().refusal(), LearnError::NotCovered { .. }));
}

#[test]
fn more_blocks_are_found_out() {
    let model = case(2, 1.0, 1e-6).model(&data(3000, 2, 1));
    assert!(verify(&model).valid);
    // More blocks than were used would excuse less noise.
    let blocks = failed(&model, |certificate| {
        let known = certificate["request"]["method"]["blocks"].as_u64().unwrap();
        certificate["request"]["method"]["blocks"] = (2 * known).into();
    });
    assert_eq!(blocks, [false, false, true]);
}

/// Neither blocks nor ridge jump between tables that are nearly alike.
#[test]
fn the_plan_moves_gently() {
    for rows in [500, 5000, 50_000] {
        let of = |rows: u64| case(2, 1.0, 1e-8).rows(rows).plan().settings();
        let (here, there) = (of(rows), of(rows * 6 / 5));
        for name in ["blocks", "ridge", "bound"] {
            let ratio = there.get(name).unwrap() / here.get(name).unwrap();
            assert!((0.7..1.3).contains(&ratio), "{name}: {ratio}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a block's model was and becomes, the mean moves by at most the bound: random models,
    /// huge ones, opposite ones, zero, and such as are no numbers at all.
    #[test]
    fn one_blocks_model_moves_the_mean_within_the_bound(
        seed in any::<u64>(), d in 1_usize..30, blocks in 1_u32..40, kind in 0_usize..6,
        ball in any::<bool>(), size in prop::sample::select(vec![1e-3, 1.0, 7.5])
    ) {
        let mut source = FixedSeed::new(seed);
        let clip = if ball { Clip::Ball(size) } else { Clip::Box(size) };
        let mut vector = |scale: f64| -> Vec<f64> {
            (0..d).map(|_| scale * uniform(&mut source)).collect()
        };
        let mut models: Vec<Vec<f64>> = (0..blocks).map(|_| vector(3.0 * size)).collect();
        let mean = |models: &[Vec<f64>]| {
            let mut sum = vec![0.0; d];
            for model in models {
                let mut clipped = model.clone();
                clip.apply(&mut clipped);
                sum.iter_mut().zip(clipped).for_each(|(s, t)| *s += t);
            }
            sum.into_iter().map(|s| s / f64::from(blocks)).collect::<Vec<_>>()
        };
        let before = mean(&models);
        models[0] = match kind {
            0 => vector(1.0),
            1 => models[0].iter().map(|t| -1e300 * t.signum()).collect(),
            2 => models[0].iter().map(|t| -t).collect(),
            3 => vec![0.0; d],
            4 => vec![f64::NAN; d],
            _ => vec![f64::INFINITY; d],
        };
        let after = mean(&models);
        let moved: Vec<f64> = before.iter().zip(&after).map(|(a, b)| a - b).collect();
        let distance = if ball {
            moved.iter().map(|x| x * x).sum::<f64>().sqrt()
        } else {
            moved.iter().map(|x| x.abs()).sum()
        };
        prop_assert!(distance <= clip.sensitivity(d, blocks), "{distance}, kind {kind}");
    }
}

/// The bound is attained by opposite ends.
#[test]
fn the_bound_is_attained() {
    for (clip, size) in [(Clip::Ball(2.0), 4.0 / 5.0), (Clip::Box(2.0), 12.0 / 5.0)] {
        let mut end = vec![9e99; 3];
        clip.apply(&mut end);
        let distance = match clip {
            Clip::Ball(_) => 2.0 * end.iter().map(|x| x * x).sum::<f64>().sqrt() / 5.0,
            Clip::Box(_) => 2.0 * end.iter().sum::<f64>() / 5.0,
        };
        assert!((distance - size).abs() < 1e-12);
        assert!((clip.sensitivity(3, 5) / size - 1.0).abs() < 1e-12);
    }
}
