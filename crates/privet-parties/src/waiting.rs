//! Waiting times of a party, and the intervals of its requests.
//!
//! A server delays a request that it cannot answer yet by [`LONGEST_DELAY`]; one that answers "waiting"
//! at once gets ever fewer requests. A server ends its own wait after the agreed patience and names the
//! missing members; a party that is still answered "waiting" a little later gives up by itself, whatever
//! the server answers.

use std::time::{Duration, Instant};

/// Time that a server delays a request that it cannot answer yet.
pub(crate) const LONGEST_DELAY: Duration = Duration::from_secs(1);
/// First and longest interval between two requests.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), LONGEST_DELAY);
/// Maximum extra seconds that a party waits beyond the servers' patience.
const GRACE_SECONDS: u64 = 30;

/// Intervals between requests: each twice as long as the one before, up to the longest; the time that a
/// server delayed a request counts.
pub(crate) struct RequestIntervals {
    next: Duration,
    asked: Instant,
}

impl RequestIntervals {
    pub fn new() -> Self {
        Self { next: PAUSES.0, asked: Instant::now() }
    }

    /// Waits until the next request is due.
    pub fn pause(&mut self) {
        std::thread::sleep(self.next.saturating_sub(self.asked.elapsed()));
        self.next = (2 * self.next).min(PAUSES.1);
        self.asked = Instant::now();
    }
}

/// Deadline of a wait when servers' patience is this many seconds.
pub(crate) fn deadline(patience: u64) -> Instant {
    Instant::now() + Duration::from_secs(patience + patience.min(GRACE_SECONDS))
}
