//! Gaussian releases of a random part of the records: Poisson sampling, and batches without
//! replacement.
//!
//! **Setting.** S is a random subset of the records, f(S) = Σ_{i∈S} gᵢ with ‖gᵢ‖₂ ≤ C whatever the
//! record (and whatever was released before), and f(S) + N(0,σ²I) is released; neither S nor |S| is,
//! and nothing is divided by |S|. μ = C/σ, H_e(P‖Q) = sup_T P(T) − e^eQ(T), laws below in units of σ.
//!
//! **Lemma.** Let ‖u‖, ‖u′‖ ≤ μ, weights a, b ≥ 0 and c of any sign. For every test T
//! a·N(u)(T) + c·N(0)(T) − b·N(u′)(T) ≤ sup_z a·Φ(z+μ) + c·Φ(z) − b·Φ(z−μ). *Proof.* Let
//! N(0)(T) = Φ(z). By Neyman and Pearson N(u)(T) ≤ Φ(z+‖u‖) and N(u′)(T) ≥ Φ(z−‖u′‖). ∎ The right
//! side is attained on the line, by u = μ, u′ = −μ and half-lines.
//!
//! **Theorem 1** (Poisson, add/remove; Zhu, Dong & Wang 2022, Thm 11). Every record is in S
//! independently with probability q. If D has one record more than D′, (P, Q) with
//! P = (1−q)N(0,1)+qN(μ,1), Q = N(0,1) dominates (M(D), M(D′)), and (Q, P) dominates
//! (M(D′), M(D)), at every real e:
//! - H_e(P‖Q) = q·δ_G(e′;μ), e′ = ln(1+(e^e−1)/q), where e^e > 1−q; else 1−e^e;
//! - H_e(Q‖P) = q·e^e·w·δ_G(−ln w;μ), w = (e^{−e}−1+q)/q, where w > 0; else 0.
//!
//! *Proof.* Given the other records' part of S the laws are (1−q)N(c)+qN(c+u) and N(c), ‖u‖ ≤ μ;
//! H is jointly convex, so the largest over c counts, and depends on ‖u‖ only, monotonically by the
//! Lemma. P−e^eQ = q(N(μ)−e^{e′}N(0)), Q−e^eP = qe^e(wN(0)−N(μ)). ∎ Along a composition the same data
//! set has the record at every step, so each direction composes on its own and the larger counts.
//!
//! **Theorem 2** (Poisson, replace-one). The pair P = (1−q)N(0,1)+qN(μ,1), Q = (1−q)N(0,1)+qN(−μ,1)
//! dominates at every real e, in both directions, and is attained (x and x′ with opposite g). For
//! e ≥ 0, with t = asinh(((1−q)/q)·sinh(e/2)·e^{μ²/2}), x = (e/2+t)/μ and M the Mills ratio,
//! H_e = q·φ(x−μ)·{(1−e^{−2t})(M(x−μ)−M(x)) + e^{−2t}(M(x−μ)−M(x+μ))}.
//!
//! *Proof.* Given the others, the laws are (1−q)N(0)+qN(u) and (1−q)N(0)+qN(u′), ‖u‖, ‖u′‖ ≤ μ;
//! the Lemma with weights q, (1−q)(1−e^e), qe^e. The ratio of densities increases, so the best test
//! is {X > x} with qφ(x−μ) = (1−q)(e^e−1)φ(x)+qe^eφ(x+μ), a quadratic equation in e^{μx} with this
//! root; e^{−2t} is the share of the last summand. ∎ (The pair that Lebeda et al. 2024 compose.)
//!
//! **Theorem 3** (without replacement, replace-one). S is a uniform batch of b out of n records,
//! q = b/n, Δ ≥ ‖g−g′‖₂ for any two records, ν = Δ/σ. At every e ≥ 0, for either data set first,
//! H_e ≤ q·δ_G(e′;ν), e′ as in Theorem 1; for e < 0 by H_{−e}(P‖Q) = 1−e^{−e}+e^{−e}H_e(Q‖P).
//! *Proof* (Balle, Barthe & Gaboardi 2018, Thms 2 and 9). With A, B, B′ the laws given that the
//! changed place is outside of the batch, inside with x, inside with x′:
//! P−e^eQ = q(B−e^{e′}((1−β)A+βB′)), β = e^{e−e′} ≤ 1, so H_e ≤ q((1−β)H_{e′}(B‖A)+βH_{e′}(B‖B′)).
//! Couple a batch with the place to one without by exchanging that place for a uniform other: the
//! sums differ by at most Δ, as they do between B and B′. ∎ Attained at each e ≥ 0 (all others equal
//! x′). *Both* halves must be used at once: the two directions of Theorem 1 composed on their own
//! would undercharge this sampler (Lebeda, Regehr, Kamath & Steinke 2024, *Avoiding pitfalls*).
//!
//! **Theorem 4** (sampling never costs). At every real e each pair above is dominated by the Gaussian
//! pair of the whole sum, δ_G of parameter μ, 2μ and ν; so compositions are, by one Gaussian of the root
//! of the sum of their squares. *Proof.* A draw from N(μ) or N(0) can be discarded with probability 1−q
//! and replaced by a draw from N(0): that turns (N(μ), N(0)) into (P, Q) of Theorem 1, and (N(μ), N(−μ))
//! into that of Theorem 2. The curve of Theorem 3 is, at e ≥ 0, that of the former with ν for μ, and at
//! e < 0 follows from it as δ_G's own does. ∎ It serves where grids cannot resolve a δ that is next to 0.
//!
//! - q `rate`, μ or ν `shift`, e′ `amplified_epsilon`; at q = 1 the three are δ_G(e;μ), δ_G(e;2μ), δ_G(e;ν).
//! - **No other sampler.** An epoch over a shuffled data set, in disjoint batches, is *not* Poisson
//!   sampling: each record is used exactly once, and its batches' dependence can cost far more
//!   (Chua et al. 2024). There is no event for it. Under replace-one such an epoch is charged as one
//!   use of [`super::Cost::Gaussian`]: batches are disjoint, so one record changes one of them, and
//!   what follows is post-processing or has the same law.
//! - Sampling is by record: a unit of several records is refused.
//! - Tested against `vectors/sampled.json` and `vectors/batches.json` (`dp-accounting`), and by
//!   `tests/all/account_sampled.rs`.

use super::error::AccountError;
use super::gaussian;
use super::normal::{cdf, density, mills, mills_spread, round_above};
use super::objective::Direction;
use privet_core::{Neighbours, Unit};

/// Relative error of one evaluation, generous.
const MARGIN: f64 = 1e-13;
/// A shift beyond which a used record is certainly detected.
const DETECTED_SHIFT: f64 = 1e6;

/// The sampler, and the neighbours' difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampler {
    /// Poisson sampling, add/remove: Theorem 1.
    PoissonAdded,
    /// Poisson sampling, replace-one: Theorem 2.
    PoissonReplaced,
    /// Batches without replacement, replace-one: Theorem 3.
    WithoutReplacement,
}

/// One sampled Gaussian release.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampled {
    /// The sampler, which selects the theorem.
    pub sampler: Sampler,
    /// The sampling rate q, in (0, 1).
    pub rate: f64,
    /// The shift μ (Theorems 1 and 2) or ν (Theorem 3), above 0.
    pub shift: f64,
}

/// The theorem for Poisson sampling under this relation, and the sensitivity of the whole sum in units
/// of C.
pub(super) fn poisson(neighbours: Neighbours, unit: Unit) -> Result<(Sampler, f64), AccountError> {
    single(unit)?;
    Ok(match neighbours {
        Neighbours::AddRemove => (Sampler::PoissonAdded, 1.0),
        Neighbours::ReplaceOne | Neighbours::ReplaceLabel => (Sampler::PoissonReplaced, 2.0),
    })
}

/// The rate of batches without replacement, rounded up.
pub(super) fn without_replacement(
    population: u64,
    batch: u64,
    neighbours: Neighbours,
    unit: Unit,
) -> Result<f64, AccountError> {
    single(unit)?;
    if neighbours != Neighbours::ReplaceOne {
        return Err(AccountError::SampledRelation { neighbours });
    }
    if batch == 0 || batch > population {
        return Err(AccountError::Batch { batch, population });
    }
    // Both are rounded to f64: three half units in the last place.
    let rate = batch as f64 / population as f64 * (1.0 + 2.0 * f64::EPSILON);
    Ok(if batch == population { 1.0 } else { rate.min(1.0) })
}

/// Returns the rate if it is above 0 and at most 1.
pub(super) fn checked_rate(rate: f64) -> Result<f64, AccountError> {
    if rate > 0.0 && rate <= 1.0 { Ok(rate) } else { Err(AccountError::Rate { rate }) }
}

fn single(unit: Unit) -> Result<(), AccountError> {
    if unit.records() == 1 { Ok(()) } else { Err(AccountError::SampledUnit { unit }) }
}

impl Sampled {
    /// True if the two directions have different curves.
    pub fn has_directions(&self) -> bool {
        self.sampler == Sampler::PoissonAdded
    }

    /// The parameter of the Gaussian release of the whole sum: Theorem 4.
    pub fn unsampled(&self) -> f64 {
        match self.sampler {
            Sampler::PoissonReplaced => 2.0 * self.shift,
            Sampler::PoissonAdded | Sampler::WithoutReplacement => self.shift,
        }
    }

    /// An upper bound on δ(e) in one direction, at every real e.
    pub fn delta(&self, direction: Direction, e: f64) -> f64 {
        if e >= 0.0 {
            return self.half(direction, e);
        }
        let reverse = match direction {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        };
        round_above(-libm::expm1(e) + libm::exp(e) * self.half(reverse, -e), MARGIN).min(1.0)
    }

    /// The larger of both directions' bounds.
    pub fn larger_delta(&self, e: f64) -> f64 {
        let forward = self.delta(Direction::Forward, e);
        if self.has_directions() {
            forward.max(self.delta(Direction::Backward, e))
        } else {
            forward
        }
    }

    fn half(&self, direction: Direction, e: f64) -> f64 {
        match (self.sampler, direction) {
            (Sampler::PoissonReplaced, _) => opposite_shifts_delta(e, self.rate, self.shift),
            (Sampler::PoissonAdded, Direction::Backward) => {
                absent_record_delta(e, self.rate, self.shift)
            }
            _ => present(e, self.rate, self.shift),
        }
    }
}

/// q·δ_G(e′;μ), e ≥ 0, rounded up.
pub fn present(e: f64, rate: f64, shift: f64) -> f64 {
    round_above(rate * gaussian::delta(amplified_epsilon(e, rate), shift), MARGIN).min(rate)
}

/// e′ = ln(1+(e^e−1)/q), e ≥ 0, rounded down.
pub fn amplified_epsilon(e: f64, rate: f64) -> f64 {
    let odds = libm::expm1(e) / rate;
    let value = if odds < 1e300 {
        libm::log1p(odds)
    } else {
        // e^e−1 = e^e(1−e^{−e}).
        e + libm::log(-libm::expm1(-e)) - libm::log(rate)
    };
    (value * (1.0 - 4.0 * f64::EPSILON)).max(e)
}

/// q·e^e·w·δ_G(−ln w;μ), e ≥ 0, rounded up: w·δ_G(−ln w) = sup wN(0)−N(μ) grows with w.
pub fn absent_record_delta(e: f64, rate: f64, shift: f64) -> f64 {
    let round = 4.0 * f64::EPSILON;
    // The loss is at most −ln(1−q).
    let limit = -libm::log1p(-rate) * (1.0 + round);
    if e >= limit || e >= 700.0 {
        return if e >= limit { 0.0 } else { gaussian::delta(e, shift) };
    }
    // w and −ln w, rounded up and down; near w = 1 the latter has digits that w has not.
    let lack = libm::expm1(-e) / rate;
    let (w, ln) = if rate > 0.5 && lack < -0.5 {
        let w = -libm::expm1(e - limit) * libm::exp(-e) / rate * (1.0 + round);
        (w, -libm::log(w.min(1.0)))
    } else if lack < -0.5 {
        let w = 1.0 + lack + 2.0 * round;
        (w, -libm::log(w.clamp(0.0, 1.0)))
    } else {
        ((1.0 + lack) * (1.0 + round), -libm::log1p(lack))
    };
    if w <= 0.0 {
        return 0.0;
    }
    let value = libm::exp(e) * w.min(1.0) * gaussian::delta(ln * (1.0 - round), shift);
    round_above(rate * value, MARGIN).min(rate)
}

/// H_e of (1−q)N(0)+qN(μ) and (1−q)N(0)+qN(−μ), e ≥ 0, rounded up.
pub fn opposite_shifts_delta(e: f64, rate: f64, shift: f64) -> f64 {
    if shift >= DETECTED_SHIFT {
        return rate;
    }
    let odds = (1.0 - rate) / rate * libm::sinh(e / 2.0) * libm::exp(shift * shift / 2.0);
    let t = if odds < 1e300 {
        libm::asinh(odds)
    } else {
        // sinh(e/2) = e^{e/2}(1−e^{−e})/2, and asinh(y) is ln 2y up to 1/4y².
        let ln_sinh_twice = e / 2.0 + libm::log(-libm::expm1(-e));
        libm::log((1.0 - rate) / rate) + ln_sinh_twice + shift * shift / 2.0
    };
    let x = (e / 2.0 + t) / shift;
    let a = x - shift;
    if a > 39.0 {
        return f64::from_bits(1); // below every normal f64, and not zero
    }
    let (near, far) = (-libm::expm1(-2.0 * t), libm::exp(-2.0 * t));
    let value = if a < -1.0 {
        // Where M(a) is large nothing cancels: Φ(−a) beside φ(a)·(near·M(x)+far·M(x+μ)).
        cdf(-a) - density(a) * (near * mills(x) + far * mills(x + shift))
    } else {
        // The half-widths are μ/2 and μ themselves: differences of rounded ends would lose a small μ.
        density(a) * (near * spread(x - shift / 2.0, shift / 2.0) + far * spread(x, shift))
    };
    // Relative error of φ(a) from rounding x by sixteen units in its last place.
    let doubt = 16.0 * f64::EPSILON * (1.0 + a.abs()) * (x + shift);
    round_above(rate * value, MARGIN + doubt).min(rate)
}

/// The difference M(middle−half) − M(middle+half), middle − half ≥ −1.
fn spread(middle: f64, half: f64) -> f64 {
    if half <= 0.5 && middle >= -0.5 {
        mills_spread(middle, half)
    } else {
        mills(middle - half) - mills(middle + half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Theorem 4, and its sharpness where nearly every record is used.
    #[test]
    fn sampling_never_costs() {
        use Sampler::{PoissonAdded, PoissonReplaced, WithoutReplacement};
        for sampler in [PoissonAdded, PoissonReplaced, WithoutReplacement] {
            for shift in [0.01, 0.3, 2.0] {
                for rate in [1e-6, 0.01, 0.5, 0.99999] {
                    let sampled = Sampled { sampler, rate, shift };
                    for e in [0.0, 0.1, 1.0, 3.0].map(|e| e * shift) {
                        let all = gaussian::delta(e, sampled.unsampled());
                        let part = sampled.larger_delta(e);
                        assert!(part <= all * (1.0 + 1e-9), "{sampler:?} {shift} {rate} {e}");
                        if rate > 0.9 {
                            assert!(part >= 0.99 * all, "{sampler:?} {shift} {rate} {e}");
                        }
                    }
                }
            }
        }
    }

    /// ∫(p − e^e·q)₊ by the midpoint rule.
    fn direct(p: impl Fn(f64) -> f64, q: impl Fn(f64) -> f64, e: f64) -> f64 {
        let step = 1e-3;
        let points = (-60_000..60_000).map(|k| (f64::from(k) + 0.5) * step);
        points.map(|x| (p(x) - libm::exp(e) * q(x)).max(0.0)).sum::<f64>() * step
    }

    #[test]
    fn the_curves_are_the_integrals_they_stand_for() {
        for (rate, shift) in [(0.01, 1.0), (0.3, 0.2), (0.9, 3.0), (1.0, 0.7), (0.05, 0.05)] {
            let mixed = |sign: f64| {
                move |x: f64| (1.0 - rate) * density(x) + rate * density(x - sign * shift)
            };
            for e in [0.0, 0.003, 0.04, 0.5, 1.5] {
                for (got, want) in [
                    (present(e, rate, shift), direct(mixed(1.0), density, e)),
                    (absent_record_delta(e, rate, shift), direct(density, mixed(1.0), e)),
                    (opposite_shifts_delta(e, rate, shift), direct(mixed(1.0), mixed(-1.0), e)),
                ] {
                    let close = (got - want).abs() <= 3e-6 * want + 1e-12;
                    assert!(close, "{rate} {shift} {e}: {got:e} {want:e}");
                }
            }
        }
    }

    #[test]
    fn at_rate_one_nothing_is_gained() {
        for shift in [1e-3, 0.1, 1.0, 3.3, 20.0] {
            for e in [0.0, 1e-6, 0.1, 1.0, 10.0] {
                let (once, twice) = (gaussian::delta(e, shift), gaussian::delta(e, 2.0 * shift));
                for (got, want) in [
                    (present(e, 1.0, shift), once),
                    (absent_record_delta(e, 1.0, shift), once),
                    (opposite_shifts_delta(e, 1.0, shift), twice),
                ] {
                    assert!(
                        (got - want).abs() <= 1e-11 * want + 1e-300,
                        "{shift} {e} {got} {want}"
                    );
                }
            }
        }
    }

    /// From the smallest to the largest rate and noise: never above q, falling in e, and growing
    /// with rate and shift.
    #[test]
    fn the_curves_keep_their_order_at_the_ends() {
        let curves: [fn(f64, f64, f64) -> f64; 3] =
            [present, absent_record_delta, opposite_shifts_delta];
        for curve in curves {
            for rate in [1e-300, 1e-6, 1e-3, 0.5, 1.0 - 1e-9] {
                for shift in [1e-9, 1e-3, 0.03, 0.7, 3.4, 50.0, 1e5, 1e300] {
                    let mut last = 1.0;
                    for k in 0..60 {
                        let e = if k == 0 { 0.0 } else { 1e-9 * libm::exp(0.5 * f64::from(k)) };
                        let here = curve(e, rate, shift);
                        assert!((0.0..=rate).contains(&here), "{rate} {shift} {e} {here}");
                        assert!(here <= last * (1.0 + 1e-9) + 1e-320, "{rate} {shift} {e}");
                        let more = curve(e, (2.0 * rate).min(1.0), shift);
                        assert!(here <= more * (1.0 + 1e-9) + 1e-320, "{rate} {shift} {e}");
                        let more = curve(e, rate, 1.5 * shift);
                        assert!(here <= more * (1.0 + 1e-9) + 1e-320, "{rate} {shift} {e}");
                        last = here;
                    }
                }
            }
        }
    }
}
