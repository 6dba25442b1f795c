//! The discrete Laplace law from biased bits, in blocks.
//!
//! **Theorem.** Let q = e^(−1/t), S a bit that is 1 with probability q/(1 + q), G = Σ 2ⁱBᵢ over i < n
//! with independent bits Bᵢ that are 1 with probability zᵢ/(1 + zᵢ), zᵢ = q^(2ⁱ). Then X = G where S = 0
//! and X = −1 − G where S = 1 has the law ∝ e^(−|x|/t) on −2ⁿ ≤ x < 2ⁿ: the discrete Laplace law of
//! scale t, up to its mass outside, which is e^(−2ⁿ/t).
//!
//! *Proof.* P(G = g) ∝ Π zᵢ^(gᵢ) = q^g. So P(X = x) ∝ q^x for x ≥ 0, and for x = −1 − g < 0 it is ∝
//! q·q^g = q^|x| with the same factor. The law outside: x ≥ 2ⁿ has the share q^(2ⁿ) of x ≥ 0, and
//! x < −2ⁿ the same of x < 0. ∎
//!
//! −1 − G is the bitwise complement of G, so the sign is an XOR and costs nothing. The n + 1 biased bits
//! are drawn five at a time ([`Table`]): 95 ANDs for five. Distance to the discrete Laplace law: that of
//! the tables, added up, and e^(−2ⁿ/t), n the least for which that is below 2⁻⁶⁶.

use crate::Law;
use crate::circuit::{Circuit, Wire};
use crate::fixed::{BEHIND, ONE, dyadic, exp_minus, product, quotient};
use crate::table::Table;
use privet_core::Range;

/// Limits on t, the scale in steps.
pub const LAPLACE_STEPS: Range = Range::from("scale in steps", 1.0, 35_184_372_088_832.0);
/// The number of biased bits drawn at once.
const BLOCK: usize = 5;

/// The discrete Laplace law of one scale, as a circuit.
#[derive(Debug, Clone)]
pub struct JointLaplace {
    steps: f64,
    bits: u32,
    blocks: Vec<Table>,
}

impl JointLaplace {
    /// The law with scale t in steps.
    pub fn new(steps: f64) -> Result<Self, privet_core::Error> {
        let (mantissa, exponent) = dyadic(LAPLACE_STEPS.check(steps)?);
        // 46 > 66·ln 2.
        let bits = (46.0 * steps).log2().ceil() as u32;
        // zᵢ; the sign's odds are those of the lowest bit.
        let odds = |bit: u32| exp_minus(quotient(1 << (bit as i32 - exponent), mantissa, BEHIND));
        let all: Vec<u128> = std::iter::once(odds(0)).chain((0..bits).map(odds)).collect();
        let count = all.len().div_ceil(BLOCK);
        let cut = |block: usize| block * all.len() / count;
        let block = |block: usize| {
            all[cut(block)..cut(block + 1)].iter().fold(vec![ONE], |weights, &odds| {
                let with: Vec<u128> = weights.iter().map(|&weight| product(weight, odds)).collect();
                weights.into_iter().chain(with).collect()
            })
        };
        let blocks = (0..count).map(|place| Table::new(&block(place))).collect();
        Ok(Self { steps, bits, blocks })
    }

    /// t, the scale in steps.
    pub fn steps(&self) -> f64 {
        self.steps
    }

    /// The blocks; the first one begins with the sign.
    pub fn blocks(&self) -> &[Table] {
        &self.blocks
    }
}

impl Law for JointLaplace {
    fn draw(&self, circuit: &mut Circuit) -> Vec<Wire> {
        let drawn: Vec<Wire> = self.blocks.iter().flat_map(|block| block.draw(circuit)).collect();
        let sign = drawn[0];
        let mut bits: Vec<Wire> = drawn[1..].iter().map(|&bit| circuit.xor(bit, sign)).collect();
        // Two's complement with 2ⁿ added.
        bits.push(circuit.not(sign));
        bits
    }

    fn offset(&self) -> u128 {
        1 << self.bits
    }

    fn distance(&self) -> f64 {
        let outside = (-(2_f64.powi(self.bits as i32)) / self.steps).exp();
        self.blocks.iter().map(Table::distance).sum::<f64>() + outside * (1.0 + 1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The law of X from the exact counts of the blocks, in units of 2⁻¹¹⁶.
    fn law(of: &JointLaplace, x: i64) -> u128 {
        let sign = u64::from(x < 0);
        let mut all = (if x < 0 { -1 - x } else { x } as u64) << 1 | sign;
        of.blocks().iter().fold(ONE, |mass, block| {
            let value = (all & ((1 << block.bits()) - 1)) as usize;
            all >>= block.bits();
            product(mass, block.counts()[value] << (BEHIND - block.out_of()))
        })
    }

    /// Every value, against e^(−|x|/t)·(1 − q)/(1 + q) by repeated products.
    #[test]
    fn the_exact_law_is_the_discrete_laplace_law() {
        for steps in [1.0, 3.7, 20.25, 300.0] {
            let joint = JointLaplace::new(steps).unwrap();
            let (mantissa, exponent) = dyadic(steps);
            let q = exp_minus(quotient(1 << -exponent, mantissa, BEHIND));
            let mut ideal = quotient(ONE - q, ONE + q, BEHIND);
            let (mut apart, mut seen) = (0_u128, 0_u128);
            for x in 0..1_i64 << joint.bits {
                for x in if x == 0 { vec![0] } else { vec![x, -x] } {
                    apart += law(&joint, x).abs_diff(ideal);
                    seen += law(&joint, x);
                }
                ideal = product(ideal, q);
            }
            let lowest = law(&joint, -(1_i64 << joint.bits));
            assert!((seen + lowest).abs_diff(ONE) < ONE >> 90);
            let distance = apart as f64 / 2.0 / ONE as f64;
            // The test is sensitive enough to detect rounding to 64 bits.
            assert!(distance > 2_f64.powi(-76), "{steps}: {distance}");
            assert!(distance <= joint.distance(), "{steps}: {distance} {}", joint.distance());
            assert!(joint.distance() < crate::NOISE_LAW_DISTANCE, "{steps}: {}", joint.distance());
        }
    }

    #[test]
    fn scales_out_of_range_are_refused() {
        for steps in [0.0, 0.5, -3.0, f64::NAN, 2_f64.powi(50)] {
            assert!(JointLaplace::new(steps).is_err(), "{steps}");
        }
    }
}
