//! Counts: released, verified, shown; several times from one budget by several processes.

use crate::world::World;

const COUNT: &str = "count table.csv --schema schema.toml --by ward --epsilon 100";

#[test]
fn counts_are_released_verified_and_shown() {
    let world = World::new();
    let shown = world.ok(&format!("{COUNT} --out wards.json"));
    assert!(shown.contains("±") && shown.contains("e^ε"), "{shown}");
    assert!(shown.contains("next: privet verify wards.json"), "{shown}");
    let verdict = world.ok_json("verify wards.json --json");
    assert_eq!((&verdict["valid"], &verdict["epsilon"]), (&true.into(), &100.0.into()));
    let inspected = world.ok("inspect wards.json");
    assert!(inspected.contains("each category of \"ward\""), "{inspected}");
    assert!(inspected.contains("Laplace noise"), "{inspected}");
    // At ε = 100 a count is off by one or more with a probability below 10⁻²⁰.
    let output = world.ok_json(&format!("{COUNT} --out again.json --json"));
    let total: f64 = output["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| cell["count"].as_f64().unwrap())
        .sum();
    assert_eq!(total, 400.0);
    assert_eq!(output["counts"], "again.json");
    world.ok("count table.csv --schema schema.toml --by ill --epsilon 1 --out ill.json");
    assert_eq!(world.ok_json("verify ill.json --json")["valid"], true);
    // Standard output holds the release alone.
    let text = world.ok(&format!("{COUNT} --out -"));
    assert!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["kind"] == "table");
    // A seed is for tests, and the output states it.
    world.ok(&format!("{COUNT} --seed 1 --out seeded.json"));
    assert_eq!(world.run("verify seeded.json").code, 1);
    // A verb that needs a model names the kind of file it got.
    world.refused(2, "predict wards.json table.csv --out p.csv", &["wards.json", "table"]);
}

#[test]
fn what_cannot_be_counted_is_refused_before_anything_is_written() {
    let world = World::new();
    let refused = |line: &str, words: &[&str]| world.refused(2, line, words);
    let count = "count table.csv --schema schema.toml --epsilon 1 --out o.json";
    refused(&format!("{count} --by age"), &["age", "ward, ill"]);
    refused(&format!("{count} --by nobody"), &["nobody", "ward, ill"]);
    refused(count, &["--by"]);
    refused("count table.csv --by ward --epsilon 1 --out o.json", &["--schema"]);
    refused("count table.csv --schema schema.toml --by ward --out o.json", &["--epsilon"]);
    refused(&format!("{count} --by ward --neighbours add-remove"), &["--rows"]);
    refused(&format!("{count} --by ward --rows 399"), &["400 rows", "399"]);
    refused(&format!("{count} --by ward --times 3"), &["--stream"]);
    world.ok(&format!("{count} --by ward"));
    refused(&format!("{count} --by ward"), &["o.json"]);
}

#[test]
fn several_processes_release_from_one_budget() {
    let world = World::new();
    let begin = format!("{COUNT} --delta 1e-6 --rows 400 --times 3 --stream s --out");
    world.refused(2, &format!("{COUNT} --stream s --out a.json"), &["--times"]);
    let first = world.run(&format!("{begin} a.json"));
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(first.stderr.contains("2 more"), "{}", first.stderr);
    world.write("old", world.read("s"));

    world.refused(2, &format!("{begin} b.json"), &["--schema", "leave it out"]);
    world.ok("count table.csv --stream s --out b.json");
    for file in ["a.json", "b.json"] {
        let verdict = world.ok_json(&format!("verify {file} --json"));
        assert_eq!((&verdict["valid"], &verdict["epsilon"]), (&true.into(), &100.0.into()));
    }
    // A table that cannot be read, or a release that cannot be written, spends nothing.
    world.refused(2, "count nothing.csv --stream s --out c.json", &["nothing.csv"]);
    world.refused(2, "count table.csv --stream s --out b.json", &["b.json"]);

    // An older state is refused, and so is a call after the last release.
    let newest = world.read("s");
    world.write("s", world.read("old"));
    let stale = world.run("count table.csv --stream s --out c.json");
    assert!(stale.code != 0 && stale.stderr.contains("newest of both"), "{}", stale.stderr);
    world.write("s", newest);
    let last = world.run("count table.csv --stream s --out c.json");
    assert!(last.code == 0 && last.stderr.contains("last release"), "{}", last.stderr);
    world.refused(2, "count table.csv --stream s --out d.json", &["all its releases are made"]);
}
