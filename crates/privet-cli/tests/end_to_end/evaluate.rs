//! `privet evaluate`: metrics of a model, without privacy and with it.

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
    // If a missed record costs next to nothing: the same by costs, from the costs alone.
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

/// The noise is for a public model: a model that reveals its records is refused, unless it is declared
/// public.
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

/// The release pays, and one that would exceed the limit is refused before the rows are read.
#[test]
fn an_evaluation_pays_from_the_ledger() {
    let world = World::new();
    world.ok("budget open table.csv --schema schema.toml --epsilon 4 --delta 1e-4");
    world.ok("train table.csv --schema schema.toml --epsilon 2 --out model.json");
    world.ok("evaluate model.json table.csv --epsilon 1 --out worth.json");
    world.refused(1, "evaluate model.json table.csv --epsilon 4 --out more.json", &["table"]);
}

/// With more than two classes: a confusion matrix of all of them, and no threshold.
#[test]
fn several_classes_are_measured() {
    let world = World::new();
    world.write(
        "schema.toml",
        SCHEMA.replace("[\"no\", \"yes\"]", "[\"no\", \"yes\", \"perhaps\"]"),
    );
    let whole = table(400);
    let rows = whole.lines().enumerate().map(|(row, line)| match row % 4 {
        1 => line.replace(",yes", ",perhaps").replace(",no", ",perhaps") + "\n",
        _ => format!("{line}\n"),
    });
    let rows: String = rows.collect();
    world.write("table.csv", &rows);
    world.ok(TRAIN);
    let plain = world.ok_json("evaluate model.json table.csv --json");
    let counted: f64 = (0..9).map(|at| plain["confusion"][at / 3][at % 3].as_f64().unwrap()).sum();
    assert_eq!(counted, 400.0);
    assert!(
        (plain["majority"].as_f64().unwrap() - share_of_largest(&rows)).abs() < 1e-9,
        "{plain}"
    );
    let line = "evaluate model.json table.csv --epsilon 3 --out worth.json --json";
    let noisy = world.ok_json(line);
    assert_eq!(noisy["confusion"].as_array().unwrap().len(), 3);
    // Noise of deviation 3.5 on each of three counts is 0.015 in their share: ten times that has a
    // probability below 1e-22.
    let value = noisy["accuracy"]["value"].as_f64().unwrap();
    assert!((value - plain["accuracy"].as_f64().unwrap()).abs() < 0.15, "{noisy}");
    assert!(world.ok("verify worth.json").contains("VALID: ε = 3"));
    world.refused(2, "evaluate model.json table.csv --threshold 0.3", &["--threshold"]);
}

/// The fraction of rows with the commonest label.
fn share_of_largest(rows: &str) -> f64 {
    let labels: Vec<&str> =
        rows.lines().skip(1).filter_map(|row| row.split(',').next_back()).collect();
    let counted = |label: &str| labels.iter().filter(|other| **other == label).count();
    let most = ["no", "yes", "perhaps"].into_iter().map(counted).max().unwrap();
    most as f64 / labels.len() as f64
}

/// A network's evaluation is one certified release too.
#[test]
fn networks_are_measured() {
    let world = World::new();
    let net = "input = { features = 5 }\n[[layers]]\nkind = \"linear\"\nout = 4\n[[layers]]\nkind = \"tanh\"\n\
               [[layers]]\nkind = \"linear\"\nout = 2\n";
    world.write("net.toml", net);
    world.ok(
        "train table.csv --schema schema.toml --model net.toml --method dp-gd --epsilon 20 --delta 1e-5 --set steps=30 \
         --set rate=1 --out model.json",
    );
    let plain = world.ok_json("evaluate model.json table.csv --json");
    let accuracy = plain["accuracy"].as_f64().unwrap();
    let right: f64 = (0..2).map(|class| plain["confusion"][class][class].as_f64().unwrap()).sum();
    assert!((accuracy - right / 400.0).abs() < 1e-9 && plain["calibration"].is_array(), "{plain}");
    let noisy = world.ok_json("evaluate model.json table.csv --epsilon 20 --out worth.json --json");
    assert_eq!(noisy["private"], true);
    let value = noisy["accuracy"]["value"].as_f64().unwrap();
    // At this budget the deviation of the noise in it is below 0.003.
    assert!((value - accuracy).abs() < 0.1, "{value} beside {accuracy}");
    assert!(world.ok("verify worth.json").contains("VALID: ε = 20"));
    let digest = &world.json("model.json")["certificate"]["digest"];
    assert_eq!(world.json("worth.json")["certificate"]["request"]["model"], *digest);
    world.ok("export model.json --to onnx --out model.onnx");
    for form in ["sql", "csv"] {
        world.refused(2, &format!("export model.json --to {form}"), &["network", "--to onnx"]);
    }
}

/// From a pipe, as from a file; where rows must be counted first, their number is required.
#[test]
fn rows_come_from_a_pipe_too() {
    let world = World::new();
    world.ok(TRAIN);
    let piped = |line: &str| {
        let table = std::fs::File::open(world.path("table.csv")).unwrap();
        let mut cat = std::process::Command::new("cat");
        let mut cat = cat.stdin(table).stdout(std::process::Stdio::piped()).spawn().unwrap();
        let told = world.command(line).stdin(cat.stdout.take().unwrap()).output().unwrap();
        cat.wait().unwrap();
        crate::world::Ended::of(line, told)
    };
    let ended = piped("evaluate model.json - --json");
    assert_eq!(ended.stdout, world.ok("evaluate model.json table.csv --json"), "{}", ended.stderr);
    for line in [
        "train - --schema schema.toml --rows 400 --epsilon 1 --out piped.json",
        "count - --schema schema.toml --by ward --epsilon 1 --rows 400 --out counted.json",
        "evaluate model.json - --rows 400 --epsilon 1 --out worth.json",
    ] {
        let ended = piped(line);
        assert_eq!(ended.code, 0, "{line}: {}", ended.stderr);
    }
    for line in [
        "evaluate model.json - --epsilon 1 --out more.json",
        "count - --schema schema.toml --by ward --epsilon 1 --out more.json",
    ] {
        let ended = piped(line);
        assert!(ended.code == 2 && ended.stderr.contains("--rows"), "{}", ended.stderr);
    }
}

#[test]
fn numbers_are_measured() {
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
