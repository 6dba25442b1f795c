//! e⁻ˣ in f64, with a proved error, from additions and multiplications alone.
//!
//! **Claim.** For 0 ≤ x ≤ 600, [`exp_negative`] differs from e⁻ˣ by a factor within 1 ± 2⁻⁴⁸.
//!
//! *Proof.* u = 2⁻⁵³ is the unit roundoff. With n = ⌊x·log₂e + ½⌋ ≤ 866 and ln 2 = high + low,
//! `high` a multiple of 2⁻⁴⁰ below 1, n·high < 2¹⁰ is a multiple of 2⁻⁴⁰ and so exact. d = x − n·high
//! has ∣d∣ < 0.36: one rounding, at most 0.36u (none by Sterbenz' lemma once n ≥ 1). n·low: ∣low∣ < 2⁻⁴⁰,
//! so ∣n·low∣ < 2⁻³⁰, its rounding is below 2⁻⁸³ and the error of `low` itself below 866·2⁻⁹³. r = d − n·low:
//! one more rounding, ∣r∣ ≤ 0.36 (n may be off by the rounding of x·log₂e, which moves ∣r∣ past
//! ½ln 2 = 0.347 by less than 10⁻⁹). Altogether r is wrong by less than u, and e⁻ʳ by a factor
//! within 1 ± 1.01u. The Taylor polynomial of degree 14 leaves 0.36¹⁵/15! · e^0.36 < 2.5·10⁻¹⁹ < u/400.
//! Horner's rule: step i forms cᵢ + r·s with relative error of each operation u and of each
//! coefficient u; the errors are damped by ∣r∣ ≤ 0.36 a step, so the sum is off by at most
//! Σ 3u·e^0.36·0.36ⁱ ≤ 7u, relative to e⁻ʳ ≥ 0.69 at most 11u. Multiplying by 2⁻ⁿ ≥ 2⁻⁸⁶⁶ is exact.
//! In all below 13u < 2⁻⁴⁹. ∎
//!
//! No platform's mathematical library is used, so the bits are the same everywhere. Tested against big
//! rationals by `exp_negative_keeps_its_promise`.

/// Largest argument covered by the claim.
pub(super) const LARGEST_ARGUMENT: f64 = 600.0;

/// ln 2 truncated to a multiple of 2⁻⁴⁰, and the rest.
const LN_2_HIGH: f64 = 762_123_384_785.0 / 1_099_511_627_776.0;
const LN_2_LOW: f64 = 7.371_002_565_167_799e-13;

/// The coefficients (−1)ⁱ/i!, from degree 14 down.
const COEFFICIENTS: [f64; 15] = [
    1.0 / 87_178_291_200.0,
    -1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    -1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    -1.0 / 362_880.0,
    1.0 / 40_320.0,
    -1.0 / 5_040.0,
    1.0 / 720.0,
    -1.0 / 120.0,
    1.0 / 24.0,
    -1.0 / 6.0,
    0.5,
    -1.0,
    1.0,
];

/// e⁻ˣ for 0 ≤ x ≤ [`LARGEST_ARGUMENT`], within a factor 1 ± 2⁻⁴⁸.
pub(super) fn exp_negative(x: f64) -> f64 {
    debug_assert!((0.0..=LARGEST_ARGUMENT).contains(&x));
    let n = (x * std::f64::consts::LOG2_E + 0.5).floor();
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let series = COEFFICIENTS.iter().fold(0.0, |sum, coefficient| coefficient + r * sum);
    series * power_of_two(-(n as i32))
}

/// The power 2^exponent, for a normal result.
pub(super) fn power_of_two(exponent: i32) -> f64 {
    debug_assert!((-1022..=1023).contains(&exponent));
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::super::oracle;
    use super::*;
    use proptest::prelude::*;

    fn error_in_units_of_2_to_minus_60(x: f64) -> f64 {
        // ⌊e⁻ˣ·2^1000⌋ against the f64, both as integers.
        let (mantissa, exponent) = oracle::parts(x);
        let truth = oracle::exp_negative(&oracle::dyadic(mantissa, exponent), 1000);
        let (mantissa, exponent) = oracle::parts(exp_negative(x));
        let found = oracle::shifted(mantissa, exponent + 1000);
        oracle::ratio_minus_one(&found, &truth) * 2_f64.powi(60)
    }

    proptest! {
        #[test]
        fn exp_negative_keeps_its_promise(x in prop_oneof![0.0..1.0, 0.0..60.0, 0.0..600.0]) {
            prop_assert!(error_in_units_of_2_to_minus_60(x).abs() < 4096.0, "{x}");
        }
    }

    #[test]
    fn exp_negative_keeps_its_promise_where_the_reduction_turns() {
        for n in (0..860).step_by(9).chain(0..70) {
            for half in [0.0, 0.5] {
                let x = (f64::from(n) + half) * std::f64::consts::LN_2;
                for x in [x, x.next_up(), (x * (1.0 - 1e-12)).max(0.0)] {
                    assert!(error_in_units_of_2_to_minus_60(x).abs() < 4096.0, "{x}");
                }
            }
        }
        assert_eq!(exp_negative(0.0), 1.0);
    }
}
