//! Private prediction by the votes of records near a question: no model is trained, and records near no
//! question pay nothing.
//!
//! A question is a query point: a public row without its target. Every record within a public distance r
//! of it votes: for its class, or for a numeric target for the low and the high end in proportion. The
//! release holds the noisy sums of the votes, one per class; the prediction is the class with the most
//! (`answered`), and the noisy number of voters is their sum.
//!
//! **Theorem.** The votes of one unit for one question are a vector v ≥ 0 with ‖v‖₂ ≤ 1 (clipped to this
//! norm if a unit has several records near), a function of its own records and the question alone. A
//! unit takes part while the squares of its own votes add up to at most K, and stays out of any answer
//! that would exceed K. All m answers together have the curve of one Gaussian release of sensitivity √K
//! (add/remove) or √(2K) (replace-one), however large m is: [`privet_dp::mechanism::Individual`], with
//! its proof (an individual filter: Feldman & Zrnic 2021; Koskela, Tobaben & Honkela 2023).
//!
//! **Never the k nearest.** With a fixed number of voters, one record's leaving lets another in, which
//! then votes and pays: one unit's contribution would depend on other units, and the proof fails. With a
//! fixed *distance* each contribution depends on the record and the question alone. A question with no
//! record near gets noise, and its count shows it.
//!
//! **Units that have used up their votes are never disclosed**; the only effect on answers is smaller
//! counts.
//!
//! **Deletion.** Once a person's records are taken out of the table, later answers are those of a table
//! without them, at no cost to other units. Earlier answers stay as they are.
//!
//! **Conditions.** Questions are public and chosen without reading the records. r and K are computed
//! from the questions, the declared number of rows and the budget, unless given: r is the distance
//! within which a share of the pairs of questions lie, the smallest share that the noise allows
//! (`rule`); K is the number of questions that 9 in 10 of the questions have within r. The noise grows
//! with √K, so it pays to let a record near more questions than K vote on the first K only.
//!
//! **In batches** ([`stream`]): questions that arrive later, answered from one budget by successive
//! processes.
//!
//! *In finite arithmetic.* Votes are integers in units of 2⁻²⁰, scaled toward 0; the filter compares
//! integers. Distances are floating-point numbers, the same for any storage of rows: however they round,
//! a record's vote depends on that record alone. The running time depends on the records and is not
//! hidden. Tested by `tests/all/neighbours.rs`.

mod answer_plan;
mod noisy_votes;
mod parts;
mod report;
mod rule;
pub mod stream;

use crate::linear::facts::Facts;
use crate::linear::problems;
use crate::release::allowance::Allowance;
use crate::release::note::{Condition, Note};
use crate::release::plan::no_budget;
use crate::release::request::Calibration;
use crate::release::task::{Artefact, FamilyPlan, Task, Work};
use crate::{LearnError, Request};
use answer_plan::AnswerPlan;
use privet_core::{Budget, Neighbours, Range, Unit};
use privet_data::Schema;
use privet_data::matrix::Matrix;
use privet_dp::gate::Arithmetic;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Limits on the distance.
pub const WITHIN: Range = Range::open("within", 0.0, 1e9);
/// Limits on K.
pub const VOTES: Range = Range::from("votes", 1.0, 1_000_001.0);
/// Limits on the number of questions.
pub const QUESTIONS: Range = Range::from("questions", 1.0, 1_000_001.0);
/// Limit on the numbers in all questions together, since the certificate keeps them.
const NUMBERS: usize = 2_000_000;

/// Public questions to be answered by the records near them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nearby {
    /// Each question, encoded by the schema as records are; of a stream the questions that distance and
    /// votes are chosen from, such as the first batch.
    pub questions: Vec<Vec<f64>>,
    /// The distance r; chosen from the questions unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// K: the number of answers that a unit takes part in with its full vote; chosen from the questions
    /// unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub votes: Option<u32>,
    /// The number of questions in all, where they come in batches ([`stream`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<u32>,
}

/// Noisy votes for each question: a number for each class, or for the low and the high end of a numeric
/// target; may be below 0 where few or no records are near.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoisyVotes {
    /// One vector of votes per question, in order.
    pub votes: Vec<Vec<f64>>,
    /// Of a stream: the number of questions asked in earlier batches.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first: u64,
    /// Of a stream: the questions of this batch, encoded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Vec<f64>>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Artefact for NoisyVotes {
    const KIND: &'static str = "answers";

    fn numbers(&self) -> Vec<f64> {
        self.votes.iter().flatten().copied().collect()
    }
}

impl Nearby {
    /// Takes the rows of a matrix, encoded by the schema of the request, as questions.
    pub fn of(rows: &Matrix) -> Self {
        let one = |row| rows.dense_row(row).into_iter().map(f64::from).collect();
        let questions = (0..rows.rows()).map(one).collect();
        Self { questions, within: None, votes: None, stream: None }
    }

    /// A request for answers from a table with this schema (its encoding fully specified), within a
    /// budget; δ is 1/rows² unless given.
    pub fn request(
        self,
        schema: &Schema,
        rows: u64,
        neighbours: Neighbours,
        (epsilon, delta): (f64, Option<f64>),
    ) -> Result<Request<Self>, LearnError> {
        let budget = Budget::new(epsilon, delta.unwrap_or_else(|| Budget::usual_delta(rows)))?;
        Ok(Request::new(schema.clone(), rows, neighbours, self).with_budget(budget))
    }

    /// The noise scale of the votes, of a request that a plan has settled; 0 otherwise.
    pub fn noise(settled: &Request<Self>) -> f64 {
        settled.noise.first().copied().unwrap_or(0.0)
    }

    /// The number of questions in all batches together.
    pub fn in_all(&self) -> usize {
        self.stream.map_or(self.questions.len(), |all| all as usize)
    }

    /// Refuses malformed questions: too many, of another width, or not finite.
    fn check(&self, facts: &Facts) -> Result<(), LearnError> {
        QUESTIONS.check(self.questions.len() as f64)?;
        QUESTIONS.check(self.in_all() as f64)?;
        let width = facts.columns;
        if self.stream.is_some() && facts.unit != Unit::Record {
            return Err(LearnError::NotCovered {
                what: "questions in batches where a person has several records: they may change from batch to batch, and \
                       what the person spent could not be told"
                    .into(),
                instead: "ask all questions at once, or protect single records (no [unit] in the schema)",
            });
        }
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
        if self.in_all().max(self.questions.len()).saturating_mul(width) > NUMBERS {
            return Err(LearnError::NotCovered {
                what: format!(
                    "{} questions of {width} encoded columns: their certificate, which keeps them, would be \
                     very large",
                    self.in_all().max(self.questions.len())
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
    type Artefact = NoisyVotes;

    fn facts(request: &Request<Self>) -> Result<Facts, LearnError> {
        Facts::of_rows(request)
    }

    fn plan(request: &Request<Self>, facts: &Facts) -> Result<FamilyPlan<Self>, LearnError> {
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
        let answering =
            AnswerPlan::plan_answers(task, facts, &Allowance::new(budget, &request.noise))?;
        let settled = answering.settled_task(task);
        let (all, votes) = (task.in_all(), settled.votes.unwrap_or(0));
        let mut notes: Vec<Note> = vec![
            match request.schema.classes() {
                Some(_) => AT_MOST_VOTES.with(&[
                    ("whose", &unit_noun(facts)),
                    ("votes", &votes),
                    ("answers", &all),
                ]),
                // Votes for both ends have a smaller norm than one for either.
                None => AT_MOST_SQUARES.with(&[
                    ("whose", &unit_noun(facts)),
                    ("votes", &votes),
                    ("answers", &all),
                    ("middle", &u64::from(votes).saturating_mul(2).min(all as u64)),
                ]),
            },
            QUESTIONS_PUBLIC.into(),
        ];
        let few = answering.few_voters_warning(facts);
        notes.extend(few.map(Note::expectation));
        if task.stream.is_some() {
            notes.push(stream::STREAM_NOTE.into());
        }
        Ok(FamilyPlan {
            work: Work::Private(Arc::new(answering)),
            settled,
            arithmetic: Arithmetic::Finite,
            notes,
        })
    }

    fn admit(facts: &Facts, table: &dyn Table) -> Result<(), LearnError> {
        problems::check(facts, table)
    }

    fn fits(request: &Request<Self>, answered: &NoisyVotes) -> Result<(), String> {
        let facts = Self::facts(request).map_err(|error| error.to_string())?;
        let whole = |votes: &Vec<f64>| {
            votes.len() == ends(&facts) && votes.iter().all(|number| number.is_finite())
        };
        let task = &request.task;
        let many = match task.stream {
            Some(all) => {
                let batch = Self { questions: answered.questions.clone(), ..task.clone() };
                let asked = answered.first.checked_add(answered.votes.len() as u64);
                answered.votes.len() == answered.questions.len()
                    && asked.is_some_and(|asked| asked <= u64::from(all))
                    && batch.check(&facts).is_ok()
            }
            None => {
                answered.votes.len() == task.questions.len()
                    && answered.questions.is_empty()
                    && answered.first == 0
            }
        };
        let fits = many && answered.votes.iter().all(whole);
        if fits { Ok(()) } else { Err("its answers do not fit its questions".into()) }
    }

    fn noise_on(&self) -> &'static str {
        "the votes"
    }

    fn summary(&self) -> String {
        let count = self.in_all();
        format!(
            "answers to {count} {} by records nearby",
            if count == 1 { "question" } else { "questions" }
        )
    }
}

/// The unit whose votes are counted, in words.
fn unit_noun(facts: &Facts) -> &'static str {
    match facts.unit {
        Unit::Record => "a record",
        Unit::User { .. } => "a person",
    }
}

/// The number of entries of an answer: the classes, or the two ends of a number.
fn ends(facts: &Facts) -> usize {
    (facts.problems as usize).max(2)
}

const AT_MOST_VOTES: Condition = Condition::new(
    "at-most-votes",
    "{whose} has a vote in at most {votes} of the {answers} answers; who has used theirs up is not shown",
);
const AT_MOST_SQUARES: Condition = Condition::new(
    "at-most-squares-of-votes",
    "the squares of the votes of {whose} add up to at most {votes} in all {answers} answers: a number at an end of its \
     bounds votes in {votes} of them, one in the middle in up to {middle}; who has used theirs up is not shown",
);
const QUESTIONS_PUBLIC: Condition = Condition::new(
    "questions-public",
    "the questions are public, and nothing protects them; records taken out of the table later leave the \
     answers given before as they are",
);
