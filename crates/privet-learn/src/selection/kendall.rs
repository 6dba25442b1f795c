//! Kendall's pair counts: for each column the number of pairs of records that agree with the target,
//! minus the number that disagree.
//!
//! Sⱼ = Σ_{i<l} sgn(xᵢⱼ − xₗⱼ)·sgn(yᵢ − yₗ), an integer.
//!
//! **Sensitivity.** A record is in n − 1 pairs, and the term of a pair is −1, 0 or 1: exchanging one
//! record moves Sⱼ by at most 2(n − 1), attained where it disagreed with all others and now agrees.
//! Adding one moves it by up to n, which is private if n is. With a declared cap N only the first N
//! records are counted: adding or removing one record then adds one, removes one, or exchanges one of
//! the first N (the others move up), in each case at most **2(N − 1)**; for r added or removed records,
//! r times that.
//!
//! The count is invariant under any increasing function of a column, scale and shift included: unlike a
//! sum of products it needs no centred columns, and centring would cost budget.
//!
//! *Cost.* O(m log m) for a column with m nonzero entries: pairs of two zeros count nothing, pairs of an
//! entry with a zero follow from the entry's sign and the numbers of zeros with a smaller or larger
//! target.

use privet_data::matrix::Matrix;
use rayon::prelude::*;

/// Pair counts Sⱼ of the first `columns` columns.
pub(super) fn pair_counts(features: &Matrix, labels: &[f64], columns: usize) -> Vec<i64> {
    let ranks = Ranks::of(labels);
    entries(features, columns).par_iter().map(|column| pair_count(column, &ranks)).collect()
}

/// Sensitivity of Sⱼ: one of n records exchanged; with the cap for n, one added or removed.
pub(super) fn sensitivity(rows: u64) -> u64 {
    2 * rows.saturating_sub(1)
}

/// Ranks of the targets, and the numbers of targets below and above each rank.
struct Ranks {
    of: Vec<u32>,
    below: Vec<i64>,
    above: Vec<i64>,
}

impl Ranks {
    fn of(labels: &[f64]) -> Self {
        let mut sorted = labels.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.dedup();
        // Equal as numbers, so that 0 and −0 are one rank.
        let rank = |label: &f64| sorted.partition_point(|other| other < label) as u32;
        let of: Vec<u32> = labels.iter().map(rank).collect();
        let mut counts = vec![0_i64; sorted.len()];
        of.iter().for_each(|rank| counts[*rank as usize] += 1);
        let mut before = 0;
        let below: Vec<i64> = counts
            .iter()
            .map(|count| {
                before += count;
                before - count
            })
            .collect();
        let all = labels.len() as i64;
        let above = below.iter().zip(&counts).map(|(below, count)| all - below - count).collect();
        Self { of, below, above }
    }
}

/// Row and value of each nonzero entry, per column.
fn entries(features: &Matrix, columns: usize) -> Vec<Vec<(u32, f32)>> {
    let mut all = vec![Vec::new(); columns];
    let mut add = |row: usize, column: usize, value: f32| {
        if column < columns && value != 0.0 {
            all[column].push((row as u32, value));
        }
    };
    for row in 0..features.rows() {
        match features {
            Matrix::Dense(dense) => {
                dense.row(row).iter().enumerate().for_each(|(column, x)| add(row, column, *x));
            }
            Matrix::Csr(csr) => {
                let (indices, values) = csr.row(row);
                indices.iter().zip(values).for_each(|(column, x)| add(row, *column as usize, *x));
            }
        }
    }
    all
}

/// An entry with the rank of its target, and the index range of that rank among the column's own
/// entries.
struct RankedEntry {
    x: f32,
    rank: usize,
    first: usize,
    after: usize,
}

fn pair_count(column: &[(u32, f32)], ranks: &Ranks) -> i64 {
    let mut own: Vec<u32> = column.iter().map(|(row, _)| ranks.of[*row as usize]).collect();
    own.sort_unstable();
    let ranked = |(row, x): &(u32, f32)| {
        let rank = ranks.of[*row as usize];
        let first = own.partition_point(|other| *other < rank);
        let after = first + own[first..].partition_point(|other| *other == rank);
        RankedEntry { x: *x, rank: rank as usize, first, after }
    };
    let mut entries: Vec<RankedEntry> = column.iter().map(ranked).collect();
    entries.sort_unstable_by(|one, other| one.x.total_cmp(&other.x));
    let mut seen = Fenwick(vec![0; own.len() + 1]);
    let (mut sum, mut inserted) = (0, 0);
    for group in entries.chunk_by(|one, other| one.x == other.x) {
        for RankedEntry { x, rank, first, after } in group {
            // Smaller entries agree if their target is smaller as well.
            sum += seen.before(*first) - (inserted - seen.before(*after));
            let zeros_below = ranks.below[*rank] - *first as i64;
            let zeros_above = ranks.above[*rank] - (own.len() - after) as i64;
            sum += if *x > 0.0 { zeros_below - zeros_above } else { zeros_above - zeros_below };
        }
        group.iter().for_each(|entry| seen.add(entry.first));
        inserted += group.len() as i64;
    }
    sum
}

/// Fenwick tree: counts by index, with their prefix sums.
struct Fenwick(Vec<i64>);

impl Fenwick {
    fn add(&mut self, place: usize) {
        let mut at = place + 1;
        while at < self.0.len() {
            self.0[at] += 1;
            at += at & at.wrapping_neg();
        }
    }

    /// Sum of the counts before this index.
    fn before(&self, place: usize) -> i64 {
        let (mut at, mut sum) = (place, 0);
        while at > 0 {
            sum += self.0[at];
            at &= at - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_data::matrix::{CsrMatrix, DenseMatrix};
    use proptest::prelude::*;

    const COLUMNS: usize = 3;

    fn dense(values: &[f32]) -> Matrix {
        Matrix::Dense(DenseMatrix::new(values.to_vec(), values.len() / COLUMNS, COLUMNS))
    }

    fn csr(values: &[f32]) -> Matrix {
        let (mut starts, mut indices, mut kept) = (vec![0], vec![], vec![]);
        for row in values.chunks(COLUMNS) {
            for (column, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                indices.push(column as u32);
                kept.push(*x);
            }
            starts.push(indices.len());
        }
        Matrix::Csr(CsrMatrix::new(starts, indices, kept, COLUMNS))
    }

    fn by_hand(values: &[f32], labels: &[f64], column: usize) -> i64 {
        let sign = |a: f64, b: f64| i64::from(a > b) - i64::from(a < b);
        let x = |row: usize| f64::from(values[row * COLUMNS + column]);
        let pairs = |i: usize| (0..i).map(move |l| sign(x(i), x(l)) * sign(labels[i], labels[l]));
        (0..labels.len()).flat_map(pairs).sum()
    }

    fn tables() -> impl Strategy<Value = (Vec<f32>, Vec<f64>)> {
        let entry = prop_oneof![Just(0.0_f32), Just(-0.0), Just(0.5), Just(-1.0), -1.0_f32..1.0];
        let label = prop_oneof![Just(-1.0_f64), Just(1.0), Just(0.0), -1.0_f64..1.0];
        (1_usize..30).prop_flat_map(move |rows| {
            let values = proptest::collection::vec(entry.clone(), rows * COLUMNS);
            (values, proptest::collection::vec(label.clone(), rows))
        })
    }

    proptest! {
        #[test]
        fn pair_counts_are_those_of_all_pairs((values, labels) in tables()) {
            let expected: Vec<i64> =
                (0..COLUMNS).map(|column| by_hand(&values, &labels, column)).collect();
            prop_assert_eq!(&pair_counts(&dense(&values), &labels, COLUMNS), &expected);
            prop_assert_eq!(&pair_counts(&csr(&values), &labels, COLUMNS), &expected);
        }

        /// Among the first N records: any record removed, at any index, whether others move up or not.
        #[test]
        fn counts_up_to_a_cap_move_within_its_bound(
            (values, labels) in tables(),
            cap in 2_usize..34,
            place in any::<prop::sample::Index>(),
        ) {
            let row = place.index(labels.len());
            let (mut fewer, mut left) = (values.clone(), labels.clone());
            fewer.drain(row * COLUMNS..(row + 1) * COLUMNS);
            left.remove(row);
            let counts = |values: &[f32], labels: &[f64]| {
                let first = labels.len().min(cap);
                pair_counts(&dense(&values[..first * COLUMNS]), &labels[..first], COLUMNS)
            };
            let bound = sensitivity(cap as u64);
            let moved = counts(&values, &labels).into_iter().zip(counts(&fewer, &left));
            prop_assert!(moved.into_iter().all(|(a, b)| a.abs_diff(b) <= bound));
        }

        /// The theorem: any record exchanged for any other.
        #[test]
        fn exchanging_a_record_moves_counts_within_the_bound(
            (values, labels) in tables(),
            other in proptest::collection::vec(prop_oneof![Just(0.0_f32), -1.0_f32..1.0], COLUMNS),
            label in prop_oneof![Just(-1.0_f64), Just(1.0), -1.0_f64..1.0],
            place in any::<prop::sample::Index>(),
        ) {
            let (mut changed, mut relabelled) = (values.clone(), labels.clone());
            let row = place.index(labels.len());
            changed[row * COLUMNS..(row + 1) * COLUMNS].copy_from_slice(&other);
            relabelled[row] = label;
            let before = pair_counts(&dense(&values), &labels, COLUMNS);
            let after = pair_counts(&dense(&changed), &relabelled, COLUMNS);
            for (one, two) in before.iter().zip(&after) {
                prop_assert!(one.abs_diff(*two) <= sensitivity(labels.len() as u64));
            }
        }
    }

    /// The bound is attained: a record that disagreed with all others agrees with them.
    #[test]
    fn the_bound_is_attained() {
        let values = [-1.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.2, 0.0, 0.0];
        let before = pair_counts(&dense(&values), &[1.0, 0.2, 0.3], COLUMNS);
        let after = pair_counts(&dense(&values), &[-1.0, 0.2, 0.3], COLUMNS);
        assert_eq!((after[0] - before[0]) as u64, sensitivity(3));
        assert_eq!(pair_counts(&dense(&[]), &[], COLUMNS), [0; COLUMNS]);
    }
}
