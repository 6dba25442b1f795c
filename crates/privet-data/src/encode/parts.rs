//! Contributions of each column, and each pair of columns, to a row in prediction.
//!
//! A row in prediction is a sum of *parts*: one for each column, one for each pair, and the constant
//! column. A part's entries depend on its own cells alone, so that a linear model's score is a sum of
//! contributions of its parts: an additive model. Everything here is a function of the schema; no
//! record is read.
//!
//! That holds before rows are clipped. Where they are filled in training ([`Rows::Fill`]) a row in
//! prediction is divided by one public norm, and it holds for every row; so it does where entries are
//! clipped one by one, or where no row's norm can exceed the radius: [`Encoding::is_additive`].

use super::column::{ColumnEncoder, Fallback, Rule};
use super::hats::{Coordinate, Hats};
use super::one_row::clamp_and_scale;
use super::pair::{PairEncoder, PairValue};
use super::*;

/// Number of grid points of a number whose part is not linear between its knots.
const CURVED: u32 = 33;

/// A value of a cell, as far as its encoding distinguishes values.
#[derive(Debug, Clone, PartialEq)]
pub enum Level {
    /// A number within the bounds.
    At(f64),
    /// A listed category, or one of two values.
    Text(String),
    /// One of the hashed categories' buckets.
    Bucket(u32),
    /// An unlisted category, where those have a column of their own.
    Other,
    /// An unlisted category, where those have no column.
    Unlisted,
    /// A missing cell, where that has a column of its own.
    Missing,
}

/// The type of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisKind {
    /// A number: its levels rise, and between them a part is linear.
    Straight,
    /// A number: its levels rise, and between them a part may be non-linear: knots that are even in a
    /// logarithm, entries that are clipped one by one.
    Curved,
    /// A category.
    Category,
    /// One of two values.
    Binary,
}

/// One column of a part, with all levels that its encoding distinguishes; for a number its bounds, its
/// knots and those of its pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The column's name.
    pub column: String,
    /// Its type.
    pub kind: AxisKind,
    /// Numbers first, rising; then levels that are not numbers.
    pub levels: Vec<Level>,
    /// The weight of each level in an average, of sum 1: uniform over the bounds (in the coordinate in
    /// which knots are even) or over the listed categories. No record is read.
    pub weights: Vec<f64>,
}

/// One column or a pair of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// One axis, or two for a pair.
    pub axes: Vec<Axis>,
    source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Source {
    Column(usize),
    Pair(usize),
    Feature(u32),
}

impl Encoding {
    /// True if a score is the sum of its parts' contributions for every row. If false, it is so only
    /// for rows that are not clipped, and never for images and Fourier features.
    pub fn is_additive(&self) -> bool {
        let each = self.clip.norm() == Norm::Linf;
        let alone = self.fourier.is_none() && !self.image;
        alone && (self.for_scores.is_some() || each || self.raw_l2 <= self.clip.radius())
    }

    /// True if no row's norm is changed: none is filled, and none can be clipped.
    pub fn is_whole(&self) -> bool {
        self.clip.norm() == Norm::L2 && !self.image && self.raw_l2 <= self.clip.radius()
    }

    /// The factor that multiplies every entry of a row in prediction, where rows are filled in
    /// training; else 1.
    pub fn score_factor(&self) -> f64 {
        self.for_scores.unwrap_or(1.0)
    }

    /// The number of features without a column of their own: those of a sparse file.
    pub fn features(&self) -> u32 {
        self.libsvm.map_or(0, |(features, _)| features)
    }

    /// The number of encoded columns that belong to no column or pair: features of images, and Fourier
    /// features.
    pub fn of_no_column(&self) -> usize {
        let waves = self.fourier.as_ref().map_or(0, |waves| waves.width as usize);
        waves + if self.image { self.width } else { 0 }
    }

    /// All parts but the constant: columns in the order of the schema, then pairs, then the features of
    /// a sparse file, counted from 0, for which `wanted` is true.
    pub fn parts(&self, wanted: impl Fn(u32) -> bool) -> Vec<Part> {
        let column = |(place, encoder): (usize, &ColumnEncoder)| {
            let of_pairs = self.pairs.iter().flat_map(|pair| pair.knots_of(place)).collect();
            Part { axes: vec![self.axis(encoder, of_pairs)], source: Source::Column(place) }
        };
        let pair = |(place, pair): (usize, &PairEncoder)| {
            let axes = pair.sides().map(|(side, hats)| self.pair_axis(&self.encoders[side], hats));
            Part { axes: axes.into(), source: Source::Pair(place) }
        };
        let feature = |place: u32| {
            let bounds = self.libsvm.and_then(|(_, bounds)| bounds);
            let grid = self.reachable_bounds(bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY)));
            let column = format!("feature {}", place + 1);
            let axis = self.number_axis(column, vec![grid.0, grid.1], Coordinate::Plain, grid);
            Part { axes: vec![axis], source: Source::Feature(place) }
        };
        let features = (0..self.features()).filter(|place| wanted(*place)).map(feature);
        let columns = self.encoders.iter().enumerate().map(column);
        columns.chain(self.pairs.iter().enumerate().map(pair)).chain(features).collect()
    }

    /// The entries that a part contributes to a row in prediction, before any clipping of the row, at
    /// these levels of its axes.
    ///
    /// # Panics
    /// If there are not as many levels as axes.
    pub fn part_entries(&self, part: &Part, levels: &[&Level]) -> Vec<(u32, f64)> {
        assert_eq!(part.axes.len(), levels.len(), "a level for each axis");
        let entries = match part.source {
            Source::Column(place) => self.encoders[place].level_entries(levels[0]).0,
            Source::Pair(place) => {
                let pair = &self.pairs[place];
                let mut spots = vec![PairValue::Nowhere; self.encoders.len()];
                for ((side, _), level) in pair.sides().into_iter().zip(levels) {
                    spots[side] = self.encoders[side].level_entries(level).1;
                }
                let mut entries = Vec::new();
                pair.encode(&spots, &mut entries);
                entries
            }
            Source::Feature(place) => match levels[0] {
                Level::At(value) => {
                    vec![(
                        place,
                        clamp_and_scale(self.libsvm.and_then(|(_, bounds)| bounds), *value),
                    )]
                }
                _ => Vec::new(),
            },
        };
        entries.into_iter().map(|(at, value)| (at, self.scale_entry(value))).collect()
    }

    /// The constant column's entry in a row in prediction.
    pub fn constant_entry(&self) -> Option<(u32, f64)> {
        self.bias.map(|value| (self.width as u32 - 1, self.scale_entry(value)))
    }

    /// An entry as scaled for prediction, before any clipping of the row.
    fn scale_entry(&self, value: f64) -> f64 {
        let radius = self.clip.radius();
        match (self.for_scores, self.clip.norm()) {
            (Some(factor), _) => value * factor,
            (None, Norm::Linf) => value.clamp(-radius, radius),
            (None, Norm::L2) => value,
        }
    }

    /// The part of the bounds that a row within the radius can reach: values taken as they are may have
    /// no bounds.
    fn reachable_bounds(&self, (low, high): (f64, f64)) -> (f64, f64) {
        let radius = self.clip.radius();
        let (inner_low, inner_high) = (low.max(-radius), high.min(radius));
        if inner_low < inner_high { (inner_low, inner_high) } else { (low, high) }
    }

    fn axis(&self, encoder: &ColumnEncoder, of_pairs: Vec<f64>) -> Axis {
        let column = encoder.name().to_string();
        let missing = encoder.misses_apart().then_some(Level::Missing);
        let text = |text: &String| Level::Text(text.clone());
        let (kind, levels, counted) = match &encoder.rule {
            Rule::Number(number) => {
                let bounds = match number.scale {
                    Scale::None if !number.log => self.reachable_bounds((number.low, number.high)),
                    _ => (number.low, number.high),
                };
                let mut grid = vec![bounds.0, bounds.1];
                grid.extend(number.hats.iter().flat_map(|hats| hats.values()));
                grid.extend(of_pairs);
                let coordinate = match &number.hats {
                    Some(hats) => hats.coordinate(),
                    None if number.log => Coordinate::FromLow,
                    None => Coordinate::Plain,
                };
                let mut axis = self.number_axis(column, grid, coordinate, bounds);
                axis.levels.extend(missing);
                axis.weights.resize(axis.levels.len(), 0.0);
                return axis;
            }
            Rule::Binary { lookup } => {
                (AxisKind::Binary, lookup.texts.iter().map(text).collect::<Vec<_>>(), 2)
            }
            Rule::Hashed { buckets } => {
                (AxisKind::Category, (0..*buckets).map(Level::Bucket).collect(), *buckets as usize)
            }
            Rule::Listed { lookup, unknown } => {
                let mut levels: Vec<Level> = lookup.texts.iter().map(text).collect();
                let counted = levels.len();
                levels.extend(match unknown {
                    Some(Some(place)) if *place as usize >= counted => Some(Level::Other),
                    Some(Some(_)) => None,
                    // As in prediction, unless a substitute replaces them.
                    None if encoder.has_stand_in() => None,
                    Some(None) | None => Some(Level::Unlisted),
                });
                (AxisKind::Category, levels, counted)
            }
        };
        let levels: Vec<Level> = levels.into_iter().chain(missing).collect();
        let weight = |place| if place < counted { 1.0 / counted as f64 } else { 0.0 };
        let weights = (0..levels.len()).map(weight).collect();
        Axis { column, kind, levels, weights }
    }

    /// The axis of a column of a pair: a number has the knots of the pair.
    fn pair_axis(&self, encoder: &ColumnEncoder, hats: Option<&Hats>) -> Axis {
        let own = self.axis(encoder, Vec::new());
        let Some(hats) = hats else { return own };
        let knots = hats.values().collect();
        let mut axis = self.number_axis(own.column, knots, hats.coordinate(), hats.bounds());
        axis.levels.extend(own.levels.into_iter().filter(|level| *level == Level::Missing));
        axis.weights.resize(axis.levels.len(), 0.0);
        axis
    }

    /// A number's axis: the sorted grid, refined where the part is non-linear, weighted uniformly in
    /// the coordinate.
    fn number_axis(
        &self,
        column: String,
        mut grid: Vec<f64>,
        coordinate: Coordinate,
        (low, high): (f64, f64),
    ) -> Axis {
        let straight = coordinate == Coordinate::Plain && self.clip.norm() == Norm::L2;
        if !straight {
            let even =
                |place| coordinate.value_at(f64::from(place) / f64::from(CURVED - 1), low, high);
            grid.extend((0..CURVED).map(even));
        }
        grid.retain(|value| (low..=high).contains(value));
        grid.sort_by(f64::total_cmp);
        // Merges knots that two bases share, up to rounding; the bounds themselves stay.
        let near = 1e-9 * (high - low);
        grid.dedup_by(|next, kept| *next - *kept <= near);
        if let Some(last) = grid.last_mut()
            && high - *last <= near
        {
            *last = high;
        }
        let at: Vec<f64> = grid.iter().map(|value| coordinate.of(*value, low, high)).collect();
        let last = at.len() - 1;
        let half = |from: usize, to: usize| (at[to] - at[from]) / 2.0;
        let span = at[last] - at[0];
        let weight = |place: usize| half(place.saturating_sub(1), (place + 1).min(last)) / span;
        let weights = match span > 0.0 {
            true => (0..at.len()).map(weight).collect(),
            false => vec![1.0 / at.len() as f64; at.len()],
        };
        let kind = if straight { AxisKind::Straight } else { AxisKind::Curved };
        Axis { column, kind, levels: grid.into_iter().map(Level::At).collect(), weights }
    }
}

impl ColumnEncoder {
    /// True if a missing cell has a column of its own.
    fn misses_apart(&self) -> bool {
        let last = self.start() + self.width.saturating_sub(1);
        match (&self.missing, &self.rule) {
            (Fallback::Refuse, _) => false,
            (Fallback::Entries(entries, _), Rule::Number(number)) => {
                let own =
                    u32::from(number.own) + number.hats.as_ref().map_or(0, |hats| hats.count());
                self.width > own && *entries == [(last, 1.0)]
            }
            (Fallback::Entries(entries, _), Rule::Listed { lookup, unknown }) => {
                let other = u32::from(*unknown == Some(Some(lookup.texts.len() as u32)));
                self.width > lookup.texts.len() as u32 + other && *entries == [(last, 1.0)]
            }
            (Fallback::Entries(..), Rule::Hashed { buckets }) => self.width > *buckets,
            (Fallback::Entries(..), Rule::Binary { .. }) => self.width > 1,
        }
    }

    /// The entries of a level, and its value for pairs.
    fn level_entries(&self, level: &Level) -> (Vec<(u32, f64)>, PairValue) {
        let mut row = Vec::new();
        let spot = match (level, &self.rule) {
            (Level::At(value), Rule::Number(number)) => {
                number.append_entries(*value, self.start(), &mut row);
                PairValue::At(*value)
            }
            (Level::Text(text), Rule::Listed { lookup, .. }) => {
                match lookup.find(Cell::Text(text.as_bytes())) {
                    Some(place) => {
                        row.push((self.start() + place, 1.0));
                        PairValue::In(place)
                    }
                    None => PairValue::Nowhere,
                }
            }
            (Level::Text(text), Rule::Binary { lookup }) => {
                let one = lookup.find(Cell::Text(text.as_bytes())) == Some(1);
                row.extend(one.then_some((self.start(), 1.0)));
                PairValue::Nowhere
            }
            (Level::Other, Rule::Listed { lookup, .. }) => {
                let place = lookup.texts.len() as u32;
                row.push((self.start() + place, 1.0));
                PairValue::In(place)
            }
            (Level::Bucket(bucket), Rule::Hashed { .. }) => {
                row.push((self.start() + bucket, 1.0));
                PairValue::Nowhere
            }
            (Level::Missing, _) => match &self.missing {
                Fallback::Entries(entries, spot) => {
                    row.extend(entries);
                    *spot
                }
                Fallback::Refuse => PairValue::Nowhere,
            },
            _ => PairValue::Nowhere,
        };
        (row, spot)
    }
}
