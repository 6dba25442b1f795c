//! Getting there and away: schemas from headers, several problems at once, models for other programs, and what a shell
//! expects of a command.

use crate::world::{Ended, TRAIN, World, table};
use std::io::Write as _;
use std::process::Stdio;

#[test]
fn a_schema_from_a_header_is_filled_in_and_then_stands() {
    let world = World::new();
    world.ok("schema new table.csv --target ill --out new.toml");
    let text = world.read("new.toml");
    assert!(text.contains("name = \"age\"") && text.contains("never from the records"), "{text}");
    for value in ["37", "yes", "74"] {
        let quoted = format!("\"{value}\"");
        let in_classes = value == "yes" && text.contains("[\"no\", \"yes\"]");
        assert!(!text.contains(&quoted) || in_classes, "only the header is read: {text}");
    }
    world.ok("schema new table.csv --target ill --unit ward --out unit.toml");
    assert!(world.read("unit.toml").contains("# spelling = \"number\""), "offered, not decided");
    world.ok(
        "schema new table.csv --target ill --unit ward --unit-spelling nfc --out unit.toml --force",
    );
    assert!(world.read("unit.toml").contains("\nspelling = \"nfc\""));
    // Everything that is blank is told at once.
    let ended = world.run("schema check new.toml");
    assert_eq!(ended.code, 2);
    for word in ["4 problems", "target.classes", "\"age\".type", "\"dose\".type", "\"ward\".type"] {
        assert!(ended.stderr.contains(word), "no {word} in {}", ended.stderr);
    }
    let filled = text
        .replace("classes = []", "classes = [\"no\", \"yes\"]")
        .replacen("type = \"\"", "type = \"number\"\nbounds = [0, 100]", 1)
        .replacen("type = \"\"", "type = \"number\"\nbounds = [0, 10]", 1)
        .replacen("type = \"\"", "type = \"category\"\ncategories = [\"a\", \"b\", \"c\"]", 1);
    world.write("new.toml", filled);
    assert!(world.ok("schema check new.toml table.csv").contains("fits the schema"));
    world.refused(2, "schema new table.csv --out new.toml", &["new.toml", "--force"]);
    world.refused(2, "schema new table.csv --target nothing", &["nothing", "age, dose, ward, ill"]);
}

#[test]
fn a_first_line_that_may_be_a_record_is_not_copied() {
    let world = World::new();
    for (line, word) in [
        ("41,SECRET,yes", "name 1 is a number"),
        ("SECRET,2024-03-05", "name 2 is a date"),
        ("SECRET,,yes", "name 2 is empty"),
        ("a,SECRET,a", "name 1 is there twice"),
    ] {
        world.write("data.csv", format!("{line}\n1,2,3\n"));
        let ended = world.run("schema new data.csv");
        assert_eq!(ended.code, 2);
        assert!(
            ended.stderr.contains(word) && ended.stderr.contains("--header"),
            "{}",
            ended.stderr
        );
        assert!(!ended.stderr.contains("SECRET") && !ended.stdout.contains("SECRET"));
    }
    world.write("data.csv", "2019;2020;name\n1;2;x\n");
    let text = world.ok("schema new data.csv --header");
    assert!(text.contains("name = \"2019\"") && text.contains("separator = \";\""), "{text}");
}

#[test]
fn a_public_table_fills_in_a_schema_and_stays_in_the_certificate() {
    let world = World::new();
    let with = table(400).replace(",ill\n", ",seen,ill\n");
    let with = with.replace(",no\n", ",2020-05-17,no\n").replace(",yes\n", ",2023-11-02,yes\n");
    world.write("public.csv", with);
    let ended = Ended::of(
        "schema new",
        world
            .command("schema new public.csv --target ill --out public.toml --public")
            .arg("a code book, example.org")
            .output()
            .unwrap(),
    );
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let text = world.read("public.toml");
    for line in
        ["bounds = [0, 99]", "categories = [\"a\", \"b\", \"c\"]", "type = \"date\"", "sha256 = "]
    {
        assert!(text.contains(line), "no {line} in {text}");
    }
    world.ok("train public.csv --schema public.toml --epsilon 5 --out model.json");
    let request = &world.json("model.json")["certificate"]["request"];
    assert_eq!(request["schema"]["origin"]["public"], "a code book, example.org");
    assert!(world.ok("verify model.json").contains("marked public"));
}

#[test]
fn bounds_are_bought_and_the_total_is_stated() {
    let world = World::new();
    let wide = world.read("schema.toml").replace("bounds = [0, 100]", "bounds = [0, 100000]");
    let wide = wide
        .replace("[\"a\", \"b\", \"c\"]", "[\"a\", \"b\", \"c\", \"nobody\"]\nunknown = \"other\"");
    world.write("wide.toml", wide);
    // Noise lifts the count of nobody above its margin in 1 of 40 releases: in eight of them, with 2e-13.
    let text = (0..8)
        .map(|_| {
            world.ok("describe table.csv --schema wide.toml --epsilon 60 --out table.json --force");
            world.ok("schema narrow wide.toml --by table.json --out narrow.toml --force");
            world.read("narrow.toml")
        })
        .find(|text| !text.contains("nobody"));
    let text = text.expect("a category that nobody has is left out");
    assert!(!text.contains("100000.0]"), "{text}");
    world.ok("train table.csv --schema narrow.toml --epsilon 5 --out model.json");
    let output = world.ok("verify model.json").split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "VALID: ε = 5",
        "schema ε = 60",
        "this release ε = 5",
        "together, of the same records, ε = 65",
    ] {
        assert!(output.contains(words), "no {words} in {output}");
    }
    // A cheaper price than the events prove, and other neighbours, are refused.
    world.write("cheap.toml", text.replace("epsilon = 60.0", "epsilon = 2.0"));
    world.refused(
        1,
        "train table.csv --schema cheap.toml --epsilon 5 --out m.json",
        &["do not prove"],
    );
    let line = "train table.csv --schema narrow.toml --epsilon 5 --neighbours add-remove --rows 400 --out m.json";
    world.refused(1, line, &["other neighbours"]);
    world.refused(2, "schema narrow wide.toml --by model.json", &["no description"]);
}

/// Nothing that is printed for people is wider than a terminal of 80 columns.
#[test]
fn what_is_told_fits_eighty_columns() {
    let world = World::new();
    let lax = world.read("schema.toml").replace("\"c\"]", "\"c\"]\nunknown = \"other\"");
    world.write("schema.toml", &lax);
    // More columns than a line has room for, and a cell that is not listed.
    let many: Vec<String> = (0..40).map(|ward| format!("\"ward {ward}\"")).collect();
    world.write("wide.toml", lax.replace("\"a\", \"b\", \"c\"", &many.join(", ")));
    world.write("strange.csv", world.read("table.csv").replacen(",a,", ",elsewhere,", 3));
    world.ok(TRAIN);
    let plan = "plan --schema schema.toml --rows 400 --epsilon 1";
    for line in [
        "methods",
        "methods --select",
        "methods --complete",
        "methods --vote",
        "methods --network",
        plan,
        &format!("{plan} --method all"),
        "total model.json",
        "explain --epsilon 1 --rows 400",
        "schema check schema.toml",
        "schema check wide.toml",
        "schema check schema.toml table.csv",
        "schema new table.csv --target ill --target-is classes --epsilon 20 --out bought.toml",
        "verify model.json",
        "inspect model.json",
        "evaluate model.json table.csv",
        "evaluate model.json strange.csv",
        "evaluate model.json table.csv --epsilon 2 --out worth.json",
        "inspect worth.json",
        "describe table.csv --schema schema.toml --epsilon 2 --out described.json",
        "inspect described.json",
        "count table.csv --schema schema.toml --by ward --epsilon 2 --out wards.json",
        "inspect wards.json",
        "budget open table.csv --schema schema.toml --epsilon 9 --delta 1e-4",
        "train table.csv --schema schema.toml --epsilon 1 --out paid.json --purpose trying",
        "budget show privet.ledger",
        "budget history privet.ledger",
        "budget verify privet.ledger",
        "report model.json --html page.html",
        "export model.json --to onnx --out model.onnx",
    ] {
        let ended = world.run(line);
        assert_eq!(ended.code, 0, "{line}: {}", ended.stderr);
        for told in ended.stdout.lines().chain(ended.stderr.lines()) {
            assert!(told.chars().count() <= 80, "{line}: {told}");
        }
    }
}

/// The price of bought bounds is in every total of what was made under them, once.
#[test]
fn totals_count_what_bounds_cost() {
    let world = World::new();
    let wide = world.read("schema.toml").replace("bounds = [0, 100]", "bounds = [0, 100000]");
    world.write("wide.toml", wide);
    // At this budget a count's noise has a deviation of 0.63 rows and 20 rows are beyond the outer quantile: bounds stay
    // as wide as they were with a probability below 1e-20.
    world.ok("describe table.csv --schema wide.toml --epsilon 60 --out table.json");
    world.ok("schema narrow wide.toml --by table.json --out narrow.toml");
    for name in ["one", "two"] {
        world.ok(&format!("train table.csv --schema narrow.toml --epsilon 0.5 --out {name}.json"));
    }
    let total = |files: &str| world.ok_json(&format!("total {files} --json"));
    let epsilon = |files: &str| total(files)["epsilon"].as_f64().unwrap();
    // Between the model alone and the sum; at the sum of both δ the description by itself is a little below 60.
    let alone = epsilon("one.json");
    assert!(alone > 58.0 && alone <= 60.5 + 1e-9, "{alone}");
    assert_eq!(total("one.json")["releases"].as_array().unwrap().len(), 2);
    assert_eq!(total("one.json two.json")["releases"].as_array().unwrap().len(), 3);
    assert_eq!(total("one.json two.json table.json")["releases"].as_array().unwrap().len(), 3);
    assert!((epsilon("one.json table.json") - alone).abs() < 1e-9);
    let words = world.ok("total one.json");
    assert!(words.contains("bounds of the schema of one.json, bought"), "{words}");
    // A schema that says that it was read off another release, a cheap one, is not paid for by that.
    world.ok("describe table.csv --schema wide.toml --epsilon 0.01 --out cheap.json");
    let digest = |name: &str| {
        let actual = world.json(name)["certificate"]["digest"].clone();
        actual.as_str().unwrap().to_string()
    };
    let aliased = world.read("narrow.toml").replace(&digest("table.json"), &digest("cheap.json"));
    assert_ne!(aliased, world.read("narrow.toml"));
    world.write("aliased.toml", aliased);
    world.ok("train table.csv --schema aliased.toml --epsilon 0.5 --out aliased.json");
    assert_eq!(total("aliased.json cheap.json")["releases"].as_array().unwrap().len(), 3);
    assert!(epsilon("aliased.json cheap.json") > 58.0);
    assert!(world.ok("inspect one.json").contains("bought from the records"));
    world.ok("report one.json --html page.html");
    let page = world.read("page.html");
    assert!(
        page.contains("looked up in the records, privately")
            && !page.contains("Nothing of this was")
    );
    assert!(page.contains("origin") && !page.contains("noise_scale"), "events are not on paper");
}

/// A schema from a private look at the records: types, bounds and categories, and its price in every certificate.
#[test]
fn a_schema_is_bought_from_the_records() {
    let world = World::new();
    let line = "schema new table.csv --target ill --target-is classes --epsilon 20 --out bought.toml --certificate outline.json";
    world.ok(line);
    let text = world.read("bought.toml");
    for part in [
        "classes = [\"no\", \"yes\"]",
        "categories = [\"a\", \"b\", \"c\"]",
        "type = \"number\"",
        "[origin.paid]",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert!(world.ok("verify outline.json").contains("VALID: ε = 20"));
    assert!(world.ok("inspect outline.json").contains("ward"));
    world.ok("schema check bought.toml table.csv");
    world.ok("train table.csv --schema bought.toml --epsilon 5 --out model.json");
    let output = world.ok("verify model.json").split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["VALID: ε = 5", "schema ε = 20", "together, of the same records, ε = 25"] {
        assert!(output.contains(words), "no {words} in {output}");
    }
    let both = world.ok_json("total model.json outline.json --json");
    assert_eq!(both["releases"].as_array().unwrap().len(), 2, "{both}");
    // People with several rows; codes as categories; columns left out.
    let lines: Vec<String> = world.read("table.csv").lines().map(String::from).collect();
    let rows = lines[1..].iter().enumerate().map(|(row, line)| format!("p{},{}\n", row / 2, line));
    world.write("visits.csv", format!("who,{}\n{}", lines[0], rows.collect::<String>()));
    let line = "schema new visits.csv --target ill --target-is classes --unit who --max-records 2 --epsilon 20 --force --out bought.toml";
    world.refused(2, line, &["--rows is missing"]);
    world.ok(&format!("{line} --rows 400 --leave-out dose"));
    let text = world.read("bought.toml");
    assert!(
        text.contains("max_records = 2") && text.contains("\"dose\"\ntype = \"ignore\""),
        "{text}"
    );
    world.ok(
        "train visits.csv --schema bought.toml --rows 400 --epsilon 5 --out model.json --force",
    );
    assert!(world.ok("verify model.json").contains("VALID"));
    // Ids that are integers, whichever way a program wrote them: declared, and paid for alike.
    world.write("visits.csv", world.read("visits.csv").replace("\np", "\n0"));
    let line = format!("{line} --rows 400 --unit-spelling number");
    world.refused(1, &format!("{line} --neighbours add-remove"), &["spelling", "replace-one"]);
    world.ok(&line);
    let text = world.read("bought.toml");
    assert_eq!(text.matches("spelling = \"number\"").count(), 2, "unit and price: {text}");
    let train =
        "train visits.csv --schema bought.toml --rows 400 --epsilon 5 --out model.json --force";
    world.ok(train);
    let output = world.ok("verify model.json").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(output.contains("a user is whoever shares an identifier"), "{output}");
    let other = text.replacen("spelling = \"number\"\n", "", 1);
    world.write("bought.toml", other);
    world.refused(1, train, &["for another unit"]);
    // With next to nothing spent nothing stands out of the noise.
    world.ok(
        "schema new table.csv --target ill --target-is classes --epsilon 0.001 --out poor.toml",
    );
    assert!(world.read("poor.toml").contains("nothing stood out of the noise"));
    for (flags, words) in [
        ("--delta 0", "delta"),
        ("--categories nothing", "no such column"),
        ("--public here", "cannot be used with"),
        ("--unit ward", "--max-records is missing"),
    ] {
        let line =
            format!("schema new table.csv --target ill --target-is classes --epsilon 1 {flags}");
        let ended = world.run(&line);
        assert!(ended.code != 0 && ended.stderr.contains(words), "{line}: {}", ended.stderr);
    }
    // The ledger pays for it, and not for what is refused before a record is read.
    world.ok("budget open table.csv --schema schema.toml --epsilon 3 --delta 1e-4");
    world.ok("schema new table.csv --target ill --target-is classes --epsilon 2 --out paid.toml");
    world.refused(
        1,
        "schema new table.csv --target ill --target-is classes --epsilon 5 --out more.toml",
        &["table"],
    );
}

/// 0 and 1 may be labels or amounts. No record is asked which: it is said, or refused before anything is paid for.
#[test]
fn a_target_written_in_numbers_is_what_it_is_said_to_be() {
    let world = World::new();
    let coded = world.read("table.csv").replace(",yes\n", ",1\n").replace(",no\n", ",0\n");
    world.write("table.csv", &coded);
    world.ok("budget open table.csv --schema schema.toml --epsilon 100 --delta 1e-3");
    let spent = || world.ok("budget show privet.ledger");
    let before = spent();
    let line = "schema new table.csv --target ill --epsilon 20 --out new.toml --force";
    world.refused(2, line, &["--target-is", "classes", "number"]);
    let both = format!("{line} --categories ill --target-is number");
    world.refused(2, &both, &["--target-is number", "--categories"]);
    assert_eq!(spent(), before);
    for said in ["--target-is classes", "--categories ill"] {
        world.ok(&format!("{line} {said}"));
        assert!(world.read("new.toml").contains("classes = [\"0\", \"1\"]"), "{said}");
        world.ok("schema check new.toml table.csv");
    }
    world.ok(&format!("{line} --target-is number"));
    let text = world.read("new.toml");
    assert!(
        text.contains("column = \"ill\"\nbounds = [0.0, ") && !text.contains("classes"),
        "{text}"
    );
    // A public table: asked, since it may be.
    let line = "schema new table.csv --target ill --public here --out new.toml --force";
    world.refused(2, line, &["--target ill", "--target-is classes", "--target-is number"]);
    world.ok(&format!("{line} --target-is classes"));
    assert!(world.read("new.toml").contains("classes = [\"0\", \"1\"]"));
    world.ok(&format!("{line} --target-is number"));
    assert!(world.read("new.toml").contains("bounds = [0, 1]"));
    let dose = line.replace("ill", "dose");
    world.ok(&dose);
    assert!(world.read("new.toml").contains("bounds = [0, "), "more than a few: a number");
    let ward = line.replace("ill", "ward");
    world.ok(&ward);
    world.refused(2, &format!("{ward} --target-is number"), &["not all its cells are numbers"]);
    // From the header nothing is decided: both are left to fill in, or the one that was said.
    let line = "schema new table.csv --target ill";
    let text = world.ok(line);
    assert!(text.contains("\nclasses = []") && text.contains("# bounds = "), "{text}");
    let text = world.ok(&format!("{line} --target-is number"));
    assert!(!text.contains("classes =") && text.contains("# bounds = "), "{text}");
    let text = world.ok(&format!("{line} --target-is classes"));
    assert!(text.contains("\nclasses = []"), "{text}");
    world.refused(2, "schema new table.csv --target-is classes", &["--target"]);
}

/// 100 students with ten grades each: a schema says what most of a column is, or that nothing stood out. With next to
/// nothing spent a bin of 22 of them would be named with 5e-11; with very much, fewer than half of nine bins with less.
#[test]
fn few_people_with_many_rows_get_the_bounds_of_most_or_none() {
    let world = World::new();
    let line = |row: usize| format!("s{},{}\n", row / 10, 1 + (row * 7 + row / 10) % 10);
    world.write("grades.csv", format!("who,grade\n{}", (0..1000).map(line).collect::<String>()));
    let bounds = |epsilon: &str| {
        world.ok(&format!(
            "schema new grades.csv --unit who --max-records 10 --rows 1000 --epsilon {epsilon} --delta 1e-12 --out \
             new.toml --force"
        ));
        let text = world.read("new.toml");
        let grade = text.split("name = \"grade\"").nth(1).unwrap().to_string();
        let bounds = grade.split("bounds = [").nth(1).and_then(|rest| rest.split(']').next());
        assert!(bounds.is_some() != grade.contains("nothing stood out of the noise"), "{grade}");
        bounds.map(|bounds| {
            let (low, high) = bounds.split_once(", ").unwrap();
            (low.parse::<f64>().unwrap(), high.parse::<f64>().unwrap())
        })
    };
    assert_eq!(bounds("0.5"), None);
    let (low, high) = bounds("60").unwrap();
    assert!(high / low >= 2.0, "{low} {high}");
}

#[test]
fn all_problems_of_a_table_are_told_with_places_and_without_values() {
    let world = World::new();
    let bad = "age,dose,ward,ill\n1,2,a,no\nSECRET,2,a,no\n3,SECRET,SECRET,no\n4,5,b,SECRET\n5,6\n";
    world.write("bad.csv", bad);
    let ended = world.run("schema check schema.toml bad.csv");
    assert_eq!(ended.code, 2);
    assert!(!ended.stderr.contains("SECRET"), "{}", ended.stderr);
    for word in ["\"age\"", "\"dose\"", "\"ward\"", "\"ill\"", "row 3", "row 4", "row 5", "row 6"] {
        assert!(ended.stderr.contains(word), "no {word} in {}", ended.stderr);
    }
    world.write("broken.toml", "bias = true\n[clip\nnorm = 1\n");
    world.refused(2, "schema check broken.toml", &["broken.toml", "line 2"]);
}

#[test]
fn columns_that_are_not_listed_are_left_out_on_request() {
    let world = World::new();
    world.write(
        "wide.csv",
        table(400).replace("age,", "note,age,").replace("\n", "\nx,").trim_end_matches("x,"),
    );
    world.refused(
        2,
        "schema check schema.toml wide.csv",
        &["column 1 of the header", "other_columns"],
    );
    world.write("lax.toml", format!("other_columns = \"ignore\"\n{}", world.read("schema.toml")));
    world.ok("train wide.csv --schema lax.toml --epsilon 5 --out model.json");
    assert!(world.ok("verify model.json").contains("VALID"));
}

/// Alike columns declared once, codes as categories, dates by their parts, and labels merged: one table with all of them.
#[test]
fn a_table_of_codes_dates_and_many_labels_is_declared_in_few_lines() {
    let world = World::new();
    let rows: String = (0..300)
        .map(|row| {
            let (month, day, hour) = (row % 12 + 1, row % 28 + 1, row % 24);
            let again = ["<30", ">30", "NO"][row % 3];
            format!(
                "{};{};{};2021-{month:02}-{day:02} {hour:02}:15:00;{again}\n",
                row % 9,
                row % 7,
                row % 3 + 1
            )
        })
        .collect();
    world.write("visits.csv", format!("labs;drugs;kind;seen;again\n{rows}"));
    let schema = "bias = true\n[file]\nseparator = \";\"\n[clip]\nnorm = \"l2\"\nradius = 2.0\n[target]\ncolumn = \"again\"\n\
        classes = [\"late\", \"soon\"]\nlabels = { soon = [\"<30\"] }\nothers = \"late\"\n\
        [[columns]]\nnames = [\"labs\", \"drugs\"]\ntype = \"number\"\nbounds = [0, 10]\n\
        [[columns]]\nname = \"kind\"\ntype = \"category\"\ncategories = [1, 2, 3]\n\
        [[columns]]\nname = \"seen\"\ntype = \"date\"\nrange = [\"2021-01-01\", \"2021-12-31\"]\n\
        parts = [\"year\", \"month\", \"weekday\", \"hour\"]\n";
    world.write("visits.toml", schema);
    world.ok("schema check visits.toml visits.csv");
    world.ok("train visits.csv --schema visits.toml --epsilon 5 --method gd --out model.json");
    let output = world.ok("inspect model.json --json");
    for name in ["labs", "drugs", "kind=2", "seen.month", "seen.weekday=", "seen.hour"] {
        assert!(output.contains(name), "no {name} in {output}");
    }
    let actual = world.ok("predict model.json visits.csv");
    assert!(actual.lines().skip(1).all(|class| class == "late" || class == "soon"), "{actual}");
    // Without `others` a label that is not listed is refused; so is a date beyond its range, and neither is repeated.
    world.write("strict.toml", schema.replace("others = \"late\"\n", ""));
    world.refused(2, "schema check strict.toml visits.csv", &["again"]);
    world.write("bad.csv", "labs;drugs;kind;seen;again\n1;2;4;yesterday;NO\n");
    let ended = world.run("schema check visits.toml bad.csv");
    assert!(ended.code == 2 && ended.stderr.contains("\"kind\""), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("\"seen") && !ended.stderr.contains("yesterday"),
        "{}",
        ended.stderr
    );
}

/// Pages teach a plan before the comparison of all methods, and every file that the guide trains on exists by then.
#[test]
fn a_plan_is_taught_before_all_plans() {
    for page in [include_str!("../../../../README.md"), include_str!("../../../../docs/guide.md")] {
        let lines: Vec<&str> =
            page.lines().filter(|line| line.starts_with("privet plan")).collect();
        let all = lines.iter().position(|line| line.contains("--method all")).unwrap();
        assert!(all > 0 && !lines[0].contains("--method"), "{lines:?}");
    }
}

#[test]
fn a_model_is_written_for_other_programs() {
    let world = World::new();
    world.ok(TRAIN);
    world.ok("export model.json --to onnx --out model.onnx");
    let onnx = std::fs::read(world.path("model.onnx")).unwrap();
    let holds = |word: &str| onnx.windows(word.len()).any(|part| part == word.as_bytes());
    assert!(
        holds("ai.onnx.ml") && holds("prediction") && holds("privet.certificate") && holds("ward")
    );
    let sql = world.ok("export model.json --to sql --table visits --id age");
    assert!(sql.contains("FROM \"visits\"") && sql.contains("AS prediction"), "{sql}");
    let csv = world.ok("export model.json --to csv");
    assert!(csv.starts_with("column,weight for yes") && csv.contains("\nward=a,"), "{csv}");
    world.refused(2, "export model.json --to csv --out model.json", &["would overwrite"]);
    let hashed =
        world.read("schema.toml").replace("categories = [\"a\", \"b\", \"c\"]", "hash_buckets = 4");
    world.write("hashed.toml", hashed);
    world.ok("train table.csv --schema hashed.toml --epsilon 5 --out hashed.json");
    world.refused(2, "export hashed.json --to sql", &["hash", "privet predict"]);
}

#[test]
fn predictions_come_with_names_and_through_pipes() {
    let world = World::new();
    world.ok(TRAIN);
    let rows: String = (0..5).map(|n| format!("p{n},4{n},5.0,a\n")).collect();
    let rows = format!("patient,age,dose,ward\n{rows}");
    world.write("new.csv", &rows);
    let plain = world.ok("predict model.json new.csv");
    let named = world.ok("predict model.json new.csv --id patient --proba");
    assert!(named.starts_with("patient,prediction,probability no"), "{named}");
    for (place, (with, without)) in named.lines().zip(plain.lines()).enumerate().skip(1) {
        assert!(with.starts_with(&format!("p{},{without}", place - 1)), "{with}");
    }
    let line = "predict model.json -";
    let mut child = world
        .command(line)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(rows.as_bytes()).unwrap();
    let ended = Ended::of(line, child.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.stdout), (0, plain));
    world.refused(2, "predict model.json new.csv --id nobody", &["nobody"]);
}

#[test]
fn people_are_not_torn_apart_by_a_split() {
    let world = World::new();
    let rows: String = (0..900).map(|row| format!("{},{row}\n", row % 300)).collect();
    world.write("people.csv", format!("who,x\n{rows}"));
    world.ok("split people.csv --unit who --test 0.3 --out-train a.csv --out-test b.csv");
    let people = |name: &str| -> std::collections::HashSet<String> {
        let text = world.read(name);
        text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_string()).collect()
    };
    let (train, test) = (people("a.csv"), people("b.csv"));
    assert!(train.is_disjoint(&test) && train.len() + test.len() == 300);
    // Both are empty with probability 0.3^300 + 0.7^300 < 1e-46.
    assert!(!train.is_empty() && !test.is_empty());
    world.refused(2, "split people.csv --test 2 --out-train c.csv --out-test d.csv", &["--test"]);
    world.refused(2, "split people.csv --unit y --out-train c.csv --out-test d.csv", &["--unit"]);
}

#[test]
fn a_shell_and_man_know_the_command() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = world.ok(&format!("completions {shell}"));
        assert!(script.contains("privet") && script.contains("export"), "{shell}");
    }
    assert!(world.ok("man").contains(".TH privet 1"));
    world.ok("man --out pages");
    let pages = std::fs::read_dir(world.path("pages")).unwrap().count();
    assert!(pages > 20, "{pages} pages");
}

#[test]
fn quiet_is_quiet_and_threads_change_nothing() {
    let world = World::new();
    let line = format!("{TRAIN} --seed 3");
    assert!(!world.run(&line).stderr.is_empty());
    let one = world.json("model.json")["body"]["weights"].clone();
    let quiet = world.run(&format!("{line} -q --threads 1"));
    assert_eq!(quiet.code, 0, "{}", quiet.stderr);
    assert!(quiet.stderr.lines().all(|line| line.starts_with("warning")), "{}", quiet.stderr);
    assert_eq!(
        world.json("model.json")["body"]["weights"],
        one,
        "the same on any number of threads"
    );
}
