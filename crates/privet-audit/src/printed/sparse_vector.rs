//! The sparse vector technique as printed in several papers (Lyu, Su & Li 2017, Figure 1, numbers 3 to
//! 6).
//!
//! Queries of sensitivity 1 are compared with a threshold, one after the other; only a comparison that
//! succeeds (⊤) is meant to cost. All begin with a noisy threshold, 0 + Lap(1/ε₁); each violates another
//! part of the proof.
//!
//! - [`Variant::Answers`] (3), lecture notes of 2011: ⊤ comes with the noisy answer, of the very noise
//!   that was compared; it bounds the threshold from above, and ⊥ before it from below. True cost: no ε.
//! - [`Variant::NoiseOfOne`] (4), Lee & Clifton 2014: noise Lap(1/ε₂) does not grow with the number c of
//!   ⊤. True cost: (1 + 6c)/4·ε.
//! - [`Variant::NoNoise`] (5), Stoddard, Chen & Machanavajjhala 2014: the queries get no noise, and
//!   there may be any number of ⊤. True cost: no ε.
//! - [`Variant::NoEnd`] (6), Chen, Xiao, Zhang & Xu 2015: any number of ⊤. True cost: no ε.
//! - [`Variant::Sound`], Lyu, Su & Li 2017, Algorithm 1. True cost: ε.
//!
//! **Pairs.** Some answers are 1 on the first input and 0 on the second (falling), others the other way
//! round (rising), as sensitivity 1 allows. Given the threshold, comparisons are independent coins, so
//! that many of them distinguish the inputs arbitrarily well, unless their noise grows with their
//! number. The score is the number of rising queries above the threshold less that of falling ones. For
//! (5) one of each suffices: (⊤, ⊥) is possible on the first input alone.
//!
//! For (3), at ε = 2: six queries of 0 ↔ −1, then one of −1 ↔ 0. The event tested is that the six are ⊥
//! and the last is ⊤ with an answer of at most ½: 2.2 % against 0.037 %, 4.06 apart in logarithm.
//!
//! Refuted by `tests/audit/power.rs`, in seconds each.

use crate::AuditError;
use crate::bits::noise_failed;
use crate::runs::{Neighbour, Target};
use privet_dp::noise::{DiscreteLaplace, Source};

/// Version of the technique.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// Number 3: releases the noisy answers.
    Answers,
    /// Number 4: noise for one ⊤.
    NoiseOfOne,
    /// Number 5: no noise on queries.
    NoNoise,
    /// Number 6: no limit on ⊤.
    NoEnd,
    /// The version with a proof.
    Sound,
}

/// A run of queries on two neighbouring inputs.
pub struct SparseVector {
    variant: Variant,
    /// Answers on the two inputs, in order.
    questions: Vec<[f64; 2]>,
    /// c, the maximum number of ⊤.
    most: usize,
    threshold_noise: Fine,
    question_noise: Option<Fine>,
}

/// Laplace noise on a fine grid.
struct Fine(DiscreteLaplace, f64);

impl Fine {
    fn new(scale: f64) -> Result<Self, AuditError> {
        let step = scale * 2f64.powi(-30);
        Ok(Self(DiscreteLaplace::new(scale / step).map_err(noise_failed)?, step))
    }

    fn draw(&self, source: &mut dyn Source) -> f64 {
        self.0.draw(source) as f64 * self.1
    }
}

/// Upper limit on the last answer of (3) in the event tested.
const SMALL: f64 = 0.5;

impl SparseVector {
    /// At ε, with `each` falling queries and then as many rising ones; c is their number. (3) has a pair
    /// of its own.
    pub fn new(variant: Variant, epsilon: f64, each: usize) -> Result<Self, AuditError> {
        let (first, second) = match variant {
            Variant::NoiseOfOne => (epsilon / 4.0, 3.0 * epsilon / 4.0),
            _ => (epsilon / 2.0, epsilon / 2.0),
        };
        let (questions, most): (Vec<_>, usize) = match variant {
            Variant::Answers => {
                (std::iter::repeat_n([0.0, -1.0], 6).chain([[-1.0, 0.0]]).collect(), 1)
            }
            _ => {
                let falling = std::iter::repeat_n([1.0, 0.0], each);
                (falling.chain(std::iter::repeat_n([0.0, 1.0], each)).collect(), each)
            }
        };
        let question_noise = match variant {
            // 2c, since answers need not all move the same way.
            Variant::Sound => Some(2.0 * most as f64 / second),
            Variant::Answers => Some(most as f64 / second),
            Variant::NoiseOfOne | Variant::NoEnd => Some(1.0 / second),
            Variant::NoNoise => None,
        };
        let unlimited = matches!(variant, Variant::NoNoise | Variant::NoEnd);
        Ok(Self {
            variant,
            questions,
            most: if unlimited { usize::MAX } else { most },
            threshold_noise: Fine::new(1.0 / first)?,
            question_noise: question_noise.map(Fine::new).transpose()?,
        })
    }
}

impl Target for SparseVector {
    /// For each query 1 for ⊤, 0 for ⊥ or after the end of the run; for (3), 1 if the event tested
    /// occurred.
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        let threshold = self.threshold_noise.draw(source);
        let mut outcomes = vec![0.0; self.questions.len()];
        let (mut above, mut answer) = (0, f64::INFINITY);
        for (question, outcome) in self.questions.iter().zip(&mut outcomes) {
            if above >= self.most {
                break;
            }
            let noise = self.question_noise.as_ref().map_or(0.0, |noise| noise.draw(source));
            let noisy = question[usize::from(neighbour == Neighbour::Second)] + noise;
            if noisy >= threshold {
                (*outcome, above, answer) = (1.0, above + 1, noisy);
            }
        }
        if self.variant == Variant::Answers {
            let last = outcomes.last() == Some(&1.0);
            return Ok(vec![f64::from(u8::from(last && answer <= SMALL))]);
        }
        Ok(outcomes)
    }

    fn likelihood_ratio(&self, release: &[f64]) -> Option<f64> {
        if self.variant == Variant::Answers {
            return release.first().copied();
        }
        let moved = self.questions.iter().map(|[first, second]| second - first);
        Some(release.iter().zip(moved).map(|(outcome, moved)| outcome * moved).sum())
    }
}
