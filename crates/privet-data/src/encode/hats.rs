//! Hats: piecewise-linear functions of a number, each 1 at its own knot and 0 at all others.
//!
//! Between two knots their two hats share a number in proportion to its distance from each; before the
//! first knot and after the last, the nearest hat is 1. So the entries of a number are non-negative,
//! sum to 1 and at most two are not 0: rows stay sparse however many knots there are.
//!
//! All positions are in the column's own coordinate, t = (g(v) − g(low))/(g(high) − g(low)) in [0, 1],
//! where g is the identity, ln(1 + v − low) for a column with `log1p`, or ln(1 + v) for knots that are
//! even in the logarithm. A pure function of one value, computed in one order: a row has the same bits
//! at any index.

use crate::schema::{HatsFacts, Knots};

/// The coordinate in which knots are placed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Coordinate {
    /// The number itself.
    Plain,
    /// Logarithmic from the lower bound, ln(1 + v − low).
    FromLow,
    /// Logarithmic, ln(1 + v), for bounds from 0.
    Log,
}

impl Coordinate {
    /// The coordinate t of a value within the bounds.
    pub(super) fn of(self, value: f64, low: f64, high: f64) -> f64 {
        let share = match self {
            Self::Plain => (value - low) / (high - low),
            Self::FromLow => libm::log1p(value - low) / libm::log1p(high - low),
            Self::Log => {
                let (bottom, top) = (libm::log1p(low), libm::log1p(high));
                (libm::log1p(value) - bottom) / (top - bottom)
            }
        };
        share.clamp(0.0, 1.0)
    }

    /// The value at coordinate t, for names.
    pub(super) fn value_at(self, t: f64, low: f64, high: f64) -> f64 {
        let value = match self {
            Self::Plain => low + t * (high - low),
            Self::FromLow => low + libm::expm1(t * libm::log1p(high - low)),
            Self::Log => {
                let (bottom, top) = (libm::log1p(low), libm::log1p(high));
                libm::expm1(bottom + t * (top - bottom))
            }
        };
        value.clamp(low, high)
    }
}

/// The hats of one number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hats {
    coordinate: Coordinate,
    low: f64,
    high: f64,
    /// Knots, rising, in [0, 1].
    knots: Vec<f64>,
    cyclic: bool,
    pub(super) weight: f64,
}

impl Hats {
    /// The hats of a column with these bounds; `from_low` if it has a `log1p` transform.
    pub(super) fn new(facts: &HatsFacts, (low, high): (f64, f64), from_low: bool) -> Self {
        let coordinate = match (&facts.knots, from_low) {
            (Knots::Log, _) => Coordinate::Log,
            (_, true) => Coordinate::FromLow,
            (_, false) => Coordinate::Plain,
        };
        let count = facts.count as usize;
        let knots = match &facts.knots {
            Knots::At(values) => values.iter().map(|v| coordinate.of(*v, low, high)).collect(),
            // On a circle the last knot lies one step before the first.
            Knots::Even | Knots::Log => {
                let steps = if facts.cyclic { count } else { count - 1 };
                (0..count).map(|place| place as f64 / steps as f64).collect()
            }
        };
        Self { coordinate, low, high, knots, cyclic: facts.cyclic, weight: facts.weight }
    }

    pub(super) fn count(&self) -> u32 {
        self.knots.len() as u32
    }

    pub(super) fn coordinate(&self) -> Coordinate {
        self.coordinate
    }

    pub(super) fn bounds(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The values at all knots.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        (0..self.knots.len()).map(|place| self.value_at(place))
    }

    /// The value at a knot.
    pub(super) fn value_at(&self, place: usize) -> f64 {
        self.coordinate.value_at(self.knots[place], self.low, self.high)
    }

    /// The knots, in [0, 1].
    pub(super) fn knots(&self) -> impl Iterator<Item = f64> {
        self.knots.iter().copied()
    }

    /// The hats that are not 0 at a finite value, with their heights before the weight.
    pub(super) fn at(&self, value: f64) -> [(u32, f64); 2] {
        let (low, high) = (self.low, self.high);
        self.at_place(self.coordinate.of(value.clamp(low, high), low, high))
    }

    /// The same at a coordinate in [0, 1].
    pub(super) fn at_place(&self, t: f64) -> [(u32, f64); 2] {
        let last = self.knots.len() - 1;
        let after = self.knots.partition_point(|knot| *knot <= t);
        let (left, right, width, gone) = match after {
            0 if !self.cyclic => return [(0, 1.0), (0, 0.0)],
            _ if after > last && !self.cyclic => return [(last as u32, 1.0), (last as u32, 0.0)],
            // Across the seam of the circle.
            0 => (last, 0, 1.0 - self.knots[last] + self.knots[0], t + 1.0 - self.knots[last]),
            _ if after > last => {
                (last, 0, 1.0 - self.knots[last] + self.knots[0], t - self.knots[last])
            }
            _ => {
                let left = after - 1;
                (left, after, self.knots[after] - self.knots[left], t - self.knots[left])
            }
        };
        let share = (gone / width).clamp(0.0, 1.0);
        [(left as u32, 1.0 - share), (right as u32, share)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_hats() -> impl Strategy<Value = (HatsFacts, f64, f64, bool)> {
        let knots = prop::sample::select(vec![Knots::Even, Knots::Log]);
        (3..40_u32, knots, any::<bool>(), 0.0..50.0_f64, 0.1..1e5_f64, any::<bool>()).prop_map(
            |(count, knots, cyclic, low, span, from_low)| {
                (HatsFacts { count, knots, cyclic, weight: 1.0 }, low, low + span, from_low)
            },
        )
    }

    proptest! {
        /// At most two entries, non-negative, of sum 1, and linear between knots.
        #[test]
        fn hats_share_a_number((facts, low, high, from_low) in any_hats(), at in -0.2..1.2_f64) {
            let hats = Hats::new(&facts, (low, high), from_low);
            let [(i, a), (j, b)] = hats.at(low + at * (high - low));
            prop_assert!(a >= 0.0 && b >= 0.0 && (a + b - 1.0).abs() < 1e-12);
            prop_assert!(i < facts.count && j < facts.count);
            prop_assert!(b == 0.0 || j == i + 1 || (facts.cyclic && (i, j) == (facts.count - 1, 0)));
        }

        #[test]
        fn a_knot_has_its_own_hat((facts, low, high, from_low) in any_hats(), place in 0..40_usize) {
            let hats = Hats::new(&facts, (low, high), from_low);
            let place = place % facts.count as usize;
            let entries = hats.at(hats.value_at(place));
            let own: f64 = entries.iter().filter(|(at, _)| *at as usize == place).map(|e| e.1).sum();
            prop_assert!(own > 1.0 - 1e-6, "{entries:?}");
        }
    }

    #[test]
    fn a_circle_closes() {
        let facts = HatsFacts { cyclic: true, ..HatsFacts::even(12) };
        let hats = Hats::new(&facts, (0.0, 24.0), false);
        assert_eq!(hats.at(0.0)[0], (0, 1.0));
        let [(before, a), (after, b)] = hats.at(23.0);
        assert_eq!((before, after), (11, 0));
        assert!((a - 0.5).abs() < 1e-12 && (b - 0.5).abs() < 1e-12);
        assert_eq!(hats.at(24.0)[1].0, 0);
        assert!((hats.at(24.0)[1].1 - 1.0).abs() < 1e-12, "midnight is midnight");
    }

    #[test]
    fn listed_knots_are_where_they_were_put() {
        let knots = Knots::At(vec![0.0, 18.0, 65.0]);
        let facts = HatsFacts { count: 3, knots, cyclic: false, weight: 1.0 };
        let hats = Hats::new(&facts, (0.0, 120.0), false);
        assert_eq!(hats.at(18.0)[0], (1, 1.0));
        assert_eq!(hats.at(100.0), [(2, 1.0), (2, 0.0)]);
        assert!((hats.at(9.0)[0].1 - 0.5).abs() < 1e-12);
        assert!((hats.value_at(1) - 18.0).abs() < 1e-9);
    }
}
