//! Encoding of one column: from its cells to encoded entries.

use super::{
    hats::Hats,
    lookup::Lookup,
    pair::{PairValue, short},
    *,
};
use crate::{
    error::Problem,
    keyed::{self, Key},
    schema::{Basis, Column, DateReading, InvalidCell},
};
use std::sync::Arc;

/// The fixed key of hashed categories. Stored models depend on it: it must never change.
const HASH_KEY: Key = *b"privet: category";

/// One cell as read.
#[derive(Clone, Copy)]
pub enum Cell<'a> {
    /// Absent (a Parquet null, or a text that the schema lists as missing).
    Missing,
    /// Text.
    Text(&'a [u8]),
    /// A number stored as such in the file.
    Number(f64),
    /// An integer stored as such in the file.
    Integer(i64),
    /// A moment counted from 1970, in a column read as a date whose type declares the time unit.
    Moment {
        /// Number of time units.
        ticks: i64,
        /// Time units per day.
        per_day: i64,
    },
    /// Nested data and other types without an encoding.
    Unsupported,
}

impl Cell<'_> {
    /// The text shown to people; empty where the cell is missing.
    pub(crate) fn to_text(self) -> String {
        match self {
            Self::Missing | Self::Unsupported => String::new(),
            Self::Text(text) => String::from_utf8_lossy(text).into_owned(),
            Self::Number(value) => value.to_string(),
            Self::Integer(value) | Self::Moment { ticks: value, .. } => value.to_string(),
        }
    }
}

/// Treatment of an unlisted category where the schema declares `error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownIn {
    /// The row is refused.
    Training,
    /// It is treated as none of the categories.
    Prediction,
}

/// The outcome of encoding a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoded {
    AsItIs,
    /// Its category is not listed.
    Unlisted,
    /// The column's substitute was used.
    StoodIn,
}

/// The encoding of one column.
#[derive(Debug, Clone)]
pub(super) struct ColumnEncoder {
    /// Position among the schema's columns.
    pub(super) source: usize,
    name: String,
    /// First encoded column.
    start: u32,
    pub(super) width: u32,
    /// Upper bound on the sum of its squared entries before clipping, and the average of that sum over
    /// the bounds.
    pub(super) squares: (f64, f64),
    /// The expected number of its non-zero entries.
    pub(super) entries: f64,
    pub(super) missing: Fallback,
    /// The treatment of a bad cell.
    pub(super) invalid: Fallback,
    /// The date of which its cells are a part.
    pub(super) date: Option<DateReading>,
    pub(super) rule: Rule,
}

/// Treatment of a missing or bad cell.
#[derive(Debug, Clone)]
pub(super) enum Fallback {
    Refuse,
    /// These entries alone, perhaps none, and the position of the cell for pairs.
    Entries(Vec<(u32, f64)>, PairValue),
}

#[derive(Debug, Clone)]
pub(super) enum Rule {
    Number(Number),
    Listed { lookup: Lookup, unknown: Option<Option<u32>> },
    Hashed { buckets: u32 },
    Binary { lookup: Lookup },
}

/// A number's map from cell to entries.
#[derive(Debug, Clone)]
pub(super) struct Number {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) scale: Scale,
    pub(super) log: bool,
    /// The substitute for a bad cell.
    pub(super) stand_in: Option<f64>,
    /// Its piecewise-linear basis.
    pub(super) hats: Option<Arc<Hats>>,
    /// True if the number itself has a column; on a circle it has none.
    pub(super) own: bool,
}

impl Number {
    /// A number without basis functions.
    pub(super) fn without_basis(low: f64, high: f64, scale: Scale, log: bool) -> Self {
        Self { low, high, scale, log, stand_in: None, hats: None, own: true }
    }

    /// Appends all entries of a finite value, the first at the encoded column `start`.
    pub(super) fn append_entries(&self, value: f64, start: u32, row: &mut Vec<(u32, f64)>) {
        if self.own {
            row.push((start, self.encode(value)));
        }
        if let Some(hats) = &self.hats {
            let first = start + u32::from(self.own);
            let mut entries = hats.at(value);
            // Across the seam of a circle the order is reversed; encoded columns must rise along a row.
            entries.sort_unstable_by_key(|(at, _)| *at);
            let weigh = |(at, height): (u32, f64)| (first + at, hats.weight * height);
            row.extend(entries.into_iter().filter(|(_, height)| *height > 0.0).map(weigh));
        }
    }

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

    /// The map as slope and offset of a line, for values within the bounds; `None` for a logarithm or a
    /// basis.
    pub(super) fn line(&self) -> Option<(f64, f64)> {
        let span = self.high - self.low;
        match self.scale {
            _ if self.log || self.hats.is_some() => None,
            Scale::Unit => Some((1.0 / span, -self.low / span)),
            Scale::Symmetric => Some((2.0 / span, -1.0 - 2.0 * self.low / span)),
            Scale::None => Some((1.0, 0.0)),
        }
    }
}

/// Parses a finite number.
pub(super) fn parse_number(cell: Cell<'_>) -> Result<f64, Problem> {
    let value = match cell {
        Cell::Text(text) => std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse::<f64>().ok())
            .ok_or(Problem::NotANumber)?,
        Cell::Number(value) => value,
        Cell::Integer(value) => value as f64,
        Cell::Missing => return Err(Problem::Missing),
        Cell::Unsupported | Cell::Moment { .. } => return Err(Problem::UnsupportedType),
    };
    if value.is_finite() { Ok(value) } else { Err(Problem::NotFinite) }
}

/// The first few of a list, for messages.
pub(super) fn some_of(texts: impl ExactSizeIterator<Item = impl std::fmt::Display>) -> String {
    let (count, shown) = (texts.len(), 8);
    let mut words: Vec<String> = texts.take(shown).map(|text| format!("\"{text}\"")).collect();
    if count > shown {
        words.push(format!("… ({} more in the schema)", count - shown));
    }
    words.join(", ")
}

impl ColumnEncoder {
    /// Returns `None` for columns that are not features.
    pub(super) fn new(source: usize, column: &Column, start: u32) -> Option<Self> {
        let width = column.kind.width() as u32;
        let last = start + width.saturating_sub(1);
        let mut squares = (1.0, 1.0);
        let mut entries = 1.0;
        let indicator = || Fallback::Entries(vec![(last, 1.0)], PairValue::Nowhere);
        let (rule, missing) = match &column.kind {
            &ColumnKind::Number { low, high, scale, transform, ref basis, ref missing } => {
                let log = transform == Some(Transform::Log1p);
                let stand_in = match column.invalid {
                    Some(InvalidCell::Number(value)) => Some(value),
                    _ => None,
                };
                let mut number =
                    Number { stand_in, ..Number::without_basis(low, high, scale, log) };
                squares = match scale {
                    Scale::None => {
                        let largest = number.encode(low).abs().max(number.encode(high).abs());
                        (largest.max(1.0).powi(2), largest.powi(2) / 3.0)
                    }
                    Scale::Unit | Scale::Symmetric => (1.0, 1.0 / 3.0),
                };
                if let Basis::Hats(facts) = basis {
                    let square = facts.weight * facts.weight;
                    number.hats = Some(Arc::new(Hats::new(facts, (low, high), log)));
                    number.own = !facts.cyclic;
                    let own = if number.own { squares } else { (0.0, 0.0) };
                    // The two heights sum to 1: (1 − s)² + s², ⅔ on average. An indicator is 1.
                    squares = ((own.0 + square).max(1.0), own.1 + square * 2.0 / 3.0);
                    entries = 2.0 + f64::from(u8::from(number.own));
                }
                let missing = match missing {
                    Missing::Error => Fallback::Refuse,
                    Missing::Category => indicator(),
                    Missing::As(value) => {
                        let mut stands_in = Vec::new();
                        number.append_entries(*value, start, &mut stands_in);
                        Fallback::Entries(stands_in, PairValue::At(*value))
                    }
                };
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
                    Missing::Category => {
                        Fallback::Entries(vec![(last, 1.0)], PairValue::In(last - start))
                    }
                    Missing::As(category) => {
                        let place = place(category);
                        Fallback::Entries(vec![(start + place, 1.0)], PairValue::In(place))
                    }
                };
                (Rule::Listed { lookup, unknown }, missing)
            }
            ColumnKind::Category { categories: Categories::Hashed(buckets), missing, .. } => {
                let missing = match missing {
                    Missing::Category => indicator(),
                    _ => Fallback::Refuse,
                };
                (Rule::Hashed { buckets: *buckets }, missing)
            }
            ColumnKind::Binary { values, missing } => {
                (squares, entries) = ((1.0, 0.5), 0.5);
                let missing = match missing {
                    Missing::Error => Fallback::Refuse,
                    Missing::Category => indicator(),
                    Missing::As(value) => {
                        let one = (*value == values[1]).then_some((start, 1.0));
                        Fallback::Entries(one.into_iter().collect(), PairValue::Nowhere)
                    }
                };
                (Rule::Binary { lookup: Lookup::new(values) }, missing)
            }
            ColumnKind::Ignore | ColumnKind::Target | ColumnKind::Unit => return None,
        };
        let (name, invalid, date) = (column.name.clone(), Fallback::Refuse, None);
        let mut encoder =
            Self { source, name, start, width, squares, entries, missing, invalid, date, rule };
        if let Some(stand_in) = &column.invalid {
            encoder.invalid = encoder.fallback(stand_in);
        }
        // Set last: substitutes are parts already and must not be read as dates.
        encoder.date = column.date.clone();
        Some(encoder)
    }

    /// The entries of a declared substitute, which the schema's check accepted for the column.
    fn fallback(&self, stand_in: &InvalidCell) -> Fallback {
        let cell = match stand_in {
            InvalidCell::Number(value) => Cell::Number(*value),
            InvalidCell::Text(text) => Cell::Text(text.as_bytes()),
        };
        let mut entries = Vec::new();
        match self.encode_cell(cell, UnknownIn::Training, &mut entries) {
            Ok((_, spot)) => Fallback::Entries(entries, spot),
            Err(_) => Fallback::Refuse,
        }
    }

    /// First encoded column.
    pub(super) fn start(&self) -> u32 {
        self.start
    }

    /// The column's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// True if bad cells have a substitute.
    pub(super) fn has_stand_in(&self) -> bool {
        !matches!(self.invalid, Fallback::Refuse)
    }

    pub(super) fn column_name(&self, column: usize) -> Option<String> {
        self.own_name(u32::try_from(column).ok()?.checked_sub(self.start)?)
    }

    /// The name of an encoded column, by its index within this column.
    pub(super) fn own_name(&self, place: u32) -> Option<String> {
        if place >= self.width {
            return None;
        }
        let name = &self.name;
        let indicator = match &self.missing {
            Fallback::Entries(entries, _) => {
                self.width > 1 && entries.first() == Some(&(self.start + self.width - 1, 1.0))
            }
            Fallback::Refuse => false,
        };
        let indicator = indicator && place + 1 == self.width;
        Some(match &self.rule {
            Rule::Number(number) if !indicator => match &number.hats {
                Some(hats) if !(number.own && place == 0) => {
                    let knot = hats.value_at((place - u32::from(number.own)) as usize);
                    format!("{name}@{}", short(knot))
                }
                _ => name.clone(),
            },
            Rule::Binary { .. } if place == 0 => name.clone(),
            Rule::Hashed { buckets } if place < *buckets => format!("{name}#{place}"),
            Rule::Listed { lookup, .. } if (place as usize) < lookup.texts.len() => {
                format!("{name}={}", lookup.texts[place as usize])
            }
            _ if indicator => format!("{name}=(missing)"),
            _ => format!("{name}=(other)"),
        })
    }

    /// The accepted cells of this column, in words.
    pub(super) fn accepted_cells(&self) -> String {
        let mut words = match &self.rule {
            _ if self.date.is_some() => "a date in the order that the schema declares".into(),
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

    /// Appends the cell's entries, or those of the column's substitute.
    pub(super) fn encode(
        &self,
        cell: Cell<'_>,
        unknown_in: UnknownIn,
        row: &mut Vec<(u32, f64)>,
    ) -> Result<(Encoded, PairValue), Problem> {
        let told = |(unlisted, spot)| match unlisted {
            true => (Encoded::Unlisted, spot),
            false => (Encoded::AsItIs, spot),
        };
        let Fallback::Entries(entries, spot) = &self.invalid else {
            return self.encode_cell(cell, unknown_in, row).map(told);
        };
        // With a substitute, an unlisted category is a bad cell in prediction too.
        match self.encode_cell(cell, UnknownIn::Training, row) {
            Ok(found) => Ok(told(found)),
            Err(_) => {
                row.extend(entries);
                Ok((Encoded::StoodIn, *spot))
            }
        }
    }

    /// Appends the cell's entries, none where it is refused; returns whether its category was unlisted,
    /// and the cell's position for pairs.
    fn encode_cell(
        &self,
        cell: Cell<'_>,
        unknown_in: UnknownIn,
        row: &mut Vec<(u32, f64)>,
    ) -> Result<(bool, PairValue), Problem> {
        if let Cell::Missing = cell {
            let Fallback::Entries(entries, spot) = &self.missing else {
                return Err(Problem::Missing);
            };
            row.extend(entries);
            return Ok((false, *spot));
        }
        if let Cell::Unsupported = cell {
            return Err(Problem::UnsupportedType);
        }
        let cell = match &self.date {
            Some(date) => date.of(cell).ok_or(Problem::NotADate)?,
            None => cell,
        };
        let spot = match &self.rule {
            Rule::Number(number) => {
                let value = parse_number(cell)?;
                number.append_entries(value, self.start, row);
                PairValue::At(value)
            }
            Rule::Hashed { buckets } => {
                let bucket = hash_bucket(&self.name, cell, *buckets);
                row.push((self.start + bucket, 1.0));
                PairValue::Nowhere
            }
            Rule::Binary { lookup } => match lookup.find(cell) {
                Some(0) => PairValue::Nowhere,
                Some(_) => {
                    row.push((self.start, 1.0));
                    PairValue::Nowhere
                }
                None if unknown_in == UnknownIn::Prediction => {
                    return Ok((true, PairValue::Nowhere));
                }
                None => return Err(Problem::UnknownCategory),
            },
            Rule::Listed { lookup, unknown } => match (lookup.find(cell), unknown, unknown_in) {
                (Some(place), ..) => {
                    row.push((self.start + place, 1.0));
                    PairValue::In(place)
                }
                (None, Some(stand_in), _) => {
                    row.extend(stand_in.map(|place| (self.start + place, 1.0)));
                    return Ok((true, stand_in.map_or(PairValue::Nowhere, PairValue::In)));
                }
                (None, None, UnknownIn::Prediction) => return Ok((true, PairValue::Nowhere)),
                (None, None, UnknownIn::Training) => return Err(Problem::UnknownCategory),
            },
        };
        Ok((false, spot))
    }
}

fn hash_bucket(column: &str, cell: Cell<'_>, buckets: u32) -> u32 {
    let hash = |text: &[u8]| keyed::hash("category", &HASH_KEY, &[column.as_bytes(), text]);
    let hash = match cell {
        Cell::Text(text) => hash(text),
        Cell::Number(value) => hash(value.to_string().as_bytes()),
        Cell::Integer(value) => hash(value.to_string().as_bytes()),
        Cell::Missing | Cell::Unsupported | Cell::Moment { .. } => 0,
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
                let number = Number::without_basis(low, low + span, scale, log);
                let (a, b) = (a.min(b), a.max(b));
                let (x, y) = (number.encode(a), number.encode(b));
                prop_assert!(bottom <= x && x <= y && y <= 1.0);
                prop_assert_eq!(number.encode(low), bottom);
                prop_assert_eq!(number.encode(low + span), 1.0);
            }
        }
    }
}
