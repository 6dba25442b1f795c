//! The caller's part of a certificate, besides the charged events.

use super::{Arithmetic, Condition};
use crate::account::Guarantee;
use serde_json::Value;

/// The caller's statement about a release. The gate checks the claim against the events, and weakens it
/// if they prove less.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The claimed guarantee, towards everyone.
    pub claim: Guarantee,
    /// The arithmetic in which it is proved.
    pub arithmetic: Arithmetic,
    /// Conditions and known gaps, in words.
    pub notes: Vec<String>,
    /// The conditions among them, by code.
    pub conditions: Vec<Condition>,
    /// The public facts and settings from which the plan can be derived again.
    pub request: Value,
}

impl Statement {
    /// A statement without notes.
    pub fn new(claim: Guarantee, arithmetic: Arithmetic, request: Value) -> Self {
        Self { claim, arithmetic, notes: Vec::new(), conditions: Vec::new(), request }
    }
}
