//! Choosing columns: which few of many matter for the target.
//!
//! | file | selector |
//! |---|---|
//! | [`correlation`] | the columns most associated with the target, one after the other, `--method correlation` |
//! | [`exponential`] | a set of columns by how well it fits, among all of them, `--method exponential` |
//! | [`distance`] | an answer that is released if it is far from another one, `--method distance` |
//! | [`subsample`] | the same over many random parts of the records, `--method subsample` |
//! | [`black_box`] | the same for any function of records, as a building block |
//! | [`lasso`] | what the LASSO keeps, released if it is far from anything else, `--method lasso-stability` |
//! | `kendall`, `marginal`, `margins`, `squares`, `supports`, `votes` | what they compute of records |
//!
//! What is released is a [`Support`]: so many encoded columns, the constant one never among them, or none where
//! no answer was stable enough; that costs what an answer costs.
//!
//! All of them release whole answers under noise that is drawn exactly, so that every guarantee is in finite
//! arithmetic. How long a run takes depends on the records and is not hidden.

pub mod black_box;
pub mod correlation;
pub mod distance;
mod election;
pub mod exponential;
mod kendall;
pub mod lasso;
mod learners;
mod marginal;
mod margins;
mod naming;
mod report;
mod squares;
pub mod subsample;
mod supports;

pub(crate) use election::elected;
pub use election::stable_distance;
pub use learners::{SELECTORS, Selector};
pub(crate) use naming::{Heard, Naming};

use crate::linear::Erm;
use crate::linear::facts::Facts;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::note::Note;
use crate::release::plan::no_budget;
use crate::release::request::{Calibration, Request};
use crate::release::task::{Artefact, Planned, Procedure, Task, Work};
use crate::{LearnError, Method};
use privet_core::{Budget, Neighbours, Range};
use privet_data::encode::Encoding;
use privet_data::{Dataset, Schema};
use privet_dp::gate::{Arithmetic, Noised, Session};
use privet_optim::loss::Loss;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Limits on the number of columns.
pub const SIZE: Range = Range::from("size", 1.0, 100_001.0);

/// So many columns of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Select {
    /// s.
    pub size: u32,
    /// How they are chosen.
    pub method: Selector,
}

/// The columns chosen. Their names are the schema's ([`Encoding::column_name`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Support {
    /// Places of encoded columns, counted from 0, in order; `None`: no answer was stable enough.
    pub columns: Option<Vec<u32>>,
}

impl Support {
    /// The names of the columns; `None` where no answer was stable enough.
    pub fn names(&self, schema: &Schema) -> Option<Vec<String>> {
        let encoding = Encoding::new(schema);
        let name = |place: &u32| encoding.column_name(*place as usize).unwrap_or_default();
        self.columns.as_ref().map(|columns| columns.iter().map(name).collect())
    }
}

impl Artefact for Support {
    const KIND: &'static str = "support";

    fn numbers(&self) -> Vec<f64> {
        self.columns.iter().flatten().map(|place| f64::from(*place)).collect()
    }
}

/// A selector's one question by itself, for whoever reads the answer in a walk of its own.
pub(crate) trait Asks: Procedure<Select> {
    /// How its answer is read.
    fn naming(&self) -> Naming;

    /// Asks.
    fn ask(
        &self,
        facts: &Facts,
        data: &Dataset,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noised<Heard>, LearnError>;
}

/// What a selector decides.
pub(crate) struct Decision {
    /// What to do.
    pub procedure: Arc<dyn Asks>,
    /// The selector with every choice that a rule made written down.
    pub settled: Selector,
    /// Conditions and gaps.
    pub notes: Vec<Note>,
}

/// What a selector may read: facts of the table, and how many columns are wanted of how many.
pub(crate) struct Wanted<'a> {
    pub facts: &'a Facts,
    pub budget: Allowance<'a>,
    pub calibration: Calibration,
    pub size: u32,
}

/// How many columns can be chosen: all but the constant one.
pub(crate) fn open(facts: &Facts) -> usize {
    facts.columns - usize::from(facts.bias)
}

impl Task for Select {
    const NAME: &'static str = "select";
    type Facts = Facts;
    type Artefact = Support;

    fn facts(request: &Request<Self>) -> Result<Facts, LearnError> {
        let loss = match request.schema.classes() {
            Some(_) => Loss::Logistic,
            None => Loss::SQUARED,
        };
        // The learner is no matter: facts are those of rows and target.
        let task = Erm { loss, method: Method::Auto(Default::default()) };
        let of_rows = Request::new(request.schema.clone(), request.rows, request.neighbours, task);
        Facts::of(&of_rows)
    }

    fn plan(request: &Request<Self>, facts: &Facts) -> Result<Planned<Self>, LearnError> {
        let Self { size, method } = &request.task;
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        SIZE.check(f64::from(*size))?;
        let open = open(facts);
        if *size as usize > open {
            return Err(LearnError::NotCovered {
                what: format!("{size} columns are to be chosen of {open}"),
                instead: "give a size of at most the columns of the table, the constant one not counted",
            });
        }
        let budget = Allowance::new(budget, &request.noise);
        let decision = method.plan(&Wanted {
            facts,
            budget,
            calibration: request.calibration,
            size: *size,
        })?;
        Ok(Planned {
            work: Work::Private(decision.procedure),
            settled: Self { size: *size, method: decision.settled },
            arithmetic: Arithmetic::Finite,
            notes: decision.notes,
        })
    }

    fn admit(facts: &Facts, table: &dyn Table) -> Result<(), LearnError> {
        admit::check(facts, table)
    }

    fn fits(request: &Request<Self>, support: &Support) -> Result<(), String> {
        let Some(columns) = &support.columns else { return Ok(()) };
        let facts = Self::facts(request).map_err(|error| error.to_string())?;
        let fits = columns.len() == request.task.size as usize
            && columns.windows(2).all(|two| two[0] < two[1])
            && columns.last().is_none_or(|last| (*last as usize) < open(&facts));
        if fits { Ok(()) } else { Err("its columns do not fit its schema".into()) }
    }

    fn noised(&self) -> &'static str {
        self.method.info().noised
    }

    fn summary(&self) -> String {
        format!("method {}", self.method)
    }
}

impl Select {
    /// Columns of a table with this schema, within a budget; δ is 1/rows² unless given.
    pub fn request(
        self,
        schema: &Schema,
        rows: u64,
        neighbours: Neighbours,
        (epsilon, delta): (f64, Option<f64>),
    ) -> Result<Request<Self>, LearnError> {
        let budget = Budget::new(epsilon, delta.unwrap_or_else(|| Budget::usual_delta(rows)))?;
        Ok(Request::new(schema.clone(), rows, neighbours, self).within(budget))
    }
}
