//! Lower bounds on the cost of a composition, from the same grids as the upper ones.
//!
//! **Theorem.** Let part i be attained: some pair of laws has exactly the curve Hᵢ(e), and let Uᵢ be
//! any random loss with Hᵢ(e) ≥ E(1−e^{e−Uᵢ})₊ at every real e. Then the parts together cost at least
//! E(1−e^{ε−ΣUᵢ})₊. *Proof.* Read the proof of [`super::parts`] with ≥: the product of the pairs is a
//! pair that can occur, and nothing but H_ε(P₁P₂‖Q₁Q₂) = E H_{ε−ℒ₁}(P₂‖Q₂) is used. ∎
//!
//! **Choice of the loss.** Connecting the dots of H (see [`super::distribution`]) gives a curve C ≥ H
//! that touches it at the dots. As a function of x = e^e, H is convex, so between two dots it lies above
//! the two neighbouring chords, prolonged; let their crossing be (x*, H*) in the cell k. If
//! C(x*·e^η) ≤ H* in every cell, then C(x·e^η) ≤ H(x) everywhere: on either side of x* the bound is a
//! line and C convex, so it is enough to check the ends of that side, and C falls. Hence the grid's own
//! loss less η is such a U, with η of second order in the step: η ≈ (step²/8)·(hazard rate of the loss),
//! where rounding losses down would cost a whole step. Composed: δ(ε) ≥ (the grid's, at ε+Ση). As η adds
//! up over the uses, grids here are four times as fine as from above; beyond some ten thousand uses the
//! bound falls behind all the same (and remains valid).
//!
//! Values of H are known up to rounding: a relative 10⁻¹² at dots ≥ 0; below 0, 10⁻¹² of the excess over
//! 1−x and 5·10⁻¹³ of the whole (sums over many dots). Chords are taken with the worst of it, and the
//! result is multiplied by (1−2·10⁻¹¹) for each use. The mass at ∞ is not counted.
//!
//! Tested by `tests/all/account_bracket.rs`: between `dp-accounting`'s optimistic bound and the upper
//! bound here.

use super::distribution::all_curves;
use super::hull::Dots;
use super::layout::{Layout, on_grid};
use super::objective::Direction;
use super::parts::Part;
use super::spectrum::Spectrum;

/// Relative error of a value at a dot.
const VALUE: f64 = 1e-12;
/// The same of the whole of a value below 0.
const MIRRORED: f64 = 5e-13;
/// Relative reduction of the bound for each use.
const PER_USE: f64 = 2e-11;
/// Largest number of bins between dots: the widest cell decides.
const WIDEST_GAP: f64 = 4.0;

/// η of the Theorem for the dots and the masses from connecting them; infinite if no bound is found.
pub(super) fn excess(given: &Dots, mass: &[f64]) -> f64 {
    let (x, w) = (given.x, given.w);
    let dots = x.len();
    // x_{k+1} − x_k.
    let widths: Vec<f64> = (0..dots.saturating_sub(1)).map(|k| given.width(k, k + 1)).collect();
    let v: Vec<f64> = given
        .index
        .iter()
        .zip(w)
        .map(|(dot, w)| w - libm::expm1((*dot).min(0) as f64 * given.step))
        .collect();
    // Falls −C′ between dot k−1 and dot k, fall[0] between 0 and the first dot, last 0.
    let mut fall = vec![0.0; dots + 1];
    for k in (0..dots).rev() {
        fall[k] = fall[k + 1] + mass[k] / x[k];
    }
    // C itself, without the mass at ∞.
    let mut curve = vec![0.0; dots];
    for k in (0..dots.saturating_sub(1)).rev() {
        curve[k] = curve[k + 1] + fall[k + 1] * widths[k];
    }
    let infinite = w.last().copied().unwrap_or(1.0);
    let doubt: Vec<f64> = x
        .iter()
        .zip(w.iter().zip(&v))
        .map(|(x, (w, v))| if *x < 1.0 { VALUE * w + MIRRORED * v } else { VALUE * v })
        .collect();
    // Largest error of the slope of a chord of H, either way.
    let slack = |k: usize| 12.0 * (doubt[k] + doubt[k + 1]) / widths[k];
    // Up to the first dot H ≥ 1−x.
    let mut most = ((1.0 - fall[0]) / fall[0]).max(0.0);
    for k in 0..dots.saturating_sub(1) {
        // A dot that is not on the hull: the curve was not convex, or badly rounded.
        if v[k] - infinite > curve[k] + 10.0 * doubt[k] {
            return f64::INFINITY;
        }
        let width = widths[k];
        let before = if k == 0 { 1.0 } else { fall[k] + slack(k - 1) };
        let beyond = if k + 2 < dots { (fall[k + 2] - slack(k + 1)).max(0.0) } else { 0.0 };
        let here = curve[k] + infinite - doubt[k];
        let there = curve[k + 1] + infinite - doubt[k + 1];
        let bent = before - beyond;
        if bent <= 0.0 || fall[k + 1] <= 0.0 {
            continue;
        }
        let place = ((here - there - beyond * width) / bent).clamp(0.0, width);
        let bound = (here - before * place).max(there + beyond * (width - place));
        let reached = (curve[k] - bound / (1.0 - PER_USE)) / fall[k + 1];
        // ln(1+y) ≤ y.
        most = most.max((reached - place) / (x[k] + place));
    }
    // Margin for the rounding of the dots themselves.
    if most.is_nan() { f64::INFINITY } else { most * (1.0 + 1e-9) + 1e-15 }
}

/// A lower bound on δ(e), e ≥ 0, of these parts, each of which attains its curve, and a Gaussian
/// release of parameter ν.
pub fn delta(rest: &[(Part, u64)], nu: f64, e: f64) -> f64 {
    let curves = all_curves(rest, nu);
    let Some(plan) = Layout::new(&curves, e).map(Layout::finer) else { return 0.0 };
    let (step, bits) = plan.grid(&curves, plan.window);
    let one_way = |direction: Direction| {
        let masses = on_grid(&curves, direction, &plan, step, WIDEST_GAP);
        let (shift, uses) = masses.iter().fold((0.0, 0.0), |(shift, uses), part| {
            let count = part.count as f64;
            (shift + count * part.excess, uses + count)
        });
        if shift.is_nan() || shift >= plan.window {
            return 0.0;
        }
        let tilt = plan.tilt.max(1.0 / plan.window);
        let mut spectrum = Spectrum::new(&masses, step, bits, tilt, plan.end(step, bits));
        spectrum.bound_wrapped(&masses, e + shift);
        spectrum.lower_bound(e + shift) * (1.0 - PER_USE * uses).max(0.0)
    };
    let forward = one_way(Direction::Forward);
    if rest.iter().any(|(part, _)| part.has_directions()) {
        forward.max(one_way(Direction::Backward))
    } else {
        forward
    }
}
