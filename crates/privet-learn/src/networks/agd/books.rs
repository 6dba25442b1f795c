//! What is spent on what, in ρ: read by the walk, which asks for no more, and by whoever replays a certificate.

use serde::{Deserialize, Serialize};

/// What more is spent on a gradient that turned out too noisy, as a share of what was.
const GROWTH: f64 = 0.1;
/// What of a step goes to its gradient at first; the rest to the choice of its length.
const GRADIENT: f64 = 0.8;

/// Prices at the start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Prices {
    /// Of everything.
    pub limit: f64,
    /// Of a gradient.
    pub gradient: f64,
    /// Of a choice of length; it stays.
    pub choice: f64,
}

impl Prices {
    /// A limit divided into steps.
    pub fn divided(limit: f64, steps: u32) -> Self {
        // A little less, so that all of them fit.
        let step = limit / f64::from(steps) * (1.0 - 1e-9);
        Self { limit, gradient: step * GRADIENT, choice: step * (1.0 - GRADIENT) }
    }

    /// The least that is ever spent on a gradient.
    pub fn least(&self) -> f64 {
        self.gradient * GROWTH
    }

    /// Gradients that the limit has room for, at most.
    pub fn most_gradients(&self) -> f64 {
        (self.limit / (self.least() + self.choice)).ceil() + 1.0
    }
}

/// How far a limit is used. Every gradient is paid for together with the choice after it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Books {
    prices: Prices,
    left: f64,
    /// What a gradient at a new point costs by now.
    gradient: f64,
}

impl Books {
    /// With nothing spent.
    pub fn new(prices: Prices) -> Self {
        Self { prices, left: prices.limit, gradient: prices.gradient }
    }

    /// The price of a gradient at a new point, and the books after it; `None` where there is no room.
    pub fn fresh(&self) -> Option<(f64, Self)> {
        self.paid(self.gradient, self.gradient)
    }

    /// The same of measuring the gradient again where it was too noisy.
    pub fn more(&self) -> Option<(f64, Self)> {
        self.paid(self.gradient * GROWTH, self.gradient * (1.0 + GROWTH))
    }

    /// All that may come next. Nothing is measured again before something was measured.
    pub fn both(&self) -> [Option<(f64, Self)>; 2] {
        let begun = self.left < self.prices.limit;
        [self.fresh(), self.more().filter(|_| begun)]
    }

    fn paid(&self, price: f64, gradient: f64) -> Option<(f64, Self)> {
        let left = self.left - price - self.prices.choice;
        (left >= 0.0).then_some((price, Self { left, gradient, ..*self }))
    }
}
