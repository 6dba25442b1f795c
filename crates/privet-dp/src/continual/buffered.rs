//! The coefficients of a buffered factor, computed from public numbers in a fraction of a second.
//!
//! As generating functions, C(x) = ∏(1 − μⱼx)/(1 − λⱼx) and the rows of B are those of 1/((1 − x)·C(x)).
//! Where poles and zeros alternate, 1 > λ₁ > μ₁ > λ₂ > μ₂ > …, all residues of both are positive:
//! C(x) = const + Σrⱼ/(1 − λⱼx) and B(x) = ρ₀/(1 − x) + Σρⱼ/(1 − μⱼx). So sums of squares of
//! coefficients are sums of geometric series, all terms positive, in m² operations whatever n is; for b
//! steps that are s apart, in b·m².
//!
//! The search minimises sensitivity × largest error over ln(1 − λⱼ), ln(1 − μⱼ), from evenly spaced
//! values (the best approximation of 1/√(1 − x), up to its ends) along one coordinate after the other.
//! The square root of the matrix of sums, the best Toeplitz matrix to within a constant (Fichtenberger et
//! al.), has 1.066 + ln(n)/π + …; for one participation buffers are added until they are within 0.3 % of it,
//! for several until another one gains less than that, and in any case up to a largest number. The search
//! decides accuracy alone: sensitivity and error are computed from the rounded coefficients afterwards.

use super::factor::{SCALE, square_root};
use super::{Factor, MOST_BUFFERS, Participation};

/// The search ends within this factor of the square root's price, or, for several participations, where
/// another buffer gains less.
const SEARCH_PRECISION: f64 = 1.003;
/// Approximate number of terms that a search may add up.
const WORK: f64 = 4e6;

/// (1 − aⁿ)/(1 − a) for a = (1 − p)(1 − q), n ≥ 0; n if a is 1.
fn geometric(p: f64, q: f64, terms: f64) -> f64 {
    let gap = p + q - p * q;
    if gap <= 0.0 {
        return terms;
    }
    if gap >= 1.0 {
        return terms.min(1.0);
    }
    -(terms * (-gap).ln_1p()).exp_m1() / gap
}

/// Poles and zeros by their distance from 1, alternating: λ₁, μ₁, λ₂, μ₂, …
struct PolesAndZeros<'a>(&'a [f64]);

impl PolesAndZeros<'_> {
    fn poles(&self) -> impl Iterator<Item = f64> + Clone + '_ {
        self.0.iter().step_by(2).copied()
    }

    fn zeros(&self) -> impl Iterator<Item = f64> + Clone + '_ {
        self.0.iter().skip(1).step_by(2).copied()
    }

    /// (ωⱼ, 1 − λⱼ): c_k = Σωⱼλⱼ^(k−1) for k ≥ 1.
    fn weights(&self) -> Vec<(f64, f64)> {
        let weight = |(place, pole): (usize, f64)| {
            // ωⱼ = ∏(λⱼ − μᵢ)/∏_{i≠j}(λⱼ − λᵢ).
            let above: f64 = self.zeros().map(|zero| zero - pole).product();
            let others = self.poles().enumerate().filter(|(other, _)| *other != place);
            above / others.map(|(_, other)| other - pole).product::<f64>()
        };
        self.poles().enumerate().map(|each| (weight(each), each.1)).collect()
    }

    /// (ρⱼ, 1 − μⱼ), the first of them at 1: the noise of step 0 adds Σρⱼμⱼ^k to running sum k.
    fn rows(&self) -> Vec<(f64, f64)> {
        let first = self.poles().product::<f64>() / self.zeros().product::<f64>();
        let row = |(place, zero): (usize, f64)| {
            // ∏(μ − λⱼ)/((μ − 1)∏_{i≠}(μ − μᵢ)), with 1 − · for each.
            let above: f64 = self.poles().map(|pole| pole - zero).product();
            let others = self.zeros().enumerate().filter(|(other, _)| *other != place);
            above / (-zero * others.map(|(_, other)| other - zero).product::<f64>())
        };
        let rest = self.zeros().enumerate().map(|each| (row(each), each.1));
        [(first, 0.0)].into_iter().chain(rest).collect()
    }

    fn error_square(&self, steps: f64) -> f64 {
        let rows = self.rows();
        let pair = |a: &(f64, f64), b: &(f64, f64)| a.0 * b.0 * geometric(a.1, b.1, steps);
        rows.iter().map(|a| rows.iter().map(|b| pair(a, b)).sum::<f64>()).sum()
    }

    fn sensitivity_square(&self, steps: f64, times: u32, every: f64) -> f64 {
        let weights = self.weights();
        let mut buffers = vec![0.0_f64; weights.len()];
        let mut square = 0.0;
        for time in 0..times {
            let last = time + 1 == times;
            let length = if last { steps - f64::from(time) * every } else { every };
            let first = 1.0 + weights.iter().zip(&buffers).map(|((w, _), b)| w * b).sum::<f64>();
            square += first * first;
            for ((_, gap), buffer) in weights.iter().zip(&mut buffers) {
                *buffer = *buffer * (1.0 - gap) + 1.0;
            }
            for ((w, gap), b) in weights.iter().zip(&buffers) {
                for ((v, other), d) in weights.iter().zip(&buffers) {
                    square += w * b * v * d * geometric(*gap, *other, length - 1.0);
                }
            }
            for ((_, gap), buffer) in weights.iter().zip(&mut buffers) {
                *buffer *= ((length - 1.0) * (-gap).ln_1p()).exp();
            }
        }
        square
    }
}

/// Sensitivity × error for poles and zeros given by the logarithms of their distances from 1; infinite
/// if they do not alternate.
fn price(logs: &[f64], steps: f64, times: u32, every: f64) -> f64 {
    let places: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
    let turns = places.windows(2).all(|two| two[0] < two[1] * (1.0 - 1e-6));
    if !turns || places.last().is_none_or(|last| *last > 0.999_9) || places[0] < 1e-9 {
        return f64::INFINITY;
    }
    let places = PolesAndZeros(&places);
    (places.error_square(steps) * places.sensitivity_square(steps, times, every)).sqrt()
}

/// Minimises along one coordinate after the other.
fn descend(logs: &mut [f64], price: &dyn Fn(&[f64]) -> f64, mut rounds: u32) -> f64 {
    let mut best = price(logs);
    let mut reach = 0.5;
    while reach > 1e-3 && rounds > 0 {
        rounds -= 1;
        let before = best;
        for place in 0..logs.len() {
            for by in [reach, -reach] {
                let old = logs[place];
                logs[place] = old + by;
                let found = price(logs);
                if found < best {
                    best = found;
                    break;
                }
                logs[place] = old;
            }
        }
        if before - best < 1e-5 * best {
            reach *= 0.5;
        }
    }
    best
}

fn round_factor(logs: &[f64]) -> Factor {
    let places: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
    let down = |x: f64| (x * SCALE).floor() / SCALE;
    let (mut weights, mut decays) = (vec![], vec![]);
    for (weight, gap) in PolesAndZeros(&places).weights() {
        weights.push(down(weight.clamp(0.0, 1.0)));
        decays.push(down((1.0 - gap).clamp(0.0, 1.0 - 1.0 / SCALE)));
    }
    Factor::Buffered { weights, decays }
}

/// A good buffered factor for this number of steps.
pub fn search(steps: u32, participation: Participation) -> Factor {
    let (times, every) = (participation.within(steps), participation.separation.max(1));
    let n = f64::from(steps.max(2));
    let price_of = |logs: &[f64]| price(logs, n, times, f64::from(every));
    // The square root's price, where it is known in closed form.
    let target = match times {
        1 if steps <= 65_536 => square_root(steps).iter().map(|c| c * c).sum::<f64>(),
        1 => (n.ln() + 16_f64.ln() + 0.577_215_664_9) / std::f64::consts::PI,
        _ => 0.0,
    };
    let mut best: Option<(f64, Vec<f64>)> = None;
    for buffers in 1..=MOST_BUFFERS {
        let count = 2 * buffers;
        let work = f64::from(times) * (buffers * buffers + (buffers + 1) * (buffers + 1)) as f64;
        let rounds = (WORK / work / (2 * count) as f64).clamp(4.0, 400.0) as u32;
        let (low, high) = ((0.5 / n).max(1e-8).ln(), 0.8_f64.ln());
        let place = |at: usize| low + (high - low) * at as f64 / (count as f64 - 1.0);
        let mut logs: Vec<f64> = (0..count).map(place).collect();
        let found = descend(&mut logs, &price_of, rounds);
        let gained = best.as_ref().map_or(f64::INFINITY, |(price, _)| price / found);
        if best.as_ref().is_none_or(|(price, _)| found < *price) {
            best = Some((found, logs));
        }
        let close = times == 1 && found <= SEARCH_PRECISION * target;
        if close || (times > 1 && gained < SEARCH_PRECISION) {
            break;
        }
    }
    let logs = best.map(|(_, logs)| logs).unwrap_or_default();
    round_factor(&logs)
}
