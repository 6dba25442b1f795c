//! Executing a plan: the same steps for every family.

use crate::LearnError;
use crate::release::plan::Plan;
use crate::release::task::{Task, Work};
use privet_core::Relation;
use privet_data::Dataset;
use privet_data::centre::Centre;
use privet_dp::gate::{GateError, Private, Purse, Release, Session};
use privet_dp::mechanism::shares::{Participants, PartyChannel};
use privet_dp::noise::{Origin, Source};
use privet_optim::solver::{Monitor, Progress, SolveError};
use privet_optim::sum::{Labels, Records, RecordsError, Table};

/// The note on parties simulated in one process.
pub(crate) const SIMULATED: &str = "simulated: one process was all parties and all servers, so that of these nobody was \
     kept from anything; the guarantee holds towards whoever sees what was released";

/// Checks the data against the plan, reserves with the purse, if there is one, executes the plan and
/// settles. A caller that must not tell of the data before the price is reserved has the purse reserve it
/// first, as [`super::order`] does.
pub(crate) fn run<T: Task>(
    plan: &Plan<T>,
    table: &dyn Table,
    source: &mut dyn Source,
    monitor: &dyn Monitor,
    purse: Option<&mut dyn Purse>,
    together: Option<(Participants, &dyn PartyChannel)>,
) -> Result<Release<T::Artefact>, LearnError> {
    if plan.request.among.is_some() && together.is_none() {
        return Err(LearnError::NotCovered {
            what: "the plan is for several parties, and nobody leads to the others".into(),
            instead: "use `privet party train`, or leave the parties out of the request",
        });
    }
    if purse.is_some() {
        payable(plan, source.origin())?;
    }
    T::admit(&plan.facts, table)?;
    // A run that the user has already stopped costs nothing: no noise was drawn yet.
    let (gradient_norm, tolerance) = (f64::INFINITY, 0.0);
    if !monitor.proceed(Progress { iteration: 0, gradient_norm, tolerance, precise: false }) {
        return Err(LearnError::Solve(SolveError::Stopped));
    }
    match (&plan.work, plan.spending(), &plan.guarantee) {
        (Work::Private(procedure), Some(spend), Some(guarantee)) => {
            // Without a ledger everything is granted.
            let mut nobody = ();
            let purse = purse.unwrap_or(&mut nobody);
            purse.spent_on(&plan.request.unit_definition()).map_err(GateError::from)?;
            let session = match procedure.walk() {
                Some(start) => Session::open_walking(spend, start, source, purse)?,
                None => Session::open(spend, source, purse)?,
            };
            let session = match together {
                Some((among, together)) => session.distributed_among(among, together),
                None => session,
            };
            let mut statement = plan.statement(*guarantee)?;
            if together.is_some_and(|(_, together)| together.is_simulated()) {
                statement.notes.push(SIMULATED.into());
            }
            session
                .entered_in(plan.entered.clone())
                .carry_out(statement, |session| procedure.run(&plan.facts, table, session, monitor))
        }
        (Work::Plain(baseline), ..) => {
            let artefact = baseline.run(&plan.facts, table, monitor)?;
            Ok(Release::without_privacy(Private::new(artefact), plan.settled_json()?))
        }
        (Work::Private(_), ..) => Err(LearnError::DataShape("the plan states no events")),
    }
}

/// The rows of one party, as part of a virtual table with the rows of all parties.
pub(crate) struct PartOf<'a> {
    /// This party's rows.
    pub table: &'a dyn Table,
    /// The declared rows of all parties.
    pub rows: usize,
}

impl<'a> PartOf<'a> {
    /// The rows of a party; where the number of rows is public, its own is checked against its
    /// declaration: one row more here is one more in the total.
    pub fn of(
        relation: Relation,
        rows: u64,
        table: &'a dyn Table,
        together: &dyn PartyChannel,
    ) -> Self {
        let own = together.declared_rows().filter(|_| relation.count_is_public());
        let others = own.map(|own| rows.saturating_sub(own));
        let rows = others.map_or(rows, |others| others.saturating_add(table.rows() as u64));
        Self { table, rows: usize::try_from(rows).unwrap_or(usize::MAX) }
    }
}

impl Table for PartOf<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.table.columns()
    }

    fn in_memory(&self) -> Option<&Dataset> {
        self.table.in_memory()
    }

    fn visit(
        &self,
        see: &mut dyn FnMut(&Dataset) -> Result<(), RecordsError>,
    ) -> Result<(), RecordsError> {
        self.table.visit(see)
    }

    fn rows_at(&self, places: &[usize]) -> Result<Dataset, RecordsError> {
        self.table.rows_at(places)
    }

    fn is_vouched_for(&self) -> bool {
        self.table.is_vouched_for()
    }

    fn offers_less(&self) -> bool {
        self.table.offers_less()
    }

    fn recentred(&self, centre: &Centre) -> Result<Box<dyn Table + '_>, RecordsError> {
        self.table.recentred(centre)
    }

    fn problem(&self, labels: &Labels) -> Result<Box<dyn Records + '_>, RecordsError> {
        self.table.problem(labels)
    }
}

/// Refuses a plan that has no price, for a caller with a ledger: a release without noise, or with
/// reproducible noise, gives everything away.
pub(crate) fn payable<T: Task>(plan: &Plan<T>, origin: Origin) -> Result<(), LearnError> {
    let refused = |what: &str, instead| Err(LearnError::NotCovered { what: what.into(), instead });
    match (&plan.work, origin) {
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
