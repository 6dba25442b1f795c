//! Work without the interpreter: its lock is released, and Ctrl-C stops the work.
//!
//! The work runs on threads of our own. The calling thread waits, and asks Python now and then whether a
//! signal came; if one did, the flag that every learner looks at is set and the exception is raised once the
//! work has ended. Nothing is released by a stopped fit. A release that is finished all the same is paid for, and is
//! kept ([`released_by`]): the exception waits until whoever called has it.
//!
//! No thread waits for one that waits for it:
//! - [`watched`] work asks nothing of Python, and whoever waits for it has released the interpreter's lock;
//! - [`reading`] keeps the lock, so that nobody writes into the arrays that are read; its threads read and do
//!   nothing else, so that they never wait for whoever may need the lock;
//! - [`watched_by`] [`Threads::Own`] is for work that asks Python on its way: only its caller waits for it.
//!
//! A pool belongs to one process: a child made by `fork` has no threads but the forking one, and builds
//! pools of its own. That of rayon itself cannot be built again, so no work of the extension is left to it.

use crate::error::{Failure, Outcome};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often signals are looked for.
const PATIENCE: Duration = Duration::from_millis(50);

/// A pool and the process it belongs to. Only who has the interpreter's lock looks here, and so does who forks.
type Slot = Mutex<Option<(u32, Arc<ThreadPool>)>>;

static WORKING: Slot = Mutex::new(None);
static READING: Slot = Mutex::new(None);

/// Whose threads work is done by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// Those of all work that asks nothing of Python.
    Shared,
    /// Some that are made for it.
    Own,
}

/// As many threads as the machine or `RAYON_NUM_THREADS` says.
fn threads() -> Outcome<Arc<ThreadPool>> {
    let built = ThreadPoolBuilder::new().thread_name(|number| format!("privet-{number}")).build();
    built.map(Arc::new).map_err(|error| Failure::value(format!("no threads to work with: {error}")))
}

/// This process's pool.
fn pool(slot: &Slot) -> Outcome<Arc<ThreadPool>> {
    let process = std::process::id();
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, pool)) = slot.as_ref().filter(|(owner, _)| *owner == process) {
        return Ok(pool.clone());
    }
    let built = threads()?;
    if let Some(stale) = slot.replace((process, built.clone())) {
        // Its threads are those of another process: waiting for them would never end.
        std::mem::forget(stale);
    }
    Ok(built)
}

thread_local! {
    static ASKED: Cell<bool> = const { Cell::new(false) };
    /// Whether exceptions of signals wait for the end of a call, and the one that waits.
    static HELD: RefCell<Option<Option<PyErr>>> = const { RefCell::new(None) };
}

/// From here on the exception of a signal waits where a release was finished; whether it did before.
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

/// The end of that: the exception that waited, if one did.
#[pyfunction]
pub fn let_signals_go() -> Option<PyErr> {
    HELD.with_borrow_mut(Option::take).flatten()
}

/// Has Python do something that work waits for.
pub fn asking<T>(ask: impl FnOnce() -> T) -> T {
    let before = ASKED.replace(true);
    let answer = ask();
    ASKED.set(before);
    answer
}

/// Whether some work waits for what this thread does, which must not wait for that work.
pub fn is_asked() -> bool {
    ASKED.get()
}

/// Has the thread that calls do all its work itself, while what is returned lasts.
pub fn alone() -> Result<ThreadPool, ThreadPoolBuildError> {
    ThreadPoolBuilder::new().num_threads(1).use_current_thread().build()
}

/// Reads what Python holds, with the interpreter's lock kept.
pub fn reading<T: Send>(_py: Python<'_>, work: impl FnOnce() -> T + Send) -> Outcome<T> {
    Ok(pool(&READING)?.install(work))
}

/// Does `work`, which asks nothing of Python, without the interpreter; a signal sets the flag that it is given.
pub fn watched<T: Send>(py: Python<'_>, work: impl FnOnce(&AtomicBool) -> T + Send) -> Outcome<T> {
    watched_by(py, Threads::Shared, work)
}

/// The same by these threads.
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
    // One that came at the very end would be raised before anybody has the release.
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

/// What came of the work, and the exception of the last signal that came meanwhile.
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
                match receiver.recv_timeout(PATIENCE) {
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
