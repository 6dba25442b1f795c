//! The best of a secret random number of runs (Papernot & Steinke, ICLR 2022).
//!
//! Let Q be a mechanism whose output is ordered by a score that is part of it, run K times on the same
//! records, K drawn independently of them; the best output is shown, neither the others nor K. If Q has
//! the Rényi curve ε(λ), the whole has ε′(λ), for any λ > 1:
//!
//! - *Truncated negative binomial* η > −1, γ in (0, 1) (Theorem 2), for any λ̂ ≥ 1:
//!   ε′(λ) = ε(λ) + (1+η)(1 − 1/λ̂)·ε(λ̂) + (1+η)·ln(1/γ)/λ̂ + ln E K/(λ−1), with
//!   E K = η(1−γ)/(γ(1−γ^η)), at η = 0 (1−γ)/(γ·ln(1/γ));
//! - *Poisson* of mean m ≥ 1 (Theorem 6): if Q is (ε̂, δ̂)-DP for e^ε̂ = 1 + 1/(λ−1), then
//!   ε′(λ) = ε(λ) + m·δ̂ + ln m/(λ−1).
//!
//! **Candidates** ([`Event::BestOf`](super::Event::BestOf)). Let a run draw j by a lot that is independent of
//! the records, and show it beside the outcome of Qⱼ. Then its curve is at most the largest of theirs, order
//! by order, and so is its δ at every ε. *Proof.* E e^{(λ−1)·loss} of the pair is Σⱼpⱼ·e^{(λ−1)εⱼ(λ)} ≤ maxⱼ
//! e^{(λ−1)εⱼ(λ)}, since the lot has the same law on both sides; likewise H_ε = Σⱼpⱼ·H_ε(Qⱼ) ≤ maxⱼ. ∎ So
//! ε(λ) and δ̂ above are those maxima. The candidate may be a different one at each order: no single one has
//! to be the worst.
//!
//! Each bounds both directions, so ε(λ) is the larger of Q's two. The theorems need the other runs and K
//! hidden: a session that read them could not use these bounds, and no mechanism returns them.
//!
//! **Noise on a grid.** Given K, K runs are within K·q of K runs of the law of the theorem; averaged over K,
//! within E K·q, which is charged as a distance.
//!
//! Composition with other events is by moments: every α is valid.

use super::error::{AccountError, positive};
use super::event::Runs;
use super::objective::Direction;
use super::parts::Parts;
use super::renyi;

/// The best of a random number of runs, each of one of several candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected {
    law: Runs,
    /// One run of each candidate.
    inner: Vec<Parts>,
    /// The logarithm ln E K of the mean number of runs.
    ln_expected: f64,
    /// The part of ε′ that a negative binomial number of runs adds at every order.
    overhead: f64,
}

impl Selected {
    /// Checks the law, and that the runs have moments.
    pub fn new(law: Runs, inner: Vec<Parts>) -> Result<Self, AccountError> {
        let ln_expected = libm::log(Self::expected(&law)?).max(0.0) * (1.0 + 1e-12);
        if inner.iter().any(|parts| parts.leak > 0.0) {
            return Err(AccountError::NotAdmitted);
        }
        let mut selected = Self { law, inner, ln_expected, overhead: 0.0 };
        if let Runs::NegativeBinomial { eta, gamma } = law {
            let at = |order: f64| {
                let again = if order > 1.0 {
                    (1.0 - 1.0 / order) * selected.single_run_curve(order)
                } else {
                    0.0
                };
                (1.0 + eta) * (again - libm::log(gamma) / order)
            };
            // Any λ̂ ≥ 1 is valid.
            let least = (0..200).map(|k| at(1.0 + libm::expm1(0.07 * f64::from(k))));
            let least = least.fold(f64::INFINITY, f64::min);
            selected.overhead = least * (1.0 + 1e-12);
        }
        Ok(selected)
    }

    /// The mean number of runs E K, rounded up.
    pub fn expected(law: &Runs) -> Result<f64, AccountError> {
        let expected = match *law {
            Runs::Poisson { mean } => {
                positive("mean - 1", mean - 1.0 + f64::MIN_POSITIVE)?;
                mean
            }
            Runs::NegativeBinomial { eta, gamma } => {
                positive("eta + 1", eta + 1.0)?;
                positive("gamma", gamma)?;
                positive("1 - gamma", 1.0 - gamma)?;
                let ln = libm::log(gamma);
                // x/(1 − e^(−x)) is below 1 + |x| near 0, where its own formula has no digits.
                let near_zero = (eta * ln).abs() < 1e-8;
                let ratio =
                    if near_zero { -1.0 / ln * (1.0 + 1e-8) } else { eta / -libm::expm1(eta * ln) };
                ratio * (1.0 - gamma) / gamma
            }
        };
        positive("expected runs", expected * (1.0 + 1e-12))
    }

    /// The Rényi curve ε(α) of one run.
    fn single_run_curve(&self, order: f64) -> f64 {
        largest_value(self.inner.iter().map(|parts| divergence(parts, order)))
    }

    /// The Rényi curve ε′(α) of the selection.
    pub fn divergence(&self, order: f64) -> f64 {
        let s = order - 1.0;
        let more = match self.law {
            Runs::NegativeBinomial { .. } => self.overhead,
            Runs::Poisson { mean } => {
                let epsilon = libm::log1p(1.0 / s) * (1.0 - 1e-15);
                mean * largest_value(self.inner.iter().map(|parts| parts.delta(epsilon)))
            }
        };
        (self.single_run_curve(order) + more + self.ln_expected / s) * (1.0 + 1e-12)
    }
}

/// The largest value; NaN counts as infinite.
fn largest_value(each: impl Iterator<Item = f64>) -> f64 {
    each.fold(0.0, |most, one| if one.is_nan() { f64::INFINITY } else { most.max(one) })
}

/// ε(α) of parts, the larger of both directions.
pub(super) fn divergence(parts: &Parts, order: f64) -> f64 {
    let gaussian = renyi::gaussian(order, parts.mu());
    let rest = parts.rest.iter().fold(gaussian, |sum, (part, count)| {
        let way = |direction| part.divergence(order, direction);
        sum + way(Direction::Forward).max(way(Direction::Backward)) * *count as f64
    });
    let selected = parts.selected.iter();
    selected.fold(rest, |sum, (part, count)| sum + part.divergence(order) * *count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{Cost, Event, delta, epsilon};
    use privet_core::{Neighbours, Unit};

    fn gaussian(mu: f64) -> Event {
        let cost = Cost::Gaussian { sensitivity: mu, noise_scale: 1.0, grid: None };
        Event::Use { neighbours: Neighbours::AddRemove, unit: Unit::Record, cost }
    }

    fn selected(law: Runs, event: Event) -> Event {
        Event::Selected { law, event: Box::new(event) }
    }

    /// The paper's headline: the best of many costs about as much as two or three runs.
    #[test]
    fn the_best_of_many_costs_two_or_three_runs() {
        let once = epsilon(&gaussian(0.2), 1e-6).unwrap();
        for (law, most) in [
            (Runs::NegativeBinomial { eta: 0.0, gamma: 0.01 }, 3.0),
            (Runs::NegativeBinomial { eta: 1.0, gamma: 1.0 / 30.0 }, 3.2),
            (Runs::Poisson { mean: 30.0 }, 3.4),
        ] {
            let all = epsilon(&selected(law, gaussian(0.2)), 1e-6).unwrap();
            assert!(all > once && all < most * once, "{law:?}: {all} for {once}");
        }
    }

    /// Theorem 6 and the conversion of Canonne et al., written out again, over a grid of orders.
    #[test]
    fn a_poisson_number_of_runs_costs_what_the_theorem_says() {
        let (mu, mean, delta): (f64, f64, f64) = (0.2, 30.0, 1e-6);
        let at = |s: f64| {
            let order = 1.0 + s;
            let hidden = crate::account::gaussian::delta((1.0 / s).ln_1p(), mu);
            let moment = order * mu * mu / 2.0 + mean * hidden + mean.ln() / s;
            moment + (1.0 - 1.0 / order).ln() - (delta.ln() + order.ln()) / s
        };
        let least = (1..4000).map(|k| at(1.005_f64.powi(k) * 0.01)).fold(f64::INFINITY, f64::min);
        let found = epsilon(&selected(Runs::Poisson { mean }, gaussian(mu)), delta).unwrap();
        assert!((found / least - 1.0).abs() < 1e-3, "{found} and {least}");
    }

    /// By hand at one order: pure ε has a Rényi curve of at most ε, so the whole is at most
    /// (2 + η)ε + …, the paper's Corollary for pure DP.
    #[test]
    fn pure_runs_stay_within_the_pure_bound() {
        let cost = Cost::Pure { epsilon: 0.1 };
        let run = Event::Use { neighbours: Neighbours::AddRemove, unit: Unit::Record, cost };
        let all = selected(Runs::NegativeBinomial { eta: 0.0, gamma: 0.1 }, run);
        let parts = Parts::new(&all).unwrap();
        let found = divergence(&parts, 1e6);
        assert!(found <= 0.2 * (1.0 + 1e-3), "{found}");
        assert!(found >= 0.1);
    }

    /// One candidate costs a plain selection; several cost the worst of them where one is the worst at
    /// every order, and otherwise at least as much as each.
    #[test]
    fn candidates_cost_what_the_worst_of_them_does() {
        let pure = Event::Use {
            neighbours: Neighbours::AddRemove,
            unit: Unit::Record,
            cost: Cost::Pure { epsilon: 0.4 },
        };
        for law in [Runs::NegativeBinomial { eta: 0.0, gamma: 0.05 }, Runs::Poisson { mean: 12.0 }]
        {
            let best =
                |candidates: Vec<Event>| epsilon(&Event::BestOf { law, candidates }, 1e-6).unwrap();
            let one = epsilon(&selected(law, gaussian(0.2)), 1e-6).unwrap();
            assert_eq!(best(vec![gaussian(0.2)]), one);
            assert_eq!(best(vec![gaussian(0.1), gaussian(0.2), gaussian(0.15)]), one);
            let other = epsilon(&selected(law, pure.clone()), 1e-6).unwrap();
            let both = best(vec![gaussian(0.2), pure.clone()]);
            assert!(both >= one.max(other) * (1.0 - 1e-9), "{both} {one} {other}");
            assert!(both <= one + other);
        }
        let law = Runs::Poisson { mean: 12.0 };
        assert!(epsilon(&Event::BestOf { law, candidates: vec![] }, 1e-6).is_err());
    }

    /// The cost of tuning: 30 expected runs, at most 3 times the ε of one run.
    #[test]
    fn thirty_runs_cost_at_most_three() {
        for (mu, delta) in [(0.05, 1e-5), (0.1, 1e-6), (0.2, 1e-6), (0.4, 1e-8), (0.8, 1e-8)] {
            let once = epsilon(&gaussian(mu), delta).unwrap();
            for law in [
                Runs::NegativeBinomial { eta: 0.0, gamma: 0.006_59 },
                Runs::NegativeBinomial { eta: 1.0, gamma: 1.0 / 30.0 },
            ] {
                let runs = Selected::expected(&law).unwrap();
                assert!((30.0 - 1e-9..30.2).contains(&runs), "{runs}");
                let all = epsilon(&selected(law, gaussian(mu)), delta).unwrap();
                assert!(all <= 3.0 * once, "mu {mu}, delta {delta}, {law:?}: {}", all / once);
            }
        }
    }

    #[test]
    fn selection_composes_and_never_costs_less_than_a_run() {
        let law = Runs::NegativeBinomial { eta: 1.0, gamma: 0.5 };
        for mu in [0.01, 0.3, 1.0] {
            let one = selected(law, gaussian(mu));
            let both = Event::All(vec![one.clone(), gaussian(0.5)]);
            for e in [0.1, 1.0, 3.0] {
                let alone = delta(&one, e).unwrap();
                assert!(alone >= delta(&gaussian(mu), e).unwrap());
                assert!(delta(&both, e).unwrap() >= alone);
            }
        }
    }

    /// Near η = 0 the law is the logarithmic one, however small η is.
    #[test]
    fn a_tiny_eta_costs_what_none_costs() {
        let at = |eta| {
            let law = Runs::NegativeBinomial { eta, gamma: 0.6 };
            epsilon(&selected(law, gaussian(0.25)), 1e-6).unwrap()
        };
        for eta in [f64::from_bits(1), 1e-300, -1e-20, 1e-9] {
            assert!((at(eta) / at(0.0) - 1.0).abs() < 1e-6, "{eta}");
        }
    }

    #[test]
    fn laws_that_are_none_are_refused() {
        for law in [
            Runs::NegativeBinomial { eta: -1.0, gamma: 0.5 },
            Runs::NegativeBinomial { eta: 0.0, gamma: 0.0 },
            Runs::NegativeBinomial { eta: 0.0, gamma: 1.0 },
            Runs::NegativeBinomial { eta: f64::NAN, gamma: 0.5 },
            Runs::Poisson { mean: 0.5 },
            Runs::Poisson { mean: f64::INFINITY },
        ] {
            assert!(delta(&selected(law, gaussian(0.1)), 1.0).is_err(), "{law:?}");
        }
        let cost = Cost::Approximate { epsilon: 0.1, delta: 1e-6 };
        let known_badly =
            Event::Use { neighbours: Neighbours::AddRemove, unit: Unit::Record, cost };
        assert!(delta(&selected(Runs::Poisson { mean: 3.0 }, known_badly), 1.0).is_err());
    }
}
