//! Whose the unit is: of a limit, of a release, and of several together.

use crate::world::World;
use std::fmt::Write as _;

const HEAD: &str = r#"
other_columns = "ignore"
bias = true
[clip]
norm = "l2"
radius = 1.0
[target]
column = "ill"
classes = ["no", "yes"]
[[columns]]
name = "ward"
type = "category"
categories = ["a", "b"]
"#;

/// People with four visits each, and a schema for either unit.
fn visits() -> World {
    let world = World::new();
    let mut text = String::from("id,visit,ward,ill\n");
    for i in 0..400 {
        let (ward, ill) = (["a", "b"][i % 2], ["no", "yes"][usize::from(i % 3 == 0)]);
        writeln!(text, "{},{i},{ward},{ill}", i / 4).unwrap();
    }
    world.write("visits.csv", text);
    for column in ["id", "visit"] {
        let unit = format!("[unit]\ncolumn = \"{column}\"\nmax_records = 4\n");
        world.write(
            &format!("{column}.toml"),
            HEAD.replacen("[[columns]]", &format!("{unit}[[columns]]"), 1),
        );
    }
    world
}

fn count(column: &str, out: &str) -> String {
    format!(
        "count visits.csv --schema {column}.toml --by ward --epsilon 0.5 --rows 400 --out {out}"
    )
}

#[test]
fn a_limit_on_people_pays_for_no_visits() {
    let world = visits();
    let opened = world.ok("budget open visits.csv --schema id.toml --epsilon 3 --delta 1e-6");
    assert!(opened.replace('\n', " ").contains("one value of \"id\""), "{opened}");
    world.refused(1, &count("visit", "v.json"), &["one value of \"visit\"", "one value of \"id\""]);
    // Refused before anything is read.
    world.refused(
        1,
        &count("visit", "v.json")
            .replace("visits.csv", "gone.csv")
            .replace("--out", "--ledger privet.ledger --dataset visits --out"),
        &["one value of \"visit\""],
    );
    world.ok(&count("id", "a.json"));
    for (line, words) in [
        ("budget show privet.ledger", "one value of \"id\""),
        ("budget verify privet.ledger", "one value of \"id\""),
        ("verify a.json", "one value of \"id\""),
        ("inspect a.json", "one value of \"id\""),
    ] {
        let text = world.ok(line).replace('\n', " ").replace("  ", " ");
        assert!(text.contains(words), "{line}: {text}");
    }
    let shown = world.ok_json("budget show privet.ledger --json");
    assert_eq!(shown["datasets"][0]["whose"]["column"], "id");
    world.ok("budget report privet.ledger --html budget.html");
    world.ok("report a.json --html a.html");
    for page in ["budget.html", "a.html"] {
        assert!(world.read(page).contains("with one value of"), "{page}");
    }
}

#[test]
fn a_limit_may_be_opened_without_a_table() {
    let world = visits();
    let open = "budget open --name visits --ledger l --epsilon 3 --delta 1e-6";
    world.refused(2, &format!("{open} --unit-column id"), &["--unit-column", "user:K"]);
    let other = format!("{open} --schema id.toml --unit-column visit");
    world.refused(2, &other, &["--unit-column", "'id'"]);
    world.ok(&format!("{open} --unit user:4 --unit-column id"));
    let paid = |column: &str| format!("{} --ledger l --dataset visits", count(column, "o.json"));
    world.refused(1, &paid("visit"), &["one value of \"visit\"", "one value of \"id\""]);
    world.ok(&paid("id"));
}

/// What nobody said is said afterwards, and not against the certificates that are there.
#[test]
fn the_unit_of_a_limit_is_stated_once() {
    let world = visits();
    world.ok("budget open --name visits --ledger l --epsilon 3 --delta 1e-6 --unit user:4");
    let shown = world.ok("budget show l");
    assert!(shown.contains("is not said"), "{shown}");
    let stated = world.ok("budget unit l visits --column id").replace('\n', " ");
    assert!(stated.contains("one value of \"id\""), "{stated}");
    world.refused(1, "budget unit l visits --column visit", &["\"visit\"", "\"id\""]);
    world.refused(2, "budget unit l nobody --column id", &["no data set 'nobody'"]);
    world.refused(
        1,
        &format!("{} --ledger l --dataset visits", count("visit", "o.json")),
        &["\"id\""],
    );
}

#[test]
fn claims_about_people_and_about_visits_do_not_add_up() {
    let world = visits();
    world.ok(&count("id", "a.json"));
    world.ok(&count("id", "b.json"));
    world.ok(&count("visit", "c.json"));
    let together = world.ok("total a.json b.json").replace('\n', " ");
    assert!(together.contains("one value of \"id\""), "{together}");
    assert!(!together.contains("same-unit"), "{together}");
    assert_eq!(world.ok_json("total a.json b.json --json")["stated"], serde_json::Value::Null);
    let refused = ["--same-unit", "\"id\"", "\"visit\""];
    world.refused(1, "total a.json c.json", &refused);
    world.refused(1, "total a.json c.json --json", &refused);
    let stated = world.ok("total a.json c.json --same-unit").replace('\n', " ");
    assert!(stated.contains("the word of whoever ran this"), "{stated}");
    let json = world.ok_json("total a.json c.json --same-unit --json");
    assert!(json["stated"].as_str().unwrap().contains("--same-unit"), "{json}");
    assert_eq!(json["releases"][1]["whose"]["column"], "visit");
}

/// What killed runs left is removed by the next one that writes there, which says so.
#[cfg(unix)]
#[test]
fn halves_that_killed_runs_left_are_removed() {
    use std::os::unix::fs::PermissionsExt;
    let world = visits();
    for (name, mode) in [(".privet-held-dead.part", 0o600), (".privet-held-open.part", 0o644)] {
        world.write(name, "a release");
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(world.path(name), mode).unwrap();
    }
    let ended = world.run(&count("id", "a.json"));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("removed ./.privet-held-dead.part")
            || ended.stderr.contains("removed .privet-held-dead.part"),
        "{}",
        ended.stderr
    );
    assert!(!world.path(".privet-held-dead.part").exists());
    assert!(world.path(".privet-held-open.part").exists());
}
