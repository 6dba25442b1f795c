//! A secret number of runs, drawn exactly.
//!
//! **Truncated negative binomial** η, γ on k ≥ 1: Pr[K = k] ∝ (1 − γ)ᵏ·∏_{l<k}(l + η)/(l + 1), for
//! −1 < η ≤ 1. Count from k = 1: stop with probability γ; otherwise survive the step from k to k + 1
//! with probability (k + η)/(k + 1) ≤ 1, or begin anew. A pass stops at k with probability
//! γ·(1 − γ)^{k−1}·∏_{1≤l<k}(l + η)/(l + 1), which is the law up to a factor. The survival is drawn with
//! a uniform integer j ≤ k and one coin: (k + η)/(k + 1) is the probability of j < k, plus η times that
//! of j = k; where η is negative, of j < k but for −η times that of j = 0.
//!
//! **Poisson** of mean m: the sum of ⌊m⌋ draws of mean 1, and one more of which each unit is kept with
//! probability m − ⌊m⌋ (a number that f64 holds). One of mean 1, Pr[N = n] ∝ 1/n!, is a geometric number
//! n of probability 2^{−n−1} that is accepted with probability 2^{n−1}/n!: ½ at 0, 1 at 1 and 2, and
//! then 2/j for each j from 3 to n.
//!
//! The running time grows with the drawn number.

use super::bernoulli::Coin;
use super::{NoiseError, Source};
use privet_core::Range;

/// Limits on η of a drawn number of runs, if it is not 1.
pub const ETA: Range = Range::open("eta", -1.0, 1.0);
/// Limits on γ of a drawn number of runs.
pub const GAMMA: Range = Range::from("gamma", 1e-6, 1.0);
/// Limits on the mean of a Poisson number of runs.
pub const MEAN: Range = Range::from("mean", 1.0, 1e6);

/// Checks the parameters of a truncated negative binomial law.
pub fn check_negative_binomial(eta: f64, gamma: f64) -> Result<(), NoiseError> {
    if eta != 1.0 {
        ETA.check(eta)?;
    }
    GAMMA.check(gamma)?;
    Ok(())
}

/// Checks the mean of a Poisson law.
pub fn check_poisson(mean: f64) -> Result<(), NoiseError> {
    MEAN.check(mean)?;
    Ok(())
}

/// Draws from the truncated negative binomial law: at least 1.
pub fn negative_binomial<S: Source + ?Sized>(
    eta: f64,
    gamma: f64,
    source: &mut S,
) -> Result<u64, NoiseError> {
    check_negative_binomial(eta, gamma)?;
    let stop = Coin::new(gamma)?;
    let odd = if eta == 0.0 || eta == 1.0 { None } else { Some(Coin::new(eta.abs())?) };
    let mut count = 1;
    while !stop.toss(source) {
        let place = source.below(count + 1);
        let survives = match &odd {
            Some(coin) if eta > 0.0 => place < count || coin.toss(source),
            Some(coin) => place < count && (place > 0 || !coin.toss(source)),
            None => place < count || eta == 1.0,
        };
        count = if survives { count + 1 } else { 1 };
    }
    Ok(count)
}

/// Draws from the Poisson law.
pub fn poisson<S: Source + ?Sized>(mean: f64, source: &mut S) -> Result<u64, NoiseError> {
    check_poisson(mean)?;
    let whole = libm::floor(mean);
    let mut count = 0;
    for _ in 0..whole as u64 {
        count += of_mean_one(source);
    }
    if mean > whole {
        let kept = Coin::new(mean - whole)?;
        count += (0..of_mean_one(source)).filter(|_| kept.toss(source)).count() as u64;
    }
    Ok(count)
}

fn of_mean_one<S: Source + ?Sized>(source: &mut S) -> u64 {
    loop {
        let mut count = 0;
        while source.bits(1) == 1 {
            count += 1;
        }
        let accepted = match count {
            0 => source.bits(1) == 1,
            _ => (3..=count).all(|j| source.below(j) < 2),
        };
        if accepted {
            return count;
        }
    }
}
