//! Plan before data: from public facts to everything that decides the guarantee.

use crate::erm;
use crate::request::{Calibration, Method, ROWS, Request};
use crate::{LearnError, model::LinearWeights};
use privet_core::{Budget, Neighbours, Unit};
use privet_data::Dataset;
use privet_data::encode::Encoding;
use privet_dp::account::{self, Cost, Event, Guarantee, LossShape, OutputNoise, Sign};
use privet_dp::gate::{Arithmetic, Release};
use privet_dp::mechanism::{Descent, Gaussian, L2Laplace, OutputLaw, PerturbedObjective};
use privet_dp::noise::Source;
use privet_optim::loss::Loss;
use privet_optim::solver::Monitor;
use serde::Serialize;

/// Public facts that every rule may read.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// n, declared.
    pub rows: u64,
    /// p, bias included.
    pub columns: usize,
    /// Linear problems to solve: 1, or one per class if there are more than two.
    pub problems: u32,
    /// R ≥ ‖x‖₂, bias included.
    pub radius: f64,
    /// The neighbour relation.
    pub neighbours: Neighbours,
    /// The privacy unit.
    pub unit: Unit,
    /// The loss.
    pub loss: Loss,
    /// What privacy needs to know of it.
    pub shape: LossShape,
}

impl Facts {
    /// Reads them off a request.
    pub fn of(request: &Request) -> Result<Self, LearnError> {
        ROWS.check(request.rows as f64)?;
        request.loss.check()?;
        let encoding = Encoding::new(&request.schema);
        let classes = encoding.classes();
        let margin = !request.loss.accepts(0.5);
        match classes {
            None if margin => {
                return Err(LearnError::LossAndTarget {
                    loss: request.loss.name(),
                    accepted: "a numeric target needs the squared loss",
                });
            }
            Some(0 | 1) => {
                return Err(LearnError::LossAndTarget {
                    loss: request.loss.name(),
                    accepted: "a target of at least two classes",
                });
            }
            _ => {}
        }
        let unit = request.schema.unit();
        Ok(Self {
            rows: request.rows,
            columns: encoding.width(),
            problems: classes.filter(|count| *count > 2).map_or(1, |count| count as u32),
            radius: encoding.l2_radius(),
            neighbours: request.neighbours,
            unit,
            loss: request.loss,
            shape: LossShape {
                lipschitz: request.loss.lipschitz(),
                curvature: request.loss.curvature(),
                sign: if request.loss.keeps_sign() { Sign::Fixed } else { Sign::Any },
                logistic: request.loss.logistic_like(),
            },
        })
    }

    /// L·R: the largest gradient of one record.
    pub fn gradient_bound(&self) -> f64 {
        self.shape.lipschitz * self.radius
    }

    /// How far Σ∇ℓ can move between neighbours: 2kLR or kLR.
    pub fn gradient_shift(&self) -> f64 {
        let sides = match self.neighbours {
            Neighbours::ReplaceOne => 2.0,
            Neighbours::AddRemove => 1.0,
        };
        sides * f64::from(self.unit.records()) * self.gradient_bound()
    }

    /// γ of the sum form for the default γ = 1/n² of the mean form.
    pub fn default_tolerance(&self) -> f64 {
        1.0 / self.rows as f64
    }

    /// The event of solving every problem once.
    pub fn repeated(&self, event: Event) -> Event {
        match self.problems {
            1 => event,
            count => Event::Repeat { count, event: Box::new(event) },
        }
    }
}

/// What is done for each linear problem.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Minimise to the tolerance, then add Gaussian noise.
    OutputGaussian {
        /// λ.
        ridge: f64,
        /// γ of the sum form.
        tolerance: f64,
        /// The noise.
        mechanism: Gaussian,
    },
    /// Minimise to the tolerance, then add ℓ2-Laplace noise.
    OutputLaplace {
        /// λ.
        ridge: f64,
        /// γ of the sum form.
        tolerance: f64,
        /// The noise.
        mechanism: L2Laplace,
    },
    /// Minimise a perturbed objective.
    Perturbed(PerturbedObjective),
    /// Noisy gradient descent, for all problems at once.
    Descent(Descent),
    /// Minimise.
    NonPrivate {
        /// λ.
        ridge: f64,
        /// γ of the sum form.
        tolerance: f64,
    },
}

impl Step {
    /// What one problem costs (for a descent, all of them); `None` without privacy.
    pub fn event(&self) -> Result<Option<Event>, LearnError> {
        Ok(match self {
            Self::OutputGaussian { mechanism, .. } => Some(mechanism.event()?),
            Self::OutputLaplace { mechanism, .. } => Some(mechanism.event()),
            Self::Perturbed(perturbed) => Some(perturbed.event()?),
            Self::Descent(descent) => Some(descent.event()?),
            Self::NonPrivate { .. } => None,
        })
    }

    /// What all problems cost together; `None` without privacy.
    pub fn total(&self, facts: &Facts) -> Result<Option<Event>, LearnError> {
        let event = self.event()?;
        Ok(match self {
            Self::Descent(_) => event,
            _ => event.map(|event| facts.repeated(event)),
        })
    }

    /// The same step with the noise scales that a certificate's events state; `None` if those
    /// events are of another kind.
    pub(crate) fn with_noise_of(&self, event: &Event) -> Option<Self> {
        let cost = match event {
            Event::Use { cost, .. } => cost,
            Event::Repeat { event, .. } => return self.with_noise_of(event),
            Event::All(_) => return None,
        };
        let mut step = self.clone();
        match (&mut step, cost) {
            (Self::OutputGaussian { mechanism, .. }, Cost::Gaussian { noise_scale, .. }) => {
                mechanism.noise_scale = *noise_scale;
            }
            (Self::Descent(descent), Cost::Gaussian { noise_scale, .. }) => {
                descent.gaussian.noise_scale = *noise_scale;
            }
            (Self::OutputLaplace { mechanism, .. }, Cost::L2Laplace { noise_scale, .. }) => {
                mechanism.noise_scale = *noise_scale;
            }
            (Self::Perturbed(perturbed), Cost::Objective(objective))
                if perturbed.output.is_none() && perturbed.same_law(objective.noise) =>
            {
                perturbed.objective.noise = objective.noise;
            }
            (Self::Perturbed(perturbed), Cost::ApproximateMinima { objective, output, .. })
                if perturbed.same_law(objective.noise) =>
            {
                perturbed.objective.noise = objective.noise;
                let stated = match (perturbed.output?, output) {
                    (OutputLaw::Gaussian(_), OutputNoise::Gaussian { noise_scale, .. }) => {
                        OutputLaw::Gaussian(*noise_scale)
                    }
                    (OutputLaw::L2Laplace(_), OutputNoise::L2Laplace { noise_scale }) => {
                        OutputLaw::L2Laplace(*noise_scale)
                    }
                    _ => return None,
                };
                perturbed.output = Some(stated);
            }
            _ => return None,
        }
        Some(step)
    }
}

/// The numbers a person wants to see of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settings {
    /// λ of the sum form.
    pub ridge: f64,
    /// γ of the mean form, as the papers state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    /// Scale of the noise inside the objective.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective_noise: Option<f64>,
    /// Scale of the noise on the released weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_noise: Option<f64>,
    /// Scale of the noise on the sum of gradients, each step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient_noise: Option<f64>,
    /// How many noised steps are taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
}

/// Everything that decides the guarantee, fixed before any record is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub(crate) request: Request,
    pub(crate) facts: Facts,
    pub(crate) step: Step,
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
    let budget = match (request.method, request.budget) {
        (Method::NonPrivate { .. }, _) => None,
        (_, Some(budget)) => Some(budget),
        (method, None) => return Err(LearnError::NoBudget { method: method.name() }),
    };
    let planned = erm::plan(&facts, budget.as_ref(), request)?;
    erm::check_reach(&facts, &planned.step)?;
    let events = planned.step.total(&facts)?;
    let guarantee = match (&events, &budget) {
        (Some(events), Some(budget)) => Some(claim(events, budget, request.calibration)?),
        _ => None,
    };
    let settled = settled(request, &facts, &planned.step)?;
    let mut notes = planned.notes;
    if budget.is_some_and(|budget| budget.delta() * facts.rows as f64 > 1.0) {
        notes.push(LARGE_DELTA.into());
    }
    Ok(Plan {
        request: settled,
        facts,
        step: planned.step,
        events,
        guarantee,
        arithmetic: planned.arithmetic,
        notes,
    })
}

/// The request with every choice that a rule made written down, so that a certificate stays
/// verifiable when a later version has better rules. Printed constants are no choice.
fn settled(request: &Request, facts: &Facts, step: &Step) -> Result<Request, LearnError> {
    let mut settled = request.clone();
    if request.calibration == Calibration::Sound {
        let chosen = erm::settings(step, facts.rows);
        settled.method = match request.method {
            Method::Amp { split, .. } => Method::Amp {
                ridge: Some(chosen.ridge),
                gamma: chosen.gamma,
                split: Some(split.unwrap_or(erm::amp::DEFAULT_SPLIT)),
            },
            // A ridge of 0 is none.
            Method::Gd { ridge, .. } => Method::Gd { steps: chosen.steps, ridge },
            other => other.with(Some(chosen.ridge), None, None)?,
        };
    }
    Ok(settled)
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
            Ok(Guarantee { neighbours, unit, epsilon, delta })
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

    /// The numbers a person wants to see.
    pub fn settings(&self) -> Settings {
        erm::settings(&self.step, self.facts.rows)
    }

    /// Executes the plan on data.
    pub fn run(
        &self,
        data: &Dataset,
        source: &mut dyn Source,
        monitor: &dyn Monitor,
    ) -> Result<Release<LinearWeights>, LearnError> {
        erm::run(self, data, source, monitor)
    }
}
