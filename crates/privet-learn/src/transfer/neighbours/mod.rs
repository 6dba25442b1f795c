//! Private prediction by the votes of records near a question: no model is trained, and records that are near to
//! nothing that is asked pay nothing.
//!
//! A question is a public row without its target. Every record within a public distance r of it votes: for its class,
//! or where the target is a number for the low and the high end in proportion. Votes are summed, noised and released,
//! a number for each class; the answer is the class with the most, and how many voted is their sum, noised like them.
//!
//! **Theorem.** The votes of one unit for one question are a vector v ≥ 0 with ‖v‖₂ ≤ 1 (those of a unit with several
//! records near are scaled down), a function of its own records and the question alone. A unit takes part while the
//! squares of its own votes add up to at most K, and stays out of what would exceed that. All m answers together have the
//! curve of one Gaussian release of sensitivity √K (add/remove) or √(2K) (replace-one), however large m is:
//! [`privet_dp::mechanism::Individual`], with its proof (an individual filter: Feldman & Zrnic 2021; Koskela, Tobaben &
//! Honkela 2023).
//!
//! **Never the k nearest.** With a fixed number of voters one record's leaving lets another in, which then votes and
//! pays: what one unit does would depend on others, and the proof fails. A fixed *distance* asks each record about
//! itself alone. A question with nobody near gets noise, and its count says so.
//!
//! **Who has used up their votes is never shown**; answers get no worse notice than smaller counts.
//!
//! **Deletion.** Once a person's records are taken out of the table, answers to come are those of a table without them,
//! at no cost to anyone. Answers already given stay what they were.
//!
//! **Conditions.** Questions are public and chosen without looking at the records. r and K come from the questions,
//! the declared number of rows and the budget, unless given: r is the distance within which a share of the pairs of
//! questions lie, so small a share as the noise allows (`rule`), K how many questions 9 in 10 of the questions have
//! within it. The noise grows with √K: a record that is near to more questions is better kept for the first K.
//!
//! *In finite arithmetic.* Votes are whole numbers of 2⁻²⁰, scaled toward 0; the filter compares whole numbers. Distances
//! are floating-point numbers, the same for any storage of rows: whatever they round to, a record decides for itself.
//! How long a run takes depends on the records and is not hidden. Tested by `tests/all/neighbours.rs`.

mod parts;
mod rule;

use crate::allowance::Allowance;
use crate::erm::Erm;
use crate::erm::watch::StepWatch;
use crate::facts::Facts;
use crate::model::Predictions;
use crate::plan::no_budget;
use crate::request::{Calibration, Request};
use crate::settings::Shown;
use crate::support::Support;
use crate::task::{Artefact, Planned, Procedure, Task, Work};
use crate::{LearnError, Method, admit};
use privet_core::{Budget, Neighbours, Range};
use privet_data::Schema;
use privet_data::encode::Encoding;
use privet_data::matrix::Matrix;
use privet_dp::account::{Event, gaussian};
use privet_dp::gate::{Arithmetic, GateError, Noised, Private, Session};
use privet_dp::mechanism::Individual;
use privet_optim::loss::Loss;
use privet_optim::solver::{Monitor, SolveError};
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Limits on the distance.
pub const WITHIN: Range = Range::open("within", 0.0, 1e9);
/// Limits on K.
pub const VOTES: Range = Range::from("votes", 1.0, 1_000_001.0);
/// Limits on the number of questions.
pub const QUESTIONS: Range = Range::from("questions", 1.0, 1_000_001.0);
/// Numbers that all questions together may have: they are kept in the certificate.
const NUMBERS: usize = 2_000_000;

/// Public questions to be answered by the records near them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nearby {
    /// Each question, encoded by the schema as records are.
    pub questions: Vec<Vec<f64>>,
    /// r; chosen from the questions unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// K: how many answers a unit takes part in with its full vote; chosen from the questions unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub votes: Option<u32>,
}

/// Noised votes for each question: a number for each class, or for the low and the high end of a numeric target. They
/// may be below 0 where next to nobody is near.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answered {
    /// In the order of the questions.
    pub votes: Vec<Vec<f64>>,
}

impl Artefact for Answered {
    const KIND: &'static str = "answers";

    fn numbers(&self) -> Vec<f64> {
        self.votes.iter().flatten().copied().collect()
    }
}

impl Answered {
    /// About how many voted, question by question; under noise, so that it may be below 0.
    pub fn counts(&self) -> Vec<f64> {
        self.votes.iter().map(|votes| votes.iter().sum()).collect()
    }

    /// The class with the most votes (the first of several), or where between its bounds the number lies; the
    /// middle where nobody seems to have voted.
    pub fn predictions(&self, schema: &Schema) -> Predictions {
        let most = |votes: &Vec<f64>| {
            let better =
                |best: usize, place: usize| if votes[place] > votes[best] { place } else { best };
            (1..votes.len()).fold(0, better) as u32
        };
        let encoding = Encoding::new(schema);
        let number = |votes: &Vec<f64>| {
            let total: f64 = votes.iter().sum();
            let high = votes.last().copied().unwrap_or(0.0) / total;
            let share = if total > 0.0 { high.clamp(0.0, 1.0) } else { 0.5 };
            encoding.decode_target(2.0 * share - 1.0)
        };
        match schema.classes() {
            Some(_) => Predictions::Classes(self.votes.iter().map(most).collect()),
            None => Predictions::Numbers(self.votes.iter().map(number).collect()),
        }
    }
}

impl Nearby {
    /// Questions in the rows of a matrix, encoded by the schema of the request.
    pub fn of(rows: &Matrix) -> Self {
        let one = |row| rows.dense_row(row).into_iter().map(f64::from).collect();
        Self { questions: (0..rows.rows()).map(one).collect(), within: None, votes: None }
    }

    /// Answers of a table with this schema, which leaves nothing of its encoding open, within a budget; δ is
    /// 1/rows² unless given.
    pub fn request(
        self,
        schema: &Schema,
        rows: u64,
        neighbours: Neighbours,
        (epsilon, delta): (f64, Option<f64>),
    ) -> Result<Request<Self>, LearnError> {
        let budget = Budget::new(epsilon, delta.unwrap_or_else(|| Budget::usual_delta(rows)))?;
        Ok(Request::new(schema.clone(), rows, neighbours, self).within(budget))
    }

    /// Refuses questions that are none.
    fn check(&self, facts: &Facts) -> Result<(), LearnError> {
        QUESTIONS.check(self.questions.len() as f64)?;
        let width = facts.columns;
        if self.questions.iter().any(|question| question.len() != width) {
            return Err(LearnError::NotCovered {
                what: "a question has another number of encoded columns than the schema".into(),
                instead: "encode the questions by the schema of the request",
            });
        }
        if self.questions.iter().flatten().any(|entry| !entry.is_finite()) {
            return Err(LearnError::NotCovered {
                what: "a question has an entry that is not a finite number".into(),
                instead: "encode the questions by the schema of the request",
            });
        }
        if self.questions.len().saturating_mul(width) > NUMBERS {
            return Err(LearnError::NotCovered {
                what: format!(
                    "{} questions of {width} encoded columns: their certificate, which keeps them, would be \
                     very large",
                    self.questions.len()
                ),
                instead: "ask fewer questions: at most 2000000 numbers in all",
            });
        }
        Ok(())
    }
}

impl Task for Nearby {
    const NAME: &'static str = "neighbours";
    type Facts = Facts;
    type Artefact = Answered;

    fn facts(request: &Request<Self>) -> Result<Facts, LearnError> {
        let loss = match request.schema.classes() {
            Some(_) => Loss::Logistic,
            None => Loss::SQUARED,
        };
        // The learner is no matter: facts are those of rows and target.
        let task = Erm { loss, method: Method::Auto(Default::default()) };
        let of_rows = Request::new(request.schema.clone(), request.rows, request.neighbours, task);
        Facts::of(&of_rows)
    }

    fn plan(request: &Request<Self>, facts: &Facts) -> Result<Planned<Self>, LearnError> {
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        let task = &request.task;
        if request.calibration == Calibration::Printed {
            return Err(LearnError::NotCovered {
                what: "no paper prints constants for votes of records within a distance".into(),
                instead: "leave out the calibration, or give sound",
            });
        }
        if budget.is_pure() {
            return Err(LearnError::NotCovered {
                what: "Gaussian noise has no finite epsilon at delta = 0".into(),
                instead: "give a delta above 0",
            });
        }
        task.check(facts)?;
        let sides = facts.relation().sides();
        let noise_of_one = sides.sqrt() / gaussian::mu(budget.epsilon(), budget.delta());
        let within = WITHIN.check(match task.within {
            Some(within) => within,
            None => {
                let share = rule::share(facts.rows, task.questions.len(), noise_of_one);
                rule::within(&task.questions, share, facts.radius)
            }
        })?;
        let votes = task.votes.unwrap_or_else(|| rule::votes(&task.questions, within));
        // More than one for each question nobody can use.
        let votes = (VOTES.check(f64::from(votes))? as u32).min(task.questions.len() as u32);
        let at = |noise_scale| Individual {
            neighbours: facts.neighbours,
            unit: facts.unit,
            steps: task.questions.len() as u32,
            share: parts::FULL_SQUARE * u128::from(votes),
            resolution: parts::RESOLUTION,
            noise_scale,
            coordinates: ends(facts),
        };
        let floor = noise_of_one * f64::from(votes).sqrt();
        let allowance = Allowance::new(budget, &request.noise);
        let noise_scale = allowance.least(floor, |scale| at(scale).event())?;
        let questions = Arc::new(task.questions.clone());
        Ok(Planned {
            work: Work::Private(Arc::new(Answering { sums: at(noise_scale), questions, within })),
            settled: Self { within: Some(within), votes: Some(votes), ..task.clone() },
            arithmetic: Arithmetic::Finite,
            notes: vec![
                format!(
                    "{} has a vote in at most {votes} of the {} answers; who has used theirs up is not shown",
                    whose(facts),
                    task.questions.len()
                ),
                "the questions are public, and nothing protects them; records taken out of the table later leave \
                 the answers given before as they are"
                    .into(),
            ],
        })
    }

    fn admit(facts: &Facts, table: &dyn Table) -> Result<(), LearnError> {
        admit::check(facts, table)
    }

    fn fits(request: &Request<Self>, answered: &Answered) -> Result<(), String> {
        let facts = Self::facts(request).map_err(|error| error.to_string())?;
        let whole = |votes: &Vec<f64>| {
            votes.len() == ends(&facts) && votes.iter().all(|number| number.is_finite())
        };
        let fits = answered.votes.len() == request.task.questions.len()
            && answered.votes.iter().all(whole);
        if fits { Ok(()) } else { Err("its answers do not fit its questions".into()) }
    }

    fn noised(&self) -> &'static str {
        "the votes"
    }

    fn summary(&self) -> String {
        let count = self.questions.len();
        format!(
            "answers to {count} {} by records nearby",
            if count == 1 { "question" } else { "questions" }
        )
    }
}

/// Whose votes are counted, in words.
fn whose(facts: &Facts) -> &'static str {
    match facts.unit {
        privet_core::Unit::Record => "a record",
        privet_core::Unit::User { .. } => "a person",
    }
}

/// How many numbers an answer has: the classes, or the two ends of a number.
fn ends(facts: &Facts) -> usize {
    (facts.problems as usize).max(2)
}

/// Answers under noise.
#[derive(Debug, Clone)]
struct Answering {
    sums: Individual,
    questions: Arc<Vec<Vec<f64>>>,
    within: f64,
}

impl Procedure<Nearby> for Answering {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.sums.event()?)
    }

    fn settings(&self) -> Shown {
        let votes = self.sums.share / parts::FULL_SQUARE;
        Shown::of([
            ("vote_noise", self.sums.noise_scale),
            ("within", self.within),
            ("votes", votes as f64),
            ("questions", self.questions.len() as f64),
        ])
    }

    fn refuses(&self, found: &Answered) -> Option<&'static str> {
        let off = Support::gaussian(self.sums.noise_scale).refuses(&found.votes).is_some();
        off.then_some("a vote is off the grid of the noise")
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noised<Answered>, LearnError> {
        let data = admit::in_memory(table, Nearby::NAME, "how far each record is from a question")?;
        let owners = admit::owners(facts.unit, data);
        let units = owners.iter().max().map_or(0, |last| last + 1);
        let mut spending = self.sums.begin(units)?;
        let watch = StepWatch::new(monitor);
        let mut answers = Vec::with_capacity(self.questions.len());
        for question in self.questions.iter() {
            if !watch.step() {
                return Err(LearnError::Solve(SolveError::Stopped));
            }
            let mut near = parts::near(&data.features, question, self.within);
            // A null record holds nothing, and has no vote.
            near.retain(|row| data.report.null_rows.binary_search(row).is_err());
            let own = parts::own(&near, &data.target, &owners, self.sums.coordinates);
            let own = own.ok_or(GateError::Malformed)?;
            answers.push(spending.step(Private::new(own), session)?);
        }
        Ok(session.gather(answers)?.map(|votes| Answered { votes }))
    }
}
