//! Goodness of fit of every sampler against its exact law.
//!
//! **Theorem** (Dvoretzky, Kiefer & Wolfowitz; constant of Massart 1990). For any law F and n draws
//! Pr\[sup|Fₙ − F| > t\] ≤ 2·exp(−2nt²). A sampler passes if its gap is at most the t of 1e-9 divided by
//! the number of laws tried: exact samplers fail these tests with probability at most 1e-9.
//!
//! A gap of F is insensitive where F is nearly 0 or 1: therefore every law has a **rare cell** (a tail,
//! or the atoms beside the centre), and is tested on **disjoint pairs** of successive draws, both of
//! which must fall into a common cell with the square of its probability. Both counts are binomial; a
//! sampler passes if neither tail probability is below 1e-9 divided by the number of counts: exact
//! samplers fail these, too, with probability at most 1e-9.
//!
//! The tests are tested: a scale 10 % off must fail (`tests/audit/samplers.rs`).

use crate::bits::noise_failed;
use crate::interval::binomial_cdf;
use crate::{AuditError, normal};
use privet_dp::noise::bernoulli::Coin;
use privet_dp::noise::subset::without_replacement;
use privet_dp::noise::{
    DiscreteGaussian, DiscreteLaplace, FixedSeed, GridGaussian, Gumbel, L2Laplace, Source,
};
use serde::Serialize;

/// Probability of a false alarm of one audit, for gaps and for counts each.
const FALSE_ALARM: f64 = 1e-9;
/// Maximum number of laws and scales tried, and of counts.
const LAWS: f64 = 64.0;

/// Fit of one law at one scale.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// Name of the law.
    pub law: &'static str,
    /// Scale of the law.
    pub scale: f64,
    /// The gap, sup|Fₙ − F|.
    pub gap: f64,
    /// The largest gap that passes.
    pub allowed: f64,
}

impl Fit {
    /// True if the law fits.
    pub fn passes(&self) -> bool {
        self.gap <= self.allowed
    }
}

/// Frequency of an event of known probability.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventCount {
    /// Name of the law.
    pub law: &'static str,
    /// Scale of the law.
    pub scale: f64,
    /// The event counted.
    pub what: &'static str,
    /// The number of occurrences.
    pub seen: u64,
    /// The number of trials.
    pub of: u64,
    /// Its probability under the exact law.
    pub probability: f64,
}

impl EventCount {
    /// True if chance explains the count.
    pub fn passes(&self) -> bool {
        let least = FALSE_ALARM / (2.0 * LAWS);
        let not_more = binomial_cdf(self.seen, self.of, self.probability);
        let not_less =
            binomial_cdf(self.of.saturating_sub(self.seen), self.of, 1.0 - self.probability);
        not_more >= least && not_less >= least
    }
}

/// A set of draws, and its probability.
pub struct Cell<T> {
    /// True if a draw lies in it.
    pub holds: fn(T, f64) -> bool,
    /// Its probability.
    pub probability: f64,
}

/// Counts the rare cell, and the pairs of successive draws that are both in the common one.
pub fn count_events<T: Copy>(
    law: &'static str,
    scale: f64,
    draws: &[T],
    rare: &Cell<T>,
    common: &Cell<T>,
) -> [EventCount; 2] {
    let seen = draws.iter().filter(|draw| (rare.holds)(**draw, scale)).count() as u64;
    let both = |pair: &&[T]| pair.iter().all(|draw| (common.holds)(*draw, scale));
    let pairs = draws.chunks_exact(2);
    let of = pairs.len() as u64;
    let together = pairs.filter(both).count() as u64;
    [
        EventCount {
            law,
            scale,
            what: "rare cell",
            seen,
            of: draws.len() as u64,
            probability: rare.probability,
        },
        EventCount {
            law,
            scale,
            what: "pairs",
            seen: together,
            of,
            probability: common.probability.powi(2),
        },
    ]
}

/// Probability of a set of integers under a law with these unnormalised weights.
pub fn share_of_integers(
    reach: i64,
    weight: impl Fn(f64) -> f64,
    holds: impl Fn(i64) -> bool,
) -> f64 {
    let total: f64 = (-reach..=reach).map(|k| weight(k as f64)).sum();
    let within = (-reach..=reach).filter(|k| holds(*k)).map(|k| weight(k as f64));
    within.sum::<f64>() / total
}

/// Result of an audit of samplers.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Samplers {
    /// Fits of whole laws.
    pub fits: Vec<Fit>,
    /// Counts of tails and pairs.
    pub counts: Vec<EventCount>,
}

/// The largest gap that passes for this many draws.
pub fn allowed_gap(draws: usize) -> f64 {
    libm::sqrt(libm::log(2.0 * LAWS / FALSE_ALARM) / (2.0 * draws as f64))
}

/// sup|Fₙ − F| for a continuous law.
pub fn gap(draws: &mut [f64], cdf: impl Fn(f64) -> f64) -> f64 {
    draws.sort_by(f64::total_cmp);
    let count = draws.len() as f64;
    let mut largest = 0.0_f64;
    for (place, value) in draws.iter().enumerate() {
        let exact = cdf(*value);
        let (below, above) = (place as f64 / count, (place + 1) as f64 / count);
        largest = largest.max((exact - below).abs()).max((above - exact).abs());
    }
    largest
}

/// sup|Fₙ − F| for a law on the integers with these unnormalised weights.
pub fn gap_of_integers(draws: &mut [i64], reach: i64, weight: impl Fn(f64) -> f64) -> f64 {
    draws.sort_unstable();
    let total: f64 = (-reach..=reach).map(|k| weight(k as f64)).sum();
    let mut exact = 0.0;
    let mut largest = 0.0_f64;
    let mut place = draws.partition_point(|draw| *draw < -reach);
    largest = largest.max(place as f64 / draws.len() as f64);
    for k in -reach..=reach {
        exact += weight(k as f64) / total;
        while place < draws.len() && draws[place] <= k {
            place += 1;
        }
        largest = largest.max((exact - place as f64 / draws.len() as f64).abs());
    }
    largest
}

/// Tests every sampler at several scales, with `draws` draws each.
pub fn audit(draws: usize, seed: u64) -> Result<Samplers, AuditError> {
    let mut source = FixedSeed::new(crate::runs::scramble(seed));
    let allowed = allowed_gap(draws);
    let (mut fits, mut counts) = (Vec::new(), Vec::new());
    let mut found = |law, scale, gap| fits.push(Fit { law, scale, gap, allowed });
    for sigma in [0.25, 1.0, 5.3, 64.0, 1000.5] {
        let mut drawn = vec![0; draws];
        DiscreteGaussian::new(sigma).map_err(noise_failed)?.fill(&mut drawn, &mut source);
        let reach = (12.0 * sigma) as i64 + 2;
        let weight = |k: f64| libm::exp(-0.5 * (k / sigma).powi(2));
        counts.extend(of_integers("discrete Gaussian", sigma, &drawn, reach, weight, |k, s| {
            k.abs() as f64 > 3.0 * s
        }));
        let gap = gap_of_integers(&mut drawn, reach, weight);
        found("discrete Gaussian", sigma, gap);
    }
    for scale in [0.2, 1.0, 3.3, 64.0, 777.7] {
        let mut drawn = vec![0; draws];
        DiscreteLaplace::new(scale).map_err(noise_failed)?.fill(&mut drawn, &mut source);
        let reach = (60.0 * scale) as i64 + 2;
        let weight = |k: f64| libm::exp(-k.abs() / scale);
        counts.extend(of_integers("discrete Laplace", scale, &drawn, reach, weight, |k, s| {
            k.abs() as f64 > 4.0 * s
        }));
        let gap = gap_of_integers(&mut drawn, reach, weight);
        found("discrete Laplace", scale, gap);
    }
    for sigma in [1e-6, 1.0, 12_345.0] {
        let mut drawn = vec![0.0; draws];
        GridGaussian::new(sigma).map_err(noise_failed)?.fill(&mut drawn, &mut source);
        let rare =
            Cell { holds: |x: f64, s| x.abs() > 3.0 * s, probability: 2.0 * normal::cdf(-3.0) };
        let common = Cell { holds: |x: f64, _| x > 0.0, probability: 0.5 };
        counts.extend(count_events("Gaussian on a grid", sigma, &drawn, &rare, &common));
        found("Gaussian on a grid", sigma, gap(&mut drawn, |x| normal::cdf(x / sigma)));
    }
    for scale in [0.01, 1.0, 300.0] {
        let law = L2Laplace::new(scale).map_err(noise_failed)?;
        let (norms, first) = spherical(&law, draws, &mut source);
        let (mut norms, mut first) = (norms, first);
        // ‖b‖ ~ Gamma(3, s); in three dimensions each coordinate of a uniform direction is uniform.
        let gamma = |x: f64| {
            let t = x / scale;
            1.0 - libm::exp(-t) * (1.0 + t + 0.5 * t * t)
        };
        let common = Cell { holds: |x: f64, s| x > 2.0 * s, probability: 1.0 - gamma(2.0 * scale) };
        let rare = Cell { holds: |x: f64, s| x > 11.0 * s, probability: 1.0 - gamma(11.0 * scale) };
        counts.extend(count_events("ℓ2-Laplace, norm", scale, &norms, &rare, &common));
        let rare = Cell { holds: |x: f64, _| x.abs() > 0.998, probability: 0.002 };
        let common = Cell { holds: |x: f64, _| x > 0.0, probability: 0.5 };
        counts.extend(count_events("ℓ2-Laplace, direction", scale, &first, &rare, &common));
        found("ℓ2-Laplace, norm in three dimensions", scale, gap(&mut norms, gamma));
        found("ℓ2-Laplace, direction", scale, gap(&mut first, |x| 0.5 * (x + 1.0)));
    }
    for scale in [0.1, 1.0, 40.0] {
        let law = Gumbel::new(scale).map_err(noise_failed)?;
        let mut drawn: Vec<f64> = (0..draws).map(|_| law.draw(&mut source)).collect();
        let cdf = |x: f64| libm::exp(-libm::exp(-x));
        let right = Cell { holds: |x: f64, s| x > 6.0 * s, probability: 1.0 - cdf(6.0) };
        let left = Cell { holds: |x: f64, s| x < -1.8 * s, probability: cdf(-1.8) };
        let common = Cell { holds: |x: f64, s| x > 0.3 * s, probability: 1.0 - cdf(0.3) };
        counts.extend(count_events("Gumbel, right", scale, &drawn, &right, &common));
        counts.extend(count_events("Gumbel, left", scale, &drawn, &left, &common));
        found("Gumbel", scale, gap(&mut drawn, |x| libm::exp(-libm::exp(-x / scale))));
    }
    for p in [0.001, 0.3, 0.99] {
        let coin = Coin::new(p).map_err(noise_failed)?;
        let tosses: Vec<bool> = (0..draws).map(|_| coin.toss(&mut source)).collect();
        let heads = tosses.iter().filter(|head| **head).count();
        let head = Cell { holds: |head: bool, _| head, probability: p };
        let tail = Cell { holds: |head: bool, _| !head, probability: 1.0 - p };
        counts.extend(count_events("coin", p, &tosses, &head, &tail));
        found("coin", p, (heads as f64 / draws as f64 - p).abs());
    }
    // The smallest member of a random 3 of 10: Pr[> k] = C(9−k, 3)/C(10, 3).
    let mut smallest = vec![0_i64; draws];
    for place in &mut smallest {
        let chosen = without_replacement(3, 10, &mut source).map_err(noise_failed)?;
        *place = chosen.iter().copied().min().unwrap_or(0) as i64;
    }
    let weight = |k: f64| if (0.0..=7.0).contains(&k) { (9.0 - k) * (8.0 - k) / 2.0 } else { 0.0 };
    found("subset without replacement", 3.0, gap_of_integers(&mut smallest, 10, weight));
    Ok(Samplers { fits, counts })
}

/// The counts of a symmetric law on the integers; the common cell is k ≥ 0.
fn of_integers(
    law: &'static str,
    scale: f64,
    draws: &[i64],
    reach: i64,
    weight: impl Fn(f64) -> f64,
    far: fn(i64, f64) -> bool,
) -> [EventCount; 2] {
    let rare =
        Cell { holds: far, probability: share_of_integers(reach, &weight, |k| far(k, scale)) };
    let common = Cell {
        holds: |k: i64, _| k >= 0,
        probability: share_of_integers(reach, &weight, |k| k >= 0),
    };
    count_events(law, scale, draws, &rare, &common)
}

/// Norm and first coordinate of the direction of ℓ2-Laplace vectors in three dimensions.
fn spherical(law: &L2Laplace, draws: usize, source: &mut dyn Source) -> (Vec<f64>, Vec<f64>) {
    let one = |_| {
        let mut vector = [0.0; 3];
        law.fill(&mut vector, source);
        let norm = libm::sqrt(vector.iter().map(|x| x * x).sum());
        (norm, vector[0] / norm)
    };
    (0..draws).map(one).unzip()
}
