//! Clipped gradients of a secret sample under Gaussian noise: `dp-sgd` and its variants.
//!
//! After Abadi et al. 2016.
//!
//! **Theorem.** Let gᵢ(w) be a function of record i and of the weights w alone with ‖gᵢ(w)‖₂ ≤ C for
//! every record and every w. T steps, each the sum of gᵢ(w) over a fresh secret sample plus N(0, σ²I), w
//! any function of the earlier answers, cost T sampled Gaussian releases of contribution C
//! ([`privet_dp::mechanism::SampledGaussian`]); over all records, T Gaussian releases of sensitivity
//! `shift(C)` ([`privet_core::Relation::shift`]). *Proof.* There. ∎
//!
//! Here gᵢ is the gradient of record i's loss times min(1, C/nᵢ), nᵢ its norm rounded up
//! ([`privet_nn`]). No layer uses more than one record, so that gᵢ depends on no other; a layer that
//! does is refused. A record whose gradient is not finite contributes nothing. Sums are divided by the
//! *expected* size of a sample. Momentum, moments, smoothing, penalties, averages and the ball read
//! noisy sums and public numbers alone (`update`).
//!
//! **Arithmetic.** With `sums = exact`, the default, each clipped gradient is truncated towards 0 to a
//! grid, and integers are summed: gᵢ is a function of its record and of w, ‖gᵢ‖ ≤ C holds in finite
//! arithmetic, sums are exact, and the certificate says `finite`. The cost is in `docs/learners.md`.
//! With `sums = float` an example's clipped gradient is never formed: products sum pieces of the sample
//! in 32-bit floats. A piece is cut by the indices of its records in the sample, so that one record more
//! or less moves all later pieces and their rounding: by a fraction of C that grows with the number of
//! records, more than C itself at 10⁶ of them. The bound then holds for real numbers alone, the
//! certificate says `real`, and a note says why.
//!
//! | `sampling` | sample | relations |
//! |---|---|---|
//! | `poisson` (default) | each record with probability q = batch/n | both |
//! | `without-replacement` | `batch` of the n records | replace-one |
//!
//! `rrpsgd` has an expected batch of one: print draws one record uniformly, whose event this accountant
//! has no theorem for under add/remove; the number of rounds is fixed, since a random number that is
//! public costs as much.
//!
//! A unit of several records is refused where records are sampled ([`crate::linear::sgd`]); `dp-gd`
//! covers it.
//! - δ = 0 is refused: Gaussian noise has no finite ε there.
//! - Tested by `networks/tests.rs`: the sensitivity on random and extreme neighbours, the events against
//!   the sampler, and the bits of exact sums.

use super::NetFacts;
use super::examples::Examples;
use super::initial_weights::InitialWeights;
use super::learners::{Method, RowAccess};
use super::options::{Settings, Sums};
use super::schedule::{Sizes, sizes};
use super::trainer::{Decision, Trainer, Worker, record_indices};
use super::update::{Query, Schedule};
use crate::LearnError;
use crate::linear::sgd::{self, Sampling};
use crate::release::allowance::Allowance;
use crate::release::note::Condition;
use crate::release::settings::PlanNumbers;
use crate::release::watch::StepWatch;
use privet_dp::account::{self, Event};
use privet_dp::gate::{Arithmetic, GateError, Noisy, Private, Session};
use privet_dp::mechanism::{Draw, ExactCounts, Gaussian, SampledGaussian};
use privet_dp::noise::GridGaussian;
use std::sync::Arc;

/// Note on sums in floating point.
pub(super) const FLOAT_SUMS: Condition = Condition::new(
    "float-sums",
    "gradients are added up in 32-bit floating point: the guarantee is proved in real \
     arithmetic. Rounding in sums is not charged, and what one record moves by it grows with the number of records \
     (sums = exact proves the guarantee for the program as executed)",
);
/// Lower end of the search for scales, relative to the noise of an unsampled descent.
const FLOOR: f64 = 1e-3;

/// Refuses samples that would take long to account for.
pub(super) fn check_accountable(budget: &Allowance<'_>, method: &Method) -> Result<(), LearnError> {
    if method.info().more.asks == RowAccess::All {
        return Ok(());
    }
    let instead =
        ["give a smaller budget, or method dp-gd", "give a larger delta, or method dp-gd"];
    sgd::check_accountable(budget, method.info().name, instead)
}

/// Sampler of a batch.
pub(super) fn draw(facts: &NetFacts, sampling: Sampling, batch: u64) -> Result<Draw, LearnError> {
    if batch >= facts.table.rows {
        return Err(LearnError::NotCovered {
            what: format!(
                "batch = {batch} of {} rows: a sampling rate of 1 or more",
                facts.table.rows
            ),
            instead: "give a batch below the number of rows; method dp-gd takes all of them",
        });
    }
    sgd::sampler(&facts.table, sampling, batch)
}

/// Noise mechanism of a step.
#[derive(Debug, Clone)]
pub(super) enum Noise {
    /// For a sample.
    Sampled(SampledGaussian),
    /// For all records.
    All(Gaussian),
}

impl Noise {
    fn event(&self) -> Result<Event, GateError> {
        match self {
            Self::Sampled(sampled) => sampled.event(),
            Self::All(gaussian) => gaussian.event(),
        }
    }

    fn scale(&self) -> f64 {
        match self {
            Self::Sampled(sampled) => sampled.noise_scale,
            Self::All(gaussian) => gaussian.noise_scale,
        }
    }
}

/// Plans from public facts alone.
pub(crate) fn plan(
    facts: &NetFacts,
    budget: &Allowance<'_>,
    method: &Method,
) -> Result<Decision, LearnError> {
    check_accountable(budget, method)?;
    let (info, mut settled) = (method.info(), Settings::default());
    let Sizes { steps, batch, clip, schedule } = sizes(facts, method, &mut settled)?;
    let sums = method.settings().sums.unwrap_or_default();
    settled.sums = Some(sums);
    let net = &facts.net;
    let coordinates = net.trainable();
    let (neighbours, unit) = (facts.table.neighbours, facts.table.unit);
    let sampling = match info.more.asks {
        RowAccess::Sample => method.settings().sampling.unwrap_or_default(),
        _ => Sampling::Poisson,
    };
    if info.more.asks == RowAccess::Sample {
        settled.sampling = Some(sampling);
    }
    let sampler = match info.more.asks {
        RowAccess::All => None,
        _ => Some(draw(facts, sampling, batch)?),
    };
    let noise = |noise_scale: f64| match sampler {
        Some(draw) => Noise::Sampled(SampledGaussian {
            neighbours,
            unit,
            draw,
            contribution: clip,
            noise_scale,
            coordinates,
        }),
        None => {
            let sensitivity = facts.table.relation().shift(clip);
            Noise::All(Gaussian { neighbours, unit, sensitivity, noise_scale, coordinates })
        }
    };
    let event = |scale: f64| {
        let event = Box::new(noise(scale).event()?);
        Ok(Event::Repeat { count: steps, event })
    };
    let mu = account::gaussian::mu(budget.epsilon(), budget.delta());
    let unsampled = facts.table.relation().shift(clip) * f64::from(steps).sqrt() / mu;
    let floor = match sampler {
        None => unsampled,
        Some(_) => (FLOOR * unsampled).max(sgd::LEAST_MULTIPLIER * clip),
    };
    let scale = budget.least_scale(floor, event)?;
    let sampled = Sampled {
        begins: InitialWeights::of(facts),
        noise: noise(scale),
        schedule,
        batch,
        clip,
        sums,
    };
    let (arithmetic, notes) = match sums {
        Sums::Float => (Arithmetic::Real, vec![FLOAT_SUMS.into()]),
        Sums::Exact => (Arithmetic::Finite, vec![]),
    };
    let worker = Worker::Steps(Arc::new(sampled));
    Ok(Decision { worker, settled, arithmetic, notes })
}

/// A training on clipped gradients.
#[derive(Debug, Clone)]
struct Sampled {
    begins: InitialWeights,
    noise: Noise,
    schedule: Schedule,
    batch: u64,
    clip: f64,
    sums: Sums,
}

/// Real sums in steps of the noise's grid. Each is rounded by at most half a step, which is charged.
pub(super) fn on_grid(sums: &[f64], noise_scale: f64) -> Option<ExactCounts> {
    const MOST: f64 = (1_u128 << 100) as f64;
    let unit = GridGaussian::new(noise_scale).ok()?.step();
    // A NaN counts as 0, so that no record can stop a run.
    let count = |sum: &f64| (sum / unit).round_ties_even().clamp(-MOST, MOST) as i128;
    Some(ExactCounts { counts: sums.iter().map(count).collect(), unit })
}

impl Sampled {
    /// The sum of clipped gradients over these records; `None` only if the run was stopped.
    fn sum(&self, examples: &Examples, at: &[f32], rows: &[u32]) -> Option<ExactCounts> {
        match self.sums {
            Sums::Float => {
                let sum = examples.clipped_sum(at, rows, self.clip)?;
                on_grid(&sum, self.noise.scale())
            }
            Sums::Exact => examples.exact_sum(at, rows, self.clip),
        }
    }
}

impl Trainer for Sampled {
    fn event(&self) -> Result<Event, LearnError> {
        let event = Box::new(self.noise.event()?);
        Ok(Event::Repeat { count: self.schedule.steps, event })
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("weights", self.begins.net.trainable() as f64),
            ("steps", f64::from(self.schedule.steps)),
            ("batch", self.batch as f64),
            ("clip", self.clip),
            ("rate", self.schedule.rate),
            ("gradient_noise", self.noise.scale()),
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
        let ask = |rows: &[u32]| {
            let sum = watch.step().then(|| self.sum(examples, &query.at, rows)).flatten();
            sum.map(Private::new)
        };
        match &self.noise {
            Noise::Sampled(sampled) => {
                sampled.run(Private::new(examples.rows()), session, |sample| {
                    ask(&record_indices(sample))
                })
            }
            Noise::All(gaussian) => {
                let everyone: Vec<u32> = (0..examples.rows() as u32).collect();
                gaussian.run_units(ask(&everyone).ok_or(GateError::Unanswered)?, session)
            }
        }
    }
}
