//! The list of learners (`registry.rs`).

use crate::allowance::Allowance;
use crate::covers::Asked;
use crate::erm::Decision;
use crate::facts::Facts;
use crate::registry::registry;
use crate::request::{Calibration, RIDGE};
use crate::settings::SettingInfo;
use crate::{LearnError, auto, erm};

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
    /// The same, but slopes were clipped ([`crate::erm::gd`]).
    Clipped,
    /// Slopes were clipped to that of a model that knows nothing, and more than two classes were
    /// fitted jointly ([`crate::erm::gd`]).
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
    /// Whatever the rule chooses; see [`crate::auto`].
    Auto(auto::Auto) = auto::INFO, auto::plan;
    /// Approximate Minima Perturbation.
    Amp(erm::amp::Amp) = erm::amp::INFO, erm::amp::plan;
    /// Columns chosen privately, then the same on them.
    ChosenAmp(erm::chosen_amp::ChosenAmp) = erm::chosen_amp::INFO, erm::chosen_amp::plan;
    /// Columns chosen by their association, then least squares or the same on them.
    TwoStage(erm::two_stage::TwoStage) = erm::two_stage::INFO, erm::two_stage::plan;
    /// Noisy descent that keeps the largest weights.
    DpIght(erm::dp_ight::DpIght) = erm::dp_ight::INFO, erm::dp_ight::plan;
    /// Noised answers to public inputs, then few columns.
    DpslKt(erm::dpsl_kt::DpslKt) = erm::dpsl_kt::INFO, erm::dpsl_kt::plan;
    /// Objective perturbation, next to no noise on the minimiser.
    Objective(erm::objective::Objective) = erm::objective::INFO, erm::objective::plan;
    /// Output perturbation.
    Output(erm::output::Output) = erm::output::INFO, erm::output::plan;
    /// Noisy gradient descent on all records.
    Gd(erm::gd::Gd) = erm::gd::INFO, erm::gd::plan;
    /// The same on rows less their noised mean.
    CentredGd(erm::centred_gd::CentredGd) = erm::centred_gd::INFO, erm::centred_gd::plan;
    /// Noisy gradient descent on a random part of the records at each step.
    Sgd(erm::sgd::Sgd) = erm::sgd::INFO, erm::sgd::plan;
    /// Permutation descent, noise on the result.
    Psgd(erm::psgd::Psgd) = erm::psgd::INFO, erm::psgd::plan;
    /// The same with a ridge.
    PsgdStrong(erm::psgd_strong::PsgdStrong) = erm::psgd_strong::INFO, erm::psgd_strong::plan;
    /// Implicit steps in order, noise on the mean of their points.
    Averaged(erm::averaged::Averaged) = erm::averaged::INFO, erm::averaged::plan;
    /// Least squares from noised second moments.
    Ssp(erm::ssp::Ssp) = erm::ssp::INFO, erm::ssp::plan;
    /// Linear regression in a ball.
    Linear(erm::linear::Linear) = erm::linear::INFO, erm::linear::plan;
    /// Linear regression with a rotated regulariser.
    LinearRotated(erm::rotated::LinearRotated) = erm::rotated::INFO, erm::rotated::plan;
    /// Sample and aggregate.
    SampleAggregate(erm::sample_aggregate::SampleAggregate) = erm::sample_aggregate::INFO, erm::sample_aggregate::plan;
    /// Frank–Wolfe: a signed column chosen at each step.
    FrankWolfe(erm::frank_wolfe::FrankWolfe) = erm::frank_wolfe::INFO, erm::frank_wolfe::plan;
    /// Entropy-regularised minimisation, released by sampling columns.
    Simplex(erm::simplex::Simplex) = erm::simplex::INFO, erm::simplex::plan;
    /// No noise at all, for comparison.
    NonPrivate(erm::plain::NonPrivate) = erm::plain::INFO, erm::plain::plan;
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
        asked == Some(erm::curvature::Intervals::Bought)
    }
}
