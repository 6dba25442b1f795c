//! Objective perturbation of the logistic loss: the determinant is almost free.
//!
//! **Theorem 4.** Let |ℓ′| = L·p and ℓ″ ≤ 4c·p(1−p) with p ∈ [0, 1] (logistic: L = 1, c = ¼), the
//! sign of ℓ′ fixed by the label. Put κ = 4cR²/λ, m = LR/σ, C = ln(1+κ/4). For every real ε:
//! - *add/remove, with → without*: δ ≤ T(ε) = E(1−e^{ε−U(Z)})₊,
//!   U(z) = max_{0≤p≤1} [ln(1+κp(1−p)) + p²m²/2 + pmz];
//!   if ε ≥ 0 and κ ≤ ε + m²/2 then T(ε) = δ_G(ε;m).
//! - *replace-one*: δ ≤ max{T₁, T₀, T₋},
//!   T₁ = E(1−e^{ε−U₁(Z)})₊ with U₁(z) = max over p ∈ [0, 1], p′ ∈ {0,1} of
//!   ln(1+κp(1−p)) + (p+p′)²m²/2 + (p+p′)mz;
//!   T₀ = E(1−e^{ε−C−A₊−A′₊})₊ for A, A′ independent N(m²/2, m²);  T₋ = δ_abs(ε−C; m).
//!   If ε ≥ 0 and κ ≤ ε/2 + m² then T₁ = δ_G(ε;2m).
//!
//! *Proof.* By (★) of [`super::objective`] the loss is at most
//! ln(1+k·xᵀH₀⁻¹x) + (‖g‖²−2⟨b,g⟩)/2σ². For one record of norm tR, |a|·‖x‖/σ = qm with q = tp, and
//! k‖x‖²/λ ≤ κt²p(1−p) = κq(t−q) ≤ κq(1−q): the first claim's majorant, with z the standardised
//! component of b along ±x. *Closed form*: U is non-decreasing and convex (a maximum of lines of
//! slope pm ≥ 0). Where the corner p = 1 reaches ε, at z_ε = (ε−m²/2)/m, it beats every p iff
//! ln(1+κp(1−p)) ≤ (1−p)(ε+pm²/2), implied by κp ≤ ε+pm²/2, i.e. (linear in p) by ε ≥ 0 and
//! κ ≤ ε+m²/2; a larger z favours larger p, and for smaller z U ≤ U(z_ε) = ε contributes nothing.
//! For U₁ the corner is p = p′ = 1 at z_ε = (ε−2m²)/2m: p′ = 1 needs κp ≤ ε/2+(1+p)m²/2, linear
//! in p, true at 0 and at 1; p′ = 0 needs κp(1−p) + p²m²/2 + p(ε/2−m²) ≤ ε, true since
//! κ ≤ ε/2+m² bounds the left side by ε(2p−p²)/2 − p²m²/2. *Angles*: write a·x = −pLw,
//! a′·x′ = −p′Lw′, ρ = −cos∠(w,w′), u(ξ) = max_p[q(p)+p²m²/2+pmξ]; the majorant is convex in p′, so
//! it is max{u(ξ), u(ξ+ρm)+m²/2+mη}, and F = (1−e^{ε−·})₊. By Plackett's identity
//! dE F/dρ = E[∂_ρF+∂_ξ∂_ηF]; inside the cells the two terms cancel, and what is left is the jump
//! of ∂_ηF = m·e^{ε−U} on the set {p′=1, U>ε} as ξ grows. For ρ ≥ 0 and fixed η that set is an
//! up-set in ξ, so the jump is positive and ρ = 1 is worst: T₁. For ρ ≤ 0 bound the determinant by C
//! and use the unimodality proved for Theorem 3: the worst is ρ = −1 (T₋) or ρ = 0 (T₀). ∎
//!
//! *After a Gaussian release of parameter ν* (AMP, or any other) the bound is the mean of the same
//! curve at ε − L₂, L₂ ~ N(ν²/2, ν²): E δ_G(ε−U(Z); ν), one integral. For ρ ≤ 0 the larger of
//! T₀ and T₋ may alternate with L₂, so there the two are added.
//!
//! κ `kappa`, m `ratio`, p′ `corner`, ν `nu`. Tested by the table "Theorem 4 curves" and by brute
//! force over densities (`tests/all/account_brute_force.rs`).

use super::gaussian::{self, delta_abs, delta_plus};
use super::normal::{TAIL_DEVIATIONS, cdf, density, ln_cdf, mills};
use super::quadrature::integral_above;

/// Relative accuracy of the integrals; the estimated error is added.
const ACCURACY: f64 = 3e-12;

/// The bound of Theorem 4 at every real ε, together with an independent N(ν²/2, ν²) loss.
pub fn delta(kappa: f64, ratio: f64, replace: bool, e: f64, nu: f64) -> f64 {
    let majorant = Majorant::new(kappa, ratio, replace);
    // The curve is nowhere below its limiting Gaussian; where that is large the bound is of no use.
    if gaussian::delta(e, majorant.limit()) > 0.3 {
        return 1.0;
    }
    let same_side = majorant.delta(e, nu);
    if replace { same_side.max(opposite_side(kappa, ratio, e, nu, same_side)) } else { same_side }
}

/// The bound of Theorem 4 at 0, h, …, dots·h; slightly larger than [`delta`] but much quicker.
pub(super) fn values(kappa: f64, ratio: f64, replace: bool, step: f64, dots: usize) -> Vec<f64> {
    let majorant = Majorant::new(kappa, ratio, replace);
    let mut values = majorant.values(step, dots);
    if replace {
        // T₀ and T₋ are convex in e^e: exact at some dots, straight lines between.
        let stride = (dots / 12).max(1);
        let (mut from, mut at_from) = (0, opposite_side(kappa, ratio, 0.0, 0.0, values[0]));
        while from < dots {
            let to = (from + stride).min(dots);
            let at_to = opposite_side(kappa, ratio, to as f64 * step, 0.0, values[to]);
            let (x0, x1) = (libm::exp(from as f64 * step), libm::exp(to as f64 * step));
            for (k, value) in values.iter_mut().enumerate().take(to + 1).skip(from) {
                let part = (libm::exp(k as f64 * step) - x0) / (x1 - x0);
                *value = value.max(at_from + (at_to - at_from) * part);
            }
            (from, at_from) = (to, at_to);
        }
    }
    values
}

/// The majorant U or U₁, ready for evaluation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Majorant {
    kappa: f64,
    ratio: f64,
    replace: bool,
    /// The objective is concave in p on [0, edge] and on [1 − edge, 1], convex between.
    edge: f64,
}

impl Majorant {
    /// U for `replace = false`, U₁ otherwise.
    pub fn new(kappa: f64, ratio: f64, replace: bool) -> Self {
        // f″ = m² − κ(κ+4−2u)/u², u = 1+κp(1−p), vanishes at u* below; u ≤ 1+κ/4.
        let square = ratio * ratio;
        let root = libm::sqrt(kappa * kappa + square * kappa * (kappa + 4.0));
        let turn = kappa * (kappa + 4.0) / (kappa + root);
        let inside = 1.0 - 4.0 * (turn - 1.0) / kappa;
        let edge = if turn <= 1.0 {
            0.0
        } else if inside <= 0.0 {
            0.5
        } else {
            0.5 * (1.0 - libm::sqrt(inside))
        };
        Self { kappa, ratio, replace, edge }
    }

    /// The parameter of the limiting Gaussian: m, or 2m.
    fn limit(&self) -> f64 {
        if self.replace { 2.0 * self.ratio } else { self.ratio }
    }

    /// The e from which on (if positive) the curve is δ_G(e; limit).
    pub fn threshold(&self) -> f64 {
        let square = self.ratio * self.ratio;
        let bound =
            if self.replace { 2.0 * (self.kappa - square) } else { self.kappa - square / 2.0 };
        (bound + 1e-12 * (self.kappa + square)).max(0.0)
    }

    /// The z from which on the majorant is the line M²/2 + Mz, M = limit.
    pub fn straight_from(&self) -> f64 {
        (self.kappa / self.ratio - self.limit()).max(-self.ratio / 2.0)
    }

    /// The majorant U(z).
    pub fn value(&self, z: f64) -> f64 {
        let alone = self.peak(0.0, z);
        if self.replace { alone.max(self.peak(1.0, z)) } else { alone }
    }

    /// max over p of ln(1+κp(1−p)) + (p+p′)²m²/2 + (p+p′)mz.
    fn peak(&self, corner: f64, z: f64) -> f64 {
        let square = self.ratio * self.ratio;
        let slope = corner * square + self.ratio * z;
        let base = corner * (corner * square / 2.0 + self.ratio * z);
        let mut best = (square / 2.0 + slope).max(0.0);
        if self.edge >= 0.5 {
            best = best.max(self.concave_peak(slope, 0.0, 1.0));
        } else if self.edge > 0.0 {
            best = best.max(self.concave_peak(slope, 0.0, self.edge));
            best = best.max(self.concave_peak(slope, 1.0 - self.edge, 1.0));
        }
        base + best
    }

    /// The maximum over [low, high], where the objective is concave: its value near the root of the
    /// derivative plus the largest increase along the tangent there, so never below.
    fn concave_peak(&self, slope: f64, low: f64, high: f64) -> f64 {
        let (kappa, square) = (self.kappa, self.ratio * self.ratio);
        let derivative =
            |p: f64| kappa * (1.0 - 2.0 * p) / (1.0 + kappa * p * (1.0 - p)) + square * p + slope;
        let value = |p: f64| libm::log1p(kappa * p * (1.0 - p)) + p * (p * square / 2.0 + slope);
        let (at_low, at_high) = (derivative(low), derivative(high));
        if at_low <= 0.0 {
            return value(low);
        }
        if at_high >= 0.0 {
            return value(high);
        }
        let (mut left, mut right) = (low, high);
        let mut p = low + (high - low) * at_low / (at_low - at_high);
        let mut tangent = derivative(p);
        for _ in 0..80 {
            if tangent.abs() <= 1e-15 * kappa {
                break;
            }
            if tangent > 0.0 {
                left = p
            } else {
                right = p
            }
            let u = 1.0 + kappa * p * (1.0 - p);
            let bend = square - kappa * (kappa + 4.0 - 2.0 * u) / (u * u);
            let newton = p - tangent / bend;
            let next = if newton > left && newton < right { newton } else { 0.5 * (left + right) };
            if next == p {
                break;
            }
            p = next;
            tangent = derivative(p);
        }
        value(p) + tangent.abs() * (right - left)
    }

    /// Smallest z (to rounding, from below) with U(z) > e.
    pub fn crossing(&self, e: f64) -> f64 {
        let (mut low, mut high) = (-TAIL_DEVIATIONS, TAIL_DEVIATIONS);
        if self.value(low) > e {
            return low;
        }
        if self.value(high) <= e {
            return high;
        }
        let (mut under, mut over) = (self.value(low) - e, self.value(high) - e);
        let mut last = None;
        for round in 0..200 {
            // Chords of a convex function fall short of the crossing; Illinois' halving helps them.
            let chord = low - under * (high - low) / (over - under);
            let z = if round % 4 == 3 { 0.5 * (low + high) } else { chord };
            if !(z > low && z < high) {
                break;
            }
            let value = self.value(z) - e;
            if value > 0.0 {
                (high, over) = (z, value);
                under *= if last == Some(true) { 0.5 } else { 1.0 };
            } else {
                (low, under) = (z, value);
                over *= if last == Some(false) { 0.5 } else { 1.0 };
            }
            last = Some(value > 0.0);
            if high - low < 1e-12 {
                break;
            }
        }
        low
    }

    /// E(1−e^{e−U})₊, or E δ_G(e−U; ν) for ν > 0.
    pub fn delta(&self, e: f64, nu: f64) -> f64 {
        let limit = self.limit();
        let threshold = self.threshold();
        if nu > 0.0 {
            let main = gaussian::delta(e, libm::hypot(limit, nu) * (1.0 + 1e-15));
            let low = cdf(-(e - threshold) / nu + nu / 2.0) * (1.0 + 1e-12);
            let split = (main + low).min(1.0);
            return if low <= 1e-9 * main { split } else { split.min(self.smoothed(e, nu)) };
        }
        if e >= threshold {
            return gaussian::delta(e, limit);
        }
        let straight = self.straight_from();
        let start = if e < 0.0 { -TAIL_DEVIATIONS } else { self.crossing(e) };
        let bent = integral_above(
            |z| -libm::expm1((e - self.value(z)).min(0.0)) * density(z),
            start,
            straight.min(TAIL_DEVIATIONS),
            1.0,
            ACCURACY,
            0.0,
        );
        (bent + straight_tail(straight.max(start), e, limit) + cdf(-TAIL_DEVIATIONS)).min(1.0)
    }

    /// Upper bounds on E(1−e^{e−U})₊ at 0, h, …, dots·h.
    ///
    /// z is cut into cells. On a cell w = e^{−U} runs from w₀ down to w₁ and (1−e^e·w)₊ is convex in
    /// w, so its mean is at most that of the two-point law on w₀, w₁ with a mean not above E w; and
    /// E w ≥ e^{−E U} ≥ e^{−Ū}, Ū on the chord of the convex U at the cell's mean of z.
    fn values(&self, step: f64, dots: usize) -> Vec<f64> {
        let cells = (4 * dots).clamp(200, 1600);
        let (limit, threshold) = (self.limit(), self.threshold());
        let bent = (0..=dots).take_while(|k| *k as f64 * step < threshold).count();
        let mut values: Vec<f64> =
            (0..=dots).map(|k| gaussian::delta(k as f64 * step, limit)).collect();
        if bent == 0 {
            return values;
        }
        let floor = (-self.kappa / self.ratio - self.ratio / 2.0).max(-6.0);
        let end = (self.crossing((bent - 1) as f64 * step) + 5.0).min(TAIL_DEVIATIONS);
        let width = (end - floor) / cells as f64;
        // (loss, mass), losses non-decreasing.
        let mut atoms = Vec::with_capacity(cells + 2);
        let mut left = (floor, self.value(floor));
        atoms.push((left.1, cdf(floor)));
        for k in 1..=cells {
            let z = floor + width * k as f64;
            let right = (z, self.value(z).max(left.1));
            let mass = if z > 0.0 { cdf(-left.0) - cdf(-z) } else { cdf(z) - cdf(left.0) };
            if mass > 0.0 {
                let mean = ((density(left.0) - density(z)) / mass - left.0) / width;
                let mean = if (0.0..=1.0).contains(&mean) { (mean + 1e-9).min(1.0) } else { 1.0 };
                let rise = right.1 - left.1;
                let high = if rise > 1e-12 {
                    libm::expm1(-mean * rise) / libm::expm1(-rise) + 1e-9
                } else {
                    1.0
                };
                let high = high.min(1.0);
                if let Some(last) = atoms.last_mut() {
                    last.1 += mass * (1.0 - high);
                }
                atoms.push((right.1, mass * high));
            } else {
                atoms.push((right.1, 0.0));
            }
            left = right;
        }
        // All mass beyond the end is counted.
        super::curve::from_atoms(&atoms, cdf(-end), step, &mut values[..bent]);
        values[..bent].iter_mut().for_each(|value| *value = (*value * (1.0 + 1e-10)).min(1.0));
        values
    }

    fn smoothed(&self, e: f64, nu: f64) -> f64 {
        // The result is at least `main`. Cut where the rest is below 1e-12 of it, and add that: below
        // `start` the integrand is at most δ_G(x; ν) ≤ e^{−(x/ν−ν/2)²/2}, above `end` φ.
        let main = gaussian::delta(e, self.limit()).max(1e-290);
        let ln_cut = libm::log(main) - 28.0;
        let reach = libm::sqrt(-2.0 * ln_cut);
        let start = self.crossing(e - nu * (nu / 2.0 + reach));
        let end = reach.min(TAIL_DEVIATIONS);
        let body = integral_above(
            |z| gaussian::delta(e - self.value(z), nu) * density(z),
            start,
            end,
            2.0,
            ACCURACY,
            0.0,
        );
        (body + libm::exp(ln_cut) + cdf(-end) + cdf(-TAIL_DEVIATIONS)).min(1.0)
    }
}

/// ∫_{from}^∞ (1 − e^{e−M²/2−Mz})φ(z)dz, where the bracket is non-negative at `from`.
fn straight_tail(from: f64, e: f64, limit: f64) -> f64 {
    if from >= TAIL_DEVIATIONS {
        return cdf(-TAIL_DEVIATIONS);
    }
    let value = if from > 0.0 {
        let drop = libm::exp((e - from * limit - limit * limit / 2.0).min(0.0));
        density(from) * (mills(from) - drop * mills(from + limit))
    } else {
        cdf(-from) - libm::exp(e + ln_cdf(-from - limit))
    };
    value.max(0.0) * (1.0 + 1e-12) + 8e-15 * cdf(-from)
}

/// Bound on T₀ and T₋ together; stops early once it is known to be below `enough`.
fn opposite_side(kappa: f64, ratio: f64, e: f64, nu: f64, enough: f64) -> f64 {
    let shifted = e - libm::log1p(kappa / 4.0) * (1.0 + 1e-15);
    let none = cdf(-ratio / 2.0);
    let with = |squares: f64| {
        gaussian::delta(shifted, libm::sqrt(squares * ratio * ratio + nu * nu) * (1.0 + 1e-15))
    };
    let minus = if nu == 0.0 { delta_abs(shifted, ratio) } else { (2.0 * with(1.0)).min(1.0) };
    let cheap = none * none * gaussian::delta(shifted, nu) + 2.0 * none * with(1.0) + with(2.0);
    if minus + cheap <= enough {
        return minus + cheap;
    }
    let one = |x: f64| {
        if nu == 0.0 {
            delta_plus(x, ratio)
        } else {
            let wide = gaussian::delta(x, libm::hypot(ratio, nu) * (1.0 + 1e-15));
            (wide + none * gaussian::delta(x, nu)).min(1.0)
        }
    };
    let zero = none * one(shifted)
        + integral_above(
            |z| one(shifted - ratio * ratio / 2.0 - ratio * z) * density(z),
            -ratio / 2.0,
            12.0,
            2.0,
            ACCURACY,
            0.0,
        )
        + cdf(-12.0);
    let zero = zero.min(cheap) * (1.0 + 1e-12);
    if nu == 0.0 { zero.max(minus) } else { (zero + minus).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table "Theorem 4 curves": ε, κ, m → T, T₁, T₀, T₋.
    #[test]
    fn the_curves_have_their_golden_values() {
        for (e, kappa, m, t, t1, t0, tm) in [
            (
                1.0,
                1.0,
                0.25,
                2.9242721049e-06,
                7.7819523322e-03,
                2.6027750485e-03,
                1.9051713826e-04,
            ),
            (
                1.0,
                2.0,
                0.25,
                1.0902981447e-05,
                1.6018229753e-02,
                9.6496390378e-03,
                1.9428628056e-03,
            ),
            (
                1.0,
                4.0,
                0.25,
                1.0363812463e-03,
                5.4566892912e-02,
                5.2717511816e-02,
                3.0742773541e-02,
            ),
            (
                1.0,
                0.5,
                0.125,
                1.5530843865e-17,
                2.9242721049e-06,
                1.5395184965e-08,
                4.4801131911e-14,
            ),
            (
                1.0,
                1.0,
                0.125,
                1.5530843865e-17,
                6.2404160378e-06,
                3.0055434578e-07,
                1.4507512937e-11,
            ),
            (
                1.0,
                2.0,
                0.125,
                4.8688765027e-15,
                9.6657947771e-05,
                2.3724483898e-05,
                6.4523761848e-08,
            ),
            (
                0.1,
                0.2,
                0.02,
                4.3587085423e-08,
                6.6652855108e-04,
                4.2960982087e-04,
                6.8078538340e-05,
            ),
        ] {
            let got = [
                (Majorant::new(kappa, m, false).delta(e, 0.0), t),
                (Majorant::new(kappa, m, true).delta(e, 0.0), t1),
                (opposite_side(kappa, m, e, 0.0, 0.0), t0),
                (delta_abs(e - libm::log1p(kappa / 4.0), m), tm),
            ];
            for (index, (got, want)) in got.into_iter().enumerate() {
                let error = got / want - 1.0;
                assert!((-1e-10..2e-10).contains(&error), "{index} {e} {kappa} {m}: {error}");
            }
        }
    }

    #[test]
    fn a_vanishing_gaussian_changes_nothing() {
        for (e, kappa, m) in [(1.0, 2.0, 0.25), (2.0, 2.0, 0.3)] {
            for replace in [false, true] {
                let plain = delta(kappa, m, replace, e, 0.0);
                let smoothed = delta(kappa, m, replace, e, 1e-5);
                assert!((smoothed / plain - 1.0).abs() < 1e-2, "{plain} {smoothed}");
            }
        }
    }
}
