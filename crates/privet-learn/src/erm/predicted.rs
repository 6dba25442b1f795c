//! What a plan expects to lose: excess risk from public facts, before any record is read.
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
//! It is a prediction for comparing methods and for saying beforehand that a budget is too small; no
//! bound: the best model may be larger than B, and its own loss is not counted. A plan that predicts
//! more than the loss of a model that knows nothing, ℓ(0), is not expected to learn ([`hopeless`]).
//!
//! - Compared with what is observed in `docs/results.md`.

use crate::facts::Facts;
use privet_core::Budget;
use privet_dp::account::gaussian;

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

/// How loud noise is that hides one record in one look at the gradient, beside the largest that the mean gradient can
/// be: r = √(pK)·Δ/(μ·n·LR) where the budget is worth μ, pK·Δ/(ε·n·LR) at δ = 0. It falls as rows and ε grow, whatever
/// the method does with them. A direction that is learnt under it has on average a cosine of about g/√(g² + r²) with
/// the right one, g the signal's own share of LR, which is 0.1 to 0.3 on most tables.
pub(crate) fn loudness(facts: &Facts, budget: Budget) -> f64 {
    let coordinates = facts.columns as f64 * f64::from(facts.problems);
    let spread = match budget.is_pure() {
        true => coordinates / budget.epsilon(),
        false => coordinates.sqrt() / gaussian::mu(budget.epsilon(), budget.delta()),
    };
    spread * facts.gradient_shift() / (facts.rows as f64 * facts.gradient_bound())
}

/// From here on a model is a coin toss: of a table whose best model is right in 80 of 100 cases where a coin is in 50,
/// it would gain a point at g/r = 1/30, that is r = 6 at g = 0.2.
const COIN_TOSS: f64 = 6.0;

/// The note of such a plan, with what to change: enough for r = 1.
pub(crate) fn coin_toss(facts: &Facts, budget: Budget) -> Option<String> {
    let loudness = loudness(facts, budget);
    // Two digits: it is no better known.
    let about = |value: f64| {
        let power = 10_f64.powi(1 - value.log10().floor() as i32);
        (value * power).ceil() / power
    };
    let many =
        |classes: u32| if classes == 1 { "one half".into() } else { format!("one in {classes}") };
    (facts.loss.needs_classes() && loudness >= COIN_TOSS).then(|| {
        format!(
            "with classes of equal size it is not expected to be right more often than a coin is (in {} of all cases), by so \
             much as a point: the noise is {} times as loud as what there is to learn. Give about {} rows, or an epsilon \
             of about {}, or fewer columns{}",
            many(facts.problems),
            about(loudness),
            about(facts.rows as f64 * loudness),
            about(budget.epsilon() * loudness),
            if facts.unit.records() > 1 { ", or a smaller max_records" } else { "" }
        )
    })
}

/// The note of a plan that is not expected to learn.
pub(crate) const HOPELESS: &str = "the budget is too small for this many rows and columns: the noise is \
     predicted to drown what could be learnt. Give more rows, fewer columns or a larger epsilon";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Erm, Request};
    use privet_core::Neighbours;
    use privet_data::Schema;
    use privet_optim::loss::Loss;

    fn facts(rows: u64, columns: usize) -> Facts {
        let mut text = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nclasses = [\"a\", \"b\"]\n".to_string();
        for column in 0..columns {
            text.push_str(&format!(
                "[[columns]]\nname = \"x{column}\"\ntype = \"number\"\nbounds = [0, 1]\n"
            ));
        }
        let schema = Schema::from_toml(&text).unwrap().linear();
        let task = Erm { loss: Loss::Logistic, method: "gd".parse().unwrap() };
        Facts::of(&Request::new(schema, rows, Neighbours::ReplaceOne, task)).unwrap()
    }

    #[test]
    fn coin_tosses_are_told_and_less_loud_is_less_loud() {
        let budget =
            |epsilon: f64, rows: u64| Budget::new(epsilon, Budget::usual_delta(rows)).unwrap();
        let told = |rows, columns, epsilon| {
            coin_toss(&facts(rows, columns), budget(epsilon, rows)).is_some()
        };
        for (rows, columns, epsilon) in
            [(2000, 5, 1e-4), (29, 5, 0.01), (200, 100, 0.01), (20_000, 2000, 1e-4)]
        {
            assert!(told(rows, columns, epsilon), "{rows} {columns} {epsilon}");
        }
        for (rows, columns, epsilon) in
            [(20_000, 20, 1.0), (1800, 65, 0.5), (40_000, 100, 0.1), (1000, 5, 0.5)]
        {
            assert!(!told(rows, columns, epsilon), "{rows} {columns} {epsilon}");
        }
        let mut last = f64::INFINITY;
        for rows in [30, 300, 3000, 30_000, 300_000] {
            let own = loudness(&facts(rows, 10), Budget::new(0.3, 1e-9).unwrap());
            assert!(own < last);
            last = own;
        }
        for pair in [1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0].windows(2) {
            let at = |epsilon| loudness(&facts(1000, 10), Budget::new(epsilon, 1e-9).unwrap());
            assert!(at(pair[1]) < at(pair[0]));
            let pure = |epsilon| loudness(&facts(1000, 10), Budget::new(epsilon, 0.0).unwrap());
            assert!(pure(pair[1]) < pure(pair[0]));
        }
    }
}
