//! Low bits that only one neighbour could have produced (Mironov 2012).
//!
//! Adding noise in floating point rounds the sum to the precision of its exponent, so a value near 0
//! plus noise and a value near 1 plus the same noise end on different sets of numbers: the *last set
//! bit* of a release, beside its exponent, can identify the neighbour for any law of the noise.
//!
//! The audit groups releases by (exponent, position of the last set bit) of each coordinate, learns on a
//! third of the runs which cells belong to which input, and tests on the others by the same bounds as
//! any attack ([`crate::attack`]). It finds the flaw of a plain f64 Laplace mechanism, kept here as
//! `PlainLaplace`, and must find none if noise and values lie on one grid.
//!
//! Tested by `tests/audit/samplers.rs`.

use crate::attack::{self, AttackOptions, Finding};
use crate::runs::{self, AttackWatch, Neighbour, Target};
use crate::{AuditError, Claim};
use privet_core::{Budget, Neighbours, Unit};
use privet_dp::account::{self, Event, Guarantee};
use privet_dp::gate::{Arithmetic, GateError, Noisy, Private, Session, Statement};
use privet_dp::mechanism::{Gaussian, L2Laplace, Laplace};
use privet_dp::noise::Source;
use std::collections::HashMap;

/// (exponent, position of the last set bit) of a number; the same for all zeros.
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

/// Cells of the learning runs, scored by the log ratio of their frequencies in the two inputs.
struct Cells<'a> {
    target: &'a dyn Target,
    scores: HashMap<(usize, i32, i32), f64>,
}

impl<'a> Cells<'a> {
    fn learn(target: &'a dyn Target, worlds: &[Vec<Vec<f64>>; 2]) -> Self {
        let mut counts: HashMap<(usize, i32, i32), [f64; 2]> = HashMap::new();
        for (neighbour, releases) in worlds.iter().enumerate() {
            for (place, value) in releases.iter().flat_map(|release| release.iter().enumerate()) {
                let (exponent, last) = cell(*value);
                counts.entry((place, exponent, last)).or_default()[neighbour] += 1.0;
            }
        }
        let score = |[first, second]: [f64; 2]| libm::log((second + 0.5) / (first + 0.5));
        let scores = counts.into_iter().map(|(cell, counts)| (cell, score(counts))).collect();
        Self { target, scores }
    }
}

impl Target for Cells<'_> {
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        self.target.release(neighbour, source)
    }

    fn likelihood_ratio(&self, release: &[f64]) -> Option<f64> {
        let known = release.iter().enumerate().map(|(place, value)| {
            let (exponent, last) = cell(*value);
            self.scores.get(&(place, exponent, last)).copied().unwrap_or(0.0)
        });
        Some(known.sum())
    }
}

/// Searches the bits of a target's releases. A third of the runs learns the cells, with a seed of its
/// own.
pub fn audit(
    target: &dyn Target,
    claim: &Claim,
    options: &AttackOptions,
    watch: &dyn AttackWatch,
) -> Result<Finding, AuditError> {
    attack::RUNS.check(options.runs as f64)?;
    let seed = runs::scramble(options.seed);
    let worlds = runs::collect(target, options.runs / 2, seed, watch)?;
    let cells = Cells::learn(target, &worlds);
    attack::audit(&cells, claim, options, watch)
}

/// Scalar mechanisms, each ε-DP, or nearly so, on real numbers. Ours run completely, from the gate to
/// the released number, since their rounding is under test.
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

/// A [`Scalar`] mechanism with its ε and two neighbouring values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FloatingPoint {
    /// The mechanism.
    pub kind: Scalar,
    /// Its ε for these neighbours, apart from rounding to a grid.
    pub epsilon: f64,
    /// The values of the two neighbours.
    pub values: [f64; 2],
}

/// δ of the Gaussian mechanism.
const DELTA: f64 = 1e-5;
/// Grid step of the Laplace mechanism.
const STEP: f64 = 1.0 / (1 << 30) as f64;
const NEIGHBOURS: Neighbours = Neighbours::ReplaceOne;
const UNIT: Unit = Unit::Record;

impl FloatingPoint {
    fn sensitivity(&self) -> f64 {
        (self.values[1] - self.values[0]).abs()
    }

    fn laplace(&self) -> Laplace {
        let sensitivity = self.sensitivity();
        Laplace {
            neighbours: NEIGHBOURS,
            unit: UNIT,
            sensitivity,
            noise_scale: sensitivity / self.epsilon,
            step: STEP,
            on_grid: false,
            coordinates: 1,
        }
    }

    fn gaussian(&self) -> Gaussian {
        let sensitivity = self.sensitivity();
        Gaussian {
            neighbours: NEIGHBOURS,
            unit: UNIT,
            sensitivity,
            noise_scale: sensitivity / account::gaussian::mu(self.epsilon, DELTA),
            coordinates: 1,
        }
    }

    /// The claim: by its events if it runs on a grid, for the Gaussian at δ = 1e-5.
    pub fn claim(&self) -> Result<Claim, AuditError> {
        let (event, delta) = match self.kind {
            Scalar::PlainLaplace | Scalar::L2Laplace => {
                return Ok(Claim::stated(Budget::new(self.epsilon, 0.0)?));
            }
            Scalar::GridLaplace => (self.laplace().event(), 0.0),
            Scalar::GridGaussian => (self.gaussian().event().map_err(gate_failed)?, DELTA),
        };
        Ok(Claim::stated(Budget::new(account::epsilon(&event, delta)?, delta)?))
    }
}

impl Target for FloatingPoint {
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        let value = self.values[usize::from(neighbour == Neighbour::Second)];
        let private = Private::new(vec![value]);
        let scale = self.sensitivity() / self.epsilon;
        match self.kind {
            Scalar::PlainLaplace => {
                let uniform = (source.bits(53) as f64 + 1.0) * 2f64.powi(-53);
                let size = -scale * uniform.ln();
                Ok(vec![value + if source.bits(1) == 1 { size } else { -size }])
            }
            Scalar::GridLaplace => {
                let laplace = self.laplace();
                run_through_gate(laplace.event(), source, |session| laplace.run(private, session))
            }
            Scalar::GridGaussian => {
                let gaussian = self.gaussian();
                let event = gaussian.event().map_err(gate_failed)?;
                run_through_gate(event, source, |session| gaussian.run(private, session))
            }
            Scalar::L2Laplace => {
                let mechanism = L2Laplace {
                    neighbours: NEIGHBOURS,
                    unit: UNIT,
                    sensitivity: self.sensitivity(),
                    noise_scale: scale,
                    coordinates: 1,
                };
                run_through_gate(mechanism.event(), source, |session| {
                    mechanism.run(private, session)
                })
            }
        }
    }
}

/// Runs a mechanism through the gate. An audit's streams have fixed seeds, so the claim at the gate is
/// not recomputed there.
fn run_through_gate(
    event: Event,
    source: &mut dyn Source,
    run: impl FnOnce(&mut Session<'_>) -> Result<Noisy<Vec<f64>>, GateError>,
) -> Result<Vec<f64>, AuditError> {
    let claim = Guarantee::new(NEIGHBOURS, UNIT, 1.0, 0.5);
    let statement = Statement::new(claim, Arithmetic::Real, serde_json::Value::Null);
    let mut session = Session::start(event, source);
    let noisy = run(&mut session).map_err(gate_failed)?;
    Ok(session.settle(noisy, statement).map_err(gate_failed)?.into_parts().0)
}

fn gate_failed(error: GateError) -> AuditError {
    AuditError::Table(error.to_string())
}

pub(crate) fn noise_failed(error: privet_dp::noise::NoiseError) -> AuditError {
    AuditError::Table(error.to_string())
}
