//! Ratings held out, for the evaluation of predictions on public ratings.

use super::{cap, dataset};
use crate::Dataset;
use crate::keyed::{Key, hash};
use crate::matrix::Matrix;
use crate::read::Report;

/// Splits every user's ratings into two tables of the same users in the same order: training ratings,
/// of which at most `most` of each user are kept, and a fraction `share` that is held out. The split
/// depends on the key and on the indices of user and item alone.
pub fn hold_out(ratings: &Dataset, share: f64, most: u32, key: &Key) -> (Dataset, Dataset) {
    let columns = ratings.features.columns();
    let rows = ratings.features.rows();
    let (mut kept, mut held) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    // A share outside [0, 1] saturates.
    let below = (share * u64::MAX as f64) as u64;
    for row in 0..rows {
        let (mut own, mut rest) = (Vec::new(), Vec::new());
        let mut part = |item: u32, cell: f32| {
            let place = [row as u64, u64::from(item)].map(u64::to_le_bytes).concat();
            let out = hash("held out", key, &[&place]) < below;
            if out { &mut rest } else { &mut own }.push((item, cell));
        };
        match &ratings.features {
            Matrix::Csr(rows) => {
                let (items, cells) = rows.row(row);
                items.iter().zip(cells).for_each(|(item, cell)| part(*item, *cell));
            }
            Matrix::Dense(rows) => {
                let cells = rows.row(row).iter().enumerate().filter(|(_, cell)| **cell != 0.0);
                cells.for_each(|(item, cell)| part(item as u32, *cell));
            }
        }
        cap(&mut own, most as usize);
        kept.push(own);
        held.push(rest);
    }
    let table = |users| dataset(users, columns, Report::default());
    (table(kept), table(held))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyed::key;
    use crate::ratings::{OwnRatings, Rated, RatingFacts, schema, table};

    #[test]
    fn every_rating_is_in_one_part_and_few_are_kept() {
        let items = (0..50).map(|item| item.to_string()).collect();
        let facts = RatingFacts {
            layout: crate::ratings::Layout::Triples,
            items,
            bounds: [1.0, 5.0],
            most: 50,
        };
        let schema = schema(&facts).unwrap();
        let rated = Rated::of(&schema).unwrap();
        let user = |_| {
            let mut own = OwnRatings::default();
            (0..50).for_each(|item| own.and(item, 3.0, &rated));
            own
        };
        let all = table((0..40).map(user).collect(), &rated);
        let count = |data: &Dataset| match &data.features {
            Matrix::Csr(rows) => (0..40).map(|row| rows.row(row).0.len()).collect::<Vec<_>>(),
            Matrix::Dense(_) => panic!("sparse"),
        };
        let (kept, held) = hold_out(&all, 0.2, 50, &key(1));
        assert!(count(&kept).iter().zip(count(&held)).all(|(a, b)| a + b == 50));
        let out: usize = count(&held).iter().sum();
        assert!((300..500).contains(&out), "{out} of 2,000");
        let (few, same) = hold_out(&all, 0.2, 7, &key(1));
        assert!(count(&few).iter().all(|count| *count == 7));
        assert_eq!(count(&same), count(&held));
        assert_eq!(count(&hold_out(&all, 0.0, 50, &key(1)).1), vec![0; 40]);
    }
}
