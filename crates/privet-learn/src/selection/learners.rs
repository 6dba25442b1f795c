//! Registry of selectors (`registry.rs`).

use super::{Decision, PlanInput, correlation, distance, exponential, lasso, subsample};
use crate::LearnError;
use crate::release::covers::RequestFacts;
use crate::release::registry::registry;

registry! {
    /// A selector and its own settings.
    #[derive(Copy)]
    pub enum Selector: Info<()>, all SELECTORS, default Correlation;
    dispatched(self, wanted: &PlanInput<'_>) -> Result<Decision, LearnError>;
    /// By association with the target.
    Correlation(correlation::Correlation) = correlation::INFO, correlation::plan;
    /// By how well a set of columns fits.
    Exponential(exponential::Exponential) = exponential::INFO, exponential::plan;
    /// An answer that is far from any other.
    Distance(distance::Distance) = distance::INFO, distance::plan;
    /// The same over random parts of the records.
    Subsample(subsample::Subsample) = subsample::INFO, subsample::plan;
    /// The support of the LASSO, far from any other.
    LassoStability(lasso::LassoStability) = lasso::INFO, lasso::plan;
}

impl Selector {
    /// Plans from public facts alone, or refuses a case that the selector does not cover.
    pub(crate) fn plan(&self, input: &PlanInput<'_>) -> Result<Decision, LearnError> {
        let PlanInput { facts, budget, calibration, .. } = input;
        let requested = RequestFacts {
            relation: facts.relation(),
            pure: budget.is_pure(),
            calibration: *calibration,
            problems: facts.problems,
        };
        self.info().covers.check(self.name(), requested)?;
        self.dispatched(input)
    }
}
