//! Which data sets must be indistinguishable.

use crate::{Error, Range};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// When two data sets are neighbours, counted in [`Unit`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbours {
    /// One unit's data are exchanged for another's: the number of rows is public.
    ReplaceOne,
    /// One unit is added or removed: the number of rows is private, and only the declared count
    /// is ever used.
    AddRemove,
    /// The labels of one unit's records are others, and nothing else of them: labels alone are protected. Everything
    /// besides, the number of rows included, is taken for public.
    ReplaceLabel,
}

impl Neighbours {
    /// The words accepted by [`FromStr`].
    pub const ACCEPTED: &'static str = "replace-one, add-remove, replace-label";

    /// The relation of whole records that it is a case of: what holds for that holds for this.
    pub fn of_records(self) -> Self {
        match self {
            Self::ReplaceOne | Self::ReplaceLabel => Self::ReplaceOne,
            Self::AddRemove => Self::AddRemove,
        }
    }

    /// 2 where a unit is taken out and another put in, 1 where only one of the two happens.
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

/// Whose data change between neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Unit {
    /// One row of the table.
    Record,
    /// All rows of one user, of which at most `max_records` enter the computation.
    User {
        /// The cap.
        max_records: u32,
    },
}

impl Unit {
    /// The largest number of records one unit contributes.
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
