//! Limits on unauthenticated connections to a server: their number, their duration and their lines in
//! its log.
//!
//! A peer that has not shown a certificate of the agreement is a stranger. Only a limited number of
//! strangers is connected at once, and each has ten seconds in all, however it spreads its bytes. Each
//! party has seats of its own, which strangers and other parties cannot take. Strangers can still delay
//! parties by reconnecting again and again: parties retry until their patience ends, and access to the
//! port itself is a firewall's task.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Maximum number of strangers at once, beside one for each member.
const STRANGERS: usize = 32;
/// Maximum time for a stranger to show its certificate.
const SHOWING: Duration = Duration::from_secs(10);
/// Maximum connections of one member at once: after a restart old ones may linger.
const SEATS: usize = 8;
/// The number of log lines about strangers before they thin out to every doubling.
const LOGGED_STRANGERS: u64 = 16;

/// Counts connections.
#[derive(Clone)]
pub(crate) struct ConnectionLimits {
    strangers: Arc<AtomicUsize>,
    room: usize,
    members: Arc<Vec<AtomicUsize>>,
    told: Arc<AtomicU64>,
}

impl ConnectionLimits {
    /// Counts connections of this many members: parties, and servers if these draw noise together.
    pub fn new(members: usize) -> Self {
        Self {
            strangers: Arc::default(),
            room: STRANGERS + members,
            members: Arc::new((0..members).map(|_| AtomicUsize::new(0)).collect()),
            told: Arc::default(),
        }
    }

    /// Admits a stranger, unless the maximum is reached.
    pub fn enter(&self) -> Option<Stranger> {
        let taken = try_increment(&self.strangers, self.room);
        taken.then(|| Stranger {
            count: Arc::clone(&self.strangers),
            until: Instant::now() + SHOWING,
        })
    }

    /// Takes a seat of a member, if one is free.
    pub fn seat(&self, member: usize) -> Option<Seat> {
        let taken = try_increment(self.members.get(member)?, SEATS);
        taken.then(|| Seat { members: Arc::clone(&self.members), member })
    }

    /// True if one more line about strangers goes into the log: the first ones do, then ever fewer.
    pub fn worth_telling(&self) -> bool {
        let before = self.told.fetch_add(1, Ordering::Relaxed);
        before < LOGGED_STRANGERS || (before + 1).is_power_of_two()
    }
}

/// Increments a count unless it has reached its maximum.
fn try_increment(count: &AtomicUsize, most: usize) -> bool {
    let more = |now: usize| (now < most).then_some(now + 1);
    count.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
}

/// An unauthenticated connection; no longer counted when dropped.
pub(crate) struct Stranger {
    count: Arc<AtomicUsize>,
    until: Instant,
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Stranger {
    /// Deadline for showing a certificate ([`crate::timed`]).
    pub fn until(&self) -> Instant {
        self.until
    }
}

/// One connection of a member; released when dropped.
pub(crate) struct Seat {
    members: Arc<Vec<AtomicUsize>>,
    member: usize,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.members[self.member].fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_and_parties_have_their_own_numbers() {
        let doors = ConnectionLimits::new(2);
        let mut inside: Vec<_> = (0..STRANGERS + 2).map(|_| doors.enter().unwrap()).collect();
        assert!(doors.enter().is_none());
        let seats: Vec<_> = (0..SEATS).map(|_| doors.seat(0).unwrap()).collect();
        assert!(doors.seat(0).is_none() && doors.seat(1).is_some() && doors.seat(2).is_none());
        inside.pop();
        drop(seats);
        assert!(doors.enter().is_some() && doors.seat(0).is_some());
    }

    #[test]
    fn many_lines_about_strangers_are_told_seldom() {
        let doors = ConnectionLimits::new(1);
        let told = (0..1 << 16).filter(|_| doors.worth_telling()).count();
        assert!((16..40).contains(&told), "{told}");
    }
}
