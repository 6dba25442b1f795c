//! Ratings: completed, verified, shown, recommended from; and what is wrong with them.

use crate::world::World;
use std::fmt::Write as _;

const COMPLETE: &str = "complete ratings.csv --items 12 --users 60 --epsilon 2";

fn world() -> World {
    let world = World::new();
    let mut text = String::from("user,item,rating\n");
    for user in 0..60 {
        for item in (1..=12).filter(|item| (user + item) % 4 != 0) {
            let liked = (item <= 6) == (user % 2 == 0);
            let _ = writeln!(text, "u{user},{item},{}", if liked { 5 } else { 2 });
        }
    }
    world.write("ratings.csv", text);
    world.write("mine.csv", "item,rating\n1,5\n2,5\n7,1\n");
    world
}

#[test]
fn ratings_are_completed_verified_and_recommended_from() {
    let world = world();
    let shown = world.ok(&format!("{COMPLETE} --unit user --out films.json"));
    assert!(shown.contains("12 items") && shown.contains("e^ε"), "{shown}");
    assert!(shown.contains("for that person alone"), "{shown}");
    let verdict = world.ok_json("verify films.json --json");
    assert_eq!((&verdict["valid"], &verdict["epsilon"]), (&true.into(), &2.0.into()));
    let inspected = world.ok("inspect films.json");
    assert!(inspected.contains("all records of any one user"), "{inspected}");
    assert!(inspected.contains("Gaussian noise"), "{inspected}");
    let found = world.run("recommend films.json --user mine.csv --top 4");
    assert_eq!(found.code, 0, "{}", found.stderr);
    assert!(found.stderr.contains("eyes alone"), "{}", found.stderr);
    assert_eq!(found.stdout.lines().count(), 6, "{}", found.stdout);
    let told = world.ok_json("recommend films.json --user mine.csv --json");
    assert_eq!(told["guarantee"]["seen_by"], "all-but-the-unit");
    let told = told["recommended"].as_array().unwrap();
    assert_eq!(told.len(), 9, "all but those rated");
    for one in told {
        assert!((1.0..=5.0).contains(&one["rating"].as_f64().unwrap()));
        assert!(!["1", "2", "7"].contains(&one["item"].as_str().unwrap()));
    }
    for method in ["frank-wolfe", "oja", "pgd", "svd", "als", "cleansed-svd"] {
        let line =
            format!("{COMPLETE} --method {method} --neighbours add-remove --out {method}.json");
        world.ok(&line);
        assert_eq!(world.ok_json(&format!("verify {method}.json --json"))["valid"], true);
        world.ok(&format!("recommend {method}.json --user mine.csv"));
    }
    let shown = world.ok(&format!("{COMPLETE} --top 6 --out top.json"));
    assert!(shown.contains("12 items, of which 6 were chosen"), "{shown}");
    assert_eq!(world.ok_json("verify top.json --json")["valid"], true);
    let told = world.ok_json("recommend top.json --user mine.csv --json");
    assert!(told["recommended"].as_array().unwrap().len() <= 6, "{told}");
    // What needs a model says what it got.
    world.refused(2, "predict films.json table.csv --out p.csv", &["films.json"]);
}

#[test]
fn what_cannot_be_completed_is_refused_and_nothing_is_written() {
    let world = world();
    let refused = |line: &str, words: &[&str]| world.refused(2, line, words);
    refused("complete ratings.csv --users 60 --epsilon 1 --out o.json", &["--items", "public"]);
    refused("complete ratings.csv --items 12 --users 60 --out o.json", &["--epsilon"]);
    refused("complete ratings.csv --items 12 --epsilon 1 --out o.json", &["--users"]);
    refused(&format!("{COMPLETE} --unit record --out o.json"), &["user"]);
    refused(&format!("{COMPLETE} --bounds 5,1 --out o.json"), &["LOW,HIGH"]);
    refused(&format!("{COMPLETE} --layout csv --out o.json"), &["movielens"]);
    refused(&format!("{COMPLETE} --method als9 --out o.json"), &["als9", "moments"]);
    world.refused(1, &format!("{COMPLETE} --top 12 --out o.json"), &["12 items chosen of 12"]);
    refused(&format!("{COMPLETE} --set rank=99 --out o.json"), &["rank"]);
    world.write("twice.csv", "user,item,rating\na,1,3\na,1,4\n");
    let twice = "complete twice.csv --items 12 --users 60 --epsilon 1 --out o.json";
    refused(twice, &["twice.csv", "twice"]);
    world.ok(&format!("{COMPLETE} --out films.json"));
    for (text, words) in [
        ("1,9\n", "line 1: the rating is out of bounds"),
        ("item,rating\n77,3\n", "line 2: the item is not in"),
        ("1,3\n1,4\n", "line 2: this item is rated twice"),
        ("1,3\n2,good\n", "line 2: the rating is not a number"),
    ] {
        world.write("bad.csv", text);
        refused("recommend films.json --user bad.csv", &[words]);
    }
    world.ok("count table.csv --schema schema.toml --by ward --epsilon 1 --out wards.json");
    refused("recommend wards.json --user mine.csv", &["privet complete"]);
}
