//! Prices as integers of a fixed fine unit, so that sums do not depend on their order.
//!
//! A price is rounded up to the unit once, when it is entered. From there on addition and subtraction
//! are exact: concurrent processes, void reservations and merges of ledgers leave no rounding error.

use privet_dp::account::Tally;
use serde::{Deserialize, Serialize};

/// Units per 1 of the law's own quantity, 2⁶⁴: resolution 5.4e-20, sums below 2⁶².
const UNITS_OF_LAW: f64 = 18_446_744_073_709_551_616.0; // 2⁶⁴
/// Units per 1 of a probability, 2¹²⁰: resolution 7.5e-37.
const UNITS_OF_PROBABILITY: f64 = 1_329_227_995_784_915_872_903_807_060_280_344_576.0; // 2¹²⁰
/// Largest single price, in the law's own quantity.
const LARGEST_PRICE: f64 = 4_611_686_018_427_387_904.0; // 2⁶²

/// Spending under a filter, in integer units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exact {
    /// The law's own quantity, in units of 2⁻⁶⁴.
    #[serde(with = "text")]
    spent: u128,
    /// Total variation distance of noise on grids, in units of 2⁻¹²⁰.
    #[serde(with = "text")]
    distance: u128,
    /// δ that events have of their own, in units of 2⁻¹²⁰.
    #[serde(with = "text")]
    leak: u128,
    /// Σε of releases with a bounded loss, in units of 2⁻⁶⁴.
    #[serde(with = "text")]
    sum: u128,
    /// The number of releases without a bounded loss.
    unbounded: u64,
}

/// Serde form of a u128: a decimal text, since JSON numbers lose digits.
mod text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(value: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        match text.bytes().all(|digit| digit.is_ascii_digit()) {
            true => text.parse().map_err(D::Error::custom),
            false => Err(D::Error::custom("a whole number is needed")),
        }
    }
}

impl Exact {
    /// Rounds a price up to the unit; `None` if it is not a finite number within range. `sum` is ε if
    /// the loss is bounded.
    pub fn of(price: &Tally, sum: Option<f64>) -> Option<Self> {
        let up = |value: f64, most: f64, unit: f64| {
            (0.0..=most).contains(&value).then(|| (value * unit).ceil() as u128)
        };
        Some(Self {
            spent: up(price.spent(), LARGEST_PRICE, UNITS_OF_LAW)?,
            distance: up(price.distance(), 1.0, UNITS_OF_PROBABILITY)?,
            leak: up(price.leak(), 1.0, UNITS_OF_PROBABILITY)?,
            sum: up(sum.unwrap_or(0.0), LARGEST_PRICE, UNITS_OF_LAW)?,
            unbounded: u64::from(sum.is_none()),
        })
    }

    /// Rounds a limit down to the unit.
    pub fn limit(spent: f64, distance: f64, leak: f64, sum: f64) -> Self {
        let down = |value: f64, most: f64, unit: f64| (value.clamp(0.0, most) * unit) as u128;
        Self {
            spent: down(spent, LARGEST_PRICE, UNITS_OF_LAW),
            distance: down(distance, 1.0, UNITS_OF_PROBABILITY),
            leak: down(leak, 1.0, UNITS_OF_PROBABILITY),
            sum: down(sum, LARGEST_PRICE, UNITS_OF_LAW),
            unbounded: 0,
        }
    }

    /// Adds two amounts; saturates instead of overflowing.
    pub fn and(&self, more: &Self) -> Self {
        Self {
            spent: self.spent.saturating_add(more.spent),
            distance: self.distance.saturating_add(more.distance),
            leak: self.leak.saturating_add(more.leak),
            sum: self.sum.saturating_add(more.sum),
            unbounded: self.unbounded.saturating_add(more.unbounded),
        }
    }

    /// True if this total, of which `price` is the newest part, is within a limit: by the law's own
    /// quantity, or because every loss is bounded and Σε is within the limit's. Distance and leak are
    /// compared only if `price` has a part in them.
    pub fn is_within(&self, limit: &Self, price: &Self) -> bool {
        (self.spent <= limit.spent || self.pure_sum_within(limit))
            && (price.distance == 0 || self.distance <= limit.distance)
            && (price.leak == 0 || self.leak <= limit.leak)
    }

    /// True if every loss is bounded and Σε is within the limit's.
    fn pure_sum_within(&self, limit: &Self) -> bool {
        self.unbounded == 0 && self.sum <= limit.sum
    }

    /// Σε rounded up, if every loss is bounded.
    pub fn sum(&self) -> Option<f64> {
        (self.unbounded == 0).then(|| (self.sum as f64 / UNITS_OF_LAW).next_up())
    }

    /// The larger of each component.
    pub fn max(&self, other: &Self) -> Self {
        Self {
            spent: self.spent.max(other.spent),
            distance: self.distance.max(other.distance),
            leak: self.leak.max(other.leak),
            sum: self.sum.max(other.sum),
            unbounded: self.unbounded.max(other.unbounded),
        }
    }

    /// The law's own quantity, rounded up.
    pub fn spent_quantity(&self) -> f64 {
        (self.spent as f64 / UNITS_OF_LAW).next_up()
    }

    /// Total variation distance, rounded up.
    pub fn distance(&self) -> f64 {
        if self.distance == 0 {
            0.0
        } else {
            (self.distance as f64 / UNITS_OF_PROBABILITY).next_up()
        }
    }

    /// δ that events have of their own, rounded up.
    pub fn leak(&self) -> f64 {
        if self.leak == 0 { 0.0 } else { (self.leak as f64 / UNITS_OF_PROBABILITY).next_up() }
    }

    /// True if every component is zero.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// This amount as a share of a limit: the smaller of the law's and Σε's shares, or the distance's or
    /// leak's if larger.
    pub fn share(&self, limit: &Self) -> f64 {
        let share = |part: u128, whole: u128| match (part, whole) {
            (0, _) => 0.0,
            (_, 0) => f64::INFINITY,
            (part, whole) => part as f64 / whole as f64,
        };
        let spent = match self.unbounded {
            0 => share(self.spent, limit.spent).min(share(self.sum, limit.sum)),
            _ => share(self.spent, limit.spent),
        };
        spent.max(share(self.distance, limit.distance)).max(share(self.leak, limit.leak))
    }

    /// Subtracts an amount that was added before.
    pub(crate) fn minus(&self, part: &Self) -> Self {
        Self {
            spent: self.spent.saturating_sub(part.spent),
            distance: self.distance.saturating_sub(part.distance),
            leak: self.leak.saturating_sub(part.leak),
            sum: self.sum.saturating_sub(part.sum),
            unbounded: self.unbounded.saturating_sub(part.unbounded),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_rounded_down_and_what_is_shown_up() {
        let limit = Exact::limit(0.1, 1e-20, 1e-9, 0.1);
        assert!(
            limit.spent as f64 / UNITS_OF_LAW <= 0.1
                && Exact::limit(0.1, 0.0, 0.0, 0.0).spent_quantity() >= 0.1
        );
        let three = (0..3).fold(Exact::default(), |sum, _| sum.and(&limit));
        assert_eq!(three.minus(&limit).minus(&limit), limit);
        assert!(three.is_within(&three, &limit) && !three.is_within(&limit, &limit));
        assert!((three.share(&limit) - 3.0).abs() < 1e-9);
    }

    /// Either bound suffices; one release without a bounded loss leaves the law alone.
    #[test]
    fn the_law_or_the_sum() {
        let limit = Exact { distance: 9, leak: 9, ..Exact::limit(1.0, 0.0, 0.0, 1.0) };
        let half = |spent, sum| Exact { spent, sum, ..Exact::default() };
        let (law, sum) = (half(limit.spent, limit.sum + 1), half(limit.spent + 1, limit.sum));
        assert!(law.is_within(&limit, &law) && sum.is_within(&limit, &sum));
        let neither = half(limit.spent + 1, limit.sum + 1);
        assert!(!neither.is_within(&limit, &neither));
        let one = Exact { unbounded: 1, ..Exact::default() };
        assert!(!sum.and(&one).is_within(&limit, &one) && law.and(&one).is_within(&limit, &one));
        assert_eq!(sum.and(&one).minus(&one), sum);
        let leaky = Exact { leak: 10, ..sum };
        assert!(!leaky.is_within(&limit, &leaky));
    }

    #[test]
    fn wide_numbers_are_texts() {
        let limit = Exact::limit(1.0, 0.5, 0.25, 1.0);
        let text = serde_json::to_string(&limit).unwrap();
        assert!(text.contains("\"18446744073709551616\""), "{text}");
        assert_eq!(serde_json::from_str::<Exact>(&text).unwrap(), limit);
        assert!(serde_json::from_str::<Exact>(&text.replace("\"184", "\"+184")).is_err());
    }
}
