//! Learners that release minimisers: one linear problem after the other, each by its mechanism.

use super::curvature::{self, CurvatureEstimate, FitThenCurvature};
use super::party_share::PartyShare;
use super::predicted;
use super::response::Response;
use super::tolerance::{self, SOLVER_SHARE};
use super::warm_start;
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::model::LinearWeights;
use crate::linear::problems;
use crate::release::admit;
use crate::release::ask::ask;
use crate::release::note::Condition;
use crate::release::settings::PlanNumbers;
use crate::release::support::Support;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use crate::release::weight_noise::{Confidence, LAPLACE, NORMAL, WeightNoise};
use privet_dp::account::{Event, ObjectiveNoise};
use privet_dp::gate::{GateError, Noisy, Private, Session};
use privet_dp::mechanism::{
    Distance, Gaussian, L2Laplace, OutputLaw, PerturbedObjective, released_step,
};
use privet_optim::solver::{
    Certified, Monitor, Penalty, Problem, SolveError, SolverOptions, minimise,
};
use privet_optim::sum::Table;

/// The procedure of such a learner: a mechanism for each linear problem.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Minimum {
    /// The mechanism.
    pub step: Step,
    /// The number of problems.
    pub problems: u32,
    /// The declared number of rows n.
    pub rows: u64,
    /// The penalty or set added to every objective.
    pub penalty: Penalty,
    /// The curvature, if it is estimated.
    pub bought: Option<CurvatureEstimate>,
}

/// The mechanism for each linear problem.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Minimise to the tolerance, then add Gaussian noise.
    OutputGaussian {
        /// The ridge λ.
        ridge: f64,
        /// The tolerance γ of the sum form.
        tolerance: f64,
        /// The noise.
        mechanism: Gaussian,
    },
    /// Minimise to the tolerance, then add ℓ2-Laplace noise.
    OutputLaplace {
        /// The ridge λ.
        ridge: f64,
        /// The tolerance γ of the sum form.
        tolerance: f64,
        /// The noise.
        mechanism: L2Laplace,
    },
    /// Minimise a perturbed objective.
    Perturbed(PerturbedObjective),
}

/// The request to the solver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SolverRequest {
    /// The ridge λ.
    pub ridge: f64,
    /// The tolerance γ of the sum form.
    pub tolerance: f64,
    /// Bound on ‖b‖ that holds except with negligible probability.
    pub linear_norm: f64,
}

/// A bound on ‖b‖ that holds except with probability below e⁻⁵⁰⁰.
pub(super) fn linear_norm(noise: ObjectiveNoise, columns: usize) -> f64 {
    let columns = columns as f64;
    match noise {
        ObjectiveNoise::Gaussian { noise_scale, .. } => noise_scale * (columns.sqrt() + 40.0),
        ObjectiveNoise::L2Laplace { noise_scale } => noise_scale * (2.0 * columns + 1000.0),
    }
}

/// A bound that ‖b‖ exceeds in fewer than 3.7 of 100 draws, e^(−3.3): of p Gaussian coordinates
/// ‖b‖² ≤ σ²(p + 2√(px) + 2x) except with probability e^(−x) (Laurent & Massart 2000, Lemma 1); of
/// ℓ2-Laplace noise, whose norm is Gamma(p), ‖b‖ ≤ s(p + √(2px) + x) (Boucheron, Lugosi & Massart 2013,
/// §2.4).
fn noise_norm_bound(noise: ObjectiveNoise, columns: f64) -> f64 {
    const X: f64 = 3.3;
    match noise {
        ObjectiveNoise::Gaussian { noise_scale, .. } => {
            noise_scale * (columns + 2.0 * (columns * X).sqrt() + 2.0 * X).sqrt()
        }
        ObjectiveNoise::L2Laplace { noise_scale } => {
            noise_scale * (columns + (2.0 * columns * X).sqrt() + X)
        }
    }
}

/// A bound that output noise in one weight exceeds in at most 1 of 100 draws: 2Φ(−2.6) = 0.0093; of
/// ℓ2-Laplace noise by its norm, e^(−5).
fn beyond_output(noise: OutputLaw, columns: f64) -> f64 {
    match noise {
        OutputLaw::Gaussian(scale) => 2.6 * scale,
        OutputLaw::L2Laplace(scale) => scale * (columns + (10.0 * columns).sqrt() + 5.0),
    }
}

impl Minimum {
    /// The procedure for every problem of the facts.
    pub fn new(facts: &Facts, step: Step, penalty: Penalty) -> Self {
        Self { step, problems: facts.problems, rows: facts.rows, penalty, bought: None }
    }

    /// Adds the estimate of the curvature at the end, of its one problem.
    pub fn measured(self, bought: Option<CurvatureEstimate>) -> Self {
        Self { bought, ..self }
    }
}

impl Step {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(match self {
            Self::OutputGaussian { mechanism, .. } => mechanism.event()?,
            Self::OutputLaplace { mechanism, .. } => mechanism.event(),
            Self::Perturbed(perturbed) => perturbed.event()?,
        })
    }

    fn ask(&self) -> SolverRequest {
        match self {
            Self::OutputGaussian { ridge, tolerance, .. }
            | Self::OutputLaplace { ridge, tolerance, .. } => {
                SolverRequest { ridge: *ridge, tolerance: *tolerance, linear_norm: 0.0 }
            }
            Self::Perturbed(perturbed) => {
                let linear_norm = linear_norm(perturbed.objective.noise, perturbed.coordinates);
                let (ridge, tolerance) = (perturbed.objective.ridge, perturbed.tolerance);
                SolverRequest { ridge, tolerance, linear_norm }
            }
        }
    }

    /// Solves one problem and releases the result by its mechanism.
    fn run(
        &self,
        penalty: &Penalty,
        facts: &Facts,
        table: &dyn Table,
        problem: u32,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<Vec<f64>>, LearnError> {
        let ask = self.ask();
        let solved = |linear| solve(facts, table, problem, ask, penalty, linear, monitor);
        Ok(match self {
            Self::OutputGaussian { mechanism, .. } => {
                let own =
                    own_minimum(PartyShare::of(session, facts), ask, penalty, |ask, penalty| {
                        solve(facts, table, problem, ask, penalty, None, monitor)
                    })?;
                let own = own.unwrap_or_else(|| vec![0.0; facts.columns]);
                mechanism.run(Private::new(own), session)?
            }
            Self::OutputLaplace { mechanism, .. } => {
                mechanism.run(Private::new(certified(solved(None)?, ask)?), session)?
            }
            Self::Perturbed(perturbed) => {
                let (noise, token) = perturbed.clone().draw(session)?;
                let linear = Some(noise.as_slice());
                let solved = solved(linear)?;
                let distance = Distance(solved.distance_bound());
                token.release(Private::new(solved.into_theta()), distance, session)?
            }
        })
    }
}

impl Procedure<super::Erm> for Minimum {
    fn event(&self) -> Result<Event, LearnError> {
        let event = self.step.event()?;
        Ok(match (self.problems, &self.bought) {
            (1, Some(bought)) => Event::All(vec![event, bought.event()?]),
            (1, None) => event,
            (count, _) => Event::Repeat { count, event: Box::new(event) },
        })
    }

    fn walk(&self) -> Option<serde_json::Value> {
        self.bought.as_ref()?.start(Response::Minimum { ridge: self.step.ask().ridge })
    }

    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        let support = match &self.step {
            Step::OutputGaussian { mechanism, .. } => Support::gaussian(mechanism.noise_scale),
            Step::OutputLaplace { mechanism, .. } => {
                Support::Grid(released_step(mechanism.noise_scale))
            }
            Step::Perturbed(perturbed) => match perturbed.output {
                OutputLaw::Gaussian(scale) => Support::gaussian(scale),
                OutputLaw::L2Laplace(scale) => Support::Grid(released_step(scale)),
            },
        };
        support.refuses(&found.weights)
    }

    fn settings(&self) -> PlanNumbers {
        let ask = self.step.ask();
        let shown =
            PlanNumbers::of([("ridge", ask.ridge), ("gamma", ask.tolerance / self.rows as f64)]);
        match &self.step {
            Step::OutputGaussian { mechanism, .. } => {
                shown.and("output_noise", Some(mechanism.noise_scale))
            }
            Step::OutputLaplace { mechanism, .. } => {
                shown.and("output_noise", Some(mechanism.noise_scale))
            }
            Step::Perturbed(perturbed) => {
                let objective = match perturbed.objective.noise {
                    ObjectiveNoise::Gaussian { noise_scale, .. }
                    | ObjectiveNoise::L2Laplace { noise_scale } => noise_scale,
                };
                let (OutputLaw::Gaussian(output) | OutputLaw::L2Laplace(output)) = perturbed.output;
                let shown = shown.and("objective_noise", Some(objective));
                let bought = self.bought.as_ref().map(CurvatureEstimate::noise_scale);
                shown.and("output_noise", Some(output)).and("curvature_noise", bought)
            }
        }
    }

    /// Each party minimises on its own rows ([`super::party_share`]); b inside an objective cannot be shared,
    /// and ℓ2-Laplace noise has no sum.
    fn among_parties(&self) -> bool {
        matches!(self.step, Step::OutputGaussian { .. })
    }

    fn otherwise_among_parties(&self) -> Option<Condition> {
        self.among_parties().then_some(MEAN_OF_MODELS)
    }

    fn weight_noise(&self, facts: &Facts) -> Option<f64> {
        match &self.step {
            Step::OutputGaussian { mechanism, .. } => Some(mechanism.noise_scale * facts.widening),
            // The effect of noise inside the objective on its minimum depends on the records.
            Step::OutputLaplace { .. } | Step::Perturbed(_) => None,
        }
    }

    /// Noise on the weights has its own distribution. The minimiser θ(b) is a 1/λ-Lipschitz function of
    /// b inside the objective (F is λ-strongly convex, on a convex set too), so
    /// that |θⱼ(b) − θⱼ(0)| ≤ ‖b‖/λ: a bound around the weight without noise, for any curvature
    /// ([`noise_norm_bound`]). The release is within γ/λ of θ(b), and has its output noise.
    fn weight_laws(&self, facts: &Facts, found: &LinearWeights) -> Option<WeightNoise> {
        let alike = |deviation: f64, beyond: f64, confidence: Confidence| WeightNoise {
            deviations: vec![vec![deviation]],
            beyond,
            confidence,
        };
        let columns = facts.columns as f64;
        Some(match &self.step {
            Step::OutputGaussian { mechanism, .. } => {
                alike(mechanism.noise_scale * facts.widening, NORMAL, Confidence::Exact)
            }
            // E‖b‖²/p = s²(p + 1); a coordinate exceeds its interval, that of a Laplace variable (the
            // law at p = 1), in at most 5 of 100 draws.
            Step::OutputLaplace { mechanism, .. } => {
                let deviation = mechanism.noise_scale * (columns + 1.0).sqrt();
                alike(deviation, LAPLACE, Confidence::Exact)
            }
            Step::Perturbed(perturbed) => {
                let (inside, output) = (&perturbed.objective.noise, &perturbed.output);
                if let (
                    Some(_),
                    Some(spread),
                    ObjectiveNoise::Gaussian { noise_scale, .. },
                    OutputLaw::Gaussian(output),
                ) = (&self.bought, &found.spread, inside, output)
                {
                    let each = spread.length.iter().map(|x| (x * noise_scale).hypot(*output));
                    let deviations = vec![each.collect()];
                    let confidence = Confidence::Estimated;
                    return Some(WeightNoise { deviations, beyond: NORMAL, confidence });
                }
                let ridge = perturbed.objective.ridge;
                let reach = (noise_norm_bound(*inside, columns) + perturbed.tolerance) / ridge;
                alike((reach + beyond_output(*output, columns)) / NORMAL, NORMAL, Confidence::Bound)
            }
        })
    }

    fn predicted_excess(&self, facts: &Facts) -> Option<f64> {
        if self.penalty != Penalty::None {
            // The cost of a penalty depends on the best model, which is not known.
            return None;
        }
        let ridge = self.step.ask().ridge;
        Some(match &self.step {
            Step::OutputGaussian { mechanism, .. } => {
                predicted::output(facts, mechanism.noise_scale * facts.widening, ridge)
            }
            // A coordinate of ℓ2-Laplace noise in p dimensions has about √p times its scale.
            Step::OutputLaplace { mechanism, .. } => {
                let columns = facts.columns as f64;
                predicted::output(facts, mechanism.noise_scale * columns.sqrt(), ridge)
            }
            Step::Perturbed(perturbed) => {
                let noise = match perturbed.objective.noise {
                    ObjectiveNoise::Gaussian { noise_scale, .. } => noise_scale,
                    ObjectiveNoise::L2Laplace { noise_scale } => {
                        noise_scale * (facts.columns as f64).sqrt()
                    }
                };
                predicted::perturbed_excess(facts, noise, ridge)
            }
        })
    }

    fn check(&self, facts: &Facts) -> Result<(), LearnError> {
        tolerance::check(facts, self.step.ask(), &self.penalty)
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<LinearWeights>, LearnError> {
        if let Some(bought) = &self.bought {
            let watch = StepWatch::new(monitor);
            return ask::<FitThenCurvature>(session, &watch, |query, session| match query {
                curvature::Query::Fit => {
                    self.step.run(&self.penalty, facts, table, 0, session, monitor)
                }
                curvature::Query::Curvature(theta) => {
                    bought.ask(facts, table, (theta, None), session)
                }
                curvature::Query::Gradient(_) => Err(GateError::NotAsPlanned.into()),
            });
        }
        let parts = (0..self.problems)
            .map(|problem| self.step.run(&self.penalty, facts, table, problem, session, monitor))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(session.gather(parts)?.map(LinearWeights::of))
    }
}

/// A party's weighted minimiser; `None` if it has declared no rows.
fn own_minimum(
    part: PartyShare,
    ask: SolverRequest,
    penalty: &Penalty,
    solved: impl FnOnce(SolverRequest, &Penalty) -> Result<Certified, LearnError>,
) -> Result<Option<Vec<f64>>, LearnError> {
    if !part.is_some() {
        return Ok(None);
    }
    let own = part.ask(ask);
    part.scaled_minimiser(solved(own, &part.penalty(penalty))?, own).map(Some)
}

/// One problem to its tolerance, with the linear term b.
pub(super) fn solve(
    facts: &Facts,
    table: &dyn Table,
    problem: u32,
    ask: SolverRequest,
    penalty: &Penalty,
    linear: Option<&[f64]>,
    monitor: &dyn Monitor,
) -> Result<Certified, LearnError> {
    let labels = problems::problem(facts, problem);
    let records = admit::records(table, &labels)?;
    let SolverRequest { ridge, tolerance, .. } = ask;
    let problem = Problem { records: records.as_ref(), loss: facts.loss, ridge, linear, penalty };
    // The tolerance is a little finer than the plan needs: rounding θ to `f64` must fit into the rest.
    let start = warm_start::start(&problem, table, &labels);
    let options =
        SolverOptions { monitor: Some(monitor), start: start.as_deref(), ..Default::default() };
    minimise(&problem, tolerance * SOLVER_SHARE, &options).map_err(without_numbers)
}

/// Returns a solver's refusal without the numbers that it read off the records or the noise.
fn without_numbers(error: SolveError) -> LearnError {
    match error {
        SolveError::Stopped | SolveError::Setting(_) => LearnError::Solve(error),
        _ => GateError::NotCertified.into(),
    }
}

/// Returns the minimiser if it is proved to be within γ/λ of the exact one.
fn certified(solved: Certified, ask: SolverRequest) -> Result<Vec<f64>, LearnError> {
    if solved.distance_bound() <= ask.tolerance / ask.ridge {
        Ok(solved.into_theta())
    } else {
        Err(GateError::NotCertified.into())
    }
}

const MEAN_OF_MODELS: Condition = Condition::new(
    "mean-of-the-parties-models",
    "what gets its noise is the mean of the parties' own models, weighted by their rows, and not the model of all \
     rows: parties of few rows each lose by that (gd does not)",
);
