//! Ratings: completed, verified, shown, recommended from; and refusals.

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
    let output = world.ok(&format!("{COMPLETE} --unit user --out films.json"));
    assert!(output.contains("12 items") && output.contains("e^ε"), "{output}");
    assert!(output.contains("for that person alone"), "{output}");
    let verdict = world.ok_json("verify films.json --json");
    assert_eq!((&verdict["valid"], &verdict["epsilon"]), (&true.into(), &2.0.into()));
    let inspected = world.ok("inspect films.json");
    assert!(inspected.contains("all records of any one user"), "{inspected}");
    assert!(inspected.contains("Gaussian noise"), "{inspected}");
    let actual = world.run("recommend films.json --user mine.csv --top 4");
    assert_eq!(actual.code, 0, "{}", actual.stderr);
    assert!(actual.stderr.contains("eyes alone"), "{}", actual.stderr);
    assert_eq!(actual.stdout.lines().count(), 6, "{}", actual.stdout);
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
    let output = world.ok(&format!("{COMPLETE} --top 6 --out top.json"));
    assert!(output.contains("12 items, of which 6 were chosen"), "{output}");
    assert_eq!(world.ok_json("verify top.json --json")["valid"], true);
    let told = world.ok_json("recommend top.json --user mine.csv --json");
    assert!(told["recommended"].as_array().unwrap().len() <= 6, "{told}");
    // A verb that needs a model names the kind of file it got.
    world.refused(2, "predict films.json table.csv --out p.csv", &["films.json"]);
}

/// The content of one user's line affects neither the exit code nor the output on others, in any layout.
#[test]
fn a_bad_line_decides_nothing_where_none_may() {
    let world = world();
    let help = world.ok("complete --help");
    assert!(help.contains("which tells of that record"), "{help}");
    let triples = world.read("ratings.csv");
    let cases: [(&str, u32, &str, &[&str]); 4] = [
        ("triples", 12, &triples, &["u9,2", "u9,2,good", "\"u9,1,5", "u9,1,2,3"]),
        (
            "movielens",
            12,
            "userId,movieId,rating,timestamp\n1,2,3,9\n",
            &["1,3", "1,3,good,9", "\"1"],
        ),
        ("movielens-100k", 12, "1\t2\t3\t9\n2\t1\t4\t9\n", &["1\t3", "1\t3\tgood\t9", "\"1"]),
        ("jester", 3, "3,5,4,99\n2,1,99,5\n", &["1,5", "1,5,good,99", "\"1"]),
    ];
    for (layout, items, table, lines) in cases {
        let line = format!(
            "complete t.csv --layout {layout} --items {items} --users 60 --epsilon 2 --seed 7 --force --out o.json"
        );
        let mut released = Vec::new();
        for bad in lines {
            world.write("t.csv", format!("{table}{bad}\n"));
            world.refused(2, &line, &["t.csv"]);
            world.ok(&format!("{line} --invalid drop"));
            let mut file = world.json("o.json");
            file.as_object_mut().unwrap().remove("certificate");
            released.push(file);
        }
        assert!(released.windows(2).all(|pair| pair[0] == pair[1]), "{layout}");
    }
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
