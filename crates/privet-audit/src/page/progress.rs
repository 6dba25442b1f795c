//! Progress of the long audit.

use super::counts::settings;
use super::phases::PHASES;
use super::selections;
use super::{BUDGETS, LOW_BITS, SCALARS};
use crate::AuditError;
use crate::cases::cases;
use privet_learn::METHODS;
use std::cell::Cell;
use std::time::Instant;

/// Prints the next step, the share of the work done and the estimated time left.
pub(super) struct Progress<'a> {
    tell: &'a dyn Fn(&str),
    started: Instant,
    done: Cell<f64>,
    all: f64,
}

/// Weights of rows in the time left, by their duration: learners, single runs, anything else.
pub(super) const LEARNER_WEIGHT: f64 = 10.0;
pub(super) const SINGLE_RUN_WEIGHT: f64 = 2.0;
pub(super) const OTHER_WEIGHT: f64 = 1.0;

impl<'a> Progress<'a> {
    pub(super) fn new(tell: &'a dyn Fn(&str)) -> Result<Self, AuditError> {
        let rows = 2.0 * METHODS.iter().filter(|info| info.name != "non-private").count() as f64;
        let others = cases()?.len()
            + SCALARS.len()
            + 2 * LOW_BITS.len()
            + PHASES.len()
            + 2
            + settings()?.len()
            + super::answers::settings()?.len()
            + super::declared::settings()?.len()
            + super::descriptions::rows()?
            + super::evaluations::settings()?.len()
            + super::private_bounds::rows()?
            + selections::settings()?.len()
            + super::ratings::settings()?.len()
            + super::votes::settings()?.len()
            + super::streams::settings()?.len()
            + super::networks::subjects()?.len()
            + super::parties::settings()?.len();
        let all = rows * ((BUDGETS.len() + 1) as f64 * LEARNER_WEIGHT + SINGLE_RUN_WEIGHT)
            + others as f64 * OTHER_WEIGHT;
        Ok(Self { tell, started: Instant::now(), done: Cell::new(0.0), all })
    }

    pub(super) fn step(&self, weight: f64, what: &str) {
        let (gone, done) = (self.started.elapsed().as_secs_f64(), self.done.get());
        let share = (done / self.all).min(1.0);
        let left = if share > 0.02 {
            format!(", about {:.0} min left", (gone * (1.0 / share - 1.0) / 60.0).ceil())
        } else {
            String::new()
        };
        (self.tell)(&format!("[{:3.0} %{left}] {what}", 100.0 * share));
        self.done.set(done + weight);
    }
}
