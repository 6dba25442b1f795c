//! The few types every room of privet shares.
//!
//! - [`Neighbours`] and [`Unit`]: which two data sets must look alike, and whose records change;
//!   [`Relation`]: both together, and how far a sum moves between neighbours.
//! - [`Spelling`]: when two identifiers name one unit.
//! - [`Whose`]: who a unit is.
//! - [`Budget`]: the (ε, δ) a caller is willing to spend.
//! - [`Range`]: a limit on a setting, written once and read by the check, the help text and the
//!   error message.
//! - [`joint`]: what is set aside for noise that servers draw together.
//! - [`now`]: dates as text.
//! - [`printable`]: text from elsewhere, fit to be shown.
#![forbid(unsafe_code)]

mod budget;
mod date;
pub mod joint;
mod neighbours;
mod range;
mod relation;
mod spelling;
mod text;
mod whose;

pub use budget::{Budget, DELTA, EPSILON};
pub use date::{is_timestamp, now, timestamp};
pub use neighbours::{Neighbours, UNIT_CAP, Unit};
pub use range::Range;
pub use relation::Relation;
pub use spelling::Spelling;
pub use text::{printable, printable_lines};
pub use whose::{UNNAMED_UNIT, Whose};

/// Why a setting was refused. Carries settings only, never a value read from records.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number lies outside its range.
    #[error("{value} is not accepted for {}: {range}", range.name())]
    OutOfRange {
        /// What would be accepted.
        range: Range,
        /// What was given.
        value: f64,
    },
    /// A word is not one of those known.
    #[error("'{given}' is not a {what}: accepted are {accepted}")]
    Unknown {
        /// What kind of word it is.
        what: &'static str,
        /// What was given.
        given: String,
        /// What would be accepted.
        accepted: &'static str,
    },
}
