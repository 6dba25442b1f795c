//! Shuffles and hold-outs by a keyed hash of the row's index.
//!
//! A row's position depends on the key and its index alone, never on its content.

use crate::keyed::{self, Key};

/// The numbers 0 … rows − 1 in an order fixed by the key.
pub fn shuffled_rows(rows: usize, key: &Key) -> Vec<usize> {
    let mut order: Vec<(u64, usize)> = (0..rows)
        .map(|row| (keyed::hash("shuffle", key, &[&(row as u64).to_le_bytes()]), row))
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(_, row)| row).collect()
}

/// The first ⌊share · rows⌋ shuffled rows, and the rest. A share outside [0, 1] is clamped.
pub fn hold_out(rows: usize, share: f64, key: &Key) -> (Vec<usize>, Vec<usize>) {
    let mut first = shuffled_rows(rows, key);
    let count = (rows as f64 * share.clamp(0.0, 1.0)) as usize;
    let rest = first.split_off(count.min(rows));
    (first, rest)
}

/// The rows of the first ⌊share · units⌋ shuffled units, and the rows of the rest, each part shuffled.
/// `units` gives each row's unit as any number; no unit is in both parts.
pub fn hold_out_units(units: &[usize], share: f64, key: &Key) -> (Vec<usize>, Vec<usize>) {
    let mut names = units.to_vec();
    names.sort_unstable();
    names.dedup();
    let (chosen, _) = hold_out(names.len(), share, key);
    let mut first = vec![false; names.len()];
    chosen.into_iter().for_each(|unit| first[unit] = true);
    // Every row's unit is among the names.
    let is_first = |row: &usize| names.binary_search(&units[*row]).is_ok_and(|unit| first[unit]);
    shuffled_rows(units.len(), key).into_iter().partition(is_first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_hold_out_of_units_tears_none_apart() {
        let units: Vec<usize> = (0..10_000).map(|row| row * row % 1_009 + 5).collect();
        let (train, test) = hold_out_units(&units, 0.8, &keyed::key(1));
        let of = |rows: &[usize]| rows.iter().map(|row| units[*row]).collect::<HashSet<_>>();
        assert!(of(&train).is_disjoint(&of(&test)));
        // Squares modulo a prime take (1,009 + 1)/2 values, of which ⌊0.8 · 505⌋ are 404.
        assert_eq!((of(&train).len(), of(&test).len()), (404, 101));
        let mut all = [train, test].concat();
        all.sort_unstable();
        assert_eq!(all, (0..10_000).collect::<Vec<_>>());
        assert_eq!(hold_out_units(&[], 0.8, &keyed::key(1)), (vec![], vec![]));
    }

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
    /// hypergeometric with standard deviation ≤ 80; a deviation of nine of them has probability below
    /// 1e-18.
    #[test]
    fn a_shuffle_prefers_no_rows() {
        for seed in 0..20 {
            let (first, _) = hold_out(100_000, 0.5, &keyed::key(seed));
            let even = first.iter().filter(|row| *row % 2 == 0).count() as f64;
            assert!((even - 25_000.0).abs() < 720.0, "seed {seed}: {even}");
        }
    }
}
