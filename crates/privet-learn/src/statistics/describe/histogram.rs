//! Consistent histograms, and quantiles read off them.

use super::estimate::Noise;
use super::summary::Quantile;

/// The Euclidean projection onto counts ≥ 0 with the same total; all 0 if the total is not above 0.
pub(in crate::statistics) fn consistent(noisy: &[f64]) -> Vec<f64> {
    let total: f64 = noisy.iter().sum();
    if total <= 0.0 {
        return vec![0.0; noisy.len()];
    }
    // Projection onto a simplex: the same amount is taken from each, and the result is cut at 0.
    let mut sorted = noisy.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut taken) = (0.0, 0.0);
    for (place, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - total) / (place + 1) as f64;
        if *value > candidate {
            taken = candidate;
        }
    }
    noisy.iter().map(|value| (value - taken).max(0.0)).collect()
}

/// A quantile of a number in `low..=high` whose noisy histogram has bins of equal width.
///
/// The interval holds every bin that the noise does not rule out. If q of the records lie up to the
/// quantile, T_b = (1 − q)·Σ_{i ≤ b} hᵢ − q·Σ_{i > b} hᵢ is at least 0 for the bin b of the quantile and
/// at most 0 for the one before it; a bin is ruled out if its noisy value contradicts that by more than
/// its margin. So the bin of the quantile is among those kept in at least 95 of 100 releases; its
/// position within a bin is not estimated.
pub(in crate::statistics) fn quantile(
    level: f64,
    noisy: &[f64],
    counts: &[f64],
    (low, high): (f64, f64),
    noise: Noise,
) -> Quantile {
    let bins = noisy.len();
    let edge = |place: usize| low + (high - low) * place as f64 / bins as f64;
    let all: f64 = noisy.iter().sum();
    let excess: Vec<(f64, f64)> = (0..bins)
        .map(|last| {
            let below: f64 = noisy[..=last].iter().sum();
            let (left, right) = ((last + 1) as f64, (bins - last - 1) as f64);
            let noises = (1.0 - level).powi(2) * left + level.powi(2) * right;
            (below - level * all, noise.margin(noises))
        })
        .collect();
    let open = |bin: usize| {
        let reached = excess[bin].0 + excess[bin].1 >= 0.0;
        let not_before = bin == 0 || excess[bin - 1].0 - excess[bin - 1].1 <= 0.0;
        reached && not_before
    };
    let first = (0..bins).find(|bin| open(*bin)).unwrap_or(0);
    let last = (0..bins).rev().find(|bin| open(*bin)).unwrap_or(bins - 1);
    let (from, to) = (edge(first), edge(last + 1));
    Quantile { level, value: level_point(level, counts, edge).clamp(from, to), low: from, high: to }
}

/// The point below which this share of consistent counts lies, evenly within a bin; the middle if all
/// counts are 0.
fn level_point(level: f64, counts: &[f64], edge: impl Fn(usize) -> f64) -> f64 {
    let total: f64 = counts.iter().sum();
    let wanted = level * total;
    let mut below = 0.0;
    for (place, count) in counts.iter().enumerate() {
        if *count > 0.0 && below + count >= wanted {
            let share = ((wanted - below) / count).clamp(0.0, 1.0);
            return edge(place) + share * (edge(place + 1) - edge(place));
        }
        below += count;
    }
    (edge(0) + edge(counts.len())) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::count::Law;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn consistent_counts_are_counts(noisy in prop::collection::vec(-50.0..200.0_f64, 1..40)) {
            let counts = consistent(&noisy);
            let (total, kept) = (noisy.iter().sum::<f64>(), counts.iter().sum::<f64>());
            prop_assert!(counts.iter().all(|count| *count >= 0.0));
            prop_assert!((kept - total.max(0.0)).abs() < 1e-6 * (1.0 + total.abs()), "{} {}", kept, total);
        }

        /// Each quantile lies in its interval.
        #[test]
        fn quantiles_rise(noisy in prop::collection::vec(-50.0..200.0_f64, 2..40), scale in 0.1..100.0_f64) {
            let counts = consistent(&noisy);
            let noise = Noise { law: Law::Gaussian, scale };
            let at = |level| quantile(level, &noisy, &counts, (-3.0, 7.0), noise);
            let all: Vec<Quantile> = (1..20).map(|level| at(f64::from(level) / 20.0)).collect();
            for one in &all {
                prop_assert!(-3.0 <= one.low && one.low <= one.value && one.value <= one.high && one.high <= 7.0);
            }
        }
    }

    #[test]
    fn without_noise_quantiles_are_those_of_the_bins() {
        let counts = [0.0, 10.0, 30.0, 60.0, 0.0];
        let noise = Noise { law: Law::Gaussian, scale: 1e-9 };
        let median = quantile(0.5, &counts, &counts, (0.0, 50.0), noise);
        assert!((median.value - (30.0 + 10.0 / 6.0)).abs() < 1e-6, "{median:?}");
        assert_eq!((median.low, median.high), (30.0, 40.0));
        let early = quantile(0.05, &counts, &counts, (0.0, 50.0), noise);
        assert_eq!((early.low, early.high), (10.0, 20.0));
    }
}
