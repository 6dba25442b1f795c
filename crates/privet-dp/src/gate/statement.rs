//! What a certificate is to state besides what was charged.

use super::{Arithmetic, Condition};
use crate::account::Guarantee;
use serde_json::Value;

/// What whoever settles says of a release. The gate checks the claim against the events, and lowers it
/// where they prove less.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// What is claimed of the events, towards everyone.
    pub claim: Guarantee,
    /// In which arithmetic it is proved.
    pub arithmetic: Arithmetic,
    /// Conditions and known gaps, in words.
    pub notes: Vec<String>,
    /// The conditions among them, by code.
    pub conditions: Vec<Condition>,
    /// The public facts and settings from which the plan can be made again.
    pub request: Value,
}

impl Statement {
    /// With no notes.
    pub fn new(claim: Guarantee, arithmetic: Arithmetic, request: Value) -> Self {
        Self { claim, arithmetic, notes: Vec::new(), conditions: Vec::new(), request }
    }
}
