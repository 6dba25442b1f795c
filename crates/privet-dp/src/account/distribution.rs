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
use super::fourier;
use super::masses::{Masses, chernoff, margins, moments};
use super::objective::Direction;
use super::parts::Part;
use super::spectrum::Spectrum;

/// Relative looseness aimed at, and what is asked where curves are cheap; steps follow from it.
const LOOSENESS: (f64, f64) = (2e-4, 1e-5);
/// How many times wider the steps of a rough look are.
const ROUGHER: f64 = 8.0;
/// Part of the answer that cut tails may add, each.
const NEGLIGIBLE: f64 = 1e-7;

/// Most bins, as a power of two; lower bounds take four times as many.
const LARGEST: usize = fourier::LARGEST - 2;
/// Parts for which all bins are affordable; beyond, bins are fewer.
const MANY: usize = 8;
/// Fewest bins, as a power of two.
const SMALLEST: usize = 6;

/// Answers below this are not trusted: masses of such size underflow when they are tilted.
const LEAST: f64 = 1e-150;

/// How tight a bound is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// To find one's way: about a per cent.
    Rough,
    /// As tight as grids allow.
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
        let masses = coarse(&curves, direction, 1e-40);
        let infinite: f64 = masses.iter().map(|part| part.infinite * part.count as f64).sum();
        let uses: f64 = masses.iter().map(|part| part.count as f64).sum();
        let (_, ln_size) = chernoff(&masses, e);
        libm::exp(ln_size) * (1.0 + 1e-9 + 1e-13 * uses) + infinite * (1.0 + 1e-12)
    };
    let forward = one_way(Direction::Forward);
    if rest.iter().any(|(part, _)| part.directed()) {
        forward.max(one_way(Direction::Backward))
    } else {
        forward
    }
}

/// As [`delta`], and whether next to nothing of it is due to cut tails and rounding.
pub fn tight_delta(rest: &[(Part, u64)], nu: f64, e: f64) -> (f64, bool) {
    Composed::new(rest, nu, e, Effort::Full)
        .map_or((1.0, false), |composed| (composed.delta(e), composed.tight(e)))
}

/// e with the last 44 bits cut off: grids are chosen for these only, so that δ is one curve for up to
/// 0.4 per cent of e, and an ε found on it is confirmed by it.
pub fn cell(e: f64) -> f64 {
    f64::from_bits(e.to_bits() & !((1 << 44) - 1))
}

/// Parts composed on a grid chosen for some e; answers at every other one, too, if less tightly.
#[derive(Debug, Clone)]
pub struct Composed {
    forward: Spectrum,
    backward: Option<Spectrum>,
}

impl Composed {
    /// `None` when the answer at e is so large that nobody asks further. Depends on [`cell`]`(e)` only.
    pub fn new(rest: &[(Part, u64)], nu: f64, e: f64, effort: Effort) -> Option<Self> {
        let e = cell(e);
        let curves = all_curves(rest, nu);
        // Bins are counted in i64; losses that large overflow e^loss anyway.
        if e > 1e9 {
            return None;
        }
        let plan = Plan::new(&curves, e)?;
        let forward = one_way(&curves, e, Direction::Forward, &plan, effort);
        if !rest.iter().any(|(part, _)| part.directed()) {
            return Some(Self { forward, backward: None });
        }
        // The other direction is often far below: then a rough bound will do.
        let rough = one_way(&curves, e, Direction::Backward, &plan, Effort::Rough);
        let will_do = effort == Effort::Rough || rough.above(e).value <= forward.above(e).value;
        let backward =
            if will_do { rough } else { one_way(&curves, e, Direction::Backward, &plan, effort) };
        Some(Self { forward, backward: Some(backward) })
    }

    /// An upper bound on δ(e), e ≥ 0.
    pub fn delta(&self, e: f64) -> f64 {
        let forward = self.forward.above(e).value;
        let other = self.backward.as_ref().map_or(0.0, |backward| backward.above(e).value);
        forward.max(other).max(LEAST)
    }
}

impl Composed {
    fn tight(&self, e: f64) -> bool {
        let tight = |spectrum: &Spectrum| {
            let found = spectrum.above(e);
            found.cut + found.infinite + found.error <= 1e-2 * found.value
        };
        tight(&self.forward) && self.delta(e) <= self.forward.above(e).value
    }
}

/// About the ε at which δ is this, by a saddle point of the forward direction; no bound.
pub fn guess(rest: &[(Part, u64)], nu: f64, delta: f64) -> f64 {
    let curves = all_curves(rest, nu);
    let masses = coarse(&curves, Direction::Forward, 1e-6 * delta);
    // (K′(s), ln of Daniels' approximation to δ there).
    let at = |ln_tilt: f64| {
        let tilt = libm::exp(ln_tilt);
        let (ln_moment, mean, variance) = moments(&masses, tilt);
        let wide = tilt * (tilt + 1.0) * libm::sqrt(std::f64::consts::TAU * variance);
        (mean, ln_moment - tilt * mean - libm::log(wide.max(1.0)))
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

/// A coarse look at every curve, cut where its uses together leave at most `tail`.
fn coarse(curves: &[(HalfCurves, u64)], direction: Direction, tail: f64) -> Vec<Masses> {
    let sampled = curves.iter().any(|(curve, _)| curve.sampled());
    curves
        .iter()
        .map(|(curve, count)| {
            let reach = curve.reach(tail / *count as f64);
            if sampled {
                return Masses::on_scales(curve, direction, reach, *count);
            }
            let step = reach / 128.0;
            let (ahead, back) = curve.values(step, 128);
            Masses::new((&ahead, &back), direction, step, *count)
        })
        .collect()
}

/// By how much ln E e^{s·loss} of a curve connected at steps h exceeds the truth, over h²: from looks
/// at 64 and at 128 dots. Small where most of the mass sits on dots.
fn bend(curve: &HalfCurves, tail: f64, tilt: f64) -> f64 {
    let step = curve.reach(tail) / 128.0;
    let (ahead, back) = curve.values(step, 128);
    let fine = Masses::new((&ahead, &back), Direction::Forward, step, 1).tilted(tilt).0;
    let every_other = |values: &[f64]| values.iter().step_by(2).copied().collect::<Vec<f64>>();
    let halves = (every_other(&ahead), every_other(&back));
    let rough =
        Masses::new((&halves.0, &halves.1), Direction::Forward, 2.0 * step, 1).tilted(tilt).0;
    // ln E = truth + bend·h²; half as much again for what looks as coarse as these miss.
    1.5 * (rough - fine) / (3.0 * step * step)
}

fn one_way(
    curves: &[(HalfCurves, u64)],
    e: f64,
    direction: Direction,
    plan: &Plan,
    effort: Effort,
) -> Spectrum {
    let mut plan = plan.clone();
    if effort == Effort::Rough {
        plan.step *= ROUGHER;
    }
    let sampled = curves.iter().any(|(curve, _)| curve.sampled());
    let mut looks = 0;
    let mut window = plan.window;
    let mut best: Option<(f64, Spectrum)> = None;
    let mut rounds = 0;
    loop {
        let (step, bits) = plan.grid(curves, window);
        let widest_gap = 0.02 / ((plan.tilt + 1.0) * step);
        let masses = on_grid(curves, direction, &plan, step, widest_gap);
        // A tilt of 0 would do, but the sums would have no common form.
        let tilt = plan.tilt.max(1.0 / window);
        let spectrum = Spectrum::new(&masses, step, bits, tilt, plan.end(step, bits));
        let found = spectrum.above(e);
        let least = best.as_ref().map_or(f64::INFINITY, |(least, _)| *least);
        let kept =
            if found.value < least { spectrum } else { best.take().map_or(spectrum, |x| x.1) };
        rounds += 1;
        // Chernoff's size is far off where few large losses decide.
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
        if rounds == 6 || (!short && enough) {
            return kept;
        }
        best = Some((found.value.min(least), kept));
    }
}

/// Every curve on the bins of one grid.
pub(super) fn on_grid(
    curves: &[(HalfCurves, u64)],
    direction: Direction,
    plan: &Plan,
    step: f64,
    widest_gap: f64,
) -> Vec<Masses> {
    curves
        .iter()
        .zip(&plan.reaches)
        .map(|((curve, count), reach)| {
            if curve.sampled() {
                let dots = uneven(*reach, step, widest_gap);
                return Masses::on_dots(curve, direction, &dots, step, *count);
            }
            let (ahead, back) = curve.values(step, libm::ceil(reach / step).max(1.0) as usize);
            Masses::new((&ahead, &back), direction, step, *count)
        })
        .collect()
}

/// Every bin near 0, fewer farther out, where sampled releases have little mass: gaps of 1/300 of the
/// loss, and of no more bins than `widest_gap`.
fn uneven(reach: f64, step: f64, widest_gap: f64) -> Vec<i64> {
    let last = libm::ceil(reach / step).clamp(1.0, 1e15) as i64;
    let widest = widest_gap.max(last as f64 / 1e5);
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
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub tilt: f64,
    /// Upper end of the window.
    top: f64,
    pub window: f64,
    /// The window that nothing wraps around in, nearly.
    wide: f64,
    step: f64,
    /// Where each curve may be cut.
    reaches: Vec<f64>,
    /// No more than 2 to this power bins.
    largest: usize,
}

impl Plan {
    /// Cuts each curve where its uses together leave at most this mass.
    fn reach_to(&mut self, curves: &[(HalfCurves, u64)], tail: f64) {
        let reach = |(curve, count): &(HalfCurves, u64)| curve.reach(tail / *count as f64);
        self.reaches = curves.iter().map(reach).collect();
    }

    /// The same with a quarter of the step and four times the bins, for lower bounds.
    pub fn finer(self) -> Self {
        Self { step: self.step / 4.0, largest: self.largest + 2, window: self.wide, ..self }
    }

    /// Where a window of that many bins ends: what it has more than asked for goes to both sides.
    pub fn end(&self, step: f64, bits: usize) -> f64 {
        self.top + 0.5 * (step * (1_u64 << bits) as f64 - self.window)
    }

    /// (step, ln₂ of the number of bins) for a window of this width: as wished, but with no more bins
    /// than are allowed and no more than 2^15 dots in a part, so that the work is bounded.
    pub fn grid(&self, curves: &[(HalfCurves, u64)], window: f64) -> (f64, usize) {
        let even = curves.iter().zip(&self.reaches).filter(|((curve, _), _)| !curve.sampled());
        let widest = even.map(|(_, reach)| *reach).fold(0.0, f64::max);
        let bins = (1_usize << self.largest) as f64;
        let dots = bins / 8.0;
        let step = self.step.max(window / bins).max(widest / dots);
        // Dots on the ends of a bounded loss, where its atoms sit.
        let step = match curves.iter().find_map(|(curve, _)| curve.bound()) {
            Some(bound) if bound >= step => bound / libm::ceil(bound / step),
            // Atoms within one step of zero need no dots of their own.
            _ => step,
        };
        let bits = libm::ceil(libm::log2(window / step)) as usize;
        (step, bits.clamp(SMALLEST, self.largest))
    }

    /// `None` when the answer is so large that nobody asks further.
    pub fn new(curves: &[(HalfCurves, u64)], e: f64) -> Option<Self> {
        let sampled = curves.iter().any(|(curve, _)| curve.sampled());
        let mut tail = 1e-40;
        let mut masses = Vec::new();
        let (mut tilt, mut ln_size) = (0.0, 0.0);
        for _ in 0..3 {
            masses = coarse(curves, Direction::Forward, tail);
            (tilt, ln_size) = chernoff(&masses, e);
            if ln_size > libm::log(tail) + 30.0 || tail < 1e-290 {
                break;
            }
            tail = libm::exp((ln_size - 60.0).max(-700.0));
        }
        // A tilt far beyond what the losses reach overflows and gains nothing.
        let farthest = masses.iter().map(Masses::top).fold(0.0, f64::max);
        tilt = tilt.min(600.0 / farthest);
        let costly = curves.iter().any(|(curve, _)| curve.costly());
        if costly && ln_size > -0.7 {
            return None;
        }
        let size = libm::exp(ln_size.min(0.0));
        let (_, _, spread) = moments(&masses, tilt);
        let looseness = match (costly, sampled) {
            (true, _) => LOOSENESS.0,
            (false, true) => 10.0 * LOOSENESS.1,
            (false, false) => LOOSENESS.1,
        };
        // Fine enough for the tilt, and for atoms between the dots where δ is large.
        let aligned = curves.iter().position(|(curve, _)| curve.bound().is_some());
        let bends: f64 = curves
            .iter()
            .enumerate()
            .map(|(place, (curve, count))| {
                let most = (tilt + 0.5) * (tilt + 1.5) / 8.0;
                let atoms_on_dots = curve.bound().is_none() || aligned == Some(place);
                let bend = if curve.costly() || sampled || !atoms_on_dots {
                    most
                } else {
                    bend(curve, tail / *count as f64, tilt + 1.0).clamp(0.01 * most, most)
                };
                bend * *count as f64
            })
            .sum();
        let step = libm::sqrt(looseness / bends).min(libm::sqrt(spread) / 150.0);
        let step = step.max(1e-9);
        let (below, above, least) = margins(&masses, tilt, e, spread);
        // Each part takes a transform: the more parts, the fewer bins.
        let halvings = curves.len().div_ceil(MANY).next_power_of_two().trailing_zeros() as usize;
        let largest = LARGEST.saturating_sub(halvings).max(SMALLEST);
        let narrow = (below + above).max(64.0 * step);
        let wide = least.max(narrow);
        // Wider is tighter, unless it takes more bins than there are.
        let window = wide.min(step * (1_u64 << largest) as f64).max(narrow);
        let top = e + above;
        let mut plan = Self { tilt, top, window, wide, step, reaches: Vec::new(), largest };
        plan.reach_to(curves, NEGLIGIBLE * size);
        Some(plan)
    }
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
