//! A claim, as a trade-off between an attacker's two error probabilities.
//!
//! A certificate claims a whole curve f ([`TradeOff`], with its theorem): every test with error
//! probability α on one neighbour has at least f(α) on the other. A printed (ε, δ) claims the two lines
//! 1 − δ − e^ε·α and e^{−ε}(1 − δ − α).
//!
//! A claim is refuted if a box that holds (α, β) with the stated confidence lies wholly below f: f is
//! decreasing, so the box's upper right corner decides.
//!
//! Tested by `the_curve_of_a_gaussian_release_is_the_known_one`.

use crate::AuditError;
use privet_core::{Budget, Range};
use privet_dp::account::{self, Cost, Event, Guarantee, TradeOff};

/// Limits on the confidence of a finding.
pub const CONFIDENCE: Range = Range::open("confidence", 0.5, 1.0);
/// The number of ε of an event's curve that are used.
const POINTS: u32 = 24;

/// A stated (ε, δ) and, if the events are known, the curve that they imply.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The stated ε.
    pub epsilon: f64,
    /// The stated δ.
    pub delta: f64,
    /// Trade-off curve of the events.
    curve: Option<TradeOff>,
    /// √Σ(Δ/σ)², if every event is a Gaussian release.
    gaussian: Option<f64>,
}

impl Claim {
    /// Claims a printed (ε, δ) alone.
    pub fn stated(budget: Budget) -> Self {
        let (epsilon, delta) = (budget.epsilon(), budget.delta());
        Self { epsilon, delta, curve: None, gaussian: None }
    }

    /// Claims a printed (ε, δ) of a mechanism that is a Gaussian release of some μ, so that the μ bound
    /// applies; its curve is left out.
    pub fn stated_gaussian(budget: Budget) -> Self {
        let mu = account::gaussian::mu(budget.epsilon(), budget.delta());
        Self { gaussian: Some(mu), ..Self::stated(budget) }
    }

    /// Claims a certificate's guarantee and the whole curve of its events.
    pub fn certified(guarantee: &Guarantee, events: &Event) -> Result<Self, AuditError> {
        let (epsilon, delta) = (guarantee.epsilon, guarantee.delta);
        let curve = Some(TradeOff::with_points(events, POINTS)?);
        Ok(Self { epsilon, delta, curve, gaussian: gaussian_mu(events) })
    }

    /// f(α), the smallest second error probability that the claim allows.
    pub fn least_second_error(&self, alpha: f64) -> f64 {
        let kept = 1.0 - self.delta;
        let steep = kept - libm::exp(self.epsilon) * alpha;
        let flat = libm::exp(-self.epsilon) * (kept - alpha);
        let curve = self.curve.as_ref().and_then(|curve| curve.at(alpha).ok()).unwrap_or(0.0);
        steep.max(flat).max(curve).max(0.0)
    }

    /// The claimed μ, if every event is Gaussian: only then does the μ bound apply.
    pub fn gaussian(&self) -> Option<f64> {
        self.gaussian
    }
}

/// √Σμ², if every leaf is a Gaussian release.
fn gaussian_mu(events: &Event) -> Option<f64> {
    fn squares(event: &Event) -> Option<f64> {
        match event {
            Event::Use {
                cost:
                    Cost::Gaussian { sensitivity, noise_scale, .. }
                    | Cost::ContinualGaussian { sensitivity, noise_scale, .. }
                    | Cost::IndividualGaussian { sensitivity, noise_scale, .. },
                ..
            } => Some((sensitivity / noise_scale).powi(2)),
            Event::Use { .. } | Event::Selected { .. } | Event::BestOf { .. } => None,
            Event::All(events) => events.iter().map(squares).sum(),
            Event::Repeat { count, event } | Event::UpTo { count, event } => {
                Some(f64::from(*count) * squares(event)?)
            }
        }
    }
    squares(events).map(libm::sqrt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal;
    use privet_core::{Neighbours, Unit};

    fn release(cost: Cost) -> Event {
        Event::Use { neighbours: Neighbours::ReplaceOne, unit: Unit::Record, cost }
    }

    #[test]
    fn the_curve_of_a_gaussian_release_is_the_known_one() {
        let cost = Cost::Gaussian { sensitivity: 1.0, noise_scale: 1.0, grid: None };
        let events = release(cost);
        let guarantee = account::guarantee(&events, 1e-5).unwrap();
        let claim = Claim::certified(&guarantee, &events).unwrap();
        for alpha in [0.01_f64, 0.1, 0.3, 0.5, 0.9] {
            let exact = normal::cdf(normal::quantile(1.0 - alpha) - 1.0);
            let claimed = claim.least_second_error(alpha);
            assert!(claimed <= exact && claimed > exact - 0.02, "{alpha}: {claimed} of {exact}");
        }
        assert!((claim.gaussian().unwrap() - 1.0).abs() < 1e-12);
        let repeated = Event::Repeat { count: 4, event: Box::new(events) };
        assert!((gaussian_mu(&repeated).unwrap() - 2.0).abs() < 1e-12);
        let cost = Cost::Laplace { sensitivity: 1.0, noise_scale: 1.0, step: None };
        assert_eq!(gaussian_mu(&Event::All(vec![repeated, release(cost)])), None);
    }

    #[test]
    fn a_stated_pair_is_two_lines() {
        let claim = Claim::stated(Budget::new(1.0, 0.0).unwrap());
        assert!((claim.least_second_error(0.0) - 1.0).abs() < 1e-15);
        let corner = 1.0 / (1.0 + 1_f64.exp());
        assert!((claim.least_second_error(corner) - corner).abs() < 1e-12);
        assert_eq!(claim.least_second_error(1.0), 0.0);
    }
}
