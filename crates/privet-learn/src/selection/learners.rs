//! The list of selectors (`registry.rs`).

use super::{Decision, Wanted, correlation, distance, exponential, lasso, subsample};
use crate::LearnError;
use crate::release::covers::Asked;
use crate::release::registry::registry;

registry! {
    /// A selector and its own settings.
    #[derive(Copy)]
    pub enum Selector: Info<()>, all SELECTORS, default Correlation;
    dispatched(self, wanted: &Wanted<'_>) -> Result<Decision, LearnError>;
    /// By association with the target.
    Correlation(correlation::Correlation) = correlation::INFO, correlation::plan;
    /// By how well a set of columns fits.
    Exponential(exponential::Exponential) = exponential::INFO, exponential::plan;
    /// An answer far from another one.
    Distance(distance::Distance) = distance::INFO, distance::plan;
    /// The same over random parts of the records.
    Subsample(subsample::Subsample) = subsample::INFO, subsample::plan;
    /// What the LASSO keeps, far from anything else.
    LassoStability(lasso::LassoStability) = lasso::INFO, lasso::plan;
}

impl Selector {
    /// Decides everything from public facts, or refuses what the selector does not cover.
    pub(crate) fn plan(&self, wanted: &Wanted<'_>) -> Result<Decision, LearnError> {
        let Wanted { facts, budget, calibration, .. } = wanted;
        let asked = Asked {
            relation: facts.relation(),
            pure: budget.is_pure(),
            calibration: *calibration,
            problems: facts.problems,
        };
        self.info().covers.check(self.name(), asked)?;
        self.dispatched(wanted)
    }
}
