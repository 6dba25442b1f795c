//! Executing a plan: the same few steps for every learner of the family.

use super::reach::SOLVER_SHARE;
use crate::LearnError;
use crate::model::LinearWeights;
use crate::plan::{Facts, Plan, Step};
use privet_core::{Neighbours, Unit};
use privet_data::matrix::Matrix;
use privet_data::{Dataset, Target};
use privet_dp::gate::{GateError, Noised, Odometer, Private, Release};
use privet_dp::mechanism::Distance;
use privet_dp::noise::Source;
use privet_optim::solver::{Certified, Monitor, Options, Penalty, Problem, SolveError, minimise};
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
            .map(|problem| Ok(solve_plain(plan, data, problem, monitor)?.into_theta()))
            .collect::<Result<_, LearnError>>()?;
        return Ok(Release::without_privacy(Private::new(LinearWeights { weights }), request));
    };
    let mut odometer = Odometer::start(events.clone(), source);
    let rows = if let Step::Descent(descent) = &plan.step {
        super::gd::run(plan, descent, data, &mut odometer, monitor)?
    } else {
        let mut parts = Vec::new();
        for problem in 0..plan.facts.problems {
            parts.push(solve_private(plan, data, problem, &mut odometer, monitor)?);
        }
        odometer.gather(parts)?
    };
    let all = rows.map(|weights| LinearWeights { weights });
    Ok(odometer.settle(all, *guarantee, plan.arithmetic, plan.notes.clone(), request)?)
}

/// Everything the theorems assume of the data. Refused before the first noise is drawn, in words
/// that say nothing of a value.
fn check(facts: &Facts, data: &Dataset) -> Result<(), LearnError> {
    let found = data.features.rows() as u64;
    // A user may be exchanged for one with more or fewer rows: then the count is private.
    let public_count = facts.neighbours == Neighbours::ReplaceOne && facts.unit == Unit::Record;
    if public_count && found != facts.rows {
        return Err(LearnError::RowCount { declared: facts.rows, found });
    }
    if data.features.columns() != facts.columns {
        return Err(LearnError::DataShape("the number of encoded columns differs"));
    }
    if data.target.len() != data.features.rows() {
        return Err(LearnError::DataShape("there is not one target for each row"));
    }
    if !target_fits(facts, &data.target) {
        return Err(LearnError::DataShape("the target is not of the planned kind"));
    }
    if !rows_within(&data.features, facts.radius) {
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

/// Whether every label is one that the planned problems know: told now, since a solver would refuse
/// it only after the noise was drawn.
fn target_fits(facts: &Facts, target: &Target) -> bool {
    let problems = facts.problems as usize;
    match target {
        Target::Class { codes, count } => {
            let planned = if problems == 1 { 2 } else { problems };
            *count == planned && codes.iter().all(|code| (*code as usize) < planned)
        }
        Target::Number(values) => {
            problems == 1 && values.iter().all(|value| facts.loss.accepts(*value))
        }
    }
}

/// Whether no row is longer than the radius. Rows are built so (`privet_data::bound` proves it in
/// integers); this second look catches a matrix that was made elsewhere.
fn rows_within(features: &Matrix, radius: f64) -> bool {
    let limit = radius * radius * (1.0 + 1e-12);
    let within = |row: &[f32]| row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() <= limit;
    (0..features.rows()).all(|row| match features {
        Matrix::Dense(dense) => within(dense.row(row)),
        Matrix::Csr(csr) => within(csr.row(row).1),
    })
}

/// Labels of one problem: ∓1 for classes, one class against the rest if there are more than two;
/// numbers as they are, in [−1, 1].
pub(super) fn labels(facts: &Facts, data: &Dataset, problem: u32) -> Result<Vec<f64>, LearnError> {
    let target = &data.target;
    let labels = if facts.problems == 1 { target.signed() } else { target.against_rest(problem) };
    labels.ok_or(LearnError::DataShape("the target is not of the planned kind"))
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
    let labels = labels(&plan.facts, data, problem)?;
    let records = InMemory::new(&data.features, &labels)
        .map_err(|_| LearnError::DataShape("a feature or target is not a number in its range"))?;
    let problem =
        Problem { records: &records, loss: plan.facts.loss, ridge, linear, penalty: &Penalty::None };
    // A little more is asked for than the plan needs: rounding θ to `f64` must fit into the rest.
    let options = Options { monitor: Some(monitor), ..Options::default() };
    minimise(&problem, tolerance * SOLVER_SHARE, &options).map_err(withheld)
}

/// A solver's refusal, without the numbers that it read off the records or the noise.
fn withheld(error: SolveError) -> LearnError {
    match error {
        SolveError::Stopped | SolveError::Setting(_) => LearnError::Solve(error),
        _ => GateError::NotCertified.into(),
    }
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
        Step::Descent(_) => return Err(LearnError::DataShape("a descent minimises nothing")),
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
        Step::OutputGaussian { mechanism, tolerance, ridge } => {
            let solved = solve_plain(plan, data, problem, monitor)?;
            let solved = certified(solved, *tolerance, *ridge)?;
            mechanism.run(Private::new(solved), odometer)?
        }
        Step::OutputLaplace { mechanism, tolerance, ridge } => {
            let solved = solve_plain(plan, data, problem, monitor)?;
            let solved = certified(solved, *tolerance, *ridge)?;
            mechanism.run(Private::new(solved), odometer)?
        }
        Step::Perturbed(perturbed) => {
            let (ridge, tolerance) = (perturbed.objective.ridge, perturbed.tolerance);
            let (noise, token) = perturbed.clone().draw(odometer)?;
            let linear = Some(noise.as_slice());
            let solved = solve(plan, data, problem, ridge, linear, tolerance, monitor)?;
            let distance = Distance(solved.distance_bound());
            token.release(Private::new(solved.into_theta()), distance, odometer)?
        }
        Step::Descent(_) | Step::NonPrivate { .. } => {
            return Err(LearnError::DataShape("the plan has no step for a single problem"));
        }
    })
}

/// The minimiser, if it is proved to be within γ/λ of the exact one.
fn certified(solved: Certified, tolerance: f64, ridge: f64) -> Result<Vec<f64>, LearnError> {
    if solved.distance_bound() <= tolerance / ridge {
        Ok(solved.into_theta())
    } else {
        Err(GateError::NotCertified.into())
    }
}
