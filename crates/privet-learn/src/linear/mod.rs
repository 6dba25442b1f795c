//! Private empirical risk minimisation with linear models.
//!
//! | file | learner |
//! |---|---|
//! | [`gd`] | noisy gradient descent, `--method gd` |
//! | [`centred_gd`] | the same on rows less their noised mean, `--method centred-gd` |
//! | [`sgd`] | the same on a random part of the records at each step, `--method sgd` |
//! | [`psgd`] | permutation descent, noise on the result, `--method psgd` |
//! | [`psgd_strong`] | the same with a ridge, `--method psgd-strong` |
//! | [`averaged`] | implicit steps over the rows in order, noise on the mean, `--method averaged` |
//! | [`frank_wolfe`] | Frank–Wolfe over the ℓ1 ball, `--method frank-wolfe` |
//! | [`simplex`] | entropy-regularised, released by sampling, `--method simplex` |
//! | [`amp`] | Approximate Minima Perturbation, `--method amp` |
//! | [`chosen_amp`] | the same on a few columns, chosen privately, `--method chosen-amp` |
//! | [`dpsl_kt`] | noised answers to public inputs, then few columns, `--method dpsl-kt` |
//! | [`dp_ight`] | noisy descent that keeps the largest weights, `--method dp-ight` |
//! | [`two_stage`] | columns chosen by any selector, then a fit on them ([`second_stage`]), `--method two-stage` |
//! | [`objective`] | objective perturbation, `--method objective` |
//! | [`output`] | output perturbation, `--method output` |
//! | [`ssp`] | least squares from noised moments, `--method ssp` |
//! | [`regression`] | linear regression in a ball, `--method linear` |
//! | [`rotated`] | the same with a regulariser made of the data, `--method linear-rotated` |
//! | [`sample_aggregate`] | the mean of many small fits, `--method sample-aggregate` |
//! | [`baseline`] | no noise at all, `--method non-private` |
//! | `predicted` | by what `auto` compares plans; what people are told is in [`crate::linear::forecast`] |
//! | `descent`, `thresholding` | how noised gradients become a model |
//! | `narrow` | a table of a few chosen columns, for a second stage |
//! | `gain` | how much of the noise a descent keeps |
//! | [`curvature`] | what narrows the intervals of weights, bought |
//! | [`ridge`] | how much to regularise, from public facts |
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
mod narrow;
pub mod objective;
pub mod output;
mod part;
mod peeled;
pub mod penalty;
pub mod permutation;
pub(crate) mod predicted;
pub mod psgd;
pub mod psgd_strong;
pub mod public_norm;
mod pursuit;
mod reach;
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
pub mod two_stage;
mod warm_start;
pub(crate) mod watch;

use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::Method;
use crate::linear::model::{LinearWeights, Spread};
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::note::Note;
use crate::release::plan::no_budget;
use crate::release::request::Request;
use crate::release::task::{Planned, Procedure, Task, Work};
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

/// A linear model that minimises a loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erm {
    /// The loss.
    pub loss: Loss,
    /// The learner and its own settings.
    pub method: Method,
}

/// What a learner decides.
#[derive(Debug, Clone)]
pub(crate) struct Decision {
    /// What to do.
    pub procedure: Arc<dyn Procedure<Erm>>,
    /// The method with every choice that a rule made written down.
    pub settled: Method,
    /// In which arithmetic the guarantee is proved.
    pub arithmetic: Arithmetic,
    /// Conditions and gaps.
    pub notes: Vec<Note>,
}

impl Task for Erm {
    const NAME: &'static str = "erm";
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

    fn plan(request: &Request, facts: &Facts) -> Result<Planned<Self>, LearnError> {
        let Self { loss, method } = &request.task;
        let settled = |method| Self { loss: *loss, method };
        if let Method::NonPrivate(options) = method {
            let plain = baseline::Plain::new(facts, options)?;
            return Ok(Planned {
                settled: settled(plain.settled()),
                work: Work::Plain(Arc::new(plain)),
                arithmetic: Arithmetic::Real,
                notes: vec!["no noise: the model may reveal its training records".into()],
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
                notes.extend(hopeless.then(|| Note::expectation(predicted::HOPELESS)));
            }
        }
        Ok(Planned {
            work: Work::Private(decision.procedure),
            settled: settled(decision.settled),
            arithmetic: decision.arithmetic,
            notes,
        })
    }

    fn admit(facts: &Facts, table: &dyn Table) -> Result<(), LearnError> {
        admit::check(facts, table)
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

    fn noised(&self) -> &'static str {
        self.method.info().noised
    }

    fn summary(&self) -> String {
        format!("method {}", self.method)
    }
}

/// The smallest noise scale at which all problems together meet the budget ([`Allowance::least`]).
pub(crate) fn calibrated(
    facts: &Facts,
    allowance: &Allowance<'_>,
    floor: f64,
    event_for: impl Fn(f64) -> Result<Event, GateError>,
) -> Result<f64, LearnError> {
    allowance.least(floor, |scale| Ok(facts.repeated(event_for(scale)?)))
}

/// The papers split a budget evenly between the problems.
pub(crate) fn evenly_split(facts: &Facts, budget: &Allowance<'_>) -> (f64, f64) {
    let share = f64::from(facts.problems);
    (budget.epsilon() / share, budget.delta() / share)
}

/// The note of every learner that draws continuous noise.
pub(crate) const CONTINUOUS_NOISE: &str = "the noise is continuous and drawn in floating point: \
     the guarantee is proved in real arithmetic";
