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
    zero: bool,
}

impl Range {
    /// low < value < high.
    pub const fn open(name: &'static str, low: f64, high: f64) -> Self {
        Self { name, low, high, low_included: false, zero: false }
    }

    /// low ≤ value < high.
    pub const fn from(name: &'static str, low: f64, high: f64) -> Self {
        Self { name, low, high, low_included: true, zero: false }
    }

    /// Accepts 0 in addition.
    pub const fn or_zero(self) -> Self {
        Self { zero: true, ..self }
    }

    /// The setting's name as the user writes it.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The accepted integers, in words.
    pub fn whole(&self) -> String {
        let low = if self.low_included { self.low } else { self.low + 1.0 };
        // Beyond this every `f64` is an integer, and the type sets the limit.
        if self.high > 9e15 {
            return format!("a whole number of at least {}", Written(low));
        }
        format!("a whole number from {} to {}", Written(low), Written((self.high - 1.0).ceil()))
    }

    /// Returns `value` if it lies inside. The test is "inside?", never "outside?", so NaN is refused.
    pub fn check(self, value: f64) -> Result<f64, Error> {
        let above = value > self.low || (self.low_included && value == self.low);
        if (above && value < self.high) || (self.zero && value == 0.0) {
            Ok(value)
        } else {
            Err(Error::OutOfRange { range: self, value })
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (Written(self.low), Written(self.high));
        if self.zero {
            write!(f, "0, or ")?;
        }
        match (self.low == f64::NEG_INFINITY, self.high == f64::INFINITY, self.low_included) {
            (true, true, _) => write!(f, "a finite number"),
            (false, true, true) => write!(f, "a finite number of at least {low}"),
            (false, true, false) => write!(f, "a finite number above {low}"),
            (true, false, _) => write!(f, "a number below {high}"),
            (false, false, true) => write!(f, "a number from {low} to below {high}"),
            (false, false, false) => write!(f, "a number above {low} and below {high}"),
        }
    }
}

/// Formats very large and very small numbers with an exponent.
struct Written(f64);

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number) = self;
        if number.is_finite() && *number != 0.0 && !(1e-6..1e15).contains(&number.abs()) {
            write!(f, "{number:e}")
        } else {
            write!(f, "{number}")
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

    #[test]
    fn whole_numbers_are_told_by_their_last() {
        let steps = Range::from("steps", 1.0, 1_000_001.0);
        assert_eq!(steps.whole(), "a whole number from 1 to 1000000");
        let rows = Range::from("rows", 1.0, 9_007_199_254_740_992.0);
        assert_eq!(rows.whole(), "a whole number of at least 1");
    }

    #[test]
    fn zero_may_be_let_in_beside_an_interval() {
        let range = Range::from("delta", 1e-100, 1.0).or_zero();
        for good in [0.0, -0.0, 1e-100, 0.5] {
            assert_eq!(range.check(good), Ok(good));
        }
        for bad in [1e-101, 5e-324, -1e-9, 1.0, f64::NAN] {
            let message = range.check(bad).unwrap_err().to_string();
            assert!(message.contains("0, or a number from 1e-100 to below 1"), "{message}");
        }
    }
}
