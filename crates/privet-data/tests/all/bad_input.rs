//! On any bytes: a typed error that names the place and the accepted values, never a cell's content,
//! and never a panic.

use privet_data::{DataError, Schema, read, testing::SMALL_SCHEMA};
use proptest::prelude::*;
use std::io::Write;

const HEADER: &str = "age,work,town,smokes,income\n";
const GOOD: &str = "30,private,york,no,low\n60,public,bath,yes,high\n";
/// A cell's content, which must never occur in a message.
const SECRET: &str = "s3cr3t";

const SPARSE_SCHEMA: &str = r#"
[file]
format = "libsvm"
[clip]
norm = "l2"
radius = 1.0
[target]
classes = ["-1", "+1"]
[libsvm]
features = 9
"#;

fn schema() -> Schema {
    Schema::from_toml(SMALL_SCHEMA).unwrap()
}

fn strict() -> Schema {
    Schema::from_toml(&SMALL_SCHEMA.replace("unknown = \"other\"\n", "")).unwrap()
}

fn refused(result: Result<privet_data::Dataset, DataError>) -> (String, &'static str) {
    let error = result.expect_err("accepted bad input");
    let message = error.to_string();
    assert!(!message.contains(SECRET), "{message}");
    assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
    (message, error.code())
}

#[test]
fn good_input_is_accepted() {
    let text = format!("{HEADER}{}", GOOD.repeat(3));
    let dataset = read::csv_bytes(text.as_bytes(), &schema()).unwrap();
    assert_eq!(dataset.rows(), 6);
    assert!(!format!("{dataset:?}").contains('6'), "the row count is private: {dataset:?}");
}

#[test]
fn bad_tables_are_refused_with_their_place() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("", "file-empty", &["no records"]),
        (HEADER, "file-empty", &["no records"]),
        ("age,work,town,smokes\n1,private,york,no\n", "column-missing", &["\"income\""]),
        ("age,age,work,town,smokes,income\n", "column-repeated", &["\"age\"", "twice"]),
        ("age,work,town,smokes,income,shoe\n", "column-unknown", &["column 6", "ignore"]),
        // A header that continues into the records, by an open quote or another line ending.
        ("age,work,town,smokes,income,\"shoe\n3,s3cr3t\n", "column-unknown", &["column 6"]),
        ("age,s3cr3t,work,town,smokes,income\r3,s3cr3t\r", "column-unknown", &["column 2"]),
        ("s3cr3t,private,york,no,low\n", "column-missing", &["\"age\""]),
        ("{H}30,private,york,no,low\n30,private,york,no\n", "row-ragged", &["row 3", "4", "5"]),
        ("{H}30,private,york,no,low,s3cr3t\n", "row-ragged", &["row 2", "6", "5"]),
        ("{H}s3cr3t,private,york,no,low\n", "cell-refused", &["row 2", "\"age\"", "[0, 120]"]),
        ("{H}nan,private,york,no,low\n", "cell-refused", &["row 2", "\"age\"", "NaN"]),
        ("{H}-inf,private,york,no,low\n", "cell-refused", &["row 2", "\"age\"", "infinite"]),
        ("{H}1e999,private,york,no,low\n", "cell-refused", &["row 2", "\"age\"", "infinite"]),
        ("{H},private,york,no,low\n", "cell-refused", &["row 2", "\"age\"", "not a number"]),
        ("{H}3,s3cr3t,york,no,low\n", "cell-refused", &["\"work\"", "category", "\"private\""]),
        ("{H}3,private,york,s3cr3t,low\n", "cell-refused", &["\"smokes\"", "\"no\", \"yes\""]),
        ("{H}3,private,?,no,low\n", "cell-refused", &["\"town\"", "missing"]),
        ("{H}3,private,york,no,s3cr3t\n", "cell-refused", &["\"income\"", "\"low\", \"high\""]),
        ("{H}3,private,york,no,?\n", "cell-refused", &["\"income\"", "missing"]),
        ("{H}3,private,york,no,\"low\n3,private,york", "cell-refused", &["row 2", "\"income\""]),
    ];
    for (text, code, words) in cases {
        let text = text.replace("{H}", HEADER);
        let (message, found) = refused(read::csv_bytes(text.as_bytes(), &strict()));
        assert_eq!(found, *code, "{text}: {message}");
        for word in *words {
            assert!(message.contains(word), "{text}: {message}");
        }
    }
    let (_, code) =
        refused(read::csv_bytes(b"age,work,town,smokes,income\n\xff,a,b,no,low", &schema()));
    assert_eq!(code, "cell-refused");
}

#[test]
fn bad_sparse_rows_are_refused_with_their_place() {
    let schema = Schema::from_toml(SPARSE_SCHEMA).unwrap();
    assert_eq!(read::libsvm_bytes(b"1 1:2 9:1 # x\n\n-1\n+1.0 2:1", &schema).unwrap().rows(), 3);
    let cases: &[(&str, &[&str])] = &[
        ("", &["no records"]),
        ("+1 1:1\n+1 10:1\n", &["row 2", "entry 1", "out of range", "1 to 9"]),
        ("+1 0:1\n", &["row 1", "out of range"]),
        ("+1 99999999999:1\n", &["out of range"]),
        ("+1 3:1 3:1\n", &["row 1", "entry 2", "not increasing"]),
        ("+1 3:1 2:1\n", &["entry 2", "not increasing"]),
        ("+1 s3cr3t\n", &["index:value"]),
        ("+1 -1:1\n", &["index:value"]),
        ("+1 qid:1 2:1\n", &["index:value"]),
        ("+1 2:s3cr3t\n", &["not a number"]),
        ("+1 2:nan\n", &["NaN"]),
        ("+1 2:1e999\n", &["infinite"]),
        ("s3cr3t 2:1\n", &["row 1", "label", "\"-1\", \"+1\""]),
        ("2 2:1\n", &["label"]),
    ];
    for (text, words) in cases {
        let (message, _) = refused(read::libsvm_bytes(text.as_bytes(), &schema));
        for word in *words {
            assert!(message.contains(word), "{text}: {message}");
        }
    }
    // A schema for tables does not fit sparse text.
    let (_, code) = refused(read::libsvm_bytes(b"+1 1:1\n", &self::schema()));
    assert_eq!(code, "schema-refused");
}

#[test]
fn a_missing_file_and_a_folder_are_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("no-such-file.csv"), folder.path().to_path_buf()] {
        let error = read::read(&path, &schema(), &Default::default()).unwrap_err();
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
        assert!(!error.is_environment());
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// Every proper prefix of a compressed file is refused, and damage never panics.
#[test]
fn compressed_files_are_read_whole_or_refused() {
    let text = format!("{HEADER}{}", GOOD.repeat(40));
    for (packed, format) in [(gzip(text.as_bytes()), "gzip"), (zstd(text.as_bytes()), "zstd")] {
        assert_eq!(read::csv_bytes(&packed, &schema()).unwrap().rows(), 80);
        let twice = [packed.as_slice(), &packed[..]].concat();
        // Two members are one stream: the second header is then a bad row, not trailing rubbish.
        assert_eq!(refused(read::csv_bytes(&twice, &schema())).1, "cell-refused");
        for length in 5..packed.len() {
            let (message, code) = refused(read::csv_bytes(&packed[..length], &schema()));
            assert_eq!(code, "file-damaged", "{format}, {length} bytes: {message}");
            assert!(message.contains(format), "{message}");
        }
        for at in 0..packed.len() {
            let mut damaged = packed.clone();
            damaged[at] ^= 0x55;
            let _ = read::csv_bytes(&damaged, &schema());
        }
    }
    // Parallel compressors write frames without data before and between the others.
    let skip = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    let parts = [&skip[..], &zstd(HEADER.as_bytes()), &skip, &zstd(GOOD.as_bytes())].concat();
    assert_eq!(read::csv_bytes(&parts, &schema()).unwrap().rows(), 2);
    assert_eq!(refused(read::csv_bytes(&skip[..9], &schema())).1, "file-damaged");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv.gz");
    std::fs::write(&path, &text).unwrap();
    let error = read::read(&path, &schema(), &Default::default()).unwrap_err();
    assert_eq!(error.code(), "file-damaged", "plain text named .gz: {error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]
    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read::csv_bytes(&bytes, &schema());
        let _ = read::csv_bytes(&[HEADER.as_bytes(), &bytes[..]].concat(), &schema());
        let _ = read::libsvm_bytes(&bytes, &Schema::from_toml(SPARSE_SCHEMA).unwrap());
        let _ = read::parquet_bytes(&bytes, &schema());
        for magic in [&[0x1f, 0x8b, 8][..], &[0x28, 0xb5, 0x2f, 0xfd]] {
            let _ = read::csv_bytes(&[magic, &bytes[..]].concat(), &schema());
        }
    }

    #[test]
    fn no_text_makes_a_schema_panic(
        at in 0..SMALL_SCHEMA.len(), cut in 0..30_usize, text in "[a-z0-9=\\[\\]\". \n{}-]{0,12}",
    ) {
        let end = (at + cut).min(SMALL_SCHEMA.len());
        let _ = Schema::from_toml(&format!("{}{text}{}", &SMALL_SCHEMA[..at], &SMALL_SCHEMA[end..]));
    }

    /// Nearly valid tables, of nearly valid cells.
    #[test]
    fn nearly_right_tables_never_panic(
        cells in prop::collection::vec(
            prop::sample::select(vec![
                "1", "-0", "1e400", "nan", "?", "", "private", "\"", "\"a\nb\"", "yes", "low", "\u{feff}",
            ]),
            0..40,
        ),
        width in 1..7_usize,
    ) {
        let rows = cells.chunks(width).map(|row| row.join(",")).collect::<Vec<_>>().join("\n");
        let _ = read::csv_bytes(format!("{HEADER}{rows}").as_bytes(), &schema());
    }
}

#[cfg(feature = "parquet")]
mod parquet {
    use super::*;

    const PEOPLE: &[u8] = include_bytes!("../vectors/people.parquet");

    /// `vectors/people.parquet`, by `people.py` (pyarrow).
    #[test]
    fn a_foreign_file_gives_the_same_rows_as_its_text() {
        let text = format!(
            "{HEADER}60,private,york,yes,low\n?,?,bath,no,high\n30,?,york,no,high\n240,mars,hull,yes,low\n"
        );
        let schema = Schema::from_toml(&format!(
            "{SMALL_SCHEMA}[[columns]]\nname = \"notes\"\ntype = \"ignore\"\n"
        ))
        .unwrap();
        let from_text = read::csv_bytes(text.as_bytes(), &schema).unwrap();
        let from_parquet = read::parquet_bytes(PEOPLE, &schema).unwrap();
        assert_eq!(from_parquet.rows(), 4);
        assert_eq!(from_text.target, from_parquet.target);
        for row in 0..4 {
            let (a, b) = (from_text.features.dense_row(row), from_parquet.features.dense_row(row));
            assert_eq!(a, b, "row {row}");
        }
        assert_eq!(refused(read::parquet_bytes(PEOPLE, &self::schema())).1, "column-unknown");
    }

    #[test]
    fn a_cut_or_damaged_file_is_refused() {
        let schema = Schema::from_toml(&format!(
            "{SMALL_SCHEMA}[[columns]]\nname = \"notes\"\ntype = \"ignore\"\n"
        ))
        .unwrap();
        for length in (0..PEOPLE.len()).step_by(7) {
            let (message, code) = refused(read::parquet_bytes(&PEOPLE[..length], &schema));
            assert_eq!(code, "file-damaged", "{length} bytes: {message}");
        }
        for at in (0..PEOPLE.len()).step_by(3) {
            let mut damaged = PEOPLE.to_vec();
            damaged[at] ^= 0xff;
            let _ = read::parquet_bytes(&damaged, &schema);
        }
    }

    #[test]
    fn a_nested_feature_is_refused_by_name() {
        let text = SMALL_SCHEMA.replace("name = \"town\"", "name = \"notes\"");
        let text = format!("{text}[[columns]]\nname = \"town\"\ntype = \"ignore\"\n");
        let (message, code) =
            refused(read::parquet_bytes(PEOPLE, &Schema::from_toml(&text).unwrap()));
        assert!(code == "cell-refused" && message.contains("notes"), "{message}");
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_so() {
    assert_eq!(refused(read::parquet_bytes(b"PAR1", &schema())).1, "format-not-built");
}
