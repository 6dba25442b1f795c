//! Under add-remove the number of rows is private: nothing shown or written may depend on it.

use crate::world::{Ended, World, table};

const TRAIN: &str = "train table.csv --schema schema.toml --epsilon 2 --neighbours add-remove --out model.json \
     --force";

fn without_weights(world: &World) -> serde_json::Value {
    let mut document = world.json("model.json");
    document["body"]["weights"] = serde_json::Value::Null;
    if document["body"]["centre"].is_array() {
        document["body"]["centre"] = serde_json::Value::Null;
    }
    document["certificate"]["digest"] = serde_json::Value::Null;
    // When, and 128 random bits.
    for stamp in ["date", "id"] {
        document["certificate"]["made"][stamp] = serde_json::Value::Null;
    }
    document
}

#[test]
fn one_row_more_changes_nothing_that_is_shown() {
    let world = World::new();
    for flags in ["--rows 400", "--rows 400 --json", "--rows 400 --method output --delta 0"] {
        let mut shown: Vec<(Ended, serde_json::Value)> = Vec::new();
        for count in [400, 401, 399, 5, 1, 0] {
            world.write("table.csv", table(count));
            let ended = world.run(&format!("{TRAIN} {flags}"));
            assert_eq!(ended.code, 0, "{}", ended.stderr);
            shown.push((ended, without_weights(&world)));
        }
        for (ended, document) in &shown[1..] {
            assert_eq!(ended.stdout, shown[0].0.stdout);
            assert_eq!(ended.stderr, shown[0].0.stderr);
            assert_eq!(document, &shown[0].1);
        }
        world.ok("verify model.json");
    }
}

#[test]
fn the_declared_count_is_required_before_the_file_is_opened() {
    let world = World::new();
    world.refused(2, TRAIN, &["--rows is missing", "private"]);
    let line = TRAIN.replace("table.csv", "none.csv");
    world.refused(2, &line, &["--rows is missing"]);
}

/// Under replace-one the count is public: that of the file is used, and a wrong one is refused.
#[test]
fn under_replace_one_the_count_is_the_file_s() {
    let world = World::new();
    world.ok("train table.csv --schema schema.toml --epsilon 2 --out model.json");
    assert_eq!(world.json("model.json")["certificate"]["request"]["rows"], 400);
}

/// A user may be exchanged for one with more rows: then the count is private under replace-one too.
#[test]
fn with_users_the_count_is_private_under_replace_one() {
    let world = World::new();
    let schema = world.read("schema.toml");
    world.write("schema.toml", format!("{schema}\n[unit]\ncolumn = \"user\"\nmax_records = 3\n"));
    let line = "train table.csv --schema schema.toml --epsilon 2 --rows 300 --out model.json \
                --force";
    let mut shown = Vec::new();
    for count in [300, 301, 350] {
        let mut text = String::from("user,age,dose,ward,ill\n");
        for (place, line) in table(count).lines().skip(1).enumerate() {
            text.push_str(&format!("u{},{line}\n", place % 90));
        }
        world.write("table.csv", text);
        let ended = world.run(line);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        shown.push((ended.stdout, ended.stderr, without_weights(&world)));
    }
    assert!(shown.iter().all(|one| *one == shown[0]));
}
