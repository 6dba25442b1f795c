//! Common execution of every method: its queries are answered as noisy sums over users.
//!
//! ```text
//!   everyone: Walk ──Query──► Users ──LocalState──► Tally ──noise──► Vec<f64> ──► Walk … ──► Factors
//! ```
//!
//! [`Users`] is the only access to ratings ([`crate::Answers`] for ratings): a query is plain data, and
//! its answer is a sum over all users under noise that is charged. A user's only contribution is their
//! term of a [`super::local::Tally`].

use super::Complete;
use super::choice::{ChosenItemsWalk, ItemChoice, ItemQuery};
use super::factors::Factors;
use super::local::{self, total};
use super::shape::Shape;
use crate::LearnError;
use crate::release::ask::ask_by_steps;
use crate::release::settings::PlanNumbers;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use privet_dp::account::Event;
use privet_dp::gate::{GateError, Noisy, Session, Walk};
use privet_dp::mechanism::Gaussian;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// A method's settled sizes: the start of its walk, and the costs of its queries.
pub(crate) trait MethodPlan:
    Debug + Clone + PartialEq + Send + Sync + Serialize + DeserializeOwned + 'static
{
    /// Type of its queries.
    type Query: local::Query + Debug + Clone + PartialEq + Serialize;
    /// Its public walk.
    type Walk: Walk<Start = Self, Query = Self::Query, Answer = Vec<f64>, Artefact = Factors>
        + Debug
        + Clone
        + PartialEq;

    /// Returns the accounted event of all queries.
    fn events(&self) -> Result<Event, GateError>;
    /// Returns the noise of a query.
    fn mechanism(&self, query: &Self::Query) -> Gaussian;
    /// Returns the numbers to display.
    fn numbers(&self) -> PlanNumbers;
    /// Returns a reason why no run of the plan gives a file's factors; `None` if one may.
    fn refuses(&self, found: &Factors) -> Option<&'static str>;
    /// True if its post-processing accounts for the wider noise of several parties.
    fn among_parties(&self) -> bool {
        false
    }
}

/// The table of users' ratings, a row each.
pub(super) struct Users<'a>(pub &'a dyn Table);

impl Users<'_> {
    /// Answers a query: the sum over all users, under noise that is charged to the session.
    fn answer(
        &self,
        query: &impl local::Query,
        noise: &Gaussian,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Vec<f64>>, LearnError> {
        Ok(noise.run_units(total(query, self.0)?, session)?)
    }
}

/// A method's plan; with a private choice of items before it, if requested.
#[derive(Debug, Clone)]
pub(super) struct PlannedMethod<S> {
    pub sizes: S,
    pub choosing: Option<ItemChoice>,
}

impl<S: MethodPlan> Procedure<Complete> for PlannedMethod<S> {
    fn event(&self) -> Result<Event, LearnError> {
        let own = self.sizes.events()?;
        Ok(match &self.choosing {
            Some(choosing) => Event::All(vec![choosing.mechanism().event()?, own]),
            None => own,
        })
    }

    fn settings(&self) -> PlanNumbers {
        let own = self.sizes.numbers();
        match &self.choosing {
            Some(choosing) => {
                own.and("top", Some(choosing.keep as f64)).and("choice_noise", Some(choosing.noise))
            }
            None => own,
        }
    }

    fn refuses(&self, found: &Factors) -> Option<&'static str> {
        match (&self.choosing, found) {
            (Some(choosing), Factors::Chosen(chosen)) if chosen.items.len() == choosing.keep => {
                self.sizes.refuses(&chosen.of)
            }
            (Some(_), _) => Some("its items were not chosen as planned"),
            (None, Factors::Chosen(_)) => Some("its items were chosen, which was not planned"),
            (None, found) => self.sizes.refuses(found),
        }
    }

    /// Every query is answered as a sum under Gaussian noise, as parties can.
    fn among_parties(&self) -> bool {
        self.sizes.among_parties()
    }

    fn walk(&self) -> Option<serde_json::Value> {
        match &self.choosing {
            Some(choosing) => serde_json::to_value((choosing, &self.sizes)).ok(),
            None => serde_json::to_value(&self.sizes).ok(),
        }
    }

    fn run(
        &self,
        _shape: &Shape,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<Factors>, LearnError> {
        let (users, watch) = (Users(table), StepWatch::new(monitor));
        match &self.choosing {
            None => ask_by_steps::<S::Walk>(session, &watch, |query, session| {
                users.answer(query, &self.sizes.mechanism(query), session)
            }),
            Some(choosing) => {
                ask_by_steps::<ChosenItemsWalk<S>>(session, &watch, |query, session| {
                    let noise = match query {
                        ItemQuery::Counts { .. } => choosing.mechanism(),
                        ItemQuery::Of { query, .. } => self.sizes.mechanism(query),
                    };
                    users.answer(query, &noise, session)
                })
            }
        }
    }
}
