//! Whether a run goes on, and whether it was stopped.

use crate::LearnError;
use privet_optim::solver::{Monitor, Progress, SolveError};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Asks the monitor before each step and remembers its answer. It is told how many steps were taken,
/// which is public, and nothing else.
pub(crate) struct StepWatch<'a> {
    monitor: &'a dyn Monitor,
    taken: AtomicU32,
    stopped: AtomicBool,
}

impl<'a> StepWatch<'a> {
    pub fn new(monitor: &'a dyn Monitor) -> Self {
        Self { monitor, taken: AtomicU32::new(0), stopped: AtomicBool::new(false) }
    }

    /// Whether to take one more step.
    pub fn step(&self) -> bool {
        let iteration = self.taken.fetch_add(1, Ordering::Relaxed) + 1;
        let (gradient_norm, tolerance) = (f64::INFINITY, 0.0);
        self.proceed(Progress { iteration, gradient_norm, tolerance, precise: false })
    }

    /// Whether to go on, where how many steps there were is no public number: nothing is told.
    pub fn goes_on(&self) -> bool {
        let (gradient_norm, tolerance) = (f64::INFINITY, 0.0);
        self.proceed(Progress { iteration: 1, gradient_norm, tolerance, precise: false })
    }

    /// An error if the run was stopped.
    pub fn went_on(&self) -> Result<(), LearnError> {
        match self.stopped.load(Ordering::Relaxed) {
            true => Err(LearnError::Solve(SolveError::Stopped)),
            false => Ok(()),
        }
    }
}

impl Monitor for StepWatch<'_> {
    fn proceed(&self, progress: Progress) -> bool {
        let goes_on = self.monitor.proceed(progress);
        self.stopped.fetch_or(!goes_on, Ordering::Relaxed);
        goes_on
    }
}
