//! Where bounds and categories of a schema come from, where a program filled them in.
//!
//! A schema is written by people, from what everybody may know. `privet schema new --public` fills one in from a
//! table that is marked public, and notes here which table that was. The note is part of the schema, so that every
//! certificate of what is later learnt under it carries it: who relies on the guarantee can judge whether that
//! table was public indeed. It decides nothing.

use super::check::{Checked, refuse};
use super::*;

/// A public table that a schema was filled in from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Where anybody can find it, in words.
    pub public: String,
    /// The digest of the file, 64 hexadecimal digits.
    pub sha256: String,
}

/// The most characters of a source.
const LONGEST: usize = 1000;

impl Origin {
    pub(super) fn check(self) -> Checked<Self> {
        if self.public.trim().is_empty() || self.public.chars().count() > LONGEST {
            let accepted = format!("where the table can be found, in at most {LONGEST} characters");
            return refuse("origin.public", "empty or too long", accepted);
        }
        let digits = self.sha256.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if self.sha256.len() != 64 || !digits {
            return refuse("origin.sha256", "no digest", "64 hexadecimal digits in lower case");
        }
        Ok(self)
    }

    /// In one sentence, for whoever relies on a certificate.
    pub fn in_words(&self) -> String {
        format!(
            "bounds and categories were filled in from a table marked public: {} (SHA-256 {})",
            privet_core::printable(&self.public),
            self.sha256
        )
    }
}
