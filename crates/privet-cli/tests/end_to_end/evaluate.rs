//! `privet evaluate`: what a model is worth, without privacy and with it.

use crate::world::{SCHEMA, TRAIN, World, table};

#[test]
fn without_a_budget_all_is_shown_under_a_banner() {
    let world = World::new();
    world.ok(TRAIN);
    let ended = world.run("evaluate model.json table.csv");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("NOT PRIVATE"), "{}", ended.stderr);
    for words in ["accuracy", "always saying", "AUC", "log loss", "Brier", "came true", "precision"]
    {
        assert!(ended.stdout.contains(words), "{words}: {}", ended.stdout);
    }
    let shown = world.ok_json("evaluate model.json table.csv --json");
    assert_eq!((&shown["private"], &shown["rows"]), (&false.into(), &400.into()));
    let accuracy = shown["accuracy"].as_f64().unwrap();
    let right: f64 = (0..2).map(|class| shown["confusion"][class][class].as_f64().unwrap()).sum();
    assert!((accuracy - right / 400.0).abs() < 1e-9, "{shown}");
    assert!(shown["majority"].as_f64().unwrap() >= 0.5 && shown["calibration"].is_array());
    // Nothing of it is kept.
    assert_eq!(world.names(), ["model.json", "schema.toml", "table.csv"]);
}

#[test]
fn a_class_that_is_never_predicted_is_told() {
    let world = World::new();
    // Unsure of itself, and the same in every run.
    world.ok(
        "train table.csv --schema schema.toml --method non-private --ridge 20 --out model.json",
    );
    let all = world.ok("evaluate model.json table.csv --threshold 0.999");
    assert!(all.contains("\"yes\" is never predicted"), "{all}");
    // A missed one costs next to nothing: the same by costs, from the costs alone.
    let costs = world.ok("evaluate model.json table.csv --costs 1:999");
    assert!(costs.contains("\"yes\" is never predicted"), "{costs}");
    let predictions = world.ok("predict model.json table.csv --costs 1:999");
    assert_eq!(predictions.matches("yes").count(), 0);
    let share = world.ok_json("evaluate model.json table.csv --share 0.25 --json");
    let threshold = share["threshold_for_share"].as_f64().unwrap();
    let predictions = world.ok(&format!("predict model.json table.csv --threshold {threshold}"));
    let above = predictions.matches("yes").count();
    assert!((40..180).contains(&above), "{above} above {threshold}");
}

#[test]
fn with_a_budget_everything_is_one_certified_release() {
    let world = World::new();
    world.ok(TRAIN);
    for flags in
        ["", "--delta 0", "--neighbours add-remove --rows 400", "--share 0.3 --threshold 0.4"]
    {
        let line =
            format!("evaluate model.json table.csv --epsilon 2 --out worth.json --force {flags}");
        let ended = world.run(&line);
        assert_eq!(ended.code, 0, "{line}: {}", ended.stderr);
        assert!(!ended.stderr.contains("NOT PRIVATE"), "{}", ended.stderr);
        for words in ["accuracy", "always saying", "95 of 100", "released with this guarantee"] {
            assert!(ended.stdout.contains(words), "{line}: {words}: {}", ended.stdout);
        }
        assert!(world.ok("verify worth.json").contains("VALID"), "{line}");
        assert!(world.ok("inspect worth.json").contains("accuracy"));
        let shown = world.ok_json(&format!("{line} --json"));
        assert_eq!(shown["private"], true);
        let accuracy = &shown["accuracy"];
        let at = |name: &str| accuracy[name].as_f64().unwrap();
        assert!(at("low") <= at("value") && at("value") <= at("high"), "{shown}");
        let digest = &world.json("model.json")["certificate"]["digest"];
        assert_eq!(world.json("worth.json")["certificate"]["request"]["model"], *digest);
    }
}

/// The noise is for a public model: one that gives its records away is refused, unless it is declared public.
#[test]
fn a_model_without_a_guarantee_is_measured_privately_only_where_it_is_public() {
    let world = World::new();
    let seeded = format!("{TRAIN} --seed 1");
    for line in [
        "train table.csv --schema schema.toml --method non-private --out model.json --force",
        &seeded,
    ] {
        world.ok(line);
        let asked = "evaluate model.json table.csv --epsilon 1 --out worth.json";
        world.refused(1, asked, &["no guarantee", "--model-is-public"]);
        world.ok(&format!("{asked} --model-is-public --force"));
        let request = &world.json("worth.json")["certificate"]["request"];
        assert_eq!(request["declared_public"], true);
        assert!(world.ok("verify worth.json").contains("declared public"));
    }
    world.ok(TRAIN);
    world.ok("evaluate model.json table.csv --epsilon 1 --out worth.json --force");
    assert!(world.ok("verify worth.json").contains("taken for public"));
}

/// The release pays, and what would exceed the limit is refused before the rows are read.
#[test]
fn an_evaluation_pays_from_the_ledger() {
    let world = World::new();
    world.ok("budget open table.csv --schema schema.toml --epsilon 4 --delta 1e-4");
    world.ok("train table.csv --schema schema.toml --epsilon 2 --out model.json");
    world.ok("evaluate model.json table.csv --epsilon 1 --out worth.json");
    world.refused(1, "evaluate model.json table.csv --epsilon 4 --out more.json", &["table"]);
}

#[test]
fn numbers_several_classes_and_networks_are_measured() {
    let world = World::new();
    let number = SCHEMA
        .replace("column = \"ill\"\nclasses = [\"no\", \"yes\"]", "column = \"dose\"\nbounds = [0, 10]")
        .replace(
            "[[columns]]\nname = \"dose\"\ntype = \"number\"\nbounds = [0, 10]\nscale = \"symmetric\"\n",
            "[[columns]]\nname = \"ill\"\ntype = \"ignore\"\n",
        );
    world.write("schema.toml", number);
    world.ok(TRAIN);
    let shown = world.ok("evaluate model.json table.csv");
    for words in ["rmse", "mae", "R²", "always saying the mean"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let shown = world.ok_json("evaluate model.json table.csv --epsilon 3 --out worth.json --json");
    assert!(shown["rmse"]["high"].as_f64().unwrap() > shown["rmse"]["low"].as_f64().unwrap());
    world.refused(2, "evaluate model.json table.csv --threshold 0.3", &["--threshold"]);
}

#[test]
fn what_cannot_be_is_refused() {
    let world = World::new();
    world.ok(TRAIN);
    world.refused(2, "evaluate model.json table.csv --epsilon 1", &["--out is missing"]);
    world.refused(2, "evaluate model.json table.csv --out w.json", &["--epsilon is missing"]);
    world.refused(2, "evaluate model.json table.csv --delta 0.1", &["--epsilon"]);
    world.refused(2, "evaluate model.json table.csv --whole", &["--whole", "--epsilon"]);
    world.refused(2, "evaluate model.json table.csv --costs 3", &["10:1"]);
    world.refused(2, "evaluate model.json table.csv --costs 0:1", &["10:1"]);
    world.refused(2, "evaluate model.json table.csv --threshold 1", &["threshold"]);
    world.refused(
        2,
        "evaluate model.json table.csv --epsilon 1 --neighbours add-remove --out w.json",
        &["--rows is missing"],
    );
    world.write("short.csv", table(10));
    world.refused(
        2,
        "evaluate model.json short.csv --epsilon 1 --rows 400 --out w.json",
        &["400", "10"],
    );
}
