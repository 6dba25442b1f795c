//! ℓ1-penalised smooth fits within a box: minimise f(θ) + w‖θ‖₁ over |θⱼ| ≤ 1.
//!
//! **Theorem** (Schmidt, Le Roux & Bach 2011, Proposition 2, with exact proximal steps). Let f be
//! convex with a gradient of Lipschitz constant L, x₀ = y₀, and for k = 1, 2, …
//!
//! xₖ = prox(yₖ₋₁ − (∇f(yₖ₋₁) + eₖ)/L),  yₖ = xₖ + (k − 1)/(k + 2)·(xₖ − xₖ₋₁),
//!
//! prox the proximal map of (w/L)‖·‖₁ within the box. If all ‖eₖ‖₂ ≤ e, then for every minimiser x*
//!
//! F(x_K) − F(x*) ≤ 2L/(K + 1)²·(‖x₀ − x*‖₂ + K(K + 1)e/L)².
//!
//! So [`steps`]: K + 1 ≥ 2√(2L)·R/√t with ‖x₀ − x*‖ ≤ R leaves an excess of at most t where rounding
//! obeys [`rounding_allowed`], **for any such problem**: convergence need not be checked, and nothing
//! is required of the point reached.
//!
//! *Rounding.* Let u = 2⁻⁵³ and |y| ≤ 3 (points of the box, and momentum of at most 2). A rounded
//! proximal step is an exact one from a point moved by at most 4u(|yⱼ| + |gⱼ|/L + w/L), its map having
//! derivative 1 or 0; a momentum point with error ζ, |ζⱼ| ≤ 8u, gives e at most 2L‖ζ‖. Together
//! ‖e‖ ≤ ‖error of the gradient‖ + √p·u·(28L + 4|g| + 4w): [`rounding_of_steps`].
//!
//! - [`least_squares`]: ½Σ(y − ⟨x, θ⟩)² by second moments, the LASSO.
//! - [`huberized`]: its robust form, with a certified gap.

pub mod huberized;
pub mod least_squares;

pub use huberized::Huberized;
pub use least_squares::LeastSquares;

/// A callback with the step and the point of the descent; returns false to stop.
pub type StepCallback<'a> = dyn FnMut(u64, &[f64]) -> bool + 'a;

/// Accelerated proximal gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accelerated {
    /// The Lipschitz constant L of the gradient, above 0.
    pub smoothness: f64,
    /// The weight w of the ℓ1 norm.
    pub weight: f64,
}

impl Accelerated {
    /// Takes at most `steps` steps from a point of the box; `gradient` writes ∇f of its first argument
    /// to its second, `seen` is called with every point and ends the descent by returning `false`.
    pub fn descend(
        &self,
        start: Vec<f64>,
        steps: u64,
        mut gradient: impl FnMut(&[f64], &mut [f64]),
        seen: &mut StepCallback<'_>,
    ) -> Vec<f64> {
        let mut here = start;
        let mut from = here.clone();
        let mut slope = vec![0.0; here.len()];
        for step in 1..=steps {
            gradient(&from, &mut slope);
            let momentum = (step - 1) as f64 / (step + 2) as f64;
            for ((x, y), g) in here.iter_mut().zip(&mut from).zip(&slope) {
                let next = self.proximal(*y - g / self.smoothness);
                *y = next + momentum * (next - *x);
                *x = next;
            }
            if !seen(step, &here) {
                break;
            }
        }
        here
    }

    fn proximal(&self, free: f64) -> f64 {
        let shrunk = (free.abs() - self.weight / self.smoothness).max(0.0);
        shrunk.min(1.0).copysign(free)
    }
}

/// The number of steps K that leaves an excess of at most `target` from a start within `distance` of a
/// minimiser.
pub fn steps(smoothness: f64, distance: f64, target: f64) -> u64 {
    (2.0 * (2.0 * smoothness).sqrt() * distance / target.sqrt() * (1.0 + 1e-9)).ceil() as u64
}

/// The error e up to which [`steps`] holds, for every L ≥ 1: √(2L)R/(K + 1) ≤ √t/2 by the choice of K,
/// and √2·K·e/√L ≤ (4R/√t + √2)·e ≤ √t/2.
pub fn rounding_allowed(distance: f64, target: f64) -> f64 {
    let root = target.sqrt();
    root / (8.0 * distance / root + 3.0)
}

/// Upper bound on the contribution of rounding in steps and points to e, with the gradient at most
/// `largest` in every coordinate.
pub fn rounding_of_steps(columns: usize, smoothness: f64, largest: f64, weight: f64) -> f64 {
    let unit = 0.5 * f64::EPSILON;
    (columns as f64).sqrt() * unit * (28.0 * smoothness + 4.0 * largest + 4.0 * weight)
}

/// Upper bound on F(θ) − F* by the gradient of f at θ, a point of the box: the minimum over the box of
/// the linear bound at θ is at a corner or at 0, coordinate by coordinate.
pub fn gap(weight: f64, gradient: &[f64], theta: &[f64]) -> f64 {
    let one = |(g, t): (&f64, &f64)| g * t + weight * t.abs() + (g.abs() - weight).max(0.0);
    gradient.iter().zip(theta).map(|pair| one(pair).max(0.0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One coordinate of two converges slowly: curvatures 1 and 10⁴, the start farthest in the first.
    #[test]
    fn the_promised_excess_is_reached_and_a_few_steps_would_not_do() {
        let (curvature, weight) = ([1.0, 10_000.0], 0.25);
        let value = |theta: &[f64]| {
            let one = |(t, a): (&f64, &f64)| 0.5 * a * (t - 0.75) * (t - 0.75) + weight * t.abs();
            theta.iter().zip(&curvature).map(one).sum::<f64>()
        };
        let best = value(&[0.5, 0.75 - weight / 10_000.0]);
        let solver = Accelerated { smoothness: 10_000.0, weight };
        for target in [1e-2, 1e-4, 1e-6] {
            let count = steps(10_000.0, 1.0, target);
            let run = |count| {
                let gradient = |at: &[f64], out: &mut [f64]| {
                    let all = out.iter_mut().zip(at).zip(&curvature);
                    all.for_each(|((g, t), a)| *g = a * (t - 0.75));
                };
                solver.descend(vec![0.0; 2], count, gradient, &mut |_, _| true)
            };
            let excess = value(&run(count)) - best;
            assert!((-1e-12..=target).contains(&excess), "{target}: {excess}");
            let few = value(&run(2)) - best;
            assert!(few > target, "{target}: {few}");
        }
    }

    #[test]
    fn points_stay_in_the_box_and_can_be_ended() {
        let solver = Accelerated { smoothness: 1.0, weight: 0.5 };
        let down = |_: &[f64], out: &mut [f64]| out.copy_from_slice(&[-10.0, 0.25]);
        let mut told = 0;
        let end = solver.descend(vec![0.0; 2], 9, down, &mut |step, _| {
            told = step;
            step < 3
        });
        assert_eq!((end, told), (vec![1.0, 0.0], 3));
    }
}
