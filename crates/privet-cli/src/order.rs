//! The order of every release ([`privet_learn::order`]) as the command has it: a table is a file,
//! progress is told, and a place for the release is found before anything is reserved.
//!
//! Tested by `every_verb_keeps_to_the_order`.

use crate::failure::Failure;
use crate::progress::Meter;
use crate::releasing::{ReleasePlace, Releasing, only_once, read_table, rows_needed};
use crate::spending::{BudgetFlags, Spending, raw_rows};
use privet_core::Relation;
use privet_data::read::{Unchanged, count_records};
use privet_data::{Dataset, Schema};
use privet_dp::gate::LedgerEntry;
use privet_dp::noise::Origin;
use privet_learn::order::{self, Countable, Inputs, ReleaseDraft};
use privet_learn::{Plan, PlanNumbers, Released, Task, plan};
use std::path::Path;

/// What is set aside for a plan: its table may be read.
pub type ReservedPlan<'a, T> = order::ReservedPlan<T, Table<'a>, Spending>;
/// What was paid for whole before: its table may be read, and nothing is drawn under it.
pub type PaidBefore<'a, T> = order::PaidBefore<T, Table<'a>, Spending>;
/// A plan whose table was read.
pub type ReadyPlan<T> = order::ReadPlan<T, Spending>;
/// A release that was made, whose entry is open.
pub type UnsettledRelease<T> = order::UnsettledRelease<T, Spending>;

/// The table that something is to be released of. Nothing of it was read.
#[derive(Debug)]
pub struct Table<'a> {
    path: &'a Path,
    schema: &'a Schema,
    rows: Option<u64>,
    /// As it was before it was counted, or else read.
    seen: Option<Unchanged>,
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
            false => Ok(Self { path, schema, rows, seen: None }),
        }
    }
}

impl Inputs for Table<'_> {
    type Error = Failure;

    fn watch(&mut self) -> Result<(), Failure> {
        if self.seen.is_none() {
            self.seen = Some(Unchanged::of(self.path)?);
        }
        Ok(())
    }

    fn unchanged(&self) -> Result<(), Failure> {
        Ok(self.seen.as_ref().map_or(Ok(()), Unchanged::check)?)
    }

    fn raw_rows(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<(), Failure> {
        raw_rows(self.path, Some(self.schema), each)
    }
}

impl Countable for Table<'_> {
    fn declared_rows(&self) -> Option<u64> {
        self.rows
    }

    fn count(&mut self) -> Result<u64, Failure> {
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
}

impl BudgetFlags {
    /// Count, plan, reserve. `place` finds where the release will go, once nothing more can be refused
    /// without a look at the table.
    pub fn reserve<'a, T: Task, P>(
        &self,
        table: Table<'a>,
        (doing, repeatable): (&str, bool),
        plan: impl Fn(u64) -> Result<Plan<T>, Failure>,
        place: impl FnOnce() -> Result<P, Failure>,
    ) -> Result<(P, ReservedPlan<'a, T>), Failure> {
        let path = table.path;
        let draft = ReleaseDraft::new(table, plan)?;
        let place = place()?;
        let spending = self.spending(Some(path), doing, repeatable)?;
        // Whoever pays has refused a seed.
        Ok((place, draft.reserve(spending, Origin::OperatingSystem)?))
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
    ) -> Result<(ReleasePlace, ReservedPlan<'a, T>), Failure> {
        let doing = (doing, self.is_repeatable());
        self.budget().reserve(table, doing, plan, || self.find_place(inputs))
    }

    /// The same for what was paid for whole before, `entered` in a ledger or in none: nothing more is
    /// reserved.
    pub fn go_on<'a, T: Task>(
        &self,
        table: Table<'a>,
        inputs: &[&Path],
        entered: Option<&LedgerEntry>,
        plan: impl Fn(u64) -> Result<Plan<T>, Failure>,
    ) -> Result<(ReleasePlace, PaidBefore<'a, T>), Failure> {
        let path = table.path;
        let draft = ReleaseDraft::new(table, plan)?;
        let place = self.find_place(inputs)?;
        let paid = self.paid_before(Some(path), entered)?;
        Ok((place, draft.paid_before(paid)?))
    }

    /// The table of a stream that goes on: nothing more is paid, and it is read and recognised in the
    /// same order.
    pub fn read_again<T: Task>(
        &self,
        path: &Path,
        inputs: &[&Path],
        plan: &Plan<T>,
        entered: Option<&LedgerEntry>,
    ) -> Result<(ReleasePlace, Dataset), Failure> {
        let (schema, relation) = (plan.schema(), plan.request().relation());
        let table = Table::new(path, schema, relation, Some(plan.request().rows))?;
        let (place, paid) = self.go_on(table, inputs, entered, |_| Ok(plan.clone()))?;
        Ok((place, paid.read(|_| read_table(path, schema, relation))?))
    }
}

/// Closes what is open until a release is written.
type Settle = Box<dyn FnOnce() -> Result<(), Failure>>;

/// A release that was made, and is nowhere yet.
#[must_use = "it was paid for, and is nowhere yet"]
pub enum MadeRelease<T: Task> {
    /// In one piece; its entry is open.
    Whole(Box<UnsettledRelease<T>>),
    /// Of a stream, which was paid for before: closed by this.
    OfStream(Box<Released<T>>, Settle),
}

impl<T: Task> MadeRelease<T> {
    /// Of a stream, whose own files say what was released.
    pub fn of(released: Released<T>) -> Self {
        Self::settled_by(released, || Ok(()))
    }

    /// Of what is settled by this, once it is written.
    pub fn settled_by(
        released: Released<T>,
        settle: impl FnOnce() -> Result<(), Failure> + 'static,
    ) -> Self {
        Self::OfStream(Box::new(released), Box::new(settle))
    }

    /// The numbers of its plan, as it was carried out or else made again.
    pub fn settings(&self) -> Option<PlanNumbers> {
        match self {
            Self::Whole(made) => Some(made.settings().clone()),
            Self::OfStream(released, _) => {
                plan(released.request()).ok().map(|plan| plan.settings())
            }
        }
    }

    /// What was released.
    pub fn released(&self) -> &Released<T> {
        match self {
            Self::Whole(made) => made.released(),
            Self::OfStream(released, _) => released,
        }
    }

    /// It is written: closes what is open.
    pub fn settle(self) -> (Released<T>, Result<(), Failure>) {
        match self {
            Self::Whole(made) => made.settle(),
            Self::OfStream(released, settle) => (*released, settle()),
        }
    }
}

impl<T: Task> From<UnsettledRelease<T>> for MadeRelease<T> {
    fn from(made: UnsettledRelease<T>) -> Self {
        Self::Whole(Box::new(made))
    }
}
