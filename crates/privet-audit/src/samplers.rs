//! Goodness of fit of every sampler against its exact law.
//!
//! **Theorem** (Dvoretzky, Kiefer & Wolfowitz; constant of Massart 1990). For any law F and n draws
//! Pr\[sup|Fₙ − F| > t\] ≤ 2·exp(−2nt²). A sampler passes when its gap is at most the t of 1e-9 divided
//! by the number of laws tried: an exact sampler fails an audit with probability at most 1e-9.
//!
//! The test is tested: a scale 10 % off must fail (`tests/audit/samplers.rs`).

use crate::bits::noise_failed;
use crate::{AuditError, normal};
use privet_dp::noise::bernoulli::Coin;
use privet_dp::noise::subset::without_replacement;
use privet_dp::noise::{
    DiscreteGaussian, DiscreteLaplace, FixedSeed, GridGaussian, Gumbel, L2Laplace, Source,
};
use serde::Serialize;

/// Probability of a false alarm of one audit.
const FALSE_ALARM: f64 = 1e-9;
/// Laws and scales tried at most.
const LAWS: f64 = 64.0;

/// One law at one scale.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// The law.
    pub law: &'static str,
    /// Its scale.
    pub scale: f64,
    /// sup|Fₙ − F|.
    pub gap: f64,
    /// What an exact sampler stays below.
    pub allowed: f64,
}

impl Fit {
    /// Whether the law fits.
    pub fn passes(&self) -> bool {
        self.gap <= self.allowed
    }
}

/// The largest gap that chance explains.
pub fn allowed(draws: usize) -> f64 {
    libm::sqrt(libm::log(2.0 * LAWS / FALSE_ALARM) / (2.0 * draws as f64))
}

/// sup|Fₙ − F| of a law whose distribution function is continuous.
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

/// The same for a law on the integers, its weights given up to a factor.
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

/// Every sampler at several scales, `draws` each.
pub fn audit(draws: usize, seed: u64) -> Result<Vec<Fit>, AuditError> {
    let mut source = FixedSeed::new(crate::runs::scramble(seed));
    let allowed = allowed(draws);
    let mut fits = Vec::new();
    let mut found = |law, scale, gap| fits.push(Fit { law, scale, gap, allowed });
    for sigma in [0.25, 1.0, 5.3, 64.0, 1000.5] {
        let mut drawn = vec![0; draws];
        DiscreteGaussian::new(sigma).map_err(noise_failed)?.fill(&mut drawn, &mut source);
        let reach = (12.0 * sigma) as i64 + 2;
        let gap = gap_of_integers(&mut drawn, reach, |k| libm::exp(-0.5 * (k / sigma).powi(2)));
        found("discrete Gaussian", sigma, gap);
    }
    for scale in [0.2, 1.0, 3.3, 64.0, 777.7] {
        let mut drawn = vec![0; draws];
        DiscreteLaplace::new(scale).map_err(noise_failed)?.fill(&mut drawn, &mut source);
        let reach = (60.0 * scale) as i64 + 2;
        let gap = gap_of_integers(&mut drawn, reach, |k| libm::exp(-k.abs() / scale));
        found("discrete Laplace", scale, gap);
    }
    for sigma in [1e-6, 1.0, 12_345.0] {
        let mut drawn = vec![0.0; draws];
        GridGaussian::new(sigma).map_err(noise_failed)?.fill(&mut drawn, &mut source);
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
        found("ℓ2-Laplace, norm in three dimensions", scale, gap(&mut norms, gamma));
        found("ℓ2-Laplace, direction", scale, gap(&mut first, |x| 0.5 * (x + 1.0)));
    }
    for scale in [0.1, 1.0, 40.0] {
        let law = Gumbel::new(scale).map_err(noise_failed)?;
        let mut drawn: Vec<f64> = (0..draws).map(|_| law.draw(&mut source)).collect();
        found("Gumbel", scale, gap(&mut drawn, |x| libm::exp(-libm::exp(-x / scale))));
    }
    for p in [0.001, 0.3, 0.99] {
        let coin = Coin::new(p).map_err(noise_failed)?;
        let heads = (0..draws).filter(|_| coin.toss(&mut source)).count();
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
    Ok(fits)
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
