//! What a learner decides before data, and how it is carried out.

use crate::LearnError;
use crate::facts::Facts;
use crate::method::Method;
use crate::support::Support;
use privet_dp::account::Event;
use privet_dp::gate::{Arithmetic, Noised, Session};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::Serialize;
use serde::ser::SerializeMap;
use std::fmt;
use std::sync::Arc;

/// One learner's plan: all that decides the guarantee, and the way to carry it out.
pub(crate) trait Procedure: fmt::Debug + Send + Sync {
    /// What running it costs.
    fn event(&self) -> Result<Event, LearnError>;

    /// The same with the noise scales that a certificate's events state; `None` if those events are
    /// of another kind.
    fn with_noise_of(&self, stated: &Event) -> Option<Arc<dyn Procedure>>;

    /// Where the weights that it releases can lie.
    fn support(&self) -> Support {
        Support::Anywhere
    }

    /// The numbers a person wants to see.
    fn settings(&self) -> Settings;

    /// Expected excess risk of the mean loss, from public facts ([`crate::erm::predicted`]); `None`
    /// where nothing is known.
    fn predicted_excess(&self, facts: &Facts) -> Option<f64>;

    /// Refuses, from public facts, what could fail once noise is drawn.
    fn check(&self, _facts: &Facts) -> Result<(), LearnError> {
        Ok(())
    }

    /// What its walk begins from, if it is one: of the plan alone.
    fn walk(&self) -> Option<serde_json::Value> {
        None
    }

    /// Carries it out: a row of weights for each linear problem.
    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noised<Vec<Vec<f64>>>, LearnError>;
}

/// What a learner decides.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    /// What to do.
    pub procedure: Arc<dyn Procedure>,
    /// The method with every choice that a rule made written down, so that a certificate stays
    /// verifiable when a later version has better rules.
    pub settled: Method,
    /// In which arithmetic the guarantee is proved.
    pub arithmetic: Arithmetic,
    /// Conditions and gaps.
    pub notes: Vec<String>,
}

/// The numbers a person wants to see of a plan, by name.
///
/// Names end in `_noise` where the number is the scale of a noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings(Vec<(&'static str, f64)>);

impl Settings {
    /// In the order in which they are to be shown.
    pub(crate) fn of(numbers: impl IntoIterator<Item = (&'static str, f64)>) -> Self {
        Self(numbers.into_iter().collect())
    }

    /// With one more at the end.
    pub(crate) fn and(mut self, name: &'static str, value: Option<f64>) -> Self {
        self.0.extend(value.map(|value| (name, value)));
        self
    }

    /// A number by its name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.0.iter().copied()
    }
}

impl Serialize for Settings {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
