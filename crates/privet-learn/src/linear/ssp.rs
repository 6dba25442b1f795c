//! Sufficient-statistics perturbation: least squares from noisy second moments.
//!
//! **Theorem.** Let a record be (x, y), ‖x‖₂ ≤ R, y a label vector with ‖y‖₂ ≤ Y, and let
//! s(x, y) = (xxᵀ, w·xyᵀ). Between neighbours Σs moves in the Euclidean norm by at most
//!
//! - k·√(R⁴ + w²Y²R²) under add/remove,
//! - k·√2·(R² + w²Y²/2) under replace-one,
//!
//! k records a unit. Both are attained, for replace-one if w²Y² ≤ 2R².
//!
//! *Proof.* ‖s(x, y)‖² = ‖x‖⁴ + w²‖y‖²‖x‖²: the first. With t = ⟨x, x′⟩ and q = ⟨y, y′⟩, |q| ≤ Y²,
//! ⟨s, s′⟩ = t² + w²qt ≥ −w⁴q²/4 ≥ −w⁴Y⁴/4, so ‖s − s′‖² ≤ 2(R⁴ + w²Y²R²) + w⁴Y⁴/2 = 2(R² + w²Y²/2)². It
//! is attained at norms R, y′ = −y and t = w²Y²/2. A unit of k records is k such replacements; one with
//! fewer records replaces some by none, which moves less. ∎
//!
//! The triangle inequality alone gives 2√(R⁴ + w²Y²R²): a third more at w = R. With one Gaussian noise
//! σ for all of it ([`NoisyMoments`]) the event is that of a Gaussian mechanism. δ = 0: Laplace noise on
//! the triangle, whose ℓ1 sensitivity is sides·k·((p + 1)R²/2 + w·Y₁·√p·R), from ‖x‖₁ ≤ √p·R, sides
//! being 2 or 1 and Y₁ ≥ ‖y‖₁.
//!
//! *In finite arithmetic.* Σxxᵀ and Σxyᵀ are exact integers ([`ExactGram`], [`ExactGradient`] at θ = 0),
//! labels truncated toward zero; w is a power of two. They reach the noise's grid in integers. The rest
//! is post-processing.
//!
//! **Solving.** θ = Q·h(Λ)·Qᵀ·b̂ with QΛQᵀ the noisy matrix and h(λ) = 1/(max(λ, 0) + κ): negative
//! eigenvalues are noise. κ, the ridge, follows from the noise alone. The normal equations read
//! b̂ = Âθ + n − Nθ, where N has off-diagonal scale τ = σ/√2 and n has σ/w: in each direction an error
//! of variance τ²‖θ‖² + σ²/w². Against a θ of p equal parts, ‖θ‖ = B, the linear estimate that errs
//! least at the smallest eigenvalues has κ² = p(τ² + σ²/(w²B²)), that is κ between τ√p and, for B = 1/w,
//! √3·τ√p. The rule is **κ = τ√p**, half the edge of the spectrum of N: no norm needs to be guessed.
//!
//! **Effect of the noise on θ.** With M = h(Â) and θ the solution without noise at the same κ,
//! (Â + κ)(θ̂ − θ) = n − Nθ where no eigenvalue was cut, so that θ̂ⱼ − θⱼ = uᵀ(n − Nθ), u = M·eⱼ. N is
//! symmetric with variance τ² off its diagonal and 2τ² on it (Laplace: τ² everywhere, and bounded by
//! this), so that uᵀNθ has variance τ²(‖u‖²‖θ‖² + ⟨u, θ⟩²): the standard deviation of θ̂ⱼ is about
//! √(‖u‖²(τ²‖θ̂‖² + ν²) + τ²⟨u, θ̂⟩²), ν that of an entry of n. The model keeps ‖u‖ and ⟨u, θ̂⟩
//! ([`Spread`]). To first order: M is itself noisy.
//!
//! | target | y | Y | Y₁ |
//! |---|---|---|---|
//! | a number | in [−1, 1] | 1 | 1 |
//! | two classes | ∓1 | 1 | 1 |
//! | K > 2 classes | e_c − 1/K | √(1 − 1/K) | 2(1 − 1/K) |
//!
//! All classes share one matrix and one event; their common part 1/K does not affect comparisons of
//! scores.
//!
//! - w: the power of two nearest to R, so that noise is shared about evenly
//! - Departs from print (Wang 2018, AdaSSP): three releases at (ε/3, δ/3) each, one of them of the least
//!   eigenvalue, for a ridge of about √(p·ln(6/δ)·ln(2p²/ϱ))·3R²/ε less that eigenvalue. Here one
//!   release, exact curves, and no query of an eigenvalue: a matrix that is large against the noise is
//!   hardly moved by κ, which is several times smaller. See `docs/errata.md`, SSP.
//! - Tested by `tests/all/ssp.rs`.

use super::Decision;
use super::{calibrated, predicted};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores};
use crate::linear::model::{LinearWeights, Spread};
use crate::linear::problems;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::covers::{Coverage, MethodCoverage};
use crate::release::registry::Info;
use crate::release::request::{Calibration, RIDGE};
use crate::release::settings::{PlanNumbers, settings};
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use crate::release::weight_noise::{Confidence, NORMAL, WeightNoise};
use privet_core::Neighbours;
use privet_dp::account::{self, Event};
use privet_dp::gate::{Arithmetic, Noisy, Private, Session};
use privet_dp::mechanism::{ExactCounts, Gaussian, Laplace, Moments, MomentsLaw, NoisyMoments};
use privet_optim::loss::Loss;
use privet_optim::solver::Monitor;
use privet_optim::spectrum::Spectrum;
use privet_optim::sum::{ExactGradient, ExactGram, Labels, Sums, Table};
use std::sync::Arc;

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "ssp",
    summary: "least squares from second moments under noise, all classes from one release",
    source: "Vu & Slavkovic 2009; Wang 2018 (AdaSSP); sensitivity and ridge of our own",
    guarantee: "(ε, δ) and pure ε in finite arithmetic",
    settings: Ssp::SETTINGS,
    noisy: "the second moments of the records, from which the weights are solved",
    private: true,
    covers: MethodCoverage {
        printed: Coverage::unprinted(
            "has printed constants, those of AdaSSP, of another algorithm",
        ),
        ..MethodCoverage::ALL
    },
    more: LearnerFacts { scores: Scores::Separate, any_storage: true },
};

settings! {
    /// Settings of `ssp`.
    #[derive(Copy)]
    pub struct Ssp {
        ridge: f64 = RIDGE_SETTING.meaning( "what is added to every eigenvalue of the noised matrix; half the edge of the noise's own spectrum unless given", );
    }
}

/// Largest number of columns for which the matrix is kept and decomposed.
pub const MOST_COLUMNS: usize = 4096;

/// Radii for which no unit or product leaves the range of `f64`.
pub(super) const SAFE_RADII: std::ops::RangeInclusive<f64> = 1e-60..=1e60;

/// The weight w of the cross products.
pub fn weight(facts: &Facts) -> f64 {
    2_f64.powi(facts.radius.log2().round() as i32)
}

/// The squared norm bound Y² and the ℓ1 bound Y₁ of label vectors.
fn label_sizes(facts: &Facts) -> (f64, f64) {
    match facts.problems {
        1 => (1.0, 1.0),
        classes => {
            let rest = 1.0 - 1.0 / f64::from(classes);
            (rest, 2.0 * rest)
        }
    }
}

/// Rounds up to cover the rounding of a few operations.
fn round_up(value: f64) -> f64 {
    value * (1.0 + 16.0 * f64::EPSILON)
}

/// The Euclidean sensitivity of the theorem.
pub fn sensitivity(facts: &Facts) -> f64 {
    let (square, weighted) = (facts.radius.powi(2), weight(facts).powi(2) * label_sizes(facts).0);
    let one = match facts.neighbours {
        Neighbours::ReplaceOne | Neighbours::ReplaceLabel => {
            std::f64::consts::SQRT_2 * (square + weighted / 2.0)
        }
        Neighbours::AddRemove => (square * (square + weighted)).sqrt(),
    };
    round_up(f64::from(facts.unit.records()) * one)
}

/// The ℓ1 sensitivity of the triangle and the cross products.
pub fn absolute_sensitivity(facts: &Facts) -> f64 {
    let (columns, radius) = (facts.columns as f64, facts.radius);
    let triangle = (columns + 1.0) / 2.0 * radius.powi(2);
    let cross = weight(facts) * label_sizes(facts).1 * columns.sqrt() * radius;
    round_up(facts.relation().shift(triangle + cross))
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    _calibration: Calibration,
    options: &Ssp,
) -> Result<Decision, LearnError> {
    let refused = |what: String, instead| Err(LearnError::NotCovered { what, instead });
    if !matches!(facts.loss, Loss::Squared { .. }) {
        return refused(
            format!("method ssp solves least squares, not loss {}", facts.loss.name()),
            "give loss squared (classes are fitted as -1 and 1), or another method",
        );
    }
    if facts.columns > MOST_COLUMNS {
        return refused(
            format!("method ssp keeps a matrix of {0} by {0} moments", facts.columns),
            "give at most 4096 encoded columns, or another method",
        );
    }
    if !SAFE_RADII.contains(&facts.radius) {
        return refused(
            format!("method ssp cannot sum rows of length {:e} exactly", facts.radius),
            "give a clipping radius from 1e-60 to 1e60",
        );
    }
    let ridge = options.ridge.map(|ridge| RIDGE.check(ridge)).transpose()?;
    let pure = budget.is_pure();
    // All problems are in one vector, so that nothing is repeated.
    let single = Facts { problems: 1, ..facts.clone() };
    let scale = calibrated(&single, budget, floor(facts, budget), |scale| {
        moments(facts, pure, scale, 1.0).event()
    })?;
    let solving = at(facts, pure, scale, ridge);
    let ridge = solving.ridge();
    Ok(Decision {
        procedure: Arc::new(solving),
        settled: Method::Ssp(Ssp { ridge: Some(ridge) }),
        arithmetic: Arithmetic::Finite,
        notes: vec![],
    })
}

/// Lower bound on the noise scale of any plan.
pub(super) fn floor(facts: &Facts, budget: &Allowance<'_>) -> f64 {
    if budget.is_pure() {
        absolute_sensitivity(facts) / budget.epsilon()
    } else {
        sensitivity(facts) / account::gaussian::mu(budget.epsilon(), budget.delta())
    }
}

/// The procedure at a noise scale, with the rule's ridge unless one is given.
pub(super) fn at(facts: &Facts, pure: bool, scale: f64, ridge: Option<f64>) -> Solving {
    // τ: the standard deviation off the diagonal.
    let spread = facts.widening
        * if pure { scale * std::f64::consts::SQRT_2 } else { scale / std::f64::consts::SQRT_2 };
    let ridge = ridge.unwrap_or(spread * (facts.columns as f64).sqrt());
    Solving { moments: moments(facts, pure, scale, ridge) }
}

/// The mechanism at a noise scale.
fn moments(facts: &Facts, pure: bool, noise_scale: f64, ridge: f64) -> NoisyMoments {
    let (neighbours, unit, columns) = (facts.neighbours, facts.unit, facts.columns);
    let cross = columns * facts.problems as usize;
    let law = if pure {
        // Fine enough that rounding is negligible beside the noise, whose law is exact on any grid.
        let step = 2_f64.powi(noise_scale.log2().floor() as i32 - 40);
        MomentsLaw::Laplace(Laplace {
            neighbours,
            unit,
            sensitivity: absolute_sensitivity(facts),
            noise_scale,
            step,
            on_grid: ExactGram { radius: facts.radius }.unit() >= step,
            coordinates: columns * (columns + 1) / 2 + cross,
        })
    } else {
        MomentsLaw::Gaussian(Gaussian {
            neighbours,
            unit,
            sensitivity: sensitivity(facts),
            noise_scale,
            coordinates: columns * columns + cross,
        })
    };
    NoisyMoments { law, columns, weight: weight(facts), ridge }
}

/// The procedure: moments, noise, a linear solve.
#[derive(Debug, Clone)]
pub(super) struct Solving {
    moments: NoisyMoments,
}

impl Solving {
    /// Standard deviations of the noise: τ off the diagonal of the matrix, and on w·Σx·y.
    fn deviations(&self) -> (f64, f64) {
        match &self.moments.law {
            MomentsLaw::Gaussian(Gaussian { noise_scale, .. }) => {
                (noise_scale / std::f64::consts::SQRT_2, *noise_scale)
            }
            MomentsLaw::Laplace(Laplace { noise_scale, .. }) => {
                let spread = noise_scale * std::f64::consts::SQRT_2;
                (spread, spread)
            }
        }
    }

    /// The ridge, added to every eigenvalue.
    pub fn ridge(&self) -> f64 {
        self.moments.ridge
    }
}

impl Procedure<super::Erm> for Solving {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.moments.event()?)
    }

    fn settings(&self) -> PlanNumbers {
        let scale = match &self.moments.law {
            MomentsLaw::Gaussian(gaussian) => gaussian.noise_scale,
            MomentsLaw::Laplace(laplace) => laplace.noise_scale,
        };
        PlanNumbers::of([("ridge", self.moments.ridge), ("moment_noise", scale)])
    }

    fn among_parties(&self) -> bool {
        matches!(self.moments.law, MomentsLaw::Gaussian(_))
    }

    fn weight_laws(&self, facts: &Facts, found: &LinearWeights) -> Option<WeightNoise> {
        let spread = found.spread.as_ref()?;
        let (matrix, cross) = self.deviations();
        let (matrix, cross) =
            (matrix * facts.widening, cross * facts.widening / self.moments.weight);
        let row = |(theta, along): (&Vec<f64>, &Vec<f64>)| -> Vec<f64> {
            let norm: f64 = theta.iter().map(|x| x * x).sum();
            let own = matrix * matrix * norm + cross * cross;
            let each = spread.length.iter().zip(along);
            each.map(|(u, along)| (u * u * own + (matrix * along).powi(2)).sqrt()).collect()
        };
        let deviations = found.weights.iter().zip(&spread.along).map(row).collect();
        Some(WeightNoise { deviations, beyond: NORMAL, confidence: Confidence::Estimated })
    }

    /// As of a linear term: the error n − Nθ of the normal equations, at the expected norm.
    fn predicted_excess(&self, facts: &Facts) -> Option<f64> {
        let (matrix, cross) = self.deviations();
        let noise = facts.widening
            * (matrix * predicted::NORM / facts.radius).hypot(cross / self.moments.weight);
        Some(predicted::perturbed_excess(facts, noise, self.moments.ridge))
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
        // Refused, if at all, before any noise is drawn.
        let sums = exact_moments(facts, table)?;
        Ok(self.moments.run(Private::new(sums), session)?.map(solve_problems))
    }
}

/// (Σxxᵀ, w·Σx·y for each problem), exactly.
pub fn exact_moments(facts: &Facts, table: &dyn Table) -> Result<ExactCounts, LearnError> {
    let odd = || LearnError::DataShape("a feature or target is not a number in its range");
    let radius = facts.radius;
    let gram = ExactGram { radius };
    let mut all = ExactCounts { counts: Vec::new(), unit: gram.unit() };
    for problem in 0..facts.problems {
        let records = admit::records(table, &labels(facts, problem))?;
        if problem == 0 {
            let sum = records.sum(&gram).map_err(|_| odd())?;
            all.counts = sum.into_units().ok_or_else(odd)?;
            ExactGram::mirror(&mut all.counts, facts.columns);
        }
        // ℓ′ = −y at θ = 0.
        let theta = vec![0.0; facts.columns];
        let cross = ExactGradient { loss: Loss::Squared { clip: 1.0 }, theta, radius, slope: 1.0 };
        let sum = records.sum(&cross).map_err(|_| odd())?.into_units().ok_or_else(odd)?;
        // 2 or 4: with 2^e the power of two above R, the units are 2^(2e−46) and w·2^(e−44).
        let ratio = (weight(facts) * cross.unit() / all.unit) as i128;
        all.counts.extend(sum.iter().map(|count| -count * ratio));
    }
    Ok(all)
}

/// One coordinate of the label vector y of the table above.
fn labels(facts: &Facts, problem: u32) -> Labels {
    match facts.problems {
        1 => problems::problem(facts, problem),
        classes => Labels::Centred { class: problem, classes },
    }
}

/// Post-processing: θ for each problem, and the effect of an error of the moments. Should the
/// decomposition fail, which it cannot on finite numbers, the model is 0.
fn solve_problems(moments: Moments) -> LinearWeights {
    let Moments { columns, gram, cross, ridge } = moments;
    let filter = |value: f64| 1.0 / (value.max(0.0) + ridge);
    let Some(spectrum) = Spectrum::of(&gram, columns) else {
        return LinearWeights::of(vec![vec![0.0; columns]; cross.len()]);
    };
    let filtered = |vectors: &[Vec<f64>]| -> Vec<Vec<f64>> {
        vectors.iter().map(|vector| spectrum.apply_filter(vector, filter)).collect()
    };
    let weights = filtered(&cross);
    let spread = Spread { along: filtered(&weights), length: spectrum.filtered_lengths(filter) };
    LinearWeights { spread: Some(spread), ..LinearWeights::of(weights) }
}
