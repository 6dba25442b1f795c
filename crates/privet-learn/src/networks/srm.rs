//! DP-SRM: stochastic recursive momentum, clipped.
//!
//! After Wang 2021, Algorithm 4, in the clipped form of §4.7.1 that its experiments use. With sample Bₜ,
//! weights wₜ and the *noisy* estimate v of the previous step,
//!
//! v⁰ = (1/b₀)(Σ_{i∈B₀} gᵢ(w₀) + noise),
//! vᵗ = (1 − γ)vᵗ⁻¹ + (1/b)(Σ_{i∈Bₜ} [γ·gᵢ(wₜ) + (1 − γ)·hᵢ(wₜ, wₜ₋₁)] + noise),
//!
//! gᵢ(w) = clip(∇ℓᵢ(w), C₁) and hᵢ = clip(∇ℓᵢ(wₜ) − ∇ℓᵢ(wₜ₋₁), C₂).
//!
//! **Theorem.** One record's term has norm at most C₁ in the first sum and at most **γC₁ + (1 − γ)C₂**
//! in the others, for all weights that earlier answers can give; so the whole costs one sampled Gaussian
//! release of contribution C₁ and T − 1 of contribution γC₁ + (1 − γ)C₂. *Proof.* Triangle inequality;
//! vᵗ⁻¹, wₜ and wₜ₋₁ are functions of earlier answers, which are charged, and so public; the rest is
//! [`privet_dp::mechanism::SampledGaussian`]. ∎
//!
//! - Clipping the two gradients separately to C₁ would *not* suffice: the difference of the clipped
//!   gradients is bounded by 2C₁ alone. Here the norm of the difference is computed, its cross terms in
//!   64 bits and rounded up ([`privet_nn`]).
//! - Print has the indices swapped, 2((1 − γ)C₁ + γC₂), and no 1/b: at γ = 0.99, C₁ = 1.5, C₂ = 0.99
//!   that is a third too little noise ([`super::printed`]).
//! - Both noises have the same multiplier: σ₀ = m·C₁ and σ = m·(γC₁ + (1 − γ)C₂), m the least that meets
//!   the budget.
//! - *Theory mode*: with `smoothness` L the step size is Algorithm 4's, η = min{ζ/(n₀L‖v‖), 1/(2n₀L)}
//!   with C₂ = ζ/n₀ and n₀ = `n0`: the norm of a step is at most C₂/L, so that for a correct L no
//!   difference is clipped, and the step size is at most 1/(2n₀L). A `rate` below that, and a penalty's
//!   gradient in v, are kept. Privacy does not depend on it.
//! - The release is the mean of the last points, or the last; print draws one of all at random, without
//!   need.
//! - With `sums = exact`, the default, γ·gᵢ and (1 − γ)·hᵢ are truncated towards 0 to one grid, record
//!   by record, and integers are summed ([`privet_nn::Net::clipped_terms_exact`]): the bound is that of
//!   the numbers summed, and the certificate says `finite`. With `sums = float` it says `real`, as in
//!   [`super::sampled`].
//! - Tested by `networks/tests.rs`.

use super::NetFacts;
use super::examples::Examples;
use super::initial_weights::InitialWeights;
use super::learners::Method;
use super::options::{CLIP_DIFFERENCE, FIRST_BATCH, N0, SMOOTHNESS, Settings, Sums};
use super::sampled::{FLOAT_SUMS, check_accountable, draw, on_grid};
use super::schedule::{Sizes, sizes};
use super::trainer::{Decision, Trainer, Worker, record_indices};
use super::update::{Query, Rule, Schedule};
use crate::LearnError;
use crate::linear::sgd;
use crate::release::allowance::Allowance;
use crate::release::settings::PlanNumbers;
use crate::release::watch::StepWatch;
use privet_dp::account::{self, Event};
use privet_dp::gate::{Arithmetic, GateError, Noisy, Private, Session};
use privet_dp::mechanism::{Draw, ExactCounts, SampledGaussian};
use privet_nn::ScaledClip;
use std::sync::Arc;

/// Lower end of the search for scales, relative to the noise of an unsampled descent.
const FLOOR: f64 = 1e-3;

/// Upper bound on the norm of one record's term of a later sum, rounded up.
pub fn contribution(gamma: f64, clip: f64, clip_difference: f64) -> f64 {
    (gamma * clip + (1.0 - gamma) * clip_difference) * (1.0 + 16.0 * f64::EPSILON)
}

/// Sizes beyond those of a training on gradients alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recursion {
    pub gamma: f64,
    pub clip_difference: f64,
    pub first_batch: u64,
}

/// The sizes of the recursion, with every choice written into `settled`.
pub(super) fn recursion(
    method: &Method,
    sizes: &mut Sizes,
    settled: &mut Settings,
) -> Result<Recursion, LearnError> {
    let given = method.settings();
    let clip_difference = CLIP_DIFFERENCE.check(given.usual_clip_difference(sizes.clip))?;
    let first_batch = FIRST_BATCH.check(given.first_batch.unwrap_or(sizes.batch) as f64)? as u64;
    let smoothness = given.smoothness.map(|smoothness| SMOOTHNESS.check(smoothness)).transpose()?;
    let Rule::Recursive(gamma) = sizes.schedule.rule else {
        return Err(LearnError::NotASetting {
            setting: "gamma".into(),
            method: method.info().name,
        });
    };
    (settled.clip_difference, settled.first_batch) = (Some(clip_difference), Some(first_batch));
    settled.smoothness = smoothness;
    if let Some(smoothness) = smoothness {
        let n0 = N0.check(given.n0.unwrap_or(1.0))?;
        let rate = sizes.schedule.rate.min(1.0 / (2.0 * n0 * smoothness));
        (settled.n0, settled.rate, sizes.schedule.rate) = (Some(n0), Some(rate), rate);
        sizes.schedule.longest = Some(clip_difference / smoothness);
    } else if given.n0.is_some() {
        return Err(LearnError::InvalidRequest {
            name: "n0",
            what: "is of Algorithm 4's rate: give smoothness beside it, or leave it out".into(),
        });
    }
    sizes.schedule.expected[0] = first_batch as f64;
    Ok(Recursion { gamma, clip_difference, first_batch })
}

/// Plans from public facts alone.
pub(crate) fn plan(
    facts: &NetFacts,
    budget: &Allowance<'_>,
    method: &Method,
) -> Result<Decision, LearnError> {
    check_accountable(budget, method)?;
    let mut settled = Settings::default();
    let mut sizes = sizes(facts, method, &mut settled)?;
    let recursion = recursion(method, &mut sizes, &mut settled)?;
    let sampling = method.settings().sampling.unwrap_or_default();
    settled.sampling = Some(sampling);
    let sums = method.settings().sums.unwrap_or_default();
    settled.sums = Some(sums);
    let draws =
        [draw(facts, sampling, recursion.first_batch)?, draw(facts, sampling, sizes.batch)?];
    let later = contribution(recursion.gamma, sizes.clip, recursion.clip_difference);
    let noises = |scale: f64| {
        let noise = |draw: Draw, contribution: f64, noise_scale: f64| SampledGaussian {
            neighbours: facts.table.neighbours,
            unit: facts.table.unit,
            draw,
            contribution,
            noise_scale,
            coordinates: facts.net.trainable(),
        };
        [noise(draws[0], sizes.clip, scale), noise(draws[1], later, scale * (later / sizes.clip))]
    };
    let event = |scale: f64| event(&noises(scale), sizes.steps);
    let mu = account::gaussian::mu(budget.epsilon(), budget.delta());
    let unsampled = facts.table.relation().shift(sizes.clip) * f64::from(sizes.steps).sqrt() / mu;
    // σ₀ is calibrated; the other scale follows.
    let floor = (FLOOR * unsampled).max(sgd::LEAST_MULTIPLIER * sizes.clip);
    let scale = budget.least_scale(floor, event)?;
    let procedure = Recursive {
        begins: InitialWeights::of(facts),
        noises: noises(scale),
        schedule: sizes.schedule,
        batch: sizes.batch,
        clip: sizes.clip,
        recursion,
        sums,
    };
    let (arithmetic, notes) = match sums {
        Sums::Float => (Arithmetic::Real, vec![FLOAT_SUMS.into()]),
        Sums::Exact => (Arithmetic::Finite, vec![]),
    };
    Ok(Decision { worker: Worker::Steps(Arc::new(procedure)), settled, arithmetic, notes })
}

fn event(noises: &[SampledGaussian; 2], steps: u32) -> Result<Event, GateError> {
    let later = Box::new(noises[1].event()?);
    let first = noises[0].event()?;
    Ok(match steps {
        1 => first,
        _ => Event::All(vec![first, Event::Repeat { count: steps - 1, event: later }]),
    })
}

/// A training by recursive momentum.
#[derive(Debug, Clone)]
struct Recursive {
    begins: InitialWeights,
    /// Noise mechanisms of the first step, and of the others.
    noises: [SampledGaussian; 2],
    schedule: Schedule,
    batch: u64,
    clip: f64,
    recursion: Recursion,
    sums: Sums,
}

impl Recursive {
    /// The sum of the terms of these records at a query, in floating point.
    fn float_sum(&self, examples: &Examples, query: &Query, rows: &[u32]) -> Option<Vec<f64>> {
        let Recursion { gamma, clip_difference, .. } = self.recursion;
        let gradients = examples.clipped_sum(&query.at, rows, self.clip)?;
        Some(match (&query.before, query.step) {
            (_, 0) => gradients,
            // The first answer was lost: there is no previous point, and only the term of norm γC₁ is
            // summed.
            (None, _) => gradients.iter().map(|g| gamma * g).collect(),
            (Some(before), _) => {
                let points = [&query.at[..], before];
                let moved = examples.difference_sum(points, rows, clip_difference)?;
                let both = gradients.iter().zip(&moved);
                both.map(|(g, h)| gamma * g + (1.0 - gamma) * h).collect()
            }
        })
    }

    /// The same in integers, all of them on one grid.
    fn exact_sum(&self, examples: &Examples, query: &Query, rows: &[u32]) -> Option<ExactCounts> {
        let Recursion { gamma, clip_difference, .. } = self.recursion;
        if query.step == 0 {
            return examples.exact_sum(&query.at, rows, self.clip);
        }
        exact_terms(examples, query, rows, (gamma, self.clip, clip_difference))
    }
}

/// Σ γ·clip(∇ℓᵢ(w), C₁) + (1 − γ)·clip(∇ℓᵢ(w) − ∇ℓᵢ(w′), C₂) in integers; the first term alone if there
/// is no w′.
pub(super) fn exact_terms(
    examples: &Examples,
    query: &Query,
    rows: &[u32],
    (gamma, clip, clip_difference): (f64, f64, f64),
) -> Option<ExactCounts> {
    let grid = privet_nn::grid(contribution(gamma, clip, clip_difference));
    let own = ScaledClip { clip, share: gamma, grid };
    let Some(before) = &query.before else {
        return examples.exact_share(&query.at, rows, own);
    };
    let moved = ScaledClip { clip: clip_difference, share: 1.0 - gamma, grid };
    examples.exact_terms([&query.at, before], rows, [own, moved])
}

impl Trainer for Recursive {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(event(&self.noises, self.schedule.steps)?)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("weights", self.begins.net.trainable() as f64),
            ("steps", f64::from(self.schedule.steps)),
            ("first_batch", self.recursion.first_batch as f64),
            ("batch", self.batch as f64),
            ("clip", self.clip),
            ("clip_difference", self.recursion.clip_difference),
            ("gamma", self.recursion.gamma),
            ("rate", self.schedule.rate),
            ("first_gradient_noise", self.noises[0].noise_scale),
            ("gradient_noise", self.noises[1].noise_scale),
        ])
    }

    fn begins(&self) -> &InitialWeights {
        &self.begins
    }

    fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    fn with_weights(&self, begins: InitialWeights) -> Arc<dyn Trainer> {
        Arc::new(Self { begins, ..self.clone() })
    }

    fn answer(
        &self,
        examples: &Examples,
        query: &Query,
        session: &mut Session<'_>,
        watch: &StepWatch<'_>,
    ) -> Result<Noisy<Vec<f64>>, GateError> {
        let noise = &self.noises[usize::from(query.step > 0)];
        noise.run(Private::new(examples.rows()), session, |sample| {
            if !watch.step() {
                return None;
            }
            let rows = record_indices(sample);
            let sum = match self.sums {
                Sums::Exact => self.exact_sum(examples, query, &rows),
                Sums::Float => on_grid(&self.float_sum(examples, query, &rows)?, noise.noise_scale),
            };
            sum.map(Private::new)
        })
    }
}
