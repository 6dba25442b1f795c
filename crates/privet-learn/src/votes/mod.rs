//! Learning with any model: many teachers vote on public rows, and what they agree on is released.
//!
//! | file | what |
//! |---|---|
//! | [`chunks`] | which teacher a unit's records go to |
//! | [`teacher`] | who votes: built-in learners (`logistic`, `least_squares`, `tree`, `propagation`), any program ([`command`]), any estimator |
//! | [`graph`] | public rows that resemble one another, and labels that spread among them |
//! | `ballots` | votes counted, and their distance to another winner |
//! | [`aggregate`] | the registry of aggregators: [`sparse_vector`], [`estimated`], [`gnmax`] |
//! | [`choosing`] | which public rows are asked about next, by labels so far |
//! | [`public`] | which public rows were voted on, stated by a digest |
//! | `vote` | the plan, and how it is carried out |
//! | [`stream`] | questions that come in batches, from one budget |
//! | [`student`] | a model of the labels, free of further cost |
//! | [`subsample_aggregate`] | any discrete function of records, again and again, as a building block |
//!
//! **What is protected** are the records that teachers learn from. The public rows that they vote on are not, and must not
//! depend on the records. **What is released** are [`Labels`]: a class, or none, for each public row. Whatever is learnt
//! from those is post-processing.
//!
//! A teacher may be anything ([`teacher`]); b, the number of teachers, may be anything as well as far as privacy goes.

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
pub use teacher::{Ballot, Classifier, Lesson, School, TEACHERS, Teach, Teacher, TeacherInfo};
pub use vote::taught;

use crate::linear::Erm;
use crate::linear::facts::Facts;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::plan::no_budget;
use crate::release::request::Request;
use crate::release::task::{Artefact, Planned, Task, Work};
use crate::{LearnError, Method};
use aggregate::Wanted;
use privet_core::{Budget, Neighbours, Range};
use privet_data::Schema;
use privet_data::matrix::Matrix;
use privet_dp::account::ThresholdNoise;
use privet_dp::gate::Arithmetic;
use privet_optim::loss::Loss;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use sparse_vector::SparseVector;
use std::sync::Arc;

/// Limits on the number of teachers.
pub const TEACHER_COUNT: Range = Range::from("teachers", 1.0, 1_000_001.0);
/// Limits on the number of questions.
pub const QUERIES: Range = Range::from("queries", 1.0, 100_000_001.0);

/// Labels of public rows by the votes of teachers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vote {
    /// m̃: public rows that are asked about, all batches together.
    pub queries: u64,
    /// b; chosen from public facts unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teachers: Option<u32>,
    /// Who votes.
    pub teacher: Teacher,
    /// What turns votes into labels.
    pub aggregator: Aggregator,
    /// Whether questions come in batches, each after the labels of those before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
    /// Public rows after those that are asked about: nobody votes on them, but teachers and students may spread labels
    /// among them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beside: u64,
    /// In how many rounds rows are asked about, each after the labels of those before: the rows are then chosen
    /// ([`choosing`]) among all public ones. One, and the first ones, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choose: Option<u32>,
    /// Digest of the public rows, all of them ([`public::digest`]), where they are known when the plan is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public: Option<String>,
}

/// No class.
pub const NO_LABEL: i32 = -1;

/// Classes of public rows, in the order of asking: that of the rows, unless they were chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Labels {
    /// How many questions were asked before these.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first: u64,
    /// The place of the class in the schema's list, or −1 for none.
    pub labels: Vec<i32>,
    /// T, the number of questions without an answer that end it, where it was chosen in the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cutoff: Option<u32>,
    /// Places of the public rows that the labels are of, in the order of asking, where they were chosen in the run;
    /// else they are of the first ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<u64>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Labels {
    /// A class, or none, for each of so many public rows, in their order.
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

    /// A class, or none, for each row that was asked about.
    pub fn classes(&self) -> Vec<Option<u32>> {
        self.labels.iter().map(|label| u32::try_from(*label).ok()).collect()
    }

    /// How many rows have a class.
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

/// The classes that a schema lists.
fn classes(request: &Request<Vote>) -> Result<usize, LearnError> {
    request.schema.classes().map(<[String]>::len).ok_or_else(|| LearnError::NotCovered {
        what: "teachers vote for classes, and the target is a number".into(),
        instead: "give a schema whose target lists its classes",
    })
}

/// Whether rows can be chosen in rounds.
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
    match choosing::Choosing::too_large(task.queries + task.beside, facts.columns) {
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
        // The learner is no matter: facts are those of rows and target.
        let task = Erm { loss: Loss::Logistic, method: Method::Auto(Default::default()) };
        let of_rows = Request::new(request.schema.clone(), request.rows, request.neighbours, task);
        Facts::of(&of_rows)
    }

    fn plan(request: &Request<Self>, facts: &Facts) -> Result<Planned<Self>, LearnError> {
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
            // Its threshold counts questions, and those of a process that was lost are not counted.
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
        let wanted = Wanted {
            facts,
            budget: Allowance::new(budget, &request.noise),
            calibration: request.calibration,
            questions: task.queries,
            classes,
            teachers: task.teachers,
        };
        let teacher = task.teacher.settled()?;
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
        let voting = vote::Voting::new(&settled, facts, classes, decision.aggregate);
        let mut notes = decision.notes;
        notes.push(vote::PUBLIC.into());
        if let Teacher::Outside { .. } = settled.teacher {
            notes.push(vote::OUTSIDE.into());
        }
        if request.neighbours == Neighbours::ReplaceLabel {
            notes.push(vote::LABELS_ALONE.into());
        }
        Ok(Planned {
            work: Work::Private(Arc::new(voting)),
            settled,
            arithmetic: Arithmetic::Finite,
            notes,
        })
    }

    fn admit(facts: &Facts, table: &dyn Table) -> Result<(), LearnError> {
        admit::check(facts, table)
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

    fn noised(&self) -> &'static str {
        self.aggregator.info().noised
    }

    fn summary(&self) -> String {
        format!("method {}", self.aggregator)
    }
}

impl Vote {
    /// Labels of so many public rows, by logistic teachers.
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

    /// Labels of these rows, encoded by the schema: the certificate states which they were.
    pub fn of(rows: &Matrix) -> Self {
        Self::of_first(rows.rows() as u64, rows)
    }

    /// Labels of the first of these rows, so many or all; the others are seen beside them.
    pub fn of_first(queries: u64, rows: &Matrix) -> Self {
        let beside = (rows.rows() as u64).saturating_sub(queries);
        let queries = rows.rows() as u64 - beside;
        Self { public: Some(public::digest(rows)), beside, ..Self::on(queries) }
    }

    /// For a table with this schema, within a budget; δ is 1/rows² unless given.
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
}
