//! One loss on a grid, and the moments of sums of such losses.
//!
//! [`Masses`] holds the result of connecting the dots of a curve (see [`super::distribution`]): a loss
//! that dominates the true one. Its dots are exact multiples of the step, all of them or a subset.
//! [`moments`] are those of the tilted sum, K(s) = Σ count·ln E e^{sU}; [`chernoff`] finds the tilt for
//! an e, [`margins`] the distance around e that a window must cover.

use super::curve::HalfCurves;
use super::hull::{Dots, exact_index, exact_step};
use super::objective::Direction;

/// Largest exponent that is safely exponentiated directly.
const LARGE_EXPONENT: f64 = 600.0;
/// The largest tilt that is tried.
const STEEPEST: f64 = 1e200;
/// Relative error of a handful of operations.
const UNIT: f64 = 4.0 * f64::EPSILON;

/// K(s) = ln E e^{sU}, up to `doubt`, and mean and variance of the tilted loss.
///
/// `doubt` bounds rounding errors, multiplied by the number of uses when losses are added up: of each
/// exponent s·loss, of each exponential and product, of their sum, and of a total mass that is 1 up to
/// rounding. The errors of the masses themselves are in [`super::hull`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Moments {
    /// The logarithm K(s) of the moment.
    pub ln: f64,
    /// Mean K′(s) of the tilted loss.
    pub mean: f64,
    /// Variance K″(s) of the tilted loss, roughly.
    pub variance: f64,
    /// Error bound of K(s).
    pub doubt: f64,
}

/// A loss on a grid: probability `mass[k]` of `index[k]`·step, `infinite` of ∞; used `count` times.
#[derive(Debug, Clone)]
pub struct Masses {
    /// Losses in units of the step, increasing.
    pub index: Vec<i64>,
    /// Width of a bin.
    pub step: f64,
    /// The probability of each loss.
    pub mass: Vec<f64>,
    /// Probability of ∞.
    pub infinite: f64,
    /// The number of uses.
    pub count: u64,
    /// The excess η: the true loss dominates this one less η, see [`super::lower_bound`].
    pub excess: f64,
}

impl Masses {
    /// Connects the dots at these multiples of the step (0 first, increasing) and their negatives.
    pub fn on_dots(
        curve: &HalfCurves,
        direction: Direction,
        dots: &[i64],
        step: f64,
        count: u64,
    ) -> Self {
        let reverse = match direction {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        };
        let below = dots.iter().skip(1).rev().map(|dot| -dot);
        let index: Vec<i64> = below.chain(dots.iter().copied()).collect();
        let value = |dot: &i64| {
            let loss = *dot as f64 * step;
            if *dot < 0 {
                libm::exp(loss) * curve.at(reverse, -loss)
            } else {
                curve.at(direction, loss)
            }
        };
        let w = index.iter().map(value).collect();
        Self::connect_dots(index, w, step, count)
    }

    /// A coarse grid for losses of many sizes.
    pub fn on_scales(curve: &HalfCurves, direction: Direction, reach: f64, count: u64) -> Self {
        let most = (1_i64 << 40) as f64;
        let step = exact_step(reach / most);
        let grow = (0..260)
            .rev()
            .map(|k| exact_index(libm::round(most * libm::exp(-0.1 * f64::from(k))) as i64));
        let mut dots: Vec<i64> = std::iter::once(0).chain(grow).collect();
        dots.dedup();
        Self::on_dots(curve, direction, &dots, step, count)
    }

    /// Connects dots with w = v − (1−x)₊ at them: above 0 the curve itself, below 0 e^loss times
    /// the other direction's.
    fn connect_dots(index: Vec<i64>, w: Vec<f64>, step: f64, count: u64) -> Self {
        let x: Vec<f64> = index.iter().map(|dot| libm::exp(*dot as f64 * step)).collect();
        let infinite = w.last().copied().unwrap_or(1.0);
        let dots = Dots { index: &index, x: &x, w: &w, step };
        // No mass may get lost: where e^loss overflows (huge losses), all of it goes to ∞.
        if let Some(mass) = dots.masses()
            && (mass.iter().sum::<f64>() + infinite - 1.0).abs() <= 1e-9
        {
            let excess = super::lower_bound::excess(&dots, &mass);
            return Self { index, step, mass, infinite, count, excess };
        }
        let excess = f64::INFINITY;
        Self { index: vec![0], step, mass: vec![0.0], infinite: 1.0, count, excess }
    }

    /// Connects the dots at −dots…dots, given both directions' values at 0…dots.
    pub fn new(halves: (&[f64], &[f64]), direction: Direction, step: f64, count: u64) -> Self {
        let (ahead, back) = match direction {
            Direction::Forward => halves,
            Direction::Backward => (halves.1, halves.0),
        };
        let dots = ahead.len() - 1;
        let below = (1..=dots).rev().map(|k| libm::exp(-(k as f64) * step) * back[k]);
        let w = below.chain(ahead.iter().copied()).collect();
        Self::connect_dots((-(dots as i64)..=dots as i64).collect(), w, step, count)
    }

    /// The largest index.
    pub fn highest(&self) -> i64 {
        self.index.last().copied().unwrap_or(0)
    }

    /// The largest loss.
    pub fn top(&self) -> f64 {
        self.highest() as f64 * self.step
    }

    /// Moments of e^{s·loss}.
    pub fn tilted(&self, tilt: f64) -> Moments {
        // The logarithm of the largest summand, nearly.
        let scale = self
            .present()
            .map(|(loss, mass)| tilt * loss + ln_nearly(mass))
            .fold(f64::NEG_INFINITY, f64::max);
        if scale < LARGE_EXPONENT { self.near_one(tilt) } else { self.scaled(tilt, scale) }
    }

    /// ln(1 + Σ mass·(e^{s·loss}−1)): tiny losses keep their digits, whatever is missing at 0.
    fn near_one(&self, tilt: f64) -> Moments {
        let (mut up, mut down) = (Sum::default(), Sum::default());
        let (mut mean, mut square, mut turned) = (0.0, 0.0, 0.0);
        for (loss, mass) in self.present() {
            let exponent = tilt * loss;
            let more = libm::expm1(exponent);
            if more > 0.0 {
                up.add(mass * more)
            } else {
                down.add(-mass * more)
            }
            let weight = mass * (1.0 + more);
            mean += weight * loss;
            square += weight * loss * loss;
            turned += weight * exponent.abs();
        }
        let (up, down) = (up.total(), down.total());
        let sum = 1.0 + (up - down);
        let ln = libm::log1p(up - down);
        let doubt = UNIT * (2.0 + ln.abs() + (up + down + turned) / sum);
        let mean = mean / sum;
        Moments { ln, mean, variance: (square / sum - mean * mean).max(0.0), doubt }
    }

    /// As [`Masses::near_one`], where e^{s·loss} overflows.
    fn scaled(&self, tilt: f64, scale: f64) -> Moments {
        let (mut sum, mut mean, mut square, mut turned) = (0.0, 0.0, 0.0, 0.0);
        for (loss, mass) in self.present() {
            let weight = scaled_mass(mass, tilt * loss - scale);
            sum += weight;
            mean += weight * loss;
            square += weight * loss * loss;
            turned += weight * (tilt * loss).abs();
        }
        let (ln, mean) = (scale + libm::log(sum), mean / sum);
        let doubt = UNIT * (2.0 + scale.abs() + ln.abs() + turned / sum + self.mass.len() as f64);
        Moments { ln, mean, variance: (square / sum - mean * mean).max(0.0), doubt }
    }

    /// As [`Masses::tilted`], passing every index and tilted mass to `take`. Masses are divided by the
    /// factor that makes them sum to 1, up to rounding; `ln` is the logarithm of exactly that factor.
    /// Relative errors of the passed masses are at most `doubt`, in the mean.
    pub fn tilt_by(&self, tilt: f64, mut take: impl FnMut(i64, f64)) -> Moments {
        let moments = self.tilted(tilt);
        for (index, mass) in self.index.iter().zip(&self.mass) {
            if *mass > 0.0 {
                take(*index, scaled_mass(*mass, tilt * (*index as f64 * self.step) - moments.ln));
            }
        }
        moments
    }

    /// The losses of positive mass, with their masses.
    fn present(&self) -> impl Iterator<Item = (f64, f64)> {
        let dots = self.index.iter().zip(&self.mass).filter(|(_, mass)| **mass > 0.0);
        dots.map(|(index, mass)| (*index as f64 * self.step, *mass))
    }
}

/// ln of a positive number, to within 36 (1 where it is normal).
fn ln_nearly(x: f64) -> f64 {
    ((x.to_bits() >> 52) as f64 - 1023.0) * std::f64::consts::LN_2
}

/// The product mass·e^exponent, also where only the product is in range.
fn scaled_mass(mass: f64, exponent: f64) -> f64 {
    if exponent < 700.0 {
        mass * libm::exp(exponent)
    } else {
        libm::exp(exponent + libm::log(mass))
    }
}

/// A sum of positive numbers that keeps the rounding error of each addition (Neumaier 1974).
#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    fn add(&mut self, x: f64) {
        let sum = self.high + x;
        self.low += if self.high >= x { (self.high - sum) + x } else { (x - sum) + self.high };
        self.high = sum;
    }

    fn total(self) -> f64 {
        self.high + self.low
    }
}

/// The moments of the tilted sum.
pub fn moments(masses: &[Masses], tilt: f64) -> Moments {
    masses.iter().fold(Moments::default(), |sum, part| {
        let one = part.tilted(tilt);
        let n = part.count as f64;
        Moments {
            ln: sum.ln + n * one.ln,
            mean: sum.mean + n * one.mean,
            variance: sum.variance + n * one.variance,
            doubt: sum.doubt + n * one.doubt,
        }
    })
}

impl Moments {
    /// An upper bound on ln(e^{K(s)−s·e}).
    pub fn log_moment_bound(&self, tilt: f64, e: f64) -> f64 {
        self.ln - tilt * e + self.doubt + UNIT * (self.ln.abs() + (tilt * e).abs())
    }
}

/// The s ≥ 0 that minimises K(s) − s·e, nearly, and an upper bound on that minimum.
pub fn chernoff(masses: &[Masses], e: f64) -> (f64, f64) {
    let start = moments(masses, 0.0);
    if start.mean >= e {
        return (0.0, 0.0);
    }
    // e is beyond all losses together, where a search by steps would take long.
    let tops = masses.iter().map(|part| (part.top(), part.top() * part.count as f64));
    let (top, total) = tops.fold((0.0, 0.0), |(top, sum), (one, all)| (one.max(top), sum + all));
    if e >= total * (1.0 + 1e-12) {
        return (LARGE_EXPONENT / f64::max(top, f64::MIN_POSITIVE), f64::NEG_INFINITY);
    }
    // Newton's steps on K′(s) = e from below, halved into the bracket when they leave it.
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut tilt = ((e - start.mean) / start.variance.max(f64::MIN_POSITIVE)).min(STEEPEST);
    let mut best = (0.0, 0.0);
    for round in 0..40 {
        let here = moments(masses, tilt);
        let (mean, variance) = (here.mean, here.variance);
        let least = here.log_moment_bound(tilt, e);
        if least < best.1 {
            best = (tilt, least);
        }
        if (mean - e).abs() <= 0.02 * libm::sqrt(variance) && least <= best.1 || tilt >= STEEPEST {
            break;
        }
        if mean < e {
            low = tilt
        } else {
            high = tilt
        }
        // Where few large losses dominate, the mean leaps and Newton's steps go back and forth.
        let newton = tilt + (e - mean) / variance.max(f64::MIN_POSITIVE);
        let leaps = round % 3 == 2 && high.is_finite();
        tilt = if newton > low && newton < high && !leaps {
            newton.min(4.0 * tilt)
        } else if high.is_finite() {
            0.5 * (low + high)
        } else {
            2.0 * tilt
        }
        .min(STEEPEST);
    }
    best
}

/// (distance below e at which losses may be cut, distance above, the least width of the window): by
/// Chernoff's bounds on the tilted loss below, so that little wraps around to the counted part; on the
/// mass itself above; and on the tilted loss that is more than a window above e and would count again.
pub fn margins(masses: &[Masses], tilt: f64, e: f64, spread: f64) -> (f64, f64, f64) {
    let unit = 1.0 / libm::sqrt(spread.max(f64::MIN_POSITIVE));
    let here = moments(masses, tilt).ln;
    let least = |away: &dyn Fn(f64) -> f64| {
        [0.0, 0.25, 0.5, 1.0, 2.0, 3.5, 5.0, 7.0]
            .map(|more| away(more * unit))
            .into_iter()
            .filter(|found| found.is_finite() && *found > 0.0)
            .fold(40.0 / unit, f64::min)
    };
    let below = least(&|s| (moments(masses, tilt - s).ln - here + s * e + 12.0) / s);
    let above =
        least(&|s| (moments(masses, tilt + s).ln - here + 15.0) / (tilt + s) - e * s / (tilt + s));
    let window = least(&|s| (moments(masses, tilt + s).ln - here + 12.0) / s - e);
    (below, above, window)
}
