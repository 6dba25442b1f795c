//! Columns chosen: released, verified, shown; none chosen, which is no failure; and refusals.

use crate::world::World;

const SELECT: &str = "select table.csv --schema schema.toml --size 1 --epsilon 50";

#[test]
fn columns_are_chosen_verified_and_shown() {
    let world = World::new();
    let shown = world.ok(&format!("{SELECT} --out chosen.json"));
    assert!(shown.contains("e^ε") && shown.contains("association"), "{shown}");
    let verdict = world.ok_json("verify chosen.json --json");
    assert_eq!((&verdict["valid"], &verdict["epsilon"]), (&true.into(), &50.0.into()));
    let inspected = world.ok("inspect chosen.json");
    assert!(inspected.contains("say much of \"ill\""), "{inspected}");
    assert!(inspected.contains("exponential mechanism"), "{inspected}");
    for method in ["exponential", "distance", "subsample"] {
        let line = format!("{SELECT} --method {method} --delta 1e-6 --out {method}.json --json");
        let output = world.ok_json(&line);
        assert_eq!(output["method"], method);
        assert_eq!(world.ok_json(&format!("verify {method}.json --json"))["valid"], true);
    }
    assert!(world.ok("methods --select").contains("association"));
    // A verb that needs a model names the kind of file it got.
    world.refused(2, "predict chosen.json table.csv --out p.csv", &["chosen.json", "support"]);
}

/// An empty choice is reported plainly, exits with 0 and is spent.
#[test]
fn nothing_chosen_is_said_plainly() {
    let world = World::new();
    let line = "select table.csv --schema schema.toml --size 2 --method distance --epsilon 0.01 --delta 1e-12";
    let output = world.ok(&format!("{line} --out none.json"));
    assert!(output.contains("nothing") && output.contains("the budget is spent"), "{output}");
    assert!(world.ok("inspect none.json").contains("nothing"), "inspect");
    let verdict = world.ok_json("verify none.json --json");
    assert_eq!((&verdict["valid"], &verdict["epsilon"]), (&true.into(), &0.01.into()));
}

#[test]
fn what_cannot_be_chosen_is_refused_before_anything_is_written() {
    let world = World::new();
    let select = "select table.csv --schema schema.toml --epsilon 1 --out o.json";
    world.refused(1, &format!("{select} --size 9"), &["9 columns are to be chosen of 5"]);
    world.refused(1, &format!("{select} --size 1 --method distance --delta 0"), &["delta above 0"]);
    world.refused(
        2,
        &format!("{select} --size 1 --method corelation"),
        &["correlation, exponential"],
    );
    world.refused(2, &format!("{select} --size 1 --set chunks=3"), &["chunks", "correlation"]);
    world.refused(2, &format!("{select} --size 1 --neighbours add-remove"), &["--rows"]);
    world.refused(2, select, &["--size"]);
}
