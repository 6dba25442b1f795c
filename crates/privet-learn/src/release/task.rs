//! What a family of releases is: its request beyond the head, its facts, its plan and what it releases.
//!
//! ```text
//!  Request<T> ──T::facts──► T::Facts ──T::plan──► Planned<T> ──► Plan<T> ──run──► Release<T::Artefact>
//! ```
//!
//! A family is a [`Task`] and what it names; everything else goes one way for all of them: the plan
//! ([`crate::plan()`]) is made and charged, carried out in a session, written as a file with its certificate
//! ([`crate::release::file`]), and verified ([`crate::verify()`]). A new family is a file with its `Task`, and a line
//! in [`crate::Loaded`] by which files of it are told.

use crate::LearnError;
use crate::linear::certainty::{NORMAL, Surety, WeightLaws};
use crate::release::note::Note;
use crate::release::request::Request;
use crate::release::settings::Shown;
use privet_data::Schema;
use privet_data::matrix::Matrix;
use privet_dp::account::{Event, Filter};
use privet_dp::gate::{Arithmetic, Noised, Session};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;
use std::sync::Arc;

/// A family of releases: what its request says beyond the head. In JSON its fields stand beside those of the
/// head, so none may be named as one of those.
pub trait Task:
    Debug + Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The word for it in requests.
    const NAME: &'static str;
    /// Whether it is offered for tables that differ in labels alone ([`privet_core::Neighbours::ReplaceLabel`]).
    const LABELS: bool = false;
    /// What must be true of a person's records where several parties hold records and a unit is a person: that one party
    /// holds all of hers. `None`: a plan with a unit is not made for several parties.
    const AT_ONE_PARTY: Option<&'static str> = None;
    /// Public facts that its rules read.
    type Facts: Debug + Clone + Send + Sync;
    /// What it releases.
    type Artefact: Artefact;

    /// The schema with nothing of its encoding left open: by default numbers as they are declared. A pure
    /// function of the request; the plan writes it out in full.
    fn encoding(request: &Request<Self>) -> Schema {
        request.schema.linear()
    }

    /// Reads the facts off a request whose schema leaves nothing open, and refuses what cannot be planned for.
    fn facts(request: &Request<Self>) -> Result<Self::Facts, LearnError>;

    /// Decides everything from public facts.
    fn plan(request: &Request<Self>, facts: &Self::Facts) -> Result<Planned<Self>, LearnError>;

    /// Everything the theorems assume of the records. Refused before the first noise is drawn, in words
    /// that say nothing of a value.
    fn admit(facts: &Self::Facts, table: &dyn Table) -> Result<(), LearnError>;

    /// Whether what a file holds has the form that the request gives it; otherwise why not.
    fn fits(request: &Request<Self>, artefact: &Self::Artefact) -> Result<(), String>;

    /// What it takes for granted of public rows that its request states something of, in words; `None` where
    /// it states nothing of any.
    fn rests_on_public_rows(&self) -> Option<String> {
        None
    }

    /// What gets its noise, in words.
    fn noised(&self) -> &'static str;

    /// What is done, in a few words: `method amp`.
    fn summary(&self) -> String;
}

/// What is released.
pub trait Artefact:
    Debug + Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The word for it in files.
    const KIND: &'static str;

    /// All its noised numbers, for whoever attacks them.
    fn numbers(&self) -> Vec<f64>;
}

/// One plan's way to a release: all that decides the guarantee, and how it is carried out.
pub trait Procedure<T: Task>: Debug + Send + Sync {
    /// What running it costs; where events are chosen as it goes, one event that costs as much as their limit.
    fn event(&self) -> Result<Event, LearnError>;

    /// The limit within which events are chosen as it goes, each after the answers before it; `None` where they are
    /// planned.
    fn limit(&self) -> Option<Filter> {
        None
    }

    /// Why no run within its limit can have charged these, one after the other; `None` if nothing speaks against it.
    /// A made-up file may state very many: it looks no further than the first that speaks against it.
    fn never_charges(&self, _leaves: &mut dyn Iterator<Item = &Event>) -> Option<&'static str> {
        Some("its method plans its events")
    }

    /// The numbers a person wants to see.
    fn settings(&self) -> Shown;

    /// Why no run can have released this, whatever the records and the draws; `None` if nothing speaks
    /// against it.
    fn refuses(&self, _artefact: &T::Artefact) -> Option<&'static str> {
        None
    }

    /// Expected excess risk of the mean loss, from public facts, for comparing methods on one table; `None` where
    /// nothing is known.
    fn predicted_excess(&self, _facts: &T::Facts) -> Option<f64> {
        None
    }

    /// A bound on the standard deviation of what the noise adds to the released numbers, in every direction, from
    /// public facts; `None` where none is known.
    fn weight_noise(&self, _facts: &T::Facts) -> Option<f64> {
        None
    }

    /// The same for what was released, number by number: what it adds to Σaⱼθⱼ has a variance of at most Σaⱼ²nⱼ².
    /// `None`: the bound above is that of all.
    fn weight_noises(&self, _facts: &T::Facts, _artefact: &T::Artefact) -> Option<Vec<f64>> {
        None
    }

    /// The law of the noise in each released weight ([`crate::linear::certainty`]); `None` where nothing is known.
    fn weight_laws(&self, facts: &T::Facts, artefact: &T::Artefact) -> Option<WeightLaws> {
        let each = match self.weight_noises(facts, artefact) {
            Some(each) => vec![each],
            None => vec![vec![self.weight_noise(facts)?]],
        };
        Some(WeightLaws { deviations: each, beyond: NORMAL, surety: Surety::FirstOrder })
    }

    /// Refuses, from public facts, what could fail once noise is drawn.
    fn check(&self, _facts: &T::Facts) -> Result<(), LearnError> {
        Ok(())
    }

    /// Whether all that it asks of records are sums under Gaussian noise, which parties can add up in shares
    /// ([`privet_dp::mechanism::shares`]) and which it counts on being wider then.
    fn among_parties(&self) -> bool {
        false
    }

    /// What is released among parties, where it is something else than of one table that had all their records.
    fn otherwise_among_parties(&self) -> Option<&'static str> {
        None
    }

    /// What its walk begins from, if it is one: of the plan alone.
    fn walk(&self) -> Option<serde_json::Value> {
        None
    }

    /// With the rows of a public file; `None` where it has no use for any.
    fn with_public(&self, _rows: &Matrix) -> Option<Result<Arc<dyn Procedure<T>>, LearnError>> {
        None
    }

    /// Carries it out.
    fn run(
        &self,
        facts: &T::Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noised<T::Artefact>, LearnError>;
}

/// The same without any privacy, for comparison.
pub trait Baseline<T: Task>: Debug + Send + Sync {
    /// The numbers a person wants to see.
    fn settings(&self) -> Shown;

    /// With the rows of a public file; `None` where it has no use for any.
    fn with_public(&self, _rows: &Matrix) -> Option<Result<Arc<dyn Baseline<T>>, LearnError>> {
        None
    }

    /// Carries it out.
    fn run(
        &self,
        facts: &T::Facts,
        table: &dyn Table,
        monitor: &dyn Monitor,
    ) -> Result<T::Artefact, LearnError>;
}

/// What is done with the records.
#[derive(Debug, Clone)]
pub enum Work<T: Task> {
    /// Something that is accounted for.
    Private(Arc<dyn Procedure<T>>),
    /// Something that is not.
    Plain(Arc<dyn Baseline<T>>),
}

/// What a family decides.
#[derive(Debug, Clone)]
pub struct Planned<T: Task> {
    /// What to do.
    pub work: Work<T>,
    /// The task with every choice that a rule made written down, so that a certificate stays
    /// verifiable when a later version has better rules.
    pub settled: T,
    /// In which arithmetic the guarantee is proved.
    pub arithmetic: Arithmetic,
    /// Conditions and gaps.
    pub notes: Vec<Note>,
}
