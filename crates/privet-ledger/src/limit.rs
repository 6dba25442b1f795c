//! The limit on all releases of a data set together, fixed when it is opened.
//!
//! A limit is an (ε, δ) for one neighbour relation and unit, and the filter that enforces it
//! ([`privet_dp::account::filter`], with the theorems). The filter's own limit is the largest that
//! proves the (ε, δ):
//!
//! | kind | sum | admits | largest limit |
//! |---|---|---|---|
//! | `renyi` | Σε(α) at one order α | every event | δ(ε) of the moment at α |
//! | `zcdp` | Σρ | events with a ρ; others by their claimed (ε, δ), as ε²/2 and δ | δ(ε) of ρ-zCDP |
//! | `gaussian` | Σμ² | Gaussian releases alone | δ(ε) of the Gaussian curve |
//! | `sum` | Σε and Σδ | events with a bounded loss; others by their claimed (ε, δ) | ε |
//!
//! **δ is divided** at the opening: a quarter for the δ that events have of their own (under `sum` all
//! of it), a thousandth for noise on grids, divided by 1 + e^ε, the rest for the filter's curve.
//!
//! **The law or the sum.** Beside its own quantity every limit adds up the ε of releases with a bounded
//! loss, and admits a release that keeps *either* within: few large releases of pure ε cost less by
//! their sum. This costs nothing. *Proof.* Let A be the transcripts at whose end the sum is within ε,
//! and B the others; at the end of those the law's quantity is within. On A the density of P is at most
//! e^ε times that of Q: P(S∩A) ≤ e^εQ(S∩A). On B the process is the one that stops before the law's
//! quantity would exceed its limit, whose δ is H; so P(S∩B) ≤ e^εQ(S∩B) + H. Leaks and grids are charged
//! for all transcripts alike, as in [`privet_dp::account::filter`]. ∎  A single release without a
//! bounded loss (Gaussian noise) leaves the law alone.
//!
//! **The order** of `renyi` is fixed at the opening, by a rule that reads the limit alone: the order at
//! which most Gaussian releases fit, the largest limit(α)/α. Choosing the best order afterwards is not a
//! filter.

use crate::LedgerError;
use crate::exact::Exact;
use privet_core::{Budget, Relation};
use privet_dp::account::filter::Law;
use privet_dp::account::{AccountError, Cost, Event, Filter, Guarantee, Tally};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Kind of filter that enforces a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// One Rényi order, fixed at the opening.
    Renyi,
    /// Zero-concentrated differential privacy.
    Zcdp,
    /// Gaussian differential privacy.
    Gaussian,
    /// The sum of ε.
    Sum,
}

impl Kind {
    /// The words accepted by [`FromStr`].
    pub const ACCEPTED: &'static str = "renyi, zcdp, gaussian, sum";
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Renyi => "renyi",
            Self::Zcdp => "zcdp",
            Self::Gaussian => "gaussian",
            Self::Sum => "sum",
        })
    }
}

impl FromStr for Kind {
    type Err = privet_core::Error;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "renyi" => Ok(Self::Renyi),
            "zcdp" => Ok(Self::Zcdp),
            "gaussian" => Ok(Self::Gaussian),
            "sum" => Ok(Self::Sum),
            _ => Err(privet_core::Error::Unknown {
                what: "filter",
                given: word.into(),
                accepted: Self::ACCEPTED,
            }),
        }
    }
}

/// Share of δ for events with a δ of their own.
const LEAK: f64 = 0.25;
/// Share of δ for noise on grids.
const GRIDS: f64 = 1e-3;
/// Tolerance of sums of ε: twelve digits, so that ten times 0.1 is 1.
const TWELVE_DIGITS: f64 = 1.0 + 1e-12;
/// Relative tolerance of ε and δ for another platform's arithmetic.
const PLATFORM_TOLERANCE: f64 = 1.0 + 1e-9;

/// The limit on all releases of a data set together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// ε of all releases together.
    pub epsilon: f64,
    /// δ of all releases together.
    pub delta: f64,
    /// The filter that enforces it.
    pub filter: Filter,
}

impl Limit {
    /// Finds the largest limit of this kind that proves the budget. `order` overrides the order that the
    /// rule would choose for `renyi`.
    pub fn new(
        kind: Kind,
        order: Option<f64>,
        budget: Budget,
        relation: Relation,
    ) -> Result<Self, LedgerError> {
        let (epsilon, delta) = (budget.epsilon(), budget.delta());
        if order.is_some() && kind != Kind::Renyi {
            return Err(LedgerError::Limit(format!(
                "an order is for the filter renyi, not {kind}"
            )));
        }
        if delta == 0.0 && kind != Kind::Sum {
            return Err(LedgerError::Limit(format!(
                "the filter {kind} proves nothing at δ = 0: accepted is the filter sum, or a δ above 0"
            )));
        }
        let Relation { neighbours, unit } = relation;
        let with = |limit, distance, leak| Filter { neighbours, unit, limit, distance, leak };
        if kind == Kind::Sum {
            let filter = with(Law::Sum { epsilon: epsilon * TWELVE_DIGITS }, 0.0, delta);
            return Ok(Self { epsilon, delta, filter });
        }
        let distance = delta * GRIDS / (1.0 + libm_exp(epsilon));
        let filter = |limit| with(limit, distance, delta * LEAK);
        let law = match kind {
            Kind::Gaussian => Law::Gaussian { mu: 1.0 },
            Kind::Zcdp => Law::Concentrated { rho: 1.0 },
            Kind::Renyi | Kind::Sum => {
                let order = match order {
                    Some(order) if order > 1.0 && order < 1e6 => order,
                    Some(order) => {
                        return Err(LedgerError::Limit(format!(
                            "the order {order}: a number above 1 and below 1000000 is accepted"
                        )));
                    }
                    None => best_order(epsilon, delta),
                };
                Law::Renyi { order, limit: 1.0 }
            }
        };
        let proves =
            |most: f64| filter(law.up_to(most)).delta(epsilon).is_ok_and(|found| found <= delta);
        let most = largest(proves).ok_or_else(|| {
            LedgerError::Limit(format!(
                "no release at all fits into ε = {epsilon}, δ = {delta:e} by the filter {kind}{}; a larger ε \
                 or δ is accepted, or the filter sum",
                order.map_or(String::new(), |order| format!(" at order {order}"))
            ))
        })?;
        Ok(Self { epsilon, delta, filter: filter(law.up_to(most)) })
    }

    /// Kind of the filter.
    pub fn kind(&self) -> Kind {
        match self.filter.limit {
            Law::Renyi { .. } => Kind::Renyi,
            Law::Concentrated { .. } => Kind::Zcdp,
            Law::Gaussian { .. } => Kind::Gaussian,
            Law::Sum { .. } => Kind::Sum,
        }
    }

    /// Neighbours and unit of the guarantee.
    pub fn relation(&self) -> Relation {
        Relation::new(self.filter.neighbours, self.filter.unit)
    }

    /// True if the filter proves the (ε, δ), up to rounding.
    pub fn holds(&self) -> bool {
        let range = Budget::new(self.epsilon, self.delta).is_ok();
        range
            && self
                .filter
                .delta(self.epsilon * PLATFORM_TOLERANCE)
                .is_ok_and(|found| found <= self.delta * PLATFORM_TOLERANCE)
    }

    /// Largest value of each quantity, in integer units.
    pub fn exact(&self) -> Exact {
        let Filter { limit, distance, leak, .. } = self.filter;
        Exact::limit(limit.limit(), distance, leak, self.epsilon * TWELVE_DIGITS)
    }

    /// Price of events; `None` if the filter has no bound for them.
    pub fn price(&self, event: &Event) -> Result<Option<Exact>, AccountError> {
        price_if_admitted(self.filter.price_and_sum(event))
    }

    /// Price of a session under a filter of its own; `None` if this filter has no bound for it.
    pub fn price_of(&self, session: &Filter) -> Result<Option<Exact>, AccountError> {
        let sum = match session.limit {
            Law::Sum { epsilon } => Some(epsilon),
            _ => None,
        };
        price_if_admitted(self.filter.price_of(session).map(|price| (price, sum)))
    }

    /// Price of a release by its claimed (ε, δ) alone, which its events must prove.
    pub fn price_of_claim(&self, claim: &Guarantee) -> Result<Option<Exact>, AccountError> {
        let cost = Cost::Approximate { epsilon: claim.epsilon, delta: claim.delta };
        self.price(&Event::Use { neighbours: claim.neighbours, unit: claim.unit, cost })
    }

    /// The ε proved for everything spent, at the limit's δ. Infinite if none is proved.
    pub fn proved_epsilon(&self, spent: &Exact) -> f64 {
        if spent.is_nothing() {
            return 0.0;
        }
        // A total that was rounded down when stored and up when shown is the limit itself.
        let near = |value: f64, limit: f64| {
            if value > limit && value <= limit * (1.0 + 1e-14) { limit } else { value }
        };
        let most = near(spent.spent_quantity(), self.filter.limit.limit());
        let filter = Filter {
            limit: self.filter.limit.up_to(most.max(f64::MIN_POSITIVE)),
            distance: near(spent.distance(), self.filter.distance),
            leak: near(spent.leak(), self.filter.leak).min(1.0),
            ..self.filter
        };
        let law = filter.guarantee(self.delta).map_or(f64::INFINITY, |found| found.epsilon);
        // The sum holds at δ = 0, apart from leaks.
        match spent.sum() {
            Some(sum) if filter.leak <= self.delta && spent.distance() == 0.0 => law.min(sum),
            _ => law,
        }
    }
}

/// Maps "not admitted" to `None`, and a price to integer units.
fn price_if_admitted(
    found: Result<(Tally, Option<f64>), AccountError>,
) -> Result<Option<Exact>, AccountError> {
    match found {
        Ok((price, sum)) => Ok(Exact::of(&price, sum)),
        Err(AccountError::NotAdmitted) => Ok(None),
        Err(error) => Err(error),
    }
}

fn libm_exp(value: f64) -> f64 {
    // Only the division of δ depends on it, and the limit is checked as a whole.
    value.min(600.0).exp()
}

/// The order at which most Gaussian releases fit: the largest limit(α)/α over 2000 candidates.
fn best_order(epsilon: f64, delta: f64) -> f64 {
    let capacity = |order: f64| {
        let s = order - 1.0;
        let ln = (delta * (1.0 - LEAK - GRIDS)).ln();
        (epsilon - (-1.0 / order).ln_1p() + (ln + order.ln()) / s) / order
    };
    let orders = (1..=2000).map(|step| 1.0 + (f64::from(step) / 2000.0 * 16.0 - 4.0).exp2());
    let best = orders.max_by(|a, b| capacity(*a).total_cmp(&capacity(*b))).unwrap_or(2.0);
    // Rounded to few digits, so that it can be typed.
    let digits = 10_f64.powf(2.0 - best.log10().floor());
    (best * digits).round() / digits
}

/// Returns the largest number at which a monotone condition holds, rounded to the safe side; `None` if
/// it holds at none.
fn largest(holds: impl Fn(f64) -> bool) -> Option<f64> {
    let mut low = 1.0;
    while !holds(low) {
        low /= 2.0;
        if low < 1e-18 {
            return None;
        }
    }
    let mut high = low * 2.0;
    while holds(high) && high < 1e12 {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_core::{Neighbours, Unit};

    fn limit(kind: Kind, epsilon: f64, delta: f64) -> Limit {
        let relation = Relation::new(Neighbours::ReplaceOne, Unit::Record);
        Limit::new(kind, None, Budget::new(epsilon, delta).unwrap(), relation).unwrap()
    }

    /// The filter proves its (ε, δ), and one with a limit 0.1 % larger does not.
    #[test]
    fn a_limit_is_the_largest_that_proves_its_budget() {
        for kind in [Kind::Renyi, Kind::Zcdp, Kind::Gaussian] {
            for (epsilon, delta) in [(0.1, 1e-6), (1.0, 1e-6), (1.0, 1e-10), (8.0, 1e-5)] {
                let limit = limit(kind, epsilon, delta);
                assert!(limit.filter.delta(epsilon).unwrap() <= delta, "{kind} {epsilon}");
                assert!(limit.holds());
                let law = limit.filter.limit;
                let more = Filter { limit: law.up_to(law.limit() * 1.001), ..limit.filter };
                assert!(more.delta(epsilon).unwrap() > delta, "{kind} {epsilon}");
                let proved = limit.proved_epsilon(&limit.exact());
                assert!(
                    proved > epsilon * 0.9 && proved <= epsilon * PLATFORM_TOLERANCE,
                    "{kind}: {proved}"
                );
            }
        }
        assert!(limit(Kind::Sum, 1.0, 0.0).holds());
        assert!(limit(Kind::Sum, 1.0, 1e-6).holds());
    }

    #[test]
    fn a_limit_that_says_more_than_its_filter_does_not_hold() {
        let honest = limit(Kind::Gaussian, 1.0, 1e-6);
        assert!(!Limit { epsilon: 0.9, ..honest }.holds());
        assert!(!Limit { delta: 1e-7, ..honest }.holds());
        assert!(!Limit { epsilon: f64::NAN, ..honest }.holds());
        let law = Law::Gaussian { mu: 100.0 };
        assert!(!Limit { filter: Filter { limit: law, ..honest.filter }, ..honest }.holds());
    }

    #[test]
    fn delta_zero_is_for_sums() {
        let relation = Relation::new(Neighbours::ReplaceOne, Unit::Record);
        let pure = Budget::new(1.0, 0.0).unwrap();
        for kind in [Kind::Renyi, Kind::Zcdp, Kind::Gaussian] {
            assert!(matches!(Limit::new(kind, None, pure, relation), Err(LedgerError::Limit(_))));
        }
    }
}
