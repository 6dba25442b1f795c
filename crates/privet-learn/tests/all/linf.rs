//! Rows bounded entry by entry: the success of training on a table does not depend on its records.

use privet_core::{Budget, Neighbours};
use privet_data::{Schema, read};
use privet_dp::noise::FixedSeed;
use privet_learn::{Erm, METHODS, Request, plan};
use privet_optim::loss::Loss;
use std::sync::atomic::AtomicBool;

/// p numbers as they are, clamped to ±1, and two classes.
fn schema(columns: usize, bias: bool) -> Schema {
    let mut text = format!(
        "bias = {bias}\n[clip]\nnorm = \"linf\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
         classes = [\"a\", \"b\"]\n"
    );
    for column in 0..columns {
        text += &format!(
            "[[columns]]\nname = \"x{column}\"\ntype = \"number\"\nbounds = [-1, 1]\n\
             scale = \"symmetric\"\n"
        );
    }
    Schema::from_toml(&text).unwrap()
}

/// A table of ones, with one record of other entries.
fn table(columns: usize, odd: f64) -> String {
    let header: Vec<String> = (0..columns).map(|column| format!("x{column}")).collect();
    let mut text = format!("{},y\n", header.join(","));
    for row in 0..60 {
        for column in 0..columns {
            let value = if row == 7 { odd / (1.0 + column as f64) } else { 1.0 };
            text += &format!("{value},");
        }
        text += if row % 3 == 0 { "a\n" } else { "b\n" };
    }
    text
}

/// Every method that plans for such a schema trains on every table of it: entries off the coarser grid
/// of exact sums would be refused, and a refusal tells of the record.
#[test]
fn no_entry_can_make_a_training_fail() {
    for (columns, bias) in [(1, false), (1, true), (3, true), (40, true), (130, false)] {
        let schema = schema(columns, bias);
        for method in METHODS.iter().filter(|method| method.name != "non-private") {
            for loss in [Loss::Logistic, Loss::SQUARED] {
                let request = Request::new(
                    schema.clone(),
                    60,
                    Neighbours::ReplaceOne,
                    Erm { loss, method: method.name.parse().unwrap() },
                );
                let request = request.with_budget(Budget::new(1.0, 1e-6).unwrap());
                let Ok(planned) = plan(&request) else { continue };
                for odd in [1.0, 0.3, 0.300_000_1, -1.0 / 3.0, 1e-9] {
                    let text = table(columns, odd);
                    let data = read::csv_bytes(text.as_bytes(), planned.schema()).unwrap();
                    let ended = planned.run(&data, &mut FixedSeed::new(1), &AtomicBool::new(false));
                    assert!(ended.is_ok(), "{}, {columns} columns, {odd}: {ended:?}", method.name);
                }
            }
        }
    }
}
