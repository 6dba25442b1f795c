//! Running counts of declared categories: the number of records of each so far, at every step.
//!
//! **Theorem.** A record adds a unit vector of its cell ([`privet_optim::sum::Occupied`]), an empty slot
//! nothing. Let C ≥ 0 be the factor and let a unit vector change in one step. Two different unit vectors
//! are √2 apart, one is 1 from nothing: β = **√2** of [`privet_dp::mechanism::Continual`]. ∎
//!
//! Counts are integers, so that nothing is rounded before the noise. The release is the running sum with
//! noise whose standard deviation grows slowly with the number of steps: (sens × error)·√2/μ at most.

use super::ftrl::{Correlation, calibrated, settled_factor};
use super::gradients::StreamRecords;
use super::learners::SecretState;
use super::stream_walk::{Rule, StreamWalk};
use super::{BATCH, HORIZON, KEPT, Stream, Streamed, only_slots, sound_only};
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::note::Condition;
use crate::release::plan::no_budget;
use crate::release::settings::PlanNumbers;
use crate::release::task::{FamilyPlan, Procedure, Task, Work};
use crate::release::watch::StepWatch;
use crate::statistics::count::Cells;
use crate::{LearnError, Plan, Request};
use privet_data::{Dataset, Schema};
use privet_dp::account::Event;
use privet_dp::continual::{Participation, Running, StreamAnswer};
use privet_dp::gate::{Arithmetic, GateError, Noisy, Private, Session};
use privet_dp::mechanism::{Continual, Stream as Steps};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use zeroize::Zeroizing;

/// A request for running counts by one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// The column whose categories are counted.
    pub by: String,
    /// Number of records of a step; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// Number of counts that a file of a whole stream keeps; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<u32>,
    /// Correlation of the noise of steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<Correlation>,
    /// Weight and decay of each buffer, filled in by the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<[f64; 2]>,
}

/// Public facts of running counts.
#[derive(Debug, Clone, PartialEq)]
pub struct CountFacts {
    /// The categories, one cell each.
    pub cells: Cells,
    /// Number of records of a step.
    pub batch: u32,
    /// Number of steps.
    pub steps: u32,
    /// Number of counts kept in a file.
    pub kept: u32,
}

impl Tally {
    /// Running counts by a column, all else chosen from public facts.
    pub fn by(column: impl Into<String>) -> Self {
        Self { by: column.into(), batch: None, kept: None, factor: None, buffers: vec![] }
    }

    /// Requests the counts of a stream; keeps the needed part of its schema.
    pub fn request(self, schema: &Schema, horizon: u64) -> Result<Request<Self>, LearnError> {
        let part =
            schema.counting(&self.by).map_err(|error| LearnError::Schema(error.to_string()))?;
        Ok(Request::new(part, horizon, privet_core::Neighbours::ReplaceOne, self))
    }
}

impl Task for Tally {
    const NAME: &'static str = "tally";
    type Facts = CountFacts;
    type Artefact = Stream;

    fn facts(request: &Request<Self>) -> Result<CountFacts, LearnError> {
        only_slots(request.relation())?;
        HORIZON.check(request.rows as f64)?;
        let task = &request.task;
        let cells = Cells::of(&request.schema, &task.by, request.rows, request.relation())?;
        let batch = BATCH.check(f64::from(task.batch.unwrap_or(1)))? as u32;
        let kept = KEPT.check(f64::from(task.kept.unwrap_or(1)))? as u32;
        let steps = request.rows.div_ceil(u64::from(batch)) as u32;
        Ok(CountFacts { cells, batch, steps, kept })
    }

    fn plan(request: &Request<Self>, facts: &CountFacts) -> Result<FamilyPlan<Self>, LearnError> {
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        sound_only(request.calibration, "tally")?;
        if budget.is_pure() {
            return Err(LearnError::NotCovered {
                what: "running counts get Gaussian noise, which has no finite epsilon at delta = 0"
                    .into(),
                instead: "give a delta above 0, far below one over the horizon",
            });
        }
        let relation = facts.cells.relation;
        let participation = Participation::ONCE;
        let correlation = request.task.factor.unwrap_or(Correlation::Buffered);
        let (factor, buffers) =
            settled_factor(correlation, &request.task.buffers, facts.steps, participation)?;
        let continual = calibrated(
            |noise_scale| Continual {
                neighbours: relation.neighbours,
                unit: relation.unit,
                factor: factor.clone(),
                steps: facts.steps,
                participation,
                bound: std::f64::consts::SQRT_2 * (1.0 + 4.0 * f64::EPSILON),
                noise_scale,
                coordinates: facts.cells.names.len(),
                step_unit: 1.0,
            },
            &Allowance::new(budget, &request.noise),
        )?;
        let deviation = continual.noise_scale * factor.error(facts.steps)?;
        let settled = Self {
            batch: Some(facts.batch),
            kept: Some(facts.kept),
            factor: Some(correlation),
            buffers,
            ..request.task.clone()
        };
        let counting = CountWalk { continual, facts: facts.clone(), deviation };
        Ok(FamilyPlan {
            work: Work::Private(Arc::new(counting)),
            settled,
            arithmetic: Arithmetic::Finite,
            notes: vec![EVERY_COUNT.into()],
        })
    }

    fn admit(facts: &CountFacts, table: &dyn Table) -> Result<(), LearnError> {
        admit::shape(facts.cells.relation, facts.cells.rows, facts.cells.columns, table, |_| Ok(()))
    }

    fn fits(request: &Request<Self>, stream: &Stream) -> Result<(), String> {
        let facts = Self::facts(request).map_err(|error| error.to_string())?;
        let fits = stream.fits(u64::from(facts.steps), facts.cells.names.len());
        if fits { Ok(()) } else { Err("its counts do not fit its schema".into()) }
    }

    fn noise_on(&self) -> &'static str {
        "the running counts"
    }

    fn summary(&self) -> String {
        format!("running counts by '{}'", privet_core::printable(&self.by))
    }
}

/// Counting under correlated noise.
#[derive(Debug, Clone)]
struct CountWalk {
    continual: Continual,
    facts: CountFacts,
    deviation: f64,
}

impl CountWalk {
    fn of(plan: &Plan<Tally>) -> Result<Self, LearnError> {
        let (request, facts) = (plan.request(), plan.facts());
        let task = &request.task;
        let relation = facts.cells.relation;
        let participation = Participation::ONCE;
        let correlation = task.factor.ok_or(GateError::NotAsPlanned)?;
        let (factor, _) = settled_factor(correlation, &task.buffers, facts.steps, participation)?;
        let noise_scale = *request.noise.first().ok_or(GateError::NotAsPlanned)?;
        let continual = Continual {
            neighbours: relation.neighbours,
            unit: relation.unit,
            factor,
            steps: facts.steps,
            participation,
            bound: std::f64::consts::SQRT_2 * (1.0 + 4.0 * f64::EPSILON),
            noise_scale,
            coordinates: facts.cells.names.len(),
            step_unit: 1.0,
        };
        if Some(&continual.event()?) != plan.events() {
            return Err(GateError::NotAsPlanned.into());
        }
        Ok(Self { continual, facts: facts.clone(), deviation: 0.0 })
    }

    fn start(&self, live: bool) -> Result<StreamWalk, LearnError> {
        let (steps, cells) = (self.facts.steps, self.facts.cells.names.len());
        let running = Running::new(&self.continual.factor, steps, cells)?;
        let keep = super::kept_steps(self.facts.kept, steps);
        Ok(StreamWalk { live, ..StreamWalk::new(Rule::Sums { running }, steps, cells, keep) })
    }

    fn begin(&self) -> Result<StepCounts, LearnError> {
        let cells = self.facts.cells.names.len();
        Ok(StepCounts { steps: Some(self.continual.begin()?), sum: Zeroizing::new(vec![0; cells]) })
    }
}

/// Secret state: the counts of one step.
struct StepCounts {
    steps: Option<Steps>,
    sum: Zeroizing<Vec<i64>>,
}

impl SecretState for StepCounts {
    fn step(
        &mut self,
        slots: &StreamRecords<'_>,
        rows: std::ops::Range<usize>,
        _: &[f64],
        session: &mut Session<'_>,
    ) -> Result<Noisy<StreamAnswer>, LearnError> {
        self.sum.fill(0);
        for row in rows {
            let cell = slots.label(row);
            if cell >= 0.0
                && let Some(count) = self.sum.get_mut(cell as usize)
            {
                *count += 1;
            }
        }
        let steps = self.steps.as_mut().ok_or(GateError::NotAsPlanned)?;
        Ok(steps.step(Private::new(&self.sum), session)?)
    }

    fn steps(&mut self) -> Option<&mut Option<Steps>> {
        Some(&mut self.steps)
    }
}

impl Streamed for Tally {
    fn batch_and_steps(facts: &CountFacts) -> (u32, u32) {
        (facts.batch, facts.steps)
    }

    fn slots<'a>(facts: &CountFacts, data: &'a Dataset) -> Result<StreamRecords<'a>, LearnError> {
        let unfit = LearnError::DataShape("the target is not of the planned kind");
        let labels = facts.cells.labels.of(&data.target).ok_or(unfit)?;
        if data.features.columns() != facts.cells.columns || labels.len() != data.features.rows() {
            return Err(LearnError::DataShape("the number of encoded columns differs"));
        }
        let cells = facts.cells.query.of_rows(&data.features, &labels);
        let cells = cells.into_iter().map(|cell| cell.map_or(-1.0, |cell| cell as f64)).collect();
        Ok(StreamRecords::of_cells(&data.features, cells))
    }

    fn learner(plan: &Plan<Self>) -> Result<(serde_json::Value, Box<dyn SecretState>), LearnError> {
        let counting = CountWalk::of(plan)?;
        let start = counting.start(true)?;
        let start = serde_json::to_value(start).map_err(|_| GateError::Malformed)?;
        Ok((start, Box::new(counting.begin()?)))
    }
}

impl Procedure<Tally> for CountWalk {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.continual.event()?)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("steps", f64::from(self.facts.steps)),
            ("cells", self.facts.cells.names.len() as f64),
            ("step_noise", self.continual.noise_scale),
            ("count_noise", self.deviation),
        ])
    }

    fn walk(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self.start(false).ok()?).ok()
    }

    fn run(
        &self,
        facts: &CountFacts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<Stream>, LearnError> {
        let mut hidden = self.begin()?;
        let data = admit::in_memory(table, "tally", "rows in their order")?;
        let slots = Tally::slots(facts, data)?;
        let watch = StepWatch::new(monitor);
        super::learners::over_slots(&slots, facts.batch, session, &watch, &mut hidden)
    }
}

const EVERY_COUNT: Condition = Condition::new(
    "every-count-of-the-stream",
    "neighbouring streams differ in one slot: its record is another, or there is none; every count \
     of the stream is covered, all together",
);
