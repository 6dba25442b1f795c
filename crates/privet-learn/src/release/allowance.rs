//! The budget of a plan, and the scales of its noise once they are settled.
//!
//! A plan searches for the least noise that its budget allows ([`Allowance::least_scale`]) and writes the
//! scale into its request, beside every other choice. A plan made again from that request searches for
//! nothing: the events that follow from the scale must prove the claim, and verification compares them.

use crate::LearnError;
use privet_core::Budget;
use privet_dp::account::{self, AccountError, Cost, Event, ObjectiveNoise};
use privet_dp::gate::GateError;

/// The budget of a plan, and the scales of its noise where they are settled.
#[derive(Debug, Clone, Copy)]
pub struct Allowance<'a> {
    budget: Budget,
    noise: &'a [f64],
}

/// Upper limit on ε: below it, multiples of e^ε do not overflow.
const ACCOUNTED: f64 = 600.0;

/// Upper end of the search for a noise scale, as a multiple of the floor.
const SEARCH: f64 = 1e4;

impl<'a> Allowance<'a> {
    /// With this budget, and the scales that an earlier plan settled on, or none.
    pub fn new(budget: Budget, noise: &'a [f64]) -> Self {
        Self { budget, noise }
    }

    /// The ε of the budget.
    pub fn epsilon(&self) -> f64 {
        self.budget.epsilon()
    }

    /// The δ of the budget.
    pub fn delta(&self) -> f64 {
        self.budget.delta()
    }

    /// True if δ = 0 (pure differential privacy).
    pub fn is_pure(&self) -> bool {
        self.budget.is_pure()
    }

    /// The whole budget.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// The same scales under another budget.
    pub fn with_budget(&self, budget: Budget) -> Self {
        Self { budget, ..*self }
    }

    /// The allowance of the stages after this many events.
    pub fn after(&self, events: usize) -> Self {
        Self { noise: self.noise.get(events..).unwrap_or_default(), ..*self }
    }

    /// The settled scale of the next event, if there is one.
    pub fn settled_scale(&self) -> Option<f64> {
        self.noise.first().copied()
    }

    /// The settled scale, or the smallest at which `event_for` meets the budget. No scale below `floor`
    /// can (the noise that the Gaussian, or pure, part alone needs), so the search starts there.
    pub fn least_scale(
        &self,
        floor: f64,
        event_for: impl Fn(f64) -> Result<Event, GateError>,
    ) -> Result<f64, LearnError> {
        let search = floor * (1.0 - 1e-6)..=floor * SEARCH;
        if let Some(settled) = self.settled_scale() {
            // The search finds no other scale, and accounting for one could take long.
            if !search.contains(&settled) {
                return Err(LearnError::NotCovered {
                    what:
                        "the noise that the request says is settled is not what its budget asks for"
                            .into(),
                    instead: "leave out the noise: it follows from the budget",
                });
            }
            event_for(settled)?;
            return Ok(settled);
        }
        event_for(floor)?;
        // An event that cannot be made at some far scale is one that the accountant refuses.
        let event = |scale| event_for(scale).unwrap_or(Event::All(vec![]));
        account::calibrate(&self.budget, search, event).map_err(|error| match error {
            AccountError::OutOfReach { epsilon, .. } if epsilon > ACCOUNTED => {
                LearnError::NotCovered {
                    what: format!(
                        "epsilon = {epsilon}: e to its power is more than can be accounted for"
                    ),
                    instead: "give an epsilon up to 600 (above 20 or so it promises next to nothing), \
                              or a method without privacy",
                }
            }
            error => error.into(),
        })
    }
}

/// The scale of the noise of each event, in order, as a plan settles them. For a choice by scores it is
/// 1 over its cost, as a range or as ε.
pub(crate) fn scales(event: &Event) -> Vec<f64> {
    match event {
        Event::Use { cost, .. } => scale(cost).into_iter().collect(),
        Event::All(parts) | Event::BestOf { candidates: parts, .. } => {
            parts.iter().flat_map(scales).collect()
        }
        Event::Repeat { event, .. } | Event::UpTo { event, .. } => scales(event),
        Event::Selected { event, .. } => scales(event),
    }
}

fn scale(cost: &Cost) -> Option<f64> {
    Some(match cost {
        Cost::Gaussian { noise_scale, .. }
        | Cost::JointGaussian { noise_scale, .. }
        | Cost::ContinualGaussian { noise_scale, .. }
        | Cost::AboveThreshold { noise_scale, .. }
        | Cost::IndividualGaussian { noise_scale, .. }
        | Cost::Laplace { noise_scale, .. }
        | Cost::L2Laplace { noise_scale, .. }
        | Cost::PoissonGaussian { noise_scale, .. }
        | Cost::WithoutReplacementGaussian { noise_scale, .. } => *noise_scale,
        Cost::Objective(objective) | Cost::ApproximateMinima { objective, .. } => {
            match objective.noise {
                ObjectiveNoise::Gaussian { noise_scale, .. }
                | ObjectiveNoise::L2Laplace { noise_scale } => noise_scale,
            }
        }
        // The scale of one Gaussian release of sensitivity 1. Rounded up, as below.
        Cost::ZeroConcentrated { rho } => (0.5 / rho).sqrt() * (1.0 + 16.0 * f64::EPSILON),
        // Rounded up, so that a plan made again from it costs no more.
        Cost::BoundedRange { range: cost } | Cost::Pure { epsilon: cost } => {
            cost.recip() * (1.0 + 16.0 * f64::EPSILON)
        }
        _ => return None,
    })
}
