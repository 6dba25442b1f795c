//! The matrix C of a factorisation, its sensitivity and its error.
//!
//! **Sensitivity.** A unit takes part in at most b steps, two of them at least s apart, and each time
//! changes the step's vector by at most 1 (ℓ2). Over all such patterns ‖C(g − g′)‖₂ is at most
//!
//! - Toeplitz C with coefficients c₀ ≥ c₁ ≥ … ≥ 0: **‖Σ_{k<b} C[·, ks]‖**. *Proof.*
//!   ‖ΣᵢC eᵢ⊗vᵢ‖² = Σ⟨Ceᵢ, Ceⱼ⟩⟨vᵢ, vⱼ⟩ ≤ Σ⟨Ceᵢ, Ceⱼ⟩, since C ≥ 0. For i < j,
//!   ⟨Ceᵢ, Ceⱼ⟩ = Σ_{u<n−j} c_u·c_{u+j−i} grows as j and j − i fall. Putting the steps of a pattern at 0,
//!   s, 2s, … makes none of them later and no two farther apart. ∎ (Kalinin & Lampert 2024, Theorem 2.)
//! - tree: step t releases the sum of the 2^i steps up to t, 2^i the largest power of two that divides
//!   t. On level i blocks are disjoint and hold at most mᵢ = min(b, ⌈2^i/s⌉) of the unit's steps, so
//!   that the squares of their numbers add up to at most b·mᵢ: **√Σᵢ b·mᵢ** over the levels 2^i ≤ n. For
//!   b = 1 that is √(⌊log₂ n⌋ + 1), and the first step attains it.
//!
//! **Error.** The last running sum has the longest row of B for Toeplitz C (rows are nested), the one
//! with the most binary digits 1 for the tree.
//!
//! Coefficients are integer multiples of 2⁻³², so that the applied C is exactly the charged one. All
//! terms are positive, so that rounding here is relative: 3n·2⁻⁵³ at most, and 10⁻⁶ is added to the
//! sensitivity.

use super::Running;
use crate::gate::GateError;
use privet_core::Range;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

/// Limits on the number of steps of a stream.
pub const STEPS: Range = Range::from("steps", 1.0, 1_073_741_825.0);
/// Largest number of steps for which A^½ is offered: its memory holds all of them.
pub const SQUARE_ROOT_STEPS: u32 = 16_384;
/// Largest number of buffers.
pub const MOST_BUFFERS: usize = 8;
/// Coefficients are integer multiples of 1/SCALE.
pub(super) const SCALE: f64 = 4_294_967_296.0;
/// Rounding margin for sums of up to 2³⁰ positive terms.
const UP: f64 = 1.0 + 1e-6;

/// The matrix C of a factorisation of the matrix of running sums.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Factor {
    /// Sums of dyadic blocks.
    Tree,
    /// The square root of the matrix of running sums.
    SquareRoot,
    /// 1, then Σ weightⱼ·decayⱼ^(k−1): a few exponentially decaying running sums.
    Buffered {
        /// The weights ωⱼ ≥ 0, with a sum of at most 1.
        weights: Vec<f64>,
        /// The decay rates λⱼ in [0, 1).
        decays: Vec<f64>,
    },
}

/// The arguments of a sensitivity.
type SensitivityArguments = (Factor, u32, Participation);

thread_local! {
    /// The last sensitivity and its arguments: a calibration repeats them at every scale. All of it is
    /// public.
    static LAST: RefCell<Option<(SensitivityArguments, f64)>> = const { RefCell::new(None) };
}

/// The steps in which a unit may take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Participation {
    /// Largest number b of such steps.
    pub times: u32,
    /// Smallest distance s between two of them, in steps.
    pub separation: u32,
}

impl Participation {
    /// Participation in one step.
    pub const ONCE: Self = Self { times: 1, separation: 1 };

    /// The largest number of participations within so many steps.
    pub(super) fn within(self, steps: u32) -> u32 {
        self.times.min(steps.div_ceil(self.separation.max(1)))
    }
}

/// The coefficients c_k of A^½ for k < n, rounded to multiples of 2⁻³²: (2k choose k)/4^k, which falls,
/// and so does its rounding.
pub(super) fn square_root(steps: u32) -> Vec<f64> {
    let mut next = 1.0_f64;
    (1..=u64::from(steps))
        .map(|k| {
            let now = (next * SCALE).round() / SCALE;
            next *= 1.0 - 0.5 / k as f64;
            now
        })
        .collect()
}

impl Factor {
    /// Refuses factors that the theorem does not cover.
    pub fn check(&self, steps: u32) -> Result<(), GateError> {
        let good = match self {
            Self::Tree => true,
            Self::SquareRoot => steps <= SQUARE_ROOT_STEPS,
            Self::Buffered { weights, decays } => {
                let whole = |x: &f64| (x * SCALE).fract() == 0.0;
                weights.len() == decays.len()
                    && (1..=MOST_BUFFERS).contains(&weights.len())
                    && weights.iter().all(|w| (0.0..=1.0).contains(w) && whole(w))
                    && weights.iter().sum::<f64>() <= 1.0
                    && decays.iter().all(|d| (0.0..1.0).contains(d) && whole(d))
            }
        };
        let fits = good && STEPS.check(f64::from(steps)).is_ok();
        if fits { Ok(()) } else { Err(GateError::Malformed) }
    }

    /// The sensitivity of C for contributions that change by at most 1, rounded up.
    pub fn sensitivity(&self, steps: u32, participation: Participation) -> Result<f64, GateError> {
        self.check(steps)?;
        let asked = (self.clone(), steps, participation);
        let known = LAST
            .with_borrow(|last| last.as_ref().filter(|(last, _)| *last == asked).map(|(_, s)| *s));
        if let Some(known) = known {
            return Ok(known);
        }
        let found = self.computed(steps, participation)?;
        LAST.set(Some((asked, found)));
        Ok(found)
    }

    fn computed(&self, steps: u32, participation: Participation) -> Result<f64, GateError> {
        let times = participation.within(steps);
        let every = participation.separation.max(1);
        if times == 0 {
            return Err(GateError::Malformed);
        }
        let square = match self {
            Self::Tree => {
                let levels = steps.ilog2();
                (0..=levels)
                    .map(|level| {
                        let most = (1_u64 << level).div_ceil(u64::from(every));
                        f64::from(times) * (u64::from(times).min(most) as f64)
                    })
                    .sum::<f64>()
            }
            Self::SquareRoot => {
                let c = square_root(steps);
                let column = |t: usize| {
                    let starts = (0..times as usize).map(|k| k * every as usize);
                    starts.take_while(|start| *start <= t).map(|start| c[t - start]).sum::<f64>()
                };
                (0..steps as usize).map(|t| column(t).powi(2)).sum()
            }
            Self::Buffered { weights, decays } => {
                let mut buffers = vec![0.0_f64; weights.len()];
                let (mut square, mut taken) = (0.0, 0);
                for step in 0..steps {
                    let now = if step % every == 0 && taken < times { 1.0 } else { 0.0 };
                    taken += u32::from(now > 0.0);
                    let mut out = now;
                    for ((buffer, weight), decay) in buffers.iter_mut().zip(weights).zip(decays) {
                        out += weight * *buffer;
                        *buffer = decay * *buffer + now;
                    }
                    square += out * out;
                }
                square
            }
        };
        Ok(square.sqrt() * UP)
    }

    /// The largest standard deviation of a running sum's noise, for noise of scale 1.
    pub fn error(&self, steps: u32) -> Result<f64, GateError> {
        self.check(steps)?;
        if let Self::Tree = self {
            // The most digits 1 of a number up to n: those of n, or all below one of its digits.
            let all = (0..=steps.ilog2())
                .filter(|bit| steps >> bit & 1 == 1)
                .map(|bit| (steps >> bit).count_ones() - 1 + bit);
            return Ok(f64::from(all.chain([steps.count_ones()]).max().unwrap_or(1)).sqrt());
        }
        let mut running = Running::new(self, steps, 1)?;
        let mut square = 0.0;
        for step in 0..steps {
            let noisy = if step == 0 { 1.0 } else { 0.0 };
            let sum = running.hear(&[noisy])[0];
            square += sum * sum;
        }
        Ok(square.sqrt())
    }
}
