//! The column that identifies a unit.

use crate::{Error, Spelling, Unit, printable};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Name of the unit's column where identifiers were passed beside the records without a name.
pub const UNNAMED_UNIT: &str = "(not named)";

/// The definition of a unit: records, or the records with one identifier. Two claims about "a user" are
/// comparable only if the same column identifies users, read in the same way: budget spent per patient
/// says nothing about budget per visit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum UnitDefinition {
    /// Every record is its own unit.
    Records,
    /// Records with the same identifier in a column belong to one user.
    Column {
        /// The column's name.
        column: String,
        /// True if blanks around an identifier are removed.
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        trim: bool,
        /// The normal form of identifiers.
        #[serde(default, skip_serializing_if = "Spelling::is_text")]
        spelling: Spelling,
    },
    /// Unknown: ledgers of version 0.2.0, and identifiers passed without a name.
    #[default]
    NotSaid,
}

fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's form
fn is_yes(trim: &bool) -> bool {
    *trim
}

impl UnitDefinition {
    /// A column read with the defaults of a schema: blanks removed, spelling as text.
    pub fn column(name: impl Into<String>) -> Self {
        Self::Column { column: name.into(), trim: true, spelling: Spelling::Text }
    }

    /// As [`UnitDefinition::column`], for a name from a setting or a flag. Refuses blank names, control
    /// characters and [`UNNAMED_UNIT`].
    pub fn from_column_name(column: &str) -> Result<Self, Error> {
        let blank = column.trim().is_empty();
        if blank || column.chars().any(char::is_control) || column.trim().starts_with(UNNAMED_UNIT)
        {
            return Err(Error::Unknown {
                what: "name of a column that says whose a record is",
                given: printable(column).into_owned(),
                accepted: "texts that are not blank, have no control character and are not '(not named)', which is \
                           privet's own word",
            });
        }
        Ok(Self::column(column))
    }

    /// The definition for units of the given kind: records are their own units, and for users
    /// [`UnitDefinition::Records`] becomes [`UnitDefinition::NotSaid`].
    pub fn of(self, unit: Unit) -> Self {
        match (unit, self) {
            (Unit::Record, _) => Self::Records,
            (Unit::User { .. }, Self::Records) => Self::NotSaid,
            (Unit::User { .. }, said) => said,
        }
    }

    /// True if the definition is known.
    pub fn is_said(&self) -> bool {
        *self != Self::NotSaid
    }

    /// True if no column is named, so that nothing needs to be written down.
    pub fn goes_without_saying(&self) -> bool {
        !matches!(self, Self::Column { .. })
    }
}

impl fmt::Display for UnitDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Records => f.write_str("each record by itself"),
            Self::NotSaid => f.write_str("not said"),
            Self::Column { column, trim, spelling } => {
                write!(f, "the records with one value of \"{}\"", printable(column))?;
                if !spelling.is_text() {
                    write!(f, ", spelt as {spelling}")?;
                }
                f.write_str(if *trim { "" } else { ", blanks included" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_usual_is_not_written() {
        let text = |whose: &UnitDefinition| serde_json::to_string(whose).unwrap();
        assert_eq!(text(&UnitDefinition::column("id")), r#"{"kind":"column","column":"id"}"#);
        let other =
            UnitDefinition::Column { column: "id".into(), trim: false, spelling: Spelling::Number };
        for whose in
            [UnitDefinition::Records, UnitDefinition::NotSaid, UnitDefinition::column("id"), other]
        {
            assert_eq!(serde_json::from_str::<UnitDefinition>(&text(&whose)).unwrap(), whose);
        }
        assert!(
            serde_json::from_str::<UnitDefinition>(r#"{"kind":"column","column":"id","x":1}"#)
                .is_err()
        );
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for name in
            ["", " ", "\t", "(not named)", "(not named)_", " (not named)", "a\nb", "a\u{1b}b"]
        {
            let refused = UnitDefinition::from_column_name(name).unwrap_err().to_string();
            assert!(
                refused.contains("accepted") && !refused.contains(['\n', '\u{1b}']),
                "{refused}"
            );
        }
        for name in ["id", " id", "patient no.", "(id)"] {
            assert_eq!(UnitDefinition::from_column_name(name), Ok(UnitDefinition::column(name)));
        }
    }

    #[test]
    fn records_are_their_own_and_users_are_whose_it_is_said() {
        let user = Unit::User { max_records: 3 };
        assert_eq!(UnitDefinition::NotSaid.of(Unit::Record), UnitDefinition::Records);
        assert_eq!(UnitDefinition::Records.of(user), UnitDefinition::NotSaid);
        assert_eq!(UnitDefinition::column("id").of(user), UnitDefinition::column("id"));
        assert!(!UnitDefinition::NotSaid.is_said() && UnitDefinition::Records.is_said());
    }
}
