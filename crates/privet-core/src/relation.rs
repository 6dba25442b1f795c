//! A neighbour relation together with its unit.
//!
//! [`Relation::shift`] turns a bound on one record's contribution into the sensitivity of a sum between
//! neighbours. That factor is written nowhere else.

use crate::{Neighbours, Unit};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A neighbour relation and the unit that it is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relation {
    /// The neighbour relation.
    pub neighbours: Neighbours,
    /// The unit of protection.
    pub unit: Unit,
}

impl Relation {
    /// Combines a neighbour relation and a unit.
    pub const fn new(neighbours: Neighbours, unit: Unit) -> Self {
        Self { neighbours, unit }
    }

    /// True if all neighbours have the same number of rows, so that the count may be used and shown.
    /// False for users: replacing one may change the number of rows.
    pub fn count_is_public(self) -> bool {
        self.neighbours != Neighbours::AddRemove && self.unit == Unit::Record
    }

    /// The largest number of records that differ between neighbours: a unit's records, counted twice
    /// where another unit replaces it.
    pub fn records(self) -> f64 {
        self.sides() * f64::from(self.unit.records())
    }

    /// 2 for the relations that exchange a unit for another, 1 for add-remove.
    pub fn sides(self) -> f64 {
        self.neighbours.sides()
    }

    /// Sensitivity of a sum over records, each contribution of norm at most `bound`: sides × records ×
    /// bound, rounded up.
    pub fn shift(self, bound: f64) -> f64 {
        self.records() * bound * (1.0 + 4.0 * f64::EPSILON)
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.neighbours, self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_counts_sides_and_records_and_is_rounded_up() {
        let user = Unit::User { max_records: 3 };
        for (neighbours, unit, records) in [
            (Neighbours::ReplaceOne, Unit::Record, 2.0),
            (Neighbours::AddRemove, Unit::Record, 1.0),
            (Neighbours::ReplaceOne, user, 6.0),
            (Neighbours::AddRemove, user, 3.0),
        ] {
            let relation = Relation::new(neighbours, unit);
            assert_eq!(relation.records(), records);
            assert!(
                relation.shift(0.1) > records * 0.1
                    && relation.shift(0.1) < records * 0.1 * (1.0 + 1e-14)
            );
            assert_eq!(relation.shift(0.0), 0.0);
            let public = neighbours == Neighbours::ReplaceOne && unit == Unit::Record;
            assert_eq!(relation.count_is_public(), public);
        }
    }
}
