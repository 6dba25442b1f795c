//! Composition by privacy-loss distributions, always an upper bound.
//!
//! **Discretisation** ("connect the dots", Doroshenko et al. 2022). A true curve H(e), seen as a
//! function of x = e^e, is convex, decreasing, at most 1 at x = 0. Given bounds v_k ≥ H(kh) at the
//! dots of a grid, H lies below the largest convex function through or below the dots, which is
//! piecewise linear: exactly the curve of a loss that takes only the values kh (and ∞, with
//! probability v at the last dot). Its masses are pₖ = xₖ(sₖ−sₖ₊₁), sₖ the slope between xₖ₋₁ and xₖ.
//! Below the first dot the line from (0,1) is used. Where only e ≥ 0 is known directly, the
//! reverse direction gives H(e) = 1−e^e+e^eH_rev(−e).
//!
//! **Composition.** Losses add ([`super::parts`]), so masses convolve: by Fourier transform, after
//! *tilting* them by e^{s·loss} with Chernoff's s for the ε at hand, so that rounding errors are
//! relative to e^{K(s)−sε} ≈ δ and not to 1. `spectrum.rs` does it, with its errors, on a grid
//! relative to e^{K(s)−sε} ≈ δ and not to 1. `spectrum.rs` does it, with its errors, on a grid that
//! `layout.rs` proposes: the grid decides how tight the bound is, never its validity. Grids depend on
//! the leading bits of ε only ([`cell`]), so that an ε found on one composition is confirmed by it.
//!
//! h `step`, s `tilt`, K `ln_moment`. Tested against `dp-accounting`'s optimistic and pessimistic
//! answers (`vectors/composition.json`, `vectors/sampled.json`, `vectors/batches.json`).

use super::curve::HalfCurves;
use super::layout::{Layout, coarse, on_grid};
use super::masses::{chernoff, moments};
use super::objective::Direction;
use super::parts::Part;
use super::spectrum::Spectrum;

/// Factor by which a rough pass widens the steps.
const ROUGHER: f64 = 8.0;

/// Smaller results are not used: such masses underflow when they are tilted.
pub const LEAST_RESULT: f64 = 1e-150;

/// Largest number of parts for which up to six grids are tried; beyond, two.
const FEW_PARTS: usize = 8;

/// The requested tightness of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// To steer a search: about a per cent.
    Rough,
    /// As tight as the grids allow.
    Full,
}

/// An upper bound on δ(e), e ≥ 0, of these parts and a Gaussian release of parameter ν.
pub fn delta(rest: &[(Part, u64)], nu: f64, e: f64, effort: Effort) -> f64 {
    Composed::new(rest, nu, e, effort).map_or(1.0, |composed| composed.delta(e))
}

/// A much larger upper bound on δ(e), e ≥ 0, without composing anything: Chernoff's.
pub fn quick_delta(rest: &[(Part, u64)], nu: f64, e: f64) -> f64 {
    let curves = all_curves(rest, nu);
    let one_way = |direction: Direction| {
        let at = |tail: f64| {
            let masses = coarse(&curves, direction, tail);
            let infinite: f64 = masses.iter().map(|part| part.infinite * part.count as f64).sum();
            let (tilt, ln_size) = chernoff(&masses, e);
            // (1−e^{e−ℓ})₊ ≤ c·e^{s(ℓ−e)}: see [`super::concentrated`].
            let ln_less =
                if tilt > 0.0 { tilt * libm::log1p(1.0 / tilt) + libm::log1p(tilt) } else { 0.0 };
            (libm::exp(ln_size - ln_less) + infinite) * (1.0 + 1e-12)
        };
        match at(1e-40) {
            // The point where tails are cut matters.
            found if found < 1e-36 => found.min(at(1e-200)),
            found => found,
        }
    };
    let forward = one_way(Direction::Forward);
    let backward = match rest.iter().any(|(part, _)| part.has_directions()) {
        true => one_way(Direction::Backward),
        false => 0.0,
    };
    // `max` and `min` would drop a NaN.
    if forward.is_nan() || backward.is_nan() {
        return 1.0;
    }
    forward.max(backward).clamp(LEAST_RESULT, 1.0)
}

/// As [`delta`], and true if cut tails and rounding contribute next to nothing.
pub fn tight_delta(rest: &[(Part, u64)], nu: f64, e: f64) -> (f64, bool) {
    Composed::new(rest, nu, e, Effort::Full)
        .map_or((1.0, false), |composed| (composed.delta(e), composed.tight(e)))
}

/// e with the last 44 bits cleared: grids are chosen for these values only, so that δ is one curve for
/// up to 0.4 per cent of e, and an ε found on it is confirmed by it.
pub fn cell(e: f64) -> f64 {
    f64::from_bits(e.to_bits() & !((1 << 44) - 1))
}

/// Parts composed on a grid chosen for one e; it bounds δ at every other one, too, if less tightly.
#[derive(Debug, Clone)]
pub struct Composed {
    forward: Spectrum,
    backward: Option<Spectrum>,
}

impl Composed {
    /// `None` if δ(e) is too large to be of use. Depends on [`cell`]`(e)` only.
    pub fn new(rest: &[(Part, u64)], nu: f64, e: f64, effort: Effort) -> Option<Self> {
        // Bins are counted in i64; losses that large overflow e^loss anyway.
        let e = cell(e.min(1e9));
        let curves = all_curves(rest, nu);
        let plan = Layout::new(&curves, e)?;
        let forward = one_way(&curves, e, Direction::Forward, &plan, effort);
        if !rest.iter().any(|(part, _)| part.has_directions()) {
            return Some(Self { forward, backward: None });
        }
        // The other direction is often far below: then a rough bound suffices.
        let rough = one_way(&curves, e, Direction::Backward, &plan, Effort::Rough);
        let will_do =
            effort == Effort::Rough || rough.upper_bound(e).value <= forward.upper_bound(e).value;
        let backward =
            if will_do { rough } else { one_way(&curves, e, Direction::Backward, &plan, effort) };
        Some(Self { forward, backward: Some(backward) })
    }

    /// An upper bound on δ(e), e ≥ 0.
    pub fn delta(&self, e: f64) -> f64 {
        let e = e.min(1e9);
        let forward = self.forward.upper_bound(e).value;
        let other = self.backward.as_ref().map_or(0.0, |backward| backward.upper_bound(e).value);
        forward.max(other).max(LEAST_RESULT)
    }
}

impl Composed {
    fn tight(&self, e: f64) -> bool {
        let tight = |spectrum: &Spectrum| {
            let found = spectrum.upper_bound(e);
            found.cut + found.infinite + found.error <= 1e-2 * found.value
        };
        tight(&self.forward) && self.delta(e) <= self.forward.upper_bound(e).value
    }
}

/// Approximates the ε at which δ has this value, by a saddle point of the forward direction; not a
/// bound.
pub fn guess(rest: &[(Part, u64)], nu: f64, delta: f64) -> f64 {
    let curves = all_curves(rest, nu);
    let masses = coarse(&curves, Direction::Forward, 1e-6 * delta);
    // (K′(s), ln of Daniels' approximation to δ there).
    let at = |ln_tilt: f64| {
        let tilt = libm::exp(ln_tilt);
        let here = moments(&masses, tilt);
        let wide = tilt * (tilt + 1.0) * libm::sqrt(std::f64::consts::TAU * here.variance);
        (here.mean, here.ln - tilt * here.mean - libm::log(wide.max(1.0)))
    };
    let (mut low, mut high) = (-14.0, 14.0);
    for _ in 0..24 {
        let middle = 0.5 * (low + high);
        if at(middle).1 > libm::log(delta) { low = middle } else { high = middle }
    }
    at(high).0.max(0.0)
}

pub(super) fn all_curves(rest: &[(Part, u64)], nu: f64) -> Vec<(HalfCurves, u64)> {
    let mut curves: Vec<(HalfCurves, u64)> =
        rest.iter().map(|(part, count)| (HalfCurves::Part(*part), *count)).collect();
    if nu > 0.0 {
        curves.push((HalfCurves::Gaussian(nu), 1));
    }
    curves
}

fn one_way(
    curves: &[(HalfCurves, u64)],
    e: f64,
    direction: Direction,
    plan: &Layout,
    effort: Effort,
) -> Spectrum {
    let mut plan = match effort {
        Effort::Rough => plan.clone().rougher(ROUGHER),
        Effort::Full => plan.clone(),
    };
    let sampled = curves.iter().any(|(curve, _)| curve.has_several_scales());
    let most_rounds = if curves.len() > FEW_PARTS { 2 } else { 6 };
    let mut looks = 0;
    let mut window = plan.window;
    let mut best: Option<(f64, Spectrum)> = None;
    let mut rounds = 0;
    loop {
        let (step, bits) = plan.grid(curves, window);
        let widest_gap = 0.02 / ((plan.tilt + 1.0) * step);
        let masses = on_grid(curves, direction, &plan, step, widest_gap);
        // A tilt of 0 would be valid, but the sums would have no common form.
        let tilt = plan.tilt.max(1.0 / window);
        let spectrum = Spectrum::new(&masses, step, bits, tilt, plan.end(step, bits));
        let found = spectrum.upper_bound(e);
        let least = best.as_ref().map_or(f64::INFINITY, |(least, _)| *least);
        let kept =
            if found.value < least { spectrum } else { best.take().map_or(spectrum, |x| x.1) };
        rounds += 1;
        // Chernoff's bound is far off where few large losses decide.
        let short = sampled && found.infinite > 1e-4 * found.value;
        if short {
            let tail =
                (1e-6 * (found.value - found.infinite)).max(1e-9 * found.infinite).max(1e-300);
            plan.reach_to(curves, tail);
        } else {
            looks += 1;
            window *= 2.0;
        }
        let enough = found.cut <= 1e-3 * found.value || bits == plan.largest || looks == 3;
        if rounds == most_rounds || (!short && enough) {
            return kept;
        }
        best = Some((found.value.min(least), kept));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{gaussian, pure};
    use super::*;

    /// Every case here has an exact result to compare with.
    #[test]
    fn composition_is_just_above_the_exact_answer() {
        for (count, e, want) in [
            (1, 1.0, gaussian::delta(1.0, 0.5)),
            (1, 6.0, gaussian::delta(6.0, 0.5)),
            (1, 0.0, gaussian::delta(0.0, 0.5)),
        ] {
            let got = delta(&[], 0.5, e, Effort::Full);
            assert!(got >= want && got <= want * (1.0 + 1e-3), "{count} {e}: {got} {want}");
        }
        for (epsilon, count, e, nu) in [
            (0.1, 100, 2.0, 0.0),
            (0.1, 100, 0.0, 0.0),
            (0.1, 30, 1.0, 0.3),
            (1.0, 5, 3.0, 0.0),
            (0.01, 10_000, 3.0, 0.5),
            (0.3, 40, 9.0, 0.0),
        ] {
            let want = pure::repeated_response(e, epsilon, count, nu);
            let got = delta(&[(Part::Response(epsilon), count)], nu, e, Effort::Full);
            let ratio = got / want;
            assert!((1.0 - 1e-9..1.003).contains(&ratio), "{epsilon} {count} {e} {nu}: {ratio}");
        }
    }
}
