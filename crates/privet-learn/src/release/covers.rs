//! The requests that a method covers: declared with the method, refused in one place.
//!
//! A limit that depends on a method's own settings, or on sizes, stays with the method; limits of the
//! method as such are declared here, so that tables in the docs and tests know the cases to cover.

use crate::LearnError;
use crate::release::request::Calibration;
use privet_core::Relation;

/// The reason for refusing printed constants where no paper prints any.
pub const NOT_PRINTED: &str = "has no printed constants";

/// Coverage of one kind of request, with the reason if it is not covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// Covered.
    Yes,
    /// Not covered.
    No {
        /// The reason, a predicate whose subject is the method: "method amp …".
        why: &'static str,
        /// The covered alternative.
        instead: &'static str,
    },
}

impl Coverage {
    /// The refusal of δ = 0 by Gaussian noise.
    pub const fn gaussian(instead: &'static str) -> Self {
        Self::No { why: "adds Gaussian noise, which has no finite epsilon at delta = 0", instead }
    }

    /// The refusal of several linear problems by a method for one.
    pub const fn one_problem(instead: &'static str) -> Self {
        Self::No { why: "is made for one linear problem", instead }
    }

    /// The refusal of a paper's constants where there are none that could be used.
    pub const fn unprinted(why: &'static str) -> Self {
        Self::No { why, instead: "leave out the calibration, or give sound" }
    }

    /// True if covered.
    pub const fn is_yes(self) -> bool {
        matches!(self, Self::Yes)
    }

    /// Refuses the request in the name of `who`, unless it is covered.
    pub(crate) fn require_covered(self, who: &str) -> Result<(), LearnError> {
        match self {
            Self::Yes => Ok(()),
            Self::No { why, instead } => {
                Err(LearnError::NotCovered { what: format!("{who} {why}"), instead })
            }
        }
    }
}

/// The access to a table that a method needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableAccess {
    /// Sums alone, or single rows by index: it runs on a table that is read from disk, with the same
    /// result.
    Sums,
    /// All rows in memory.
    Memory,
}

/// The requests that a method covers.
#[derive(Debug, Clone, Copy)]
pub struct MethodCoverage {
    /// Requests with δ = 0 (pure differential privacy).
    pub pure: Coverage,
    /// The constants that a paper prints.
    pub printed: Coverage,
    /// A number of rows that is private: one record added or removed, or people as units.
    pub private_count: Coverage,
    /// Units with more than one record.
    pub users: Coverage,
    /// More than one linear problem: a target of more than two classes.
    pub several: Coverage,
    /// The access to a table that it needs.
    pub needs: TableAccess,
}

impl MethodCoverage {
    /// Everything.
    pub const ALL: Self = Self {
        pure: Coverage::Yes,
        printed: Coverage::Yes,
        private_count: Coverage::Yes,
        users: Coverage::Yes,
        several: Coverage::Yes,
        needs: TableAccess::Sums,
    };

    /// Refuses a request that is not covered; the error names the covered alternative.
    pub(crate) fn check(&self, method: &str, requested: RequestFacts) -> Result<(), LearnError> {
        let refusals = [
            (requested.calibration == Calibration::Printed, self.printed),
            (requested.relation.unit.records() > 1, self.users),
            (!requested.relation.count_is_public(), self.private_count),
            (requested.pure, self.pure),
            (requested.problems > 1, self.several),
        ];
        let who = format!("method {method}");
        refusals
            .iter()
            .filter(|(requested, _)| *requested)
            .try_for_each(|(_, cover)| cover.require_covered(&who))
    }
}

/// The properties of a request that any method may refuse.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestFacts {
    /// The neighbouring tables.
    pub relation: Relation,
    /// True if δ = 0.
    pub pure: bool,
    /// The constants in use: proved or a paper's.
    pub calibration: Calibration,
    /// The number of linear problems; 1 where there are none.
    pub problems: u32,
}
