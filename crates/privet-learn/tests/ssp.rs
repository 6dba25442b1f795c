//! Least squares from noised moments, from request to verified model.

mod common;

use common::{SCHEMA, accuracy, forged, scale, seeded, train, uniform};
use privet_core::{Budget, Neighbours, Unit};
use privet_data::matrix::{CsrMatrix, DenseMatrix, Matrix};
use privet_data::{Dataset, Schema, Target, read};
use privet_dp::gate::Arithmetic;
use privet_dp::noise::{FixedSeed, SystemRandom};
use privet_learn::erm::ssp;
use privet_learn::model::Predictions;
use privet_learn::{Calibration, Erm, Facts, LearnError, Method, Request, plan, verify};
use privet_optim::loss::Loss;
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

const RELATIONS: [Neighbours; 2] = [Neighbours::ReplaceOne, Neighbours::AddRemove];

/// 1 is a number, otherwise so many classes.
fn schema(classes: u32) -> Schema {
    let text = match classes {
        1 => SCHEMA.replace(r#"classes = ["no", "yes"]"#, "bounds = [-2, 2]"),
        2 => SCHEMA.into(),
        _ => SCHEMA.replace(r#"["no", "yes"]"#, r#"["no", "yes", "perhaps"]"#),
    };
    Schema::from_toml(&text).unwrap()
}

/// Rows whose label is 2a − b with noise, or mostly its sign; with three classes, "perhaps" where b
/// is large.
fn data(rows: usize, classes: u32, seed: u64) -> Dataset {
    let mut source = FixedSeed::new(seed);
    let mut text = String::from("a,b,y\n");
    for _ in 0..rows {
        let (a, b, e) = (uniform(&mut source), uniform(&mut source), uniform(&mut source));
        let score = 2.0 * a - b + 0.3 * e;
        let label = match score > 0.0 {
            _ if classes == 1 => (score / 2.0).to_string(),
            _ if classes > 2 && b > 0.4 => "perhaps".into(),
            true => "yes".into(),
            false => "no".into(),
        };
        text.push_str(&format!("{a},{b},{label}\n"));
    }
    read::csv_bytes(text.as_bytes(), &schema(classes)).unwrap()
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
        schema: schema(classes),
        rows: 4000,
        budget: Some(Budget::new(epsilon, delta).unwrap()),
        neighbours: Neighbours::ReplaceOne,
        calibration: Calibration::Sound,
        noise: vec![],
        task: Erm { loss: Loss::SQUARED, method: Method::Ssp(ssp::Ssp::default()) },
    }
}

/// Mean squared error over variance.
fn relative_error(model: &privet_learn::model::Model, data: &Dataset) -> f64 {
    let Predictions::Numbers(found) = model.predict(&data.features) else { panic!("no numbers") };
    let Target::Number(values) = &data.target else { panic!("no numbers") };
    // Bounds of ±2 were scaled to ±1.
    let truth: Vec<f64> = values.iter().map(|value| 2.0 * value).collect();
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let error: f64 = found.iter().zip(&truth).map(|(f, t)| (f - t).powi(2)).sum();
    error / truth.iter().map(|t| (t - mean).powi(2)).sum::<f64>()
}

/// Every kind of target, relation, storage and noise trains, verifies and claims what was asked for.
#[test]
fn every_combination_trains_and_verifies() {
    for classes in [1, 2, 3] {
        let (training, test) = (data(4000, classes, 1), data(2000, classes, 2));
        for (neighbours, delta) in RELATIONS.into_iter().flat_map(|n| [(n, 1e-6), (n, 0.0)]) {
            let request = Request { neighbours, ..request(classes, 4.0, delta) };
            let model = train(&request, &sparse(&training));
            let verdict = verify(&model);
            let what = format!("{neighbours} {classes} classes, delta {delta}");
            assert!(verdict.valid, "{what}: {:?}", verdict.checks);
            let claimed = verdict.guarantee.unwrap();
            assert_eq!((claimed.epsilon, claimed.delta), (4.0, delta), "{what}");
            assert_eq!(model.certificate().arithmetic, Arithmetic::Finite);
            let model = seeded(&request, &training);
            if classes == 1 {
                let found = relative_error(&model, &test);
                assert!(found < 0.15, "{what}: error {found}");
            } else {
                let found = accuracy(&model, &test);
                assert!(found > 0.9 - 0.15 * f64::from(classes - 2), "{what}: accuracy {found}");
            }
            assert_eq!(seeded(&request, &sparse(&training)).weights(), model.weights(), "{what}");
        }
    }
}

/// Where noise is nothing, what is left is the solution of the normal equations.
#[test]
fn with_hardly_any_noise_it_is_least_squares() {
    let training = data(4000, 1, 1);
    let method = Method::Ssp(ssp::Ssp { ridge: Some(1e-6) });
    let model = seeded(&request(1, 1e9, 1e-6).with_method(method), &training);
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
    let with =
        |ridge| request(2, 1.0, 1e-6).with_method(Method::Ssp(ssp::Ssp { ridge: Some(ridge) }));
    assert!(plan(&with(3.0)).is_ok());
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(plan(&with(bad)), Err(LearnError::Setting(_))), "{bad}");
    }
    let refused = |request: Request| plan(&request).unwrap_err().to_string();
    let logistic = refused(request(2, 1.0, 1e-6).with_loss(Loss::Logistic));
    assert!(logistic.contains("least squares") && logistic.contains("loss squared"), "{logistic}");
    let printed = Request { calibration: Calibration::Printed, ..request(2, 1.0, 1e-6) };
    assert!(refused(printed).contains("AdaSSP"));
    let far = SCHEMA.replace("radius = 1.0", "radius = 1e70");
    if let Ok(schema) = Schema::from_toml(&far) {
        assert!(refused(Request { schema, ..request(2, 1.0, 1e-6) }).contains("1e60"));
    }
}

#[test]
fn features_off_their_grid_are_refused_before_noise_is_drawn() {
    let mut bad = data(4000, 2, 1);
    let Matrix::Dense(dense) = &bad.features else { panic!("not dense") };
    let (mut values, columns) = (dense.values().to_vec(), dense.columns());
    values[5] = 1e-9;
    bad.features = Matrix::Dense(DenseMatrix::new(values, 4000, columns));
    let mut source = SystemRandom::new().unwrap();
    let planned = plan(&request(2, 1.0, 1e-6)).unwrap();
    let refused = planned.run(&bad, &mut source, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(refused, LearnError::DataShape(_)), "{refused}");
    let stopped = planned.run(&data(4000, 2, 1), &mut source, &AtomicBool::new(true));
    assert!(matches!(stopped, Err(LearnError::Solve(_))));
}

#[test]
fn less_noise_or_a_smaller_sensitivity_is_found_out() {
    for (delta, grid) in [(1e-6, Some("/events/use/cost/grid/step")), (0.0, None)] {
        let model = train(&request(2, 1.0, delta), &data(4000, 2, 1));
        assert!(verify(&model).valid);
        let failed = |sensitivity: f64| {
            let verdict = verify(&forged(&model, |certificate| {
                scale(certificate, "/events/use/cost/noise_scale", 0.5);
                scale(certificate, grid.unwrap_or("/events/use/cost/step"), 0.5);
                scale(certificate, "/events/use/cost/sensitivity", sensitivity);
            }));
            assert!(!verdict.valid && verdict.guarantee.is_none());
            verdict.checks[..3].iter().map(|check| check.holds).collect::<Vec<_>>()
        };
        assert!(!failed(1.0)[0]);
        assert_eq!(failed(0.5), [false, false, true]);
    }
}

/// Neither ridge nor noise jumps between tables that are nearly alike.
#[test]
fn the_plan_moves_gently() {
    let ridge = |rows: u64| {
        let planned = plan(&Request { rows, ..request(2, 1.0, 1.0 / (rows * rows) as f64) });
        let Method::Ssp(options) = planned.unwrap().request().task.method.clone() else { panic!() };
        options.ridge.unwrap()
    };
    for rows in [500, 5000, 50_000] {
        let ratio = ridge(rows * 6 / 5) / ridge(rows);
        assert!((0.7..1.3).contains(&ratio), "{ratio}");
    }
}

/// The stacked vector, as numbers.
fn statistic(facts: &Facts, data: &Dataset) -> Vec<f64> {
    let units = ssp::stacked(facts, data).unwrap();
    units.counts.iter().map(|count| *count as f64 * units.unit).collect()
}

fn facts(classes: u32, neighbours: Neighbours, records: u32) -> Facts {
    let mut facts = Facts::of(&Request { neighbours, ..request(classes, 1.0, 1e-6) }).unwrap();
    facts.unit = Unit::User { max_records: records };
    facts
}

/// How far apart two tables are: in the Euclidean norm and, from the diagonal up, in ℓ1.
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
        seed in any::<u64>(), kind in 0_usize..7, records in 1_u32..4, classes in 1_u32..4
    ) {
        let rows = 12;
        let whole = data(rows, classes, seed);
        let columns = whole.features.columns();
        let neighbours = if kind == 0 { Neighbours::AddRemove } else { Neighbours::ReplaceOne };
        let facts = facts(classes, neighbours, records);
        let Matrix::Dense(dense) = &whole.features else { panic!("not dense") };
        let mut values = dense.values().to_vec();
        let fresh = data(rows, classes, seed ^ 0x5555);
        let Matrix::Dense(fresh) = &fresh.features else { panic!("not dense") };
        for record in 0..records as usize {
            let place = record * columns..(record + 1) * columns;
            match kind {
                1 => values[place.clone()].copy_from_slice(&fresh.values()[place]),
                2 => values[place].iter_mut().for_each(|x| *x = -*x),
                3 => values.copy_within((columns * 5)..(columns * 6), place.start),
                4 => values[place].fill(0.0),
                5 => {
                    values[place.clone()].fill(0.0);
                    values[place.start + seed as usize % columns] = 1.0;
                }
                _ => {}
            }
        }
        let count = records as usize;
        let target = match &whole.target {
            Target::Class { codes, count: known } => {
                let other = |(row, code): (usize, &u32)| {
                    if row < count { (code + 1) % *known as u32 } else { *code }
                };
                Target::Class { codes: codes.iter().enumerate().map(other).collect(), count: *known }
            }
            Target::Number(values) => {
                // To the ends of the range.
                let other = |(row, y): (usize, &f64)| if row < count { -y.signum() } else { *y };
                Target::Number(values.iter().enumerate().map(other).collect())
            }
        };
        let changed = if kind == 0 {
            whole.select(&(count..rows).collect::<Vec<_>>())
        } else {
            let features = Matrix::Dense(DenseMatrix::new(values, rows, columns));
            Dataset { features, target, ..whole.clone() }
        };
        let (euclidean, absolute) = distances(&facts, &whole, &changed);
        prop_assert!(euclidean <= ssp::sensitivity(&facts), "{euclidean} for {kind}");
        prop_assert!(absolute <= ssp::absolute_sensitivity(&facts), "{absolute} for {kind}");
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
