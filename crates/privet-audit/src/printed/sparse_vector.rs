//! The sparse vector technique as it was printed, again and again (Lyu, Su & Li 2017, Figure 1, numbers 3 to 6).
//!
//! Questions of sensitivity 1 are compared with a threshold, one after the other; only a comparison that succeeds (⊤)
//! is meant to cost. All begin with a noised threshold, 0 + Lap(1/ε₁); each leaves out another part of the proof.
//!
//! | variant | printed in | what is wrong | truth |
//! |---|---|---|---|
//! | [`Variant::Answers`] (3) | lecture notes of 2011 | ⊤ comes with the noised answer, of the very noise that was compared: it bounds the threshold from above, and ⊥ before it from below | no ε |
//! | [`Variant::NoiseOfOne`] (4) | Lee & Clifton 2014 | noise Lap(1/ε₂) does not grow with the number c of ⊤ | (1 + 6c)/4·ε |
//! | [`Variant::NoNoise`] (5) | Stoddard, Chen & Machanavajjhala 2014 | the questions get no noise, and there may be any number of ⊤ | no ε |
//! | [`Variant::NoEnd`] (6) | Chen, Xiao, Zhang & Xu 2015 | any number of ⊤ | no ε |
//! | [`Variant::Sound`] | Lyu, Su & Li 2017, Algorithm 1 | | ε |
//!
//! **Pairs.** Some answers are 1 in the first world and 0 in the second (falling), others the other way round (rising), as
//! sensitivity 1 allows. Given the threshold every comparison is a coin of its own, so that many of them tell the
//! worlds apart as well as one likes, unless their noise grows with their number. The score is how many rising questions were above less how many falling ones. For (5)
//! one of each will do: (⊤, ⊥) is possible in the first world alone.
//!
//! For (3), at ε = 2: six questions of 0 ↔ −1, then one of −1 ↔ 0. What is looked at is whether the six are ⊥ and the
//! last is ⊤ with an answer of at most ½: 2.2 % against 0.037 %, 4.06 apart in logarithm.
//!
//! Refuted by `tests/audit/power.rs`, in seconds each.

use crate::AuditError;
use crate::bits::noise_failed;
use crate::runs::{Target, World};
use privet_dp::noise::{DiscreteLaplace, Source};

/// How it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// (3).
    Answers,
    /// (4).
    NoiseOfOne,
    /// (5).
    NoNoise,
    /// (6).
    NoEnd,
    /// As it is proved.
    Sound,
}

/// A run of questions on two neighbours.
pub struct SparseVector {
    variant: Variant,
    /// Answers on the two worlds, in order.
    questions: Vec<[f64; 2]>,
    /// c: how many ⊤ may come out.
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

/// What the last answer of (3) must not exceed.
const SMALL: f64 = 0.5;

impl SparseVector {
    /// At ε, with so many questions that fall and then as many that rise; c is their number. (3) has a pair of its own.
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
    /// For each question 1 for ⊤, 0 for ⊥ and where the run had ended; of (3) whether what its pair looks for happened.
    fn release(&self, world: World, source: &mut dyn Source) -> Result<Vec<f64>, AuditError> {
        let threshold = self.threshold_noise.draw(source);
        let mut outcomes = vec![0.0; self.questions.len()];
        let (mut above, mut answer) = (0, f64::INFINITY);
        for (question, outcome) in self.questions.iter().zip(&mut outcomes) {
            if above >= self.most {
                break;
            }
            let noise = self.question_noise.as_ref().map_or(0.0, |noise| noise.draw(source));
            let noised = question[usize::from(world == World::Second)] + noise;
            if noised >= threshold {
                (*outcome, above, answer) = (1.0, above + 1, noised);
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
