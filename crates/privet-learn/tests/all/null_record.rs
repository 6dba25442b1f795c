//! The null record: every learner accepts it, and it has no effect on a model.
//!
//! The label of a record reaches a learner only with its features (a gradient is ℓ′·x, a moment xxᵀ or
//! x·y), so a row of zeros contributes exactly 0 whatever its label. Each learner is run with the same
//! noise on two tables that differ in the labels of their null records alone: were anything but 0
//! contributed, the two would differ, since the labels lie on both sides.

use crate::common::{Case, LOSSES, csv, levelled, schema};
use privet_data::{Dataset, Schema, Target, read};
use privet_learn::{Method, plan};

const ROWS: usize = 240;
/// Period of null records among the rows.
const EVERY: usize = 8;

/// The table with null records of these labels among its rows.
fn with_nulls(case: &Case, classes: u32, label: u32) -> Dataset {
    let text = csv(ROWS, classes, None, 5);
    let mut data = read::csv_bytes(text.as_bytes(), &case.schema).unwrap();
    let nulls: Vec<usize> = (0..ROWS).step_by(EVERY).collect();
    data.features = data.features.without_entries_of(&nulls);
    let Target::Class { codes, .. } = &mut data.target else { panic!("no classes") };
    nulls.iter().for_each(|&row| codes[row] = label);
    data
}

/// Every method, with each loss and number of classes that it covers.
#[test]
fn every_learner_takes_null_records_and_gets_nothing_from_them() {
    let weighted = |classes: u32| {
        let weights = if classes == 2 { "[1, 3]" } else { "[1, 3, 2]" };
        let text = schema(classes).to_toml();
        let line = format!("[target]\nweights = {weights}\n");
        Schema::from_toml(&text.replacen("[target]\n", &line, 1)).unwrap()
    };
    for name in Method::accepted().split(", ").filter(|name| *name != "auto") {
        let mut covered = 0;
        for (loss, classes) in LOSSES.into_iter().flat_map(|loss| [(loss, 2), (loss, 3)]) {
            for schema in [schema(classes), weighted(classes)] {
                let levels = name == "placed-gd";
                let schema = if levels { levelled(schema) } else { schema };
                let case = Case::of(name).rows(ROWS as u64).loss(loss).schema(schema);
                if plan(&case).is_err() {
                    continue;
                }
                covered += 1;
                let [first, last] =
                    [0, classes - 1].map(|label| case.seeded(&with_nulls(&case, classes, label)));
                let (first, last) = (first.weights(), last.weights());
                assert!(first.weights.iter().flatten().all(|weight| weight.is_finite()));
                assert_eq!(first.weights, last.weights, "{name}, {loss:?}, {classes} classes");
            }
        }
        assert!(covered > 0, "{name} covers none of the problems");
    }
}

/// Tables that differ in null records alone, learnt from a file with a policy: training succeeds, and a
/// table of nothing but bad lines is one too.
#[test]
fn training_is_total_under_a_policy() {
    let text = format!("invalid = \"drop\"\n{}", crate::common::SCHEMA);
    let schema = Schema::from_toml(&text).unwrap();
    let case = Case::of("amp").rows(ROWS as u64).schema(schema.clone());
    let trained = |bad: &str| {
        let line = |row: usize| match row % EVERY {
            0 => bad.to_string(),
            _ => format!("0.{row},-0.{row},{}", ["no", "yes"][row % 2]),
        };
        let lines: Vec<String> = (0..ROWS).map(line).collect();
        let data = read::csv_bytes(format!("a,b,y\n{}\n", lines.join("\n")).as_bytes(), &schema);
        case.seeded(&data.unwrap()).weights().weights.clone()
    };
    let expected = trained("bad,0,no");
    for bad in ["0,0,maybe", "0", "\"", "", "0,0,no,0", "\u{feff}", "\r"] {
        assert_eq!(trained(bad), expected, "{bad:?}");
    }
    let nothing = format!("a,b,y\n{}", "x\n".repeat(ROWS));
    let data = read::csv_bytes(nothing.as_bytes(), &schema).unwrap();
    assert!(case.seeded(&data).weights().weights.iter().flatten().all(|w| w.is_finite()));
}
