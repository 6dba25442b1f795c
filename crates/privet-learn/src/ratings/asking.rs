//! How every method is carried out: its questions are put to the users through one door.
//!
//! ```text
//!   everyone: Walk ──Question──► Users ──each: LocalState──► Tally ──sum + noise──► Vec<f64> ──► Walk … ──► Factors
//! ```
//!
//! [`Users`] is the door ([`crate::Answers`] for ratings): a question is plain data, and what comes back is a sum over
//! all users under noise that is charged. Nothing of one user crosses it but what she adds to a [`super::local::Tally`].

use super::choice::{Choosing, Narrow, Narrowing};
use super::factors::Factors;
use super::local::{self, total};
use super::shape::Shape;
use super::{Complete, going_on};
use crate::LearnError;
use crate::release::settings::Shown;
use crate::release::task::Procedure;
use privet_dp::account::Event;
use privet_dp::gate::{GateError, Noised, Session, Walk};
use privet_dp::mechanism::Gaussian;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// What a method settles: what its walk begins from, and what its questions cost.
pub(crate) trait Asking:
    Debug + Clone + PartialEq + Send + Sync + Serialize + DeserializeOwned + 'static
{
    /// What it asks.
    type Question: local::Question + Debug + Clone + PartialEq + Serialize;
    /// The side that everyone sees.
    type Walk: Walk<Start = Self, Question = Self::Question, Answer = Vec<f64>, Artefact = Factors>
        + Debug
        + Clone
        + PartialEq;

    /// What all questions cost.
    fn events(&self) -> Result<Event, GateError>;
    /// The noise of one.
    fn mechanism(&self, question: &Self::Question) -> Gaussian;
    /// The numbers a person wants to see.
    fn shown(&self) -> Shown;
    /// Why no run of the plan gives what a file holds.
    fn refuses(&self, found: &Factors) -> Option<&'static str>;
    /// Whether what it makes of answers counts on noise that is wider among parties.
    fn among_parties(&self) -> bool {
        false
    }
}

/// Those who hold ratings, each her own.
pub(super) struct Users<'a>(pub &'a dyn Table);

impl Users<'_> {
    /// The sum of what all of them tell, under noise that is charged to the session.
    fn answer(
        &self,
        question: &impl local::Question,
        noise: &Gaussian,
        session: &mut Session<'_>,
    ) -> Result<Noised<Vec<f64>>, LearnError> {
        Ok(noise.run_units(total(question, self.0)?, session)?)
    }
}

/// A method's plan; with items that are chosen first, where there are.
#[derive(Debug, Clone)]
pub(super) struct Asked<S> {
    pub sizes: S,
    pub choosing: Option<Choosing>,
}

impl<S: Asking> Procedure<Complete> for Asked<S> {
    fn event(&self) -> Result<Event, LearnError> {
        let own = self.sizes.events()?;
        Ok(match &self.choosing {
            Some(choosing) => Event::All(vec![choosing.mechanism().event()?, own]),
            None => own,
        })
    }

    fn settings(&self) -> Shown {
        let own = self.sizes.shown();
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

    /// Every question goes through one door, as a sum under Gaussian noise.
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
    ) -> Result<Noised<Factors>, LearnError> {
        let (users, mut asked) = (Users(table), 0);
        let mut next = || {
            asked += 1;
            going_on(monitor, asked)
        };
        let found = match &self.choosing {
            None => {
                let mut walk = session.begin::<S::Walk>()?;
                session.walk(&mut walk, |question: &S::Question, session| {
                    next()?;
                    users.answer(question, &self.sizes.mechanism(question), session)
                })?
            }
            Some(choosing) => {
                let mut walk = session.begin::<Narrowing<S>>()?;
                session.walk(&mut walk, |question: &Narrow<S::Question>, session| {
                    next()?;
                    let noise = match question {
                        Narrow::Counts { .. } => choosing.mechanism(),
                        Narrow::Of { question, .. } => self.sizes.mechanism(question),
                    };
                    users.answer(question, &noise, session)
                })?
            }
        };
        Ok(found.ok_or(GateError::NotAsPlanned)?)
    }
}
