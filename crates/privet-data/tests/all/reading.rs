//! Files as they occur in practice: other separators, no header, extra columns, new categories.

use privet_data::{
    Encoding, Schema, Target,
    read::{self, Purpose, ReadOptions},
    schema::Storage,
    testing::SMALL_SCHEMA,
};
use std::{cell::Cell, path::PathBuf};

fn schema() -> Schema {
    Schema::from_toml(SMALL_SCHEMA).unwrap()
}

/// A file in a folder that lives as long as the guard.
fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

const PLAIN: &str =
    "age,work,town,smokes,income\n30,private,york,no,low\n60,public,bath,yes,high\n";

#[test]
fn two_classes_are_minus_and_plus_one() {
    let dataset = read::csv_bytes(PLAIN.as_bytes(), &schema()).unwrap();
    assert_eq!(dataset.target, Target::Class { codes: vec![0, 1], count: 2 });
    assert_eq!(dataset.target.signed().unwrap(), [-1.0, 1.0]);
    assert_eq!(dataset.target.against_rest(0).unwrap(), [1.0, -1.0]);
}

#[test]
fn separators_quotes_blanks_and_marks_do_not_matter() {
    let expected = read::csv_bytes(PLAIN.as_bytes(), &schema()).unwrap();
    let semicolons = SMALL_SCHEMA.replace("[file]", "[file]\nseparator = \";\"\nquote = \"'\"");
    let cases = [
        (schema(), PLAIN.replace(',', " , ").replace('\n', "\r\n")),
        (schema(), format!("\u{feff}{}", PLAIN.replace("private", "\"private\""))),
        (schema(), PLAIN.replace("\n30", "\n\n30")),
        (
            Schema::from_toml(&semicolons).unwrap(),
            PLAIN.replace(',', ";").replace("york", "'york'"),
        ),
    ];
    for (schema, text) in cases {
        let dataset = read::csv_bytes(text.as_bytes(), &schema).unwrap();
        assert_eq!(dataset.target, expected.target);
        for row in 0..2 {
            assert_eq!(dataset.features.dense_row(row), expected.features.dense_row(row), "{text}");
        }
    }
}

#[test]
fn without_a_header_columns_go_by_position() {
    let text = SMALL_SCHEMA.replace("[file]", "[file]\nheader = false");
    let text = format!("{text}[[columns]]\nname = \"income\"\ntype = \"target\"\n");
    let schema = Schema::from_toml(&text).unwrap();
    let rows = PLAIN.split_once('\n').unwrap().1;
    let expected = read::csv_bytes(PLAIN.as_bytes(), &self::schema()).unwrap();
    let dataset = read::csv_bytes(rows.as_bytes(), &schema).unwrap();
    assert_eq!(dataset.target, expected.target);
    assert_eq!(dataset.features.dense_row(1), expected.features.dense_row(1));
    // In prediction, the target may be left out.
    let (_guard, path) = file(&rows.replace(",low", "").replace(",high", ""));
    let features = read::read_features(&path, &schema, &ReadOptions::default()).unwrap();
    assert_eq!(features.matrix.dense_row(1), expected.features.dense_row(1));
    assert!(read::read(&path, &schema, &ReadOptions::default()).is_err());
}

#[test]
fn prediction_takes_any_order_and_more_columns_and_counts_new_categories() {
    let strict = Schema::from_toml(&SMALL_SCHEMA.replace("unknown = \"other\"\n", "")).unwrap();
    let text = "shoe,town,smokes,work,age\n42,york,no,private,30\n43,york,maybe,mars,30\n";
    let (_guard, path) = file(text);
    let expected = read::csv_bytes(PLAIN.as_bytes(), &strict).unwrap();
    let features = read::read_features(&path, &strict, &ReadOptions::default()).unwrap();
    assert_eq!(features.matrix.dense_row(0), expected.features.dense_row(0));
    let report = features.report.to_string();
    assert!(report.contains("\"work\": 1 cells") && report.contains("none of its categories"));
    assert!(
        report.contains("\"smokes\": 1 cells") && report.contains("count as \"no\""),
        "{report}"
    );
    let names = Encoding::new(&strict).column_names();
    for (name, value) in names.iter().zip(features.matrix.dense_row(1)) {
        let new = name.starts_with("work") || name == "smokes";
        assert!(!new || value == 0.0, "{name} {value}");
    }
}

#[test]
fn evaluation_needs_labels_but_tolerates_the_rest() {
    let evaluate = ReadOptions { purpose: Purpose::Evaluate, ..ReadOptions::default() };
    let (_guard, path) = file("income,shoe,age,work,town,smokes\nhigh,1,30,private,york,no\n");
    let dataset = read::read(&path, &schema(), &evaluate).unwrap();
    assert_eq!(dataset.target.signed().unwrap(), [1.0]);
    assert_eq!(
        read::read(&path, &schema(), &ReadOptions::default()).unwrap_err().code(),
        "column-unknown"
    );
    let (_guard, path) = file("age,work,town,smokes\n30,private,york,no\n");
    assert_eq!(read::read(&path, &schema(), &evaluate).unwrap_err().code(), "column-missing");
}

#[test]
fn a_number_target_lands_in_minus_one_to_one() {
    let text = SMALL_SCHEMA.replace("classes = [\"low\", \"high\"]", "bounds = [0, 100]");
    let schema = Schema::from_toml(&text).unwrap();
    let rows = PLAIN.replace("low", "25").replace("high", "1e6");
    let dataset = read::csv_bytes(rows.as_bytes(), &schema).unwrap();
    assert_eq!(dataset.target, Target::Number(vec![-0.5, 1.0]));
    let encoding = Encoding::new(&schema);
    assert_eq!((encoding.decode_target(-0.5), encoding.classes()), (25.0, None));
}

#[test]
fn every_stored_row_obeys_the_radius_in_both_storages() {
    for storage in ["dense", "csr"] {
        let schema =
            Schema::from_toml(&format!("storage = \"{storage}\"\n{SMALL_SCHEMA}")).unwrap();
        let dataset = read::csv_bytes(PLAIN.as_bytes(), &schema).unwrap();
        let encoding = Encoding::new(&schema);
        assert_eq!(encoding.storage() == Storage::Csr, storage == "csr");
        for row in 0..2 {
            // Entries have 24 bits, so each square is exact; two ulps cover the five additions.
            let row = dataset.features.dense_row(row);
            let norm: f64 = row.iter().map(|x| f64::from(*x).powi(2)).sum();
            assert!(norm <= 1.0 && norm > 0.999_999, "{norm}");
            assert!(row[encoding.width() - 1] > 0.4, "the constant column is inside the clip");
        }
    }
}

/// Records are counted as they are read, whatever their cells hold, even where a cell is refused.
#[test]
fn counted_as_they_are_read() {
    let counted = |text: &str, schema: &str| {
        let (_folder, path) = file(text);
        read::count_records(path, &Schema::from_toml(schema).unwrap(), None)
    };
    let rows = |text: &str, schema: &str| {
        let (_folder, path) = file(text);
        let read = read::read(path, &Schema::from_toml(schema).unwrap(), &ReadOptions::default());
        read.map(|data| data.rows() as u64)
    };
    let total = |policy: &str| {
        let stands_in = SMALL_SCHEMA.replace("missing = 38.5", "missing = 38.5\ninvalid = 38.5");
        let schema = if policy == "stand-in" { &stands_in } else { SMALL_SCHEMA };
        format!("invalid = \"{policy}\"\n{schema}")
    };
    let bare = |schema: &str| {
        let text = schema.replace("[file]", "[file]\nheader = false");
        format!("{text}[[columns]]\nname = \"income\"\ntype = \"target\"\n")
    };
    let sparse = "[target]\nclasses = [\"0\", \"1\"]\n[libsvm]\nfeatures = 9\nbounds = [0, 1]\n\
                  [clip]\nnorm = \"l2\"\nradius = 1.0\n[file]\nformat = \"libsvm\"\n";
    let messy = format!("{PLAIN}\n\"30,private\n60,\"pub\nlic\",bath,yes,high\nwhat\n,,,,");
    let broken = PLAIN.replace("york", "\"yo\nrk\"");
    let headless = PLAIN.split_once('\n').unwrap().1;
    let mut read_at_all = 0;
    for (text, schema) in [
        (PLAIN.to_string(), SMALL_SCHEMA.to_string()),
        (PLAIN.replace('\n', "\r\n\r\n"), SMALL_SCHEMA.into()),
        (broken.replace("\"yo\nrk\"", "\"york\""), SMALL_SCHEMA.into()),
        (broken.clone(), SMALL_SCHEMA.into()),
        (headless.into(), bare(SMALL_SCHEMA)),
        (format!("\n{messy}"), total("drop")),
        (messy.clone(), total("stand-in")),
        (format!("{messy}\n"), bare(&total("drop"))),
        (broken, total("drop")),
        ("1 2:0.5\n\n# none\n0 1:1 # some\n".into(), sparse.into()),
        ("1 2:0.5\n\n# none\n0 x\n1".into(), format!("invalid = \"drop\"\n{sparse}")),
    ] {
        let actual = counted(&text, &schema).unwrap();
        assert_eq!(actual, rows(&text, &schema).unwrap(), "{schema}\n{text}");
        read_at_all += actual;
    }
    assert!(read_at_all > 30);
    // Cells that the reader refuses.
    for (text, schema, expected) in [
        (PLAIN.replace("60", "SECRET"), SMALL_SCHEMA, 2),
        (format!("{PLAIN}1,2\n"), SMALL_SCHEMA, 3),
        ("7 0:0\n1 2:x\n".into(), sparse, 2),
    ] {
        assert!(rows(&text, schema).is_err(), "{text}");
        assert_eq!(counted(&text, schema).unwrap(), expected, "{text}");
    }
    for nothing in ["", "age,work,town,smokes,income\n"] {
        assert!(counted(nothing, SMALL_SCHEMA).unwrap_err().to_string().contains("rows.csv"));
    }
}

#[test]
fn progress_ends_at_the_file_size() {
    let text = format!("{PLAIN}{}", "30,private,york,no,low\n".repeat(100_000));
    let (_guard, path) = file(&text);
    let (calls, last) = (Cell::new(0), Cell::new((0, 0)));
    let progress = |read: u64, total: u64| {
        calls.set(calls.get() + 1);
        last.set((read, total));
    };
    let options = ReadOptions { progress: Some(&progress), ..ReadOptions::default() };
    read::read(&path, &schema(), &options).unwrap();
    assert_eq!(last.get(), (text.len() as u64, text.len() as u64));
    assert!((2..10).contains(&calls.get()), "{}", calls.get());
}
