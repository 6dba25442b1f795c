//! Completing ratings: what a user would say of items that she has not rated, with each user protected whole.
//!
//! | file | what |
//! |---|---|
//! | [`method`] | the ways to do it, a line each |
//! | [`moments`] | offsets and factors of items from a few noised sums, the default |
//! | `als`, `plain` | baselines without privacy |
//! | [`spectral`] | Frank–Wolfe, Oja, projected descent and a subspace, after Thakkar's thesis |
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
//! "The most rated items" is a look at private data; `privet count` with a budget of its own can choose them.
//!
//! **Rows.** `rows` of a request is the declared number of *users*; under both relations the true number is
//! private (a user can come with few ratings or many), and only the declared one is used.

mod als;
pub mod factors;
mod local;
pub mod measure;
pub mod method;
pub mod moments;
mod plain;
pub mod shape;
pub mod spectral;

pub use als::PlainAls;
pub use factors::Factors;
pub use local::LocalState;
pub use method::{METHODS, Method, MethodInfo};
pub use moments::GlobalState;
pub use plain::Mean;
pub use shape::Shape;

use crate::LearnError;
use crate::allowance::Allowance;
use crate::plan::no_budget;
use crate::request::Request;
use crate::task::{Planned, Task, Work};
use method::Settling;
use privet_core::Neighbours;
use privet_data::Schema;
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
}

/// What the certificate says of predictions.
pub const JOINT: &str = "this file may be seen by everyone. Predictions made from it with a person's own ratings \
     are for that person alone: whoever else sees them may learn those ratings. All that others see, this file \
     and their own predictions, tells no more of a person than the guarantee says (joint privacy)";

impl Complete {
    /// Of ratings with this schema by about so many users.
    pub fn request(self, schema: Schema, users: u64, neighbours: Neighbours) -> Request<Self> {
        Request::new(schema, users, neighbours, self)
    }
}

impl Task for Complete {
    const NAME: &'static str = "complete";
    type Facts = Shape;
    type Artefact = Factors;

    fn facts(request: &Request<Self>) -> Result<Shape, LearnError> {
        Shape::of(&request.schema, request.rows, request.relation())
    }

    fn plan(request: &Request<Self>, shape: &Shape) -> Result<Planned<Self>, LearnError> {
        if let (None, Some(baseline)) = (request.budget, request.task.method.baseline(shape)) {
            let (baseline, method) = baseline?;
            return Ok(Planned {
                work: Work::Plain(baseline),
                settled: Self { method },
                arithmetic: Arithmetic::Real,
                notes: vec!["no noise: it may reveal whose ratings it was learnt from".into()],
            });
        }
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        let allowance = Allowance::new(budget, &request.noise);
        let settling = Settling { allowance, calibration: request.calibration };
        let decision = request.task.method.plan(shape, &settling)?;
        Ok(Planned {
            work: Work::Private(decision.procedure),
            settled: Self { method: decision.settled },
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
