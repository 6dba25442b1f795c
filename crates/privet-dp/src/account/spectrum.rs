//! A sum of losses in the frequency domain: from one set of transforms, bounds on δ(ε) at every ε.
//!
//! **Setting.** The tilted masses mₖ ∝ Pr[U = kh]·e^{s·kh} of each part have the transform
//! Φ(θⱼ) = Σₖmₖe^{−iθⱼk}, θⱼ = 2πj/N; that of the tilted sum is Ψⱼ = ∏Φ^count, over a window of N
//! bins, cyclically. With K = ln E e^{sΣU} and g(y) = e^{−sy}(1−e^{−y}), for ε inside of the window,
//!
//!   E(1−e^{ε−ΣU})₊ = e^{K−sε}·Σ_{a≤k<b} pₖg(kh−ε) = e^{K−sε}·(1/N)·Σⱼ Ψⱼ·Gⱼ,
//!   Gⱼ = Σ_{a≤k<b} g(kh−ε)e^{iθⱼk},
//!
//! up to what leaves the window; a is the first bin above ε, b the first beyond the window. Both sums in
//! Gⱼ are geometric: with z = e^{−sh+iθⱼ}, W = 1/((1−z)(1−ze^{−h})) and
//! F(y) = e^{−sy}[(1−e^{−y}) + z(e^{−y}−e^{−h})]·W one has Gⱼ = e^{iθⱼa}F(ah−ε) − e^{iθⱼb}F(bh−ε).
//! *Proof.* Σ_{k≥0}e^{−s(y+kh)+iθk} = e^{−sy}/(1−z), the same at s+1 for the other summand; their
//! difference over the common denominator is F, and a finite sum is one tail less another. ∎
//!
//! **Why it is quick.** A sum of many losses is smooth: |Ψⱼ| falls below 10⁻²¹ after a few dozen
//! frequencies, none of which has to be raised to its power or transformed back; Φ is needed at all of
//! them to know that. As |Gⱼ| ≤ G₀, all those left out together are at most (bound on |Ψ|)·G₀.
//!
//! **Errors**, all added: the transforms' and the tilted masses' own in every Φ, raised with its power;
//! rounding of every term and of K−sε; frequencies left out; Chernoff's bound on the mass above the
//! window, which is not seen where it is; the mass at ∞; 10⁻⁹ of the result for plain rounding. The mass
//! that wraps around to above ε (from below the window, and from a whole window above ε, which tilting
//! enlarges) errs to the safe side for [`Spectrum::upper_bound`]; for [`Spectrum::lower_bound`] it is
//! bounded and subtracted, as are the errors.
//!
//! h `step`, s `tilt`, N 2^`bits`. Tested in [`super::distribution`] against exact sums.

use super::fourier::{Complex, error_bound, real_transform, turn};
use super::masses::{Masses, Moments, moments};

/// ln of the largest contribution of a frequency that is left out.
const LN_LEFT_OUT: f64 = -48.0;
/// Plain rounding of the result.
const RESULT_ROUNDING: f64 = 1e-9;
/// Relative distance from e at which the bound for e is evaluated.
const EVALUATION_DISTANCE: f64 = 4.0 * f64::EPSILON;
/// Relative error of one term, generous.
const ROUNDING: f64 = 2e-14;

/// The tilted sum of losses on a window, ready for every ε in it.
#[derive(Debug, Clone)]
pub struct Spectrum {
    step: f64,
    tilt: f64,
    bits: usize,
    /// First bin of the window.
    base: i64,
    /// The logarithm K of the total moment.
    ln_total: f64,
    /// Mass at ∞.
    infinite: f64,
    /// Bound on the mass above the window.
    cut: f64,
    /// Bound on the tilted mass that wraps around into the counted part.
    wrapped: f64,
    waves: Vec<Wave>,
    /// Σ of the waves' moduli and errors, without the factors that depend on ε.
    doubt: f64,
}

#[derive(Debug, Clone, Copy)]
struct Wave {
    place: u64,
    /// ΨW/N, twice where the conjugate frequency is not listed.
    value: Complex,
    /// ΨzW/N: `value` times z.
    next: Complex,
}

/// An upper bound on δ(ε) and its parts.
#[derive(Debug, Clone, Copy)]
pub struct UpperBound {
    /// The bound.
    pub value: f64,
    /// The part of it due to the window's upper end.
    pub cut: f64,
    /// The part of it due to the mass at ∞.
    pub infinite: f64,
    /// The part of it due to rounding.
    pub error: f64,
}

impl Spectrum {
    /// Transforms and multiplies; the window ends at `top`. `tilt` must be above 0.
    pub fn new(masses: &[Masses], step: f64, bits: usize, tilt: f64, top: f64) -> Self {
        let points = 1_usize << bits;
        let mut ordered: Vec<&Masses> = masses.iter().collect();
        // The most numerous first: they remove most frequencies.
        ordered.sort_by_key(|part| std::cmp::Reverse(part.count));
        let mut kept: Vec<(usize, Complex, f64)> = Vec::new();
        let mut total = Moments::default();
        let mut infinite = 0.0;
        for (order, part) in ordered.iter().enumerate() {
            let mut transformed = Vec::with_capacity(points / 2 + 1);
            transformed.resize(points / 2, Complex { re: 0.0, im: 0.0 });
            let tilted = part.tilt_by(tilt, |index, mass| {
                let place = index.rem_euclid(points as i64) as usize;
                let pair = &mut transformed[place / 2];
                if place.is_multiple_of(2) { pair.re += mass } else { pair.im += mass }
            });
            real_transform(&mut transformed);
            let count = part.count as f64;
            total.ln += tilted.ln * count;
            total.variance += tilted.variance * count;
            infinite += part.infinite * count;
            let noise = error_bound(bits) + tilted.doubt;
            let silent = libm::exp(LN_LEFT_OUT / count) - noise;
            let silent = if silent > 0.0 { silent * silent } else { -1.0 };
            let quiet = libm::exp(LN_LEFT_OUT);
            let loud = |(place, before, bound): (usize, Complex, f64)| {
                let value = transformed[place];
                if value.square() <= silent {
                    return None;
                }
                let modulus = libm::sqrt(value.square()) + noise;
                let bound = bound * power(modulus, part.count);
                (bound > quiet).then(|| (place, before.times(value.power(part.count)), bound))
            };
            kept = if order == 0 {
                (0..=points / 2).map(|place| (place, Complex::ONE, 1.0)).filter_map(loud).collect()
            } else {
                kept.into_iter().filter_map(loud).collect()
            };
        }
        let uses: f64 = masses.iter().map(|part| part.count as f64).sum();
        let base = libm::floor(top / step) as i64 - points as i64;
        let mut spectrum = Self {
            step,
            tilt,
            bits,
            base,
            ln_total: total.ln,
            infinite,
            cut: 0.0,
            wrapped: 1.0,
            waves: Vec::with_capacity(kept.len()),
            doubt: 0.0,
        };
        // Error of each kept wave, relative to its bound, beside the gap to that bound.
        let products = 8.0 * f64::EPSILON * (uses + masses.len() as f64);
        for (place, product, bound) in kept {
            spectrum.push(place, product, bound, products);
        }
        spectrum.doubt += libm::exp(LN_LEFT_OUT) * spectrum.weight(0).0.re;
        spectrum.bound_ends(masses, total.variance);
        spectrum
    }

    /// The weight W and z of a frequency.
    fn weight(&self, place: usize) -> (Complex, Complex) {
        let turned = turn(self.bits, place as u64);
        let (cos, sin) = (turned.re, turned.im);
        let gap = if cos > 0.0 { sin * sin / (1.0 + cos) } else { 1.0 - cos };
        let one_less = |rate: f64| {
            let shrink = libm::exp(-rate);
            Complex { re: -libm::expm1(-rate) + shrink * gap, im: -shrink * sin }
        };
        let rate = self.tilt * self.step;
        let product = one_less(rate).times(one_less(rate + self.step));
        let square = product.square();
        let shrink = libm::exp(-rate);
        (
            Complex { re: product.re / square, im: -product.im / square },
            Complex { re: shrink * cos, im: shrink * sin },
        )
    }

    fn push(&mut self, place: usize, product: Complex, bound: f64, products: f64) {
        let points = (1_u64 << self.bits) as f64;
        let twice = if place == 0 || place == 1 << (self.bits - 1) { 1.0 } else { 2.0 };
        let (weight, z) = self.weight(place);
        let scale = twice / points;
        let value = weight.times(Complex { re: product.re * scale, im: product.im * scale });
        let modulus = libm::sqrt(product.square());
        let error = (bound - modulus).max(0.0) + products * bound + ROUNDING * bound;
        self.doubt += error * scale * libm::sqrt(weight.square()) * (1.0 + 1e-12);
        self.waves.push(Wave { place: place as u64, value, next: value.times(z) });
    }

    /// Last bin of the window.
    fn last(&self) -> i64 {
        self.base + (1_i64 << self.bits) - 1
    }

    fn bound_ends(&mut self, masses: &[Masses], spread: f64) {
        let top = (self.last() + 1) as f64 * self.step;
        // In integer bins: rounded sums could leave out the highest one.
        let highest = masses.iter().fold(0_i64, |sum, part| {
            let count = i64::try_from(part.count).unwrap_or(i64::MAX);
            sum.saturating_add(part.highest().saturating_mul(count))
        });
        if self.last() < highest {
            self.cut = 1.0;
            let unit = 1.0 / libm::sqrt(spread.max(self.step * self.step));
            let chernoff = |more: &[f64]| {
                more.iter()
                    .map(|more| self.tilt + more * unit)
                    .map(|s| moments(masses, s).log_moment_bound(s, top))
                    // A moment that underflowed gives no bound.
                    .map(|ln| if ln.is_finite() { libm::exp(ln.min(0.0)) } else { 1.0 })
                    .fold(1.0, f64::min)
            };
            // Few large losses among many tiny ones: moments soon explode.
            for more in [&[4.0][..], &[2.0, 7.0, 12.0], &[0.0, 0.25, 0.5, 1.0]] {
                self.cut = self.cut.min(chernoff(more));
                if self.cut <= 1e-15 {
                    break;
                }
            }
        }
    }

    /// Bounds, for [`Spectrum::lower_bound`] at e, the tilted mass that wraps around into the counted part:
    /// from below the window, and from a whole window above e.
    pub fn bound_wrapped(&mut self, masses: &[Masses], e: f64) {
        let here = moments(masses, self.tilt);
        let here_least = here.ln - here.doubt - 1e-15 * here.ln.abs();
        let unit = 1.0 / libm::sqrt(here.variance.max(self.step * self.step));
        let bottom = self.base as f64 * self.step;
        let top = e + (1_u64 << self.bits) as f64 * self.step;
        let least = |away: &dyn Fn(f64) -> f64| {
            [0.25, 0.5, 1.0, 2.0, 3.5, 5.0, 7.0]
                .map(|more| away(more * unit))
                .into_iter()
                .filter(|ln| ln.is_finite())
                .fold(1.0, |least, ln| libm::exp(ln.min(0.0)).min(least))
        };
        self.wrapped =
            least(&|s| moments(masses, self.tilt - s).log_moment_bound(-s, bottom) - here_least)
                + least(&|s| moments(masses, self.tilt + s).log_moment_bound(s, top) - here_least);
    }

    /// (Σ_{a≤k<b} pₖg(kh−ε), a bound on its error, ln e^{K−sε}, a bound on its error), or `None` if ε is
    /// not in the window.
    fn sum(&self, e: f64) -> Option<(f64, f64, f64, f64)> {
        let first = (libm::floor(e / self.step) as i64).saturating_add(1);
        if first <= self.base || first > self.last() {
            return None;
        }
        let beyond = self.last() + 1;
        let start = (first as f64 * self.step - e).clamp(0.0, self.step);
        let end = beyond as f64 * self.step - e;
        // F without W: the factors of `value` and `next`.
        let (low, high) = (libm::exp(-self.tilt * start), libm::exp(-self.tilt * end));
        let ahead =
            (-libm::expm1(-start) * low, -libm::exp(-start) * libm::expm1(start - self.step) * low);
        let after = (
            -libm::expm1(-end) * high,
            libm::exp(-self.step) * libm::expm1(self.step - end) * high,
        );
        let points = 1_i64 << self.bits;
        let (first, beyond) = (first.rem_euclid(points) as u64, beyond.rem_euclid(points) as u64);
        let mut sum = 0.0;
        for wave in &self.waves {
            let at = |factors: (f64, f64), bin: u64| {
                let both = Complex {
                    re: factors.0 * wave.value.re + factors.1 * wave.next.re,
                    im: factors.0 * wave.value.im + factors.1 * wave.next.im,
                };
                let turned = turn(self.bits, wave.place * bin);
                both.re * turned.re - both.im * turned.im
            };
            sum += at(ahead, first);
            if high > 0.0 {
                sum -= at(after, beyond);
            }
        }
        let size = ahead.0 + ahead.1 + after.0 - after.1;
        let (ln, shift) = (self.ln_total, self.tilt * e);
        Some((
            sum,
            self.doubt * size,
            ln - shift,
            RESULT_ROUNDING + 1e-15 * (ln.abs() + shift.abs()),
        ))
    }

    /// An upper bound on δ(e).
    pub fn upper_bound(&self, e: f64) -> UpperBound {
        let (cut, infinite) = (self.cut, self.infinite * (1.0 + 1e-12));
        // δ falls, so a smaller e is safe: then nothing depends on how e/h is rounded.
        let (sum, error) = self.sum(e * (1.0 - EVALUATION_DISTANCE)).map_or((1.0, 1.0), |found| {
            let (sum, error, ln_scale, slack) = found;
            let scale = libm::exp(ln_scale + slack);
            (sum.max(0.0) * scale, error * scale)
        });
        match sum + error + infinite + cut {
            value if value < 1.0 => UpperBound { value, cut, infinite, error },
            // A NaN (from an overflow) is no bound either.
            _ => UpperBound { value: 1.0, cut: 1.0, infinite, error: 1.0 },
        }
    }

    /// A lower bound on E(1−e^{e−ΣU})₊ of these masses, those at ∞ not counted.
    pub fn lower_bound(&self, e: f64) -> f64 {
        match self.sum(e * (1.0 + EVALUATION_DISTANCE)) {
            Some((sum, error, ln_scale, slack)) => {
                // Wrapped mass counts at most g's largest value, below 1/(1+s).
                let wrapped = self.wrapped / (1.0 + self.tilt);
                let value = (sum - error - wrapped) * libm::exp(ln_scale - slack);
                if value > 0.0 { value.min(1.0) } else { 0.0 }
            }
            None => 0.0,
        }
    }
}

/// base^exponent by squaring.
fn power(base: f64, exponent: u64) -> f64 {
    let (mut base, mut left, mut result) = (base, exponent, 1.0);
    while left > 0 {
        if left & 1 == 1 {
            result *= base;
        }
        base *= base;
        left >>= 1;
    }
    result
}
