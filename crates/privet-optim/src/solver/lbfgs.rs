//! Limited-memory BFGS: an approximate inverse Hessian from the last steps.
//!
//! The two-loop recursion (Nocedal 1980; Nocedal & Wright, Algorithm 7.4) around any initial inverse
//! H₀: a scaled identity, a diagonal, or a factorised Hessian of an earlier point. With the last a few
//! pairs suffice, since they need to model only the change of the Hessian.

use super::{add_scaled, dot};
use std::collections::VecDeque;

/// Steps s with the gradient changes y they caused.
pub(super) struct Pairs {
    kept: VecDeque<(Vec<f64>, Vec<f64>, f64)>,
    capacity: usize,
}

impl Pairs {
    pub fn new(capacity: usize) -> Self {
        Self { kept: VecDeque::with_capacity(capacity), capacity }
    }

    pub fn clear(&mut self) {
        self.kept.clear();
    }

    /// Keeps the pair if its curvature ⟨s, y⟩ is safely positive (always so for exact gradients of a
    /// strongly convex F).
    pub fn push(&mut self, step: Vec<f64>, change: Vec<f64>) {
        let curvature = dot(&step, &change);
        let enough = 1e-12 * dot(&step, &step).sqrt() * dot(&change, &change).sqrt();
        if curvature > enough {
            if self.kept.len() == self.capacity {
                self.kept.pop_front();
            }
            self.kept.push_back((step, change, 1.0 / curvature));
        }
    }

    /// The scale ⟨s, y⟩/⟨y, D⁻¹y⟩ of the newest pair, by which D⁻¹ must be multiplied to have the
    /// curvature of that pair.
    pub fn scale(&self, diagonal: &[f64]) -> f64 {
        self.kept.back().map_or(1.0, |(_, y, inverse)| {
            let weighted: f64 = y.iter().zip(diagonal).map(|(y, d)| y * y / d).sum();
            1.0 / (inverse * weighted)
        })
    }

    /// The product H·gradient, where `initial` applies H₀ in place.
    pub fn apply(&self, gradient: &[f64], initial: impl FnOnce(&mut Vec<f64>)) -> Vec<f64> {
        let mut q = gradient.to_vec();
        let mut weights = Vec::with_capacity(self.kept.len());
        for (s, y, inverse) in self.kept.iter().rev() {
            let weight = inverse * dot(s, &q);
            add_scaled(&mut q, -weight, y);
            weights.push(weight);
        }
        initial(&mut q);
        for ((s, y, inverse), weight) in self.kept.iter().zip(weights.into_iter().rev()) {
            let correction = weight - inverse * dot(y, &q);
            add_scaled(&mut q, correction, s);
        }
        q
    }
}
