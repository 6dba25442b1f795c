//! A student model of the released labels: knowledge transfer.
//!
//! **Theorem** (Thakkar 2019, Algorithm 11). A student is a function of public rows and of released
//! labels: post-processing, for any learner and any number of trainings. The labels come from *one* run
//! for all rows; printed, an oracle is called for each, and an oracle that is begun anew for each would
//! spend the budget as many times.
//!
//! Rows without a label are left out, unless labels are `spread` first among similar public rows
//! ([`super::graph`]): then the student learns from every public row that a label reaches, and labels
//! that noise made wrong are outvoted by those around them. With `rounds` a student labels rows of which
//! it is certain itself, and learns again. Its certainty of other public rows ([`Student::confidence`])
//! may decide which of them are labelled next, in the next batch of a stream or in the same run
//! ([`super::choosing`]): it is computed from public rows and released labels, never from votes.

use super::graph::Graph;
use super::teacher::{Classifier, LabelledRows, Teacher, filled_rows, ranked_first};
use crate::LearnError;
use privet_data::matrix::Matrix;

/// Confidence that a student needs to label a row itself.
const LEAST_CONFIDENCE: f32 = 0.9;

/// Settings of a student.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// Learner of the student.
    pub learner: Teacher,
    /// Number of further rounds with the rows of which it is certain.
    pub rounds: u32,
    /// True if labels are first propagated among similar public rows.
    pub spread: bool,
}

/// Number of public rows that each is connected to.
const TIES: u32 = 10;

impl Study {
    /// A study by this learner, on the rows that have a label and then once more.
    pub fn by(learner: Teacher) -> Self {
        Self { learner, rounds: 1, spread: false }
    }

    /// A study by the learner of this name; refuses learners that need public rows.
    pub fn by_name(word: &str) -> Result<Self, LearnError> {
        match Teacher::by_name(word) {
            Ok(Teacher::Propagation { .. }) | Err(_) => {
                Err(LearnError::UnknownMethod { given: word.into(), accepted: Teacher::students() })
            }
            Ok(learner) => Ok(Self::by(learner)),
        }
    }
}

/// Propagates labels of the first public rows among all similar ones.
pub fn spread(
    rows: &Matrix,
    labels: &[Option<u32>],
    classes: usize,
) -> Result<Vec<Option<u32>>, LearnError> {
    fitting(rows, labels, classes)?;
    let mut labels = labels.to_vec();
    labels.resize(rows.rows(), None);
    Ok(Graph::of(rows, TIES)?.propagate_labels(&labels, classes))
}

fn fitting(rows: &Matrix, labels: &[Option<u32>], classes: usize) -> Result<(), LearnError> {
    if labels.len() > rows.rows() {
        return Err(LearnError::DataShape("there are more labels than public rows"));
    }
    if labels.iter().flatten().any(|label| *label as usize >= classes) {
        return Err(LearnError::DataShape("a label is none of the classes"));
    }
    Ok(())
}

/// A model of released labels.
pub struct Student {
    learnt: Box<dyn Classifier>,
    columns: usize,
}

impl std::fmt::Debug for Student {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Student({} columns)", self.columns)
    }
}

impl Student {
    /// Learns from public rows, of which the first have a label, or none; `None` if no row has one.
    pub fn fit(
        study: &Study,
        rows: &Matrix,
        labels: &[Option<u32>],
        classes: usize,
    ) -> Result<Option<Self>, LearnError> {
        fitting(rows, labels, classes)?;
        let (columns, learner) = (rows.columns(), &study.learner);
        let count = rows.rows() as u64;
        if let Some(error) = learner.too_large(count, count, columns) {
            return Err(error);
        }
        // Rows after the labelled ones were not queried.
        let mut labels = labels.to_vec();
        labels.resize(rows.rows(), None);
        if study.spread {
            labels = spread(rows, &labels, classes)?;
        }
        let mut own: Vec<Option<u32>> = labels.clone();
        let mut student = None;
        for _ in 0..=study.rounds {
            let with = || own.iter().enumerate().filter_map(|(row, label)| Some((row, (*label)?)));
            let known: Vec<u32> = with().map(|(_, label)| label).collect();
            if known.is_empty() {
                return Ok(None);
            }
            let values = filled_rows(rows, with().map(|(row, _)| row));
            let labelled =
                LabelledRows { columns, classes, rows: &values, labels: &known, number: 0 };
            let learnt = learner.learn(&labelled).ok_or_else(|| LearnError::InvalidRequest {
                name: "student",
                what: format!(
                    "is a learner that is not built in, or none of rows alone; accepted: {}",
                    Teacher::students()
                ),
            })?;
            let next = Self { learnt, columns };
            own = next
                .weighted_classes(rows)
                .zip(&labels)
                .map(|(weights, label)| {
                    let best = ranked_first(&weights);
                    label.or_else(|| (weights[best as usize] >= LEAST_CONFIDENCE).then_some(best))
                })
                .collect();
            student = Some(next);
        }
        Ok(student)
    }

    fn weighted_classes<'a>(&'a self, rows: &'a Matrix) -> impl Iterator<Item = Vec<f32>> + 'a {
        (0..rows.rows())
            .map(|row| self.learnt.class_weights(&filled_rows(rows, std::iter::once(row))))
    }

    /// A class for each row.
    pub fn predict(&self, rows: &Matrix) -> Result<Vec<u32>, LearnError> {
        self.fits(rows)?;
        Ok(self.weighted_classes(rows).map(|weights| ranked_first(&weights)).collect())
    }

    /// Confidence in the class of each row, up to 1.
    pub fn confidence(&self, rows: &Matrix) -> Result<Vec<f32>, LearnError> {
        self.fits(rows)?;
        Ok(self
            .weighted_classes(rows)
            .map(|weights| weights.iter().copied().fold(0.0, f32::max))
            .collect())
    }

    fn fits(&self, rows: &Matrix) -> Result<(), LearnError> {
        match rows.columns() == self.columns {
            true => Ok(()),
            false => Err(LearnError::DataShape(
                "the rows have other columns than the student learnt from",
            )),
        }
    }
}
