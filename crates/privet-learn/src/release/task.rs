//! A family of releases: its request beyond the head, its facts, its plan and its artefact.
//!
//! ```text
//!  Request<T> ──T::facts──► T::Facts ──T::plan──► Planned<T> ──► Plan<T> ──run──► Release<T::Artefact>
//! ```
//!
//! A family is a [`Task`] and its associated types; the rest is the same for all: the plan
//! ([`crate::plan()`]) is made and charged, executed in a session, written as a file with its
//! certificate ([`crate::release::file`]), and verified ([`crate::verify()`]). `families.rs` lists the
//! families and describes how to add one.

use crate::LearnError;
use crate::release::note::{Condition, Note};
use crate::release::request::Request;
use crate::release::settings::PlanNumbers;
use crate::release::void::Concern;
use crate::release::weight_noise::{Confidence, NORMAL, WeightNoise};
use privet_data::Schema;
use privet_data::matrix::Matrix;
use privet_dp::account::{Event, Filter};
use privet_dp::gate::{Arithmetic, Noisy, Session};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;
use std::sync::Arc;

/// A family of releases: its part of the request. In JSON its fields stand beside those of the head, so
/// none may have the name of one of those.
pub trait Task:
    Debug + Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Its name in requests.
    const NAME: &'static str;
    /// True if it supports tables that differ in labels alone
    /// ([`privet_core::Neighbours::ReplaceLabel`]).
    const LABELS: bool = false;
    /// The condition on a person's records where several parties hold records and a unit is a person:
    /// one party holds all of hers. `None`: a plan with a unit is not made for several parties.
    const AT_ONE_PARTY: Option<Condition> = None;
    /// What to give instead of a request that several parties cannot carry out.
    const AMONG_PARTIES: &'static str = "leave the parties out: they can do no more than \
                                         add up sums under Gaussian noise";
    /// Certificates of it that `verify` refuses: unreliable, though as their version wrote them. Each
    /// entry must have its line in `SECURITY.md`.
    const VOID: &'static [Concern<Self>] = &[];
    /// Concerns that `verify` notes, since the certificate alone cannot decide them.
    const DOUBTFUL: &'static [Concern<Self>] = &[];
    /// The unit column that the Python package named by itself before 0.2.1, beside `group`.
    const OWN_COLUMN: Option<&'static str> = None;
    /// The public facts that its rules read.
    type Facts: Debug + Clone + Send + Sync;
    /// The released artefact.
    type Artefact: Artefact;

    /// The schema with its encoding fully determined: by default numbers as they are declared. Must be a
    /// pure function of the request; the plan writes the schema out in full.
    fn encoding(request: &Request<Self>) -> Schema {
        request.schema.linear()
    }

    /// Derives the facts from a request whose schema is fully determined; must refuse one that cannot be
    /// planned.
    fn facts(request: &Request<Self>) -> Result<Self::Facts, LearnError>;

    /// Decides everything from public facts. Must depend on nothing else.
    fn plan(request: &Request<Self>, facts: &Self::Facts) -> Result<FamilyPlan<Self>, LearnError>;

    /// Must check every assumption of the theorems about the records. It is called before the first
    /// noise is drawn, and its errors must not contain a value of the records.
    fn admit(facts: &Self::Facts, table: &dyn Table) -> Result<(), LearnError>;

    /// Checks that an artefact has the form that the request determines; otherwise returns the reason.
    fn fits(request: &Request<Self>, artefact: &Self::Artefact) -> Result<(), String>;

    /// The assumptions about public rows that its request declares, in words; `None` where it declares
    /// none.
    fn rests_on_public_rows(&self) -> Option<String> {
        None
    }

    /// The quantity that receives noise, in words.
    fn noise_on(&self) -> &'static str;

    /// The task in a few words: `method amp`.
    fn summary(&self) -> String;
}

/// A released result.
pub trait Artefact:
    Debug + Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Its name in files.
    const KIND: &'static str;

    /// All its noisy numbers, for attacks on them.
    fn numbers(&self) -> Vec<f64>;
}

/// The bound on the noise in a weighted sum of an artefact's numbers, given by index and weight.
pub type SumNoiseBound<'a> = Box<dyn Fn(&[(u32, f64)]) -> f64 + 'a>;

/// The procedure of one plan: everything that decides the guarantee, and its execution.
pub trait Procedure<T: Task>: Debug + Send + Sync {
    /// The cost of a run; where events are chosen adaptively, one event that costs as much as their
    /// limit.
    fn event(&self) -> Result<Event, LearnError>;

    /// The limit on events that are chosen adaptively, each after the answers before it; `None` where
    /// events are planned.
    fn limit(&self) -> Option<Filter> {
        None
    }

    /// The reason why no run within its limit can have charged these events, one after the other; `None`
    /// if none is known. A forged file may state very many: must stop at the first impossible event.
    fn never_charges(&self, _leaves: &mut dyn Iterator<Item = &Event>) -> Option<&'static str> {
        Some("its method plans its events")
    }

    /// The main numbers of the plan, for people.
    fn settings(&self) -> PlanNumbers;

    /// The reason why no run can have released this, whatever the records and the draws; `None` if none
    /// is known.
    fn refuses(&self, _artefact: &T::Artefact) -> Option<&'static str> {
        None
    }

    /// Expected excess risk of the mean loss, from public facts, to compare methods on one table; `None`
    /// where it is unknown.
    fn predicted_excess(&self, _facts: &T::Facts) -> Option<f64> {
        None
    }

    /// Upper bound on the standard deviation of the noise in the released numbers, in every direction,
    /// from public facts; `None` where none is known.
    fn weight_noise(&self, _facts: &T::Facts) -> Option<f64> {
        None
    }

    /// Upper bounds nⱼ for this artefact, number by number: the noise in Σaⱼθⱼ has a variance of at most
    /// Σaⱼ²nⱼ². `None`: [`Self::weight_noise`] bounds each of them.
    fn weight_noises(&self, _facts: &T::Facts, _artefact: &T::Artefact) -> Option<Vec<f64>> {
        None
    }

    /// Upper bounds on the standard deviation of the noise in weighted sums of this artefact's numbers, by
    /// their indices, for an artefact whose numbers share their noise; `None`: by
    /// [`Self::weight_noises`].
    fn sum_noise<'a>(
        &'a self,
        _facts: &T::Facts,
        _artefact: &'a T::Artefact,
    ) -> Option<SumNoiseBound<'a>> {
        None
    }

    /// The distribution of the noise in each released weight ([`WeightNoise`]); `None` where it is
    /// unknown.
    fn weight_laws(&self, facts: &T::Facts, artefact: &T::Artefact) -> Option<WeightNoise> {
        let each = match self.weight_noises(facts, artefact) {
            Some(each) => vec![each],
            None => vec![vec![self.weight_noise(facts)?]],
        };
        Some(WeightNoise { deviations: each, beyond: NORMAL, confidence: Confidence::FirstOrder })
    }

    /// Must refuse, from public facts, every plan that could fail once noise is drawn.
    fn check(&self, _facts: &T::Facts) -> Result<(), LearnError> {
        Ok(())
    }

    /// True if its only queries are sums with Gaussian noise, which parties can add up in shares
    /// ([`privet_dp::mechanism::shares`]), and if it accounts for the wider noise of shares.
    fn among_parties(&self) -> bool {
        false
    }

    /// The condition that describes a release among parties, where it differs from that of one table
    /// with all their records.
    fn otherwise_among_parties(&self) -> Option<Condition> {
        None
    }

    /// The start of its walk, if it runs as one; must depend on the plan alone.
    fn walk(&self) -> Option<serde_json::Value> {
        None
    }

    /// The procedure with the rows of a public file; `None` where it uses none.
    fn with_public(&self, _rows: &Matrix) -> Option<Result<Arc<dyn Procedure<T>>, LearnError>> {
        None
    }

    /// Executes the procedure in a session, which charges its noise.
    fn run(
        &self,
        facts: &T::Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<T::Artefact>, LearnError>;
}

/// A procedure without any privacy, for comparison.
pub trait Baseline<T: Task>: Debug + Send + Sync {
    /// The main numbers of the plan, for people.
    fn settings(&self) -> PlanNumbers;

    /// The procedure with the rows of a public file; `None` where it uses none.
    fn with_public(&self, _rows: &Matrix) -> Option<Result<Arc<dyn Baseline<T>>, LearnError>> {
        None
    }

    /// Executes the procedure.
    fn run(
        &self,
        facts: &T::Facts,
        table: &dyn Table,
        monitor: &dyn Monitor,
    ) -> Result<T::Artefact, LearnError>;
}

/// The procedure of a plan.
#[derive(Debug, Clone)]
pub enum Work<T: Task> {
    /// One whose privacy loss is accounted for.
    Private(Arc<dyn Procedure<T>>),
    /// One without privacy.
    Plain(Arc<dyn Baseline<T>>),
}

/// The decisions of a family.
#[derive(Debug, Clone)]
pub struct FamilyPlan<T: Task> {
    /// The procedure.
    pub work: Work<T>,
    /// The task with every choice of a rule written down, so that a certificate stays verifiable when a
    /// later version has better rules.
    pub settled: T,
    /// The arithmetic for which the guarantee is proved.
    pub arithmetic: Arithmetic,
    /// Conditions and known gaps of the guarantee.
    pub notes: Vec<Note>,
}
