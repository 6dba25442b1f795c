//! The default: which learner, with which settings, from public facts alone.
//!
//! The rule, fixed in advance:
//!
//! 1. **Dense.** A learner that moves all weights together: [`crate::erm::gd`] where δ > 0, whose predicted
//!    excess risk ([`Plan::predicted_excess`](crate::Plan::predicted_excess)) is the least at all usual
//!    sizes; [`crate::erm::amp`] where δ = 0. For the squared loss [`crate::erm::ssp`], up to the columns
//!    that it takes: it is hidden by about the same noise, in one release that has no length to choose.
//! 2. **Images** of several classes, where δ > 0 and the loss is logistic: [`crate::erm::centred_gd`], since
//!    their rows all point much the same way.
//! 3. **Sparse.** Where no dense learner is predicted to learn anything, because the noise on p weights
//!    drowns what n records can say, only a model of few columns has a chance:
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
use crate::allowance::Allowance;
use crate::erm::Decision;
use crate::erm::{gd, predicted};
use crate::facts::Facts;
use crate::method::{Method, MethodInfo, Scores};
use crate::request::Calibration;
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
    noised: "what the method chosen says",
    any_storage: false,
};

/// It has no settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auto {}

/// Chooses, and lets the chosen method decide.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    calibration: Calibration,
    _options: &Auto,
) -> Result<Decision, LearnError> {
    if calibration == Calibration::Printed {
        return Err(LearnError::NotCovered {
            what: "no paper prints constants for method auto".into(),
            instead: "leave out the calibration, or name a method",
        });
    }
    let first = match budget.is_pure() {
        true => Method::Amp(Default::default()),
        false if facts.image && gd::joint(facts) => Method::CentredGd(Default::default()),
        false => Method::Gd(Default::default()),
    };
    let dense = first.plan(facts, budget, calibration)?;
    let excess = dense.procedure.predicted_excess(facts);
    if excess.is_some_and(|excess| predicted::hopeless(facts, excess)) {
        let sparse = Method::FrankWolfe(Default::default());
        return sparse.plan(facts, budget, calibration).or(Ok(dense));
    }
    if matches!(facts.loss, Loss::Squared { .. }) {
        return Method::Ssp(Default::default()).plan(facts, budget, calibration).or(Ok(dense));
    }
    Ok(dense)
}
