//! A ledger that pays for fits.

use crate::error::{Failure, Outcome};
use crate::input;
use crate::noise::source;
use crate::watched::{Threads, is_asked, released_by};
use privet_core::{Budget, Neighbours, Relation, Unit, UnitDefinition};
use privet_data::{Dataset, Schema};
use privet_dp::account::Event;
use privet_dp::gate::{LedgerEntry, Purse, Spend};
use privet_learn::order::{Inputs, ReservedPlan};
use privet_learn::pay::{Payer, Price, RawRows};
use privet_learn::{Plan, Task};
use privet_ledger::identity::TableFingerprint;
use privet_ledger::{BudgetRequest, Kind, LedgerError, Limit, Note, SessionPurse};
use privet_optim::sum::Table as Rows;
use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use serde_json::json;
use std::borrow::Borrow;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

/// An open ledger.
#[pyclass(module = "privet._privet", frozen)]
pub struct Ledger(Mutex<privet_ledger::Ledger>);

impl Ledger {
    /// Waits for other threads without the interpreter's lock, which they may need, until a signal ends
    /// it.
    fn held(&self, py: Python<'_>) -> Outcome<MutexGuard<'_, privet_ledger::Ledger>> {
        loop {
            match self.0.try_lock() {
                Ok(held) => return Ok(held),
                Err(TryLockError::Poisoned(held)) => return Ok(held.into_inner()),
                Err(TryLockError::WouldBlock) if is_asked() => {
                    return Err(Failure::value(
                        "the ledger is paying for a fit, and this is done for one that waits for it; accepted once \
                         that fit is done",
                    ));
                }
                Err(TryLockError::WouldBlock) => {
                    py.detach(|| std::thread::sleep(Duration::from_millis(5)));
                    py.check_signals()?;
                }
            }
        }
    }
}

#[pymethods]
impl Ledger {
    /// Opens the ledger of a file, or makes one.
    #[new]
    fn new(path: PathBuf, create: bool, who: &str) -> Outcome<Self> {
        let ledger = match create && !path.exists() {
            true => privet_ledger::Ledger::create(&path, who)?,
            false => privet_ledger::Ledger::open(&path)?,
        };
        Ok(Self(Mutex::new(ledger)))
    }

    /// Opens an account for a data set known by its name.
    #[pyo3(signature = (name, *, epsilon, delta, neighbours, max_records, unit, filter, order, who, purpose))]
    fn add(
        &self,
        py: Python<'_>,
        name: &str,
        epsilon: f64,
        delta: f64,
        neighbours: &str,
        max_records: Option<u32>,
        unit: Option<&str>,
        filter: Option<&str>,
        order: Option<f64>,
        who: String,
        purpose: String,
    ) -> Outcome<()> {
        if unit.is_some() && max_records.is_none() {
            return Err(Failure::value(
                "unit is given, and the limit is for records, which are each their own; accepted with \
                 max_records=..., or without unit",
            ));
        }
        let whose = unit.map_or(Ok(UnitDefinition::NotSaid), UnitDefinition::from_column_name)?;
        let unit = max_records.map_or(Unit::Record, |max_records| Unit::User { max_records });
        let relation = Relation::new(neighbours.parse::<Neighbours>()?, unit);
        let kind = match filter {
            Some(name) => name.parse::<Kind>()?,
            None if delta == 0.0 => Kind::Sum,
            None => Kind::Renyi,
        };
        let limit = Limit::new(kind, order, Budget::new(epsilon, delta)?, relation)?;
        Ok(self.held(py)?.add(name, limit, &whose, &Note { who, purpose }, None, false)?)
    }

    /// The budget spent and left on each data set, as JSON.
    fn show(&self, py: Python<'_>) -> Outcome<String> {
        let mut ledger = self.held(py)?;
        ledger.catch_up()?;
        Ok(json!(privet_ledger::accounts(ledger.books())).to_string())
    }

    /// Refuses a text that cannot be the name of a unit column.
    #[staticmethod]
    fn check_unit(name: &str) -> Outcome<()> {
        Ok(UnitDefinition::from_column_name(name).map(|_| ())?)
    }

    /// The share of the limit that `fits` releases of these events cost, and whether they fit. `whose`
    /// is the plan's definition of a unit, `unit` the meaning of identifiers without a name.
    #[pyo3(signature = (name, events, fits, whose, unit))]
    fn quote(
        &self,
        py: Python<'_>,
        name: String,
        events: &str,
        fits: u32,
        whose: &str,
        unit: Option<&str>,
    ) -> Outcome<(f64, bool)> {
        let mut ledger = self.held(py)?;
        ledger.catch_up()?;
        let said: UnitDefinition = serde_json::from_str(whose)?;
        // The release states how identifiers are read; a name alone is compared by itself.
        let whose = match (unit, &ledger.books().account(&name)?.whose, said) {
            (
                Some(unit),
                known @ UnitDefinition::Column { column, .. },
                UnitDefinition::NotSaid,
            ) if column == unit => known.clone(),
            (Some(unit), _, UnitDefinition::NotSaid) => UnitDefinition::from_column_name(unit)?,
            (_, _, said) => said,
        };
        let event: Event = serde_json::from_str(events)?;
        let all = Event::Repeat { count: fits, event: Box::new(event) };
        let (doing, note) = ("quote".into(), Note::default());
        let request = BudgetRequest { dataset: name, doing, note, claim: None, whole: false };
        let quote = ledger.quote(&request, &whose, &Spend::Exactly(all))?;
        Ok((quote.share, quote.fits))
    }

    /// Every release, as JSON.
    fn history(&self, py: Python<'_>) -> Outcome<String> {
        let mut ledger = self.held(py)?;
        ledger.catch_up()?;
        let all = ledger.books().reservations().values().map(|held| {
            json!({
                "entry": held.sequence, "when": held.at, "who": held.who, "dataset": held.dataset,
                "state": held.state.word(), "whose": held.whose, "doing": held.doing, "purpose": held.purpose,
                "epsilon": held.claim.map(|claim| claim.epsilon),
                "delta": held.claim.map(|claim| claim.delta),
            })
        });
        Ok(json!(all.collect::<Vec<_>>()).to_string())
    }
}

/// Records as arguments: features, labels and the unit of each row.
pub type Handed<'a, 'py> =
    (&'a Bound<'py, PyAny>, &'a Bound<'py, PyAny>, Option<&'a Bound<'py, PyAny>>);

/// Records as they are handed over, of which nothing was read.
pub struct Table<'a, 'py> {
    /// Features, labels and whose each row is.
    pub handed: Handed<'a, 'py>,
    /// The schema they are of.
    pub schema: &'a Schema,
}

impl Inputs for Table<'_, '_> {
    type Error = Failure;

    fn raw_rows(&mut self, each: &mut dyn FnMut(&[u8])) -> Outcome<()> {
        let (features, labels, units) = self.handed;
        input::raw_rows(features, labels, units, self.schema, each)
    }
}

/// Records that were read before, or that other machines keep: known by the data set's name alone.
pub struct KnownByName;

impl Inputs for KnownByName {
    type Error = Failure;

    fn is_known_by_name(&self) -> bool {
        true
    }

    fn raw_rows(&mut self, _each: &mut dyn FnMut(&[u8])) -> Outcome<()> {
        Ok(())
    }
}

/// One release: of which plan, what is done in a word or two, with which noise, by which threads, and who pays.
pub struct Order<'a, T: Task> {
    pub plan: &'a Plan<T>,
    pub doing: &'a str,
    pub seed: Option<u64>,
    pub by: Threads,
    pub paid: Option<Paid>,
}

impl<T: Task> Order<'_, T> {
    /// Reserves, reads, recognises, draws and settles, in the one order of every release.
    pub fn release<B: Rows + Sync, D: Borrow<B>>(
        self,
        py: Python<'_>,
        inputs: impl Inputs<Error = Failure>,
        read: impl FnOnce() -> Outcome<D>,
    ) -> Outcome<privet_learn::Released<T>> {
        let Self { plan, doing, seed, by, paid } = self;
        let mut source = source(seed)?;
        let mut ledger = paid.as_ref().map(|paid| paid.0.get().held(py)).transpose()?;
        let payment = match (&paid, &mut ledger) {
            (Some(paid), Some(ledger)) => paid.payment(ledger, doing),
            _ => Payment { paying: None, unit: None },
        };
        let reserved = ReservedPlan::new(plan.clone(), inputs, payment, source.origin())?;
        let (ready, data) = reserved.read(|_| read())?;
        let rows: &B = data.borrow();
        let made = released_by(py, by, |stop| ready.draw(rows, source.as_mut(), stop))?;
        let (released, settled) = made.settle();
        if let Err(open) = settled {
            warn(py, open);
        }
        Ok(released)
    }
}

/// Carries a plan out on records that are handed over, paid for by a ledger where one is given.
pub fn carried_out<T: Task>(
    py: Python<'_>,
    order: Order<'_, T>,
    handed: Handed<'_, '_>,
    any_storage: bool,
) -> Outcome<privet_learn::Released<T>> {
    let request = order.plan.request();
    let options = input::to_learn(!request.relation().count_is_public(), any_storage);
    let (features, labels, units) = handed;
    let table = Table { handed, schema: &request.schema };
    let read = || input::dataset(features, labels, units, &request.schema, &options);
    order.release::<Dataset, _>(py, table, read)
}

/// Says that the entry of a release stays open: the release stays what it is.
fn warn(py: Python<'_>, open: Failure) {
    let words = PyErr::from(open).value(py).to_string();
    let words = CString::new(words.replace('\0', " ")).unwrap_or_default();
    let warning = py.get_type::<PyRuntimeWarning>();
    if PyErr::warn(py, &warning, &words, 2).is_err() {
        // Warnings are errors here, and none may cost the release.
        let errors = py.import("sys").and_then(|sys| sys.getattr("stderr"));
        let line = format!("{}\n", words.to_string_lossy());
        let _ = errors.and_then(|errors| errors.call_method1("write", (line,)));
    }
}

/// Who pays for one release: the ledger, the data set's name, who and why, whether it may take the whole limit, and what
/// identifiers are that are handed over without a name.
#[derive(FromPyObject)]
pub struct Paid(Py<Ledger>, String, String, String, bool, Option<String>);

impl Paid {
    fn payment<'a>(&self, ledger: &'a mut privet_ledger::Ledger, doing: &str) -> Payment<'a> {
        let request = BudgetRequest {
            dataset: self.1.clone(),
            doing: doing.into(),
            note: Note { who: self.2.clone(), purpose: self.3.clone() },
            claim: None,
            whole: self.4,
        };
        Payment { paying: Some(ledger.purse_for(request)), unit: self.5.clone() }
    }
}

/// Pays for one release from a ledger, or nothing.
struct Payment<'a> {
    paying: Option<SessionPurse<&'a mut privet_ledger::Ledger>>,
    /// What identifiers are that come without a name.
    unit: Option<String>,
}

impl Payment<'_> {
    /// Who a unit is: as the schema says, or as whoever names the ledger's unit does, of identifiers without a name.
    /// How they are read is the schema's in either case.
    fn unit_definition(&self, schema: &Schema, dataset: &str) -> Outcome<UnitDefinition> {
        let said = schema.unit_definition();
        let Some(name) = &self.unit else { return Ok(said) };
        UnitDefinition::from_column_name(name)?;
        let named = schema.whose_of(name);
        match said {
            UnitDefinition::NotSaid => Ok(named),
            said @ UnitDefinition::Column { .. } if said != named => {
                let name = dataset.to_owned();
                Err(LedgerError::OtherUnit { name, whose: named, requested: said }.into())
            }
            said => Ok(said),
        }
    }
}

impl Payer for Payment<'_> {
    type Error = Failure;
    type Print = TableFingerprint;

    fn purse(&mut self) -> Option<&mut dyn Purse> {
        self.paying.as_mut().map(|paying| paying as &mut dyn Purse)
    }

    fn reserve(&mut self, price: &Price<'_>) -> Outcome<()> {
        let Some(dataset) = self.paying.as_ref().map(|paying| paying.request().dataset.clone())
        else {
            return Ok(());
        };
        let whose = self.unit_definition(price.schema, &dataset)?;
        let Some(paying) = &mut self.paying else { return Ok(()) };
        if let Some(claim) = price.claim.filter(|_| !paying.is_set_aside()) {
            paying.claim(claim);
        }
        paying.of(whose);
        Ok(paying.set_aside(&price.spend)?)
    }

    fn print(&mut self, rows: RawRows<'_, Failure>) -> Outcome<Option<TableFingerprint>> {
        let Some(paying) = &mut self.paying else { return Ok(None) };
        let Some(mut printer) = paying.ledger().printer()? else { return Ok(None) };
        rows(&mut |row| printer.row(row))?;
        Ok(Some(printer.finish()))
    }

    /// Whoever names the data set says that the rows are of it; that they are not another's is looked at.
    fn recognise(&mut self, print: TableFingerprint) -> Outcome<()> {
        let Some(paying) = &mut self.paying else { return Ok(()) };
        let BudgetRequest { dataset, note, .. } = paying.request().clone();
        Ok(paying.ledger().recognise(&dataset, &print, true, &note)?)
    }

    fn spend_whole(self, spend: &Spend) -> Outcome<Option<LedgerEntry>> {
        Ok(self.paying.map(|paying| paying.spend_whole(spend)).transpose()?)
    }

    fn close(&mut self) -> Outcome<()> {
        Ok(self.paying.as_mut().map_or(Ok(()), SessionPurse::close)?)
    }
}
