//! θ to 106 bits: what fits into f64, and a tail for what does not.
//!
//! Plain iterations have no tail. Where f64 cannot resolve the tolerance, steps are added in
//! double-double and their low parts kept. Penalties act on the whole: a coordinate is at zero, or at
//! an end of the box, only when its tail is zero too.

use super::{Penalty, add_scaled, norm};
use crate::double_double::DoubleDouble;

/// θ = theta + tail.
#[derive(Clone, PartialEq)]
pub(crate) struct Point {
    pub theta: Vec<f64>,
    /// Empty, or as long as `theta`.
    pub tail: Vec<f64>,
}

impl Point {
    pub fn new(theta: Vec<f64>) -> Self {
        Self { theta, tail: Vec::new() }
    }

    /// Moved by step · direction; exact to 106 bits when `precise`.
    pub fn moved(&self, step: f64, direction: &[f64], precise: bool) -> Self {
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

    /// self − other, rounded to f64.
    pub fn minus(&self, other: &Self) -> Vec<f64> {
        let low = |point: &Self, j: usize| point.tail.get(j).copied().unwrap_or(0.0);
        let pairs = self.theta.iter().zip(&other.theta).enumerate();
        pairs.map(|(j, (a, b))| (a - b) + (low(self, j) - low(other, j))).collect()
    }

    /// Made to satisfy the penalty: the proximal map of penalty/M, with `inverse_m` = 1/M.
    pub fn project(&mut self, penalty: Penalty, inverse_m: f64) {
        self.tail.resize(self.theta.len(), 0.0);
        let pairs = self.theta.iter_mut().zip(&mut self.tail);
        match penalty {
            Penalty::None => {}
            Penalty::L1 { weight } => {
                let cut = weight * inverse_m;
                for (t, l) in pairs {
                    let cut = DoubleDouble::from(cut.copysign(*t));
                    let shrunk = DoubleDouble { high: *t, low: *l } - cut;
                    let stays = shrunk.high * *t > 0.0;
                    (*t, *l) = if stays { (shrunk.high, shrunk.low) } else { (0.0, 0.0) };
                }
            }
            Penalty::Box { low, high } => {
                for (t, l) in pairs {
                    if *t < low || (*t == low && *l < 0.0) {
                        (*t, *l) = (low, 0.0);
                    } else if *t > high || (*t == high && *l > 0.0) {
                        (*t, *l) = (high, 0.0);
                    }
                }
            }
            Penalty::Ball { radius } => {
                let size = norm(&self.theta);
                if size > radius {
                    for (t, l) in self.theta.iter_mut().zip(&mut self.tail) {
                        let scaled = DoubleDouble { high: *t, low: *l }.times(radius / size);
                        (*t, *l) = (scaled.high, scaled.low);
                    }
                }
            }
        }
        if self.tail.iter().all(|&l| l == 0.0) {
            self.tail.clear();
        }
    }

    /// Only what fits into `theta`.
    pub fn without_tail(self) -> Self {
        Self::new(self.theta)
    }
}
