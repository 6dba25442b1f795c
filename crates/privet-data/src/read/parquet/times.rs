//! Dates and times, in the time unit of their column's type.

use parquet::{
    basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical},
    schema::types::Type,
};

/// The number of time units per day of a column of dates or times, by its type.
pub(super) fn units_a_day(column: &Type) -> Option<i64> {
    // The older form of times, which is decoded to milliseconds.
    if column.is_primitive() && column.get_physical_type() == Physical::INT96 {
        return Some(86_400_000);
    }
    let info = column.get_basic_info();
    let by_logical = match info.logical_type_ref() {
        Some(LogicalType::Date) => Some(1),
        Some(LogicalType::Timestamp(time)) => Some(match time.unit {
            TimeUnit::MILLIS => 86_400_000,
            TimeUnit::MICROS => 86_400_000_000,
            TimeUnit::NANOS => 86_400_000_000_000,
        }),
        _ => None,
    };
    by_logical.or(match info.converted_type() {
        ConvertedType::DATE => Some(1),
        ConvertedType::TIMESTAMP_MILLIS => Some(86_400_000),
        ConvertedType::TIMESTAMP_MICROS => Some(86_400_000_000),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use crate::{Schema, read::csv_bytes, read::parquet_bytes};
    use parquet::data_type::{ByteArrayType, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    const SCHEMA: &str = "[clip]\nnorm = \"linf\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nclasses = [\"a\", \"b\"]\n\
                          [[columns]]\nname = \"when\"\ntype = \"date\"\nrange = [\"1960-01-01\", \"2030-12-31\"]\n\
                          parts = [\"year\", \"month\", \"weekday\", \"hour\"]\n";

    fn file(kind: &str, ticks: &[i64]) -> Vec<u8> {
        let message =
            format!("message t {{ required int64 when{kind}; required binary y (UTF8); }}");
        let message = Arc::new(parse_message_type(&message).unwrap());
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, message, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(ticks, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let labels = vec!["a".into(); ticks.len()];
        column.typed::<ByteArrayType>().write_batch(&labels, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        bytes
    }

    /// The time unit is that of the column's type, near 1970 and far from it: a pandas frame writes
    /// nanoseconds.
    #[test]
    fn times_are_read_in_the_unit_of_their_type() {
        let plain = Schema::from_toml(SCHEMA).unwrap();
        let schema = Schema::from_toml(&format!("[file]\nformat = \"parquet\"\n{SCHEMA}")).unwrap();
        let text = b"when,y\n2024-03-05 14:30:00,a\n1970-01-01 00:10:00,a\n1969-12-31 18:00:00,a\n1971-07-02 06:00:00,a\n";
        let expected = csv_bytes(text, &plain).unwrap();
        let seconds = [1_709_649_000, 600, -21_600, 47_282_400];
        for (kind, factor) in [
            (" (TIMESTAMP(MILLIS,true))", 1_000),
            (" (TIMESTAMP(MICROS,true))", 1_000_000),
            (" (TIMESTAMP(NANOS,true))", 1_000_000_000),
        ] {
            let bytes = file(kind, &seconds.map(|second: i64| second * factor));
            let found = parquet_bytes(&bytes, &schema).unwrap();
            for row in 0..seconds.len() {
                assert_eq!(
                    found.features.dense_row(row),
                    expected.features.dense_row(row),
                    "{kind}, row {row}"
                );
            }
        }
        // Without a type the magnitude decides.
        for factor in [1_000, 1_000_000, 1_000_000_000] {
            let found = parquet_bytes(&file("", &[seconds[0] * factor]), &schema).unwrap();
            assert_eq!(found.features.dense_row(0), expected.features.dense_row(0), "{factor}");
        }
    }
}
