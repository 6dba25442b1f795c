//! The one order in which every verb releases something.
//!
//! 1. **count**: records by where they begin and end, no cell decoded; only where their number is public and undeclared
//! 2. **plan**: from public facts; whatever can be refused is refused here
//! 3. **reserve**: with the ledger, on disk; what is reserved counts as spent until it is settled or void
//! 4. **read**: the records, encoded; the first step that a bad record can end, and it then voids the reservation
//! 5. **recognise**: no file changed since before it was counted, so that what was encoded is the table that the ledger knows
//! 6. **admit, draw**: from the first draw on it is spent
//! 7. **write**: whole and on disk, elsewhere if it must be ([`Releasing::keep`])
//! 8. **settle**: the entry is closed; where that fails the release stays
//! 9. **show**
//!
//! Each step gives what the next one takes, so that no verb can go another way: [`Table`] → [`Reserved`] → [`Ready`] →
//! [`Made`]. Tested by `every_verb_keeps_to_the_order`.

use crate::failure::Failure;
use crate::progress::Meter;
use crate::releasing::{Place, Releasing, only_once, read_table, rows_needed};
use crate::spending::{BudgetFlags, Spending};
use privet_core::Relation;
use privet_data::read::{Unchanged, count_records};
use privet_data::{Dataset, Schema};
use privet_dp::gate::LedgerEntry;
use privet_dp::noise::Source;
use privet_learn::{Plan, Released, Shown, Task, plan};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table as Rows;
use std::path::Path;

/// Stand in for the number of rows until they are counted, to find refusals that do not depend on it: some, hardly
/// any, and more than there ever are.
const SOME_ROWS: [u64; 3] = [10_000, 2, 1 << 40];

/// The table that something is to be released of. Nothing of it was read.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    path: &'a Path,
    schema: &'a Schema,
    rows: Option<u64>,
}

impl<'a> Table<'a> {
    /// Of so many rows as are declared, or as there are where that is public.
    pub fn new(
        path: &'a Path,
        schema: &'a Schema,
        relation: Relation,
        rows: Option<u64>,
    ) -> Result<Self, Failure> {
        match rows.is_none() && !relation.count_is_public() {
            true => Err(rows_needed(relation)),
            false => Ok(Self { path, schema, rows }),
        }
    }

    /// The plan, where rows are declared. Where they are not, refuses what is refused for every number of them: limits are
    /// on few rows or on many, so that what is refused in the same words for some, hardly any and very many always is.
    fn declared<T: Task>(
        &self,
        plan: &impl Fn(u64) -> Result<Plan<T>, Failure>,
    ) -> Result<Option<Plan<T>>, Failure> {
        if let Some(rows) = self.rows {
            return plan(rows).map(Some);
        }
        let mut refusals = SOME_ROWS.iter().map(|rows| plan(*rows).err());
        let Some(Some(first)) = refusals.next() else { return Ok(None) };
        let words = first.to_string();
        match refusals.all(|other| other.is_some_and(|other| other.to_string() == words)) {
            true => Err(first),
            false => Ok(None),
        }
    }

    /// How many records there are, which is no secret here.
    fn count(&self) -> Result<u64, Failure> {
        if only_once(self.path) {
            return Err(Failure::input(format!(
                "{} can be read only once, and its rows must be counted before they are encoded; declare \
                 their number with --rows, or give a file",
                self.path.display()
            )));
        }
        let meter = Meter::bar(&format!("counting the rows of {}", self.path.display()));
        let tell = |done, total| meter.at(done, total);
        Ok(count_records(self.path, self.schema, Some(&tell))?)
    }

    /// Counts where it must, and plans.
    fn planned<T: Task>(
        self,
        declared: Option<Plan<T>>,
        plan: impl Fn(u64) -> Result<Plan<T>, Failure>,
        spending: Spending,
    ) -> Result<Reserved<'a, T>, Failure> {
        let (seen, plan) = match declared {
            Some(declared) => (None, declared),
            None => (Some(Unchanged::of(self.path)?), plan(self.count()?)?),
        };
        Ok(Reserved { table: self, seen, plan, spending })
    }
}

impl BudgetFlags {
    /// Count, plan, reserve. `place` finds where the release will go, once nothing more can be refused without a look at
    /// the table.
    pub fn reserve<'a, T: Task, P>(
        &self,
        table: Table<'a>,
        (doing, repeatable): (&str, bool),
        plan: impl Fn(u64) -> Result<Plan<T>, Failure>,
        place: impl FnOnce() -> Result<P, Failure>,
    ) -> Result<(P, Reserved<'a, T>), Failure> {
        let declared = table.declared(&plan)?;
        let place = place()?;
        let spending = self.spending(Some(table.path), doing, repeatable)?;
        let mut reserved = table.planned(declared, plan, spending)?;
        reserved.spending.reserve(&reserved.plan)?;
        Ok((place, reserved))
    }
}

impl Releasing {
    /// Finds where the release goes; counts, plans, reserves. `inputs` are what the command reads or keeps.
    pub fn reserve<'a, T: Task>(
        &self,
        table: Table<'a>,
        inputs: &[&Path],
        doing: &str,
        plan: impl Fn(u64) -> Result<Plan<T>, Failure>,
    ) -> Result<(Place, Reserved<'a, T>), Failure> {
        let doing = (doing, self.is_repeatable());
        self.budget().reserve(table, doing, plan, || self.place(inputs))
    }

    /// The same for what was paid for whole before, `entered` in a ledger or in none: nothing more is reserved.
    pub fn go_on<'a, T: Task>(
        &self,
        table: Table<'a>,
        inputs: &[&Path],
        entered: Option<&LedgerEntry>,
        plan: impl Fn(u64) -> Result<Plan<T>, Failure>,
    ) -> Result<(Place, Reserved<'a, T>), Failure> {
        let declared = table.declared(&plan)?;
        let place = self.place(inputs)?;
        let paid = self.paid_before(Some(table.path), entered)?;
        Ok((place, table.planned(declared, plan, paid)?))
    }
}

impl Releasing {
    /// The table of a stream that goes on: nothing more is paid, and it is read and recognised in the same order.
    pub fn read_again<T: Task>(
        &self,
        path: &Path,
        inputs: &[&Path],
        plan: &Plan<T>,
        entered: Option<&LedgerEntry>,
    ) -> Result<(Place, Dataset), Failure> {
        let (schema, relation) = (plan.schema(), plan.request().relation());
        let table = Table::new(path, schema, relation, Some(plan.request().rows))?;
        let (place, reserved) = self.go_on(table, inputs, entered, |_| Ok(plan.clone()))?;
        let (_, data) = reserved.read(|_| read_table(path, schema, relation))?;
        Ok((place, data))
    }
}

/// What is set aside for a plan, or was paid before: its table may be read.
pub struct Reserved<'a, T: Task> {
    table: Table<'a>,
    /// As it was before it was counted.
    seen: Option<Unchanged>,
    plan: Plan<T>,
    spending: Spending,
}

impl<T: Task> Reserved<'_, T> {
    /// The plan.
    pub fn plan(&self) -> &Plan<T> {
        &self.plan
    }

    /// Reads the table by `read`, and refuses it if it changed meanwhile, or if the ledger knows it for another.
    pub fn read<D>(
        self,
        read: impl FnOnce(&Plan<T>) -> Result<D, Failure>,
    ) -> Result<(Ready<T>, D), Failure> {
        let Self { table, seen, plan, mut spending } = self;
        let seen = seen.map_or_else(|| Unchanged::of(table.path), Ok)?;
        let data = read(&plan)?;
        let print = spending.print(table.path, table.schema)?;
        seen.check()?;
        spending.recognise(print)?;
        Ok((Ready { plan, spending }, data))
    }
}

/// A plan whose table was read.
pub struct Ready<T: Task> {
    plan: Plan<T>,
    spending: Spending,
}

impl<T: Task> Ready<T> {
    /// The plan.
    pub fn plan(&self) -> &Plan<T> {
        &self.plan
    }

    /// With public rows, or whatever else its plan awaits.
    pub fn with<E>(self, more: impl FnOnce(Plan<T>) -> Result<Plan<T>, E>) -> Result<Self, Failure>
    where
        Failure: From<E>,
    {
        Ok(Self { plan: more(self.plan)?, ..self })
    }

    /// Admits the rows and carries the plan out.
    pub fn run(
        mut self,
        rows: &dyn Rows,
        source: &mut dyn Source,
        monitor: &dyn Monitor,
    ) -> Result<Made<T>, Failure> {
        let settings = Some(self.plan.settings());
        let release = self.spending.run(&self.plan, rows, source, monitor)?;
        let settle = Box::new(move || self.spending.settle());
        Ok(Made { released: Released::from_release(release)?, settings, settle })
    }

    /// Admits the rows and spends all that a stream may, before its first release.
    pub fn spend_whole(self, rows: &dyn Rows) -> Result<Plan<T>, Failure> {
        self.plan.admit(rows)?;
        self.spend()
    }

    /// The same of one party's rows, which its own agreement admits.
    pub fn spend(self) -> Result<Plan<T>, Failure> {
        self.spending.spend_whole(self.plan)
    }
}

/// Closes what is open until a release is written.
type Settle = Box<dyn FnOnce() -> Result<(), Failure>>;

/// A release that was made, and is nowhere yet.
#[must_use = "it was paid for, and is nowhere yet"]
pub struct Made<T: Task> {
    released: Released<T>,
    /// The numbers of the plan that was carried out, where it was carried out at once.
    settings: Option<Shown>,
    settle: Settle,
}

impl<T: Task> Made<T> {
    /// Of a stream, whose own files say what was released.
    pub fn of(released: Released<T>) -> Self {
        Self::until(released, || Ok(()))
    }

    /// Of what is settled by this, once it is written.
    pub fn until(
        released: Released<T>,
        settle: impl FnOnce() -> Result<(), Failure> + 'static,
    ) -> Self {
        Self { released, settings: None, settle: Box::new(settle) }
    }

    /// The numbers of its plan, as it was carried out or else made again.
    pub fn settings(&self) -> Option<Shown> {
        let again = || plan(self.released.request()).ok().map(|plan| plan.settings());
        self.settings.clone().or_else(again)
    }

    /// What was released.
    pub fn released(&self) -> &Released<T> {
        &self.released
    }

    /// It is written: closes what is open.
    pub fn settle(self) -> (Released<T>, Result<(), Failure>) {
        let settled = (self.settle)();
        (self.released, settled)
    }
}
