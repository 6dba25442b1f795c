//! Registry of aggregators (`registry.rs`): they turn votes into labels, and pay for it.
//!
//! A module has a type of settings, `INFO` and `plan`; the plan is an `Aggregate`, which receives the
//! votes of all queries of a batch and names a class, or none, for each.

use super::ballots::Ballots;
use super::{estimated, gnmax, sparse_vector};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::release::allowance::Allowance;
use crate::release::covers::{Coverage, MethodCoverage, RequestFacts, TableAccess};
use crate::release::note::Note;
use crate::release::registry::registry;
use crate::release::request::Calibration;
use crate::release::settings::PlanNumbers;
use privet_dp::account::Event;
use privet_dp::gate::{Noisy, Session};
use privet_dp::mechanism::StableStream;
use std::fmt;
use std::sync::Arc;

/// Facts of an aggregator beyond those of every method ([`crate::Info`]).
#[derive(Debug, Clone, Copy)]
pub struct AggregatorFacts {
    /// True if queries may come in several batches, each after the labels of earlier ones.
    pub streams: bool,
    /// True if queries may be chosen after the labels of earlier ones, in one run.
    pub rounds: bool,
}

/// Reason for refusing printed constants.
pub(super) const PRINTED_DISTANCE: &str = "has a printed distance that is not private";

/// Cases covered where a stable answer is released without noise: not pure ε.
pub(super) const STABLE: MethodCoverage = MethodCoverage {
    pure: Coverage::No {
        why: "releases an answer because it is stable, which needs a delta above 0",
        instead: "give a delta, for example 1e-6",
    },
    needs: TableAccess::Memory,
    printed: Coverage::unprinted(PRINTED_DISTANCE),
    ..MethodCoverage::ALL
};

/// Guarantee of a private aggregator.
pub(super) const GUARANTEE: &str = "(ε, δ), proved with rounding; no pure ε";

/// Input of an aggregator's plan.
pub(crate) struct PlanInput<'a> {
    pub facts: &'a Facts,
    pub budget: Allowance<'a>,
    pub calibration: Calibration,
    /// Number of queries, m̃.
    pub questions: u64,
    /// Number of classes.
    pub classes: usize,
    /// Requested number of teachers, b.
    pub teachers: Option<u32>,
}

/// An aggregator's plan.
pub(crate) struct Decision {
    pub aggregate: Arc<dyn Aggregate>,
    /// The aggregator with every setting filled in by its rule.
    pub settled: Aggregator,
    /// Number of teachers, b.
    pub teachers: u32,
    /// Conditions and gaps of the guarantee.
    pub notes: Vec<Note>,
}

/// Named classes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct NamedClasses {
    /// Class of each query; `None` for no class.
    pub classes: Vec<Option<u32>>,
    /// Number of unanswered queries that ends the run, T, if it was chosen in the run.
    pub cutoff: Option<u32>,
}

/// Named classes without a choice of T.
pub(crate) fn without_choice(classes: Vec<Option<u32>>) -> NamedClasses {
    NamedClasses { classes, cutoff: None }
}

/// State kept between the rounds of a run: the threshold, if there is one.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(pub Option<StableStream>);

/// Names classes from votes, at a planned cost.
pub(crate) trait Aggregate: fmt::Debug + Send + Sync {
    /// Returns the accounted event of all queries.
    fn event(&self) -> Result<Event, LearnError>;

    /// Returns the numbers to display.
    fn settings(&self) -> PlanNumbers;

    /// Returns a reason why these classes, in order of the queries, cannot be a result; `None` if they
    /// can.
    fn refuses(&self, _named: &NamedClasses) -> Option<&'static str> {
        None
    }

    /// Candidates for T if it is chosen in the run; empty if T is planned.
    fn cutoffs(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Names the classes of a batch that follows `asked` queries; updates the run's state.
    fn name(
        &self,
        votes: Ballots,
        asked: u64,
        under_way: &mut UnderWay,
        session: &mut Session<'_>,
    ) -> Result<Noisy<NamedClasses>, LearnError>;
}

registry! {
    /// An aggregator and its own settings.
    pub enum Aggregator: Info<AggregatorFacts>, all AGGREGATORS, default SparseVector;
    dispatched(self, wanted: &PlanInput<'_>) -> Result<Decision, LearnError>;
    /// Stable winners; only unstable ones consume the budget.
    SparseVector(sparse_vector::SparseVector) = sparse_vector::INFO, sparse_vector::plan;
    /// The same, with the cutoff T chosen by a private estimate.
    EstimatedSparseVector(estimated::Estimated) = estimated::INFO, estimated::plan;
    /// Noisy pluralities.
    Gnmax(gnmax::Gnmax) = gnmax::GNMAX, gnmax::plan_gnmax;
    /// Noisy pluralities of queries with a large plurality.
    ConfidentGnmax(gnmax::ConfidentGnmax) = gnmax::CONFIDENT_GNMAX, gnmax::plan_confident;
    /// Noisy pluralities, released if voters agree.
    AgreedGnmax(gnmax::AgreedGnmax) = gnmax::AGREED_GNMAX, gnmax::plan_agreed;
}

impl Aggregator {
    /// Plans from public facts alone, or refuses a case that the aggregator does not cover.
    pub(super) fn plan(&self, input: &PlanInput<'_>) -> Result<Decision, LearnError> {
        let requested = RequestFacts {
            relation: input.facts.relation(),
            pure: input.budget.is_pure(),
            calibration: input.calibration,
            problems: 1,
        };
        self.info().covers.check(self.name(), requested)?;
        self.dispatched(input)
    }

    /// Names of the aggregators that take queries in batches, separated by commas.
    pub fn streaming() -> String {
        let streams = AGGREGATORS.iter().filter(|info| info.more.streams);
        streams.map(|info| info.name).collect::<Vec<_>>().join(", ")
    }
}
