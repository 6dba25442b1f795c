//! Private empirical risk minimisation with linear models.
//!
//! | file | learner |
//! |---|---|
//! | [`gd`] | noisy gradient descent, `--method gd` |
//! | [`centred_gd`] | the same on rows less their noisy mean, `--method centred-gd` |
//! | [`sgd`] | the same on a random sample of the records at each step, `--method sgd` |
//! | [`psgd`] | permutation descent, noise on the result, `--method psgd` |
//! | [`psgd_strong`] | the same with a ridge, `--method psgd-strong` |
//! | [`averaged`] | implicit steps over the rows in order, noise on the mean, `--method averaged` |
//! | [`frank_wolfe`] | Frank–Wolfe over the ℓ1 ball, `--method frank-wolfe` |
//! | [`simplex`] | entropy-regularised, released by sampling, `--method simplex` |
//! | [`amp`] | Approximate Minima Perturbation, `--method amp` |
//! | [`chosen_amp`] | the same on a few columns, chosen privately, `--method chosen-amp` |
//! | [`dpsl_kt`] | noisy answers to public inputs, then few columns, `--method dpsl-kt` |
//! | [`dp_ight`] | noisy descent that keeps the largest weights, `--method dp-ight` |
//! | [`two_stage`] | columns chosen by any selector, then a fit ([`second_stage`]), `--method two-stage` |
//! | [`objective`] | objective perturbation, `--method objective` |
//! | [`output`] | output perturbation, `--method output` |
//! | [`ssp`] | least squares from noisy moments, `--method ssp` |
//! | [`regression`] | linear regression in a ball, `--method linear` |
//! | [`rotated`] | the same with a data-dependent regulariser, `--method linear-rotated` |
//! | [`sample_aggregate`] | the mean of many small fits, `--method sample-aggregate` |
//! | [`baseline`] | no noise at all, `--method non-private` |
//! | `predicted` | excess risk, by which `auto` compares plans; [`crate::linear::forecast`] is for users |
//! | `descent`, `thresholding` | steps, averaging and thresholding of noisy gradients |
//! | `narrow` | a table of a few chosen columns, for a second stage |
//! | `gain` | the share of the noise that a descent keeps |
//! | [`curvature`] | narrower intervals of weights, from a private estimate of the curvature |
//! | [`ridge`] | default strength of regularisation, from public facts |
//!
//! All of them minimise, for each linear problem,
//! F(θ) = Σℓ(⟨xᵢ,θ⟩; yᵢ) + (λ/2)‖θ‖² (+ ⟨b,θ⟩), in the sum form, the intercept being an ordinary
//! coordinate. Two classes are one problem with labels ∓1; K > 2 classes are K problems, one class
//! against the rest, and a record touches all of them, so the accountant composes K events. [`gd`] fits
//! all classes in one descent.

mod report;
pub use report::features;
pub mod additive;
pub mod amp;
pub mod auto;
pub mod averaged;
pub mod baseline;
pub mod centred_gd;
pub mod certainty;
pub mod chosen_amp;
mod chosen_columns;
pub mod curvature;
mod descent;
mod distillation;
pub mod dp_ight;
pub mod dpsl_kt;
pub(crate) mod facts;
pub mod forecast;
pub mod frank_wolfe;
mod gain;
pub mod gd;
mod ight;
pub(crate) mod learners;
mod minimum;
pub mod model;
pub mod objective;
pub mod output;
mod party_share;
mod peeled;
pub mod penalty;
pub mod permutation;
pub(crate) mod predicted;
pub(crate) mod problems;
pub mod psgd;
pub mod psgd_strong;
pub mod public_norm;
mod pursuit;
pub mod regression;
pub mod request;
pub mod response;
pub mod ridge;
pub mod rotated;
pub mod sample_aggregate;
pub mod second_stage;
pub mod sgd;
pub mod simplex;
pub mod ssp;
#[cfg(test)]
mod testing;
mod thresholding;
mod tolerance;
pub mod two_stage;
mod void;
mod warm_start;

use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::Method;
use crate::linear::model::{LinearWeights, Spread};
use crate::release::allowance::Allowance;
use crate::release::note::{Condition, Note};
use crate::release::plan::no_budget;
use crate::release::task::{FamilyPlan, Procedure, Task, Work};
use crate::release::void::Concern;
use privet_data::Schema;
use privet_data::encode::Encoding;
use privet_data::schema::RADIUS;
use privet_dp::account::Event;
use privet_dp::gate::{Arithmetic, GateError};
use privet_optim::loss::Loss;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub(crate) use descent::keep_within;

/// The task: a linear model that minimises a loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erm {
    /// The loss.
    pub loss: Loss,
    /// The learner and its own settings.
    pub method: Method,
}

/// A learner's plan.
#[derive(Debug, Clone)]
pub(crate) struct Decision {
    /// The procedure to run.
    pub procedure: Arc<dyn Procedure<Erm>>,
    /// The method with every choice of its rules written down.
    pub settled: Method,
    /// The arithmetic in which the guarantee is proved.
    pub arithmetic: Arithmetic,
    /// Conditions and gaps of the guarantee, as printed in the certificate.
    pub notes: Vec<Note>,
}

/// What is asked for: of a linear model, unless another family is named.
pub type Request<T = Erm> = crate::release::request::Request<T>;
/// What is planned: a linear model, unless another family is named.
pub type Plan<T = Erm> = crate::release::plan::Plan<T>;
/// What was released: a linear model, unless another family is named.
pub type Released<T = Erm> = crate::release::released::Released<T>;

impl Task for Erm {
    const NAME: &'static str = "erm";
    const AMONG_PARTIES: &'static str = "give a delta above 0 and method auto, gd, centred-gd, ssp or \
                                         output: they release nothing but sums under Gaussian noise";
    const VOID: &'static [Concern<Self>] = void::VOID;
    const DOUBTFUL: &'static [Concern<Self>] = void::DOUBTFUL;
    type Facts = Facts;
    type Artefact = LinearWeights;

    fn encoding(request: &Request) -> Schema {
        match request.task.method {
            Method::Auto(_) => auto::encoding(request),
            _ => request.schema.linear(),
        }
    }

    fn facts(request: &Request) -> Result<Facts, LearnError> {
        Facts::of(request)
    }

    fn plan(request: &Request, facts: &Facts) -> Result<FamilyPlan<Self>, LearnError> {
        let Self { loss, method } = &request.task;
        let settled = |method| Self { loss: *loss, method };
        if let Method::NonPrivate(options) = method {
            let plain = baseline::Plain::new(facts, options)?;
            return Ok(FamilyPlan {
                settled: settled(plain.settled()),
                work: Work::Plain(Arc::new(plain)),
                arithmetic: Arithmetic::Real,
                notes: vec![baseline::NO_NOISE.into()],
            });
        }
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        let allowance = Allowance::new(budget, &request.noise);
        let decision = method.plan(facts, &allowance, request.calibration)?;
        let mut notes = decision.notes;
        let classes = request.schema.classes().map(<[_]>::len);
        match forecast::of(facts, classes, budget, &decision.settled, None) {
            Some(forecast) => notes.extend(forecast.note.map(Note::expectation)),
            None => {
                let excess = decision.procedure.predicted_excess(facts);
                let hopeless = excess.is_some_and(|excess| predicted::hopeless(facts, excess));
                notes.extend(hopeless.then(|| Note::expectation(predicted::HOPELESS_NOTE)));
            }
        }
        Ok(FamilyPlan {
            work: Work::Private(decision.procedure),
            settled: settled(decision.settled),
            arithmetic: decision.arithmetic,
            notes,
        })
    }

    fn admit(facts: &Facts, table: &dyn Table) -> Result<(), LearnError> {
        problems::check(facts, table)
    }

    fn fits(request: &Request, found: &LinearWeights) -> Result<(), String> {
        let encoding = Encoding::new(&request.schema);
        let problems = match encoding.classes() {
            Some(count) if count > 2 => count,
            _ => 1,
        };
        let centred = matches!(request.task.method, Method::CentredGd(_));
        let fits = found.weights.len() == problems
            && found.centre.is_some() == centred
            && found.centre.iter().all(|mean| mean.len() == encoding.width())
            && found.centre.iter().flatten().all(|x| x.is_finite())
            && Spread::fits(found, &request.task.method, encoding.width())
            && (!centred || RADIUS.check(encoding.l2_radius()).is_ok())
            && found.weights.iter().all(|row| row.len() == encoding.width())
            && found.weights.iter().flatten().all(|weight| weight.is_finite());
        if fits { Ok(()) } else { Err("its weights do not fit its schema".into()) }
    }

    fn rests_on_public_rows(&self) -> Option<String> {
        dpsl_kt::rests_on(&self.method)
    }

    fn noise_on(&self) -> &'static str {
        self.method.info().noisy
    }

    fn summary(&self) -> String {
        format!("method {}", self.method)
    }
}

/// The smallest noise scale at which all problems together meet the budget ([`Allowance::least_scale`]).
pub(crate) fn calibrated(
    facts: &Facts,
    allowance: &Allowance<'_>,
    floor: f64,
    event_for: impl Fn(f64) -> Result<Event, GateError>,
) -> Result<f64, LearnError> {
    allowance.least_scale(floor, |scale| Ok(facts.repeated(event_for(scale)?)))
}

/// The budget of each problem under the papers' even split.
pub(crate) fn evenly_split(facts: &Facts, budget: &Allowance<'_>) -> (f64, f64) {
    let share = f64::from(facts.problems);
    (budget.epsilon() / share, budget.delta() / share)
}

/// The note of every learner that draws continuous noise.
pub(crate) const CONTINUOUS_NOISE: Condition = Condition::new(
    "continuous-noise",
    "the noise is continuous and drawn in floating point: \
     the guarantee is proved in real arithmetic",
);
