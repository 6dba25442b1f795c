//! ℓ1, box and ball on top of the ridge: accelerated proximal gradients, with Newton steps on the
//! part of the problem that has become smooth.
//!
//! **FISTA** (Beck & Teboulle 2009) with the momentum of strong convexity and restarts when the
//! objective's slope turns (O'Donoghue & Candès 2015), step 1/M where M is doubled whenever the
//! quadratic upper bound fails. F + penalty is λ-strongly convex, so it converges linearly from
//! anywhere.
//!
//! **Newton on the smooth part.** Once the zeros (ℓ1), the active ends (box) or the sphere (ball)
//! are right, the rest is a smooth problem: one Newton step on the free coordinates (ball: on the
//! equations g + cθ = 0, ‖θ‖ = r) is tried every few turns and kept if it halves the smallest
//! subgradient.

use super::certificate::{Certified, Evaluation};
use super::descent::{Watch, chosen};
use super::newton::{Factor, gram};
use super::point::Point;
use super::{Method, Options, Penalty, Problem, SolveError, add_scaled, dot, norm};
use crate::sum::Records;

/// FISTA turns between Newton steps.
const TURNS: u32 = 12;

pub(super) fn descend<R: Records>(
    problem: &Problem<'_, R>,
    tolerance: f64,
    options: &Options<'_>,
    start: Vec<f64>,
) -> Result<Certified, SolveError> {
    let penalty = problem.penalty;
    let newton = chosen(options.method, problem.records) == Method::Newton;
    let mut watch = Watch::new(options, tolerance);
    let mut start = Point::new(start);
    start.project(penalty, 0.0);
    let mut here = watch.evaluate(problem, start.without_tail(), false)?;
    if here.gradient.iter().any(|g| !g.is_finite()) {
        // The start was so far out that something overflowed.
        let mut origin = Point::new(vec![0.0; here.gradient.len()]);
        origin.project(penalty, 0.0);
        here = watch.evaluate(problem, origin.without_tail(), false)?;
    }
    let mut turn = Fista::new(problem, &here);
    let (mut best, mut idle) = (f64::INFINITY, 0);
    loop {
        if let Some(certified) = here.certify(problem, tolerance, watch.evaluations) {
            return Ok(certified);
        }
        let size = norm(&here.residual(penalty).0);
        idle = if size <= 0.9 * best { 0 } else { idle + 1 };
        best = best.min(size);
        let unproved = !here.precise && here.error > tolerance / 10.0 && size <= tolerance;
        let stuck = idle >= 3 && here.at_the_end_of_f64(problem, size);
        if unproved || stuck {
            here = watch.evaluate(problem, here.point, true)?;
            turn = Fista::new(problem, &here);
            (best, idle) = (f64::INFINITY, 0);
            continue;
        }
        if newton {
            while let Some(there) = newton_step(problem, &mut watch, &here)? {
                here = there;
                turn.restart(&here);
                if let Some(certified) = here.certify(problem, tolerance, watch.evaluations) {
                    return Ok(certified);
                }
                if !here.precise && here.error > tolerance / 10.0 {
                    break;
                }
            }
        }
        for _ in 0..TURNS {
            here = turn.step(problem, &mut watch, here)?;
        }
    }
}

/// The state of FISTA.
struct Fista {
    m: f64,
    /// Where the last proximal step started from.
    momentum: f64,
    previous: Point,
}

impl Fista {
    fn new<R: Records>(problem: &Problem<'_, R>, here: &Evaluation) -> Self {
        // A first guess: the average curvature over directions, raised on demand.
        let n = problem.records.rows() as f64;
        let columns = problem.records.columns().max(1) as f64;
        let most = n * problem.loss.smoothness(problem.records.radius());
        let m = problem.ridge + most / columns.sqrt();
        Self { m, momentum: 1.0, previous: here.point.clone() }
    }

    fn restart(&mut self, here: &Evaluation) {
        self.momentum = 1.0;
        self.previous = here.point.clone();
    }

    /// One proximal gradient step from the extrapolated point.
    fn step<R: Records>(
        &mut self,
        problem: &Problem<'_, R>,
        watch: &mut Watch<'_>,
        here: Evaluation,
    ) -> Result<Evaluation, SolveError> {
        let precise = here.precise;
        let next_momentum = (1.0 + (1.0 + 4.0 * self.momentum * self.momentum).sqrt()) / 2.0;
        let kappa = (problem.ridge / self.m).sqrt();
        let strong = (1.0 - kappa) / (1.0 + kappa);
        let weight = ((self.momentum - 1.0) / next_momentum).min(strong);
        let from = if weight == 0.0 {
            here.clone()
        } else {
            let last = here.point.minus(&self.previous);
            watch.evaluate(problem, here.point.moved(weight, &last, precise), precise)?
        };
        loop {
            let mut next = from.point.moved(-1.0 / self.m, &from.gradient, precise);
            next.project(problem.penalty, 1.0 / self.m);
            let next = if precise { next } else { next.without_tail() };
            let moved = next.minus(&from.point);
            let there = watch.evaluate(problem, next, precise)?;
            // ⟨∇F(there) − ∇F(from), moved⟩ ≤ M‖moved‖²: the bound along this step, by slopes.
            let change: Vec<f64> =
                there.gradient.iter().zip(&from.gradient).map(|(a, b)| a - b).collect();
            let square = dot(&moved, &moved);
            let ceiling = problem.records.rows() as f64
                * problem.loss.smoothness(problem.records.radius())
                + problem.ridge;
            if dot(&change, &moved) > self.m * square * (1.0 + 1e-9)
                && self.m < ceiling
                && square > 0.0
            {
                self.m = (2.0 * self.m).min(ceiling);
                continue;
            }
            let progress = there.point.minus(&here.point);
            // Gradient mapping at `from` against the progress made: uphill means restart.
            let uphill = -self.m * dot(&moved, &progress) > 0.0;
            self.momentum = if uphill { 1.0 } else { next_momentum };
            self.previous = if uphill { there.point.clone() } else { here.point };
            return Ok(there);
        }
    }
}

/// A Newton step on the part that is smooth around `here`, if it halves the residual.
fn newton_step<R: Records>(
    problem: &Problem<'_, R>,
    watch: &mut Watch<'_>,
    here: &Evaluation,
) -> Result<Option<Evaluation>, SolveError> {
    let penalty = problem.penalty;
    let theta = &here.point.theta;
    let (residual, off) = here.residual(penalty);
    let size = norm(&residual);
    let hessian = gram(problem, theta, 1)?;
    let mut direction = match penalty {
        Penalty::Ball { .. } if off > 0.0 => sphere_step(problem, here, hessian),
        _ => {
            let free: Vec<usize> = (0..theta.len())
                .filter(|&j| match penalty {
                    Penalty::L1 { .. } => theta[j] != 0.0 || residual[j] != 0.0,
                    Penalty::Box { low, high } => theta[j] > low && theta[j] < high,
                    _ => true,
                })
                .collect();
            free_step(problem, &residual, hessian, &free)
        }
    };
    direction.iter_mut().for_each(|d| {
        if !d.is_finite() {
            *d = 0.0;
        }
    });
    let mut next = here.point.moved(1.0, &direction, here.precise);
    if let Penalty::L1 { .. } = penalty {
        // A coordinate that would cross zero stops there.
        next.tail.resize(theta.len(), 0.0);
        for ((n, l), t) in next.theta.iter_mut().zip(&mut next.tail).zip(theta) {
            if *n * *t < 0.0 {
                (*n, *l) = (0.0, 0.0);
            }
        }
    }
    next.project(penalty, 0.0);
    let next = if here.precise { next } else { next.without_tail() };
    let there = watch.evaluate(problem, next, here.precise)?;
    let better = norm(&there.residual(penalty).0) <= 0.5 * size;
    Ok(better.then_some(there))
}

/// −(H restricted to `free`)⁻¹ · residual.
fn free_step<R: Records>(
    problem: &Problem<'_, R>,
    residual: &[f64],
    hessian: Vec<f64>,
    free: &[usize],
) -> Vec<f64> {
    let (columns, count) = (residual.len(), free.len());
    let mut direction = vec![0.0; columns];
    if count == 0 {
        return direction;
    }
    let mut small = vec![0.0; count * count];
    for (a, &j) in free.iter().enumerate() {
        for (b, &k) in free.iter().enumerate().skip(a) {
            small[a * count + b] = hessian[j * columns + k];
        }
    }
    let mut step: Vec<f64> = free.iter().map(|&j| -residual[j]).collect();
    Factor::of(small, count, problem.ridge).solve(&mut step);
    free.iter().zip(step).for_each(|(&j, s)| direction[j] = s);
    direction
}

/// Newton's step for g(θ) + cθ = 0, ‖θ‖ = r: with A = H + cI and the residual ρ = g + cθ,
/// d = −A⁻¹(ρ + eθ) where e makes ⟨θ, d⟩ vanish.
fn sphere_step<R: Records>(
    problem: &Problem<'_, R>,
    here: &Evaluation,
    hessian: Vec<f64>,
) -> Vec<f64> {
    let theta = &here.point.theta;
    let pull = (-dot(&here.gradient, theta) / dot(theta, theta)).max(0.0);
    let mut residual = here.gradient.clone();
    add_scaled(&mut residual, pull, theta);
    let factor = Factor::of(hessian, theta.len(), problem.ridge + pull);
    let mut solved_theta = theta.clone();
    factor.solve(&mut solved_theta);
    let mut direction: Vec<f64> = residual.iter().map(|r| -r).collect();
    factor.solve(&mut direction);
    let shift = -dot(theta, &direction) / dot(theta, &solved_theta);
    add_scaled(&mut direction, shift, &solved_theta);
    direction
}
