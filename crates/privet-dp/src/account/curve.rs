//! Every part's curve on a grid, for e ≥ 0 in both directions.
//!
//! A true curve is determined by the half e ≥ 0 of its two directions, as
//! H_{−e}(P‖Q) = 1−e^{−e}+e^{−e}H_e(Q‖P). Theorem bounds are often poor for e < 0 (they take the
//! positive part of the loss), so composition uses this identity instead.

use super::gaussian;
use super::objective::Direction;
use super::parts::Part;

/// A part, or the Gaussian ones together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HalfCurves {
    /// Gaussian of parameter ν.
    Gaussian(f64),
    /// Any other.
    Part(Part),
}

impl HalfCurves {
    /// Whether one evaluation takes an integral.
    pub fn costly(&self) -> bool {
        matches!(self, Self::Part(Part::Objective(_)))
    }

    /// Bounds at 0, h, …, dots·h in the forward direction, and in the backward one.
    pub fn values(&self, step: f64, dots: usize) -> (Vec<f64>, Vec<f64>) {
        let on_grid = |curve: &dyn Fn(f64) -> f64| -> Vec<f64> {
            (0..=dots).map(|k| curve(k as f64 * step)).collect()
        };
        match self {
            Self::Gaussian(nu) => {
                let both = on_grid(&|e| gaussian::delta(e, *nu));
                (both.clone(), both)
            }
            Self::Part(Part::Objective(objective)) => objective.values(step, dots),
            Self::Part(Part::Sampled(sampled)) => {
                let forward = on_grid(&|e| sampled.delta(Direction::Forward, e));
                let backward = if sampled.directed() {
                    on_grid(&|e| sampled.delta(Direction::Backward, e))
                } else {
                    forward.clone()
                };
                (forward, backward)
            }
            Self::Part(part) => {
                let both = on_grid(&|e| part.delta(e));
                (both.clone(), both)
            }
        }
    }

    /// Whether its losses are on several scales at once: many tiny ones, few large.
    pub fn sampled(&self) -> bool {
        matches!(self, Self::Part(Part::Sampled(_)))
    }

    /// The largest value of the loss, if it has one.
    pub fn bound(&self) -> Option<f64> {
        match self {
            Self::Gaussian(_) => None,
            Self::Part(part) => part.bound(),
        }
    }

    /// The bound at one e ≥ 0.
    pub fn at(&self, direction: Direction, e: f64) -> f64 {
        match self {
            Self::Gaussian(nu) => gaussian::delta(e, *nu),
            Self::Part(Part::Objective(objective)) => objective.delta(direction, e, 0.0),
            Self::Part(Part::Sampled(sampled)) => sampled.delta(direction, e),
            Self::Part(part) => part.delta(e),
        }
    }

    /// Some e from which on δ(e) ≤ `tail` in both directions.
    pub fn reach(&self, tail: f64) -> f64 {
        let small = |e: f64| match self {
            Self::Gaussian(nu) => gaussian::delta(e, *nu) <= tail,
            Self::Part(part) => part.delta(e) <= tail,
        };
        if let Self::Part(part) = self {
            if let Part::Objective(objective) = part {
                return objective.reach(tail);
            }
            if let Some(bound) = part.bound() {
                return bound;
            }
        }
        // Losses of sampled releases can be tiny.
        let mut high = if self.sampled() { 1e-9 } else { 1e-3 };
        while !small(high) && high < 1e4 {
            high *= 1.25;
        }
        high
    }
}
