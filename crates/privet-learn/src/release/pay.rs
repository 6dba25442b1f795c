//! Paying for a release: reserving its price, recognising the table that pays, and closing the entry.
//!
//! A [`Purse`] is the gate's view of a budget: it sees one session's draws. A [`Payer`] is the view of
//! [`super::order`]: it also reserves before the table is read, and refuses a table that is not the
//! data set that pays.

use crate::LearnError;
use crate::release::plan::Plan;
use crate::release::run;
use crate::release::task::Task;
use privet_data::Schema;
use privet_dp::account::Guarantee;
use privet_dp::gate::{LedgerEntry, Purse, Spend};
use privet_dp::noise::Origin;
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;

/// The price of a plan, as a payer reserves it.
#[derive(Debug, Clone)]
pub struct Price<'a> {
    /// The events, or the limit on them.
    pub spend: Spend,
    /// The (ε, δ) that the release will claim.
    pub claim: Option<Guarantee>,
    /// The schema, which defines the unit.
    pub schema: &'a Schema,
}

/// Calls its argument with each row of a table, in the one encoding by which tables are recognised.
pub type RawRows<'a, E> = &'a mut dyn FnMut(&mut dyn FnMut(&[u8])) -> Result<(), E>;

/// Pays for one release. Dropped before the first draw, its reservation must be void; from the first
/// draw on, spent.
pub trait Payer {
    /// Its errors.
    type Error: From<LearnError>;
    /// Recognises a table: its rows' keyed fingerprint.
    type Print;

    /// The purse of the session; `None` if nothing is paid.
    fn purse(&mut self) -> Option<&mut dyn Purse>;

    /// Reserves the price, durably. Called before a record is read; a second call must state the same
    /// price. Never called without a purse.
    fn reserve(&mut self, price: &Price<'_>) -> Result<(), Self::Error>;

    /// The print of a table; `None`, without a call of `rows`, if tables are known by their names alone.
    fn print(&mut self, rows: RawRows<'_, Self::Error>)
    -> Result<Option<Self::Print>, Self::Error>;

    /// Must refuse a table that is not the data set that pays.
    fn recognise(&mut self, print: Self::Print) -> Result<(), Self::Error>;

    /// Spends the whole reservation at once, for sessions that are suspended and resumed. Returns the
    /// entry, if any.
    fn spend_whole(self, spend: &Spend) -> Result<Option<LedgerEntry>, Self::Error>;

    /// Closes the entry of a release that was stored. If it fails the release stays valid, and its
    /// entry counts as spent.
    fn close(&mut self) -> Result<(), Self::Error>;
}

/// Pays nothing.
pub struct NoPayer<E = LearnError>(PhantomData<fn() -> E>);

impl<E> NoPayer<E> {
    /// Creates it.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<E> Default for NoPayer<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> fmt::Debug for NoPayer<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoPayer")
    }
}

impl<E: From<LearnError>> Payer for NoPayer<E> {
    type Error = E;
    type Print = Infallible;

    fn purse(&mut self) -> Option<&mut dyn Purse> {
        None
    }

    fn reserve(&mut self, _price: &Price<'_>) -> Result<(), E> {
        Ok(())
    }

    fn print(&mut self, _rows: RawRows<'_, E>) -> Result<Option<Infallible>, E> {
        Ok(None)
    }

    fn recognise(&mut self, print: Infallible) -> Result<(), E> {
        match print {}
    }

    fn spend_whole(self, _spend: &Spend) -> Result<Option<LedgerEntry>, E> {
        Ok(None)
    }

    fn close(&mut self) -> Result<(), E> {
        Ok(())
    }
}

/// The price of a plan whose noise has this origin; refused where it has none.
pub(crate) fn price<T: Task>(plan: &Plan<T>, origin: Origin) -> Result<Price<'_>, LearnError> {
    run::payable(plan, origin)?;
    let spend = plan.spending().ok_or(LearnError::DataShape("the plan states no events"))?;
    Ok(Price { spend, claim: plan.guarantee().copied(), schema: plan.schema() })
}

/// Reserves the price of a plan; nothing if nothing is paid.
pub(crate) fn reserve<T: Task, P: Payer>(
    plan: &Plan<T>,
    payer: &mut P,
    origin: Origin,
) -> Result<(), P::Error> {
    if payer.purse().is_none() {
        return Ok(());
    }
    payer.reserve(&price(plan, origin)?)
}

/// Spends the whole price of a plan before its first record, for a stream: its draws are made by
/// several processes under a journal of its own. The plan's certificates then name the entry.
pub fn spend_whole<T: Task, P: Payer>(plan: Plan<T>, mut payer: P) -> Result<Plan<T>, P::Error> {
    if payer.purse().is_none() {
        return Ok(plan);
    }
    let price = price(&plan, Origin::OperatingSystem)?;
    payer.reserve(&price)?;
    let entered = payer.spend_whole(&price.spend)?;
    Ok(match entered {
        Some(entered) => plan.entered_in(entered),
        None => plan,
    })
}
