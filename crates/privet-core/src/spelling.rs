//! When two identifiers, written differently, name one unit.

use crate::Error;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// How identifiers are spelt: what a cell that says whose a record is becomes, by that cell alone. A public declaration;
/// programs that write tables decide the type of a column from all its cells, so it is never found from records.
///
/// Whoever shares what an identifier becomes is one unit, and under [`Self::Number`] and [`Self::Nfc`] it may be several
/// people. Where one of them leaves or comes, other records of the merged unit may take her place among those that are
/// used: the unit is taken out and another put in. A relation that charges for only one of the two does not cover that
/// ([`crate::Neighbours::sides`] below 2), and is refused beside these spellings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spelling {
    /// A text is its bytes: `2`, `2.0` and `02` are three people.
    #[default]
    Text,
    /// A text is the integer that it writes: `2`, `2.0`, `02` and `+2` are one person; what writes none is nobody.
    Number,
    /// A text is its characters in Unicode's normal form C: an `é` of one character and one of two are the same.
    Nfc,
}

impl Spelling {
    /// The words accepted by [`FromStr`].
    pub const ACCEPTED: &'static str = "text, number, nfc";

    /// Whether two texts that differ may name one unit.
    pub fn merges(self) -> bool {
        self != Self::Text
    }

    /// Whether it is the one that files have which do not say.
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
