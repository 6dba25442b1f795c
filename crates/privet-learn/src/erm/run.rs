//! Executing a plan: the same few steps for every learner of the family.

use crate::LearnError;
use crate::model::LinearWeights;
use crate::plan::{Facts, Plan, Step};
use privet_core::{Neighbours, Unit};
use privet_data::{Dataset, Target};
use privet_dp::gate::{Noised, Odometer, Private, Release};
use privet_dp::mechanism::Residual;
use privet_dp::noise::Source;
use privet_optim::solver::{Certified, Monitor, Options, Penalty, Problem, minimise};
use privet_optim::sum::InMemory;
use std::collections::HashMap;

/// Checks the data against the plan, then solves every problem and settles.
pub(crate) fn run(
    plan: &Plan,
    data: &Dataset,
    source: &mut dyn Source,
    monitor: &dyn Monitor,
) -> Result<Release<LinearWeights>, LearnError> {
    check(&plan.facts, data)?;
    let request = serde_json::to_value(&plan.request)
        .map_err(|_| LearnError::DataShape("the request cannot be written as JSON"))?;
    let (Some(events), Some(guarantee)) = (&plan.events, &plan.guarantee) else {
        let weights = (0..plan.facts.problems)
            .map(|problem| Ok(solve_plain(plan, data, problem, monitor)?.theta))
            .collect::<Result<_, LearnError>>()?;
        return Ok(Release::without_privacy(Private::new(LinearWeights { weights }), request));
    };
    let mut odometer = Odometer::start(events.clone(), source);
    let mut parts = Vec::new();
    for problem in 0..plan.facts.problems {
        parts.push(solve_private(plan, data, problem, &mut odometer, monitor)?);
    }
    let all = odometer.gather(parts)?.map(|weights| LinearWeights { weights });
    Ok(odometer.settle(all, guarantee.clone(), plan.arithmetic, plan.notes.clone(), request)?)
}

/// Everything the theorems assume of the data. Refused before the first noise is drawn, in words
/// that say nothing of a value.
fn check(facts: &Facts, data: &Dataset) -> Result<(), LearnError> {
    let found = data.features.rows() as u64;
    if facts.neighbours == Neighbours::ReplaceOne && found != facts.rows {
        return Err(LearnError::RowCount { declared: facts.rows, found });
    }
    if data.features.columns() != facts.columns {
        return Err(LearnError::DataShape("the number of encoded columns differs"));
    }
    if data.target.len() != data.features.rows() {
        return Err(LearnError::DataShape("there is not one target for each row"));
    }
    if !data.rows_within(facts.radius) {
        return Err(LearnError::DataShape("a row is longer than the clipping radius"));
    }
    if let Unit::User { max_records } = facts.unit {
        let units = data.units.as_ref().ok_or(LearnError::DataShape("rows name no unit"))?;
        if units.len() != data.features.rows() {
            return Err(LearnError::DataShape("there is not one unit for each row"));
        }
        let mut counts: HashMap<u64, u32> = HashMap::new();
        for unit in units {
            let count = counts.entry(*unit).or_default();
            *count += 1;
            if *count > max_records {
                return Err(LearnError::DataShape("a unit has more rows than its cap"));
            }
        }
    }
    Ok(())
}

/// Labels of one problem: ∓1 for classes, one class against the rest if there are more than two;
/// numbers as they are, clamped to [−1, 1].
fn labels(facts: &Facts, data: &Dataset, problem: u32) -> Vec<f64> {
    let positive = if facts.problems == 1 { 1 } else { problem };
    match &data.target {
        Target::Class { codes, .. } => {
            codes.iter().map(|code| if *code == positive { 1.0 } else { -1.0 }).collect()
        }
        Target::Number(values) => values.iter().map(|value| value.clamp(-1.0, 1.0)).collect(),
    }
}

fn solve(
    plan: &Plan,
    data: &Dataset,
    problem: u32,
    ridge: f64,
    linear: Option<&[f64]>,
    tolerance: f64,
    monitor: &dyn Monitor,
) -> Result<Certified, LearnError> {
    let labels = labels(&plan.facts, data, problem);
    let records = InMemory::new(&data.features, &labels)?;
    let problem = Problem {
        records: &records,
        loss: plan.facts.loss,
        ridge,
        linear,
        penalty: Penalty::None,
    };
    Ok(minimise(&problem, tolerance, &Options::default().monitor(monitor))?)
}

/// Minimisation without a linear term.
fn solve_plain(
    plan: &Plan,
    data: &Dataset,
    problem: u32,
    monitor: &dyn Monitor,
) -> Result<Certified, LearnError> {
    let (ridge, tolerance) = match &plan.step {
        Step::OutputGaussian { ridge, tolerance, .. }
        | Step::OutputLaplace { ridge, tolerance, .. }
        | Step::NonPrivate { ridge, tolerance } => (*ridge, *tolerance),
        Step::Perturbed(perturbed) => (perturbed.objective.ridge, perturbed.tolerance),
    };
    solve(plan, data, problem, ridge, None, tolerance, monitor)
}

/// One problem through its mechanism.
fn solve_private(
    plan: &Plan,
    data: &Dataset,
    problem: u32,
    odometer: &mut Odometer<'_>,
    monitor: &dyn Monitor,
) -> Result<Noised<Vec<f64>>, LearnError> {
    Ok(match &plan.step {
        Step::OutputGaussian { mechanism, tolerance, .. } => {
            let solved = certified(solve_plain(plan, data, problem, monitor)?, *tolerance)?;
            mechanism.run(Private::new(solved), odometer)?
        }
        Step::OutputLaplace { mechanism, tolerance, .. } => {
            let solved = certified(solve_plain(plan, data, problem, monitor)?, *tolerance)?;
            mechanism.run(Private::new(solved), odometer)?
        }
        Step::Perturbed(perturbed) => {
            let (ridge, tolerance) = (perturbed.objective.ridge, perturbed.tolerance);
            let (noise, token) = perturbed.clone().draw(odometer)?;
            let linear = Some(noise.as_slice());
            let solved = solve(plan, data, problem, ridge, linear, tolerance, monitor)?;
            let residual = Residual(solved.gradient_norm_bound);
            token.release(Private::new(solved.theta), residual, odometer)?
        }
        Step::NonPrivate { .. } => {
            return Err(LearnError::DataShape("a plan without noise has no private step"));
        }
    })
}

/// The minimiser, if its proof reaches the tolerance.
fn certified(solved: Certified, tolerance: f64) -> Result<Vec<f64>, LearnError> {
    if solved.gradient_norm_bound <= tolerance {
        Ok(solved.theta)
    } else {
        Err(privet_dp::gate::GateError::NotCertified.into())
    }
}
