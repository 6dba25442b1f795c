//! The list of aggregators (`registry.rs`): what turns votes into labels, and pays for it.
//!
//! A module has a type of settings, `INFO` and `plan`; what it plans is an `Aggregate`, which is handed the votes of all
//! questions of a batch and names a class, or none, for each.

use super::ballots::Ballots;
use super::{estimated, gnmax, sparse_vector};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::release::allowance::Allowance;
use crate::release::covers::{Asked, Cover};
use crate::release::note::Note;
use crate::release::registry::registry;
use crate::release::request::Calibration;
use crate::release::settings::Shown;
use privet_dp::account::Event;
use privet_dp::gate::{Noised, Session};
use privet_dp::mechanism::Answering;
use std::fmt;
use std::sync::Arc;

/// What is asked of an aggregator beyond what is of every method ([`crate::Info`]).
#[derive(Debug, Clone, Copy)]
pub struct AggregatorFacts {
    /// Whether questions may come in several batches, each after the labels of those before.
    pub streams: bool,
    /// Whether they may be chosen after the labels of those before, in one run.
    pub rounds: bool,
}

/// Why printed constants are refused.
pub(super) const PRINTED_DISTANCE: &str = "has a printed distance that is not private";

/// Why pure ε is refused where a stable answer is released as it is.
pub(super) const STABLE: Cover = Cover::No {
    why: "releases an answer because it is stable, which needs a delta above 0",
    instead: "give a delta, for example 1e-6",
};

/// What a private aggregator guarantees.
pub(super) const GUARANTEE: &str = "(ε, δ), proved with rounding; no pure ε";

/// What an aggregator may read.
pub(crate) struct Wanted<'a> {
    pub facts: &'a Facts,
    pub budget: Allowance<'a>,
    pub calibration: Calibration,
    /// m̃.
    pub questions: u64,
    /// How many classes there are.
    pub classes: usize,
    /// b, if it is asked for.
    pub teachers: Option<u32>,
}

/// What an aggregator decides.
pub(crate) struct Decision {
    pub aggregate: Arc<dyn Aggregate>,
    /// Itself, with every choice that a rule made written down.
    pub settled: Aggregator,
    /// b.
    pub teachers: u32,
    /// Conditions and gaps.
    pub notes: Vec<Note>,
}

/// Classes that were named.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Named {
    /// For each question; `None` where there is none.
    pub classes: Vec<Option<u32>>,
    /// T, where it was chosen in the run.
    pub cutoff: Option<u32>,
}

/// With no choice of T.
pub(crate) fn named(classes: Vec<Option<u32>>) -> Named {
    Named { classes, cutoff: None }
}

/// What goes on from one round of a run to the next: the threshold, where there is one.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(pub Option<Answering>);

/// Names classes from votes, at a price that is planned.
pub(crate) trait Aggregate: fmt::Debug + Send + Sync {
    /// What it will cost.
    fn event(&self) -> Result<Event, LearnError>;

    /// The numbers a person wants to see.
    fn settings(&self) -> Shown;

    /// Why these classes, in order of the questions, cannot have been named; `None` if nothing speaks against it.
    fn refuses(&self, _named: &Named) -> Option<&'static str> {
        None
    }

    /// The T of which one is chosen in the run; none where it is planned.
    fn cutoffs(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Names the classes of a batch that comes after so many questions, those of this run under way with it.
    fn name(
        &self,
        votes: Ballots,
        asked: u64,
        under_way: &mut UnderWay,
        session: &mut Session<'_>,
    ) -> Result<Noised<Named>, LearnError>;
}

registry! {
    /// An aggregator and its own settings.
    pub enum Aggregator: Info<AggregatorFacts>, all AGGREGATORS, default SparseVector;
    dispatched(self, wanted: &Wanted<'_>) -> Result<Decision, LearnError>;
    /// Stable winners, paid for by those that are not.
    SparseVector(sparse_vector::SparseVector) = sparse_vector::INFO, sparse_vector::plan;
    /// The same, ended by a private estimate.
    EstimatedSparseVector(estimated::Estimated) = estimated::INFO, estimated::plan;
    /// Noisy pluralities.
    Gnmax(gnmax::Gnmax) = gnmax::GNMAX, gnmax::plan_gnmax;
    /// Noisy pluralities of questions that many agree on.
    ConfidentGnmax(gnmax::ConfidentGnmax) = gnmax::CONFIDENT, gnmax::plan_confident;
    /// Noisy pluralities, let out if voters agree.
    AgreedGnmax(gnmax::AgreedGnmax) = gnmax::AGREED, gnmax::plan_agreed;
}

impl Aggregator {
    /// Decides everything from public facts, or refuses what the aggregator does not cover.
    pub(super) fn plan(&self, wanted: &Wanted<'_>) -> Result<Decision, LearnError> {
        let asked = Asked {
            relation: wanted.facts.relation(),
            pure: wanted.budget.is_pure(),
            calibration: wanted.calibration,
            problems: 1,
        };
        self.info().covers.check(self.name(), asked)?;
        self.dispatched(wanted)
    }

    /// Those of them that take questions in batches, separated by commas.
    pub fn streaming() -> String {
        let streams = AGGREGATORS.iter().filter(|info| info.more.streams);
        streams.map(|info| info.name).collect::<Vec<_>>().join(", ")
    }
}
