//! Registry of the methods for completing ratings (`registry.rs`).

use super::als::{self, PlainAls};
use super::alternatives::{Als, CleansedSvd, als as private_als, cleansed_svd};
use super::baseline::{Mean, SettledBaseline, mean};
use super::choice::{self, ItemChoice};
use super::execution::{MethodPlan, PlannedMethod};
use super::moments::baseline as non_private;
use super::moments::{self, Moments, NonPrivate};
use super::spectral::{
    FrankWolfe, Oja, Pgd, PlainFrankWolfe, PlainPgd, Svd, frank_wolfe, oja, pgd, plain_frank_wolfe,
    plain_pgd, svd,
};
use super::{Complete, Shape};
use crate::LearnError;
use crate::release::allowance::Allowance;
use crate::release::covers::{Coverage, MethodCoverage, NOT_PRINTED, TableAccess};
use crate::release::registry::registry;
use crate::release::task::Procedure;
use privet_dp::account::{Event, gaussian};
use privet_dp::gate::GateError;
use std::sync::Arc;

/// Cases that a private method covers.
pub(super) const RATINGS: MethodCoverage = MethodCoverage {
    printed: Coverage::No {
        why: NOT_PRINTED,
        instead: "leave out the calibration, or give sound (docs/errata.md says what was wrong)",
    },
    pure: Coverage::gaussian("give a delta above 0, far below one over the number of users"),
    needs: TableAccess::Memory,
    ..MethodCoverage::ALL
};

/// Guarantee of a private method.
pub(super) const USERS: &str = "proved with rounding, users protected whole";

/// A method's plan.
pub(super) struct Decision {
    /// Procedure to run.
    pub procedure: Arc<dyn Procedure<Complete>>,
    /// The method with every setting filled in.
    pub settled: Method,
}

impl Decision {
    pub(super) fn new(sizes: impl MethodPlan, settling: &Settling<'_>, settled: Method) -> Self {
        let procedure = Arc::new(PlannedMethod { sizes, choosing: settling.choosing });
        Self { procedure, settled }
    }
}

/// Budget of a method's plan.
pub(super) struct Settling<'a> {
    pub allowance: Allowance<'a>,
    /// Private choice of items that is made and paid for first.
    pub choosing: Option<ItemChoice>,
}

impl<'a> Settling<'a> {
    /// Gaussian multiplier μ of the method's own part of the budget.
    pub(super) fn multiplier(&self) -> f64 {
        let allowance = &self.allowance;
        let left = if self.choosing.is_some() { 1.0 - choice::CHOICE_SHARE } else { 1.0 };
        gaussian::mu(allowance.epsilon(), allowance.delta()) * left.sqrt()
    }

    /// The least noise with which the method, and a choice of items before it, keep the budget.
    pub(super) fn least_noise(
        &self,
        floor: f64,
        event_for: impl Fn(f64) -> Result<Event, GateError>,
    ) -> Result<f64, LearnError> {
        let Some(choosing) = &self.choosing else {
            return self.allowance.least_scale(floor, event_for);
        };
        let before = choosing.mechanism().event()?;
        self.allowance
            .after(1)
            .least_scale(floor, |noise| Ok(Event::All(vec![before.clone(), event_for(noise)?])))
    }
}

registry! {
    /// A method for completing ratings, with its own settings.
    pub enum Method: Info<()>, all METHODS, default Moments;
    pub(super) plan(self, shape: &Shape, settling: &Settling<'_>) -> Result<Decision, LearnError>;
    /// Offsets and factors of items from a few noisy sums.
    Moments(Moments) = moments::INFO, moments::plan;
    /// Frank–Wolfe by noisy covariances.
    FrankWolfe(FrankWolfe) = frank_wolfe::INFO, frank_wolfe::plan;
    /// Frank–Wolfe by Oja's rule.
    Oja(Oja) = oja::INFO, oja::plan;
    /// Projected gradient descent.
    Pgd(Pgd) = pgd::INFO, pgd::plan;
    /// One singular subspace.
    Svd(Svd) = svd::INFO, svd::plan;
    /// Alternating least squares.
    Als(Als) = private_als::INFO, private_als::plan;
    /// A subspace after cleansing.
    CleansedSvd(CleansedSvd) = cleansed_svd::INFO, cleansed_svd::plan;
    /// The queries of `moments` without noise.
    NonPrivate(NonPrivate) = non_private::INFO, non_private::plan;
    /// Frank–Wolfe without noise.
    #[serde(rename = "non-private-frank-wolfe", alias = "plain-frank-wolfe")]
    PlainFrankWolfe(PlainFrankWolfe) = plain_frank_wolfe::INFO, plain_frank_wolfe::plan;
    /// Projected descent without noise.
    #[serde(rename = "non-private-pgd", alias = "plain-pgd")]
    PlainPgd(PlainPgd) = plain_pgd::INFO, plain_pgd::plan;
    /// Alternating least squares without noise.
    #[serde(rename = "non-private-als", alias = "plain-als")]
    PlainAls(PlainAls) = als::INFO, als::plan;
    /// Each user's own mean.
    Mean(Mean) = mean::INFO, mean::plan;
}

impl Method {
    /// Baseline of a method that is not private, for a request without a budget; `None` if it is
    /// private.
    pub(super) fn baseline(&self, shape: &Shape) -> Option<Result<SettledBaseline, LearnError>> {
        Some(match self {
            Self::NonPrivate(own) => non_private::baseline(shape, own),
            Self::PlainFrankWolfe(own) => plain_frank_wolfe::baseline(shape, own),
            Self::PlainPgd(own) => plain_pgd::baseline(shape, own),
            Self::PlainAls(own) => als::baseline(shape, own),
            Self::Mean(own) => mean::baseline(shape, own),
            _ => return None,
        })
    }

    /// True if the method uses public features of items.
    pub(super) fn uses_features(&self) -> bool {
        matches!(self, Self::Moments(_) | Self::NonPrivate(_) | Self::PlainAls(_))
    }
}
