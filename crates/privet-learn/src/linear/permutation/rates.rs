//! Rates of the permutation methods, and what they weigh in the sensitivity.

use super::SLACK;

/// η_t and r_t, t from 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rates {
    /// η.
    Constant(f64),
    /// 2/(β(t + offset)).
    Decreasing {
        /// β.
        smoothness: f64,
        /// At least 0.
        offset: f64,
    },
    /// 2/(β(√t + offset)).
    SquareRoot {
        /// β.
        smoothness: f64,
        /// At least 0.
        offset: f64,
    },
    /// min{1/(β + ξ), 1/(ξt)}, and r_t = 1 − η_tξ.
    Strong {
        /// β, without the ridge.
        smoothness: f64,
        /// ξ, of the mean form.
        ridge: f64,
    },
}

impl Rates {
    /// η_t.
    pub fn rate(self, update: u64) -> f64 {
        let t = update as f64;
        match self {
            Self::Constant(rate) => rate,
            Self::Decreasing { smoothness, offset } => 2.0 / (smoothness * (t + offset)),
            Self::SquareRoot { smoothness, offset } => 2.0 / (smoothness * (t.sqrt() + offset)),
            Self::Strong { smoothness, ridge } => {
                (1.0 / (smoothness + ridge)).min(1.0 / (ridge * t))
            }
        }
    }

    /// r_t, without cancellation.
    pub fn shrink(self, update: u64) -> f64 {
        let t = update as f64;
        match self {
            Self::Strong { smoothness, ridge } if ridge * t > smoothness + ridge => (t - 1.0) / t,
            Self::Strong { smoothness, ridge } => smoothness / (smoothness + ridge),
            _ => 1.0,
        }
    }

    /// Σ_{t ≤ updates} η_t, about.
    pub fn time(self, updates: f64) -> f64 {
        match self {
            Self::Constant(rate) => rate * updates,
            Self::Decreasing { smoothness, offset } => {
                2.0 / smoothness * (updates / (1.0 + offset)).ln_1p()
            }
            Self::SquareRoot { smoothness, offset } => {
                let (root, offset) = (updates.sqrt(), offset.max(1e-9));
                4.0 / smoothness * (root - offset * (root / offset).ln_1p())
            }
            Self::Strong { smoothness, ridge } => {
                let level = (1.0 + smoothness / ridge).min(updates);
                level / (smoothness + ridge) + (updates / level).ln() / ridge
            }
        }
    }

    /// W of the theorem, rounded up. Rates never rise, so that without a ridge the first update of each
    /// pass counts most; with one every update counts at most min{1/(β + ξ), 1/(ξTN)}
    /// ([`crate::linear::psgd_strong`]).
    pub(super) fn weight(self, passes: u32, batches: u64) -> f64 {
        let updates = f64::from(passes) * batches as f64;
        let sum = match self {
            Self::Strong { smoothness, ridge } => {
                f64::from(passes) * (1.0 / (smoothness + ridge)).min(1.0 / (ridge * updates))
            }
            Self::Constant(rate) => f64::from(passes) * rate,
            _ => (0..u64::from(passes)).map(|pass| self.rate(pass * batches + 1)).sum(),
        };
        sum * (1.0 + 4.0 * f64::EPSILON * (f64::from(passes) + updates))
    }

    /// A of the theorem, for gradients of at most `bound`.
    pub(super) fn norm(self, updates: f64, bound: f64) -> f64 {
        let walked = updates * self.rate(1) * bound;
        (1.0 + SLACK)
            * match self {
                Self::Strong { ridge, .. } => walked.min(bound / ridge),
                _ => walked,
            }
    }
}
