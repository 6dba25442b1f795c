//! Work without the interpreter: its lock is released, and Ctrl-C stops the work.
//!
//! The work runs on a thread of our own pool. The calling thread waits, and asks Python now and then
//! whether a signal came; if one did, the flag that every learner looks at is set and the exception is
//! raised once the work has ended. Nothing is released by a stopped fit. A release that is finished all the same
//! is paid for, and is kept ([`released`]): the exception waits until whoever called has it.
//!
//! The pool belongs to one process: a child made by `fork` has no threads but the forking one, and
//! builds a pool of its own.

use crate::error::{Failure, Outcome};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often signals are looked for.
const PATIENCE: Duration = Duration::from_millis(50);

/// The pool and the process it belongs to.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// This process's pool, with as many threads as the machine or `RAYON_NUM_THREADS` says.
pub fn pool() -> Outcome<Arc<ThreadPool>> {
    let process = std::process::id();
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, pool)) = pool.as_ref().filter(|(owner, _)| *owner == process) {
        debug_assert_eq!(*owner, process);
        return Ok(pool.clone());
    }
    let built = ThreadPoolBuilder::new()
        .thread_name(|number| format!("privet-{number}"))
        .build()
        .map_err(|error| Failure::value(format!("no threads to work with: {error}")))?;
    let built = Arc::new(built);
    if let Some(stale) = pool.replace((process, built.clone())) {
        // Its threads are those of another process: waiting for them would never end.
        std::mem::forget(stale);
    }
    Ok(built)
}

thread_local! {
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

/// Does `work` without the interpreter; a signal sets the flag that it is given.
pub fn watched<T: Send>(py: Python<'_>, work: impl FnOnce(&AtomicBool) -> T + Send) -> Outcome<T> {
    match carried_out(py, work)? {
        (_, Some(raised)) => Err(raised.into()),
        (result, None) => Ok(result),
    }
}

/// The same for what makes a release. Where it is made, it is handed back whatever signal came meanwhile, if somebody holds
/// signals; the exception then waits for them.
pub fn released<R: Send, E: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> Result<R, E> + Send,
) -> Outcome<R>
where
    Failure: From<E>,
{
    let (result, signal) = carried_out(py, work)?;
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
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> Outcome<(T, Option<PyErr>)> {
    let pool = pool()?;
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
