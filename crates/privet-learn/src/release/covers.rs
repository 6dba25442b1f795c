//! What a method covers of what any request may ask: declared with the method, and refused in one place.
//!
//! A limit that depends on a method's own settings, or on sizes, stays with the method; whatever can be said of the method
//! alone is said here, so that tables in the docs and tests know what must be covered.

use crate::LearnError;
use crate::release::request::Calibration;
use privet_core::Relation;

/// Why printed constants are refused where no paper prints any.
pub const NOT_PRINTED: &str = "has no printed constants";

/// Whether a method covers something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover {
    /// It does.
    Yes,
    /// It does not.
    No {
        /// Why, as it goes on after whoever is named: "method amp …".
        why: &'static str,
        /// What would be covered.
        instead: &'static str,
    },
}

impl Cover {
    /// δ = 0, of Gaussian noise.
    pub const fn gaussian(instead: &'static str) -> Self {
        Self::No { why: "adds Gaussian noise, which has no finite epsilon at delta = 0", instead }
    }

    /// Several linear problems, of a method for one.
    pub const fn one_problem(instead: &'static str) -> Self {
        Self::No { why: "is made for one linear problem", instead }
    }

    /// A paper's constants, where there are none that could be used.
    pub const fn unprinted(why: &'static str) -> Self {
        Self::No { why, instead: "leave out the calibration, or give sound" }
    }

    /// True where it covers it.
    pub const fn is_yes(self) -> bool {
        matches!(self, Self::Yes)
    }

    /// Refuses it for whoever is named, unless it is covered.
    pub(crate) fn refused(self, who: &str) -> Result<(), LearnError> {
        match self {
            Self::Yes => Ok(()),
            Self::No { why, instead } => {
                Err(LearnError::NotCovered { what: format!("{who} {why}"), instead })
            }
        }
    }
}

/// What a method asks of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Sums alone, or single rows by their places: it runs on a table that is read from disk, with the same result.
    Sums,
    /// All rows in memory.
    Memory,
}

/// What a method covers.
#[derive(Debug, Clone, Copy)]
pub struct Covers {
    /// δ = 0.
    pub pure: Cover,
    /// The constants that a paper prints.
    pub printed: Cover,
    /// A number of rows that is private: one record added or removed, or people as units.
    pub private_count: Cover,
    /// Units of more than one record.
    pub users: Cover,
    /// More than one linear problem: a target of more than two classes.
    pub several: Cover,
    /// What it asks of a table.
    pub needs: Needs,
}

impl Covers {
    /// Everything.
    pub const ALL: Self = Self {
        pure: Cover::Yes,
        printed: Cover::Yes,
        private_count: Cover::Yes,
        users: Cover::Yes,
        several: Cover::Yes,
        needs: Needs::Sums,
    };

    /// Refuses what is not covered of a request, in words that name what would be.
    pub(crate) fn check(&self, method: &str, asked: Asked) -> Result<(), LearnError> {
        let refusals = [
            (asked.calibration == Calibration::Printed, self.printed),
            (asked.relation.unit.records() > 1, self.users),
            (!asked.relation.count_is_public(), self.private_count),
            (asked.pure, self.pure),
            (asked.problems > 1, self.several),
        ];
        let who = format!("method {method}");
        refusals.iter().filter(|(asked, _)| *asked).try_for_each(|(_, cover)| cover.refused(&who))
    }
}

/// What a request asks of any method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    /// Between which tables nothing may show.
    pub relation: Relation,
    /// Whether δ is 0.
    pub pure: bool,
    /// Whose constants.
    pub calibration: Calibration,
    /// Linear problems; 1 where there are none.
    pub problems: u32,
}
