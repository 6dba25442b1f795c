//! The gradient at a point, with a bound on its own error, from which a tolerance is proved.
//!
//! **Claim.** Let g = ∇F(θ) in real arithmetic and ĝ the computed vector. Then ‖ĝ − g‖₂ ≤ E, with
//!
//! E = nR·(e_ℓ + c·a(k)·R‖θ‖) + a(d)·R·Σ|m̂ᵢ| + a(4)·(‖Σ‖ + λ‖θ‖ + ‖b‖)
//!
//! - a(k) = ku/(1−ku), u = 2⁻⁵³, [`crate::kernel::accumulated`]
//! - k: roundings in one margin, the longest row's entries + 10; R ≥ ‖xᵢ‖₂ as measured
//! - e_ℓ: error of ℓ′ at a given margin, [`crate::Loss::derivative_error`]; c ≥ ℓ″
//! - d: roundings between a term and its sum, counted by the sum itself; m̂ᵢ computed multipliers
//!
//! *Proof.* Features are exact in f64. A margin errs by at most a(k)·Σ|x_j||θ_j| ≤ a(k)R‖θ‖
//! (Cauchy–Schwarz), and ℓ′ is c-Lipschitz, so each multiplier errs by the first bracket and their sum
//! changes the gradient by at most nR times it. Coordinate j of the sum errs by at most
//! a(d)·Σ|m̂ᵢ||x_ij|; the Euclidean norm over j is at most a(d)·Σ|m̂ᵢ|‖xᵢ‖. The last term is the
//! addition of λθ and b. ∎
//!
//! E itself is computed in f64 from non-negative terms, hence multiplied by 1 + 2⁻²⁰; terms lost to
//! underflow are covered by nR·10⁻²⁹⁰. Where E > γ/10 the pass is repeated in double-double, with
//! u = 2⁻¹⁰³ in all of the above and ĝ kept as two f64 each.
//!
//! **Distance.** F is λ-strongly convex: ‖θ − θ*‖ ≤ ‖g‖/λ, and with a penalty the same holds for any
//! subgradient; the smallest, and the effect on it of rounding θ on a sphere or simplex, is derived in
//! `penalty::residual`.
//!
//! - θ is `theta` + `tail`: where f64 cannot resolve the tolerance (E' = βu‖θ‖ > γ), double-double
//!   steps keep the part that does not fit into `theta`.
//! - Only this module constructs a [`Certified`].
//! - Tested by `the_error_bound_is_never_violated` (against double-double and exact rationals).

use super::penalty::Residual;
use super::point::Point;
use super::{Penalty, Problem, SolveError, add_scaled, dot, norm};
use crate::Loss;
use crate::double_double::{self, DoubleDouble};
use crate::kernel::{UNIT_ROUNDOFF, accumulated};
use crate::sum::{LossAndGradient, PreciseGradient, Records, Sums};
use std::fmt;

/// F and ∇F at a point, with the gradient's error bound.
#[derive(Clone)]
pub(crate) struct Evaluation {
    pub point: Point,
    /// The value of F without the penalty; a guide, not certified.
    pub value: f64,
    /// The gradient of the smooth part, ∇F.
    pub gradient: Vec<f64>,
    /// The part of the gradient that f64 could not hold; empty unless `precise`.
    pub gradient_tail: Vec<f64>,
    /// The error bound E of the two together.
    pub error: f64,
    pub precise: bool,
}

struct Roundings {
    margin: f64,
    sum: f64,
    multiplier: f64,
    last: f64,
}

/// The sizes that determine the error of a gradient, and so the finest tolerance that can be proved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// The loss ℓ.
    pub loss: Loss,
    /// The ridge λ.
    pub ridge: f64,
    /// The number of rows n, or an upper bound.
    pub rows: f64,
    /// An upper bound R on every row's norm.
    pub radius: f64,
    /// Upper bound on the stored entries of a row.
    pub longest_row: f64,
    /// The norm ‖b‖₂, or an upper bound.
    pub linear_norm: f64,
}

impl Sizes {
    fn of<R: Records + ?Sized>(problem: &Problem<'_, R>) -> Self {
        Self {
            loss: problem.loss,
            ridge: problem.ridge,
            rows: problem.records.rows() as f64,
            radius: problem.records.radius(),
            longest_row: problem.records.longest_row() as f64,
            linear_norm: problem.linear.map_or(0.0, norm),
        }
    }

    /// Ten times E in double-double at the largest possible norm of the minimiser: ‖θ*‖ ≤ (nLR + ‖b‖)/λ.
    /// Any tolerance of at least this can be proved. It grows with every size, so that upper bounds from
    /// public facts show in advance that [`super::minimise`] will not refuse.
    pub fn finest_tolerance(&self) -> f64 {
        self.finest_tolerance_with(&Penalty::None, 0)
    }

    /// The same with a penalty on θ of `columns` coordinates.
    pub fn finest_tolerance_with(&self, penalty: &Penalty, columns: usize) -> f64 {
        let sizes = Self { ridge: self.ridge + penalty.convexity(), ..*self };
        let beta = sizes.rows * sizes.loss.smoothness(sizes.radius) + sizes.ridge;
        let steepest = sizes.rows * sizes.loss.lipschitz() * sizes.radius + sizes.linear_norm;
        let anywhere = steepest / sizes.ridge;
        // A penalty that is smallest at zero only reduces the minimiser's norm.
        let reach = 2.0
            * match penalty.largest_norm(columns) {
                Some(norm) if penalty.allows_zero() => norm.min(anywhere),
                Some(norm) => norm,
                None => anywhere,
            };
        let gradient = steepest + sizes.ridge * reach;
        let rounding = penalty.error(columns as f64, gradient, beta);
        10.0 * (sizes.error_at(reach) + rounding)
    }

    /// The bound E in double-double at a point of this norm.
    fn error_at(&self, reach: f64) -> f64 {
        let roundings = Roundings {
            margin: precise_accumulated(self.longest_row + 10.0),
            sum: precise_accumulated(self.rows + 100.0),
            multiplier: self.loss.precise_derivative_error(),
            last: precise_accumulated(4.0),
        };
        self.error_bound(&roundings, self.rows * self.loss.lipschitz(), reach)
    }

    fn error_bound(&self, roundings: &Roundings, absolute: f64, theta_norm: f64) -> f64 {
        let (n, radius, curvature) = (self.rows, self.radius, self.loss.curvature());
        let multipliers = roundings.multiplier + curvature * roundings.margin * radius * theta_norm;
        let sum = n * radius * (multipliers + 1e-290) + roundings.sum * radius * absolute;
        let last =
            roundings.last * (absolute * radius + self.ridge * theta_norm + self.linear_norm);
        (sum + last) * (1.0 + 1e-6)
    }
}

fn precise_accumulated(roundings: f64) -> f64 {
    let product = roundings * double_double::ROUNDOFF;
    if product < 0.5 { 2.0 * product } else { f64::INFINITY }
}

/// [`Sizes::finest_tolerance`] of the records themselves.
pub(super) fn finest_tolerance<R: Records + ?Sized>(problem: &Problem<'_, R>) -> f64 {
    Sizes::of(problem).finest_tolerance_with(problem.penalty, problem.records.columns())
}

/// The smoothness of F, nβ + λ.
pub(super) fn beta<R: Records + ?Sized>(problem: &Problem<'_, R>) -> f64 {
    let smoothness = problem.loss.smoothness(problem.records.radius());
    (problem.records.rows() as f64 * smoothness + problem.ridge) * (1.0 + 1e-12)
}

/// Evaluates F and its gradient in one pass over all rows.
pub(crate) fn evaluate<R: Records + ?Sized>(
    problem: &Problem<'_, R>,
    point: Point,
    precise: bool,
) -> Result<Evaluation, SolveError> {
    if precise { evaluate_precisely(problem, point) } else { evaluate_plainly(problem, point) }
}

fn evaluate_plainly<R: Records + ?Sized>(
    problem: &Problem<'_, R>,
    point: Point,
) -> Result<Evaluation, SolveError> {
    let Point { theta, .. } = point;
    let statistic = LossAndGradient { loss: problem.loss, theta };
    let sum = problem.records.sum(&statistic)?;
    let theta = statistic.theta;
    let theta_norm = norm(&theta);
    let roundings = Roundings {
        margin: accumulated(problem.records.longest_row() as f64 + 10.0),
        sum: accumulated(sum.depth as f64),
        multiplier: problem.loss.derivative_error(),
        last: accumulated(4.0),
    };
    let error = Sizes::of(problem).error_bound(&roundings, sum.absolute, theta_norm);
    let mut gradient = sum.gradient;
    let mut value = sum.value + 0.5 * problem.ridge * theta_norm * theta_norm;
    match problem.linear {
        Some(linear) => {
            for ((g, t), b) in gradient.iter_mut().zip(&theta).zip(linear) {
                *g += problem.ridge * t + b;
            }
            value += dot(linear, &theta);
        }
        None => add_scaled(&mut gradient, problem.ridge, &theta),
    }
    let gradient_tail = Vec::new();
    Ok(Evaluation {
        point: Point::new(theta),
        value,
        gradient,
        gradient_tail,
        error,
        precise: false,
    })
}

fn evaluate_precisely<R: Records + ?Sized>(
    problem: &Problem<'_, R>,
    point: Point,
) -> Result<Evaluation, SolveError> {
    let Point { theta, mut tail } = point;
    tail.resize(theta.len(), 0.0);
    let statistic = PreciseGradient { loss: problem.loss, theta, tail };
    let sum = problem.records.sum(&statistic)?;
    let PreciseGradient { theta, tail, .. } = statistic;
    let theta_norm = norm(&theta) * (1.0 + 1e-15) + norm(&tail);
    let roundings = Roundings {
        margin: precise_accumulated(problem.records.longest_row() as f64 + 10.0),
        sum: precise_accumulated(sum.depth as f64),
        multiplier: problem.loss.precise_derivative_error(),
        last: precise_accumulated(4.0),
    };
    let error = Sizes::of(problem).error_bound(&roundings, sum.absolute, theta_norm);
    let whole = (0..theta.len()).map(|j| {
        let ridge = DoubleDouble { high: theta[j], low: tail[j] }.times(problem.ridge);
        let b = DoubleDouble::from(problem.linear.map_or(0.0, |b| b[j]));
        let g = sum.gradient[j] + (ridge + b);
        (g.high, g.low)
    });
    let (gradient, gradient_tail) = whole.unzip();
    // Values are useless at this precision; line searches then use derivatives alone.
    let point = Point { theta, tail };
    Ok(Evaluation { point, value: f64::NAN, gradient, gradient_tail, error, precise: true })
}

impl Evaluation {
    /// The gradient to 106 bits.
    pub fn gradient_digits(&self) -> Vec<DoubleDouble> {
        let low = |j: usize| self.gradient_tail.get(j).copied().unwrap_or(0.0);
        self.gradient
            .iter()
            .enumerate()
            .map(|(j, &high)| DoubleDouble { high, low: low(j) })
            .collect()
    }

    /// The smallest subgradient of F + penalty.
    pub fn residual(&self, penalty: &Penalty) -> Residual {
        penalty.residual(&self.point, &self.gradient_digits())
    }

    /// Upper bound on the norm of the smallest subgradient at the certified point, and upper bound on
    /// the distance to that point.
    fn residual_bound<R: Records + ?Sized>(&self, problem: &Problem<'_, R>) -> (f64, f64) {
        let Residual { vector, off, slack } = self.residual(problem.penalty);
        // The last rounding of each coordinate, and those of the norm.
        let relative = 1.0 + accumulated(vector.len() as f64 + 16.0);
        let moved = if off > 0.0 { beta(problem) * off } else { 0.0 };
        let bound = norm(&vector) * relative + self.error + slack + moved;
        let plain = norm(&self.gradient) * relative + self.error;
        if plain < bound && problem.penalty.contains_normal(&self.point) {
            return (plain * (1.0 + 1e-12), 0.0);
        }
        (bound * (1.0 + 1e-12), off)
    }

    /// True if rounding, of the gradient or of θ itself, prevents the gradient from shrinking; `size`
    /// is its norm.
    pub fn at_the_end_of_f64<R: Records + ?Sized>(
        &self,
        problem: &Problem<'_, R>,
        size: f64,
    ) -> bool {
        let resolution = beta(problem) * UNIT_ROUNDOFF * norm(&self.point.theta);
        !self.precise && size <= 4.0 * (self.error + resolution)
    }

    /// Returns a proof that the tolerance is met, if it is: E ≤ γ/10 and ‖residual‖ + E ≤ γ.
    pub fn certify<R: Records + ?Sized>(
        &self,
        problem: &Problem<'_, R>,
        tolerance: f64,
        evaluations: u32,
    ) -> Option<Certified> {
        let (bound, off) = self.residual_bound(problem);
        // The test is "met?", never "missed?": NaN proves nothing.
        if !(self.error <= tolerance / 10.0 && bound <= tolerance) {
            return None;
        }
        let tail_norm = norm(&self.point.tail);
        let distance = (bound / problem.ridge + off + tail_norm) * (1.0 + 1e-12);
        Some(Certified {
            theta: self.point.theta.clone(),
            tail: self.point.tail.clone(),
            gradient_norm_bound: bound,
            distance_bound: distance,
            tolerance,
            evaluations,
            precise: self.precise,
        })
    }
}

/// A point with a proof that the (smallest sub)gradient of the sum form has norm at most γ there.
///
/// Made only by this crate's solvers, from a pass over all rows at this very point.
#[derive(Clone, PartialEq)]
pub struct Certified {
    theta: Vec<f64>,
    tail: Vec<f64>,
    gradient_norm_bound: f64,
    distance_bound: f64,
    tolerance: f64,
    evaluations: u32,
    precise: bool,
}

impl Certified {
    /// The point θ, rounded to f64 (exact unless [`Certified::tail`] has non-zero entries).
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// Returns θ, rounded to f64.
    pub fn into_theta(self) -> Vec<f64> {
        self.theta
    }

    /// The part that f64 could not hold: the certified point is `theta + tail`. Empty or zero unless
    /// the tolerance is finer than f64 resolves around θ.
    pub fn tail(&self) -> &[f64] {
        &self.tail
    }

    /// The certified point rounded to the nearest multiples of `step`, a power of two: each coordinate
    /// changes by at most step/2.
    pub fn round_to(&self, step: f64) -> Vec<f64> {
        let tails = self.tail.iter().copied().chain(std::iter::repeat(0.0));
        let round = |(&t, tail): (&f64, f64)| {
            let units = t / step;
            let whole = units.round_ties_even();
            let rest = (units - whole) + tail / step;
            (whole + rest.round_ties_even()) * step
        };
        self.theta.iter().zip(tails).map(round).collect()
    }

    /// Proved upper bound on ‖∇F(θ)‖₂, at most the tolerance. Depends on the records.
    pub fn gradient_norm_bound(&self) -> f64 {
        self.gradient_norm_bound
    }

    /// Proved upper bound on the distance from `theta` to the exact minimiser. At most γ/λ, plus the
    /// tail's norm. Depends on the records.
    pub fn distance_bound(&self) -> f64 {
        self.distance_bound
    }

    /// The tolerance γ, as requested.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// Passes over the rows that evaluated the gradient.
    pub fn evaluations(&self) -> u32 {
        self.evaluations
    }

    /// True if double-double was needed.
    pub fn used_double_double(&self) -> bool {
        self.precise
    }
}

/// The point depends on the records and is withheld.
impl fmt::Debug for Certified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certified({} coordinates withheld, γ = {})", self.theta.len(), self.tolerance)
    }
}
