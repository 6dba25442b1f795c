//! Public inputs of `dpsl-kt`: stated in the certificate, and refused where they do not fit.

use crate::world::World;

const TRAIN: &str = "train table.csv --schema schema.toml --epsilon 8 --delta 1e-6 --out m.json";

#[test]
fn public_rows_are_stated_and_not_protected() {
    let world = World::new();
    world.write("public.csv", world.read("table.csv"));
    let output = world.ok(&format!("{TRAIN} --method dpsl-kt --public public.csv"));
    let flat = output.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("nothing is promised to those in it"), "{output}");
    let verdict = world.ok_json("verify m.json --json");
    assert_eq!((&verdict["valid"], &verdict["epsilon"]), (&true.into(), &8.0.into()));
    let words = world.ok("verify m.json");
    assert!(words.contains("public file"));
    // The verdict states that the rows are unchecked, until they are checked.
    let unlooked = "public rows have a norm of at most";
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat(&words).contains(unlooked), "{words}");
    assert!(verdict["unchecked"].to_string().contains(unlooked), "{verdict}");
    let seen = world.ok_json("verify m.json --public public.csv --json");
    assert!(!seen["unchecked"].to_string().contains(unlooked), "{seen}");
    assert!(seen["unchecked"].to_string().contains("400 records"), "{seen}");
    assert!(world.ok("inspect m.json").contains("public norm"));
}

/// The norm in a file is tied to rows: those that it was learned from, and no others.
#[test]
fn public_rows_are_checked_against_what_is_stated() {
    let world = World::new();
    let table = world.read("table.csv");
    world.write("public.csv", table.clone());
    world.ok(&format!("{TRAIN} --method dpsl-kt --public public.csv"));
    assert!(world.ok("verify m.json --public public.csv").contains("public rows are those"));
    let fewer: Vec<&str> = table.lines().take(6).collect();
    world.write("fewer.csv", fewer.join("\n") + "\n");
    world.refused(1, "verify m.json --public fewer.csv", &[]);
    world
        .ok(&format!("{TRAIN} --method dpsl-kt --set teacher=private --public public.csv --force"));
    world.ok("verify m.json --public public.csv");
    world.ok("train table.csv --schema schema.toml --epsilon 1 --out plain.json --method gd");
    world.refused(1, "verify plain.json --public public.csv", &[]);
}

#[test]
fn public_rows_that_do_not_fit_are_refused_before_anything_is_written() {
    let world = World::new();
    let other = world.read("table.csv").replacen("age", "years", 1);
    world.write("other.csv", other);
    let line = format!("{TRAIN} --method dpsl-kt --public other.csv");
    world.refused(2, &line, &["other.csv", "age"]);
    let line = format!("{TRAIN} --method gd --public table.csv");
    world.refused(2, &line, &["--public", "gd", "dpsl-kt"]);
    assert!(!world.path("m.json").exists());
}
