//! Work without the interpreter: its lock is released, and Ctrl-C stops the work.
//!
//! The work runs on threads of our own. The calling thread waits, and asks Python now and then whether a
//! signal came; if one did, the flag that every learner looks at is set and the exception is raised once the
//! work has ended. Nothing is released by a stopped fit. A release that is finished all the same is paid for, and is
//! kept ([`released_by`]): the exception waits until whoever called has it.
//!
//! No two threads wait for each other:
//! - [`run_watched`] work calls nothing in Python, and its caller has released the interpreter's lock;
//! - [`reading`] keeps the lock, so that no other thread writes into the arrays; its threads read and do
//!   nothing else, so that they never wait for a thread that may need the lock;
//! - [`watched_by`] [`Threads::Own`] is for work that calls Python: only its caller waits for it.
//!
//! A pool belongs to one process: a child made by `fork` has no threads but the forking one, and builds
//! pools of its own. Rayon's global pool cannot be built again, so no work of the extension runs on it.

use crate::error::{Failure, Outcome};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The interval at which signals are polled.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// A pool and the process it belongs to. Only a thread with the interpreter's lock uses it, and a fork
/// happens under that lock.
type Slot = Mutex<Option<(u32, Arc<ThreadPool>)>>;

static WORKING: Slot = Mutex::new(None);
static READING: Slot = Mutex::new(None);

/// The threads that do the work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// The pool shared by all work that calls nothing in Python.
    Shared,
    /// A pool made for this work.
    Own,
}

/// A pool of as many threads as the machine or `RAYON_NUM_THREADS` determines.
fn threads() -> Outcome<Arc<ThreadPool>> {
    let built = ThreadPoolBuilder::new().thread_name(|number| format!("privet-{number}")).build();
    built.map(Arc::new).map_err(|error| Failure::value(format!("no threads to work with: {error}")))
}

/// The pool of this process.
fn pool(slot: &Slot) -> Outcome<Arc<ThreadPool>> {
    let process = std::process::id();
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, pool)) = slot.as_ref().filter(|(owner, _)| *owner == process) {
        return Ok(pool.clone());
    }
    let built = threads()?;
    if let Some(stale) = slot.replace((process, built.clone())) {
        // Its threads belong to another process: waiting for them would never end.
        std::mem::forget(stale);
    }
    Ok(built)
}

thread_local! {
    static ASKED: Cell<bool> = const { Cell::new(false) };
    /// Set while exceptions of signals wait for the end of a call, with the waiting one.
    static HELD: RefCell<Option<Option<PyErr>>> = const { RefCell::new(None) };
}

/// Looks NumPy's table of functions up, before anything is spent: an exception of a signal in the middle of that, at the
/// first array, would panic.
#[pyfunction]
pub fn find_numpy(py: Python<'_>) -> Outcome<()> {
    let array = numpy::PyArray1::<f64>::zeros(py, 1, false);
    let borrowed = numpy::PyArrayMethods::try_readonly(&array);
    borrowed.map(drop).map_err(Failure::value)
}

/// From now on the exception of a signal waits if a release was finished; returns true if it did so
/// before.
#[pyfunction]
pub fn hold_signals() -> bool {
    HELD.with_borrow_mut(|held| match held {
        Some(_) => true,
        None => {
            *held = Some(None);
            false
        }
    })
}

/// Ends `hold_signals`; returns the exception that waited, if any.
#[pyfunction]
pub fn let_signals_go() -> Option<PyErr> {
    HELD.with_borrow_mut(Option::take).flatten()
}

/// Calls Python on behalf of work that waits for the result.
pub fn call_python<T>(ask: impl FnOnce() -> T) -> T {
    let before = ASKED.replace(true);
    let answer = ask();
    ASKED.set(before);
    answer
}

/// True if some work waits for this thread, which therefore must not wait for that work.
pub fn is_asked() -> bool {
    ASKED.get()
}

/// Makes the calling thread do all its work itself, while the returned pool lives.
pub fn single_thread() -> Result<ThreadPool, ThreadPoolBuildError> {
    ThreadPoolBuilder::new().num_threads(1).use_current_thread().build()
}

/// Reads Python's memory, with the interpreter's lock held.
pub fn reading<T: Send>(_py: Python<'_>, work: impl FnOnce() -> T + Send) -> Outcome<T> {
    Ok(pool(&READING)?.install(work))
}

/// Does `work`, which calls nothing in Python, without the interpreter; a signal sets the flag it is
/// given.
pub fn run_watched<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> Outcome<T> {
    watched_by(py, Threads::Shared, work)
}

/// As [`run_watched`], on these threads.
pub fn watched_by<T: Send>(
    py: Python<'_>,
    by: Threads,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> Outcome<T> {
    match carried_out(py, by, work)? {
        (_, Some(raised)) => Err(raised.into()),
        (result, None) => Ok(result),
    }
}

/// Does work that makes a release, by these threads. Where it is made, it is handed back whatever signal came meanwhile, if
/// somebody holds signals; the exception then waits for them.
pub fn released_by<R: Send, E: Send>(
    py: Python<'_>,
    by: Threads,
    work: impl FnOnce(&AtomicBool) -> Result<R, E> + Send,
) -> Outcome<R>
where
    Failure: From<E>,
{
    let (result, signal) = carried_out(py, by, work)?;
    // A signal at the very end would be raised before the caller has the release.
    let signal = signal.or_else(|| py.check_signals().err());
    match (result, signal) {
        (Ok(release), Some(raised)) => HELD.with_borrow_mut(|held| match held {
            Some(held) => {
                *held = Some(raised);
                Ok(release)
            }
            None => Err(raised.into()),
        }),
        (Err(_), Some(raised)) => Err(raised.into()),
        (result, None) => Ok(result?),
    }
}

/// The result of the work, and the exception of the last signal that came meanwhile.
fn carried_out<T: Send>(
    py: Python<'_>,
    by: Threads,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> Outcome<(T, Option<PyErr>)> {
    let pool = match by {
        Threads::Shared => pool(&WORKING)?,
        Threads::Own => threads()?,
    };
    let stop = AtomicBool::new(false);
    let stop = &stop;
    let (sender, receiver) = channel();
    let (result, signal) = py.detach(move || {
        pool.in_place_scope(move |scope| {
            scope.spawn(move |_| {
                let _ = sender.send(work(stop));
            });
            let mut signal: Option<PyErr> = None;
            loop {
                match receiver.recv_timeout(SIGNAL_INTERVAL) {
                    Ok(result) => return (Some(result), signal),
                    Err(RecvTimeoutError::Disconnected) => return (None, signal),
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(raised) = Python::attach(|py| py.check_signals()) {
                            stop.store(true, Ordering::Relaxed);
                            signal = Some(raised);
                        }
                    }
                }
            }
        })
    });
    match (signal, result) {
        (signal, Some(result)) => Ok((result, signal)),
        (Some(raised), None) => Err(raised.into()),
        (None, None) => Err(Failure::value("the work ended without a result")),
    }
}
