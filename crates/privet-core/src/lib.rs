//! The few types shared by every crate of privet.
//!
//! - [`Neighbours`] and [`Unit`]: the neighbour relation between data sets, and the unit of protection;
//!   [`Relation`]: both together, and the sensitivity of a sum under them.
//! - [`Spelling`]: the normal form under which two identifiers name one unit.
//! - [`UnitDefinition`]: the column that identifies a unit.
//! - [`Budget`]: the (ε, δ) that a caller sets.
//! - [`Range`]: a limit on a setting, written once and read by the check, the help text and the
//!   error message.
//! - [`joint`]: constants charged for noise that servers draw jointly.
//! - [`now`]: dates as text.
//! - [`printable`]: untrusted text, escaped for display.
#![forbid(unsafe_code)]

mod budget;
mod date;
pub mod joint;
mod neighbours;
mod range;
mod relation;
mod spelling;
mod text;
mod unit_definition;

pub use budget::{Budget, DELTA, EPSILON};
pub use date::{is_timestamp, now, timestamp};
pub use neighbours::{Neighbours, UNIT_CAP, Unit};
pub use range::Range;
pub use relation::Relation;
pub use spelling::Spelling;
pub use text::{printable, printable_lines};
pub use unit_definition::{UNNAMED_UNIT, UnitDefinition};

/// Reason for refusing a setting. Carries settings only, never a value read from records.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number lies outside its range.
    #[error("{value} is not accepted for {}: {range}", range.name())]
    OutOfRange {
        /// The accepted range.
        range: Range,
        /// The refused value.
        value: f64,
    },
    /// A word is not one of the accepted ones.
    #[error("'{given}' is not a {what}: accepted are {accepted}")]
    Unknown {
        /// The kind of word, as the message names it.
        what: &'static str,
        /// The refused word.
        given: String,
        /// The accepted words.
        accepted: &'static str,
    },
}
