//! Limits on settings.

use crate::Error;
use std::fmt;

/// An interval of accepted values for one named setting. The check, `--help` and the error all
/// read the same constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    name: &'static str,
    low: f64,
    high: f64,
    low_included: bool,
}

impl Range {
    /// low < value < high.
    pub const fn open(name: &'static str, low: f64, high: f64) -> Self {
        Self { name, low, high, low_included: false }
    }

    /// low ≤ value < high.
    pub const fn from(name: &'static str, low: f64, high: f64) -> Self {
        Self { name, low, high, low_included: true }
    }

    /// The setting's name as the user writes it.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Accepts `value` when it lies inside. Asks "inside?", never "outside?", so NaN is refused.
    pub fn check(self, value: f64) -> Result<f64, Error> {
        let above = value > self.low || (self.low_included && value == self.low);
        if above && value < self.high {
            Ok(value)
        } else {
            Err(Error::OutOfRange { range: self, value })
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (self.low, self.high);
        match (low == f64::NEG_INFINITY, high == f64::INFINITY, self.low_included) {
            (true, true, _) => write!(f, "a finite number"),
            (false, true, true) => write!(f, "a finite number of at least {low}"),
            (false, true, false) => write!(f, "a finite number above {low}"),
            (true, false, _) => write!(f, "a number below {high}"),
            (false, false, true) => write!(f, "a number from {low} to below {high}"),
            (false, false, false) => write!(f, "a number above {low} and below {high}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_and_nan_are_refused() {
        let range = Range::open("epsilon", 0.0, f64::INFINITY);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let message = range.check(bad).unwrap_err().to_string();
            assert!(message.contains("epsilon") && message.contains("above 0"), "{message}");
        }
        assert_eq!(range.check(1e-300), Ok(1e-300));
        assert_eq!(Range::from("delta", 0.0, 1.0).check(0.0), Ok(0.0));
        assert!(Range::from("delta", 0.0, 1.0).check(1.0).is_err());
    }
}
