//! Public ranges of the encoded columns.

use super::Encoding;
use super::column::{ColumnEncoder, Rule};
use super::pair::PairEncoder;

impl Encoding {
    /// The range of each entry of a row before clipping, extended to contain 0; one per encoded column.
    /// For features of images, and sparse ones, the range that the clip allows.
    pub fn ranges(&self) -> Vec<(f64, f64)> {
        let mut ranges: Vec<(f64, f64)> =
            self.encoders.iter().flat_map(ColumnEncoder::ranges).collect();
        ranges.extend(self.pairs.iter().flat_map(PairEncoder::ranges));
        if let Some(waves) = &self.fourier {
            let height = waves.height();
            ranges.extend((0..waves.width).map(|_| (-height, height)));
        }
        let constant = usize::from(self.has_bias());
        let widest = (-self.linf_radius(), self.linf_radius());
        ranges.resize(self.width.saturating_sub(constant), widest);
        ranges.extend(self.bias.map(|value| (value.min(0.0), value.max(0.0))));
        ranges
    }
}

impl ColumnEncoder {
    /// The ranges of its own encoded columns.
    fn ranges(&self) -> Vec<(f64, f64)> {
        let mut ranges = Vec::new();
        if let Rule::Number(number) = &self.rule {
            if number.own {
                let ends = [number.encode(number.low), number.encode(number.high)];
                ranges.push((ends[0].min(ends[1]).min(0.0), ends[0].max(ends[1]).max(0.0)));
            }
            if let Some(hats) = &number.hats {
                ranges.extend((0..hats.count()).map(|_| (0.0, hats.weight)));
            }
        }
        // Indicators.
        ranges.resize(self.width as usize, (0.0, 1.0));
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, UnknownIn};
    use super::*;
    use crate::schema::Schema;
    use proptest::prelude::*;

    const TEXT: &str = r#"
bias = true
[file]
missing_values = ["?"]
[clip]
norm = "l2"
radius = 100.0
[target]
column = "y"
classes = ["a", "b"]
[[columns]]
name = "age"
type = "number"
bounds = [10, 90]
scale = "symmetric"
basis = { hats = 4, weight = 1.5 }
missing = "category"
[[columns]]
name = "dose"
type = "number"
bounds = [-3, 2]
scale = "none"
[[columns]]
name = "ward"
type = "category"
categories = ["a", "b"]
unknown = "other"
[[pairs]]
columns = ["age", "dose"]
hats = 3
weight = 0.5
[[pairs]]
columns = ["age", "ward"]
weight = 0.25
"#;

    proptest! {
        #[test]
        fn entries_are_within_them(
            age in prop_oneof![Just(None), (-50.0..200.0_f64).prop_map(Some)], dose in -9.0..9.0_f64,
            ward in prop::sample::select(vec!["a", "b", "mars"]),
        ) {
            let encoding = Encoding::new(&Schema::from_toml(TEXT).unwrap());
            let ranges = encoding.ranges();
            prop_assert_eq!(ranges.len(), encoding.width());
            let cell = |source: usize| match source {
                0 => age.map_or(Cell::Missing, Cell::Number),
                1 => Cell::Number(dose),
                _ => Cell::Text(ward.as_bytes()),
            };
            let mut rows = encoding.rows(UnknownIn::Training);
            for (column, value) in rows.encode(cell).unwrap() {
                let (low, high) = ranges[*column as usize];
                prop_assert!((low..=high).contains(value), "{column}: {value} not in [{low}, {high}]");
            }
        }
    }
}
