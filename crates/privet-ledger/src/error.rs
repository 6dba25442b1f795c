//! Why a ledger refused.

use privet_core::{Neighbours, Unit, Whose, printable};
use privet_dp::account::AccountError;
use privet_dp::gate::PurseError;

/// Why nothing was written down, and so nothing may be spent. Carries names and settings, never a value of a record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// There is no ledger there.
    #[error("{path}: there is no ledger; `privet budget open` makes one")]
    Absent {
        /// Where.
        path: String,
    },
    /// There is one already.
    #[error("{path}: there is a file already, and it is kept; name another")]
    Exists {
        /// Where.
        path: String,
    },
    /// Not a ledger at all.
    #[error("{path}: not a ledger: {why}")]
    NotALedger {
        /// Where.
        path: String,
        /// What is there.
        why: String,
    },
    /// Something lies beneath it that could change what is written.
    #[error(
        "the ledger {path} is not as this program made it: the difference is the {what}. Such a thing could take an entry \
         out again, so nothing is read or spent from it; compare it with a copy and with the certificates that were given out"
    )]
    Foreign {
        /// Where.
        path: String,
        /// What is there, or is not.
        what: String,
    },
    /// Written by a version that this one does not know.
    #[error("the ledger is of format '{}'; this version reads {}: take a newer one", printable(.found), crate::entry::FORMAT)]
    Version {
        /// What it says.
        found: String,
    },
    /// An entry is not what was written.
    #[error(
        "the ledger is broken at entry {sequence}: {why}. Nothing is spent from it; compare it with a copy and with the certificates that were given out"
    )]
    Broken {
        /// Which one.
        sequence: u64,
        /// In which way.
        why: String,
    },
    /// No such data set.
    #[error("the ledger has no data set '{}'; it has: {known}. `privet budget open` adds one", printable(.name))]
    NoDataSet {
        /// What was asked for.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A name that is in use.
    #[error("the ledger has a data set '{}' already: its limit was fixed when it was opened", printable(.name))]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A name that is none.
    #[error("'{}' is no name of a data set: 1 to 200 characters, none of them a control character, are accepted", printable(.name))]
    BadName {
        /// What was given.
        name: String,
    },
    /// The limit cannot be kept by this filter.
    #[error("{0}")]
    Limit(String),
    /// More than is left.
    #[error("{0}")]
    Exceeds(String),
    /// Another relation than the limit's.
    #[error("this release protects {asked_neighbours} of {asked_unit}, and the limit of '{}' is for {neighbours} of {unit}: what is spent on the one cannot be counted on the other. Plan it for the limit's, or open a data set of its own", printable(.name))]
    OtherRelation {
        /// The data set.
        name: String,
        /// The limit's.
        neighbours: Neighbours,
        /// The limit's.
        unit: Unit,
        /// The release's.
        asked_neighbours: Neighbours,
        /// The release's.
        asked_unit: Unit,
    },
    /// Another unit than the limit's.
    #[error("a unit of this release is {asked}, and the limit of '{}' is for {whose}: what is spent on the one cannot be counted on the other. Release it under a schema whose [unit] is the limit's, or open a data set of its own", printable(.name))]
    OtherUnit {
        /// The data set.
        name: String,
        /// The limit's.
        whose: Whose,
        /// The release's.
        asked: Whose,
    },
    /// Nobody said who a user is.
    #[error("{0}")]
    UnitNotSaid(String),
    /// The table is another data set, or may be.
    #[error("{0}")]
    Identity(String),
    /// A state that a reservation is not in.
    #[error("entry {sequence}: {why}")]
    State {
        /// The reservation.
        sequence: u64,
        /// What is the matter.
        why: String,
    },
    /// Not a certificate of this ledger.
    #[error("{0}")]
    Certificate(String),
    /// What was to be imported does not fit.
    #[error("{0}")]
    Import(String),
    /// The events cannot be accounted for.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// It could not be read or written.
    #[error("the ledger {path} could not be {doing}: {why}")]
    Environment {
        /// Where it is.
        path: String,
        /// Read or written.
        doing: &'static str,
        /// In the system's words.
        why: String,
    },
    /// The release was made, and its entry could not be closed.
    #[error(
        "{why}. The release is made and valid; its entry {reservation} stays open, and counts as spent"
    )]
    NotClosed {
        /// The entry.
        reservation: u64,
        /// What is the matter.
        why: Box<LedgerError>,
    },
}

impl LedgerError {
    /// Whether it is the machine's doing: disk, permission, network; or no refusal, since the release is made.
    pub fn is_environment(&self) -> bool {
        matches!(self, Self::Environment { .. } | Self::NotClosed { .. })
    }

    /// Whether it is refused on privacy grounds.
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
