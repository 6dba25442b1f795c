//! Mechanisms as printed, kept as targets.
//!
//! If the formula of a paper or released program violates its claim, a fixture here implements it as
//! printed, with the repaired version beside it. [`errata()`] computes the true cost of each printed
//! text. Three verdicts are distinguished:
//! - **claim false**: a concrete pair of neighbours exceeds the stated (ε, δ);
//! - **lemma false**: an inequality of the proof is violated on a concrete pair, but the stated (ε, δ)
//!   survives by slack elsewhere;
//! - **open**: an inequality of the proof is violated, no pair is known that exceeds the stated (ε, δ),
//!   and the ε that is proved instead is larger.
//!
//! Tested by `tests/audit/errata.rs`.

pub mod choosing;
pub mod descent;
pub mod minima;
pub mod online;
pub mod passes;
pub mod sparse_vector;
pub mod voting;
pub mod wang_thesis;

use crate::AuditError;
use crate::bits::noise_failed;
use crate::runs::{Neighbour, Target};
use privet_dp::noise::{DiscreteLaplace, GridGaussian, L2Laplace, Source, report_noisy_max};

/// Result of recomputing a printed claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The stated (ε, δ) does not hold.
    ClaimFalse,
    /// A step of the proof does not hold; the stated (ε, δ) does.
    LemmaFalse,
    /// A step of the proof does not hold; whether the stated (ε, δ) does is not known.
    Open,
}

/// One printed claim, recomputed.
#[derive(Debug, Clone, PartialEq)]
pub struct Erratum {
    /// Its number in `docs/errata.md`, or its place in print.
    pub id: &'static str,
    /// The mechanism and its settings.
    pub what: String,
    /// The printed ε.
    pub epsilon: f64,
    /// The printed δ.
    pub delta: f64,
    /// Lower bound on ε for the concrete pair at that δ (claim false), or the ε that is proved
    /// (otherwise).
    pub recomputed: f64,
    /// The verdict.
    pub verdict: Verdict,
}

/// Returns every erratum that is computed directly.
pub fn errata() -> Result<Vec<Erratum>, AuditError> {
    let mut all = descent::errata();
    all.extend(passes::errata());
    all.extend(minima::errata()?);
    all.extend(online::errata());
    all.extend(wang_thesis::errata());
    Ok(all)
}

/// The law of noise added to a vector.
enum Noise {
    Laplace(DiscreteLaplace, f64),
    L2Laplace(L2Laplace),
    Gaussian(GridGaussian),
}

/// A vector that differs between neighbours, plus noise of known density.
pub struct Shift {
    moved: Vec<f64>,
    noise: Noise,
}

impl Shift {
    /// Laplace noise of this scale in every coordinate, on a fine grid.
    pub fn laplace(moved: Vec<f64>, scale: f64) -> Result<Self, AuditError> {
        let step = scale * 2f64.powi(-30);
        let law = DiscreteLaplace::new(scale / step).map_err(noise_failed)?;
        Ok(Self { moved, noise: Noise::Laplace(law, step) })
    }

    /// Noise of density ∝ exp(−‖b‖₂/scale).
    pub fn l2_laplace(moved: Vec<f64>, scale: f64) -> Result<Self, AuditError> {
        Ok(Self { moved, noise: Noise::L2Laplace(L2Laplace::new(scale).map_err(noise_failed)?) })
    }

    /// Gaussian noise of this standard deviation in every coordinate.
    pub fn gaussian(moved: Vec<f64>, sigma: f64) -> Result<Self, AuditError> {
        Ok(Self { moved, noise: Noise::Gaussian(GridGaussian::new(sigma).map_err(noise_failed)?) })
    }
}

impl Target for Shift {
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        let mut vector = vec![0.0; self.moved.len()];
        match &self.noise {
            Noise::Laplace(law, step) => {
                vector.iter_mut().for_each(|x| *x = law.draw(source) as f64 * step);
            }
            Noise::L2Laplace(law) => law.fill(&mut vector, source),
            Noise::Gaussian(law) => law.fill(&mut vector, source),
        }
        if neighbour == Neighbour::Second {
            vector.iter_mut().zip(&self.moved).for_each(|(x, moved)| *x += moved);
        }
        Ok(vector)
    }

    fn likelihood_ratio(&self, release: &[f64]) -> Option<f64> {
        let both = || release.iter().zip(&self.moved);
        Some(match &self.noise {
            Noise::Laplace(..) => both().map(|(x, moved)| x.abs() - (x - moved).abs()).sum(),
            Noise::L2Laplace(_) => {
                let norm = |squares: f64| libm::sqrt(squares);
                norm(release.iter().map(|x| x * x).sum())
                    - norm(both().map(|(x, moved)| (x - moved).powi(2)).sum())
            }
            Noise::Gaussian(_) => both().map(|(x, moved)| x * moved).sum(),
        })
    }
}

/// The exponential mechanism: selects one of several candidates.
pub struct Choice {
    scores: [Vec<f64>; 2],
    noise_scale: f64,
}

impl Choice {
    /// Scores on the two neighbours, and the scale of the Gumbel noise (2Δ/ε).
    pub fn new(first: Vec<f64>, second: Vec<f64>, noise_scale: f64) -> Self {
        Self { scores: [first, second], noise_scale }
    }
}

impl Target for Choice {
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        let scores = &self.scores[usize::from(neighbour == Neighbour::Second)];
        let chosen = report_noisy_max(scores, self.noise_scale, source).map_err(noise_failed)?;
        Ok(vec![chosen as f64])
    }

    fn likelihood_ratio(&self, release: &[f64]) -> Option<f64> {
        let chosen = *release.first()? as usize;
        Some(self.scores[1].get(chosen)? - self.scores[0].get(chosen)?)
    }
}
