//! Certificates that cannot be relied on, though they are as their version wrote them.
//!
//! Each family lists its own ([`Task::VOID`], [`Task::DOUBTFUL`]). All lists together and the one in `SECURITY.md` say the
//! same (`tests/all/void.rs` compares them). An entry names the first version that it no longer concerns, and
//! recognises a certificate by its own words.

use crate::release::released::Released;
use crate::release::task::Task;
use privet_dp::gate::Version;

/// A kind of certificate that was found wanting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// Its name in `SECURITY.md`.
    pub name: &'static str,
    /// Versions below this one are concerned.
    pub before: Version,
    /// Which of their certificates, in words.
    pub which: &'static str,
    /// What is wrong.
    pub why: &'static str,
}

/// A finding, and by what a family recognises the certificates that it concerns.
#[derive(Debug)]
pub struct Concern<T: Task> {
    /// What was found.
    pub finding: Finding,
    /// Whether it is of the kind, whatever its version.
    pub of: fn(&Released<T>) -> bool,
}

impl<T: Task> Concern<T> {
    /// Whether it concerns what this version released.
    pub fn concerns(&self, version: Version, released: &Released<T>) -> bool {
        version < self.finding.before && (self.of)(released)
    }
}
