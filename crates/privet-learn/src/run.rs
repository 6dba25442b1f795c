//! Executing a plan: the same few steps for every family.

use crate::LearnError;
use crate::plan::Plan;
use crate::task::{Task, Work};
use privet_dp::gate::{Private, Release, Session};
use privet_dp::noise::Source;
use privet_optim::solver::{Monitor, Progress, SolveError};
use privet_optim::sum::Table;

/// Checks the data against the plan, carries it out and settles.
pub(crate) fn run<T: Task>(
    plan: &Plan<T>,
    table: &dyn Table,
    source: &mut dyn Source,
    monitor: &dyn Monitor,
) -> Result<Release<T::Artefact>, LearnError> {
    T::admit(&plan.facts, table)?;
    // Who gave up already pays for nothing: no noise was drawn yet.
    let (gradient_norm, tolerance) = (f64::INFINITY, 0.0);
    if !monitor.proceed(Progress { iteration: 0, gradient_norm, tolerance, precise: false }) {
        return Err(LearnError::Solve(SolveError::Stopped));
    }
    match (&plan.work, &plan.events, &plan.guarantee) {
        (Work::Private(procedure), Some(events), Some(guarantee)) => {
            let session = match procedure.walk() {
                Some(start) => Session::start_walking(events.clone(), start, source),
                None => Session::start(events.clone(), source),
            };
            session.carry_out(plan.statement(*guarantee)?, |session| {
                procedure.run(&plan.facts, table, session, monitor)
            })
        }
        (Work::Plain(baseline), ..) => {
            let artefact = baseline.run(&plan.facts, table, monitor)?;
            Ok(Release::without_privacy(Private::new(artefact), plan.written()?))
        }
        (Work::Private(_), ..) => Err(LearnError::DataShape("the plan states no events")),
    }
}
