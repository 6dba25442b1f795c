//! Scores releases by one number that is larger on the second input.
//!
//! If the two densities are known their ratio is optimal (Neyman & Pearson). Otherwise two statistics
//! are trained on runs used for nothing else: the projection on the direction in which the inputs
//! differ, and a linear discriminant of the coordinates and their squares, which also detects a change
//! of spread. Releases that take few values, such as labels, are also scored by the frequency of each
//! value on either input. Any choice made here is tested on other runs, so a bad choice costs power and
//! never validity.

use crate::runs::Target;
use serde::Serialize;
use std::collections::HashMap;

/// Maximum number of features with a full covariance: with more it is taken to be diagonal.
const LARGEST_SYSTEM: usize = 64;
/// Limit on standardised features, so that none dominates the others.
const LARGEST_FEATURE: f64 = 50.0;
/// Maximum number of values that are counted one by one, unless a quarter of the releases is fewer.
const MOST_VALUES: usize = 256;

/// Statistic that scores a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The known ratio of densities.
    LikelihoodRatio,
    /// Inner product with the direction in which the inputs differ.
    Projection,
    /// A linear discriminant of the coordinates and their squares.
    Classifier,
    /// Frequency of each of a few values.
    Frequencies,
}

/// A trained statistic.
pub(crate) enum Statistic<'a> {
    LikelihoodRatio(&'a dyn Target),
    Projection(Vec<f64>),
    Classifier(Discriminant),
    Frequencies(Frequencies),
}

impl Statistic<'_> {
    pub fn kind(&self) -> Kind {
        match self {
            Self::LikelihoodRatio(_) => Kind::LikelihoodRatio,
            Self::Projection(_) => Kind::Projection,
            Self::Classifier(_) => Kind::Classifier,
            Self::Frequencies(_) => Kind::Frequencies,
        }
    }

    /// The score of a release; NaN becomes the lowest.
    pub fn score(&self, release: &[f64]) -> f64 {
        let score = match self {
            Self::LikelihoodRatio(target) => target.likelihood_ratio(release).unwrap_or(f64::NAN),
            Self::Projection(direction) => dot(direction, release),
            Self::Classifier(discriminant) => discriminant.score(release),
            Self::Frequencies(frequencies) => frequencies.score(release),
        };
        if score.is_nan() { f64::NEG_INFINITY } else { score }
    }
}

/// Returns every statistic that applies, trained on these releases.
pub(crate) fn candidates<'a>(
    target: &'a dyn Target,
    training: [&[Vec<f64>]; 2],
) -> Vec<Statistic<'a>> {
    let sample = training[0].first();
    if sample.is_some_and(|release| target.likelihood_ratio(release).is_some()) {
        return vec![Statistic::LikelihoodRatio(target)];
    }
    let mut all: Vec<Statistic<'a>> =
        target.direction().map(Statistic::Projection).into_iter().collect();
    all.push(Statistic::Classifier(Discriminant::train(training)));
    all.extend(Frequencies::count(training).map(Statistic::Frequencies));
    all
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Counts of each value on the two inputs, if there are few values.
pub(crate) struct Frequencies(HashMap<Vec<u64>, [f64; 2]>);

impl Frequencies {
    fn count(worlds: [&[Vec<f64>]; 2]) -> Option<Self> {
        let most = MOST_VALUES.min((worlds[0].len() + worlds[1].len()) / 4);
        let mut counts: HashMap<Vec<u64>, [f64; 2]> = HashMap::new();
        for (neighbour, releases) in worlds.into_iter().enumerate() {
            for release in releases {
                counts.entry(value(release)).or_default()[neighbour] += 1.0;
                if counts.len() > most {
                    return None;
                }
            }
        }
        Some(Self(counts))
    }

    /// ln of the ratio of counts, half a release added to each; an unseen value scores 0.
    fn score(&self, release: &[f64]) -> f64 {
        let [first, second] = self.0.get(&value(release)).copied().unwrap_or_default();
        libm::log((second + 0.5) / (first + 0.5))
    }
}

/// A release bit for bit, as a key.
fn value(release: &[f64]) -> Vec<u64> {
    release.iter().map(|number| number.to_bits()).collect()
}

/// Fisher's linear discriminant of standardised coordinates and their squares.
pub(crate) struct Discriminant {
    centre: Vec<f64>,
    spread: Vec<f64>,
    weights: Vec<f64>,
}

impl Discriminant {
    fn train(worlds: [&[Vec<f64>]; 2]) -> Self {
        let width =
            worlds.iter().flat_map(|neighbour| neighbour.iter()).map(Vec::len).max().unwrap_or(0);
        let all = || worlds.iter().flat_map(|neighbour| neighbour.iter());
        let count = all().count().max(1) as f64;
        let at = |release: &[f64], j: usize| {
            release.get(j).copied().filter(|x| x.is_finite()).unwrap_or(0.0)
        };
        let centre: Vec<f64> =
            (0..width).map(|j| all().map(|release| at(release, j)).sum::<f64>() / count).collect();
        let spread = (0..width)
            .map(|j| {
                let square = |release: &Vec<f64>| (at(release, j) - centre[j]).powi(2);
                libm::sqrt(all().map(square).sum::<f64>() / count).max(f64::MIN_POSITIVE)
            })
            .collect();
        let mut trained = Self { centre, spread, weights: Vec::new() };
        let features: [Vec<Vec<f64>>; 2] = worlds
            .map(|neighbour| neighbour.iter().map(|release| trained.features(release)).collect());
        trained.weights = fisher(&features, 2 * width);
        trained
    }

    fn features(&self, release: &[f64]) -> Vec<f64> {
        let standard =
            self.centre.iter().zip(&self.spread).enumerate().map(|(j, (mean, spread))| {
                let value = (release.get(j).copied().unwrap_or(0.0) - mean) / spread;
                if value.is_nan() { 0.0 } else { value.clamp(-LARGEST_FEATURE, LARGEST_FEATURE) }
            });
        let coordinates: Vec<f64> = standard.collect();
        let squares = coordinates.iter().map(|x| x * x).collect::<Vec<f64>>();
        coordinates.into_iter().chain(squares).collect()
    }

    fn score(&self, release: &[f64]) -> f64 {
        dot(&self.weights, &self.features(release))
    }
}

/// S⁻¹(m₂ − m₁), S the pooled covariance with a little ridge.
fn fisher(worlds: &[Vec<Vec<f64>>; 2], width: usize) -> Vec<f64> {
    let mean = |neighbour: &[Vec<f64>]| -> Vec<f64> {
        let count = neighbour.len().max(1) as f64;
        (0..width).map(|j| neighbour.iter().map(|row| row[j]).sum::<f64>() / count).collect()
    };
    let means = [mean(&worlds[0]), mean(&worlds[1])];
    let difference: Vec<f64> = means[1].iter().zip(&means[0]).map(|(b, a)| b - a).collect();
    let count = (worlds[0].len() + worlds[1].len()).max(1) as f64;
    let covariance = |i: usize, j: usize| {
        let both = worlds.iter().zip(&means);
        both.map(|(neighbour, mean)| {
            neighbour.iter().map(|row| (row[i] - mean[i]) * (row[j] - mean[j])).sum::<f64>()
        })
        .sum::<f64>()
            / count
    };
    if width > LARGEST_SYSTEM {
        return (0..width).map(|j| difference[j] / (covariance(j, j) + 1e-6)).collect();
    }
    let mut system: Vec<Vec<f64>> = (0..width)
        .map(|i| (0..width).map(|j| covariance(i, j) + if i == j { 1e-6 } else { 0.0 }).collect())
        .collect();
    solve(&mut system, difference)
}

/// Gaussian elimination of a positive definite system.
fn solve(system: &mut [Vec<f64>], mut right: Vec<f64>) -> Vec<f64> {
    let width = right.len();
    for pivot in 0..width {
        let (above, below) = system.split_at_mut(pivot + 1);
        let row = &above[pivot];
        for (offset, other) in below.iter_mut().enumerate() {
            let factor = other[pivot] / row[pivot];
            for (entry, base) in other.iter_mut().zip(row).skip(pivot) {
                *entry -= factor * base;
            }
            right[pivot + 1 + offset] -= factor * right[pivot];
        }
    }
    for pivot in (0..width).rev() {
        let known: f64 = (pivot + 1..width).map(|j| system[pivot][j] * right[j]).sum();
        right[pivot] = (right[pivot] - known) / system[pivot][pivot];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_discriminant_sees_a_shift_and_a_spread() {
        let neighbour = |shift: f64, spread: f64| -> Vec<Vec<f64>> {
            (0..400)
                .map(|i| {
                    let z = crate::normal::quantile((f64::from(i) + 0.5) / 400.0);
                    vec![7.0, z * spread + shift, f64::NAN]
                })
                .collect()
        };
        for (first, second, more, less) in [
            (neighbour(0.0, 1.0), neighbour(1.0, 1.0), 3.0, -3.0),
            (neighbour(0.0, 1.0), neighbour(0.0, 2.0), 3.0, 0.0),
        ] {
            let trained = Discriminant::train([&first, &second]);
            let score = |x: f64| trained.score(&[7.0, x, f64::NAN]);
            assert!(score(more) > score(less), "{} against {}", score(more), score(less));
        }
        assert!(Discriminant::train([&[], &[]]).weights.is_empty());
    }

    /// Unordered values are distinguished by their frequencies; numbers that never repeat are not
    /// counted.
    #[test]
    fn few_values_are_counted() {
        let neighbour = |odd: usize| -> Vec<Vec<f64>> {
            (0..100)
                .map(|i| vec![[1.0, 0.0, 2.0][usize::from(i < odd) + usize::from(i < 5)]])
                .collect()
        };
        let (first, second) = (neighbour(20), neighbour(80));
        let counted = Frequencies::count([&first, &second]).unwrap();
        let [one, none, two] = [1.0, 0.0, 2.0].map(|value| counted.score(&[value]));
        assert!(none > two && two > one && two.abs() < 1e-12, "{none} {two} {one}");
        assert_eq!(counted.score(&[7.0]), 0.0);
        let apart: Vec<Vec<f64>> = (0..100).map(|i| vec![f64::from(i)]).collect();
        assert!(Frequencies::count([&apart, &apart]).is_none());
    }
}
