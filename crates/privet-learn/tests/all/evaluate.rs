//! Private evaluations: right without noise, moved by no more than the charge, certified and verified,
//! with intervals of the stated coverage.

use crate::common::{Case, Change, LOSSES};
use privet_core::Neighbours;
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::{Dataset, Target};
use privet_dp::gate::seal;
use privet_dp::noise::{FixedSeed, Source, SystemRandom};
use privet_learn::file::{Seal, any_from_json, from_json, to_json};
use privet_learn::linear::model::{Model, Predictions};
use privet_learn::statistics::describe::Estimate;
use privet_learn::statistics::evaluate::{
    ClassMetrics, Evaluate, Form, Judgements, Measures, Metrics, NumberMetrics, OutputKind,
};
use privet_learn::{Erm, LearnError, Loaded, Plan, Released, plan, verify};
use privet_optim::loss::Loss;
use privet_optim::sum::{Described, Exact, ExactAnswer, Table};
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;

/// A model of `classes` classes, 1 a number, and rows that it has not seen.
fn model(classes: u32, loss: Loss, users: Option<u32>, rows: u64) -> (Model, Dataset) {
    let method = if loss == Loss::SQUARED { "ssp" } else { "gd" };
    let case = Case::of(method).loss(loss).classes(classes).rows(2000).budget(4.0, 1e-6);
    let trained = case.seeded(&case.data(3));
    let text = to_json(&trained, None).unwrap();
    let model = privet_learn::file::from_json::<Erm>(text.as_bytes(), Seal::Required).unwrap();
    let case = case.rows(rows);
    let case = match users {
        Some(most) => case.users(most),
        None => case,
    };
    (model, case.data(9))
}

fn task(model: &Model, threshold: Option<f64>) -> Evaluate {
    let digest = model.certificate().digest.clone().unwrap();
    Evaluate { model: digest, says: OutputKind::of_model(model), threshold, declared_public: false }
}

fn planned(
    model: &Model,
    data: &Dataset,
    neighbours: Neighbours,
    budget: (f64, f64),
) -> Plan<Evaluate> {
    let schema = match &data.units {
        Some(_) => Case::of("gd").classes(classes(model)).users(3).schema.clone(),
        None => model.request().schema.clone(),
    };
    let budget = (budget.0, Some(budget.1));
    let asked = task(model, None).request(&schema, data.rows() as u64, neighbours, budget);
    plan(&asked.unwrap()).unwrap()
}

fn classes(model: &Model) -> u32 {
    model.request().schema.classes().map_or(1, |classes| classes.len() as u32)
}

fn judged(model: &Model, data: &Dataset, form: &Form) -> Dataset {
    Judgements::by_model(model, data, form).unwrap().table(form)
}

fn released(plan: &Plan<Evaluate>, table: &Dataset, source: &mut dyn Source) -> Released<Evaluate> {
    let release = plan.run(table, source, &AtomicBool::new(false)).unwrap();
    let text = to_json(&Released::<Evaluate>::from_release(release).unwrap(), None).unwrap();
    from_json(text.as_bytes(), Seal::Required).unwrap()
}

fn exact(model: &Model, data: &Dataset, threshold: Option<f64>) -> Metrics {
    let schema = &model.request().schema;
    let form = Form::exact(schema, OutputKind::of_model(model), threshold).unwrap();
    Metrics::exact(&form, &Judgements::by_model(model, data, &form).unwrap())
}

fn of_classes(worth: &Metrics) -> &ClassMetrics {
    let Measures::Classes(own) = &worth.measures else { panic!("no classes") };
    own
}

fn of_number(worth: &Metrics) -> &NumberMetrics {
    let Measures::Number(own) = &worth.measures else { panic!("no number") };
    own
}

#[test]
fn without_noise_every_number_is_that_of_the_rows() {
    let (model, data) = model(2, Loss::Logistic, None, 700);
    let worth = exact(&model, &data, None);
    let own = of_classes(&worth);
    assert!(!worth.private && worth.rows.value == 700.0);
    let Target::Class { codes, .. } = &data.target else { panic!("no classes") };
    let Predictions::Classes(found) = model.predict(&data.features) else { panic!("no classes") };
    let shares = model.probabilities(&data.features).unwrap();
    let (mut confusion, mut loss, mut brier) = ([[0.0; 2]; 2], 0.0, 0.0);
    for (row, (code, said)) in codes.iter().zip(&found).enumerate() {
        confusion[*code as usize][*said as usize] += 1.0;
        loss += -shares[2 * row + *code as usize].max(0.01).ln() / 700.0;
        brier += (shares[2 * row + 1] - f64::from(*code)).powi(2) / 700.0;
    }
    for (own, row) in own.confusion.iter().zip(&confusion) {
        assert_eq!(own, row);
    }
    let near = |estimate: &Estimate, expected: f64| {
        assert!((estimate.value - expected).abs() < 1e-5, "{estimate:?} {expected}");
        assert_eq!((estimate.low, estimate.high), (estimate.value, estimate.value));
    };
    near(&own.accuracy, (confusion[0][0] + confusion[1][1]) / 700.0);
    near(own.log_loss.as_ref().unwrap(), loss);
    near(own.brier.as_ref().unwrap(), brier);
    near(own.auc.as_ref().unwrap(), model.ranking(&data.features, codes).unwrap());
    let sizes = [confusion[0].iter().sum::<f64>(), confusion[1].iter().sum::<f64>()];
    near(&own.majority, sizes[0].max(sizes[1]) / 700.0);
    near(&own.classes[1].recall, confusion[1][1] / sizes[1]);
    near(&own.classes[1].precision, confusion[1][1] / (confusion[0][1] + confusion[1][1]));
    assert!(own.never_predicted.is_empty() && own.calibration.len() > 1);
    let records: f64 = own.calibration.iter().map(|group| group.records).sum();
    assert!((records - 700.0).abs() < 1e-6, "{records}");

    // A number, in its own unit.
    let (model, data) = self::model(1, Loss::SQUARED, None, 700);
    let worth = exact(&model, &data, None);
    let Target::Number(values) = &data.target else { panic!("no number") };
    let Predictions::Numbers(found) = model.predict(&data.features) else { panic!("no number") };
    let truth: Vec<f64> = values.iter().map(|value| 2.0 * value).collect();
    let mean = truth.iter().sum::<f64>() / 700.0;
    let mean_of = |f: &dyn Fn(f64, f64) -> f64| {
        found.iter().zip(&truth).map(|(a, b)| f(*a, *b)).sum::<f64>() / 700.0
    };
    let (squares, all) =
        (mean_of(&|a, b| (a - b) * (a - b)), mean_of(&|_, b| (b - mean) * (b - mean)));
    let own = of_number(&worth);
    near(&own.rmse, squares.sqrt());
    near(&own.mae, mean_of(&|a, b| (a - b).abs()));
    near(&own.rmse_of_mean, all.sqrt());
    near(own.r2.as_ref().unwrap(), 1.0 - squares / all);
    near(&own.mean, mean);
}

#[test]
fn a_threshold_moves_predictions_and_a_share_finds_one() {
    let (model, data) = model(2, Loss::Logistic, None, 600);
    let shares = model.probabilities(&data.features).unwrap();
    for threshold in [0.001, 0.2, 0.5, 0.9, 1.0 - 1e-12] {
        let worth = exact(&model, &data, Some(threshold));
        let own = of_classes(&worth);
        let above = shares.chunks(2).filter(|row| row[1] > threshold).count();
        assert_eq!(own.confusion[0][1] + own.confusion[1][1], above as f64);
        assert_eq!(own.never_predicted.contains(&"yes".to_string()), above == 0);
        assert_eq!(own.never_predicted.contains(&"no".to_string()), above == 600);
    }
    let actual = exact(&model, &data, None).threshold_by_share(0.2).unwrap();
    let above =
        |threshold: f64| shares.chunks(2).filter(|row| row[1] > threshold).count() as f64 / 600.0;
    assert!(above(actual.high) <= 0.2 && 0.2 <= above(actual.low), "{actual:?}");
}

/// Every displayed number lies in its interval in about 95 of 100 releases or more. Seeds are fixed, so
/// that it fails always or never; of 2,000 draws at 95 in 100 fewer than 1,840 would be seen with
/// probability below 1e-9, and at 90 in 100 as many with probability 2e-3. R² promises 90 of 100: there
/// the same with 1,719.
#[test]
fn intervals_hold_what_they_are_about() {
    for (classes, loss, neighbours, delta) in [
        (2, Loss::Logistic, Neighbours::ReplaceOne, 1e-6),
        (2, Loss::Logistic, Neighbours::AddRemove, 0.0),
        (2, LOSSES[1], Neighbours::ReplaceOne, 0.0),
        (3, Loss::Logistic, Neighbours::AddRemove, 1e-6),
        (1, Loss::SQUARED, Neighbours::ReplaceOne, 1e-6),
        (1, Loss::SQUARED, Neighbours::AddRemove, 0.0),
    ] {
        let (model, data) = model(classes, loss, None, 1500);
        let plan = planned(&model, &data, neighbours, (1.0, delta));
        let table = judged(&model, &data, plan.facts());
        let truth = exact(&model, &data, None);
        let mut held = Vec::new();
        for seed in 0..2000 {
            let release = plan.run(&table, &mut FixedSeed::new(seed), &AtomicBool::new(false));
            let released: Released<Evaluate> = Released::from_release(release.unwrap()).unwrap();
            let worth = Metrics::of(released.request(), released.artefact()).unwrap();
            assert!(worth.private);
            for (place, (name, estimate, truth)) in numbers(&worth, &truth).iter().enumerate() {
                if held.len() <= place {
                    held.push((name.to_string(), 0));
                }
                held[place].1 += u32::from((estimate.low..=estimate.high).contains(truth));
                let inside = (estimate.low..=estimate.high).contains(&estimate.value);
                assert!(inside || *name == "r2", "{name} {estimate:?}");
            }
        }
        for (name, held) in held {
            let least = if name == "r2" { 1719 } else { 1840 };
            assert!(held >= least, "{classes} {neighbours} {delta} {name}: {held} of 2000");
        }
    }
}

/// Every displayed number, beside the truth.
fn numbers(found: &Metrics, truth: &Metrics) -> Vec<(&'static str, Estimate, f64)> {
    let mut all = vec![("rows", found.rows, truth.rows.value)];
    match (&found.measures, &truth.measures) {
        (Measures::Classes(found), Measures::Classes(truth)) => {
            all.push(("accuracy", found.accuracy, truth.accuracy.value));
            all.push(("majority", found.majority, truth.majority.value));
            for (name, one, other) in [
                ("auc", &found.auc, &truth.auc),
                ("log loss", &found.log_loss, &truth.log_loss),
                ("brier", &found.brier, &truth.brier),
            ] {
                assert_eq!(one.is_some(), other.is_some(), "{name}");
                all.extend(one.zip(*other).map(|(one, other)| (name, one, other.value)));
            }
            for (one, other) in found.classes.iter().zip(&truth.classes) {
                all.push(("share", one.share, other.share.value));
                all.push(("recall", one.recall, other.recall.value));
                all.push(("precision", one.precision, other.precision.value));
            }
        }
        (Measures::Number(found), Measures::Number(truth)) => {
            all.push(("rmse", found.rmse, truth.rmse.value));
            all.push(("rmse of the mean", found.rmse_of_mean, truth.rmse_of_mean.value));
            all.push(("mae", found.mae, truth.mae.value));
            all.push(("mean", found.mean, truth.mean.value));
            // Where the noise leaves no variance, there is no R².
            let r2 = found.r2.unwrap_or(Estimate { value: 0.0, low: f64::MIN, high: 1.0 });
            all.push(("r2", r2, truth.r2.unwrap().value));
        }
        _ => panic!("other measures"),
    }
    all
}

fn sums(form: &Form, data: &Dataset) -> Vec<f64> {
    let records = data.problem(&form.labels).unwrap();
    let query = Exact::Described(form.query.clone());
    let ExactAnswer::Units(sum) = records.exact(&query).unwrap() else { panic!("units") };
    sum.to_f64(Described::UNIT).unwrap()
}

/// All of a unit's records go, or others take their place, random and extreme: never by more than is
/// charged, in either norm; and some pair comes near to it.
#[test]
fn a_unit_moves_the_sums_by_no_more_than_is_charged() {
    for (classes, loss) in
        [(2, Loss::Logistic), (2, LOSSES[1]), (3, Loss::Logistic), (1, Loss::SQUARED)]
    {
        for users in [None, Some(3)] {
            let rows = 30;
            let (model, data) = model(classes, loss, users, rows);
            let fresh = Case::of("gd").classes(classes).rows(rows).data(77);
            let count = users.unwrap_or(1) as usize;
            let mut largest: f64 = 0.0;
            for change in Change::ALL {
                let plan = planned(&model, &data, change.neighbours(), (1.0, 1e-6));
                let form = plan.facts();
                for first in (0..rows as usize - count).step_by(count) {
                    let other = change.of(&data, first, count, &fresh);
                    let moved: Vec<f64> = sums(form, &judged(&model, &data, form))
                        .iter()
                        .zip(sums(form, &judged(&model, &other, form)))
                        .map(|(a, b)| a - b)
                        .collect();
                    let absolute: f64 = moved.iter().map(|x| x.abs()).sum();
                    let length = moved.iter().map(|x| x * x).sum::<f64>().sqrt();
                    assert!(absolute <= form.absolute_shift() * (1.0 + 1e-12), "{change:?}");
                    assert!(length <= form.shift() * (1.0 + 1e-12), "{change:?}");
                    largest = largest.max(length / form.shift());
                }
            }
            assert!(largest > 0.5, "{classes} {loss:?} {users:?}: {largest}");
        }
    }
}

#[test]
fn evaluations_are_certified_and_verified_and_lies_are_found() {
    let (model, data) = model(2, Loss::Logistic, None, 300);
    for (neighbours, delta) in [Neighbours::AddRemove, Neighbours::ReplaceOne]
        .into_iter()
        .flat_map(|n| [(n, 0.0), (n, 1e-6)])
    {
        let plan = planned(&model, &data, neighbours, (1.0, delta));
        let table = judged(&model, &data, plan.facts());
        let released = released(&plan, &table, &mut SystemRandom::new().unwrap());
        let verdict = verify(&released);
        assert!(verdict.valid, "{:?}", verdict.checks);
        assert_eq!(verdict.guarantee, plan.guarantee().copied());
        let document: Value = serde_json::from_str(&to_json(&released, None).unwrap()).unwrap();
        let accepted = |change: &dyn Fn(&mut Value)| {
            let mut forged = document.clone();
            change(&mut forged);
            let sealed = privet_dp::gate::seal::seal_document(forged, None).unwrap().to_string();
            let read = any_from_json(sealed.as_bytes(), Seal::Required);
            read.is_ok_and(|read| matches!(read, Loaded::Evaluation(_)) && read.verify().valid)
        };
        assert!(accepted(&|_| {}), "sealed anew it is as it was");
        let lies: [&dyn Fn(&mut Value); 9] = [
            &|file| file["body"]["sums"][0] = json!(1.0 / 3.0),
            &|file| {
                file["body"]["sums"].as_array_mut().unwrap().pop();
            },
            &|file| file["certificate"]["request"]["noise"][0] = json!(0.001),
            &|file| file["certificate"]["request"]["says"] = json!("classes"),
            &|file| file["certificate"]["request"]["model"] = json!("that one"),
            &|file| file["certificate"]["request"]["threshold"] = json!(1.5),
            &|file| file["certificate"]["guarantee"]["epsilon"] = json!(0.5),
            &|file| file["certificate"]["request"]["schema"]["clip"]["radius"] = json!(0.5),
            &|file| file["kind"] = json!("description"),
        ];
        for (number, lie) in lies.iter().enumerate() {
            assert!(!accepted(lie), "{neighbours} {delta}: lie {number}");
        }
    }
}

#[test]
fn what_cannot_be_evaluated_is_refused_in_words() {
    let (model, data) = model(2, LOSSES[1], None, 60);
    let schema = model.request().schema.clone();
    let refused = |task: Evaluate| {
        let request = task.request(&schema, 60, Neighbours::ReplaceOne, (1.0, None)).unwrap();
        plan(&request).unwrap_err().to_string()
    };
    let own = task(&model, None);
    for (task, word) in [
        (Evaluate { threshold: Some(0.3), ..own.clone() }, "probabilities"),
        (Evaluate { says: OutputKind::Number, ..own.clone() }, "numeric target"),
        (Evaluate { model: "model.json".into(), ..own.clone() }, "64 digits"),
    ] {
        let words = refused(task);
        assert!(words.contains(word), "{words}");
    }
    // The rows themselves are not judgements.
    let plan = planned(&model, &data, Neighbours::ReplaceOne, (1.0, 1e-6));
    let refused = plan.run(&data, &mut FixedSeed::new(1), &AtomicBool::new(false));
    assert!(matches!(refused, Err(LearnError::DataShape(_))));
}

/// Weights of absurd sizes predict ∞ − ∞ of some records. Such a record is judged like any other: a
/// refusal of a table must not depend on its records.
#[test]
fn what_is_no_number_is_judged_all_the_same() {
    let (own, data) = model(1, Loss::SQUARED, None, 60);
    let mut document: Value = serde_json::from_str(&to_json(&own, None).unwrap()).unwrap();
    let weights = document["body"]["weights"][0].as_array_mut().unwrap();
    for (place, weight) in weights.iter_mut().enumerate() {
        *weight = json!(if place % 2 == 0 { f64::MAX } else { f64::MIN });
    }
    let text = seal::seal_document(document, None).unwrap().to_string();
    let absurd = privet_learn::file::from_json::<Erm>(text.as_bytes(), Seal::Required).unwrap();
    let mut data = data;
    let columns = data.features.columns();
    let rows: Vec<f32> =
        (0..60 * columns).map(|place| if place % columns < 2 { 4.0 } else { 0.0 }).collect();
    data.features = Matrix::Dense(DenseMatrix::new(rows, 60, columns));
    let Predictions::Numbers(found) = absurd.predict(&data.features) else { panic!("no number") };
    assert!(found.iter().any(|number| number.is_nan()), "{found:?}");
    let plan = planned(&absurd, &data, Neighbours::ReplaceOne, (1.0, 1e-6));
    let table = judged(&absurd, &data, plan.facts());
    assert!(plan.run(&table, &mut FixedSeed::new(1), &AtomicBool::new(false)).is_ok());
    assert!(of_number(&exact(&absurd, &data, None)).mae.value.is_finite());
}
