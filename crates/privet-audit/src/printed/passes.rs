//! Strongly convex permutation SGD with a counter of passes: PRIV-12 (Thakkar 2019, Algorithm 3).
//!
//! Losses gᵢθ + (ξ/2)θ² in one dimension contract by 1 − η_tξ per update, and a record that goes from +Δ
//! to −Δ moves θ by 2Δη_t/k once per pass, at the place of its batch: the total movement depends on the
//! place j of that batch. No loss with these constants can move further, at any place.
//!
//! The **lemma**, that 2Δ/(ξm) bounds every movement, is false if the movement of the last place exceeds
//! it. The **claim** is another matter: the order is drawn at random and secret, so that the output has
//! the laws P = mean_j N(+a_j, σ²) and Q = mean_j N(−a_j, σ²), 2a_j the movement. [`SecretOrder`]
//! brackets the resulting ε:
//! - *at least*: p/q grows (p's terms over a common factor grow with x, q's fall), so the sets {x > t}
//!   are the optimal ones, and δ(ln p(t)/q(t)) = P(x > t) − (p(t)/q(t))·Q(x > t) exactly, for this pair;
//! - *at most*: hockey-stick divergences are jointly convex, so δ(ε) ≤ mean_j δ_G(ε; 2a_j/σ), for every
//!   pair of tables, since none moves further.
//!
//! A claim below the first is false; one not below the second survives; one between them is open.

use super::descent::printed_noise_scale;
use super::{Erratum, Verdict};
use crate::normal;
use privet_dp::account::gaussian;

/// Unit of the step counter of Algorithm 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// Passes, as printed.
    Passes,
    /// Updates, as in the original proof.
    Updates,
}

/// Settings of Algorithm 3, with Δ = 1, β = 1 + ξ; k divides m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StronglyConvex {
    /// m, the number of rows.
    pub rows: u64,
    /// k, the size of a batch.
    pub batch: u64,
    /// The number of passes.
    pub passes: u64,
    /// ξ, the strong convexity.
    pub strength: f64,
}

impl StronglyConvex {
    /// 2Δ/(ξm), the printed sensitivity.
    pub fn formula(&self) -> f64 {
        2.0 / (self.strength * self.rows as f64)
    }

    /// Movements of θ when the record changes, by the place of its batch in a pass.
    pub fn movements(&self, counter: Counter) -> Vec<f64> {
        let updates = self.rows / self.batch;
        let mut moved = vec![0.0; updates as usize];
        // The factor by which a movement made here has contracted at the end.
        let mut left = 1.0;
        for pass in (1..=self.passes).rev() {
            for (place, moved) in moved.iter_mut().enumerate().rev() {
                let count = match counter {
                    Counter::Passes => pass,
                    Counter::Updates => (pass - 1) * updates + place as u64 + 1,
                };
                let rate = (1.0 / (1.0 + self.strength)).min(1.0 / (self.strength * count as f64));
                *moved += 2.0 * rate / self.batch as f64 * left;
                left *= 1.0 - rate * self.strength;
            }
        }
        moved
    }

    /// The largest movement over the formula: above 1 the lemma is false.
    pub fn excess(&self, counter: Counter) -> f64 {
        self.movements(counter).into_iter().fold(0.0, f64::max) / self.formula()
    }

    /// The output with the printed noise for (ε, δ).
    pub fn released(&self, counter: Counter, epsilon: f64, delta: f64) -> SecretOrder {
        let noise = self.formula() * printed_noise_scale(epsilon, delta);
        SecretOrder { shifts: self.movements(counter).iter().map(|moved| moved / noise).collect() }
    }
}

/// A Gaussian release whose movement, in units of σ, is one of these with equal probability.
#[derive(Debug, Clone, PartialEq)]
pub struct SecretOrder {
    shifts: Vec<f64>,
}

impl SecretOrder {
    /// ln(p/q) at t, and δ there.
    fn at(&self, t: f64) -> (f64, f64) {
        let count = self.shifts.len().max(1) as f64;
        let ln_density =
            |sign: f64| ln_sum(self.shifts.iter().map(|s| -0.5 * (t - sign * 0.5 * s).powi(2)));
        let loss = ln_density(1.0) - ln_density(-1.0);
        let first = self.shifts.iter().map(|s| normal::cdf(0.5 * s - t)).sum::<f64>() / count;
        let second = ln_sum(self.shifts.iter().map(|s| normal::ln_cdf(-0.5 * s - t)));
        (loss, first - libm::exp(loss + second - libm::log(count)))
    }

    /// The exact ε of this pair of tables at δ.
    pub fn at_least(&self, delta: f64) -> f64 {
        let farthest = self.shifts.iter().copied().fold(0.0, f64::max);
        let (mut low, mut high) = (0.0, 0.5 * farthest + 40.0);
        if self.at(low).1 <= delta {
            return 0.0;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.at(middle).1 > delta { low = middle } else { high = middle }
        }
        self.at(low).0
    }

    /// Upper bound on ε at δ for every pair of tables.
    pub fn at_most(&self, delta: f64) -> f64 {
        let count = self.shifts.len().max(1) as f64;
        let exceeds = |epsilon: f64| {
            self.shifts.iter().map(|s| gaussian::delta(epsilon, *s)).sum::<f64>() / count > delta
        };
        let farthest = self.shifts.iter().copied().fold(0.0, f64::max);
        // With the order known: never less than with a secret one.
        let (mut low, mut high) = (0.0, gaussian::epsilon(delta, farthest));
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if exceeds(middle) { low = middle } else { high = middle }
        }
        high
    }
}

/// ln Σ e^x, without overflow.
fn ln_sum(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    largest + libm::log(terms.map(|x| libm::exp(x - largest)).sum())
}

pub(super) fn errata() -> Vec<Erratum> {
    let cases =
        [(8_000_u64, 100, 1e-3), (8_000, 10, 1e-2), (36_150, 20, 1e-2), (464_800, 10, 1e-2)];
    let erratum = |(rows, passes, strength)| {
        let settings = StronglyConvex { rows, batch: 50, passes, strength };
        let (epsilon, delta) = (1.0, (rows as f64).powi(-2));
        let release = settings.released(Counter::Passes, epsilon, delta);
        let (needed, enough) = (release.at_least(delta), release.at_most(delta));
        let (recomputed, verdict) = match (needed > epsilon, enough <= epsilon) {
            (true, _) => (needed, Verdict::ClaimFalse),
            (_, true) => (enough, Verdict::LemmaFalse),
            _ => (enough, Verdict::Open),
        };
        Erratum {
            id: "PRIV-12",
            what: format!(
                "strongly convex PSGD, t counts passes, order secret: m = {rows}, k = 50, {passes} \
                 passes, ξ = {strength}; movement {:.2} times the formula",
                settings.excess(Counter::Passes)
            ),
            epsilon,
            delta,
            recomputed,
            verdict,
        }
    };
    cases.into_iter().map(erratum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equal movements: both bounds are the Gaussian's own, and a mixture lies between its parts.
    #[test]
    fn the_bracket_closes_where_nothing_is_secret() {
        for (shift, delta) in [(0.3, 1e-8), (2.0, 1e-5), (15.0, 1e-10)] {
            let exact = gaussian::epsilon(delta, shift);
            let known = SecretOrder { shifts: vec![shift; 7] };
            assert!((known.at_least(delta) / exact - 1.0).abs() < 1e-6, "{shift}");
            assert!((known.at_most(delta) / exact - 1.0).abs() < 1e-6, "{shift}");
            let mixed = SecretOrder { shifts: vec![shift, 0.5 * shift, 0.1 * shift] };
            let (needed, enough) = (mixed.at_least(delta), mixed.at_most(delta));
            assert!(needed <= enough && enough < exact, "{needed}, {enough}, {exact}");
        }
    }

    /// The unrolled weights are those of the algorithm as executed.
    #[test]
    fn movements_are_those_of_the_algorithm() {
        let settings = StronglyConvex { rows: 60, batch: 10, passes: 3, strength: 0.2 };
        for counter in [Counter::Passes, Counter::Updates] {
            for (place, moved) in settings.movements(counter).into_iter().enumerate() {
                let run = |gradient: f64| {
                    let (mut theta, mut updates) = (0.0, 0);
                    for pass in 1..=3 {
                        for update in 0..6 {
                            updates += 1;
                            let count = if counter == Counter::Passes { pass } else { updates };
                            let rate = (1.0_f64 / 1.2).min(1.0 / (0.2 * f64::from(count)));
                            let data = if update == place { gradient / 10.0 } else { 0.0 };
                            theta -= rate * (data + 0.2 * theta);
                        }
                    }
                    theta
                };
                assert!(((run(-1.0) - run(1.0)) - moved).abs() < 1e-12, "{counter:?}, {place}");
            }
        }
    }
}
