//! What a method is expected to lose: excess risk from public facts, by which `auto` compares methods.
//!
//! All numbers are of the mean loss, against the best model of norm at most B = [`NORM`]/R. H is the
//! mean Hessian, h one of its eigenvalues, tr H ≤ cR² a problem; p coordinates.
//!
//! | learner | noise | bias |
//! |---|---|---|
//! | linear term of scale σ, ridge λ (sum form) | each direction costs ½h·(σ/(nh + λ))² ≤ σ²/(8λn); in all at most σ²·min(p/(8λn), tr H/(2λ²)) | λB²/(2n) |
//! | noise of scale τ on the weights, ridge λ | ½τ²·tr H, and at most LRτ | λB²/(2n) |
//! | noise of scale σ on the weights of a descent for a time τ | ½σ²·tr H, and at most LRσ | B²/(2τ) |
//! | descent for a time τ, noise s on the mean gradient if one step got it all | (s²/2)·min(τ²·tr H, τp/2) ([`super::gd`]) | B²/(2τ) |
//! | T choices of a column at a rate ρ, entries clamped to τ, ℓ1 radius κ/τ | κ′·ln(2p)/(nτρ), κ′ = min(κ, 8) | cκκ′/(2T) ([`super::frank_wolfe`]) |
//! | m columns drawn from an entropic minimiser | cκ²/(2m) | λ·ln(2p)/n ([`super::simplex`]) |
//!
//! It is for comparing methods on one table, and no bound: the best model may be larger than B, and its own loss is not
//! counted. From table to table its order is wrong (rules that expect less of few rows also choose shorter descents), so
//! that people are told another number ([`crate::linear::forecast`]). A plan that predicts more than the loss of a model that
//! knows nothing, ℓ(0), is not expected to learn ([`hopeless`]).
//!
//! - Compared with what is observed in `docs/results.md`.

use crate::linear::facts::Facts;

/// B·R.
pub(crate) const NORM: f64 = 8.0;

/// B.
fn norm(facts: &Facts) -> f64 {
    NORM / facts.radius
}

/// tr H of one problem.
fn trace(facts: &Facts) -> f64 {
    facts.shape.curvature * facts.radius * facts.radius
}

/// Of a perturbed objective.
pub(crate) fn perturbed(facts: &Facts, noise: f64, ridge: f64) -> f64 {
    let (rows, columns) = (facts.rows as f64, facts.columns as f64);
    let spread = (columns / (8.0 * ridge * rows)).min(trace(facts) / (2.0 * ridge * ridge));
    let bias = ridge * norm(facts).powi(2) / (2.0 * rows);
    f64::from(facts.problems) * (noise * noise * spread + bias)
}

/// Of noise on the weights of a regularised minimiser.
pub(crate) fn output(facts: &Facts, noise: f64, ridge: f64) -> f64 {
    let spread = (noise * noise * trace(facts) / 2.0).min(facts.gradient_bound() * noise);
    let bias = ridge * norm(facts).powi(2) / (2.0 * facts.rows as f64);
    f64::from(facts.problems) * (spread + bias)
}

/// Of noise on the weights of a descent that stops after a time.
pub(crate) fn stopped(facts: &Facts, noise: f64, time: f64) -> f64 {
    let spread = (noise * noise * trace(facts) / 2.0).min(facts.gradient_bound() * noise);
    f64::from(facts.problems) * (spread + norm(facts).powi(2) / (2.0 * time))
}

/// Of a descent of all problems together; `trace` of all of them.
pub(crate) fn descent(facts: &Facts, noise: f64, time: f64, trace: f64) -> f64 {
    let problems = f64::from(facts.problems);
    let coordinates = problems * facts.columns as f64;
    let spread = (time * time * trace).min(time * coordinates / 2.0);
    noise * noise / 2.0 * spread + problems * norm(facts).powi(2) / (2.0 * time)
}

/// The time at which noise s that spreads as a random walk costs as much, at the margin, as what is
/// left to learn: (KB²/(2s²·tr H))^⅓, `trace` of all problems.
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

/// Whether a plan is not expected to learn anything.
pub(crate) fn hopeless(facts: &Facts, excess: f64) -> bool {
    let knows_nothing = f64::from(facts.problems) * facts.loss.largest_at_zero();
    excess.is_nan() || excess >= knows_nothing
}

/// The note of a plan that is not expected to learn.
pub(crate) const HOPELESS: &str = "the budget is too small for this many rows and columns: the noise is \
     predicted to drown what could be learnt. Give more rows, fewer columns or a larger epsilon";
