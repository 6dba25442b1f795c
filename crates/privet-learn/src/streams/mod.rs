//! Learning from a stream: models are released while records arrive, and all of them together are
//! private.
//!
//! | file | contents |
//! |---|---|
//! | [`ftrl`] | follow the leader of gradients under correlated noise, `--method ftrl`, the default |
//! | [`implicit`] | implicit gradient descent, every point under noise, `--method implicit` |
//! | [`giga`] | projected gradient descent, every point under noise, `--method giga` |
//! | [`leader`] | the leader of all costs so far, every minimum under noise, `--method leader` |
//! | [`experts`] | one column drawn by exponential weights, `--method experts` |
//! | [`baseline`] | the same as `ftrl` with no noise at all, `--method non-private` |
//! | [`tally`] | running counts of declared categories |
//! | [`live`] | a session that receives records as they arrive |
//! | [`base`] | the update rules of the points, with bounds on their change between neighbours |
//!
//! **Neighbouring streams.** A stream is a sequence of slots, `batch` of them a step. Neighbours differ
//! in the record of one slot: replaced by another record, or by none. An empty slot is the null record
//! ([`privet_data::schema::Invalid`]), which adds exactly nothing. Removing a record so that all later
//! ones move up is another relation, under which every later step may change: it is refused, and so are
//! users with several records.
//!
//! **Guarantee.** It covers everything released from the first step to the last, together: one event for
//! the whole stream, charged in full when the first model is released.

pub mod base;
pub mod baseline;
pub mod experts;
pub mod ftrl;
pub mod giga;
mod gradients;
pub mod implicit;
pub mod leader;
mod learners;
pub mod live;
mod report;
mod stream_walk;
pub mod tally;
mod wrapper;

pub(crate) use ftrl::calibrated;
#[doc(hidden)]
pub use gradients::StreamRecords;
#[doc(hidden)]
pub use learners::SecretState;
pub use learners::{METHODS, Method};
pub use wrapper::printed_factor;

use crate::linear::facts::Facts;
use crate::linear::problems;
use crate::linear::request::RequestOptions;
use crate::linear::{Erm, gd};
use crate::release::allowance::Allowance;
use crate::release::covers::Coverage;
use crate::release::note::Condition;
use crate::release::plan::no_budget;
use crate::release::request::Calibration;
use crate::release::task::{Artefact, FamilyPlan, Task, Work};
use crate::release::void::{Concern, Finding};
use crate::{LearnError, Plan, Request};
use privet_core::{Neighbours, Range, Relation, Unit};
use privet_data::{Dataset, Schema};
use privet_dp::gate::{Arithmetic, GateError, Version};
use privet_optim::loss::Loss;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};

/// Limits on the number of slots of a stream.
pub const HORIZON: Range = Range::from("horizon", 1.0, 10_000_001.0);
/// Limits on the number of records of a step.
pub const BATCH: Range = Range::from("batch", 1.0, 1_000_001.0);
/// Limits on the number of models that a file keeps.
pub const KEPT: Range = Range::from("kept", 1.0, 10_001.0);

/// A request to learn models from a stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Online {
    /// The loss.
    pub loss: Loss,
    /// The learner and its own settings.
    pub method: Method,
    /// Number of records of a step; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// Number of models that a file of a whole stream keeps, evenly spaced, the last one included; 1
    /// unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<u32>,
}

/// Public facts of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Horizon {
    /// Facts of a table of as many rows.
    pub facts: Facts,
    /// Number of records of a step.
    pub batch: u32,
    /// Number of steps.
    pub steps: u32,
    /// Number of models kept in a file.
    pub kept: u32,
    /// Bound to which the derivative of a record's loss is clipped, S.
    pub slope: f64,
}

impl Horizon {
    /// Upper bound on the norm of one record's gradient over all classes together: SR, or √K·SR.
    pub fn gradient(&self) -> f64 {
        gd::contribution(&self.facts)
    }

    /// Number of weights of a model.
    pub fn width(&self) -> usize {
        self.facts.columns * self.facts.problems as usize
    }
}

/// Steps after which a file keeps a release: evenly spaced, the last one included.
pub(crate) fn kept_steps(kept: u32, steps: u32) -> Vec<u32> {
    let (kept, steps) = (u64::from(kept.min(steps)), u64::from(steps));
    (1..=kept).map(|place| (place * steps).div_ceil(kept) as u32).collect()
}

/// Kept releases of a stream: models, or counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Step after which each was released.
    pub after: Vec<u32>,
    /// Values of each: weights, or a count for each category.
    pub values: Vec<Vec<f64>>,
}

impl Artefact for Stream {
    const KIND: &'static str = "stream";

    fn numbers(&self) -> Vec<f64> {
        self.values.iter().flatten().copied().collect()
    }
}

impl Stream {
    /// Newest release, if there is any.
    pub fn last(&self) -> Option<&[f64]> {
        self.values.last().map(Vec::as_slice)
    }
}

impl Stream {
    /// A stream without releases.
    pub(crate) const NOTHING: Self = Self { after: vec![], values: vec![] };

    /// True if it has the form of releases of a stream with `steps` steps and `width` values each.
    pub(crate) fn fits(&self, steps: u64, width: usize) -> bool {
        self.after.len() == self.values.len()
            && self.after.windows(2).all(|two| two[0] < two[1])
            && self.after.iter().all(|after| (1..=steps).contains(&u64::from(*after)))
            && self.values.iter().all(|values| values.len() == width)
            && self.values.iter().flatten().all(|value| value.is_finite())
    }
}

/// A task whose records may arrive one after the other ([`live`]).
pub trait Streamed: Task<Artefact = Stream> {
    /// Number of records of a step, and number of steps.
    fn batch_and_steps(facts: &Self::Facts) -> (u32, u32);

    /// Slots of a step's records; refuses records that do not fit the plan.
    #[doc(hidden)]
    fn slots<'a>(facts: &Self::Facts, data: &'a Dataset) -> Result<StreamRecords<'a>, LearnError>;

    /// Start of a live walk, and the secret state.
    #[doc(hidden)]
    fn learner(plan: &Plan<Self>) -> Result<(serde_json::Value, Box<dyn SecretState>), LearnError>;
}

impl Streamed for Online {
    fn batch_and_steps(horizon: &Horizon) -> (u32, u32) {
        (horizon.batch, horizon.steps)
    }

    fn slots<'a>(horizon: &Horizon, data: &'a Dataset) -> Result<StreamRecords<'a>, LearnError> {
        problems::check_rows(&horizon.facts, data)?;
        StreamRecords::of(horizon, data)
    }

    fn learner(plan: &Plan<Self>) -> Result<(serde_json::Value, Box<dyn SecretState>), LearnError> {
        let request = plan.request();
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        // Every setting is settled, so that this is the plan's own learner.
        let allowance = Allowance::new(budget, &request.noise);
        let decision = request.task.method.plan(plan.facts(), &allowance, request.calibration)?;
        if Some(&decision.learner.event()?) != plan.events() {
            return Err(GateError::NotAsPlanned.into());
        }
        decision.learner.live()
    }
}

impl Online {
    /// A request from words; `rows` is the horizon, the number of slots.
    pub fn request(
        schema: &Schema,
        horizon: u64,
        method: Method,
        words: &RequestOptions,
    ) -> Result<Request<Self>, LearnError> {
        // The loss and the budget have the rules of a table.
        let like = if method.is_private() { "gd" } else { "non-private" };
        let of_table = RequestOptions { method: like.parse()?, settings: vec![], ..words.clone() };
        let table = Request::<Erm>::build(schema, horizon, &of_table)?;
        let set = |method: Method, (name, value): &(String, String)| method.with(name, value);
        let method = words.settings.iter().try_fold(method, set)?;
        let task = Self { loss: table.task.loss, method, batch: None, kept: None };
        let Request { budget, calibration, .. } = table;
        let request = Request::new(schema.clone(), horizon, words.neighbours, task);
        let budget = if request.task.method.is_private() { budget } else { None };
        Ok(Request { budget, calibration, ..request })
    }

    /// Sets the number of records of a step.
    pub fn in_batches(self, batch: u32) -> Self {
        Self { batch: Some(batch), ..self }
    }

    /// Sets the number of models to keep.
    pub fn keeping_models(self, kept: u32) -> Self {
        Self { kept: Some(kept), ..self }
    }
}

/// Accepts relations that change a single slot: those of one record. Plain add/remove is refused, and so
/// are users, whose slots another user with more or fewer records would shift.
pub(crate) fn only_slots(relation: Relation) -> Result<(), LearnError> {
    if relation.neighbours == Neighbours::AddRemove {
        return NO_ADD_REMOVE.require_covered("a stream");
    }
    if relation.unit != Unit::Record {
        return NO_USERS.require_covered("a stream");
    }
    Ok(())
}

/// Refusal of adding or removing a record where rows are taken in order.
pub(crate) const NO_ADD_REMOVE: Coverage = Coverage::No {
    why: "takes rows in their order: adding or removing a record moves every later one by a slot, and no step after it is \
          protected",
    instead: "give neighbours replace-one: a record's slot then holds another record, or none at all",
};
/// Refusal of users where rows are taken in order.
pub(crate) const NO_USERS: Coverage = Coverage::No {
    why: "protects single records: a user with more or fewer of them would move every later one",
    instead: "leave the unit out of the schema if each user has one record in the stream",
};

/// Refusal of several classes by a method for one linear problem.
const ONE_TARGET: Coverage = Coverage::No {
    why: "learns two classes or a number",
    instead: "name two classes in the schema, or give method ftrl",
};

/// What a certificate of a stream cannot tell.
const FED_FROM_PYTHON: Finding = Finding {
    name: "DOUBT-2",
    before: Version(0, 2, 1),
    which: "streams (`online`)",
    why: "it holds only if the stream was not fed from Python with lists, arrays of objects or single \
          records: one cell or label of another type could empty every row of its call, and the keys of \
          the first record chose the columns",
};

impl Task for Online {
    const NAME: &'static str = "online";
    const DOUBTFUL: &'static [Concern<Self>] =
        &[Concern { finding: FED_FROM_PYTHON, of: |_| true }];
    type Facts = Horizon;
    type Artefact = Stream;

    fn facts(request: &Request<Self>) -> Result<Horizon, LearnError> {
        only_slots(request.relation())?;
        HORIZON.check(request.rows as f64)?;
        let facts = Facts::with_loss(request, request.task.loss)?;
        let method = &request.task.method;
        let batch = request.task.batch.unwrap_or_else(|| match method {
            Method::Experts(experts) => experts.batch(request.budget, &facts),
            _ => 1,
        });
        let batch = BATCH.check(f64::from(batch))? as u32;
        let kept = KEPT.check(f64::from(request.task.kept.unwrap_or(1)))? as u32;
        let steps = request.rows.div_ceil(u64::from(batch)) as u32;
        let slope = gd::slope(&facts);
        Ok(Horizon { facts, batch, steps, kept, slope })
    }

    fn plan(request: &Request<Self>, horizon: &Horizon) -> Result<FamilyPlan<Self>, LearnError> {
        let Self { loss, method, .. } = &request.task;
        let settled = |method| Self {
            loss: *loss,
            method,
            batch: Some(horizon.batch),
            kept: Some(horizon.kept),
        };
        if let Method::NonPrivate(options) = method {
            let plain = baseline::UnprotectedLearner::new(horizon, options)?;
            return Ok(FamilyPlan {
                settled: settled(Method::NonPrivate(plain.settled())),
                work: Work::Plain(std::sync::Arc::new(plain)),
                arithmetic: Arithmetic::Real,
                notes: vec![baseline::NO_NOISE.into()],
            });
        }
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        let allowance = Allowance::new(budget, &request.noise);
        let decision = method.plan(horizon, &allowance, request.calibration)?;
        let mut notes = vec![EVERY_MODEL.into()];
        notes.extend(decision.notes);
        Ok(FamilyPlan {
            work: Work::Private(decision.learner),
            settled: settled(decision.settled),
            arithmetic: Arithmetic::Finite,
            notes,
        })
    }

    fn admit(horizon: &Horizon, table: &dyn Table) -> Result<(), LearnError> {
        problems::check(&horizon.facts, table)
    }

    fn fits(request: &Request<Self>, stream: &Stream) -> Result<(), String> {
        let facts = Self::facts(request).map_err(|error| error.to_string())?;
        if stream.fits(u64::from(facts.steps), facts.width()) {
            Ok(())
        } else {
            Err("its models do not fit its schema".into())
        }
    }

    fn noise_on(&self) -> &'static str {
        self.method.info().noisy
    }

    fn summary(&self) -> String {
        format!("method {}", self.method)
    }
}

/// Refuses printed constants for a learner that has none.
fn sound_only(calibration: Calibration, method: &'static str) -> Result<(), LearnError> {
    match calibration {
        Calibration::Sound => Ok(()),
        Calibration::Printed => Err(LearnError::NotCovered {
            what: format!("no printed constants are carried for method {method}"),
            instead: "leave out the calibration, or give sound",
        }),
    }
}

const EVERY_MODEL: Condition = Condition::new(
    "every-model-of-the-stream",
    "neighbouring streams differ in one slot: its record is another, or there is none; every model of \
     the stream is covered, all together",
);
