//! Identifiers of units: users are distinguished by exact digits or text, alike in every reader.

use privet_data::encode::Cell;
use privet_data::read::memory::{self, Cells, Labels};
use privet_data::read::{ReadOptions, csv_bytes};
use privet_data::{DataError, Dataset, Problem, Schema};
use proptest::prelude::*;

fn schema(max_records: usize) -> Schema {
    Schema::from_toml(&format!(
        "[file]\nmissing_values = [\"?\", \"-999.0\"]\n[clip]\nnorm = \"linf\"\nradius = 1.0\n\
         [target]\ncolumn = \"y\"\nclasses = [\"a\", \"b\"]\n\
         [unit]\ncolumn = \"who\"\nmax_records = {max_records}\n\
         [[columns]]\nname = \"x\"\ntype = \"number\"\nbounds = [0, 1024]\n"
    ))
    .unwrap()
}

/// An identifier as a table in memory may hold it.
#[derive(Clone, Debug)]
pub enum Held {
    Text(String),
    Whole(i64),
    Double(f64),
}

pub struct People(pub Vec<Held>);

impl Cells for People {
    fn cell(&self, row: usize) -> Cell<'_> {
        match &self.0[row] {
            Held::Text(text) => Cell::Text(text.as_bytes()),
            Held::Whole(value) => Cell::Integer(*value),
            Held::Double(value) => Cell::Number(*value),
        }
    }
}

pub struct Places(pub usize);

impl Cells for Places {
    fn cell(&self, row: usize) -> Cell<'_> {
        Cell::Integer((row % self.0) as i64)
    }
}

fn in_memory(people: Vec<Held>, max_records: usize) -> Result<Dataset, DataError> {
    let (schema, options, rows) = (schema(max_records), ReadOptions::default(), people.len());
    let places = Places(1024);
    let features = memory::columns(&[("x", &places as &dyn Cells)], rows, &schema, &options)?;
    let labels = vec![0; rows];
    memory::labelled(features, Labels::Codes(&labels), Some(&People(people)), &schema, &options)
}

fn in_text(people: &[String], max_records: usize) -> Result<Dataset, DataError> {
    let lines = people.iter().enumerate().map(|(row, who)| format!("\"{who}\",{row},a\n"));
    let text = format!("who,x,y\n{}", lines.collect::<String>());
    csv_bytes(text.as_bytes(), &schema(max_records))
}

pub fn units(data: &Dataset) -> &[u64] {
    data.units.as_deref().unwrap()
}

/// The rows that were kept, recognised by their first column.
#[cfg(feature = "parquet")]
fn kept(data: &Dataset) -> Vec<u32> {
    let row = |row| (data.features.dense_row(row)[0] * 1024.0).round() as u32;
    (0..data.rows()).map(row).collect()
}

/// The problem of a refusal, whose message must not contain `secret`.
fn problem(refused: Result<Dataset, DataError>, secret: &str) -> Problem {
    let refused = refused.map(|data| data.rows()).unwrap_err();
    let message = refused.to_string();
    assert!(message.contains("column \"who\"") && message.contains("accepted: "), "{message}");
    assert!(secret.is_empty() || !message.contains(secret), "{message}");
    match refused {
        DataError::Cell { problem, .. } => problem,
        other => panic!("{other}"),
    }
}

const EXACT: f64 = 9_007_199_254_740_991.0;

#[test]
fn doubles_are_people_only_where_they_are_exact_whole_numbers() {
    let one = |value| in_memory(vec![Held::Double(value)], 1);
    for exact in [0.0, -7.0, EXACT, -EXACT] {
        assert_eq!(one(exact).unwrap().rows(), 1);
    }
    for inexact in [EXACT + 1.0, -EXACT - 1.0, 1e17, 1e300, 0.5, -1.5, f64::MIN_POSITIVE] {
        assert_eq!(problem(one(inexact), &inexact.to_string()), Problem::Inexact);
    }
    for none in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(problem(one(none), ""), Problem::NotFinite);
    }
}

#[test]
fn nobody_is_called_nothing() {
    for nobody in ["NaN", "nan", "NAN", " nan ", "", "  ", "?"] {
        let expected = if nobody.to_lowercase().contains("nan") {
            Problem::NotFinite
        } else {
            Problem::Missing
        };
        assert_eq!(problem(in_text(&[nobody.into()], 1), "nan"), expected, "{nobody:?}");
        assert_eq!(problem(in_memory(vec![Held::Text(nobody.into())], 1), "nan"), expected);
    }
    // A missing value counts as missing as a number too, and so do that number's digits as a text, for
    // any column type.
    let texts = ["-999.0", "-999"].map(|text| Held::Text(text.into()));
    for missing in texts.into_iter().chain([Held::Whole(-999), Held::Double(-999.0)]) {
        assert_eq!(problem(in_memory(vec![missing], 1), "999"), Problem::Missing);
    }
    for somebody in ["Nan", "nancy", "-999.00", "0", "None"] {
        assert_eq!(in_text(&[somebody.into()], 1).unwrap().rows(), 1);
    }
}

#[test]
fn one_whole_number_is_one_person_however_it_is_held() {
    let seven =
        [Held::Text("7".into()), Held::Whole(7), Held::Double(7.0), Held::Text(" 7".into())];
    let nought = [Held::Whole(0), Held::Double(-0.0), Held::Double(0.0), Held::Text("0".into())];
    for same in [seven, nought] {
        assert_eq!(units(&in_memory(same.to_vec(), 4).unwrap()), [0, 0, 0, 0]);
    }
    let others = ["7", "07", "7.0", "+7", "7e0", "٧"].map(String::from);
    assert_eq!(units(&in_text(&others, 1).unwrap()), [0, 1, 2, 3, 4, 5]);
}

/// Numbers near which digits are lost, and any others.
fn whole() -> impl Strategy<Value = i64> {
    prop_oneof![
        any::<i64>(),
        (-3..3_i64).prop_map(|near| (1 << 53) + near),
        (-3..3_i64).prop_map(|near| (1 << 24) + near),
        (0..3_i64).prop_map(|near| i64::MAX - near),
        (0..3_i64).prop_map(|near| i64::MIN + near),
    ]
    .prop_filter("missing", |value| *value != -999)
}

/// Representations of an integer that keep it exact.
fn held(value: i64, way: u8) -> Held {
    match way {
        0 if (value as f64).abs() <= EXACT => Held::Double(value as f64),
        1 => Held::Text(value.to_string()),
        _ => Held::Whole(value),
    }
}

/// For each entry, the index of the first equal one.
fn first_places<T: PartialEq>(values: &[T]) -> Vec<usize> {
    values.iter().map(|value| values.iter().position(|other| other == value).unwrap()).collect()
}

proptest! {
    /// Rows belong to one user exactly where the numbers are equal, in any representation.
    #[test]
    fn people_differ_exactly_where_their_numbers_do(
        people in prop::collection::vec((whole(), 0..3_u8), 1..30),
        copies in prop::collection::vec((0..30_usize, 0..3_u8), 0..30),
    ) {
        let mut people = people;
        for (place, way) in copies {
            people.push((people[place % people.len()].0, way));
        }
        let numbers: Vec<i64> = people.iter().map(|(value, _)| *value).collect();
        let expected = first_places(&numbers);
        let cells = people.iter().map(|(value, way)| held(*value, *way)).collect();
        let by_memory = in_memory(cells, 100).unwrap();
        prop_assert_eq!(first_places(units(&by_memory)), expected.clone());
        let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
        prop_assert_eq!(first_places(units(&in_text(&texts, 100).unwrap())), expected);
    }

    /// A double is an identifier exactly if it is an integer and no neighbouring integer is the same
    /// double.
    #[test]
    fn a_double_is_somebody_only_if_it_cannot_be_somebody_else(value in any::<f64>(), near in whole()) {
        for value in [value, near as f64, (near % (1 << 54)) as f64] {
            let expected = value.fract() == 0.0 && value.abs() <= EXACT;
            let (before, after) = (value as i64 as i128 - 1, value as i64 as i128 + 1);
            prop_assert!(!expected || (before as f64 != value && after as f64 != value));
            prop_assert_eq!(in_memory(vec![Held::Double(value)], 1).is_ok(), expected && value != -999.0);
        }
    }
}

#[cfg(feature = "parquet")]
pub mod in_parquet {
    use super::*;
    use ::parquet::data_type::{
        BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType,
        Int32Type, Int64Type, Int96, Int96Type,
    };
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::parser::parse_message_type;
    use privet_data::read::parquet_bytes;
    use std::sync::Arc;

    /// A file whose column `who` is of this type.
    pub fn file<T: DataType>(column: &str, people: &[T::T]) -> Vec<u8> {
        let message =
            format!("message table {{ {column}; required int64 x; required binary y (UTF8); }}");
        let message = Arc::new(parse_message_type(&message).unwrap());
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, message, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<T>().write_batch(people, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let places: Vec<i64> = (0..people.len() as i64).collect();
        column.typed::<Int64Type>().write_batch(&places, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let labels = vec![ByteArray::from("a"); people.len()];
        column.typed::<ByteArrayType>().write_batch(&labels, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        bytes
    }

    fn read<T: DataType>(
        column: &str,
        people: &[T::T],
        max_records: usize,
    ) -> Result<Dataset, DataError> {
        parquet_bytes(&file::<T>(column, people), &schema(max_records))
    }

    /// A text that is not UTF-8 is a cell like any other: an identifier or a bad label, but never the
    /// end of reading.
    #[test]
    fn bytes_that_are_no_text_end_nothing() {
        let people: Vec<ByteArray> = [&b"\xff"[..], b"\xfe", b"u", b"\xff"]
            .map(|name| ByteArray::from(name.to_vec()))
            .into();
        for kind in ["", "(UTF8)", "(ENUM)"] {
            let data = read::<ByteArrayType>(&format!("required binary who {kind}"), &people, 9);
            assert_eq!(units(&data.unwrap()), [0, 1, 2, 0]);
        }
        let text = "invalid = \"drop\"\n[file]\nformat = \"parquet\"\n[clip]\nnorm = \"l2\"\nradius = 1.0\n\
            [target]\ncolumn = \"who\"\nclasses = [\"u\", \"v\"]\n[[columns]]\nname = \"x\"\n\
            type = \"number\"\nbounds = [0, 9]\n[[columns]]\nname = \"y\"\ntype = \"ignore\"\n";
        let bytes = file::<ByteArrayType>("required binary who (UTF8)", &people);
        let data = parquet_bytes(&bytes, &Schema::from_toml(text).unwrap()).unwrap();
        assert_eq!(data.report.null_rows, [0, 1, 3]);
    }

    /// A footer of twenty thousand groups, each in the one before, once ended the program.
    #[test]
    fn groups_nested_without_end_are_damage() {
        // In Thrift's compact protocol: version, columns (groups of one column each, the last a
        // number), rows, groups.
        let group = [0x35, 0, 0x18, 1, b'x', 0x15, 2, 0];
        let columns = [&[0x48, 1, b'r', 0x15, 2, 0][..], &group.repeat(20_000)].concat();
        let number = [0x15, 2, 0x25, 0, 0x18, 1, b'x', 0];
        let count = [0xfc, 0xa2, 0x9c, 1];
        let footer =
            [&[0x15, 2, 0x19][..], &count, &columns, &number, &[0x16, 0, 0x19, 0x0c, 0]].concat();
        let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
        let bytes = [&b"PAR1"[..], &footer, &length, b"PAR1"].concat();
        assert_eq!(parquet_bytes(&bytes, &schema(1)).unwrap_err().code(), "file-damaged");
    }

    /// A thousand people once became one.
    #[test]
    fn long_unsigned_numbers_are_as_many_people_as_they_are() {
        let people: Vec<i64> = (0..1000).map(|n| i64::MIN + n).collect();
        let data = read::<Int64Type>("required int64 who (UINT_64)", &people, 1).unwrap();
        assert_eq!(data.rows(), 1000);
        let texts: Vec<String> = (0..1000_u64).map(|n| ((1 << 63) + n).to_string()).collect();
        let expected = in_text(&texts, 1).unwrap();
        assert_eq!(units(&data), units(&expected));
    }

    #[test]
    fn inexact_doubles_and_nan_are_refused() {
        let double = |value| read::<DoubleType>("required double who", &[value], 1);
        assert_eq!(double(EXACT).unwrap().rows(), 1);
        assert_eq!(problem(double(EXACT + 1.0), "9007199254740992"), Problem::Inexact);
        assert_eq!(problem(double(0.5), "0.5"), Problem::Inexact);
        assert_eq!(problem(double(f64::NAN), ""), Problem::NotFinite);
        assert_eq!(problem(double(-999.0), "999"), Problem::Missing);
    }

    #[test]
    fn types_that_do_not_tell_people_apart_are_refused_whatever_they_hold() {
        fn refused<T: DataType>(column: &str, person: T::T) {
            match read::<T>(column, &[person], 1) {
                Err(error @ DataError::UnitType { .. }) => {
                    let message = error.to_string();
                    assert!(message.contains("column \"who\"") && message.contains("accepted: "));
                    assert_eq!(error.code(), "unit-type");
                }
                other => panic!("{column}: {:?}", other.map(|data| data.rows())),
            }
        }
        refused::<FloatType>("required float who", 1.0);
        refused::<BoolType>("required boolean who", true);
        for narrow in ["INT_8", "INT_16", "UINT_8", "UINT_16"] {
            refused::<Int32Type>(&format!("required int32 who ({narrow})"), 256);
        }
        refused::<Int32Type>("required int32 who (DATE)", 1);
        refused::<Int32Type>("required int32 who (TIME_MILLIS)", 1);
        refused::<Int64Type>("required int64 who (TIME_MICROS)", 1);
        refused::<Int64Type>("required int64 who (TIMESTAMP_MILLIS)", 1);
        refused::<Int64Type>("required int64 who (TIMESTAMP_MICROS)", 1);
        refused::<Int64Type>("required int64 who (TIMESTAMP(NANOS,true))", 1);
        refused::<Int96Type>("required int96 who", Int96::new());
        refused::<ByteArrayType>("required binary who (JSON)", "1".into());
        refused::<ByteArrayType>("required binary who (BSON)", "1".into());
        let bytes = || ByteArray::from(vec![0_u8, 60]).into();
        refused::<FixedLenByteArrayType>("required fixed_len_byte_array(2) who (FLOAT16)", bytes());
        refused::<FixedLenByteArrayType>("required fixed_len_byte_array(2) who", bytes());
        let uuid = ByteArray::from(vec![7_u8; 16]).into();
        refused::<FixedLenByteArrayType>("required fixed_len_byte_array(16) who (UUID)", uuid);
    }

    #[test]
    fn decimals_go_by_their_digits_where_they_are_whole() {
        let long = |value: i128| ByteArray::from(value.to_be_bytes().to_vec());
        let column = "required binary who (DECIMAL(38,0))";
        let people: Vec<i128> = vec![1 << 64, (1 << 64) + 1, -1, i128::MAX, i128::MIN, 1 << 64];
        let cells: Vec<ByteArray> = people.iter().map(|value| long(*value)).collect();
        let data = read::<ByteArrayType>(column, &cells, 9).unwrap();
        assert_eq!(units(&data), [0, 1, 2, 3, 4, 0]);
        let with_point = "required int64 who (DECIMAL(18,2))";
        let data = read::<Int64Type>(with_point, &[700, -700, 0, 700], 9).unwrap();
        assert_eq!(units(&data), [0, 1, 2, 0]);
        assert_eq!(problem(read::<Int64Type>(with_point, &[123_457], 9), "1234"), Problem::Inexact);
        let too_long = ByteArray::from([&[1_u8][..], &[0; 16]].concat());
        assert_eq!(problem(read::<ByteArrayType>(column, &[too_long], 9), ""), Problem::Inexact);
    }

    proptest! {
        /// The rows kept of a person are the same in every type and every reader: they follow from the
        /// person's name, which is the same.
        #[test]
        fn a_person_is_the_same_in_every_type_and_reader(
            numbers in prop::collection::vec(0..i32::MAX, 3),
            order in prop::collection::vec(0..3_usize, 60..120),
        ) {
            let people: Vec<i32> = order.iter().map(|place| numbers[*place]).collect();
            let longs: Vec<i64> = people.iter().map(|who| (*who).into()).collect();
            let doubles: Vec<f64> = people.iter().map(|who| (*who).into()).collect();
            let texts: Vec<String> = people.iter().map(i32::to_string).collect();
            let words: Vec<ByteArray> = texts.iter().map(|who| who.as_str().into()).collect();
            let decimals: Vec<_> =
                longs.iter().map(|who| ByteArray::from((100 * who).to_be_bytes().to_vec()).into()).collect();
            let expected = in_text(&texts, 3).unwrap();
            prop_assert!(expected.rows() <= 9);
            for data in [
                in_memory(longs.iter().map(|who| Held::Whole(*who)).collect(), 3),
                read::<Int32Type>("required int32 who", &people, 3),
                read::<Int32Type>("required int32 who (UINT_32)", &people, 3),
                read::<Int64Type>("required int64 who", &longs, 3),
                read::<Int64Type>("required int64 who (UINT_64)", &longs, 3),
                read::<Int64Type>("required int64 who (DECIMAL(18,0))", &longs, 3),
                read::<FixedLenByteArrayType>("required fixed_len_byte_array(8) who (DECIMAL(18,2))", &decimals, 3),
                read::<DoubleType>("required double who", &doubles, 3),
                read::<ByteArrayType>("required binary who (UTF8)", &words, 3),
                read::<ByteArrayType>("required binary who", &words, 3),
            ] {
                let data = data.unwrap();
                prop_assert_eq!(kept(&data), kept(&expected));
                prop_assert_eq!(units(&data), units(&expected));
            }
        }

        /// Any two unsigned numbers are two people.
        #[test]
        fn unsigned_numbers_differ_as_people(one in any::<u64>(), other in any::<u64>()) {
            for (a, b) in [(one, other), (one, one ^ 1), (one | 1 << 63, other | 1 << 63)] {
                let data = read::<Int64Type>("required int64 who (UINT_64)", &[a as i64, b as i64], 9);
                let data = data.unwrap();
                prop_assert_eq!(units(&data)[0] == units(&data)[1], a == b);
            }
        }
    }
}
