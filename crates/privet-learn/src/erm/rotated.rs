//! Linear regression with a regulariser that leaves large eigenvalues alone (Thakurta 2013,
//! Algorithm 4.2). *Experimental.*
//!
//! The theorem, its proof and what is open are those of [`RotatedObjective`]: ½θᵀf(XᵀX)θ − ⟨Xᵀy, θ⟩ + ⟨b, θ⟩
//! over ‖θ‖ ≤ B, where f raises eigenvalues below Δ to Δ. Directions in which the data say much are not
//! regularised at all.
//!
//! With XᵀX = QΛQᵀ the minimiser is Q·diag(1/(max(Λ, Δ) + ν))·Qᵀ(Xᵀy − b), ν ≥ 0 the least number for
//! which it lies in the ball: found by bisection on its norm, which falls with ν.
//!
//! - Δ `ridge`: √p·a/(ε/10) unless given, so that the determinants take a tenth of ε; b takes the rest
//! - B `norm`: 2/R unless given
//! - `Printed`: Δ = 2R²/ε and ζ = 4·(LR)/ε in σ² = ζ²(8 ln(2/δ) + 4ε)/ε², L = 1 + RB, doubled under replace-one.
//!   The certificate claims what the theorem proves for those numbers, a larger ε: about √p/2 of it
//!   for the determinants alone.
//! - δ = 0 and more than two classes are refused: the theorem is for one Gaussian b.
//! - Tested by `tests/linear.rs`.

use super::linear::{NORM_SETTING, norm};
use super::predicted;
use super::watch::Watch;
use crate::facts::Facts;
use crate::learner::{Planned, Procedure, Settings};
use crate::method::{Method, MethodInfo, RIDGE_SETTING, Scores, SettingInfo};
use crate::request::{Calibration, RIDGE};
use crate::{LearnError, admit};
use privet_core::{Budget, Neighbours};
use privet_data::Dataset;
use privet_dp::account::{Cost, Event};
use privet_dp::gate::{Arithmetic, GateError, Noised, Session, Private};
use privet_dp::mechanism::RotatedObjective;
use privet_optim::loss::Loss;
use privet_optim::solver::Monitor;
use privet_optim::spectrum::Spectrum;
use privet_optim::sum::{Hessian, InMemory, LossAndGradient, Records};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A line about it.
pub const INFO: MethodInfo = MethodInfo {
    name: "linear-rotated",
    summary: "experimental: linear regression that regularises only where the data say little",
    source: "Thakurta 2013, Algorithm 4.2, by a proof of our own",
    guarantee: "(ε, δ) in real arithmetic, for the exact minimiser; no pure ε",
    settings: &[
        NORM_SETTING,
        SettingInfo {
            meaning: "what eigenvalues below it are raised to; chosen from public facts unless given",
            ..RIDGE_SETTING
        },
    ],
    scores: Scores::Separate,
};

/// Its settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub norm: Option<f64>,
    /// Δ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ridge: Option<f64>,
}

/// Share of ε for the determinants.
const DETERMINANT_SHARE: f64 = 0.1;

/// The notes of its certificates.
const EXPERIMENTAL: &str = "experimental: the thesis's proof of this algorithm has gaps (docs/errata.md, \
     C3). What is claimed rests on a bound of our own, which charges the determinants √columns-fold, and \
     speaks of the exact minimiser in real arithmetic";

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Budget,
    calibration: Calibration,
    options: &Options,
) -> Result<Planned, LearnError> {
    let norm = norm(facts, options.norm)?;
    let refused = |what: &str, instead| Err(LearnError::NotCovered { what: what.into(), instead });
    if budget.is_pure() {
        return refused(
            "method linear-rotated adds Gaussian noise, which has no finite epsilon at delta = 0",
            "give a delta above 0, or method linear, ssp or amp",
        );
    }
    if facts.problems > 1 {
        return refused(
            "method linear-rotated is proved for one linear problem",
            "give a number or two classes as target, or method ssp",
        );
    }
    if facts.columns > super::ssp::WIDEST {
        return refused(
            "method linear-rotated decomposes a matrix of columns by columns",
            "give at most 4096 encoded columns, or method linear",
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
        // The accountant rounds up.
        delta: budget.delta() * (1.0 - 1e-12),
    };
    match calibration {
        Calibration::Sound => {
            let default = rotated.determinant() / (DETERMINANT_SHARE * epsilon);
            rotated.floor = RIDGE.check(options.ridge.unwrap_or(default))?;
            let left = epsilon - rotated.determinant();
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
            let sides = match facts.neighbours {
                Neighbours::ReplaceOne => 2.0,
                Neighbours::AddRemove => 1.0,
            };
            let zeta = 4.0 * sides * facts.radius * (1.0 + facts.radius * norm) / epsilon;
            let spread = (8.0 * (2.0 / budget.delta()).ln() + 4.0 * epsilon).sqrt() / epsilon;
            rotated.floor =
                RIDGE.check(options.ridge.unwrap_or(2.0 * facts.radius.powi(2) / epsilon))?;
            rotated.noise_scale = zeta * spread;
        }
    }
    let settled = Options { norm: Some(norm), ridge: Some(rotated.floor) };
    Ok(Planned {
        procedure: Arc::new(Rotating { rotated }),
        settled: Method::LinearRotated(settled),
        arithmetic: Arithmetic::Real,
        notes: vec![EXPERIMENTAL.into()],
    })
}

/// A quadratic in a ball.
#[derive(Debug, Clone)]
struct Rotating {
    rotated: RotatedObjective,
}

impl Procedure for Rotating {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.rotated.event())
    }

    /// Its event states no noise scale: the plan alone gives it.
    fn with_noise_of(&self, stated: &Event) -> Option<Arc<dyn Procedure>> {
        let Cost::Approximate { .. } = stated.single_cost()? else { return None };
        Some(Arc::new(self.clone()))
    }

    fn settings(&self) -> Settings {
        Settings::of([
            ("ridge", self.rotated.floor),
            ("norm", self.rotated.bound),
            ("objective_noise", self.rotated.noise_scale),
        ])
    }

    fn predicted_excess(&self, facts: &Facts) -> Option<f64> {
        Some(predicted::perturbed(facts, self.rotated.noise_scale, self.rotated.floor))
    }

    fn run(
        &self,
        facts: &Facts,
        data: &Dataset,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noised<Vec<Vec<f64>>>, LearnError> {
        let watch = Watch::new(monitor);
        watch.step();
        watch.went_on()?;
        let odd = || LearnError::DataShape("a feature or target is not a number in its range");
        let labels = admit::labels(facts, data, 0)?;
        let records = InMemory::new(&data.features, &labels).map_err(|_| odd())?;
        // Linear nowhere near 0: ℓ″ = 1 and ℓ′ = −y.
        let (loss, theta) = (Loss::SQUARED, vec![0.0; facts.columns]);
        let hessian = Hessian { loss, theta: theta.clone(), stride: 1 };
        let mut gram = records.sum(&hessian).map_err(|_| odd())?;
        privet_optim::sum::ExactGram::mirror(&mut gram, facts.columns);
        let slope = records.sum(&LossAndGradient { loss, theta }).map_err(|_| odd())?.gradient;
        let spectrum = Spectrum::of(&gram, facts.columns).ok_or_else(odd)?;
        let (noise, token) = self.rotated.draw(session)?;
        let pull: Vec<f64> = slope.iter().zip(noise.as_slice()).map(|(s, b)| -s - b).collect();
        let RotatedObjective { floor, bound, .. } = self.rotated;
        let theta = in_ball(&spectrum, &pull, floor, bound).ok_or(GateError::NotCertified)?;
        let released = token.release(Private::new(theta), session)?;
        Ok(session.gather(vec![released])?)
    }
}

/// argmin ½θᵀf(A)θ − ⟨pull, θ⟩ over the ball.
pub fn in_ball(spectrum: &Spectrum, pull: &[f64], floor: f64, bound: f64) -> Option<Vec<f64>> {
    let pull = spectrum.coordinates(pull);
    let at = |multiplier: f64| -> Vec<f64> {
        let each = pull.iter().zip(spectrum.values());
        each.map(|(c, value)| c / (value.max(floor) + multiplier)).collect()
    };
    let norm = |theta: &[f64]| theta.iter().map(|t| t * t).sum::<f64>().sqrt();
    let (mut low, mut high) = (0.0, norm(&pull) / bound);
    if !high.is_finite() {
        return None;
    }
    if norm(&at(0.0)) <= bound {
        return Some(spectrum.combination(&at(0.0)));
    }
    // At ν = ‖pull‖/B the norm is at most B.
    while high - low > f64::EPSILON * high {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if norm(&at(middle)) > bound { low = middle } else { high = middle }
    }
    Some(spectrum.combination(&at(high)))
}
