//! Linear regression with a regulariser that leaves large eigenvalues alone (Thakurta 2013,
//! Algorithm 4.2). *Experimental.*
//!
//! The theorem, its proof and open points are those of [`RotatedObjective`]:
//! ½θᵀf(XᵀX)θ − ⟨Xᵀy, θ⟩ + ⟨b, θ⟩ over ‖θ‖ ≤ B, where f raises eigenvalues below Δ to Δ. Directions that
//! the data determine well are not regularised at all.
//!
//! With XᵀX = QΛQᵀ the minimiser is Q·diag(1/(max(Λ, Δ) + ν))·Qᵀ(Xᵀy − b), ν ≥ 0 the least number for
//! which it lies in the ball ([`MatrixFunction`]).
//!
//! *In finite arithmetic.* XᵀX and Xᵀy are exact integers, as for [`super::ssp`] (labels truncated
//! toward zero, record by record). The solution is proved to be within e of the exact minimiser, e from
//! public sizes ([`Sizes::largest_distance`], n times 16 if it is private); the noise added to it, for
//! which a hundredth of ε and of δ is reserved, covers that and the grid of b. That every table is
//! solved to within e depends on the backward error of the eigenvalue decomposition, which is not
//! proved; a run that fell short would end without a release.
//!
//! - Δ `ridge`: √p·a/(ε/10) unless given, so that the determinants take a tenth of ε; b takes the rest
//! - B `norm`: 2/R unless given
//! - `Printed`: Δ = 2R²/ε and ζ = 4·(LR)/ε in σ² = ζ²(8 ln(2/δ) + 4ε)/ε², L = 1 + RB, doubled under
//!   replace-one. The certificate claims what the theorem proves for those numbers, a larger ε: about
//!   √p/2 of it for the determinants alone.
//! - δ = 0 and more than two classes are refused: the theorem is for one Gaussian b.
//! - Tested by `tests/all/linear.rs`.

use super::Decision;
use super::minimum::linear_norm;
use super::predicted;
use super::regression::{NORM_SETTING, norm};
use super::tolerance::SPARE;
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores};
use crate::linear::model::LinearWeights;
use crate::release::allowance::Allowance;
use crate::release::covers::{Coverage, MethodCoverage};
use crate::release::note::Condition;
use crate::release::registry::{FINITE_ARITHMETIC, Info};
use crate::release::request::{Calibration, RIDGE};
use crate::release::settings::{PlanNumbers, settings};
use crate::release::support::Support;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use privet_dp::account::{self, Event, ObjectiveNoise, gaussian};
use privet_dp::gate::{Arithmetic, GateError, Noisy, Private, Session};
use privet_dp::mechanism::{Distance, ExactCounts, RotatedObjective};
use privet_optim::approximate::{MatrixFunction, Sizes};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use std::sync::Arc;

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "linear-rotated",
    summary: "experimental: linear regression that regularises only where the data say little",
    source: "Thakurta 2013, Algorithm 4.2, by a proof of our own",
    guarantee: FINITE_ARITHMETIC,
    settings: LinearRotated::SETTINGS,
    noisy: "the objective, as a linear term",
    private: true,
    covers: MethodCoverage {
        pure: Coverage::gaussian("give a delta above 0, or method linear, ssp or amp"),
        several: Coverage::one_problem("give a number or two classes as target, or method ssp"),
        ..MethodCoverage::ALL
    },
    more: LearnerFacts { scores: Scores::Separate, any_storage: true },
};

settings! {
    /// Settings of `linear-rotated`.
    #[derive(Copy)]
    pub struct LinearRotated {
        norm: f64 = NORM_SETTING;
        ridge: f64 = RIDGE_SETTING.meaning( "what eigenvalues below it are raised to; chosen from public facts unless given", );
    }
}

/// Share of ε for the determinants.
const DETERMINANT_SHARE: f64 = 0.1;

/// Share of ε and δ for the noise on the result.
const OUTPUT_SHARE: f64 = 0.01;

/// The notes of its certificates.
pub(crate) const EXPERIMENTAL: Condition = Condition::new(
    "experimental-rotated",
    "experimental: the thesis's proof of this algorithm has gaps (docs/errata.md, \
     C3). What is claimed rests on a bound of our own, which charges the determinants √columns-fold",
);

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    calibration: Calibration,
    options: &LinearRotated,
) -> Result<Decision, LearnError> {
    let norm = norm(facts, options.norm)?;
    let refused = |what: &str, instead| Err(LearnError::NotCovered { what: what.into(), instead });
    if facts.columns > super::ssp::MOST_COLUMNS {
        return refused(
            "method linear-rotated decomposes a matrix of columns by columns",
            "give at most 4096 encoded columns, or method linear",
        );
    }
    if !super::ssp::SAFE_RADII.contains(&facts.radius) {
        return refused(
            "method linear-rotated cannot sum rows of this length exactly",
            "give a clipping radius from 1e-60 to 1e60",
        );
    }
    let epsilon = budget.epsilon();
    let mut rotated = RotatedObjective {
        neighbours: facts.neighbours,
        unit: facts.unit,
        radius: facts.radius,
        bound: norm,
        floor: 1.0,
        noise_scale: 1.0,
        coordinates: facts.columns,
        delta: budget.delta() * (1.0 - OUTPUT_SHARE),
        tolerance: 0.0,
        output_noise: 1.0,
    };
    match calibration {
        Calibration::Sound => {
            let default = rotated.determinant() / (DETERMINANT_SHARE * epsilon);
            rotated.floor = RIDGE.check(options.ridge.unwrap_or(default))?;
            let left = epsilon * (1.0 - OUTPUT_SHARE) - rotated.determinant();
            if left.is_nan() || left <= 0.0 {
                return Err(LearnError::NotCovered {
                    what: format!(
                        "ridge {:e} alone costs an epsilon of {:e}",
                        rotated.floor,
                        rotated.determinant()
                    ),
                    instead: "give a larger ridge, or leave it out",
                });
            }
            rotated.noise_scale = rotated.least_noise(left * (1.0 - 1e-12));
        }
        Calibration::Printed => {
            let sides = facts.relation().sides();
            let zeta = 4.0 * sides * facts.radius * (1.0 + facts.radius * norm) / epsilon;
            let spread = (8.0 * (2.0 / budget.delta()).ln() + 4.0 * epsilon).sqrt() / epsilon;
            rotated.floor =
                RIDGE.check(options.ridge.unwrap_or(2.0 * facts.radius.powi(2) / epsilon))?;
            rotated.noise_scale = zeta * spread;
        }
    }
    rotated.tolerance = sizes(facts, &rotated).largest_distance();
    // The rest of the share is for the grids.
    let nu = gaussian::mu(0.9 * OUTPUT_SHARE * epsilon, 0.5 * OUTPUT_SHARE * budget.delta());
    rotated.output_noise = rotated.output_error()? / nu * (1.0 + 1e-9);
    let met =
        calibration == Calibration::Printed || account::meets(&rotated.event()?, budget.budget())?;
    if !met {
        return refused(
            "the grids of its noise cost method linear-rotated more than this delta",
            "give a larger delta, or method linear or amp",
        );
    }
    let settled = LinearRotated { norm: Some(norm), ridge: Some(rotated.floor) };
    Ok(Decision {
        procedure: Arc::new(Rotating { rotated }),
        settled: Method::LinearRotated(settled),
        arithmetic: Arithmetic::Finite,
        notes: vec![EXPERIMENTAL.into()],
    })
}

/// The public sizes of the problem.
fn sizes(facts: &Facts, rotated: &RotatedObjective) -> Sizes {
    let spare = if facts.relation().count_is_public() { 1.0 } else { SPARE };
    let rows = facts.rows as f64 * spare;
    let noise = ObjectiveNoise::Gaussian { noise_scale: rotated.noise_scale, grid: None };
    Sizes {
        columns: facts.columns,
        largest: rows * facts.radius.powi(2),
        floor: rotated.floor,
        bound: rotated.bound,
        pull: rows * facts.radius + linear_norm(noise, facts.columns),
    }
}

/// The procedure: a quadratic, minimised in a ball.
#[derive(Debug, Clone)]
struct Rotating {
    rotated: RotatedObjective,
}

impl Procedure<super::Erm> for Rotating {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.rotated.event()?)
    }

    /// The noise scale is the plan's: the theorem's ε and the tolerance follow from it.
    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        let support = Support::gaussian(self.rotated.output_noise);
        support.refuses(&found.weights)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("ridge", self.rotated.floor),
            ("norm", self.rotated.bound),
            ("objective_noise", self.rotated.noise_scale),
            ("output_noise", self.rotated.output_noise),
        ])
    }

    fn predicted_excess(&self, facts: &Facts) -> Option<f64> {
        Some(predicted::perturbed_excess(facts, self.rotated.noise_scale, self.rotated.floor))
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<LinearWeights>, LearnError> {
        let watch = StepWatch::new(monitor);
        watch.step();
        watch.went_on()?;
        let odd = || LearnError::DataShape("a feature or target is not a number in its range");
        let (gram, cross) = moments(facts, table)?;
        let RotatedObjective { floor, bound, .. } = self.rotated;
        let raised = MatrixFunction::of(&gram, facts.columns, floor).ok_or_else(odd)?;
        let (noise, token) = self.rotated.draw(session)?;
        let pull: Vec<f64> = cross.iter().zip(noise.as_slice()).map(|(c, b)| c - b).collect();
        // Xᵀy and the difference are each rounded once.
        let norm = |vector: &[f64]| vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        let off = f64::EPSILON * (norm(&cross) + norm(&pull));
        let near = raised.minimiser(&pull, off, bound).ok_or(GateError::NotCertified)?;
        let distance = Distance(near.distance);
        let released = token.release(Private::new(near.theta), distance, session)?;
        Ok(session.gather(vec![released])?.map(LinearWeights::of))
    }
}

/// XᵀX and Xᵀy, each entry the nearest `f64` to an exact sum.
fn moments(facts: &Facts, table: &dyn Table) -> Result<(Vec<f64>, Vec<f64>), LearnError> {
    let ExactCounts { counts, unit } = super::ssp::exact_moments(facts, table)?;
    let (gram, cross) = counts.split_at(facts.columns * facts.columns);
    // Powers of two: only the conversions round.
    let weight = super::ssp::weight(facts);
    let numbers = |counts: &[i128], unit: f64| counts.iter().map(|k| *k as f64 * unit).collect();
    Ok((numbers(gram, unit), numbers(cross, unit / weight)))
}
