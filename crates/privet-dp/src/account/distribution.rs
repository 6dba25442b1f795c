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
//! relative to e^{K(s)−sε} ≈ δ and not to 1. Added on top: the transforms' error bound in every bin;
//! Chernoff's bound on the mass above the window, which wraps around (mass from below wraps to
//! larger losses, which errs to the safe side); the mass at ∞; and 10⁻⁹ of the result for plain
//! rounding.
//!
//! **Sampled releases** ([`super::sampled`]) lose next to nothing at most uses and much at few. Any
//! subset of the grid may serve as dots, so theirs lie close near 0 and sparse far out; the coarse
//! look that fixes tilt and window has its dots in geometric progression. Where no more than
//! 2^18 bins leave them wider than wished (N uses: about 10⁻³√N of one loss's deviation), the
//! answer stays an upper bound and loses tightness: half a per cent of δ at 10⁶ uses.
//!
//! h `step`, s `tilt`, K `ln_moment`. Tested against `dp-accounting`'s optimistic and pessimistic
//! answers (`vectors/composition.json`, `vectors/sampled.json`).

use super::curve::HalfCurves;
use super::fourier::{Complex, LARGEST, error_bound, transform};
use super::masses::{Masses, chernoff, margins, moments};
use super::objective::Direction;
use super::parts::Part;

/// Relative looseness aimed at, and what is asked where curves are cheap; steps follow from it.
const LOOSENESS: (f64, f64) = (2e-4, 1e-5);
/// Part of the answer that cut tails may add, each.
const NEGLIGIBLE: f64 = 1e-7;

/// Answers below this are not trusted: masses of such size underflow when they are tilted.
const LEAST: f64 = 1e-150;

/// An upper bound on δ(e), e ≥ 0, of these parts and a Gaussian release of parameter ν.
pub fn delta(rest: &[(Part, u64)], nu: f64, e: f64) -> f64 {
    composition(rest, nu, e).max(LEAST)
}

fn composition(rest: &[(Part, u64)], nu: f64, e: f64) -> f64 {
    let mut curves: Vec<(HalfCurves, u64)> =
        rest.iter().map(|(part, count)| (HalfCurves::Part(*part), *count)).collect();
    if nu > 0.0 {
        curves.push((HalfCurves::Gaussian(nu), 1));
    }
    // Bins are counted in i64; losses that large overflow e^loss anyway.
    if e > 1e9 {
        return 1.0;
    }
    let Some(mut plan) = Plan::new(&curves, e) else { return 1.0 };
    let even = curves.iter().zip(&plan.reaches).filter(|((curve, _), _)| !curve.sampled());
    let widest = even.map(|(_, reach)| *reach).fold(0.0, f64::max);
    let directed = rest.iter().any(|(part, _)| part.directed());
    let bounded = rest.iter().find_map(|(part, _)| part.bound());
    let sampled = curves.iter().any(|(curve, _)| curve.sampled());
    let mut looks = 0;
    let mut window = plan.window;
    let mut best: f64 = 1.0;
    for _ in 0..6 {
        // No more than 2^LARGEST points in the window, 2^15 dots in a part.
        let points = (1_usize << LARGEST) as f64;
        let step = plan.step.max(window / points).max(widest / 32_768.0);
        // Dots on the ends of a bounded loss, where its atoms sit.
        let step = match bounded {
            Some(bound) if bound >= step => bound / libm::ceil(bound / step),
            // Atoms within one step of zero need no dots of their own.
            _ => step,
        };
        let bits = (libm::ceil(libm::log2(window / step)) as usize).clamp(6, LARGEST);
        let halves: Vec<Dots> = curves
            .iter()
            .zip(&plan.reaches)
            .map(|((curve, _), reach)| {
                if curve.sampled() {
                    return Dots::Uneven(uneven(*reach, step, plan.tilt));
                }
                let (ahead, back) = curve.values(step, libm::ceil(reach / step).max(1.0) as usize);
                Dots::Even(ahead, back)
            })
            .collect();
        let one_way = |direction: Direction| {
            let masses: Vec<Masses> = halves
                .iter()
                .zip(&curves)
                .map(|(dots, (curve, count))| match dots {
                    Dots::Even(ahead, back) => Masses::new((ahead, back), direction, step, *count),
                    Dots::Uneven(dots) => Masses::on_dots(curve, direction, dots, step, *count),
                })
                .collect();
            composed(&masses, step, bits, plan.tilt, e, plan.centre)
        };
        let (mut value, mut cut, mut infinite) = one_way(Direction::Forward);
        if directed {
            let (backward, backward_cut, other) = one_way(Direction::Backward);
            (value, cut) = (value.max(backward), cut.max(backward_cut));
            infinite = infinite.max(other);
        }
        best = best.min(value);
        // Chernoff's size is far off where few large losses decide.
        if sampled && infinite > 1e-4 * value {
            let tail = (1e-6 * (value - infinite)).max(1e-9 * infinite).max(1e-300);
            plan.reach_to(&curves, tail);
            continue;
        }
        looks += 1;
        if looks == 3 {
            break;
        }
        if cut <= 1e-3 * value || bits == LARGEST {
            break;
        }
        window *= 2.0;
    }
    best
}

/// Where a curve is looked at: everywhere up to some bin, with its values; or at these bins only.
enum Dots {
    Even(Vec<f64>, Vec<f64>),
    Uneven(Vec<i64>),
}

/// Every bin near 0, fewer farther out, where sampled releases have little mass: gaps of 1/300 of the
/// loss, and small against 1/tilt.
fn uneven(reach: f64, step: f64, tilt: f64) -> Vec<i64> {
    let last = libm::ceil(reach / step).clamp(1.0, 1e15) as i64;
    let widest = (0.02 / ((tilt + 1.0) * step)).max(last as f64 / 1e5);
    let mut dots = vec![0];
    let mut dot = 0;
    while dot < last {
        let gap = libm::floor((dot as f64 / 300.0).min(widest)).max(1.0);
        dot = (dot + gap as i64).min(last);
        dots.push(dot);
    }
    dots
}

/// What a coarse look at the forward direction suggests; any choice is valid.
struct Plan {
    tilt: f64,
    centre: f64,
    window: f64,
    step: f64,
    /// Where each curve may be cut.
    reaches: Vec<f64>,
}

impl Plan {
    /// Cuts each curve where its uses together leave at most this mass.
    fn reach_to(&mut self, curves: &[(HalfCurves, u64)], tail: f64) {
        let reach = |(curve, count): &(HalfCurves, u64)| curve.reach(tail / *count as f64);
        self.reaches = curves.iter().map(reach).collect();
    }

    /// `None` when the answer is so large that nobody asks further.
    fn new(curves: &[(HalfCurves, u64)], e: f64) -> Option<Self> {
        let sampled = curves.iter().any(|(curve, _)| curve.sampled());
        let mut tail = 1e-40;
        let mut coarse = Vec::new();
        let (mut tilt, mut ln_size) = (0.0, 0.0);
        for _ in 0..3 {
            coarse = curves
                .iter()
                .map(|(curve, count)| {
                    let reach = curve.reach(tail / *count as f64);
                    if sampled {
                        return Masses::on_scales(curve, reach, *count);
                    }
                    let step = reach / 128.0;
                    let (ahead, back) = curve.values(step, 128);
                    Masses::new((&ahead, &back), Direction::Forward, step, *count)
                })
                .collect::<Vec<_>>();
            (tilt, ln_size) = chernoff(&coarse, e);
            if ln_size > libm::log(tail) + 30.0 || tail < 1e-290 {
                break;
            }
            tail = libm::exp((ln_size - 60.0).max(-700.0));
        }
        let costly = curves.iter().any(|(curve, _)| curve.costly());
        if costly && ln_size > -0.7 {
            return None;
        }
        let size = libm::exp(ln_size.min(0.0));
        let (_, centre, spread) = moments(&coarse, tilt);
        let uses: f64 = curves.iter().map(|(_, count)| *count as f64).sum();
        let looseness = match (costly, sampled) {
            (true, _) => LOOSENESS.0,
            (false, true) => 10.0 * LOOSENESS.1,
            (false, false) => LOOSENESS.1,
        };
        // Fine enough for the tilt, and for atoms between the dots where δ is large.
        let step = libm::sqrt(8.0 * looseness / (uses * (tilt + 0.5) * (tilt + 1.5)));
        let step = step.min(libm::sqrt(spread) / 150.0).max(1e-9);
        let (centre, window) = if sampled {
            let (below, above) = margins(&coarse, tilt, e, spread);
            let window = (below + above).max(64.0 * step);
            (e + above - 0.5 * window, window)
        } else {
            let window = 20.0 * libm::sqrt(spread) + 2.0 * (e - centre).abs();
            (centre, window.max(64.0 * step))
        };
        let mut plan = Self { tilt, centre, window, step, reaches: Vec::new() };
        plan.reach_to(curves, NEGLIGIBLE * size);
        Some(plan)
    }
}

/// (upper bound on δ(e), the part of it due to the window's upper end, that at ∞).
fn composed(
    masses: &[Masses],
    step: f64,
    bits: usize,
    tilt: f64,
    e: f64,
    centre: f64,
) -> (f64, f64, f64) {
    let points = 1_usize << bits;
    let zero = Complex { re: 0.0, im: 0.0 };
    let mut product = vec![Complex { re: 1.0, im: 0.0 }; points];
    let mut raised = vec![1.0; points];
    let mut ln_total = 0.0;
    let mut infinite = 0.0;
    let noise = error_bound(bits);
    for part in masses {
        let (ln_moment, ..) = part.tilted(tilt);
        ln_total += ln_moment * part.count as f64;
        infinite += part.infinite * part.count as f64;
        let mut data = vec![zero; points];
        for (index, mass) in part.index.iter().zip(&part.mass) {
            if *mass > 0.0 {
                let loss = *index as f64 * step;
                let place = index.rem_euclid(points as i64) as usize;
                data[place].re += mass * libm::exp(tilt * loss - ln_moment);
            }
        }
        transform(&mut data);
        for ((total, bound), value) in product.iter_mut().zip(&mut raised).zip(&data) {
            *total = total.times(value.power(part.count));
            let modulus = libm::sqrt(value.square()) + noise;
            *bound *= power(modulus.min(1.0 + noise), part.count);
        }
    }
    // Componentwise errors of the products, and of the inverse transform.
    let uses: f64 = masses.iter().map(|part| part.count as f64).sum();
    let n = points as f64;
    let moduli: f64 = product.iter().map(|z| libm::sqrt(z.square())).sum::<f64>() / n;
    let bounds: f64 = raised.iter().sum::<f64>() / n;
    let error = (bounds - moduli).max(0.0)
        + noise * bounds
        + 8.0 * f64::EPSILON * (uses + masses.len() as f64) * bounds;
    product.iter_mut().for_each(|z| z.im = -z.im);
    transform(&mut product);
    // The window: indices base…base+N−1, centred on the tilted mean.
    let base = libm::floor(centre / step) as i64 - (points / 2) as i64;
    let first_above = libm::floor(e / step) as i64 + 1;
    let last = base + points as i64 - 1;
    let mut sum = 0.0;
    for index in first_above.max(base)..=last {
        let loss = index as f64 * step;
        let place = index.rem_euclid(points as i64) as usize;
        let mass = (product[place].re / n).max(0.0) + error;
        sum += mass * libm::exp(ln_total - tilt * loss) * -libm::expm1((e - loss).min(0.0));
    }
    let top = (last + 1) as f64 * step;
    // In whole bins: rounded sums could leave out the highest one.
    let highest = masses.iter().fold(0_i64, |sum, part| {
        let count = i64::try_from(part.count).unwrap_or(i64::MAX);
        sum.saturating_add(part.highest().saturating_mul(count))
    });
    let cut = if first_above > last {
        1.0
    } else if last >= highest {
        0.0
    } else {
        let (_, _, spread) = moments(masses, tilt);
        let unit = 1.0 / libm::sqrt(spread.max(step * step));
        let chernoff = |more: &[f64]| {
            more.iter()
                .map(|more| tilt + more * unit)
                .map(|s| (moments(masses, s).0, s))
                // A moment that underflowed says nothing.
                .map(
                    |(ln, s)| if ln.is_finite() { libm::exp((ln - s * top).min(0.0)) } else { 1.0 },
                )
                .fold(1.0, f64::min)
        };
        // Few large losses among many tiny ones: moments soon explode.
        match chernoff(&[2.0, 4.0, 7.0, 12.0]) {
            found if found <= 1e-12 => found,
            found => found.min(chernoff(&[0.0, 0.25, 0.5, 1.0])),
        }
    };
    let value = (sum * (1.0 + 1e-9) + infinite * (1.0 + 1e-12) + cut).min(1.0);
    (value, cut, infinite)
}

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

#[cfg(test)]
mod tests {
    use super::super::{gaussian, pure};
    use super::*;

    /// Everything here has an exact answer to compare with.
    #[test]
    fn composition_is_just_above_the_exact_answer() {
        for (count, e, want) in [
            (1, 1.0, gaussian::delta(1.0, 0.5)),
            (1, 6.0, gaussian::delta(6.0, 0.5)),
            (1, 0.0, gaussian::delta(0.0, 0.5)),
        ] {
            let got = delta(&[], 0.5, e);
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
            let got = delta(&[(Part::Response(epsilon), count)], nu, e);
            let ratio = got / want;
            assert!((1.0 - 1e-9..1.003).contains(&ratio), "{epsilon} {count} {e} {nu}: {ratio}");
        }
    }
}
