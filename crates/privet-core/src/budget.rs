//! The privacy budget (ε, δ) that a caller sets.

use crate::{Error, Range};
use serde::{Deserialize, Serialize};

/// Limits on ε. Smaller values would need noise that drowns any data set, and unbounded calibration.
pub const EPSILON: Range = Range::from("epsilon", 1e-9, f64::INFINITY);
/// Limits on δ; zero requests pure differential privacy. Smaller positive values are refused: privacy
/// losses are composed on grids whose masses would underflow.
pub const DELTA: Range = Range::from("delta", 1e-100, 1.0).or_zero();

/// A total (ε, δ). [`Budget::new`] is the only constructor, so both numbers are always in range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Budget {
    epsilon: f64,
    delta: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    epsilon: f64,
    delta: f64,
}

impl TryFrom<Unchecked> for Budget {
    type Error = Error;
    fn try_from(raw: Unchecked) -> Result<Self, Error> {
        Self::new(raw.epsilon, raw.delta)
    }
}

impl Budget {
    /// A budget within [`EPSILON`] and [`DELTA`].
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, Error> {
        Ok(Self { epsilon: EPSILON.check(epsilon)?, delta: DELTA.check(delta)? })
    }

    /// The default δ, 1/n² for a declared number of rows n: far below 1/n, at which publishing one
    /// random record in full would be allowed.
    pub fn usual_delta(rows: u64) -> f64 {
        (rows as f64).powi(-2)
    }

    /// The parameter ε of (ε, δ)-differential privacy.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The parameter δ of (ε, δ)-differential privacy.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// True for pure differential privacy (δ = 0).
    pub fn is_pure(&self) -> bool {
        self.delta == 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_cannot_smuggle_a_budget_past_the_check() {
        assert!(serde_json::from_str::<Budget>(r#"{"epsilon":1.0,"delta":1e-6}"#).is_ok());
        for bad in [r#"{"epsilon":-1.0,"delta":0.0}"#, r#"{"epsilon":1.0,"delta":1.0}"#] {
            assert!(serde_json::from_str::<Budget>(bad).is_err(), "{bad}");
        }
        for (epsilon, delta) in [(1e-50, 1e-6), (0.0, 0.0), (1.0, 1e-300), (1.0, -0.1)] {
            assert!(Budget::new(epsilon, delta).is_err(), "{epsilon} {delta}");
        }
        assert!(Budget::new(1e-9, 1e-100).is_ok());
        assert!(Budget::new(f64::NAN, 0.0).is_err());
        assert!(Budget::new(1.0, f64::NAN).is_err());
    }
}
