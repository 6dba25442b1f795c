//! Column selection: releases the few columns that matter most for the target.
//!
//! | file | selector |
//! |---|---|
//! | [`correlation`] | the columns most associated with the target, one by one, `--method correlation` |
//! | [`exponential`] | a set of columns by its fit, among all sets of its size, `--method exponential` |
//! | [`distance`] | an answer, released if it is far from any other answer, `--method distance` |
//! | [`subsample`] | the same over many random parts of the records, `--method subsample` |
//! | [`black_box`] | the same for any function of records, as a building block |
//! | [`lasso`] | the support of the LASSO, if it is far from any other, `--method lasso-stability` |
//! | `kendall`, `marginal`, `margins`, `squares`, `supports`, `election` | statistics of the selectors |
//!
//! The release is a [`Support`]: a set of `size` encoded columns, never the constant one, or no columns
//! if no answer was stable enough; both cost the whole budget.
//!
//! All noise is drawn exactly from discrete distributions, so that every guarantee holds in finite
//! arithmetic. Running time depends on the records and is not hidden.

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
mod noisy_answer;
mod report;
mod squares;
pub mod subsample;
mod supports;

pub use election::stable_distance;
pub(crate) use election::winner_of;
pub use learners::{SELECTORS, Selector};
use noisy_answer::Selecting;
pub(crate) use noisy_answer::{NoisyAnswer, SelectionSizes};

#[cfg(test)]
#[path = "../../tests/toys/listed.rs"]
mod listed;

use crate::linear::facts::Facts;
use crate::linear::problems;
use crate::release::allowance::Allowance;
use crate::release::note::Note;
use crate::release::plan::no_budget;
use crate::release::request::Calibration;
use crate::release::settings::PlanNumbers;
use crate::release::task::{Artefact, FamilyPlan, Task, Work};
use crate::{LearnError, Request};
use privet_core::{Budget, Neighbours, Range};
use privet_data::encode::Encoding;
use privet_data::{Dataset, Schema};
use privet_dp::account::Event;
use privet_dp::gate::{Arithmetic, Noisy, Session};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::sync::Arc;

/// Limits on the number of columns to select.
pub const SIZE: Range = Range::from("size", 1.0, 100_001.0);

/// A request to select columns of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Select {
    /// Number of columns to select, s.
    pub size: u32,
    /// Selector with its settings.
    pub method: Selector,
}

/// Selected columns. Their names come from the schema ([`Encoding::column_name`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Support {
    /// Indices of encoded columns, from 0, ascending; `None` if no answer was stable enough.
    pub columns: Option<Vec<u32>>,
}

impl Support {
    /// Names of the columns; `None` if no answer was stable enough.
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

/// A selector: a single query, whose answer a caller may read in a walk of its own.
pub(crate) trait SingleQuery: Debug + Send + Sync {
    /// The cost of the query.
    fn event(&self) -> Result<Event, LearnError>;

    /// The main numbers of the plan, for people.
    fn settings(&self) -> PlanNumbers;

    /// The reason why the query cannot have led to this set; `None` if none is known.
    fn refuses(&self, _found: &Support) -> Option<&'static str> {
        None
    }

    /// Returns the public numbers by which the answer is read.
    fn sizes(&self) -> SelectionSizes;

    /// The rows in memory, or the reason why they must be.
    fn rows<'a>(&self, table: &'a dyn Table) -> Result<&'a Dataset, LearnError>;

    /// Answers the query under noise.
    fn ask(
        &self,
        facts: &Facts,
        data: &Dataset,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<NoisyAnswer>, LearnError>;
}

/// A selector's plan.
pub(crate) struct Decision {
    /// The query to run.
    pub procedure: Arc<dyn SingleQuery>,
    /// The selector with every setting filled in by its rule.
    pub settled: Selector,
    /// Conditions and gaps of the guarantee.
    pub notes: Vec<Note>,
}

/// Input of a selector's plan: public facts of the table and the number of columns to select.
pub(crate) struct PlanInput<'a> {
    pub facts: &'a Facts,
    pub budget: Allowance<'a>,
    pub calibration: Calibration,
    pub size: u32,
}

/// Number of columns that can be selected: all but the constant one.
pub(crate) fn open(facts: &Facts) -> usize {
    facts.columns - usize::from(facts.bias)
}

impl Task for Select {
    const NAME: &'static str = "select";
    type Facts = Facts;
    type Artefact = Support;

    fn facts(request: &Request<Self>) -> Result<Facts, LearnError> {
        Facts::of_rows(request)
    }

    fn plan(request: &Request<Self>, facts: &Facts) -> Result<FamilyPlan<Self>, LearnError> {
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
        let decision = method.plan(&PlanInput {
            facts,
            budget,
            calibration: request.calibration,
            size: *size,
        })?;
        Ok(FamilyPlan {
            work: Work::Private(Arc::new(Selecting(decision.procedure))),
            settled: Self { size: *size, method: decision.settled },
            arithmetic: Arithmetic::Finite,
            notes: decision.notes,
        })
    }

    fn admit(facts: &Facts, table: &dyn Table) -> Result<(), LearnError> {
        problems::check(facts, table)
    }

    fn fits(request: &Request<Self>, support: &Support) -> Result<(), String> {
        let Some(columns) = &support.columns else { return Ok(()) };
        let facts = Self::facts(request).map_err(|error| error.to_string())?;
        let fits = columns.len() == request.task.size as usize
            && columns.windows(2).all(|two| two[0] < two[1])
            && columns.last().is_none_or(|last| (*last as usize) < open(&facts));
        if fits { Ok(()) } else { Err("its columns do not fit its schema".into()) }
    }

    fn noise_on(&self) -> &'static str {
        self.method.info().noisy
    }

    fn summary(&self) -> String {
        format!("method {}", self.method)
    }
}

impl Select {
    /// Requests columns of a table with this schema, within a budget; δ is 1/rows² unless given.
    pub fn request(
        self,
        schema: &Schema,
        rows: u64,
        neighbours: Neighbours,
        (epsilon, delta): (f64, Option<f64>),
    ) -> Result<Request<Self>, LearnError> {
        let budget = Budget::new(epsilon, delta.unwrap_or_else(|| Budget::usual_delta(rows)))?;
        Ok(Request::new(schema.clone(), rows, neighbours, self).with_budget(budget))
    }
}
