//! Noisy gradient descent, from request to verified model.

use crate::common::{Case, Change, LOSSES, RELATIONS, data, distance, sum_of, uniform};
use privet_core::Unit;
use privet_dp::account::{Cost, Event};
use privet_dp::noise::FixedSeed;
use privet_learn::linear::gd;
use privet_learn::{Facts, LearnError, Method, plan, verify};
use proptest::prelude::*;

fn case(epsilon: f64, delta: f64) -> Case {
    Case::of("gd").budget(epsilon, delta)
}

/// Every loss, relation and number of classes trains, verifies and claims the request's budget. At ε = 4
/// and 4,000 rows a coin-flip accuracy would mean a sign or scale error.
#[test]
fn every_combination_trains_and_verifies() {
    for classes in [2, 3] {
        let (training, test) = (data(4000, classes, 1), data(2000, classes, 2));
        for loss in LOSSES {
            for neighbours in RELATIONS {
                let case = case(4.0, 1e-6).classes(classes).neighbours(neighbours).loss(loss);
                case.learns(&training, &test, 0.8 - 0.1 * f64::from(classes - 2));
            }
        }
    }
}

/// T steps at σ have the curve of one Gaussian mechanism of multiplier √T·Δ/σ, and no more noise is
/// added than that needs.
#[test]
fn the_noise_is_the_gaussian_floor() {
    for steps in [1, 7, 300] {
        let planned = case(1.0, 1e-5).set("steps", &steps.to_string()).plan();
        let Some(Event::Repeat { count, event }) = planned.events() else { panic!("no steps") };
        assert_eq!(*count, steps);
        let Event::Use { cost: Cost::Gaussian { noise_scale, .. }, .. } = **event else {
            panic!("not a Gaussian")
        };
        // σ/Δ at ε = 1, δ = 1e-5 is 3.730631635; Δ = 2·⅜·R.
        let ratio = noise_scale / (0.75 * 3.730631635 * f64::from(steps).sqrt());
        assert!((1.0 - 1e-9..1.0 + 1e-6).contains(&ratio), "{ratio}");
    }
}

#[test]
fn settings_are_checked_and_what_is_not_covered_is_refused() {
    let with = |steps, ridge| {
        case(1.0, 1e-6).method(Method::Gd(gd::Gd { steps, ridge, ..Default::default() }))
    };
    for good in [with(Some(1), None), with(None, Some(3.0)), with(Some(1_000_000), Some(1e9))] {
        assert!(plan(&good).is_ok());
    }
    let bad = [with(Some(0), None), with(Some(1_000_001), None), with(None, Some(0.0))];
    for bad in bad.iter().chain([&with(None, Some(f64::NAN)), &with(None, Some(-1.0))]) {
        assert!(matches!(plan(bad), Err(LearnError::Setting(_))), "{:?}", bad.task.method);
    }
    let pure = case(1.0, 0.0).refusal().to_string();
    assert!(pure.contains("delta = 0") && pure.contains("delta above 0"), "{pure}");
    assert!(matches!(case(1.0, 1e-6).printed().refusal(), LearnError::NotCovered { .. }));
    let amp: Method = "amp".parse().unwrap();
    let refused = amp.with("steps", "3").unwrap_err().to_string();
    assert_eq!(refused, "'steps' is not a setting of method amp");
    let gd: Method = "gd".parse().unwrap();
    let three = Method::Gd(gd::Gd { steps: Some(3), ..Default::default() });
    assert_eq!(gd.with("steps", "3").unwrap(), three);
    assert!(gd.with("gamma", "1").is_err());
}

/// Neither steps nor step size jump between nearly equal tables, for any size.
#[test]
fn the_pace_moves_gently() {
    for rows in [300.0, 4e3, 5e4, 1e6] {
        for columns in [3, 40, 1000] {
            for problems in [1, 7] {
                for epsilon in [0.05, 0.5, 5.0] {
                    let pace = |rows: f64, columns: usize| {
                        let facts = Facts::of(&case(1.0, 1e-6)).unwrap();
                        let facts = Facts { rows: rows as u64, columns, problems, ..facts };
                        gd::step_rule(&facts, gd::sensitivity(&facts) / (rows * epsilon), None)
                    };
                    let here = pace(rows, columns);
                    for (n, p) in [(1.2, 1.0), (0.8, 1.0), (1.0, 1.2), (1.0, 0.8)] {
                        let there = pace(rows * n, (columns as f64 * p).round() as usize);
                        let steps = f64::from(there.steps) / f64::from(here.steps);
                        let rate = there.rate / here.rate;
                        let memory = (1.0 - there.momentum) / (1.0 - here.momentum);
                        let averaged = f64::from(there.averaged) / f64::from(here.averaged);
                        for moved in [steps, memory, averaged] {
                            assert!((0.7..1.3).contains(&moved), "{moved}");
                        }
                        // Under much noise the expected norm of the model grows with the rows, and the step
                        // size at most as their square.
                        let gently = 0.8_f64.powi(2) - 1e-9..1.2_f64.powi(2) + 1e-9;
                        assert!(gently.contains(&rate), "{rate}");
                    }
                }
            }
        }
    }
}

#[test]
fn an_epsilon_in_the_hundreds_is_planned_or_refused_in_words() {
    for epsilon in [600.0, 1e3, 1e6, 1e12] {
        match plan(&case(epsilon, 1e-6)) {
            Ok(planned) => assert_eq!(planned.guarantee().unwrap().epsilon, epsilon),
            Err(error) => {
                let refused = error.to_string();
                assert!(epsilon > 600.0 && refused.contains("up to 600"), "{refused}");
            }
        }
    }
}

/// Whatever the number of steps, the rate is at most ¾ of what descent with momentum bears, 2(1 + m)/β.
#[test]
fn any_number_of_steps_is_stable() {
    let facts = Facts::of(&case(1.0, 1e-6)).unwrap();
    let smoothness = facts.shape.curvature * facts.radius * facts.radius;
    for steps in [1, 2, 7, 8, 9, 50, 100, 601, 1_000_000] {
        for noise in [1e-9, 1e-3, 10.0] {
            let pace = gd::step_rule(&facts, noise, Some(steps));
            assert_eq!(pace.steps, steps);
            assert!((0.0..1.0).contains(&pace.momentum) && pace.averaged <= steps);
            let bears = 2.0 * (1.0 + pace.momentum) / smoothness;
            assert!(pace.rate > 0.0 && pace.rate <= 0.75 * bears * (1.0 + 1e-12), "{pace:?}");
        }
    }
}

/// A score z is the clipped loss's minimiser for a fraction p of positives, p·min(S, σ(−z)) = (1 − p)·S
/// with S = ⅜; where all derivatives are clipped, |z| ≤ ln(5/3), neither class is preferred.
#[test]
fn probabilities_are_those_of_the_clipped_loss() {
    let model = case(4.0, 1e-6).seeded(&data(4000, 2, 1));
    let test = data(500, 2, 2);
    let probabilities = model.probabilities(&test.features).unwrap();
    for (z, pair) in model.scores(&test.features).iter().zip(probabilities.chunks(2)) {
        assert!((pair[0] + pair[1] - 1.0).abs() < 1e-12);
        let (z, p) = if *z > 0.0 { (*z, pair[1]) } else { (-z, pair[0]) };
        let slope = (1.0 / (1.0 + z.exp())).min(0.375);
        assert!((p * slope - (1.0 - p) * 0.375).abs() < 1e-12, "{z} {p}");
    }
}

#[test]
fn a_certificate_states_every_setting() {
    let chosen = case(1.0, 1e-6).model(&data(4000, 2, 1));
    assert!(matches!(
        chosen.request().task.method,
        Method::Gd(gd::Gd { steps: Some(_), ridge: None, intervals: None })
    ));
    let method = Method::Gd(gd::Gd { steps: Some(100), ridge: Some(2.0), ..Default::default() });
    let model = case(1.0, 1e-6).method(method.clone()).model(&data(4000, 2, 1));
    assert_eq!(model.request().task.method, method);
    assert!(verify(&chosen).valid && verify(&model).valid);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// The sensitivity of each step, attacked at random and extreme points with random and extreme
    /// neighbours: records replaced by others, by their opposites, by duplicates, by zeros; removed.
    #[test]
    fn neighbouring_tables_move_the_sum_within_the_bound(
        seed in any::<u64>(), size in prop::sample::select(vec![0.0, 1.0, 30.0, 1e5]),
        change in prop::sample::select(Change::ALL.to_vec()), records in 1_u32..4, classes in 2_u32..4
    ) {
        let (whole, fresh) = (data(12, classes, seed), data(12, classes, seed ^ 0x5555));
        let changed = change.of(&whole, 0, records as usize, &fresh);
        let mut source = FixedSeed::new(seed);
        for loss in LOSSES {
            let request = case(1.0, 1e-6).classes(classes).neighbours(change.neighbours()).loss(loss);
            let mut facts = Facts::of(&request).unwrap();
            facts.unit = Unit::User { max_records: records };
            let length = facts.columns * facts.problems as usize;
            let theta: Vec<f64> = (0..length).map(|_| size * uniform(&mut source)).collect();
            let moved = distance(&sum_of(&facts, &whole, &theta), &sum_of(&facts, &changed, &theta));
            let bound = gd::sensitivity(&facts);
            prop_assert!(moved <= bound, "{moved} > {bound} for {loss:?} {change:?}");
        }
    }
}
