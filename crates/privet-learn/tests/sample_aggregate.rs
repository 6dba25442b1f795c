//! Sample and aggregate, from request to verified model.

mod common;

use common::{SCHEMA, accuracy, forged, scale, seeded, train, uniform};
use privet_core::{Budget, Neighbours};
use privet_data::matrix::{CsrMatrix, Matrix};
use privet_data::{Dataset, Schema, read};
use privet_dp::gate::Arithmetic;
use privet_dp::noise::{FixedSeed, SystemRandom};
use privet_learn::erm::sample_aggregate::{self, Clip};
use privet_learn::{Calibration, Erm, LearnError, Method, Request, plan, verify};
use privet_optim::loss::Loss;
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

const RELATIONS: [Neighbours; 2] = [Neighbours::ReplaceOne, Neighbours::AddRemove];

fn schema(classes: u32, user: bool) -> Schema {
    let mut text = match classes {
        2 => SCHEMA.to_string(),
        _ => SCHEMA.replace(r#"["no", "yes"]"#, r#"["no", "yes", "perhaps"]"#),
    };
    if user {
        text.push_str("[unit]\ncolumn = \"who\"\nmax_records = 3\n");
    }
    Schema::from_toml(&text).unwrap()
}

/// Rows whose label is mostly the sign of 2a − b; with three classes, "perhaps" where b is large.
fn data(rows: usize, classes: u32, user: bool, seed: u64) -> Dataset {
    let mut source = FixedSeed::new(seed);
    let mut text = String::from(if user { "a,b,y,who\n" } else { "a,b,y\n" });
    for row in 0..rows {
        let (a, b, e) = (uniform(&mut source), uniform(&mut source), uniform(&mut source));
        let label = match 2.0 * a - b + 0.3 * e > 0.0 {
            _ if classes > 2 && b > 0.4 => "perhaps",
            true => "yes",
            false => "no",
        };
        let who = if user { format!(",u{}", row / 3) } else { String::new() };
        text.push_str(&format!("{a},{b},{label}{who}\n"));
    }
    read::csv_bytes(text.as_bytes(), &schema(classes, user)).unwrap()
}

/// The same rows, stored sparsely.
fn sparse(data: &Dataset) -> Dataset {
    let Matrix::Dense(dense) = &data.features else { panic!("not dense") };
    let (rows, columns) = (dense.rows(), dense.columns());
    let starts = (0..=rows).map(|row| row * columns).collect();
    let indices = (0..rows).flat_map(|_| 0..columns as u32).collect();
    let csr = CsrMatrix::new(starts, indices, dense.values().to_vec(), columns);
    Dataset { features: Matrix::Csr(csr), ..data.clone() }
}

fn request(classes: u32, epsilon: f64, delta: f64) -> Request {
    Request {
        schema: schema(classes, false),
        rows: 3000,
        budget: Some(Budget::new(epsilon, delta).unwrap()),
        neighbours: Neighbours::ReplaceOne,
        calibration: Calibration::Sound,
        noise: vec![],
        task: Erm {
            loss: Loss::Logistic,
            method: Method::SampleAggregate(sample_aggregate::SampleAggregate::default()),
        },
    }
}

#[test]
fn every_combination_trains_and_verifies() {
    for classes in [2, 3] {
        let (training, test) = (data(3000, classes, false, 1), data(2000, classes, false, 2));
        for (neighbours, delta) in RELATIONS.into_iter().flat_map(|n| [(n, 1e-6), (n, 0.0)]) {
            for loss in [Loss::Logistic, Loss::SQUARED] {
                let request =
                    Request { neighbours, ..request(classes, 4.0, delta) }.with_loss(loss);
                let model = train(&request, &sparse(&training));
                let verdict = verify(&model);
                let what = format!("{neighbours} {classes} classes, delta {delta}, {loss:?}");
                assert!(verdict.valid, "{what}: {:?}", verdict.checks);
                let claimed = verdict.guarantee.unwrap();
                assert_eq!((claimed.epsilon, claimed.delta), (4.0, delta), "{what}");
                assert_eq!(model.certificate().arithmetic, Arithmetic::Finite);
                let found = accuracy(&seeded(&request, &training), &test);
                assert!(found > 0.85 - 0.2 * f64::from(classes - 2), "{what}: accuracy {found}");
            }
        }
    }
}

/// All records of a user are in one block, so that a user costs no more than a record.
#[test]
fn a_user_costs_no_more_than_a_record() {
    let one = plan(&request(2, 1.0, 1e-6)).unwrap();
    let users = Request { schema: schema(2, true), ..request(2, 1.0, 1e-6) };
    let many = plan(&users).unwrap();
    let noise = |plan: &privet_learn::Plan| plan.settings().get("output_noise").unwrap();
    assert_eq!(noise(&one), noise(&many));
    let model = train(&users, &data(3000, 2, true, 1));
    assert!(verify(&model).valid);
}

/// Tables without records, with one, or with fewer than blocks train like any other.
#[test]
fn empty_blocks_are_nothing_to_tell() {
    let hidden = Request { neighbours: Neighbours::AddRemove, ..request(2, 1.0, 1e-6) };
    let planned = plan(&hidden).unwrap();
    let mut source = SystemRandom::new().unwrap();
    for rows in [0, 1, 5, 2999] {
        let table = data(3000, 2, false, 1).select(&(0..rows).collect::<Vec<_>>());
        let release = planned.run(&table, &mut source, &AtomicBool::new(false)).unwrap();
        assert!(release.value().weights[0].iter().all(|weight| weight.is_finite()));
    }
    let stopped = planned.run(&data(3000, 2, false, 1), &mut source, &AtomicBool::new(true));
    assert!(matches!(stopped, Err(LearnError::Solve(_))));
}

#[test]
fn settings_are_checked_and_what_is_not_covered_is_refused() {
    let method: Method = "sample-aggregate".parse().unwrap();
    let with = |setting: &str, value: &str| {
        let method = method.with(setting, value)?;
        plan(&request(2, 1.0, 1e-6).with_method(method))
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
    let printed = Request { calibration: Calibration::Printed, ..request(2, 1.0, 1e-6) };
    assert!(matches!(plan(&printed), Err(LearnError::NotCovered { .. })));
}

#[test]
fn less_noise_more_blocks_or_a_smaller_sensitivity_is_found_out() {
    let model = train(&request(2, 1.0, 1e-6), &data(3000, 2, false, 1));
    assert!(verify(&model).valid);
    let failed = |change: &dyn Fn(&mut serde_json::Value)| {
        let verdict = verify(&forged(&model, change));
        assert!(!verdict.valid && verdict.guarantee.is_none());
        verdict.checks[..3].iter().map(|check| check.holds).collect::<Vec<_>>()
    };
    let noise = |certificate: &mut serde_json::Value| {
        scale(certificate, "/events/use/cost/noise_scale", 0.5);
        scale(certificate, "/events/use/cost/grid/step", 0.5);
    };
    assert!(!failed(&noise)[0]);
    let excused = failed(&|certificate| {
        noise(certificate);
        scale(certificate, "/events/use/cost/sensitivity", 0.5);
    });
    assert_eq!(excused, [false, false, true]);
    // More blocks than were used would excuse less noise.
    let blocks = failed(&|certificate| {
        let known = certificate["request"]["method"]["blocks"].as_u64().unwrap();
        certificate["request"]["method"]["blocks"] = (2 * known).into();
    });
    assert_eq!(blocks, [false, false, true]);
}

/// Neither blocks nor ridge jump between tables that are nearly alike.
#[test]
fn the_plan_moves_gently() {
    for rows in [500, 5000, 50_000] {
        let of = |rows: u64| plan(&Request { rows, ..request(2, 1.0, 1e-8) }).unwrap().settings();
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
