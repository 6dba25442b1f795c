//! Bad input: exit code 2, a message that names the position and the accepted values, nothing written.

use crate::world::{TRAIN, World, table};

#[test]
fn flags_outside_their_range() {
    let world = World::new();
    for epsilon in ["0", "-1", "NaN", "inf", "-inf", "much"] {
        let line = TRAIN.replace("--epsilon 5", &format!("--epsilon {epsilon}"));
        world.refused(2, &line, &["--epsilon", "a finite number of at least 1e-9"]);
        let line = format!("plan --schema schema.toml --rows 9 --epsilon {epsilon}");
        world.refused(2, &line, &["--epsilon"]);
    }
    for delta in ["1", "1.5", "-0.1", "nan"] {
        world.refused(
            2,
            &format!("{TRAIN} --delta {delta}"),
            &["--delta", "0, or a number from 1e-100 to below 1"],
        );
    }
    world.refused(2, &format!("{TRAIN} --rows 0"), &["--rows", "from 1"]);
    world.refused(2, &format!("{TRAIN} --method objective --set ridge=0"), &["ridge", "above 0"]);
    world.refused(2, &format!("{TRAIN} --method objective --split 1"), &["split"]);
    world.refused(2, &format!("{TRAIN} --method magic"), &["magic", "auto, amp, chosen-amp"]);
    world.refused(2, &format!("{TRAIN} --neighbours cousins"), &["cousins", "replace-one"]);
    world.refused(2, &format!("{TRAIN} --calibration lucky"), &["lucky", "sound, printed"]);
    world.refused(2, &format!("{TRAIN} --loss hinge"), &["hinge", "huber-svm"]);
    world.refused(2, &format!("{TRAIN} --method output --gamma 1"), &["gamma", "output"]);
    world.refused(2, &format!("{TRAIN} --huber-width 1"), &["--huber-width"]);
    world.refused(2, &format!("{TRAIN} --quantile 0.5"), &["--quantile"]);
    world.refused(2, &format!("{TRAIN} --quantile 1 --loss quantile"), &["--quantile", "below 1"]);
    world.refused(2, &format!("{TRAIN} --rate-at-zero 5"), &["--rate-at-zero"]);
    world.refused(2, &format!("{TRAIN} --loss poisson"), &["--loss poisson", "number"]);
    world.refused(2, &TRAIN.replace("--epsilon 5", ""), &["--epsilon is missing"]);
    world.refused(2, &format!("{TRAIN} --method non-private"), &["--epsilon", "non-private"]);
    world.refused(2, &format!("{TRAIN} --rows 399"), &["400 rows", "399"]);
    world.refused(2, "verify model.json --signer abc", &["64 hexadecimal"]);
    world.refused(2, "dance", &["dance"]);
}

/// No theorem, no release: a privacy refusal, before the (absent) table is looked for.
#[test]
fn what_no_proof_covers_is_refused_on_privacy_grounds() {
    let world = World::new();
    let line = TRAIN.replace("table.csv", "none.csv");
    world.refused(
        1,
        &format!("{line} --method amp --calibration printed --delta 0"),
        &["delta above 0"],
    );
}

#[test]
fn schemas_that_cannot_stand() {
    let world = World::new();
    let good = world.read("schema.toml");
    let train = TRAIN;
    for (from, to, words) in [
        ("radius = 1.0", "radius = -1.0", vec!["clip.radius"]),
        ("bounds = [0, 100]", "bounds = [100, 0]", vec!["\"age\"", "low < high"]),
        ("bounds = [0, 100]", "", vec!["\"age\"", "bounds"]),
        ("type = \"category\"", "type = \"colour\"", vec!["colour"]),
        ("classes = [\"no\", \"yes\"]", "classes = [\"no\"]", vec!["target.classes", "at least 2"]),
        ("norm = \"l2\"", "norm = l2", vec!["schema"]),
    ] {
        assert!(good.contains(from));
        world.write("schema.toml", good.replacen(from, to, 1));
        world.refused(2, train, &words);
        world.refused(2, "schema check schema.toml", &words);
    }
    world.refused(2, &train.replace("schema.toml", "none.toml"), &["none.toml"]);
}

#[test]
fn tables_that_do_not_fit() {
    let world = World::new();
    let good = table(400);
    let row = good.lines().nth(17).unwrap();
    let replaced = |new: &str| good.replacen(row, new, 1);
    let cases: Vec<(&str, String, Vec<&str>)> = vec![
        ("unknown column", good.replacen("ward", "room", 1), vec!["\"ward\"", "missing"]),
        ("extra column", good.replace('\n', ",x\n"), vec!["column 5 of the header", "ignore"]),
        ("third label", replaced("10,1.0,a,maybe"), vec!["row 18", "\"ill\"", "\"no\", \"yes\""]),
        ("category", replaced("10,1.0,d,no"), vec!["row 18", "\"ward\"", "\"a\", \"b\", \"c\""]),
        ("text for a number", replaced("ten,1.0,a,no"), vec!["row 18", "\"age\"", "not a number"]),
        ("NaN", replaced("NaN,1.0,a,no"), vec!["row 18", "\"age\"", "NaN or infinite"]),
        ("infinity", replaced("10,inf,a,no"), vec!["row 18", "\"dose\"", "NaN or infinite"]),
        ("ragged", replaced("10,1.0,a"), vec!["row 18", "3 cells", "4 are accepted"]),
        ("empty", String::new(), vec!["table.csv"]),
        ("header only", "age,dose,ward,ill\n".into(), vec!["holds no records"]),
        ("column twice", good.replacen("dose", "age", 1), vec!["\"age\""]),
    ];
    for (what, text, mut words) in cases {
        world.write("table.csv", text);
        words.push("table.csv");
        let line = format!("{TRAIN} --json");
        eprintln!("{what}");
        world.refused(2, &line, &words);
        world.refused(2, "schema check schema.toml table.csv", &words);
    }
    world.refused(2, &TRAIN.replace("table.csv", "none.csv"), &["none.csv"]);
    world.refused(2, &TRAIN.replace("table.csv", "."), &["."]);
}

#[test]
fn a_cell_is_never_repeated_in_a_message() {
    let world = World::new();
    let text = table(30).replacen(",a,", ",diagnosis-x,", 1);
    world.write("table.csv", text);
    let ended = world.run(TRAIN);
    assert_eq!(ended.code, 2);
    assert!(!ended.stderr.contains("diagnosis-x"), "{}", ended.stderr);
}

#[test]
fn damaged_files() {
    let world = World::new();
    world.write("table.csv.gz", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]);
    world.refused(2, &TRAIN.replace("table.csv", "table.csv.gz"), &["table.csv.gz", "gzip"]);
    if cfg!(feature = "parquet") {
        let bytes = crate::as_parquet::parquet_table(400);
        let schema = crate::world::SCHEMA.replace("[clip]", "[file]\nformat = \"parquet\"\n[clip]");
        world.write("schema.toml", schema);
        for length in [bytes.len() / 2, bytes.len() - 1, 4, 0] {
            world.write("table.parquet", &bytes[..length]);
            let line = TRAIN.replace("table.csv", "table.parquet");
            world.refused(2, &line, &["table.parquet"]);
        }
        // Found by fuzzing: the decoder panics on these; only the reader's own message may show.
        let fuzz = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz");
        let schema = std::fs::read_to_string(format!("{fuzz}/table.toml")).unwrap();
        let schema = schema.replace("[file]", "[file]\nformat = \"parquet\"");
        world.write("schema.toml", schema);
        for number in 0..4 {
            let file = format!("{fuzz}/corpus/parquet/bad-decoder-panic-{number}.parquet");
            world.write("table.parquet", std::fs::read(file).unwrap());
            let line = "schema check schema.toml table.parquet";
            world.refused(2, line, &["table.parquet", "damaged"]);
        }
    }
}

#[test]
fn models_that_do_not_fit() {
    let world = World::new();
    world.ok(TRAIN);
    world.write("other.toml", crate::world::SCHEMA.replace("[0, 10]", "[0, 20]"));
    for verb in ["predict", "evaluate"] {
        let line = format!("{verb} model.json table.csv --schema other.toml");
        world.refused(2, &line, &["does not fit the model", "\"dose\""]);
        world.refused(
            2,
            &format!("{verb} table.csv table.csv"),
            &["table.csv", "not a privet model"],
        );
        world.refused(2, &format!("{verb} none.json table.csv"), &["none.json"]);
    }
    world.write("lacks.csv", "age,ward,ill\n1,a,no\n");
    world.refused(2, "predict model.json lacks.csv", &["\"dose\""]);
    world.write("lacks.csv", "age,dose,ward\n1,1,a\n");
    world.ok("predict model.json lacks.csv");
    world.refused(2, "evaluate model.json lacks.csv", &["\"ill\""]);
}

#[test]
#[cfg_attr(not(feature = "data"), ignore = "this build has no catalog")]
fn preparing_what_is_not_there() {
    let world = World::new();
    world.refused(2, "data prepare unheard-of --from . --out set", &["unheard-of", "adult"]);
    world.refused(2, "data prepare adult --from . --out set", &["adult.data", "http"]);
    world.refused(2, "data prepare adult --out set", &["--from", "adult.data"]);
    world.write("adult.data", "not the original");
    world.refused(2, "data prepare adult --from . --out set", &["sha256"]);
}
