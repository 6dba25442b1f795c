//! The levels of a schema: runs of encoded columns of which a row is at one at most.

use super::Encoding;
use super::column::Rule;

/// The encoded columns of one source column, of which a row is at one at most, or near it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels {
    /// The first encoded column.
    pub first: u32,
    /// The number of columns.
    pub count: u32,
    /// For a number the count of its knots, which come first and are evenly spaced; else 0.
    pub knots: u32,
}

impl Encoding {
    /// The levels of all columns, the constant one last; `None` if some encoded column is of no level: a
    /// number without evenly spaced hats of weight 1, a pair, a wave, a feature of a sparse file or of an
    /// image, or no constant column.
    pub fn levels(&self) -> Option<Vec<Levels>> {
        let others = !self.pairs.is_empty() || self.fourier.is_some() || self.libsvm.is_some();
        if others || self.image || !self.has_bias() {
            return None;
        }
        let mut all = Vec::with_capacity(self.encoders.len() + 1);
        for encoder in &self.encoders {
            let (mut first, mut count, mut knots) = (encoder.start(), encoder.width, 0);
            if let Rule::Number(number) = &encoder.rule {
                let hats = number.hats.as_ref().filter(|hats| number.own && hats.is_even())?;
                (first, count, knots) = (first + 1, count - 1, hats.count());
            }
            if count > 0 {
                all.push(Levels { first, count, knots });
            }
        }
        all.push(Levels { first: self.width as u32 - 1, count: 1, knots: 0 });
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;

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
basis = { hats = 4 }
missing = "category"
[[columns]]
name = "ward"
type = "category"
categories = ["a", "b"]
unknown = "other"
"#;

    #[test]
    fn a_number_has_its_knots_and_a_category_its_values() {
        let encoding = Encoding::new(&Schema::from_toml(TEXT).unwrap());
        let found = encoding.levels().unwrap();
        let level = |first, count, knots| Levels { first, count, knots };
        assert_eq!(found, [level(1, 5, 4), level(6, 3, 0), level(9, 1, 0)]);
        assert_eq!(encoding.width(), 10);
        for (from, to) in [
            ("basis = { hats = 4 }", ""),
            ("basis = { hats = 4 }", "basis = { hats = 4, weight = 2.0 }"),
            ("basis = { hats = 4 }", "basis = { knots = [10, 20, 30, 90] }"),
            ("basis = { hats = 4 }", "basis = { hats = 4, cyclic = true }"),
            ("bias = true", ""),
        ] {
            let schema = Schema::from_toml(&TEXT.replace(from, to)).unwrap();
            assert_eq!(Encoding::new(&schema).levels(), None, "{to}");
        }
    }
}
