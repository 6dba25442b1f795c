//! The loop that Newton, L-BFGS and Newton-CG share.
//!
//! Each iteration: one fused pass gives F, ∇F and the error bound of ∇F at the new point, which is at
//! the same time the line search's trial and the certificate's pass; stop when it proves the tolerance;
//! otherwise take a direction from the curvature known so far.
//!
//! **Curvature** is a Cholesky factor (Newton) or a diagonal (L-BFGS), corrected by L-BFGS pairs. A
//! factor is renewed only when that is cheaper than continuing: with contraction ρ in the last step,
//! ln(‖g‖/γ)/ln(1/ρ) more passes are expected, against the cost of a Hessian in passes.
//!
//! **Patience.** A problem on which L-BFGS or Newton-CG takes very long (a ridge many orders below the
//! curvature) switches to Newton's method, since a failure would be visible.
//!
//! **Line search** on the derivatives φ′(t) = ⟨∇F(θ + td), d⟩, since values lose their digits first: F
//! is convex along the ray, so φ′(t) ≤ 0 proves descent. A point beyond the minimum is accepted if it
//! is not far beyond (φ′(t) ≤ |φ′(0)|/2) and F did not rise by more than its rounding.
//!
//! **Precision.** When the plain gradient is as small as its error bound allows, or rounding of θ
//! itself stops progress, evaluations continue in double-double with the same factor: classical
//! iterative refinement.

use super::certificate::{Certified, Evaluation, evaluate};
use super::lbfgs::Pairs;
use super::newton::Factor;
use super::point::Point;
use super::{
    Method, Problem, Progress, SolveError, SolverOptions, add_scaled, dot, newton_cg, norm,
};
use crate::sum::Records;

/// The largest number of gradient evaluations. Strong convexity needs far fewer; reaching it is a bug.
/// (The worst of 10⁵ random problems with a ridge of 10⁻⁴, a hinge rounded over 0.01 and an ℓ1 penalty
/// took 3,500; continuing is better than a failure, which would be visible.)
const MOST_EVALUATIONS: u32 = 200_000;
/// The largest number of trials of one line search.
const TRIALS: u32 = 60;
/// The largest number of columns for which `Auto` factorises, and the largest cost of a Hessian in
/// gradient passes: with the ridges that privacy requires L-BFGS needs some tens of passes, so a
/// costlier Hessian is slower (10,000 dense rows, ε = 1: 8 times at 316 columns, 14 at 1,000; MNIST
/// twice).
const MOST_COLUMNS: usize = 2_000;
const HIGHEST_PRICE: f64 = 40.0;

/// Pairs of L-BFGS have together at most about twice this many entries: beyond ten million columns
/// fewer are kept. (With three of them 20 million columns took over 700 passes.)
const PAIRS_ENTRIES: usize = 160_000_000;

/// Evaluations after which L-BFGS switches to Newton-CG, and that to Newton, on badly conditioned
/// problems; the largest number of columns whose Hessian is then still formed (half a gigabyte).
const ESCALATION_EVALUATIONS: (u32, u32) = (500, 1_500);
const MOST_COLUMNS_AT_LAST: usize = 8_000;

/// The curvature from which directions are computed.
enum Curvature {
    Factor(Factor),
    Diagonal(Vec<f64>),
    ConjugateGradients(Vec<f64>),
}

/// A solver's counters and its monitor.
pub(super) struct Counters<'a> {
    options: &'a SolverOptions<'a>,
    tolerance: f64,
    pub evaluations: u32,
}

impl<'a> Counters<'a> {
    pub fn new(options: &'a SolverOptions<'a>, tolerance: f64) -> Self {
        Self { options, tolerance, evaluations: 0 }
    }

    /// Evaluates in one pass, counted and reported to the monitor.
    pub fn evaluate<R: Records + ?Sized>(
        &mut self,
        problem: &Problem<'_, R>,
        point: Point,
        precise: bool,
    ) -> Result<Evaluation, SolveError> {
        if self.evaluations >= MOST_EVALUATIONS {
            return Err(SolveError::NotCertified { limit: MOST_EVALUATIONS });
        }
        let evaluation = evaluate(problem, point, precise)?;
        self.evaluations += 1;
        if let Some(monitor) = self.options.monitor {
            let gradient_norm = norm(&evaluation.residual(problem.penalty).vector);
            let progress = Progress {
                iteration: self.evaluations,
                gradient_norm,
                tolerance: self.tolerance,
                precise,
            };
            if !monitor.proceed(progress) {
                return Err(SolveError::Stopped);
            }
        }
        Ok(evaluation)
    }
}

/// The method that `Auto` resolves to: a factor must be small beside the data and save more passes than
/// it costs.
pub(super) fn resolve_method<R: Records + ?Sized>(method: Method, records: &R) -> Method {
    if method != Method::Auto {
        return method;
    }
    let (columns, entries) = (records.columns(), records.entries());
    let small = columns <= MOST_COLUMNS && columns * columns <= entries.max(1 << 16);
    let worth_it = hessian_price(records) <= HIGHEST_PRICE;
    if small && worth_it { Method::Newton } else { Method::Lbfgs }
}

/// The method to continue with after this many evaluations.
pub(super) fn escalate_method(method: Method, evaluations: u32, columns: usize) -> Method {
    match method {
        Method::Lbfgs if evaluations >= ESCALATION_EVALUATIONS.0 => Method::NewtonCg,
        Method::NewtonCg
            if evaluations >= ESCALATION_EVALUATIONS.1 && columns <= MOST_COLUMNS_AT_LAST =>
        {
            Method::Newton
        }
        _ => method,
    }
}

/// The cost of a Hessian in gradient passes.
fn hessian_price<R: Records + ?Sized>(records: &R) -> f64 {
    let (rows, columns) = (records.rows().max(1) as f64, records.columns() as f64);
    let per_row = records.entries() as f64 / rows;
    let factor = columns.powi(3) / 3.0 / (rows * (4.0 * per_row + 30.0));
    if per_row >= columns { 1.0 + columns / 6.0 + factor } else { 1.0 + per_row / 4.0 + factor }
}

/// The stride that leaves enough rows for a preconditioner.
fn first_stride<R: Records + ?Sized>(records: &R) -> u32 {
    let needed = (40 * records.columns()).max(2048);
    (records.rows() / needed).clamp(1, 16) as u32
}

pub(super) fn descend<R: Records + ?Sized>(
    problem: &Problem<'_, R>,
    tolerance: f64,
    options: &SolverOptions<'_>,
    start: Vec<f64>,
) -> Result<Certified, SolveError> {
    let mut method = resolve_method(options.method, problem.records);
    let price = hessian_price(problem.records);
    let mut watch = Counters::new(options, tolerance);
    let mut here = watch.evaluate(problem, Point::new(start), false)?;
    if here.gradient.iter().any(|g| !g.is_finite()) {
        // The start was so far out that something overflowed.
        here = watch.evaluate(problem, Point::new(vec![0.0; here.gradient.len()]), false)?;
    }
    let first_norm = norm(&here.gradient);
    let mut stride = first_stride(problem.records);
    let most = if method == Method::Lbfgs { 16 } else { 8 };
    let mut pairs = Pairs::new((PAIRS_ENTRIES / here.gradient.len().max(1)).clamp(3, most));
    let mut curvature: Option<Curvature> = None;
    let (mut best, mut idle) = (f64::INFINITY, 0);
    loop {
        if let Some(certified) = here.certify(problem, tolerance, watch.evaluations) {
            return Ok(certified);
        }
        let size = norm(&here.gradient);
        idle = if size <= 0.9 * best { 0 } else { idle + 1 };
        best = best.min(size);
        let unproved = !here.precise && here.error > tolerance / 10.0 && size <= tolerance;
        let stuck = idle >= 3 && here.at_the_end_of_f64(problem, size);
        if unproved || stuck {
            here = watch.evaluate(problem, here.point, true)?;
            idle = 0;
            best = f64::INFINITY;
            continue;
        }
        let next = escalate_method(method, watch.evaluations, here.gradient.len());
        if next != method {
            (method, stride, curvature) = (next, 1, None);
        }
        let known = match curvature.take() {
            Some(known) => known,
            None => {
                pairs.clear();
                renew(problem, method, &here.point.theta, stride)?
            }
        };
        let direction = match &known {
            Curvature::Factor(factor) => negate(pairs.apply(&here.gradient, |q| factor.solve(q))),
            Curvature::Diagonal(diagonal) => {
                let scale = pairs.scale(diagonal);
                let initial = |q: &mut Vec<f64>| {
                    q.iter_mut().zip(diagonal).for_each(|(q, d)| *q *= scale / d);
                };
                negate(pairs.apply(&here.gradient, initial))
            }
            Curvature::ConjugateGradients(diagonal) => {
                let forcing = (size / first_norm).sqrt().min(0.1);
                newton_cg::direction(problem, &here.point.theta, &here.gradient, diagonal, forcing)?
            }
        };
        let there = search(problem, &mut watch, &here, &direction)?;
        let ratio = norm(&there.gradient) / size;
        let change = there.gradient.iter().zip(&here.gradient).map(|(a, b)| a - b).collect();
        pairs.push(there.point.minus(&here.point), change);
        curvature = match known {
            Curvature::Factor(_) => {
                let left = (norm(&there.gradient) / tolerance).max(1.0).ln();
                let passes = if ratio < 1.0 { left / -ratio.ln() } else { f64::INFINITY };
                if passes > price + 2.0 {
                    stride = (stride / 2).max(1);
                    None
                } else {
                    Some(known)
                }
            }
            Curvature::Diagonal(_) => Some(known),
            Curvature::ConjugateGradients(_) => None,
        };
        here = there;
    }
}

fn negate(mut vector: Vec<f64>) -> Vec<f64> {
    vector.iter_mut().for_each(|v| *v = -*v);
    vector
}

fn renew<R: Records + ?Sized>(
    problem: &Problem<'_, R>,
    method: Method,
    theta: &[f64],
    stride: u32,
) -> Result<Curvature, SolveError> {
    Ok(match method {
        Method::Newton | Method::Auto => Curvature::Factor(Factor::at(problem, theta, stride)?),
        Method::Lbfgs => Curvature::Diagonal(newton_cg::diagonal(problem, theta)?),
        Method::NewtonCg => Curvature::ConjugateGradients(newton_cg::diagonal(problem, theta)?),
    })
}

/// Returns a point along `direction` at which F is lower.
fn search<R: Records + ?Sized>(
    problem: &Problem<'_, R>,
    watch: &mut Counters<'_>,
    here: &Evaluation,
    direction: &[f64],
) -> Result<Evaluation, SolveError> {
    let precise = here.precise;
    let steepest;
    let (direction, first) = match dot(&here.gradient, direction) {
        slope if slope < 0.0 => (direction, slope),
        // Rounding spoiled the direction: follow the gradient, with the step size that the ridge
        // allows.
        _ => {
            let mut down = vec![0.0; direction.len()];
            add_scaled(&mut down, -1.0 / problem.ridge, &here.gradient);
            steepest = down;
            (&steepest[..], dot(&here.gradient, &steepest))
        }
    };
    let noise = 1e-12
        * (here.value.abs() + 0.5 * problem.ridge * dot(&here.point.theta, &here.point.theta));
    let (mut low, mut low_slope) = (0.0, first);
    let mut high = f64::INFINITY;
    let mut step = 1.0;
    let mut trial = 0;
    loop {
        trial += 1;
        let there =
            watch.evaluate(problem, here.point.step_along(step, direction, precise), precise)?;
        let slope = dot(&there.gradient, direction);
        if slope <= 0.0 {
            let short = -slope > 0.95 * -first && high == f64::INFINITY;
            if !short || trial >= TRIALS {
                return Ok(there);
            }
            (low, low_slope) = (step, slope);
            step *= 4.0;
            continue;
        }
        let not_higher = precise || there.value <= here.value + noise;
        let smaller = norm(&there.gradient) <= 0.5 * norm(&here.gradient);
        if slope.is_finite() && not_higher && (slope <= -0.5 * first || smaller) || trial >= TRIALS
        {
            return Ok(there);
        }
        high = step;
        let secant = if slope.is_finite() { -low_slope / (slope - low_slope) } else { 0.1 };
        step = low + (high - low) * secant.clamp(0.05, 0.9);
    }
}
