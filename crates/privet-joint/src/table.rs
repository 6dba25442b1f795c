//! Draws from a small table, by one comparison: Walker's alias method as a circuit.
//!
//! Of 2ᵇ columns one is chosen by b uniform bits; it holds its own value below a threshold and another
//! value, its alias, from there on; a uniform number of 64 bits decides. Thresholds are integers, so the
//! law is n(g)/2^(b+64) with integers n(g) that add up to 2^(b+64): it is **known exactly**, and
//! [`Table::distance`] bounds its distance from the target weights.
//!
//! A column's content is a sum, mod 2, of column indicators: free. So a draw costs 2ᵇ − b − 1 ANDs to
//! decode the column, 64 to compare and b to choose, **2ᵇ + 63** together, while b biased bits of that
//! precision cost 64 each.

use crate::circuit::{Circuit, Wire};
use crate::fixed::quotient;
use std::collections::HashMap;

/// The number of bits of a threshold.
pub const PRECISION: u32 = 64;

/// A law on 0 … 2ᵇ − 1.
#[derive(Debug, Clone)]
pub struct Table {
    bits: u32,
    precision: u32,
    threshold: Vec<u64>,
    alias: Vec<usize>,
    counts: Vec<u128>,
}

impl Table {
    /// The law proportional to 2ᵇ weights in units of 2⁻¹¹⁶, each at most 2¹¹⁷.
    pub fn new(weights: &[u128]) -> Self {
        Self::with(weights, PRECISION)
    }

    /// The same law with fewer bits, so that tests can enumerate all draws.
    pub(crate) fn with(weights: &[u128], precision: u32) -> Self {
        debug_assert!(weights.len().is_power_of_two() && precision <= PRECISION);
        let bits = weights.len().trailing_zeros();
        let counts = whole(weights, bits + precision);
        let (threshold, alias) = columns(&counts, 1 << precision);
        Self { bits, precision, threshold, alias, counts }
    }

    /// The number of bits of a draw.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// n(g), the number of outcomes of each value, of 2 to the power of [`Self::out_of`].
    pub fn counts(&self) -> &[u128] {
        &self.counts
    }

    /// Binary logarithm of the number of outcomes.
    pub fn out_of(&self) -> u32 {
        self.bits + self.precision
    }

    /// Upper bound on the total variation distance between the circuit's law and the target weights, if
    /// these are accurate to 2⁻⁹³, and their sum is at least 1.
    ///
    /// Counts are truncated and the D largest remainders rounded up instead, D the sum of the
    /// remainders: the mass added, at most D·(1 − D/2ᵇ) ≤ 2ᵇ/4 units of 2^−(b + precision), is the
    /// distance. Remainders are compared to 20 bits, and the errors of at most 2⁸ weights add up to less
    /// than 2⁻⁸⁴.
    pub fn distance(&self) -> f64 {
        2_f64.powi(-2 - self.precision as i32) * (1.0 + 2_f64.powi(-17)) + 2_f64.powi(-84)
    }

    /// Adds the gates of one draw; returns its bits, least significant first.
    pub fn draw(&self, circuit: &mut Circuit) -> Vec<Wire> {
        let column: Vec<Wire> = (0..self.bits).map(|_| circuit.uniform()).collect();
        let level: Vec<Wire> = (0..self.precision).map(|_| circuit.uniform()).collect();
        let hot = circuit.one_hot(&column);
        let mut sums = Sums { hot: &hot, known: HashMap::new() };
        let threshold: Vec<Wire> = (0..self.precision)
            .map(|bit| sums.of(circuit, |column| self.threshold[column] >> bit & 1 == 1))
            .collect();
        let stay = circuit.less(&level, &threshold);
        let leave = circuit.not(stay);
        (0..self.bits)
            .map(|bit| {
                let change =
                    sums.of(circuit, |column| (self.alias[column] ^ column) >> bit & 1 == 1);
                let change = circuit.and(leave, change);
                circuit.xor(column[bit as usize], change)
            })
            .collect()
    }
}

/// Integers in proportion to the weights that add up to 2 to the power of `out_of`.
fn whole(weights: &[u128], out_of: u32) -> Vec<u128> {
    let total: u128 = weights.iter().sum();
    // 20 further bits order the remainders.
    let parts: Vec<u128> =
        weights.iter().map(|&weight| quotient(weight, total, out_of + 20)).collect();
    let mut counts: Vec<u128> = parts.iter().map(|part| part >> 20).collect();
    let missing = (1_u128 << out_of) - counts.iter().sum::<u128>();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&place| (std::cmp::Reverse(parts[place] & ((1 << 20) - 1)), place));
    order.into_iter().take(missing as usize).for_each(|place| counts[place] += 1);
    counts
}

/// Vose's algorithm in integers: the deficit of a column is filled from one with a surplus.
fn columns(counts: &[u128], full: u128) -> (Vec<u64>, Vec<usize>) {
    let mut left = counts.to_vec();
    let mut threshold = vec![0_u64; left.len()];
    let mut alias: Vec<usize> = (0..left.len()).collect();
    let (mut short, mut over): (Vec<usize>, Vec<usize>) =
        (0..left.len()).filter(|&place| left[place] != full).partition(|&p| left[p] < full);
    // The deficits equal the surpluses in sum, exactly.
    while let (Some(to), Some(&from)) = (short.pop(), over.last()) {
        // Below 2⁶⁴, being less than full.
        (threshold[to], alias[to]) = (left[to] as u64, from);
        left[from] -= full - left[to];
        if left[from] <= full {
            over.pop();
        }
        if left[from] < full {
            short.push(from);
        }
    }
    (threshold, alias)
}

/// Sums of column indicators; those over groups of four columns are reused.
struct Sums<'a> {
    hot: &'a [Wire],
    known: HashMap<(usize, usize), Wire>,
}

impl Sums<'_> {
    fn of(&mut self, circuit: &mut Circuit, among: impl Fn(usize) -> bool) -> Wire {
        let mut sum = Wire::Known(false);
        for (group, hot) in self.hot.chunks(4).enumerate() {
            let mask = (0..hot.len()).map(|at| usize::from(among(4 * group + at)) << at).sum();
            let part = match self.known.get(&(group, mask)) {
                Some(&part) => part,
                None => {
                    let picked = hot.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1);
                    let part =
                        picked.fold(Wire::Known(false), |sum, (_, &one)| circuit.xor(sum, one));
                    self.known.insert((group, mask), part);
                    part
                }
            };
            sum = circuit.xor(sum, part);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixed::ONE;

    fn uneven(bits: u32) -> Vec<u128> {
        (0..1_u128 << bits).map(|g| ONE / (1 + g * g * g) + g * ONE / 977).collect()
    }

    #[test]
    fn every_draw_of_small_tables_is_counted() {
        for (bits, precision) in [(1, 6), (2, 7), (3, 9), (4, 8)] {
            let table = Table::with(&uneven(bits), precision);
            let mut circuit = Circuit::new(1);
            let drawn = table.draw(&mut circuit);
            circuit.output(&drawn);
            let free = (bits + precision) as usize;
            assert_eq!(circuit.inputs(), &[free as u32]);
            let mut seen = vec![0_u128; 1 << bits];
            for value in 0..1_u64 << free {
                let inputs = (0..free).map(|bit| 0_u64.wrapping_sub(value >> bit & 1)).collect();
                let out = circuit.eval(&[inputs]);
                let drawn: usize =
                    out.iter().enumerate().map(|(bit, word)| ((word & 1) as usize) << bit).sum();
                seen[drawn] += 1;
            }
            assert_eq!(seen, table.counts(), "{bits} bits");
        }
    }

    #[test]
    fn whole_tables_hold_their_columns_to_the_last_unit() {
        for bits in 1..8 {
            let table = Table::new(&uneven(bits));
            let mut held = vec![0_u128; 1 << bits];
            for (column, (&threshold, &alias)) in
                table.threshold.iter().zip(&table.alias).enumerate()
            {
                held[column] += u128::from(threshold);
                held[alias] += (1 << 64) - u128::from(threshold);
            }
            assert_eq!(held, table.counts());
            assert_eq!(held.iter().sum::<u128>(), 1 << (bits + 64));
            // The circuit switches exactly at the threshold, in every column.
            let mut circuit = Circuit::new(1);
            let drawn = table.draw(&mut circuit);
            circuit.output(&drawn);
            assert!(circuit.ands() <= (1 << bits) + 63, "{bits} bits: {}", circuit.ands());
            for column in 0..1_usize << bits {
                let (edge, alias) = (table.threshold[column], table.alias[column]);
                let levels = [(0, column), (edge.wrapping_sub(1), column), (edge, alias)];
                for (level, expected) in levels.into_iter().chain([(u64::MAX, alias)]) {
                    // With a threshold of 0 the column has no outcome of its own.
                    let expected = if edge == 0 { alias } else { expected };
                    let bit = |value: u64, at: u32| 0_u64.wrapping_sub(value >> at & 1);
                    let inputs = (0..bits)
                        .map(|at| bit(column as u64, at))
                        .chain((0..64).map(|at| bit(level, at)))
                        .collect();
                    let out = circuit.eval(&[inputs]);
                    let drawn: usize = out
                        .iter()
                        .enumerate()
                        .map(|(bit, word)| ((word & 1) as usize) << bit)
                        .sum();
                    assert_eq!(drawn, expected, "{bits} bits, column {column}, level {level}");
                }
            }
        }
    }
}
