//! The largest budget of a trial with which the whole tuning meets its own.

use super::{Law, PlannedCandidate, TRIAL_EPSILON, Tune, best_of, gaussian_alone, score};
use crate::linear::facts::Facts;
use crate::release::plan::no_budget;
use crate::{LearnError, Request};
use privet_core::Budget;
use privet_dp::account::{self, Cost, Event, Runs, gaussian};

/// The result of the search.
pub(super) struct SearchResult {
    /// The budget ε₁ of a trial.
    pub trial_epsilon: f64,
    /// The candidates planned within it.
    pub ones: Vec<PlannedCandidate>,
}

/// Factor by which ε₁ is lowered if candidates need more than Gaussian noise does, and the largest
/// number of times.
const LOWER: (f64, u32) = (0.96, 60);

/// Plans every candidate, at the settled ε₁ or at the largest found.
pub(super) fn search(
    request: &Request<Tune>,
    facts: &Facts,
    law: Runs,
) -> Result<SearchResult, LearnError> {
    let budget = request.budget.ok_or_else(|| no_budget(request))?;
    if let Some(settled) = request.task.trial_epsilon {
        let trial_epsilon = TRIAL_EPSILON.check(settled)?;
        if trial_epsilon > budget.epsilon() {
            return Err(LearnError::NotCovered {
                what: "trial_epsilon is above epsilon".into(),
                instead: "leave it out: it follows from the budget",
            });
        }
        let ones = plan_candidates(request, facts, trial_epsilon)?;
        return Ok(SearchResult { trial_epsilon, ones });
    }
    let mut trial_epsilon = of_gaussian(facts, law, budget)?;
    for _ in 0..LOWER.1 {
        let ones = plan_candidates(request, facts, trial_epsilon)?;
        if account::meets(&best_of(law, &ones), budget)? {
            return Ok(SearchResult { trial_epsilon, ones });
        }
        trial_epsilon = rounded_down(trial_epsilon * LOWER.0);
    }
    // Finds the candidate at fault: samples, for one, have no moments of large orders.
    for one in plan_candidates(request, facts, trial_epsilon)? {
        if !account::meets(&best_of(law, std::slice::from_ref(&one)), budget)? {
            return Err(LearnError::NotCovered {
                what: format!("no trial of method {} is small enough for this budget", one.method),
                instead: "leave it out of the candidates, or train it alone with `privet train`",
            });
        }
    }
    Err(out_of_reach())
}

/// Of the two distributions that seldom give few trials, the one that allows the larger ε₁: as a rule
/// Poisson up to about 15 trials, geometric beyond, and geometric if a candidate has other than Gaussian
/// noise.
pub(super) fn cheaper_law(
    request: &Request<Tune>,
    facts: &Facts,
    trials: f64,
) -> Result<Law, LearnError> {
    let budget = request.budget.ok_or_else(|| no_budget(request))?;
    let ones = plan_candidates(request, facts, rounded_down(budget.epsilon() / 3.0))?;
    if !ones.iter().all(|one| gaussian_alone(&one.event)) {
        return Ok(Law::Geometric);
    }
    let of = |law: Law| of_gaussian(facts, law.runs(trials), budget);
    match (of(Law::Poisson), of(Law::Geometric)) {
        (Ok(poisson), Ok(geometric)) if geometric > poisson => Ok(Law::Geometric),
        (Err(_), Ok(_)) => Ok(Law::Geometric),
        (Err(error), Err(_)) => Err(error),
        _ => Ok(Law::Poisson),
    }
}

fn out_of_reach() -> LearnError {
    LearnError::NotCovered {
        what: "no trial is small enough for this budget".into(),
        instead: "give fewer trials or a larger epsilon, or train one method with `privet train`",
    }
}

/// Plans all candidates within ε₁, each with its part of the settled noise scales, if any.
fn plan_candidates(
    request: &Request<Tune>,
    facts: &Facts,
    epsilon: f64,
) -> Result<Vec<PlannedCandidate>, LearnError> {
    let mut left = &request.noise[..];
    let mut ones = Vec::new();
    for method in &request.task.candidates {
        let (one, own) = PlannedCandidate::plan(request, facts, method, (epsilon, left))?;
        left = left.get(own..).unwrap_or_default();
        ones.push(one);
    }
    Ok(ones)
}

/// The largest ε₁ with which trials of Gaussian noise alone would meet the budget.
fn of_gaussian(facts: &Facts, law: Runs, budget: Budget) -> Result<f64, LearnError> {
    let meets = |epsilon: f64| -> Result<bool, LearnError> {
        let mu = gaussian::mu(epsilon, budget.delta())
            * (1.0 + score::SCORE_SHARE * score::SCORE_SHARE).sqrt();
        let cost = Cost::Gaussian { sensitivity: mu, noise_scale: 1.0, grid: None };
        let event = Event::Use { neighbours: facts.neighbours, unit: facts.unit, cost };
        let whole = Event::Selected { law, event: Box::new(event) };
        Ok(account::meets(&whole, budget)?)
    };
    let (mut low, mut high) = (budget.epsilon() * 1e-3, budget.epsilon());
    if !meets(low)? {
        return Err(out_of_reach());
    }
    while high > low * 1.005 {
        let middle = (low * high).sqrt();
        if meets(middle)? { low = middle } else { high = middle }
    }
    Ok(rounded_down(low))
}

/// Rounds down to four digits, so that the certificate is short.
fn rounded_down(epsilon: f64) -> f64 {
    let unit = 10_f64.powf(epsilon.log10().floor() - 3.0);
    let rounded = (epsilon / unit).floor() * unit;
    // Decimal output reads back as the same number.
    format!("{rounded:.12e}").parse().unwrap_or(rounded)
}
