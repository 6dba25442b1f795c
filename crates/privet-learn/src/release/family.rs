//! What a family of releases says of itself: the verb that releases it, what its file is called, and
//! what is reported of a release. Whatever shows releases (the command, its pages, Python) asks it
//! here.

use crate::LearnError;
use crate::families::LinearModel;
use crate::release::registry::RegisteredMethod;
use crate::release::released::Released;
use crate::release::report::Report;
use crate::release::request::Request;
use crate::release::settings::{PlanNumbers, SettingInfo};
use crate::release::task::Task;
use privet_core::{Budget, Neighbours};
use privet_data::Schema;
use serde_json::{Map, Value, json};

/// A family of releases: a task, and what is said of its releases.
pub trait Family: Task {
    /// The verb of the command that releases it.
    const VERB: &'static str;
    /// What the command calls what was released, in a word.
    const NOUN: &'static str;
    /// Whether its records are rows as the schema encodes them, of a bounded length.
    const ENCODED: bool = true;
    /// Whether what was released is short enough to be shown where it is made.
    const AT_ONCE: bool = true;
    /// Whether the numbers of its plan are told with it: its report does not say how noisy it is.
    const TELLS_SETTINGS: bool = false;

    /// What is said of a release.
    fn report(released: &Released<Self>) -> Report;

    /// The linear model that a release is or holds.
    fn model(_released: &Released<Self>) -> Option<LinearModel> {
        None
    }
}

/// A family that is released in one piece of one table. Its verb is made of what is declared here:
/// flags, help, plan, run.
pub trait OfferedFamily: Family {
    /// What it does, in a line of help.
    const HELP_LINE: &'static str;
    /// The same at length.
    const HELP_TEXT: &'static str;
    /// Command lines, one below the other.
    const EXAMPLES: &'static str;
    /// What is said of its ε, after the name of the budget.
    const OF_EPSILON: &'static str = "";
    /// What is said of its δ, after the limits: what else is accepted, and what is taken where none is given.
    const OF_DELTA: &'static str = "; 0 asks for pure ε [default: 1/N², N the number of rows]";
    /// The methods that stand as `method` in a request, the default one first;
    /// [`NoLearner`](crate::NoLearner) where there is one way.
    type Learner: RegisteredMethod + Default;
    /// What else is asked of it: fields of the request, by name.
    const REQUEST_FIELDS: &'static [SettingInfo];

    /// What is asked for, as a request.
    fn build_request(
        self,
        budget: &BudgetOptions,
        schema: &Schema,
        rows: u64,
    ) -> Result<Request<Self>, LearnError>;

    /// The request of these words, and of a method where there are several.
    fn of_words(
        mut words: Map<String, Value>,
        method: Option<Self::Learner>,
        budget: &BudgetOptions,
        (schema, rows): (&Schema, u64),
    ) -> Result<Request<Self>, LearnError> {
        let odd = |error: serde_json::Error| LearnError::InvalidRequest {
            name: Self::VERB,
            what: error.to_string(),
        };
        if !Self::Learner::ALL.is_empty() {
            let method = serde_json::to_value(method.unwrap_or_default()).map_err(odd)?;
            words.insert("method".into(), method);
        }
        let task: Self = serde_json::from_value(words.into()).map_err(odd)?;
        task.build_request(budget, schema, rows)
    }
}

/// What a family declares, as JSON: its verb, its help, its words and its methods. Python makes its
/// class of it.
pub fn declaration<F: OfferedFamily>() -> Value {
    let word = |word: &SettingInfo| {
        json!({
            "name": word.name,
            "meaning": word.meaning,
            "limits": word.limits(),
            "value": word.value_name(),
            "needed": word.is_needed(),
        })
    };
    let methods = F::Learner::ALL;
    let usual = (!methods.is_empty()).then(|| F::Learner::default().info().name);
    json!({
        "verb": F::VERB,
        "task": F::NAME,
        "about": F::HELP_LINE,
        "long": F::HELP_TEXT,
        "delta": F::OF_DELTA,
        "words": F::REQUEST_FIELDS.iter().map(word).collect::<Vec<_>>(),
        "method": usual,
        "methods": methods.iter().map(|info| info.name).collect::<Vec<_>>(),
    })
}

/// What is asked of every family alike.
#[derive(Debug, Clone, Copy)]
pub struct BudgetOptions {
    /// ε.
    pub epsilon: f64,
    /// δ, where it is given.
    pub delta: Option<f64>,
    /// Which tables are neighbours.
    pub neighbours: Neighbours,
}

/// Something that is done with every family that is offered.
pub trait FamilyVisitor {
    /// Does it with one.
    fn family<F: OfferedFamily>(&mut self);
}

/// The public facts of a release, as its file states them.
#[derive(Debug, Clone)]
pub struct PublicFacts<'a> {
    /// The declared number of rows.
    pub rows: u64,
    /// The public schema.
    pub schema: &'a Schema,
    /// Which tables are neighbours.
    pub neighbours: Neighbours,
    /// What was asked for; `None` of baselines.
    pub budget: Option<Budget>,
    /// Whether its records are rows as the schema encodes them.
    pub encoded: bool,
    /// The numbers of its plan, made again; `None` where there is no such plan.
    pub settings: Option<PlanNumbers>,
}

impl<'a> PublicFacts<'a> {
    pub(crate) fn of<F: Family>(released: &'a Released<F>) -> Self {
        let request = released.request();
        Self {
            rows: request.rows,
            schema: &request.schema,
            neighbours: request.neighbours,
            budget: request.budget,
            encoded: F::ENCODED,
            settings: crate::plan(request).ok().map(|plan| plan.settings()),
        }
    }
}
