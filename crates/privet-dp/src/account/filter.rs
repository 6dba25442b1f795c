//! Privacy filters: a limit that holds for adaptively chosen events.
//!
//! In an ordinary composition the events are fixed before the first answer. Under a filter each next
//! event, and whether there is one, may depend on all answers before it, as long as a running total
//! never exceeds the limit. Not every accounting survives that: a composition of loss distributions, or
//! the best Rényi order chosen *afterwards*, does not. These do:
//!
//! - [`Law::Gaussian`], Σμᵢ² ≤ μ² of Gaussian releases: the whole is μ-Gaussian-DP (Smith & Thakurta
//!   2022, "Fully adaptive composition for Gaussian differential privacy"; also Koskela,
//!   Tobaben & Honkela 2023).
//! - [`Law::Concentrated`], Σρᵢ ≤ ρ: the whole is ρ-zCDP (Whitehouse, Ramdas, Rogers & Wu 2023,
//!   "Fully-adaptive composition in differential privacy").
//! - [`Law::Renyi`], Σεᵢ(α) ≤ ε at one order α fixed at the start (Feldman & Zrnic 2021, "Individual
//!   privacy accounting via a Rényi filter").
//! - [`Law::Sum`], Σεᵢ ≤ ε of releases with a bounded loss: the whole is ε-DP (Rogers, Roth,
//!   Ullman & Vadhan 2016, "Privacy odometers and filters").
//!
//! The first rests on its papers (moments alone would give ρ = μ²/2, a weaker curve). *The second and
//! third.* Let Lₜ be the loss of the t-th release given all before, and let its conditional moment
//! satisfy E[e^{(α−1)Lₜ} | past] ≤ e^{(α−1)εₜ(α)}, εₜ itself a function of the past. Then
//! Mₜ = exp((α−1)(Σ_{i≤t} Lᵢ − εᵢ(α))) is a supermartingale from 1, so E e^{(α−1)ΣL} ≤ e^{(α−1)B}
//! whenever Σε ≤ B for sure. For zCDP this holds with εₜ = ρₜα at every α at once. A limit on another
//! functional of the past's curves is not of this form, and is refused. ∎  The last: the loss of the
//! whole is the sum of the losses, each at most εᵢ whatever came before. ∎
//!
//! **Events with a δ of their own.** (ε, δ) is the law ε with a leak: for each pair of neighbours the
//! two output laws are P = (1−δ)P′ + δP″ and Q = (1−δ)Q′ + δQ″ with P′, Q′ within e^±ε of each other
//! (Kairouz, Oh & Viswanath 2015; Murtagh & Vadhan 2016, Lemma 3.2). Let each step have such a form, δᵢ
//! a function of the past, and let Σδᵢ ≤ `leak` for sure. Then the whole has H_ε ≤ H_ε(P′‖Q′) + `leak`,
//! P′ and Q′ now the processes whose steps never leak, which the list covers. *Proof.* Give each step a
//! coin that shows δᵢ. The coin of some step shows with probability at most E Σδᵢ ≤ `leak`. Where none
//! does, the transcripts have the measures w·P′ and w·Q′ with the same w = ∏(1−δᵢ) ≤ 1, a function of
//! the transcript, so P(S) ≤ `leak` + ∫_S w dP′ ≤ `leak` + e^ε∫_S w
//! dQ′ + ∫w(dP′−e^εdQ′)₊ ≤ `leak` + e^εQ(S) + H_ε(P′‖Q′). ∎  Under [`Law::Concentrated`] this is the
//! approximate-zCDP filter of Whitehouse et al.; their (ε, δ)-filter charges each (εᵢ, δᵢ) as εᵢ²/2 and
//! δᵢ, as here, and turns Σ back into an ε by a weaker formula than [`Filter::delta`].
//!
//! **Noise on a grid.** Each release on a grid is within total variation qₜ of one with continuous noise
//! that is rounded ([`super::parts`]), whatever came before. Exchange one for the other step by step:
//! the whole transcript is within Σqₜ ≤ `distance` of that of a process that the theorem covers, under
//! each of two neighbours, so (1 + e^ε)·`distance` is added to δ.
//!
//! | kind of event | μ² | ρ | ε(α) | ε |
//! |---|---|---|---|---|
//! | Gaussian | (Δ/σ)² | (Δ/σ)²/2 | α(Δ/σ)²/2 | – |
//! | ε-DP: Laplace, ℓ2-Laplace, pure | – | ε²/2 (Bun & Steinke 2016, Prop. 3.3) | its own | ε |
//! | bounded range r | – | r²/8 (Cesar & Rogers 2021) | its own | r |
//! | ρ-zCDP | – | ρ | ρα | – |
//! | sampled Gaussian, objective perturbation | – | – | [`super::renyi`] | – |
//! | the best of many runs | – | – | [`super::selected`] | – |
//! | (ε, δ) | – | ε²/2, leak δ | of ε, leak δ | ε, leak δ |
//!
//! Tested by `tests/all/filter.rs`, by simulating an adversary that chooses each event by the answers.

use super::error::{AccountError, non_negative, positive};
use super::event::Event;
use super::gaussian::smallest_that;
use super::parts::{Part, Parts};
use super::{Guarantee, selected};
use privet_core::{Neighbours, Unit};
use serde::{Deserialize, Serialize};

/// The quantity that is added up, and its limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Law {
    /// Gaussian releases, Σμᵢ² ≤ μ².
    Gaussian {
        /// The limit μ.
        mu: f64,
    },
    /// Events with a zCDP bound, Σρᵢ ≤ ρ.
    Concentrated {
        /// The limit ρ.
        rho: f64,
    },
    /// Events with a Rényi curve, at one order.
    Renyi {
        /// The order α, above 1.
        order: f64,
        /// The limit ε on Σεᵢ(α).
        limit: f64,
    },
    /// Events with a bounded loss, Σεᵢ ≤ ε.
    Sum {
        /// The limit ε.
        epsilon: f64,
    },
}

impl Law {
    /// The limit of its quantity: μ², ρ, ε(α) or ε.
    pub fn limit(&self) -> f64 {
        match *self {
            Self::Gaussian { mu } => mu * mu,
            Self::Concentrated { rho } => rho,
            Self::Renyi { limit, .. } => limit,
            Self::Sum { epsilon } => epsilon,
        }
    }

    /// The same law with the limit `most`.
    pub fn up_to(&self, most: f64) -> Self {
        match *self {
            Self::Gaussian { .. } => Self::Gaussian { mu: most.sqrt().next_up() },
            Self::Concentrated { .. } => Self::Concentrated { rho: most },
            Self::Renyi { order, .. } => Self::Renyi { order, limit: most },
            Self::Sum { .. } => Self::Sum { epsilon: most },
        }
    }
}

/// A privacy filter: a limit on the total cost of a session whose events are chosen adaptively.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// The relation that every event is charged for.
    pub neighbours: Neighbours,
    /// The unit that every event is charged for.
    pub unit: Unit,
    /// The limit on the total cost.
    pub limit: Law,
    /// Limit on the total variation distance between noise on grids and the laws of the theorem.
    pub distance: f64,
    /// Limit on the sum of the δ of events that have one of their own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub leak: f64,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// The spent part of a filter's limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Spent part of the law's own quantity: Σμ², Σρ, Σε(α) or Σε.
    spent: f64,
    /// Spent part of the distance.
    distance: f64,
    /// Spent part of the leak.
    #[serde(default, skip_serializing_if = "is_zero")]
    leak: f64,
}

impl Tally {
    /// Spent part of the law's own quantity: Σμ², Σρ, Σε(α) or Σε.
    pub fn spent(&self) -> f64 {
        self.spent
    }

    /// Spent part of the distance.
    pub fn distance(&self) -> f64 {
        self.distance
    }

    /// Spent part of the leak.
    pub fn leak(&self) -> f64 {
        self.leak
    }

    /// The sum of both, rounded up, so that sums of many small terms do not fall short.
    pub fn and(&self, more: &Self) -> Self {
        // The rounding error is known exactly (Knuth); if it is positive, one step up suffices.
        let sum = |a: f64, b: f64| {
            let sum = a + b;
            let part = sum - a;
            let lost = (a - (sum - part)) + (b - part);
            if lost > 0.0 { sum.next_up() } else { sum }
        };
        Self {
            spent: sum(self.spent, more.spent),
            distance: sum(self.distance, more.distance),
            leak: sum(self.leak, more.leak),
        }
    }

    /// The maximum of each quantity.
    pub fn max(&self, other: &Self) -> Self {
        Self {
            spent: self.spent.max(other.spent),
            distance: self.distance.max(other.distance),
            leak: self.leak.max(other.leak),
        }
    }
}

impl Filter {
    /// Refuses limits outside their ranges.
    pub fn check(&self) -> Result<(), AccountError> {
        match self.limit {
            Law::Gaussian { mu } => positive("mu", mu)?,
            Law::Concentrated { rho } => positive("rho", rho)?,
            Law::Renyi { order, limit } => {
                positive("order - 1", order - 1.0)?;
                positive("limit", limit)?
            }
            Law::Sum { epsilon } => positive("epsilon", epsilon)?,
        };
        non_negative("distance", self.distance)?;
        super::error::probability("leak", self.leak)?;
        Ok(())
    }

    /// The tally after one more event. An error, with nothing spent, if the law has no bound for this
    /// kind of event, or if the event would exceed the limit.
    pub fn admit(&self, tally: &Tally, event: &Event) -> Result<Tally, AccountError> {
        let price = self.price(event)?;
        let after = tally.and(&price);
        if self.allows(&after, &price) { Ok(after) } else { Err(AccountError::Exhausted) }
    }

    /// True if a tally is within the limits that its last price contributed to.
    pub fn allows(&self, after: &Tally, price: &Tally) -> bool {
        // The test is "within?", so that NaN is refused.
        after.spent <= self.limit.limit()
            && (price.distance == 0.0 || after.distance <= self.distance)
            && (price.leak == 0.0 || after.leak <= self.leak)
    }

    /// The amount that an event adds to a tally, whatever came before.
    pub fn price(&self, event: &Event) -> Result<Tally, AccountError> {
        self.price_of_parts(&Parts::new(event)?)
    }

    /// As [`Filter::price`], with the event's ε if its loss is bounded: the amount that it adds under
    /// [`Law::Sum`].
    pub fn price_and_sum(&self, event: &Event) -> Result<(Tally, Option<f64>), AccountError> {
        let parts = Parts::new(event)?;
        let summing = Self { limit: Law::Sum { epsilon: 1.0 }, ..*self };
        Ok((self.price_of_parts(&parts)?, summing.cost(&parts)))
    }

    fn price_of_parts(&self, parts: &Parts) -> Result<Tally, AccountError> {
        if parts.neighbours != self.neighbours {
            let (first, second) = (self.neighbours, parts.neighbours);
            return Err(AccountError::MixedNeighbours { first, second });
        }
        if parts.unit != self.unit {
            return Err(AccountError::MixedUnits { first: self.unit, second: parts.unit });
        }
        let spent = self.cost(parts).ok_or(AccountError::NotAdmitted)?;
        // A leak limit of 0 has no bound for events with a leak.
        if parts.leak > 0.0 && self.leak == 0.0 {
            return Err(AccountError::NotAdmitted);
        }
        Ok(Tally { spent, distance: parts.distance, leak: parts.leak })
    }

    /// The amount that a whole session under a filter of its own adds to a tally: its full limit. The
    /// session's law must bound the quantity of this filter's law.
    pub fn price_of(&self, session: &Self) -> Result<Tally, AccountError> {
        session.check()?;
        if session.neighbours != self.neighbours {
            let (first, second) = (self.neighbours, session.neighbours);
            return Err(AccountError::MixedNeighbours { first, second });
        }
        if session.unit != self.unit {
            return Err(AccountError::MixedUnits { first: self.unit, second: session.unit });
        }
        let spent = match (self.limit, session.limit) {
            (Law::Gaussian { .. }, Law::Gaussian { mu }) => mu * mu,
            (Law::Concentrated { .. }, Law::Gaussian { mu }) => mu * mu / 2.0,
            (Law::Concentrated { .. }, Law::Concentrated { rho }) => rho,
            (Law::Concentrated { .. }, Law::Sum { epsilon }) => epsilon * epsilon / 2.0,
            (Law::Renyi { order, .. }, Law::Gaussian { mu }) => order * mu * mu / 2.0,
            (Law::Renyi { order, .. }, Law::Concentrated { rho }) => order * rho,
            (Law::Renyi { order, .. }, Law::Renyi { order: same, limit }) if same == order => limit,
            (Law::Renyi { .. } | Law::Sum { .. }, Law::Sum { epsilon }) => epsilon,
            _ => return Err(AccountError::NotAdmitted),
        };
        if session.leak > 0.0 && self.leak == 0.0 {
            return Err(AccountError::NotAdmitted);
        }
        let spent = spent * (1.0 + 1e-12);
        Ok(Tally { spent, distance: session.distance, leak: session.leak })
    }

    /// The event's part of the total; `None` if the law has no bound for it.
    fn cost(&self, parts: &Parts) -> Option<f64> {
        let by_moments_only = !parts.selected.is_empty();
        let rest = parts.rest.iter();
        let total = match self.limit {
            Law::Gaussian { .. } if parts.rest.is_empty() && !by_moments_only => {
                Some(parts.squares)
            }
            Law::Concentrated { .. } if !by_moments_only => rest
                .map(|(part, count)| Some(rho_of(part)? * *count as f64))
                .try_fold(parts.squares / 2.0, |sum, rho| Some(sum + rho?)),
            Law::Sum { .. } if parts.squares == 0.0 && !by_moments_only => rest
                .map(|(part, count)| Some(part.bound()? * *count as f64))
                .try_fold(0.0, |sum, epsilon| Some(sum + epsilon?)),
            Law::Renyi { order, .. } => Some(selected::divergence(parts, order)),
            Law::Gaussian { .. } | Law::Concentrated { .. } | Law::Sum { .. } => None,
        }?;
        // A single ε is charged exactly, so that a limit pays for as many as it divides into.
        let exact = matches!(self.limit, Law::Sum { .. }) && parts.rest.len() == 1;
        Some(if exact { total } else { total * (1.0 + 1e-12) })
    }

    /// Upper bound on the δ of the whole session at ε, whatever it did within the limit.
    pub fn delta(&self, epsilon: f64) -> Result<f64, AccountError> {
        self.check()?;
        let epsilon = non_negative("epsilon", epsilon)?;
        let whole = match self.limit {
            Law::Gaussian { mu } => self.parts(mu * mu * (1.0 + 1e-15), None).delta(epsilon),
            Law::Concentrated { rho } => {
                self.parts(0.0, Some(Part::Concentrated(rho))).delta(epsilon)
            }
            Law::Sum { epsilon: most } => {
                self.parts(0.0, Some(Part::Response(most))).delta(epsilon)
            }
            Law::Renyi { order, limit } => {
                let s = order - 1.0;
                let ln = s * (limit - epsilon) + s * libm::log1p(-1.0 / order) - libm::log(order);
                let charge = (1.0 + libm::exp(epsilon)) * self.distance;
                ((libm::exp(ln.min(0.0)) * (1.0 + 1e-12) + charge) * (1.0 + 1e-14)).min(1.0)
            }
        };
        let leaked = if self.leak == 0.0 { whole } else { (whole + self.leak).next_up() };
        Ok(leaked.min(1.0))
    }

    /// The guarantee of the whole session at this δ; ε is infinite if none is found.
    pub fn guarantee(&self, delta: f64) -> Result<Guarantee, AccountError> {
        let delta = super::error::probability("delta", delta)?;
        let met = |epsilon: f64| self.delta(epsilon).is_ok_and(|found| found <= delta);
        let mut high = 1e-6;
        while !met(high) && high < LARGEST_EPSILON {
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

    fn parts(&self, squares: f64, part: Option<Part>) -> Parts {
        Parts {
            neighbours: self.neighbours,
            unit: self.unit,
            squares,
            leak: 0.0,
            distance: self.distance,
            ratio: f64::INFINITY,
            outside: 1.0,
            rest: part.map(|part| (part, 1)).into_iter().collect(),
            selected: Vec::new(),
        }
    }
}

/// The largest ε that is searched.
const LARGEST_EPSILON: f64 = 600.0;

/// The zCDP parameter ρ of a part that is not Gaussian, if it has one.
fn rho_of(part: &Part) -> Option<f64> {
    match *part {
        Part::Response(epsilon) | Part::Laplace(epsilon) => Some(epsilon * epsilon / 2.0),
        Part::DiscreteLaplace(..) => part.bound().map(|epsilon| epsilon * epsilon / 2.0),
        Part::BoundedRange(range) => Some(range * range / 8.0),
        Part::Concentrated(rho) => Some(rho),
        Part::Objective(_) | Part::Sampled(_) => None,
    }
}
