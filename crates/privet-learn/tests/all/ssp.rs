//! Least squares from noisy moments, from request to verified model.

use crate::common::{Case, Change, RELATIONS, SCHEMA, accuracy, data, relative_error, sparse};
use privet_core::{Neighbours, Unit};
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::{Dataset, Schema, Target};
use privet_dp::gate::Arithmetic;
use privet_learn::linear::ssp;
use privet_learn::{Facts, LearnError, Method, plan};
use privet_optim::loss::Loss;
use proptest::prelude::*;

fn case(classes: u32, epsilon: f64, delta: f64) -> Case {
    Case::of("ssp").classes(classes).budget(epsilon, delta)
}

/// Every kind of target, relation, storage and noise trains, verifies and claims the request's budget.
#[test]
fn every_combination_trains_and_verifies() {
    for classes in [1, 2, 3] {
        let (training, test) = (data(4000, classes, 1), data(2000, classes, 2));
        for (neighbours, delta) in RELATIONS.into_iter().flat_map(|n| [(n, 1e-6), (n, 0.0)]) {
            let case = case(classes, 4.0, delta).neighbours(neighbours);
            let what = format!("{neighbours} {classes} classes, delta {delta}");
            let trained = case.verified(&sparse(&training));
            assert_eq!(trained.certificate().arithmetic, Arithmetic::Finite);
            let model = case.seeded(&training);
            if classes == 1 {
                let actual = relative_error(&model, &test);
                assert!(actual < 0.15, "{what}: error {actual}");
            } else {
                let actual = accuracy(&model, &test);
                assert!(actual > 0.9 - 0.15 * f64::from(classes - 2), "{what}: accuracy {actual}");
            }
            assert_eq!(case.seeded(&sparse(&training)).weights(), model.weights(), "{what}");
        }
    }
}

/// With negligible noise the result is the solution of the normal equations.
#[test]
fn with_hardly_any_noise_it_is_least_squares() {
    let training = data(4000, 1, 1);
    let model = case(1, 1e9, 1e-6).set("ridge", "1e-6").seeded(&training);
    let Matrix::Dense(dense) = &training.features else { panic!("not dense") };
    let labels = training.target.signed().unwrap();
    // Xᵀ(Xθ − y) = 0.
    let theta = &model.weights().weights[0];
    let mut slope = vec![0.0; theta.len()];
    for (row, y) in dense.values().chunks(theta.len()).zip(&labels) {
        let x: Vec<f64> = row.iter().map(|x| f64::from(*x)).collect();
        let residual = x.iter().zip(theta).map(|(x, t)| x * t).sum::<f64>() - y;
        slope.iter_mut().zip(&x).for_each(|(s, x)| *s += residual * x);
    }
    // Noise of scale 0.4 against sums in the hundreds; truncated labels move a sum by 4000·2⁻²¹ at most.
    assert!(slope.iter().all(|s| s.abs() < 2.0), "{slope:?}");
}

#[test]
fn what_is_not_covered_is_refused_with_what_is() {
    let with = |ridge| case(2, 1.0, 1e-6).method(Method::Ssp(ssp::Ssp { ridge: Some(ridge) }));
    assert!(plan(&with(3.0)).is_ok());
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(plan(&with(bad)), Err(LearnError::Setting(_))), "{bad}");
    }
    let refused = |case: Case| case.refusal().to_string();
    let logistic = refused(case(2, 1.0, 1e-6).loss(Loss::Logistic));
    assert!(logistic.contains("least squares") && logistic.contains("loss squared"), "{logistic}");
    assert!(refused(case(2, 1.0, 1e-6).printed()).contains("AdaSSP"));
    let far = SCHEMA.replace("radius = 1.0", "radius = 1e70");
    if let Ok(schema) = Schema::from_toml(&far) {
        assert!(refused(case(2, 1.0, 1e-6).schema(schema)).contains("1e60"));
    }
}

/// Neither ridge nor noise jumps between tables that are nearly alike.
#[test]
fn the_plan_moves_gently() {
    let ridge = |rows: u64| {
        let planned = case(2, 1.0, 1.0 / (rows * rows) as f64).rows(rows).plan();
        let Method::Ssp(options) = planned.request().task.method.clone() else { panic!() };
        options.ridge.unwrap()
    };
    for rows in [500, 5000, 50_000] {
        let ratio = ridge(rows * 6 / 5) / ridge(rows);
        assert!((0.7..1.3).contains(&ratio), "{ratio}");
    }
}

/// The stacked vector, as numbers.
fn statistic(facts: &Facts, data: &Dataset) -> Vec<f64> {
    let units = ssp::exact_moments(facts, data).unwrap();
    units.counts.iter().map(|count| *count as f64 * units.unit).collect()
}

fn facts(classes: u32, neighbours: Neighbours, records: u32) -> Facts {
    let mut facts = Facts::of(&case(classes, 1.0, 1e-6).neighbours(neighbours)).unwrap();
    facts.unit = Unit::User { max_records: records };
    facts
}

/// Distances of two tables: in the Euclidean norm and, from the diagonal up, in ℓ1.
fn distances(facts: &Facts, one: &Dataset, two: &Dataset) -> (f64, f64) {
    let columns = facts.columns;
    let moved: Vec<f64> =
        statistic(facts, one).iter().zip(statistic(facts, two)).map(|(a, b)| a - b).collect();
    let upper = |place: usize| place >= columns * columns || place % columns >= place / columns;
    let absolute = moved.iter().enumerate().filter(|(place, _)| upper(*place));
    (moved.iter().map(|x| x * x).sum::<f64>().sqrt(), absolute.map(|(_, x)| x.abs()).sum())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Records replaced by others, by their opposites, by duplicates, by zeros, by axes; removed.
    #[test]
    fn neighbouring_tables_move_the_moments_within_the_bound(
        seed in any::<u64>(), change in prop::sample::select(Change::ALL.to_vec()),
        records in 1_u32..4, classes in 1_u32..4
    ) {
        let (whole, fresh) = (data(12, classes, seed), data(12, classes, seed ^ 0x5555));
        let facts = facts(classes, change.neighbours(), records);
        let changed = change.of(&whole, 0, records as usize, &fresh);
        let (euclidean, absolute) = distances(&facts, &whole, &changed);
        prop_assert!(euclidean <= ssp::sensitivity(&facts), "{euclidean} for {change:?}");
        prop_assert!(absolute <= ssp::absolute_sensitivity(&facts), "{absolute} for {change:?}");
    }
}

/// The pairs of the proof attain both bounds: nothing smaller would do.
#[test]
fn the_bounds_are_attained() {
    let table = |rows: &[([f32; 3], u32)]| {
        let values = rows.iter().flat_map(|(x, _)| *x).collect();
        let codes = rows.iter().map(|(_, code)| *code).collect();
        Dataset {
            features: Matrix::Dense(DenseMatrix::new(values, rows.len(), 3)),
            target: Target::Class { codes, count: 2 },
            ..data(1, 2, 1)
        }
    };
    // w = R = 1, so ⟨x, x′⟩ = ½, on the grid of 2⁻²³.
    let side = (0.75_f64.sqrt() * 8_388_608.0).trunc() as f32 / 8_388_608.0;
    let one = table(&[([1.0, 0.0, 0.0], 0)]);
    let two = table(&[([0.5, side, 0.0], 1)]);
    let replaced = facts(2, Neighbours::ReplaceOne, 1);
    let ratio = distances(&replaced, &one, &two).0 / ssp::sensitivity(&replaced);
    assert!((1.0 - 1e-6..=1.0).contains(&ratio), "{ratio}");
    let added = facts(2, Neighbours::AddRemove, 1);
    let ratio = distances(&added, &one, &table(&[])).0 / ssp::sensitivity(&added);
    assert!((1.0 - 1e-6..=1.0).contains(&ratio), "{ratio}");
}
