//! The integer laws, tested by their distribution functions and point by point.
//!
//! False failure ≤ 1e-10 a test (see `noise_common`), fresh seed printed. The tests themselves are
//! tested: a scale 10 % off must fail.

use crate::noise_common::{
    allowed_count_error, allowed_gap, fresh, largest_gap, largest_gap_integers, normal_cdf,
};
use privet_dp::noise::bernoulli::{Coin, Exponent, bernoulli_exp};
use privet_dp::noise::{DiscreteGaussian, DiscreteLaplace};

const DRAWS: usize = 400_000;

/// P(X ≤ k) and P(X = k) of the law ∝ weight(∣k∣), by summing outwards to `reach`.
struct Table {
    reach: i64,
    cumulative: Vec<f64>,
}

impl Table {
    fn new(reach: i64, weight: impl Fn(f64) -> f64) -> Self {
        let mut sum = 0.0;
        let sums = (-reach..=reach).map(|k| {
            sum += weight(k.abs() as f64);
            sum
        });
        let mut cumulative: Vec<f64> = sums.collect();
        cumulative.iter_mut().for_each(|value| *value /= sum);
        Self { reach, cumulative }
    }
    fn gaussian(sigma: f64) -> Self {
        Self::new((12.0 * sigma) as i64 + 2, |v| (-0.5 * (v / sigma).powi(2)).exp())
    }
    fn laplace(scale: f64) -> Self {
        Self::new((60.0 * scale) as i64 + 2, |v| (-v / scale).exp())
    }
    fn cdf(&self, k: i64) -> f64 {
        match usize::try_from(k + self.reach) {
            Ok(index) => self.cumulative.get(index).copied().unwrap_or(1.0),
            Err(_) => 0.0,
        }
    }
    fn probability(&self, k: i64) -> f64 {
        self.cdf(k) - self.cdf(k - 1)
    }
}

#[test]
fn discrete_gaussian_has_its_law() {
    let (mut source, seed) = fresh();
    // Both sides of where cells start to be wider than one (64), and fractions.
    let scales = [0.25, 0.61, 1.0, 1.7, 5.0, 16.0, 63.5, 64.0, 100.3, 1024.0, 40_000.7];
    for sigma in scales {
        let mut draws = vec![0; DRAWS];
        DiscreteGaussian::new(sigma).unwrap().fill(&mut draws, &mut source);
        let law = Table::gaussian(sigma);
        let gap = largest_gap_integers(&mut draws, |k| law.cdf(k));
        assert!(gap <= allowed_gap(DRAWS, scales.len()), "σ {sigma}: gap {gap}, seed {seed}");
    }
}

#[test]
fn discrete_laplace_has_its_law() {
    let (mut source, seed) = fresh();
    let scales = [0.2, 0.5, 1.0, 3.3, 16.0, 63.0, 64.0, 777.7, 10_000.0];
    for scale in scales {
        let mut draws = vec![0; DRAWS];
        DiscreteLaplace::new(scale).unwrap().fill(&mut draws, &mut source);
        let law = Table::laplace(scale);
        let gap = largest_gap_integers(&mut draws, |k| law.cdf(k));
        assert!(gap <= allowed_gap(DRAWS, scales.len()), "scale {scale}: gap {gap}, seed {seed}");
    }
}

/// Each value's own count, which detects errors that a distribution function smooths over: a zero of the
/// wrong weight, a sign that is not fair, a cell that is off.
#[test]
fn every_value_comes_as_often_as_it_should() {
    let (mut source, seed) = fresh();
    let gaussians = [0.3, 1.0, 4.0, 63.0, 65.0, 130.0];
    let laplaces = [0.4, 2.0, 70.0];
    let laws = gaussians.map(|s| (s, true)).into_iter().chain(laplaces.map(|s| (s, false)));
    let n = 2_000_000;
    for (scale, is_gaussian) in laws {
        let mut draws = vec![0; n];
        let law = if is_gaussian {
            DiscreteGaussian::new(scale).unwrap().fill(&mut draws, &mut source);
            Table::gaussian(scale)
        } else {
            DiscreteLaplace::new(scale).unwrap().fill(&mut draws, &mut source);
            Table::laplace(scale)
        };
        let mut counts = vec![0_u32; 2 * law.reach as usize + 1];
        for k in draws {
            counts[(k + law.reach) as usize] += 1;
        }
        for (index, &count) in counts.iter().enumerate() {
            let k = index as i64 - law.reach;
            let p = law.probability(k);
            let error = (f64::from(count) - n as f64 * p).abs();
            let allowed = allowed_count_error(n, p, 9 * counts.len());
            assert!(error <= allowed, "scale {scale}, {k}: {error} > {allowed}, seed {seed}");
        }
    }
}

/// At σ = 2²⁰ … 2⁴⁵ the cdf at k is Φ((k + ½)/σ) to within 0.1/σ² (see `grid_gaussian`), and the
/// Laplace's is the continuous one to within 1/scale.
#[test]
fn large_scales_have_the_continuous_law() {
    let (mut source, seed) = fresh();
    for power in [20, 33, 40, 45, 51] {
        let scale = 1.37 * 2_f64.powi(power);
        let mut draws = vec![0; DRAWS];
        DiscreteGaussian::new(scale).unwrap().fill(&mut draws, &mut source);
        let square: f64 = draws.iter().map(|k| (*k as f64 / scale).powi(2)).sum::<f64>();
        // χ² with n degrees (Laurent & Massart 2000): ∣χ² − n∣ > 2√(nt) + 2t has probability ≤ 2e⁻ᵗ.
        let t = (10.0_f64 / crate::noise_common::FALSE_FAILURE).ln();
        let n = DRAWS as f64;
        assert!((square - n).abs() <= 2.0 * (n * t).sqrt() + 2.0 * t, "2^{power}, seed {seed}");
        // Low bits: at these scales uniform but for 1e-9.
        let odd = draws.iter().filter(|k| **k % 2 != 0).count() as f64;
        assert!((odd - 0.5 * n).abs() <= allowed_count_error(DRAWS, 0.5, 10), "2^{power} {seed}");
        let mut reals: Vec<f64> = draws.iter().map(|k| (*k as f64 + 0.5) / scale).collect();
        let gap = largest_gap(&mut reals, normal_cdf);
        assert!(gap <= allowed_gap(DRAWS, 10), "2^{power}: gap {gap}, seed {seed}");
        DiscreteLaplace::new(scale).unwrap().fill(&mut draws, &mut source);
        let mut reals: Vec<f64> = draws.iter().map(|k| (*k as f64 + 0.5) / scale).collect();
        let gap =
            largest_gap(
                &mut reals,
                |x| {
                    if x < 0.0 { 0.5 * x.exp() } else { 1.0 - 0.5 * (-x).exp() }
                },
            );
        assert!(gap <= allowed_gap(DRAWS, 10) + 1e-6, "2^{power}: gap {gap}, seed {seed}");
    }
}

/// The tests above are effective: with 400,000 draws a scale 10 % off shows a gap of about 0.02 against
/// 0.006 allowed, and passes with probability below 2·exp(−2·n·0.01²) < 1e-30.
#[test]
fn a_scale_ten_per_cent_off_is_caught() {
    let (mut source, seed) = fresh();
    for scale in [1.0, 16.0, 1024.0] {
        for factor in [0.9, 1.1] {
            let mut draws = vec![0; DRAWS];
            DiscreteGaussian::new(scale * factor).unwrap().fill(&mut draws, &mut source);
            let law = Table::gaussian(scale);
            let gap = largest_gap_integers(&mut draws, |k| law.cdf(k));
            assert!(gap > 1.5 * allowed_gap(DRAWS, 11), "σ {scale}·{factor}: {gap}, seed {seed}");
            DiscreteLaplace::new(scale * factor).unwrap().fill(&mut draws, &mut source);
            let law = Table::laplace(scale);
            let gap = largest_gap_integers(&mut draws, |k| law.cdf(k));
            assert!(gap > 1.5 * allowed_gap(DRAWS, 11), "s {scale}·{factor}: {gap}, seed {seed}");
        }
    }
}

#[test]
fn one_by_one_and_by_vector_are_the_same_law() {
    let (mut source, seed) = fresh();
    let (gaussian, laplace) =
        (DiscreteGaussian::new(2.5).unwrap(), DiscreteLaplace::new(2.5).unwrap());
    let mut draws: Vec<i64> = (0..DRAWS).map(|_| gaussian.draw(&mut source)).collect();
    let law = Table::gaussian(2.5);
    assert!(largest_gap_integers(&mut draws, |k| law.cdf(k)) <= allowed_gap(DRAWS, 2), "{seed}");
    let mut draws: Vec<i64> = (0..DRAWS).map(|_| laplace.draw(&mut source)).collect();
    let law = Table::laplace(2.5);
    assert!(largest_gap_integers(&mut draws, |k| law.cdf(k)) <= allowed_gap(DRAWS, 2), "{seed}");
    gaussian.fill(&mut [], &mut source);
}

/// 0 is certain but for e^(−2¹⁹) at the smallest σ.
#[test]
fn the_smallest_sigma_gives_zeros() {
    let (mut source, _) = fresh();
    let mut draws = vec![7; 10_000];
    DiscreteGaussian::new(2_f64.powi(-10)).unwrap().fill(&mut draws, &mut source);
    assert!(draws.iter().all(|k| *k == 0));
}

#[test]
fn coins_have_their_probability() {
    let (mut source, seed) = fresh();
    let n = 300_000;
    let check = |heads: usize, p: f64| {
        let error = (heads as f64 - n as f64 * p).abs();
        assert!(error <= allowed_count_error(n, p, 8), "p {p}: {heads}, seed {seed}");
    };
    for (numerator, denominator) in [(0, 1), (1, 3), (7, 5), (9, 2)] {
        let x = Exponent::ratio(numerator, denominator).unwrap();
        let heads = (0..n).filter(|_| bernoulli_exp(&x, &mut source)).count();
        check(heads, (-(numerator as f64) / denominator as f64).exp());
    }
    let x = Exponent::dyadic(0.123).unwrap();
    check((0..n).filter(|_| bernoulli_exp(&x, &mut source)).count(), (-0.123_f64).exp());
    for p in [0.001, 0.37, 0.999] {
        let coin = Coin::new(p).unwrap();
        check((0..n).filter(|_| coin.toss(&mut source)).count(), p);
    }
}
