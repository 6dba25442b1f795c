//! The curve of each part on a grid, for e ≥ 0 in both directions.
//!
//! A true curve is determined by the half e ≥ 0 of its two directions, as
//! H_{−e}(P‖Q) = 1−e^{−e}+e^{−e}H_e(Q‖P). Theorem bounds are often poor for e < 0 (they take the
//! positive part of the loss), so composition uses this identity instead.

use super::gaussian;
use super::objective::Direction;
use super::parts::Part;

/// A part, or all Gaussian parts together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HalfCurves {
    /// A Gaussian release of parameter ν.
    Gaussian(f64),
    /// Any other part.
    Part(Part),
}

impl HalfCurves {
    /// True if one evaluation needs an integral.
    pub fn needs_integral(&self) -> bool {
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
                let backward = if sampled.has_directions() {
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

    /// True if its losses have several scales at once: many tiny ones, few large.
    pub fn has_several_scales(&self) -> bool {
        matches!(self, Self::Part(Part::Sampled(_)))
    }

    /// The largest value of the loss; `None` if it is unbounded.
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

    /// An e from which on δ(e) ≤ `tail` in both directions.
    pub fn tail_start(&self, tail: f64) -> f64 {
        let small = |e: f64| match self {
            Self::Gaussian(nu) => gaussian::delta(e, *nu) <= tail,
            Self::Part(part) => part.delta(e) <= tail,
        };
        if let Self::Part(part) = self {
            if let Part::Objective(objective) = part {
                return objective.tail_start(tail);
            }
            if let Some(bound) = part.bound() {
                return bound;
            }
        }
        // Losses can be tiny, above all those of sampled releases.
        let start = match self {
            Self::Part(Part::Sampled(sampled)) => (sampled.rate * sampled.shift).min(1e-9),
            Self::Part(Part::Concentrated(rho)) => libm::sqrt(*rho).min(1e-3),
            Self::Gaussian(nu) => nu.min(1e-3),
            Self::Part(_) => 1e-3,
        };
        let mut high = start.max(1e-180);
        while !small(high) && high < 1e4 {
            high *= 1.25;
        }
        high
    }
}

/// Σ mass·(1−e^{e−loss})₊ + `beyond` at e = 0, h, …, from losses in increasing order.
///
/// From the last e down, as Σ_{loss>e−h} mass·(1−e^{e−h−loss}) = e^{−h}·(the sum at e) + (1−e^{−h})·(the
/// mass above e) + the losses between: every term is positive, so that tiny losses keep their digits.
pub(super) fn from_atoms(atoms: &[(f64, f64)], beyond: f64, step: f64, values: &mut [f64]) {
    let (shrink, grow) = (libm::exp(-step), -libm::expm1(-step));
    let (mut mass, mut sum, mut next) = (0.0, 0.0, atoms.len());
    for (k, value) in values.iter_mut().enumerate().rev() {
        let e = k as f64 * step;
        sum = shrink * sum + grow * mass;
        while next > 0 && atoms[next - 1].0 > e {
            next -= 1;
            let (loss, more) = atoms[next];
            mass += more;
            sum -= more * libm::expm1(e - loss);
        }
        *value = sum + beyond;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_atoms_keep_their_digits() {
        for scale in [1.0, 1e-8, 1e-16, 1e-100] {
            let atoms: Vec<(f64, f64)> =
                (0..50_u32).map(|k| (f64::from(k) * 0.1 * scale, 0.02)).collect();
            let mut values = vec![0.0; 60];
            from_atoms(&atoms, 0.0, 0.083 * scale, &mut values);
            for (k, got) in values.into_iter().enumerate() {
                let e = k as f64 * 0.083 * scale;
                let terms =
                    atoms.iter().map(|(loss, mass)| -mass * libm::expm1((e - loss).min(0.0)));
                let want: f64 = terms.sum();
                assert!((got - want).abs() <= 1e-13 * want, "{scale} {k}: {got} {want}");
            }
        }
    }
}
