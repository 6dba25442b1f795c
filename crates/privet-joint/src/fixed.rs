//! Fixed-point numbers with 116 fractional bits, for tables that must be accurate to 2⁻⁶⁴ and more.
//!
//! All values are in [0, 2¹²). A product or quotient is truncated, with an error below one unit of
//! 2⁻¹¹⁶.

/// The number of fractional bits.
pub const BEHIND: u32 = 116;
/// The value 1.
pub const ONE: u128 = 1 << BEHIND;

/// The truncated product of two numbers, one of them at most 1.
pub fn product(a: u128, b: u128) -> u128 {
    const LOW: u128 = (1 << 64) - 1;
    let (high, low) = ((a >> 64) * (b >> 64), (a & LOW) * (b & LOW));
    let middle = (a >> 64) * (b & LOW) + (low >> 64);
    // Each cross term is below 2⁶⁴·2⁶⁴ and their sum may not fit: their low halves are added separately.
    let other = (a & LOW) * (b >> 64);
    let carry = ((middle & LOW) + (other & LOW)) >> 52;
    (high << 12) + ((middle >> 64) + (other >> 64)) * (1 << 12) + carry
}

/// ⌊a·2ˢ/b⌋, which must be below 2¹²⁸; b is positive and below 2¹²⁷.
pub fn quotient(a: u128, b: u128, shift: u32) -> u128 {
    let (mut whole, mut rest) = (a / b, a % b);
    for _ in 0..shift {
        rest <<= 1;
        whole = whole << 1 | u128::from(rest >= b);
        rest -= if rest >= b { b } else { 0 };
    }
    whole
}

/// e⁻ʸ for y below 2¹², within 2¹⁹ units; within 62 for y < ½, and within 2¹³ for y < 64.
///
/// y is halved until it is below ½, k ≤ 13 times (error at most one unit), the series summed until its
/// terms vanish (each with an error of two units at most, 30 terms at most), and the result squared k
/// times, which doubles the error and adds a unit: below 2ᵏ·63 units.
pub fn exp_minus(y: u128) -> u128 {
    let mut halvings = 0;
    while y >> halvings >= ONE / 2 {
        halvings += 1;
    }
    let z = y >> halvings;
    let (mut up, mut down, mut term) = (ONE, 0, ONE);
    for n in 1.. {
        term = product(term, z) / n;
        if term == 0 {
            break;
        }
        if n % 2 == 0 { up += term } else { down += term }
    }
    (0..halvings).fold(up - down, |power, _| product(power, power))
}

/// The nearest double.
pub fn to_f64(a: u128) -> f64 {
    a as f64 / ONE as f64
}

/// (M, e) with the positive x = M·2ᵉ, M below 2⁵³.
pub fn dyadic(x: f64) -> (u128, i32) {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    (u128::from(bits & ((1 << 52) - 1) | 1 << 52), exponent - 1075)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_quotients_are_cut_off() {
        assert_eq!(product(ONE, ONE), ONE);
        assert_eq!(product(ONE - 1, ONE - 1), ONE - 2);
        assert_eq!(product(5 * ONE, ONE / 2), 5 * ONE / 2);
        assert_eq!(quotient(1, 3, BEHIND), ONE / 3);
        for seed in 0_u128..1000 {
            let a = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) >> 12;
            let b = (seed + 7).wrapping_mul(0xda94_2042_e4dd_58b5_2545_f491_4f6c_dd1d) >> 12;
            let (got, near) = (to_f64(product(a, b)), to_f64(a) * to_f64(b));
            assert!((got - near).abs() <= 1e-15, "{a} {b}");
            // a·b/b is a, less at most one unit for each truncation and the first one's error divided by
            // b.
            let back = quotient(product(a, b), b, BEHIND);
            assert!(back <= a && a - back <= 2 + ONE / b, "{a} {b}");
        }
    }

    #[test]
    fn the_exponential_is_right_to_more_than_it_is_used_for() {
        // 1/e from the series of e, summed by another recursion: 1 + (1 + (1 + …)/3)/2 from the inside
        // out.
        let e = (1..40).rev().fold(ONE, |inner, n| ONE + inner / n);
        let inverse = quotient(ONE, e, BEHIND);
        assert!(exp_minus(ONE).abs_diff(inverse) < 1 << 10);
        // The functional equation holds, over many halvings and few.
        for (a, b) in [(1, 3), (40, 2), (7, 1000), (1 << 20, 3 << 19), (90, 1)] {
            let (x, y) = (quotient(a, 17, BEHIND), quotient(b, 17, BEHIND));
            if x < ONE << 11 && y < ONE << 11 {
                let apart = product(exp_minus(x), exp_minus(y));
                assert!(exp_minus(x + y).abs_diff(apart) < 1 << 16, "{a}/17, {b}/17");
            }
            assert!((to_f64(exp_minus(y)) - (-to_f64(y)).exp()).abs() < 1e-15);
        }
        assert_eq!(exp_minus(0), ONE);
    }

    #[test]
    fn doubles_are_taken_apart() {
        for x in [1.0, 0.7, 1e12, 3.5e-9] {
            let (m, e) = dyadic(x);
            assert_eq!(m as f64 * 2_f64.powi(e), x);
        }
    }
}
