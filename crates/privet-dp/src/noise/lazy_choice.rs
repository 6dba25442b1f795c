//! One choice among very many candidates with exponential weights, most of whose scores are never
//! computed.
//!
//! **Law, exact.** Candidate c with probability ∝ e^(rate·score_c), for integer scores and the dyadic
//! number that `rate` is: the law of [`super::choose_by_weight`]. The candidates come in *parts*
//! ([`Parts`]), each with its size and an integer that no score in it exceeds. A bound postpones a part,
//! and never removes one: every candidate keeps its probability.
//!
//! *Method.* A round proposes a part with weight size·e^(rate·bound), in it a candidate uniformly,
//! computes its score, and keeps it with probability e^(rate·(score − bound)). Otherwise the part is
//! divided, if possible, and the next round begins.
//!
//! *Proof.* Given all rounds before, a round returns candidate c with probability e^(rate·score_c)/Z,
//! where Z = Σ size·e^(rate·bound) over the current parts, whichever they are. So given that a round
//! ends the choice, the law is the one stated, whatever was divided before; and a mixture of the same
//! law is that law. Each round that keeps nothing divides a part that can be divided, of which there are
//! finitely many: the choice ends. ∎
//!
//! *In integers*, as [`super::SignedChoice`]: with rate·w ≥ ln 2, a part whose bound is u lies in bucket
//! b = ⌊(u₀ − u)/w⌋, u₀ the bound of the whole. Let B be the first that is not empty, t = u₀ − Bw ≥ u,
//! and k = min(b − B, 63). The part is proposed with weight 2^bits·2^(−k), 2^bits the least power of two
//! that is at least its size (again, with probability size/2^bits of being kept), and its candidate is
//! kept with probability e^(−rate·(t − score))·2^k: at most 1, since t − score ≥ t − u ≥ kw. The product
//! is e^(rate·score) times a factor that is the same for all.
//!
//! The number of rounds, and the set of computed scores, depend on the scores: the running time is not
//! private.
//! Tested by `tests/all/noise_choice.rs`.

use super::bernoulli::Exponent;
use super::exact::exponent::{Scale, dyadic_parts};
use super::signed_choice::below;
use super::{NoiseError, RATE, Source};
use std::collections::BTreeMap;

/// Buckets this far below the first are proposed together.
const DEPTH: u64 = 63;

/// Largest number of candidates.
pub const MOST_CANDIDATES: u64 = 1 << 40;

/// A part of the candidates: their number, and an upper bound on their scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Index of the first candidate; they are numbered consecutively.
    pub first: u64,
    /// The number of candidates, above 0.
    pub size: u64,
    /// Upper bound on their scores.
    pub bound: i64,
    /// The number of divisions that led to this part.
    pub depth: u8,
}

/// Candidates in parts, scored on demand.
pub trait Parts {
    /// Returns the part of all candidates.
    fn whole(&self) -> Part;
    /// Returns the score of a candidate: always the same number, whatever was divided.
    fn score(&self, candidate: u64) -> i64;
    /// Splits a part of more than one candidate: passes smaller parts to `out` that have exactly its
    /// candidates, and bounds of at most its own. `false` ends the choice, with nothing chosen.
    fn divide(&mut self, part: Part, out: &mut dyn FnMut(Part)) -> bool;
}

/// The current parts: by bucket, and by bits of their size.
struct Frontier {
    width: u64,
    top: i64,
    kept: BTreeMap<(u64, u32), Vec<Part>>,
}

impl Frontier {
    fn add(&mut self, part: Part) {
        let bucket = (i128::from(self.top) - i128::from(part.bound)).max(0) as u128;
        let bucket = (bucket / u128::from(self.width)) as u64;
        let bits = 64 - (part.size.max(1) - 1).leading_zeros();
        self.kept.entry((bucket, bits)).or_default().push(part);
    }

    /// Proposes a part with probability ∝ 2^bits·2^(−k), kept with probability size/2^bits: returns its
    /// key and index, B and k.
    fn propose<S: Source + ?Sized>(&self, source: &mut S) -> Option<((u64, u32), usize, u64, u64)> {
        let first = self.kept.keys().next()?.0;
        // Fewer than 2^41 candidates, rounded up to powers of two, times 2^63.
        let weight = |(bucket, bits): &(u64, u32), parts: &Vec<Part>| {
            let lift = DEPTH - (bucket - first).min(DEPTH);
            ((parts.len() as u128) << bits) << lift
        };
        let total: u128 = self.kept.iter().map(|(key, parts)| weight(key, parts)).sum();
        loop {
            let mut at = below(total, source);
            for (key, parts) in &self.kept {
                let own = weight(key, parts);
                if at < own {
                    let below_first = (key.0 - first).min(DEPTH);
                    let at = at >> (DEPTH - below_first);
                    let (place, rank) = ((at >> key.1) as usize, at & ((1 << key.1) - 1));
                    if rank < u128::from(parts[place].size) {
                        return Some((*key, place, first, below_first));
                    }
                    break;
                }
                at -= own;
            }
        }
    }
}

/// Returns candidate c with probability ∝ e^(rate·score_c), exactly; `None` if the division was stopped.
pub fn choose_lazily<S: Source + ?Sized>(
    parts: &mut dyn Parts,
    rate: f64,
    source: &mut S,
) -> Result<Option<u64>, NoiseError> {
    let (mantissa, exponent) = dyadic_parts(RATE.check(rate)?);
    let whole = parts.whole();
    if whole.size == 0 {
        return Err(NoiseError::NoCandidates);
    }
    if whole.size > MOST_CANDIDATES {
        return Err(NoiseError::TooManyCandidates { candidates: whole.size as usize });
    }
    // Rounded up by more than the quotient's rounding.
    let width = (std::f64::consts::LN_2 / rate * (1.0 + 1e-12)).ceil() as u64;
    let mut frontier = Frontier { width: width.max(1), top: whole.bound, kept: BTreeMap::new() };
    frontier.add(whole);
    loop {
        let Some((key, place, first, lift)) = frontier.propose(source) else { return Ok(None) };
        let part = frontier.kept[&key][place];
        let candidate = part.first + source.below(part.size);
        let score = parts.score(candidate);
        debug_assert!(score <= part.bound, "a score above its bound");
        let best = i128::from(frontier.top) - i128::from(first) * i128::from(frontier.width);
        let gap = (best - i128::from(score)).max(0).unsigned_abs();
        let coin = Exponent::new(gap * u128::from(mantissa), 1, -exponent);
        let word = source.next_u64();
        if coin.decide(word, Scale { mantissa: 1, shift: 64 + lift as u32 }, source) {
            return Ok(Some(candidate));
        }
        if part.size > 1 {
            if let Some(same) = frontier.kept.get_mut(&key) {
                same.swap_remove(place);
                if same.is_empty() {
                    frontier.kept.remove(&key);
                }
            }
            if !parts.divide(part, &mut |smaller| frontier.add(smaller)) {
                return Ok(None);
            }
        }
    }
}
