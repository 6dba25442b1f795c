//! Whose change must go unnoticed: a neighbour relation together with its unit.
//!
//! What a statistic states as the bound of one record's part becomes, by [`Relation::shift`], what the
//! sum can move by between neighbours. Nowhere else is that factor written.

use crate::{Neighbours, Unit};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A neighbour relation and the unit that it is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relation {
    /// When two data sets are neighbours.
    pub neighbours: Neighbours,
    /// Whose data change between them.
    pub unit: Unit,
}

impl Relation {
    /// Both together.
    pub const fn new(neighbours: Neighbours, unit: Unit) -> Self {
        Self { neighbours, unit }
    }

    /// Whether all neighbours have the same number of rows, so that it may be used and shown. A user's
    /// place may be taken by one with more or fewer rows.
    pub fn count_is_public(self) -> bool {
        self.neighbours != Neighbours::AddRemove && self.unit == Unit::Record
    }

    /// The most records that can leave or enter a table between neighbours: those of a unit, twice where
    /// another unit takes its place.
    pub fn records(self) -> f64 {
        self.sides() * f64::from(self.unit.records())
    }

    /// 2 where a unit is taken out and another put in, 1 where only one of the two happens.
    pub fn sides(self) -> f64 {
        self.neighbours.sides()
    }

    /// How far a sum over records can move between neighbours if one record's part has a norm of at most
    /// `bound`: sides × records × bound, rounded up.
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
