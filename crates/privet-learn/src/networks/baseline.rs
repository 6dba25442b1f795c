//! Trainings without privacy, for comparison: the same walks on exact sums.

use super::examples::Examples;
use super::initial_weights::InitialWeights;
use super::learners::{Method, RowAccess};
use super::options::Settings;
use super::schedule::{Sizes, sizes};
use super::srm::recursion;
use super::tensors::Tensors;
use super::update::{Rule, Schedule, Training};
use super::{NetFacts, Network};
use crate::LearnError;
use crate::release::note::Condition;
use crate::release::settings::PlanNumbers;
use crate::release::task::Baseline;
use crate::release::watch::StepWatch;
use privet_data::matrix::Matrix;
use privet_dp::gate::{GateError, Next, Walk};
use privet_dp::noise::{FixedSeed, SampleKey};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use std::sync::Arc;

/// Fixed seed of the samples: nothing is secret here.
const SEED: u64 = 7;

/// A training without noise and clipping.
#[derive(Debug, Clone)]
pub(super) struct UnprotectedTraining {
    begins: InitialWeights,
    schedule: Schedule,
    settled: Settings,
    batch: u64,
    gamma: Option<f64>,
}

impl UnprotectedTraining {
    pub fn new(facts: &NetFacts, method: &Method) -> Result<Self, LearnError> {
        let mut settled = Settings::default();
        let mut sizes: Sizes = sizes(facts, method, &mut settled)?;
        if method.info().more.asks == RowAccess::Sample && sizes.batch > facts.table.rows {
            return Err(LearnError::NotCovered {
                what: format!("batch = {} of {} rows", sizes.batch, facts.table.rows),
                instead: "give a batch up to the number of rows",
            });
        }
        let gamma = match sizes.schedule.rule {
            Rule::Recursive(gamma) => {
                recursion(method, &mut sizes, &mut settled)?;
                // One size for all steps: a larger first sample would only save noise.
                sizes.schedule.expected[0] = sizes.batch as f64;
                settled.first_batch = Some(sizes.batch);
                Some(gamma)
            }
            _ => None,
        };
        Ok(Self {
            begins: InitialWeights::of(facts),
            schedule: sizes.schedule,
            settled,
            batch: sizes.batch,
            gamma,
        })
    }

    pub fn settled(&self) -> Settings {
        self.settled.clone()
    }
}

impl Baseline<Network> for UnprotectedTraining {
    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("weights", self.begins.net.trainable() as f64),
            ("steps", f64::from(self.schedule.steps)),
            ("batch", self.batch as f64),
            ("rate", self.schedule.rate),
        ])
    }

    fn with_public(&self, rows: &Matrix) -> Option<Result<Arc<dyn Baseline<Network>>, LearnError>> {
        let begun = self.begins.begun(rows)?;
        Some(begun.map(|begins| Arc::new(Self { begins, ..self.clone() }) as Arc<_>))
    }

    fn run(
        &self,
        facts: &NetFacts,
        table: &dyn Table,
        monitor: &dyn Monitor,
    ) -> Result<Tensors, LearnError> {
        self.begins.weights()?;
        let examples = Examples::of(facts, table)?;
        let watch = StepWatch::new(monitor);
        let start = self.begins.walk(&self.schedule).ok_or(GateError::NotAsPlanned)?;
        let start = serde_json::from_value(start).map_err(|_| GateError::Malformed)?;
        let mut walk = Training::begin(start);
        let key = SampleKey::draw(&mut FixedSeed::new(SEED));
        let (mut answer, mut step) = (None, 0);
        let unanswered = || LearnError::Gate(GateError::Unanswered);
        loop {
            let query = match walk.next(answer.take()) {
                Next::Ask(query) => query,
                Next::Release(tensors) => return Ok(tensors),
                Next::End => return Err(unanswered()),
            };
            if !watch.step() {
                watch.went_on()?;
            }
            let wanted = (self.batch as usize).min(examples.rows());
            let drawn = key.without_replacement(step, wanted, examples.rows());
            step += 1;
            let rows = super::trainer::record_indices(&drawn.map_err(GateError::from)?);
            let mut sum = examples.plain_sum(&query.at, &rows).ok_or_else(unanswered)?;
            if let (Some(gamma), Some(before)) = (self.gamma, &query.before) {
                let old = examples.plain_sum(before, &rows).ok_or_else(unanswered)?;
                sum.iter_mut().zip(old).for_each(|(new, old)| *new -= (1.0 - gamma) * old);
            }
            answer = Some(sum);
        }
    }
}

pub(crate) const NO_NOISE: Condition =
    Condition::new("no-noise", "no noise: the model may reveal its training records");
