//! The list of learners (`registry.rs`).

use crate::LearnError;
use crate::linear;
use crate::linear::Decision;
use crate::linear::auto;
use crate::linear::facts::Facts;
use crate::release::allowance::Allowance;
use crate::release::covers::Asked;
use crate::release::registry::registry;
use crate::release::request::{Calibration, RIDGE};
use crate::release::settings::SettingInfo;

/// What is asked of a learner beyond what is of every method ([`crate::Info`]).
#[derive(Debug, Clone, Copy)]
pub struct LearnerFacts {
    /// What its scores say of the classes.
    pub scores: Scores,
    /// Whether its proof holds although the storage of the rows was chosen from the records, which decides
    /// in which order a row's entries are added up: because what is released does not depend on it (sums
    /// that are exact, margins included), because every order is charged for (a proved tolerance, a bound
    /// on rounding), or because nothing is claimed of finite arithmetic.
    pub any_storage: bool,
}

/// What the scores of a model with the logistic loss say of the classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scores {
    /// Each score is a log-odds of its own.
    Separate,
    /// The same, but slopes were clipped ([`crate::linear::gd`]).
    Clipped,
    /// Slopes were clipped to that of a model that knows nothing, and more than two classes were
    /// fitted jointly ([`crate::linear::gd`]).
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
    /// Hands the request to its learner.
    dispatched(self, facts: &Facts, allowance: &Allowance<'_>, calibration: Calibration) -> Result<Decision, LearnError>;
    /// Whatever the rule chooses; see [`crate::linear::auto`].
    Auto(auto::Auto) = auto::INFO, auto::plan;
    /// Approximate Minima Perturbation.
    Amp(linear::amp::Amp) = linear::amp::INFO, linear::amp::plan;
    /// Columns chosen privately, then the same on them.
    ChosenAmp(linear::chosen_amp::ChosenAmp) = linear::chosen_amp::INFO, linear::chosen_amp::plan;
    /// Columns chosen by their association, then least squares or the same on them.
    TwoStage(linear::two_stage::TwoStage) = linear::two_stage::INFO, linear::two_stage::plan;
    /// Noisy descent that keeps the largest weights.
    DpIght(linear::dp_ight::DpIght) = linear::dp_ight::INFO, linear::dp_ight::plan;
    /// Noised answers to public inputs, then few columns.
    DpslKt(linear::dpsl_kt::DpslKt) = linear::dpsl_kt::INFO, linear::dpsl_kt::plan;
    /// Objective perturbation, next to no noise on the minimiser.
    Objective(linear::objective::Objective) = linear::objective::INFO, linear::objective::plan;
    /// Output perturbation.
    Output(linear::output::Output) = linear::output::INFO, linear::output::plan;
    /// Noisy gradient descent on all records.
    Gd(linear::gd::Gd) = linear::gd::INFO, linear::gd::plan;
    /// The same on rows less their noised mean.
    CentredGd(linear::centred_gd::CentredGd) = linear::centred_gd::INFO, linear::centred_gd::plan;
    /// Noisy gradient descent on a random part of the records at each step.
    Sgd(linear::sgd::Sgd) = linear::sgd::INFO, linear::sgd::plan;
    /// Permutation descent, noise on the result.
    Psgd(linear::psgd::Psgd) = linear::psgd::INFO, linear::psgd::plan;
    /// The same with a ridge.
    PsgdStrong(linear::psgd_strong::PsgdStrong) = linear::psgd_strong::INFO, linear::psgd_strong::plan;
    /// Implicit steps in order, noise on the mean of their points.
    Averaged(linear::averaged::Averaged) = linear::averaged::INFO, linear::averaged::plan;
    /// Least squares from noised second moments.
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
        let asked = Asked { relation, pure: allowance.is_pure(), calibration, problems };
        self.info().covers.check(self.name(), asked)?;
        self.dispatched(facts, allowance, calibration)
    }

    /// Whether it buys the curvature that intervals of its weights follow from.
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
