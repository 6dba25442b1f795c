//! The notes of a plan: conditions under which its claim holds, and expectations of its result.
//!
//! A condition has a code and public parameters, which certificates carry under their seal, and a
//! sentence made of both. The code and the parameters are what [`crate::verify()`] compares; a later
//! version may word the sentence better (`conditions` keeps every sentence that a version has written).

use privet_dp::gate::Condition as Stated;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::{fmt, ops::Deref};

/// A condition under which claims hold: a code that no version changes, and today's sentence, without
/// its full stop, with `{names}` of public parameters in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// Its name in certificates.
    pub code: &'static str,
    /// Its sentence.
    pub sentence: &'static str,
}

impl Condition {
    /// With this code and sentence.
    pub const fn new(code: &'static str, sentence: &'static str) -> Self {
        Self { code, sentence }
    }

    /// With the parameters that its sentence names.
    pub fn with(self, parameters: &[(&str, &dyn fmt::Display)]) -> Note {
        let written = parameters.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let stated = Stated { code: self.code.into(), parameters: written.collect() };
        Note { text: fill_sentence(self.sentence, &stated.parameters), condition: Some(stated) }
    }
}

/// A sentence with its parameters in the place of their names. Values are not searched for further
/// names.
pub(crate) fn fill_sentence(sentence: &str, parameters: &BTreeMap<String, String>) -> String {
    let mut text = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let slot = after.split_once('}');
        let value = slot.and_then(|(name, after)| Some((parameters.get(name)?, after)));
        debug_assert!(value.is_some(), "a parameter is missing: {sentence}");
        match value {
            Some((value, after)) => {
                text.push_str(value);
                rest = after;
            }
            None => {
                text.push('{');
                rest = after;
            }
        }
    }
    text + rest
}

/// A sentence of a plan, without its full stop. Its certificate states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    text: String,
    /// The condition that it states, if verification requires files to state it.
    condition: Option<Stated>,
}

impl Note {
    /// An expectation of the result: no guarantee depends on it, and another version may predict better.
    pub fn expectation(text: impl Into<String>) -> Self {
        Self { text: text.into(), condition: None }
    }

    /// True if the claim holds only under this note.
    pub fn is_condition(&self) -> bool {
        self.condition.is_some()
    }

    /// The code and parameters of its condition, as certificates carry them.
    pub fn condition(&self) -> Option<&Stated> {
        self.condition.as_ref()
    }
}

impl From<Condition> for Note {
    fn from(condition: Condition) -> Self {
        condition.with(&[])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_filled_once() {
        let both = Condition::new("both", "of {a} and {b}");
        let note = both.with(&[("a", &"{b}"), ("b", &2)]);
        assert_eq!(note.to_string(), "of {b} and 2");
        assert_eq!(note.condition().unwrap().parameters["a"], "{b}");
    }
}
