//! Completing ratings: predicts a user's ratings of unrated items, with all ratings of each user
//! protected together.
//!
//! | file | contents |
//! |---|---|
//! | [`learners`] | the registry of methods |
//! | [`moments`] | offsets and factors of items from a few noisy sums, the default |
//! | `als`, `baseline` | baselines without privacy |
//! | [`spectral`] | Frank–Wolfe, Oja, projected descent and a subspace, after Thakkar's thesis |
//! | [`alternatives`] | alternating least squares, and a subspace after cleansing |
//! | `execution` | the common execution of methods: queries to users, answered as noisy sums |
//! | `choice` | a private choice of the most rated items |
//! | [`joint`] | predictions for each user, each with a certificate |
//! | [`factors`] | the release, and a user's predictions from it and their own ratings |
//! | [`shape`] | public facts of ratings, and checks of a table |
//! | `local` | one user's ratings, and the only type through which anything computed from them leaves |
//! | [`measure`] | root mean squared error, recall and NDCG on held-out ratings |
//!
//! **Joint privacy** (Kearns, Pai, Roth & Ullman 2014; Hsu et al. 2014). The file holds factors of the
//! items, learnt from noisy sums: it is (ε, δ)-differentially private and may be published. A user's
//! predictions are a function of that file and of their own ratings. By the billboard lemma
//! ([`privet_dp::gate::Parts`]) the joint view of everyone else, the file and all other users'
//! predictions, is (ε, δ)-private for that user: joint privacy. A user's predictions reveal their own
//! ratings, and must stay with them: [`Factors::predictions`] is computed where the ratings are, and is
//! never written to the file.
//!
//! **Items.** Their list is public ([`privet_data::ratings`]): nothing is derived from which of them
//! occur. "The most rated items" is a private query: `top` pays for one inside the plan (`choice`).
//!
//! **Rows.** `rows` of a request is the declared number of *users*; under both relations the true number
//! is private (a user can come with few ratings or many), and only the declared one is used.
//! private (a user can come with few ratings or many), and only the declared one is used.

mod als;
pub mod alternatives;
mod baseline;
mod choice;
mod execution;
pub mod factors;
pub mod joint;
pub mod learners;
mod local;
pub mod measure;
pub mod moments;
mod report;
pub mod shape;
pub mod spectral;

pub use als::PlainAls;
pub use baseline::Mean;
pub use choice::ChosenFactors;
pub use factors::Factors;
pub use learners::{METHODS, Method};
pub use local::LocalState;
pub use moments::GlobalState;
pub use shape::Shape;

use crate::release::allowance::Allowance;
use crate::release::covers::RequestFacts;
use crate::release::note::Condition;
use crate::release::plan::no_budget;
use crate::release::task::{FamilyPlan, Task, Work};
use crate::{LearnError, Request};
use choice::ItemChoice;
use learners::Settling;
use privet_core::Neighbours;
use privet_data::Schema;
use privet_dp::account::gaussian;
use privet_dp::gate::Arithmetic;
use privet_optim::solver::{Monitor, Progress, SolveError};
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};

/// A request to complete ratings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Complete {
    /// Method with its settings.
    pub method: Method,
    /// Number of the listed items to keep: those with the largest noisy counts, paid from the budget.
    /// All if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<u32>,
    /// Public features of the items, in the order of their list, such as genres: for `moments` and the
    /// baselines `non-private` and `non-private-als`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<Vec<f64>>,
}

/// Note of the certificate on predictions.
pub const JOINT: Condition = Condition::new(
    "joint-privacy",
    "this file may be seen by everyone. Predictions made from it with a person's own ratings \
     are for that person alone: whoever else sees them may learn those ratings. All that others see, this file \
     and their own predictions, tells no more of a person than the guarantee says (joint privacy)",
);

/// Assumption on ratings that several parties hold.
pub const AT_ONE_PARTY: Condition = Condition::new(
    "ratings-at-one-party",
    "each person's ratings must all be held by one party: of a person with ratings at \
     several, each party's count on their own, and what is claimed does not hold",
);

impl Complete {
    /// A request by a method, for all listed items.
    pub fn by(method: Method) -> Self {
        Self { method, top: None, features: Vec::new() }
    }

    /// Requests a model of ratings with this schema by about `users` users.
    pub fn request(self, schema: Schema, users: u64, neighbours: Neighbours) -> Request<Self> {
        Request::new(schema, users, neighbours, self)
    }
}

impl Task for Complete {
    const NAME: &'static str = "complete";
    const OWN_COLUMN: Option<&'static str> = Some("user");
    const AT_ONE_PARTY: Option<Condition> = Some(AT_ONE_PARTY);
    const AMONG_PARTIES: &'static str = "give a delta above 0 and method moments: it releases \
                                         nothing but sums under Gaussian noise";
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

    fn plan(request: &Request<Self>, shape: &Shape) -> Result<FamilyPlan<Self>, LearnError> {
        if let (None, Some(baseline)) = (request.budget, request.task.method.baseline(shape)) {
            if request.task.top.is_some() {
                return Err(LearnError::NotASetting {
                    setting: "top".into(),
                    method: request.task.method.info().name,
                });
            }
            let (baseline, method) = baseline?;
            return Ok(FamilyPlan {
                work: Work::Plain(baseline),
                settled: Self { features: request.task.features.clone(), ..Self::by(method) },
                arithmetic: Arithmetic::Real,
                notes: vec![NO_NOISE.into()],
            });
        }
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        let allowance = Allowance::new(budget, &request.noise);
        let method = &request.task.method;
        let requested = RequestFacts {
            relation: request.relation(),
            pure: allowance.is_pure(),
            calibration: request.calibration,
            problems: 1,
        };
        method.info().covers.check(method.name(), requested)?;
        let open = Settling { allowance, choosing: None };
        let (settling, items) = match request.task.top {
            Some(keep) => {
                let mu = gaussian::mu(allowance.epsilon(), allowance.delta());
                let choosing = Some(ItemChoice::of(shape, keep, mu)?);
                (Settling { choosing, ..open }, keep as usize)
            }
            None => (open, shape.items),
        };
        let decision = method.plan(&Shape { items, ..shape.clone() }, &settling)?;
        Ok(FamilyPlan {
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

    fn noise_on(&self) -> &'static str {
        self.method.info().noisy
    }

    fn summary(&self) -> String {
        format!("ratings completed by {}", self.method)
    }
}

/// Error if the monitor stops the run before the next query.
fn going_on(monitor: &dyn Monitor, query_count: u32) -> Result<(), LearnError> {
    let (gradient_norm, tolerance) = (f64::INFINITY, 0.0);
    match monitor.proceed(Progress {
        iteration: query_count,
        gradient_norm,
        tolerance,
        precise: false,
    }) {
        true => Ok(()),
        false => Err(LearnError::Solve(SolveError::Stopped)),
    }
}

const NO_NOISE: Condition =
    Condition::new("no-noise", "no noise: it may reveal whose ratings it was learnt from");
