//! The registry of learners (`release/registry.rs`).

use crate::LearnError;
use crate::linear;
use crate::linear::Decision;
use crate::linear::auto;
use crate::linear::facts::Facts;
use crate::release::allowance::Allowance;
use crate::release::covers::RequestFacts;
use crate::release::registry::registry;
use crate::release::request::{Calibration, RIDGE};
use crate::release::settings::SettingInfo;

/// The facts of a learner beyond those of every method ([`crate::Info`]).
#[derive(Debug, Clone, Copy)]
pub struct LearnerFacts {
    /// The meaning of its scores.
    pub scores: Scores,
    /// True if its proof holds although the storage of the rows was chosen from the records, which
    /// decides the order in which a row's entries are added up: because the release does not depend on
    /// it (sums that are exact, margins included), because every order is charged for (a proved
    /// tolerance, a bound on rounding), or because nothing is claimed of finite arithmetic.
    pub any_storage: bool,
}

/// The meaning of the scores of a model with the logistic loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scores {
    /// Each score is a log-odds of its own.
    Separate,
    /// The same, but derivatives were clipped ([`crate::linear::gd`]).
    Clipped,
    /// Derivatives were clipped to those at score 0, and more than two classes were fitted jointly
    /// ([`crate::linear::gd`]).
    ClippedJoint,
}

/// The ridge λ, for every learner that has one.
pub(crate) const RIDGE_SETTING: SettingInfo = SettingInfo::number(
    RIDGE,
    "strength of λ/2·‖θ‖² beside the sum of losses; chosen from public facts unless given",
);

registry! {
    /// A learner and its own settings.
    pub enum Method: Info<LearnerFacts>, all METHODS, default Auto;
    /// Plans the request with its learner.
    dispatched(self, facts: &Facts, allowance: &Allowance<'_>, calibration: Calibration) -> Result<Decision, LearnError>;
    /// The method chosen by a rule; see [`crate::linear::auto`].
    Auto(auto::Auto) = auto::INFO, auto::plan;
    /// Approximate Minima Perturbation.
    Amp(linear::amp::Amp) = linear::amp::INFO, linear::amp::plan;
    /// Columns chosen privately, then `amp` on them.
    ChosenAmp(linear::chosen_amp::ChosenAmp) = linear::chosen_amp::INFO, linear::chosen_amp::plan;
    /// Columns chosen by their association, then least squares or `amp` on them.
    TwoStage(linear::two_stage::TwoStage) = linear::two_stage::INFO, linear::two_stage::plan;
    /// Noisy descent that keeps the largest weights.
    DpIght(linear::dp_ight::DpIght) = linear::dp_ight::INFO, linear::dp_ight::plan;
    /// Noisy answers to public inputs, then few columns.
    DpslKt(linear::dpsl_kt::DpslKt) = linear::dpsl_kt::INFO, linear::dpsl_kt::plan;
    /// Objective perturbation, next to no noise on the minimiser.
    Objective(linear::objective::Objective) = linear::objective::INFO, linear::objective::plan;
    /// Output perturbation.
    Output(linear::output::Output) = linear::output::INFO, linear::output::plan;
    /// Noisy gradient descent on all records.
    Gd(linear::gd::Gd) = linear::gd::INFO, linear::gd::plan;
    /// The same on rows less their noisy mean.
    CentredGd(linear::centred_gd::CentredGd) = linear::centred_gd::INFO, linear::centred_gd::plan;
    /// The same with knots where records are.
    PlacedGd(linear::placed_gd::PlacedGd) = linear::placed_gd::INFO, linear::placed_gd::plan;
    /// Noisy gradient descent on a random sample of the records at each step.
    Sgd(linear::sgd::Sgd) = linear::sgd::INFO, linear::sgd::plan;
    /// Permutation descent, noise on the result.
    Psgd(linear::psgd::Psgd) = linear::psgd::INFO, linear::psgd::plan;
    /// The same with a ridge.
    PsgdStrong(linear::psgd_strong::PsgdStrong) = linear::psgd_strong::INFO, linear::psgd_strong::plan;
    /// Implicit steps in order, noise on the mean of their points.
    Averaged(linear::averaged::Averaged) = linear::averaged::INFO, linear::averaged::plan;
    /// Least squares from noisy second moments.
    Ssp(linear::ssp::Ssp) = linear::ssp::INFO, linear::ssp::plan;
    /// Linear regression in a ball.
    Linear(linear::regression::Linear) = linear::regression::INFO, linear::regression::plan;
    /// Linear regression with a rotated regulariser.
    LinearRotated(linear::rotated::LinearRotated) = linear::rotated::INFO, linear::rotated::plan;
    /// Sample and aggregate.
    SampleAggregate(linear::sample_aggregate::SampleAggregate) = linear::sample_aggregate::INFO, linear::sample_aggregate::plan;
    /// Frank–Wolfe: a signed column chosen at each step.
    FrankWolfe(linear::frank_wolfe::FrankWolfe) = linear::frank_wolfe::INFO, linear::frank_wolfe::plan;
    /// Entropy-regularised minimisation, released by sampling columns.
    Simplex(linear::simplex::Simplex) = linear::simplex::INFO, linear::simplex::plan;
    /// No noise at all, for comparison.
    NonPrivate(linear::baseline::NonPrivate) = linear::baseline::INFO, linear::baseline::plan;
}

impl Method {
    /// Decides everything from public facts, or refuses what the learner does not cover.
    pub(crate) fn plan(
        &self,
        facts: &Facts,
        allowance: &Allowance<'_>,
        calibration: Calibration,
    ) -> Result<Decision, LearnError> {
        let (relation, problems) = (facts.relation(), facts.problems);
        let requested = RequestFacts { relation, pure: allowance.is_pure(), calibration, problems };
        self.info().covers.check(self.name(), requested)?;
        self.dispatched(facts, allowance, calibration)
    }

    /// The bound S to which it clips the derivatives of the logistic loss, of those that clip them.
    pub(crate) fn logistic_slope(&self) -> f64 {
        match self {
            Self::PlacedGd(_) => linear::placed_gd::SLOPE,
            _ => linear::gd::LOGISTIC_SLOPE,
        }
    }

    /// True if it estimates the curvature privately, for intervals of its weights.
    pub(crate) fn buys_intervals(&self) -> bool {
        let asked = match self {
            Self::Gd(options) => options.intervals,
            Self::CentredGd(options) => options.intervals,
            Self::Amp(options) => options.intervals,
            _ => None,
        };
        asked == Some(linear::curvature::Intervals::Bought)
    }
}
