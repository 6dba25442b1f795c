//! The definition of a unit: of a limit, of a release, and of several together.

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
    let output = world.ok_json("budget show privet.ledger --json");
    assert_eq!(output["datasets"][0]["whose"]["column"], "id");
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

/// A missing definition can be added later, but not against the existing certificates.
#[test]
fn the_unit_of_a_limit_is_stated_once() {
    let world = visits();
    world.ok("budget open --name visits --ledger l --epsilon 3 --delta 1e-6 --unit user:4");
    let output = world.ok("budget show l");
    assert!(output.contains("is not said"), "{output}");
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

/// Leftovers of killed runs are removed by the next run that writes there, which reports it.
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

/// A text that is not a name does not define a unit.
#[test]
fn a_column_that_is_no_name_is_refused() {
    let world = visits();
    world.ok("budget open --name visits --ledger l --epsilon 3 --delta 1e-6 --unit user:4");
    let open =
        "budget open --name v --ledger m --epsilon 3 --delta 1e-6 --unit user:4 --unit-column";
    let complete = "complete r.data --layout jester --items 3 --users 60 --epsilon 1 --out o.json --unit-column";
    for line in [open, complete, "budget unit l visits --column"] {
        for name in ["", " ", "(not named)", "(not named)_", "a\nb"] {
            let ended = world.command(line).arg(name).output().unwrap();
            let ended = crate::world::Ended::of(line, ended);
            assert_eq!(ended.code, 2, "{line} {name:?}: {}", ended.stderr);
            assert!(ended.stderr.contains("accepted"), "{}", ended.stderr);
        }
    }
    assert!(world.ok("budget show l").contains("is not said"));
    assert!(!world.path("m").exists());
}

/// Makes the ledger that 0.2.0 would have written: no entry defines a unit, and certificates are of that
/// version.
fn as_early(world: &World, name: &str) {
    let connection = rusqlite::Connection::open(world.path(name)).unwrap();
    let all = |query: &str| -> Vec<(String, String)> {
        let mut statement = connection.prepare(query).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let mut hashes: Vec<(String, String)> = Vec::new();
    let mut put = |table: &str, hash: &str, text: &str| {
        let now = hashes.iter().fold(text.to_string(), |text, (old, new)| text.replace(old, new));
        let new = privet_ledger::entry::hash(&now);
        let update = format!("UPDATE {table} SET text = ?1, hash = ?2 WHERE hash = ?3");
        connection.execute(&update, (&now, &new, hash)).unwrap();
        hashes.push((hash.into(), new));
    };
    let version = |of: &str| format!("\"version\":\"{of}\"");
    for (hash, text) in all("SELECT hash, text FROM certificate") {
        let early = text.replace(&version(env!("CARGO_PKG_VERSION")), &version("0.2.0"));
        assert_ne!(early, text);
        put("certificate", &hash, &early);
    }
    for (hash, mut text) in all("SELECT hash, text FROM entry ORDER BY sequence") {
        if let Some(start) = text.find("\"whose\":{") {
            let end = start + text[start..].find("},").unwrap() + 2;
            text.replace_range(start..end, "");
        }
        put("entry", &hash, &text);
    }
}

/// Names that 0.2.0 invented state nothing, and releases from other ledgers are not compared at all.
#[test]
fn a_statement_says_of_how_many_releases_nothing_shows_it() {
    let world = visits();
    for (from, to) in [("id", "group"), ("visit", "user")] {
        world.write(&format!("{to}.csv"), world.read("visits.csv").replacen(from, to, 1));
        let schema = world
            .read(&format!("{from}.toml"))
            .replace(&format!("\"{from}\""), &format!("\"{to}\""));
        world.write(&format!("{to}.toml"), schema);
    }
    for (ledger, column) in [("l", "group"), ("m", "user")] {
        world.ok(&format!(
            "budget open --name visits --ledger {ledger} --epsilon 3 --delta 1e-6 --unit user:4"
        ));
        let line = count(column, &format!("{column}.json"))
            .replace("visits.csv", &format!("{column}.csv"));
        world.ok(&format!("{line} --ledger {ledger} --dataset visits"));
    }
    world.ok("budget open --name visits --ledger n --epsilon 3 --delta 1e-6 --unit user:4");
    world.ok("budget import n m");
    for ledger in ["l", "m", "n"] {
        as_early(&world, ledger);
        assert!(world.ok(&format!("budget show {ledger}")).contains("is not said"));
    }
    let stated = world.ok("budget unit l visits --column id").replace('\n', " ");
    assert!(stated.contains("nothing shows it: 1 (no certificate"), "{stated}");
    // A count's certificate under the user's own schema does state "user".
    world.refused(1, "budget unit m visits --column id", &["\"user\"", "\"id\""]);
    let stated = world.ok("budget unit n visits --column id").replace('\n', " ");
    assert!(stated.contains("nothing shows it: 1 (taken in from other"), "{stated}");
    assert!(world.ok("budget verify l").contains("the chain of"));
}

/// A file without a header does not define the unit of a line, and the program does not invent one.
#[test]
fn ratings_without_a_header_are_nobodys_until_somebody_says() {
    let world = World::new();
    let complete =
        "--layout movielens-100k --items 3 --users 60 --epsilon 0.5 --delta 1e-6 --most 3";
    for (name, from) in [("people", 0), ("visits", 500)] {
        let lines = (0..60).flat_map(|user| (1..=3).map(move |item| (user, item)));
        let text: String = lines
            .map(|(user, item)| format!("{}\t{item}\t{}\t9\n", from + user, 1 + user % 5))
            .collect();
        world.write(&format!("{name}.data"), text);
        world.ok(&format!("complete {name}.data {complete} --out {name}.json"));
    }
    world.refused(1, "total people.json visits.json", &["--same-unit", "not said"]);
    let open = "--ledger l --epsilon 3 --delta 1e-5 --unit user:3";
    world.ok(&format!("budget open --name people {open}"));
    world.ok(&format!("budget open --name visits {open}"));
    let pay = |name: &str, more: &str| {
        format!("complete {name}.data {complete} --ledger l --out {name}2.json {more}")
    };
    world.refused(1, &pay("people", ""), &["does not say whose", "--unit-column"]);
    world.ok(&pay("people", "--unit-column person"));
    let other = pay("people", "--unit-column visit").replace("people2", "people3");
    world.refused(1, &other, &["\"visit\"", "\"person\""]);
    // The same file is recognised, whatever defines its unit.
    let other = format!("{other} --dataset visits");
    world.refused(1, &other, &["is the data set 'people'"]);
    world.ok(&pay("visits", "--unit-column visit"));
    world.refused(1, "total people2.json visits2.json", &["\"person\"", "\"visit\""]);
    // Names of its other columns are replaced.
    world.ok(&format!("complete people.data {complete} --unit-column item --out item.json"));
    assert_eq!(world.ok_json("verify item.json --json")["whose"]["column"], "item");
    let named =
        "complete people.data --items 3 --users 60 --epsilon 1 --unit-column id --out o.json";
    world.refused(2, named, &["--unit-column", "header", "jester"]);
}
