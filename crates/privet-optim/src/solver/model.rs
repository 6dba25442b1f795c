//! The minimiser of a quadratic model of F plus the penalty: a proximal Newton step.
//!
//! q(z) = ⟨g, z − θ⟩ + ½(z − θ)ᵀA(z − θ) + penalty(z), A = XᵀWX + λI. No pass over the rows is needed,
//! so the slow part (identifying the held coordinates) is done here. Alternates `active` Newton steps,
//! each with a search along it, and FISTA on the model; any point with q(z) < q(θ) gives a direction
//! along which F + penalty falls, however accurate the point is.

use super::active;
use super::penalty::Residual;
use super::point::Point;
use super::{Penalty, dot, norm};
use crate::double_double::DoubleDouble;

/// The largest numbers of alternations, and of FISTA steps in each.
const MOST_ALTERNATIONS: u32 = 30;
const MOST_FISTA_STEPS: u32 = 60;
/// Step lengths tried along a Newton direction.
const LENGTHS: [f64; 5] = [1.0, 0.5, 0.2, 0.05, 0.01];

/// The model q.
pub(super) struct Model<'a> {
    penalty: &'a Penalty,
    theta: &'a [f64],
    gradient: &'a [f64],
    /// The matrix XᵀWX, upper triangle, row by row.
    upper: &'a [f64],
    ridge: f64,
    /// The full matrix A.
    full: Vec<f64>,
    /// Upper bound on the largest eigenvalue of A.
    m: f64,
}

/// A point z with q and the gradient of its smooth part there.
struct PointState {
    z: Vec<f64>,
    gradient: Vec<f64>,
    value: f64,
}

impl<'a> Model<'a> {
    /// The model around θ, where F has this gradient and Hessian `upper` + ridge.
    pub fn new(
        penalty: &'a Penalty,
        theta: &'a [f64],
        gradient: &'a [f64],
        upper: &'a [f64],
        ridge: f64,
    ) -> Self {
        let p = theta.len();
        let mut full = upper.to_vec();
        for j in 0..p {
            full[j * p + j] += ridge;
            for k in 0..j {
                full[j * p + k] = full[k * p + j];
            }
        }
        let rows = full.chunks(p.max(1));
        let sum = rows.fold(0.0, |m: f64, row| m.max(row.iter().map(|a| a.abs()).sum()));
        let m = sum.min(norm(&full)).max(ridge);
        Self { penalty, theta, gradient, upper, ridge, full, m }
    }

    /// Returns a z whose smallest subgradient has norm at most `goal`, or as small as the alternations
    /// allow.
    pub fn minimise(&self, goal: f64) -> Vec<f64> {
        let mut here = self.at(self.theta.to_vec());
        for _ in 0..MOST_ALTERNATIONS {
            let residual = self.residual(&here);
            let size = norm(&residual.vector);
            if size.is_nan() || size <= goal {
                break;
            }
            if let Some(there) = self.newton(&here, &residual) {
                here = there;
                if norm(&self.residual(&here).vector) <= 0.5 * size {
                    continue;
                }
            }
            here = self.fista(here);
        }
        here.z
    }

    fn at(&self, z: Vec<f64>) -> PointState {
        let away: Vec<f64> = z.iter().zip(self.theta).map(|(a, b)| a - b).collect();
        let rows = self.full.chunks(self.theta.len().max(1));
        let gradient: Vec<f64> =
            rows.zip(self.gradient).map(|(row, g)| g + dot(row, &away)).collect();
        let smooth = 0.5 * (dot(&gradient, &away) + dot(self.gradient, &away));
        PointState { value: smooth + self.penalty.value(&z), z, gradient }
    }

    fn residual(&self, here: &PointState) -> Residual {
        let gradient: Vec<DoubleDouble> = here.gradient.iter().map(|&g| g.into()).collect();
        self.penalty.residual(&Point::new(here.z.clone()), &gradient)
    }

    /// The first step length along the active-set direction at which q falls.
    fn newton(&self, here: &PointState, residual: &Residual) -> Option<PointState> {
        let upper = self.upper.to_vec();
        let direction =
            active::direction(self.penalty, &here.z, &here.gradient, residual, upper, self.ridge);
        let start = Point::new(here.z.clone());
        LENGTHS
            .iter()
            .map(|&t| self.at(active::arrive(self.penalty, &start, t, &direction, false).theta))
            .find(|there| there.value < here.value)
    }

    /// Accelerated proximal gradients with restarts; returns the better of start and end.
    fn fista(&self, start: PointState) -> PointState {
        let kappa = (self.ridge / self.m).sqrt();
        let strong = (1.0 - kappa) / (1.0 + kappa);
        let (mut momentum, mut previous) = (1.0_f64, start.z.clone());
        let mut last = start.z.clone();
        for _ in 0..MOST_FISTA_STEPS {
            let next_momentum = (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt()) / 2.0;
            let weight = ((momentum - 1.0) / next_momentum).min(strong);
            let from: Vec<f64> =
                last.iter().zip(&previous).map(|(a, b)| a + weight * (a - b)).collect();
            let from = self.at(from);
            let step = Point::new(from.z.clone()).step_along(-1.0 / self.m, &from.gradient, false);
            let next = step.mapped(self.penalty, 1.0 / self.m, false).theta;
            let uphill: f64 =
                from.z.iter().zip(&next).zip(&last).map(|((f, n), l)| (f - n) * (n - l)).sum();
            momentum = if uphill > 0.0 { 1.0 } else { next_momentum };
            previous = if uphill > 0.0 { next.clone() } else { last };
            last = next;
        }
        let end = self.at(last);
        if end.value < start.value { end } else { start }
    }
}
