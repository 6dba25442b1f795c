//! Shared by the statistical tests of noise. Every test draws a fresh seed and prints it.
#![allow(dead_code)]

use privet_dp::noise::{FixedSeed, Source, SystemRandom};

/// The probability with which any one of these tests fails although the law is right.
pub const FALSE_FAILURE: f64 = 1e-10;

/// A new stream for every run, and the seed that repeats it.
pub fn fresh() -> (FixedSeed, u64) {
    let seed = SystemRandom::new().expect("an operating system with random bytes").next_u64();
    println!("seed {seed}");
    (FixedSeed::new(seed), seed)
}

/// Any law, any n: Pr[sup∣Fₙ − F∣ > t] ≤ 2·exp(−2nt²) (Massart 1990). The failure probability is split
/// evenly among `tests` gaps.
pub fn allowed_gap(draws: usize, tests: usize) -> f64 {
    ((2.0 * tests as f64 / FALSE_FAILURE).ln() / (2.0 * draws as f64)).sqrt()
}

/// sup∣Fₙ − F∣ for integer draws; `cdf(k)` = P(X ≤ k).
pub fn largest_gap_integers(draws: &mut [i64], cdf: impl Fn(i64) -> f64) -> f64 {
    draws.sort_unstable();
    let n = draws.len() as f64;
    let mut gap = 0.0_f64;
    for (i, &value) in draws.iter().enumerate() {
        // Fₙ just below `value` and at it; between jumps F is monotone.
        if i == 0 || draws[i - 1] < value {
            gap = gap.max((i as f64 / n - cdf(value - 1)).abs());
        }
        if i + 1 == draws.len() || draws[i + 1] > value {
            gap = gap.max(((i + 1) as f64 / n - cdf(value)).abs());
        }
    }
    gap
}

/// sup∣Fₙ − F∣ for a continuous F.
pub fn largest_gap(draws: &mut [f64], cdf: impl Fn(f64) -> f64) -> f64 {
    draws.sort_unstable_by(f64::total_cmp);
    let n = draws.len() as f64;
    let gap = |(i, value): (usize, &f64)| {
        let truth = cdf(*value);
        (truth - i as f64 / n).abs().max(((i + 1) as f64 / n - truth).abs())
    };
    draws.iter().enumerate().map(gap).fold(0.0, f64::max)
}

/// A count of `draws` events of probability p lies this close to draws·p but for [`FALSE_FAILURE`]
/// over `tests` such counts (Bernstein: 2·exp(−t²/(2np(1−p) + 2t/3))).
pub fn allowed_count_error(draws: usize, probability: f64, tests: usize) -> f64 {
    let log = (2.0 * tests as f64 / FALSE_FAILURE).ln();
    let variance = draws as f64 * probability * (1.0 - probability);
    log / 3.0 + ((log / 3.0).powi(2) + 2.0 * log * variance).sqrt()
}

/// Standard normal cdf.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}
