//! Plan before data: from public facts to everything that decides the guarantee.

use crate::erm::{plain::Plain, predicted};
use crate::facts::Facts;
use crate::learner::{Procedure, Settings};
use crate::method::Method;
use crate::request::{Calibration, Request};
use crate::{LearnError, model::LinearWeights, run};
use privet_core::Budget;
use privet_dp::account::{self, Event, Guarantee};
use privet_dp::gate::{Arithmetic, Release};
use privet_dp::noise::Source;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use std::sync::Arc;

/// What is done with the records.
#[derive(Debug, Clone)]
pub(crate) enum Work {
    /// Something that is accounted for.
    Private(Arc<dyn Procedure>),
    /// The baseline.
    Plain(Plain),
}

/// Everything that decides the guarantee, fixed before any record is read.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) request: Request,
    pub(crate) facts: Facts,
    pub(crate) work: Work,
    pub(crate) events: Option<Event>,
    pub(crate) guarantee: Option<Guarantee>,
    pub(crate) arithmetic: Arithmetic,
    pub(crate) notes: Vec<String>,
}

/// The note on a δ so large that it may be spent on giving a record away.
const LARGE_DELTA: &str = "delta is above 1 / rows: a mechanism that gives away a random record whole \
     could have it; take a delta far below that";

/// Makes the plan: a pure function of the request.
pub fn plan(request: &Request) -> Result<Plan, LearnError> {
    let facts = Facts::of(request)?;
    let budget = match (&request.method, request.budget) {
        (Method::NonPrivate(options), _) => return plain(request, facts, options),
        (_, Some(budget)) => budget,
        (method, None) => return Err(LearnError::NoBudget { method: method.name() }),
    };
    let planned = request.method.plan(&facts, &budget, request.calibration)?;
    planned.procedure.check(&facts)?;
    let events = planned.procedure.event()?;
    let guarantee = claim(&events, &budget, request.calibration)?;
    let mut notes = planned.notes;
    if budget.delta() * facts.rows as f64 > 1.0 {
        notes.push(LARGE_DELTA.into());
    }
    let excess = planned.procedure.predicted_excess(&facts);
    if excess.is_some_and(|excess| predicted::hopeless(&facts, excess)) {
        notes.push(predicted::HOPELESS.into());
    }
    // Printed constants are no choice.
    let method = match request.calibration {
        Calibration::Sound => planned.settled,
        Calibration::Printed => request.method.clone(),
    };
    Ok(Plan {
        request: Request { method, ..request.clone() },
        facts,
        work: Work::Private(planned.procedure),
        events: Some(events),
        guarantee: Some(guarantee),
        arithmetic: planned.arithmetic,
        notes,
    })
}

/// The plan of the baseline.
fn plain(
    request: &Request,
    facts: Facts,
    options: &crate::erm::plain::Options,
) -> Result<Plan, LearnError> {
    let plain = Plain::new(&facts, options)?;
    let method = match request.calibration {
        Calibration::Sound => plain.settled(),
        Calibration::Printed => request.method.clone(),
    };
    Ok(Plan {
        request: Request { method, ..request.clone() },
        facts,
        work: Work::Plain(plain),
        events: None,
        guarantee: None,
        arithmetic: Arithmetic::Real,
        notes: vec!["no noise: the model may reveal its training records".into()],
    })
}

/// What the certificate will state: for sound constants the budget, once the accountant confirms
/// it; for printed ones whatever the accountant proves.
fn claim(
    events: &Event,
    budget: &Budget,
    calibration: Calibration,
) -> Result<Guarantee, LearnError> {
    let met = if budget.is_pure() {
        account::epsilon(events, 0.0)? <= budget.epsilon()
    } else {
        account::meets(events, *budget)?
    };
    match calibration {
        Calibration::Sound if met => {
            let (neighbours, unit) = account::relation(events)?;
            let (epsilon, delta) = (budget.epsilon(), budget.delta());
            Ok(Guarantee::new(neighbours, unit, epsilon, delta))
        }
        Calibration::Sound => Err(LearnError::NotCovered {
            what: "the accountant does not confirm the budget asked for".into(),
            instead: "this is a defect of the planner: please report it",
        }),
        Calibration::Printed => Ok(account::guarantee(events, budget.delta())?),
    }
}

impl Plan {
    /// What was asked for.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The public facts.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The events that running it will execute.
    pub fn events(&self) -> Option<&Event> {
        self.events.as_ref()
    }

    /// What the certificate will claim.
    pub fn guarantee(&self) -> Option<&Guarantee> {
        self.guarantee.as_ref()
    }

    /// In which arithmetic.
    pub fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// Conditions and gaps.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// With one more condition in words, which the certificate will state: what the caller knows of how
    /// the public facts came about.
    pub fn noting(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The numbers a person wants to see.
    pub fn settings(&self) -> Settings {
        match &self.work {
            Work::Private(procedure) => procedure.settings(),
            Work::Plain(plain) => plain.settings(),
        }
    }

    /// Expected excess risk of the mean loss, a prediction from public facts; `None` where nothing is
    /// known.
    pub fn predicted_excess(&self) -> Option<f64> {
        match &self.work {
            Work::Private(procedure) => procedure.predicted_excess(&self.facts),
            Work::Plain(_) => Some(0.0),
        }
    }

    /// Executes the plan on data.
    pub fn run(
        &self,
        table: &dyn Table,
        source: &mut dyn Source,
        monitor: &dyn Monitor,
    ) -> Result<Release<LinearWeights>, LearnError> {
        run::run(self, table, source, monitor)
    }
}
