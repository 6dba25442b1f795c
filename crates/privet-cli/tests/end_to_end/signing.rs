//! `privet report`, `total`, `explain`, and weights with their noise.

use crate::world::{SCHEMA, TRAIN, World};

fn is_whole(page: &str) {
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(page.contains("default-src 'none'"));
    for word in ["<script", "src=", "href=", "url(", "@import", "NaN", "inf<"] {
        assert!(!page.contains(word), "{word}");
    }
    for name in ["svg", "figure", "div", "table", "tr", "p", "text", "pre", "td", "th"] {
        let opened =
            page.matches(&format!("<{name}>")).count() + page.matches(&format!("<{name} ")).count();
        assert_eq!(opened, page.matches(&format!("</{name}>")).count(), "{name}");
    }
}

#[test]
fn one_page_says_what_is_signed() {
    let world = World::new();
    let hostile = SCHEMA.replace("\"c\"]", "\"c\", \"<script>alert(1)</script>\"]");
    world.write("schema.toml", hostile);
    for method in ["auto", "amp", "output", "frank-wolfe"] {
        world.ok(&format!("{TRAIN} --method {method}"));
        let page = world.ok("report model.json --html -");
        is_whole(&page);
        for words in [
            "What it can reveal",
            "changes the probability",
            "What an attacker gains",
            "rightly accused, at most",
            "On these public facts",
            "from 0 to 100",
            "&lt;script&gt;",
            "What is not covered",
            "How to check it again",
            "privet verify",
            "Date, signature",
        ] {
            assert!(page.contains(words), "{method}: {words}");
        }
        let digest =
            world.json("model.json")["certificate"]["digest"].as_str().unwrap().to_string();
        assert!(page.contains(&digest));
    }
    world.ok("count table.csv --schema schema.toml --by ward --epsilon 1 --out counts.json");
    is_whole(&world.ok("report counts.json --html -"));
    world.ok("report counts.json --html page.html");
    world.refused(2, "report counts.json --html page.html", &["--html page.html", "--force"]);
    // A claim that does not hold is not printed as one.
    world.ok(&format!("{TRAIN} --seed 1"));
    assert!(world.ok("report model.json --html -").contains("NOT PRIVATE"));
}

/// The page is made from the file alone, and shows all public facts that decide: weights of classes,
/// people and their cap.
#[test]
fn the_page_needs_the_file_alone_and_shows_what_was_declared() {
    let world = World::new();
    let lines: Vec<String> = world.read("table.csv").lines().map(String::from).collect();
    let rows = lines[1..].iter().enumerate().map(|(row, line)| format!("p{},{line}\n", row / 2));
    world.write("visits.csv", format!("who,{}\n{}", lines[0], rows.collect::<String>()));
    let declared = SCHEMA
        .replace("classes = [\"no\", \"yes\"]", "classes = [\"no\", \"yes\"]\nweights = [0.25, 1]")
        .replace("[target]", "[unit]\ncolumn = \"who\"\nmax_records = 2\n[target]");
    world.write("people.toml", declared);
    world.ok("train visits.csv --schema people.toml --rows 400 --epsilon 5 --out model.json");
    let alone = World::new();
    for name in ["schema.toml", "table.csv"] {
        std::fs::remove_file(alone.path(name)).unwrap();
    }
    alone.write("model.json", world.read("model.json"));
    let page = alone.ok("report model.json --html -");
    is_whole(&page);
    for words in
        ["weights: 0.25, 1", "unit who", "max_records: 2", "one user", "holds at every point"]
    {
        assert!(page.contains(words), "no {words} in {page}");
    }
    assert!(
        page.contains("<svg") && page.contains("may be noise"),
        "a curve, and weights with intervals"
    );
}

/// Intervals estimated privately are marked as such, charged, and in the file's page; `auto` passes the
/// request on.
#[test]
fn intervals_are_bought_on_request() {
    let world = World::new();
    for (method, takes) in
        [("amp", "amp"), ("gd", "gd"), ("centred-gd", "centred-gd"), ("auto", "gd")]
    {
        world.ok(&format!("{TRAIN} --method {method} --set intervals=bought"));
        let model = world.json("model.json");
        let settled = &model["certificate"]["request"]["method"];
        assert!(settled.to_string().contains(takes), "{method}: {settled}");
        assert!(world.ok("verify model.json").contains("VALID: ε = 5"));
        let flat = world.ok("inspect model.json").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("which was bought"), "{method}: {flat}");
        is_whole(&world.ok("report model.json --html -"));
    }
    world.refused(1, &format!("{TRAIN} --method gd --set intervals=bought --delta 0"), &["delta"]);
}

#[test]
fn several_releases_add_up() {
    let world = World::new();
    world.ok("train table.csv --schema schema.toml --epsilon 1 --delta 1e-6 --out a.json");
    world.ok("train table.csv --schema schema.toml --epsilon 1 --delta 1e-6 --out b.json");
    world.ok("count table.csv --schema schema.toml --by ward --epsilon 0.5 --out c.json");
    let one = world.ok_json("total a.json --json");
    assert!((one["epsilon"].as_f64().unwrap() - 1.0).abs() < 1e-6, "{one}");
    let all = world.ok_json("total a.json b.json c.json --json");
    let (epsilon, delta) = (all["epsilon"].as_f64().unwrap(), all["delta"].as_f64().unwrap());
    // No more than the sum, and for two Gaussian releases less.
    assert!(epsilon <= 2.5 + 1e-9 && epsilon > 1.0, "{all}");
    assert!((delta - 2e-6).abs() < 1e-9, "{all}");
    let twice = world.ok_json("total a.json a.json --json");
    assert_eq!(twice["epsilon"], one["epsilon"], "the same release counts once");
    let words = world.ok("total a.json c.json");
    assert!(words.contains("together") && words.contains("e^ε"), "{words}");
    world.ok(
        "count table.csv --schema schema.toml --by ward --epsilon 0.5 --neighbours add-remove --rows 400 --out d.json",
    );
    world.refused(1, "total a.json d.json", &["do not add up"]);
    world.ok("train table.csv --schema schema.toml --method non-private --out free.json");
    world.refused(1, "total a.json free.json", &["free.json", "privet verify"]);
    world.refused(2, "total", &["FILES"]);
}

/// A total states the conditions of each part, and the arithmetic of its proof.
#[test]
fn a_total_keeps_the_conditions_of_its_parts() {
    let world = World::new();
    world.ok("train table.csv --schema schema.toml --epsilon 1 --delta 1e-6 --out a.json");
    world.ok(
        "train table.csv --schema schema.toml --method amp --epsilon 1 --delta 0 --out real.json",
    );
    world.ok("train table.csv --schema schema.toml --method non-private --out free.json");
    world.ok("evaluate free.json table.csv --epsilon 1 --model-is-public --out worth.json");
    let total = world.ok_json("total a.json real.json worth.json --json");
    assert_eq!(total["arithmetic"], "real");
    let part =
        |place: usize, words: &str| total["releases"][place]["notes"].to_string().contains(words);
    assert!(part(1, "drawn in floating point") && part(2, "declared public"), "{total}");
    assert!(!part(0, "drawn in floating point"), "{total}");
    let arithmetic = |place: usize| total["releases"][place]["arithmetic"].as_str().unwrap();
    assert_eq!([0, 1, 2].map(arithmetic), ["finite", "real", "finite"]);
    let words = world.ok("total a.json real.json worth.json");
    assert!(words.lines().all(|line| line.chars().count() <= 80), "{words}");
    let flat = words.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "- real.json: proved on paper, for exact numbers (real)",
        "- real.json: the noise is continuous and drawn in floating point",
        "- worth.json: the model of digest",
    ] {
        assert!(flat.contains(part), "{part}: {words}");
    }
    let finite = world.ok_json("total a.json --json");
    assert_eq!(finite["arithmetic"], "finite");
}

#[test]
fn a_budget_is_explained() {
    let world = World::new();
    let words = world.ok("explain --epsilon 1 --rows 20000");
    for part in [
        "e^ε = 2.71828",
        "73.2 %",
        "a suspicion of 1 % can grow to 2.94 %",
        "at most 11 δ",
        "accused rightly",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    // Without δ the factor is the whole bound.
    let pure = world.ok("explain --epsilon 1 --delta 0");
    assert!(pure.contains("can grow to 2.68 %") && !pure.contains("11 δ"), "{pure}");
    let output = world.ok_json("explain --epsilon 1.0986122886681098 --json");
    assert!((output["best_guess"].as_f64().unwrap() - 0.75).abs() < 1e-9, "{output}");
    assert!(
        world.ok("explain --epsilon 1 --delta 0.01 --rows 1000").contains("take a smaller one")
    );
    world.refused(2, "explain --epsilon 0", &["epsilon"]);
    world.refused(2, "explain", &["--epsilon"]);
}

#[test]
fn weights_come_with_what_the_noise_may_have_done() {
    let world = World::new();
    for (method, words) in [
        ("output", "from the law of"),
        ("gd", "to first order in that noise: a bound from public numbers"),
        ("amp", "wider than it need be"),
        ("frank-wolfe", "is not known from public numbers"),
    ] {
        world.ok(&format!("{TRAIN} --method {method}"));
        let flat = world.ok("inspect model.json").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(words), "{method}: {flat}");
        let output = world.ok_json("inspect model.json --json");
        assert_eq!(output["valid"], true);
        let weights = output["weights"]["weights"][0].as_array().unwrap();
        assert_eq!(
            weights.len(),
            world.json("model.json")["body"]["weights"][0].as_array().unwrap().len()
        );
        assert_eq!(weights[0]["low"].is_null(), method == "frank-wolfe", "{method}");
    }
    // Noise is called noise where there is nothing else.
    world.ok(&format!("{} --method output", TRAIN.replace("--epsilon 5", "--epsilon 0.001")));
    assert!(world.ok("inspect model.json").contains("not distinguishable from noise"));
    world.refused(2, "inspect model.json --json --html x.html", &["--html"]);
}
