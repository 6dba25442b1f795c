//! Decision thresholds from public numbers alone.

use crate::LearnError;
use privet_core::Range;

/// Limits on a threshold.
pub const THRESHOLD: Range = Range::open("threshold", 0.0, 1.0);
/// Limits on a cost.
const COST: Range = Range::open("cost", 0.0, f64::INFINITY);

/// The probability above which saying "second class" costs less than saying "first": with probability p a missed one
/// costs p·m and a false alarm (1 − p)·a, which are equal at p = a/(a + m). No record has a part in it.
pub fn threshold_by_cost(missed: f64, false_alarm: f64) -> Result<f64, LearnError> {
    let (missed, false_alarm) = (COST.check(missed)?, COST.check(false_alarm)?);
    // The same ratio, whatever their size.
    let threshold = 1.0 / (1.0 + missed / false_alarm);
    Ok(THRESHOLD.check(threshold)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_more_is_said_less_easily() {
        assert_eq!(threshold_by_cost(1.0, 1.0).unwrap(), 0.5);
        assert!((threshold_by_cost(9.0, 1.0).unwrap() - 0.1).abs() < 1e-12);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(threshold_by_cost(bad, 1.0).is_err() && threshold_by_cost(1.0, bad).is_err());
        }
    }
}
