//! Rows of Parquet are encoded in parallel, and equal those of a text file, in order.

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use privet_data::read::{count_records, csv_bytes, parquet_bytes};
use privet_data::{DataError, Schema};
use std::sync::Arc;

const ROWS: usize = 5000;

/// x, k and y of a row.
type Cells = (f64, &'static str, &'static str);

fn schema(invalid: &str, storage: &str) -> Schema {
    Schema::from_toml(&schema_text(invalid, storage)).unwrap()
}

fn schema_text(invalid: &str, storage: &str) -> String {
    format!(
        "{invalid}\nstorage = \"{storage}\"\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
         classes = [\"a\", \"b\"]\n[[columns]]\nname = \"x\"\ntype = \"number\"\nbounds = [0, 1000]\n[[columns]]\n\
         name = \"k\"\ntype = \"category\"\ncategories = [\"p\", \"q\"]\nunknown = \"other\"\n"
    )
}

/// All rows; those in `bad` have a label that is no class.
fn cells(bad: &[usize]) -> Vec<Cells> {
    let row = |row: usize| {
        let label = if bad.contains(&row) { "neither" } else { ["a", "b"][row * 7 % 3 % 2] };
        ((row * 37 % 1000) as f64, ["p", "q", "r"][row % 3], label)
    };
    (0..ROWS).map(row).collect()
}

fn as_csv(cells: &[Cells]) -> Vec<u8> {
    let lines = cells.iter().map(|(x, k, y)| format!("{x},{k},{y}\n"));
    format!("x,k,y\n{}", lines.collect::<String>()).into_bytes()
}

fn as_parquet(cells: &[Cells]) -> Vec<u8> {
    let message =
        "message t { required double x; required binary k (UTF8); required binary y (UTF8); }";
    let message = Arc::new(parse_message_type(message).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, message, Arc::default()).unwrap();
    // Groups that end within batches.
    for some in cells.chunks(1700) {
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let numbers: Vec<f64> = some.iter().map(|row| row.0).collect();
        column.typed::<DoubleType>().write_batch(&numbers, None, None).unwrap();
        column.close().unwrap();
        for place in [1, 2] {
            let mut column = group.next_column().unwrap().unwrap();
            let text = |row: &Cells| ByteArray::from(if place == 1 { row.1 } else { row.2 });
            let texts: Vec<ByteArray> = some.iter().map(text).collect();
            column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

#[test]
fn rows_are_those_of_text_in_order() {
    for storage in ["dense", "csr"] {
        for bad in [&[][..], &[3, 1023, 1024, 4999]] {
            let schema = schema("invalid = \"drop\"", storage);
            let cells = cells(bad);
            let text = csv_bytes(&as_csv(&cells), &schema).unwrap();
            let actual = parquet_bytes(&as_parquet(&cells), &schema).unwrap();
            assert_eq!((actual.rows(), &actual.target), (ROWS, &text.target));
            let same = |row: usize| actual.features.dense_row(row) == text.features.dense_row(row);
            assert!((0..ROWS).all(same), "{storage}");
            assert!(actual.report == text.report, "null rows and unlisted cells are counted alike");
            assert_eq!(actual.report.null_rows, bad);
        }
    }
}

/// From the footer alone, whatever the cells are.
#[test]
fn rows_are_counted_without_a_cell() {
    let folder = tempfile::tempdir().unwrap();
    let facts = "[file]\nformat = \"parquet\"\n";
    let schema = Schema::from_toml(&(schema_text("", "dense") + facts)).unwrap();
    for (name, bad) in [("a.parquet", &[][..]), ("b.parquet", &[0, 77])] {
        std::fs::write(folder.path().join(name), as_parquet(&cells(bad))).unwrap();
        assert_eq!(count_records(folder.path().join(name), &schema, None).unwrap(), ROWS as u64);
    }
    assert_eq!(count_records(folder.path(), &schema, None).unwrap(), 2 * ROWS as u64);
    std::fs::write(folder.path().join("c.parquet"), "PAR1").unwrap();
    assert!(count_records(folder.path(), &schema, None).is_err());
}

#[test]
fn the_first_row_that_does_not_fit_is_the_one_that_is_told() {
    for bad in [vec![4100, 900, 600, 2000], vec![1023, 1024]] {
        let refused = parquet_bytes(&as_parquet(&cells(&bad)), &schema("", "dense"));
        let Err(DataError::Cell { row, .. }) = refused else { panic!("not refused") };
        assert_eq!(row, *bad.iter().min().unwrap() as u64 + 1);
    }
}
