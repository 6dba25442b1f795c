//! Certificates that are unreliable, though they are as their version wrote them.
//!
//! Each family lists its own ([`Task::VOID`], [`Task::DOUBTFUL`]). All lists together state the same as
//! the one in `SECURITY.md` (`tests/all/void.rs` compares them). An entry names the first version that
//! it no longer concerns, and recognises a certificate by its own words.

use crate::release::released::Released;
use crate::release::task::Task;
use privet_data::Schema;
use privet_dp::gate::Version;

/// A kind of certificate that was found unreliable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// Its name in `SECURITY.md`.
    pub name: &'static str,
    /// The first version that is not concerned.
    pub before: Version,
    /// The certificates of those versions that are concerned, in words.
    pub which: &'static str,
    /// The fault.
    pub why: &'static str,
}

/// A finding, with the family's test for the certificates that it concerns.
#[derive(Debug)]
pub struct Concern<T: Task> {
    /// The finding.
    pub finding: Finding,
    /// Returns true for certificates of the kind, whatever their version.
    pub of: fn(&Released<T>) -> bool,
}

impl<T: Task> Concern<T> {
    /// True if it concerns a release of this version.
    pub fn concerns(&self, version: Version, released: &Released<T>) -> bool {
        version < self.finding.before && (self.of)(released)
    }
}

/// A finding on certificates of every family, and the schemas that it concerns.
#[derive(Debug)]
pub struct SchemaConcern {
    /// The finding.
    pub finding: Finding,
    of: fn(&Schema) -> bool,
}

impl SchemaConcern {
    /// True if it concerns a release of this version under this schema.
    pub fn concerns(&self, version: Version, schema: &Schema) -> bool {
        version < self.finding.before && (self.of)(schema)
    }
}

/// Concerns that `verify` notes for every family.
pub const DOUBTFUL_SCHEMAS: &[SchemaConcern] = &[SchemaConcern {
    finding: Finding {
        name: "DOUBT-4",
        before: Version(0, 2, 1),
        which: "schemas with `invalid = \"drop\"` or `\"stand-in\"`",
        why: "it holds only if the table was not handed over from Python in an array or column whose type a \
              library found in its cells: one cell of another type could change how others were read",
    },
    of: |schema| schema.invalid().is_total(),
}];
