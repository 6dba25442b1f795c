//! Learning with any model (PATE): teachers vote on public rows, and the labels that they agree on are
//! released.
//!
//! | file | contents |
//! |---|---|
//! | [`chunks`] | assignment of a unit's records to a teacher |
//! | [`teacher`] | built-in learners (`logistic`, `least_squares`, `tree`, `propagation`), or any other |
//! | [`command`] | any program as a teacher |
//! | [`graph`] | nearest-neighbour graph of public rows, and propagation of labels on it |
//! | `ballots` | vote counts, and their distance to another winner |
//! | [`aggregate`] | the registry of aggregators: [`sparse_vector`], [`estimated`], [`gnmax`] |
//! | [`choosing`] | active choice of the public rows to label next, by the labels so far |
//! | [`public`] | digest of the public rows that were voted on |
//! | `vote` | the plan and its execution |
//! | [`stream`] | queries that come in batches, from one budget |
//! | [`student`] | a model of the labels, at no further cost |
//! | [`subsample_aggregate`] | any discrete function of records, repeatedly, as a building block |
//!
//! **Protected** are the records that teachers learn from. The public rows that they vote on are not,
//! and must not depend on the records. **Released** are [`Labels`]: a class, or none, for each public
//! row. Any model learnt from those is post-processing.
//!
//! Privacy holds for any teacher ([`teacher`]) and any number b of teachers.

pub mod aggregate;
mod ballots;
pub mod choosing;
pub mod chunks;
pub mod command;
pub mod estimated;
pub mod gnmax;
pub mod graph;
mod least_squares;
mod logistic;
mod propagation;
pub mod public;
mod report;
pub mod sparse_vector;
pub mod stream;
pub mod student;
pub mod subsample_aggregate;
pub mod teacher;
mod tree;
mod vote;

pub use aggregate::{AGGREGATORS, Aggregator, AggregatorFacts};
pub use choosing::CHOOSE;
pub use teacher::{
    Ballot, Classifier, LabelledRows, TEACHERS, Teach, Teacher, TeacherInfo, TrainingData,
};
pub use vote::with_rows_and_teachers;

use crate::linear::facts::Facts;
use crate::linear::problems;
use crate::release::allowance::Allowance;
use crate::release::plan::no_budget;
use crate::release::task::{Artefact, FamilyPlan, Task, Work};
use crate::{LearnError, Request};
use aggregate::PlanInput;
use privet_core::{Budget, Neighbours, Range};
use privet_data::Schema;
use privet_data::matrix::Matrix;
use privet_dp::account::ThresholdNoise;
use privet_dp::gate::Arithmetic;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use sparse_vector::SparseVector;
use std::sync::Arc;

/// Limits on the number of teachers.
pub const TEACHER_COUNT: Range = Range::from("teachers", 1.0, 1_000_001.0);
/// Limits on the number of queries.
pub const QUERIES: Range = Range::from("queries", 1.0, 100_000_001.0);

/// A request for labels of public rows by the votes of teachers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vote {
    /// Number of public rows to label, all batches together, m̃.
    pub queries: u64,
    /// Number of teachers, b; chosen from public facts unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teachers: Option<u32>,
    /// Learner of the teachers.
    pub teacher: Teacher,
    /// Aggregator that turns votes into labels.
    pub aggregator: Aggregator,
    /// True if queries come in batches, each after the labels of earlier batches.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
    /// Number of public rows after those to label: no votes are counted on them, but teachers and
    /// students may propagate labels among them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beside: u64,
    /// Number of rounds of active choice: rows are then chosen ([`choosing`]) among all public ones,
    /// each round after the labels of earlier rounds. The first rows, in one round, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choose: Option<u32>,
    /// Digest of all public rows ([`public::digest`]), if they are known when the plan is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public: Option<String>,
}

/// Code of a row without a label.
pub const NO_LABEL: i32 = -1;

/// Labels of public rows, in the order of the queries: that of the rows, unless they were chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Labels {
    /// Number of earlier queries.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first: u64,
    /// Index of the class in the schema's list, or −1 for none.
    pub labels: Vec<i32>,
    /// Number of unanswered queries that ends the run, T, if it was chosen in the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cutoff: Option<u32>,
    /// Indices of the labelled public rows, in the order of the queries, if they were chosen in the run;
    /// otherwise the labels are of the first rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<u64>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Labels {
    /// A class, or none, for each of `rows` public rows, in their order.
    pub fn by_row(&self, rows: usize) -> Vec<Option<u32>> {
        let mut by_row = self.classes();
        if !self.places.is_empty() {
            by_row.fill(None);
        }
        by_row.resize(rows, None);
        for (place, class) in self.places.iter().zip(self.classes()) {
            if let Some(row) = by_row.get_mut(*place as usize) {
                *row = class;
            }
        }
        by_row
    }

    /// A class, or none, for each query.
    pub fn classes(&self) -> Vec<Option<u32>> {
        self.labels.iter().map(|label| u32::try_from(*label).ok()).collect()
    }

    /// Number of rows that have a class.
    pub fn answered(&self) -> usize {
        self.labels.iter().filter(|label| **label >= 0).count()
    }
}

impl Artefact for Labels {
    const KIND: &'static str = "labels";

    fn numbers(&self) -> Vec<f64> {
        self.labels.iter().map(|label| f64::from(*label)).collect()
    }
}

/// Number of classes that the schema lists.
fn classes(request: &Request<Vote>) -> Result<usize, LearnError> {
    request.schema.classes().map(<[String]>::len).ok_or_else(|| LearnError::NotCovered {
        what: "teachers vote for classes, and the target is a number".into(),
        instead: "give a schema whose target lists its classes",
    })
}

/// Refuses a task whose rows cannot be chosen in rounds.
fn choice_fits(task: &Vote, facts: &Facts) -> Result<(), LearnError> {
    let refused = |what: String, instead| Err(LearnError::NotCovered { what, instead });
    if task.stream {
        return refused(
            "a choice of rows in a stream, whose rows come later".into(),
            "choose the rows of a batch by the labels of those before, as the stream goes on",
        );
    }
    if !task.aggregator.info().more.rounds {
        return refused(
            format!(
                "aggregator {} looks at all questions before it answers the first, and rows are chosen after answers",
                task.aggregator
            ),
            "give aggregator gnmax or sparse-vector, or ask about the first rows",
        );
    }
    if task.beside == 0 || task.queries < u64::from(task.choose.unwrap_or(1)) {
        return refused(
            format!(
                "a choice of {} among {} public rows in {} rounds",
                task.queries,
                task.queries + task.beside,
                task.choose.unwrap_or(1)
            ),
            "ask about fewer rows than there are, and about one a round or more",
        );
    }
    match choosing::ChosenRows::too_large(task.queries + task.beside, facts.columns) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

impl Task for Vote {
    const NAME: &'static str = "vote";
    const LABELS: bool = true;
    type Facts = Facts;
    type Artefact = Labels;

    fn facts(request: &Request<Self>) -> Result<Facts, LearnError> {
        classes(request)?;
        Facts::of_rows(request)
    }

    fn plan(request: &Request<Self>, facts: &Facts) -> Result<FamilyPlan<Self>, LearnError> {
        let task = &request.task;
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        QUERIES.check(task.queries as f64)?;
        if task.beside > 0 {
            QUERIES.check(task.beside as f64)?;
        }
        if task.stream && task.beside > 0 {
            return Err(LearnError::NotCovered {
                what: "public rows beside those that are asked about, in a stream".into(),
                instead: "leave them out: every batch is a table of its own",
            });
        }
        let hex =
            |text: &String| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if task.public.as_ref().is_some_and(|digest| !hex(digest) || task.stream) {
            return Err(LearnError::NotCovered {
                what: "a digest of public rows that is none, or of a stream, whose rows come later"
                    .into(),
                instead: "give the 64 hexadecimal digits of SHA-256, or leave it out",
            });
        }
        if let Some(teachers) = task.teachers {
            TEACHER_COUNT.check(f64::from(teachers))?;
            if u64::from(teachers) > facts.rows {
                return Err(LearnError::NotCovered {
                    what: format!("{teachers} teachers of {} declared rows", facts.rows),
                    instead: "give at most as many teachers as rows; each learns from a chunk of them",
                });
            }
        }
        if task.stream && !task.aggregator.info().more.streams {
            return Err(LearnError::NotCovered {
                what: format!("aggregator {} plans for one batch of questions", task.aggregator),
                instead: "give aggregator sparse-vector for questions that come in batches",
            });
        }
        if let (
            true,
            Aggregator::SparseVector(SparseVector { law: Some(ThresholdNoise::Laplace), .. }),
        ) = (task.stream, &task.aggregator)
        {
            // Its threshold counts queries, and those of a lost process are not counted.
            return Err(LearnError::NotCovered {
                what: "questions in batches under noise of law laplace".into(),
                instead: "leave out the law, or give exponential, whose threshold holds for any number of questions",
            });
        }
        if let Some(rounds) = task.choose {
            CHOOSE.check(f64::from(rounds))?;
            choice_fits(task, facts)?;
        }
        let classes = classes(request)?;
        let wanted = PlanInput {
            facts,
            budget: Allowance::new(budget, &request.noise),
            calibration: request.calibration,
            questions: task.queries,
            classes,
            teachers: task.teachers,
        };
        let teacher = task.teacher.with_all_settings()?;
        let decision = task.aggregator.plan(&wanted)?;
        let rows = facts.rows / u64::from(decision.teachers.max(1));
        if let Some(error) = teacher.too_large(task.queries + task.beside, rows, facts.columns) {
            return Err(error);
        }
        let settled = Self {
            teachers: Some(decision.teachers),
            teacher: teacher.clone(),
            aggregator: decision.settled,
            ..task.clone()
        };
        let voting = vote::VotePlan::new(&settled, facts, classes, decision.aggregate);
        let mut notes = decision.notes;
        notes.push(vote::PUBLIC_ROWS_NOTE.into());
        if let Teacher::Outside { .. } = settled.teacher {
            notes.push(vote::OUTSIDE_TEACHERS_NOTE.into());
        }
        if request.neighbours == Neighbours::ReplaceLabel {
            notes.push(vote::LABELS_ALONE.into());
        }
        Ok(FamilyPlan {
            work: Work::Private(Arc::new(voting)),
            settled,
            arithmetic: Arithmetic::Finite,
            notes,
        })
    }

    fn admit(facts: &Facts, table: &dyn Table) -> Result<(), LearnError> {
        problems::check(facts, table)
    }

    fn fits(request: &Request<Self>, found: &Labels) -> Result<(), String> {
        let classes = classes(request).map_err(|error| error.to_string())?;
        let known = |label: &i32| *label >= NO_LABEL && *label < classes as i32;
        let asked = found.first.checked_add(found.labels.len() as u64);
        let task = &request.task;
        let many = match task.stream {
            true => asked.is_some_and(|asked| asked <= task.queries) && !found.labels.is_empty(),
            false => found.first == 0 && found.labels.len() as u64 == task.queries,
        };
        let many = many
            && match task.choose {
                Some(_) => found.places.len() == found.labels.len(),
                None => found.places.is_empty(),
            };
        if !found.labels.iter().all(known) {
            return Err("it has a label that is no class of its schema".into());
        }
        let rows = task.queries.saturating_add(task.beside);
        let odd = task.choose.and_then(|rounds| choosing::refuses(&found.places, rows, rounds));
        match (many, odd) {
            (true, None) => Ok(()),
            (true, Some(why)) => Err(why.into()),
            (false, _) => Err("it has not as many labels as questions".into()),
        }
    }

    fn rests_on_public_rows(&self) -> Option<String> {
        let told = || {
            "of which public rows the labels are (their file has the digest that is stated)".into()
        };
        self.public.as_ref().map(|_| told())
    }

    fn noise_on(&self) -> &'static str {
        self.aggregator.info().noisy
    }

    fn summary(&self) -> String {
        format!("method {}", self.aggregator)
    }
}

impl Vote {
    /// Requests labels of `queries` public rows, by logistic teachers.
    pub fn on(queries: u64) -> Self {
        Self {
            queries,
            teachers: None,
            teacher: Teacher::Logistic { ridge: None },
            aggregator: Aggregator::default(),
            stream: false,
            beside: 0,
            choose: None,
            public: None,
        }
    }

    /// Requests labels of these rows, encoded by the schema; the certificate states their digest.
    pub fn of(rows: &Matrix) -> Self {
        Self::of_first(rows.rows() as u64, rows)
    }

    /// Requests labels of the first `queries` of these rows, or of all; the others are used unlabelled.
    pub fn of_first(queries: u64, rows: &Matrix) -> Self {
        let beside = (rows.rows() as u64).saturating_sub(queries);
        let queries = rows.rows() as u64 - beside;
        Self { public: Some(public::digest(rows)), beside, ..Self::on(queries) }
    }

    /// Requests labels for a table with this schema, within a budget; δ is 1/rows² unless given.
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
}
