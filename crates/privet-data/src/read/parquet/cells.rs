//! One row's cells, for either way of decoding.

use super::super::{collect::Record, identifier::Identifier};
use super::{columns::Batch, unit};
use crate::encode::Cell;
use parquet::record::Field;

/// The storage of one row's cells.
pub(super) enum Fields<'a> {
    /// A row decoded on its own.
    Row(Vec<&'a Field>),
    /// A row of a batch of columns.
    Batch(&'a Batch, usize),
}

impl<'a> Fields<'a> {
    fn get(&self, position: usize) -> Option<&'a Field> {
        match self {
            Self::Row(fields) => fields.get(position).copied(),
            Self::Batch(batch, row) => batch.cell(*row, position),
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Row(fields) => fields.len(),
            Self::Batch(batch, _) => batch.count(),
        }
    }
}

/// One row's cells, with the schema's rules for missing texts and numbers.
pub(super) struct Cells<'a> {
    pub fields: Fields<'a>,
    pub missing: &'a [String],
    pub missing_numbers: &'a [f64],
    /// For columns read as dates, the number of time units per day, where their type declares it.
    pub per_day: &'a [Option<i64>],
}

impl Cells<'_> {
    /// The number of bytes of its texts.
    pub fn length(&self) -> usize {
        let length = |position: usize| match self.fields.get(position) {
            Some(Field::Str(text)) => text.len(),
            Some(Field::Bytes(bytes)) => bytes.len(),
            _ => 0,
        };
        (0..self.fields.count()).map(length).sum()
    }

    /// A number, unless it is a missing value (`"-999"`, `"NaN"`).
    fn number(&self, value: f64) -> Cell<'_> {
        match self.missing_numbers.iter().any(|m| *m == value || (m.is_nan() && value.is_nan())) {
            true => Cell::Missing,
            false => Cell::Number(value),
        }
    }

    fn integer(&self, value: i64) -> Cell<'_> {
        match self.number(value as f64) {
            Cell::Missing => Cell::Missing,
            _ => Cell::Integer(value),
        }
    }
}

impl Record for Cells<'_> {
    fn cell(&self, position: usize) -> Cell<'_> {
        let text = |bytes| match self.missing.iter().any(|text| text.as_bytes() == bytes) {
            true => Cell::Missing,
            false => Cell::Text(bytes),
        };
        if let Some(Some(per_day)) = self.per_day.get(position) {
            let ticks = match self.fields.get(position) {
                Some(Field::Date(days)) => Some((*days).into()),
                Some(
                    Field::Long(ticks)
                    | Field::TimestampMillis(ticks)
                    | Field::TimestampMicros(ticks),
                ) => Some(*ticks),
                _ => None,
            };
            if let Some(ticks) = ticks {
                return match self.integer(ticks) {
                    Cell::Integer(ticks) => Cell::Moment { ticks, per_day: *per_day },
                    cell => cell,
                };
            }
        }
        match self.fields.get(position) {
            None | Some(Field::Null) => Cell::Missing,
            Some(Field::Bool(true)) => Cell::Text(b"true"),
            Some(Field::Bool(false)) => Cell::Text(b"false"),
            Some(Field::Byte(value)) => self.integer((*value).into()),
            Some(Field::Short(value)) => self.integer((*value).into()),
            Some(Field::Int(value)) => self.integer((*value).into()),
            Some(Field::Long(value)) => self.integer(*value),
            Some(Field::UByte(value)) => self.integer((*value).into()),
            Some(Field::UShort(value)) => self.integer((*value).into()),
            Some(Field::UInt(value)) => self.integer((*value).into()),
            Some(Field::ULong(value)) => match i64::try_from(*value) {
                Ok(value) => self.integer(value),
                Err(_) => self.number(*value as f64),
            },
            Some(Field::Float16(value)) => self.number(value.to_f64()),
            Some(Field::Float(value)) => self.number((*value).into()),
            Some(Field::Double(value)) => self.number(*value),
            Some(Field::Date(value)) => self.integer((*value).into()),
            Some(Field::TimestampMillis(value) | Field::TimestampMicros(value)) => {
                self.integer(*value)
            }
            Some(Field::Str(value)) => text(value.as_bytes()),
            Some(Field::Bytes(value)) => text(value.data()),
            Some(_) => Cell::Unsupported,
        }
    }

    fn identifier(&self, position: usize) -> Identifier<'_> {
        self.fields.get(position).map_or(Identifier::Missing, unit::identifier)
    }
}
