//! Newton's direction on the part of a penalised problem that is smooth around a point.
//!
//! Once the zeros (ℓ1, group, simplex), the active ends (box) or the sphere (ball) are identified, the
//! rest is a smooth problem, perhaps with one equation, and its Newton step is exact for a quadratic:
//!
//! - ℓ1, box: H on the free coordinates, those not held by the penalty.
//! - group: on the groups that are not held, H + (w_g/‖θ_g‖)(I − θ_gθ_gᵀ/‖θ_g‖²), the second derivative
//!   of w_g‖θ_g‖ being positive semidefinite.
//! - simplex: H on the free coordinates with Σd = 0: d = −H⁻¹(ρ + e1), e by the equation.
//! - ball, on the sphere: g + cθ = 0, ‖θ‖ = r: d = −(H + cI)⁻¹(ρ + eθ), e such that ⟨θ, d⟩ = 0.
//!
//! A direction carries no proof: the point it leads to is evaluated.

use super::newton::Factor;
use super::penalty::{Residual, groups};
use super::point::Point;
use super::{Penalty, add_scaled, dot, norm};
use crate::double_double::DoubleDouble;

/// The direction at θ, given the gradient of F, the smallest subgradient `residual` and the Hessian:
/// `hessian` (upper triangle, row by row, without the ridge) plus the ridge.
pub(super) fn direction(
    penalty: &Penalty,
    theta: &[f64],
    gradient: &[f64],
    residual: &Residual,
    mut hessian: Vec<f64>,
    ridge: f64,
) -> Vec<f64> {
    let rho = &residual.vector;
    let columns = theta.len();
    let direction = match penalty {
        Penalty::Ball { .. } if residual.off > 0.0 => {
            return finite(sphere(theta, gradient, hessian, ridge));
        }
        Penalty::Simplex { .. } => {
            let free = indices_where(columns, |j| theta[j] > 0.0 || rho[j] != 0.0);
            let Some(factor) = restricted_factor(&hessian, columns, &free, ridge) else {
                return vec![0.0; columns];
            };
            let mut step: Vec<f64> = free.iter().map(|&j| -rho[j]).collect();
            factor.solve(&mut step);
            let mut ones = vec![1.0; free.len()];
            factor.solve(&mut ones);
            let shift = -step.iter().sum::<f64>() / ones.iter().sum::<f64>();
            add_scaled(&mut step, shift, &ones);
            spread(columns, &free, &step)
        }
        _ => {
            if let Penalty::Group { weight, sizes } = penalty {
                for (w, range) in groups(*weight, sizes) {
                    bend(&mut hessian, columns, w, &theta[range.clone()], range.start);
                }
            }
            let held = held_coordinates(penalty, theta, rho);
            let free = indices_where(columns, |j| !held[j]);
            let Some(factor) = restricted_factor(&hessian, columns, &free, ridge) else {
                return vec![0.0; columns];
            };
            let mut step: Vec<f64> = free.iter().map(|&j| -rho[j]).collect();
            factor.solve(&mut step);
            spread(columns, &free, &step)
        }
    };
    finite(direction)
}

/// True for coordinates that the penalty holds where they are.
fn held_coordinates(penalty: &Penalty, theta: &[f64], rho: &[f64]) -> Vec<bool> {
    let mut held: Vec<bool> = match penalty {
        Penalty::L1 { .. } => theta.iter().map(|&t| t == 0.0).collect(),
        Penalty::Box { low, high } => theta.iter().map(|&t| t <= *low || t >= *high).collect(),
        _ => vec![false; theta.len()],
    };
    held.iter_mut().zip(rho).for_each(|(held, &r)| *held &= r == 0.0);
    if let Penalty::Group { weight, sizes } = penalty {
        for (_, range) in groups(*weight, sizes) {
            let still = range.clone().all(|j| theta[j] == 0.0 && rho[j] == 0.0);
            held[range].fill(still);
        }
    }
    held
}

fn indices_where(columns: usize, keep: impl Fn(usize) -> bool) -> Vec<usize> {
    (0..columns).filter(|&j| keep(j)).collect()
}

/// The factor of the Hessian restricted to `free`; `None` if that is empty.
fn restricted_factor(
    hessian: &[f64],
    columns: usize,
    free: &[usize],
    ridge: f64,
) -> Option<Factor> {
    let count = free.len();
    if count == 0 {
        return None;
    }
    let mut small = vec![0.0; count * count];
    for (a, &j) in free.iter().enumerate() {
        for (b, &k) in free.iter().enumerate().skip(a) {
            small[a * count + b] = hessian[j * columns + k];
        }
    }
    Some(Factor::of(small, count, ridge))
}

fn spread(columns: usize, free: &[usize], step: &[f64]) -> Vec<f64> {
    let mut direction = vec![0.0; columns];
    free.iter().zip(step).for_each(|(&j, &s)| direction[j] = s);
    direction
}

/// Adds the second derivative of w‖θ_g‖ for the group that starts at `start`.
fn bend(hessian: &mut [f64], columns: usize, w: f64, group: &[f64], start: usize) {
    let size = norm(group);
    let curvature = w / size;
    if size == 0.0 || !curvature.is_finite() {
        return;
    }
    for (a, t) in group.iter().enumerate() {
        for (b, s) in group.iter().enumerate().skip(a) {
            let unit = if a == b { 1.0 } else { 0.0 };
            let entry = (start + a) * columns + start + b;
            hessian[entry] += curvature * (unit - (t / size) * (s / size));
        }
    }
}

fn sphere(theta: &[f64], gradient: &[f64], hessian: Vec<f64>, ridge: f64) -> Vec<f64> {
    let pull = (-dot(gradient, theta) / dot(theta, theta)).max(0.0);
    let mut residual = gradient.to_vec();
    add_scaled(&mut residual, pull, theta);
    let factor = Factor::of(hessian, theta.len(), ridge + pull);
    let mut solved_theta = theta.to_vec();
    factor.solve(&mut solved_theta);
    let mut direction: Vec<f64> = residual.iter().map(|r| -r).collect();
    factor.solve(&mut direction);
    let shift = -dot(theta, &direction) / dot(theta, &solved_theta);
    add_scaled(&mut direction, shift, &solved_theta);
    direction
}

fn finite(mut direction: Vec<f64>) -> Vec<f64> {
    direction.iter_mut().for_each(|d| {
        if !d.is_finite() {
            *d = 0.0;
        }
    });
    direction
}

/// The point reached from `point` by step · direction: coordinates of an ℓ1 penalty that would cross
/// zero stop there, and sets are not left.
pub(super) fn arrive(
    penalty: &Penalty,
    point: &Point,
    step: f64,
    direction: &[f64],
    precise: bool,
) -> Point {
    let mut next = point.step_along(step, direction, precise);
    if let Penalty::L1 { .. } = penalty {
        for j in 0..direction.len() {
            if next.theta[j] * point.theta[j] < 0.0 {
                next.theta[j] = 0.0;
                if let Some(low) = next.tail.get_mut(j) {
                    *low = 0.0;
                }
            }
        }
        return next;
    }
    let mut digits: Vec<DoubleDouble> = (0..direction.len()).map(|j| next.digits(j)).collect();
    penalty.map(&mut digits, 0.0);
    Point::from_digits(&digits, precise)
}
