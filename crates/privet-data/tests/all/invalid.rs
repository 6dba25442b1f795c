//! Invalid records: too long for any reader, or repaired as the schema says, each by itself.

use privet_data::{
    DataError, Dataset, Encoding, Schema, Target,
    encode::{Cell, NumberRows, UnknownIn},
    read::{self, LONGEST_RECORD, Purpose, ReadOptions, memory},
    schema::LARGEST_SCHEMA,
    testing::SMALL_SCHEMA,
};
use proptest::prelude::*;
use std::io::Write;

const HEADER: &str = "age,work,town,smokes,income\n";
const LINES: [&str; 3] =
    ["30,private,york,no,low", "60,\"public\",bath,yes,high", "1e9,?,york,no,high"];

const SPARSE: &str = "invalid = \"drop\"\nbias = true\n[file]\nformat = \"libsvm\"\n[clip]\nnorm = \"l2\"\n\
    radius = 1.0\n[target]\nclasses = [\"-1\", \"+1\"]\n[libsvm]\nfeatures = 9\n";
const SPARSE_LINES: [&str; 3] = ["+1 1:0.5 9:2", "-1", "1.0 3:-0.25 # x"];

fn schema(text: &str) -> Schema {
    Schema::from_toml(text).unwrap()
}

fn dropping() -> Schema {
    schema(&format!("invalid = \"drop\"\n{SMALL_SCHEMA}"))
}

/// The substitutes are age 60, work public, town york and smokes yes.
fn standing_in() -> Schema {
    let text = SMALL_SCHEMA
        .replace("missing = 38.5", "invalid = 60.0")
        .replace("missing = \"category\"", "missing = \"category\"\ninvalid = { as = \"public\" }")
        .replace("hash_buckets = 3", "hash_buckets = 3\ninvalid = { as = \"york\" }")
        .replace("\"yes\"]", "\"yes\"]\ninvalid = { as = \"yes\" }");
    schema(&format!("invalid = \"stand-in\"\n{text}"))
}

fn headerless() -> Schema {
    let text = SMALL_SCHEMA.replace("[file]", "[file]\nheader = false");
    let text = format!("{text}[[columns]]\nname = \"income\"\ntype = \"target\"\n");
    schema(&format!("invalid = \"drop\"\n{text}"))
}

fn gzip(pieces: &[&[u8]]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    pieces.iter().for_each(|piece| encoder.write_all(piece).unwrap());
    encoder.finish().unwrap()
}

fn row(data: &Dataset, row: usize) -> (Vec<f32>, f64) {
    let label = match &data.target {
        Target::Class { codes, .. } => f64::from(codes[row]),
        Target::Number(values) => values[row],
    };
    (data.features.dense_row(row), label)
}

fn is_null(data: &Dataset, place: usize) -> bool {
    let (entries, label) = row(data, place);
    let null = entries.iter().all(|entry| *entry == 0.0) && label == 0.0;
    assert_eq!(data.report.null_rows.contains(&place), null);
    null
}

/// As header, as record and as sparse record, plain and compressed: read no further than needed.
#[test]
fn a_record_longer_than_the_longest_is_refused() {
    let long = vec![b'a'; LONGEST_RECORD + 1];
    let small = schema(SMALL_SCHEMA);
    let sparse = schema(&SPARSE.replacen("invalid = \"drop\"\n", "", 1));
    let refused = |error: DataError, expected: u64| {
        assert!(error.to_string().contains("longer than 16777216 bytes"), "{error}");
        assert!(matches!(error, DataError::TooLong { row, .. } if row == expected), "{error}");
        assert_eq!((error.code(), error.is_environment()), ("record-too-long", false));
    };
    let quoted = [HEADER.as_bytes(), b"\"", &long];
    let second = [HEADER.as_bytes(), LINES[0].as_bytes(), b"\n", &long, b"\n"];
    for (pieces, place) in [(&[&long[..]][..], 1), (&quoted, 2), (&second, 3)] {
        refused(read::csv_bytes(&pieces.concat(), &small).unwrap_err(), place);
        refused(read::csv_bytes(&gzip(pieces), &small).unwrap_err(), place);
    }
    refused(read::libsvm_bytes(&gzip(&[b"+1 1:1\n", &long]), &sparse).unwrap_err(), 2);
    // Of the largest accepted length.
    let blanks = vec![b' '; LONGEST_RECORD - LINES[0].len()];
    let pieces = [HEADER.as_bytes(), &blanks, LINES[0].as_bytes(), b"\n"];
    assert_eq!(read::csv_bytes(&pieces.concat(), &small).unwrap().rows(), 1);
    assert_eq!(read::csv_bytes(&pieces.concat(), &dropping()).unwrap().report.null_rows, [0; 0]);
}

/// An endless line ends with an error, not with the memory.
#[cfg(target_os = "linux")]
#[test]
fn an_endless_line_is_refused() {
    let options = ReadOptions::default();
    for schema in [schema(SMALL_SCHEMA), dropping()] {
        let error = read::read("/dev/zero", &schema, &options).map(|_| ()).unwrap_err();
        assert_eq!(error.code(), "record-too-long");
    }
    assert_eq!(Schema::load("/dev/zero").unwrap_err().code(), "file-too-large");
}

#[test]
fn a_schema_file_is_text_of_a_bounded_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.toml");
    std::fs::write(&path, b"bias = true # \xff\n").unwrap();
    let error = Schema::load(&path).unwrap_err();
    assert_eq!((error.code(), error.is_environment()), ("file-not-text", false));
    assert!(error.to_string().contains("s.toml") && error.to_string().contains("UTF-8"), "{error}");
    std::fs::write(&path, format!("{SMALL_SCHEMA}#{}", "x".repeat(LARGEST_SCHEMA))).unwrap();
    assert_eq!(Schema::load(&path).unwrap_err().code(), "file-too-large");
}

#[test]
fn a_policy_survives_toml_and_is_written_only_where_there_is_one() {
    for schema in [dropping(), standing_in(), headerless()] {
        assert_eq!(Schema::from_toml(&schema.to_toml()).unwrap(), schema);
        let json = serde_json::to_string(&schema).unwrap();
        assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
    }
    let plain = schema(SMALL_SCHEMA);
    assert_eq!(schema(&format!("invalid = \"refuse\"\n{SMALL_SCHEMA}")), plain);
    assert!(!plain.to_toml().contains("invalid"));
    let text = standing_in().to_toml();
    for (stand_in, outside) in [("invalid = 60.0", "invalid = 121.0"), ("\"york\"", "7")] {
        let broken = text.replacen(stand_in, outside, 1);
        assert!(broken != text && Schema::from_toml(&broken).is_err(), "{outside}");
    }
}

/// Every kind of bad line between two good ones: refused without a policy; with one, a row of its own.
#[test]
fn a_bad_line_becomes_the_null_record_or_its_stand_ins() {
    let bad: &[(&[u8], bool)] = &[
        // The line, and whether substitutes repair it.
        (b"x,private,york,no,low", true),
        (b"nan,private,york,no,low", true),
        (b"\xff,private,york,no,low", true),
        (b"1,private,york,maybe,low", true),
        (b"1,private,?,no,low", true),
        (b"1,private,york,no,mid", false),
        (b"1,private,york,no,?", false),
        (b"1,private,york,no", false),
        (b"1,private,york,no,low,1", false),
        (b"1,private,york,no,\"low", false),
        (b"", false),
        (b"\xef\xbb\xbf", false),
        (b"\x00", false),
    ];
    for (line, mended) in bad {
        let text =
            [HEADER.as_bytes(), LINES[0].as_bytes(), b"\n", line, b"\n", LINES[1].as_bytes()];
        let text = text.concat();
        if line.len() > 1 && !line.starts_with(b"\xef") {
            assert!(read::csv_bytes(&text, &schema(SMALL_SCHEMA)).is_err(), "{line:?}");
        }
        for (schema, mended) in [(dropping(), false), (standing_in(), *mended)] {
            let data = read::csv_bytes(&text, &schema).unwrap();
            assert_eq!(data.rows(), 3, "{line:?}");
            assert_eq!(is_null(&data, 1), !mended, "{line:?}");
            assert_eq!(data.report.stand_ins > 0, mended, "{line:?}");
            assert!(!is_null(&data, 0) && !is_null(&data, 2));
        }
    }
    let mended =
        read::csv_bytes(format!("{HEADER}x,private,?,maybe,low\n").as_bytes(), &standing_in());
    let meant =
        read::csv_bytes(format!("{HEADER}60,private,york,yes,low\n").as_bytes(), &standing_in());
    assert_eq!(row(&mended.unwrap(), 0), row(&meant.unwrap(), 0));
}

/// A line that is too long is skipped; the next is read.
#[test]
fn a_long_line_becomes_the_null_record() {
    let long = vec![b'1'; LONGEST_RECORD + 1];
    let pieces = [HEADER.as_bytes(), &long, b"\n", LINES[0].as_bytes(), b"\n"];
    let data = read::csv_bytes(&gzip(&pieces), &dropping()).unwrap();
    assert!(data.rows() == 2 && is_null(&data, 0) && !is_null(&data, 1));
    let data = read::libsvm_bytes(&[&long[..], b"\n+1 1:1\n"].concat(), &schema(SPARSE)).unwrap();
    assert!(data.rows() == 2 && is_null(&data, 0) && !is_null(&data, 1));
}

#[test]
fn prediction_and_evaluation_keep_the_places_of_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    let options = ReadOptions { purpose: Purpose::Evaluate, ..ReadOptions::default() };
    std::fs::write(&path, format!("{HEADER}{}\nx\n\n{}\n", LINES[0], LINES[1])).unwrap();
    let features = read::read_features(&path, &dropping(), &options).unwrap();
    assert_eq!((features.matrix.rows(), features.report.null_rows), (4, vec![1, 2]));
    let data = read::read(&path, &dropping(), &options).unwrap();
    assert_eq!((data.rows(), &data.report.null_rows[..]), (4, &[1, 2][..]));
    assert_eq!(data.select(&[3, 2]).report.null_rows, [1]);
    assert!(data.report.to_string().contains("2 rows are invalid"));
    // Without a header each line decides for itself whether it has a target.
    std::fs::write(&path, "1,private,york,no\nx\n1,private,york,no,low\n").unwrap();
    let features = read::read_features(&path, &headerless(), &options).unwrap();
    assert_eq!(features.report.null_rows, [1]);
    assert_eq!(features.matrix.dense_row(0), features.matrix.dense_row(2));
}

/// Arbitrary bytes, and nearly valid records, without a line ending.
fn any_line() -> impl Strategy<Value = Vec<u8>> {
    let nearly = prop::sample::select(vec![
        "30", "nan", "?", "", "private", "\"", "\"\"", "york", "no", "low", "+1", "1:1", "9:x",
        "#", "\r", ",", " ", "\u{feff}", "\u{0}",
    ]);
    let bytes =
        prop::collection::vec(any::<u8>().prop_filter("ends a line", |b| *b != b'\n'), 0..40);
    let magic = prop::sample::select(vec![
        vec![0x1f, 0x8b, 8, 0],
        vec![0x28, 0xb5, 0x2f, 0xfd],
        vec![0x50, 0x2a, 0x4d, 0x18],
    ]);
    prop_oneof![
        4 => bytes,
        4 => (prop::collection::vec(nearly, 0..8), prop::sample::select(vec![",", " "]))
            .prop_map(|(parts, by)| parts.join(by).into_bytes()),
        1 => magic,
    ]
}

/// A schema, the text before the first record, and good lines.
fn any_table() -> impl Strategy<Value = (Schema, &'static str, Vec<&'static str>)> {
    let with = |schema: Schema, header: &'static str, lines: [&'static str; 3]| {
        prop::collection::vec(prop::sample::select(lines.to_vec()), 1..6)
            .prop_map(move |lines| (schema.clone(), header, lines))
    };
    let numbers = SMALL_SCHEMA.replace("classes = [\"low\", \"high\"]", "bounds = [0, 100]");
    let numbers = schema(&format!("invalid = \"drop\"\n{numbers}"));
    let lines = ["1,private,york,no,5", "2,public,york,no,60", "3,?,hull,yes,100"];
    prop_oneof![
        with(dropping(), HEADER, LINES),
        with(standing_in(), HEADER, LINES),
        with(headerless(), "", LINES),
        with(numbers, HEADER, lines),
        with(schema(SPARSE), "", SPARSE_LINES),
    ]
}

fn read_table(schema: &Schema, header: &str, lines: &[Vec<u8>]) -> Dataset {
    let mut text = header.as_bytes().to_vec();
    lines.iter().for_each(|line| text.extend([&line[..], b"\n"].concat()));
    let reader = if schema.libsvm().is_some() { read::libsvm_bytes } else { read::csv_bytes };
    reader(&text, schema).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]
    /// With a policy, reading is total, and one row depends on each line, whatever it becomes.
    #[test]
    fn one_line_changes_one_row(
        (schema, header, lines) in any_table(),
        at in any::<prop::sample::Index>(),
        line in any_line(),
    ) {
        let mut lines: Vec<Vec<u8>> = lines.iter().map(|line| line.as_bytes().to_vec()).collect();
        let before = read_table(&schema, header, &lines);
        let at = at.index(lines.len());
        lines[at] = line;
        let after = read_table(&schema, header, &lines);
        prop_assert_eq!((before.rows(), after.rows()), (lines.len(), lines.len()));
        for place in (0..lines.len()).filter(|place| *place != at) {
            prop_assert_eq!(row(&before, place), row(&after, place));
        }
        // And the row depends on the line alone.
        let alone = read_table(&schema, header, &lines[at..=at]);
        prop_assert_eq!(row(&alone, 0), row(&after, at));
        let squares: f64 = row(&after, at).0.iter().map(|x| f64::from(*x).powi(2)).sum();
        prop_assert!(squares <= Encoding::new(&schema).l2_radius().powi(2) * (1.0 + 1e-15));
    }
}

const UNITS: &str = "invalid = \"drop\"\n[file]\nmissing_values = [\"\"]\n[clip]\nnorm = \"l2\"\n\
    radius = 1.0\n[target]\ncolumn = \"y\"\nclasses = [\"a\", \"b\"]\n[unit]\ncolumn = \"user\"\n\
    max_records = 2\n[[columns]]\nname = \"x\"\ntype = \"number\"\nbounds = [0, 1024]\n";

/// Without a header, a byte order mark is a character of its record, at any index and under any policy;
/// with one, the header loses one mark and no record loses any.
#[test]
fn a_byte_order_mark_is_taken_from_a_header_alone() {
    let marked = format!("\u{feff}{}", LINES[0]);
    for schema in [headerless(), schema(&headerless().to_toml().replace("\"drop\"", "\"refuse\""))]
    {
        // A mark before a number makes it invalid.
        let read_all =
            |lines: &[&str]| read::csv_bytes((lines.join("\n") + "\n").as_bytes(), &schema);
        for (place, lines) in [[&*marked, LINES[1]], [LINES[1], &*marked]].iter().enumerate() {
            match read_all(lines) {
                Ok(data) => {
                    assert!(schema.invalid().is_total() && is_null(&data, place));
                    assert!(!is_null(&data, 1 - place));
                }
                Err(error) => {
                    assert!(!schema.invalid().is_total());
                    assert_eq!(error.code(), "cell-refused");
                }
            }
        }
    }
    for policy in [dropping(), schema(SMALL_SCHEMA)] {
        let text = format!("\u{feff}{HEADER}{}\n", LINES[0]);
        assert_eq!(read::csv_bytes(text.as_bytes(), &policy).unwrap().report.null_rows, [0; 0]);
        let error = read::csv_bytes(format!("\u{feff}{text}").as_bytes(), &policy).unwrap_err();
        assert_eq!(error.code(), "column-missing");
    }
    let text = format!("{HEADER}{}\n{marked}\n", LINES[1]);
    assert_eq!(read::csv_bytes(text.as_bytes(), &dropping()).unwrap().report.null_rows, [1]);
    // In sparse text, a label with a mark is none of the classes, first or not.
    let sparse = schema(SPARSE);
    for (place, text) in ["\u{feff}+1 1:1\n-1 1:1\n", "-1 1:1\n\u{feff}+1 1:1\n"].iter().enumerate()
    {
        let data = read::libsvm_bytes(text.as_bytes(), &sparse).unwrap();
        assert_eq!(data.report.null_rows, [place]);
    }
}

/// A record without an identifier leaves no trace, wherever and however often it occurs; a record with
/// one is a row of its user.
#[test]
fn with_a_unit_a_row_of_nobody_is_left_out() {
    let schema = schema(UNITS);
    let header = "user,x,y\n";
    let lines: Vec<Vec<u8>> = (1..=9).map(|n| format!("u{},{n},a", n % 3).into_bytes()).collect();
    let before = read_table(&schema, header, &lines);
    assert_eq!((before.rows(), before.report.surplus_rows), (6, 3));
    for nobodys in [&b",5,b"[..], b"u1", b"u1,5,b,7", b"u1,5,\"b", b"", b"\xff"] {
        let mut more = vec![nobodys.to_vec(); 4];
        more.extend(lines.iter().flat_map(|line| [line.clone(), nobodys.to_vec()]));
        let after = read_table(&schema, header, &more);
        assert_eq!(
            (after.rows(), after.report.nobodys_rows, after.report.surplus_rows),
            (6, 13, 3)
        );
        assert!((0..6).all(|place| row(&before, place) == row(&after, place)), "{nobodys:?}");
        assert!(after.report.null_rows.is_empty());
    }
    let mut bad_cell = lines.clone();
    bad_cell[0] = b"u1,bad,a".to_vec();
    let after = read_table(&schema, header, &bad_cell);
    assert_eq!((after.rows(), after.report.surplus_rows), (6, 3));
    assert_eq!(after.units, before.units);
    bad_cell.truncate(1);
    let alone = read_table(&schema, header, &bad_cell);
    assert!(alone.rows() == 1 && is_null(&alone, 0));
}

struct Rows(Vec<[f64; 2]>);

impl NumberRows for Rows {
    fn rows(&self) -> usize {
        self.0.len()
    }
    fn columns(&self) -> usize {
        2
    }
    fn write(&self, row: usize, entries: &mut [f64]) {
        entries.copy_from_slice(&self.0[row]);
    }
}

struct Column(Vec<f64>);

impl memory::Cells for Column {
    fn cell(&self, row: usize) -> Cell<'_> {
        Cell::Number(self.0[row])
    }
}

/// Tables in memory, in each of their forms: NaN becomes the substitute of the first column, and the
/// null record in the second; so does a bad label.
#[test]
fn tables_in_memory_obey_the_policy() {
    for storage in ["dense", "csr"] {
        let schema = schema(&format!(
            "invalid = \"stand-in\"\nbias = true\nstorage = \"{storage}\"\n[clip]\nnorm = \"l2\"\n\
             radius = 9.0\n[target]\ncolumn = \"y\"\nclasses = [\"a\", \"b\"]\n[[columns]]\nname = \"u\"\n\
             type = \"number\"\nbounds = [0, 4]\ninvalid = 1.0\n[[columns]]\nname = \"v\"\n\
             type = \"number\"\nbounds = [0, 4]\n"
        ));
        let nan = f64::NAN;
        let table = Rows(vec![[nan, 2.0], [1.0, nan], [2.0, 2.0], [1.0, 2.0]]);
        let (u, v) = table.0.iter().map(|[u, v]| (*u, *v)).unzip();
        let (u, v) = (Column(u), Column(v));
        let named: [(&str, &dyn memory::Cells); 2] = [("u", &u), ("v", &v)];
        let pairs = table.0.iter().map(|row| ([0, 1].into_iter(), row.iter().copied()));
        let options = ReadOptions::default();
        for features in [
            memory::numbers(&table, &schema, false, UnknownIn::Training).unwrap(),
            memory::columns(&named, 4, &schema, &options).unwrap(),
            memory::sparse(pairs, &schema, UnknownIn::Training).unwrap(),
        ] {
            assert_eq!(features.report.null_rows, [1]);
            let labels = memory::Labels::Codes(&[1, 1, 2, 1]);
            let data = memory::labelled(features, labels, None, &schema, &options).unwrap();
            assert_eq!(data.features.dense_row(0), [-0.5, 0.0, 1.0]);
            assert_eq!(row(&data, 0), row(&data, 3));
            assert!(is_null(&data, 1) && is_null(&data, 2));
        }
    }
}
