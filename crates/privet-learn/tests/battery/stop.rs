//! A stopped run releases nothing.

use crate::subject::Subject;
use privet_dp::noise::{FixedSeed, Source};
use privet_learn::{LearnError, Task};
use privet_optim::solver::{Monitor, Progress, SolveError};
use std::sync::atomic::{AtomicU32, Ordering};

/// Stops at the n-th poll, and from then on.
struct StopAt {
    turn: u32,
    asked: AtomicU32,
}

impl StopAt {
    fn new(turn: u32) -> Self {
        Self { turn, asked: AtomicU32::new(0) }
    }
}

impl Monitor for StopAt {
    fn proceed(&self, _progress: Progress) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) + 1 < self.turn
    }
}

/// Stopped at once nothing is drawn; stopped later, half-way or at the last query, nothing is released.
pub fn nothing<T: Task>(subject: &Subject<T>) {
    let name = &subject.name;
    let run = |monitor: &StopAt| {
        let mut source = FixedSeed::new(11);
        let outcome = subject.watched(&subject.data, &mut source, monitor);
        (outcome, source.next_u64() == FixedSeed::new(11).next_u64())
    };
    let quiet = StopAt::new(u32::MAX);
    let (outcome, untouched) = run(&quiet);
    let private = subject.plan.events().is_some();
    assert!(outcome.is_ok() && untouched != private, "{name}");
    let questions = quiet.asked.into_inner();
    for turn in [1, questions.div_ceil(2), questions] {
        let (outcome, untouched) = run(&StopAt::new(turn));
        assert!(
            matches!(outcome, Err(LearnError::Solve(SolveError::Stopped))),
            "{name}: {outcome:?} at question {turn} of {questions}"
        );
        assert!(untouched || turn > 1, "{name}: noise was drawn");
    }
}
