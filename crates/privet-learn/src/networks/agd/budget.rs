//! Budget books in ρ: read by the walk, whose queries they limit, and by the replay of a certificate.

use serde::{Deserialize, Serialize};

/// Further budget of a gradient that was too noisy, as a fraction of its budget before.
const GROWTH: f64 = 0.1;
/// Initial fraction of a step's budget for its gradient; the rest is for the choice of its length.
const GRADIENT: f64 = 0.8;

/// Prices at the start, in ρ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GradientPrices {
    /// Limit of the whole.
    pub limit: f64,
    /// Price of a gradient.
    pub gradient: f64,
    /// Price of a choice of length, a constant.
    pub choice: f64,
}

impl GradientPrices {
    /// Divides a limit into steps.
    pub fn for_steps(limit: f64, steps: u32) -> Self {
        // Slightly less, so that all of them fit.
        let step = limit / f64::from(steps) * (1.0 - 1e-9);
        Self { limit, gradient: step * GRADIENT, choice: step * (1.0 - GRADIENT) }
    }

    /// Least price of a gradient.
    pub fn least_gradient_price(&self) -> f64 {
        self.gradient * GROWTH
    }

    /// Upper bound on the number of gradients within the limit.
    pub fn most_gradients(&self) -> f64 {
        (self.limit / (self.least_gradient_price() + self.choice)).ceil() + 1.0
    }
}

/// Remaining budget. Every gradient is paid for together with the choice after it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GradientBudget {
    prices: GradientPrices,
    left: f64,
    /// Current price of a gradient at a new point.
    gradient: f64,
}

impl GradientBudget {
    /// Books without spending.
    pub fn new(prices: GradientPrices) -> Self {
        Self { prices, left: prices.limit, gradient: prices.gradient }
    }

    /// Price of a gradient at a new point, and the books after it; `None` if there is no room.
    pub fn buy_gradient(&self) -> Option<(f64, Self)> {
        self.pay(self.gradient, self.gradient)
    }

    /// Price of measuring a noisy gradient again, and the books after it; `None` if there is no room.
    pub fn buy_remeasurement(&self) -> Option<(f64, Self)> {
        self.pay(self.gradient * GROWTH, self.gradient * (1.0 + GROWTH))
    }

    /// All possible next gradients. Only a measured gradient is measured again.
    pub fn possible_purchases(&self) -> [Option<(f64, Self)>; 2] {
        let begun = self.left < self.prices.limit;
        [self.buy_gradient(), self.buy_remeasurement().filter(|_| begun)]
    }

    fn pay(&self, price: f64, gradient: f64) -> Option<(f64, Self)> {
        let left = self.left - price - self.prices.choice;
        (left >= 0.0).then_some((price, Self { left, gradient, ..*self }))
    }
}
