//! Description of a table as one vector of integers: counts, sums, squares and products.
//!
//! A record is present if its entry in the column `marker` is not zero; otherwise it adds nothing. Each
//! column of the table is a [`Slot`], and to each slot a record adds
//! - *cells*: 1 in at most one of them;
//! - *a number* z in [−1, 1]: 1 in one of its bins, which divide [−1, 1] evenly; z and z². Where an
//!   indicator marks it as missing: 1 in a cell of its own, and nothing else;
//! - *a share* in [0, 1]: itself.
//!
//! Then, over pairs j < k of numbers, for records without a missing number, z_j·z_k; and where a number
//! can be missing, before those the number of such records and the sums of z and z² over them.
//!
//! **Claim.** z is clamped to [−1, 1] and truncated toward zero to a multiple of 2⁻²⁰ (NaN becomes 0),
//! so that for any content of the rows each entry of one record's part is as [`Part`] states: the
//! bounds require nothing of the table. All sums are integers in units of [`Described::UNIT`] = 2⁻⁴⁰,
//! the same in any order. *Proof.* z is a multiple of 2⁻²⁰ and z_j·z_k one of 2⁻⁴⁰, each at most 1,
//! that is 2⁴⁰ units; 2¹⁶ of them stay below 2⁶³ and are then added in 128 bits. ∎
//!
//! - Tested by `agrees_with_records_one_by_one` and `parts_are_as_they_are_said_to_be`.

use super::{Block, ExactSum, SoftmaxGradient, Statistic};
use serde::{Deserialize, Serialize};

/// Counts, sums, squares and products of a table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Described {
    /// The column that marks a record as present.
    pub marker: usize,
    /// True if records are counted, before all else.
    pub rows: bool,
    /// The columns.
    pub slots: Vec<Slot>,
    /// True if products of numbers are summed.
    pub products: bool,
}

/// One column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Slot {
    /// Encoded columns, one cell each; of several that are not zero the first counts.
    Cells {
        /// The first of these columns.
        first: usize,
        /// The number of columns.
        count: usize,
    },
    /// The class of a row labelled by [`super::Labels::Joint`].
    Classes {
        /// The number of classes.
        count: usize,
    },
    /// A number.
    Number {
        /// Its encoded column; if none, the label is the number.
        column: Option<usize>,
        /// The encoded column that marks it as missing.
        missing: Option<usize>,
        /// The number of bins.
        bins: usize,
    },
    /// A number from 0 to 1 of which only the sum is computed.
    Share {
        /// Its encoded column.
        column: usize,
    },
}

/// The contribution of one record to an entry of the vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// 1 to one of this many consecutive entries, or to none.
    OneOf(usize),
    /// A number from 0 to 1.
    Share,
    /// A number from −1 to 1.
    Signed,
}

/// Steps per unit of a number z, 2²⁰.
const STEPS_PER_UNIT: f64 = 1_048_576.0;
/// The number 1 in units.
const ONE_IN_UNITS: i64 = 1 << 40;
/// Rows whose units are added in 64 bits.
const FLIGHT: usize = 1 << 16;

impl Slot {
    /// The number of entries.
    pub fn entries(&self) -> usize {
        match self {
            Self::Cells { count, .. } | Self::Classes { count } => *count,
            Self::Number { missing, bins, .. } => bins + usize::from(missing.is_some()) + 2,
            Self::Share { .. } => 1,
        }
    }
}

impl Described {
    /// The unit of the entries.
    pub const UNIT: f64 = 1.0 / ONE_IN_UNITS as f64;

    /// The number of numeric columns.
    pub fn numbers(&self) -> usize {
        self.slots.iter().filter(|slot| matches!(slot, Slot::Number { .. })).count()
    }

    /// True if a number can be missing.
    pub fn can_miss(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot, Slot::Number { missing: Some(_), .. }))
    }

    /// The number of entries for records without a missing number, other than products; they precede
    /// the products.
    pub fn of_whole_records(&self) -> usize {
        if self.products && self.can_miss() { 1 + 2 * self.numbers() } else { 0 }
    }

    /// The contributions of one record, entry by entry (a [`Part::OneOf`] stands for all of its
    /// entries).
    pub fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        parts.extend(self.rows.then_some(Part::Share));
        for slot in &self.slots {
            match slot {
                Slot::Cells { count, .. } | Slot::Classes { count } => {
                    parts.push(Part::OneOf(*count));
                }
                Slot::Number { missing, bins, .. } => {
                    parts.push(Part::OneOf(bins + usize::from(missing.is_some())));
                    parts.extend([Part::Signed, Part::Share]);
                }
                Slot::Share { .. } => parts.push(Part::Share),
            }
        }
        let numbers = self.numbers();
        if self.of_whole_records() > 0 {
            parts.push(Part::Share);
            parts.extend((0..numbers).flat_map(|_| [Part::Signed, Part::Share]));
        }
        if self.products {
            parts.extend((0..numbers * numbers.saturating_sub(1) / 2).map(|_| Part::Signed));
        }
        parts
    }

    /// The number of entries of the vector.
    pub fn length(&self) -> usize {
        let length = |part: &Part| match part {
            Part::OneOf(count) => *count,
            Part::Share | Part::Signed => 1,
        };
        self.parts().iter().map(length).sum()
    }

    /// Adds one record's part, in units; `numbers` is scratch memory.
    fn add_row(&self, block: &Block<'_>, row: usize, numbers: &mut Vec<i64>, sums: &mut [i64]) {
        if block.first_entry(row, self.marker..self.marker + 1).is_none() {
            return;
        }
        let label = block.labels()[row];
        numbers.clear();
        let (mut at, mut whole) = (0, true);
        if self.rows {
            sums[0] += ONE_IN_UNITS;
            at = 1;
        }
        for slot in &self.slots {
            match *slot {
                Slot::Cells { first, count } => {
                    if let Some(column) = block.first_entry(row, first..first + count) {
                        sums[at + column - first] += ONE_IN_UNITS;
                    }
                }
                Slot::Classes { count } => {
                    let class = SoftmaxGradient::class(label, count);
                    if class < count {
                        sums[at + class] += ONE_IN_UNITS;
                    }
                }
                Slot::Number { column, missing, bins } => {
                    let is_missing = missing
                        .is_some_and(|place| block.first_entry(row, place..place + 1).is_some());
                    let z = column.map_or(label, |column| block.entry(row, column));
                    let k = if is_missing { 0 } else { truncated(z) };
                    numbers.push(k);
                    whole &= !is_missing;
                    let own = at + bins + usize::from(missing.is_some());
                    if is_missing {
                        sums[at + bins] += ONE_IN_UNITS;
                    } else {
                        sums[at + bin(k, bins)] += ONE_IN_UNITS;
                        sums[own] += k * STEPS_PER_UNIT as i64;
                        sums[own + 1] += k * k;
                    }
                }
                Slot::Share { column } => {
                    sums[at] += truncated(block.entry(row, column)).max(0) * STEPS_PER_UNIT as i64;
                }
            }
            at += slot.entries();
        }
        if !(self.products && whole) {
            return;
        }
        if self.of_whole_records() > 0 {
            sums[at] += ONE_IN_UNITS;
            for (place, k) in numbers.iter().enumerate() {
                sums[at + 1 + 2 * place] += k * STEPS_PER_UNIT as i64;
                sums[at + 2 + 2 * place] += k * k;
            }
            at += self.of_whole_records();
        }
        for (place, first) in numbers.iter().enumerate() {
            for second in &numbers[place + 1..] {
                sums[at] += first * second;
                at += 1;
            }
        }
    }
}

/// z in units of 2⁻²⁰, at most 2²⁰ of them; 0 for NaN.
fn truncated(z: f64) -> i64 {
    if z.is_nan() { 0 } else { (z.clamp(-1.0, 1.0) * STEPS_PER_UNIT) as i64 }
}

/// The index of the bin of [−1, 1] that holds `k`; the upper end belongs to the last.
fn bin(k: i64, bins: usize) -> usize {
    let (from_low, span) = (k + STEPS_PER_UNIT as i64, 2 * STEPS_PER_UNIT as i64);
    let place = i128::from(from_low) * bins as i128 / i128::from(span);
    (place as usize).min(bins.saturating_sub(1))
}

impl Statistic for Described {
    type Sum = ExactSum;
    const NAME: &'static str = "described";

    fn bound(&self, _radius: f64) -> f64 {
        (self.parts().len() as f64).sqrt() * (1.0 + 4.0 * f64::EPSILON)
    }
    fn zero(&self, _columns: usize) -> ExactSum {
        ExactSum::zero(self.length())
    }
    fn bytes(&self, _columns: usize) -> usize {
        24 * self.length() + 64
    }

    /// The sum is of integers.
    fn grain(&self, _columns: usize) -> Option<usize> {
        Some(1)
    }

    fn add(&self, block: Block<'_>, into: &mut ExactSum) {
        let mut sums = vec![0_i64; self.length()];
        let mut numbers = Vec::with_capacity(self.numbers());
        for rows in block.parts(FLIGHT) {
            sums.fill(0);
            (0..rows.rows()).for_each(|row| self.add_row(&rows, row, &mut numbers, &mut sums));
            into.note(rows.rows(), true);
            into.add_units(|entry| sums[entry]);
        }
    }

    fn merge(&self, into: &mut ExactSum, other: ExactSum) {
        into.merge(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sum::{InMemory, Sums};
    use privet_data::matrix::{CsrMatrix, DenseMatrix, Matrix};
    use proptest::prelude::*;

    /// Two cells, a number that can be missing, one that cannot, the label, a share; the marker last.
    fn query(products: bool) -> Described {
        let number = |column, missing| Slot::Number { column, missing, bins: 4 };
        let slots = vec![
            Slot::Cells { first: 0, count: 2 },
            number(Some(2), Some(3)),
            number(Some(4), None),
            number(None, None),
            Slot::Share { column: 4 },
        ];
        Described { marker: 5, rows: true, slots, products }
    }

    fn units(query: &Described, matrix: &Matrix, labels: &[f64]) -> Vec<i128> {
        let records = InMemory::new(matrix, labels).unwrap();
        records.sum(query).unwrap().into_units().unwrap()
    }

    #[test]
    fn a_table_by_hand() {
        let rows = [
            [1.0, 0.0, -1.0, 0.0, 0.5, 1.0],
            [0.0, 1.0, 0.0, 1.0, -0.5, 1.0],
            [1.0, 1.0, 1.0, 0.0, 1.0, 0.0],
        ];
        let matrix = Matrix::Dense(DenseMatrix::new(rows.concat(), 3, 6));
        let query = query(true);
        let found = units(&query, &matrix, &[0.25, 1.0, -1.0]);
        let found: Vec<f64> = found.iter().map(|k| *k as f64 * Described::UNIT).collect();
        let expected: Vec<f64> = [
            &[2.0][..],
            &[1.0, 1.0],
            &[1.0, 0.0, 0.0, 0.0, 1.0, -1.0, 1.0],
            &[0.0, 1.0, 0.0, 1.0, 0.0, 0.5],
            &[0.0, 0.0, 1.0, 1.0, 1.25, 1.0625],
            &[0.5],
            &[1.0, -1.0, 1.0, 0.5, 0.25, 0.25, 0.0625],
            &[-0.5, -0.25, 0.125],
        ]
        .concat();
        assert_eq!(found, expected);
        assert_eq!(query.length(), expected.len());
    }

    fn any_rows() -> impl Strategy<Value = Vec<([f32; 6], f64)>> {
        let odd = prop_oneof![
            Just(0.0_f32),
            Just(1.0),
            Just(-1.0),
            Just(f32::MAX),
            Just(f32::MIN_POSITIVE),
            Just(-7.5),
            -1.0..1.0_f32
        ];
        let entries = prop::array::uniform6(odd);
        prop::collection::vec((entries, -1.0..=1.0_f64), 1..40)
    }

    fn dense(rows: &[([f32; 6], f64)]) -> (Matrix, Vec<f64>) {
        let values: Vec<f32> = rows.iter().flat_map(|(row, _)| *row).collect();
        let labels = rows.iter().map(|(_, label)| *label).collect();
        (Matrix::Dense(DenseMatrix::new(values, rows.len(), 6)), labels)
    }

    fn sparse(rows: &[([f32; 6], f64)]) -> Matrix {
        let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
        for (row, _) in rows {
            for (place, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                places.push(place as u32);
                values.push(*value);
            }
            starts.push(places.len());
        }
        Matrix::Csr(CsrMatrix::new(starts, places, values, 6))
    }

    proptest! {
        #[test]
        fn agrees_with_records_one_by_one(rows in any_rows(), products in any::<bool>()) {
            let query = query(products);
            let (matrix, labels) = dense(&rows);
            let whole = units(&query, &matrix, &labels);
            let mut total = vec![0_i128; query.length()];
            for row in rows.iter().rev() {
                let (matrix, labels) = dense(&[*row]);
                let one = units(&query, &matrix, &labels);
                total.iter_mut().zip(one).for_each(|(total, own)| *total += own);
            }
            prop_assert_eq!(&whole, &total);
            prop_assert_eq!(&whole, &units(&query, &sparse(&rows), &labels));
        }

        /// For any content of a row, also far outside of an encoder's range.
        #[test]
        fn parts_are_as_they_are_said_to_be(rows in any_rows()) {
            let query = query(true);
            for row in &rows {
                let (matrix, labels) = dense(&[*row]);
                let found = units(&query, &matrix, &labels);
                let mut at = 0;
                for part in query.parts() {
                    let one = i128::from(ONE_IN_UNITS);
                    match part {
                        Part::OneOf(count) => {
                            let cells = &found[at..at + count];
                            prop_assert!(cells.iter().all(|cell| *cell == 0 || *cell == one));
                            prop_assert!(cells.iter().sum::<i128>() <= one);
                            at += count;
                        }
                        Part::Share => {
                            prop_assert!((0..=one).contains(&found[at]));
                            at += 1;
                        }
                        Part::Signed => {
                            prop_assert!((-one..=one).contains(&found[at]));
                            at += 1;
                        }
                    }
                }
                prop_assert_eq!(at, found.len());
            }
        }
    }
}
