//! Symmetric integer laws, P(k) ∝ e^(−x(∣k∣)), from one random word a draw.
//!
//! x: 0, 1, 2, … → [0, ∞) is the law's [`Shape`]: x(0) = 0, increasing, exactly rational.
//!
//! **Method.** The values v = ∣k∣ are cut into cells of 2ʲ (j = 0 for small scales): cell c holds
//! v = c·2ʲ + r, 0 ≤ r < 2ʲ. For an integer S and every cell two integers are kept,
//!
//! - W(c) ≥ S·e^(−x) at the cell's near end (so for all its v), and
//! - L(c) ≤ S·e^(−x) at the next cell's near end (so for all its v),
//!
//! and the intervals [C(c), C(c) + W(c)) are laid end to end in [0, 2⁶⁴). A draw is:
//!
//! 1. u uniform on [0, 2⁶⁴), r uniform on [0, 2ʲ), a fair sign. If u is in no cell: start again.
//! 2. Cell c, offset o = u − C(c), v = c·2ʲ + r, U uniform on [0, 1). If o + U < S·e^(−x(v)), `v` with
//!    the sign is the draw; else start again. (v = 0 with the negative sign starts again too.)
//!
//! **Exact.** In one round, v in a cell is proposed with its cell's W(c)/2⁶⁴ · 2⁻ʲ and kept with
//! S·e^(−x(v))/W(c), since o + U is uniform on [0, W(c)) and W(c) ≥ S·e^(−x(v)). The product,
//! S·e^(−x(v))/2^(64+j), has one constant for all v: signs and restarts leave the law P. ∎
//! No normaliser is needed, and W, L may be arbitrarily rough: they only affect speed.
//!
//! **Fast.** If o < L(c) then step 2 keeps v whatever U and r are. A guide of 2¹³ entries gives, for the
//! top 13 bits of u, the cell c when the whole bucket lies in [C(c), C(c) + L(c)): then the other 51
//! bits of u are uniform and unused, and become r (j ≤ 50 bits) and the sign. Otherwise r and sign come
//! from a fresh word, and step 2 calls [`Exponent::decide`], which is exact.
//!
//! **Zero when j = 0.** Cell 0 is the value 0 alone. It gets W = L = S/2 (S even) and any sign:
//! the two signs together weigh S/2 + S/2, as one 0 should when each ±v weighs S·e^(−x(v)).
//!
//! **Tail.** The cells end at the first V = K·2ʲ with x(V) ≥ 45, so S·e^(−x(V)) < 2⁶⁴e⁻⁴⁵ < 1. The shape
//! guarantees x(V + d) ≥ x(V) + d·ln 2/B for a block B = 2^(j+a). After the cells [0, 2⁶⁴) holds 2^(a+1)
//! integers for the tail: g with probability 2^−(g+1), r uniform on [0, B), v = V + g·B + r is proposed
//! with 2^(a+1)/2⁶⁴ · 2^−(g+1) · 2^−(j+a) = 2^−(g+j+64) and kept with S·e^(−x(v))·2ᵍ ≤ 1: again the
//! product S·e^(−x(v))/2^(64+j). Values from 2⁶² on are rejected; that is, the law is the stated one
//! conditioned on ∣k∣ < 2⁶².
//!
//! Tested by `table_bounds_hold_by_big_rationals`, `a_forced_tie_is_decided_by_big_rationals`,
//! `the_tail_is_reached_and_decided`, and in law by `tests/all/noise_integer_laws.rs`.

use super::exponent::{Exponent, Scale};
use crate::noise::Source;
use zeroize::Zeroizing;

/// A law with weight e^(−x(∣k∣)), as the table reads it.
pub(in crate::noise) trait Shape {
    /// Cells per scale are between 2^RESOLUTION and twice that, where cells are wider than 1.
    const RESOLUTION: i32;

    /// Returns x(v), exactly, for v < 2⁶²; x(0) = 0 and x increases.
    fn exponent(&self, value: u64) -> Exponent;

    /// Returns the law's scale s in [2⁻¹⁰, 2⁵²), with x(V + d) ≥ x(V) + d·ln 2/s wherever x(V) ≥ 45.
    fn scale(&self) -> f64;
}

const GUIDE_BITS: u32 = 13;
const UNSURE: u16 = u16::MAX;
const LARGEST: u64 = 1 << 62;
/// Words requested from the source at a time.
const BLOCK: usize = 256;

/// The cells of one law.
pub(in crate::noise) struct CellTable<S> {
    shape: S,
    /// Width of a cell in bits, j.
    low_bits: u32,
    /// Further bits a of a tail block.
    tail_bits: u32,
    /// The integer S.
    weight: u64,
    /// The start C(c) of each cell, and at the end the start of the tail.
    starts: Vec<u64>,
    /// The length L(c) of each cell's sure part.
    sure: Vec<u64>,
    /// The cell of a bucket that lies in its sure part, or [`UNSURE`].
    guide: Box<[u16; 1 << GUIDE_BITS]>,
}

impl<S: Shape> CellTable<S> {
    pub fn new(shape: S) -> Self {
        // floor(log₂ scale), from the exponent field.
        let magnitude = ((shape.scale().to_bits() >> 52) as i32) - 1023;
        let low_bits = (magnitude - S::RESOLUTION).max(0) as u32;
        // B = 2^(j+a) ≥ scale
        let tail_bits = (magnitude + 1 - low_bits as i32).max(0) as u32;
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        // e⁻⁴⁵ < 3e-20 < 2⁻⁶⁴ = 5.4e-20
        while upper.last().is_none_or(|weight| *weight >= 3e-20) {
            let (low, high) = shape.exponent((upper.len() as u64) << low_bits).bounds();
            lower.push(low);
            upper.push(high);
        }
        let total = upper.iter().sum::<f64>() - if low_bits == 0 { 0.5 } else { 0.0 };
        // The sum's own rounding is far below 2⁻³⁰; S is even and below 2⁶⁴.
        let room = 18_446_744_073_709_551_616.0 * (1.0 - 1.0 / 1_073_741_824.0);
        let weight = (room / total.max(1.0)) as u64 & !1;
        let mut table = Self {
            shape,
            low_bits,
            tail_bits,
            weight,
            starts: vec![0],
            sure: Vec::new(),
            guide: Box::new([UNSURE; 1 << GUIDE_BITS]),
        };
        table.lay_out(&lower, &upper);
        table
    }

    /// Places cell after cell; `lower` and `upper` bound e^(−x) at the near end of each, the last of
    /// them being the tail's.
    fn lay_out(&mut self, lower: &[f64], upper: &[f64]) {
        let scaled = |bound: f64| self.weight as f64 * bound;
        let next = if self.low_bits == 0 { lower } else { &lower[1..] };
        // The last upper bound is the tail's and makes no cell.
        for (cell, (&near, &far)) in upper[..upper.len() - 1].iter().zip(next).enumerate() {
            // One conversion and one product, 2⁻⁵² in all, lie within the slack of the bounds; at x = 0
            // `near` is 1 and the conversion may round down by 2¹⁰.
            let (wide, sure) = if self.low_bits == 0 && cell == 0 {
                (self.weight / 2, self.weight / 2)
            } else {
                ((scaled(near) as u64).saturating_add(1 << 11), scaled(far) as u64)
            };
            let start = self.starts[cell];
            self.starts.push(start.saturating_add(wide));
            self.sure.push(sure);
        }
        for (cell, (&start, &sure)) in self.starts.iter().zip(&self.sure).enumerate() {
            let shift = 64 - GUIDE_BITS;
            let first = (start >> shift) as usize + usize::from(start << GUIDE_BITS != 0);
            let end = (start.saturating_add(sure) >> shift) as usize;
            for entry in self.guide.iter_mut().take(end).skip(first) {
                *entry = cell as u16;
            }
        }
        debug_assert!(self.sure.len() < usize::from(UNSURE));
        debug_assert!(self.tail_start().checked_add(2 << self.tail_bits).is_some());
    }

    fn tail_start(&self) -> u64 {
        self.starts[self.sure.len()]
    }

    /// The law of the draws.
    pub fn shape(&self) -> &S {
        &self.shape
    }

    /// Fills `out` with independent draws.
    pub fn fill<R: Source + ?Sized>(&self, out: &mut [i64], source: &mut R) {
        let mut words = Zeroizing::new([0_u64; BLOCK]);
        let mut done = 0;
        while done < out.len() {
            let words = &mut words[..BLOCK.min(out.len() - done)];
            source.fill_words(words);
            for word in words {
                if let Some(value) = self.round(*word, source) {
                    out[done] = value;
                    done += 1;
                }
            }
        }
    }

    /// One draw.
    pub fn draw<R: Source + ?Sized>(&self, source: &mut R) -> i64 {
        loop {
            if let Some(value) = self.round(source.next_u64(), source) {
                return value;
            }
        }
    }

    /// One round of the method with u = `word`; `None` starts again.
    #[inline]
    fn round<R: Source + ?Sized>(&self, word: u64, source: &mut R) -> Option<i64> {
        let cell = self.guide[(word >> (64 - GUIDE_BITS)) as usize];
        if cell == UNSURE {
            return self.careful_round(word, source);
        }
        let low = word >> 1 & ((1 << self.low_bits) - 1);
        self.signed(u64::from(cell) << self.low_bits | low, word & 1)
    }

    /// Returns ±value; a negative zero is refused unless zero was given half its weight.
    #[inline]
    fn signed(&self, value: u64, negative: u64) -> Option<i64> {
        if value == 0 && negative == 1 && self.low_bits > 0 {
            return None;
        }
        let (value, sign) = (value as i64, negative as i64);
        Some((value ^ -sign) + sign)
    }

    #[cold]
    #[inline(never)]
    fn careful_round<R: Source + ?Sized>(&self, word: u64, source: &mut R) -> Option<i64> {
        if word >= self.tail_start() {
            return self.tail_round(word - self.tail_start(), source);
        }
        // starts[0] = 0, so at least one start is not above the word.
        let cell = self.starts.partition_point(|start| *start <= word) - 1;
        let offset = word - self.starts[cell];
        let fresh = source.next_u64();
        let low = fresh >> 1 & ((1 << self.low_bits) - 1);
        let value = (cell as u64) << self.low_bits | low;
        let scale = Scale { mantissa: self.weight, shift: 0 };
        let kept =
            offset < self.sure[cell] || self.shape.exponent(value).decide(offset, scale, source);
        if kept { self.signed(value, fresh & 1) } else { None }
    }

    /// A round whose u is `place` integers behind the last cell.
    fn tail_round<R: Source + ?Sized>(&self, place: u64, source: &mut R) -> Option<i64> {
        if place >= 2 << self.tail_bits {
            return None;
        }
        let mut blocks = 0_u64;
        loop {
            let zeros = source.next_u64().trailing_zeros();
            blocks = blocks.saturating_add(zeros.into());
            if zeros < 64 {
                break;
            }
        }
        let width = self.low_bits + self.tail_bits;
        let ahead = blocks.checked_mul(1 << width).filter(|ahead| *ahead < LARGEST)?;
        let value = ((self.sure.len() as u64) << self.low_bits) + ahead + source.bits(width);
        let shift = u32::try_from(blocks).ok().filter(|_| value < LARGEST)?;
        let scale = Scale { mantissa: self.weight, shift };
        let kept = self.shape.exponent(value).decide(0, scale, source);
        let negative = source.bits(1);
        if kept { self.signed(value, negative) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::discrete_gaussian::GaussianShape;
    use crate::noise::discrete_laplace::LaplaceShape;
    use crate::noise::exact::oracle::{self, Ratio};
    use crate::noise::source::Scripted;
    use num_bigint::BigUint;

    const BITS: u32 = 400;

    /// S·e^(−x(v))·2⁴⁰⁰ from the law's definition.
    fn threshold<S: Shape>(table: &CellTable<S>, x: Ratio) -> BigUint {
        oracle::exp_negative(&x, BITS) * table.weight
    }

    fn gaussian_x(sigma: f64, value: u64) -> Ratio {
        let (m, e) = oracle::parts(sigma);
        let Ratio(n, d) = oracle::dyadic(m, e);
        Ratio(BigUint::from(value).pow(2) * d.pow(2), n.pow(2) * 2_u32)
    }

    fn laplace_x(scale: f64, value: u64) -> Ratio {
        let (m, e) = oracle::parts(scale);
        let Ratio(n, d) = oracle::dyadic(m, e);
        Ratio(BigUint::from(value) * d, n)
    }

    fn check_bounds<S: Shape>(table: &CellTable<S>, x: impl Fn(u64) -> Ratio) {
        let zero_is_half = table.low_bits == 0;
        for (cell, &sure) in table.sure.iter().enumerate() {
            let wide = table.starts[cell + 1] - table.starts[cell];
            assert!(sure <= wide);
            if zero_is_half && cell == 0 {
                assert_eq!((wide * 2, sure * 2), (table.weight, table.weight));
                continue;
            }
            let (near, far) =
                ((cell as u64) << table.low_bits, ((cell as u64 + 1) << table.low_bits) - 1);
            assert!(threshold(table, x(near)) <= BigUint::from(wide) << BITS, "cell {cell}");
            assert!(threshold(table, x(far)) >= BigUint::from(sure) << BITS, "cell {cell}");
        }
        let end = (table.sure.len() as u64) << table.low_bits;
        // The tail's assumption, at block starts, where it is tightest.
        for block in 0..20 {
            let value = end + (block << (table.low_bits + table.tail_bits));
            assert!(
                threshold(table, x(value)) << block <= BigUint::from(1_u32) << BITS,
                "block {block}"
            );
        }
        for (bucket, &cell) in table.guide.iter().enumerate() {
            if cell != UNSURE {
                let (first, last) =
                    ((bucket as u64) << 51, ((bucket as u64) << 51) + ((1 << 51) - 1));
                let start = table.starts[usize::from(cell)];
                assert!(start <= first && last - start < table.sure[usize::from(cell)]);
            }
        }
    }

    #[test]
    fn table_bounds_hold_by_big_rationals() {
        for scale in [0.3, 1.0, 3.7, 17.1, 63.9, 64.0, 1e5, 1.7e12, 4e15] {
            let table = CellTable::new(GaussianShape::new(scale));
            check_bounds(&table, |value| gaussian_x(scale, value));
            let table = CellTable::new(LaplaceShape::new(scale));
            check_bounds(&table, |value| laplace_x(scale, value));
        }
    }

    /// The word that lands `offset` into the cell of `value`, then the word with its low bits and a
    /// positive sign, then U's first words: a hair below the threshold is kept, a hair above is not.
    #[test]
    fn a_forced_tie_is_decided_by_big_rationals() {
        for (sigma, value) in
            [(1.0, 2_u64), (5.3, 9), (17.0, 1), (1e6, 1_234_567), (1.5e12, 3_000_000_000_001)]
        {
            let table = CellTable::new(GaussianShape::new(sigma));
            let target = threshold(&table, gaussian_x(sigma, value));
            let digit = |place: u32| -> u64 {
                (&target >> (BITS - 64 * place) & BigUint::from(u64::MAX)).try_into().unwrap()
            };
            let word = table.starts[(value >> table.low_bits) as usize] + digit(0);
            for (step, expected) in [(-1_i64, Some(value as i64)), (1, None)] {
                let mut source = Scripted::new([
                    value << 1,
                    digit(1),
                    digit(2),
                    digit(3),
                    digit(4).wrapping_add_signed(step),
                ]);
                assert_eq!(table.careful_round(word, &mut source), expected, "{sigma} {value}");
                assert!(source.taken >= 5, "the tie path was not taken");
                if table.guide[(word >> 51) as usize] == UNSURE {
                    let mut source = Scripted::new([
                        value << 1,
                        digit(1),
                        digit(2),
                        digit(3),
                        digit(4).wrapping_add_signed(step),
                    ]);
                    assert_eq!(table.round(word, &mut source), expected);
                }
            }
        }
    }

    #[test]
    fn the_tail_is_reached_and_decided() {
        let table = CellTable::new(GaussianShape::new(1.0));
        let end = table.sure.len() as u64;
        // No block skipped (an odd word), one low bit for B = 2, then U = 0 …, a positive sign.
        let kept =
            table.careful_round(table.tail_start(), &mut Scripted::new([1, 0, 0, 0, 0, 0, 0]));
        assert_eq!(kept, Some(end as i64));
        // U above S·e^(−x): refused.
        let refused = table.careful_round(table.tail_start(), &mut Scripted::new([1, 0, u64::MAX]));
        assert_eq!(refused, None);
        // Two blocks on: S·e^(−x)·4 with v = end + 4.
        let kept = table.careful_round(
            table.tail_start() + 3,
            &mut Scripted::new([0b100, 0, 0, 0, 0, 0, 1 << 63]),
        );
        assert_eq!(kept, Some(-(end as i64 + 4)));
        // Far beyond any memory: refused, not a panic.
        let far = CellTable::new(GaussianShape::new(4e15));
        let mut words = vec![0; 300];
        words.push(1);
        assert_eq!(far.careful_round(far.tail_start(), &mut Scripted::new(words)), None);
        // Behind the tail nothing is kept.
        assert_eq!(table.careful_round(u64::MAX, &mut Scripted::new([])), None);
    }
}
