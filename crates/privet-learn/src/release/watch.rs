//! The user's request to stop a run.

use crate::LearnError;
use privet_optim::solver::{Monitor, Progress, SolveError};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Queries the monitor before each step and keeps its answer. The monitor sees the number of steps,
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

    /// Counts a step; false if the run should stop.
    pub fn step(&self) -> bool {
        let iteration = self.taken.fetch_add(1, Ordering::Relaxed) + 1;
        let (gradient_norm, tolerance) = (f64::INFINITY, 0.0);
        self.proceed(Progress { iteration, gradient_norm, tolerance, precise: false })
    }

    /// False if the run should stop; for runs whose number of steps is private: reports no progress.
    pub fn goes_on(&self) -> bool {
        let (gradient_norm, tolerance) = (f64::INFINITY, 0.0);
        self.proceed(Progress { iteration: 1, gradient_norm, tolerance, precise: false })
    }

    /// Returns an error if the run was stopped.
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
