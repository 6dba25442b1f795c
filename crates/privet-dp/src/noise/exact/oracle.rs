//! The tests' own e⁻ˣ, in `num-bigint` rationals, written independently of the tested code.

use num_bigint::{BigInt, BigUint};

/// The ratio numerator / denominator.
pub struct Ratio(pub BigUint, pub BigUint);

/// Splits f into mantissa · 2^exponent, for finite f ≥ 0.
pub fn parts(f: f64) -> (u64, i32) {
    let (bits, raw) = (f.to_bits() & ((1 << 52) - 1), (f.to_bits() >> 52) as i32);
    if raw == 0 { (bits, -1074) } else { (bits | 1 << 52, raw - 1075) }
}

/// The number mantissa · 2^exponent as a ratio.
pub fn dyadic(mantissa: u64, exponent: i32) -> Ratio {
    let power = BigUint::from(1_u32) << exponent.unsigned_abs();
    if exponent < 0 {
        Ratio(BigUint::from(mantissa), power)
    } else {
        Ratio(BigUint::from(mantissa) * power, BigUint::from(1_u32))
    }
}

/// The integer ⌊mantissa · 2^exponent⌋.
pub fn shifted(mantissa: u64, exponent: i32) -> BigUint {
    let Ratio(numerator, denominator) = dyadic(mantissa, exponent);
    numerator / denominator
}

/// e⁻ˣ·2^bits, within 1: 1/eˣ with eˣ = Σ xⁿ/n! summed in fixed point with 4·x + 200 spare bits.
pub fn exp_negative(x: &Ratio, bits: u32) -> BigUint {
    let spare = u32::try_from(&x.0 / &x.1).expect("the oracle is for moderate x") * 4 + 200;
    let one = BigUint::from(1_u32) << (bits + spare);
    let (mut sum, mut term, mut n) = (one.clone(), one.clone(), 0_u32);
    while term > BigUint::ZERO {
        n += 1;
        term = term * &x.0 / (&x.1 * n);
        sum += &term;
    }
    (one << bits) / sum
}

/// The relative error found/truth − 1 in f64.
pub fn ratio_minus_one(found: &BigUint, truth: &BigUint) -> f64 {
    let difference = BigInt::from(found.clone()) - BigInt::from(truth.clone());
    let scaled = (difference << 200_u32) / BigInt::from(truth.clone());
    scaled.to_string().parse::<f64>().expect("a number") / 2_f64.powi(200)
}
