//! The order of every release, whoever asks for it and whoever pays.
//!
//! 1. **count** the records by their boundaries, without decoding a cell; only where their number is
//!    public and undeclared
//! 2. **plan** from public facts; every refusal that public facts decide is made here
//! 3. **reserve** the price, durably; it counts as spent until it is settled or void
//! 4. **read** and encode the records; a bad record ends the release here, and voids the reservation
//! 5. **recognise** the table: no file changed since it was counted, and it is the data set that pays
//! 6. **admit** the rows and **draw** the noise; from the first draw on the price is spent
//! 7. **write** the release, durably
//! 8. **settle**: the entry is closed; if that fails the release stays valid
//! 9. **show** it
//!
//! Each step takes the result of the step before, so that no caller can read before it has reserved, or
//! draw before its table was recognised. The types do not say that the rows drawn from are those that
//! were read: [`ReadPlan::draw`] and [`ReadPlan::spend_whole`] take any table, and giving the one that was read
//! is up to the caller.
//!
//! ```text
//!  ReleaseDraft ──reserve(payer)──► ReservedPlan ──read──► ReadPlan ──draw──► UnsettledRelease ──settle──► Released
//!       └──paid_before(payer)──► PaidBefore ──read──► its rows
//! ```
//!
//! Streams and parties leave at [`ReadPlan::spend_whole`] and [`ReadPlan::spend`]: their draws follow a journal.
//! Where they go on, the table is read and recognised, and there is nothing to draw under this order.

use crate::LearnError;
use crate::release::pay::{self, Payer};
use crate::release::plan::Plan;
use crate::release::released::Released;
use crate::release::settings::PlanNumbers;
use crate::release::task::Task;
use privet_dp::noise::{Origin, Source};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use std::fmt::Display;

/// Numbers of rows at which a plan is tried before the rows are counted: limits are on few rows or on many.
const TRIED_ROWS: [u64; 3] = [10_000, 2, 1 << 40];

/// The table of a release, of which nothing was read. How it is encoded is for [`ReservedPlan::read`].
pub trait Inputs {
    /// Errors of its files.
    type Error: From<LearnError>;

    /// Notes the state of the table's files, for [`Self::unchanged`]; a second call does nothing.
    fn watch(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Must refuse a table that changed since [`Self::watch`].
    fn unchanged(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// True if it is known by its name alone: it has no file, and its rows are not at hand.
    fn is_known_by_name(&self) -> bool {
        false
    }

    /// Passes each row on, in the one encoding by which tables are recognised.
    fn raw_rows(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<(), Self::Error>;
}

/// A table whose rows are declared or can be counted.
pub trait Countable: Inputs {
    /// The declared number of rows; `None` if it is public and must be counted.
    fn declared_rows(&self) -> Option<u64>;

    /// Counts the records without decoding a cell. Called only if [`Self::declared_rows`] is `None`.
    fn count(&mut self) -> Result<u64, Self::Error>;
}

/// A release as far as public facts decide it.
#[derive(Debug)]
pub struct ReleaseDraft<T: Task, I, F> {
    inputs: I,
    plan: F,
    /// Made already, where the number of rows is declared.
    declared: Option<Plan<T>>,
}

impl<T: Task, I: Countable, F: Fn(u64) -> Result<Plan<T>, I::Error>> ReleaseDraft<T, I, F> {
    /// Plans where rows are declared. Where they are not, returns the refusal that is the same for
    /// some, hardly any and very many rows, which is the refusal for every number of them.
    pub fn new(inputs: I, plan: F) -> Result<Self, I::Error>
    where
        I::Error: Display,
    {
        let declared = match inputs.declared_rows() {
            Some(rows) => Some(plan(rows)?),
            None => None,
        };
        if declared.is_none() {
            let mut refusals = TRIED_ROWS.iter().map(|rows| plan(*rows).err());
            if let Some(Some(first)) = refusals.next() {
                let words = first.to_string();
                if refusals.all(|other| other.is_some_and(|other| other.to_string() == words)) {
                    return Err(first);
                }
            }
        }
        Ok(Self { inputs, plan, declared })
    }

    /// Counts if it must, plans, and reserves the price of noise from this origin.
    pub fn reserve<P: Payer<Error = I::Error>>(
        self,
        payer: P,
        origin: Origin,
    ) -> Result<ReservedPlan<T, I, P>, I::Error> {
        let (inputs, plan) = self.planned()?;
        ReservedPlan::new(plan, inputs, payer, origin)
    }

    /// The same for a price that was paid whole before, by the stream that is resumed: the payer only
    /// recognises the table.
    pub fn paid_before<P: Payer<Error = I::Error>>(
        self,
        payer: P,
    ) -> Result<PaidBefore<T, I, P>, I::Error> {
        let (inputs, plan) = self.planned()?;
        Ok(PaidBefore { plan, inputs, payer })
    }

    fn planned(self) -> Result<(I, Plan<T>), I::Error> {
        let Self { mut inputs, plan, declared } = self;
        let plan = match declared {
            Some(declared) => declared,
            None => {
                inputs.watch()?;
                plan(inputs.count()?)?
            }
        };
        Ok((inputs, plan))
    }
}

/// A plan whose price was paid whole before: its table may be read, and nothing is drawn under it.
///
/// ```compile_fail,E0599
/// use privet_learn::order::{Inputs, PaidBefore};
/// use privet_learn::{LearnError, Task, pay::NoPayer};
///
/// fn drawn<T: Task, I: Inputs<Error = LearnError>>(paid: PaidBefore<T, I, NoPayer>) {
///     paid.read(|_| Ok(())).unwrap().draw();
/// }
/// ```
#[derive(Debug)]
pub struct PaidBefore<T: Task, I, P> {
    plan: Plan<T>,
    inputs: I,
    payer: P,
}

impl<T: Task, I: Inputs, P: Payer<Error = I::Error>> PaidBefore<T, I, P> {
    /// The plan.
    pub fn plan(&self) -> &Plan<T> {
        &self.plan
    }

    /// Reads the table by `read`; refuses it if it changed meanwhile, or if it is not the data set that
    /// paid.
    pub fn read<D>(
        mut self,
        read: impl FnOnce(&Plan<T>) -> Result<D, I::Error>,
    ) -> Result<D, I::Error> {
        recognised(&self.plan, &mut self.inputs, &mut self.payer, read)
    }
}

/// Reads a table between two looks at its files, and recognises it.
fn recognised<T: Task, I: Inputs, P: Payer<Error = I::Error>, D>(
    plan: &Plan<T>,
    inputs: &mut I,
    payer: &mut P,
    read: impl FnOnce(&Plan<T>) -> Result<D, I::Error>,
) -> Result<D, I::Error> {
    inputs.watch()?;
    let rows = read(plan)?;
    let print = match inputs.is_known_by_name() {
        true => None,
        false => payer.print(&mut |each| inputs.raw_rows(each))?,
    };
    inputs.unchanged()?;
    if let Some(print) = print {
        payer.recognise(print)?;
    }
    Ok(rows)
}

/// A plan whose price is reserved: its table may be read.
#[derive(Debug)]
pub struct ReservedPlan<T: Task, I, P> {
    plan: Plan<T>,
    inputs: I,
    payer: P,
}

impl<T: Task, I: Inputs, P: Payer<Error = I::Error>> ReservedPlan<T, I, P> {
    /// Reserves the price of a plan of declared rows, for noise from this origin.
    pub fn new(plan: Plan<T>, inputs: I, mut payer: P, origin: Origin) -> Result<Self, I::Error> {
        pay::reserve(&plan, &mut payer, origin)?;
        Ok(Self { plan, inputs, payer })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan<T> {
        &self.plan
    }

    /// Reads the table by `read`; refuses it if it changed meanwhile, or if it is not the data set that pays.
    pub fn read<D>(
        self,
        read: impl FnOnce(&Plan<T>) -> Result<D, I::Error>,
    ) -> Result<(ReadPlan<T, P>, D), I::Error> {
        let Self { plan, mut inputs, mut payer } = self;
        let rows = recognised(&plan, &mut inputs, &mut payer, read)?;
        Ok((ReadPlan { plan, payer }, rows))
    }
}

/// A plan whose table was read and recognised.
#[derive(Debug)]
pub struct ReadPlan<T: Task, P> {
    plan: Plan<T>,
    payer: P,
}

impl<T: Task, P: Payer> ReadPlan<T, P> {
    /// The plan.
    pub fn plan(&self) -> &Plan<T> {
        &self.plan
    }

    /// With what the plan still needs, such as public rows. Refuses another price: what is spent, what
    /// is claimed and whose the records are must stay as they were reserved.
    pub fn with<E>(self, more: impl FnOnce(Plan<T>) -> Result<Plan<T>, E>) -> Result<Self, P::Error>
    where
        P::Error: From<E>,
    {
        let price = |plan: &Plan<T>| {
            (plan.spending(), plan.guarantee().copied(), plan.request().unit_definition())
        };
        let reserved = price(&self.plan);
        let plan = more(self.plan)?;
        if price(&plan) != reserved {
            return Err(LearnError::DataShape("the price is not the one that was reserved").into());
        }
        Ok(Self { plan, ..self })
    }

    /// Admits the rows, which must be those that were read, and executes the plan, once: what it spends
    /// is settled when the release is stored.
    pub fn draw(
        mut self,
        rows: &dyn Table,
        source: &mut dyn Source,
        monitor: &dyn Monitor,
    ) -> Result<UnsettledRelease<T, P>, P::Error> {
        // Refuses a price that is not the one reserved.
        pay::reserve(&self.plan, &mut self.payer, source.origin())?;
        let release = match self.payer.purse() {
            Some(purse) => self.plan.run_with(rows, source, monitor, purse)?,
            None => self.plan.run(rows, source, monitor)?,
        };
        let released = Released::from_release(release)?;
        Ok(UnsettledRelease { released, settings: self.plan.settings(), payer: self.payer })
    }

    /// Admits the rows, which must be those that were read, and spends the whole price of a stream,
    /// before its first release.
    pub fn spend_whole(self, rows: &dyn Table) -> Result<Plan<T>, P::Error> {
        self.plan.admit(rows)?;
        self.spend()
    }

    /// The same of one party's rows, which its own agreement admits.
    pub fn spend(self) -> Result<Plan<T>, P::Error> {
        pay::spend_whole(self.plan, self.payer)
    }
}

/// A release that is not stored yet, and whose entry is open.
#[derive(Debug)]
#[must_use = "it is paid for, and not stored yet"]
pub struct UnsettledRelease<T: Task, P> {
    released: Released<T>,
    settings: PlanNumbers,
    payer: P,
}

impl<T: Task, P: Payer> UnsettledRelease<T, P> {
    /// The release.
    pub fn released(&self) -> &Released<T> {
        &self.released
    }

    /// The numbers of its plan.
    pub fn settings(&self) -> &PlanNumbers {
        &self.settings
    }

    /// Closes the entry, once the release is stored. The release is valid whether or not that succeeds.
    pub fn settle(mut self) -> (Released<T>, Result<(), P::Error>) {
        let settled = self.payer.close();
        (self.released, settled)
    }
}
