//! The small table as a Parquet file.

use crate::world::rows;

/// The small table as Parquet: an integer, a double and two texts.
pub fn parquet_table(count: usize) -> Vec<u8> {
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    const MESSAGE: &str = "message table { required int64 age; required double dose; \
                           required binary ward (UTF8); required binary ill (UTF8); }";
    let mut bytes = Vec::new();
    let message = std::sync::Arc::new(parse_message_type(MESSAGE).unwrap());
    let mut writer =
        SerializedFileWriter::new(&mut bytes, message, std::sync::Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let text = |words: Vec<String>| {
        words.iter().map(|word| ByteArray::from(word.as_str())).collect::<Vec<_>>()
    };
    macro_rules! column {
        ($kind:ty, $values:expr) => {{
            let values: Vec<_> = $values;
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<$kind>().write_batch(&values, None, None).unwrap();
            column.close().unwrap();
        }};
    }
    column!(Int64Type, rows(count).map(|row| row.0 as i64).collect());
    column!(DoubleType, rows(count).map(|row| row.1).collect());
    column!(ByteArrayType, text(rows(count).map(|row| row.2.to_string()).collect()));
    let ill = |row: (usize, f64, char, bool)| if row.3 { "yes" } else { "no" }.to_string();
    column!(ByteArrayType, text(rows(count).map(ill).collect()));
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}
