//! The encoding of a row, written out for other programs: databases, model runtimes.
//!
//! A *recipe* is data only: the categories of cells, numbers as clamped, logarithmic and
//! piecewise-linear functions, and the scaling of rows. `a_recipe_encodes_as_the_encoder_does` encodes
//! rows by it and compares. Entries are exact up to the truncation to 24 bits with which rows are
//! stored.

use super::column::{ColumnEncoder, Fallback, Rule};
use super::hats::{Coordinate, Hats};
use super::pair::PairValue;
use super::*;

/// The map from raw cells to a row in prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// Encoded columns, the constant one included.
    pub width: usize,
    /// The columns, in order.
    pub columns: Vec<RecipeColumn>,
    /// Pairs of columns.
    pub pairs: Vec<RecipePair>,
    /// The constant column's index and value.
    pub constant: Option<(u32, f64)>,
    /// The scaling of rows.
    pub length: RowScaling,
    /// Cells that count as missing.
    pub missing_texts: Vec<String>,
    /// True if blanks around a cell are dropped.
    pub trim: bool,
}

/// The scaling of a row in prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowScaling {
    /// None: no row's norm exceeds the radius.
    AsItIs,
    /// Every entry is multiplied by this.
    Times(f64),
    /// A row of a larger norm than this is scaled down to it.
    AtMost(f64),
    /// Every entry is clamped to ± this.
    EachAtMost(f64),
}

/// One column of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct RecipeColumn {
    /// The name; for a part of a date, its own (`admitted.month`).
    pub name: String,
    /// Its first encoded column.
    pub start: u32,
    /// Its type.
    pub rule: RecipeRule,
    /// The treatment of a missing cell.
    pub missing: RecipeMissing,
}

/// The type of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum RecipeRule {
    /// A number.
    Number {
        /// Lower bound; smaller numbers become it.
        low: f64,
        /// Upper bound; larger numbers become it.
        high: f64,
        /// Its own entry, at `start`; none on a circle.
        own: Option<OwnEntry>,
        /// Its piecewise-linear basis.
        piecewise: Option<PiecewiseLinear>,
    },
    /// One of these texts: the entry at the text's index is 1.
    Category {
        /// Texts with their index, counted from `start`. `None`: no entry.
        texts: Vec<(String, Option<u32>)>,
        /// The index of any other text.
        other: Option<u32>,
    },
}

/// A number's own entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OwnEntry {
    /// A line slope·t + offset, where t is 0 at the lower and 1 at the upper bound.
    Share(Curve, f64, f64),
    /// The clamped number itself.
    AsItIs,
    /// A logarithm, ln(1 + number − low).
    Log,
}

/// The coordinate t = (g(v) − g(low))/(g(high) − g(low)) with g(v) = v, or ln(1 + v − from).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    /// The `from` of the logarithm; `None` for a straight line.
    pub log_from: Option<f64>,
    /// The value g(low).
    pub bottom: f64,
    /// The difference g(high) − g(low).
    pub span: f64,
}

/// Entries that are piecewise-linear in t.
#[derive(Debug, Clone, PartialEq)]
pub struct PiecewiseLinear {
    /// The coordinate t.
    pub curve: Curve,
    /// The values of t between which entries are linear, from 0 to 1, rising.
    pub points: Vec<f64>,
    /// The entries at each point, weight included.
    pub heights: Vec<Vec<f64>>,
    /// The first encoded column.
    pub start: u32,
}

/// The treatment of a missing cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RecipeMissing {
    /// Such a row is refused.
    Refused,
    /// The entry at this index, counted from `start`, is 1.
    Place(u32),
    /// The cell is read as this number.
    Number(f64),
    /// No entry.
    Nothing,
}

/// Two columns whose encodings are multiplied, by their indices in the recipe.
#[derive(Debug, Clone, PartialEq)]
pub enum RecipePair {
    /// Every entry of the first times every entry of the second, the second innermost; the weight is in
    /// the first.
    PiecewiseLinear {
        /// Indices of the columns.
        columns: [usize; 2],
        /// Their bases in this pair; `start` is the pair's.
        piecewise: Box<[PiecewiseLinear; 2]>,
    },
    /// The entry weight·(2t − 1), t of the second, at the index of the first's category.
    Slopes {
        /// Indices of the columns.
        columns: [usize; 2],
        /// The coordinate t of the second.
        curve: Curve,
        /// The weight.
        weight: f64,
        /// The first encoded column.
        start: u32,
    },
}

impl Curve {
    fn new(coordinate: Coordinate, low: f64, high: f64) -> Self {
        let log_from = match coordinate {
            Coordinate::Plain => None,
            Coordinate::FromLow => Some(low),
            Coordinate::Log => Some(0.0),
        };
        let g = |v: f64| log_from.map_or(v, |from| libm::log1p(v - from));
        Self { log_from, bottom: g(low), span: g(high) - g(low) }
    }

    /// The coordinate t of a number within the bounds.
    pub fn at(&self, value: f64) -> f64 {
        let top = self.log_from.map_or(value, |from| libm::log1p(value - from));
        ((top - self.bottom) / self.span).clamp(0.0, 1.0)
    }
}

impl PiecewiseLinear {
    fn new(hats: &Hats, start: u32) -> Self {
        let (low, high) = hats.bounds();
        let mut points: Vec<f64> = [0.0, 1.0].into_iter().chain(hats.knots()).collect();
        points.sort_by(f64::total_cmp);
        points.dedup();
        let heights = |t: &f64| {
            let mut row = vec![0.0; hats.count() as usize];
            hats.at_place(*t)
                .into_iter()
                .for_each(|(at, height)| row[at as usize] += height * hats.weight);
            row
        };
        let heights = points.iter().map(heights).collect();
        Self { curve: Curve::new(hats.coordinate(), low, high), points, heights, start }
    }

    fn times(mut self, weight: f64) -> Self {
        self.heights.iter_mut().flatten().for_each(|height| *height *= weight);
        self
    }

    /// The entries of a number within the bounds.
    pub fn at(&self, value: f64) -> Vec<f64> {
        let t = self.curve.at(value);
        let after =
            self.points.partition_point(|point| *point <= t).clamp(1, self.points.len() - 1);
        let (from, to) = (self.points[after - 1], self.points[after]);
        let share = (t - from) / (to - from);
        let (left, right) = (&self.heights[after - 1], &self.heights[after]);
        left.iter().zip(right).map(|(a, b)| a * (1.0 - share) + b * share).collect()
    }
}

impl Encoding {
    /// Returns the recipe, or the reason there is none, in words.
    pub fn recipe(&self, schema: &Schema) -> Result<Recipe, &'static str> {
        if self.image {
            return Err("its rows are features of images, which only privet computes");
        }
        if self.libsvm.is_some() {
            return Err("its features come from a sparse file, and have no columns with names");
        }
        if self.fourier.is_some() {
            return Err("its rows hold random waves of all numbers");
        }
        let columns = self.encoders.iter().map(ColumnEncoder::recipe).collect::<Result<_, _>>()?;
        let pair = |pair: &super::pair::PairEncoder| {
            let [(first, left), (second, right)] = pair.sides();
            let (start, weight) = (pair.start(), pair.weight());
            match (left, right) {
                (Some(left), Some(right)) => Some(RecipePair::PiecewiseLinear {
                    columns: [first, second],
                    piecewise: Box::new([
                        PiecewiseLinear::new(left, start).times(weight),
                        PiecewiseLinear::new(right, start),
                    ]),
                }),
                (None, Some(number)) => {
                    let (low, high) = number.bounds();
                    let curve = Curve::new(number.coordinate(), low, high);
                    Some(RecipePair::Slopes { columns: [first, second], curve, weight, start })
                }
                _ => None,
            }
        };
        let pairs = self.pairs.iter().filter_map(pair).collect();
        let radius = self.clip.radius();
        let length = match (self.for_scores, self.clip.norm()) {
            (Some(factor), _) => RowScaling::Times(factor),
            (None, Norm::Linf) => RowScaling::EachAtMost(radius),
            (None, Norm::L2) if self.raw_l2 <= radius => RowScaling::AsItIs,
            (None, Norm::L2) => RowScaling::AtMost(radius),
        };
        Ok(Recipe {
            width: self.width,
            columns,
            pairs,
            constant: self.bias.map(|value| (self.width as u32 - 1, value)),
            length,
            missing_texts: schema.file().missing_values.clone(),
            trim: schema.file().trim,
        })
    }
}

impl ColumnEncoder {
    fn recipe(&self) -> Result<RecipeColumn, &'static str> {
        // Under a substitute every cell that would be refused becomes it.
        let stand_in = match &self.invalid {
            Fallback::Refuse => None,
            Fallback::Entries(entries, spot) => Some((entries, spot)),
        };
        let missing = match (&self.missing, stand_in) {
            (Fallback::Entries(entries, spot), _) | (Fallback::Refuse, Some((entries, spot))) => {
                match (&self.rule, spot, entries.first()) {
                    (Rule::Number(_), PairValue::At(value), _) => RecipeMissing::Number(*value),
                    (_, _, Some((at, _))) => RecipeMissing::Place(at - self.start()),
                    _ => RecipeMissing::Nothing,
                }
            }
            (Fallback::Refuse, None) => RecipeMissing::Refused,
        };
        let instead = stand_in.and_then(|(entries, _)| entries.first());
        let instead = instead.map(|(at, _)| at - self.start());
        let rule = match &self.rule {
            Rule::Hashed { .. } => {
                return Err("it has categories by hash, which other programs do not compute");
            }
            Rule::Number(number) => {
                let (low, high) = (number.low, number.high);
                let coordinate = if number.log { Coordinate::FromLow } else { Coordinate::Plain };
                let curve = Curve::new(coordinate, low, high);
                let own = match number.scale {
                    Scale::Unit => OwnEntry::Share(curve, 1.0, 0.0),
                    Scale::Symmetric => OwnEntry::Share(curve, 2.0, -1.0),
                    Scale::None if number.log => OwnEntry::Log,
                    Scale::None => OwnEntry::AsItIs,
                };
                let first = self.start() + u32::from(number.own);
                let piecewise = number.hats.as_ref().map(|hats| PiecewiseLinear::new(hats, first));
                RecipeRule::Number { low, high, own: number.own.then_some(own), piecewise }
            }
            Rule::Binary { lookup } => {
                let places = [None, Some(0)];
                let texts = lookup.texts.iter().cloned().zip(places).collect();
                RecipeRule::Category { texts, other: instead }
            }
            Rule::Listed { lookup, unknown } => {
                let texts = lookup.texts.iter().cloned().zip((0..).map(Some)).collect();
                let other = match unknown {
                    Some(place) => *place,
                    None => instead,
                };
                RecipeRule::Category { texts, other }
            }
        };
        Ok(RecipeColumn { name: self.name().into(), start: self.start(), rule, missing })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The value of a raw cell for pairs.
    enum PairValue {
        Nowhere,
        At(f64),
        In(u32),
    }

    /// A row encoded by the recipe alone.
    fn cooked(recipe: &Recipe, cells: &[&str]) -> Vec<f64> {
        let mut row = vec![0.0; recipe.width];
        let mut stands = Vec::new();
        for (column, cell) in recipe.columns.iter().zip(cells) {
            let start = column.start as usize;
            let missing = recipe.missing_texts.iter().any(|text| text == cell);
            let stand = match (&column.rule, missing, column.missing) {
                (_, true, RecipeMissing::Place(place)) => {
                    row[start + place as usize] = 1.0;
                    match column.rule {
                        RecipeRule::Category { .. } => PairValue::In(place),
                        RecipeRule::Number { .. } => PairValue::Nowhere,
                    }
                }
                (_, true, RecipeMissing::Number(value)) => PairValue::At(value),
                (_, true, _) => PairValue::Nowhere,
                (RecipeRule::Category { texts, other }, false, _) => {
                    let listed = texts.iter().find(|(text, _)| text == cell);
                    let place = listed.map_or(*other, |(_, place)| *place);
                    place.iter().for_each(|place| row[start + *place as usize] = 1.0);
                    place.map_or(PairValue::Nowhere, PairValue::In)
                }
                (RecipeRule::Number { .. }, false, _) => PairValue::At(cell.parse().unwrap()),
            };
            if let (RecipeRule::Number { low, high, own, piecewise }, PairValue::At(value)) =
                (&column.rule, &stand)
            {
                let value = value.clamp(*low, *high);
                if let Some(own) = own {
                    row[start] = match own {
                        OwnEntry::Share(curve, slope, offset) => slope * curve.at(value) + offset,
                        OwnEntry::AsItIs => value,
                        OwnEntry::Log => libm::log1p(value - low),
                    };
                }
                if let Some(piecewise) = piecewise {
                    let entries = piecewise.at(value);
                    row[piecewise.start as usize..][..entries.len()].copy_from_slice(&entries);
                }
            }
            stands.push(stand);
        }
        let within = |at: usize, value: f64| match recipe.columns[at].rule {
            RecipeRule::Number { low, high, .. } => value.clamp(low, high),
            RecipeRule::Category { .. } => value,
        };
        for pair in &recipe.pairs {
            match pair {
                RecipePair::PiecewiseLinear { columns: [a, b], piecewise } => {
                    if let (PairValue::At(x), PairValue::At(y)) = (&stands[*a], &stands[*b]) {
                        let (left, right) =
                            (piecewise[0].at(within(*a, *x)), piecewise[1].at(within(*b, *y)));
                        let products = left.iter().flat_map(|x| right.iter().map(move |y| x * y));
                        for (at, product) in products.enumerate() {
                            row[piecewise[0].start as usize + at] = product;
                        }
                    }
                }
                RecipePair::Slopes { columns: [a, b], curve, weight, start } => {
                    if let (PairValue::In(place), PairValue::At(y)) = (&stands[*a], &stands[*b]) {
                        let t = curve.at(within(*b, *y));
                        row[(start + place) as usize] = weight * (2.0 * t - 1.0);
                    }
                }
            }
        }
        recipe.constant.iter().for_each(|(at, value)| row[*at as usize] = *value);
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let factor = match recipe.length {
            RowScaling::AtMost(radius) if length > radius => radius / length,
            RowScaling::Times(factor) => factor,
            _ => 1.0,
        };
        row.iter_mut().for_each(|x| *x *= factor);
        if let RowScaling::EachAtMost(radius) = recipe.length {
            row.iter_mut().for_each(|x| *x = x.clamp(-radius, radius));
        }
        row
    }

    const SCHEMA: &str = r#"
        bias = 0.7
        [file]
        missing_values = ["?"]
        [clip]
        norm = "l2"
        radius = 1.3
        [target]
        column = "y"
        classes = ["a", "b"]
        [[columns]]
        name = "age"
        type = "number"
        bounds = [0, 100]
        basis = { hats = 5 }
        scale = "symmetric"
        missing = 38.5
        [[columns]]
        name = "pay"
        type = "number"
        bounds = [0, 1000]
        basis = { hats = 4, knots = "log", weight = 1.5 }
        scale = "unit"
        missing = "category"
        [[columns]]
        name = "hour"
        type = "number"
        bounds = [0, 24]
        basis = { knots = [3, 9, 14, 20], cyclic = true }
        [[columns]]
        name = "work"
        type = "category"
        categories = ["private", "public"]
        unknown = "other"
        missing = "category"
        [[columns]]
        name = "smokes"
        type = "binary"
        values = ["no", "yes"]
        [[columns]]
        name = "visits"
        type = "number"
        bounds = [2, 50]
        transform = "log1p"
        scale = "none"
        [[pairs]]
        columns = ["age", "pay"]
        hats = 3
        weight = 0.5
        [[pairs]]
        columns = ["work", "age"]
    "#;

    proptest! {
        #[test]
        fn a_recipe_encodes_as_the_encoder_does(
            age in -10.0..130.0_f64, pay in -5.0..1500.0_f64, hour in -1.0..25.0_f64, visits in 0.0..60.0_f64,
            work in prop::sample::select(vec!["private", "public", "mars", "?"]),
            smokes in prop::sample::select(vec!["no", "yes", "maybe"]),
            gone in prop::array::uniform2(prop::bool::weighted(0.2)),
            clip in prop::sample::select(vec!["radius = 1.3", "radius = 90.0", "radius = 1.3\nrows = \"fill\""]),
            linf in any::<bool>(),
        ) {
            let mut text = SCHEMA.replace("radius = 1.3", clip);
            if linf && !clip.contains("fill") {
                text = text.replace("norm = \"l2\"", "norm = \"linf\"").replace("radius = 1.3", "radius = 0.6");
            }
            let schema = Schema::from_toml(&text).unwrap();
            let encoding = Encoding::new(&schema);
            let recipe = encoding.recipe(&schema).unwrap();
            let mut cells = [age, pay, hour].map(|x| x.to_string()).to_vec();
            cells.extend([work.to_string(), smokes.to_string(), visits.to_string()]);
            for (cell, gone) in cells.iter_mut().zip(gone) {
                if gone {
                    *cell = "?".into();
                }
            }
            let texts: Vec<&str> = cells.iter().map(String::as_str).collect();
            let mut rows = encoding.rows(UnknownIn::Prediction);
            let cell = |at: usize| match texts[at] {
                "?" => Cell::Missing,
                text => Cell::Text(text.as_bytes()),
            };
            let mut expected = vec![0.0; encoding.width()];
            rows.encode(cell).unwrap().iter().for_each(|(at, x)| expected[*at as usize] = *x);
            for (at, (x, y)) in cooked(&recipe, &texts).into_iter().zip(expected).enumerate() {
                // Entries are truncated to 24 bits of the radius.
                let step = if clip.contains("90") { 128.0 * 2_f64.powi(-23) } else { 0.0 };
                prop_assert!((x - y).abs() < step + 1e-5, "{at} {:?}: {x} {y}", encoding.column_name(at));
            }
        }
    }

    #[test]
    fn what_has_no_recipe_is_refused_in_words() {
        let hashed = Schema::from_toml(crate::testing::SMALL_SCHEMA).unwrap();
        assert!(Encoding::new(&hashed).recipe(&hashed).unwrap_err().contains("hash"));
    }
}
