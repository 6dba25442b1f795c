//! Random Fourier features: √(2/D)·cos(⟨w, x⟩ + b) of all numbers.
//!
//! x holds each number in [−1, 1] (0 where it is missing), wₖⱼ = N(0, 1)/width and bₖ uniform on a
//! circle. Both are derived from a fixed public hash of k and j by Box and Muller's formula, with
//! functions that round alike on every machine. The D squares sum to at most 2, and to 1 on average
//! over phases. Sums run over the columns in order, one feature after the other: a row has the same
//! bits at any index.

use super::column::ColumnEncoder;
use super::hats::Coordinate;
use super::pair::PairValue;
use crate::keyed::{self, Key};
use crate::schema::{ColumnKind, FourierFacts, Schema, Transform};
use std::f64::consts::TAU;

/// The fixed key of frequencies and phases. Stored models depend on it: it must never change.
const KEY: Key = *b"privet: fourier ";

#[derive(Debug, Clone)]
pub(super) struct Fourier {
    start: u32,
    pub(super) width: u32,
    weight: f64,
    /// The numbers: index among the encoders, coordinate and bounds.
    numbers: Vec<(usize, Coordinate, f64, f64)>,
    /// The frequencies wₖⱼ, feature by feature.
    frequencies: Vec<f64>,
    phases: Vec<f64>,
}

/// A uniform number in (0, 1], from a hash of two indices and a purpose.
fn uniform(wave: u32, column: u32, purpose: u8) -> f64 {
    let parts: [&[u8]; 3] = [&wave.to_le_bytes(), &column.to_le_bytes(), &[purpose]];
    let bits = keyed::hash("fourier", &KEY, &parts) >> 11;
    (bits as f64 + 1.0) / (1_u64 << 53) as f64
}

impl Fourier {
    pub(super) fn new(
        facts: FourierFacts,
        schema: &Schema,
        encoders: &[ColumnEncoder],
        start: u32,
    ) -> Self {
        let number =
            |(place, encoder): (usize, &ColumnEncoder)| match schema.columns()[encoder.source].kind
            {
                ColumnKind::Number { low, high, transform, .. } => {
                    let coordinate = match transform {
                        Some(Transform::Log1p) => Coordinate::FromLow,
                        None => Coordinate::Plain,
                    };
                    Some((place, coordinate, low, high))
                }
                _ => None,
            };
        let numbers: Vec<_> = encoders.iter().enumerate().filter_map(number).collect();
        let mut frequencies = Vec::with_capacity(facts.count as usize * numbers.len());
        let mut phases = Vec::with_capacity(facts.count as usize);
        for wave in 0..facts.count {
            for column in 0..numbers.len() as u32 {
                let radius = (-2.0 * libm::log(uniform(wave, column, 0))).sqrt();
                let normal = radius * libm::cos(TAU * uniform(wave, column, 1));
                frequencies.push(normal / facts.width);
            }
            phases.push(TAU * uniform(wave, u32::MAX, 2));
        }
        Self { start, width: facts.count, weight: facts.weight, numbers, frequencies, phases }
    }

    /// The largest sum of its squared entries, and that sum on average.
    pub(super) fn squares(&self) -> (f64, f64) {
        let square = self.weight * self.weight;
        (2.0 * square, square)
    }

    /// The largest magnitude of an entry.
    pub(super) fn height(&self) -> f64 {
        self.weight * (2.0 / f64::from(self.width)).sqrt()
    }

    /// Appends its entries, given the positions of the cells.
    pub(super) fn encode(&self, spots: &[PairValue], row: &mut Vec<(u32, f64)>) {
        let at = |&(place, coordinate, low, high): &(usize, Coordinate, f64, f64)| match spots
            [place]
        {
            PairValue::At(value) => 2.0 * coordinate.of(value.clamp(low, high), low, high) - 1.0,
            PairValue::Nowhere | PairValue::In(_) => 0.0,
        };
        let x: Vec<f64> = self.numbers.iter().map(at).collect();
        let height = self.height();
        let waves = self.frequencies.chunks_exact(x.len().max(1)).zip(&self.phases);
        for (column, (frequencies, phase)) in (self.start..).zip(waves) {
            let angle = frequencies.iter().zip(&x).fold(*phase, |sum, (w, x)| sum + w * x);
            row.push((column, height * libm::cos(angle)));
        }
    }

    pub(super) fn column_name(&self, column: usize) -> Option<String> {
        let place = u32::try_from(column).ok()?.checked_sub(self.start)?;
        (place < self.width).then(|| format!("(wave {})", place + 1))
    }
}
