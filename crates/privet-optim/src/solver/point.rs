//! A point θ to 106 bits: its f64 part, and a tail for the rest.
//!
//! Plain iterations have no tail. Where f64 cannot resolve the tolerance, steps are added in
//! double-double and their low parts kept. Penalties act on the sum: a coordinate is at zero, or at an
//! end of the box, only when its tail is zero too.

use super::{Penalty, add_scaled};
use crate::double_double::DoubleDouble;

/// The point θ = theta + tail.
#[derive(Clone, PartialEq)]
pub(crate) struct Point {
    pub theta: Vec<f64>,
    /// The low part; empty, or as long as `theta`.
    pub tail: Vec<f64>,
}

impl Point {
    pub fn new(theta: Vec<f64>) -> Self {
        Self { theta, tail: Vec::new() }
    }

    /// The point moved by step · direction; exact to 106 bits when `precise`.
    pub fn step_along(&self, step: f64, direction: &[f64], precise: bool) -> Self {
        let mut theta = self.theta.clone();
        if !precise {
            add_scaled(&mut theta, step, direction);
            return Self::new(theta);
        }
        let mut tail = self.tail.clone();
        tail.resize(theta.len(), 0.0);
        for ((t, l), d) in theta.iter_mut().zip(&mut tail).zip(direction) {
            let sum = DoubleDouble { high: *t, low: *l } + DoubleDouble::from(*d).times(step);
            (*t, *l) = (sum.high, sum.low);
        }
        Self { theta, tail }
    }

    /// The difference self − other, rounded to f64.
    pub fn minus(&self, other: &Self) -> Vec<f64> {
        let low = |point: &Self, j: usize| point.tail.get(j).copied().unwrap_or(0.0);
        let pairs = self.theta.iter().zip(&other.theta).enumerate();
        pairs.map(|(j, (a, b))| (a - b) + (low(self, j) - low(other, j))).collect()
    }

    /// Coordinate j.
    pub fn digits(&self, j: usize) -> DoubleDouble {
        DoubleDouble { high: self.theta[j], low: self.tail.get(j).copied().unwrap_or(0.0) }
    }

    /// A point from its coordinates, of which only the f64 part is kept unless `precise`.
    pub fn from_digits(digits: &[DoubleDouble], precise: bool) -> Self {
        let theta = digits.iter().map(|t| t.high).collect();
        let some = precise && digits.iter().any(|t| t.low != 0.0);
        let tail = if some { digits.iter().map(|t| t.low).collect() } else { Vec::new() };
        Self { theta, tail }
    }

    /// The proximal map of penalty/M, with `inverse_m` = 1/M, which enforces the penalty.
    pub fn mapped(&self, penalty: &Penalty, inverse_m: f64, precise: bool) -> Self {
        let mut digits: Vec<DoubleDouble> = (0..self.theta.len()).map(|j| self.digits(j)).collect();
        penalty.map(&mut digits, inverse_m);
        Self::from_digits(&digits, precise)
    }
}
