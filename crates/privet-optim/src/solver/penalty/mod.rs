//! Convex functions and sets on top of the ridge.
//!
//! | penalty | term added to F |
//! |---|---|
//! | ℓ1 | w‖θ‖₁ |
//! | elastic net | w‖θ‖₁ + (μ/2)‖θ‖² |
//! | group | Σ_g w_g‖θ_g‖₂, w_g = w√size(g) (Yuan & Lin 2006) |
//! | box | 0 where low ≤ θ_j ≤ high for every j, else ∞ |
//! | ball | 0 where ‖θ‖₂ ≤ r, else ∞ |
//! | simplex | 0 where θ ≥ 0 and Σθ_j = s, else ∞ |
//!
//! All act on every coordinate, the intercept included, as the ridge does. The elastic net is ℓ1
//! with the ridge λ + μ (rounded to f64) and is solved as such. w_g is the product rounded to f64.
//!
//! - `map`: the proximal map of each, in double-double.
//! - `residual`: the smallest subgradient at a point, on which a certificate rests.

mod map;
mod residual;

pub(super) use residual::Residual;

use super::{Problem, SolveError};
use crate::double_double::{self, DoubleDouble};
use crate::sum::Records;
use privet_core::Range;
use serde::{Deserialize, Serialize};

/// Limits on the weight of the ℓ1 norm.
pub const L1_WEIGHT: Range = Range::open("l1_weight", 0.0, f64::INFINITY);
/// Limits on the weight of the elastic net's squared norm.
pub const L2_WEIGHT: Range = Range::open("l2_weight", 0.0, f64::INFINITY);
/// Limits on the weight of the groups' norms.
pub const GROUP_WEIGHT: Range = Range::open("group_weight", 0.0, f64::INFINITY);
/// Limits on the radius of the ball.
pub const BALL_RADIUS: Range = Range::open("ball_radius", 0.0, f64::INFINITY);
/// Limits on the sum of a simplex's coordinates.
pub const SIMPLEX_TOTAL: Range = Range::open("simplex_total", 0.0, f64::INFINITY);

/// A convex function or set on top of the ridge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Penalty {
    /// No penalty.
    #[default]
    None,
    /// The ℓ1 norm, weight · ‖θ‖₁.
    L1 {
        /// The weight.
        weight: f64,
    },
    /// The elastic net, l1 · ‖θ‖₁ + (l2/2)·‖θ‖².
    ElasticNet {
        /// The weight of the ℓ1 norm.
        l1: f64,
        /// The weight of the squared norm, added to the ridge.
        l2: f64,
    },
    /// The group lasso, weight · Σ √size · ‖θ_g‖₂ over groups of consecutive coordinates.
    Group {
        /// The weight.
        weight: f64,
        /// The groups' sizes in order; they add up to the number of columns.
        sizes: Vec<u32>,
    },
    /// A box, low ≤ θ_j ≤ high for every j.
    Box {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// A ball, ‖θ‖₂ ≤ radius.
    Ball {
        /// The radius.
        radius: f64,
    },
    /// A simplex, θ ≥ 0 and Σθ_j = total.
    Simplex {
        /// The sum of the coordinates.
        total: f64,
    },
}

impl Penalty {
    /// Its name in settings and files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::L1 { .. } => "l1",
            Self::ElasticNet { .. } => "elastic-net",
            Self::Group { .. } => "group",
            Self::Box { .. } => "box",
            Self::Ball { .. } => "ball",
            Self::Simplex { .. } => "simplex",
        }
    }

    /// Returns an error unless every number is within limits and it fits rows of `columns` features.
    pub fn check(&self, columns: usize) -> Result<(), SolveError> {
        match self {
            Self::None => {}
            Self::L1 { weight } => drop(L1_WEIGHT.check(*weight)?),
            Self::ElasticNet { l1, l2 } => {
                L1_WEIGHT.check(*l1)?;
                L2_WEIGHT.check(*l2)?;
            }
            Self::Group { weight, sizes } => {
                GROUP_WEIGHT.check(*weight)?;
                let total: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
                if total != columns as u64 || sizes.contains(&0) {
                    return Err(SolveError::Groups { columns, given: total });
                }
            }
            Self::Ball { radius } => drop(BALL_RADIUS.check(*radius)?),
            Self::Box { low, high } => {
                if !(low.is_finite() && high.is_finite() && low < high) {
                    return Err(SolveError::Box { low: *low, high: *high });
                }
            }
            Self::Simplex { total } => {
                SIMPLEX_TOTAL.check(*total)?;
                if columns == 0 {
                    return Err(SolveError::EmptySimplex);
                }
            }
        }
        Ok(())
    }

    /// The penalty with its weights multiplied by `times`; a set stays the same.
    pub fn scale_weights(self, times: f64) -> Self {
        match self {
            Self::L1 { weight } => Self::L1 { weight: weight * times },
            Self::ElasticNet { l1, l2 } => Self::ElasticNet { l1: l1 * times, l2: l2 * times },
            Self::Group { weight, sizes } => Self::Group { weight: weight * times, sizes },
            set @ (Self::None | Self::Box { .. } | Self::Ball { .. } | Self::Simplex { .. }) => set,
        }
    }

    /// Its value at θ, 0 inside a set; a guide, computed in f64.
    pub fn value(&self, theta: &[f64]) -> f64 {
        let absolute = || theta.iter().map(|t| t.abs()).sum::<f64>();
        match self {
            Self::None | Self::Box { .. } | Self::Ball { .. } | Self::Simplex { .. } => 0.0,
            Self::L1 { weight } => weight * absolute(),
            Self::ElasticNet { l1, l2 } => l1 * absolute() + 0.5 * l2 * super::dot(theta, theta),
            Self::Group { weight, sizes } => {
                groups(*weight, sizes).map(|(w, range)| w * super::norm(&theta[range])).sum()
            }
        }
    }

    /// The left derivative of the value at θ along `direction`. Zero for sets: a segment between two
    /// points of a convex set stays in it.
    pub(super) fn slope(&self, theta: &[f64], direction: &[f64]) -> f64 {
        match self {
            Self::L1 { weight } => {
                let slope =
                    |(&t, &d): (&f64, &f64)| if t == 0.0 { -d.abs() } else { d * t.signum() };
                weight * theta.iter().zip(direction).map(slope).sum::<f64>()
            }
            Self::Group { weight, sizes } => groups(*weight, sizes)
                .map(|(w, range)| {
                    let (t, d) = (&theta[range.clone()], &direction[range]);
                    let size = super::norm(t);
                    w * if size == 0.0 { -super::norm(d) } else { super::dot(t, d) / size }
                })
                .sum(),
            _ => 0.0,
        }
    }

    /// The largest norm of a point that it allows, rounded up; `None` if unbounded.
    pub fn largest_norm(&self, columns: usize) -> Option<f64> {
        let up = 1.0 + 1e-12;
        match self {
            Self::Box { low, high } => {
                Some(low.abs().max(high.abs()) * (columns as f64).sqrt() * up)
            }
            Self::Ball { radius } => Some(radius * up),
            Self::Simplex { total } => Some(total * up),
            _ => None,
        }
    }

    /// True if zero is allowed; it then has the smallest value.
    pub fn allows_zero(&self) -> bool {
        match self {
            Self::Box { low, high } => *low <= 0.0 && 0.0 <= *high,
            Self::Simplex { .. } => false,
            _ => true,
        }
    }

    /// The amount it adds to the strong convexity of F.
    pub fn convexity(&self) -> f64 {
        if let Self::ElasticNet { l2, .. } = self { *l2 } else { 0.0 }
    }

    /// Upper bound on the error of the smallest subgradient in double-double; ‖g‖ ≤ `gradient` and β is
    /// the smoothness of F.
    pub(super) fn error(&self, columns: f64, gradient: f64, beta: f64) -> f64 {
        let relative = 16.0 * (columns + 64.0) * double_double::ROUNDOFF;
        relative
            * match self {
                Self::None | Self::Box { .. } => 0.0,
                Self::L1 { weight } | Self::ElasticNet { l1: weight, .. } => {
                    weight * columns.sqrt()
                }
                // Since Σw_g² = w²p.
                Self::Group { weight, .. } => weight * columns.sqrt(),
                Self::Ball { radius } => beta * radius + gradient,
                Self::Simplex { total } => beta * total + gradient,
            }
    }
}

impl<'a, R: Records + ?Sized> Problem<'a, R> {
    /// The same problem with the elastic net split: its square is added to the ridge, and `l1` holds
    /// the rest.
    pub(super) fn split_elastic_net<'b>(&self, l1: &'b mut Penalty) -> Problem<'b, R>
    where
        'a: 'b,
    {
        let Self { records, loss, ridge, linear, penalty } = *self;
        let Penalty::ElasticNet { l1: weight, l2 } = *penalty else {
            return Problem { records, loss, ridge, linear, penalty };
        };
        *l1 = Penalty::L1 { weight };
        Problem { records, loss, ridge: ridge + l2, linear, penalty: l1 }
    }
}

/// Each group's weight and coordinates.
pub(super) fn groups(
    weight: f64,
    sizes: &[u32],
) -> impl Iterator<Item = (f64, std::ops::Range<usize>)> + '_ {
    let mut start = 0;
    sizes.iter().map(move |&size| {
        let range = start..start + size as usize;
        start = range.end;
        (weight * f64::from(size).sqrt(), range)
    })
}

/// The Euclidean norm, with relative error below (length + 8)·2⁻¹⁰²; zero below 2⁻⁵⁰⁰.
fn precise_norm(values: &[DoubleDouble]) -> DoubleDouble {
    let largest = values.iter().fold(0.0, |m: f64, v| m.max(v.high.abs()));
    if !(LEAST_GROUP_NORM..f64::INFINITY).contains(&largest) {
        return if largest < LEAST_GROUP_NORM {
            DoubleDouble::ZERO
        } else {
            DoubleDouble::from(largest)
        };
    }
    // A power of two of about the same size, so that scaling is exact.
    let scale = f64::from_bits(largest.to_bits() & (0x7ff << 52));
    let (down, half) = (1.0 / scale, 0.5);
    let square = values.iter().fold(DoubleDouble::ZERO, |sum, v| {
        let v = v.times(down * half);
        sum + v * v
    });
    square.sqrt().times(2.0 * scale)
}

/// Below this a group's norm is not resolved: squares would underflow.
const LEAST_GROUP_NORM: f64 = 3.1e-151; // above 2⁻⁵⁰⁰

#[cfg(test)]
pub(super) mod tests;
