//! A ledger that pays for fits.

use crate::error::{Failure, Outcome, shown};
use crate::input;
use crate::noise::source;
use crate::watched::{Threads, is_asked, released, released_by};
use privet_core::{Budget, Neighbours, Relation, Unit, Whose};
use privet_data::{Dataset, Schema};
use privet_dp::account::Event;
use privet_dp::gate::{Release, Spend};
use privet_dp::noise::Source;
use privet_learn::{Plan, Task};
use privet_ledger::identity::Print;
use privet_ledger::{BudgetRequest, Kind, LedgerError, Limit, Note, SessionPurse};
use privet_optim::sum::Table;
use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use serde_json::json;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

/// An open ledger.
#[pyclass(module = "privet._privet", frozen)]
pub struct Ledger(Mutex<privet_ledger::Ledger>);

impl Ledger {
    /// Waits for other threads without the interpreter's lock, which they may need to go on, until a signal ends it.
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

    /// Opens a data set that is known by its name.
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
        let whose = unit.map_or(Ok(Whose::NotSaid), Whose::named)?;
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

    /// What was spent on each data set and what is left, as JSON.
    fn show(&self, py: Python<'_>) -> Outcome<String> {
        let mut ledger = self.held(py)?;
        ledger.catch_up()?;
        let finite = |value: f64| value.is_finite().then_some(value);
        let accounts = ledger.books().accounts().iter().map(|(name, account)| {
            json!({
                "dataset": name,
                "epsilon": account.limit.epsilon,
                "delta": account.limit.delta,
                "neighbours": account.limit.filter.neighbours,
                "unit": account.limit.filter.unit,
                "whose": account.whose,
                "filter": account.limit.kind(),
                "share_spent": account.share(),
                "epsilon_spent": finite(account.proved()),
                "releases": account.releases,
            })
        });
        Ok(json!(accounts.collect::<Vec<_>>()).to_string())
    }

    /// Refuses what is no name of a column that says whose a record is.
    #[staticmethod]
    fn check_unit(name: &str) -> Outcome<()> {
        Ok(Whose::named(name).map(|_| ())?)
    }

    /// The share of the limit that so many releases of these events cost, and whether they fit. `whose` is who a unit
    /// is as the plan says it, `unit` what identifiers are that come without a name.
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
        let said: Whose = serde_json::from_str(whose)?;
        // How identifiers are read the release will say; a name alone is compared by itself.
        let whose = match (unit, &ledger.books().account(&name)?.whose, said) {
            (Some(unit), known @ Whose::Column { column, .. }, Whose::NotSaid)
                if column == unit =>
            {
                known.clone()
            }
            (Some(unit), _, Whose::NotSaid) => Whose::named(unit)?,
            (_, _, said) => said,
        };
        let event: Event = serde_json::from_str(events)?;
        let all = Event::Repeat { count: fits, event: Box::new(event) };
        let (doing, note) = ("quote".into(), Note::default());
        let budget_request =
            BudgetRequest { dataset: name, doing, note, claim: None, whole: false };
        let quote = ledger.quote(&budget_request, &whose, &Spend::Exactly(all))?;
        Ok((quote.share, quote.fits))
    }

    /// Every release, as JSON.
    fn history(&self, py: Python<'_>) -> Outcome<String> {
        let mut ledger = self.held(py)?;
        ledger.catch_up()?;
        let all = ledger.books().held().values().map(|held| {
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

/// Records as they are handed over: features, labels and whose each row is.
pub type Handed<'a, 'py> =
    (&'a Bound<'py, PyAny>, &'a Bound<'py, PyAny>, Option<&'a Bound<'py, PyAny>>);

/// Carries a plan out on records that are handed over, paid for by a ledger where one is given.
pub fn carried_out<T: Task>(
    py: Python<'_>,
    plan: &Plan<T>,
    doing: &str,
    seed: Option<u64>,
    handed: Handed<'_, '_>,
    any_storage: bool,
    paid: Option<Paid>,
) -> Outcome<Release<T::Artefact>> {
    carried_out_by(py, Threads::Shared, plan, doing, seed, handed, any_storage, paid)
}

/// The same by these threads.
pub fn carried_out_by<T: Task>(
    py: Python<'_>,
    by: Threads,
    plan: &Plan<T>,
    doing: &str,
    seed: Option<u64>,
    (features, labels, units): Handed<'_, '_>,
    any_storage: bool,
    paid: Option<Paid>,
) -> Outcome<Release<T::Artefact>> {
    let request = plan.request();
    let options = input::to_learn(!request.relation().count_is_public(), any_storage);
    let mut source = source(seed)?;
    let read = || input::dataset(features, labels, units, &request.schema, &options);
    let Some(paid) = paid else {
        let data = read()?;
        return released_by(py, by, |stop| plan.run(&data, source.as_mut(), stop));
    };
    let rows = |each: &mut dyn FnMut(&[u8])| {
        input::raw_rows(features, labels, units, &request.schema, each)
    };
    paid.run(py, by, plan, doing, source.as_mut(), read, rows)
}

/// The same on records that were read before.
pub fn carried_out_on<T: Task>(
    py: Python<'_>,
    plan: &Plan<T>,
    doing: &str,
    seed: Option<u64>,
    data: &Dataset,
    paid: Option<Paid>,
) -> Outcome<Release<T::Artefact>> {
    let mut source = source(seed)?;
    match paid {
        None => released(py, |stop| plan.run(data, source.as_mut(), stop)),
        Some(paid) => paid.run_known(py, plan, doing, source.as_mut(), data),
    }
}

/// The release, whose entry is closed; where that fails a warning says so, and the release stays what it is.
fn closed<R>(
    py: Python<'_>,
    mut paying: SessionPurse<&mut privet_ledger::Ledger>,
    release: R,
) -> R {
    if let Err(error) = paying.close() {
        let words = CString::new(shown(&error.to_string()).replace('\0', " ")).unwrap_or_default();
        let warning = py.get_type::<PyRuntimeWarning>();
        if PyErr::warn(py, &warning, &words, 2).is_err() {
            // Warnings are errors here, and none may cost the release.
            let errors = py.import("sys").and_then(|sys| sys.getattr("stderr"));
            let line = format!("{}\n", words.to_string_lossy());
            let _ = errors.and_then(|errors| errors.call_method1("write", (line,)));
        }
    }
    release
}

/// Who pays for one release: the ledger, the data set's name, who and why, whether it may take the whole limit, and what
/// identifiers are that are handed over without a name.
#[derive(FromPyObject)]
pub struct Paid(Py<Ledger>, String, String, String, bool, Option<String>);

impl Paid {
    /// Reserves, reads, recognises the table and carries the plan out, in this order.
    pub fn run<T: Task>(
        &self,
        py: Python<'_>,
        by: Threads,
        plan: &Plan<T>,
        doing: &str,
        source: &mut dyn Source,
        read: impl FnOnce() -> Outcome<Dataset>,
        rows: impl FnOnce(&mut dyn FnMut(&[u8])) -> Outcome<()>,
    ) -> Outcome<Release<T::Artefact>> {
        let mut ledger = self.0.get().held(py)?;
        let mut paying = self.set_aside(&mut ledger, plan, doing, source)?;
        let data = read()?;
        if let Some(mut printer) = paying.ledger().printer()? {
            rows(&mut |row| printer.row(row))?;
            self.recognise(&mut paying, &printer.finish())?;
        }
        let release = released_by(py, by, |stop| plan.run_with(&data, source, stop, &mut paying))?;
        Ok(closed(py, paying, release))
    }

    /// The same for a table that other machines keep, which is known by the data set's name alone; `told` puts
    /// a failure into their words.
    pub fn run_elsewhere<T: Task, B: Table>(
        &self,
        py: Python<'_>,
        plan: &Plan<T>,
        doing: &str,
        source: &mut dyn Source,
        read: impl FnOnce() -> Outcome<B>,
        told: impl FnOnce(&B, Failure) -> Failure,
    ) -> Outcome<Release<T::Artefact>> {
        let mut ledger = self.0.get().held(py)?;
        let mut paying = self.set_aside(&mut ledger, plan, doing, source)?;
        let table = read()?;
        let work = |stop: &AtomicBool| plan.run_with(&table, source, stop, &mut paying);
        let release =
            released_by(py, Threads::Own, work).map_err(|failure| told(&table, failure))?;
        Ok(closed(py, paying, release))
    }

    /// The same for records that were read before, and that are known by the data set's name alone.
    pub fn run_known<T: Task>(
        &self,
        py: Python<'_>,
        plan: &Plan<T>,
        doing: &str,
        source: &mut dyn Source,
        data: &Dataset,
    ) -> Outcome<Release<T::Artefact>> {
        let mut ledger = self.0.get().held(py)?;
        let mut paying = self.set_aside(&mut ledger, plan, doing, source)?;
        let release = released(py, |stop| plan.run_with(data, source, stop, &mut paying))?;
        Ok(closed(py, paying, release))
    }

    fn set_aside<'a, T: Task>(
        &self,
        ledger: &'a mut privet_ledger::Ledger,
        plan: &Plan<T>,
        doing: &str,
        source: &dyn Source,
    ) -> Outcome<SessionPurse<&'a mut privet_ledger::Ledger>> {
        let budget_request = BudgetRequest {
            dataset: self.1.clone(),
            doing: doing.into(),
            note: self.note(),
            claim: plan.guarantee().copied(),
            whole: self.4,
        };
        let spend = plan.spend(source)?;
        let mut paying = ledger.paying(budget_request);
        paying.of(self.whose(&plan.request().schema)?);
        paying.set_aside(&spend)?;
        Ok(paying)
    }

    /// Who a unit is: as the schema says, or as whoever names the ledger's unit does, of identifiers without a name.
    /// How they are read is the schema's in either case.
    fn whose(&self, schema: &Schema) -> Outcome<Whose> {
        let said = schema.whose();
        let Some(name) = &self.5 else { return Ok(said) };
        Whose::named(name)?;
        let named = schema.whose_of(name);
        match said {
            Whose::NotSaid => Ok(named),
            said @ Whose::Column { .. } if said != named => {
                let name = self.1.clone();
                Err(LedgerError::OtherUnit { name, whose: named, requested: said }.into())
            }
            said => Ok(said),
        }
    }

    fn note(&self) -> Note {
        Note { who: self.2.clone(), purpose: self.3.clone() }
    }

    /// Whoever names the data set says that the rows are of it; that they are not another's is looked at.
    fn recognise(
        &self,
        paying: &mut SessionPurse<&mut privet_ledger::Ledger>,
        print: &Print,
    ) -> Outcome<()> {
        Ok(paying.ledger().recognise(&self.1, print, true, &self.note())?)
    }
}
