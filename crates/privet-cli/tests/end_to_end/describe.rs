//! Descriptions: released, verified, shown in 80 columns.

use crate::world::{World, table};

const DESCRIBE: &str = "describe table.csv --schema schema.toml --epsilon 2";

#[test]
fn a_table_is_described_verified_and_shown() {
    let world = World::new();
    let shown = world.ok(&format!("{DESCRIBE} --out t.json"));
    for word in ["400 rows", "age", "dose", "ward", "ill", "median", "correlation", "e^ε"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let own = shown.lines().take_while(|line| !line.starts_with("released"));
    assert!(own.clone().count() > 20);
    assert!(own.into_iter().all(|line| line.chars().count() <= 80), "{shown}");
    let verdict = world.ok_json("verify t.json --json");
    assert_eq!((&verdict["valid"], &verdict["epsilon"]), (&true.into(), &2.0.into()));
    let inspected = world.ok("inspect t.json");
    assert!(inspected.contains("4 columns") && inspected.contains("median"), "{inspected}");
    let output =
        world.ok_json(&format!("{DESCRIBE} --columns age,ill --bins 4 --out u.json --json"));
    let columns = output["summary"]["columns"].as_array().unwrap();
    assert_eq!(columns.len(), 2);
    assert_eq!(columns[0]["histogram"].as_array().unwrap().len(), 4);
    assert_eq!(output["description"], "u.json");
    world.ok(&format!("{DESCRIBE} --delta 0 --correlations no --out pure.json"));
    assert_eq!(world.ok_json("verify pure.json --json")["delta"], 0.0);
    world.refused(2, "predict t.json table.csv --out p.csv", &["t.json", "description"]);
}

#[test]
fn what_cannot_be_described_is_refused_before_anything_is_written() {
    let world = World::new();
    let refused = |more: &str, words: &[&str]| {
        world.refused(2, &format!("{DESCRIBE} --out o.json {more}"), words);
    };
    refused("--columns wealth", &["wealth", "age, dose, ward, ill"]);
    refused("--bins 1", &["bins"]);
    let alone = format!("{DESCRIBE} --out o.json --columns ward --correlations yes");
    world.refused(1, &alone, &["two numbers"]);
    refused("--correlations maybe", &["yes, no"]);
    refused("--neighbours add-remove", &["--rows"]);
    refused("--rows 399", &["400 rows", "399"]);
}

/// Under add-remove nothing but a noisy sum shows the number of rows.
#[test]
fn one_row_more_changes_nothing_but_noised_sums() {
    let world = World::new();
    let mut seen = Vec::new();
    for count in [400, 401, 0] {
        world.write("table.csv", table(count));
        world.ok(&format!("{DESCRIBE} --neighbours add-remove --rows 400 --force --out t.json"));
        let mut document = world.json("t.json");
        assert_eq!(document["body"]["sums"].as_array().unwrap().len(), 1 + 34 + 34 + 3 + 2 + 1);
        document["body"]["sums"] = serde_json::Value::Null;
        document["certificate"]["digest"] = serde_json::Value::Null;
        document["certificate"]["made"] = serde_json::Value::Null;
        seen.push(document);
    }
    assert!(seen.iter().all(|document| *document == seen[0]));
}
