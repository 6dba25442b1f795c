//! How long a party waits, and how often it asks meanwhile.
//!
//! A server holds a question that it cannot answer yet for [`HELD`]; one that answers at once all the same is asked ever
//! more seldom. A server ends a wait of its own after the agreed patience and says who is missing; a party that still
//! hears "wait" a little later goes by itself, whatever the server says.

use std::time::{Duration, Instant};

/// How long a server holds a question that it cannot answer yet.
pub(crate) const HELD: Duration = Duration::from_secs(1);
/// The first pause between two questions, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), HELD);
/// How much longer than servers a party waits, at most.
const GRACE: u64 = 30;

/// Pauses between questions: each twice as long as the one before, up to the longest; a question that was held has been
/// a pause already.
pub(crate) struct Pauses {
    next: Duration,
    asked: Instant,
}

impl Pauses {
    pub fn new() -> Self {
        Self { next: PAUSES.0, asked: Instant::now() }
    }

    /// Waits until it is time for the next question.
    pub fn pause(&mut self) {
        std::thread::sleep(self.next.saturating_sub(self.asked.elapsed()));
        self.next = (2 * self.next).min(PAUSES.1);
        self.asked = Instant::now();
    }
}

/// Until when a wait may last where servers lose patience after so many seconds.
pub(crate) fn until(patience: u64) -> Instant {
    Instant::now() + Duration::from_secs(patience + patience.min(GRACE))
}
