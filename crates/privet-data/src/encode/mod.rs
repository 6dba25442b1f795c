//! From cells to a bounded row of numbers: a pure function of the schema.
//!
//! Encoded columns follow the schema's order: a number takes one, a category one for each listed value
//! (then `other`, then `missing`, where the schema declares them), and the constant column comes last.
//! The clip of [`crate::bound`] is applied to all of them together.
//!
//! - Number v: c = clamp(v, low, high), t = (c − low)/(high − low), or with `log1p`
//!   t = ln(1 + c − low)/ln(1 + high − low); `unit` gives t, `symmetric` 2t − 1, `none` c
//!   (with `log1p`: ln(1 + c − low)).
//! - A number's [`Basis`](crate::schema::Basis): its hats follow it and precede the indicator that it
//!   is missing; pairs of columns come after all columns.
//! - Hashed category: the column is SipHash(column name, text) mod buckets, under a fixed public
//!   key.
//! - Number target: 2t − 1, truncated toward zero to a multiple of 2⁻²³.

mod column;
mod fourier;
mod hats;
mod levels;
mod lookup;
mod numbers;
mod one_row;
mod pair;
mod parts;
mod ranges;
mod recipe;
mod row;

pub use column::{Cell, UnknownIn};
pub use levels::Levels;
pub use numbers::{EncodedNumbers, NumberRows, NumbersError};
pub use parts::{Axis, AxisKind, Level, Part};
pub use recipe::{
    Curve, OwnEntry, PiecewiseLinear, Recipe, RecipeColumn, RecipeMissing, RecipePair, RecipeRule,
    RowScaling,
};
pub use row::{EncodeError, RowEncoder};

use crate::{
    bound::Clip,
    schema::{
        Categories, ColumnKind, Invalid, Labels, Missing, Norm, Rows, Scale, Schema, Storage,
        TargetKind, Transform, Unknown,
    },
};
use column::ColumnEncoder;
use fourier::Fourier;
use pair::PairEncoder;

/// Below this expected fraction of non-zero entries, derived from the schema, rows are stored sparse.
const SPARSE_BELOW: f64 = 1.0 / 3.0;

/// The encoding of a row that a schema defines, known before any row is read.
#[derive(Debug, Clone)]
pub struct Encoding {
    width: usize,
    bias: Option<f64>,
    invalid: Invalid,
    storage: Storage,
    clip: Clip,
    target: TargetKind,
    labels: Labels,
    /// Upper bound on ‖row‖₂ before clipping, rounded up; infinite for unbounded LIBSVM values.
    raw_l2: f64,
    encoders: Vec<ColumnEncoder>,
    pairs: Vec<PairEncoder>,
    fourier: Option<Fourier>,
    libsvm: Option<(u32, Option<(f64, f64)>)>,
    /// The factor that multiplies a row in prediction, where rows are filled in training: R over the
    /// root mean square norm of rows over the bounds, a public number.
    for_scores: Option<f64>,
    /// The expected number of non-zero entries of a row.
    expected: f64,
    /// True if rows are images.
    image: bool,
    /// The number of values of an image, where each is a plain number.
    pixels: Option<usize>,
}

impl Encoding {
    /// The encoding of a schema.
    pub fn new(schema: &Schema) -> Self {
        if let (Some(image), Some(pixels)) = (schema.image(), schema.of_pixels()) {
            return Self::of_images(schema, image.features, Self::new(&pixels));
        }
        let mut encoders = Vec::new();
        let (mut width, mut non_zero, mut squares, mut usual) = (0_u32, 0.0, 0.0, 0.0);
        for (source, column) in schema.columns().iter().enumerate() {
            let Some(encoder) = ColumnEncoder::new(source, column, width) else { continue };
            width += encoder.width;
            non_zero += encoder.entries;
            squares += encoder.squares.0;
            usual += encoder.squares.1;
            encoders.push(encoder);
        }
        let mut pairs = Vec::new();
        for pair in schema.pairs() {
            let Some(pair) = PairEncoder::new(pair, schema, &encoders, width) else { continue };
            width += pair.width;
            non_zero += pair.entries();
            squares += pair.squares().0;
            usual += pair.squares().1;
            pairs.push(pair);
        }
        let fourier = schema.fourier().map(|facts| Fourier::new(facts, schema, &encoders, width));
        if let Some(fourier) = &fourier {
            width += fourier.width;
            non_zero += f64::from(fourier.width);
            squares += fourier.squares().0;
            usual += fourier.squares().1;
        }
        let libsvm = schema.libsvm().map(|facts| (facts.features, facts.bounds));
        if let Some((features, bounds)) = libsvm {
            width += features;
            squares += if bounds.is_some() { f64::from(features) } else { f64::INFINITY };
        }
        if let Some(value) = schema.bias() {
            width += 1;
            non_zero += 1.0;
            squares += value * value;
            usual += value * value;
        }
        let clip = Clip::new(schema.clip());
        let fill = schema.clip().rows == Rows::Fill;
        // The norm of sparse rows is unknown: they are filled in prediction as well.
        let for_scores = (fill && libsvm.is_none()).then(|| clip.radius() / f64::sqrt(usual));
        // At most 2²⁵ additions and a root: their relative rounding error is below 2⁻²⁰.
        let raw_l2 = if fill { f64::INFINITY } else { squares.sqrt() * (1.0 + 1e-6) };
        let clip = clip.on_grid_of(l2_bound(&clip, width as usize, raw_l2));
        let sparse = libsvm.is_some() || non_zero / f64::from(width) < SPARSE_BELOW;
        let by_columns = if sparse { Storage::Csr } else { Storage::Dense };
        Self {
            width: width as usize,
            bias: schema.bias(),
            invalid: schema.invalid(),
            storage: schema.storage().unwrap_or(by_columns),
            clip,
            target: schema.target().kind.clone(),
            labels: schema.target().labels.clone(),
            raw_l2,
            encoders,
            pairs,
            fourier,
            libsvm,
            for_scores,
            // The number of non-zero LIBSVM features of a row is unknown: the root of their total is
            // assumed.
            expected: non_zero + libsvm.map_or(0.0, |(features, _)| f64::from(features).sqrt()),
            image: false,
            pixels: None,
        }
    }

    /// The encoding of images: the features of [`crate::image`]; rows of pixels have an encoding of
    /// their own, applied first ([`crate::read`]).
    fn of_images(schema: &Schema, features: u32, pixels: Self) -> Self {
        Self {
            width: features as usize,
            storage: Storage::Dense,
            clip: Clip::new(schema.clip()),
            raw_l2: f64::INFINITY,
            encoders: Vec::new(),
            libsvm: None,
            expected: f64::from(features),
            image: true,
            pixels: pixels.number_features(),
            ..pixels
        }
    }

    /// The expected number of non-zero entries of a row, derived from the schema: one for each column,
    /// a half for a binary one, and the root of their number for LIBSVM features.
    pub fn expected_entries(&self) -> f64 {
        self.expected.max(1.0)
    }

    /// Number of encoded columns, the constant one included.
    pub fn width(&self) -> usize {
        self.width
    }

    /// True if the last encoded column is the constant one.
    pub fn has_bias(&self) -> bool {
        self.bias.is_some()
    }

    /// The number of encoded columns of each source, in order: those of one column of the schema (a
    /// category's indicators) belong together; LIBSVM features and the constant column stand alone.
    pub fn groups(&self) -> Vec<u32> {
        let features = match self.image {
            true => self.width as u32,
            false => self.libsvm.map_or(0, |(features, _)| features),
        };
        let alone = features + u32::from(self.has_bias());
        let columns = self.encoders.iter().map(|encoder| encoder.width).filter(|width| *width > 0);
        let pairs = self.pairs.iter().map(|pair| pair.width).filter(|width| *width > 0);
        let waves = self.fourier.iter().map(|fourier| fourier.width);
        columns.chain(pairs).chain(waves).chain((0..alone).map(|_| 1)).collect()
    }

    /// The number of training columns before any number is expanded: one for each number, one for each
    /// indicator of a category, and features as they are; not pairs, Fourier features or the constant
    /// column.
    pub fn columns_before_unfolding(&self) -> usize {
        let of = |encoder: &ColumnEncoder| match encoder.rule {
            column::Rule::Number(_) => 1,
            _ => encoder.width as usize,
        };
        let features = match self.image {
            true => self.width.saturating_sub(usize::from(self.has_bias())),
            false => self.libsvm.map_or(0, |(features, _)| features as usize),
        };
        self.encoders.iter().map(of).sum::<usize>() + features
    }

    /// Appends the entries that depend on several cells, given their positions.
    fn encode_together(&self, spots: &[pair::PairValue], row: &mut Vec<(u32, f64)>) {
        self.pairs.iter().for_each(|pair| pair.encode(spots, row));
        if let Some(fourier) = &self.fourier {
            fourier.encode(spots, row);
        }
    }

    /// Scales a row for prediction: as in training, except that where rows are filled it is divided by
    /// one public norm instead of its own. A score is then a sum of contributions of single columns and
    /// pairs, of the same sign.
    fn place_for_scores(&self, row: &mut [(u32, f64)]) {
        match self.for_scores {
            None => self.clip.apply(row),
            // Truncated to f32; a value that is not finite becomes 0.
            Some(factor) => row.iter_mut().for_each(|(_, value)| {
                *value = if value.is_finite() { f64::from((*value * factor) as f32) } else { 0.0 };
            }),
        }
    }

    /// The storage of rows.
    pub fn storage(&self) -> Storage {
        self.storage
    }

    /// The clipping rule.
    pub fn clip(&self) -> &Clip {
        &self.clip
    }

    /// Upper bound on the Euclidean norm of every stored row: R itself for L2 clipping, √width · R
    /// (rounded up) for L∞; less where the columns' bounds alone imply less.
    pub fn l2_radius(&self) -> f64 {
        l2_bound(&self.clip, self.width, self.raw_l2)
    }

    /// Upper bound on the magnitude of every stored entry.
    pub fn linf_radius(&self) -> f64 {
        self.clip.radius()
    }

    /// Number of classes, unless the target is a number.
    pub fn classes(&self) -> Option<usize> {
        match &self.target {
            TargetKind::Classes(classes) => Some(classes.len()),
            TargetKind::Number { .. } => None,
        }
    }

    /// The number that an encoded target in [−1, 1] stands for, in the target's own unit.
    pub fn decode_target(&self, encoded: f64) -> f64 {
        match self.target {
            TargetKind::Number { low, high } => low + (high - low) * (encoded + 1.0) / 2.0,
            TargetKind::Classes(_) => encoded,
        }
    }

    /// The name of an encoded column, e.g. `age`, `work=private`, `town#3`, `(bias)`.
    pub fn column_name(&self, column: usize) -> Option<String> {
        if column >= self.width {
            return None;
        }
        if self.has_bias() && column + 1 == self.width {
            return Some("(bias)".into());
        }
        if self.image {
            return Some(format!("image feature {}", column + 1));
        }
        if self.libsvm.is_some() {
            return Some(format!("feature {}", column + 1));
        }
        let own = self.encoders.iter().find_map(|encoder| encoder.column_name(column));
        let of_pair =
            || self.pairs.iter().find_map(|pair| pair.column_name(column, &self.encoders));
        let of_wave = || self.fourier.as_ref().and_then(|waves| waves.column_name(column));
        own.or_else(of_pair).or_else(of_wave)
    }

    /// All names in order.
    pub fn column_names(&self) -> Vec<String> {
        (0..self.width).filter_map(|column| self.column_name(column)).collect()
    }

    /// A row encoder: it owns the buffer of one row.
    pub fn rows(&self, unknown: UnknownIn) -> RowEncoder<'_> {
        RowEncoder::new(self, unknown)
    }
}

/// Upper bound on the Euclidean norm of clipped rows with this many columns, whose norm before clipping
/// is at most `raw`.
fn l2_bound(clip: &Clip, columns: usize, raw: f64) -> f64 {
    let clipped = match clip.norm() {
        Norm::L2 => clip.radius(),
        Norm::Linf => clip.radius() * (columns as f64).sqrt() * (1.0 + 1e-12),
    };
    clipped.min(raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SMALL_SCHEMA;
    use proptest::prelude::*;

    #[test]
    fn the_width_names_and_radius_follow_from_the_schema() {
        let encoding = Encoding::new(&Schema::from_toml(SMALL_SCHEMA).unwrap());
        assert_eq!(
            encoding.column_names(),
            [
                "age",
                "work=private",
                "work=public",
                "work=(other)",
                "work=(missing)",
                "town#0",
                "town#1",
                "town#2",
                "smokes",
                "(bias)"
            ]
        );
        assert_eq!(encoding.width(), 10);
        assert_eq!(encoding.classes(), Some(2));
        assert_eq!(encoding.l2_radius(), 1.0);
        assert_eq!(encoding.expected_entries(), 4.5);
        assert_eq!(encoding.storage(), Storage::Dense);
        assert_eq!(encoding.column_name(10), None);
    }

    #[test]
    fn a_wide_one_hot_table_is_sparse_unless_told_otherwise() {
        let text = SMALL_SCHEMA.replace("hash_buckets = 3", "hash_buckets = 64");
        let schema = Schema::from_toml(&text).unwrap();
        assert_eq!(Encoding::new(&schema).storage(), Storage::Csr);
        let schema = Schema::from_toml(&format!("storage = \"dense\"\n{text}")).unwrap();
        assert_eq!(Encoding::new(&schema).storage(), Storage::Dense);
    }

    #[test]
    fn bounds_alone_can_imply_a_smaller_radius() {
        let schema =
            Schema::from_toml(&SMALL_SCHEMA.replace("radius = 1.0", "radius = 100.0")).unwrap();
        let radius = Encoding::new(&schema).l2_radius();
        assert!((radius - 5_f64.sqrt()).abs() < 1e-5 && radius >= 5_f64.sqrt(), "{radius}");
    }

    proptest! {
        /// Learners use these as R: no stored row may exceed it, whatever its cells.
        #[test]
        fn no_row_exceeds_the_announced_radii(
            age in prop_oneof![Just(None), any::<f64>().prop_map(Some)],
            work in prop::sample::select(vec!["private", "public", "mars", "?"]),
            smokes in prop::sample::select(vec!["no", "yes"]),
            norm in prop::sample::select(vec!["l2", "linf"]),
            radius in prop::sample::select(vec!["0.3", "1.0", "1.7", "50.0"]),
            scale in prop::sample::select(vec!["unit", "symmetric", "none"]),
        ) {
            let text = SMALL_SCHEMA
                .replace("norm = \"l2\"", &format!("norm = \"{norm}\""))
                .replace("radius = 1.0", &format!("radius = {radius}"))
                .replace("bounds = [0, 120]", &format!("bounds = [0, 120]\nscale = \"{scale}\""));
            let encoding = Encoding::new(&Schema::from_toml(&text).unwrap());
            let mut rows = encoding.rows(UnknownIn::Training);
            let cell = |source: usize| match source {
                0 => age.filter(|age: &f64| age.is_finite()).map_or(Cell::Missing, Cell::Number),
                1 if work == "?" => Cell::Missing,
                1 => Cell::Text(work.as_bytes()),
                2 => Cell::Integer(7),
                _ => Cell::Text(smokes.as_bytes()),
            };
            let row = rows.encode(cell).unwrap();
            // At most five squares of 24-bit numbers: the error of their f64 sum is below 1e-15.
            let squared: f64 = row.iter().map(|(_, x)| x * x).sum();
            prop_assert!(squared <= encoding.l2_radius().powi(2) * (1.0 + 1e-15), "{row:?}");
            prop_assert!(row.iter().all(|(_, x)| x.abs() <= encoding.linf_radius()), "{row:?}");
        }
    }
}
