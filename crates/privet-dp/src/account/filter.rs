//! Privacy filters: a limit that holds however the next event is chosen.
//!
//! In an ordinary composition the events are fixed before the first answer. A filter lets each next event,
//! and whether there is one, depend on all answers before it, as long as a running total never exceeds the
//! limit. Not every accounting survives that: a composition of loss distributions, or the best Rényi
//! order *afterwards*, does not. These do:
//!
//! | limit | on | theorem |
//! |---|---|---|
//! | [`Law::Gaussian`] | Σμᵢ² ≤ μ² of Gaussian releases: the whole is μ-Gaussian-DP | Smith & Thakurta 2022, "Fully adaptive composition for Gaussian differential privacy"; also Koskela, Tobaben & Honkela 2023 |
//! | [`Law::Concentrated`] | Σρᵢ ≤ ρ: the whole is ρ-zCDP | Whitehouse, Ramdas, Rogers & Wu 2023, "Fully-adaptive composition in differential privacy" |
//! | [`Law::Renyi`] | Σεᵢ(α) ≤ ε at one order α fixed at the start | Feldman & Zrnic 2021, "Individual privacy accounting via a Rényi filter" |
//!
//! The first rests on its papers (moments alone would give ρ = μ²/2, a weaker curve). *The other two.* Let Lₜ be the loss of the t-th release given all before, and let its
//! conditional moment satisfy E[e^{(α−1)Lₜ} | past] ≤ e^{(α−1)εₜ(α)}, εₜ itself a function of the past. Then
//! Mₜ = exp((α−1)(Σ_{i≤t} Lᵢ − εᵢ(α))) is a supermartingale from 1, so E e^{(α−1)ΣL} ≤ e^{(α−1)B} whenever
//! Σε ≤ B for sure. For zCDP this holds with εₜ = ρₜα at every α at once. A limit on another functional of
//! the past's curves is not of this form, and is refused. ∎
//!
//! **Noise on a grid.** Each release on a grid is within total variation qₜ of one with continuous noise
//! that is rounded ([`super::parts`]), whatever came before. Exchange one for the other step by step: the
//! whole transcript is within Σqₜ ≤ `distance` of that of a process the theorem covers, under each of two
//! neighbours, so (1 + e^ε)·`distance` is added to δ.
//!
//! | kind of event | μ² | ρ | ε(α) |
//! |---|---|---|---|
//! | Gaussian | (Δ/σ)² | (Δ/σ)²/2 | α(Δ/σ)²/2 |
//! | ε-DP: Laplace, ℓ2-Laplace, pure | – | ε²/2 (Bun & Steinke 2016, Prop. 3.3) | its own |
//! | bounded range r | – | r²/8 (Cesar & Rogers 2021) | its own |
//! | ρ-zCDP | – | ρ | ρα |
//! | sampled Gaussian, objective perturbation | – | – | [`super::renyi`] |
//! | (ε, δ) | – | – | – |
//!
//! Tested by `tests/all/filter.rs`, by simulation of an adversary that chooses each event by the answers.

use super::error::{AccountError, non_negative, positive};
use super::event::Event;
use super::gaussian::smallest_that;
use super::objective::Direction;
use super::parts::{Part, Parts};
use super::{Guarantee, renyi};
use privet_core::{Neighbours, Unit};
use serde::{Deserialize, Serialize};

/// What is added up, and up to where.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Law {
    /// Gaussian releases, Σμᵢ² ≤ μ².
    Gaussian {
        /// μ.
        mu: f64,
    },
    /// Anything with a ρ, Σρᵢ ≤ ρ.
    Concentrated {
        /// ρ.
        rho: f64,
    },
    /// Anything with a Rényi curve, at one order.
    Renyi {
        /// α, above 1.
        order: f64,
        /// ε.
        limit: f64,
    },
}

/// A limit on what a session may spend when its events are chosen as it goes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// The relation that every event is charged for.
    pub neighbours: Neighbours,
    /// The unit that every event is charged for.
    pub unit: Unit,
    /// What is added up.
    pub limit: Law,
    /// The most that noise on grids may differ from the laws of the theorem, in total variation.
    pub distance: f64,
}

/// How much of a filter is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Of the law's own quantity: Σμ², Σρ or Σε(α).
    spent: f64,
    /// Of the distance.
    distance: f64,
}

impl Filter {
    /// Refuses limits that are none.
    pub fn check(&self) -> Result<(), AccountError> {
        match self.limit {
            Law::Gaussian { mu } => positive("mu", mu)?,
            Law::Concentrated { rho } => positive("rho", rho)?,
            Law::Renyi { order, limit } => {
                positive("order - 1", order - 1.0)?;
                positive("limit", limit)?
            }
        };
        non_negative("distance", self.distance)?;
        Ok(())
    }

    /// What the tally is after one more event; refused, with nothing spent, where the event is of a kind
    /// that this law has no bound for, or would exceed the limit.
    pub fn admit(&self, tally: &Tally, event: &Event) -> Result<Tally, AccountError> {
        let parts = Parts::new(event)?;
        if parts.neighbours != self.neighbours {
            let (first, second) = (self.neighbours, parts.neighbours);
            return Err(AccountError::MixedNeighbours { first, second });
        }
        if parts.unit != self.unit {
            return Err(AccountError::MixedUnits { first: self.unit, second: parts.unit });
        }
        let cost = self.cost(&parts).ok_or(AccountError::NotAdmitted)?;
        let after = Tally {
            // Rounded up: sums of many small terms must not stay behind.
            spent: ((tally.spent + cost) * (1.0 + f64::EPSILON)).next_up(),
            distance: ((tally.distance + parts.distance) * (1.0 + f64::EPSILON)).next_up(),
        };
        let limit = match self.limit {
            Law::Gaussian { mu } => mu * mu,
            Law::Concentrated { rho } => rho,
            Law::Renyi { limit, .. } => limit,
        };
        // Asks "within?", so that a total that is no number is refused.
        if after.spent <= limit && (parts.distance == 0.0 || after.distance <= self.distance) {
            Ok(after)
        } else {
            Err(AccountError::Exhausted)
        }
    }

    /// The event's part of the total; `None` where the law has no bound for it.
    fn cost(&self, parts: &Parts) -> Option<f64> {
        if parts.leak > 0.0 || !parts.selected.is_empty() {
            return None;
        }
        let rest = parts.rest.iter();
        let total = match self.limit {
            Law::Gaussian { .. } if parts.rest.is_empty() => Some(parts.squares),
            Law::Gaussian { .. } => None,
            Law::Concentrated { .. } => rest
                .map(|(part, count)| Some(rho_of(part)? * *count as f64))
                .try_fold(parts.squares / 2.0, |sum, rho| Some(sum + rho?)),
            Law::Renyi { order, .. } => {
                let both = |part: &Part| {
                    let way = |direction| part.divergence(order, direction);
                    way(Direction::Forward).max(way(Direction::Backward))
                };
                let gaussian = renyi::gaussian(order, parts.mu());
                Some(rest.fold(gaussian, |sum, (part, count)| sum + both(part) * *count as f64))
            }
        }?;
        Some(total * (1.0 + 1e-12))
    }

    /// Upper bound on the δ that the whole session has at ε, whatever it did within the limit.
    pub fn delta(&self, epsilon: f64) -> Result<f64, AccountError> {
        self.check()?;
        let epsilon = non_negative("epsilon", epsilon)?;
        Ok(match self.limit {
            Law::Gaussian { mu } => self.parts(mu * mu * (1.0 + 1e-15), None).delta(epsilon),
            Law::Concentrated { rho } => self.parts(0.0, Some(rho)).delta(epsilon),
            Law::Renyi { order, limit } => {
                let s = order - 1.0;
                let ln = s * (limit - epsilon) + s * libm::log1p(-1.0 / order) - libm::log(order);
                let charge = (1.0 + libm::exp(epsilon)) * self.distance;
                ((libm::exp(ln.min(0.0)) * (1.0 + 1e-12) + charge) * (1.0 + 1e-14)).min(1.0)
            }
        })
    }

    /// What the whole session guarantees at this δ; ε is infinite where none is found.
    pub fn guarantee(&self, delta: f64) -> Result<Guarantee, AccountError> {
        let delta = super::error::probability("delta", delta)?;
        let met = |epsilon: f64| self.delta(epsilon).is_ok_and(|found| found <= delta);
        let mut high = 1e-6;
        while !met(high) && high < FARTHEST {
            high *= 2.0;
        }
        self.check()?;
        let epsilon = if met(0.0) {
            0.0
        } else if met(high) {
            smallest_that(0.0, high, met)
        } else {
            f64::INFINITY
        };
        Ok(Guarantee::new(self.neighbours, self.unit, epsilon, delta))
    }

    fn parts(&self, squares: f64, rho: Option<f64>) -> Parts {
        Parts {
            neighbours: self.neighbours,
            unit: self.unit,
            squares,
            leak: 0.0,
            distance: self.distance,
            ratio: f64::INFINITY,
            outside: 1.0,
            rest: rho.map(|rho| (Part::Concentrated(rho), 1)).into_iter().collect(),
            selected: Vec::new(),
        }
    }
}

/// ε up to which limits are looked for.
const FARTHEST: f64 = 600.0;

/// ρ of a part that is not Gaussian, if it has one.
fn rho_of(part: &Part) -> Option<f64> {
    match *part {
        Part::Response(epsilon) | Part::Laplace(epsilon) => Some(epsilon * epsilon / 2.0),
        Part::DiscreteLaplace(..) => part.bound().map(|epsilon| epsilon * epsilon / 2.0),
        Part::BoundedRange(range) => Some(range * range / 8.0),
        Part::Concentrated(rho) => Some(rho),
        Part::Objective(_) | Part::Sampled(_) => None,
    }
}
