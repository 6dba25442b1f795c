//! Losses ℓ(u; y) of a margin or prediction u = ⟨x, θ⟩ and a label y, convex and C^{1,1} in u.
//!
//! | loss | L ≥ \|ℓ′\| | c ≥ ℓ″ | labels | sign of ℓ′ |
//! |---|---|---|---|---|
//! | logistic | 1 | 1/4 | −1, +1 | fixed |
//! | Huber SVM(h) | 1 | 1/(2h) | −1, +1 | fixed |
//! | squared(clip) | clip | 1 | [−1, 1] | any |
//! | Huber(w) | 1 | 1/w | [−1, 1] | any |
//! | quantile(τ, h) | max(τ, 1 − τ) | 1/(2h) | [−1, 1] | any |
//! | Poisson(least, shift) | 1 | 1 | [−1, 1] | any |
//!
//! A record's gradient is ℓ′·x and its Hessian ℓ″·x xᵀ: rank one, with smoothness β = cR² where
//! ‖x‖₂ ≤ R. Each loss is plain data, with one file for its formulas; the table above holds the
//! constants that a learner needs, and each file derives its row. Labels in [−1, 1] are
//! `privet_data::Encoding`'s encoding of a numeric target. All losses pass the same battery of tests, in
//! `tests`.

mod huber;
mod huber_regression;
mod logistic;
mod poisson;
mod quantile;
mod rows;
mod squared;

use crate::double_double::DoubleDouble;
use crate::kernel::UNIT_ROUNDOFF;
use privet_core::{Error, Range};
use rows::{Loop, Sums, WriteRows};
use serde::{Deserialize, Serialize};

/// Limits on the Huber SVM's half width h.
pub const HUBER_WIDTH: Range = Range::from("h", 1e-6, 1e6);
/// Limits on the residual beyond which the squared loss is linear.
pub const SQUARED_CLIP: Range = Range::from("clip", 1e-6, 1e6);

/// Limits on the residual up to which the Huber loss is a square, in units of half the target's span.
pub const HUBER_RESIDUAL: Range = Range::from("width", 1e-6, 1e6);
/// Limits on the quantile.
pub const QUANTILE: Range = Range::open("tau", 0.0, 1.0);
/// Limits on the half width h over which the quantile loss is rounded, in units of half the target's
/// span.
pub const QUANTILE_WIDTH: Range = Range::from("h", 1e-6, 1e6);
/// The default rate of a Poisson loss at a score of 0, as a fraction of the target's upper bound: e⁻².
pub const RATE_SHARE_AT_ZERO: f64 = 0.135_335_283_236_612_7;
/// Limits on the lower bound of a Poisson target as a fraction of its upper bound.
pub const POISSON_LEAST: Range = Range::from("least", 0.0, 1.0);
/// Limits on ln(upper bound / rate at a score of 0).
pub const POISSON_SHIFT: Range = Range::from("shift", 0.0, 100.0);

/// A loss. Files cannot hold one outside its limits: deserialising goes through [`Loss::check`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", try_from = "Unchecked")]
pub enum Loss {
    /// The logistic loss, ln(1 + e^{−yu}).
    Logistic,
    /// The hinge 1 − yu with its corner rounded over a width of 2h.
    HuberSvm {
        /// Half width of the rounded part.
        h: f64,
    },
    /// The squared loss, ½(u − y)² while |u − y| ≤ clip, linear beyond. With labels in [−1, 1] and the
    /// default clip of 2 it is the plain square whenever the prediction lies in [−1, 1].
    Squared {
        /// The residual beyond which it is linear; the Lipschitz constant.
        clip: f64,
    },
    /// The Huber loss, (u − y)²/(2·width) while |u − y| ≤ width, |u − y| − width/2 beyond: least
    /// squares robust to outliers, with derivatives of at most 1.
    Huber {
        /// The residual beyond which it is linear, in units of half the target's span.
        width: f64,
    },
    /// The pinball loss of a quantile, its corner rounded over a width of 2h: the minimiser predicts
    /// that quantile of the target (h → 0).
    Quantile {
        /// The quantile τ: the fraction of targets below the prediction.
        tau: f64,
        /// Half width of the rounded part, in units of half the target's span.
        h: f64,
    },
    /// Poisson regression of a target between 0 and an upper bound: the rate is
    /// bound·e^{min(u − shift, 0)}. [`Loss::poisson`] derives one from the bounds.
    Poisson {
        /// The target's lower bound as a fraction of the upper one.
        least: f64,
        /// The logarithm ln(upper bound / rate at u = 0).
        shift: f64,
    },
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum Unchecked {
    Logistic,
    HuberSvm { h: f64 },
    Squared { clip: f64 },
    Huber { width: f64 },
    Quantile { tau: f64, h: f64 },
    Poisson { least: f64, shift: f64 },
}

impl TryFrom<Unchecked> for Loss {
    type Error = Error;
    fn try_from(raw: Unchecked) -> Result<Self, Error> {
        match raw {
            Unchecked::Logistic => Self::Logistic,
            Unchecked::HuberSvm { h } => Self::HuberSvm { h },
            Unchecked::Squared { clip } => Self::Squared { clip },
            Unchecked::Huber { width } => Self::Huber { width },
            Unchecked::Quantile { tau, h } => Self::Quantile { tau, h },
            Unchecked::Poisson { least, shift } => Self::Poisson { least, shift },
        }
        .check()
    }
}

/// The values of ℓ, ℓ′ and ℓ″ at one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossPoint {
    /// The loss ℓ(u; y).
    pub value: f64,
    /// The derivative ∂ℓ/∂u.
    pub derivative: f64,
    /// The second derivative ∂²ℓ/∂u² (at a kink of ℓ′, one of its limits).
    pub second: f64,
}

impl LossPoint {
    /// The loss of a row with this weight.
    #[inline(always)]
    fn times(self, weight: f64) -> Self {
        Self {
            value: self.value * weight,
            derivative: self.derivative * weight,
            second: self.second * weight,
        }
    }
}

/// The sign of y, ±1.
#[inline(always)]
fn sign(y: f64) -> f64 {
    1_f64.copysign(y)
}

impl Loss {
    /// The squared loss with the default clip of 2.
    pub const SQUARED: Self = Self::Squared { clip: 2.0 };

    /// Poisson regression for a target with public bounds 0 ≤ `low` < `high` and the rate
    /// `at_zero` ≤ `high` at a score of 0, to which the ridge shrinks.
    pub fn poisson(low: f64, high: f64, at_zero: f64) -> Result<Self, Error> {
        Range::from("low", 0.0, f64::INFINITY).check(low)?;
        Range::open("high", low, f64::INFINITY).check(high)?;
        Range::open("rate at zero", 0.0, high.next_up()).check(at_zero)?;
        Self::Poisson { least: low / high, shift: (high / at_zero).ln().max(0.0) }.check()
    }

    /// Its name in settings and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::HuberSvm { .. } => "huber-svm",
            Self::Squared { .. } => "squared",
            Self::Huber { .. } => "huber",
            Self::Quantile { .. } => "quantile",
            Self::Poisson { .. } => "poisson",
        }
    }

    /// Returns the loss if its parameter is within limits.
    pub fn check(self) -> Result<Self, Error> {
        match self {
            Self::Logistic => {}
            Self::HuberSvm { h } => drop(HUBER_WIDTH.check(h)?),
            Self::Squared { clip } => drop(SQUARED_CLIP.check(clip)?),
            Self::Huber { width } => drop(HUBER_RESIDUAL.check(width)?),
            Self::Quantile { tau, h } => {
                QUANTILE.check(tau)?;
                QUANTILE_WIDTH.check(h)?;
            }
            Self::Poisson { least, shift } => {
                POISSON_LEAST.check(least)?;
                POISSON_SHIFT.check(shift)?;
            }
        }
        Ok(self)
    }

    /// The loss ℓ, ℓ′ and ℓ″ at u for label y.
    pub fn at(self, u: f64, y: f64) -> LossPoint {
        self.evaluate::<false>(u, y)
    }

    /// The loss ℓ(u; y).
    pub fn value(self, u: f64, y: f64) -> f64 {
        self.at(u, y).value
    }

    /// The derivative ℓ′(u; y).
    pub fn derivative(self, u: f64, y: f64) -> f64 {
        self.at(u, y).derivative
    }

    /// The second derivative ℓ″(u; y).
    pub fn second_derivative(self, u: f64, y: f64) -> f64 {
        self.at(u, y).second
    }

    /// The Lipschitz constant L: |ℓ′| ≤ L everywhere.
    pub fn lipschitz(self) -> f64 {
        match self {
            Self::Logistic | Self::HuberSvm { .. } | Self::Huber { .. } | Self::Poisson { .. } => {
                1.0
            }
            Self::Squared { clip } => clip,
            Self::Quantile { tau, .. } => quantile::lipschitz(tau),
        }
    }

    /// The curvature bound c: ℓ″ ≤ c everywhere.
    pub fn curvature(self) -> f64 {
        match self {
            Self::Logistic => 0.25,
            Self::HuberSvm { h } | Self::Quantile { h, .. } => 0.5 / h,
            Self::Squared { .. } | Self::Poisson { .. } => 1.0,
            Self::Huber { width } => 1.0 / width,
        }
    }

    /// The smoothness β = cR² of θ ↦ ℓ(⟨x, θ⟩; y) for ‖x‖₂ ≤ R.
    pub fn smoothness(self, radius: f64) -> f64 {
        self.curvature() * radius * radius
    }

    /// True if ℓ′(·; y) never changes sign.
    pub fn keeps_sign(self) -> bool {
        matches!(self, Self::Logistic | Self::HuberSvm { .. })
    }

    /// The largest ℓ(0; y) over the accepted labels: ℓ(0; ·) is convex, so it is at ±1.
    pub fn largest_at_zero(self) -> f64 {
        self.value(0.0, 1.0).max(self.value(0.0, -1.0))
    }

    /// The prediction of a score u, on the scale of the labels: u itself, except for Poisson
    /// regression, where it is the rate.
    pub fn prediction(self, u: f64) -> f64 {
        match self {
            Self::Poisson { least, shift } => {
                2.0 * (poisson::share::<false>(u, shift) - least) / (1.0 - least) - 1.0
            }
            _ => u,
        }
    }

    /// True if labels are signs. The magnitude of such a label, at most 1, is its row's weight: ℓ(u;
    /// wy) = w·ℓ(u; y). It stays convex, L-Lipschitz and c-smooth, and keeps its sign.
    pub fn needs_classes(self) -> bool {
        matches!(self, Self::Logistic | Self::HuberSvm { .. })
    }

    /// True if labels must be numbers: for classes coded as ±1 this loss has no meaning.
    pub fn needs_number(self) -> bool {
        matches!(self, Self::Quantile { .. } | Self::Poisson { .. })
    }

    /// True if ℓ″ ≤ 4c·q(1 − q) where |ℓ′| = L·q, as for the logistic loss.
    pub fn logistic_like(self) -> bool {
        matches!(self, Self::Logistic)
    }

    /// The rank of one record's Hessian.
    pub fn hessian_rank(self) -> u32 {
        1
    }

    /// True if this loss is defined for `label`.
    pub fn accepts(self, label: f64) -> bool {
        match self {
            Self::Logistic | Self::HuberSvm { .. } => label != 0.0 && label.abs() <= 1.0,
            Self::Squared { .. }
            | Self::Huber { .. }
            | Self::Quantile { .. }
            | Self::Poisson { .. } => (-1.0..=1.0).contains(&label),
        }
    }

    /// The accepted labels, in words.
    pub fn labels(self) -> &'static str {
        match self {
            Self::Logistic | Self::HuberSvm { .. } => {
                "-1 and 1, or smaller where a row counts less"
            }
            Self::Squared { .. }
            | Self::Huber { .. }
            | Self::Quantile { .. }
            | Self::Poisson { .. } => "numbers from -1 to 1",
        }
    }

    /// Upper bound on |computed − exact| of ℓ′ at a given f64 u: the derivation is in each loss's file.
    pub fn derivative_error(self) -> f64 {
        match self {
            Self::Logistic => logistic::DERIVATIVE_ERROR + UNIT_ROUNDOFF,
            Self::HuberSvm { .. } => 5.0 * UNIT_ROUNDOFF,
            Self::Huber { .. } | Self::Quantile { .. } => 4.0 * UNIT_ROUNDOFF,
            Self::Squared { clip } => 2.0 * UNIT_ROUNDOFF * (clip + 1.0),
            Self::Poisson { .. } => poisson::DERIVATIVE_ERROR,
        }
    }

    /// The same bound for [`Loss::precise_derivative`].
    pub fn precise_derivative_error(self) -> f64 {
        match self {
            Self::Logistic => logistic::PRECISE_DERIVATIVE_ERROR + 2f64.powi(-100),
            Self::HuberSvm { .. } => 2f64.powi(-98) + 2f64.powi(-100),
            Self::Huber { .. } | Self::Quantile { .. } => 2f64.powi(-98),
            Self::Squared { clip } => 2f64.powi(-100) * (clip + 1.0),
            Self::Poisson { .. } => poisson::PRECISE_DERIVATIVE_ERROR,
        }
    }

    /// The derivative ℓ′ in double-double.
    #[inline(always)]
    pub fn precise_derivative(self, u: DoubleDouble, y: f64) -> DoubleDouble {
        match self {
            Self::Logistic => logistic::precise_derivative(u, sign(y)).times(y.abs()),
            Self::HuberSvm { h } => huber::precise_derivative(u, sign(y), h).times(y.abs()),
            Self::Squared { clip } => squared::precise_derivative(u, y, clip),
            Self::Huber { width } => huber_regression::precise_derivative(u, y, width),
            Self::Quantile { tau, h } => quantile::precise_derivative(u, y, tau, h),
            Self::Poisson { least, shift } => poisson::precise_derivative(u, y, least, shift),
        }
    }

    #[inline(always)]
    pub(crate) fn evaluate<const F: bool>(self, u: f64, y: f64) -> LossPoint {
        struct At(f64, f64);
        impl Loop for At {
            type Output = LossPoint;
            #[inline(always)]
            fn over(self, loss: impl Fn(f64, f64) -> LossPoint) -> LossPoint {
                loss(self.0, self.1)
            }
        }
        self.run::<F, _>(At(u, y))
    }

    /// Runs the loop, compiled for each loss on its own so that each is vectorised.
    #[inline(always)]
    fn run<const F: bool, L: Loop>(self, each: L) -> L::Output {
        match self {
            Self::Logistic => each.over(|u, y| logistic::evaluate::<F>(u, sign(y)).times(y.abs())),
            Self::HuberSvm { h } => each.over(|u, y| huber::evaluate(u, sign(y), h).times(y.abs())),
            Self::Squared { clip } => each.over(|u, y| squared::evaluate(u, y, clip)),
            Self::Huber { width } => each.over(|u, y| huber_regression::evaluate(u, y, width)),
            Self::Quantile { tau, h } => each.over(|u, y| quantile::evaluate(u, y, tau, h)),
            Self::Poisson { least, shift } => {
                each.over(|u, y| poisson::evaluate::<F>(u, y, least, shift))
            }
        }
    }

    /// Over a block of rows: writes ℓ′ and returns Σℓ and Σ|ℓ′|.
    #[inline(always)]
    pub(crate) fn values_and_derivatives<const F: bool>(
        self,
        margins: &[f64],
        labels: &[f64],
        derivatives: &mut [f64],
    ) -> (f64, f64) {
        self.run::<F, _>(Sums { margins, labels, derivatives })
    }

    /// Over a block of rows: writes ℓ′.
    #[inline(always)]
    pub(crate) fn derivatives<const F: bool>(
        self,
        margins: &[f64],
        labels: &[f64],
        derivatives: &mut [f64],
    ) {
        let of = |point: LossPoint| point.derivative;
        self.run::<F, _>(WriteRows { margins, labels, written: derivatives, of });
    }

    /// Over a block of rows: replaces margins by ℓ′ in double-double; returns Σ|ℓ′|.
    #[inline(always)]
    pub(crate) fn precise_derivatives(self, margins: &mut [DoubleDouble], labels: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (u, &y) in margins.iter_mut().zip(labels) {
            *u = self.precise_derivative(*u, y);
            sum += u.high.abs();
        }
        sum
    }

    /// Over a block of rows: writes ℓ″.
    #[inline(always)]
    pub(crate) fn second_derivatives<const F: bool>(
        self,
        margins: &[f64],
        labels: &[f64],
        second: &mut [f64],
    ) {
        let of = |point: LossPoint| point.second;
        self.run::<F, _>(WriteRows { margins, labels, written: second, of });
    }
}

#[cfg(test)]
mod tests;
