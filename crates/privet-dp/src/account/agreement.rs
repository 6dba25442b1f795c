//! The cost of labels by a noisy plurality whose voters agree: a data-dependent privacy loss.
//!
//! A histogram n counts votes by class; the label is the class whose count under N(0, σ²) noise is
//! largest. Between neighbours one vote moves. The label alone ([`crate::mechanism::NoisyArgmax`]) costs
//! a Gaussian release of sensitivity √2, whatever the votes. Where one class is far ahead it costs less,
//! by an amount that depends on the votes and is itself private. That amount is used in one way only, as
//! the quantity that is *tested* before labels are released ([`crate::mechanism::AgreedLabels`]); it is
//! never released, and no claim is made about it.
//!
//! **Theorem** (after Papernot, Song, Mironov, Raghunathan, Talwar & Erlingsson 2018, Theorem 6, with a
//! simpler first term). Let i be the class ahead, q̄ an upper bound on Pr\[label ≠ i\] under n *and*
//! under every n′ with one vote moved, and μ ≥ λ > 1. Then for the laws P, Q of the label under n, n′
//!
//! **D_λ(P‖Q) ≤ (1/(λ−1))·ln[(1 − q̄)^−(λ−1) + q̄^((μ−λ)/(μ−1))·e^((λ−1)μ/σ²)]**, and at most λ/σ².
//!
//! *Proof.* e^((λ−1)D_λ) = ΣP(P/Q)^(λ−1). The term of i is at most Q(i)^−(λ−1) ≤ (1 − q̄)^−(λ−1). The
//! others: Hölder with exponents (μ−1)/(λ−1) and its conjugate, Σ_{≠i} P(P/Q)^(λ−1) ≤
//! (ΣP(P/Q)^(μ−1))^((λ−1)/(μ−1))·P(≠i)^((μ−λ)/(μ−1)), whose first factor is at most e^((λ−1)·D_μ),
//! D_μ ≤ μ·2/(2σ²) (a Gaussian release of sensitivity √2). ∎
//!
//! It bounds *one* direction, from the given table to every neighbour, and so do the statements below.
//!
//! **q̄.** With gaps g_j = n_i − n_j, class j passes i with probability at most Φ(−g_j/(√2σ)); a moved
//! vote reduces a gap by at most 2. So q̄ₖ = Σ_{j≠i} Φ(−(g_j − 2(k+1))/(√2σ)), at most 1, bounds it for
//! all histograms that are at most k moved votes away, and their neighbours.
//!
//! **Lemma (shift).** For n′ with one vote moved, q̄ₖ(n′) ≤ q̄ₖ₊₁(n). *Proof.* If both have the same
//! class ahead, g′_j ≥ g_j − 2. If i leads n and i′ leads n′: for j other than both,
//! n′_i′ − n′_j ≥ n′_i − n′_j ≥ g_j − 2; and the gap of n′ to i is at least 0, that of n to i′ less 2 at
//! most n′_i − n′_i′ ≤ 0. So the gaps of n′, in some order, are at least those of n less 2. ∎
//!
//! **Distance.** Let Uₖ be the ε at δ of all labels together with q̄ₖ in every histogram: min over a
//! public list of λ of ΣD_λ + (ln(1/δ) + (λ−1)ln(1−1/λ) − ln λ)/(λ−1). d = least k ≤ b with Uₖ > limit,
//! b + 1 if there is none. Between neighbours (one voter: at most one vote moved in *every* histogram)
//! Uₖ(D′) ≤ Uₖ₊₁(D), hence |d − d′| ≤ 1; and d ≥ 1 means U₀ ≤ limit: the labels are (limit, δ)-close
//! from D to every neighbour.
//!
//! *In finite arithmetic* the lemma must hold for the computed numbers, or d could change by more. Every
//! step is monotone as executed: gaps are integers; the probability of a gap and the loss of a q̄ come
//! from tables made monotone by a running maximum; sums go over gaps in order and histograms in order,
//! and rounded addition is monotone; q̄ is found among the levels of a table by comparisons.
//!
//! Tested here against exact laws, and by `tests/all/argmax.rs`.

use super::error::{AccountError, positive, probability};
use super::normal::cdf;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of levels of q̄ per halving.
const PER_HALF: i32 = 8;
/// The last level.
const LEVELS: i32 = PER_HALF * 400;
/// Largest supported number of voters.
pub const MOST_VOTERS: u32 = 1_000_000;

/// The privacy loss of labels by a noisy plurality, as a function of the gaps between the classes.
#[derive(Debug, Clone)]
pub struct Agreement {
    voters: i64,
    /// Upper bound on the probability that a class passes the leader, by its gap from −2·voters − 4 on.
    passing: Vec<f64>,
    losses: Arc<Losses>,
}

/// Tables that depend on the noise and δ alone.
#[derive(Debug)]
struct Losses {
    /// Levels of q̄, from 1 downwards.
    levels: Vec<f64>,
    /// For each order: a constant added once, and the loss at each level.
    orders: Vec<(f64, Vec<f64>)>,
}

/// Number of cached tables, latest first: callers repeat the same noise, and a table takes a hundred
/// thousand logarithms.
const CACHED_TABLES: usize = 4;
/// Keyed by the bits of σ and δ, which are public.
type Kept = Vec<([u64; 2], Arc<Losses>)>;
static MADE: Mutex<Kept> = Mutex::new(Vec::new());

impl Losses {
    /// The tables for this noise and δ, cached or new.
    fn of(scale: f64, delta: f64) -> Arc<Self> {
        let key = [scale.to_bits(), delta.to_bits()];
        let kept = |made: &Kept| made.iter().find(|one| one.0 == key).map(|one| one.1.clone());
        // Entries are written whole, so a poisoned lock does no harm.
        let lock = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept(&lock()) {
            return found;
        }
        let losses = Arc::new(Self::new(scale, delta));
        let mut made = lock();
        made.truncate(CACHED_TABLES - 1);
        made.insert(0, (key, losses.clone()));
        losses
    }

    fn new(scale: f64, delta: f64) -> Self {
        let levels: Vec<f64> = (0..=LEVELS)
            .map(|level| libm::exp2(-f64::from(level) / f64::from(PER_HALF)) * (1.0 + 1e-12))
            .collect();
        let order = |power: i32| {
            let s = libm::exp2(f64::from(power) / 2.0);
            let once = (-libm::log(delta) - s * libm::log1p(1.0 / s) - libm::log1p(s)) / s;
            let mut losses: Vec<f64> =
                levels.iter().map(|level| loss(1.0 + s, *level, scale)).collect();
            running_maximum(&mut losses);
            // Margin for the rounding of the sums that use it.
            (once + 1e-12 * (1.0 + once.abs()), losses)
        };
        Self { orders: (-4..=40).map(order).collect(), levels }
    }
}

/// The gaps between the leading class and each other class of one histogram, in increasing order.
#[derive(Clone, PartialEq, Eq)]
pub struct Gaps(Vec<i64>);

impl std::fmt::Debug for Gaps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gaps(withheld)")
    }
}

impl Gaps {
    /// The gaps of a histogram of votes.
    pub fn of(votes: &[u32]) -> Self {
        let lead = votes.iter().enumerate().fold((0, 0), |best, (place, count)| {
            if *count > best.1 { (place, *count) } else { best }
        });
        let others = votes.iter().enumerate().filter(|(place, _)| *place != lead.0);
        let mut gaps: Vec<i64> =
            others.map(|(_, count)| i64::from(lead.1) - i64::from(*count)).collect();
        gaps.sort_unstable();
        Self(gaps)
    }
}

impl Agreement {
    /// For `voters` voters, noise of this scale, and labels that together may fail with probability δ.
    pub fn new(noise_scale: f64, voters: u32, delta: f64) -> Result<Self, AccountError> {
        let scale = positive("noise_scale", noise_scale)?;
        let delta = positive("delta", probability("delta", delta)?)?;
        if voters > MOST_VOTERS {
            return Err(AccountError::TooMany { most: u64::from(MOST_VOTERS) });
        }
        let voters = i64::from(voters);
        let passed = |gap: i64| {
            let x = -(gap as f64) / (std::f64::consts::SQRT_2 * scale);
            cdf(x) * (1.0 + 1e-12)
        };
        let mut passing: Vec<f64> = (-2 * voters - 4..=voters).map(passed).collect();
        running_maximum(&mut passing);
        Ok(Self { voters, passing, losses: Losses::of(scale, delta) })
    }

    /// Index of the smallest level not below q̄ₖ.
    fn level(&self, gaps: &Gaps, moved: i64) -> usize {
        let sum: f64 = gaps.0.iter().map(|gap| self.passed(gap - 2 * (moved + 1))).sum();
        // The last level that is not below it; the sum's own rounding is within the levels' margin.
        let above = self.losses.levels.partition_point(|level| *level >= sum * (1.0 + 1e-12));
        above.saturating_sub(1)
    }

    fn passed(&self, gap: i64) -> f64 {
        let place = gap.clamp(-2 * self.voters - 4, self.voters) + 2 * self.voters + 4;
        self.passing[place as usize]
    }

    /// Uₖ: the ε at δ of the labels of these histograms, and of all histograms up to `moved` moved votes
    /// away.
    pub fn epsilon(&self, histograms: &[Gaps], moved: u32) -> f64 {
        let levels: Vec<usize> =
            histograms.iter().map(|gaps| self.level(gaps, i64::from(moved))).collect();
        let of_order = |(once, losses): &(f64, Vec<f64>)| {
            levels.iter().fold(*once, |sum, level| sum + losses[*level])
        };
        let best = self.losses.orders.iter().map(of_order).fold(f64::INFINITY, f64::min);
        best.max(0.0) * (1.0 + 1e-9)
    }

    /// d: the number of voters that must change before the labels could cost more than `limit`.
    pub fn distance(&self, histograms: &[Gaps], limit: f64) -> i64 {
        // Uₖ grows with k.
        let (mut within, mut beyond) = (-1, self.voters + 1);
        while beyond - within > 1 {
            let middle = (within + beyond) / 2;
            if self.epsilon(histograms, middle as u32) <= limit {
                within = middle;
            } else {
                beyond = middle;
            }
        }
        beyond
    }
}

/// The theorem's bound at the best μ, and at most λ/σ².
fn loss(order: f64, wrong: f64, scale: f64) -> f64 {
    let s = order - 1.0;
    let plain = order / (scale * scale);
    if wrong >= 1.0 {
        return plain * (1.0 + 1e-12);
    }
    let ln_wrong = libm::log(wrong);
    // Any μ ≥ λ is valid; this is the minimiser.
    let mu = (1.0 + scale * libm::sqrt(-ln_wrong)).max(order);
    let ln_others = (mu - order) / (mu - 1.0) * ln_wrong + s * mu / (scale * scale);
    let ln_same = -s * libm::log1p(-wrong);
    // ln(e^a + e^b) − 0 for a near 0: in a form that keeps small losses.
    let found = if ln_same < 1e-3 && ln_others < -1.0 {
        libm::log1p(libm::expm1(ln_same) + libm::exp(ln_others))
    } else {
        super::normal::ln_add_exp(ln_same, ln_others)
    };
    (found * (1.0 + 1e-11) / s).min(plain * (1.0 + 1e-12)).max(0.0)
}

/// Makes a table non-increasing: each entry becomes the maximum of itself and all later ones.
fn running_maximum(table: &mut [f64]) {
    let mut most = 0.0_f64;
    for entry in table.iter_mut().rev() {
        most = most.max(*entry);
        *entry = most;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pr[label = i], by Simpson's rule over the winner's count.
    fn labels(votes: &[u32], scale: f64) -> Vec<f64> {
        let one = |winner: usize| {
            let (steps, reach) = (2_000, 12.0);
            let width = 2.0 * reach / f64::from(steps);
            let at = |k: i32| {
                let x = -reach + f64::from(k) * width;
                let count = f64::from(votes[winner]) + scale * x;
                let others = (0..votes.len()).filter(|place| *place != winner);
                let below = others
                    .map(|place| cdf((count - f64::from(votes[place])) / scale))
                    .product::<f64>();
                (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * below
            };
            let inner: f64 = (1..steps).map(|k| at(k) * if k % 2 == 1 { 4.0 } else { 2.0 }).sum();
            (at(0) + inner + at(steps)) * width / 3.0
        };
        (0..votes.len()).map(one).collect()
    }

    fn moved(votes: &[u32]) -> Vec<Vec<u32>> {
        let places = 0..votes.len();
        let pairs = places.clone().flat_map(|a| places.clone().map(move |b| (a, b)));
        let possible = pairs.filter(|(a, b)| a != b && votes[*a] > 0);
        possible
            .map(|(a, b)| {
                let mut other = votes.to_vec();
                other[a] -= 1;
                other[b] += 1;
                other
            })
            .collect()
    }

    /// D_λ(P‖Q) of the exact laws of the label is never above the bound, for every possible moved vote.
    #[test]
    fn the_loss_bounds_the_divergence_of_the_exact_laws() {
        for (votes, scale) in [
            (vec![10, 2], 2.0),
            (vec![14, 3, 1], 3.0),
            (vec![6, 5, 5], 2.0),
            (vec![25, 0, 0], 4.0),
            (vec![8, 7], 10.0),
            (vec![30, 1, 2, 0], 6.0),
        ] {
            let voters = votes.iter().sum();
            let table = Agreement::new(scale, voters, 1e-5).unwrap();
            let level = table.level(&Gaps::of(&votes), 0);
            let first = labels(&votes, scale);
            for other in moved(&votes) {
                let second = labels(&other, scale);
                for order in [1.25_f64, 2.0, 5.0, 20.0] {
                    let s = order - 1.0;
                    let sum: f64 =
                        first.iter().zip(&second).map(|(p, q)| p * (p / q).powf(s)).sum();
                    let exact = sum.ln() / s;
                    let bound = loss(order, table.losses.levels[level], scale);
                    assert!(exact <= bound + 1e-8, "{votes:?} {other:?} {order}: {exact} {bound}");
                }
            }
        }
        // Where voters agree the loss is far below its general bound.
        let far = loss(20.0, 1e-12, 10.0);
        assert!(far < 1e-3 * 20.0 / 100.0, "{far}");
    }

    proptest! {
        /// One voter, who moves a vote in every histogram, changes the distance by at most 1, as
        /// executed; and where it is above 0 the labels cost at most the limit.
        #[test]
        fn one_voter_moves_the_distance_by_at_most_one(
            rows in proptest::collection::vec(proptest::collection::vec(0_u32..40, 3), 1..6),
            picks in proptest::collection::vec((0_usize..3, 0_usize..3), 6),
            scale in 2.0_f64..20.0, limit in 0.05_f64..3.0,
        ) {
            let table = Agreement::new(scale, 120, 1e-5).unwrap();
            let gaps = |rows: &[Vec<u32>]| rows.iter().map(|row| Gaps::of(row)).collect::<Vec<_>>();
            let mut other = rows.clone();
            for (row, (from, to)) in other.iter_mut().zip(&picks) {
                if row[*from] > 0 {
                    row[*from] -= 1;
                    row[*to] += 1;
                }
            }
            let (here, there) = (gaps(&rows), gaps(&other));
            for k in 0..20 {
                prop_assert!(table.epsilon(&there, k) <= table.epsilon(&here, k + 1));
            }
            let (a, b) = (table.distance(&here, limit), table.distance(&there, limit));
            prop_assert!((a - b).abs() <= 1, "{a} {b}");
            prop_assert!(a == 0 || table.epsilon(&here, 0) <= limit);
        }
    }

    #[test]
    fn settings_that_are_none_are_refused() {
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Agreement::new(scale, 10, 1e-5).is_err());
        }
        for delta in [0.0, 1.5, f64::NAN] {
            assert!(Agreement::new(1.0, 10, delta).is_err());
        }
        assert!(Agreement::new(1.0, MOST_VOTERS + 1, 1e-5).is_err());
        assert_eq!(format!("{:?}", Gaps::of(&[3, 9])), "Gaps(withheld)");
    }
}
