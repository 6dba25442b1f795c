//! Private prediction by the votes of records near a question: no model is trained, and records that are near to
//! nothing that is asked pay nothing.
//!
//! A question is a public row without its target. Every record within a public distance r of it votes: for its class,
//! or where the target is a number for the low and the high end in proportion. Votes are summed, noised and released,
//! a number for each class; the answer is the class with the most (`answered`), and how many voted is their sum, noised
//! like them.
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
//! **In batches** ([`stream`]): questions that come later, from one budget, by processes that come and go.
//!
//! *In finite arithmetic.* Votes are whole numbers of 2⁻²⁰, scaled toward 0; the filter compares whole numbers. Distances
//! are floating-point numbers, the same for any storage of rows: whatever they round to, a record decides for itself.
//! How long a run takes depends on the records and is not hidden. Tested by `tests/all/neighbours.rs`.

mod answered;
mod answering;
mod parts;
mod report;
mod rule;
pub mod stream;

use crate::linear::Erm;
use crate::linear::facts::Facts;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::note::Note;
use crate::release::plan::no_budget;
use crate::release::request::{Calibration, Request};
use crate::release::task::{Artefact, Planned, Task, Work};
use crate::{LearnError, Method};
use answering::Answering;
use privet_core::{Budget, Neighbours, Range, Unit};
use privet_data::Schema;
use privet_data::matrix::Matrix;
use privet_dp::gate::Arithmetic;
use privet_optim::loss::Loss;
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
    /// Each question, encoded by the schema as records are; of a stream those that distance and votes are chosen from, as
    /// the first batch.
    pub questions: Vec<Vec<f64>>,
    /// r; chosen from the questions unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// K: how many answers a unit takes part in with its full vote; chosen from the questions unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub votes: Option<u32>,
    /// How many questions there are in all, where they come in batches ([`stream`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<u32>,
}

/// Noised votes for each question: a number for each class, or for the low and the high end of a numeric target. They
/// may be below 0 where next to nobody is near.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answered {
    /// In the order of the questions.
    pub votes: Vec<Vec<f64>>,
    /// Of a stream: how many questions were asked before these.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first: u64,
    /// Of a stream: these questions, encoded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Vec<f64>>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Artefact for Answered {
    const KIND: &'static str = "answers";

    fn numbers(&self) -> Vec<f64> {
        self.votes.iter().flatten().copied().collect()
    }
}

impl Nearby {
    /// Questions in the rows of a matrix, encoded by the schema of the request.
    pub fn of(rows: &Matrix) -> Self {
        let one = |row| rows.dense_row(row).into_iter().map(f64::from).collect();
        let questions = (0..rows.rows()).map(one).collect();
        Self { questions, within: None, votes: None, stream: None }
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

    /// The scale of the noise on votes, of a request that a plan has settled; 0 of another.
    pub fn noise(settled: &Request<Self>) -> f64 {
        settled.noise.first().copied().unwrap_or(0.0)
    }

    /// How many questions there are in all.
    pub fn in_all(&self) -> usize {
        self.stream.map_or(self.questions.len(), |all| all as usize)
    }

    /// Refuses questions that are none.
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
        let answering = Answering::planned(task, facts, &Allowance::new(budget, &request.noise))?;
        let settled = answering.settles(task);
        let (all, votes) = (task.in_all(), settled.votes.unwrap_or(0));
        let mut notes: Vec<Note> = vec![
            match request.schema.classes() {
                Some(_) => format!(
                    "{} has a vote in at most {votes} of the {all} answers; who has used theirs up is not shown",
                    whose(facts)
                ),
                // Votes for both ends are shorter than one for either.
                None => format!(
                    "the squares of the votes of {} add up to at most {votes} in all {all} answers: a number at an end of its \
                     bounds votes in {votes} of them, one in the middle in up to {}; who has used theirs up is not shown",
                    whose(facts),
                    u64::from(votes).saturating_mul(2).min(all as u64)
                ),
            }
            .into(),
            "the questions are public, and nothing protects them; records taken out of the table later leave the \
             answers given before as they are"
                .into(),
        ];
        let few = answering.few(facts);
        notes.extend(few.map(Note::expectation));
        if task.stream.is_some() {
            notes.push(stream::CHANGED.into());
        }
        Ok(Planned {
            work: Work::Private(Arc::new(answering)),
            settled,
            arithmetic: Arithmetic::Finite,
            notes,
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

    fn noised(&self) -> &'static str {
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

/// Whose votes are counted, in words.
fn whose(facts: &Facts) -> &'static str {
    match facts.unit {
        Unit::Record => "a record",
        Unit::User { .. } => "a person",
    }
}

/// How many numbers an answer has: the classes, or the two ends of a number.
fn ends(facts: &Facts) -> usize {
    (facts.problems as usize).max(2)
}
