//! The secret part: C·g in integers, without noise.
//!
//! Contributions are integer multiples k of a unit u, |k| ≤ 2⁴⁰, and n ≤ 2³⁰. Buffers are integer
//! multiples of u·2⁻²⁴: b ← ⌊λb⌋ + 2²⁴k, λ a multiple of 2⁻³². |b| ≤ 2⁹⁴ and Σωⱼ ≤ 1, so that no product
//! exceeds 128 bits.
//!
//! **Rounding.** Between two streams the difference of a buffer obeys d ← λd + 2²⁴(k − k′) + r with
//! |r| < 1, since ⌊x⌋ − ⌊x′⌋ is within 1 of x − x′. So it is within min(n, 1/(1 − λ)) fine units of the
//! exact one, and Cg − Cg′ within Σωⱼ·min(n, 1/(1 − λⱼ))·u·2⁻²⁴ in every coordinate of every step:
//! [`Rounding::rounding_of_step`]. Tree and square root are exact here.

use super::factor::{SCALE, square_root};
use super::{Factor, StateKey};
use crate::gate::GateError;
use crate::mechanism::ExactCounts;
use zeroize::{Zeroize, Zeroizing};

/// Binary places of a buffer below a unit.
const BUFFER_FRACTION_BITS: u32 = 24;
/// Binary places of a coefficient.
const COEFFICIENT_FRACTION_BITS: u32 = 32;
/// The largest contribution, in units.
const LARGEST_CONTRIBUTION: i64 = 1 << 40;

/// The part of a sensitivity due to rounding.
pub(crate) struct Rounding;

impl Rounding {
    /// Bound on the rounding error of a step's coordinate in the difference of two streams.
    pub(crate) fn rounding_of_step(factor: &Factor, steps: u32, unit: f64) -> f64 {
        match factor {
            Factor::Tree | Factor::SquareRoot => 0.0,
            Factor::Buffered { weights, decays } => {
                let kept = |decay: &f64| (1.0 / (1.0 - decay)).min(f64::from(steps));
                let units: f64 = weights.iter().zip(decays).map(|(w, d)| w * kept(d)).sum();
                units * unit * 2_f64.powi(-(BUFFER_FRACTION_BITS as i32))
            }
        }
    }
}

/// The secret state of a stream, without noise: never shown, and wiped.
pub struct StreamState {
    factor: Factor,
    coordinates: usize,
    unit: f64,
    steps: u32,
    taken: u32,
    /// Buffers, blocks of the tree, or all contributions; one vector after the other.
    memory: Vec<i128>,
    coefficients: Vec<i128>,
    out: Vec<i128>,
}

impl Drop for StreamState {
    fn drop(&mut self) {
        self.memory.zeroize();
        self.out.zeroize();
    }
}

impl std::fmt::Debug for StreamState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(withheld)")
    }
}

fn scaled_coefficient(coefficient: f64) -> i128 {
    (coefficient * SCALE) as i128
}

impl StreamState {
    /// The state before the first step, for contributions in integer multiples of `unit`, a power of
    /// two.
    pub fn new(
        factor: &Factor,
        steps: u32,
        coordinates: usize,
        unit: f64,
    ) -> Result<Self, GateError> {
        factor.check(steps)?;
        let (vectors, coefficients) = match factor {
            Factor::Tree => (steps.ilog2() as usize + 1, vec![]),
            Factor::SquareRoot => {
                (0, square_root(steps).into_iter().map(scaled_coefficient).collect())
            }
            Factor::Buffered { weights, decays } => {
                let both = weights.iter().chain(decays).copied();
                (weights.len(), both.map(scaled_coefficient).collect())
            }
        };
        Ok(Self {
            factor: factor.clone(),
            coordinates,
            unit,
            steps,
            taken: 0,
            memory: vec![0; vectors * coordinates],
            coefficients,
            out: vec![0; coordinates],
        })
    }

    /// The number of steps so far.
    pub fn steps_taken(&self) -> u32 {
        self.taken
    }

    /// Row `taken` of C·g, after one more contribution.
    pub(crate) fn take(&mut self, contribution: &[i64]) -> Result<ExactCounts, GateError> {
        if contribution.len() != self.coordinates || self.taken >= self.steps {
            return Err(GateError::Malformed);
        }
        let k = |place: usize| {
            i128::from(contribution[place].clamp(-LARGEST_CONTRIBUTION, LARGEST_CONTRIBUTION))
        };
        let coordinates = self.coordinates;
        self.taken += 1;
        let (counts, places) = match &self.factor {
            Factor::Tree => {
                let level = self.taken.trailing_zeros() as usize;
                for place in 0..coordinates {
                    let mut block = k(place);
                    for below in 0..level {
                        block += std::mem::take(&mut self.memory[below * coordinates + place]);
                    }
                    self.memory[level * coordinates + place] = block;
                    self.out[place] = block;
                }
                (self.out.clone(), 0)
            }
            Factor::SquareRoot => {
                self.memory.extend((0..coordinates).map(k));
                self.out.fill(0);
                let vectors = self.memory.chunks(coordinates.max(1)).rev();
                for (vector, c) in vectors.zip(&self.coefficients) {
                    self.out.iter_mut().zip(vector).for_each(|(out, k)| *out += c * k);
                }
                (self.out.clone(), COEFFICIENT_FRACTION_BITS)
            }
            Factor::Buffered { weights, .. } => {
                let (weights, decays) = self.coefficients.split_at(weights.len());
                for place in 0..coordinates {
                    self.out[place] =
                        k(place) << (BUFFER_FRACTION_BITS + COEFFICIENT_FRACTION_BITS);
                }
                for (buffer, (weight, decay)) in
                    self.memory.chunks_mut(coordinates.max(1)).zip(weights.iter().zip(decays))
                {
                    for (place, (b, out)) in buffer.iter_mut().zip(&mut self.out).enumerate() {
                        *out += weight * *b;
                        *b = ((decay * *b) >> COEFFICIENT_FRACTION_BITS)
                            + (k(place) << BUFFER_FRACTION_BITS);
                    }
                }
                (self.out.clone(), BUFFER_FRACTION_BITS + COEFFICIENT_FRACTION_BITS)
            }
        };
        Ok(ExactCounts { counts, unit: self.unit * 2_f64.powi(-(places as i32)) })
    }

    /// Skips a step without a contribution and a release; for buffers alone.
    pub fn pass_over(&mut self) -> Result<(), GateError> {
        let Factor::Buffered { .. } = self.factor else { return Err(GateError::NotAsPlanned) };
        let nothing = vec![0; self.coordinates];
        self.take(&nothing).map(|mut row| row.counts.zeroize())
    }

    /// Its numbers, to be sealed; for buffers alone, whose size does not depend on records.
    pub(super) fn to_bytes(&self) -> Result<Zeroizing<Vec<u8>>, GateError> {
        let Factor::Buffered { .. } = self.factor else { return Err(GateError::NotAsPlanned) };
        let numbers = self.memory.iter().flat_map(|number| number.to_le_bytes());
        Ok(Zeroizing::new(self.taken.to_le_bytes().into_iter().chain(numbers).collect()))
    }

    /// Restores them.
    pub(super) fn with_bytes(mut self, bytes: &[u8]) -> Result<Self, GateError> {
        let Factor::Buffered { .. } = self.factor else { return Err(GateError::NotAsPlanned) };
        let (taken, numbers) = bytes.split_first_chunk::<4>().ok_or(GateError::Malformed)?;
        let (numbers, rest) = numbers.as_chunks::<16>();
        let taken = u32::from_le_bytes(*taken);
        if numbers.len() != self.memory.len() || !rest.is_empty() || taken > self.steps {
            return Err(GateError::Malformed);
        }
        self.taken = taken;
        self.memory.iter_mut().zip(numbers).for_each(|(to, from)| *to = i128::from_le_bytes(*from));
        Ok(self)
    }

    /// True if the state can be suspended: buffers alone.
    pub(crate) fn can_be_put_aside(&self) -> bool {
        matches!(self.factor, Factor::Buffered { .. })
    }

    /// Seals its state under a key, bound to a context.
    pub fn seal(&self, key: &StateKey, context: &str) -> Result<String, GateError> {
        key.seal(context, &self.to_bytes()?)
    }

    /// Restores a sealed state.
    pub fn unseal(self, key: &StateKey, context: &str, sealed: &str) -> Result<Self, GateError> {
        let bytes = key.open(context, sealed)?;
        self.with_bytes(&bytes)
    }

    /// The empty state after so many steps.
    pub fn after(mut self, taken: u32) -> Result<Self, GateError> {
        let Factor::Buffered { .. } = self.factor else { return Err(GateError::NotAsPlanned) };
        if taken > self.steps {
            return Err(GateError::Malformed);
        }
        self.taken = taken;
        Ok(self)
    }
}
