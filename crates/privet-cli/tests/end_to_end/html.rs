//! `privet inspect --html`: a model as a page.

use crate::world::{SCHEMA, TRAIN, World};
use std::os::unix::fs::PermissionsExt as _;

/// Columns of every kind, with names that would be markup in a page, and two pairs.
const UNFOLDED: &str = r#"
[clip]
norm = "l2"
radius = 1.0
rows = "fill"
[target]
column = "ill"
classes = ["no", "yes"]
[[columns]]
name = "age"
type = "number"
bounds = [0, 100]
basis = { hats = 5 }
[[columns]]
name = "dose"
type = "number"
bounds = [0, 10]
basis = { hats = 3, knots = "log" }
[[columns]]
name = "ward"
type = "category"
categories = ["a", "b", "c", "<script>alert(1)</script>"]
[[pairs]]
columns = ["age", "dose"]
hats = 3
[[pairs]]
columns = ["ward", "age"]
"#;

/// Nothing is fetched or run, and every element that is opened is closed.
fn is_whole(page: &str) {
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(page.contains("default-src 'none'"));
    for word in ["<script", "src=", "href=", "url(", "@import", "NaN", "inf"] {
        assert!(!page.contains(word), "{word}");
    }
    for name in ["svg", "figure", "div", "table", "tr", "p", "text", "details"] {
        let opened =
            page.matches(&format!("<{name}>")).count() + page.matches(&format!("<{name} ")).count();
        assert_eq!(opened, page.matches(&format!("</{name}>")).count(), "{name}");
    }
}

#[test]
fn a_model_is_drawn_with_its_claim_first() {
    let world = World::new();
    for (schema, method) in [
        (UNFOLDED, "gd"),
        (UNFOLDED, "amp"),
        (SCHEMA, "auto"),
        (SCHEMA, "psgd"),
        (SCHEMA, "frank-wolfe"),
    ] {
        world.write("schema.toml", schema);
        world.ok(&format!("{TRAIN} --method {method}"));
        let ended = world.run("inspect model.json --html page.html --force");
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{}", ended.stderr);
        assert!(ended.stderr.contains("page.html"));
        let page = world.read("page.html");
        is_whole(&page);
        let claim = page.find("changes the probability").unwrap();
        assert!(claim < page.find("<svg").unwrap());
        for name in ["age", "dose", "ward"] {
            assert!(page.contains(&format!("<h3>{name}</h3>")), "{name}");
        }
        assert_eq!(page.contains("There are no bands"), ["amp", "frank-wolfe"].contains(&method));
        assert_eq!(page.contains("<h3>age × dose</h3>"), schema == UNFOLDED);
        assert_eq!(page.contains("they hold for every row"), schema == UNFOLDED);
        assert_eq!(page.contains("what its sum says"), method == "auto");
    }
    let mode = std::fs::metadata(world.path("page.html")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn numbers_several_classes_sparse_rows_and_no_privacy_are_drawn_too() {
    let world = World::new();
    let number = SCHEMA.replace(
        "column = \"ill\"\nclasses = [\"no\", \"yes\"]",
        "column = \"dose\"\nbounds = [0, 10]",
    );
    let number = number.replace(
        "[[columns]]\nname = \"dose\"\ntype = \"number\"\nbounds = [0, 10]\nscale = \"symmetric\"\n",
        "",
    );
    let wards = SCHEMA.replace(
        "column = \"ill\"\nclasses = [\"no\", \"yes\"]",
        "column = \"ward\"\nclasses = [\"a\", \"b\", \"c\"]",
    );
    let wards = wards.split("[[columns]]\nname = \"ward\"").next().unwrap().to_string();
    // Columns without a prediction are left out.
    let ignored = "[[columns]]\nname = \"ill\"\ntype = \"ignore\"\n";
    let (number, wards) = (number + ignored, wards + ignored);
    for (schema, flags) in [
        (number.as_str(), "--epsilon 5"),
        (&wards, "--epsilon 5"),
        (SCHEMA, "--method non-private"),
    ] {
        world.write("schema.toml", schema);
        world.ok(&format!("train table.csv --schema schema.toml {flags} --out model.json --force"));
        is_whole(&world.ok("inspect model.json --html -"));
    }
    assert!(world.ok("inspect model.json --html -").contains("NOT PRIVATE"));
}

#[test]
fn a_page_that_is_there_is_kept_and_counts_are_refused() {
    let world = World::new();
    world.ok(TRAIN);
    world.write("page.html", "mine");
    world.refused(2, "inspect model.json --html page.html", &["--html page.html", "--force"]);
    assert_eq!(world.read("page.html"), "mine");
    world.refused(
        2,
        "inspect model.json --html model.json --force",
        &["--html", "which this command reads"],
    );
    world.refused(2, "inspect model.json --force", &["--html"]);
    world.ok("count table.csv --schema schema.toml --by ward --epsilon 1 --out counts.json");
    world.refused(2, "inspect counts.json --html new.html", &["counts have no shapes"]);
}
