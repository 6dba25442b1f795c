//! How much of a server a stranger can take up: so many connections, for so long, and a few lines of its log.
//!
//! Whoever has not shown a certificate of the agreement is a stranger. Only so many are let in at once, and each has a few
//! seconds in all, however it spreads its bytes; a party then has a few seats of its own, so that strangers and
//! other parties take none of them. Strangers can still keep parties waiting by coming again and again: parties try until
//! their patience ends, and what reaches the port at all is for a firewall to say.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Strangers that are let in at once, beside one for each party.
const STRANGERS: usize = 32;
/// How long one may take to show who it is.
const SHOWING: Duration = Duration::from_secs(10);
/// Connections of one party at once: after a restart old ones may linger.
const SEATS: usize = 8;
/// Lines about strangers that are told one by one; after these at every doubling.
const TOLD: u64 = 16;

/// Counts who is in.
#[derive(Clone)]
pub(crate) struct Doors {
    strangers: Arc<AtomicUsize>,
    room: usize,
    members: Arc<Vec<AtomicUsize>>,
    told: Arc<AtomicU64>,
}

impl Doors {
    /// For so many members who may come: parties, and servers where these draw noise together.
    pub fn new(members: usize) -> Self {
        Self {
            strangers: Arc::default(),
            room: STRANGERS + members,
            members: Arc::new((0..members).map(|_| AtomicUsize::new(0)).collect()),
            told: Arc::default(),
        }
    }

    /// Lets a stranger in, if there is room.
    pub fn enter(&self) -> Option<Stranger> {
        let taken = taken(&self.strangers, self.room);
        taken.then(|| Stranger {
            count: Arc::clone(&self.strangers),
            until: Instant::now() + SHOWING,
        })
    }

    /// A seat of a member, if one is free.
    pub fn seat(&self, member: usize) -> Option<Seat> {
        let taken = taken(self.members.get(member)?, SEATS);
        taken.then(|| Seat { members: Arc::clone(&self.members), member })
    }

    /// Whether one more line about strangers is worth the log: a few are, then ever fewer.
    pub fn worth_telling(&self) -> bool {
        let before = self.told.fetch_add(1, Ordering::Relaxed);
        before < TOLD || (before + 1).is_power_of_two()
    }
}

/// Takes one of so many.
fn taken(count: &AtomicUsize, most: usize) -> bool {
    let more = |now: usize| (now < most).then_some(now + 1);
    count.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
}

/// One who has shown nothing yet; leaves when dropped.
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
    /// Until when it must have shown who it is ([`crate::timed`]).
    pub fn until(&self) -> Instant {
        self.until
    }
}

/// One connection of a member; given back when dropped.
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
        let doors = Doors::new(2);
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
        let doors = Doors::new(1);
        let told = (0..1 << 16).filter(|_| doors.worth_telling()).count();
        assert!((16..40).contains(&told), "{told}");
    }
}
