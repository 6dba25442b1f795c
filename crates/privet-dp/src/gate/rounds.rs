//! The draws of a plan one after the other, for whoever adds noise without holding records.

use super::course::Course;
use crate::account::Event;

/// Which draw a plan has next: a server among parties goes by it, so that it adds no noise that was not planned, and
/// none twice.
#[derive(Debug, Clone)]
pub struct Rounds {
    course: Course,
    made: u64,
}

impl Rounds {
    /// From the first draw of a plan on.
    pub fn of(planned: &Event) -> Self {
        Self { course: Course::of(planned), made: 0 }
    }

    /// Goes on by one draw; `false`, and nothing changes, if another one is next.
    pub fn go_on(&mut self, leaf: &Event) -> bool {
        let planned = self.course.advance(leaf);
        self.made += u64::from(planned);
        planned
    }

    /// What the plan has next, if any is left.
    pub fn next(&self) -> Option<&Event> {
        self.course.next()
    }

    /// How many draws were made.
    pub fn made(&self) -> u64 {
        self.made
    }

    /// Whether all that must be drawn was.
    pub fn complete(&self) -> bool {
        self.course.complete()
    }
}
