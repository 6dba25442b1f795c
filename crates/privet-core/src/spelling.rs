//! The normal form under which two identifiers name one unit.

use crate::Error;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The normal form of identifiers: a function of the identifier's cell alone. It is a public
/// declaration, never inferred from records: programs that write tables choose a column's type from all
/// of its cells.
///
/// Identifiers with the same normal form are one unit, and under [`Self::Number`] and [`Self::Nfc`] such
/// a unit may be several people. If one of them leaves or joins, other records of the merged unit may
/// replace hers among those that are used: one unit is exchanged for another. A relation that charges
/// for adding or removing alone does not cover that ([`crate::Neighbours::sides`] below 2), and is
/// refused with these normal forms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spelling {
    /// A text is its bytes: `2`, `2.0` and `02` are three units.
    #[default]
    Text,
    /// A text is the integer that it writes: `2`, `2.0`, `02` and `+2` are one unit; a text that is no
    /// integer names no unit.
    Number,
    /// A text is its characters in Unicode's normal form C: an `é` of one character and one of two are
    /// equal.
    Nfc,
}

impl Spelling {
    /// The words that [`FromStr`] accepts.
    pub const ACCEPTED: &'static str = "text, number, nfc";

    /// True if two different texts may name one unit.
    pub fn merges(self) -> bool {
        self != Self::Text
    }

    /// True for the default, [`Self::Text`], which files leave out.
    pub fn is_text(&self) -> bool {
        *self == Self::Text
    }
}

impl fmt::Display for Spelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Nfc => "nfc",
        })
    }
}

impl FromStr for Spelling {
    type Err = Error;
    fn from_str(word: &str) -> Result<Self, Error> {
        match word {
            "text" => Ok(Self::Text),
            "number" => Ok(Self::Number),
            "nfc" => Ok(Self::Nfc),
            _ => Err(Error::Unknown {
                what: "spelling of identifiers",
                given: word.into(),
                accepted: Self::ACCEPTED,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spelling_is_one_word_everywhere() {
        for spelling in [Spelling::Text, Spelling::Number, Spelling::Nfc] {
            let word = spelling.to_string();
            assert_eq!(word.parse(), Ok(spelling));
            assert_eq!(serde_json::to_string(&spelling).unwrap(), format!("\"{word}\""));
            assert_eq!(spelling.merges(), !spelling.is_text());
            assert!(Spelling::ACCEPTED.split(", ").any(|accepted| accepted == word));
        }
        assert_eq!(Spelling::default(), Spelling::Text);
        assert!("NFC".parse::<Spelling>().is_err());
    }
}
