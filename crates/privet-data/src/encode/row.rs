//! Encoding of one row: each cell to its encoded columns, then the clip.

use super::{
    column::{Encoded, Number, parse_number, some_of},
    lookup::Lookup,
    one_row::clamp_and_scale,
    pair::PairValue,
    *,
};
use crate::error::Problem;

/// The reason a cell could not be encoded.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodeError {
    /// The kind of problem.
    pub problem: Problem,
    /// The accepted values, in words.
    pub accepted: String,
}

/// Encodes rows one after the other.
pub struct RowEncoder<'a> {
    encoding: &'a Encoding,
    unknown_in: UnknownIn,
    classes: Option<Lookup>,
    row: Vec<(u32, f64)>,
    /// The value of each encoder's cell, for pairs.
    spots: Vec<PairValue>,
    /// Counts of unlisted categories, by position among the schema's columns.
    unknown: Vec<u64>,
    stand_ins: u64,
}

impl<'a> RowEncoder<'a> {
    pub(super) fn new(encoding: &'a Encoding, unknown_in: UnknownIn) -> Self {
        let classes = match &encoding.target {
            TargetKind::Classes(classes) => {
                let further = encoding.labels.of.iter().map(|(label, _)| label.clone());
                Some(Lookup::new(&classes.iter().cloned().chain(further).collect::<Vec<_>>()))
            }
            TargetKind::Number { .. } => None,
        };
        let sources = encoding.encoders.last().map_or(0, |encoder| encoder.source + 1);
        Self {
            encoding,
            unknown_in,
            classes,
            row: Vec::new(),
            spots: Vec::with_capacity(encoding.encoders.len()),
            unknown: vec![0; sources],
            stand_ins: 0,
        }
    }

    /// Encodes and clips one row; `cell` gives the cell of each of the schema's columns. On error,
    /// returns the column's position with the reason.
    pub fn encode<'c>(
        &mut self,
        mut cell: impl FnMut(usize) -> Cell<'c>,
    ) -> Result<&[(u32, f64)], (usize, EncodeError)> {
        self.row.clear();
        self.spots.clear();
        for encoder in &self.encoding.encoders {
            let source = encoder.source;
            match encoder.encode(cell(source), self.unknown_in, &mut self.row) {
                Ok((encoded, spot)) => {
                    self.spots.push(spot);
                    match encoded {
                        Encoded::AsItIs => {}
                        Encoded::Unlisted => self.unknown[source] += 1,
                        Encoded::StoodIn => self.stand_ins += 1,
                    }
                }
                Err(problem) => {
                    return Err((
                        source,
                        EncodeError { problem, accepted: encoder.accepted_cells() },
                    ));
                }
            }
        }
        self.encoding.encode_together(&self.spots, &mut self.row);
        Ok(self.finish())
    }

    /// Adds the counts of another encoder to these and resets them there.
    #[cfg(feature = "parquet")]
    pub(crate) fn absorb(&mut self, other: &mut Self) {
        for (own, more) in self.unknown.iter_mut().zip(&mut other.unknown) {
            *own += std::mem::take(more);
        }
        self.stand_ins += std::mem::take(&mut other.stand_ins);
    }

    /// All invalid cells of a row, by the position of their column.
    pub(crate) fn problems<'c>(
        &self,
        mut cell: impl FnMut(usize) -> Cell<'c>,
    ) -> Vec<(usize, EncodeError)> {
        let mut row = Vec::new();
        let mut of = |encoder: &super::column::ColumnEncoder| {
            let refused = encoder.encode(cell(encoder.source), self.unknown_in, &mut row).err()?;
            Some((
                encoder.source,
                EncodeError { problem: refused, accepted: encoder.accepted_cells() },
            ))
        };
        self.encoding.encoders.iter().filter_map(&mut of).collect()
    }

    /// Encodes and clips one sparse row: indices from 0, increasing and below the number of
    /// features, values finite; see [`crate::read`].
    pub fn encode_sparse(&mut self, pairs: impl Iterator<Item = (u32, f64)>) -> &[(u32, f64)] {
        let bounds = self.encoding.libsvm.and_then(|(_, bounds)| bounds);
        self.row.clear();
        self.row.extend(pairs.map(|(index, value)| (index, clamp_and_scale(bounds, value))));
        self.finish()
    }

    fn finish(&mut self) -> &[(u32, f64)] {
        self.row.extend(self.encoding.bias.map(|value| (self.encoding.width as u32 - 1, value)));
        match self.unknown_in {
            UnknownIn::Training => self.encoding.clip.apply(&mut self.row),
            UnknownIn::Prediction => self.encoding.place_for_scores(&mut self.row),
        }
        &self.row
    }

    /// The index of a label's class.
    pub fn class(&self, cell: Cell<'_>) -> Result<u32, EncodeError> {
        let found = self.classes.as_ref().and_then(|lookup| lookup.find(cell));
        let classes = match &self.encoding.target {
            TargetKind::Classes(classes) => classes.as_slice(),
            TargetKind::Number { .. } => &[],
        };
        // Further labels follow the classes' own names.
        let code = |place: u32| match (place as usize).checked_sub(classes.len()) {
            Some(further) => self.encoding.labels.of[further].1,
            None => place,
        };
        let other = match cell {
            Cell::Missing | Cell::Unsupported => None,
            _ => self.encoding.labels.others,
        };
        found.map(code).or(other).ok_or_else(|| EncodeError {
            problem: match cell {
                Cell::Missing => Problem::Missing,
                _ => Problem::UnknownClass,
            },
            accepted: some_of(classes.iter()),
        })
    }

    /// A number target in [−1, 1], on the grid of 2⁻²³.
    pub fn number_target(&self, cell: Cell<'_>) -> Result<f64, EncodeError> {
        let TargetKind::Number { low, high } = self.encoding.target else {
            return Ok(f64::from(self.class(cell)?));
        };
        let number = Number::without_basis(low, high, Scale::Symmetric, false);
        let value = parse_number(cell).map_err(|problem| EncodeError {
            problem,
            accepted: format!("a number (clamped to [{low}, {high}])"),
        })?;
        Ok((number.encode(value) * 8_388_608.0).trunc() / 8_388_608.0)
    }

    /// The number of bad cells so far that were replaced by their column's substitute.
    pub fn stand_ins(&self) -> u64 {
        self.stand_ins
    }

    /// Counts of unlisted categories so far, by position among the schema's columns.
    pub fn unknown(&self) -> &[u64] {
        &self.unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SMALL_SCHEMA;

    fn encode(text: &str, cells: &[&str]) -> Result<Vec<(u32, f64)>, Problem> {
        let encoding = Encoding::new(&Schema::from_toml(text).unwrap());
        let mut rows = encoding.rows(UnknownIn::Training);
        let cell = |at: usize| match cells[at] {
            "?" => Cell::Missing,
            text => Cell::Text(text.as_bytes()),
        };
        rows.encode(cell).map(<[_]>::to_vec).map_err(|(_, error)| error.problem)
    }

    #[test]
    fn cells_land_in_their_columns() {
        let wide = SMALL_SCHEMA
            .replace("radius = 1.0", "radius = 64.0")
            .replace("bounds = [0, 120]", "bounds = [0, 120]\nscale = \"unit\"");
        let columns = |row: Vec<(u32, f64)>| row.into_iter().map(|(c, _)| c).collect::<Vec<_>>();
        let row = encode(&wide, &["60", "public", "york", "yes"]).unwrap();
        assert_eq!(row[0], (0, 0.5));
        assert_eq!(row[1], (2, 1.0));
        assert!((5..8).contains(&row[2].0));
        assert_eq!(&row[3..], &[(8, 1.0), (9, 1.0)]);
        let row = columns(encode(&wide, &["?", "mars", "york", "no"]).unwrap());
        assert_eq!((row[0], row[1], row[3]), (0, 3, 9));
        assert_eq!(columns(encode(&wide, &["1e9", "?", "york", "no"]).unwrap())[1], 4);
        assert_eq!(encode(&wide, &["1", "public", "?", "no"]), Err(Problem::Missing));
        assert_eq!(encode(&wide, &["x", "public", "york", "no"]), Err(Problem::NotANumber));
        assert_eq!(encode(&wide, &["inf", "public", "york", "no"]), Err(Problem::NotFinite));
        assert_eq!(encode(&wide, &["NaN", "public", "york", "no"]), Err(Problem::NotFinite));
        assert_eq!(encode(&wide, &["1", "public", "york", "maybe"]), Err(Problem::UnknownCategory));
    }
}
