//! One choice of a signed column with exponential weights, if few scores change between choices.
//!
//! **Law, exact.** (j, s), s = ±1, is returned with probability ∝ e^(rate·s·score_j), for integer scores
//! and the dyadic number that `rate` is: the law of [`super::choose_by_weight`] over 2p candidates.
//! Changing a score takes constant time, a choice a number of rounds that does not grow with p.
//!
//! *Method.* Let w be an integer with rate·w ≥ ln 2. Column j lies in bucket b = ⌊|score_j|/w⌋; B is the
//! highest that is not empty and q = Bw + w − 1 the largest score it can hold. A round proposes a bucket
//! with weight (columns in it)·2^(b−B) — all those 63 or more below B together, 2⁻⁶³ a column —, a
//! column in it and a sign uniformly, and keeps the proposal with probability
//! e^(−rate·(q − s·score_j))·2^min(B−b, 63); else the round is repeated.
//!
//! *Proof.* Weights and draws are integers, and the coin is exact ([`Exponent`]). The last number is a
//! probability: q − |score_j| ≥ (B − b)w because |score_j| ≤ bw + w − 1, and rate·w ≥ ln 2. A round
//! returns (j, s) with probability proportional to 2^(−min(B−b, 63)) times it, which is
//! e^(rate·s·score_j) times a constant. ∎
//!
//! *Rounds.* With w ≥ 2¹⁰ (any fine unit of scores) |score_j| is within w of its bucket's end and rate·w
//! within 0.2 % of ln 2: a column of one of the first buckets is kept with probability about ¼ or more,
//! so that few rounds are expected. Their number depends on the scores, as there.
//!
//! *Removal.* A removed column ([`SignedChoice::remove`]) is in no bucket: the law is that over the
//! remaining columns.
//!
//! Tested by `tests/all/noise_choice.rs`.

use super::bernoulli::Exponent;
use super::exact::exponent::{Scale, dyadic_parts};
use super::{NoiseError, RATE, Source};
use std::collections::BTreeMap;

/// Buckets this far below the highest are proposed together.
const DEPTH: u64 = 63;

/// Columns with integer scores, of which one is chosen with a sign.
pub struct SignedChoice {
    mantissa: u64,
    exponent: i32,
    /// The bucket width w.
    width: u64,
    scores: Vec<i64>,
    /// The index of each column in its bucket, or [`OUT`].
    places: Vec<u32>,
    /// The columns of every bucket that is not empty.
    buckets: BTreeMap<u64, Vec<u32>>,
    /// The number of columns that can be chosen.
    left: usize,
}

/// The index of a removed column.
const OUT: u32 = u32::MAX;

/// Withheld: scores are computed from records.
impl std::fmt::Debug for SignedChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SignedChoice({} columns, scores withheld)", self.scores.len())
    }
}

impl SignedChoice {
    /// `columns` columns, each with score 0.
    pub fn new(columns: usize, rate: f64) -> Result<Self, NoiseError> {
        let (mantissa, exponent) = dyadic_parts(RATE.check(rate)?);
        let Ok(count) = u32::try_from(columns) else {
            return Err(NoiseError::TooManyCandidates { candidates: columns });
        };
        if count == 0 {
            return Err(NoiseError::NoCandidates);
        }
        // Rounded up by more than the quotient's rounding; a width beyond u64 saturates, and then
        // every score is in one bucket.
        let width = (std::f64::consts::LN_2 / rate * (1.0 + 1e-12)).ceil() as u64;
        Ok(Self {
            mantissa,
            exponent,
            width: width.max(1),
            scores: vec![0; columns],
            places: (0..count).collect(),
            buckets: BTreeMap::from([(0, (0..count).collect())]),
            left: columns,
        })
    }

    /// Sets the score of a column; a removed one stays removed.
    ///
    /// # Panics
    /// When there is no such column.
    pub fn set(&mut self, column: usize, score: i64) {
        let old = std::mem::replace(&mut self.scores[column], score);
        let (from, to) = (self.bucket(old), self.bucket(score));
        if from == to || self.places[column] == OUT {
            return;
        }
        self.leave(column, from);
        let bucket = self.buckets.entry(to).or_default();
        self.places[column] = bucket.len() as u32;
        bucket.push(column as u32);
    }

    /// Removes a column from the candidates; the last one stays.
    ///
    /// # Panics
    /// When there is no such column.
    pub fn remove(&mut self, column: usize) {
        if self.places[column] == OUT || self.left == 1 {
            return;
        }
        self.leave(column, self.bucket(self.scores[column]));
        self.places[column] = OUT;
        self.left -= 1;
    }

    /// Removes a column from its bucket.
    fn leave(&mut self, column: usize, from: u64) {
        let place = self.places[column] as usize;
        if let Some(bucket) = self.buckets.get_mut(&from) {
            bucket.swap_remove(place);
            if let Some(moved) = bucket.get(place) {
                self.places[*moved as usize] = place as u32;
            }
            if bucket.is_empty() {
                self.buckets.remove(&from);
            }
        }
    }

    fn bucket(&self, score: i64) -> u64 {
        score.unsigned_abs() / self.width
    }

    /// Draws a column and the sign: true if it is negative.
    pub fn draw<S: Source + ?Sized>(&self, source: &mut S) -> (usize, bool) {
        let highest = self.buckets.keys().next_back().copied().unwrap_or(0);
        let last = highest.saturating_mul(self.width).saturating_add(self.width - 1);
        // (bucket, how far below the highest, weight); below 2³² columns · 2⁶³ each.
        let near: Vec<(&[u32], u64, u128)> = self
            .buckets
            .range(highest.saturating_sub(DEPTH - 1)..)
            .rev()
            .map(|(bucket, columns)| {
                let below = highest - bucket;
                (&columns[..], below, (columns.len() as u128) << (DEPTH - below))
            })
            .collect();
        let known: usize = near.iter().map(|(columns, ..)| columns.len()).sum();
        let far = self.left - known;
        let total = near.iter().map(|(.., weight)| weight).sum::<u128>() + far as u128;
        loop {
            let mut at = below(total, source);
            let mut proposed = None;
            for (columns, below, weight) in &near {
                if at < *weight {
                    proposed = Some((columns[(at >> (DEPTH - below)) as usize], *below));
                    break;
                }
                at -= weight;
            }
            let (column, lift) = proposed.unwrap_or_else(|| (self.far_column(highest, at), DEPTH));
            let column = column as usize;
            let negative = source.bits(1) == 1;
            let size = i128::from(self.scores[column]);
            let signed = if negative { -size } else { size };
            // At least 0 and below 2⁶⁵; times a mantissa below 2⁵³.
            let gap = (i128::from(last) - signed).unsigned_abs();
            let exponent = Exponent::new(gap * u128::from(self.mantissa), 1, -self.exponent);
            let word = source.next_u64();
            if exponent.decide(word, Scale { mantissa: 1, shift: 64 + lift as u32 }, source) {
                return (column, negative);
            }
        }
    }

    /// The column of this rank among those far below the highest bucket.
    fn far_column(&self, highest: u64, rank: u128) -> u32 {
        let mut rank = rank as usize;
        for columns in self.buckets.range(..highest.saturating_sub(DEPTH - 1)).map(|(_, c)| c) {
            match columns.get(rank) {
                Some(column) => return *column,
                None => rank -= columns.len(),
            }
        }
        debug_assert!(false, "a rank beyond the columns there are");
        0
    }
}

/// Uniform on 0 … bound − 1, bound > 0: as many bits as the bound has, redrawn until they fit.
pub(super) fn below<S: Source + ?Sized>(bound: u128, source: &mut S) -> u128 {
    let bits = 128 - bound.leading_zeros();
    loop {
        let value = if bits <= 64 {
            u128::from(source.bits(bits))
        } else {
            u128::from(source.bits(bits - 64)) << 64 | u128::from(source.next_u64())
        };
        if value < bound {
            return value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::FixedSeed;
    use proptest::prelude::*;

    proptest! {
        /// After any changes every column is once in the bucket of its score.
        #[test]
        fn buckets_hold_every_column_once(
            changes in proptest::collection::vec((0_usize..9, any::<i64>()), 0..60),
            rate in prop_oneof![Just(5e-324), Just(1e-15), Just(0.3), Just(f64::MAX)],
        ) {
            let mut choice = SignedChoice::new(9, rate).unwrap();
            for (at, (column, score)) in changes.iter().enumerate() {
                choice.set(*column, *score);
                if at % 8 == 7 {
                    choice.remove(*column);
                }
            }
            let out = choice.places.iter().filter(|place| **place == OUT).count();
            prop_assert_eq!(choice.left, 9 - out);
            let mut seen = [false; 9];
            for (bucket, columns) in &choice.buckets {
                prop_assert!(!columns.is_empty());
                for (place, column) in columns.iter().enumerate() {
                    let column = *column as usize;
                    prop_assert!(!std::mem::replace(&mut seen[column], true));
                    prop_assert_eq!(choice.places[column] as usize, place);
                    prop_assert_eq!(choice.bucket(choice.scores[column]), *bucket);
                }
            }
            for (seen, place) in seen.iter().zip(&choice.places) {
                prop_assert_eq!(*seen, *place != OUT);
            }
        }
    }

    /// The widest scores and the extreme rates neither overflow nor stall.
    #[test]
    fn extremes_are_drawn() {
        for rate in [f64::MAX, 1.0, 1e-18, 5e-324] {
            let mut choice = SignedChoice::new(3, rate).unwrap();
            choice.set(0, i64::MIN);
            choice.set(1, i64::MAX);
            let (column, negative) = choice.draw(&mut FixedSeed::new(1));
            assert!(rate < 1e-10 || (column == 0 && negative) || (column == 1 && !negative));
        }
        assert_eq!(SignedChoice::new(0, 1.0).err(), Some(NoiseError::NoCandidates));
        assert!(SignedChoice::new(1, f64::NAN).is_err());
    }

    /// `far` finds every column below the highest bucket by its rank.
    #[test]
    fn ranks_far_below_are_found() {
        let mut choice = SignedChoice::new(4, 1.0).unwrap();
        choice.set(2, 1_000);
        choice.set(3, 500);
        let found: Vec<u32> = (0..3).map(|rank| choice.far_column(1_000, rank)).collect();
        assert_eq!(
            {
                let mut sorted = found.clone();
                sorted.sort_unstable();
                sorted
            },
            [0, 1, 3]
        );
    }
}
