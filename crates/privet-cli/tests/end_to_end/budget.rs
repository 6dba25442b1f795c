//! Ledgers: opened, paid from, refused, recognised under other names, checked, shown.

use crate::as_parquet::parquet_table;
use crate::world::{Ended, World, table};
use serde_json::Value;

const OPEN: &str = "budget open table.csv --schema schema.toml --epsilon 2 --delta 1e-6";
const COUNT: &str = "count table.csv --schema schema.toml --by ward --epsilon 0.5";

/// The states of all reservations, in order.
fn states(world: &World) -> Vec<String> {
    let history = world.ok_json("budget history privet.ledger --json");
    let state = |entry: &Value| entry["state"].as_str().unwrap().to_string();
    history.as_array().unwrap().iter().map(state).collect()
}

#[test]
fn releases_are_paid_for_until_the_limit() {
    let world = World::new();
    let opened = world.ok(OPEN);
    assert!(opened.contains("ε = 2") && opened.contains("privet.ledger"), "{opened}");
    // It lies beside the data, so that it is paid from without being named.
    let mut made = 0;
    let refused = loop {
        let ended = world.run(&format!("{COUNT} --purpose study --out r{made}.json"));
        if ended.code != 0 {
            break ended;
        }
        assert!(ended.stderr.contains("is left"), "{}", ended.stderr);
        made += 1;
        assert!(made < 50);
    };
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(made >= 4, "{made} of ε = 0.5 in 2: summing would admit as many");
    for words in ["it would exceed the budget of 'table'", "costs", "is left", "Nothing was spent"]
    {
        assert!(refused.stderr.contains(words), "{words} in {}", refused.stderr);
    }
    assert_eq!(states(&world), vec!["settled"; made]);
    let output = world.ok("budget show privet.ledger");
    assert!(output.contains(&format!("by {made} releases")), "{output}");
    // Certificates say where they are, verify as ever, and fit.
    let certificate = world.json("r0.json")["certificate"]["ledger"].clone();
    assert!(certificate["sequence"].as_u64().unwrap() >= 3, "{certificate}");
    assert_eq!(world.ok_json("verify r0.json --json")["valid"], true);
    std::fs::create_dir(world.path("given")).unwrap();
    std::fs::copy(world.path("r0.json"), world.path("given/r0.json")).unwrap();
    let checked = world.ok("budget verify privet.ledger --certificates given");
    assert!(checked.contains("the chain of") && checked.contains("fits entry"), "{checked}");
    // One that was made elsewhere does not.
    world.ok(&format!("{COUNT} --ledger none --out given/other.json"));
    let ended = world.run("budget verify privet.ledger --certificates given");
    assert_eq!(ended.code, 1);
    assert!(
        ended.stdout.contains("DOES NOT FIT: it was not made under a ledger"),
        "{}",
        ended.stdout
    );
}

#[test]
fn every_verb_pays() {
    let world = World::new();
    world.ok("budget open table.csv --schema schema.toml --epsilon 20 --delta 1e-4");
    world.ok("train table.csv --schema schema.toml --epsilon 1 --out model.json");
    world.ok(
        "train table.csv --schema schema.toml --epsilon 1 --method gd --rows 400 --out gd.json",
    );
    world.ok("select table.csv --schema schema.toml --size 1 --epsilon 1 --out columns.json");
    world.ok(&format!("{COUNT} --rows 400 --times 3 --stream s --out a.json"));
    // A stream is paid for whole at its start; what follows costs nothing.
    world.ok("count table.csv --stream s --out b.json");
    assert_eq!(states(&world), ["settled"; 4]);
    let fact = |file: &str| world.json(file)["certificate"]["ledger"]["sequence"].clone();
    assert_eq!(fact("a.json"), fact("b.json"));
    for file in ["model.json", "gd.json", "columns.json", "a.json", "b.json"] {
        assert_eq!(world.ok_json(&format!("verify {file} --json"))["valid"], true, "{file}");
        assert!(fact(file).is_u64(), "{file}");
    }
    // One that was begun without a ledger goes on without one, if that is said.
    world.ok(&format!("{COUNT} --rows 400 --times 3 --stream t --ledger none --out d.json"));
    world.refused(1, "count table.csv --stream t --out e.json", &["begun without a ledger"]);
    world.ok("count table.csv --stream t --ledger none --out e.json");
    world.ok("budget verify privet.ledger");
    // A stream of rows has no file to be known by: only a name.
    world.ok("budget open --name clicks --ledger privet.ledger --epsilon 2 --delta 1e-6");
    let schema = crate::world::SCHEMA.replacen("bias = true", "bias = true\ninvalid = \"drop\"", 1);
    world.write("drop.toml", schema);
    let line =
        "online count --schema drop.toml --by ward --epsilon 1 --horizon 400 --rows table.csv";
    world.ok(&format!("{line} --ledger privet.ledger --dataset clicks --out o.json"));
    world.refused(2, &format!("{line} --ledger privet.ledger --out p.json"), &["--dataset"]);
    assert!(fact("o.json").is_u64());
}

/// Whoever has a state has not paid for other tables with it, nor under other ledgers.
#[test]
fn a_stream_goes_on_only_with_the_data_set_that_paid_for_it() {
    let world = World::new();
    world.ok(OPEN);
    world.ok(&format!("{COUNT} --rows 400 --times 3 --stream s --out a.json"));
    // Another data set of the same ledger, whatever it is called.
    let text = table(800);
    let other: Vec<&str> = text.lines().take(1).chain(text.lines().skip(401)).collect();
    world.write("other.csv", other.join("\n"));
    world.ok("budget open other.csv --schema schema.toml --epsilon 2 --delta 1e-6");
    world.refused(
        1,
        "count other.csv --stream s --out b.json",
        &["paid for by the data set 'table'"],
    );
    let called = "count other.csv --stream s --dataset table --out b.json";
    world.refused(1, called, &["is the data set 'other', not 'table'"]);
    world.write("third.csv", table(400).replace('.', "1."));
    let called = "count third.csv --stream s --dataset table --out b.json";
    world.refused(1, called, &["not the one that the ledger knows as 'table'"]);
    // Another ledger, which knows the table under the same name.
    world.ok(&format!("{OPEN} --ledger other.ledger"));
    let elsewhere = "count table.csv --stream s --ledger other.ledger --out b.json";
    world.refused(1, elsewhere, &["not paid for from other.ledger", "another ledger"]);
    world.refused(1, "count table.csv --stream s --seed 1 --out b.json", &["--seed"]);
    world.ok("count table.csv --stream s --out b.json");
    // Rows have no file to be known by; a name they have.
    world.ok("budget open --name clicks --ledger privet.ledger --epsilon 2 --delta 1e-6");
    let schema = crate::world::SCHEMA.replacen("bias = true", "bias = true\ninvalid = \"drop\"", 1);
    world.write("drop.toml", schema);
    let first = "online count --schema drop.toml --by ward --epsilon 1 --horizon 1000";
    let rest = "--rows table.csv --state o --ledger privet.ledger";
    world.ok(&format!("{first} {rest} --dataset clicks --out o.json"));
    let next = format!("online count {rest} --force --out o.json");
    world.refused(1, &format!("{next} --dataset table"), &["paid for by the data set 'clicks'"]);
    world.refused(2, &next, &["--dataset"]);
    world.ok(&format!("{next} --dataset clicks"));
    world.ok("budget verify privet.ledger");
}

/// A ledger beside the data that cannot be opened is no reason to go on without one.
#[test]
fn a_ledger_that_leads_nowhere_is_not_none() {
    let world = World::new();
    let there = world.path("privet.ledger");
    std::os::unix::fs::symlink("gone.ledger", &there).unwrap();
    world.refused(2, &format!("{COUNT} --out o.json"), &["there is no ledger"]);
    std::fs::remove_file(&there).unwrap();
    std::os::unix::fs::symlink("privet.ledger", &there).unwrap();
    world.refused(3, &format!("{COUNT} --out o.json"), &["privet.ledger"]);
    std::fs::remove_file(&there).unwrap();
    world.ok(&format!("{COUNT} --out o.json"));
}

#[test]
fn what_is_refused_before_the_first_draw_is_void() {
    let world = World::new();
    world.ok(OPEN);
    world.write("bad.csv", "age,dose,ward,ill\n1,1,a,perhaps\n");
    let line =
        "count bad.csv --schema schema.toml --by ward --epsilon 0.1 --rows 1 --dataset table";
    world.refused(2, &format!("{line} --out o.json"), &["row 2"]);
    assert_eq!(states(&world), ["void"]);
    let output = world.ok_json("budget show privet.ledger --json");
    assert_eq!(output["datasets"][0]["share_spent"], 0.0);
    // Nothing without a price is paid for.
    world.refused(1, &format!("{COUNT} --seed 1 --out o.json"), &["--seed", "protects nobody"]);
    let plain = "train table.csv --schema schema.toml --method non-private --out o.json";
    world.refused(1, plain, &["without privacy"]);
    // Nor is what protects somebody else.
    let other = format!("{COUNT} --neighbours add-remove --rows 400 --out o.json");
    world.refused(1, &other, &["add-remove of one record", "replace-one of one record"]);
    world.refused(2, &format!("{COUNT} --dataset nobody --out o.json"), &["it has: table"]);
    world.refused(
        2,
        &format!("{COUNT} --ledger none --dataset table --out o.json"),
        &["--dataset"],
    );
    world.refused(
        2,
        &format!("{COUNT} --ledger gone.ledger --out o.json"),
        &["there is no ledger"],
    );
}

#[test]
fn a_table_is_known_again() {
    let world = World::new();
    world.ok(OPEN);
    // Under another name, in another order of rows and columns, as Parquet: the same.
    let text = table(400);
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    let turned: Vec<String> = lines
        .iter()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            [cells[3], cells[1], cells[0], cells[2]].join(",")
        })
        .collect();
    world.write("copy.csv", turned.join("\n"));
    let again = "budget open copy.csv --schema schema.toml --epsilon 2 --delta 1e-6";
    world.refused(1, again, &["in the ledger already, as 'table'"]);
    let copy = COUNT.replace("table.csv", "copy.csv");
    world.refused(2, &format!("{copy} --out o.json"), &["no data set 'copy'"]);
    world.ok(&format!("{copy} --dataset table --out o.json"));
    if cfg!(feature = "parquet") {
        world.write("table.parquet", parquet_table(400));
        let schema = crate::world::SCHEMA.to_string() + "[file]\nformat = \"parquet\"\n";
        world.write("parquet.toml", schema);
        let parquet = "count table.parquet --schema parquet.toml --by ward --epsilon 0.1";
        // Its doses have more digits than those of the text.
        let ended = world.run(&format!("{parquet} --out p.json"));
        assert_eq!(ended.code, 1, "{}", ended.stderr);
    }
    // Grown by a few rows: asked about, then counted as the same.
    world.write("table.csv", table(430));
    let line = "count table.csv --schema schema.toml --by ward --epsilon 0.1 --out q.json";
    world.refused(1, line, &["--same-as 'table'"]);
    world.ok(&format!("{line} --same-as table"));
    world.ok(&format!("{line} --force"));
    // Opened on its own all the same, the ledger says so.
    world.write("part.csv", table(200));
    let part = "budget open part.csv --schema schema.toml --epsilon 1 --delta 1e-6";
    world.refused(1, part, &["shares about", "--same-as 'table'", "--new"]);
    world.ok(&format!("{part} --new"));
    world.write("other.csv", "age,dose,ward,ill\n1,1,a,no\n2,2,b,yes\n");
    world.refused(
        1,
        &format!("{} --dataset table --out x.json", COUNT.replace("table.csv", "other.csv")),
        &["hardly a row"],
    );
}

#[test]
#[cfg_attr(not(feature = "parquet"), ignore = "this build reads no Parquet")]
fn csv_and_parquet_of_one_table_are_one_data_set() {
    let world = World::new();
    let mut text = String::from("age,dose,ward,ill\n");
    for (age, dose, ward, ill) in crate::world::rows(400) {
        text.push_str(&format!("{age},{dose},{ward},{}\n", if ill { "yes" } else { "no" }));
    }
    world.write("table.csv", text);
    world.ok(OPEN);
    world.write("copy.parquet", parquet_table(400));
    world.refused(1, "budget open copy.parquet --epsilon 2 --delta 1e-6", &["already, as 'table'"]);
}

#[test]
fn a_broken_ledger_pays_for_nothing() {
    let world = World::new();
    world.ok(OPEN);
    world.ok(&format!("{COUNT} --purpose honest --out a.json"));
    let bytes = std::fs::read(world.path("privet.ledger")).unwrap();
    let find = |text: &[u8]| bytes.windows(text.len()).position(|window| window == text).unwrap();
    let mut edited = bytes.clone();
    let at = find(b"honest");
    edited[at..at + 6].copy_from_slice(b"hidden");
    world.write("privet.ledger", edited);
    world.refused(1, &format!("{COUNT} --out b.json"), &["broken at entry 3", "Nothing is spent"]);
    world.refused(1, "budget verify privet.ledger", &["broken at entry 3"]);
    world.refused(1, "budget show privet.ledger", &["entry 3"]);
    world.write("privet.ledger", "no database");
    world.refused(2, &format!("{COUNT} --out b.json"), &["not a ledger"]);
}

/// A disk that is full while the reservation is written, and a file that may not be written.
#[test]
fn what_cannot_be_written_down_is_not_released() {
    let world = World::new();
    world.ok(OPEN);
    let privet = env!("CARGO_BIN_EXE_privet");
    // Files may not grow beyond what there is: the log of the ledger cannot be written.
    let script = format!("trap '' XFSZ; ulimit -f 0; exec {privet} {COUNT} --out o.json");
    let mut command = std::process::Command::new("bash");
    command.arg("-c").arg(&script).current_dir(world.path("."));
    let ended = Ended::of("count on a full disk", command.output().unwrap());
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(!world.path("o.json").exists());
    assert!(states(&world).is_empty());
    world.ok(&format!("{COUNT} --out o.json"));

    // The same for a user who may not write it.
    use std::os::unix::fs::PermissionsExt;
    let mode = |name: &str, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(world.path(name), permissions).unwrap();
    };
    ["table.csv", "schema.toml"].iter().for_each(|name| mode(name, 0o644));
    mode("privet.ledger", 0o444);
    mode(".", 0o755);
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", privet]);
    command.args(format!("{COUNT} --out /tmp/privet-read-only.json").split_whitespace());
    match command.current_dir(world.path(".")).output() {
        Ok(output) if output.status.code() != Some(126) && output.status.code() != Some(127) => {
            let ended = Ended::of("count by another user", output);
            assert_eq!(ended.code, 3, "{}", ended.stderr);
            assert!(ended.stderr.contains("privet.ledger"), "{}", ended.stderr);
        }
        _ => eprintln!("SKIPPED: no way to be another user here"),
    }
    assert!(!std::path::Path::new("/tmp/privet-read-only.json").exists());
}

#[test]
fn a_reservation_that_was_left_can_be_freed_and_others_cannot() {
    let world = World::new();
    world.ok(OPEN);
    world.ok(&format!("{COUNT} --out a.json"));
    world.refused(1, "budget void privet.ledger 3", &["spent"]);
    world.refused(1, "budget void privet.ledger 2", &["reserved nothing"]);
}

#[test]
fn two_ledgers_become_one_and_exports_say_nothing_of_the_data() {
    let world = World::new();
    world.ok(OPEN);
    std::fs::copy(world.path("privet.ledger"), world.path("copy.ledger")).unwrap();
    world.ok(&format!("{COUNT} --out a.json"));
    world.ok(&format!("{COUNT} --ledger copy.ledger --out b.json"));
    let merged = world.ok("budget import privet.ledger copy.ledger");
    assert!(merged.contains("table: 1 release taken in"), "{merged}");
    let output = world.ok_json("budget show privet.ledger --json");
    assert_eq!(output["datasets"][0]["releases"], 2);
    let csv = world.ok("budget export privet.ledger --form csv");
    assert!(csv.lines().count() == 2 && csv.contains("count,"), "{csv}");
    let export: Value = serde_json::from_str(&world.ok("budget export privet.ledger")).unwrap();
    assert_eq!(export["entries"].as_array().unwrap().len() as u64, export["head"]["sequence"]);
}

#[test]
fn the_page_shows_what_was_spent() {
    let world = World::new();
    world.ok(
        "budget open table.csv --schema schema.toml --epsilon 2 --delta 1e-6 --purpose <study>",
    );
    world.ok(&format!("{COUNT} --purpose wards --out a.json"));
    world.ok("budget report privet.ledger --html page.html");
    let page = world.read("page.html");
    for words in
        ["Privacy budget", "is left", "&lt;study&gt;", "times in 100", "<svg", "wards", "settled"]
            .iter()
            .filter(|words| **words != "settled")
    {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("<script") && !page.contains("http://") && !page.contains("https://"));
    world.refused(2, "budget report privet.ledger --html page.html", &["page.html"]);
}
