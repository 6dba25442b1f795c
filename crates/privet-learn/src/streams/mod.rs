//! Learning from a stream: models go out while records come in, and all of them together are private.
//!
//! | file | what |
//! |---|---|
//! | [`ftrl`] | follow the leader of gradients under correlated noise, `--method ftrl`, the default |
//! | [`implicit`] | implicit gradient descent, every point under noise, `--method implicit` |
//! | [`giga`] | projected gradient descent, every point under noise, `--method giga` |
//! | [`leader`] | the leader of all costs so far, every minimum under noise, `--method leader` |
//! | [`experts`] | one column drawn by exponential weights, `--method experts` |
//! | [`baseline`] | the same as `ftrl` with no noise at all, `--method non-private` |
//! | [`tally`] | running counts of declared categories |
//! | [`live`] | a session that is handed records as they come |
//! | [`base`] | the steps of the points, and how far one record moves them |
//!
//! **Neighbouring streams.** A stream is a sequence of slots, `batch` of them a step. Neighbours differ in the
//! record of one slot: replaced by another record, or by none. An empty slot is the null record ([`privet_data::schema::Invalid`]), which adds exactly nothing. Taking a
//! record out so that all later ones move up is another relation, under which every later step may change: it
//! is refused, and so are users with several records.
//!
//! **What is protected.** Everything released from the first step to the last, together: one event for the
//! whole stream, charged in full when the first model goes out.

pub mod base;
pub mod baseline;
pub mod experts;
mod following;
pub mod ftrl;
pub mod giga;
pub mod implicit;
pub mod leader;
mod learners;
pub mod live;
mod report;
mod slopes;
pub mod tally;
mod wrapper;

pub(crate) use ftrl::calibrated;
#[doc(hidden)]
pub use learners::Hidden;
pub use learners::{METHODS, Method};
#[doc(hidden)]
pub use slopes::Slots;
pub use wrapper::printed_factor;

use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::request::Words;
use crate::linear::{Erm, gd};
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::covers::Cover;
use crate::release::plan::{Plan, no_budget};
use crate::release::request::{Calibration, Request};
use crate::release::task::{Artefact, Planned, Task, Work};
use privet_core::{Neighbours, Range, Relation, Unit};
use privet_data::{Dataset, Schema};
use privet_dp::gate::{Arithmetic, GateError};
use privet_optim::loss::Loss;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};

/// Limits on the number of slots of a stream.
pub const HORIZON: Range = Range::from("horizon", 1.0, 10_000_001.0);
/// Limits on the records of a step.
pub const BATCH: Range = Range::from("batch", 1.0, 1_000_001.0);
/// Limits on how many models a file keeps.
pub const KEPT: Range = Range::from("kept", 1.0, 10_001.0);

/// Models from a stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Online {
    /// The loss.
    pub loss: Loss,
    /// The learner and its own settings.
    pub method: Method,
    /// Records a step; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// How many models a file of a whole stream keeps, evenly spaced, the last one included; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<u32>,
}

/// What is public of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Horizon {
    /// Those of a table of as many rows.
    pub facts: Facts,
    /// Records a step.
    pub batch: u32,
    /// Steps.
    pub steps: u32,
    /// Models kept in a file.
    pub kept: u32,
    /// S: what a record's slope is clipped to.
    pub slope: f64,
}

impl Horizon {
    /// The largest gradient of one record, of all classes together, rounded up: SR, or √K·SR.
    pub fn gradient(&self) -> f64 {
        gd::contribution(&self.facts)
    }

    /// How many numbers a model has.
    pub fn width(&self) -> usize {
        self.facts.columns * self.facts.problems as usize
    }
}

/// After which of so many steps releases are kept in a file: evenly spaced, the last one included.
pub(crate) fn kept_steps(kept: u32, steps: u32) -> Vec<u32> {
    let (kept, steps) = (u64::from(kept.min(steps)), u64::from(steps));
    (1..=kept).map(|place| (place * steps).div_ceil(kept) as u32).collect()
}

/// What was kept of the releases of a stream: models, or counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// After which step each was released.
    pub after: Vec<u32>,
    /// The numbers of each: weights, or a count a category.
    pub values: Vec<Vec<f64>>,
}

impl Artefact for Stream {
    const KIND: &'static str = "stream";

    fn numbers(&self) -> Vec<f64> {
        self.values.iter().flatten().copied().collect()
    }
}

impl Stream {
    /// The newest, if anything was released.
    pub fn last(&self) -> Option<&[f64]> {
        self.values.last().map(Vec::as_slice)
    }
}

impl Stream {
    /// With nothing in it.
    pub(crate) const NOTHING: Self = Self { after: vec![], values: vec![] };

    /// Whether it has the form of releases of so many steps and numbers.
    pub(crate) fn fits(&self, steps: u64, width: usize) -> bool {
        self.after.len() == self.values.len()
            && self.after.windows(2).all(|two| two[0] < two[1])
            && self.after.iter().all(|after| (1..=steps).contains(&u64::from(*after)))
            && self.values.iter().all(|values| values.len() == width)
            && self.values.iter().flatten().all(|value| value.is_finite())
    }
}

/// A task whose records may come one after the other ([`live`]).
pub trait Streamed: Task<Artefact = Stream> {
    /// Records a step, and steps.
    fn pace(facts: &Self::Facts) -> (u32, u32);

    /// What the records of a step say, once they are found to be ones of the plan.
    #[doc(hidden)]
    fn slots<'a>(facts: &Self::Facts, data: &'a Dataset) -> Result<Slots<'a>, LearnError>;

    /// What a live walk begins from, and the half that stays secret.
    #[doc(hidden)]
    fn learner(plan: &Plan<Self>) -> Result<(serde_json::Value, Box<dyn Hidden>), LearnError>;
}

impl Streamed for Online {
    fn pace(horizon: &Horizon) -> (u32, u32) {
        (horizon.batch, horizon.steps)
    }

    fn slots<'a>(horizon: &Horizon, data: &'a Dataset) -> Result<Slots<'a>, LearnError> {
        admit::piece(&horizon.facts, data)?;
        Slots::of(horizon, data)
    }

    fn learner(plan: &Plan<Self>) -> Result<(serde_json::Value, Box<dyn Hidden>), LearnError> {
        let request = plan.request();
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        // Everything is settled, so that this is the plan's own learner.
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
        words: &Words,
    ) -> Result<Request<Self>, LearnError> {
        // The loss and the budget are asked for as those of a table.
        let like = if method.is_private() { "gd" } else { "non-private" };
        let of_table = Words { method: like.parse()?, settings: vec![], ..words.clone() };
        let table = Request::<Erm>::build(schema, horizon, &of_table)?;
        let set = |method: Method, (name, value): &(String, String)| method.with(name, value);
        let method = words.settings.iter().try_fold(method, set)?;
        let task = Self { loss: table.task.loss, method, batch: None, kept: None };
        let Request { budget, calibration, .. } = table;
        let request = Request::new(schema.clone(), horizon, words.neighbours, task);
        let budget = if request.task.method.is_private() { budget } else { None };
        Ok(Request { budget, calibration, ..request })
    }

    /// Of this many records a step.
    pub fn in_batches(self, batch: u32) -> Self {
        Self { batch: Some(batch), ..self }
    }

    /// Of which so many models are kept.
    pub fn keeping(self, kept: u32) -> Self {
        Self { kept: Some(kept), ..self }
    }
}

/// Facts of a table of as many rows and this loss.
pub(crate) fn table_facts<T: Task>(request: &Request<T>, loss: Loss) -> Result<Facts, LearnError> {
    let task = Erm { loss, method: crate::Method::NonPrivate(Default::default()) };
    let (budget, calibration) = (request.budget, request.calibration);
    let of_table = Request::new(request.schema.clone(), request.rows, request.neighbours, task);
    Facts::of(&Request { budget, calibration, ..of_table })
}

/// Whose slots change: those of one record. Plain add/remove is refused, and users are, whose place may be taken by
/// one with more or fewer records, so that all later ones move.
pub(crate) fn only_slots(relation: Relation) -> Result<(), LearnError> {
    if relation.neighbours == Neighbours::AddRemove {
        return ADDED.refused("a stream");
    }
    if relation.unit != Unit::Record {
        return SINGLE.refused("a stream");
    }
    Ok(())
}

/// Why a record cannot be added or removed where rows are taken in order.
pub(crate) const ADDED: Cover = Cover::No {
    why: "takes rows in their order: adding or removing a record moves every later one by a slot, and no step after it is \
          protected",
    instead: "give neighbours replace-one: a record's slot then holds another record, or none at all",
};
/// Why users are refused there.
pub(crate) const SINGLE: Cover = Cover::No {
    why: "protects single records: a user with more or fewer of them would move every later one",
    instead: "leave the unit out of the schema if each user has one record in the stream",
};

impl Task for Online {
    const NAME: &'static str = "online";
    type Facts = Horizon;
    type Artefact = Stream;

    fn facts(request: &Request<Self>) -> Result<Horizon, LearnError> {
        only_slots(request.relation())?;
        HORIZON.check(request.rows as f64)?;
        let facts = table_facts(request, request.task.loss)?;
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

    fn plan(request: &Request<Self>, horizon: &Horizon) -> Result<Planned<Self>, LearnError> {
        let Self { loss, method, .. } = &request.task;
        let settled = |method| Self {
            loss: *loss,
            method,
            batch: Some(horizon.batch),
            kept: Some(horizon.kept),
        };
        if let Method::NonPrivate(options) = method {
            let plain = baseline::Plain::new(horizon, options)?;
            return Ok(Planned {
                settled: settled(Method::NonPrivate(plain.settled())),
                work: Work::Plain(std::sync::Arc::new(plain)),
                arithmetic: Arithmetic::Real,
                notes: vec!["no noise: the models may reveal their records".into()],
            });
        }
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        let allowance = Allowance::new(budget, &request.noise);
        let decision = method.plan(horizon, &allowance, request.calibration)?;
        let mut notes = vec![
            "neighbouring streams differ in one slot: its record is another, or there is none; every model of \
             the stream is covered, all together"
                .into(),
        ];
        notes.extend(decision.notes);
        Ok(Planned {
            work: Work::Private(decision.learner),
            settled: settled(decision.settled),
            arithmetic: Arithmetic::Finite,
            notes,
        })
    }

    fn admit(horizon: &Horizon, table: &dyn Table) -> Result<(), LearnError> {
        admit::check(&horizon.facts, table)
    }

    fn fits(request: &Request<Self>, stream: &Stream) -> Result<(), String> {
        let facts = Self::facts(request).map_err(|error| error.to_string())?;
        if stream.fits(u64::from(facts.steps), facts.width()) {
            Ok(())
        } else {
            Err("its models do not fit its schema".into())
        }
    }

    fn noised(&self) -> &'static str {
        self.method.info().noised
    }

    fn summary(&self) -> String {
        format!("method {}", self.method)
    }
}

/// What every learner refuses under printed constants unless it has some.
fn sound_only(calibration: Calibration, method: &'static str) -> Result<(), LearnError> {
    match calibration {
        Calibration::Sound => Ok(()),
        Calibration::Printed => Err(LearnError::NotCovered {
            what: format!("no printed constants are carried for method {method}"),
            instead: "leave out the calibration, or give sound",
        }),
    }
}
