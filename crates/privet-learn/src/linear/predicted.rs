//! Predicted excess risk of a method, from public facts, by which `auto` compares methods.
//!
//! All numbers are of the mean loss, against the best model of norm at most B = [`NORM`]/R. H is the
//! mean Hessian, h one of its eigenvalues, tr H ≤ cR² a problem; p coordinates.
//!
//! | learner | noise | bias |
//! |---|---|---|
//! | linear term of scale σ, ridge λ (sum form) | at most σ²·min(p/(8λn), tr H/(2λ²)) | λB²/(2n) |
//! | noise of scale τ on the weights, ridge λ | ½τ²·tr H, and at most LRτ | λB²/(2n) |
//! | noise of scale σ on the weights of a descent for a time τ | ½σ²·tr H, and at most LRσ | B²/(2τ) |
//! | descent for a time τ ([`super::gd`]) | (s²/2)·min(τ²·tr H, τp/2) | B²/(2τ) |
//! | T choices of a column at a rate ρ ([`super::frank_wolfe`]) | κ′·ln(2p)/(nτρ) | cκκ′/(2T) |
//! | m columns drawn from an entropic minimiser | cκ²/(2m) | λ·ln(2p)/n ([`super::simplex`]) |
//!
//! Linear term: each direction costs ½h·(σ/(nh + λ))² ≤ σ²/(8λn). Descent: s is the noise on the mean
//! gradient if one step got the whole budget. Choices: entries clamped to τ, ℓ1 radius κ/τ,
//! κ′ = min(κ, 8).
//!
//! It is for comparing methods on one table, and no bound: the best model may be larger than B, and its
//! own loss is not counted. From table to table its order is wrong (rules that expect less of few rows
//! also choose shorter descents), so that users see another number ([`crate::linear::forecast`]). A plan
//! that predicts more than ℓ(0), the loss of the zero model, is not expected to learn ([`hopeless`]).

use crate::linear::facts::Facts;

/// The assumed norm of the best model times the radius, B·R.
pub(crate) const NORM: f64 = 8.0;

/// The assumed norm B of the best model.
fn norm(facts: &Facts) -> f64 {
    NORM / facts.radius
}

/// Bound on tr H of one problem.
fn trace(facts: &Facts) -> f64 {
    facts.shape.curvature * facts.radius * facts.radius
}

/// The excess risk of a perturbed objective.
pub(crate) fn perturbed_excess(facts: &Facts, noise: f64, ridge: f64) -> f64 {
    let (rows, columns) = (facts.rows as f64, facts.columns as f64);
    let spread = (columns / (8.0 * ridge * rows)).min(trace(facts) / (2.0 * ridge * ridge));
    let bias = ridge * norm(facts).powi(2) / (2.0 * rows);
    f64::from(facts.problems) * (noise * noise * spread + bias)
}

/// The excess risk of noise on the weights of a regularised minimiser.
pub(crate) fn output(facts: &Facts, noise: f64, ridge: f64) -> f64 {
    let spread = (noise * noise * trace(facts) / 2.0).min(facts.gradient_bound() * noise);
    let bias = ridge * norm(facts).powi(2) / (2.0 * facts.rows as f64);
    f64::from(facts.problems) * (spread + bias)
}

/// The excess risk of noise on the weights of a descent that stops after a time.
pub(crate) fn stopped_excess(facts: &Facts, noise: f64, time: f64) -> f64 {
    let spread = (noise * noise * trace(facts) / 2.0).min(facts.gradient_bound() * noise);
    f64::from(facts.problems) * (spread + norm(facts).powi(2) / (2.0 * time))
}

/// The excess risk of a descent of all problems together; `trace` of all of them.
pub(crate) fn descent(facts: &Facts, noise: f64, time: f64, trace: f64) -> f64 {
    let problems = f64::from(facts.problems);
    let coordinates = problems * facts.columns as f64;
    let spread = (time * time * trace).min(time * coordinates / 2.0);
    noise * noise / 2.0 * spread + problems * norm(facts).powi(2) / (2.0 * time)
}

/// The time at which noise s that spreads as a random walk costs as much, at the margin, as the
/// remaining bias: (KB²/(2s²·tr H))^⅓, `trace` of all problems.
pub(crate) fn walking_time(facts: &Facts, noise: f64, trace: f64) -> f64 {
    let square = f64::from(facts.problems) * norm(facts).powi(2);
    (square / (2.0 * noise * noise * trace)).cbrt()
}

/// The same where the noise of each step settles: at least B√(2K)/(s√p), p of all problems.
pub(crate) fn settling_time(facts: &Facts, noise: f64, trace: f64) -> f64 {
    let problems = f64::from(facts.problems);
    let coordinates = problems * facts.columns as f64;
    let settled = norm(facts) * (2.0 * problems / coordinates).sqrt() / noise;
    walking_time(facts, noise, trace).max(settled)
}

/// True if a plan is not expected to learn anything.
pub(crate) fn hopeless(facts: &Facts, excess: f64) -> bool {
    let knows_nothing = f64::from(facts.problems) * facts.loss.largest_at_zero();
    excess.is_nan() || excess >= knows_nothing
}

/// The note of a plan that is not expected to learn.
pub(crate) const HOPELESS_NOTE: &str = "the budget is too small for this many rows and columns: the noise is \
     predicted to drown what could be learnt. Give more rows, fewer columns or a larger epsilon";
