//! Records that do not fit, under each policy of a schema; schemas that are not text.

use crate::world::{SCHEMA, TRAIN, World, table};

/// The small table with an unreadable line.
fn with_bad_line(count: usize) -> String {
    let mut lines: Vec<String> = table(count).lines().map(String::from).collect();
    lines[7] = "7,\"open,a,no".into();
    lines.join("\n") + "\n"
}

#[test]
fn a_bad_line_is_refused_or_dropped_as_the_schema_says() {
    let world = World::new();
    world.write("table.csv", with_bad_line(400));
    world.refused(2, TRAIN, &["table.csv, row 8"]);
    world.write("schema.toml", format!("invalid = \"drop\"\n{SCHEMA}"));
    world.ok(TRAIN);
    let model = world.json("model.json");
    assert_eq!(model.pointer("/certificate/request/schema/invalid"), Some(&"drop".into()));
    assert!(world.ok("verify model.json").contains("VALID"));

    let checked = world.ok("schema check schema.toml table.csv");
    assert!(checked.contains("row of zeros") && checked.contains("400 rows kept"), "{checked}");
    assert!(checked.contains("1 rows are invalid"), "{checked}");

    let predicted = world.ok("predict model.json table.csv --proba");
    let rows: Vec<&str> = predicted.lines().skip(1).collect();
    assert_eq!((rows.len(), rows[6]), (400, ",,"));
    assert!(rows.iter().enumerate().all(|(at, row)| at == 6 || !row.starts_with(',')));
    assert_eq!(world.ok_json("evaluate model.json table.csv --json")["rows"], 399);
    world.write("bad.csv", "age,dose,ward,ill\nx\n");
    world.refused(2, "evaluate model.json bad.csv", &["at least one valid row"]);
    world.write("other.toml", SCHEMA);
    world.refused(2, "predict model.json table.csv --schema other.toml", &["invalid differs"]);
}

#[test]
fn a_bad_cell_becomes_its_stand_in() {
    let world = World::new();
    let schema = SCHEMA.replace("bounds = [0, 100]", "bounds = [0, 100]\ninvalid = 50");
    world.write("schema.toml", format!("invalid = \"stand-in\"\n{schema}"));
    world.write("table.csv", table(400).replace("\n0,", "\nold,"));
    let checked = world.ok("schema check schema.toml table.csv");
    assert!(checked.contains("4 invalid cells count as the stand-in"), "{checked}");
    assert!(!checked.contains("rows are invalid"), "{checked}");
    world.ok(TRAIN);
}

#[test]
fn a_schema_that_is_no_text_is_bad_input() {
    let world = World::new();
    world.write("schema.toml", b"bias = true # \xff\n");
    let words = ["schema.toml", "UTF-8"];
    world.refused(2, TRAIN, &words);
    world.refused(2, "schema check schema.toml", &words);
    world.refused(2, "plan --schema schema.toml --rows 9 --epsilon 1", &words);
}
