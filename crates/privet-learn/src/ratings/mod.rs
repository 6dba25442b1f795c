//! Completing ratings: what a user would say of items that she has not rated, with each user protected whole.
//!
//! | file | what |
//! |---|---|
//! | [`learners`] | the ways to do it, a line each |
//! | [`moments`] | offsets and factors of items from a few noised sums, the default |
//! | `als`, `plain` | baselines without privacy |
//! | [`spectral`] | Frank–Wolfe, Oja, projected descent and a subspace, after Thakkar's thesis |
//! | [`rivals`] | alternating least squares, and a subspace after cleansing |
//! | `asking` | how all of them are carried out: one door between what everyone sees and the users |
//! | `choice` | the most rated items, paid for |
//! | [`joint`] | predictions handed to their users, each with a certificate |
//! | [`factors`] | what is released, and what a user makes of it with her own ratings |
//! | [`shape`] | what is public, and which tables are admitted |
//! | `local` | the side of one user, and the only way that anything of hers leaves |
//! | [`measure`] | root mean squared error, recall and NDCG on ratings held out |
//!
//! **Who sees what** (Kearns, Pai, Roth & Ullman 2014; Hsu et al. 2014). The file holds what was learnt of
//! the items from noised sums: it is (ε, δ)-differentially private towards everyone, and may be published. A
//! user's predictions are a function of that file and of her own ratings. By the billboard lemma
//! ([`privet_dp::gate::Parts`]) all that anyone else sees, the file and everybody else's predictions, tells
//! no more of her than (ε, δ) allows: joint privacy. Her own predictions tell of her own ratings, and must
//! stay with her: [`Factors::predictions`] is computed where her ratings are, and nothing of it is written.
//!
//! **Items.** Their list is public ([`privet_data::ratings`]): nothing is derived from which of them occur.
//! "The most rated items" is a look at private data: `top` pays for one inside the plan (`choice`).
//!
//! **Rows.** `rows` of a request is the declared number of *users*; under both relations the true number is
//! private (a user can come with few ratings or many), and only the declared one is used.

mod als;
mod asking;
mod baseline;
mod choice;
pub mod factors;
pub mod joint;
pub mod learners;
mod local;
pub mod measure;
pub mod moments;
mod report;
pub mod rivals;
pub mod shape;
pub mod spectral;

pub use als::PlainAls;
pub use baseline::Mean;
pub use choice::Chosen;
pub use factors::Factors;
pub use learners::{METHODS, Method};
pub use local::LocalState;
pub use moments::GlobalState;
pub use shape::Shape;

use crate::LearnError;
use crate::release::allowance::Allowance;
use crate::release::covers::Asked;
use crate::release::plan::no_budget;
use crate::release::request::Request;
use crate::release::task::{Planned, Task, Work};
use choice::Choosing;
use learners::Settling;
use privet_core::Neighbours;
use privet_data::Schema;
use privet_dp::account::gaussian;
use privet_dp::gate::Arithmetic;
use privet_optim::solver::{Monitor, Progress, SolveError};
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};

/// Completing ratings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Complete {
    /// How.
    pub method: Method,
    /// How many of the listed items are kept: those with the largest noised counts, paid from the budget. All if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<u32>,
    /// Public features of the items, in the order of their list, such as genres: of `moments` and baselines like it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<Vec<f64>>,
}

/// What the certificate says of predictions.
pub const JOINT: &str = "this file may be seen by everyone. Predictions made from it with a person's own ratings \
     are for that person alone: whoever else sees them may learn those ratings. All that others see, this file \
     and their own predictions, tells no more of a person than the guarantee says (joint privacy)";

/// What must be true of ratings that several parties hold.
pub const AT_ONE_PARTY: &str = "each person's ratings must all be held by one party: of a person with ratings at \
     several, each party's count on their own, and what is claimed does not hold";

impl Complete {
    /// By a method, of all listed items.
    pub fn by(method: Method) -> Self {
        Self { method, top: None, features: Vec::new() }
    }

    /// Of ratings with this schema by about so many users.
    pub fn request(self, schema: Schema, users: u64, neighbours: Neighbours) -> Request<Self> {
        Request::new(schema, users, neighbours, self)
    }
}

impl Task for Complete {
    const NAME: &'static str = "complete";
    const AT_ONE_PARTY: Option<&'static str> = Some(AT_ONE_PARTY);
    type Facts = Shape;
    type Artefact = Factors;

    fn facts(request: &Request<Self>) -> Result<Shape, LearnError> {
        let shape = Shape {
            widening: request.among.map_or(1.0, |among| among.widening()),
            ..Shape::of(&request.schema, request.rows, request.relation())?
        };
        let Self { method, top, features } = &request.task;
        if features.is_empty() {
            return Ok(shape);
        }
        if !method.uses_features() || top.is_some() {
            return Err(LearnError::NotCovered {
                what: format!("features of items in {method}, or of items that are chosen"),
                instead: "leave out the features, or take method moments with all listed items",
            });
        }
        if !moments::features_fit(features, shape.items) {
            return Err(LearnError::DataShape(
                "features are not 1 to 64 numbers from -4 to 4 for every item",
            ));
        }
        Ok(Shape { features: features.clone().into(), ..shape })
    }

    fn plan(request: &Request<Self>, shape: &Shape) -> Result<Planned<Self>, LearnError> {
        if let (None, Some(baseline)) = (request.budget, request.task.method.baseline(shape)) {
            if request.task.top.is_some() {
                return Err(LearnError::NotASetting {
                    setting: "top".into(),
                    method: request.task.method.info().name,
                });
            }
            let (baseline, method) = baseline?;
            return Ok(Planned {
                work: Work::Plain(baseline),
                settled: Self { features: request.task.features.clone(), ..Self::by(method) },
                arithmetic: Arithmetic::Real,
                notes: vec!["no noise: it may reveal whose ratings it was learnt from".into()],
            });
        }
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        let allowance = Allowance::new(budget, &request.noise);
        let method = &request.task.method;
        let asked = Asked {
            relation: request.relation(),
            pure: allowance.is_pure(),
            calibration: request.calibration,
            problems: 1,
        };
        method.info().covers.check(method.name(), asked)?;
        let open = Settling { allowance, choosing: None };
        let (settling, items) = match request.task.top {
            Some(keep) => {
                let mu = gaussian::mu(allowance.epsilon(), allowance.delta());
                let choosing = Some(Choosing::of(shape, keep, mu)?);
                (Settling { choosing, ..open }, keep as usize)
            }
            None => (open, shape.items),
        };
        let decision = method.plan(&Shape { items, ..shape.clone() }, &settling)?;
        Ok(Planned {
            work: Work::Private(decision.procedure),
            settled: Self { method: decision.settled, ..request.task.clone() },
            arithmetic: Arithmetic::Finite,
            notes: vec![JOINT.into()],
        })
    }

    fn admit(shape: &Shape, table: &dyn Table) -> Result<(), LearnError> {
        shape.admit(table)
    }

    fn fits(request: &Request<Self>, factors: &Factors) -> Result<(), String> {
        let shape = Self::facts(request).map_err(|error| error.to_string())?;
        match factors.fits(shape.items) {
            true => Ok(()),
            false => Err("its factors do not fit the list of items".into()),
        }
    }

    fn noised(&self) -> &'static str {
        self.method.info().noised
    }

    fn summary(&self) -> String {
        format!("ratings completed by {}", self.method)
    }
}

/// Whether to go on with the next question.
fn going_on(monitor: &dyn Monitor, asked: u32) -> Result<(), LearnError> {
    let (gradient_norm, tolerance) = (f64::INFINITY, 0.0);
    match monitor.proceed(Progress { iteration: asked, gradient_norm, tolerance, precise: false }) {
        true => Ok(()),
        false => Err(LearnError::Solve(SolveError::Stopped)),
    }
}
