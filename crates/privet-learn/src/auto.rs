//! The default: which learner, with which settings, from public facts alone.
//!
//! The rule, fixed in advance:
//!
//! 1. **Dense.** Of the learners that move all weights together, the one with the least predicted excess
//!    risk ([`Plan::predicted_excess`](crate::Plan::predicted_excess)): [`crate::erm::gd`] where δ > 0,
//!    [`crate::erm::amp`] where δ = 0, and [`crate::erm::ssp`] as well for the squared loss.
//! 2. **Sparse.** Where even that one is not expected to learn anything, because the noise on p
//!    weights drowns what n records can say, only a model of few columns has a chance:
//!    [`crate::erm::frank_wolfe`], whose noise grows with ln p.
//!
//! No table is looked at and nothing is tuned, so that the budget asked for is the whole price. Every
//! parameter is a smooth function of the declared rows, the encoded columns, the classes and the
//! budget: a fifth more rows or columns moves none of them by more than three tenths
//! (`tests/auto.rs`).
//!
//! The certificate names the method that was chosen, with its settings, and is verified as one of
//! that method: it stays valid when a later version chooses otherwise.

use crate::LearnError;
use crate::erm::predicted;
use crate::facts::Facts;
use crate::learner::Planned;
use crate::method::{Method, MethodInfo, Scores};
use crate::request::Calibration;
use privet_core::Budget;
use privet_optim::loss::Loss;
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
    let dense = dense(facts, budget)?;
    match dense.procedure.predicted_excess(facts) {
        Some(excess) if predicted::hopeless(facts, excess) => {
            Method::FrankWolfe(Default::default()).plan(facts, budget, calibration).or(Ok(dense))
        }
        _ => Ok(dense),
    }
}

/// The first part of the rule.
fn dense(facts: &Facts, budget: &Budget) -> Result<Planned, LearnError> {
    let first = match budget.is_pure() {
        true => Method::Amp(Default::default()),
        false => Method::Gd(Default::default()),
    };
    let best = first.plan(facts, budget, Calibration::Sound)?;
    if !matches!(facts.loss, Loss::Squared { .. }) {
        return Ok(best);
    }
    let excess = |planned: &Planned| planned.procedure.predicted_excess(facts);
    let other = Method::Ssp(Default::default()).plan(facts, budget, Calibration::Sound);
    Ok(match other {
        Ok(other) if excess(&other) < excess(&best) => other,
        _ => best,
    })
}
