//! Any number of discrete answers, charged only for those that are not stable: A_OQR.
//!
//! **Theorem** (Thakkar 2019, Algorithm 8 and Theorem 7, with other constants). For each query let an
//! answer fᵢ and an integer dᵢ ≥ 0 be functions of the records such that between neighbours
//! |dᵢ − d′ᵢ| ≤ 1, and dᵢ ≥ 1 implies fᵢ = f′ᵢ ([`super::WithDistance`]). Compare the dᵢ by a
//! [`SparseVector`] of Δ = 1 and T runs; where dᵢ is above, release fᵢ, else ⊥. Queries may be chosen
//! after the answers before them. If except with probability p no query with dᵢ = 0 is ever above, then
//! at every e this is within **p + δ₀(e)**, δ₀ the curve of T uses of an ε₀-DP mechanism; and that is at
//! most the curve of those T uses beside a (0, δ) mechanism, if **p ≤ δ·(1 − δ₀(0))**.
//!
//! *Proof.* Fix neighbours D, D′ and the analyst. Call a series of answers *bad* if in it a query with
//! fᵢ ≠ f′ᵢ is answered: then dᵢ = d′ᵢ = 0, since the condition holds from either side; so bad series
//! have probability at most p under either. Let M̃ be the same mechanism but for a fixed sign ★ in the
//! place of answers that differ: its answers are a function of the comparisons and of what D and D′ have
//! in common, so that it is T runs of a sparse vector; series that are not bad have under M the
//! probability that they have under M̃. For every set S, with S′ its series that are not bad,
//! P(S) − e^e·Q(S) ≤ p + P(S′) − e^e·Q(S′) = p + P̃(S′) − e^e·Q̃(S′) ≤ p + δ₀(e): the first part. For
//! e < 0 use H_e(P‖Q) = 1 − e^e + e^e·H_{−e}(Q‖P), which δ₀ satisfies with equality for P = Q's own
//! curve: H_e ≤ δ₀(e) + e^e·p. The charged curve is δ + (1 − δ)δ₀(e). It is no less where
//! p ≤ δ(1 − δ₀(e)) for e ≥ 0, and for e < 0 where e^e·p ≤ δ(1 − δ₀(e)) = δe^e(1 − δ₀(−e)); δ₀ falls
//! from δ₀(0) on. ∎ (The bound p + δ₀ alone would suffice for one release, not for composing it with
//! others.)
//!
//! **p.** A query with d = 0 is above only if Z > w + N ([`super::sparse_vector`]'s signs).
//! - *Exponential* noise: N ≥ 0, so Z > w in one of T runs: **p ≤ T·e^(−(w+1)/s₁)**, for any number of
//!   queries, adaptively chosen.
//! - *Laplace* noise: of m̃ queries and T thresholds, which exist beforehand if one likes, N of query i
//!   is independent of all of them: **p ≤ m̃·T·Pr\[Z − N > w\]**. (The printed proof takes the threshold
//!   of a query for a fresh one. It is not: an analyst may wait for a low one, since ⊤ reveals it and is
//!   free.) m̃ is a hard limit.
//!
//! w is the least integer for which that holds.
//!
//! **Very large ε.** Where 1 − δ₀(0) is too close to 0 to be computed as a difference (ε above about 20,
//! which protects next to nothing) a lower bound is computed directly. T uses of an ε₀-DP mechanism are
//! post-processing of T answers by coins that are true with probability e^ε₀/(1 + e^ε₀) (Kairouz, Oh &
//! Viswanath 2015), for which 1 − δ₀(0) = Σ_k min{P(k), Q(k)} over the number k of heads: positive
//! terms, of which some are added up, by their logarithms (`ln_overlap`).
//!
//! - ⊥ costs one run, an answer nothing. After T runs, or m̃ queries, no further query is answered.
//! - **A resumed session** continues with a new threshold, which is one more run; no secret is stored.
//! - Finite arithmetic, as its parts. Tested by `tests/all/sparse_vector.rs`.

use super::sparse_vector::{ComparisonRun, SparseVector};
use super::stability::{RELEASED, WithDistance};
use crate::account::{self, Cost, Event, ThresholdNoise};
use crate::gate::{GateError, Noisy, Private, Session, Spend};
use crate::noise::NoiseError;
use privet_core::{Neighbours, Unit};

/// The value of δ₀(0) from which on 1 − δ₀(0) is not computed as a difference.
const NEXT_TO_ALL: f64 = 1.0 - 1e-9;

/// A stream of queries whose stable answers are released.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StableAnswers {
    /// The neighbour relation that distances count in.
    pub neighbours: Neighbours,
    /// The unit that distances count in.
    pub unit: Unit,
    /// The law of the noises.
    pub law: ThresholdNoise,
    /// Scale s₁ of the threshold's noise.
    pub noise_scale: f64,
    /// Ratio s₂/s₁ of the noise scales.
    pub query_ratio: f64,
    /// Largest number T of runs, that is, of unstable queries.
    pub cutoff: u32,
    /// Largest number m̃ of queries.
    pub questions: u64,
    /// Upper bound δ on the probability of releasing an unstable answer.
    pub delta: f64,
}

/// The answer to a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryAnswer<A> {
    /// A stable answer.
    Answer(A),
    /// ⊥: no answer, and one of T runs is spent.
    Unstable,
    /// No further query is answered; no records were read.
    Ended,
}

impl<A> QueryAnswer<A> {
    /// The answer, if there is one.
    pub fn answer(self) -> Option<A> {
        match self {
            Self::Answer(answer) => Some(answer),
            Self::Unstable | Self::Ended => None,
        }
    }
}

impl StableAnswers {
    fn comparisons(&self, threshold: i64) -> SparseVector {
        SparseVector {
            neighbours: self.neighbours,
            unit: self.unit,
            sensitivity: 1,
            law: self.law,
            noise_scale: self.noise_scale,
            query_ratio: self.query_ratio,
            cutoff: self.cutoff,
            threshold,
        }
    }

    fn leak(&self) -> Event {
        let cost = Cost::Approximate { epsilon: 0.0, delta: self.delta };
        Event::Use { neighbours: self.neighbours, unit: self.unit, cost }
    }

    /// The event of all queries, at most. The leak comes first, so that the number of draws determines
    /// which they were.
    pub fn event(&self) -> Result<Event, GateError> {
        RELEASED.check(self.delta).map_err(NoiseError::Setting)?;
        Ok(Event::All(vec![self.leak(), self.comparisons(0).event()?]))
    }

    /// Logarithm of the largest allowed p: δ(1 − δ₀(0)), slightly less for rounding.
    fn ln_allowed(&self) -> Result<f64, GateError> {
        let runs = self.comparisons(0).event()?;
        let all = account::delta(&runs, 0.0)?;
        let kept = match all < NEXT_TO_ALL {
            true => libm::log1p(-all),
            // Close to 1 the difference is rounding error.
            false => {
                let each = account::epsilon(&runs, 0.0)? / f64::from(self.cutoff.max(1));
                ln_overlap(self.cutoff.max(1), each)
            }
        };
        Ok(libm::log(self.delta) + kept - 1e-9 * (1.0 - libm::log(self.delta) - kept))
    }

    /// The threshold w.
    pub fn threshold(&self) -> Result<i64, GateError> {
        RELEASED.check(self.delta).map_err(NoiseError::Setting)?;
        let runs = libm::log(f64::from(self.cutoff.max(1)));
        let ln_each = match self.law {
            ThresholdNoise::Exponential => self.ln_allowed()? - runs,
            ThresholdNoise::Laplace => {
                self.ln_allowed()? - runs - libm::log(self.questions.max(1) as f64)
            }
        };
        let (s1, s2) = (self.noise_scale, self.noise_scale * self.query_ratio);
        let ln_beyond = |w: f64| match self.law {
            ThresholdNoise::Exponential => -(w + 1.0) / s1,
            ThresholdNoise::Laplace => ln_difference_beyond(w, s1, s2),
        };
        // Both fall with w: the least by doubling and halving.
        let (mut low, mut high) = (-1.0, 1.0);
        while ln_beyond(high) > ln_each {
            (low, high) = (high, 2.0 * high);
            if high > 4.0e15 {
                return Err(GateError::Malformed);
            }
        }
        while high - low > 1.0 {
            let middle = ((low + high) / 2.0).floor();
            if ln_beyond(middle) > ln_each { low = middle } else { high = middle }
        }
        Ok(high as i64)
    }

    /// Begins a run of all queries, charged by the mechanism that uses it.
    pub(super) fn begin_covered(&self) -> Result<StableStream, GateError> {
        let comparing = self.comparisons(self.threshold()?).begin()?.without_charge();
        Ok(StableStream { comparing, left: self.questions })
    }

    /// A distance whose answer is released, except with probability β, in each of so many queries with
    /// this distance.
    pub fn distance_needed(&self, questions: f64, beta: f64) -> Result<f64, GateError> {
        let s2 = self.noise_scale * self.query_ratio;
        let tail = s2 * libm::log(questions.max(1.0) / beta);
        let raised = match self.law {
            ThresholdNoise::Exponential => 0.0,
            ThresholdNoise::Laplace => self.noise_scale * libm::log(f64::from(self.cutoff) / beta),
        };
        Ok(self.threshold()? as f64 + 1.0 + (tail + raised).ceil())
    }

    /// Begins, and charges the leak; or continues where the session was resumed after `asked` queries,
    /// whose leak is charged. Refused if the plan has neither: draws of other mechanisms pay for no
    /// leak.
    pub fn begin(
        &self,
        query_count: u64,
        session: &mut Session<'_>,
    ) -> Result<StableStream, GateError> {
        let event = self.event()?;
        let mut comparing = self.comparisons(self.threshold()?).begin()?;
        // These queries, with the δ of their leak, are all that the session is for.
        let own = *session.spend() == Spend::Exactly(event);
        match session.draws() {
            draws if draws > 0 && own && session.just_taken_up() => {
                comparing = comparing.after(u32::try_from(draws - 1).unwrap_or(u32::MAX));
            }
            _ => {
                session.charge(self.leak())?;
            }
        }
        Ok(StableStream { comparing, left: self.questions.saturating_sub(query_count) })
    }
}

/// Logarithm of a lower bound on Σ_k min{P(k), Q(k)}, k heads of T coins that are heads with probability
/// e^ε₀/(1 + e^ε₀) under P and 1/(1 + e^ε₀) under Q. By symmetry twice the half of P below T/2, and the
/// middle term once.
pub fn ln_overlap(coins: u32, epsilon: f64) -> f64 {
    let count = f64::from(coins);
    let ln_tails = -epsilon - libm::log1p(libm::exp(-epsilon));
    let ln_heads = -libm::log1p(libm::exp(-epsilon));
    let ln_choose =
        |k: f64| libm::lgamma(count + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(count - k + 1.0);
    let ln_term = |k: f64| ln_choose(k) + k * ln_heads + (count - k) * ln_tails;
    let middle = (count / 2.0).floor();
    let top = ln_term(middle);
    // Terms fall from the middle down; those that are left out make the bound smaller.
    let mut sum = 0.0;
    for down in 0..=(middle as u32).min(2_000) {
        let k = middle - f64::from(down);
        let twice = if 2.0 * k < count { 2.0 } else { 1.0 };
        sum += twice * libm::exp(ln_term(k) - top);
    }
    // Margin for the rounding of the logarithms.
    top + libm::log(sum) - 1e-12 * (1.0 + count * (1.0 + epsilon))
}

/// Logarithm of a bound on Pr\[Z − N > w\] for discrete Laplace Z and N of scales s₁ and s₂: Σ_n
/// Pr\[−N = n\]·Pr\[Z > w − n\], where many n are taken together, each with the largest of its factors.
fn ln_difference_beyond(w: f64, s1: f64, s2: f64) -> f64 {
    let above = |x: f64, s: f64| {
        // Pr[X > x], x an integer, X discrete Laplace of scale s.
        let q = libm::exp(-1.0 / s);
        match x >= 0.0 {
            true => libm::exp(-(x + 1.0) / s) / (1.0 + q),
            false => 1.0 - libm::exp(x / s) / (1.0 + q),
        }
    };
    let q = libm::exp(-1.0 / s2);
    let mass = |k: f64| libm::exp(-k.abs() / s2) * (1.0 - q) / (1.0 + q);
    // The mass beyond, on either side, is less than e^(−60) of the whole.
    let far = (w + 60.0 * (s1 + s2)).ceil();
    let step = (far / 4_000.0).ceil().max(1.0);
    let (mut k, mut sum) = (-far, 0.0);
    while k <= far {
        // n = −N from k to k + step − 1: Pr[Z > w − n] is largest at the last.
        let last = k + step - 1.0;
        let weight = if last < 0.0 {
            step * mass(last)
        } else if k > 0.0 {
            step * mass(k)
        } else {
            step * mass(0.0)
        };
        sum += weight.min(1.0) * above(w - last, s1);
        k += step;
    }
    sum += 2.0 * above(far - 1.0, s2);
    libm::log(sum * (1.0 + 1e-9))
}

/// Queries in progress.
#[derive(Debug)]
pub struct StableStream {
    comparing: ComparisonRun,
    left: u64,
}

impl StableStream {
    /// Releases the answer, or reports that there is none.
    ///
    /// Answer and distance are private:
    /// ```compile_fail,E0308
    /// # use privet_dp::{gate::Session, mechanism::{StableStream, Proxied}};
    /// fn open(answering: &mut StableStream, found: Proxied<u8>, session: &mut Session<'_>) {
    ///     let _ = answering.ask(found, session);
    /// }
    /// ```
    pub fn ask<A>(
        &mut self,
        found: Private<WithDistance<A>>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<QueryAnswer<A>>, GateError> {
        let heard = self.hear(found.open(), session)?;
        Ok(session.mark_noisy(heard))
    }

    /// As [`Self::ask`], for mechanisms that use it.
    pub(super) fn hear<A>(
        &mut self,
        found: WithDistance<A>,
        session: &mut Session<'_>,
    ) -> Result<QueryAnswer<A>, GateError> {
        let heard = match self.left {
            0 => QueryAnswer::Ended,
            _ => match self.comparing.compare(found.distance.max(0), session)? {
                None => QueryAnswer::Ended,
                Some(true) => QueryAnswer::Answer(found.answer),
                Some(false) => QueryAnswer::Unstable,
            },
        };
        self.left = self.left.saturating_sub(1);
        Ok(heard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The overlap against its sum term by term, and against the accountant's curve where the difference
    /// can be computed.
    #[test]
    fn the_overlap_is_what_coins_leave() {
        for (coins, epsilon) in [(1_i32, 0.3_f64), (2, 1.0), (5, 2.0), (8, 0.1), (3, 9.0), (6, 6.0)]
        {
            let heads: f64 = 1.0 / (1.0 + libm::exp(-epsilon));
            let mut sum = 0.0;
            for outcome in 0..1_u32 << coins {
                let k = outcome.count_ones() as i32;
                let law = |p: f64| p.powi(k) * (1.0 - p).powi(coins - k);
                sum += law(heads).min(law(1.0 - heads));
            }
            let found = libm::exp(ln_overlap(coins as u32, epsilon));
            assert!(found <= sum * (1.0 + 1e-12) && found > sum * (1.0 - 1e-6), "{found} {sum}");
        }
        for cutoff in [1, 4, 50] {
            let of = StableAnswers {
                neighbours: Neighbours::AddRemove,
                unit: Unit::Record,
                law: ThresholdNoise::Exponential,
                noise_scale: 2.0 * libm::sqrt(f64::from(cutoff)),
                query_ratio: 2.0,
                cutoff,
                questions: 10,
                delta: 1e-6,
            };
            let kept = 1.0 - account::delta(&of.comparisons(0).event().unwrap(), 0.0).unwrap();
            let found = libm::exp(ln_overlap(cutoff, 2.0 / of.noise_scale));
            assert!((found / kept - 1.0).abs() < 1e-3, "{cutoff}: {found} {kept}");
        }
        assert!(ln_overlap(1_000_000, 5.0).is_finite());
    }

    /// Where δ₀(0) is 1 up to rounding, the largest allowed p is δ·2/(1 + e^(Tε₀)).
    #[test]
    fn hardly_any_noise_allows_hardly_any_leak() {
        for runs in [20.0, 40.0, 80.0] {
            let answers = StableAnswers {
                neighbours: Neighbours::AddRemove,
                unit: Unit::Record,
                law: ThresholdNoise::Exponential,
                // With a ratio of 2, ε₀ = 2/s₁.
                noise_scale: 2.0 / runs,
                query_ratio: 2.0,
                cutoff: 1,
                questions: 10,
                delta: 1e-6,
            };
            let kept = std::f64::consts::LN_2 - runs;
            let most = libm::log(1e-6) + kept;
            let allowed = answers.ln_allowed().unwrap();
            assert!(allowed <= most + 1e-6, "{runs}: {allowed} {most}");
            assert!(allowed > most - 1e-3, "{runs}: {allowed} {most}");
        }
    }
}
