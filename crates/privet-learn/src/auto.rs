//! The default: which learner, with which settings, from public facts alone.
//!
//! The rule, fixed in advance:
//!
//! 1. δ = 0: [`crate::erm::amp`], whose pure form is the most accurate one known here.
//! 2. δ > 0: [`crate::erm::gd`]. Its predicted excess risk ([`crate::erm::predicted`]) is below that
//!    of every method that minimises, at every size.
//!
//! No table is looked at and nothing is tuned, so that the budget asked for is the whole price. Every
//! parameter is a smooth function of the declared rows, the encoded columns, the classes and the
//! budget: a fifth more rows or columns moves none of them by more than three tenths
//! (`tests/auto.rs`).
//!
//! The certificate names the method that was chosen, with its settings, and is verified as one of
//! that method: it stays valid when a later version chooses otherwise.

use crate::LearnError;
use crate::facts::Facts;
use crate::learner::Planned;
use crate::method::{Method, MethodInfo, Scores};
use crate::request::Calibration;
use privet_core::Budget;
use serde::{Deserialize, Serialize};

/// A line about it.
pub const INFO: MethodInfo = MethodInfo {
    name: "auto",
    summary: "chooses the learner and all its settings by a fixed rule from public facts; nothing to \
              tune",
    source: "docs/learners.md",
    guarantee: "that of the method chosen",
    settings: &[],
    scores: Scores::Separate,
};

/// It has no settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {}

/// Chooses, and lets the chosen method decide.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Budget,
    calibration: Calibration,
    _options: &Options,
) -> Result<Planned, LearnError> {
    if calibration == Calibration::Printed {
        return Err(LearnError::NotCovered {
            what: "no paper prints constants for method auto".into(),
            instead: "leave out the calibration, or name a method",
        });
    }
    let chosen = choose(budget);
    chosen.plan(facts, budget, calibration)
}

/// The rule.
fn choose(budget: &Budget) -> Method {
    if budget.is_pure() {
        return Method::Amp(Default::default());
    }
    Method::Gd(Default::default())
}
