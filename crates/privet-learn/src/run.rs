//! Executing a plan: the same few steps for every family.

use crate::LearnError;
use crate::plan::Plan;
use crate::task::{Task, Work};
use privet_dp::gate::{Private, Purse, Release, Session};
use privet_dp::noise::{Origin, Source};
use privet_optim::solver::{Monitor, Progress, SolveError};
use privet_optim::sum::Table;

/// Reserves with the purse, if there is one, checks the data against the plan, carries it out and settles.
pub(crate) fn run<T: Task>(
    plan: &Plan<T>,
    table: &dyn Table,
    source: &mut dyn Source,
    monitor: &dyn Monitor,
    purse: Option<&mut dyn Purse>,
) -> Result<Release<T::Artefact>, LearnError> {
    if purse.is_some() {
        payable(plan, source)?;
    }
    T::admit(&plan.facts, table)?;
    // Who gave up already pays for nothing: no noise was drawn yet.
    let (gradient_norm, tolerance) = (f64::INFINITY, 0.0);
    if !monitor.proceed(Progress { iteration: 0, gradient_norm, tolerance, precise: false }) {
        return Err(LearnError::Solve(SolveError::Stopped));
    }
    match (&plan.work, plan.spending(), &plan.guarantee) {
        (Work::Private(procedure), Some(spend), Some(guarantee)) => {
            // Where nobody keeps account, everything is granted.
            let mut nobody = ();
            let purse = purse.unwrap_or(&mut nobody);
            let session = match procedure.walk() {
                Some(start) => Session::open_walking(spend, start, source, purse)?,
                None => Session::open(spend, source, purse)?,
            };
            session
                .entered_in(plan.entered.clone())
                .carry_out(plan.statement(*guarantee)?, |session| {
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

/// Whoever keeps account is asked for what has a price: a release without noise, or with noise that can be made again,
/// gives everything away.
pub(crate) fn payable<T: Task>(plan: &Plan<T>, source: &dyn Source) -> Result<(), LearnError> {
    let refused = |what: &str, instead| Err(LearnError::NotCovered { what: what.into(), instead });
    match (&plan.work, source.origin()) {
        (Work::Plain(_), _) => refused(
            "a method without privacy has no price that a budget could pay",
            "give a private method, or no ledger where the data are public",
        ),
        (_, Origin::FixedSeed) => refused(
            "noise from a fixed seed protects nobody, so that no budget can pay for it",
            "leave out the seed, or give no ledger where the data are public",
        ),
        _ => Ok(()),
    }
}
