//! The smallest subgradient of F + penalty, on which a certificate with a penalty rests.
//!
//! **Claim.** Let g = ∇F(θ) be known with error at most E, and let a convex penalty be added. If
//! ρ = g + s where s is a subgradient of the penalty (a normal vector of the set) at a point θ′ with
//! ‖θ′ − θ‖ ≤ `off`, then ∇F(θ′) + s is a subgradient of F + penalty at θ′, of norm at most
//! ‖ρ‖ + E + β·`off`, β the smoothness of F; and F + penalty is λ-strongly convex, so the distance from
//! θ′ to the minimiser is at most that bound over λ.
//!
//! *Proof.* ‖∇F(θ′) − ∇F(θ)‖ ≤ β·off. For the minimiser θ* zero is a subgradient, and those of a
//! λ-strongly convex function satisfy ⟨ρ′ − 0, θ′ − θ*⟩ ≥ λ‖θ′ − θ*‖². ∎
//!
//! Any choice of s is valid; these make ρ smallest.
//!
//! - ℓ1: s_j = w·sign(θ_j), or at θ_j = 0 the number of [−w, w] nearest to −g_j.
//! - group: s_g = w_g θ_g/‖θ_g‖, or at θ_g = 0 the vector of norm at most w_g nearest to −g_g. Groups
//!   of norm below 2⁻⁵⁰⁰ count as zero, their norm going into `off`.
//! - box: s_j ≤ 0 at the lower end, ≥ 0 at the upper.
//! - ball: s = cθ′ with c ≥ 0 where ‖θ′‖ = r; c = (−⟨g, θ⟩/‖θ‖²)₊. θ′ = θr/‖θ‖ where ‖θ‖ is r up to
//!   rounding; s at θ and at θ′ differ by c·off, part of `slack`. Strictly inside s = 0 is valid as
//!   well, and then θ′ = θ ([`Penalty::contains_normal`]): a minimiser just inside the sphere does not
//!   pay for its distance from it.
//! - simplex: s_j = ν where θ_j > 0, s_j ≤ ν where θ_j = 0, any ν. The best ν makes
//!   Σ_{θ_j>0}(g_j + ν) + Σ_{θ_j=0} min(g_j + ν, 0) vanish: minus the mean over the positive
//!   coordinates and those zeros whose g_j lies below it. θ′ has the largest coordinate changed so
//!   that the sum is right, which leaves it positive.
//!
//! ρ is computed in double-double and then rounded, so that its error is relative to ρ itself, not to
//! g, which does not vanish at the minimiser. `slack` bounds the remaining error.

use super::super::point::Point;
use super::{LEAST_GROUP_NORM, Penalty, groups, precise_norm};
use crate::double_double::{DoubleDouble, ROUNDOFF};

/// The subgradient ρ with bounds on its accuracy.
pub(in crate::solver) struct Residual {
    /// The subgradient ρ, each coordinate rounded to f64 once.
    pub vector: Vec<f64>,
    /// Upper bound on the distance between the point and the one that ρ belongs to.
    pub off: f64,
    /// Upper bound on the norm of ρ's absolute error, beyond that of g and the last rounding.
    pub slack: f64,
}

impl Residual {
    fn exact(vector: Vec<f64>) -> Self {
        Self { vector, off: 0.0, slack: 0.0 }
    }
}

impl Penalty {
    /// True if zero is proved to be a normal vector at `point`: in the ball, beyond rounding.
    pub(in crate::solver) fn contains_normal(&self, point: &Point) -> bool {
        let Self::Ball { radius } = self else { return false };
        let theta: Vec<DoubleDouble> = (0..point.theta.len()).map(|j| point.digits(j)).collect();
        let room = DoubleDouble::from(*radius) - precise_norm(&theta);
        room.high > 16.0 * (theta.len() as f64 + 16.0) * ROUNDOFF * radius
    }

    /// The smallest subgradient at `point`, where ∇F is `gradient`.
    pub(in crate::solver) fn residual(&self, point: &Point, gradient: &[DoubleDouble]) -> Residual {
        if gradient.iter().any(|g| !g.high.is_finite()) {
            // Comparisons with NaN would drop it: nothing is proved here.
            return Residual { vector: vec![f64::NAN; gradient.len()], off: 0.0, slack: f64::NAN };
        }
        let pairs = || (0..gradient.len()).map(|j| (point.digits(j), gradient[j]));
        match self {
            Self::None => Residual::exact(gradient.iter().map(|g| g.high).collect()),
            Self::L1 { weight } | Self::ElasticNet { l1: weight, .. } => {
                let weight = DoubleDouble::from(*weight);
                let smallest = |(t, g): (DoubleDouble, DoubleDouble)| {
                    if t.is_positive() {
                        (g + weight).high
                    } else if (-t).is_positive() || (g - weight).is_positive() {
                        (g - weight).high
                    } else if (-g - weight).is_positive() {
                        (g + weight).high
                    } else {
                        0.0
                    }
                };
                Residual::exact(pairs().map(smallest).collect())
            }
            Self::Box { low, high } => {
                let smallest = |(t, g): (DoubleDouble, DoubleDouble)| {
                    if t == DoubleDouble::from(*low) {
                        g.high.min(0.0)
                    } else if t == DoubleDouble::from(*high) {
                        g.high.max(0.0)
                    } else {
                        g.high
                    }
                };
                Residual::exact(pairs().map(smallest).collect())
            }
            Self::Group { weight, sizes } => group_residual(*weight, sizes, point, gradient),
            Self::Ball { radius } => ball_residual(*radius, point, gradient),
            Self::Simplex { total } => simplex_residual(*total, point, gradient),
        }
    }
}

fn group_residual(
    weight: f64,
    sizes: &[u32],
    point: &Point,
    gradient: &[DoubleDouble],
) -> Residual {
    let mut vector = vec![0.0; gradient.len()];
    let (mut off, mut slack) = (0.0, 0.0);
    for (w, range) in groups(weight, sizes) {
        let theta: Vec<DoubleDouble> = range.clone().map(|j| point.digits(j)).collect();
        let g = &gradient[range.clone()];
        let size = precise_norm(&theta);
        let roundings = 16.0 * (range.len() as f64 + 16.0) * ROUNDOFF;
        let into = vector[range].iter_mut();
        if size.high > 0.0 {
            let factor = DoubleDouble::from(w) * size.reciprocal();
            into.zip(&theta).zip(g).for_each(|((v, t), g)| *v = (*g + *t * factor).high);
            slack += roundings * w;
        } else {
            // Each coordinate is below 2⁻⁵⁰⁰, so the norm is below this.
            off += if theta.iter().all(|t| t.high == 0.0) {
                0.0
            } else {
                LEAST_GROUP_NORM * theta.len() as f64
            };
            let length = precise_norm(g);
            let left = length - DoubleDouble::from(w);
            if left.is_positive() {
                let factor = left * length.reciprocal();
                into.zip(g).for_each(|(v, g)| *v = (*g * factor).high);
                slack += roundings * (w + left.high);
            }
        }
    }
    Residual { vector, off, slack }
}

fn ball_residual(radius: f64, point: &Point, gradient: &[DoubleDouble]) -> Residual {
    let theta: Vec<DoubleDouble> = (0..gradient.len()).map(|j| point.digits(j)).collect();
    let size = precise_norm(&theta);
    if size.high < radius * (1.0 - 1e-12) {
        return Residual::exact(gradient.iter().map(|g| g.high).collect());
    }
    let inner = theta.iter().zip(gradient).fold(DoubleDouble::ZERO, |sum, (t, g)| sum + *t * *g);
    let inverse = size.reciprocal();
    let pull = -inner * inverse * inverse;
    let pull = if pull.is_positive() { pull } else { DoubleDouble::ZERO };
    let vector = theta.iter().zip(gradient).map(|(t, g)| (*g + *t * pull).high).collect();
    let roundings = 16.0 * (theta.len() as f64 + 16.0) * ROUNDOFF;
    let off = (size - DoubleDouble::from(radius)).high.abs() + roundings * radius;
    // Any c is valid, as long as ρ uses the same: only its product with θ is rounded.
    let slack = roundings * pull.high * size.high + pull.high * off * (1.0 + 1e-9);
    Residual { vector, off, slack }
}

fn simplex_residual(total: f64, point: &Point, gradient: &[DoubleDouble]) -> Residual {
    let columns = gradient.len();
    let theta: Vec<DoubleDouble> = (0..columns).map(|j| point.digits(j)).collect();
    let (mut sum, mut sizes, mut largest, mut off) = (DoubleDouble::ZERO, 0.0, 0.0_f64, 0.0);
    let (mut level, mut count) = (DoubleDouble::ZERO, 0.0);
    for (t, g) in theta.iter().zip(gradient) {
        if t.is_positive() {
            sum = sum + *t;
            sizes += t.high;
            largest = largest.max(t.high);
            level = level + *g;
            count += 1.0;
        } else {
            off += t.high.abs();
        }
    }
    let roundings = 16.0 * (columns as f64 + 16.0) * ROUNDOFF;
    let missing = (sum - DoubleDouble::from(total)).high.abs() + roundings * sizes;
    // The largest coordinate is changed by the missing part, and must stay positive.
    off += if missing < 0.5 * largest { missing } else { f64::INFINITY };
    let mut zeros: Vec<DoubleDouble> =
        theta.iter().zip(gradient).filter(|(t, _)| !t.is_positive()).map(|(_, g)| *g).collect();
    zeros.sort_by(|a, b| a.high.total_cmp(&b.high).then(a.low.total_cmp(&b.low)));
    for g in zeros {
        let below = count == 0.0 || (level - g.times(count)).is_positive();
        if !below {
            break;
        }
        level = level + g;
        count += 1.0;
    }
    let mean = level * DoubleDouble::from(count.max(1.0)).reciprocal();
    let smallest = |(t, g): (&DoubleDouble, &DoubleDouble)| {
        let rest = (*g - mean).high;
        if t.is_positive() { rest } else { rest.min(0.0) }
    };
    Residual { vector: theta.iter().zip(gradient).map(smallest).collect(), off, slack: 0.0 }
}
