//! Losses ℓ(u; y) of a margin or prediction u = ⟨x, θ⟩ and a label y, convex and C^{1,1} in u.
//!
//! | loss | L ≥ \|ℓ′\| | c ≥ ℓ″ | labels | sign of ℓ′ |
//! |---|---|---|---|---|
//! | logistic | 1 | 1/4 | −1, +1 | fixed |
//! | Huber SVM(h) | 1 | 1/(2h) | −1, +1 | fixed |
//! | squared(clip) | clip | 1 | [−1, 1] | any |
//!
//! A record's gradient is ℓ′·x and its Hessian ℓ″·x xᵀ: rank one, with smoothness β = cR² where
//! ‖x‖₂ ≤ R. Each loss is plain data, with one file for its formulas; the table above is what a
//! learner needs to know. All losses pass the same battery of tests, at the end of this file.

mod huber;
mod logistic;
mod squared;

use crate::double_double::DoubleDouble;
use crate::kernel::UNIT_ROUNDOFF;
use privet_core::{Error, Range};
use serde::{Deserialize, Serialize};

/// Limits on the Huber SVM's half width h.
pub const HUBER_WIDTH: Range = Range::from("h", 1e-6, 1e6);
/// Limits on the residual beyond which the squared loss is linear.
pub const SQUARED_CLIP: Range = Range::from("clip", 1e-6, 1e6);

/// A loss. Files cannot hold one outside its limits: deserialising goes through [`Loss::check`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", try_from = "Unchecked")]
pub enum Loss {
    /// ln(1 + e^{−yu}).
    Logistic,
    /// The hinge 1 − yu with its corner rounded over a width of 2h.
    HuberSvm {
        /// Half width of the rounded part.
        h: f64,
    },
    /// ½(u − y)² while |u − y| ≤ clip, linear beyond. With labels in [−1, 1] and the default
    /// clip of 2 it is the plain square whenever the prediction lies in [−1, 1].
    Squared {
        /// Where it turns linear; the Lipschitz constant.
        clip: f64,
    },
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum Unchecked {
    Logistic,
    HuberSvm { h: f64 },
    Squared { clip: f64 },
}

impl TryFrom<Unchecked> for Loss {
    type Error = Error;
    fn try_from(raw: Unchecked) -> Result<Self, Error> {
        match raw {
            Unchecked::Logistic => Self::Logistic,
            Unchecked::HuberSvm { h } => Self::HuberSvm { h },
            Unchecked::Squared { clip } => Self::Squared { clip },
        }
        .check()
    }
}

/// ℓ, ℓ′ and ℓ″ at one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossPoint {
    /// ℓ(u; y).
    pub value: f64,
    /// ∂ℓ/∂u.
    pub derivative: f64,
    /// ∂²ℓ/∂u² (at a kink of ℓ′, one of its limits).
    pub second: f64,
}

impl Loss {
    /// The squared loss with the default clip of 2.
    pub const SQUARED: Self = Self::Squared { clip: 2.0 };

    /// The word for it in settings and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::HuberSvm { .. } => "huber-svm",
            Self::Squared { .. } => "squared",
        }
    }

    /// Accepts the loss when its parameter is within limits.
    pub fn check(self) -> Result<Self, Error> {
        match self {
            Self::Logistic => {}
            Self::HuberSvm { h } => drop(HUBER_WIDTH.check(h)?),
            Self::Squared { clip } => drop(SQUARED_CLIP.check(clip)?),
        }
        Ok(self)
    }

    /// ℓ, ℓ′ and ℓ″ at u for label y.
    pub fn at(self, u: f64, y: f64) -> LossPoint {
        self.evaluate::<false>(u, y)
    }

    /// ℓ(u; y).
    pub fn value(self, u: f64, y: f64) -> f64 {
        self.at(u, y).value
    }

    /// ℓ′(u; y).
    pub fn derivative(self, u: f64, y: f64) -> f64 {
        self.at(u, y).derivative
    }

    /// ℓ″(u; y).
    pub fn second_derivative(self, u: f64, y: f64) -> f64 {
        self.at(u, y).second
    }

    /// L: |ℓ′| ≤ L everywhere.
    pub fn lipschitz(self) -> f64 {
        match self {
            Self::Logistic | Self::HuberSvm { .. } => 1.0,
            Self::Squared { clip } => clip,
        }
    }

    /// c: ℓ″ ≤ c everywhere.
    pub fn curvature(self) -> f64 {
        match self {
            Self::Logistic => 0.25,
            Self::HuberSvm { h } => 0.5 / h,
            Self::Squared { .. } => 1.0,
        }
    }

    /// β = cR²: smoothness of θ ↦ ℓ(⟨x, θ⟩; y) for ‖x‖₂ ≤ R.
    pub fn smoothness(self, radius: f64) -> f64 {
        self.curvature() * radius * radius
    }

    /// Whether ℓ′(·; y) never changes sign.
    pub fn keeps_sign(self) -> bool {
        !matches!(self, Self::Squared { .. })
    }

    /// Whether ℓ″ ≤ 4c·q(1 − q) where |ℓ′| = L·q, as for the logistic loss.
    pub fn logistic_like(self) -> bool {
        matches!(self, Self::Logistic)
    }

    /// Rank of one record's Hessian.
    pub fn hessian_rank(self) -> u32 {
        1
    }

    /// Whether `label` is one this loss is defined for.
    pub fn accepts(self, label: f64) -> bool {
        match self {
            Self::Logistic | Self::HuberSvm { .. } => label == 1.0 || label == -1.0,
            Self::Squared { .. } => (-1.0..=1.0).contains(&label),
        }
    }

    /// The labels accepted, in words.
    pub fn labels(self) -> &'static str {
        match self {
            Self::Logistic | Self::HuberSvm { .. } => "-1 and 1",
            Self::Squared { .. } => "numbers from -1 to 1",
        }
    }

    /// Bound on |computed − exact| of ℓ′ at a given f64 u: the derivation is in each loss's file.
    pub fn derivative_error(self) -> f64 {
        match self {
            Self::Logistic => logistic::DERIVATIVE_ERROR,
            Self::HuberSvm { .. } => 4.0 * UNIT_ROUNDOFF,
            Self::Squared { clip } => 2.0 * UNIT_ROUNDOFF * (clip + 1.0),
        }
    }

    /// The same bound for [`Loss::precise_derivative`].
    pub fn precise_derivative_error(self) -> f64 {
        match self {
            Self::Logistic => logistic::PRECISE_DERIVATIVE_ERROR,
            Self::HuberSvm { .. } => 2f64.powi(-98),
            Self::Squared { clip } => 2f64.powi(-100) * (clip + 1.0),
        }
    }

    /// ℓ′ in double-double.
    #[inline(always)]
    pub fn precise_derivative(self, u: DoubleDouble, y: f64) -> DoubleDouble {
        match self {
            Self::Logistic => logistic::precise_derivative(u, y),
            Self::HuberSvm { h } => huber::precise_derivative(u, y, h),
            Self::Squared { clip } => squared::precise_derivative(u, y, clip),
        }
    }

    #[inline(always)]
    pub(crate) fn evaluate<const F: bool>(self, u: f64, y: f64) -> LossPoint {
        match self {
            Self::Logistic => logistic::evaluate::<F>(u, y),
            Self::HuberSvm { h } => huber::evaluate(u, y, h),
            Self::Squared { clip } => squared::evaluate(u, y, clip),
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
        // One loop per loss, so that each is vectorised on its own.
        match self {
            Self::Logistic => block(margins, labels, derivatives, logistic::evaluate::<F>),
            Self::HuberSvm { h } => {
                block(margins, labels, derivatives, |u, y| huber::evaluate(u, y, h))
            }
            Self::Squared { clip } => {
                block(margins, labels, derivatives, |u, y| squared::evaluate(u, y, clip))
            }
        }
    }

    /// Over a block of rows: ℓ′ in double-double, margins replaced by it; returns Σ|ℓ′|.
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
        for ((s, &u), &y) in second.iter_mut().zip(margins).zip(labels) {
            *s = self.evaluate::<F>(u, y).second;
        }
    }
}

const LANES: usize = 8;

#[inline(always)]
fn block(
    margins: &[f64],
    labels: &[f64],
    derivatives: &mut [f64],
    loss: impl Fn(f64, f64) -> LossPoint,
) -> (f64, f64) {
    let (mut values, mut sizes) = ([0.0; LANES], [0.0; LANES]);
    let (u, u_rest) = margins.as_chunks::<LANES>();
    let (y, y_rest) = labels.as_chunks::<LANES>();
    let (d, d_rest) = derivatives.as_chunks_mut::<LANES>();
    for ((u, y), d) in u.iter().zip(y).zip(d) {
        for lane in 0..LANES {
            let point = loss(u[lane], y[lane]);
            values[lane] += point.value;
            sizes[lane] += point.derivative.abs();
            d[lane] = point.derivative;
        }
    }
    for ((&u, &y), d) in u_rest.iter().zip(y_rest).zip(d_rest) {
        let point = loss(u, y);
        values[0] += point.value;
        sizes[0] += point.derivative.abs();
        *d = point.derivative;
    }
    (values.iter().sum(), sizes.iter().sum())
}

#[cfg(test)]
mod tests;
