//! Penalties and sets on top of the ridge, and the losses for numeric targets.

use crate::common::{Case, SCHEMA, data, distance, forged, uniform};
use privet_core::Neighbours;
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::{Dataset, Schema, Target, read};
use privet_dp::noise::FixedSeed;
use privet_learn::linear::model::Predictions;
use privet_learn::linear::output::sensitivity;
use privet_learn::{Facts, LearnError, verify};
use privet_optim::loss::Loss;
use privet_optim::solver::{Objective, Penalty, Problem, SolverOptions, minimise};
use privet_optim::sum::InMemory;
use proptest::prelude::*;

const PENALTIES: [&str; 7] = [
    "l1:3",
    "elastic-net:3,20",
    "group:2",
    "box:-0.2,0.4",
    "ball:0.5",
    "simplex:1.5",
    "box:0.1,0.3",
];

const NUMERIC: &str = r#"
bias = true
[clip]
norm = "l2"
radius = 1.0
[target]
column = "y"
bounds = [0, 40]
[[columns]]
name = "a"
type = "number"
bounds = [-1, 1]
scale = "symmetric"
[[columns]]
name = "b"
type = "category"
categories = ["x", "y", "z"]
"#;

fn case(method: &str, delta: f64) -> Case {
    Case::of(method).rows(3000).budget(4.0, delta)
}

/// Of a target from 0 to 40.
fn numeric(method: &str, loss: Loss) -> Case {
    case(method, 1e-6).schema(Schema::from_toml(NUMERIC).unwrap()).loss(loss)
}

/// Targets from 0 to 40 around 10·e^{a}, with a step for one category.
fn numbers(rows: usize) -> Dataset {
    let mut source = FixedSeed::new(2);
    let mut text = String::from("a,b,y\n");
    for _ in 0..rows {
        let (a, pick, e) = (uniform(&mut source), uniform(&mut source), uniform(&mut source));
        let b = if pick < -0.3 {
            "x"
        } else if pick < 0.3 {
            "y"
        } else {
            "z"
        };
        let rate = 10.0 * a.exp() * if b == "z" { 1.2 } else { 1.0 };
        text.push_str(&format!("{a},{b},{}\n", (rate * (1.0 + 0.3 * e)).clamp(0.0, 40.0)));
    }
    read::csv_bytes(text.as_bytes(), &Schema::from_toml(NUMERIC).unwrap()).unwrap()
}

/// Every penalty with every learner that has one: trains, verifies, claims what was asked for.
#[test]
fn every_penalty_trains_and_verifies() {
    let data = data(3000, 2, 1);
    for method in ["amp", "objective", "output"] {
        for penalty in PENALTIES {
            for delta in [0.0, 1e-6] {
                let model = case(method, delta).set("penalty", penalty).verified(&data);
                let said = serde_json::to_value(&model.request().task.method).unwrap();
                assert_eq!(said["penalty"], penalty, "the certificate names it");
            }
        }
    }
}

/// An elastic net's part of λ that is removed from a certificate, or added, is detected.
#[test]
fn a_changed_elastic_net_does_not_verify() {
    let data = data(3000, 2, 1);
    let model = case("amp", 1e-6).set("penalty", "elastic-net:1,500").model(&data);
    for other in ["elastic-net:1,1", "l1:1", "elastic-net:1,5000"] {
        let forged = forged(&model, |certificate| {
            certificate["request"]["method"]["penalty"] = other.into();
        });
        assert!(!verify(&forged).valid, "{other}");
    }
}

/// The released weights obey the penalty but for the output noise, which is small.
#[test]
fn released_minimisers_obey_their_set() {
    const SPECK: f64 = 1e-4;
    let data = data(3000, 2, 1);
    let weights = |penalty: &str| {
        let request = case("objective", 1e-6).set("penalty", penalty);
        let noise = request.plan().settings().get("output_noise").unwrap();
        assert!(8.0 * noise < SPECK, "{penalty}: {noise}");
        request.seeded(&data).weights().weights[0].clone()
    };
    let inside = -0.2 - SPECK..=0.4 + SPECK;
    assert!(weights("box:-0.2,0.4").iter().all(|w| inside.contains(w)));
    let size = weights("ball:0.5").iter().map(|w| w * w).sum::<f64>().sqrt();
    assert!(size <= 0.5 + SPECK, "{size}");
    let simplex = weights("simplex:1.5");
    assert!(simplex.iter().all(|w| *w >= -SPECK));
    assert!((simplex.iter().sum::<f64>() - 1.5).abs() < SPECK);
    assert!(weights("l1:1e6").iter().all(|w| w.abs() < SPECK));
    assert!(weights("group:1e6").iter().all(|w| w.abs() < SPECK));
    assert!(weights("l1:0.001").iter().all(|w| w.abs() > SPECK));
}

#[test]
fn penalties_outside_their_limits_are_refused_at_plan_time() {
    let base = case("output", 1e-6);
    for (bad, word) in [
        ("l1:0", "l1_weight"),
        ("l1:-1", "l1_weight"),
        ("elastic-net:1,0", "l2_weight"),
        ("group:0", "group_weight"),
        ("box:1,1", "box"),
        ("box:2,1", "box"),
        ("ball:0", "ball_radius"),
        ("simplex:-1", "simplex_total"),
    ] {
        let refusal = base.clone().set("penalty", bad).refusal().to_string();
        assert!(refusal.contains(word), "{bad}: {refusal}");
    }
    for bad in ["lasso:1", "l1", "l1:x", "box:1", "1"] {
        let refusal = base.task.method.with("penalty", bad).unwrap_err();
        assert!(matches!(refusal, LearnError::SettingValue { .. }), "{bad}: {refusal}");
    }
    assert!(base.task.method.with("penalty", "l1:1").is_ok());
    assert!("gd".parse::<privet_learn::Method>().unwrap().with("penalty", "l1:1").is_err());
    // A set so large that f64 could not hold the minimiser to the tolerance.
    let far = base.set("penalty", "simplex:1e30").refusal();
    assert!(matches!(far, LearnError::NotCovered { .. }), "{far}");
}

/// A column of the schema is a group: a category's indicators are in or out together.
#[test]
fn groups_are_the_schema_s_columns() {
    let asked = numeric("objective", Loss::SQUARED);
    assert_eq!(Facts::of(&asked).unwrap().groups, [1, 3, 1]);
    let model = asked.set("penalty", "group:150").seeded(&numbers(3000));
    let weights = &model.weights().weights[0];
    let out = weights[1..4].iter().filter(|w| w.abs() < 1e-4).count();
    assert!(out == 0 || out == 3, "{weights:?}");
}

/// Huber, quantile and Poisson regression: train, verify, predict near what they stand for.
#[test]
fn losses_for_numbers_learn_and_verify() {
    let data = numbers(3000);
    let Target::Number(encoded) = &data.target else { panic!("no numbers") };
    let truth: Vec<f64> = encoded.iter().map(|y| 20.0 * (y + 1.0)).collect();
    let losses = [
        (Loss::SQUARED, 4.0),
        (Loss::Huber { width: 0.1 }, 4.0),
        (Loss::Quantile { tau: 0.5, h: 0.05 }, 4.0),
        (Loss::poisson(0.0, 40.0, 8.0).unwrap(), 4.0),
    ];
    for method in ["amp", "objective", "output", "gd"] {
        for (loss, allowed) in losses {
            let asked = numeric(method, loss);
            asked.verified(&data);
            let Predictions::Numbers(found) = asked.seeded(&data).predict(&data.features) else {
                panic!("no numbers")
            };
            let squares: f64 = found.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum();
            let error = (squares / 3000.0).sqrt();
            println!("{method} {loss:?}: rmse {error}");
            // Output perturbation shrinks too much to say more than that it runs.
            assert!(method == "output" || error < allowed, "{method} {loss:?}: rmse {error}");
        }
        if method == "output" {
            continue;
        }
        // A high quantile lies above a low one.
        let mean = |tau| {
            let asked = numeric(method, Loss::Quantile { tau, h: 0.05 });
            let Predictions::Numbers(found) = asked.seeded(&data).predict(&data.features) else {
                panic!("no numbers")
            };
            found.iter().sum::<f64>() / 3000.0
        };
        assert!(mean(0.9) > mean(0.1) + 2.0, "{method}: {} {}", mean(0.9), mean(0.1));
    }
}

#[test]
fn losses_that_do_not_fit_the_target_are_refused() {
    let refused = |loss, schema: &str| {
        let schema = Schema::from_toml(schema).unwrap();
        case("amp", 1e-6).schema(schema).loss(loss).refusal().to_string()
    };
    assert!(refused(Loss::Logistic, NUMERIC).contains("huber, quantile or poisson"));
    assert!(refused(Loss::Quantile { tau: 0.5, h: 0.1 }, SCHEMA).contains("numeric target"));
    assert!(refused(Loss::poisson(0.0, 40.0, 8.0).unwrap(), SCHEMA).contains("numeric target"));
    assert!(refused(Loss::poisson(1.0, 40.0, 8.0).unwrap(), NUMERIC).contains("low / high"));
    let negative = NUMERIC.replace("[0, 40]", "[-1, 40]");
    assert!(refused(Loss::Poisson { least: 0.0, shift: 1.0 }, &negative).contains("at least 0"));
    assert!(refused(Loss::Quantile { tau: 1.5, h: 0.1 }, NUMERIC).contains("tau"));
}

/// Rows of norm 1 at most, half of them extreme: at the bound, duplicated, or zero.
fn rows(count: usize, columns: usize, seed: u64) -> (Vec<Vec<f32>>, Vec<f64>) {
    let mut source = FixedSeed::new(seed);
    let mut rows: Vec<Vec<f32>> = Vec::new();
    let mut labels = Vec::new();
    for i in 0..count {
        let raw: Vec<f64> = (0..columns).map(|_| uniform(&mut source)).collect();
        let size = raw.iter().map(|x| x * x).sum::<f64>().sqrt();
        let length = match i % 4 {
            0 => 0.999_999,
            1 => 0.0,
            _ => uniform(&mut source).abs(),
        };
        let row = raw.iter().map(|x| (x / size * length) as f32).collect();
        rows.push(if i % 4 == 3 { rows[i - 3].clone() } else { row });
        labels.push(if uniform(&mut source) > 0.0 { 1.0 } else { -1.0 });
    }
    (rows, labels)
}

fn penalty(kind: usize, columns: u32, scale: f64) -> Penalty {
    match kind {
        0 => Penalty::None,
        1 => Penalty::L1 { weight: scale },
        2 => Penalty::ElasticNet { l1: scale, l2: 0.5 * scale },
        3 => Penalty::Group { weight: scale, sizes: vec![1, 2, columns - 3] },
        4 => Penalty::Box { low: -0.3 * scale, high: 0.1 * scale },
        5 => Penalty::Ball { radius: scale },
        _ => Penalty::Simplex { total: scale },
    }
}

const LOSSES: [Loss; 6] = [
    Loss::Logistic,
    Loss::HuberSvm { h: 0.05 },
    Loss::SQUARED,
    Loss::Huber { width: 0.1 },
    Loss::Quantile { tau: 0.7, h: 0.05 },
    Loss::Poisson { least: 0.0, shift: 1.0 },
];

fn matrix(rows: &[Vec<f32>], columns: usize) -> Matrix {
    Matrix::Dense(DenseMatrix::new(rows.concat(), rows.len(), columns))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// The sensitivity of output perturbation with every penalty and loss, on random neighbours and
    /// extreme ones: a record of norm 1 with one label against the same record with the other, or its
    /// negative, or nothing.
    #[test]
    fn penalised_minimisers_move_within_the_bound(
        seed in any::<u64>(), kind in 0..7_usize, which in 0..LOSSES.len(), ridge in -2.0..1.0_f64,
        scale in -1.5..1.0_f64, extreme in 0..4_u8, count in 1..12_usize,
    ) {
        let (columns, loss, ridge) = (5, LOSSES[which], 10f64.powf(ridge));
        let (whole, labels) = rows(count, columns, seed);
        let (mut changed, mut relabelled) = (whole.clone(), labels.clone());
        let neighbours = match extreme {
            0 => { relabelled[0] = -labels[0]; Neighbours::ReplaceOne }
            1 => { changed[0].iter_mut().for_each(|x| *x = -*x); Neighbours::ReplaceOne }
            2 => { changed.remove(0); relabelled.remove(0); Neighbours::AddRemove }
            _ => {
                changed[0] = rows(1, columns, !seed).0[0].clone();
                relabelled[0] = -labels[0];
                Neighbours::ReplaceOne
            }
        };
        let penalty = penalty(kind, columns as u32, 10f64.powf(scale));
        let tolerance = 1e-7;
        let solve = |rows: &[Vec<f32>], labels: &[f64]| {
            let matrix = matrix(rows, columns);
            let records = InMemory::new(&matrix, labels).unwrap();
            let problem = Problem::new(&records, loss, ridge).with_penalty(&penalty);
            minimise(&problem, tolerance, &SolverOptions::default()).unwrap().into_theta()
        };
        let mut facts = Facts::of(&case("output", 0.0).neighbours(neighbours)).unwrap();
        facts.shape.lipschitz = loss.lipschitz();
        // The elastic net's part counts.
        let bound = sensitivity(&facts, ridge + penalty.convexity(), tolerance);
        let moved = distance(&solve(&whole, &labels), &solve(&changed, &relabelled));
        prop_assert!(moved <= bound, "{moved} > {bound} for {loss:?} {penalty:?}");
    }

    /// The limit theorem depends on this: the b that leads to a given θ differs between neighbours by
    /// the difference of their gradients there, for any penalty, and that is at most 2LR.
    #[test]
    fn the_gradient_shift_does_not_see_the_penalty(
        seed in any::<u64>(), kind in 0..7_usize, which in 0..LOSSES.len(), scale in -1.5..1.0_f64,
    ) {
        let (columns, loss, ridge) = (5, LOSSES[which], 0.5);
        let (whole, labels) = rows(8, columns, seed);
        let (mut changed, mut relabelled) = (whole.clone(), labels.clone());
        changed[0].iter_mut().for_each(|x| *x = -*x);
        relabelled[1] = labels[1];
        relabelled[0] = -labels[0];
        let penalty = penalty(kind, columns as u32, 10f64.powf(scale));
        let (one, two) = (matrix(&whole, columns), matrix(&changed, columns));
        let one = InMemory::new(&one, &labels).unwrap();
        let two = InMemory::new(&two, &relabelled).unwrap();
        let mut source = FixedSeed::new(!seed);
        let b: Vec<f64> = (0..columns).map(|_| 5.0 * uniform(&mut source)).collect();
        let first = Problem::new(&one, loss, ridge).with_linear(&b).with_penalty(&penalty);
        let minimiser = minimise(&first, 1e-9, &SolverOptions::default()).unwrap();
        let theta = minimiser.theta();
        let g = Problem::new(&one, loss, ridge).value_and_gradient(theta).unwrap().1;
        let h = Problem::new(&two, loss, ridge).value_and_gradient(theta).unwrap().1;
        let other: Vec<f64> = (0..columns).map(|j| b[j] + g[j] - h[j]).collect();
        prop_assert!(distance(&other, &b) <= 2.0 * loss.lipschitz() + 1e-12);
        let second = Problem::new(&two, loss, ridge).with_linear(&other).with_penalty(&penalty);
        let again = minimise(&second, 1e-9, &SolverOptions::default()).unwrap();
        let allowed = minimiser.distance_bound() + again.distance_bound() + 1e-9;
        prop_assert!(distance(theta, again.theta()) <= allowed, "{loss:?} {penalty:?}");
    }
}
