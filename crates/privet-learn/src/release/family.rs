//! What a family of releases says of itself: the verb that releases it, what its file is called, and what is reported of a
//! release. Whatever shows releases (the command, its pages, Python) asks it here.

use crate::linear::model::Model;
use crate::release::released::Released;
use crate::release::report::Report;
use crate::release::settings::Shown;
use crate::release::task::Task;
use privet_core::{Budget, Neighbours};
use privet_data::Schema;

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
    fn model(_released: &Released<Self>) -> Option<Model> {
        None
    }
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
    pub settings: Option<Shown>,
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
