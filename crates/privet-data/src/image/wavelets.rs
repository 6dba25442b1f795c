//! The fixed filters of the scattering transform, in closed form.
//!
//! A Morlet wavelet of scale 2ʲ and angle θ is a wave ξ = (3π/4)·2⁻ʲ·(cos θ, sin θ) under a Gaussian of
//! covariance Σ = (0.8·2ʲ)²·R_θ diag(1, (L/4)²) R_θᵀ, minus the multiple of that Gaussian which makes
//! its sum 0. On a periodic grid its transform is, by Poisson's formula,
//!
//! ψ̂(ω) = g(ω − ξ) − (g(−ξ)/g(0))·g(ω),  g(ω) = Σ_k exp(−½(ω + 2πk)ᵀΣ(ω + 2πk)),
//!
//! which is real. Averages are Gaussian of standard deviation 0.8·2^(J−1), around the centres of
//! squares of 2ᴶ pixels. Constants as in Bruna & Mallat 2013 and the usual implementations.

use super::fourier::place;
use super::{ANGLES, SCALES};
use std::f64::consts::PI;

/// Standard deviation at the finest scale, in pixels.
const DEVIATION: f64 = 0.8;
/// Copies of the spectrum on each side that are added up; those further out are below 10⁻²⁰.
const COPIES: i32 = 2;

/// A value for each angle.
pub(super) type Angles = [f32; ANGLES];

/// The transform ψ̂ of one scale at all angles, frequencies in bit-reversed order, times `factor`.
pub(super) fn morlets(scale: u32, rows: usize, columns: usize, factor: f64) -> Vec<Angles> {
    let wavelets: [Wavelet; ANGLES] = std::array::from_fn(|angle| Wavelet::new(scale, angle));
    let mut table = vec![[0.0; ANGLES]; rows * columns];
    for row in 0..rows {
        for column in 0..columns {
            let y = 2.0 * PI * row as f64 / rows as f64;
            let x = 2.0 * PI * column as f64 / columns as f64;
            let at = place(row, rows) * columns + place(column, columns);
            table[at] = std::array::from_fn(|angle| (wavelets[angle].at(y, x) * factor) as f32);
        }
    }
    table
}

/// A wave under a Gaussian; the first coordinate goes down the rows.
struct Wavelet {
    wave: [f64; 2],
    /// The covariance Σ: of rows, mixed, of columns.
    covariance: [f64; 3],
    /// The correction g(−ξ)/g(0).
    correction: f64,
}

impl Wavelet {
    fn new(scale: u32, angle: usize) -> Self {
        let theta = PI * (ANGLES as f64 / 2.0 - 1.0 - angle as f64) / ANGLES as f64;
        let (sine, cosine) = (libm::sin(theta), libm::cos(theta));
        let size = f64::from(1_u32 << scale);
        let wave = 0.75 * PI / size;
        let along = (DEVIATION * size).powi(2);
        let across = along * (ANGLES as f64 / 4.0).powi(2);
        let mut wavelet = Self {
            wave: [wave * cosine, wave * sine],
            correction: 0.0,
            covariance: [
                along * cosine * cosine + across * sine * sine,
                (along - across) * sine * cosine,
                along * sine * sine + across * cosine * cosine,
            ],
        };
        let [y, x] = wavelet.wave;
        wavelet.correction = wavelet.gaussian(-y, -x) / wavelet.gaussian(0.0, 0.0);
        wavelet
    }

    /// The wavelet's transform ψ̂.
    fn at(&self, y: f64, x: f64) -> f64 {
        let [down, along] = self.wave;
        self.gaussian(y - down, x - along) - self.correction * self.gaussian(y, x)
    }

    /// The periodic Gaussian g.
    fn gaussian(&self, y: f64, x: f64) -> f64 {
        let [of_rows, mixed, of_columns] = self.covariance;
        let mut sum = 0.0;
        for down in -COPIES..=COPIES {
            for right in -COPIES..=COPIES {
                let (y, x) = (y + 2.0 * PI * f64::from(down), x + 2.0 * PI * f64::from(right));
                let square = of_rows * y * y + 2.0 * mixed * y * x + of_columns * x * x;
                sum += libm::exp(-0.5 * square);
            }
        }
        sum
    }
}

/// Weighted means along one axis of a periodic grid.
#[derive(Debug, Clone)]
pub(super) struct Averages {
    /// One entry per mean: its first grid point and the weights from there on.
    pub(super) means: Vec<(usize, Vec<f32>)>,
}

impl Averages {
    /// Averages of `size` pixels that begin at `start` of a grid, of which every `spacing`th point is
    /// given.
    pub(super) fn new(size: usize, start: usize, grid: usize, spacing: usize) -> Self {
        let step = 1 << SCALES;
        let count = size / step;
        let deviation = DEVIATION * f64::from(1_u32 << (SCALES - 1));
        let first = start as f64 + (size - count * step) as f64 / 2.0 + (step - 1) as f64 / 2.0;
        let mean = |place: usize| {
            let middle = first + (place * step) as f64;
            let weight = |point: usize| {
                let distance = (point * spacing) as f64 - middle;
                libm::exp(-0.5 * (distance / deviation).powi(2))
            };
            let weights: Vec<f64> = (0..grid / spacing).map(weight).collect();
            let largest = weights.iter().fold(0.0, |a: f64, b| a.max(*b));
            let used = |weight: &f64| *weight > 1e-4 * largest;
            let from = weights.iter().position(used).unwrap_or(0);
            let to = weights.iter().rposition(used).unwrap_or(0);
            let total: f64 = weights[from..=to].iter().sum();
            (from, weights[from..=to].iter().map(|weight| (weight / total) as f32).collect())
        };
        Self { means: (0..count).map(mean).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wavelets_have_no_mean_and_answer_to_their_own_wave() {
        let table = morlets(0, 32, 32, 1.0);
        let at = |row: usize, column: usize| table[place(row, 32) * 32 + place(column, 32)];
        assert!(at(0, 0).iter().all(|value| value.abs() < 1e-7));
        // The angle of number 3 is 0: its wave goes down the rows, 12 times in 32 pixels.
        assert!((at(12, 0)[3] - 1.0).abs() < 0.05);
        assert!(at(0, 12)[3].abs() < 1e-3, "across it is small");
        // Number 7 is at −π/2.
        assert!((at(0, 20)[7] - 1.0).abs() < 0.05);
    }

    #[test]
    fn averages_are_means_around_the_middles() {
        for (size, spacing) in [(28, 1), (28, 2), (26, 2), (8, 1)] {
            let averages = Averages::new(size, 2, 32, spacing);
            assert_eq!(averages.means.len(), size / 4);
            for (place, (from, weights)) in averages.means.iter().enumerate() {
                let middle: f64 = weights
                    .iter()
                    .zip(*from..)
                    .map(|(weight, at)| f64::from(*weight) * (at * spacing) as f64)
                    .sum();
                let expected = 2.0 + (size % 4) as f64 / 2.0 + 1.5 + 4.0 * place as f64;
                assert!((middle - expected).abs() < 0.1, "{middle} {expected}");
                assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            }
        }
    }
}
