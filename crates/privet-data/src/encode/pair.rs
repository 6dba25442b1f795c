//! Pairs of columns: the products of two columns' encodings.
//!
//! Two numbers: the products of their hats, at most four of them not 0, which sum to 1. A category and
//! a number: the number, in [−1, 1], at the index of the category. Where one of the two is missing or
//! unlisted, no entry.

use super::column::ColumnEncoder;
use super::hats::Hats;
use crate::schema::{ColumnKind, HatsFacts, Pair, Schema, Transform};

/// The value of a cell as the pairs of its column use it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PairValue {
    /// None: missing, unlisted, or of a kind that pairs do not use.
    Nowhere,
    /// A finite number.
    At(f64),
    /// The index of a category within its column's encoded columns.
    In(u32),
}

#[derive(Debug, Clone)]
pub(super) struct PairEncoder {
    /// Indices of the two columns among the encoders.
    sides: [usize; 2],
    names: [String; 2],
    start: u32,
    pub(super) width: u32,
    weight: f64,
    rule: PairRule,
}

#[derive(Debug, Clone)]
enum PairRule {
    Hats([Hats; 2]),
    /// The number's hats of two knots give its position in [−1, 1].
    Slopes {
        number: Hats,
    },
}

impl PairEncoder {
    pub(super) fn new(
        pair: &Pair,
        schema: &Schema,
        encoders: &[ColumnEncoder],
        start: u32,
    ) -> Option<Self> {
        let find = |name: &str| {
            let source = schema.columns().iter().position(|column| column.name == name)?;
            let place = encoders.iter().position(|encoder| encoder.source == source)?;
            Some((source, place))
        };
        let (first, second) = (find(&pair.columns[0])?, find(&pair.columns[1])?);
        let hats = |source: usize, count: u32| match &schema.columns()[source].kind {
            &ColumnKind::Number { low, high, transform, .. } => {
                let from_low = transform == Some(Transform::Log1p);
                Some(Hats::new(&HatsFacts::even(count), (low, high), from_low))
            }
            _ => None,
        };
        let (width, rule) = match pair.hats {
            0 => (encoders[first.1].width, PairRule::Slopes { number: hats(second.0, 2)? }),
            count => {
                let sides = [hats(first.0, count)?, hats(second.0, count)?];
                (count * count, PairRule::Hats(sides))
            }
        };
        let (sides, names) = ([first.1, second.1], pair.columns.clone());
        Some(Self { sides, names, start, width, weight: pair.weight, rule })
    }

    /// The largest sum of its squared entries, and that sum on average.
    pub(super) fn squares(&self) -> (f64, f64) {
        let square = self.weight * self.weight;
        match self.rule {
            PairRule::Hats(_) => (square, square * 4.0 / 9.0),
            PairRule::Slopes { .. } => (square, square / 3.0),
        }
    }

    /// The range of each of its entries.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (f64, f64)> {
        let low = match self.rule {
            PairRule::Hats(_) => 0.0,
            PairRule::Slopes { .. } => -self.weight,
        };
        let range = (low, self.weight);
        (0..self.width).map(move |_| range)
    }

    /// First encoded column.
    pub(super) fn start(&self) -> u32 {
        self.start
    }

    /// The factor that multiplies its entries.
    pub(super) fn weight(&self) -> f64 {
        self.weight
    }

    /// The number of non-zero entries of a row.
    pub(super) fn entries(&self) -> f64 {
        match self.rule {
            PairRule::Hats(_) => 4.0,
            PairRule::Slopes { .. } => 1.0,
        }
    }

    /// The indices of its two columns among the encoders, with the hats of those that are numbers.
    pub(super) fn sides(&self) -> [(usize, Option<&Hats>); 2] {
        let [first, second] = self.sides;
        match &self.rule {
            PairRule::Hats([rows, columns]) => [(first, Some(rows)), (second, Some(columns))],
            PairRule::Slopes { number } => [(first, None), (second, Some(number))],
        }
    }

    /// The values at this pair's knots of a column, given by its index among the encoders.
    pub(super) fn knots_of(&self, encoder: usize) -> Vec<f64> {
        let own = self.sides().into_iter().filter(|(side, _)| *side == encoder);
        own.filter_map(|(_, hats)| hats).flat_map(Hats::values).collect()
    }

    /// Appends the pair's entries, given the values of all encoders' cells.
    pub(super) fn encode(&self, spots: &[PairValue], row: &mut Vec<(u32, f64)>) {
        let [first, second] = self.sides.map(|side| spots[side]);
        match (&self.rule, first, second) {
            (PairRule::Hats([rows, columns]), PairValue::At(a), PairValue::At(b)) => {
                let right = columns.at(b);
                for (i, height) in rows.at(a).into_iter().filter(|(_, height)| *height > 0.0) {
                    for (j, width) in right.into_iter().filter(|(_, width)| *width > 0.0) {
                        let at = self.start + i * columns.count() + j;
                        row.push((at, self.weight * (height * width)));
                    }
                }
            }
            (PairRule::Slopes { number }, PairValue::In(place), PairValue::At(value)) => {
                let up: f64 = number
                    .at(value)
                    .iter()
                    .filter(|(at, _)| *at == 1)
                    .map(|(_, height)| height)
                    .sum();
                row.push((self.start + place, self.weight * (2.0 * up - 1.0)));
            }
            _ => {}
        }
    }

    pub(super) fn column_name(&self, column: usize, encoders: &[ColumnEncoder]) -> Option<String> {
        let place = u32::try_from(column).ok()?.checked_sub(self.start)?;
        if place >= self.width {
            return None;
        }
        let [first, second] = &self.names;
        Some(match &self.rule {
            PairRule::Hats([rows, columns]) => {
                let (i, j) = (place / columns.count(), place % columns.count());
                let (a, b) = (rows.value_at(i as usize), columns.value_at(j as usize));
                format!("{first}@{}×{second}@{}", short(a), short(b))
            }
            PairRule::Slopes { .. } => {
                let category = encoders[self.sides[0]].own_name(place)?;
                format!("{category}×{second}")
            }
        })
    }
}

/// A number in four significant digits, for names of knots.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    let power = 10_f64.powi(digits.clamp(-300, 300));
    let rounded = (value * power).round() / power;
    format!("{rounded}")
}
