//! Evaluation of a public model on private records, in one noisy release.
//!
//! **Theorem.** The model is public, so that its output for a record, and whether that is right, is a
//! function of that record alone ([`Judgements`]): a table of records becomes a table of such judgements row
//! by row, and neighbours become neighbours. A record adds to a vector of sums
//! - *for classes* 1 to the cell of (its class, the class predicted); if the model scores, 1 to the cell
//!   of (its class, the bin of its score), or for more than two classes of (right or wrong, the bin of
//!   its confidence); if the model has probabilities, its log loss over ln 100, clipped, and half its
//!   squared distance from the truth, both in [0, 1];
//! - *for a number* |e|, e², u and u², where u in [0, 1] is its position between the target's bounds and
//!   e the error of the prediction, which is clamped to the bounds.
//!
//! The sensitivity of those sums, and their noise: `sums`. Everything shown is a function of the noisy
//! sums, the schema and the model file alone ([`Metrics`]), including the number of rows if that is
//! private and the warnings.
//!
//! **Conditions.** The model was released before, and paid for, or made from public data: the cost of
//! this release adds to that. If a model is neither, its output for one record may be a function of all
//! of them, and one record may move every cell: [`taken_for_public`] refuses such models, unless the
//! caller declares the model public, which the request states. Every certificate notes the condition.
//! Records are read as for training, so that a unit has at most its declared number of them. A decision
//! threshold is given, or computed from public costs; it is never read off the records unpaid. Tested by
//! `tests/all/evaluate.rs`.

mod form;
mod judgements;
mod metrics;
pub mod report;
mod threshold;

pub use form::{BINS, Form, OutputKind};
pub use judgements::Judgements;
pub use metrics::{Calibrated, ClassMetrics, Measures, Metrics, NumberMetrics, OneClass};
pub use threshold::{THRESHOLD, threshold_by_cost};

use super::sums::NoisySums;
use crate::release::admit;
use crate::release::note::{Condition, Note};
use crate::release::settings::PlanNumbers;
use crate::release::task::{Artefact, FamilyPlan, Procedure, Task, Work};
use crate::release::void::{Concern, Finding};
use crate::{LearnError, Request};
use privet_core::{Budget, Neighbours};
use privet_data::Schema;
use privet_dp::account::{Event, Guarantee};
use privet_dp::gate::{Arithmetic, Noisy, Session, Version};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// An evaluation of one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluate {
    /// The digest of the model's file, in its certificate.
    pub model: String,
    /// The kind of the model's output for a record.
    pub says: OutputKind,
    /// The probability above which the second of two classes is predicted; the model's own rule unless
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// True if the caller declares the model public, without a certificate that says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub declared_public: bool,
}

/// Refuses a model that is not public: one without a finite guarantee that holds, unless it is declared
/// public.
pub fn taken_for_public(guarantee: Option<&Guarantee>, declared: bool) -> Result<(), LearnError> {
    if declared || guarantee.is_some_and(|claim| claim.epsilon.is_finite()) {
        return Ok(());
    }
    Err(LearnError::NotCovered {
        what: "the model has no guarantee that holds: what it says of one record may give away others, and the noise of \
               an evaluation is for what a public model says"
            .into(),
        instead: "evaluate a model that was released privately, or declare that this one is public, made without these \
                  records (--model-is-public; model_is_public=True)",
    })
}

/// The condition under which an evaluation's claim holds.
fn condition(task: &Evaluate) -> Note {
    let digest = task.model.get(..12).unwrap_or(&task.model);
    let condition = if task.declared_public { DECLARED_PUBLIC } else { TAKEN_FOR_PUBLIC };
    condition.with(&[("digest", &digest)])
}

const TAKEN_FOR_PUBLIC: Condition = Condition::new(
    "model-taken-for-public",
    "the model of digest {digest}… is taken for public: what it was learnt with, if from the same records, adds to \
     this (privet total)",
);
const DECLARED_PUBLIC: Condition = Condition::new(
    "model-declared-public",
    "the model of digest {digest}… is declared public by whoever asked for this, and no certificate shows that: if \
     it was learnt from the same records without privacy, nothing is promised",
);

/// Noisy sums of judgements; [`Metrics::of`] interprets them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// The sums, in the order of [`Form`].
    pub sums: Vec<f64>,
}

impl Artefact for Evaluation {
    const KIND: &'static str = "evaluation";

    fn numbers(&self) -> Vec<f64> {
        self.sums.clone()
    }
}

impl Evaluate {
    /// A request for an evaluation on a table with the model's schema, of which target and unit count; δ
    /// is 1/rows² unless given.
    pub fn request(
        self,
        schema: &Schema,
        rows: u64,
        neighbours: Neighbours,
        (epsilon, delta): (f64, Option<f64>),
    ) -> Result<Request<Self>, LearnError> {
        let budget = Budget::new(epsilon, delta.unwrap_or_else(|| Budget::usual_delta(rows)))?;
        Ok(Request::new(schema.of_rows(), rows, neighbours, self).with_budget(budget))
    }
}

/// What a certificate of an evaluation, or of a tuning, cannot tell.
pub(crate) const LISTS_FROM_PYTHON: Finding = Finding {
    name: "DOUBT-3",
    before: Version(0, 2, 1),
    which: "evaluations (`evaluate`) and tuning (`tune`)",
    why: "it holds only if the table was not a list or an array of objects from Python: one cell or label \
          of another type could change how every other record was read",
};

impl Task for Evaluate {
    const NAME: &'static str = "evaluate";
    const DOUBTFUL: &'static [Concern<Self>] =
        &[Concern { finding: LISTS_FROM_PYTHON, of: |_| true }];
    type Facts = Form;
    type Artefact = Evaluation;

    fn facts(request: &Request<Self>) -> Result<Form, LearnError> {
        Form::of(request)
    }

    fn plan(request: &Request<Self>, form: &Form) -> Result<FamilyPlan<Self>, LearnError> {
        let sums = NoisySums::plan_sums(request, &form.query, &form.labels, "evaluations")?;
        Ok(FamilyPlan {
            work: Work::Private(Arc::new(Evaluating { sums })),
            settled: request.task.clone(),
            arithmetic: Arithmetic::Finite,
            notes: vec![condition(&request.task)],
        })
    }

    fn admit(form: &Form, table: &dyn Table) -> Result<(), LearnError> {
        admit::shape(form.relation, form.rows, form.columns(), table, |_| Ok(()))
    }

    fn fits(request: &Request<Self>, evaluation: &Evaluation) -> Result<(), String> {
        let form = Self::facts(request).map_err(|error| error.to_string())?;
        let fits = evaluation.sums.len() == form.query.length()
            && evaluation.sums.iter().all(|sum| sum.is_finite());
        if fits { Ok(()) } else { Err("its sums do not fit its schema".into()) }
    }

    fn noise_on(&self) -> &'static str {
        "all sums that it is made of"
    }

    fn summary(&self) -> String {
        "evaluation of a model".into()
    }
}

/// The mechanism that releases all sums with noise.
#[derive(Debug, Clone)]
struct Evaluating {
    sums: NoisySums,
}

impl Procedure<Evaluate> for Evaluating {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.sums.events()?)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([("sum_noise", self.sums.deviation()), ("sums", self.sums.sums() as f64)])
    }

    fn refuses(&self, evaluation: &Evaluation) -> Option<&'static str> {
        self.sums.off_grid(&evaluation.sums).then_some("a sum is off the grid of the noise")
    }

    fn run(
        &self,
        _form: &Form,
        table: &dyn Table,
        session: &mut Session<'_>,
        _monitor: &dyn Monitor,
    ) -> Result<Noisy<Evaluation>, LearnError> {
        Ok(self.sums.of(table, session)?.map(|sums| Evaluation { sums }))
    }
}
