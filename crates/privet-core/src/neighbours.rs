//! Neighbour relations: the pairs of data sets that must be indistinguishable.

use crate::{Error, Range};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A neighbour relation between data sets, counted in [`Unit`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbours {
    /// Replace one: one unit's data are exchanged for another's. The number of rows is public.
    ReplaceOne,
    /// Add or remove one unit. The number of rows is private, and only the declared count is used.
    AddRemove,
    /// Label privacy: only the labels of one unit's records change. Everything else, the number of rows
    /// included, is taken for public.
    ReplaceLabel,
}

impl Neighbours {
    /// The words that [`FromStr`] accepts.
    pub const ACCEPTED: &'static str = "replace-one, add-remove, replace-label";

    /// The relation of whole records that contains this one: its bounds hold for this one, too.
    pub fn of_records(self) -> Self {
        match self {
            Self::ReplaceOne | Self::ReplaceLabel => Self::ReplaceOne,
            Self::AddRemove => Self::AddRemove,
        }
    }

    /// 2 for the relations that exchange a unit for another, 1 for add-remove.
    pub fn sides(self) -> f64 {
        match self {
            Self::ReplaceOne | Self::ReplaceLabel => 2.0,
            Self::AddRemove => 1.0,
        }
    }
}

impl fmt::Display for Neighbours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReplaceOne => "replace-one",
            Self::AddRemove => "add-remove",
            Self::ReplaceLabel => "replace-label",
        })
    }
}

impl FromStr for Neighbours {
    type Err = Error;
    fn from_str(word: &str) -> Result<Self, Error> {
        match word {
            "replace-one" => Ok(Self::ReplaceOne),
            "add-remove" => Ok(Self::AddRemove),
            "replace-label" => Ok(Self::ReplaceLabel),
            _ => Err(Error::Unknown {
                what: "neighbour relation",
                given: word.into(),
                accepted: Self::ACCEPTED,
            }),
        }
    }
}

/// Limits on the number of records one user may own.
pub const UNIT_CAP: Range = Range::from("max_records", 1.0, 4_294_967_296.0);

/// The unit of protection: the data that change between neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Unit {
    /// One row of the table.
    Record,
    /// All rows of one user, of which at most `max_records` enter the computation.
    User {
        /// Upper bound on the number of used records per user.
        max_records: u32,
    },
}

impl Unit {
    /// The largest number of records that one unit contributes.
    pub fn records(&self) -> u32 {
        match self {
            Self::Record => 1,
            Self::User { max_records } => *max_records,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record => f.write_str("one record"),
            Self::User { max_records } => write!(f, "one user with at most {max_records} records"),
        }
    }
}
