//! Two-sided bounds on the true δ(ε) of an event.
//!
//! The *true* δ(ε) of an event is the largest over all mechanisms, data sets and orders of neighbours
//! that the event describes. [`super::delta`] proves the upper bound. The lower bound is the cost of one
//! such mechanism, namely the composition of, for each leaf,
//! - itself: Gaussian and Laplace releases that attain their sensitivity in one coordinate, randomised
//!   response for pure ε-DP, the leak of an (ε, δ)-DP mechanism, Poisson samples (Theorems 1 and 2 of
//!   [`super::sampled`] are attained);
//! - ℓ2-Laplace noise: the Laplace release it is in one dimension;
//! - ρ-zCDP: a Gaussian release with μ² = 2ρ; bounded range r: randomised response with ε = r/2, whose
//!   two losses are r apart;
//! - batches without replacement: all records alike but one, which is the pair of Theorem 1;
//! - a perturbed objective: every record in the linear part of its loss, at opposite ends, so that θ* =
//!   −(b+const)/λ: the release of a sum that moves by 2LR (LR) per record. With output noise the two
//!   Gaussians add up and the optimiser's errors may point apart: a move of 2LR/λ+Δ_out under a
//!   deviation √(σ²/λ²+τ²). Where one of the two is not Gaussian the leaf counts as 0.
//!
//! Grids that replace continuous laws are within a total-variation distance q of them together, so
//! (1+e^ε)·q is subtracted.
//!
//! Tested by `tests/all/account_bracket.rs`.

use super::error::{AccountError, non_negative};
use super::event::{Cost, Event, ObjectiveCost, ObjectiveNoise, OutputNoise};
use super::parts::{Part, Parts};
use super::sampled::{Sampled, Sampler};
use super::{gaussian, lower_bound, merge, pure};
use privet_core::{Neighbours, Relation, Unit};

/// Relative rounding margin of closed forms, generous.
const MARGIN: f64 = 1e-9;

/// (lower, upper) bounds on the smallest δ at which everything that `event` describes is
/// (ε, δ)-differentially private, for ε ≥ 0. The upper one is [`super::delta`]'s.
///
/// ```
/// # use privet_core::{Neighbours, Relation, Unit};
/// use privet_dp::account::{Cost, Event, bracket};
/// let step = Event::Use {
///     neighbours: Neighbours::AddRemove,
///     unit: Unit::Record,
///     cost: Cost::PoissonGaussian { rate: 0.01, sensitivity: 1.0, noise_scale: 1.0, grid: None },
/// };
/// let (lower, upper) = bracket(&Event::Repeat { count: 1_000, event: Box::new(step) }, 1.8)?;
/// assert!(lower <= upper && upper <= 1.02 * lower);
/// # Ok::<(), privet_dp::account::AccountError>(())
/// ```
pub fn bracket(event: &Event, epsilon: f64) -> Result<(f64, f64), AccountError> {
    let epsilon = non_negative("epsilon", epsilon)?;
    let parts = Parts::new(event)?;
    let upper = parts.delta(epsilon);
    let away = (1.0 + libm::exp(epsilon)) * parts.distance;
    let lower = (lower(&attained_event(event), epsilon)? - away).max(0.0);
    // The two bounds are rounded separately: keep them in order.
    Ok((lower.min(upper), upper))
}

fn lower(event: &Event, e: f64) -> Result<f64, AccountError> {
    let parts = Parts::new(event)?;
    if parts.leak >= 1.0 {
        return Ok(1.0);
    }
    let leaked = parts.leak * (1.0 - MARGIN);
    Ok(leaked + (1.0 - parts.leak) * ideal(&parts, e))
}

fn ideal(parts: &Parts, e: f64) -> f64 {
    // Summing squares rounds up.
    let nu = parts.mu() * (1.0 - 1e-12);
    let rest: Vec<(Part, u64)> = parts
        .rest
        .iter()
        .filter(|(part, _)| part.bound() != Some(0.0))
        .map(|(part, count)| (pair_that_occurs(*part), *count))
        .collect();
    let found = match rest[..] {
        [] => gaussian::delta(e, nu),
        [(Part::Response(epsilon), count)] if count <= 20_000 => {
            pure::repeated_response(e, epsilon * (1.0 - 1e-14), count, nu)
        }
        [(part, 1)] if nu == 0.0 => part.delta(e),
        // Nothing is merged downwards: that many transforms are too costly.
        _ if rest.len() > merge::MOST_PARTS => return gaussian::delta(e, nu) * (1.0 - MARGIN),
        _ => return lower_bound::delta(&rest, nu, e),
    };
    // Far in the tail closed forms are raised by more than this; the lower bound there is 0.
    if found > 1e-100 { found * (1.0 - MARGIN) } else { 0.0 }
}

fn pair_that_occurs(part: Part) -> Part {
    match part {
        Part::Sampled(sampled) if sampled.sampler == Sampler::WithoutReplacement => {
            Part::Sampled(Sampled { sampler: Sampler::PoissonAdded, ..sampled })
        }
        part => part,
    }
}

/// The event with every leaf replaced by one mechanism that it describes.
fn attained_event(event: &Event) -> Event {
    match event {
        Event::All(events) => Event::All(events.iter().map(attained_event).collect()),
        Event::Repeat { count, event } | Event::UpTo { count, event } => {
            Event::Repeat { count: *count, event: Box::new(attained_event(event)) }
        }
        // A single run is possible.
        Event::Selected { event, .. } => attained_event(event),
        // The candidate's index reveals nothing, and any candidate's run may show next to nothing.
        Event::BestOf { candidates, .. } => {
            Event::All(candidates.first().map(null_event).into_iter().collect())
        }
        Event::Use { neighbours, unit, cost } => {
            let (neighbours, unit) = (*neighbours, *unit);
            Event::Use { neighbours, unit, cost: attained_cost(cost, neighbours, unit) }
        }
    }
}

/// An event of the same relation that reveals nothing.
fn null_event(event: &Event) -> Event {
    match event {
        Event::All(events) | Event::BestOf { candidates: events, .. } => {
            Event::All(events.first().map(null_event).into_iter().collect())
        }
        Event::Repeat { event, .. } | Event::UpTo { event, .. } | Event::Selected { event, .. } => {
            null_event(event)
        }
        Event::Use { neighbours, unit, .. } => {
            let cost = Cost::Pure { epsilon: 0.0 };
            Event::Use { neighbours: *neighbours, unit: *unit, cost }
        }
    }
}

fn attained_cost(cost: &Cost, neighbours: Neighbours, unit: Unit) -> Cost {
    match cost {
        Cost::L2Laplace { sensitivity, noise_scale } => {
            Cost::Laplace { sensitivity: *sensitivity, noise_scale: *noise_scale, step: None }
        }
        // The target law itself is within the distance.
        Cost::JointGaussian { sensitivity, noise_scale, grid, .. } => {
            let (sensitivity, noise_scale) = (*sensitivity, *noise_scale);
            Cost::Gaussian { sensitivity, noise_scale, grid: Some(*grid) }
        }
        Cost::BoundedRange { range } => Cost::Pure { epsilon: range / 2.0 },
        Cost::ZeroConcentrated { rho } => gaussian_cost(libm::sqrt(2.0 * rho), 1.0),
        Cost::Objective(objective) => attained_objective(objective, neighbours, unit, 0.0, 0.0),
        Cost::ApproximateMinima {
            objective,
            output_sensitivity,
            output: OutputNoise::Gaussian { noise_scale, .. },
        } => attained_objective(objective, neighbours, unit, *output_sensitivity, *noise_scale),
        // The loss that a series of answers attains depends on the series.
        Cost::ApproximateMinima { .. } | Cost::AboveThreshold { .. } => Cost::Pure { epsilon: 0.0 },
        other => other.clone(),
    }
}

/// The release of θ*, or of θ* with an error of half of `apart` for each data set and noise τ.
fn attained_objective(
    objective: &ObjectiveCost,
    neighbours: Neighbours,
    unit: Unit,
    apart: f64,
    tau: f64,
) -> Cost {
    let moved =
        Relation::new(neighbours, unit).records() * objective.loss.lipschitz * objective.radius;
    match objective.noise {
        ObjectiveNoise::Gaussian { noise_scale, .. } => gaussian_cost(
            (moved + objective.ridge * apart) * (1.0 - 1e-14),
            libm::hypot(noise_scale, objective.ridge * tau) * (1.0 + 1e-14),
        ),
        ObjectiveNoise::L2Laplace { noise_scale } if tau == 0.0 && apart == 0.0 => {
            Cost::Laplace { sensitivity: moved, noise_scale, step: None }
        }
        ObjectiveNoise::L2Laplace { .. } => Cost::Pure { epsilon: 0.0 },
    }
}

fn gaussian_cost(sensitivity: f64, noise_scale: f64) -> Cost {
    Cost::Gaussian { sensitivity, noise_scale, grid: None }
}
