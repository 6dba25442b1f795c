//! Models of few columns of many: what is learned, what is refused, what a forged file is told by.

use crate::common::{seeded, uniform};
use privet_core::{Budget, Neighbours};
use privet_data::encode::Encoding;
use privet_data::{Dataset, Schema, read};
use privet_dp::gate::seal;
use privet_dp::noise::FixedSeed;
use privet_learn::model::Model;
use privet_learn::model::file::{Seal, from_json, to_json};
use privet_learn::{Erm, LearnError, Method, Request, plan, verify};
use privet_optim::loss::Loss;
use serde_json::{Value, json};

const COLUMNS: usize = 120;
/// Columns that matter.
const TRUTH: [(usize, f64); 4] = [(3, 0.9), (40, -0.7), (77, 0.6), (119, -0.8)];

fn schema(target: &str) -> Schema {
    let mut text =
        format!("[clip]\nnorm = \"l2\"\nradius = 8.0\n[target]\ncolumn = \"y\"\n{target}\n");
    for column in 0..COLUMNS {
        text += &format!(
            "[[columns]]\nname = \"x{column}\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \
             \"symmetric\"\n"
        );
    }
    Schema::from_toml(&text).unwrap()
}

const NUMBER: &str = "bounds = [-3, 3]";
const CLASSES: &str = "classes = [\"no\", \"yes\"]";

fn table(rows: usize, target: &str, seed: u64) -> Dataset {
    let mut source = FixedSeed::new(seed);
    let names: Vec<_> = (0..COLUMNS).map(|column| format!("x{column}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for _ in 0..rows {
        let row: Vec<f64> = (0..COLUMNS).map(|_| uniform(&mut source)).collect();
        let cells: Vec<_> = row.iter().map(f64::to_string).collect();
        let score: f64 = TRUTH.iter().map(|(column, weight)| weight * row[*column]).sum();
        let score = score + 0.3 * uniform(&mut source);
        let label = match target {
            NUMBER => score.clamp(-3.0, 3.0).to_string(),
            _ if score > 0.0 => "yes".into(),
            _ => "no".into(),
        };
        text += &format!("{},{label}\n", cells.join(","));
    }
    read::csv_bytes(text.as_bytes(), &schema(target)).unwrap()
}

fn request(
    method: &str,
    settings: &[(&str, &str)],
    target: &str,
    rows: usize,
    epsilon: f64,
) -> Request {
    let set = |method: Method, (name, value): &(&str, &str)| method.with(name, value).unwrap();
    let method = settings.iter().fold(method.parse::<Method>().unwrap(), set);
    let loss = if target == NUMBER { Loss::SQUARED } else { Loss::Logistic };
    Request::new(schema(target), rows as u64, Neighbours::ReplaceOne, Erm { loss, method })
        .within(Budget::new(epsilon, 1e-5).unwrap())
}

/// ‖θ̂ − θ*‖/‖θ*‖ in the target's own unit.
fn error(model: &Model) -> f64 {
    let encoding = Encoding::new(&model.request().schema);
    let half = (encoding.decode_target(1.0) - encoding.decode_target(-1.0)) / 2.0;
    let mut truth = vec![0.0; COLUMNS];
    TRUTH.iter().for_each(|(column, weight)| truth[*column] = *weight);
    let gap = model.weights().weights[0].iter().zip(&truth).map(|(w, t)| (w * half - t).powi(2));
    (gap.sum::<f64>() / truth.iter().map(|t| t * t).sum::<f64>()).sqrt()
}

fn used(model: &Model) -> Vec<usize> {
    let weights = model.weights().weights[0].iter().enumerate();
    weights.filter(|(_, weight)| **weight != 0.0).map(|(column, _)| column).collect()
}

fn truth() -> Vec<usize> {
    TRUTH.iter().map(|(column, _)| *column).collect()
}

/// The columns that matter are found and their weights are right; `gd`, which keeps all of them, is far off.
#[test]
fn few_columns_of_many_are_learned() {
    let data = table(4000, NUMBER, 1);
    let model = seeded(&request("dp-ight", &[("columns", "4")], NUMBER, 4000, 4.0), &data);
    assert_eq!(used(&model), truth());
    assert!(error(&model) < 0.1, "{}", error(&model));
    let dense = seeded(&request("gd", &[], NUMBER, 4000, 4.0), &data);
    assert!(error(&dense) > 2.0 * error(&model), "{} {}", error(&dense), error(&model));
    let classes = request("dp-ight", &[("columns", "4")], CLASSES, 4000, 4.0);
    let model = seeded(&classes, &table(4000, CLASSES, 2));
    assert_eq!(used(&model), truth());
    assert!(crate::common::accuracy(&model, &table(1000, CLASSES, 3)) > 0.88);
}

/// Two stages find and fit the same columns, with δ = 0 as well; `ssp` of all columns is worse.
#[test]
fn chosen_columns_are_fitted() {
    let data = table(4000, NUMBER, 5);
    let model = seeded(&request("two-stage", &[("columns", "4")], NUMBER, 4000, 2.0), &data);
    assert_eq!(used(&model), truth());
    assert!(error(&model) < 0.2, "{}", error(&model));
    let all = seeded(&request("ssp", &[], NUMBER, 4000, 2.0), &data);
    assert!(error(&all) > 2.0 * error(&model), "{} {}", error(&all), error(&model));
    let asked = request("two-stage", &[("columns", "4")], NUMBER, 4000, 6.0);
    let pure = Request { budget: Some(Budget::new(6.0, 0.0).unwrap()), ..asked };
    assert_eq!(used(&seeded(&pure, &data)), truth());
    let classes = request("two-stage", &[("columns", "4")], CLASSES, 4000, 4.0);
    let model = seeded(&classes, &table(4000, CLASSES, 2));
    assert_eq!(used(&model), truth());
    assert!(crate::common::accuracy(&model, &table(1000, CLASSES, 3)) > 0.85);
}

/// More columns than were kept, or a point outside the ball, are no model of such a plan.
#[test]
fn a_model_of_more_columns_is_found_out() {
    let asked = request("dp-ight", &[("columns", "4")], NUMBER, 500, 4.0);
    let model = crate::common::train(&asked, &table(500, NUMBER, 4));
    assert!(verify(&model).valid, "{:?}", verify(&model).checks);
    let mut document: Value = serde_json::from_str(&to_json(&model, None).unwrap()).unwrap();
    (0..5).for_each(|column| document["body"]["weights"][0][column] = json!(0.5));
    let text = seal::sealed(document, None).unwrap().to_string();
    assert!(!verify(&from_json(text.as_bytes(), Seal::Required).unwrap()).valid);
}

#[test]
fn what_no_theorem_covers_is_refused() {
    let refused = |request: &Request| match plan(request) {
        Err(LearnError::NotCovered { what, instead }) => format!("{what}; {instead}"),
        other => panic!("{other:?}"),
    };
    let asked = request("dp-ight", &[], NUMBER, 500, 1.0);
    let pure = Request { budget: Some(Budget::new(1.0, 0.0).unwrap()), ..asked.clone() };
    assert!(refused(&pure).contains("delta"));
    let printed = Request { calibration: privet_learn::Calibration::Printed, ..asked };
    assert!(refused(&printed).contains("errata"));
    let odd = request("two-stage", &[], CLASSES, 500, 1.0);
    let pure = Request { budget: Some(Budget::new(1.0, 0.0).unwrap()), ..odd };
    assert!(refused(&pure).contains("delta above 0"));
    let many = request("dp-ight", &[("columns", "121")], NUMBER, 500, 1.0);
    assert!(refused(&many).contains("121 columns are to be kept of 120"));
}
