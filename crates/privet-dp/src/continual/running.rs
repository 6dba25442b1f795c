//! The public part: running sums from the noisy rows.
//!
//! ŝ = A·C⁻¹·ỹ for ỹ = Cg + z. A buffered C is inverted by the recursion that applies it:
//! ĝₜ = ỹₜ − Σωⱼb̂ⱼ, then b̂ⱼ ← λⱼb̂ⱼ + ĝₜ and ŝ ← ŝ + ĝₜ. Floating point here costs accuracy, if
//! anything, and no privacy.

use super::Factor;
use super::factor::square_root;
use crate::gate::GateError;
use serde::{Deserialize, Serialize};

/// The answer to a step of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamAnswer {
    /// The next noisy row of C·g.
    Row(Vec<f64>),
    /// A step whose answer was lost with a process.
    Lost,
    /// The secret state was lost or abandoned: C begins anew from here. No step.
    Anew,
}

/// Running sums of the noisy rows, step by step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Running {
    factor: Factor,
    /// The largest number of steps.
    steps: u32,
    /// The number of steps so far.
    heard: u32,
    /// The running sum ŝ.
    sum: Vec<f64>,
    /// Further state, a vector each: b̂ⱼ, the tree's last blocks, or all rows so far.
    memory: Vec<Vec<f64>>,
}

impl Running {
    /// The state before the first step.
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

    /// The number of steps so far.
    pub fn steps_done(&self) -> u32 {
        self.heard
    }

    /// The running sum so far.
    pub fn sum(&self) -> &[f64] {
        &self.sum
    }

    /// Advances by one step, given its noisy row, and returns the running sum.
    pub fn hear(&mut self, noisy: &[f64]) -> &[f64] {
        self.heard += 1;
        match &self.factor {
            Factor::Tree => {
                let level = self.heard.trailing_zeros() as usize;
                if let Some(block) = self.memory.get_mut(level) {
                    block.copy_from_slice(noisy);
                }
                self.sum.fill(0.0);
                for (bit, block) in self.memory.iter().enumerate() {
                    if self.heard >> bit & 1 == 1 {
                        self.sum.iter_mut().zip(block).for_each(|(sum, part)| *sum += part);
                    }
                }
            }
            Factor::SquareRoot => {
                self.memory.push(noisy.to_vec());
                let c = square_root(self.heard);
                self.sum.fill(0.0);
                for (y, c) in self.memory.iter().zip(c.iter().rev()) {
                    self.sum.iter_mut().zip(y).for_each(|(sum, y)| *sum += c * y);
                }
            }
            Factor::Buffered { weights, decays } => {
                for (place, y) in noisy.iter().enumerate().take(self.sum.len()) {
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

    /// Skips a step whose answer was lost, as if its contribution were 0; for buffers alone.
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

    /// Begins anew where the secret state was abandoned: the sum so far stays, with its noise; for
    /// buffers alone. The rows before and after share no record, so that together they cost no more than
    /// one sequence of C: every record's column is cut off, or begins later.
    pub fn begin_anew(&mut self) -> Result<(), GateError> {
        let Factor::Buffered { .. } = &self.factor else { return Err(GateError::NotAsPlanned) };
        self.memory.iter_mut().for_each(|buffer| buffer.fill(0.0));
        Ok(())
    }
}
