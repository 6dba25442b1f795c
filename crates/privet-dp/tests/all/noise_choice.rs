//! Choices, orders and subsets. False failure ≤ 1e-10 a test.

use crate::noise_common::{allowed_count_error, fresh};
use privet_dp::noise::{
    Part, Parts, SignedChoice, choose_by_weight, choose_lazily, report_noisy_max, subset,
};
use std::collections::HashMap;

const ROUNDS: usize = 300_000;

fn check(counts: &[usize], probabilities: &[f64], seed: u64) {
    for (index, (&count, &p)) in counts.iter().zip(probabilities).enumerate() {
        let error = (count as f64 - ROUNDS as f64 * p).abs();
        let allowed = allowed_count_error(ROUNDS, p, 2 * probabilities.len());
        assert!(error <= allowed, "{index}: {count} of {ROUNDS} at p = {p}, seed {seed}");
    }
}

fn softmax(scores: &[i64], rate: f64) -> Vec<f64> {
    let weights: Vec<f64> = scores.iter().map(|score| (*score as f64 * rate).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

#[test]
fn both_ways_of_choosing_have_the_exponential_law() {
    let (mut source, seed) = fresh();
    let (scores, rate) = ([3, -2, 0, 5, 5, 1], 0.37);
    let (mut exact, mut noisy) = (vec![0; scores.len()], vec![0; scores.len()]);
    let reals = scores.map(|score| score as f64);
    for _ in 0..ROUNDS {
        exact[choose_by_weight(&scores, rate, &mut source).unwrap()] += 1;
        noisy[report_noisy_max(&reals, 1.0 / rate, &mut source).unwrap()] += 1;
    }
    check(&exact, &softmax(&scores, rate), seed);
    check(&noisy, &softmax(&scores, rate), seed);
}

#[test]
fn a_rate_ten_per_cent_off_is_caught() {
    let (mut source, seed) = fresh();
    let scores = [0, 4];
    let hits = (0..ROUNDS).filter(|_| choose_by_weight(&scores, 0.275, &mut source) == Ok(1));
    let p = softmax(&scores, 0.25)[1];
    let error = (hits.count() as f64 - ROUNDS as f64 * p).abs();
    assert!(error > 1.5 * allowed_count_error(ROUNDS, p, 4), "error {error}, seed {seed}");
}

#[test]
fn all_orders_and_all_subsets_are_equally_likely() {
    let (mut source, seed) = fresh();
    let (mut orders, mut subsets) = (HashMap::new(), HashMap::new());
    for _ in 0..ROUNDS {
        let mut items = [0, 1, 2, 3];
        subset::shuffle(&mut items, &mut source);
        *orders.entry(items).or_insert(0_usize) += 1;
        let chosen = subset::without_replacement(3, 6, &mut source).unwrap();
        *subsets.entry(chosen).or_insert(0_usize) += 1;
    }
    assert_eq!((orders.len(), subsets.len()), (24, 20));
    check(&orders.into_values().collect::<Vec<_>>(), &[1.0 / 24.0; 24], seed);
    check(&subsets.into_values().collect::<Vec<_>>(), &[1.0 / 20.0; 20], seed);
}

#[test]
fn poisson_subsets_take_each_record_with_its_probability() {
    let (mut source, seed) = fresh();
    let mut counts = [0; 10];
    let mut pairs = 0;
    for _ in 0..ROUNDS {
        let chosen = subset::poisson(0.2, 10, &mut source).unwrap();
        chosen.iter().for_each(|index| counts[*index] += 1);
        pairs += usize::from(chosen.contains(&3) && chosen.contains(&7));
    }
    check(&counts, &[0.2; 10], seed);
    check(&[pairs], &[0.04], seed);
}

/// The law over signed columns, with scores set, changed and changed back: near each other, many
/// buckets apart, and a rate so small that one bucket holds all.
#[test]
fn signed_columns_have_the_exponential_law() {
    let (mut source, seed) = fresh();
    let unit = 1_i64 << 20;
    for (scores, rate) in [
        ([3, -2, 0, 5, -5, 1], 0.37),
        ([40, -33, 0, 41, 7, -38], 0.37),
        ([1, -2, 0, 2, 0, 1], 1e-3),
        ([6, -5, 0, 1, 2, 6], 0.9),
    ] {
        let mut choice = SignedChoice::new(scores.len(), rate / unit as f64).unwrap();
        for score in [i64::MAX, -7 * unit, 0] {
            (0..scores.len()).for_each(|column| choice.set(column, score));
        }
        scores.iter().enumerate().for_each(|(column, score)| choice.set(column, score * unit));
        let mut counts = vec![0; 2 * scores.len()];
        for _ in 0..ROUNDS {
            let (column, negative) = choice.draw(&mut source);
            counts[2 * column + usize::from(negative)] += 1;
        }
        let both: Vec<i64> = scores.iter().flat_map(|score| [*score, -score]).collect();
        check(&counts, &softmax(&both, rate), seed);
    }
}

/// Scores in parts that are halved; bounds are loose by a number that differs from part to part.
struct Halved {
    scores: Vec<i64>,
    loose: i64,
}

impl Halved {
    fn part(&self, first: u64, size: u64, most: i64, depth: u8) -> Part {
        let own = self.scores[first as usize..(first + size) as usize].iter().max().unwrap();
        let slack = if size == 1 { 0 } else { self.loose * (1 + first as i64 % 3) };
        Part { first, size, bound: (own + slack).min(most), depth }
    }
}

impl Parts for Halved {
    fn whole(&self) -> Part {
        self.part(0, self.scores.len() as u64, i64::MAX, 0)
    }

    fn score(&self, candidate: u64) -> i64 {
        self.scores[candidate as usize]
    }

    fn divide(&mut self, part: Part, out: &mut dyn FnMut(Part)) -> bool {
        let half = part.size / 2;
        out(self.part(part.first, half, part.bound, part.depth + 1));
        out(self.part(part.first + half, part.size - half, part.bound, part.depth + 1));
        true
    }
}

/// The law of a lazy choice is that of a plain one: with tight and loose bounds, far and near scores, a
/// rate at which one bucket holds all and one at which buckets are far apart.
#[test]
fn candidates_in_parts_have_the_exponential_law() {
    let (mut source, seed) = fresh();
    let scores = vec![-3, -20, 0, -5, -4, -4, -1000, -9, -2, -1, -30, -6, -7];
    for (rate, loose) in [(0.37, 0), (0.37, 7), (0.05, 40), (1.9, 3), (0.001, 500)] {
        let mut counts = vec![0; scores.len()];
        for _ in 0..ROUNDS {
            let mut parts = Halved { scores: scores.clone(), loose };
            let chosen = choose_lazily(&mut parts, rate, &mut source).unwrap().unwrap();
            counts[chosen as usize] += 1;
        }
        check(&counts, &softmax(&scores, rate), seed);
    }
}

/// Millions of candidates of which one stands out: few are scored.
#[test]
fn few_scores_are_looked_at_where_bounds_are_good() {
    struct Counted {
        looked: std::cell::Cell<u64>,
        divided: u64,
    }
    impl Parts for Counted {
        fn whole(&self) -> Part {
            Part { first: 0, size: 1 << 30, bound: 0, depth: 0 }
        }
        fn score(&self, candidate: u64) -> i64 {
            self.looked.set(self.looked.get() + 1);
            if candidate == 12_345_678 { 0 } else { -100 }
        }
        fn divide(&mut self, part: Part, out: &mut dyn FnMut(Part)) -> bool {
            self.divided += 1;
            let half = part.size / 2;
            for first in [part.first, part.first + half] {
                let best = (first..first + half).contains(&12_345_678);
                out(Part {
                    first,
                    size: half,
                    bound: if best { 0 } else { -100 },
                    depth: part.depth + 1,
                });
            }
            true
        }
    }
    let (mut source, _) = fresh();
    let mut parts = Counted { looked: Default::default(), divided: 0 };
    assert_eq!(choose_lazily(&mut parts, 1.0, &mut source), Ok(Some(12_345_678)));
    assert!(parts.divided <= 30 && parts.looked.get() < 1000, "{}", parts.looked.get());
}
