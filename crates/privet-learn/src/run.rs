//! Executing a plan: the same few steps for every learner.

use crate::model::LinearWeights;
use crate::plan::{Plan, Work};
use crate::{LearnError, admit};
use privet_dp::gate::{Private, Release, Session, Statement};
use privet_dp::noise::Source;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;

/// Checks the data against the plan, carries it out and settles.
pub(crate) fn run(
    plan: &Plan,
    table: &dyn Table,
    source: &mut dyn Source,
    monitor: &dyn Monitor,
) -> Result<Release<LinearWeights>, LearnError> {
    admit::check(&plan.facts, table)?;
    let request = serde_json::to_value(&plan.request)
        .map_err(|_| LearnError::DataShape("the request cannot be written as JSON"))?;
    match (&plan.work, &plan.events, &plan.guarantee) {
        (Work::Private(procedure), Some(events), Some(guarantee)) => {
            let mut session = Session::start(events.clone(), source);
            if let Some(start) = procedure.walk() {
                session = session.walking(start);
            }
            let rows = procedure.run(&plan.facts, table, &mut session, monitor)?;
            let all = rows.map(|weights| LinearWeights { weights });
            let (claim, arithmetic, notes) = (*guarantee, plan.arithmetic, plan.notes.clone());
            Ok(session.settle(all, Statement { claim, arithmetic, notes, request })?)
        }
        (Work::Plain(plain), ..) => {
            let weights = plain.run(&plan.facts, table, monitor)?;
            Ok(Release::without_privacy(Private::new(LinearWeights { weights }), request))
        }
        (Work::Private(_), ..) => Err(LearnError::DataShape("the plan states no events")),
    }
}
