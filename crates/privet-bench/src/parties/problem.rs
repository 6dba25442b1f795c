//! A problem of m equal parties in plain numbers: J(θ) = (1/n)Σℓ(⟨x, θ⟩; y) + (λ/2)‖θ‖², ‖x‖ ≤ 1, |ℓ′| ≤ 1.
//!
//! For experiments alone: sums are floating point, and nothing here is released.

use super::DealtData;
use crate::error::BenchError;
use crate::parts::Settings;
use privet_catalog as catalog;
use privet_data::read::ReadOptions;
use privet_data::{Dataset, Schema, Target, keyed, split};
use privet_dp::noise::{FixedSeed, GridGaussian, Source};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// The generated set.
pub const GENERATED: &str = "generated-95";

/// The loss; both have derivatives of at most 1 in magnitude.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// ln(1 + e^(−y⟨x,θ⟩)): curvature ¼.
    Logistic,
    /// Squares, with the derivative clipped to 1: curvature 1.
    Clipped,
}

impl Shape {
    /// Upper bound on ℓ″.
    pub fn curvature(self) -> f64 {
        if self == Self::Logistic { 0.25 } else { 1.0 }
    }

    fn loss(self, score: f64, y: f64) -> f64 {
        match self {
            Self::Logistic => {
                let margin = y * score;
                (-margin.abs()).exp().ln_1p() + (-margin).max(0.0)
            }
            Self::Clipped => {
                let gap = (score - y).abs();
                if gap <= 1.0 { gap * gap / 2.0 } else { gap - 0.5 }
            }
        }
    }

    fn slope(self, score: f64, y: f64) -> f64 {
        match self {
            Self::Logistic => -y / (1.0 + (y * score).exp()),
            Self::Clipped => (score - y).clamp(-1.0, 1.0),
        }
    }
}

/// Rows and labels.
#[derive(Debug, Clone)]
pub struct Rows {
    /// Number of columns d.
    pub columns: usize,
    /// Values, row by row.
    pub x: Vec<f64>,
    /// Labels ±1, or numbers in [−1, 1].
    pub y: Vec<f64>,
}

impl Rows {
    /// Number of rows n.
    pub fn count(&self) -> usize {
        self.y.len()
    }

    fn row(&self, at: usize) -> &[f64] {
        &self.x[at * self.columns..(at + 1) * self.columns]
    }

    fn score(&self, at: usize, theta: &[f64]) -> f64 {
        self.row(at).iter().zip(theta).map(|(x, t)| x * t).sum()
    }

    /// Σ∇ℓ over some rows, divided by their number, with derivatives clipped at `most`.
    pub fn gradient(
        &self,
        (shape, most): (Shape, f64),
        theta: &[f64],
        rows: std::ops::Range<usize>,
    ) -> Vec<f64> {
        let count = rows.len().max(1) as f64;
        let mut sum = vec![0.0; self.columns];
        for at in rows {
            let slope = shape.slope(self.score(at, theta), self.y[at]).clamp(-most, most) / count;
            self.row(at).iter().zip(&mut sum).for_each(|(x, sum)| *sum += slope * x);
        }
        sum
    }

    /// The gradient over all rows, on all cores.
    pub fn whole_gradient(&self, shape: (Shape, f64), theta: &[f64]) -> Vec<f64> {
        let size = 2048;
        let parts: Vec<Vec<f64>> = (0..self.count().div_ceil(size))
            .into_par_iter()
            .map(|part| {
                let rows = part * size..((part + 1) * size).min(self.count());
                let weight = rows.len() as f64 / self.count() as f64;
                let mut mean = self.gradient(shape, theta, rows);
                mean.iter_mut().for_each(|x| *x *= weight);
                mean
            })
            .collect();
        let mut sum = vec![0.0; self.columns];
        for part in parts {
            sum.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        }
        sum
    }

    /// The objective J.
    pub fn objective(&self, shape: Shape, theta: &[f64], ridge: f64) -> f64 {
        let losses: f64 = (0..self.count())
            .into_par_iter()
            .map(|at| shape.loss(self.score(at, theta), self.y[at]))
            .sum();
        losses / self.count() as f64 + ridge / 2.0 * square(theta)
    }

    /// Per cent of rows whose sign is predicted; for numbers, 100·R².
    pub fn accuracy(&self, shape: Shape, theta: &[f64]) -> f64 {
        let count = self.count().max(1) as f64;
        if shape == Shape::Logistic {
            let right = (0..self.count())
                .filter(|at| (self.score(*at, theta) > 0.0) == (self.y[*at] > 0.0));
            return 100.0 * right.count() as f64 / count;
        }
        let mean = self.y.iter().sum::<f64>() / count;
        let missed: f64 =
            (0..self.count()).map(|at| (self.score(at, theta) - self.y[at]).powi(2)).sum();
        let spread: f64 = self.y.iter().map(|y| (y - mean).powi(2)).sum();
        100.0 * (1.0 - missed / spread)
    }

    /// A point at which ‖∇(J_part + ⟨linear, θ⟩)‖ ≤ `tolerance`, by accelerated descent.
    pub fn minimum(
        &self,
        (shape, ridge): (Shape, f64),
        rows: std::ops::Range<usize>,
        linear: Option<&[f64]>,
        tolerance: f64,
    ) -> Result<Vec<f64>, BenchError> {
        let smooth = shape.curvature() + ridge;
        let momentum = ((smooth / ridge).sqrt() - 1.0) / ((smooth / ridge).sqrt() + 1.0);
        let whole = rows.len() == self.count();
        let (mut theta, mut ahead) = (vec![0.0; self.columns], vec![0.0; self.columns]);
        for _ in 0..100_000 {
            let mut gradient = match whole {
                true => self.whole_gradient((shape, 1.0), &ahead),
                false => self.gradient((shape, 1.0), &ahead, rows.clone()),
            };
            for (at, g) in gradient.iter_mut().enumerate() {
                *g += ridge * ahead[at] + linear.map_or(0.0, |linear| linear[at]);
            }
            if square(&gradient).sqrt() <= tolerance {
                return Ok(ahead);
            }
            for at in 0..self.columns {
                let next = ahead[at] - gradient[at] / smooth;
                ahead[at] = next + momentum * (next - theta[at]);
                theta[at] = next;
            }
        }
        // The noise relies on this tolerance: without it nothing is proved.
        Err(BenchError::Suite {
            file: super::NAME.into(),
            why: format!(
                "no minimum with a gradient below {tolerance:e} was found in 100,000 steps"
            ),
        })
    }
}

/// The squared norm ‖v‖².
pub fn square(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum()
}

/// A draw of N(0, σ²I).
pub fn gaussian(
    length: usize,
    scale: f64,
    source: &mut dyn Source,
) -> Result<Vec<f64>, BenchError> {
    let mut noise = vec![0.0; length];
    GridGaussian::new(scale)?.fill(&mut noise, source);
    Ok(noise)
}

fn exponential(source: &mut dyn Source) -> f64 {
    -(((source.next_u64() >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0).ln()
}

/// A draw with density ∝ exp(−‖b‖₁/scale), coordinate by coordinate.
pub fn laplace(length: usize, scale: f64, source: &mut dyn Source) -> Vec<f64> {
    (0..length).map(|_| (exponential(source) - exponential(source)) * scale).collect()
}

/// A draw with density ∝ exp(−‖b‖₂/scale): a direction, and a norm that is the sum of d exponential
/// draws.
pub fn l2_laplace(
    length: usize,
    scale: f64,
    source: &mut dyn Source,
) -> Result<Vec<f64>, BenchError> {
    let mut direction = gaussian(length, 1.0, source)?;
    let radius: f64 = (0..length).map(|_| exponential(source)).sum::<f64>() * scale;
    let norm = square(&direction).sqrt();
    direction.iter_mut().for_each(|x| *x *= radius / norm);
    Ok(direction)
}

/// The training and test rows of a data set, shuffled, each within the unit ball. Test rows are those of
/// its test part and, where these are too few, unused rows of the training part.
pub fn rows(
    dealt: &DealtData,
    shape: Shape,
    settings: &Settings,
) -> Result<(Rows, Rows), BenchError> {
    if dealt.dataset == GENERATED {
        return Ok((generate_rows(dealt.training, 1), generate_rows(dealt.test, 2)));
    }
    let folder = folder(dealt, settings)?;
    let schema = Schema::load(folder.join("schema.toml"))?.linear();
    let (train, test) = (read(&folder, "train", &schema)?, read(&folder, "test", &schema)?);
    let order = |data: &Dataset| split::shuffled_rows(data.rows(), &keyed::key(1));
    let (learnt, judged) = (order(&train), order(&test));
    let (learnt, left) = learnt.split_at(dealt.training.min(learnt.len()));
    let (train, mut more) =
        (rows_in_order(&train, shape, learnt), rows_in_order(&train, shape, left));
    let mut test = rows_in_order(&test, shape, &judged[..dealt.test.min(judged.len())]);
    more.x.truncate(more.columns * dealt.test.saturating_sub(test.count()));
    more.y.truncate(dealt.test.saturating_sub(test.count()));
    test.x.append(&mut more.x);
    test.y.append(&mut more.y);
    Ok((train, test))
}

/// The folder of a prepared set of the catalog.
pub fn folder(dealt: &DealtData, settings: &Settings) -> Result<PathBuf, BenchError> {
    let folder = settings.work.join(&dealt.dataset);
    if !folder.join("schema.toml").is_file() {
        catalog::prepare(&dealt.dataset, &settings.originals, &folder, None)?;
    }
    Ok(folder)
}

/// One table of the set, encoded by a schema.
pub fn read(folder: &Path, stem: &str, schema: &Schema) -> Result<Dataset, BenchError> {
    let files = ["csv", "svm"].map(|ending| folder.join(format!("{stem}.{ending}")));
    let file = files.iter().find(|file| file.is_file()).unwrap_or(&files[0]);
    Ok(privet_data::read::read(file, schema, &ReadOptions::default())?)
}

/// Rows of a table, in this order, each within the unit ball.
pub fn rows_in_order(data: &Dataset, shape: Shape, order: &[usize]) -> Rows {
    let columns = data.features.columns();
    let labels = match &data.target {
        Target::Number(values) if shape == Shape::Clipped => values.clone(),
        target => target.signed().unwrap_or_default(),
    };
    let mut rows = Rows { columns, x: Vec::with_capacity(order.len() * columns), y: Vec::new() };
    for at in order {
        let row: Vec<f64> = data.features.dense_row(*at).into_iter().map(f64::from).collect();
        let norm = square(&row).sqrt().max(1.0);
        rows.x.extend(row.iter().map(|x| x / norm));
        rows.y.push(labels[*at]);
    }
    rows
}

/// 95 columns of Gaussian entries within the unit ball, and a number from a fixed direction and noise.
fn generate_rows(count: usize, seed: u64) -> Rows {
    let columns = 95;
    let (mut source, mut of_truth) = (FixedSeed::new(seed), FixedSeed::new(95));
    let truth: Vec<f64> = gaussian(columns, 1.0, &mut of_truth).unwrap_or_default();
    let mut rows = Rows { columns, x: Vec::new(), y: Vec::new() };
    for _ in 0..count {
        let mut row = gaussian(columns, 0.1, &mut source).unwrap_or_default();
        let norm = square(&row).sqrt().max(1.0);
        row.iter_mut().for_each(|x| *x /= norm);
        let noise = gaussian(1, 0.1, &mut source).unwrap_or_default();
        let score: f64 = row.iter().zip(&truth).map(|(x, t)| x * t).sum();
        rows.y.push((0.3 * score + noise.first().unwrap_or(&0.0)).clamp(-1.0, 1.0));
        rows.x.extend(row);
    }
    rows
}

/// The first `most` rows of a shuffled table, and the next `more`.
pub fn first_rows(data: &Dataset, [most, more]: [usize; 2]) -> (Dataset, Dataset) {
    let order = split::shuffled_rows(data.rows(), &keyed::key(1));
    let (first, rest) = order.split_at(most.min(order.len()));
    (data.select(first), data.select(&rest[..more.min(rest.len())]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minima_are_certified_and_the_gap_of_the_best_is_none() {
        let rows = generate_rows(400, 3);
        let best = rows.minimum((Shape::Clipped, 0.01), 0..400, None, 1e-9).unwrap();
        let mut gradient = rows.whole_gradient((Shape::Clipped, 1.0), &best);
        gradient.iter_mut().zip(&best).for_each(|(g, t)| *g += 0.01 * t);
        assert!(square(&gradient).sqrt() < 1e-8);
        let at = |theta: &[f64]| rows.objective(Shape::Clipped, theta, 0.01);
        assert!(at(&best) < at(&vec![0.0; 95]) && rows.accuracy(Shape::Clipped, &best) > 50.0);
    }

    /// Slopes are derivatives of losses.
    #[test]
    fn slopes_are_those_of_the_losses() {
        for shape in [Shape::Logistic, Shape::Clipped] {
            for (score, y) in [(-2.0, 1.0), (0.3, -1.0), (0.0, 1.0), (1.7, 0.2)] {
                let h = 1e-6;
                let slope = (shape.loss(score + h, y) - shape.loss(score - h, y)) / (2.0 * h);
                let stated = shape.slope(score, y);
                assert!((slope - stated).abs() < 1e-6 && stated.abs() <= 1.0, "{score} {y}");
            }
        }
    }
}
