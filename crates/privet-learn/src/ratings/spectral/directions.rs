//! The public walk of the spectral methods: computes directions from noisy answers.

use super::eigen::{Triangle, orthonormal, unit};
use super::path::{Descent, Direction, Path, Projection, Subspace};
use super::procedure::{Sizes, SpectralMethod};
use super::query::{Query, Residuals};
use crate::ratings::factors::Factors;
use privet_dp::gate::{Next, Walk};
use serde::{Deserialize, Serialize};

/// Directions so far, and the current vector of Oja's rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct DirectionSearch {
    sizes: Sizes,
    path: Path,
    steps: Vec<Projection>,
    vector: Vec<f64>,
    taken: u32,
}

impl Walk for DirectionSearch {
    type Start = Sizes;
    type Query = Query;
    type Answer = Vec<f64>;
    type Artefact = Factors;

    fn begin(sizes: Sizes) -> Self {
        let (directions, offsets) = (Vec::new(), sizes.offsets.clone());
        let path = Path { clip: sizes.clip, nuclear: sizes.nuclear, directions, offsets };
        Self { vector: start(sizes.items), sizes, path, steps: Vec::new(), taken: 0 }
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<Query, Factors> {
        let (items, noise) = (self.sizes.items, self.sizes.noise);
        match (self.sizes.way, answer) {
            (SpectralMethod::Svd { .. }, None) => Next::Ask(Query::Covariance {
                residuals: Residuals::Rows { clip: self.sizes.clip },
                items,
            }),
            (SpectralMethod::Svd { rank }, Some(answer)) => {
                let found = largest(answer, items, rank, noise);
                let mut vectors: Vec<Vec<f64>> =
                    found.into_iter().map(|(_, vector)| vector).collect();
                orthonormal(&mut vectors);
                Next::Release(Factors::Subspace(Subspace { clip: self.sizes.clip, vectors }))
            }
            (SpectralMethod::Pgd { rank, rate }, answer) => {
                if let Some(answer) = answer {
                    self.steps.push(projection(answer, &self.sizes, rank));
                }
                let (clip, steps) = (self.sizes.clip, self.steps.clone());
                let descent =
                    Descent { clip, rate, items, steps, offsets: self.sizes.offsets.clone() };
                if self.steps.len() < self.sizes.rounds as usize {
                    let residuals = Residuals::Descent(descent);
                    Next::Ask(Query::Covariance { residuals, items })
                } else {
                    Next::Release(Factors::Descent(descent))
                }
            }
            (SpectralMethod::FrankWolfe, answer) => {
                if let Some(answer) = answer
                    && let Some((value, mut vector)) = largest(answer, items, 1, noise).pop()
                {
                    unit(&mut vector);
                    let size = (value.max(0.0) + edge(items, noise)).sqrt();
                    self.path.directions.push(Direction { size, vector });
                }
                self.asked_or_done(|residuals| Query::Covariance { residuals, items })
            }
            (SpectralMethod::Oja { steps }, answer) => {
                if let Some(answer) = answer {
                    self.oja(steps, &answer);
                }
                let (taken, vector) = (self.taken, self.vector.clone());
                self.asked_or_done(|residuals| match taken < steps {
                    true => Query::Power { residuals, vector },
                    false => Query::Energy { residuals, vector },
                })
            }
        }
    }
}

impl DirectionSearch {
    fn asked_or_done(&self, query: impl FnOnce(Residuals) -> Query) -> Next<Query, Factors> {
        if self.path.directions.len() < self.sizes.rounds as usize {
            Next::Ask(query(Residuals::Path(self.path.clone())))
        } else {
            Next::Release(Factors::Directions(self.path.clone()))
        }
    }

    fn oja(&mut self, steps: u32, answer: &[f64]) {
        let far = self.sizes.noise * (self.sizes.items as f64).sqrt();
        if self.taken < steps {
            self.vector.iter_mut().zip(answer).for_each(|(v, told)| *v += told / far);
            unit(&mut self.vector);
            self.taken += 1;
            return;
        }
        let energy = answer.first().copied().unwrap_or(0.0).max(0.0);
        let vector = std::mem::replace(&mut self.vector, start(self.sizes.items));
        self.path.directions.push(Direction { size: (energy + far).sqrt(), vector });
        self.taken = 0;
    }
}

/// Projection of the singular values of all rows onto the nuclear ball; drops directions within the
/// spectrum of the noise alone.
fn projection(answer: Vec<f64>, sizes: &Sizes, rank: usize) -> Projection {
    let edge = edge(sizes.items, sizes.noise);
    let mut found = largest(answer, sizes.items, rank, sizes.noise);
    found.retain(|(value, _)| *value > edge);
    let values: Vec<f64> = found.iter().map(|(value, _)| value.sqrt()).collect();
    let mut vectors: Vec<Vec<f64>> = found.into_iter().map(|(_, vector)| vector).collect();
    orthonormal(&mut vectors);
    // Threshold τ with Σ max(0, λ − τ) = k, values descending.
    let (mut less, mut sum) = (0.0_f64, 0.0);
    for (place, value) in values.iter().enumerate() {
        sum += value;
        let level = (sum - sizes.nuclear) / (place + 1) as f64;
        if level < *value {
            less = less.max(level);
        }
    }
    let factors = values.iter().map(|value| ((value - less) / value).clamp(0.0, 1.0)).collect();
    Projection { factors, vectors }
}

/// A fixed, generic unit vector.
fn start(items: usize) -> Vec<f64> {
    let mut vector: Vec<f64> =
        (0..items).map(|j| ((j as f64 + 0.5) * 0.618_034).sin() + 0.01).collect();
    unit(&mut vector);
    vector
}

/// Edge of the spectrum of the noise alone: entries off the diagonal have σ/(3/2).
fn edge(items: usize, noise: f64) -> f64 {
    2.0 * noise / 1.5 * (items as f64).sqrt()
}

fn largest(answer: Vec<f64>, items: usize, count: usize, noise: f64) -> Vec<(f64, Vec<f64>)> {
    let mut entries = answer;
    let mut place = 0;
    for i in 0..items {
        entries[place..place + i].iter_mut().for_each(|entry| *entry /= 1.5);
        place += i + 1;
    }
    Triangle::new(entries, items).largest(count, edge(items, noise))
}
