//! Sums of label times entry, per column, over all records or some: exact integers.
//!
//! sumⱼ = Σᵢ mᵢkᵢⱼ, mᵢ the derivative of the loss at θ = 0 (a label), kᵢⱼ an entry clamped and truncated
//! toward 0, both as integer multiples of a unit ([`ScoreTerms`]). A record's term is at most M·K in absolute
//! value, whatever the other records are.

use super::open;
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::frank_wolfe::{CLIP, ScoreTerms, slope};
use crate::linear::problems;
use privet_data::Dataset;
use privet_optim::vertex::GridMatrix;

/// The clip τ of entries, the bound S on derivatives and the sensitivity Δ, from public facts.
pub(super) fn terms(facts: &Facts, clip: Option<f64>) -> Result<ScoreTerms, LearnError> {
    let clip = CLIP.check(clip.unwrap_or(facts.entry_scale.min(facts.entry_bound)))?;
    Ok(ScoreTerms::new(facts, clip, slope(facts)))
}

/// Records as integers.
pub(super) struct Marginals {
    features: GridMatrix,
    /// Labels mᵢ, a vector for each problem.
    slopes: Vec<Vec<i32>>,
    open: usize,
}

impl Marginals {
    pub fn new(facts: &Facts, data: &Dataset, terms: &ScoreTerms) -> Result<Self, LearnError> {
        let features = GridMatrix::new(&data.features, terms.features)
            .ok_or(LearnError::DataShape("there are 2^32 rows or more"))?;
        let one = |problem| -> Result<Vec<i32>, LearnError> {
            let labels = problems::labels(facts, data, problem)?;
            // Negative gradient: the direction of a step from 0.
            let along = |label: &f64| -terms.slopes.units(facts.loss.derivative(0.0, *label));
            Ok(labels.iter().map(along).collect())
        };
        let slopes = (0..facts.problems).map(one).collect::<Result<_, _>>()?;
        Ok(Self { features, slopes, open: open(facts) })
    }

    /// Number of records.
    pub fn rows(&self) -> usize {
        self.features.rows()
    }

    /// Sums over some records, problem after problem, without the constant column.
    pub fn sums(&self, rows: impl Iterator<Item = usize> + Clone) -> Vec<i64> {
        let mut all = Vec::with_capacity(self.open * self.slopes.len());
        let mut sums = vec![0; self.features.columns()];
        for slopes in &self.slopes {
            sums.fill(0);
            rows.clone().for_each(|row| self.features.add_row(row, slopes[row].into(), &mut sums));
            all.extend_from_slice(&sums[..self.open]);
        }
        all
    }

    /// The `size` columns with the largest absolute sums over all problems, of equal ones the first;
    /// ascending. `None` if there are no records.
    pub fn best(&self, rows: &[usize], size: usize) -> Option<Vec<u32>> {
        if rows.is_empty() {
            return None;
        }
        let sums = self.sums(rows.iter().copied());
        let largest = |column: usize| {
            let same = (column..sums.len()).step_by(self.open);
            same.map(|place| sums[place].unsigned_abs()).max().unwrap_or(0)
        };
        let mut order: Vec<(u64, u32)> =
            (0..self.open).map(|column| (largest(column), column as u32)).collect();
        let by_size =
            |one: &(u64, u32), other: &(u64, u32)| other.0.cmp(&one.0).then(one.1.cmp(&other.1));
        if size < order.len() {
            order.select_nth_unstable_by(size, by_size);
        }
        let mut best: Vec<u32> = order.into_iter().take(size).map(|(_, column)| column).collect();
        best.sort_unstable();
        Some(best)
    }

    /// Visits each nonzero entry of a row: true if its sign is that of the row's label in the first
    /// problem.
    pub fn signs(&self, row: usize, mut visit: impl FnMut(usize, bool)) {
        let up = self.slopes[0][row] > 0;
        self.features.for_row(row, |column, k| {
            if column < self.open && k != 0 {
                visit(column, (k > 0) == up);
            }
        });
    }

    /// Column of a row's entry of largest absolute value, of equal ones the first; `None` for a row of
    /// zeros.
    pub fn largest_entry(&self, row: usize) -> Option<usize> {
        let mut best = None;
        let mut largest = 0;
        self.features.for_row(row, |column, k| {
            if column < self.open && k.unsigned_abs() > largest {
                (best, largest) = (Some(column), k.unsigned_abs());
            }
        });
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use crate::release::task::Task;
    use crate::selection::{Select, Selector};
    use privet_core::Neighbours;
    use privet_data::matrix::{DenseMatrix, Matrix};
    use privet_data::{Schema, Target};
    use proptest::prelude::*;

    const COLUMNS: usize = 4;

    fn facts(neighbours: Neighbours, most: u32) -> Facts {
        let mut text =
            "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nbounds = [-1, 1]\n"
                .to_string();
        if most > 1 {
            text += &format!("[unit]\ncolumn = \"who\"\nmax_records = {most}\n");
        }
        for column in 0..COLUMNS {
            text += &format!(
                "[[columns]]\nname = \"x{column}\"\ntype = \"number\"\nbounds = [-1, 1]\n"
            );
        }
        let method: Selector = "correlation".parse().unwrap();
        let schema = Schema::from_toml(&text).unwrap();
        Select::facts(&Request::new(schema, 10, neighbours, Select { size: 1, method })).unwrap()
    }

    fn records(rows: usize) -> impl Strategy<Value = (Vec<f32>, Vec<f64>)> {
        let entry = prop_oneof![Just(0.0_f32), Just(0.5), Just(-0.5), -0.5_f32..0.5];
        let label = prop_oneof![Just(1.0_f64), Just(-1.0), -1.0_f64..1.0];
        (proptest::collection::vec(entry, rows * COLUMNS), proptest::collection::vec(label, rows))
    }

    proptest! {
        /// Sums move by at most the charged sensitivity: k records of a unit removed or exchanged for k
        /// others.
        #[test]
        fn sums_move_within_what_is_charged(
            (kept, labels) in records(8),
            (one, ones) in records(3),
            (other, others) in records(3),
            most in 1_u32..=3,
            clip in prop_oneof![Just(0.5), Just(0.1), Just(2.0)],
        ) {
            let unit = most as usize;
            let sums = |facts: &Facts, more: &[f32], labelled: &[f64]| {
                let values: Vec<f32> = kept.iter().chain(more).copied().collect();
                let labels: Vec<f64> = labels.iter().chain(labelled).copied().collect();
                let rows = labels.len();
                let features = Matrix::Dense(DenseMatrix::new(values, rows, COLUMNS));
                let target = Target::Number(labels);
                let data = Dataset { features, target, units: None, report: Default::default() };
                let terms = terms(facts, Some(clip)).unwrap();
                let marginals = Marginals::new(facts, &data, &terms).unwrap();
                (marginals.sums(0..rows), terms.sensitivity)
            };
            let (one, ones) = (&one[..unit * COLUMNS], &ones[..unit]);
            let (other, others) = (&other[..unit * COLUMNS], &others[..unit]);
            let exchanged = facts(Neighbours::ReplaceOne, most);
            let ((first, bound), (second, _)) =
                (sums(&exchanged, one, ones), sums(&exchanged, other, others));
            prop_assert!(first.iter().zip(&second).all(|(a, b)| a.abs_diff(*b) <= bound));
            let added = facts(Neighbours::AddRemove, most);
            let ((first, bound), (second, _)) = (sums(&added, one, ones), sums(&added, &[], &[]));
            prop_assert!(first.iter().zip(&second).all(|(a, b)| a.abs_diff(*b) <= bound));
        }
    }
}
