//! The discrete Gaussian law as a sum of draws from small tables.
//!
//! X = Σ 4ʲXⱼ over j = 0 … L with independent discrete Gaussians: X₀ … X_(L−1) of the variance parameter
//! v = 46, X_L of the parameter u that makes u·16ᴸ + v·(16ᴸ − 1)/15 = s², L such that s/4ᴸ is in [4,
//! 16).
//!
//! **Theorem.** X is within 2⁻⁶⁵ in total variation of the discrete Gaussian law ∝ e^(−x²/2s²) on ℤ.
//!
//! *Proof.* Let Y, X′ be independent discrete Gaussians with parameters S² and v. Then Z = X′ + 4Y has
//! P(z) ∝ Σ_y exp(−(z − 4y)²/2v − y²/2S²) = exp(−z²/2(v + 16S²))·Σ_y exp(−(y − cz)²/2w), 1/w = 1/S² +
//! 16/v, with some c. By Poisson summation the last sum is √(2πw)·(1 + ρ), |ρ| ≤ r = 2Σ_{n≥1}
//! e^(−2π²wn²), for any cz. So the law of Z is that of the discrete Gaussian with v + 16S² times (1 +
//! ρ)/(mean of 1 + ρ), and the two are within r/(1 − r) of each other. Begin with S² = u: u =
//! s²/16ᴸ − (v/15)(1 − 16⁻ᴸ) > 16 − 46/15 > 12.93, so w > 2.352, and r < 2.1·e^(−46.42) < 2⁻⁶⁵·⁸. From
//! then on S² ≥ 46 + 16·12.93 > 252, w > 2.84, r < 2.1·e^(−56) < 2⁻⁷⁹ each, at most 24 times. A step
//! maps laws at some distance to laws at no greater distance, so the errors add up: below 2⁻⁶⁵. ∎
//!
//! Each Xⱼ is ±g with a free sign and g from a table of 2ᵇ values with weights e^(−g²/2v), doubled for
//! g ≥ 1 (−0 is 0, so 0 is not counted twice): 64 values for v = 46, 128 or 256 for u. Distance to the
//! discrete Gaussian law: 2⁻⁶⁵, plus that of the tables, plus the mass of the laws outside them.

use crate::Law;
use crate::circuit::{Circuit, Wire};
use crate::fixed::{BEHIND, ONE, dyadic, exp_minus, product, quotient, to_f64};
use crate::table::Table;
use privet_core::Range;

/// Limits on s, σ in steps.
pub const GAUSSIAN_STEPS: Range = Range::from("σ in steps", 16.0, 281_474_976_710_656.0);
/// v, the variance parameter of the lower digits.
const LOW: u128 = 46;

/// A digit ±g, with g below 2ᵇ from a table.
#[derive(Debug, Clone)]
struct Digit {
    table: Table,
    /// Mass of the law outside the table.
    outside: f64,
}

impl Digit {
    /// The discrete Gaussian of parameter n/d, with enough values to leave less than 2⁻⁶⁶ outside.
    fn new(n: u128, d: u128) -> Self {
        let rate = quotient(d, 2 * n, BEHIND);
        // A parameter is below 16²: 2⁸ values are sixteen of its standard deviations.
        let enough = |bits: &u32| *bits == 8 || Self::of(rate, *bits).outside < 2_f64.powi(-66);
        Self::of(rate, (5..=8).find(enough).unwrap_or(8))
    }

    /// Weights e^(−rate·g²) by w(g+1) = w(g)·e^(−rate)·e^(−2·rate·g). The errors of the two exponentials
    /// are at most 62 units and of each product one more, so that of w(g) is less than 100g² < 2²³ units
    /// of 2⁻¹¹⁶.
    fn of(rate: u128, bits: u32) -> Self {
        let (once, twice) = (exp_minus(rate), exp_minus(2 * rate));
        let (mut weight, mut ratio) = (ONE, once);
        let weights: Vec<u128> = (0..1_u32 << bits)
            .map(|g| {
                let this = if g == 0 { weight } else { 2 * weight };
                weight = product(weight, ratio);
                ratio = product(ratio, twice);
                this
            })
            .collect();
        // Beyond the table the weights fall at least as fast as at its end; in double precision, rounded
        // up.
        let (rate, end) = (to_f64(rate), f64::from(1_u32 << bits));
        let beyond = 2.0 * (-rate * end * end).exp() / -(-rate * 2.0 * end).exp_m1();
        let total = to_f64(weights.iter().sum());
        Self { table: Table::new(&weights), outside: beyond / total * (1.0 + 1e-9) }
    }

    /// Adds ±g + 2ᵇ, with weight 4ʲ, to the columns.
    fn add_to(&self, columns: &mut [Vec<Wire>], level: u32, circuit: &mut Circuit) {
        let drawn = self.table.draw(circuit);
        let sign = circuit.uniform();
        let place = 2 * level as usize;
        // −g is the bitwise complement of g, plus 1.
        for (bit, &wire) in drawn.iter().enumerate() {
            columns[place + bit].push(circuit.xor(wire, sign));
        }
        columns[place].push(sign);
        columns[place + drawn.len()].push(circuit.not(sign));
    }
}

/// The discrete Gaussian law of one parameter, as a circuit.
#[derive(Debug, Clone)]
pub struct JointGaussian {
    steps: f64,
    levels: u32,
    low: Digit,
    top: Digit,
}

impl JointGaussian {
    /// The law with σ/step = s.
    pub fn new(steps: f64) -> Result<Self, privet_core::Error> {
        let (mantissa, exponent) = dyadic(GAUSSIAN_STEPS.check(steps)?);
        // ⌊log₂ s⌋ is the exponent and 52; s² = M²·2²ᵉ, e < 0 since s < 2⁴⁸.
        let levels = (exponent + 52) as u32 / 2 - 1;
        let scale = 2 * -exponent as u32;
        let full = 1_u128 << (4 * levels);
        let n = mantissa * mantissa - ((LOW * ((full - 1) / 15)) << scale);
        Ok(Self { steps, levels, low: Digit::new(LOW, 1), top: Digit::new(n, full << scale) })
    }

    /// s, the standard deviation in steps.
    pub fn steps(&self) -> f64 {
        self.steps
    }

    fn digits(&self) -> impl Iterator<Item = (u32, &Digit)> {
        (0..self.levels).map(|level| (level, &self.low)).chain([(self.levels, &self.top)])
    }
}

impl Law for JointGaussian {
    fn draw(&self, circuit: &mut Circuit) -> Vec<Wire> {
        // ±g + 2ᵇ is below 2ᵇ⁺¹, and all digits below the top one together are below 4ᴸ·2⁶.
        let width = 2 * self.levels + self.top.table.bits() + 2;
        let mut columns = vec![vec![]; width as usize];
        self.digits().for_each(|(level, digit)| digit.add_to(&mut columns, level, circuit));
        circuit.add_up(columns)
    }

    fn offset(&self) -> u128 {
        self.digits().map(|(level, digit)| 1_u128 << (2 * level + digit.table.bits())).sum()
    }

    fn distance(&self) -> f64 {
        let digits = self.digits().map(|(_, digit)| digit.table.distance() + digit.outside);
        2_f64.powi(-65) + digits.sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The law of a digit, from −2ᵇ to 2ᵇ, in units of 2⁻¹¹⁶.
    fn law_of(digit: &Digit) -> Vec<u128> {
        let table = &digit.table;
        let mass = |g: i32| {
            let share = table.counts()[g.unsigned_abs() as usize] << (BEHIND - table.out_of());
            if g == 0 { share } else { share / 2 }
        };
        let end = (1 << table.bits()) - 1;
        (-end..=end).map(mass).collect()
    }

    /// The whole law for scales small enough to add it up value by value: one level and two.
    #[test]
    fn the_exact_law_is_the_discrete_gaussian_law() {
        for steps in [16.0, 17.3, 31.0, 63.9, 64.0, 100.5] {
            let joint = JointGaussian::new(steps).unwrap();
            let (low, top) = (law_of(&joint.low), law_of(&joint.top));
            let mut law = top;
            for _ in 0..joint.levels {
                let mut next = vec![0_u128; 4 * (law.len() - 1) + low.len()];
                for (y, &upper) in law.iter().enumerate() {
                    for (x, &lower) in low.iter().enumerate() {
                        next[4 * y + x] += product(upper, lower);
                    }
                }
                law = next;
            }
            // The target law, by the same recursion as a digit's weights at another rate.
            let (mantissa, exponent) = dyadic(steps);
            let rate = quotient(1 << (2 * -exponent), 2 * mantissa * mantissa, BEHIND);
            let half = law.len() / 2;
            let (mut weight, mut ratio, twice) = (ONE, exp_minus(rate), exp_minus(2 * rate));
            let mut weights = vec![0_u128; law.len()];
            for g in 0..=half {
                (weights[half + g], weights[half - g]) = (weight, weight);
                weight = product(weight, ratio);
                ratio = product(ratio, twice);
            }
            let total: u128 = weights.iter().sum();
            let apart: u128 = law
                .iter()
                .zip(&weights)
                .map(|(&mass, &weight)| mass.abs_diff(quotient(weight, total, BEHIND)))
                .sum();
            let distance = apart as f64 / 2.0 / ONE as f64;
            // The test is sensitive enough to detect rounding to 64 bits.
            assert!(distance > 2_f64.powi(-76), "{steps}: {distance}");
            assert!(distance <= joint.distance(), "{steps}: {distance} {}", joint.distance());
            assert!(joint.distance() < crate::NOISE_LAW_DISTANCE, "{steps}: {}", joint.distance());
        }
    }

    /// On all accepted scales the bound holds, and the parameters add up to s².
    #[test]
    fn bounds_hold_on_every_scale() {
        for power in 4..48 {
            for mantissa in [1.0, 1.37, 1.999_999] {
                let steps = mantissa * 2_f64.powi(power);
                let joint = JointGaussian::new(steps).unwrap();
                assert!(joint.distance() < crate::NOISE_LAW_DISTANCE, "{steps}");
                // u from the table's own weights: the second is 2·e^(−1/2u) of the first.
                let counts = joint.top.table.counts();
                let u = -0.5 / (counts[1] as f64 / 2.0 / counts[0] as f64).ln();
                let full = 16_f64.powi(joint.levels as i32);
                let sum = u * full + 46.0 * (full - 1.0) / 15.0;
                assert!((sum / steps / steps - 1.0).abs() < 1e-12, "{steps}: {sum}");
            }
        }
    }

    #[test]
    fn scales_out_of_range_are_refused() {
        for steps in [0.0, 15.9, -20.0, f64::INFINITY, f64::NAN, 2_f64.powi(48)] {
            assert!(JointGaussian::new(steps).is_err(), "{steps}");
        }
    }
}
