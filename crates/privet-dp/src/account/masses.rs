//! One loss on a grid, and the moments of sums of such losses.
//!
//! [`Masses`] holds what connecting the dots of a curve gives (see [`super::distribution`]): a loss
//! that dominates the true one. Its dots are multiples of the step, all of them or a subset.
//! [`moments`] are those of the tilted sum, K(s) = Σ count·ln E e^{sU}; [`chernoff`] finds the tilt
//! for an e, [`margins`] how far around e a window must reach.

use super::curve::HalfCurves;
use super::objective::Direction;

/// A loss on a grid: probability `mass[k]` of `index[k]`·step, `infinite` of ∞; `count` times.
#[derive(Debug, Clone)]
pub struct Masses {
    /// Increasing.
    pub index: Vec<i64>,
    /// Width of a bin.
    pub step: f64,
    /// Probabilities.
    pub mass: Vec<f64>,
    /// Probability of ∞.
    pub infinite: f64,
    /// How often.
    pub count: u64,
    /// η: the true loss dominates this one less η, see [`super::optimist`].
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
        let (mut x, mut v) = (Vec::with_capacity(index.len()), Vec::with_capacity(index.len()));
        for dot in &index {
            let loss = *dot as f64 * step;
            x.push(libm::exp(loss));
            v.push(if *dot < 0 {
                (-libm::expm1(loss) + libm::exp(loss) * curve.at(reverse, -loss)).min(1.0)
            } else {
                curve.at(direction, loss)
            });
        }
        Self::connected(index, &x, &v, step, count)
    }

    /// A coarse look at losses of many sizes.
    pub fn on_scales(curve: &HalfCurves, direction: Direction, reach: f64, count: u64) -> Self {
        let step = reach * 1e-12;
        let grow =
            (0..260).rev().map(|k| libm::round(1e12 * libm::exp(-0.1 * f64::from(k))) as i64);
        let dots: Vec<i64> = std::iter::once(0).chain(grow).collect();
        Self::on_dots(curve, direction, &dots, step, count)
    }

    fn connected(index: Vec<i64>, x: &[f64], v: &[f64], step: f64, count: u64) -> Self {
        let infinite = v.last().copied().unwrap_or(1.0);
        let mass = connect(x, v);
        // Nothing may get lost: where e^loss overflows (huge losses), all mass goes to ∞.
        let total = mass.iter().sum::<f64>() + infinite;
        if (total - 1.0).abs() <= 1e-9 {
            let excess = super::optimist::excess(x, v, &mass);
            Self { index, step, mass, infinite, count, excess }
        } else {
            let excess = f64::INFINITY;
            Self { index: vec![0], step, mass: vec![0.0], infinite: 1.0, count, excess }
        }
    }

    /// Connects the dots at −dots…dots, given both directions' values at 0…dots.
    pub fn new(halves: (&[f64], &[f64]), direction: Direction, step: f64, count: u64) -> Self {
        let (ahead, back) = match direction {
            Direction::Forward => halves,
            Direction::Backward => (halves.1, halves.0),
        };
        let dots = ahead.len() - 1;
        let first = -(dots as i64);
        let mut x = Vec::with_capacity(2 * dots + 2);
        let mut v = Vec::with_capacity(2 * dots + 2);
        for k in (1..=dots).rev() {
            let at = libm::exp(-(k as f64) * step);
            x.push(at);
            v.push((-libm::expm1(-(k as f64) * step) + at * back[k]).min(1.0));
        }
        for (k, value) in ahead.iter().enumerate() {
            x.push(libm::exp(k as f64 * step));
            v.push(*value);
        }
        let index = (first..=dots as i64).collect();
        Self::connected(index, &x, &v, step, count)
    }

    /// The largest index.
    pub fn highest(&self) -> i64 {
        self.index.last().copied().unwrap_or(0)
    }

    /// The largest loss.
    pub fn top(&self) -> f64 {
        self.highest() as f64 * self.step
    }

    /// (ln Σ mass·e^{s·loss}, mean and variance of the tilted loss); −∞ only where there is no mass.
    pub fn tilted(&self, tilt: f64) -> (f64, f64, f64) {
        // The largest summand, nearly, so that it is the small ones that underflow: the highest dots
        // may have no mass, or next to none.
        let scale = self
            .present()
            .map(|(loss, mass)| tilt * loss + ln_nearly(mass))
            .fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut mean, mut square) = (0.0, 0.0, 0.0);
        for (loss, mass) in self.present() {
            let weight = weighed(mass, tilt * loss - scale);
            sum += weight;
            mean += weight * loss;
            square += weight * loss * loss;
        }
        if sum > 0.0 {
            let mean = mean / sum;
            (scale + libm::log(sum), mean, (square / sum - mean * mean).max(0.0))
        } else {
            (f64::NEG_INFINITY, 0.0, 0.0)
        }
    }

    /// As [`Masses::tilted`], handing every index and tilted mass, up to the factor that makes them
    /// sum to 1, to `take`: the logarithm is of that very factor.
    pub fn tilt_by(&self, tilt: f64, mut take: impl FnMut(i64, f64)) -> (f64, f64, f64) {
        let (ln_moment, mean, variance) = self.tilted(tilt);
        for (index, mass) in self.index.iter().zip(&self.mass) {
            if *mass > 0.0 {
                take(*index, weighed(*mass, tilt * (*index as f64 * self.step) - ln_moment));
            }
        }
        (ln_moment, mean, variance)
    }

    /// Losses with their masses, where there are any.
    fn present(&self) -> impl Iterator<Item = (f64, f64)> {
        let dots = self.index.iter().zip(&self.mass).filter(|(_, mass)| **mass > 0.0);
        dots.map(|(index, mass)| (*index as f64 * self.step, *mass))
    }
}

/// ln of a positive number, to within 36 (1 where it is normal).
fn ln_nearly(x: f64) -> f64 {
    ((x.to_bits() >> 52) as f64 - 1023.0) * std::f64::consts::LN_2
}

/// mass·e^exponent, also where only the product is in range.
fn weighed(mass: f64, exponent: f64) -> f64 {
    if exponent < 700.0 {
        mass * libm::exp(exponent)
    } else {
        libm::exp(exponent + libm::log(mass))
    }
}

/// Masses of the largest convex function below the points (x, v), x increasing, and (0, 1).
fn connect(x: &[f64], v: &[f64]) -> Vec<f64> {
    // Lower hull by a stack; the start (0, 1) is kept as index −1.
    let at = |k: isize| if k < 0 { (0.0, 1.0) } else { (x[k as usize], v[k as usize]) };
    let fall = |i: isize, j: isize| {
        let ((x0, v0), (x1, v1)) = (at(i), at(j));
        (v0 - v1) / (x1 - x0)
    };
    let mut hull: Vec<(isize, f64)> = vec![(-1, f64::INFINITY)];
    for k in 0..x.len() as isize {
        loop {
            let (last, steepness) = hull[hull.len() - 1];
            let next = fall(last, k);
            if next >= steepness && hull.len() > 1 {
                hull.pop();
            } else {
                hull.push((k, next.max(0.0)));
                break;
            }
        }
    }
    let mut mass = vec![0.0; x.len()];
    for (index, (k, before)) in hull.iter().enumerate().skip(1) {
        let after = hull.get(index + 1).map_or(0.0, |(_, fall)| *fall);
        mass[*k as usize] = x[*k as usize] * (before - after).max(0.0);
    }
    mass
}

/// (K(s), mean, variance) of the sum, tilted.
pub fn moments(masses: &[Masses], tilt: f64) -> (f64, f64, f64) {
    masses.iter().fold((0.0, 0.0, 0.0), |(ln, mean, variance), part| {
        let (one_ln, one_mean, one_variance) = part.tilted(tilt);
        let n = part.count as f64;
        (ln + n * one_ln, mean + n * one_mean, variance + n * one_variance)
    })
}

/// The s ≥ 0 that minimises K(s) − s·e, and that minimum.
pub fn chernoff(masses: &[Masses], e: f64) -> (f64, f64) {
    let start = moments(masses, 0.0);
    if start.1 >= e {
        return (0.0, 0.0);
    }
    // Newton's steps on K′(s) = e from below, halved into the bracket when they leave it.
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut tilt = (e - start.1) / start.2.max(1e-300);
    let mut best = (0.0, 0.0);
    for round in 0..40 {
        let (ln_moment, mean, variance) = moments(masses, tilt);
        let least = ln_moment - tilt * e;
        if least < best.1 {
            best = (tilt, least);
        }
        if (mean - e).abs() <= 0.02 * libm::sqrt(variance) && least <= best.1 || tilt > 1e9 {
            break;
        }
        if mean < e {
            low = tilt
        } else {
            high = tilt
        }
        // Where few large losses begin to rule, the mean leaps and Newton's steps go back and forth.
        let newton = tilt + (e - mean) / variance.max(1e-300);
        let leaps = round % 3 == 2 && high.is_finite();
        tilt = if newton > low && newton < high && !leaps {
            newton.min(4.0 * tilt)
        } else if high.is_finite() {
            0.5 * (low + high)
        } else {
            2.0 * tilt
        };
    }
    best
}

/// (how far below e losses may be cut, how far above, the least width of the window): by Chernoff's
/// bounds on the tilted loss below, so that little wraps around to what counts; on the mass itself
/// above; and on the tilted loss that is more than a window above e and would count again.
pub fn margins(masses: &[Masses], tilt: f64, e: f64, spread: f64) -> (f64, f64, f64) {
    let unit = 1.0 / libm::sqrt(spread.max(1e-300));
    let here = moments(masses, tilt).0;
    let least = |away: &dyn Fn(f64) -> f64| {
        [0.0, 0.25, 0.5, 1.0, 2.0, 3.5, 5.0, 7.0]
            .map(|more| away(more * unit))
            .into_iter()
            .filter(|found| found.is_finite() && *found > 0.0)
            .fold(40.0 / unit, f64::min)
    };
    let below = least(&|s| (moments(masses, tilt - s).0 - here + s * e + 12.0) / s);
    let above =
        least(&|s| (moments(masses, tilt + s).0 - here + 15.0) / (tilt + s) - e * s / (tilt + s));
    let window = least(&|s| (moments(masses, tilt + s).0 - here + 12.0) / s - e);
    (below, above, window)
}
