//! The draws of a plan in order, for servers that add noise without holding records.

use super::plan_position::PlanPosition;
use crate::account::Event;

/// The next draw of a plan. A server among parties follows it, so that it adds no noise that was not
/// planned, and none twice.
#[derive(Debug, Clone)]
pub struct PlannedDraws {
    course: PlanPosition,
    made: u64,
}

impl PlannedDraws {
    /// Begins at the first draw of a plan.
    pub fn of(planned: &Event) -> Self {
        Self { course: PlanPosition::of(planned), made: 0 }
    }

    /// Advances by one draw; `false`, and nothing changes, if the next draw is another one.
    pub fn go_on(&mut self, leaf: &Event) -> bool {
        let planned = self.course.advance(leaf);
        self.made += u64::from(planned);
        planned
    }

    /// The plan's next draw, if any is left.
    pub fn next(&self) -> Option<&Event> {
        self.course.next()
    }

    /// The number of completed draws.
    pub fn completed(&self) -> u64 {
        self.made
    }

    /// True if every mandatory draw was made.
    pub fn complete(&self) -> bool {
        self.course.complete()
    }
}
