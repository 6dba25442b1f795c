//! Penalties on top of the ridge: proximal Newton steps and accelerated proximal gradients.
//!
//! Each iteration, where a p × p matrix is affordable: one Newton step on the part of the problem that
//! has become smooth (`active`), kept if it halves the smallest subgradient; else a **proximal Newton
//! step**, the minimiser of a quadratic model plus the penalty (`model`), with a line search. Where
//! neither helps, or the matrix is too large, steps of **FISTA** (Beck & Teboulle 2009) with the
//! momentum of strong convexity and restarts when the objective increases along the step (O'Donoghue &
//! Candès 2015), step 1/M where M is doubled whenever the quadratic upper bound fails. F + penalty is
//! λ-strongly convex, so it converges linearly from any start; a problem on which it takes long
//! switches to Newton steps, as in `descent`.
//!
//! **Line search** on the derivatives φ′(t) = ⟨∇F(θ + td), d⟩ + penalty′(θ + td; d), as in `descent`: φ
//! is convex, so φ′(t) ≤ 0 proves descent.

use super::active;
use super::certificate::{Certified, Evaluation, beta};
use super::descent::{Counters, escalate_method, resolve_method};
use super::model::Model;
use super::newton::gram;
use super::point::Point;
use super::{Method, Penalty, Problem, SolveError, SolverOptions, dot, norm};
use crate::double_double::DoubleDouble;
use crate::sum::Records;

/// FISTA steps between Newton steps.
const FISTA_STEPS: u32 = 12;
/// Proximal Newton steps, each a descent, after which FISTA is tried again if they are slow.
const IN_A_ROW: u32 = 8;
/// The largest number of trials of one line search.
const TRIALS: u32 = 30;

pub(super) fn descend<R: Records + ?Sized>(
    problem: &Problem<'_, R>,
    tolerance: f64,
    options: &SolverOptions<'_>,
    start: Vec<f64>,
) -> Result<Certified, SolveError> {
    let penalty = problem.penalty;
    let mut method = resolve_method(options.method, problem.records);
    let mut watch = Counters::new(options, tolerance);
    let start = Point::new(start).mapped(penalty, 0.0, false);
    let mut here = watch.evaluate(problem, start, false)?;
    if here.gradient.iter().any(|g| !g.is_finite()) {
        // The start was so far out that something overflowed.
        let origin = Point::new(vec![0.0; here.gradient.len()]).mapped(penalty, 0.0, false);
        here = watch.evaluate(problem, origin, false)?;
    }
    let mut turn = Fista::new(problem, &here);
    let (mut best, mut idle, mut newtons) = (f64::INFINITY, 0, 0);
    loop {
        if let Some(certified) = here.certify(problem, tolerance, watch.evaluations) {
            return Ok(certified);
        }
        let size = norm(&here.residual(penalty).vector);
        idle = if size <= 0.9 * best { 0 } else { idle + 1 };
        best = best.min(size);
        let unproved = !here.precise && size <= tolerance;
        let stuck = idle >= 3 && here.at_the_end_of_f64(problem, size);
        if unproved || stuck {
            here = watch.evaluate(problem, here.point, true)?;
            turn = Fista::new(problem, &here);
            (best, idle) = (f64::INFINITY, 0);
            continue;
        }
        method = escalate_method(method, watch.evaluations, here.gradient.len());
        if method == Method::Newton
            && let Some(there) = newton_turn(problem, &mut watch, &here)?
        {
            here = there;
            turn.restart(&here);
            newtons += 1;
            let halved = norm(&here.residual(penalty).vector) <= 0.5 * size;
            if halved || newtons % IN_A_ROW != 0 {
                continue;
            }
        }
        for _ in 0..FISTA_STEPS {
            here = turn.step(problem, &mut watch, here)?;
        }
    }
}

/// The state of FISTA.
struct Fista {
    m: f64,
    /// The momentum parameter, 1 after a restart.
    momentum: f64,
    /// The point before the last step.
    previous: Point,
}

impl Fista {
    fn new<R: Records + ?Sized>(problem: &Problem<'_, R>, here: &Evaluation) -> Self {
        // A first estimate: the average curvature over directions, raised when needed.
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

    /// Takes one proximal gradient step from the extrapolated point.
    fn step<R: Records + ?Sized>(
        &mut self,
        problem: &Problem<'_, R>,
        watch: &mut Counters<'_>,
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
            watch.evaluate(problem, here.point.step_along(weight, &last, precise), precise)?
        };
        loop {
            let inverse_m = 1.0 / self.m;
            let gradient = from.gradient_digits();
            let mut digits: Vec<DoubleDouble> = (0..gradient.len())
                .map(|j| from.point.digits(j) - gradient[j].times(inverse_m))
                .collect();
            problem.penalty.map(&mut digits, inverse_m);
            let next = Point::from_digits(&digits, precise);
            let moved = next.minus(&from.point);
            let there = watch.evaluate(problem, next, precise)?;
            // The test ⟨∇F(there) − ∇F(from), moved⟩ ≤ M‖moved‖²: the bound along this step, by
            // derivatives.
            let change: Vec<f64> =
                there.gradient.iter().zip(&from.gradient).map(|(a, b)| a - b).collect();
            let square = dot(&moved, &moved);
            let ceiling = beta(problem);
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

/// A Newton step on the smooth part if that halves the smallest subgradient, else a proximal Newton
/// step; `None` if neither descends.
fn newton_turn<R: Records + ?Sized>(
    problem: &Problem<'_, R>,
    watch: &mut Counters<'_>,
    here: &Evaluation,
) -> Result<Option<Evaluation>, SolveError> {
    let (penalty, precise) = (problem.penalty, here.precise);
    let theta = &here.point.theta;
    let residual = here.residual(penalty);
    let size = norm(&residual.vector);
    let hessian = gram(problem, theta, 1)?;
    let direction = active::direction(
        penalty,
        theta,
        &here.gradient,
        &residual,
        hessian.clone(),
        problem.ridge,
    );
    let next = active::arrive(penalty, &here.point, 1.0, &direction, precise);
    let there = watch.evaluate(problem, next, precise)?;
    // Halving alone could cycle, uphill and down.
    let not_higher = precise || total(problem, &there) <= highest(problem, here);
    if not_higher && norm(&there.residual(penalty).vector) <= 0.5 * size {
        return Ok(Some(there));
    }
    if precise {
        // The model works in f64, which cannot resolve the remaining distance.
        return Ok(None);
    }
    let model = Model::new(penalty, theta, &here.gradient, &hessian, problem.ridge);
    let end = model.minimise(0.01 * size);
    search(problem, watch, here, end)
}

/// The value F + penalty; a guide, not certified.
fn total<R: Records + ?Sized>(problem: &Problem<'_, R>, at: &Evaluation) -> f64 {
    at.value + problem.penalty.value(&at.point.theta)
}

/// The same plus a bound on its rounding.
fn highest<R: Records + ?Sized>(problem: &Problem<'_, R>, at: &Evaluation) -> f64 {
    let ridge = 0.5 * problem.ridge * dot(&at.point.theta, &at.point.theta);
    let linear = problem.linear.map_or(0.0, |b| dot(b, &at.point.theta).abs());
    total(problem, at) + 1e-13 * (at.value.abs() + ridge + linear)
}

/// Returns a point towards `end` at which F + penalty is lower. Between two points of a sphere the path
/// follows the sphere: the chord leaves it, and F falls outwards.
fn search<R: Records + ?Sized>(
    problem: &Problem<'_, R>,
    watch: &mut Counters<'_>,
    here: &Evaluation,
    end: Vec<f64>,
) -> Result<Option<Evaluation>, SolveError> {
    let penalty = problem.penalty;
    let theta = &here.point.theta;
    let direction: Vec<f64> = end.iter().zip(theta).map(|(a, b)| a - b).collect();
    let backwards: Vec<f64> = direction.iter().map(|d| -d).collect();
    // The derivative of a departure is that of an arrival from the other side.
    let first = dot(&here.gradient, &direction) - penalty.slope(theta, &backwards);
    if first.is_nan() || first >= 0.0 {
        return Ok(None);
    }
    let highest = highest(problem, here);
    let size = norm(&here.residual(penalty).vector);
    let sphere = match penalty {
        Penalty::Ball { radius } => {
            let on = |theta: &[f64]| norm(theta) >= radius * (1.0 - 1e-12);
            (on(theta) && on(&end)).then_some(*radius)
        }
        _ => None,
    };
    let mut step = 1.0;
    for trial in 1..=TRIALS {
        let point = if step == 1.0 {
            Point::new(end.clone())
        } else {
            let mut next = here.point.step_along(step, &direction, false);
            if let Some(radius) = sphere {
                let factor = radius / norm(&next.theta);
                next.theta.iter_mut().for_each(|t| *t *= factor);
            }
            next
        };
        let there = watch.evaluate(problem, point, false)?;
        let slope =
            dot(&there.gradient, &direction) + penalty.slope(&there.point.theta, &direction);
        let value = total(problem, &there);
        let accepted = if sphere.is_some() {
            value <= highest + 0.1 * step * first
        } else {
            let smaller = norm(&there.residual(penalty).vector) <= 0.5 * size;
            slope <= 0.0 || (value <= highest && (slope <= -0.5 * first || smaller))
        };
        if accepted {
            return Ok(Some(there));
        }
        if trial == TRIALS {
            break;
        }
        let secant = if slope.is_finite() { -first / (slope - first) } else { 0.1 };
        step *= secant.clamp(0.05, 0.9);
    }
    Ok(None)
}
