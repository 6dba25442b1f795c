//! The public half: running sums from what was noised.
//!
//! ŝ = A·C⁻¹·ỹ for ỹ = Cg + z. A buffered C is undone by the same recursion as it is applied with: ĝₜ = ỹₜ − Σωⱼb̂ⱼ,
//! then b̂ⱼ ← λⱼb̂ⱼ + ĝₜ and ŝ ← ŝ + ĝₜ. Floating point here costs accuracy, if anything, and no privacy.

use super::Factor;
use super::factor::square_root;
use crate::gate::GateError;
use serde::{Deserialize, Serialize};

/// What a stream's walk is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// The next row of C·g, under noise.
    Row(Vec<f64>),
    /// A step whose answer was lost with a process.
    Lost,
    /// The un-noised state was lost or left behind: from here on C begins anew. No step.
    Anew,
}

/// Running sums, step by step, of what was noised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Running {
    factor: Factor,
    /// How many steps there may be.
    steps: u32,
    /// How many were heard.
    heard: u32,
    /// ŝ.
    sum: Vec<f64>,
    /// What else is remembered, a vector each: b̂ⱼ, the tree's last blocks, or all that was heard.
    memory: Vec<Vec<f64>>,
}

impl Running {
    /// At the start.
    pub fn new(factor: &Factor, steps: u32, coordinates: usize) -> Result<Self, GateError> {
        factor.check(steps)?;
        let zero = vec![0.0; coordinates];
        let memory = match factor {
            Factor::Tree => vec![zero.clone(); steps.ilog2() as usize + 1],
            Factor::SquareRoot => vec![],
            Factor::Buffered { weights, .. } => vec![zero.clone(); weights.len()],
        };
        Ok(Self { factor: factor.clone(), steps, heard: 0, sum: zero, memory })
    }

    /// How many steps were heard.
    pub fn heard(&self) -> u32 {
        self.heard
    }

    /// The running sum so far.
    pub fn sum(&self) -> &[f64] {
        &self.sum
    }

    /// Goes on by one step.
    pub fn hear(&mut self, noised: &[f64]) -> &[f64] {
        self.heard += 1;
        match &self.factor {
            Factor::Tree => {
                let level = self.heard.trailing_zeros() as usize;
                if let Some(block) = self.memory.get_mut(level) {
                    block.copy_from_slice(noised);
                }
                self.sum.fill(0.0);
                for (bit, block) in self.memory.iter().enumerate() {
                    if self.heard >> bit & 1 == 1 {
                        self.sum.iter_mut().zip(block).for_each(|(sum, part)| *sum += part);
                    }
                }
            }
            Factor::SquareRoot => {
                self.memory.push(noised.to_vec());
                let c = square_root(self.heard);
                self.sum.fill(0.0);
                for (y, c) in self.memory.iter().zip(c.iter().rev()) {
                    self.sum.iter_mut().zip(y).for_each(|(sum, y)| *sum += c * y);
                }
            }
            Factor::Buffered { weights, decays } => {
                for (place, y) in noised.iter().enumerate().take(self.sum.len()) {
                    let mut own = *y;
                    for (buffer, weight) in self.memory.iter().zip(weights) {
                        own -= weight * buffer[place];
                    }
                    for (buffer, decay) in self.memory.iter_mut().zip(decays) {
                        buffer[place] = decay * buffer[place] + own;
                    }
                    self.sum[place] += own;
                }
            }
        }
        &self.sum
    }

    /// Passes over a step whose answer was lost, as if nothing had come in it; for buffers alone.
    pub fn pass_over(&mut self) -> Result<(), GateError> {
        let Factor::Buffered { decays, .. } = &self.factor else {
            return Err(GateError::NotAsPlanned);
        };
        self.heard += 1;
        for (buffer, decay) in self.memory.iter_mut().zip(decays) {
            buffer.iter_mut().for_each(|b| *b *= decay);
        }
        Ok(())
    }

    /// Begins anew where the un-noised state was left behind: what was summed so far stays, with its noise; for
    /// buffers alone. The rows before and after share no record, so that together they cost no more than one
    /// course of C: every record's column is cut off, or begins later.
    pub fn begin_anew(&mut self) -> Result<(), GateError> {
        let Factor::Buffered { .. } = &self.factor else { return Err(GateError::NotAsPlanned) };
        self.memory.iter_mut().for_each(|buffer| buffer.fill(0.0));
        Ok(())
    }
}
