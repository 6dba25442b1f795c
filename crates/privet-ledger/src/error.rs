//! Reasons for a refusal by a ledger.

use privet_core::{Neighbours, Unit, UnitDefinition, printable};
use privet_dp::account::AccountError;
use privet_dp::gate::PurseError;

/// A refusal: nothing was written, and nothing may be spent. Carries names and settings, never a value
/// of a record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// No ledger exists at this place.
    #[error("{path}: there is no ledger; `privet budget open` makes one")]
    Absent {
        /// Path of the ledger.
        path: String,
    },
    /// The file exists already.
    #[error("{path}: there is a file already, and it is kept; name another")]
    Exists {
        /// Path of the file.
        path: String,
    },
    /// The file is not a ledger.
    #[error("{path}: not a ledger: {why}")]
    NotALedger {
        /// Path of the file.
        path: String,
        /// The difference.
        why: String,
    },
    /// The schema differs from a ledger's; a foreign object could change entries.
    #[error(
        "the ledger {path} is not as this program made it: the difference is the {what}. Such a thing could take an entry \
         out again, so nothing is read or spent from it; compare it with a copy and with the certificates that were given out"
    )]
    Foreign {
        /// Path of the ledger.
        path: String,
        /// The object that is there and should not be, or the reverse.
        what: String,
    },
    /// Written in a format that this version does not read.
    #[error("the ledger is of format '{}'; this version reads {}: take a newer one", printable(.found), crate::entry::FORMAT)]
    Version {
        /// The format found.
        found: String,
    },
    /// An entry was altered, or breaks a rule.
    #[error(
        "the ledger is broken at entry {sequence}: {why}. Nothing is spent from it; compare it with a copy and with the certificates that were given out"
    )]
    Broken {
        /// Number of the entry.
        sequence: u64,
        /// The rule broken.
        why: String,
    },
    /// The data set does not exist.
    #[error("the ledger has no data set '{}'; it has: {known}. `privet budget open` adds one", printable(.name))]
    NoDataSet {
        /// The name given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// The name is in use.
    #[error("the ledger has a data set '{}' already: its limit was fixed when it was opened", printable(.name))]
    NameTaken {
        /// The name.
        name: String,
    },
    /// Not a valid name.
    #[error("'{}' is no name of a data set: 1 to 200 characters, none of them a control character, are accepted", printable(.name))]
    BadName {
        /// The name given.
        name: String,
    },
    /// The budget or order is not possible under this filter.
    #[error("{0}")]
    Limit(String),
    /// The release would exceed the limit.
    #[error("{0}")]
    Exceeds(String),
    /// The release has other neighbours or another kind of unit than the limit.
    #[error("this release protects {asked_neighbours} of {asked_unit}, and the limit of '{}' is for {neighbours} of {unit}: what is spent on the one cannot be counted on the other. Plan it for the limit's, or open a data set of its own", printable(.name))]
    OtherRelation {
        /// Name of the data set.
        name: String,
        /// Neighbours of the limit.
        neighbours: Neighbours,
        /// Unit of the limit.
        unit: Unit,
        /// Neighbours of the release.
        asked_neighbours: Neighbours,
        /// Unit of the release.
        asked_unit: Unit,
    },
    /// The users of the release are given by another column than those of the limit.
    #[error("a unit of this release is {requested}, and the limit of '{}' is for {whose}: what is spent on the one cannot be counted on the other. Release it under a schema whose [unit] is the limit's, or open a data set of its own", printable(.name))]
    OtherUnit {
        /// Name of the data set.
        name: String,
        /// Unit of the limit.
        whose: UnitDefinition,
        /// Unit of the release.
        requested: UnitDefinition,
    },
    /// The unit is users, and no column says whose a record is.
    #[error("{0}")]
    UnitNotSaid(String),
    /// The table is, or may be, another data set.
    #[error("{0}")]
    Identity(String),
    /// The reservation is not in the state that the operation needs.
    #[error("entry {sequence}: {why}")]
    State {
        /// Number of the reservation.
        sequence: u64,
        /// The reason.
        why: String,
    },
    /// The certificate is not one of this ledger.
    #[error("{0}")]
    Certificate(String),
    /// The other ledger cannot be imported.
    #[error("{0}")]
    Import(String),
    /// The events cannot be accounted for.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// The file or server could not be read or written.
    #[error("the ledger {path} could not be {doing}: {why}")]
    Environment {
        /// Path or address of the ledger.
        path: String,
        /// The operation that failed, as a participle: read, written, opened or made.
        doing: &'static str,
        /// Message of the operating system or database.
        why: String,
    },
    /// The release was made, and its entry could not be closed.
    #[error(
        "{why}. The release is made and valid; its entry {reservation} stays open, and counts as spent"
    )]
    NotClosed {
        /// Number of its reservation.
        reservation: u64,
        /// The reason.
        why: Box<LedgerError>,
    },
}

impl LedgerError {
    /// True for failures of the environment (disk, permission, network), and where the release is made
    /// and only its entry stayed open.
    pub fn is_environment(&self) -> bool {
        matches!(self, Self::Environment { .. } | Self::NotClosed { .. })
    }

    /// True for refusals on privacy grounds.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Exceeds(_)
                | Self::Broken { .. }
                | Self::Foreign { .. }
                | Self::OtherRelation { .. }
                | Self::OtherUnit { .. }
                | Self::UnitNotSaid(_)
                | Self::Identity(_)
                | Self::Certificate(_)
                | Self::State { .. }
                | Self::Account(_)
        )
    }
}

impl From<LedgerError> for PurseError {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Environment { .. } => Self::NotKept(error.to_string()),
            error => Self::Refused(error.to_string()),
        }
    }
}
