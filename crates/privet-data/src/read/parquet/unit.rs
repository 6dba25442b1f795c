//! Identifiers of users in Parquet files: the accepted column types, and how they are read.

use super::super::identifier::Identifier;
use crate::error::Problem;
use parquet::{
    basic::{ConvertedType, LogicalType, Repetition, Type as Physical},
    data_type::Decimal,
    record::Field,
    schema::types::Type,
};

/// The column types accepted by [`names_users`], in words.
pub(super) const ACCEPTED: &str =
    "texts, integers of 32 or 64 bits, decimals, or doubles that hold whole numbers below 2^53";

/// True if values of this column are identifiers by their exact digits or text.
pub(super) fn names_users(column: &Type) -> bool {
    let Type::PrimitiveType { basic_info, physical_type, .. } = column else { return false };
    if basic_info.has_repetition() && basic_info.repetition() == Repetition::REPEATED {
        return false;
    }
    // Times in nanoseconds and UUIDs have a logical type alone.
    let logical = matches!(
        basic_info.logical_type_ref(),
        None | Some(
            LogicalType::String
                | LogicalType::Enum
                | LogicalType::Integer(_)
                | LogicalType::Decimal(_)
        )
    );
    use ConvertedType as As;
    let stored = matches!(
        (physical_type, basic_info.converted_type()),
        (Physical::INT32 | Physical::INT64, As::NONE | As::DECIMAL)
            // Not the narrower ones: they are stored in 32 bits and truncated on reading.
            | (Physical::INT32, As::INT_32 | As::UINT_32)
            | (Physical::INT64, As::INT_64 | As::UINT_64)
            | (Physical::DOUBLE, As::NONE)
            | (Physical::BYTE_ARRAY, As::NONE | As::UTF8 | As::ENUM | As::DECIMAL)
            | (Physical::FIXED_LEN_BYTE_ARRAY, As::DECIMAL)
    );
    logical && stored
}

/// The identifier in a cell of such a column.
pub(super) fn identifier(field: &Field) -> Identifier<'_> {
    match field {
        Field::Null => Identifier::Missing,
        Field::Int(value) => Identifier::Whole((*value).into()),
        Field::Long(value) => Identifier::Whole((*value).into()),
        Field::UInt(value) => Identifier::Whole((*value).into()),
        Field::ULong(value) => Identifier::Whole((*value).into()),
        Field::Double(value) => Identifier::Double(*value),
        Field::Decimal(value) => match whole(value) {
            Some(value) => Identifier::Whole(value),
            None => Identifier::Refused(Problem::Inexact),
        },
        Field::Str(value) => Identifier::Text(value.as_bytes()),
        Field::Bytes(value) => Identifier::Text(value.data()),
        _ => Identifier::Refused(Problem::UnsupportedType),
    }
}

/// The integer equal to a decimal: its bytes are a two's complement, the highest first.
fn whole(decimal: &Decimal) -> Option<i128> {
    let bytes = decimal.data();
    let sign = if bytes.first()? & 0x80 == 0 { 0 } else { -1 };
    let shifted = |value: i128, byte: &u8| value.checked_mul(256)?.checked_add((*byte).into());
    let digits = bytes.iter().try_fold(sign, shifted)?;
    let one = 10_i128.checked_pow(u32::try_from(decimal.scale()).ok()?)?;
    (digits % one == 0).then_some(digits / one)
}
