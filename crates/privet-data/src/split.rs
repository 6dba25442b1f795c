//! Shuffles and hold-outs by a keyed hash of the row's number.
//!
//! A row's place depends on the key and its number alone, never on what it holds.

use crate::keyed::{self, Key};

/// The numbers 0 … rows − 1 in an order fixed by the key.
pub fn shuffled(rows: usize, key: &Key) -> Vec<usize> {
    let mut order: Vec<(u64, usize)> = (0..rows)
        .map(|row| (keyed::hash("shuffle", key, &[&(row as u64).to_le_bytes()]), row))
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(_, row)| row).collect()
}

/// The first ⌊share · rows⌋ shuffled rows, and the rest. A share outside [0, 1] is moved inside.
pub fn hold_out(rows: usize, share: f64, key: &Key) -> (Vec<usize>, Vec<usize>) {
    let mut first = shuffled(rows, key);
    let count = (rows as f64 * share.clamp(0.0, 1.0)) as usize;
    let rest = first.split_off(count.min(rows));
    (first, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_out_is_a_partition_fixed_by_the_key() {
        let (train, test) = hold_out(45_222, 0.8, &keyed::key(1));
        assert_eq!((train.len(), test.len()), (36_177, 9_045));
        let mut all: Vec<usize> = train.iter().chain(&test).copied().collect();
        assert_ne!(all, (0..45_222).collect::<Vec<_>>());
        all.sort_unstable();
        assert_eq!(all, (0..45_222).collect::<Vec<_>>());
        assert_eq!(hold_out(45_222, 0.8, &keyed::key(1)).0, train);
        assert_ne!(hold_out(45_222, 0.8, &keyed::key(2)).0, train);
    }

    /// Each row's half is a fair coin: the count of even rows in the first half of 100,000 is
    /// hypergeometric with standard deviation ≤ 80; nine of them fail by chance below 1e-18.
    #[test]
    fn a_shuffle_prefers_no_rows() {
        for seed in 0..20 {
            let (first, _) = hold_out(100_000, 0.5, &keyed::key(seed));
            let even = first.iter().filter(|row| *row % 2 == 0).count() as f64;
            assert!((even - 25_000.0).abs() < 720.0, "seed {seed}: {even}");
        }
    }
}
