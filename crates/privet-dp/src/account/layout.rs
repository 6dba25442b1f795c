//! The grid of a composition: step, tilt, window, and the points where curves are cut.
//!
//! Any choice is valid; a good one makes [`super::distribution`]'s bound tight and quick.
//!
//! **Steps.** Connecting dots h apart raises ln E e^{s·loss} by about (h²/8)·s(s+1) a use, less where
//! mass sits on dots; h is such that all uses together cost the intended looseness, but at most 2^18
//! bins are taken, fewer where many parts differ ([`super::merge`] limits their number): the work is
//! bounded, and where that makes steps wider than intended the result stays an upper bound.
//!
//! **Sampled releases** ([`super::sampled`]) lose next to nothing at most uses and much at few. Any
//! subset of the grid may serve as dots, so theirs lie close near 0 and sparse far out; the coarse pass
//! that fixes tilt and window has its dots in geometric progression. At 10⁶ uses (steps of about 10⁻³√N
//! of one loss's deviation) half a per cent of δ is lost.

use super::curve::HalfCurves;
use super::fourier;
use super::hull::{exact_index, exact_step};
use super::masses::{Masses, chernoff, margins, moments};
use super::objective::Direction;

/// Intended relative looseness, for costly and for cheap curves; steps follow from it.
const INTENDED_LOOSENESS: (f64, f64) = (2e-4, 1e-5);
/// Largest part of the result that each cut tail may add.
const NEGLIGIBLE_TAIL: f64 = 1e-7;
/// Largest number of bins, as a power of two; lower bounds take four times as many.
const MOST_BINS_LOG2: usize = fourier::LARGEST_TRANSFORM_LOG2 - 2;
/// Number of parts for which all bins are affordable; beyond, bins are fewer.
const PARTS_WITH_ALL_BINS: usize = 8;
/// Smallest number of bins, as a power of two.
const FEWEST_BINS_LOG2: usize = 6;

/// The grid that a coarse pass over the forward direction suggests; any choice is valid.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The tilt s.
    pub tilt: f64,
    /// Upper end of the window.
    top: f64,
    /// The window's width.
    pub window: f64,
    /// A width at which almost nothing wraps around.
    wide: f64,
    /// The intended step h.
    step: f64,
    /// The loss at which each curve may be cut.
    reaches: Vec<f64>,
    /// Largest number of bins, as a power of two.
    pub largest: usize,
}

impl Layout {
    /// Cuts each curve where its uses together leave at most this mass.
    pub fn reach_to(&mut self, curves: &[(HalfCurves, u64)], tail: f64) {
        let reach = |(curve, count): &(HalfCurves, u64)| curve.tail_start(tail / *count as f64);
        self.reaches = curves.iter().map(reach).collect();
    }

    /// The same layout with steps this many times as wide.
    pub fn rougher(self, times: f64) -> Self {
        Self { step: self.step * times, ..self }
    }

    /// The same layout with a quarter of the step and four times the bins, for lower bounds.
    pub fn finer(self) -> Self {
        Self { step: self.step / 4.0, largest: self.largest + 2, window: self.wide, ..self }
    }

    /// Upper end of a window of that many bins: the width beyond the requested one is split between both
    /// sides.
    pub fn end(&self, step: f64, bits: usize) -> f64 {
        self.top + 0.5 * (step * (1_u64 << bits) as f64 - self.window)
    }

    /// (step, log₂ of the number of bins) for a window of this width: the intended step, but with no
    /// more bins than are allowed and no more than 2^15 dots in a part, so that the work is bounded.
    pub fn grid(&self, curves: &[(HalfCurves, u64)], window: f64) -> (f64, usize) {
        let even =
            curves.iter().zip(&self.reaches).filter(|((curve, _), _)| !curve.has_several_scales());
        let widest = even.map(|(_, reach)| *reach).fold(0.0, f64::max);
        let bins = (1_usize << self.largest) as f64;
        let dots = bins / 8.0;
        let step = self.step.max(window / bins).max(widest / dots);
        // Puts dots on the ends of a bounded loss, where its atoms sit.
        let step = match curves.iter().find_map(|(curve, _)| curve.bound()) {
            Some(bound) if bound >= step => bound / libm::ceil(bound / step),
            // Atoms within one step of zero need no dots of their own.
            _ => step,
        };
        let step = exact_step(step);
        let bits = libm::ceil(libm::log2(window / step)) as usize;
        (step, bits.clamp(FEWEST_BINS_LOG2, self.largest))
    }

    /// `None` if δ(e) is too large to be of use.
    pub fn new(curves: &[(HalfCurves, u64)], e: f64) -> Option<Self> {
        let sampled = curves.iter().any(|(curve, _)| curve.has_several_scales());
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
        // A tilt far beyond the reach of the losses overflows and gains nothing.
        let farthest = masses.iter().map(Masses::top).fold(0.0, f64::max);
        tilt = tilt.min(600.0 / farthest);
        let costly = curves.iter().any(|(curve, _)| curve.needs_integral());
        if costly && ln_size > -0.7 {
            return None;
        }
        let size = libm::exp(ln_size.min(0.0));
        let spread = moments(&masses, tilt).variance;
        let looseness = match (costly, sampled) {
            (true, _) => INTENDED_LOOSENESS.0,
            (false, true) => 10.0 * INTENDED_LOOSENESS.1,
            (false, false) => INTENDED_LOOSENESS.1,
        };
        // Fine enough for the tilt, and for atoms between the dots where δ is large.
        let aligned = curves.iter().position(|(curve, _)| curve.bound().is_some());
        let bends: f64 = curves
            .iter()
            .enumerate()
            .map(|(place, (curve, count))| {
                let most = (tilt + 0.5) * (tilt + 1.5) / 8.0;
                let atoms_on_dots = curve.bound().is_none() || aligned == Some(place);
                let bend = if curve.needs_integral() || sampled || !atoms_on_dots {
                    most
                } else {
                    bend(curve, tail / *count as f64, tilt + 1.0).clamp(0.01 * most, most)
                };
                bend * *count as f64
            })
            .sum();
        let step = libm::sqrt(looseness / bends).min(libm::sqrt(spread) / 150.0);
        let (below, above, least) = margins(&masses, tilt, e, spread);
        // Bins are counted in integers that an f64 holds exactly.
        let step = step.max(1e-15 * (e + above)).max(1e-200);
        // Each part takes a transform: the more parts, the fewer bins.
        let halvings =
            curves.len().div_ceil(PARTS_WITH_ALL_BINS).next_power_of_two().trailing_zeros()
                as usize;
        let largest = MOST_BINS_LOG2.saturating_sub(halvings).max(FEWEST_BINS_LOG2);
        let narrow = (below + above).max(64.0 * step);
        let wide = least.max(narrow);
        // Wider is tighter, unless it takes more bins than allowed.
        let window = wide.min(step * (1_u64 << largest) as f64).max(narrow);
        let top = e + above;
        let mut plan = Self { tilt, top, window, wide, step, reaches: Vec::new(), largest };
        plan.reach_to(curves, NEGLIGIBLE_TAIL * size);
        Some(plan)
    }
}

/// A coarse version of every curve, cut where its uses together leave at most `tail`.
pub fn coarse(curves: &[(HalfCurves, u64)], direction: Direction, tail: f64) -> Vec<Masses> {
    let sampled = curves.iter().any(|(curve, _)| curve.has_several_scales());
    curves
        .iter()
        .map(|(curve, count)| {
            let reach = curve.tail_start(tail / *count as f64);
            if sampled {
                return Masses::on_scales(curve, direction, reach, *count);
            }
            let step = exact_step(reach / 128.0);
            let (ahead, back) = curve.values(step, 128);
            Masses::new((&ahead, &back), direction, step, *count)
        })
        .collect()
}

/// The excess of ln E e^{s·loss} of a curve connected at steps h over the truth, divided by h²: from 64
/// and from 128 dots. Small where most of the mass sits on dots.
fn bend(curve: &HalfCurves, tail: f64, tilt: f64) -> f64 {
    let step = exact_step(curve.tail_start(tail) / 128.0);
    let (ahead, back) = curve.values(step, 128);
    let fine = Masses::new((&ahead, &back), Direction::Forward, step, 1).tilted(tilt).ln;
    let every_other = |values: &[f64]| values.iter().step_by(2).copied().collect::<Vec<f64>>();
    let halves = (every_other(&ahead), every_other(&back));
    let rough =
        Masses::new((&halves.0, &halves.1), Direction::Forward, 2.0 * step, 1).tilted(tilt).ln;
    // ln E = truth + bend·h²; half as much again for whatever both grids miss.
    1.5 * (rough - fine) / (3.0 * step * step)
}

/// Every curve on the bins of one grid.
pub fn on_grid(
    curves: &[(HalfCurves, u64)],
    direction: Direction,
    plan: &Layout,
    step: f64,
    widest_gap: f64,
) -> Vec<Masses> {
    curves
        .iter()
        .zip(&plan.reaches)
        .map(|((curve, count), reach)| {
            if curve.has_several_scales() {
                let dots = uneven_dots(*reach, step, widest_gap, curves.len());
                return Masses::on_dots(curve, direction, &dots, step, *count);
            }
            let (ahead, back) = curve.values(step, libm::ceil(reach / step).max(1.0) as usize);
            Masses::new((&ahead, &back), direction, step, *count)
        })
        .collect()
}

/// Dots at every bin near 0, fewer farther out, where sampled releases have little mass: gaps of 1/300
/// of the loss, and of no more bins than `widest_gap`; wider ones where there are many parts.
fn uneven_dots(reach: f64, step: f64, widest_gap: f64, parts: usize) -> Vec<i64> {
    let last = exact_index(libm::ceil(reach / step).clamp(1.0, 1e15) as i64);
    let share = (PARTS_WITH_ALL_BINS as f64 / parts as f64).min(1.0);
    let widest = widest_gap.max(last as f64 / (3e4 * share * share).max(1e3));
    let fine = (300.0 * share).max(16.0);
    let mut dots = vec![0];
    let mut dot = 0;
    while dot < last {
        let gap = libm::floor((dot as f64 / fine).min(widest)).max(1.0);
        dot = exact_index(dot + gap as i64).max(dot + 1).min(last);
        dots.push(dot);
    }
    dots
}
