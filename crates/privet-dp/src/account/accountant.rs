//! From an event to (ε, δ): the smallest of the applicable bounds.
//!
//! δ(ε) of the reduced tree ([`super::parts`]) is the least of
//! - the exact Gaussian curve when nothing else is there; the part's own curve, averaged over the
//!   Gaussian parts' loss, when there is one part; K-fold randomised response; one-versus-all;
//! - the composition of loss distributions ([`super::distribution`]);
//! - where that is not tight, Rényi bounds ([`super::renyi`]) and advanced composition.
//!
//! Then the leak and the distance of grids from ideal laws are added. The latter grows with e^ε; where
//! it dominates, the grid is charged by its ratio instead ([`super::parts`]), and since (ε,δ)-DP
//! implies (ε′,δ)-DP for ε′ > ε, beyond the ε where the sum is least nothing changes any more.

use super::distribution::{Composed, Effort};
use super::error::{AccountError, probability};
use super::event::Event;
use super::parts::{Part, Parts};
use super::seen_by::SeenBy;
use super::{classes, compose, concentrated, distribution, gaussian, merge, pure, renyi, selected};
use privet_core::{Budget, DELTA, Neighbours, Unit};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The largest r for which a grid is charged by its ratio.
const LARGEST_GRID_RATIO: f64 = 1e-3;
/// The largest number of uses for which K-fold randomised response is summed term by term.
const SUMMED: u64 = 20_000;
/// The largest ε that is searched: beyond, e^ε overflows.
const LARGEST_EPSILON: f64 = 700.0;

/// The (ε, δ) guarantee of an event.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guarantee {
    /// The neighbour relation.
    pub neighbours: Neighbours,
    /// The unit of protection.
    pub unit: Unit,
    /// The privacy parameter ε; infinite if no finite one holds, written as the word "infinity".
    #[serde(serialize_with = "write_epsilon", deserialize_with = "read_epsilon")]
    pub epsilon: f64,
    /// The privacy parameter δ.
    #[serde(deserialize_with = "read_delta")]
    pub delta: f64,
    /// The observers towards whom it holds.
    #[serde(default, skip_serializing_if = "SeenBy::is_everyone")]
    pub seen_by: SeenBy,
}

impl Guarantee {
    /// A guarantee towards everyone.
    pub fn new(neighbours: Neighbours, unit: Unit, epsilon: f64, delta: f64) -> Self {
        Self { neighbours, unit, epsilon, delta, seen_by: SeenBy::Everyone }
    }

    /// Returns the same guarantee if it holds towards everyone; an error if the unit itself is excluded.
    pub fn for_everyone(self) -> Result<Self, AccountError> {
        if self.seen_by.is_everyone() { Ok(self) } else { Err(AccountError::NotForEveryone) }
    }
}

/// An upper bound on the δ at which `event` is (ε, δ)-differentially private, for ε ≥ 0.
pub fn delta(event: &Event, epsilon: f64) -> Result<f64, AccountError> {
    let epsilon = super::error::non_negative("epsilon", epsilon)?;
    Ok(Parts::new(event)?.delta(epsilon))
}

/// An upper bound on the smallest ε at which `event` is (ε, δ)-differentially private; infinite if no
/// finite one is found.
pub fn epsilon(event: &Event, delta: f64) -> Result<f64, AccountError> {
    let delta = probability("delta", delta)?;
    Ok(Parts::new(event)?.epsilon(delta))
}

/// The guarantee of `event` at this δ.
pub fn guarantee(event: &Event, delta: f64) -> Result<Guarantee, AccountError> {
    let delta = probability("delta", delta)?;
    let parts = Parts::new(event)?;
    let epsilon = parts.epsilon(delta);
    Ok(Guarantee::new(parts.neighbours, parts.unit, epsilon, delta))
}

/// The neighbour relation and unit that every leaf of `event` was charged for.
pub fn relation(event: &Event) -> Result<(Neighbours, Unit), AccountError> {
    let parts = Parts::new(event)?;
    Ok((parts.neighbours, parts.unit))
}

/// True if `event` is proved to meet the budget.
pub fn meets(event: &Event, budget: Budget) -> Result<bool, AccountError> {
    Ok(delta(event, budget.epsilon())? <= budget.delta())
}

/// The effort to spend on a bound on δ; every bound is valid.
#[derive(Debug, Clone, Copy)]
pub(super) enum BoundPrecision<'a> {
    /// As tight as possible, unless a cheap bound is well below this value.
    Below(f64),
    /// A rough bound, to steer a search; cheaper still if it is well below this value.
    Rough(f64),
    /// A bound from an existing composition.
    From(&'a Composed),
}

impl BoundPrecision<'_> {
    fn precision(self) -> f64 {
        match self {
            Self::Below(enough) | Self::Rough(enough) => enough,
            Self::From(_) => 0.0,
        }
    }
}

impl Parts {
    /// Upper bound on δ at ε ≥ 0.
    pub fn delta(&self, epsilon: f64) -> f64 {
        self.bound_delta(epsilon, BoundPrecision::Below(0.0))
    }

    /// Upper bound on δ at ε ≥ 0.
    pub(super) fn bound_delta(&self, epsilon: f64, precision: BoundPrecision) -> f64 {
        if self.distance == 0.0 || self.leak >= 1.0 {
            return self.leaky(epsilon, precision);
        }
        let enough = precision.precision();
        let epsilon = epsilon.min(LARGEST_EPSILON);
        let charge = |e: f64| (1.0 + libm::exp(e)) * self.distance * (1.0 + 1e-14);
        let charged = |e: f64| self.leaky(e, precision) + charge(e);
        let ideal = self.leaky(epsilon, precision);
        let here = ideal + charge(epsilon);
        // The ideal curve is no lower at any smaller ε, so no search can reach `enough`.
        if enough > 0.0 && ideal > enough {
            return here.min(1.0);
        }
        // A leak's share does not fall with ε: any growth of the charge counts.
        let smooth = self.smooth();
        let negligible = if smooth && self.leak > 0.0 { f64::EPSILON } else { 1e-3 };
        if here <= enough || charge(epsilon) <= negligible * here {
            return here.min(1.0);
        }
        // The charge matters, and it grows with ε: whatever holds at a smaller ε holds here, so the
        // bound falls to its least value and stays there. The alternative is the ratio's charge.
        // Compositions are costly: few steps, and none where the charge alone is above 1.
        let useful = libm::log(1.0 / self.distance).clamp(0.0, LARGEST_EPSILON);
        let search = if smooth { (60, useful) } else { (6, epsilon.min(useful)) };
        let by_distance = charged(lowest(search, charged).min(epsilon));
        let by_ratio = if self.ratio < LARGEST_GRID_RATIO && epsilon > 2.0 * self.ratio {
            let charged = |e: f64| {
                let close = (e - 2.0 * self.ratio) * (1.0 - 2.0 * f64::EPSILON);
                let rare = (1.0 + libm::exp(e)) * self.outside;
                let ideal = if close >= 0.0 { self.leaky(close, precision) } else { 1.0 };
                (libm::exp(self.ratio) * ideal + rare) * (1.0 + 1e-14)
            };
            let best = if smooth { lowest((60, LARGEST_EPSILON), charged) } else { epsilon };
            charged(best.min(epsilon))
        } else {
            1.0
        };
        by_distance.min(by_ratio).min(here).min(1.0)
    }

    /// The smallest charge of the grids, at any ε.
    fn least_charge(&self) -> f64 {
        if self.ratio < LARGEST_GRID_RATIO {
            self.distance.min(self.outside)
        } else {
            self.distance
        }
    }

    /// Upper bound on the smallest ε at this δ.
    pub fn epsilon(&self, delta: f64) -> f64 {
        if self.leak > delta {
            return f64::INFINITY;
        }
        let pure = self.pure();
        if let Some(epsilon) = pure {
            if delta == self.leak {
                return epsilon;
            }
        } else if delta <= self.leak + self.least_charge() {
            return f64::INFINITY;
        }
        let gaussian_only = self.rest.is_empty() && self.selected.is_empty();
        if gaussian_only && self.distance == 0.0 && self.leak == 0.0 {
            return gaussian::epsilon(delta, self.mu());
        }
        // `high` always holds, so stopping at any point is safe.
        let most = pure.unwrap_or(LARGEST_EPSILON);
        let probe = |e: f64, wanted: BoundPrecision| {
            let d = self.bound_delta(e, wanted);
            (d <= delta, libm::log(d.max(1e-320)) - libm::log(delta.max(1e-320)))
        };
        let full = |e: f64| probe(e, BoundPrecision::Below(delta));
        if !self.selected.is_empty() {
            return crossing(most, 1e-10, full);
        }
        if self.smooth() {
            return crossing(most, 1e-13, full);
        }
        // Compositions are costly, but one gives bounds at every ε: search on a rough one, then compose
        // anew at each result, until a composition's result is the ε that it was made for. A caller that
        // computes δ there makes the same composition.
        let (Some(rest), nu) = (self.lossy(), self.mu()) else { return f64::INFINITY };
        if delta < distribution::LEAST_RESULT {
            return crossing(most, 1e-8, full);
        }
        // Many compositions would only show the same slowly; and grids only add.
        if self.leaky(most, BoundPrecision::Below(delta)) > delta {
            return f64::INFINITY;
        }
        let mut near = distribution::guess(&rest, nu, delta).min(most);
        for effort in [Effort::Rough, Effort::Full, Effort::Full, Effort::Full, Effort::Full] {
            let Some(composed) = Composed::new(&rest, nu, near, effort) else { break };
            let inside = |e: f64| probe(e, BoundPrecision::From(&composed));
            let found = crossing_near(near, most, inside);
            let here = distribution::cell(found) == distribution::cell(near);
            near = found;
            if effort == Effort::Full && here && inside(found).0 {
                // Grids are charged with the help of other ε, which have compositions of their own.
                if self.distance == 0.0 {
                    return found;
                }
                break;
            }
        }
        if full(near).0 {
            return near;
        }
        crossing(most, 1e-6, full)
    }

    fn leaky(&self, e: f64, precision: BoundPrecision) -> f64 {
        if self.leak >= 1.0 {
            return 1.0;
        }
        let ideal = self.ideal(e, precision);
        if self.leak == 0.0 {
            return ideal;
        }
        (self.leak + (1.0 - self.leak) * ideal * (1.0 + 1e-15)).min(1.0)
    }

    /// The curve of the composition, never below a curve known to be attained: a lower result is a
    /// numerical failure, whatever the cause (NaN included).
    fn ideal(&self, e: f64, precision: BoundPrecision) -> f64 {
        if !self.selected.is_empty() {
            return renyi::delta_by(e, |order| selected::divergence(self, order));
        }
        let squares =
            self.rest.iter().map(|(part, count)| *count as f64 * part.attained_mu().powi(2));
        let floor = gaussian::delta(e, libm::sqrt(self.mu().powi(2) + squares.sum::<f64>()));
        // Nor below the curve of one use of anything whose curve is attained. Below every budget both
        // are rounded up from 0.
        let alone = self.rest.iter().fold(0.0, |most: f64, (part, _)| match part {
            Part::Concentrated(_) | Part::Objective(_) => most,
            part => most.max(part.delta(e)),
        });
        let floor = if alone > 1e-300 { floor.max(alone) } else { floor };
        let composed = self.rest.len() > 1 || self.rest.iter().any(|(_, count)| *count > 1);
        let objectives = self.rest.iter().any(|(part, _)| part.attained_mu() > 0.0);
        if composed && objectives && floor > 0.3 {
            return 1.0; // worthless; composing distributions would only say so slowly
        }
        match self.bounded_above(e, precision) {
            found if found >= floor * (1.0 - 1e-9) => found.min(1.0),
            _ => 1.0,
        }
    }

    fn bounded_above(&self, e: f64, precision: BoundPrecision) -> f64 {
        let nu = self.mu();
        let Some(rest) = self.lossy() else { return 1.0 };
        if rest.is_empty() {
            return gaussian::delta(e, nu);
        }
        if self.pure().is_some_and(|epsilon| e >= epsilon) {
            return 0.0;
        }
        if let [(part, count)] = rest[..] {
            match part {
                // Beside larger Gaussian releases this closed form is loose: compose, too.
                Part::Objective(objective) if count == 1 && nu <= 0.5 * objective.shift() => {
                    return objective.larger_delta(e, nu);
                }
                Part::Response(epsilon) if count <= SUMMED => {
                    return pure::repeated_response(e, epsilon, count, nu);
                }
                Part::Concentrated(rho) if nu == 0.0 => {
                    return concentrated::delta(rho * count as f64 * (1.0 + 1e-15), e);
                }
                _ if count == 1 && nu == 0.0 => return part.delta(e),
                _ => {}
            }
        }
        if let BoundPrecision::From(composed) = precision {
            return composed.delta(e);
        }
        // Composing distributions takes milliseconds and more: skip it where it cannot matter, and where
        // no composition resolves values this small.
        let quick = distribution::quick_delta(&rest, nu, e);
        if quick <= 1e-3 * precision.precision() {
            return quick;
        }
        let beyond = quick <= distribution::LEAST_RESULT
            || (precision.precision() > 0.0 && precision.precision() < distribution::LEAST_RESULT);
        if let (BoundPrecision::Rough(_), false) = (precision, beyond) {
            return distribution::delta(&rest, nu, e, Effort::Rough).min(quick);
        }
        let (composed, tight) =
            if beyond { (1.0, false) } else { distribution::tight_delta(&rest, nu, e) };
        let mut least = composed.min(quick);
        if let [(Part::Objective(objective), 1)] = rest[..] {
            least = least.min(objective.larger_delta(e, nu));
        }
        if let [(Part::Objective(objective), count)] = rest[..]
            && count <= SUMMED
            && let Some((determinant, mu)) = objective.fixed_sign()
        {
            least = least.min(classes::one_versus_all(e, determinant, mu, count, nu));
        }
        // The bounds below are looser, except for curves that are themselves moment bounds.
        if tight && !rest.iter().any(|(part, _)| matches!(part, Part::Concentrated(_))) {
            return least;
        }
        if nu == 0.0 && rest.iter().all(|(part, _)| part.bound().is_some()) {
            let parts = rest.iter().map(|(part, count)| (part.bound().unwrap_or(0.0), *count));
            least = least.min(compose::advanced_delta(parts, e));
        }
        if let Some(mu) = unsampled(&rest, nu) {
            least = least.min(gaussian::delta(e, mu));
        }
        least.min(renyi::delta(&rest, nu, e))
    }

    /// The parts that are not Gaussian and have a nonzero loss; `None` if there are too many.
    fn lossy(&self) -> Option<Vec<(Part, u64)>> {
        let lossy = self.rest.iter().copied().filter(|(part, _)| part.bound() != Some(0.0));
        merge::merge_parts(lossy.collect())
    }
}

/// A Gaussian release that dominates these sampled ones and one of parameter ν together: Theorem 4 of
/// [`super::sampled`], rounded up; `None` if there are other parts.
fn unsampled(rest: &[(Part, u64)], nu: f64) -> Option<f64> {
    let mut total = nu;
    for (part, count) in rest {
        let Part::Sampled(sampled) = part else { return None };
        // Squares of small shifts would vanish.
        total = libm::hypot(total, sampled.unsampled() * libm::sqrt(*count as f64));
    }
    Some(total * (1.0 + f64::EPSILON * (4.0 + 4.0 * rest.len() as f64)))
}

/// Approximate minimiser, on [0, `most`], of a function of ε that falls, then rises: so many steps of
/// golden section.
fn lowest((rounds, most): (usize, f64), value: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let (mut low, mut high) = (0.0, most);
    let (mut left, mut right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut at_left, mut at_right) = (value(left), value(right));
    for _ in 0..rounds {
        // At first δ may be 1 on both sides: search larger ε.
        if at_left < at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - GOLDEN * (high - low);
            at_left = value(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + GOLDEN * (high - low);
            at_right = value(right);
        }
    }
    0.5 * (low + high)
}

/// A point just above the smallest ε up to `most` at which a condition holds, infinite if there is none;
/// `probe` as in [`super::calibrate::shrink`]. Doubles until it holds, then a secant.
fn crossing(most: f64, tolerance: f64, probe: impl Fn(f64) -> (bool, f64)) -> f64 {
    let mut low = (0.0, probe(0.0));
    if low.1.0 {
        return 0.0;
    }
    let first = most.min(0.125);
    let mut high = (first, probe(first));
    while !high.1.0 {
        if high.0 >= most {
            return f64::INFINITY;
        }
        low = high;
        let next = (2.0 * high.0).min(most);
        high = (next, probe(next));
    }
    super::calibrate::shrink((low.0, low.1.1), (high.0, high.1.1), tolerance, probe)
}

/// As [`crossing`], started near a point; returns the point itself if no crossing is found there.
fn crossing_near(point: f64, most: f64, probe: impl Fn(f64) -> (bool, f64)) -> f64 {
    let start = (point, probe(point));
    let (mut low, mut high) = (start, start);
    let mut reach = 1e-3 * (1.0 + point);
    for _ in 0..8 {
        if low.0 == 0.0 && low.1.0 {
            return 0.0;
        }
        if high.1.0 && !low.1.0 {
            let (low, high) = ((low.0, low.1.1), (high.0, high.1.1));
            return super::calibrate::shrink(low, high, 1e-10, probe);
        }
        if high.1.0 {
            let next = (low.0 - reach).max(0.0);
            (high, low) = (low, (next, probe(next)));
        } else {
            let next = (high.0 + reach).min(most);
            (low, high) = (high, (next, probe(next)));
        }
        reach *= 3.0;
    }
    point
}

impl Part {
    /// A μ such that some pair of data sets makes this part at least as bad as μ-GDP: the Gaussian
    /// shift of a perturbed objective (§ *Tight* of [`super::objective`]); 0 where none is known.
    fn attained_mu(&self) -> f64 {
        match self {
            Self::Objective(objective) => objective.shift(),
            _ => 0.0,
        }
    }

    /// The curve of one part that needs no direction, at every real e.
    pub fn delta(&self, e: f64) -> f64 {
        match *self {
            Self::Response(epsilon) => pure::response(e, epsilon),
            Self::Laplace(epsilon) => pure::laplace(e, epsilon),
            Self::DiscreteLaplace(shift, unit) => pure::discrete_laplace(e, shift, unit),
            Self::BoundedRange(range) => pure::bounded_range(e, range),
            Self::Concentrated(rho) => concentrated::delta(rho, e),
            Self::Objective(objective) => objective.larger_delta(e, 0.0),
            Self::Sampled(sampled) => sampled.larger_delta(e),
        }
    }
}

fn write_epsilon<S: Serializer>(epsilon: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if *epsilon == f64::INFINITY {
        serializer.serialize_str("infinity")
    } else {
        serializer.serialize_f64(*epsilon)
    }
}

/// Restricts δ to the limits of a budget, so that the work of a verifier is bounded.
fn read_delta<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    DELTA.check(f64::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

fn read_epsilon<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(f64),
        Word(String),
    }
    match Written::deserialize(deserializer)? {
        Written::Number(epsilon) if (0.0..f64::INFINITY).contains(&epsilon) => Ok(epsilon),
        Written::Word(word) if word == "infinity" => Ok(f64::INFINITY),
        Written::Number(epsilon) => Err(serde::de::Error::custom(format!(
            "epsilon = {epsilon}: a finite number of at least 0, or \"infinity\", is needed"
        ))),
        Written::Word(word) => Err(serde::de::Error::custom(format!(
            "epsilon = \"{word}\": a finite number of at least 0, or \"infinity\", is needed"
        ))),
    }
}
