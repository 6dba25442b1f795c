//! One column: its cells to encoded entries.

use super::{lookup::Lookup, *};
use crate::{
    error::Problem,
    keyed::{self, Key},
    schema::{Column, InvalidCell},
};

/// The fixed key of hashed categories. Models depend on it: it never changes.
const HASH_KEY: Key = *b"privet: category";

/// One cell as a reader found it.
#[derive(Clone, Copy)]
pub enum Cell<'a> {
    /// Absent (a Parquet null, or a text that the schema lists as missing).
    Missing,
    /// Text.
    Text(&'a [u8]),
    /// A number that the file stores as such.
    Number(f64),
    /// An integer that the file stores as such.
    Integer(i64),
    /// Nested data and the like.
    Unsupported,
}

/// What an unlisted category means where the schema says `error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownIn {
    /// The row is refused.
    Training,
    /// It counts as none of the categories.
    Prediction,
}

/// How a cell was encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoded {
    AsItIs,
    /// Its category is not listed.
    Unlisted,
    /// The column's stand-in took its place.
    StoodIn,
}

/// How one column is encoded.
#[derive(Debug, Clone)]
pub(super) struct ColumnEncoder {
    /// Position among the schema's columns.
    pub(super) source: usize,
    name: String,
    /// First encoded column.
    start: u32,
    pub(super) width: u32,
    /// Largest magnitude of its entries before clipping.
    pub(super) largest: f64,
    pub(super) missing: Fallback,
    /// What a bad cell becomes.
    invalid: Fallback,
    pub(super) rule: Rule,
}

/// What becomes of a cell that holds nothing, or nothing of use.
#[derive(Debug, Clone)]
pub(super) enum Fallback {
    Refuse,
    /// This entry alone.
    Entry(u32, f64),
    /// A zero.
    Nothing,
}

#[derive(Debug, Clone)]
pub(super) enum Rule {
    Number(Number),
    Listed { lookup: Lookup, unknown: Option<Option<u32>> },
    Hashed { buckets: u32 },
    Binary { lookup: Lookup },
}

/// A number's map from cell to entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) scale: Scale,
    pub(super) log: bool,
    /// What a bad cell counts as.
    pub(super) stand_in: Option<f64>,
}

impl Number {
    /// The entry of a finite value.
    #[inline]
    pub(super) fn encode(&self, value: f64) -> f64 {
        let clamped = value.clamp(self.low, self.high);
        let (top, span) = if self.log {
            (libm::log1p(clamped - self.low), libm::log1p(self.high - self.low))
        } else {
            (clamped - self.low, self.high - self.low)
        };
        match self.scale {
            Scale::Unit => (top / span).clamp(0.0, 1.0),
            Scale::Symmetric => (2.0 * (top / span) - 1.0).clamp(-1.0, 1.0),
            Scale::None if self.log => top,
            Scale::None => clamped,
        }
    }

    /// The same as a line, slope and offset, for values within the bounds; `None` for a logarithm.
    pub(super) fn line(&self) -> Option<(f64, f64)> {
        let span = self.high - self.low;
        match self.scale {
            _ if self.log => None,
            Scale::Unit => Some((1.0 / span, -self.low / span)),
            Scale::Symmetric => Some((2.0 / span, -1.0 - 2.0 * self.low / span)),
            Scale::None => Some((1.0, 0.0)),
        }
    }
}

/// A finite number, or what is wrong with the cell.
pub(super) fn parse_number(cell: Cell<'_>) -> Result<f64, Problem> {
    let value = match cell {
        Cell::Text(text) => std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse::<f64>().ok())
            .ok_or(Problem::NotANumber)?,
        Cell::Number(value) => value,
        Cell::Integer(value) => value as f64,
        Cell::Missing => return Err(Problem::Missing),
        Cell::Unsupported => return Err(Problem::UnsupportedType),
    };
    if value.is_finite() { Ok(value) } else { Err(Problem::NotFinite) }
}

/// A few of a list, for messages.
pub(super) fn some_of(texts: impl ExactSizeIterator<Item = impl std::fmt::Display>) -> String {
    let (count, shown) = (texts.len(), 8);
    let mut words: Vec<String> = texts.take(shown).map(|text| format!("\"{text}\"")).collect();
    if count > shown {
        words.push(format!("… ({} more in the schema)", count - shown));
    }
    words.join(", ")
}

impl ColumnEncoder {
    /// `None` for columns that are no features.
    pub(super) fn new(source: usize, column: &Column, start: u32) -> Option<Self> {
        let width = column.kind.width() as u32;
        let last = start + width.saturating_sub(1);
        let mut largest = 1.0;
        let (rule, missing) = match &column.kind {
            &ColumnKind::Number { low, high, scale, transform, ref missing } => {
                let log = transform == Some(Transform::Log1p);
                let stand_in = match column.invalid {
                    Some(InvalidCell::Number(value)) => Some(value),
                    _ => None,
                };
                let number = Number { low, high, scale, log, stand_in };
                if scale == Scale::None {
                    largest = number.encode(low).abs().max(number.encode(high).abs());
                }
                let missing = match missing {
                    Missing::Error => Fallback::Refuse,
                    Missing::Category => Fallback::Entry(last, 1.0),
                    Missing::As(value) => Fallback::Entry(start, number.encode(*value)),
                };
                largest = f64::max(largest, 1.0);
                (Rule::Number(number), missing)
            }
            ColumnKind::Category { categories: Categories::Listed(list), unknown, missing } => {
                let lookup = Lookup::new(list);
                let place = |text: &str| lookup.find(Cell::Text(text.as_bytes())).unwrap_or(0);
                let unknown = match unknown {
                    Unknown::Error => None,
                    Unknown::None => Some(None),
                    Unknown::Other => Some(Some(list.len() as u32)),
                    Unknown::As(category) => Some(Some(place(category))),
                };
                let missing = match missing {
                    Missing::Error => Fallback::Refuse,
                    Missing::Category => Fallback::Entry(last, 1.0),
                    Missing::As(category) => Fallback::Entry(start + place(category), 1.0),
                };
                (Rule::Listed { lookup, unknown }, missing)
            }
            ColumnKind::Category { categories: Categories::Hashed(buckets), missing, .. } => {
                let missing = match missing {
                    Missing::Category => Fallback::Entry(last, 1.0),
                    _ => Fallback::Refuse,
                };
                (Rule::Hashed { buckets: *buckets }, missing)
            }
            ColumnKind::Binary { values, missing } => {
                let missing = match missing {
                    Missing::Error => Fallback::Refuse,
                    Missing::Category => Fallback::Entry(last, 1.0),
                    Missing::As(value) if *value == values[1] => Fallback::Entry(start, 1.0),
                    Missing::As(_) => Fallback::Nothing,
                };
                (Rule::Binary { lookup: Lookup::new(values) }, missing)
            }
            ColumnKind::Ignore | ColumnKind::Target | ColumnKind::Unit => return None,
        };
        let (name, invalid) = (column.name.clone(), Fallback::Refuse);
        let mut encoder = Self { source, name, start, width, largest, missing, invalid, rule };
        if let Some(stand_in) = &column.invalid {
            encoder.invalid = encoder.fallback(stand_in);
        }
        Some(encoder)
    }

    /// The entry of a declared stand-in, which the schema's check found fit for the column.
    fn fallback(&self, stand_in: &InvalidCell) -> Fallback {
        let cell = match stand_in {
            InvalidCell::Number(value) => Cell::Number(*value),
            InvalidCell::Text(text) => Cell::Text(text.as_bytes()),
        };
        let mut entries = Vec::new();
        match self.encode_cell(cell, UnknownIn::Training, &mut entries) {
            Ok(_) => entries.first().map_or(Fallback::Nothing, |(at, x)| Fallback::Entry(*at, *x)),
            Err(_) => Fallback::Refuse,
        }
    }

    pub(super) fn column_name(&self, column: usize) -> Option<String> {
        let place = u32::try_from(column).ok()?.checked_sub(self.start)?;
        if place >= self.width {
            return None;
        }
        let name = &self.name;
        let indicator = matches!(self.missing, Fallback::Entry(at, _) if at != self.start)
            && place + 1 == self.width;
        Some(match &self.rule {
            Rule::Number(_) | Rule::Binary { .. } if place == 0 => name.clone(),
            Rule::Hashed { buckets } if place < *buckets => format!("{name}#{place}"),
            Rule::Listed { lookup, .. } if (place as usize) < lookup.texts.len() => {
                format!("{name}={}", lookup.texts[place as usize])
            }
            _ if indicator => format!("{name}=(missing)"),
            _ => format!("{name}=(other)"),
        })
    }

    /// What a cell of this column may hold.
    pub(super) fn accepted(&self) -> String {
        let mut words = match &self.rule {
            Rule::Number(number) => {
                format!("a number (clamped to [{}, {}])", number.low, number.high)
            }
            Rule::Listed { lookup, .. } | Rule::Binary { lookup } => some_of(lookup.texts.iter()),
            Rule::Hashed { .. } => "any text or number".to_string(),
        };
        if !matches!(self.missing, Fallback::Refuse) {
            words.push_str(", or one of the schema's missing_values");
        }
        words
    }

    /// Appends the cell's entries, or those of the column's stand-in.
    pub(super) fn encode(
        &self,
        cell: Cell<'_>,
        unknown_in: UnknownIn,
        row: &mut Vec<(u32, f64)>,
    ) -> Result<Encoded, Problem> {
        let unlisted = |unlisted| if unlisted { Encoded::Unlisted } else { Encoded::AsItIs };
        let entry = match self.invalid {
            Fallback::Refuse => return self.encode_cell(cell, unknown_in, row).map(unlisted),
            Fallback::Entry(at, value) => Some((at, value)),
            Fallback::Nothing => None,
        };
        // An unlisted category is then a bad cell in prediction too.
        match self.encode_cell(cell, UnknownIn::Training, row) {
            Ok(found) => Ok(unlisted(found)),
            Err(_) => {
                row.extend(entry);
                Ok(Encoded::StoodIn)
            }
        }
    }

    /// Appends the cell's entries, none where it is refused; `Ok(true)` when its category was unlisted.
    fn encode_cell(
        &self,
        cell: Cell<'_>,
        unknown_in: UnknownIn,
        row: &mut Vec<(u32, f64)>,
    ) -> Result<bool, Problem> {
        if let Cell::Missing = cell {
            match self.missing {
                Fallback::Refuse => return Err(Problem::Missing),
                Fallback::Entry(at, value) => row.push((at, value)),
                Fallback::Nothing => {}
            }
            return Ok(false);
        }
        if let Cell::Unsupported = cell {
            return Err(Problem::UnsupportedType);
        }
        match &self.rule {
            Rule::Number(number) => row.push((self.start, number.encode(parse_number(cell)?))),
            Rule::Hashed { buckets } => {
                let bucket = hash_bucket(&self.name, cell, *buckets);
                row.push((self.start + bucket, 1.0));
            }
            Rule::Binary { lookup } => match lookup.find(cell) {
                Some(0) => {}
                Some(_) => row.push((self.start, 1.0)),
                None if unknown_in == UnknownIn::Prediction => return Ok(true),
                None => return Err(Problem::UnknownCategory),
            },
            Rule::Listed { lookup, unknown } => match (lookup.find(cell), unknown, unknown_in) {
                (Some(place), ..) => row.push((self.start + place, 1.0)),
                (None, Some(stand_in), _) => {
                    row.extend(stand_in.map(|place| (self.start + place, 1.0)));
                    return Ok(true);
                }
                (None, None, UnknownIn::Prediction) => return Ok(true),
                (None, None, UnknownIn::Training) => return Err(Problem::UnknownCategory),
            },
        }
        Ok(false)
    }
}

fn hash_bucket(column: &str, cell: Cell<'_>, buckets: u32) -> u32 {
    let hash = |text: &[u8]| keyed::hash("category", &HASH_KEY, &[column.as_bytes(), text]);
    let hash = match cell {
        Cell::Text(text) => hash(text),
        Cell::Number(value) => hash(value.to_string().as_bytes()),
        Cell::Integer(value) => hash(value.to_string().as_bytes()),
        Cell::Missing | Cell::Unsupported => 0,
    };
    (hash % u64::from(buckets)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every scale maps every number into its interval, and is monotone.
        #[test]
        fn scaled_numbers_stay_in_their_interval(
            low in -1e6..1e6_f64, span in 1e-3..1e6_f64, a in -1e7..1e7_f64, b in -1e7..1e7_f64,
            log in any::<bool>(),
        ) {
            for (scale, bottom) in [(Scale::Unit, 0.0), (Scale::Symmetric, -1.0)] {
                let number = Number { low, high: low + span, scale, log, stand_in: None };
                let (a, b) = (a.min(b), a.max(b));
                let (x, y) = (number.encode(a), number.encode(b));
                prop_assert!(bottom <= x && x <= y && y <= 1.0);
                prop_assert_eq!(number.encode(low), bottom);
                prop_assert_eq!(number.encode(low + span), 1.0);
            }
        }
    }
}
