//! Low bits that only one neighbour could have produced (Mironov 2012).
//!
//! Adding noise in floating point rounds the sum to the precision of its exponent, so a value near 0 plus
//! noise and a value near 1 plus the same noise end on different sets of numbers: the *last set bit* of
//! a release, beside its exponent, can give the neighbour away whatever the law of the noise says.
//!
//! The audit sorts releases by (exponent, place of the last set bit) of each coordinate, learns on one
//! half of the runs which cells belong to which world, and judges on the other half by the same bounds
//! as any attack ([`crate::attack`]). It finds the hole of a plain f64 Laplace mechanism, kept here as
//! `PlainLaplace`, and must find none where noise and values lie on one grid.
//!
//! Tested by `tests/audit/samplers.rs`.

use crate::attack::{self, Finding, Options};
use crate::runs::{self, Target, Watch, World};
use crate::{AuditError, Claim};
use privet_core::{Budget, Neighbours, Unit};
use privet_dp::account::Guarantee;
use privet_dp::gate::{Arithmetic, GateError, Odometer, Private};
use privet_dp::mechanism::L2Laplace;
use privet_dp::noise::{DiscreteLaplace, GridGaussian, Source};
use std::collections::HashMap;

/// (exponent, place of the last set bit) of a number; the same for all zeros.
fn cell(value: f64) -> (i32, i32) {
    if value == 0.0 || !value.is_finite() {
        return (i32::MIN, 0);
    }
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let mantissa = bits & ((1 << 52) - 1);
    let place = if mantissa == 0 { 52 } else { mantissa.trailing_zeros() as i32 };
    (exponent, exponent + place)
}

/// Cells seen in the learning runs, scored by how much more often the second world meets them.
struct Cells<'a> {
    target: &'a dyn Target,
    scores: HashMap<(usize, i32, i32), f64>,
}

impl<'a> Cells<'a> {
    fn learn(target: &'a dyn Target, worlds: &[Vec<Vec<f64>>; 2]) -> Self {
        let mut counts: HashMap<(usize, i32, i32), [f64; 2]> = HashMap::new();
        for (world, releases) in worlds.iter().enumerate() {
            for (place, value) in releases.iter().flat_map(|release| release.iter().enumerate()) {
                let (exponent, last) = cell(*value);
                counts.entry((place, exponent, last)).or_default()[world] += 1.0;
            }
        }
        let score = |[first, second]: [f64; 2]| libm::log((second + 0.5) / (first + 0.5));
        let scores = counts.into_iter().map(|(cell, counts)| (cell, score(counts))).collect();
        Self { target, scores }
    }
}

impl Target for Cells<'_> {
    fn release(&self, world: World, source: &mut dyn Source) -> Result<Vec<f64>, AuditError> {
        self.target.release(world, source)
    }

    fn likelihood_ratio(&self, release: &[f64]) -> Option<f64> {
        let known = release.iter().enumerate().map(|(place, value)| {
            let (exponent, last) = cell(*value);
            self.scores.get(&(place, exponent, last)).copied().unwrap_or(0.0)
        });
        Some(known.sum())
    }
}

/// Searches the bits of a target's releases. A third of the runs learns the cells, with a seed of their
/// own.
pub fn audit(
    target: &dyn Target,
    claim: &Claim,
    options: &Options,
    watch: &dyn Watch,
) -> Result<Finding, AuditError> {
    attack::RUNS.check(options.runs as f64)?;
    let seed = runs::scramble(options.seed);
    let worlds = runs::collect(target, options.runs / 2, seed, watch)?;
    let cells = Cells::learn(target, &worlds);
    attack::audit(&cells, claim, options, watch)
}

/// Scalar mechanisms whose neighbours are 0 and 1; each is ε-DP, or nearly so, on real numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// Textbook f64 Laplace noise, −s·ln U: broken in floating point.
    PlainLaplace,
    /// Ours: discrete Laplace on a grid.
    GridLaplace,
    /// Ours: Gaussian on a grid.
    GridGaussian,
    /// Ours: ℓ2-Laplace, proved on real numbers only, its last bits rounded away.
    L2Laplace,
}

/// A [`Scalar`] mechanism with ε of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FloatingPoint {
    /// Which.
    pub kind: Scalar,
    /// Its ε at sensitivity 1.
    pub epsilon: f64,
}

impl FloatingPoint {
    /// What it claims: for the Gaussian, at δ = 1e-5.
    pub fn claim(&self) -> Result<Claim, AuditError> {
        let delta = if self.kind == Scalar::GridGaussian { 1e-5 } else { 0.0 };
        Ok(Claim::stated(Budget::new(self.epsilon, delta)?))
    }
}

impl Target for FloatingPoint {
    fn release(&self, world: World, source: &mut dyn Source) -> Result<Vec<f64>, AuditError> {
        let value = f64::from(u8::from(world == World::Second));
        let scale = 1.0 / self.epsilon;
        let noise = match self.kind {
            Scalar::PlainLaplace => {
                let uniform = (source.bits(53) as f64 + 1.0) * 2f64.powi(-53);
                let size = -scale * uniform.ln();
                if source.bits(1) == 1 { size } else { -size }
            }
            Scalar::GridLaplace => {
                let step = 2f64.powi(-30);
                let law = DiscreteLaplace::new(scale / step).map_err(noise_failed)?;
                law.draw(source) as f64 * step
            }
            Scalar::GridGaussian => {
                let sigma = 1.0 / privet_dp::account::gaussian::mu(self.epsilon, 1e-5);
                let mut noise = [0.0];
                GridGaussian::new(sigma).map_err(noise_failed)?.fill(&mut noise, source);
                noise[0]
            }
            Scalar::L2Laplace => return l2_laplace(value, scale, source),
        };
        Ok(vec![value + noise])
    }
}

/// The mechanism itself, gate and all: what it rounds matters here.
fn l2_laplace(value: f64, scale: f64, source: &mut dyn Source) -> Result<Vec<f64>, AuditError> {
    let (neighbours, unit) = (Neighbours::ReplaceOne, Unit::Record);
    let mechanism =
        L2Laplace { neighbours, unit, sensitivity: 1.0, noise_scale: scale, coordinates: 1 };
    let mut odometer = Odometer::start(mechanism.event(), source);
    let noised = mechanism.run(Private::new(vec![value]), &mut odometer).map_err(gate_failed)?;
    let claim = Guarantee { neighbours, unit, epsilon: 1.0 / scale, delta: 0.0 };
    let release =
        odometer.settle(noised, claim, Arithmetic::Real, Vec::new(), serde_json::Value::Null);
    Ok(release.map_err(gate_failed)?.into_parts().0)
}

fn gate_failed(error: GateError) -> AuditError {
    AuditError::Table(error.to_string())
}

pub(crate) fn noise_failed(error: privet_dp::noise::NoiseError) -> AuditError {
    AuditError::Table(error.to_string())
}
