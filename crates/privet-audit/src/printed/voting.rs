//! Votes of black boxes as printed: PRIV-18 and PRIV-19 (Thakkar 2019, Algorithms 9 and 10).
//!
//! One query, two classes, released by the printed test: the winner if its distance under Laplace noise
//! of scale 1/ε exceeds ln(1/δ)/ε, else ⊥.
//!
//! - [`Variant::Lead`] (PRIV-18): the distance is the lead less 1; a vote that goes from the winner to
//!   the other moves it by 2. True cost: e^(2ε).
//! - [`Variant::Position`] (PRIV-19): chunks by position; removing a record at the top shifts all
//!   others, and all votes may change. True cost: no ε.
//! - [`Variant::Sound`]: distance ⌈lead/2⌉ − 1, a record in a chunk of its own coins. True cost: (ε, δ).
//!
//! **Pairs.** *Lead*: two leads that differ by 2, both a little below the threshold, so that an answer
//! is released e^(2ε) times as often on one of the inputs. *Position*: 2b records of alternating
//! classes; a chunk of two votes for the class of its last record. On the second input the first record
//! is absent: every vote is the other one.

use crate::AuditError;
use crate::bits::noise_failed;
use crate::runs::{Neighbour, Target};
use privet_dp::noise::{DiscreteLaplace, Source};

/// Version of the vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// PRIV-18, distance by the lead.
    Lead,
    /// PRIV-19, chunks by position.
    Position,
    /// Both as corrected, with a proof.
    Sound,
}

/// A vote on two neighbouring inputs.
pub struct Votes {
    variant: Variant,
    threshold: f64,
    noise: DiscreteLaplace,
    step: f64,
    /// The number of chunks, and so of votes.
    chunks: usize,
}

impl Votes {
    /// A vote of this many chunks, claimed to be (ε, δ)-private.
    pub fn new(
        variant: Variant,
        epsilon: f64,
        delta: f64,
        chunks: usize,
    ) -> Result<Self, AuditError> {
        let step = 2f64.powi(-30) / epsilon;
        let noise = DiscreteLaplace::new(1.0 / (epsilon * step)).map_err(noise_failed)?;
        let threshold = (1.0 / delta).ln() / epsilon;
        Ok(Self { variant, threshold, noise, step, chunks })
    }

    /// The numbers of votes for the two classes.
    fn votes(&self, neighbour: Neighbour, source: &mut dyn Source) -> [usize; 2] {
        let second = usize::from(neighbour == Neighbour::Second);
        match self.variant {
            Variant::Position => {
                let records: Vec<usize> = (second..2 * self.chunks).map(|row| row % 2).collect();
                let votes = records.chunks(2).map(|chunk| chunk[chunk.len() - 1]);
                let ones = votes.filter(|vote| *vote == 1).count();
                [records.len().div_ceil(2) - ones, ones]
            }
            // One record is one vote, of the other class on the second input; the lead near the
            // threshold has the largest loss.
            Variant::Lead => self.lead(self.threshold.floor() as usize + 1 - 2 * second),
            Variant::Sound => {
                // The same, with a chunk drawn by the record's own coins, independently of the others.
                let _chunk = source.below(self.chunks as u64);
                self.lead(2 * (self.threshold.floor() as usize) - 2 * second)
            }
        }
    }

    /// Numbers of votes with this lead, about `chunks` in all.
    fn lead(&self, lead: usize) -> [usize; 2] {
        let second = self.chunks.saturating_sub(lead) / 2;
        [second + lead, second]
    }
}

impl Target for Votes {
    /// The class released, or none, as two indicators.
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        let [one, other] = self.votes(neighbour, source);
        let lead = one.abs_diff(other);
        let distance = match self.variant {
            Variant::Lead | Variant::Position => lead.saturating_sub(1),
            Variant::Sound => lead.div_ceil(2).saturating_sub(1),
        };
        let noisy = distance as f64 + self.noise.draw(source) as f64 * self.step;
        let named = (noisy > self.threshold).then_some(usize::from(other > one));
        let corner = |class: usize| f64::from(u8::from(named == Some(class)));
        Ok(vec![corner(0), corner(1)])
    }

    fn direction(&self) -> Option<Vec<f64>> {
        Some(vec![-1.0, 1.0])
    }
}
