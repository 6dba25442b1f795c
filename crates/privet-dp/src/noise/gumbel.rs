//! Choosing one candidate: the exponential mechanism and report noisy max.
//!
//! **Law** (McSherry & Talwar 2007). Candidate i with probability ∝ e^(rate·scoreᵢ). With scores of
//! sensitivity Δ, rate = ε/2Δ gives ε-DP (rate = ε/Δ if all scores can only change in the same
//! direction). Adding independent Gumbel noise of scale 1/rate and taking the largest has this same law.
//!
//! - [`choose_by_weight`]: integer scores, **exact**. A candidate drawn uniformly is kept with
//!   probability e^(−rate·(best − scoreᵢ)) ([`bernoulli_exp`], rate taken as the dyadic number of its
//!   f64), else drawn again: in a round i is returned with e^(rate·scoreᵢ) times a constant. The best
//!   candidate is always kept, so n rounds are expected at most. The number of rounds depends on the
//!   scores: where an observer can time the choice to the microsecond, use [`report_noisy_max`], whose
//!   work does not.
//! - [`report_noisy_max`] and [`Gumbel`]: **in real arithmetic**; f64 scores, f64 noise −ln E, E
//!   exponential with full relative precision down to the smallest values (so both tails of the noise
//!   are there).
//!
//! Tested by `tests/all/noise_choice.rs`.

use super::bernoulli::{Exponent, bernoulli_exp};
use super::exact::exponent::dyadic_parts;
use super::{NOISE_SCALE, NoiseError, Source};
use privet_core::Range;

/// Limits on the rate of the exponential mechanism.
pub const RATE: Range = Range::open("rate", 0.0, f64::INFINITY);

/// Returns index i with probability ∝ e^(rate·scoreᵢ), exactly.
pub fn choose_by_weight<S: Source + ?Sized>(
    scores: &[i64],
    rate: f64,
    source: &mut S,
) -> Result<usize, NoiseError> {
    let (mantissa, exponent) = dyadic_parts(RATE.check(rate)?);
    let best = *scores.iter().max().ok_or(NoiseError::NoCandidates)?;
    loop {
        let index = source.below(scores.len() as u64) as usize;
        // below 2⁶⁴ · 2⁵³
        let numerator = u128::from(best.abs_diff(scores[index])) * u128::from(mantissa);
        if bernoulli_exp(&Exponent::new(numerator, 1, -exponent), source) {
            return Ok(index);
        }
    }
}

/// Returns the index of the largest score after Gumbel noise of this scale, in real arithmetic: i with
/// probability ∝ e^(scoreᵢ/noise_scale).
pub fn report_noisy_max<S: Source + ?Sized>(
    scores: &[f64],
    noise_scale: f64,
    source: &mut S,
) -> Result<usize, NoiseError> {
    let noise = Gumbel::new(noise_scale)?;
    if let Some(index) = scores.iter().position(|score| !score.is_finite()) {
        return Err(NoiseError::ScoreNotFinite { index });
    }
    let noisy = scores.iter().map(|score| score + noise.draw(source));
    let best = noisy.enumerate().max_by(|one, other| one.1.total_cmp(&other.1));
    best.map(|(index, _)| index).ok_or(NoiseError::NoCandidates)
}

/// Gumbel noise, P(G ≤ t) = exp(−e^(−t/scale)), in real arithmetic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gumbel {
    noise_scale: f64,
}

impl Gumbel {
    /// The law for a scale inside [`NOISE_SCALE`].
    pub fn new(noise_scale: f64) -> Result<Self, NoiseError> {
        Ok(Self { noise_scale: NOISE_SCALE.check(noise_scale)? })
    }

    /// One draw.
    pub fn draw<S: Source + ?Sized>(&self, source: &mut S) -> f64 {
        -libm::log(exponential(source)) * self.noise_scale
    }
}

/// A standard exponential in real arithmetic.
///
/// E = −ln V for V uniform on (0, 1): V = 2^−G·(1 − d), G counting leading zero bits (unbounded) and
/// d a uniform multiple of 2⁻⁶⁴, offset by half of it, on (0, ½). So E = G·ln 2 − ln(1 − d).
pub(super) fn exponential<S: Source + ?Sized>(source: &mut S) -> f64 {
    let mut zeros = 0.0;
    loop {
        let run = source.next_u64().leading_zeros();
        zeros += f64::from(run);
        if run < 64 {
            break;
        }
    }
    let d = (source.bits(63) as f64 + 0.5) / 18_446_744_073_709_551_616.0;
    zeros * std::f64::consts::LN_2 - libm::log1p(-d)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::source::Scripted;

    #[test]
    fn both_ends_of_the_exponential_are_reached() {
        let smallest = exponential(&mut Scripted::new([u64::MAX, 0]));
        assert!(0.0 < smallest && smallest < 1e-19);
        let large = exponential(&mut Scripted::new([0, 0, 1, u64::MAX]));
        assert!(large > 191.0 * std::f64::consts::LN_2);
    }

    #[test]
    fn bad_choices_are_refused_by_name() {
        let source = &mut Scripted::new([]);
        assert_eq!(choose_by_weight(&[], 1.0, source), Err(NoiseError::NoCandidates));
        assert_eq!(report_noisy_max(&[], 1.0, source), Err(NoiseError::NoCandidates));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(choose_by_weight(&[1], bad, source).unwrap_err().to_string().contains("rate"));
            assert!(report_noisy_max(&[1.0], bad, source).is_err());
        }
        let refused = report_noisy_max(&[0.0, f64::NAN], 1.0, source);
        assert_eq!(refused, Err(NoiseError::ScoreNotFinite { index: 1 }));
        // The widest scores and the extreme rates neither overflow nor stall.
        for rate in [f64::MAX, 5e-324] {
            assert!(choose_by_weight(&[i64::MIN, i64::MAX], rate, source).is_ok());
        }
        assert_eq!(choose_by_weight(&[i64::MIN, i64::MAX], 1.0, source), Ok(1));
    }
}
