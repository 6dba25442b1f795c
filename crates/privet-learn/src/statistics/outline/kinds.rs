//! Of what kind the keys of a column are: numbers, dates, texts, or texts that say that there is nothing.
//!
//! How many keys of each kind units count for is released beside the keys that stand out, so that those can be held against
//! all of them, and a column whose numbers are spread over many bins is still known to be one of numbers.

use super::OutlineFacts;
use privet_data::read::{CellKey, HeldKeys, MISSING};
use privet_dp::mechanism::Gaussian;

/// How many kinds there are, in the order of `kind`.
pub const KINDS: usize = 4;

/// The noise on a total, as a multiple of that on a key's count for each key that a unit counts for. Large, since totals are:
/// they take a ninth of what one key of a unit takes.
const NOISE: f64 = 3.0;

/// Which of the kinds: numbers 0, dates 1, other texts 2, nothing 3.
pub(super) fn kind(key: &CellKey) -> usize {
    match key {
        CellKey::Bin(_) => 0,
        CellKey::Year(_) => 1,
        CellKey::Text(text) if MISSING.contains(&text.as_str()) => 3,
        CellKey::Text(_) => 2,
    }
}

/// What adds the noise, where that on a key's count has this scale.
pub(super) fn mechanism(facts: &OutlineFacts, noise_scale: f64) -> Gaussian {
    Gaussian {
        neighbours: facts.relation.neighbours,
        unit: facts.relation.unit,
        sensitivity: sensitivity(facts),
        noise_scale: NOISE * f64::from(facts.keys_a_column) * noise_scale,
        coordinates: KINDS * facts.columns as usize,
    }
}

/// c·√(sides·d), rounded up.
fn sensitivity(facts: &OutlineFacts) -> f64 {
    let moved = (facts.relation.sides() * f64::from(facts.columns)).sqrt();
    f64::from(facts.keys_a_column) * moved * (1.0 + 4.0 * f64::EPSILON)
}

/// What the totals add to the square of Δ/σ, times the square of the scale of a count's noise.
pub(super) fn square(facts: &OutlineFacts) -> f64 {
    (sensitivity(facts) / (NOISE * f64::from(facts.keys_a_column))).powi(2)
}

/// How many keys of each kind units count for, of each column one after the other. Private, as what is held is.
pub fn totals(held: &HeldKeys, columns: u32) -> Vec<i128> {
    let mut counts = vec![0_i128; KINDS * columns as usize];
    for ((column, key), count) in &held.counts {
        if let Some(total) = counts.get_mut(KINDS * *column as usize + kind(key)) {
            *total += i128::from(*count);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_core::{Neighbours, Relation, Unit};
    use proptest::prelude::*;

    /// The keys of one unit: at most so many of a column, of any kinds.
    fn unit(columns: u32, most: u32) -> impl Strategy<Value = Vec<(u32, usize)>> {
        let column = prop::collection::vec(0..4 * KINDS, 0..=most as usize);
        prop::collection::vec(column, columns as usize).prop_map(|all| {
            let numbered = (0_u32..).zip(all);
            numbered.flat_map(|(at, keys)| keys.into_iter().map(move |key| (at, key))).collect()
        })
    }

    fn held(units: &[&Vec<(u32, usize)>]) -> HeldKeys {
        let mut held = HeldKeys { rows: 1, counts: Default::default() };
        for unit in units {
            let mut keys = (*unit).clone();
            keys.sort_unstable();
            keys.dedup();
            for (column, key) in keys {
                let at = key as i32;
                let key = match key % KINDS {
                    0 => CellKey::Bin(at),
                    1 => CellKey::Year(at),
                    2 => CellKey::Text(format!("t{at}")),
                    _ => CellKey::Text(MISSING[key / KINDS].into()),
                };
                *held.counts.entry((column, key)).or_insert(0) += 1;
            }
        }
        held
    }

    fn apart(a: &HeldKeys, b: &HeldKeys, columns: u32) -> f64 {
        let (a, b) = (totals(a, columns), totals(b, columns));
        a.iter().zip(&b).map(|(a, b)| ((a - b) as f64).powi(2)).sum::<f64>().sqrt()
    }

    fn facts(neighbours: Neighbours, columns: u32, keys_a_column: u32) -> OutlineFacts {
        let relation = Relation::new(neighbours, Unit::User { max_records: 9 });
        OutlineFacts { relation, rows: 1, columns, keys_a_column, kinds: true }
    }

    proptest! {
        #[test]
        fn totals_move_by_no_more_than_is_charged(
            (columns, most, others, one, other) in (1..4_u32, 1..4_u32).prop_flat_map(|(columns, most)| {
                let units = prop::collection::vec(unit(columns, most), 0..6);
                (Just(columns), Just(most), units, unit(columns, most), unit(columns, most))
            }),
        ) {
            let others: Vec<_> = others.iter().collect();
            let with = |own: &[&Vec<_>]| held(&[&others[..], own].concat());
            let (none, one, other) = (with(&[]), with(&[&one]), with(&[&other]));
            let bound = |neighbours| sensitivity(&facts(neighbours, columns, most));
            prop_assert!(apart(&none, &one, columns) <= bound(Neighbours::AddRemove));
            prop_assert!(apart(&one, &other, columns) <= bound(Neighbours::ReplaceOne));
        }
    }

    /// Met where a unit's keys are all of one kind, and all of another's.
    #[test]
    fn the_farthest_neighbours_move_all_that_is_charged() {
        let all = |kind: usize| {
            let two = [kind, kind + KINDS];
            (0..3).flat_map(|column| two.map(|key| (column, key))).collect::<Vec<_>>()
        };
        let (numbers, texts) = (held(&[&all(0)]), held(&[&all(2)]));
        for (neighbours, found) in [
            (Neighbours::AddRemove, apart(&numbers, &held(&[]), 3)),
            (Neighbours::ReplaceOne, apart(&numbers, &texts, 3)),
        ] {
            let bound = sensitivity(&facts(neighbours, 3, 2));
            assert!(found <= bound && found >= bound * (1.0 - 1e-12), "{found} {bound}");
        }
    }
}
