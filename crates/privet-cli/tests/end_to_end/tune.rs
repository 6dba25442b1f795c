//! Tuning: the best of several candidates, in one file that predicts.

use crate::world::World;

const TUNE: &str = "tune table.csv --schema schema.toml --epsilon 4 --trials 20";

#[test]
fn the_best_is_released_verified_and_predicts() {
    let world = World::new();
    let tune = format!("{TUNE} --method gd --set steps=3,9 --out best.json");
    let shown = world.ok(&tune);
    for word in ["best of 2 candidates", "method gd", "better buy", "stay secret", "e^ε"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let verdict = world.ok_json("verify best.json --json");
    assert_eq!((&verdict["valid"], &verdict["epsilon"]), (&true.into(), &4.0.into()));
    world.ok("predict best.json table.csv --out p.csv");
    assert_eq!(world.read("p.csv").lines().count(), 401);
    let measured = world.ok_json("evaluate best.json table.csv --json");
    assert!(measured["accuracy"].as_f64().is_some(), "{measured}");
    let inspected = world.ok("inspect best.json");
    assert!(inspected.contains("candidate 1") && inspected.contains("Weights"), "{inspected}");
    let text =
        "[[candidates]]\nmethod = \"gd\"\nsteps = [2, 4]\n[[candidates]]\nmethod = \"output\"\n";
    world.write("tries.toml", text);
    let output = world
        .ok_json(&format!("{TUNE} --candidates tries.toml --law logarithmic --out b.json --json"));
    assert_eq!(output["candidates"].as_array().unwrap().len(), 3);
    assert_eq!(output["law"], "logarithmic");
    let part = output["trial_epsilon"].as_f64().unwrap();
    assert!(part > 4.0 / 3.0 && part < 4.0, "{part}");
    assert_eq!(world.ok_json("verify b.json --json")["valid"], true);
}

#[test]
fn what_cannot_be_tuned_is_refused_before_anything_is_written() {
    let world = World::new();
    let refused = |more: &str, words: &[&str]| {
        world.refused(2, &format!("{TUNE} --out o.json {more}"), words);
    };
    refused("", &["--method", "--candidates"]);
    refused("--method gd --set wings=2", &["wings"]);
    refused("--method gd --set steps=x,y", &["steps"]);
    refused("--method non-private", &["no noise"]);
    let pure = format!("{TUNE} --out o.json --method gd --delta 0");
    world.refused(1, &pure, &["delta above 0"]);
    refused("--method gd --law even", &["poisson, logarithmic, geometric"]);
    refused("--candidates nothing.toml", &["nothing.toml"]);
    world.write("bad.toml", "method = 3\n");
    refused("--candidates bad.toml", &["[[candidates]]"]);
    refused("--method gd --neighbours add-remove", &["--rows"]);
}
