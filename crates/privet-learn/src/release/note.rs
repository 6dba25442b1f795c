//! What goes with a claim in words: its conditions and gaps, and what a release is expected to be worth.

use serde::{Serialize, Serializer};
use std::{fmt, ops::Deref};

/// A sentence of a plan, without its full stop. Its certificate states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    text: String,
    /// Whether it is an expectation: verification asks a file for conditions alone.
    expected: bool,
}

impl Note {
    /// What a release is expected to be worth: no promise depends on it, and another version may know better.
    pub fn expectation(text: impl Into<String>) -> Self {
        Self { text: text.into(), expected: true }
    }

    /// Whether the claim holds only under it.
    pub fn is_condition(&self) -> bool {
        !self.expected
    }
}

/// Whatever is not said to be an expectation is a condition.
impl<S: Into<String>> From<S> for Note {
    fn from(text: S) -> Self {
        Self { text: text.into(), expected: false }
    }
}

impl Deref for Note {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
