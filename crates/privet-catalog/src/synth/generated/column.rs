//! The columns of a generated table: the distribution of their values, and their effect on the log-odds.

use super::Kind;
use crate::synth::draw::Draw;

/// A column of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// The distribution of its values.
    pub law: Law,
    /// Its declared bounds.
    pub bounds: [f64; 2],
    pub(super) effect: Effect,
}

/// A distribution of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// Evenly between the bounds.
    Uniform,
    /// Normal about the middle, the bounds this many standard deviations apart.
    Normal(f64),
    /// The exponential of this multiple of z.
    Skewed(f64),
    /// A count with this mean.
    Count(f64),
    /// This many levels, equally frequent.
    Levels(u32),
    /// Zero with this probability, exponential otherwise.
    MostlyZero(f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Effect {
    None,
    Line(f64),
    Step(f64, f64),
    Corner(f64, f64),
    Wave(f64, f64),
}

/// A column of categories.
#[derive(Debug, Clone, PartialEq)]
pub struct Category {
    /// The number of categories.
    pub values: usize,
    /// The cumulative distribution: the probability of this category or an earlier one.
    pub(super) below: Vec<f64>,
    pub(super) effects: Vec<f64>,
}

/// 10 to a power that is uniform between two exponents.
pub(super) fn power(draw: &mut Draw, low: f64, high: f64) -> f64 {
    libm::pow(10.0, between(draw, low, high))
}

pub(super) fn between(draw: &mut Draw, low: f64, high: f64) -> f64 {
    low + (high - low) * draw.uniform()
}

impl Number {
    pub(super) fn new(draw: &mut Draw, kind: Kind, active: f64) -> Self {
        let (law, bounds) = match draw.below(6) {
            0 => (Law::Uniform, [0.0, power(draw, 0.0, 3.0).ceil()]),
            1 => {
                let half = power(draw, 0.0, 2.0).ceil();
                (Law::Normal(between(draw, 3.0, 8.0)), [-half, half])
            }
            2 => {
                let spread = between(draw, 0.5, 1.3);
                let top = libm::exp(3.0 * spread) * between(draw, 1.0, 4.0);
                (Law::Skewed(spread), [0.0, top.ceil()])
            }
            3 => {
                let mean = between(draw, 0.3, 6.0);
                (Law::Count(mean), [0.0, (8.0 * mean).max(5.0).ceil()])
            }
            4 => {
                let levels = 3 + draw.below(17) as u32;
                (Law::Levels(levels), [0.0, f64::from(levels - 1)])
            }
            _ => {
                let zero = between(draw, 0.7, 0.95);
                (Law::MostlyZero(zero), [0.0, power(draw, 1.0, 4.0).ceil()])
            }
        };
        let effect = if draw.uniform() < active { Effect::new(draw, kind) } else { Effect::None };
        Self { law, bounds, effect }
    }

    /// The value whose underlying normal variable is z, with q = Φ(z).
    pub(super) fn value(&self, draw: &mut Draw, z: f64, q: f64) -> f64 {
        let [low, high] = self.bounds;
        let value = match self.law {
            Law::Uniform => q * high,
            Law::Normal(deviations) => (high - low) * z / deviations,
            Law::Skewed(spread) => libm::exp(spread * z),
            Law::Count(mean) => count(draw, mean * libm::exp(0.5 * z)),
            Law::Levels(levels) => (q * f64::from(levels)).floor(),
            Law::MostlyZero(zero) if q < zero => 0.0,
            // An eighth of the bound on average.
            Law::MostlyZero(zero) => -libm::log((1.0 - q) / (1.0 - zero)) * high / 8.0,
        };
        value.clamp(low, high)
    }
}

impl Effect {
    fn new(draw: &mut Draw, kind: Kind) -> Self {
        let bent = match kind {
            Kind::Linear => false,
            Kind::Bent => true,
            Kind::Mixed | Kind::Sparse => draw.below(2) == 1,
        };
        let size = draw.normal();
        if !bent {
            return Self::Line(size);
        }
        match draw.below(3) {
            0 => Self::Step(1.5 * size, between(draw, 0.2, 0.8)),
            1 => Self::Corner(3.0 * size, between(draw, 0.2, 0.8)),
            _ => Self::Wave(1.5 * size, std::f64::consts::TAU * between(draw, 0.5, 1.0)),
        }
    }

    pub(super) fn of(self, z: f64, q: f64) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Line(size) => size * z,
            Self::Step(size, place) => size * f64::from(u8::from(q > place)),
            Self::Corner(size, place) => size * (q - place).abs(),
            Self::Wave(size, frequency) => size * libm::sin(frequency * q),
        }
    }
}

impl Category {
    pub(super) fn new(draw: &mut Draw, active: f64) -> Self {
        let values = 2 + draw.below(18) as usize;
        // Cubes of uniform numbers: a few frequent values and a tail of rare ones.
        let weights: Vec<f64> = (0..values).map(|_| cubed(draw.uniform()) + 0.002).collect();
        let total: f64 = weights.iter().sum();
        let below = weights.iter().scan(0.0, |sum, weight| {
            *sum += weight / total;
            Some(*sum)
        });
        let below = below.collect();
        let size = if draw.uniform() < active { between(draw, 0.3, 1.0) } else { 0.0 };
        Self { values, below, effects: (0..values).map(|_| size * draw.normal()).collect() }
    }
}

fn cubed(value: f64) -> f64 {
    value * value * value
}

/// A Poisson count, by multiplying uniform numbers.
fn count(draw: &mut Draw, mean: f64) -> f64 {
    let (limit, mut product, mut count) = (libm::exp(-mean), draw.uniform(), 0.0);
    while product > limit && count < 1e4 {
        product *= draw.uniform();
        count += 1.0;
    }
    count
}
