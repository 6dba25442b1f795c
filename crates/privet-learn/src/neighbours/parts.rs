//! Records near a question, and the votes of each unit.
//!
//! **Claim.** The vector that [`votes_of_units`] returns for a unit is a function of that unit's own near
//! rows, with integer entries ≥ 0 whose squares add up to at most [`FULL_SQUARE`]. *Proof.* One row: a
//! class votes with [`FULL_VOTE`] in one entry; a number y of [−1, 1] with ⌊FULL·(1−y)/2⌋ and
//! ⌊FULL·(1+y)/2⌋, whose sum, hence norm, is at most FULL. Several rows: their sum, and where its norm is
//! more, each entry times a factor, rounded down, until the squares, added as integers, are within; 0 is.
//! ∎

use privet_data::Target;
use privet_data::matrix::Matrix;
use privet_dp::mechanism::OwnPart;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A full vote, in units of [`RESOLUTION`].
pub const FULL_VOTE: u32 = 1 << 20;
/// The square of a full vote's norm.
pub const FULL_SQUARE: u128 = 1 << 40;
/// The unit of votes: 2⁻²⁰.
pub const RESOLUTION: f64 = 1.0 / 1_048_576.0;

/// Entries of a row summed between two checks of whether the distance is exceeded already.
const ENTRIES_PER_CHECK: usize = 32;

/// True if a row is within the distance. The same for any storage, since entries are read in order.
fn is_near(row: &[f32], question: &[f64], limit: f64) -> bool {
    let mut sum = 0.0;
    for (entries, asked) in row.chunks(ENTRIES_PER_CHECK).zip(question.chunks(ENTRIES_PER_CHECK)) {
        let squares = entries.iter().zip(asked).map(|(x, q)| (f64::from(*x) - q).powi(2));
        sum += squares.sum::<f64>();
        // Sums of squares only grow.
        if sum > limit {
            return false;
        }
    }
    sum <= limit
}

/// The indices of the rows within a distance of a question, in order.
pub fn rows_within(features: &Matrix, question: &[f64], within: f64) -> Vec<usize> {
    let limit = within * within;
    let columns = features.columns();
    let one = |buffer: &mut Vec<f32>, row: usize| match features {
        Matrix::Dense(dense) => is_near(dense.row(row), question, limit),
        Matrix::Csr(csr) => {
            buffer.fill(0.0);
            let (places, entries) = csr.row(row);
            places.iter().zip(entries).for_each(|(place, entry)| buffer[*place as usize] = *entry);
            is_near(buffer, question, limit)
        }
    };
    let rows = (0..features.rows()).into_par_iter();
    let close: Vec<bool> = rows.map_init(|| vec![0.0; columns], one).collect();
    (0..close.len()).filter(|row| close[*row]).collect()
}

/// The votes of each unit, in order of units; `None` if a class is not one of `ends`.
pub fn votes_of_units(
    near: &[usize],
    target: &Target,
    owners: &[usize],
    ends: usize,
) -> Option<Vec<OwnPart>> {
    let mut sums: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for row in near {
        let sum = sums.entry(owners[*row]).or_insert_with(|| vec![0; ends]);
        match target {
            Target::Class { codes, .. } => {
                *sum.get_mut(codes[*row] as usize)? += u64::from(FULL_VOTE);
            }
            Target::Number(values) => {
                let high = f64::from(FULL_VOTE) * (1.0 + values[*row].clamp(-1.0, 1.0)) / 2.0;
                let high = (high as u64).min(u64::from(FULL_VOTE));
                sum[0] += u64::from(FULL_VOTE) - high;
                sum[1] += high;
            }
        }
    }
    let clipped = sums.into_iter().map(|(owner, sum)| OwnPart { owner, part: within_full(&sum) });
    Some(clipped.collect())
}

/// A vector of norm at most [`FULL_VOTE`], in the direction of this one.
fn within_full(sum: &[u64]) -> Vec<u32> {
    let square = |part: &[u64]| part.iter().map(|x| u128::from(*x) * u128::from(*x)).sum::<u128>();
    let mut part = sum.to_vec();
    let mut factor = f64::from(FULL_VOTE) / (square(sum) as f64).sqrt();
    while square(&part) > FULL_SQUARE {
        part = sum.iter().map(|entry| (*entry as f64 * factor) as u64).collect();
        factor *= 1.0 - 1e-9;
    }
    part.into_iter().map(|entry| entry.min(u64::from(FULL_VOTE)) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_data::matrix::{CsrMatrix, DenseMatrix};
    use proptest::prelude::*;

    fn square(part: &[u32]) -> u128 {
        part.iter().map(|x| u128::from(*x) * u128::from(*x)).sum()
    }

    proptest! {
        /// No unit has more than one full vote, whatever the number of near rows and their targets.
        #[test]
        fn no_unit_votes_with_more_than_one_vote(
            codes in proptest::collection::vec(0_u32..3, 1..40),
            values in proptest::collection::vec(-1.0_f64..=1.0, 40),
        ) {
            let rows: Vec<usize> = (0..codes.len()).collect();
            let owners: Vec<usize> = rows.iter().map(|row| row % 3).collect();
            for owners in [&rows, &owners] {
                let class = Target::Class { codes: codes.clone(), count: 3 };
                let number = Target::Number(values[..codes.len()].to_vec());
                for (target, ends) in [(&class, 3), (&number, 2)] {
                    for own in votes_of_units(&rows, target, owners, ends).unwrap() {
                        prop_assert!(square(&own.part) <= FULL_SQUARE && square(&own.part) > 0);
                    }
                }
            }
        }

        /// The votes of a unit do not depend on other near units.
        #[test]
        fn a_vote_is_the_units_own(codes in proptest::collection::vec(0_u32..2, 6..20)) {
            let rows: Vec<usize> = (0..codes.len()).collect();
            let owners: Vec<usize> = rows.iter().map(|row| row / 2).collect();
            let target = Target::Class { codes, count: 2 };
            let all = votes_of_units(&rows, &target, &owners, 2).unwrap();
            let alone = votes_of_units(&[2, 3], &target, &owners, 2).unwrap();
            prop_assert_eq!(&all[1], &alone[0]);
        }
    }

    #[test]
    fn nearness_is_the_same_for_any_storage_and_includes_the_limit() {
        let dense = Matrix::Dense(DenseMatrix::new(vec![0.0, 3.0, 4.0, 0.0, 0.5, 0.5], 3, 2));
        let csr = Matrix::Csr(CsrMatrix::new(
            vec![0, 1, 2, 4],
            vec![1, 0, 0, 1],
            vec![3.0, 4.0, 0.5, 0.5],
            2,
        ));
        for within in [0.1, 3.0, 3.5, 4.0, 9.0] {
            assert_eq!(
                rows_within(&dense, &[0.0, 0.0], within),
                rows_within(&csr, &[0.0, 0.0], within)
            );
        }
        assert_eq!(rows_within(&dense, &[0.0, 0.0], 3.0), [0, 2]);
        assert_eq!(rows_within(&dense, &[0.0, 0.0], 4.0), [0, 1, 2]);
        assert_eq!(rows_within(&dense, &[9.0, 9.0], 1.0), [0_usize; 0]);
    }

    #[test]
    fn an_unknown_class_votes_for_nothing() {
        let target = Target::Class { codes: vec![2], count: 3 };
        assert!(votes_of_units(&[0], &target, &[0], 2).is_none());
    }
}
