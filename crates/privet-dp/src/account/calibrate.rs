//! The smallest noise that meets a budget.
//!
//! δ falls as noise grows, so the smallest scale with δ(ε) ≤ δ is bracketed and the bracket shrunk: its
//! high end always meets the budget, so stopping at any point is safe. Secant steps in ln δ against ln
//! scale make it quick; a bisection step follows whenever they stall.

use super::accountant::BoundPrecision;
use super::error::AccountError;
use super::event::Event;
use super::parts::Parts;
use privet_core::Budget;
use std::ops::RangeInclusive;

/// Relative width of the final bracket; wider where δ itself is only known on a grid.
const TOLERANCE: (f64, f64) = (1e-12, 1e-6);

/// Width of the bracket down to which rough bounds are used.
const ROUGH_BRACKET: f64 = 1e-3;

/// The smallest noise scale in `search`, to a relative 1e-12 (1e-6 where loss distributions have to be
/// composed), at which `event_for(scale)` meets the budget. The returned scale has been checked to meet
/// it. δ must not grow with the scale.
pub fn calibrate(
    budget: &Budget,
    search: RangeInclusive<f64>,
    event_for: impl Fn(f64) -> Event,
) -> Result<f64, AccountError> {
    let (from, to) = (*search.start(), *search.end());
    if !(from > 0.0 && from <= to && to < f64::INFINITY) {
        return Err(AccountError::SearchRange { from, to });
    }
    let probe = |scale: f64, wanted: BoundPrecision| -> Result<(bool, f64), AccountError> {
        let parts = Parts::new(&event_for(scale))?;
        if budget.is_pure() {
            // A step function of δ is useless to a secant; compare ε instead.
            let epsilon = parts.epsilon(0.0);
            let excess = if epsilon > 0.0 { libm::log(epsilon / budget.epsilon()) } else { -700.0 };
            return Ok((epsilon <= budget.epsilon(), excess.min(700.0)));
        }
        let delta = parts.bound_delta(budget.epsilon(), wanted);
        Ok((delta <= budget.delta(), libm::log(delta.max(1e-320) / budget.delta())))
    };
    let (full, rough) =
        (BoundPrecision::Below(budget.delta()), BoundPrecision::Rough(budget.delta()));
    let at_end = probe(to, full)?;
    if !at_end.0 {
        let (epsilon, delta) = (budget.epsilon(), budget.delta());
        return Err(AccountError::OutOfReach { largest: to, epsilon, delta });
    }
    // Halve first: far from the solution δ says little, and a rough bound says as much. The low end is
    // evaluated only if the search reaches it.
    let (mut low, mut high) = ((libm::log(from), f64::NAN), (libm::log(to), at_end.1));
    while high.0 - low.0 > 0.5 {
        let middle = 0.5 * (low.0 + high.0);
        let (holds, excess) = probe(libm::exp(middle), rough)?;
        if holds { high = (middle, excess) } else { low = (middle, excess) }
    }
    if low.1.is_nan() {
        let (holds, excess) = probe(from, full)?;
        if holds {
            return Ok(from);
        }
        low.1 = excess;
    }
    // Errors depend on the event's shape, not on the scale; should one arise, avoid that scale.
    let at = |ln_scale: f64, wanted: BoundPrecision| {
        probe(libm::exp(ln_scale), wanted).unwrap_or((false, 700.0))
    };
    if Parts::new(&event_for(libm::exp(high.0)))?.smooth() {
        return checked(shrink(low, high, TOLERANCE.0, |x| at(x, full)), to, budget, event_for);
    }
    // A rough crossing, then the bracket around it that the full bound confirms.
    let near = shrink(low, high, ROUGH_BRACKET, |x| at(x, rough));
    let ends = (libm::log(from), libm::log(to));
    let mut high = (near, at(near, full));
    let mut reach = ROUGH_BRACKET;
    while !high.1.0 && high.0 < ends.1 {
        let next = (high.0 + reach).min(ends.1);
        (high, reach) = ((next, at(next, full)), 4.0 * reach);
    }
    let mut low = (high.0 - ROUGH_BRACKET, at(high.0 - ROUGH_BRACKET, full));
    while low.1.0 && low.0 > ends.0 {
        let next = (low.0 - reach).max(ends.0);
        (high, low, reach) = (low, (next, at(next, full)), 4.0 * reach);
    }
    let found = if high.1.0 && !low.1.0 {
        shrink((low.0, low.1.1), (high.0, high.1.1), TOLERANCE.1, |x| at(x, full))
    } else {
        high.0
    };
    checked(found, to, budget, event_for)
}

/// The scale, if it meets the budget as every caller will compute it; otherwise the largest one.
fn checked(
    ln_scale: f64,
    largest: f64,
    budget: &Budget,
    event_for: impl Fn(f64) -> Event,
) -> Result<f64, AccountError> {
    let scale = libm::exp(ln_scale);
    if super::meets(&event_for(scale), *budget)? { Ok(scale) } else { Ok(largest) }
}

/// Given that the condition fails at `low` and holds at `high` (each with its excess), returns a point
/// just above the smallest at which it holds. `probe` returns (holds, excess), where the excess falls
/// with x and changes sign there.
pub(super) fn shrink(
    low: (f64, f64),
    high: (f64, f64),
    tolerance: f64,
    probe: impl Fn(f64) -> (bool, f64),
) -> f64 {
    let (mut over, mut under) = (low.1.max(1e-300), high.1.min(-1e-300));
    let (mut low, mut high) = (low.0, high.0);
    let mut stalled = 0;
    let mut last = None;
    for _ in 0..200 {
        let width = high - low;
        let smallest = tolerance * high.abs().max(1.0);
        if width <= smallest {
            break;
        }
        let secant = low + width * (over / (over - under));
        let x = if stalled >= 3 || !secant.is_finite() {
            stalled = 0;
            low + width / 2.0
        } else {
            // A quarter of the tolerance inside, so that both ends close in.
            secant.clamp(low + smallest / 4.0, high - smallest / 4.0)
        };
        if x <= low || x >= high {
            break;
        }
        let (holds, excess) = probe(x);
        // Illinois: an end that stays twice in a row loses half its weight.
        if holds {
            if last == Some(true) {
                over *= 0.5;
            }
            (high, under) = (x, excess.min(-1e-300));
        } else {
            if last == Some(false) {
                under *= 0.5;
            }
            (low, over) = (x, excess.max(1e-300));
        }
        last = Some(holds);
        if high - low > 0.5 * width {
            stalled += 1;
        } else {
            stalled = 0;
        }
    }
    high
}
