//! The common part of the permutation methods: slots, step sizes, sensitivity, and the run.
//!
//! **Algorithm.** M = k·N slots are filled with records in a secret random order ([`ShuffledGaussian`]),
//! N = ⌊n/k⌋ for the declared n. T times over the N batches of k slots, in their order,
//! θ ← r_tθ − (η_t/k)·Σ_{i in the batch} mᵢ(θ)xᵢ, t counting *updates*. An empty slot adds nothing;
//! records beyond the slots, determined by the order alone, are left out. θ plus Gaussian noise is
//! released.
//!
//! **Theorem.** Let η_t·cR² ≤ 2r_t ≤ 2 for every t, with c ≥ ℓ″ and ‖x‖₂ ≤ R, let |mᵢ| ≤ S, and let a
//! unit own at most m records. Under *both* relations the result moves, between neighbours and under
//! the joint law of orders of [`ShuffledGaussian`], by at most
//!
//! Δ = √K·( 2mSR·W/k + 2Σ_tρ_t ),  W = Σ_{passes} max_{t in the pass} η_t·Π_{s>t} r_s,
//!
//! K the number of problems, ρ_t the rounding of update t.
//!
//! *Proof.* Under the joint law at most m slots differ, the same in every pass. Let d_t be the distance
//! of the two points after update t. The map of an update is r_t-Lipschitz ([`privet_optim::passes`],
//! Lemma 1); if j_t of the differing slots are in its batch, the two maps differ by at most
//! (η_t/k)·2SRj_t at any one point. So d_t ≤ r_td_{t−1} + 2SR·j_tη_t/k + 2ρ_t, and j sums to at most m in
//! each pass; unrolled, with r ≤ 1, that is 2mSR·W/k + 2Σρ_t. The K problems see the same slots, one
//! block of coordinates each. ∎
//!
//! Under add/remove a slot may be exchanged rather than emptied (if there are more records than slots),
//! so that the factor 2 stays: no less noise than under replace-one.
//!
//! *In finite arithmetic.* ρ_t is Lemma 2 of [`privet_optim::passes`], with A = 1.01 times the smaller
//! of TNη₁SR and of SR/ξ where there is a ridge: points stay within A as long as ρ_t is below 1 % of
//! η_tSR, which is checked when planning. s_t = η_t/k is rounded down.
//!
//! - Derivatives are clipped to S as in [`super::gd`]; that keeps ℓ convex and ℓ″ ≤ c.
//! - Departs from print: slots (there batches overlap by an index, PRIV-8, and a short last batch weighs
//!   more, PRIV-10), S for L, exact Gaussian noise for √(2 ln(2/δ))/ε (PRIV-11).
//! - Tested by `tests.rs` beside this file and by `tests/all/permutation.rs`.

use super::gd::{SAFE_RADII, separate_slope};
use super::{calibrated, evenly_split, predicted};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::model::LinearWeights;
use crate::linear::problems;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::request::Calibration;
use crate::release::settings::PlanNumbers;
use crate::release::support::Support;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use crate::release::weight_noise::WeightNoise;
use privet_core::Range;
use privet_data::Dataset;
use privet_dp::account::{self, Event};
use privet_dp::gate::{Noisy, Private, Session};
use privet_dp::mechanism::{Gaussian, ShuffledGaussian};
use privet_optim::loss::Loss;
use privet_optim::passes::{Batches, Passes, Rounding, Step};
use privet_optim::solver::Monitor;
use privet_optim::sum::{InMemory, Table};

mod rates;

pub use rates::Rates;

/// Limits on the number of passes.
pub const PASSES: Range = Range::from("passes", 1.0, 100_001.0);
/// Limits on the rows of a batch; there must be that many rows.
pub const BATCH: Range = Range::from("batch", 1.0, 9_007_199_254_740_992.0);
/// Limits on a step size of the mean form; theorems may demand less.
pub const RATE: Range = Range::open("rate", 0.0, f64::INFINITY);

/// Largest number of rows for which an order can be kept in memory.
const MOST_ROWS: u64 = 1 << 30;
/// The factor by which s is rounded down, so that η ≤ 2/β holds for the numbers computed with.
const ROUND_DOWN: f64 = 1.0 - 4.0 * f64::EPSILON;
/// The share of η_tSR that ρ_t may reach.
const SLACK: f64 = 0.01;

/// The parameters of the walk, which determine the sensitivity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PermutationWalk {
    /// Step sizes η_t and contractions r_t.
    pub rates: Rates,
    /// The number of passes T.
    pub passes: u32,
    /// The number of slots of a batch k.
    pub batch: u64,
    /// The bound S to which derivatives are clipped.
    pub slope: f64,
}

impl PermutationWalk {
    /// The number of batches N.
    pub fn batches(&self, facts: &Facts) -> u64 {
        facts.rows / self.batch.max(1)
    }

    /// The sensitivity Δ of the theorem; refused if rounding cannot be bounded.
    pub fn sensitivity(&self, facts: &Facts) -> Result<f64, LearnError> {
        let (batch, batches) = (self.batch as f64, self.batches(facts));
        let updates = f64::from(self.passes) * batches as f64;
        let gradient = self.slope * facts.radius;
        let rounding = Rounding {
            passes: Passes { loss: facts.loss, slope: self.slope },
            columns: facts.columns,
            batch: self.batch,
            radius: facts.radius,
            norm: self.rates.norm(updates, gradient),
        };
        let largest = rounding.of_update(self.rates.rate(1) / batch);
        let last = self.rates.rate(updates as u64);
        if !(rounding.of_update(last / batch) <= SLACK * last * gradient
            && largest <= SLACK * self.rates.rate(1) * gradient)
        {
            return Err(LearnError::NotCovered {
                what: format!("the rounding of {updates} updates cannot be bounded"),
                instead: "give fewer passes, larger batches or a larger rate",
            });
        }
        let records = f64::from(facts.unit.records());
        let moved = 2.0 * records * gradient * self.rates.weight(self.passes, batches) / batch;
        let together = f64::from(facts.problems).sqrt();
        Ok(together * (moved + 2.0 * updates * largest) * (1.0 + 16.0 * f64::EPSILON))
    }

    /// The sum of step sizes in the papers: of each pass's first update.
    pub(super) fn printed_weight(&self, facts: &Facts) -> f64 {
        self.rates.weight(self.passes, self.batches(facts))
    }

    /// The procedure: noise of the smallest scale that meets the budget, or as printed.
    pub(super) fn with_least_noise(
        self,
        facts: &Facts,
        budget: &Allowance<'_>,
        printed: Option<f64>,
    ) -> Result<Shuffled, LearnError> {
        let sensitivity = self.sensitivity(facts)?;
        let slots = self.batches(facts) * self.batch;
        let mechanism = |noise_scale| ShuffledGaussian {
            gaussian: Gaussian {
                neighbours: facts.neighbours,
                unit: facts.unit,
                sensitivity,
                noise_scale,
                coordinates: facts.columns * facts.problems as usize,
            },
            slots: slots as usize,
        };
        let scale = match printed {
            Some(scale) => scale,
            None => {
                // All problems are in one vector, so that nothing is repeated.
                let single = Facts { problems: 1, ..facts.clone() };
                let floor = sensitivity / account::gaussian::mu(budget.epsilon(), budget.delta());
                calibrated(&single, budget, floor, |scale| mechanism(scale).event())?
            }
        };
        let rows = facts.rows as f64;
        Ok(Shuffled { mechanism: mechanism(scale), walk: self, columns: facts.columns, rows })
    }
}

/// Refuses tables that no permutation method covers; returns the clipping bound S.
pub(super) fn check_table(
    facts: &Facts,
    calibration: Calibration,
    method: &'static str,
) -> Result<f64, LearnError> {
    if !SAFE_RADII.contains(&facts.radius) {
        return Err(LearnError::NotCovered {
            what: format!("method {method} cannot bound rounding for rows of {:e}", facts.radius),
            instead: "give a clipping radius from 1e-60 to 1e60",
        });
    }
    if facts.rows > MOST_ROWS {
        return Err(LearnError::NotCovered {
            what: format!("method {method} keeps an order of {} rows in memory", facts.rows),
            instead: "at most 2^30 rows are accepted; method gd or sgd keeps none",
        });
    }
    Ok(match calibration {
        Calibration::Sound => separate_slope(facts),
        Calibration::Printed => facts.shape.lipschitz,
    })
}

/// The number of passes, given or the default.
pub(super) fn checked_passes(given: Option<u32>) -> Result<u32, LearnError> {
    let passes = given.unwrap_or(DEFAULT_PASSES);
    PASSES.check(f64::from(passes))?;
    Ok(passes)
}

/// Default number of passes: the noise does not depend on them for a given time, and the variance of
/// batches falls as 1/T.
pub const DEFAULT_PASSES: u32 = 10;

/// The batch size: given, or `wanted` within limits that vary smoothly with the table.
pub(super) fn checked_batch(
    facts: &Facts,
    given: Option<u64>,
    target: f64,
) -> Result<u64, LearnError> {
    let Some(batch) = given else {
        let most = (facts.rows as f64 / 10.0).max(1.0);
        return Ok(target.max(10.0).min(most).round() as u64);
    };
    BATCH.check(batch as f64)?;
    if batch > facts.rows {
        return Err(LearnError::NotCovered {
            what: format!("batch = {batch}, of {} rows", facts.rows),
            instead: "each pass takes disjoint batches: give at most the number of rows",
        });
    }
    Ok(batch)
}

/// The papers' factor √(2 ln(2/δ))/ε, the budget split evenly between problems.
pub(super) fn printed_factor(facts: &Facts, budget: &Allowance<'_>) -> f64 {
    let (epsilon, delta) = evenly_split(facts, budget);
    (2.0 * (2.0 / delta).ln()).sqrt() / epsilon
}

/// The procedure: passes over shuffled records for all problems at once.
#[derive(Debug, Clone)]
pub(super) struct Shuffled {
    mechanism: ShuffledGaussian,
    walk: PermutationWalk,
    columns: usize,
    /// The declared number of rows n.
    rows: f64,
}

impl Shuffled {
    pub(super) fn noise_scale(&self) -> f64 {
        self.mechanism.gaussian.noise_scale
    }

    /// The passes over rows and labels in the order of the slots, before noise; `None` if stopped.
    fn compute(
        &self,
        loss: Loss,
        data: &Dataset,
        labels: &[Vec<f64>],
        slots: &[usize],
        proceed: impl Fn() -> bool + Sync,
    ) -> Option<Vec<f64>> {
        let rows = data.features.rows();
        let filled = |slot: &&usize| **slot < rows;
        let mut ends = Vec::with_capacity(slots.len() / self.walk.batch.max(1) as usize);
        for batch in slots.chunks(self.walk.batch.max(1) as usize) {
            ends.push(ends.last().unwrap_or(&0) + batch.iter().filter(filled).count());
        }
        let order: Vec<usize> = slots.iter().filter(filled).copied().collect();
        let features = data.features.select(&order);
        let batches = Batches::new(&features, &ends)?;
        let PermutationWalk { rates, passes, batch, slope } = self.walk;
        let step = |update| Step {
            shrink: rates.shrink(update),
            rate: rates.rate(update) / batch as f64 * ROUND_DOWN,
        };
        let labels: Option<Vec<Vec<f64>>> = labels
            .iter()
            .map(|labels| order.iter().map(|place| labels.get(*place).copied()).collect())
            .collect();
        Passes { loss, slope }.run_all(batches, &labels?, passes, step, proceed)
    }
}

impl Procedure<super::Erm> for Shuffled {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.mechanism.event()?)
    }

    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        let support = Support::gaussian(self.noise_scale());
        support.refuses(&found.weights)
    }

    fn settings(&self) -> PlanNumbers {
        let PermutationWalk { rates, passes, batch, .. } = self.walk;
        PlanNumbers::of([
            ("passes", f64::from(passes)),
            ("batch", batch as f64),
            ("rate", rates.rate(1)),
            ("output_noise", self.noise_scale()),
        ])
        .and(
            "ridge",
            match rates {
                Rates::Strong { ridge, .. } => Some(ridge * self.rows),
                _ => None,
            },
        )
    }

    fn predicted_excess(&self, facts: &Facts) -> Option<f64> {
        let noise = self.noise_scale();
        Some(match self.walk.rates {
            Rates::Strong { ridge, .. } => predicted::output(facts, noise, ridge * self.rows),
            rates => {
                let updates = f64::from(self.walk.passes) * self.walk.batches(facts) as f64;
                predicted::stopped_excess(facts, noise, rates.time(updates))
            }
        })
    }

    fn weight_noise(&self, _facts: &Facts) -> Option<f64> {
        Some(self.noise_scale())
    }

    fn weight_laws(&self, _facts: &Facts, _found: &LinearWeights) -> Option<WeightNoise> {
        Some(WeightNoise::exactly(self.noise_scale()))
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<LinearWeights>, LearnError> {
        let data = admit::in_memory(table, "psgd", "rows in an order of its own")?;
        let labels = (0..facts.problems)
            .map(|problem| problems::labels(facts, data, problem))
            .collect::<Result<Vec<_>, _>>()?;
        for labels in &labels {
            InMemory::new(&data.features, labels).map_err(|_| {
                LearnError::DataShape("a feature or target is not a number in its range")
            })?;
        }
        let watch = StepWatch::new(monitor);
        let records = Private::new(data.features.rows());
        let noisy = self.mechanism.run(records, session, |slots| {
            self.compute(facts.loss, data, &labels, slots, || watch.step()).map(Private::new)
        });
        watch.went_on()?;
        Ok(noisy?.rows_of(self.columns).map(LinearWeights::of))
    }
}

#[cfg(test)]
mod tests;
