//! Models of few columns of many: accuracy, refusals, and detection of forged files.

use crate::common::{seeded, uniform};
use privet_core::{Budget, Neighbours};
use privet_data::encode::Encoding;
use privet_data::{Dataset, Schema, read};
use privet_dp::gate::seal;
use privet_dp::noise::FixedSeed;
use privet_learn::file::{Seal, from_json, to_json};
use privet_learn::linear::model::Model;
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
        .with_budget(Budget::new(epsilon, 1e-5).unwrap())
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

/// Columns are chosen one by one or by noise on all of them, as requested; settings of the other way are
/// refused.
#[test]
fn both_ways_of_choosing_are_there() {
    let data = table(2000, NUMBER, 8);
    let with = |settings: &[(&str, &str)]| {
        let all = [&[("columns", "4")], settings].concat();
        error(&seeded(&request("dp-ight", &all, NUMBER, 2000, 1.0), &data))
    };
    let (peeled, gradient) = (with(&[]), with(&[("choice", "gradient")]));
    assert!(peeled < 0.1 && gradient < 0.1 && peeled != gradient, "{peeled} {gradient}");
    assert!(with(&[("rounds", "1")]) < 0.3);
    for (choice, name) in [("peeled", "steps"), ("gradient", "rounds"), ("gradient", "clip")] {
        let request = request("dp-ight", &[("choice", choice), (name, "1")], NUMBER, 500, 1.0);
        assert!(matches!(plan(&request), Err(LearnError::NotCovered { .. })), "{choice} {name}");
    }
}

/// Without noise: the columns that matter, and no others.
#[test]
fn thresholding_without_noise_keeps_the_columns_that_matter() {
    let data = table(1000, NUMBER, 9);
    let asked = request("non-private", &[("columns", "4")], NUMBER, 1000, 1.0);
    let model = seeded(&Request { budget: None, ..asked.clone() }, &data);
    assert_eq!(used(&model), truth());
    assert!(error(&model) < 0.03, "{}", error(&model));
    let many = request("non-private", &[("columns", "121")], NUMBER, 1000, 1.0);
    assert!(plan(&Request { budget: None, ..many }).is_err());
}

/// Noisy predictions of a ridge model on public rows suffice to find the columns at a large budget; the
/// certificate names the public rows, and others than the plan's are refused before any noise is drawn.
#[test]
fn knowledge_is_transferred_through_public_rows() {
    use privet_learn::linear::public_norm::norm_bound;
    let (data, public) = (table(4000, NUMBER, 10), table(300, NUMBER, 11));
    let norm = norm_bound(&public.features).to_string();
    let settings = [("columns", "4"), ("public_rows", "300"), ("public_norm", &norm)];
    let asked = request("dpsl-kt", &settings, NUMBER, 4000, 400.0);
    let planned = plan(&asked).unwrap();
    let run = |plan: privet_learn::Plan| {
        let never = std::sync::atomic::AtomicBool::new(false);
        plan.run(&data, &mut privet_dp::noise::SystemRandom::new().unwrap(), &never)
    };
    assert!(matches!(run(planned.clone()), Err(LearnError::DataShape(_))), "no public rows");
    let others = [table(299, NUMBER, 11), table(300, NUMBER, 11)];
    assert!(planned.clone().with_public(&others[0].features).is_err());
    let short = [("columns", "4"), ("public_rows", "300"), ("public_norm", "1")];
    let short = plan(&request("dpsl-kt", &short, NUMBER, 4000, 400.0)).unwrap();
    assert!(short.with_public(&others[1].features).is_err());
    let model =
        Model::from_release(run(planned.with_public(&public.features).unwrap()).unwrap()).unwrap();
    assert_eq!(used(&model), truth());
    let text = to_json(&model, None).unwrap();
    let verdict = verify(&from_json::<Erm>(text.as_bytes(), Seal::Required).unwrap());
    assert!(verdict.valid, "{:?}", verdict.checks);
    assert!(verdict.notes.iter().any(|note| note.contains("public file")), "{:?}", verdict.notes);
    let granted = verdict.unchecked.iter().find(|one| one.fact == privet_learn::Fact::PublicRows);
    assert!(granted.unwrap().what.contains("public rows have a norm of at most"));
    let plain = request("dp-ight", &[], NUMBER, 4000, 1.0);
    assert!(plan(&plain).unwrap().with_public(&public.features).is_err());
    let half = request("dpsl-kt", &[("public_rows", "3")], NUMBER, 4000, 1.0);
    assert!(matches!(plan(&half), Err(LearnError::NotCovered { .. })));
}

/// Answers to public inputs move by at most the charge.
#[test]
fn answers_to_public_inputs_move_within_what_is_charged() {
    use privet_learn::Facts;
    use privet_learn::linear::{output, public_norm::norm_bound};
    let public = table(50, NUMBER, 12);
    let norm = norm_bound(&public.features);
    let margin = |row: usize, theta: &[f64]| -> f64 {
        let entries = public.features.dense_row(row);
        entries.iter().zip(theta).map(|(x, t)| f64::from(*x) * t).sum()
    };
    let one = table(80, NUMBER, 13);
    let mut two = one.clone();
    let privet_data::Target::Number(values) = &mut two.target else { panic!() };
    values[7] = -values[7].signum();
    let ridge = 30.0;
    let request = request("non-private", &[("ridge", "30")], NUMBER, 80, 1.0);
    let request = Request { budget: None, ..request };
    let [first, second] =
        [&one, &two].map(|data| seeded(&request, data).weights().weights[0].clone());
    let moved: f64 = (0..50).map(|row| (margin(row, &first) - margin(row, &second)).powi(2)).sum();
    let facts = Facts::of(&request).unwrap();
    let bound = norm * output::sensitivity(&facts, ridge, facts.default_tolerance());
    assert!(moved.sqrt() <= bound && moved > 0.0, "{moved} {bound}");
}

/// A private teacher is charged its own cost; its answers are free, and the student keeps few columns.
#[test]
fn a_private_teacher_pays_once() {
    use privet_learn::linear::dpsl_kt::check_public_rows;
    use privet_learn::linear::public_norm::norm_bound;
    let (data, public) = (table(4000, NUMBER, 5), table(300, NUMBER, 9));
    let norm = norm_bound(&public.features).to_string();
    let settings =
        [("columns", "4"), ("public_rows", "300"), ("public_norm", &norm), ("teacher", "private")];
    let asked = request("dpsl-kt", &settings, NUMBER, 4000, 8.0);
    let planned = plan(&asked).unwrap();
    let alone = plan(&request("ssp", &[], NUMBER, 4000, 8.0)).unwrap();
    assert_eq!(planned.events(), alone.events());
    let planned = planned.with_public(&public.features).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let release = planned.run(&data, &mut FixedSeed::new(3), &stop).unwrap();
    let model = Model::from_release(release).unwrap();
    assert!(used(&model).len() <= 4 && error(&model) < 0.9, "{:?} {}", used(&model), error(&model));
    let method = &model.request().task.method;
    assert!(check_public_rows(method, &public.features).holds);
    assert!(!check_public_rows(method, &table(299, NUMBER, 9).features).holds);
    assert!(!check_public_rows(&"gd".parse().unwrap(), &public.features).holds);
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

/// Every selector before every fit: a valid certificate whose settings are written down, and the columns
/// that matter where the selector has enough to go by.
#[test]
fn any_selector_goes_before_any_fit() {
    let (numbers, classes) = (table(4000, NUMBER, 5), table(4000, CLASSES, 2));
    let two = vec![TRUTH[0].0, TRUTH[3].0];
    for (selector, fit, target, found) in [
        ("exponential", "ssp", NUMBER, true),
        ("exponential", "amp", CLASSES, true),
        ("distance", "amp", NUMBER, false),
        ("subsample", "linear", NUMBER, false),
        ("lasso-stability", "linear", NUMBER, false),
        ("correlation", "linear", NUMBER, true),
        ("correlation", "amp", NUMBER, true),
    ] {
        let settings = [("columns", "2"), ("selector", selector), ("fit", fit)];
        let request = request("two-stage", &settings, target, 4000, 8.0);
        let data = if target == NUMBER { &numbers } else { &classes };
        let model = seeded(&request, data);
        assert!(!found || used(&model) == two, "{selector} {fit}: {:?}", used(&model));
        assert!(used(&model).len() <= 2);
        let model = crate::common::train(&request, data);
        let report = verify(&model);
        assert!(report.valid, "{selector} {fit}: {:?}", report.checks);
        let text = to_json(&model, None).unwrap();
        assert!(selector == "correlation" || text.contains(selector), "{selector}");
        let again = from_json::<Erm>(text.as_bytes(), Seal::Required).unwrap();
        assert!(verify(&again).valid, "{selector} {fit}");
        let stable = !["correlation", "exponential"].contains(&selector);
        assert_eq!(text.contains("the first ones are fitted"), stable, "{selector}");
    }
}

/// More sets than are all fitted: the same choice, of which only a part is computed.
#[test]
fn a_set_among_very_many_is_chosen() {
    let settings = [("columns", "3"), ("selector", "exponential")];
    let request = request("two-stage", &settings, NUMBER, 2000, 20.0);
    let model = seeded(&request, &table(2000, NUMBER, 5));
    assert_eq!(used(&model), [TRUTH[0].0, TRUTH[1].0, TRUTH[3].0]);
}

/// More columns than were kept, or a point outside the ball, are no model of such a plan.
#[test]
fn a_model_of_more_columns_is_found_out() {
    let request = request("dp-ight", &[("columns", "4")], NUMBER, 500, 4.0);
    let model = crate::common::train(&request, &table(500, NUMBER, 4));
    assert!(verify(&model).valid, "{:?}", verify(&model).checks);
    let mut document: Value = serde_json::from_str(&to_json(&model, None).unwrap()).unwrap();
    (0..5).for_each(|column| document["body"]["weights"][0][column] = json!(0.5));
    let text = seal::seal_document(document, None).unwrap().to_string();
    assert!(!verify(&from_json::<Erm>(text.as_bytes(), Seal::Required).unwrap()).valid);
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
    let classes = request("two-stage", &[("fit", "ssp")], CLASSES, 500, 1.0);
    assert!(refused(&classes).contains("ssp fits least squares"));
    let mixed = [("selector", "subsample"), ("association", "products")];
    assert!(refused(&request("two-stage", &mixed, NUMBER, 500, 1.0)).contains("association"));
    let word = "two-stage".parse::<Method>().unwrap().with("selector", "lottery").unwrap_err();
    assert!(word.to_string().contains("lasso-stability"), "{word}");
    let many = request("dp-ight", &[("columns", "121")], NUMBER, 500, 1.0);
    assert!(refused(&many).contains("121 columns are to be kept of 120"));
}
