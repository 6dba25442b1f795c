//! Networks and other models with a nonconvex loss, trained under noise.
//!
//! | file | contents |
//! |---|---|
//! | [`sampled`] | `dp-sgd`, `dp-adam`, `dp-lssgd`, `dp-lsadam`, `rrpsgd`, `dp-gd`: noisy clipped gradients |
//! | [`correlated`] | `dp-ftrl`: correlated noise, no sampling |
//! | [`srm`] | `dp-srm`: clipped differences, recursive momentum |
//! | [`agd`] | `dp-agd`: step sizes and their budget chosen adaptively |
//! | `schedule`, `begins`, `trainer` | common parts of trainings: sizes, initial weights, execution |
//! | `update` | the public update rules: from noisy sums to weights |
//! | [`checkpoint`] | trainings that are suspended and resumed |
//! | [`smoothing`] | A_σ⁻¹, by a filter and by a transform |
//! | `baseline` | `storm` and `non-private`, for comparison |
//! | [`printed`] | the noise and the side conditions as printed in the thesis, for the record |
//! | `examples` | records as inputs of a network |
//! | `tensors` | the release |
//! | `predict` | predictions of a trained network |
//!
//! The networks themselves, their gradients and the clipping of them are [`privet_nn`].
//!
//! **Inputs** of a record are its encoded row ([`privet_data::encode`]) without the constant column,
//! each entry times `scale` plus `shift`: a table's columns, pixels, or features of an image. No part of
//! this is fitted to the records.
//!
//! **Initial weights** come from a public seed, or from a file that its owner declares to be trained on
//! public records alone ([`InitialSource`]). The declaration is not proved, and the certificate says so. It
//! states digests of the whole file and of the frozen weights; `verify` recomputes the latter.

pub mod agd;
mod baseline;
pub mod checkpoint;
pub mod correlated;
mod examples;
mod initial_weights;
pub mod learners;
mod options;
mod predict;
pub mod printed;
mod report;
pub mod sampled;
mod schedule;
pub mod smoothing;
pub mod srm;
mod tensors;
#[cfg(test)]
mod tests;
mod trainer;
mod update;

pub use examples::Examples;
pub use learners::{METHODS, Method, TrainingFacts};
pub use options::{
    AVERAGED, BATCH, CLIP, CLIP_DIFFERENCE, CLIP_LOSS, GAMMA, LONGEST, MOMENTUM, RATE, SMOOTHING,
    SMOOTHNESS, Settings, Smoothed, Sums,
};
pub use predict::TrainedNetwork;
pub use tensors::{PublicFile, Tensor, Tensors, digest};
pub use update::{ADAM_FLOOR, Decay};

use crate::linear::facts::Facts;
use crate::linear::problems;
use crate::linear::request::RequestOptions;
use crate::release::allowance::Allowance;
use crate::release::covers::RequestFacts;
use crate::release::plan::no_budget;
use crate::release::task::{FamilyPlan, Task, Work};
use crate::{LearnError, Request};
use privet_core::{Budget, Range};
use privet_data::Schema;
use privet_data::encode::Encoding;
use privet_dp::gate::Arithmetic;
use privet_nn::{Description, Net};
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Limits on the factor of entries.
pub const SCALE: Range = Range::open("scale", 0.0, 1e6);
/// Limits on the number that is added to them.
pub const SHIFT: Range = Range::open("shift", -1e6, 1e6);
/// Upper limit on the number of weights of a network: noise is drawn for each, at every step.
pub const WEIGHTS: usize = 50_000_000;
/// Radius of the ball onto which trained weights are projected: far beyond any useful training.
pub(crate) const BALL_RADIUS: f64 = 1e6;
/// Upper limit on seeds of weights: numbers of a file follow RFC 8785, which is exact up to here.
const MOST_SEED: u64 = (1 << 53) - 1;

/// Source of the initial weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialSource {
    /// Weights drawn from a seed: public, and independent of the noise.
    Seed(u64),
    /// A file of weights, declared by its owner to be trained on public records alone.
    File(PublicFile),
}

impl InitialSource {
    /// Takes the weights of a trained network as public; refuses weights that do not fit this
    /// description.
    pub fn file(
        net: &Description,
        public: &TrainedNetwork,
    ) -> Result<(Self, Vec<f32>), LearnError> {
        let net = checked(net)?;
        let fit = |why| not_begun(format!("do not fit: {why}"));
        let weights = public.artefact().flat(&net).map_err(fit)?;
        // A file of a fixed seed claims an infinite ε: no guarantee.
        let claimed = public.certificate().guarantee.filter(|claim| claim.epsilon.is_finite());
        let claims = claimed.map(|claim| [claim.epsilon, claim.delta]);
        Ok((Self::File(PublicFile { claims, ..PublicFile::of(&net, &weights) }), weights))
    }

    /// Refuses initial weights that no training can use, before anything is paid for.
    fn check(&self, net: &Net) -> Result<(), LearnError> {
        match self {
            Self::Seed(seed) if *seed > MOST_SEED => Err(not_begun(format!(
                "have the seed {seed}; accepted are seeds up to {MOST_SEED}, which every reader of a file takes for the \
                 same number"
            ))),
            Self::Seed(_) => Ok(()),
            Self::File(named) => named.check(net).map_err(not_begun),
        }
    }
}

fn not_begun(what: String) -> LearnError {
    LearnError::InvalidRequest { name: "weights", what }
}

/// Builds the network of a description.
fn checked(net: &Description) -> Result<Net, LearnError> {
    Net::new(net)
        .map_err(|error| LearnError::InvalidRequest { name: "model:", what: error.to_string() })
}

impl Default for InitialSource {
    fn default() -> Self {
        Self::Seed(0)
    }
}

/// A request to train a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Layers of the network.
    pub net: Description,
    /// Training method with its settings.
    pub method: Method,
    /// Initial weights; from seed 0 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<InitialSource>,
    /// Factor of the entries of a row; 1 unless given, and for features of an image such that an entry
    /// is about 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Number added to them then; 0 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift: Option<f64>,
}

/// Public facts of a training.
#[derive(Debug, Clone)]
pub struct NetFacts {
    /// Facts of the table.
    pub table: Facts,
    /// The network.
    pub net: Arc<Net>,
    /// Number of inputs: all entries of a row but the constant one.
    pub inputs: usize,
    /// Factor of the entries.
    pub scale: f64,
    /// Number added to them then.
    pub shift: f64,
    /// Source of the initial weights.
    pub begin: InitialSource,
}

impl Network {
    /// A request for these layers and this method, with all else left to default rules.
    pub fn new(net: Description, method: Method) -> Self {
        Self { net, method, begin: None, scale: None, shift: None }
    }

    /// A request from words; the method of `words` itself is ignored.
    pub fn request(
        self,
        schema: &Schema,
        rows: u64,
        words: &RequestOptions,
    ) -> Result<Request<Self>, LearnError> {
        let set = |method: Method, (name, value): &(String, String)| method.with(name, value);
        let method = words.settings.iter().try_fold(self.method.clone(), set)?;
        let private = method.is_private();
        let request = Request::new(schema.clone(), rows, words.neighbours, Self { method, ..self });
        let budget = match (words.epsilon, private) {
            (Some(epsilon), true) => {
                let delta = words.delta.unwrap_or_else(|| Budget::usual_delta(rows));
                Some(Budget::new(epsilon, delta)?)
            }
            (None, true) => return Err(no_budget(&request)),
            (Some(_), false) => {
                return Err(LearnError::InvalidRequest {
                    name: "epsilon",
                    what: format!(
                        "is given, but method {} adds no noise and spends no budget: leave it out, or choose a \
                         private method",
                        request.task.method
                    ),
                });
            }
            (None, false) => None,
        };
        Ok(Request { budget, calibration: words.calibration, ..request })
    }
}

/// Plans a private method from public facts.
fn decide(
    facts: &NetFacts,
    budget: &Allowance<'_>,
    method: &Method,
) -> Result<trainer::Decision, LearnError> {
    match method {
        Method::DpSrm(_) => srm::plan(facts, budget, method),
        Method::DpAgd(_) => agd::plan(facts, budget, method),
        Method::DpFtrl(_) => correlated::plan(facts, budget, method),
        _ => sampled::plan(facts, budget, method),
    }
}

/// Refuses outputs that do not fit the target.
fn outputs_fit(net: &Net, loss: privet_nn::Loss, encoding: &Encoding) -> Result<(), LearnError> {
    use privet_nn::Loss::{CrossEntropy, Logistic, Squared};
    let outputs = net.outputs();
    let refused = |what: String, instead| Err(LearnError::NotCovered { what, instead });
    match (encoding.classes(), loss) {
        (Some(classes), CrossEntropy) if classes != outputs => refused(
            format!("the network has {outputs} outputs, and the schema lists {classes} classes"),
            "give the last layer as many outputs as there are classes",
        ),
        (Some(_), CrossEntropy) => Ok(()),
        (Some(2), Logistic) | (None, Squared) if outputs == 1 => Ok(()),
        (Some(2), Logistic) | (None, Squared) => refused(
            format!("the network has {outputs} outputs, and its loss and target want one"),
            "give the last layer one output",
        ),
        (Some(_), _) => refused(
            "the network's loss does not fit a target of these classes".into(),
            "give loss = \"cross-entropy\" with an output a class, or for two classes \"logistic\" with one output",
        ),
        (None, _) => refused(
            "the network's loss is for classes, and the target is a number".into(),
            "give loss = \"squared\" and one output",
        ),
    }
}

impl Task for Network {
    const NAME: &'static str = "network";
    type Facts = NetFacts;
    type Artefact = Tensors;

    fn facts(request: &Request<Self>) -> Result<NetFacts, LearnError> {
        let encoding = Encoding::new(&request.schema);
        let table = Facts::of_rows(request)?;
        if !table.weights.is_empty() {
            return Err(LearnError::NotCovered {
                what: "class weights are not carried into a network's loss".into(),
                instead: "leave class_weights out of the schema",
            });
        }
        let net = checked(&request.task.net)?;
        let inputs = table.columns - usize::from(table.bias);
        if net.inputs() != inputs {
            return Err(LearnError::NotCovered {
                what: format!(
                    "the network takes {} numbers, and a row of this schema has {inputs}",
                    net.inputs()
                ),
                instead: "make the input of the network as wide as a row (the constant column is left out)",
            });
        }
        if net.parameters() > WEIGHTS {
            return Err(LearnError::NotCovered {
                what: format!("the network has {} weights", net.parameters()),
                instead: "up to 50,000,000 are accepted",
            });
        }
        outputs_fit(&net, request.task.net.loss, &encoding)?;
        // Rows of image features have the radius as their norm: this makes an entry about 1.
        let usual = if table.image { (inputs as f64).sqrt() / table.radius } else { 1.0 };
        let scale = SCALE.check(request.task.scale.unwrap_or(usual))?;
        let shift = SHIFT.check(request.task.shift.unwrap_or(0.0))?;
        let begin = request.task.begin.clone().unwrap_or_default();
        begin.check(&net)?;
        Ok(NetFacts { table, net: Arc::new(net), inputs, scale, shift, begin })
    }

    fn plan(request: &Request<Self>, facts: &NetFacts) -> Result<FamilyPlan<Self>, LearnError> {
        let task = &request.task;
        let settled = |settings| Self {
            net: task.net.clone(),
            method: task.method.having(settings),
            begin: Some(facts.begin.clone()),
            scale: Some(facts.scale),
            shift: Some(facts.shift),
        };
        if !task.method.is_private() {
            let plain = baseline::UnprotectedTraining::new(facts, &task.method)?;
            return Ok(FamilyPlan {
                settled: settled(plain.settled()),
                work: Work::Plain(Arc::new(plain)),
                arithmetic: Arithmetic::Real,
                notes: vec![baseline::NO_NOISE.into()],
            });
        }
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        let allowance = Allowance::new(budget, &request.noise);
        let requested = RequestFacts {
            relation: request.relation(),
            pure: allowance.is_pure(),
            calibration: request.calibration,
            problems: 1,
        };
        task.method.info().covers.check(task.method.name(), requested)?;
        let decision = decide(facts, &allowance, &task.method)?;
        let mut notes = decision.notes;
        if let InitialSource::File(public) = &facts.begin {
            notes.push(public.note());
        }
        Ok(FamilyPlan {
            work: Work::Private(decision.worker.procedure()),
            settled: settled(decision.settled),
            arithmetic: decision.arithmetic,
            notes,
        })
    }

    fn admit(facts: &NetFacts, table: &dyn Table) -> Result<(), LearnError> {
        problems::check(&facts.table, table)
    }

    fn fits(request: &Request<Self>, found: &Tensors) -> Result<(), String> {
        let net = Net::new(&request.task.net).map_err(|error| error.to_string())?;
        found.flat(&net).map(|_| ())
    }

    fn noise_on(&self) -> &'static str {
        self.method.info().noisy
    }

    fn summary(&self) -> String {
        format!("method {}", self.method)
    }
}
