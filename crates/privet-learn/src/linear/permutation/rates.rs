//! Step sizes of the permutation methods, and their weight in the sensitivity.

use super::SLACK;

/// Step sizes η_t and contractions r_t, t from 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rates {
    /// The same η for every update.
    Constant(f64),
    /// η_t = 2/(β(t + offset)).
    Decreasing {
        /// The smoothness β.
        smoothness: f64,
        /// The offset, at least 0.
        offset: f64,
    },
    /// η_t = 2/(β(√t + offset)).
    SquareRoot {
        /// The smoothness β.
        smoothness: f64,
        /// The offset, at least 0.
        offset: f64,
    },
    /// η_t = min{1/(β + ξ), 1/(ξt)}, and r_t = 1 − η_tξ.
    Strong {
        /// The smoothness β, without the ridge.
        smoothness: f64,
        /// The ridge ξ, of the mean form.
        ridge: f64,
    },
}

impl Rates {
    /// The step size η_t of an update.
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

    /// The contraction r_t of an update, without cancellation.
    pub fn shrink(self, update: u64) -> f64 {
        let t = update as f64;
        match self {
            Self::Strong { smoothness, ridge } if ridge * t > smoothness + ridge => (t - 1.0) / t,
            Self::Strong { smoothness, ridge } => smoothness / (smoothness + ridge),
            _ => 1.0,
        }
    }

    /// The approximate time Σ_{t ≤ updates} η_t.
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

    /// The weight W of the theorem, rounded up. Step sizes never rise, so that without a ridge the first
    /// update of each pass counts most; with one every update counts at most min{1/(β + ξ), 1/(ξTN)}
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

    /// Bound A of the theorem on the norm of points, for gradients of at most `bound`.
    pub(super) fn norm(self, updates: f64, bound: f64) -> f64 {
        let walked = updates * self.rate(1) * bound;
        (1.0 + SLACK)
            * match self {
                Self::Strong { ridge, .. } => walked.min(bound / ridge),
                _ => walked,
            }
    }
}
