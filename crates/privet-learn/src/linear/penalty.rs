//! Convex regularisers and sets on top of the ridge, for the learners that minimise.
//!
//! Let r be convex, lower semicontinuous, finite somewhere, and the same for all data sets: a penalty,
//! or 0 on a closed convex set and ∞ outside. F is as in [`super::output`]; F + r is minimised.
//!
//! **Theorem (output perturbation).** The minimisers of F_D + r and F_D′ + r satisfy the bound proved
//! for those of F_D and F_D′: within 2kLR/λ under replace-one, kLR/λ under add/remove.
//!
//! *Proof.* At the minimisers θ, θ′ there are s ∈ ∂r(θ), s′ ∈ ∂r(θ′) with ∇F_D(θ) = −s and
//! ∇F_D′(θ′) = −s′. Subgradients are monotone: ⟨s − s′, θ − θ′⟩ ≥ 0, so
//! ⟨∇F_D(θ) − ∇F_D′(θ′), θ − θ′⟩ ≤ 0. The left side is ⟨∇F_D(θ) − ∇F_D(θ′), θ − θ′⟩ ≥ λ‖θ − θ′‖² plus
//! ⟨∇F_D(θ′) − ∇F_D′(θ′), θ − θ′⟩ ≥ −G‖θ − θ′‖, G = 2kLR or kLR. Hence ‖θ − θ′‖ ≤ G/λ. ∎
//!
//! **Limit theorem (objective perturbation, AMP;** Kifer, Smith & Thakurta 2012; Thakurta 2013, §3.5**).**
//! Every curve δ(ε) proved for the minimiser of J = F + ⟨b, ·⟩ holds for that of J + r.
//!
//! *Proof.* Let r_k(θ) = min_z r(z) + (k/2)‖z − θ‖², convex with a k-Lipschitz gradient, increasing to
//! r. With r_k in J the proofs of [`privet_dp::account`] stand word for word: b_D − b_D′ does not
//! contain r_k, and H₀, which does, is still ⪰ λI; nothing else of H₀ is used. So each k has the
//! curve δ(ε). For fixed b let θ_k minimise J + r_k and θ* J + r. J(θ_k) + r_k(θ_k) ≤ J(θ*) + r(θ*)
//! keeps θ_k bounded (J is strongly convex and r_1 has an affine minorant), and a cluster point θ̄ has
//! J(θ̄) + r_j(θ̄) ≤ J(θ*) + r(θ*) for every j, so in the limit j → ∞ it is a minimiser, hence θ*. So
//! θ_k → θ* for every b, the laws converge weakly, and the hockey-stick divergence is weakly lower
//! semicontinuous: H_ε(P‖Q) ≤ lim inf H_ε(P_k‖Q_k) ≤ δ(ε). ∎
//!
//! It covers no non-smooth *loss*: that one differs between data sets.
//!
//! **Inexact minima.** θ̃ is proved within γ/λ of the minimiser by a subgradient of norm at most γ
//! (`privet_optim::solver`), which is all that [`super::output`] and [`super::amp`] use of it: AMP with
//! a penalty certifies the distance, not ∇J, which does not vanish. Output noise is added on top, so
//! that with `output` and `amp` the released weights need not lie in the set; projecting them is
//! post-processing.
//!
//! - λ is `ridge`, and with the elastic net `ridge` + l2: its square counts for the theorem.
//! - Weights are of the sum form, as the ridge is. They act on every coordinate, the intercept too.
//! - Groups are the encoded columns of one column of the schema (a category's indicators).
//! - Tested by `penalised_minimisers_move_within_the_bound` and, for the limit theorem's mechanism,
//!   `the_gradient_shift_does_not_see_the_penalty`.

use crate::LearnError;
use crate::linear::facts::Facts;
use crate::release::settings::SettingInfo;
use privet_optim::solver::Penalty;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The setting `penalty`, for every learner that has it.
pub(crate) const PENALTY_SETTING: SettingInfo = SettingInfo::one_of_words(
    "penalty",
    ACCEPTED,
    "a convex penalty or set on top of the ridge, with its numbers; none unless given",
);

const ACCEPTED: &str = "l1:WEIGHT, elastic-net:L1,L2, group:WEIGHT, box:LOW,HIGH, ball:RADIUS or \
     simplex:SUM, such as l1:0.5";

/// A penalty as written in settings, e.g. `l1:0.5` or `box:-1,1`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Regulariser {
    /// weight · ‖θ‖₁.
    L1(f64),
    /// l1 · ‖θ‖₁ + (l2/2)·‖θ‖².
    ElasticNet(f64, f64),
    /// weight · Σ √size · ‖θ_g‖₂ over the schema's columns.
    Group(f64),
    /// low ≤ θ_j ≤ high.
    Box(f64, f64),
    /// ‖θ‖₂ ≤ radius.
    Ball(f64),
    /// θ ≥ 0, Σθ_j = sum.
    Simplex(f64),
}

impl Regulariser {
    /// The solver's form of the penalty, and its addition to λ. Refuses numbers outside their limits.
    pub(crate) fn resolve(self, facts: &Facts) -> Result<(Penalty, f64), LearnError> {
        let penalty = match self {
            Self::L1(weight) => Penalty::L1 { weight },
            Self::ElasticNet(l1, l2) => Penalty::ElasticNet { l1, l2 },
            Self::Group(weight) => Penalty::Group { weight, sizes: facts.groups.clone() },
            Self::Box(low, high) => Penalty::Box { low, high },
            Self::Ball(radius) => Penalty::Ball { radius },
            Self::Simplex(total) => Penalty::Simplex { total },
        };
        penalty.check(facts.columns)?;
        Ok(match penalty {
            Penalty::ElasticNet { l1, l2 } => (Penalty::L1 { weight: l1 }, l2),
            other => (other, 0.0),
        })
    }
}

/// The penalty of a learner's optional setting.
pub(crate) fn resolve_setting(
    setting: Option<Regulariser>,
    facts: &Facts,
) -> Result<(Penalty, f64), LearnError> {
    setting.map_or(Ok((Penalty::None, 0.0)), |setting| setting.resolve(facts))
}

impl fmt::Display for Regulariser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::L1(weight) => write!(f, "l1:{weight}"),
            Self::ElasticNet(l1, l2) => write!(f, "elastic-net:{l1},{l2}"),
            Self::Group(weight) => write!(f, "group:{weight}"),
            Self::Box(low, high) => write!(f, "box:{low},{high}"),
            Self::Ball(radius) => write!(f, "ball:{radius}"),
            Self::Simplex(total) => write!(f, "simplex:{total}"),
        }
    }
}

impl FromStr for Regulariser {
    type Err = LearnError;
    fn from_str(text: &str) -> Result<Self, LearnError> {
        let refused = || LearnError::SettingValue {
            setting: PENALTY_SETTING.name,
            given: text.into(),
            accepted: ACCEPTED.into(),
        };
        let (kind, numbers) = text.split_once(':').ok_or_else(refused)?;
        let numbers: Vec<f64> = numbers
            .split(',')
            .map(|number| number.parse().ok().filter(|number: &f64| number.is_finite()))
            .collect::<Option<_>>()
            .ok_or_else(refused)?;
        Ok(match (kind, &numbers[..]) {
            ("l1", [weight]) => Self::L1(*weight),
            ("elastic-net", [l1, l2]) => Self::ElasticNet(*l1, *l2),
            ("group", [weight]) => Self::Group(*weight),
            ("box", [low, high]) => Self::Box(*low, *high),
            ("ball", [radius]) => Self::Ball(*radius),
            ("simplex", [total]) => Self::Simplex(*total),
            _ => return Err(refused()),
        })
    }
}

impl From<Regulariser> for String {
    fn from(penalty: Regulariser) -> Self {
        penalty.to_string()
    }
}

impl TryFrom<String> for Regulariser {
    type Error = LearnError;
    fn try_from(text: String) -> Result<Self, LearnError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_and_others_are_refused() {
        for word in
            ["l1:0.5", "elastic-net:0.5,2", "group:1", "box:-1,1", "ball:3", "simplex:1e-300"]
        {
            let penalty: Regulariser = word.parse().unwrap();
            assert_eq!(penalty.to_string().parse::<Regulariser>().unwrap(), penalty);
            let json = serde_json::to_string(&penalty).unwrap();
            assert_eq!(serde_json::from_str::<Regulariser>(&json).unwrap(), penalty);
        }
        for word in ["", "l1", "l1:", "l1:x", "l1:nan", "l1:inf", "l1:1,2", "box:1", "lasso:1"] {
            let refusal = word.parse::<Regulariser>().unwrap_err().to_string();
            assert!(refusal.contains("elastic-net"), "{refusal}");
        }
    }
}
