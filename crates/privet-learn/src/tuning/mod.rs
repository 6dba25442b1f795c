//! Private hyperparameter tuning: the best of a secret random number of trainings, each of one of
//! several candidates.
//!
//! A candidate is a method with settings. A *trial* draws one of them uniformly, trains it on the
//! records, and scores the model on the same records, under noise; the release is the model of the best
//! trial alone, and the index of its candidate.
//!
//! **Theorem.** Let candidate j, its training and its score together, cost the event Eⱼ. The release costs
//! [`Event::BestOf`]: the best of K runs (Papernot & Steinke, ICLR 2022, Theorems 2 and 6) of a mechanism
//! whose Rényi curve is at most the largest of theirs, order by order, and whose δ is at most the largest of
//! theirs at every ε ([`privet_dp::account::selected`], with the proof). K is drawn from its law in the gate,
//! independently of the records.
//!
//! **The score** of a record is 1 if its class is predicted correctly (times the weight of its class, at
//! most 1), else 0; of a number 1 − (ŷ − y)²/4, both within [−1, 1], truncated to multiples of 2⁻²⁰. So
//! it lies in [0, 1], and between neighbours the sum over records moves by at most k, the records of a
//! unit, under both relations: two sums of at most k numbers of [0, 1] are at most k apart. It is summed
//! in integers; margins are added up entry by entry in the order of columns, so that no score depends on
//! other records or on how rows are stored. Gaussian noise is added ([`Gaussian`]).
//!
//! **Conditions.** Every trial has a session of its own that releases nothing; the other trials, their
//! scores and K stay in the process. *The running time discloses K* and is not hidden: keep the start
//! and end of a tuning private. The progress shown carries no count of steps.
//!
//! **Split of the budget.** Each trial is planned for (ε₁, δ), the largest ε₁ with which the whole meets
//! (ε, δ); the score's Gaussian μ is a third of the μ that (ε₁, δ) allows, a tenth of the sum of
//! squares.

mod candidates;
mod report;
mod score;
mod search;

pub use candidates::{MOST_CANDIDATES, candidates_of_toml, grid};

use crate::linear::Erm;
use crate::linear::auto::Auto;
use crate::linear::facts::Facts;
use crate::linear::forecast;
use crate::linear::learners::Method;
use crate::linear::model::{LinearWeights, Model};
use crate::linear::problems;
use crate::linear::request::RequestOptions;
use crate::release::admit;
use crate::release::allowance::scales;
use crate::release::note::{Condition, Note};
use crate::release::plan::no_budget;
use crate::release::request::Calibration;
use crate::release::settings::PlanNumbers;
use crate::release::task::{Artefact, FamilyPlan, Procedure, Task, Work};
use crate::release::void::Concern;
use crate::statistics::evaluate::LISTS_FROM_PYTHON;
use crate::{LearnError, Released, Request};
use privet_core::{Budget, Range};
use privet_data::{Dataset, Schema};
use privet_dp::account::{Cost, Event, Runs};
use privet_dp::gate::{Arithmetic, Candidate, GateError, Noisy, Session, Trial};
use privet_dp::mechanism::Gaussian;
use privet_optim::loss::Loss;
use privet_optim::solver::{Monitor, Progress};
use privet_optim::sum::Table;
use search::SearchResult;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The task: the best of several candidates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tune {
    /// The loss shared by all candidates.
    pub loss: Loss,
    /// Methods with their settings.
    pub candidates: Vec<Method>,
    /// The expected number of trials; twice the candidates and at least 10 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials: Option<f64>,
    /// The distribution of the number of trials; unless given, of Poisson and geometric the one that
    /// allows the larger ε₁, and geometric if a candidate has other than Gaussian noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<Law>,
    /// The budget ε₁ of a trial, once a plan has settled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial_epsilon: Option<f64>,
}

/// The distribution of the number of trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// Poisson: close to its mean.
    Poisson,
    /// Logarithmic, the truncated negative binomial of η = 0: often few, sometimes very many.
    Logarithmic,
    /// Geometric, the truncated negative binomial of η = 1: between the two.
    Geometric,
}

/// Limits on the expected number of trials.
pub const TRIALS: Range = Range::from("trials", 2.0, 1001.0);
/// Limits on ε₁.
const TRIAL_EPSILON: Range = Range::open("trial_epsilon", 0.0, f64::INFINITY);

impl Law {
    /// The distribution with this mean.
    fn runs(self, trials: f64) -> Runs {
        match self {
            Self::Poisson => Runs::Poisson { mean: trials },
            // The mean is 1/γ.
            Self::Geometric => Runs::NegativeBinomial { eta: 1.0, gamma: 1.0 / trials },
            Self::Logarithmic => Runs::NegativeBinomial { eta: 0.0, gamma: logarithmic(trials) },
        }
    }
}

/// γ with (1 − γ)/(γ·ln(1/γ)) = trials, a falling function of it; by halving, to 2⁻⁵⁰ of itself.
fn logarithmic(trials: f64) -> f64 {
    let expected = |gamma: f64| (1.0 - gamma) / (gamma * -gamma.ln());
    let (mut low, mut high) = (1e-6_f64, 1.0 - 1e-9);
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if expected(middle) > trials { low = middle } else { high = middle }
    }
    high
}

/// The released model of the best trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuned {
    /// `None` if the number of trials drawn was 0.
    pub best: Option<BestCandidate>,
}

/// The best candidate and its model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BestCandidate {
    /// The index of the candidate, from 0.
    pub candidate: u32,
    /// The model trained.
    pub model: LinearWeights,
}

impl Artefact for Tuned {
    const KIND: &'static str = "tuned";

    fn numbers(&self) -> Vec<f64> {
        self.best.iter().flat_map(|best| best.model.numbers()).collect()
    }
}

impl Tune {
    /// A request for a table with this schema; budget, neighbours and loss are taken from these words,
    /// the method is ignored.
    pub fn request(
        schema: &Schema,
        rows: u64,
        words: &RequestOptions,
        candidates: Vec<Method>,
    ) -> Result<Request<Self>, LearnError> {
        let Request { budget, neighbours, calibration, task, .. } =
            Request::build(schema, rows, words)?;
        let (trials, law, trial_epsilon) = (None, None, None);
        let task = Self { loss: task.loss, candidates, trials, law, trial_epsilon };
        let request = Request::new(schema.clone(), rows, neighbours, task);
        Ok(Request { budget, calibration, ..request })
    }
}

impl Request<Tune> {
    /// One candidate as a request of its own, within the budget of a trial.
    fn of_candidate(&self, method: &Method, epsilon: f64) -> Result<Request<Erm>, LearnError> {
        let delta = self.budget.map_or(0.0, |budget| budget.delta());
        let task = Erm { loss: self.task.loss, method: method.clone() };
        let request = Request::new(self.schema.clone(), self.rows, self.neighbours, task);
        Ok(request.with_budget(Budget::new(epsilon, delta)?))
    }

    /// The request of the first candidate, which determines the encoding of columns.
    fn first(&self) -> Option<Request<Erm>> {
        let method = self.task.candidates.first()?.clone();
        let task = Erm { loss: self.task.loss, method };
        let first = Request::new(self.schema.clone(), self.rows, self.neighbours, task);
        Some(Request { budget: self.budget, ..first })
    }
}

impl Released<Tune> {
    /// The release as a model that predicts; `None` if there was no trial. Its certificate is that of
    /// the tuning, which alone can be verified.
    pub fn model(&self) -> Option<Model> {
        let best = self.artefact().best.as_ref()?;
        let task = &self.request().task;
        let method = task.candidates.get(best.candidate as usize)?;
        let request = self.request().of_candidate(method, task.trial_epsilon?).ok()?;
        Some(Released::part_view(best.model.clone(), request, self.certificate().clone()))
    }
}

impl Task for Tune {
    const NAME: &'static str = "tune";
    const DOUBTFUL: &'static [Concern<Self>] =
        &[Concern { finding: LISTS_FROM_PYTHON, of: |_| true }];
    // Its trials are fits of linear models, whose notes it states.
    type Facts = Facts;
    type Artefact = Tuned;

    /// The encoding of the first candidate.
    fn encoding(request: &Request<Self>) -> Schema {
        request.first().map_or_else(|| request.schema.linear(), |first| Erm::encoding(&first))
    }

    fn facts(request: &Request<Self>) -> Result<Facts, LearnError> {
        candidates::check(&request.task.candidates)?;
        let first = request.first().ok_or(LearnError::DataShape("no candidate is given"))?;
        Facts::of(&first)
    }

    fn plan(request: &Request<Self>, facts: &Facts) -> Result<FamilyPlan<Self>, LearnError> {
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        if request.calibration == Calibration::Printed {
            return Err(LearnError::NotCovered {
                what: "the papers' constants for tuning are not offered".into(),
                instead: "leave out the calibration, or give sound",
            });
        }
        if budget.is_pure() {
            return Err(LearnError::NotCovered {
                what: "the best of a random number of trainings has no finite epsilon at delta = 0"
                    .into(),
                instead: "give a delta above 0, or train one method with `privet train`",
            });
        }
        let count = request.task.candidates.len();
        let trials = request.task.trials.unwrap_or_else(|| (2 * count).max(10) as f64);
        let trials = TRIALS.check(trials)?;
        let law = match request.task.law {
            Some(law) => law,
            None => search::cheaper_law(request, facts, trials)?,
        };
        let SearchResult { trial_epsilon, ones } =
            search::search(request, facts, law.runs(trials))?;
        if law == Law::Poisson && !ones.iter().all(|one| gaussian_alone(&one.event)) {
            return Err(LearnError::NotCovered {
                what: "a Poisson number of trials is offered where all noise is Gaussian".into(),
                instead: "leave out the law, or give geometric or logarithmic",
            });
        }
        let score = score::mechanism(facts, budget.delta(), trial_epsilon);
        let settled = Self {
            loss: request.task.loss,
            candidates: ones.iter().map(|one| one.method.clone()).collect(),
            trials: Some(trials),
            law: Some(law),
            trial_epsilon: Some(trial_epsilon),
        };
        let real = ones.iter().any(|one| one.arithmetic == Arithmetic::Real);
        let mut notes =
            vec![Note::expectation(compare_with_auto(request, facts, trial_epsilon, &ones)?)];
        notes.push(SECRET.into());
        for note in ones.iter().flat_map(|one| &one.notes) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        Ok(FamilyPlan {
            work: Work::Private(Arc::new(Tuning { law: law.runs(trials), trials, ones, score })),
            settled,
            arithmetic: if real { Arithmetic::Real } else { Arithmetic::Finite },
            notes,
        })
    }

    fn admit(facts: &Facts, table: &dyn Table) -> Result<(), LearnError> {
        admit::in_memory(table, Self::NAME, "single records to score")?;
        problems::check(facts, table)
    }

    fn fits(request: &Request<Self>, found: &Tuned) -> Result<(), String> {
        let Some(BestCandidate { candidate, model }) = &found.best else { return Ok(()) };
        let unknown = || "its model is of no candidate".to_string();
        let method = request.task.candidates.get(*candidate as usize).ok_or_else(unknown)?;
        let epsilon = request.task.trial_epsilon.ok_or("its request is not settled")?;
        let own = request.of_candidate(method, epsilon).map_err(|error| error.to_string())?;
        Erm::fits(&own, model)
    }

    fn noise_on(&self) -> &'static str {
        "what each candidate computes, and its score"
    }

    fn summary(&self) -> String {
        format!("tuning of {} candidates", self.candidates.len())
    }
}

/// The theorem's condition on secrecy.
const SECRET: Condition = Condition::new(
    "trials-secret",
    "all trials but the best, their scores and their number must stay secret; how long a tuning took \
     tells about how many there were",
);

/// Compares the candidates with `auto` on the whole budget, by public facts alone.
fn compare_with_auto(
    request: &Request<Tune>,
    facts: &Facts,
    trial_epsilon: f64,
    ones: &[PlannedCandidate],
) -> Result<String, LearnError> {
    let budget = request.budget.ok_or_else(|| no_budget(request))?;
    let trial = format!(
        "each trial is trained within epsilon = {}, where one training would have {}",
        two_digits(trial_epsilon),
        two_digits(budget.epsilon())
    );
    let auto = request.of_candidate(&Method::Auto(Auto::default()), budget.epsilon())?;
    let planned = Erm::plan(&auto, facts);
    let classes = request.schema.classes().map(<[_]>::len);
    let cost = |method: &Method, epsilon: f64| {
        let budget = Budget::new(epsilon, budget.delta()).ok()?;
        Some(forecast::of(facts, classes, budget, method, None)?.cost)
    };
    let whole = planned.ok().and_then(|planned| cost(&planned.settled.method, budget.epsilon()));
    let each = ones.iter().filter_map(|one| cost(&one.method, trial_epsilon));
    let tuned = each.fold(f64::INFINITY, f64::min);
    Ok(match whole {
        Some(whole) if tuned.is_finite() && whole <= tuned => format!(
            "{trial}: from public facts `--method auto` with the whole budget is the better buy (noise is expected to \
             cost it {:.0} % of what can be learnt, the best candidate {:.0} %), unless a candidate fits these records better by more \
             than that",
            100.0 * whole,
            100.0 * tuned
        ),
        _ => format!(
            "{trial}: `--method auto` with the whole budget is the better buy unless a candidate is better by more than \
             what that noise costs"
        ),
    })
}

/// True if all noise is Gaussian: then δ, which a Poisson distribution needs at every order, is known in
/// closed form.
fn gaussian_alone(event: &Event) -> bool {
    match event {
        Event::Use { cost, .. } => matches!(cost, Cost::Gaussian { .. }),
        Event::All(parts) => parts.iter().all(gaussian_alone),
        Event::Repeat { event, .. } | Event::UpTo { event, .. } => gaussian_alone(event),
        Event::Selected { .. } | Event::BestOf { .. } => false,
    }
}

/// A number in words, with two digits, the same on every platform.
fn two_digits(value: f64) -> String {
    if (0.01..100.0).contains(&value) {
        let digits = if value < 1.0 { 3 } else { 2 };
        format!("{value:.digits$}")
    } else {
        format!("{value:.1e}")
    }
}

/// A planned candidate.
#[derive(Debug, Clone)]
struct PlannedCandidate {
    method: Method,
    procedure: Arc<dyn Procedure<Erm>>,
    arithmetic: Arithmetic,
    notes: Vec<Note>,
    /// The cost of training and score.
    event: Event,
}

impl PlannedCandidate {
    /// Plans a candidate within ε₁, with the settled noise scales, if any; also returns the number of
    /// scales it uses.
    fn plan(
        request: &Request<Tune>,
        facts: &Facts,
        method: &Method,
        (epsilon, noise): (f64, &[f64]),
    ) -> Result<(Self, usize), LearnError> {
        let own = Request { noise: noise.to_vec(), ..request.of_candidate(method, epsilon)? };
        let planned = Erm::plan(&own, facts)?;
        let Work::Private(procedure) = planned.work else {
            return Err(candidates::not_private(method));
        };
        procedure.check(facts)?;
        let event = procedure.event()?;
        let score = score::mechanism(facts, own.budget.map_or(0.0, |b| b.delta()), epsilon);
        let event = Event::All(vec![event, score.event()?]);
        let count = scales(&event).len();
        let one = Self {
            method: planned.settled.method,
            procedure,
            arithmetic: planned.arithmetic,
            notes: planned.notes,
            event,
        };
        Ok((one, count))
    }
}

/// The procedure of the best of many trials.
#[derive(Debug, Clone)]
struct Tuning {
    law: Runs,
    trials: f64,
    ones: Vec<PlannedCandidate>,
    score: Gaussian,
}

impl Tuning {
    fn candidates(&self) -> Vec<Candidate> {
        let each = self.ones.iter();
        each.map(|one| Candidate { event: one.event.clone(), walk: one.procedure.walk() }).collect()
    }
}

impl Procedure<Tune> for Tuning {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(best_of(self.law, &self.ones))
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("candidates", self.ones.len() as f64),
            ("trials", self.trials),
            ("score_noise", self.score.noise_scale),
        ])
    }

    fn refuses(&self, found: &Tuned) -> Option<&'static str> {
        let best = found.best.as_ref()?;
        match self.ones.get(best.candidate as usize) {
            Some(one) => one.procedure.refuses(&best.model),
            None => Some("the model is of no candidate"),
        }
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<Tuned>, LearnError> {
        let data = admit::in_memory(table, Tune::NAME, "single records to score")?;
        let monitor = StopOnly(monitor);
        let room = TrialInputs { tuning: self, facts, data, monitor: &monitor };
        let trial = Trial { make: TrialInputs::make, score: TrialInputs::score };
        let best = session.select_among(self.law, &self.candidates(), &room, trial)?;
        Ok(best.map(|best| Tuned {
            best: best
                .map(|(candidate, model)| BestCandidate { candidate: candidate as u32, model }),
        }))
    }
}

/// The event charged for the best of these candidates.
fn best_of(law: Runs, ones: &[PlannedCandidate]) -> Event {
    Event::BestOf { law, candidates: ones.iter().map(|one| one.event.clone()).collect() }
}

/// The data and settings that a trial reads.
struct TrialInputs<'a> {
    tuning: &'a Tuning,
    facts: &'a Facts,
    data: &'a Dataset,
    monitor: &'a dyn Monitor,
}

impl TrialInputs<'_> {
    fn make(
        &self,
        place: usize,
        session: &mut Session<'_>,
    ) -> Result<Noisy<LinearWeights>, LearnError> {
        let one = self.tuning.ones.get(place).ok_or(GateError::NotAsPlanned)?;
        one.procedure.run(self.facts, self.data, session, self.monitor)
    }

    fn score(
        &self,
        _place: usize,
        model: &LinearWeights,
        session: &mut Session<'_>,
    ) -> Result<Noisy<f64>, LearnError> {
        let noise = &self.tuning.score;
        score::noisy_score(self.facts, self.data, model, noise, session)
    }
}

/// Passes on the request to stop but no progress: the number of steps would disclose the trials.
struct StopOnly<'a>(&'a dyn Monitor);

impl Monitor for StopOnly<'_> {
    fn proceed(&self, _progress: Progress) -> bool {
        let (gradient_norm, tolerance) = (f64::INFINITY, 0.0);
        self.0.proceed(Progress { iteration: 0, gradient_norm, tolerance, precise: false })
    }
}
