//! Origin of a schema's bounds and categories, where a program filled them in.
//!
//! A schema is written by people, from public knowledge. Programs may fill one in:
//! `privet schema new --public`, from a table that is marked public; `privet schema new --epsilon`, by a
//! private query of the records, and `privet schema narrow`, from a private description, both of which
//! spend ε. They note here what they did. The note is part of the schema, so every certificate of a
//! model trained under it carries the note: a reader can judge whether that table was indeed public, and
//! what the description cost.
//!
//! ```toml
//! [origin]
//! public = "UCI Adult, doi.org/10.24432/C5XW20"
//! sha256 = "…"                                     # of the file
//!
//! [origin.paid]                                    # or, after `privet schema narrow`
//! epsilon = 0.2
//! delta = 1e-9
//! neighbours = "replace-one"
//! unit = { kind = "record" }
//! certificate = "…"                                # the description's digest
//! events = "…"                                     # what it did, as the accountant is told it
//! ```

use super::check::{Checked, refuse};
use super::*;
use privet_core::Neighbours;

/// The source that a schema was filled in from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The place where the public table can be found, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public: Option<String>,
    /// The digest of that file, 64 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The private release that estimated the bounds and categories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid: Option<Paid>,
}

/// The cost of a private release. Whether its events prove that cost is checked when a plan is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paid {
    /// Its ε.
    pub epsilon: f64,
    /// Its δ.
    pub delta: f64,
    /// The neighbouring relation of its guarantee.
    pub neighbours: Neighbours,
    /// Its privacy unit.
    pub unit: Unit,
    /// The column of identifiers; none where the unit is one record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whose: Option<String>,
    /// True if blanks around identifiers were dropped, which decides which of them are equal.
    #[serde(default = "yes")]
    pub trim: bool,
    /// The rule by which two identifiers were equal.
    #[serde(default, skip_serializing_if = "Spelling::is_text")]
    pub spelling: Spelling,
    /// The digest of its certificate.
    pub certificate: String,
    /// Its privacy events, in JSON.
    pub events: String,
}

fn yes() -> bool {
    true
}

/// The most characters of a source or a digest.
const LONGEST_TEXT: usize = 1000;
/// The most characters of events.
const LONGEST_EVENTS: usize = 1 << 20;

impl Origin {
    pub(super) fn check(self) -> Checked<Self> {
        let short = |text: &String| !text.trim().is_empty() && text.chars().count() <= LONGEST_TEXT;
        match (&self.public, &self.sha256) {
            (None, None) => {}
            (Some(public), Some(digest)) => {
                if !short(public) {
                    let accepted = format!(
                        "where the table can be found, in at most {LONGEST_TEXT} characters"
                    );
                    return refuse("origin.public", "empty or too long", accepted);
                }
                let digits =
                    digest.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
                if digest.len() != 64 || !digits {
                    return refuse(
                        "origin.sha256",
                        "no digest",
                        "64 hexadecimal digits in lower case",
                    );
                }
            }
            _ => return refuse("origin", "one of `public` and `sha256`", "both, or neither"),
        }
        if let Some(paid) = &self.paid {
            let prices =
                paid.epsilon > 0.0 && paid.epsilon.is_finite() && (0.0..1.0).contains(&paid.delta);
            if !prices {
                let accepted = "epsilon above 0, delta from 0 and below 1";
                return refuse("origin.paid", "no price", accepted);
            }
            if !short(&paid.certificate) || paid.events.len() > LONGEST_EVENTS {
                return refuse(
                    "origin.paid",
                    "no certificate",
                    "what `privet schema narrow` or `schema new --epsilon` writes",
                );
            }
        }
        Ok(self)
    }

    /// The public table in one sentence, for the readers of a certificate.
    pub fn public_in_words(&self) -> Option<String> {
        let (public, digest) = (self.public.as_ref()?, self.sha256.as_ref()?);
        // Quoted: it is the schema's text, and must not be mistaken for ours.
        Some(format!(
            "bounds and categories were filled in from a table marked public, which the schema calls \"{}\" (SHA-256 \
             {digest})",
            privet_core::printable(public).replace('"', "'"),
        ))
    }

    /// The same sentence as versions before 0.2.1 wrote it.
    pub fn public_unquoted(&self) -> Option<String> {
        let (public, digest) = (self.public.as_ref()?, self.sha256.as_ref()?);
        Some(format!(
            "bounds and categories were filled in from a table marked public: {} (SHA-256 {digest})",
            privet_core::printable(public),
        ))
    }
}
