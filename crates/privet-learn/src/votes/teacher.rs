//! Teachers: models, by any learner, each trained on one chunk of the records.
//!
//! **Requirements of privacy.** A teacher's votes are a function of the rows of its own chunk, of public
//! facts (queries, its number) and of coins of its own: nothing learnt from another chunk, no scale
//! fitted on all records, no warm start, no limit that others' work can make it reach. Then one unit
//! moves one teacher's votes, whatever the teacher does. Accuracy is not guaranteed.
//!
//! **Failures are votes.** A teacher that panics, hangs, prints the wrong number of rows or an invalid
//! class, and one without any rows, votes for the first class everywhere (`Ballots::count`): a fact of
//! private rows is never an error.
//!
//! Built in are joint logistic regression, least squares, a tree, a forest, the nearest rows and label
//! propagation among the public rows (`propagation`); [`super::command`] runs any program, and the
//! Python package any estimator of scikit-learn, through [`Teach`].

use super::least_squares::LeastSquares;
use super::logistic::Logistic;
use super::propagation;
use super::tree::{Forest, Growth, Nearest, Tree};
use crate::LearnError;
use crate::release::settings::SettingInfo;
use privet_core::Range;
use privet_data::matrix::Matrix;
use privet_data::{Dataset, Target};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Limits on the ridge λ of a logistic teacher.
pub const TEACHER_RIDGE: Range = Range::open("ridge", 0.0, 1e9);
/// Limits on the depth of a tree.
pub const DEPTH: Range = Range::from("depth", 1.0, 65.0);
/// Limits on the number of trees of a forest.
pub const TREES: Range = Range::from("trees", 1.0, 10_001.0);
/// Limits on the number of nearest rows that vote.
pub const NEAREST: Range = Range::from("k", 1.0, 10_001.0);

/// The learner that trains every teacher.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Teacher {
    /// Joint logistic regression.
    Logistic {
        /// Ridge λ of the sum form; 0.1 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ridge: Option<f64>,
    },
    /// Least squares of the classes' indicators.
    LeastSquares {
        /// Ridge λ of the sum form; 0.03 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ridge: Option<f64>,
    },
    /// Label propagation among the public rows.
    Propagation {
        /// Number of public rows that each is connected to; 10 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        k: Option<u32>,
    },
    /// One decision tree.
    Tree {
        /// Depth; 8 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        depth: Option<u32>,
    },
    /// Many decision trees.
    Forest {
        /// Number of trees; 30 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trees: Option<u32>,
        /// Depth; 12 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        depth: Option<u32>,
    },
    /// The nearest rows.
    Nearest {
        /// Number of nearest rows; 5 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        k: Option<u32>,
    },
    /// Teachers from outside, supplied before the plan is run ([`super::with_rows_and_teachers`]).
    Outside {
        /// Description for readers of the certificate.
        what: String,
    },
}

/// A teacher that can be requested by name.
#[derive(Debug, Clone, Copy)]
pub struct TeacherInfo {
    /// Name, for `--teacher`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Settings of its own.
    pub settings: &'static [SettingInfo],
}

/// All built-in teachers.
pub const TEACHERS: &[TeacherInfo] = &[
    TeacherInfo {
        name: "logistic",
        summary: "joint logistic regression",
        settings: &[SettingInfo::number(
            TEACHER_RIDGE,
            "pull of the weights to 0; 0.1 unless given",
        )],
    },
    TeacherInfo {
        name: "least-squares",
        summary: "least squares of the classes' indicators",
        settings: &[SettingInfo::number(
            TEACHER_RIDGE,
            "pull of the weights to 0; 0.03 unless given",
        )],
    },
    TeacherInfo {
        name: "propagation",
        summary: "labels that spread among the public rows that resemble one another: a few labelled rows are enough, \
                  so that there may be many teachers; it needs thousands of public rows, and is no student",
        settings: &[SettingInfo::integer(
            NEAREST,
            "public rows that each is tied to; 10 unless given",
        )],
    },
    TeacherInfo {
        name: "tree",
        summary: "a decision tree",
        settings: &[SettingInfo::integer(DEPTH, "levels of questions, at most; 8 unless given")],
    },
    TeacherInfo {
        name: "forest",
        summary: "a random forest",
        settings: &[
            SettingInfo::integer(TREES, "trees; 30 unless given"),
            SettingInfo::integer(DEPTH, "levels of questions, at most; 12 unless given"),
        ],
    },
    TeacherInfo {
        name: "nearest",
        summary: "the class of the nearest rows",
        settings: &[SettingInfo::integer(NEAREST, "how many rows decide; 5 unless given")],
    },
];

impl Teacher {
    /// Names of the built-in teachers.
    pub fn accepted() -> String {
        TEACHERS.iter().map(|info| info.name).collect::<Vec<_>>().join(", ")
    }

    /// Returns a built-in teacher by name.
    pub fn by_name(word: &str) -> Result<Self, LearnError> {
        Ok(match word {
            "logistic" => Self::Logistic { ridge: None },
            "least-squares" => Self::LeastSquares { ridge: None },
            "propagation" => Self::Propagation { k: None },
            "tree" => Self::Tree { depth: None },
            "forest" => Self::Forest { trees: None, depth: None },
            "nearest" => Self::Nearest { k: None },
            _ => {
                return Err(LearnError::UnknownMethod {
                    given: word.into(),
                    accepted: Self::accepted(),
                });
            }
        })
    }

    /// Name of the teacher.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Logistic { .. } => "logistic",
            Self::LeastSquares { .. } => "least-squares",
            Self::Propagation { .. } => "propagation",
            Self::Tree { .. } => "tree",
            Self::Forest { .. } => "forest",
            Self::Nearest { .. } => "nearest",
            Self::Outside { .. } => "outside",
        }
    }

    /// Returns the teacher with one setting changed.
    pub fn with(&self, setting: &str, value: &str) -> Result<Self, LearnError> {
        let info = TEACHERS.iter().find(|info| info.name == self.name());
        let known = info.map_or(&[][..], |info| info.settings);
        crate::release::settings::with_text_setting((self, self.name()), known, setting, value)
    }

    /// Returns the teacher with every setting filled in; refuses one out of its range.
    pub(super) fn with_all_settings(&self) -> Result<Self, LearnError> {
        let whole = |range: Range, given: Option<u32>, usual: u32| {
            let number = given.unwrap_or(usual);
            range.check(f64::from(number)).map(|_| Some(number))
        };
        Ok(match self {
            Self::Logistic { ridge } => {
                Self::Logistic { ridge: Some(TEACHER_RIDGE.check(ridge.unwrap_or(0.1))?) }
            }
            Self::LeastSquares { ridge } => {
                Self::LeastSquares { ridge: Some(TEACHER_RIDGE.check(ridge.unwrap_or(0.03))?) }
            }
            Self::Propagation { k } => Self::Propagation { k: whole(NEAREST, *k, 10)? },
            Self::Tree { depth } => Self::Tree { depth: whole(DEPTH, *depth, 8)? },
            Self::Forest { trees, depth } => {
                Self::Forest { trees: whole(TREES, *trees, 30)?, depth: whole(DEPTH, *depth, 12)? }
            }
            Self::Nearest { k } => Self::Nearest { k: whole(NEAREST, *k, 5)? },
            Self::Outside { what } => {
                // It is printed in a certificate.
                let plain = what.len() <= 200 && !what.chars().any(char::is_control);
                if !plain || what.is_empty() {
                    return Err(LearnError::SettingValue {
                        setting: "what",
                        given: privet_core::printable(what).into_owned(),
                        accepted: "a line of 1 to 200 bytes that says who the teachers are".into(),
                    });
                }
                self.clone()
            }
        })
    }

    /// Names of the learners that learn from labelled rows alone, as students do.
    pub fn students() -> String {
        let alone = TEACHERS.iter().map(|info| info.name).filter(|name| *name != "propagation");
        alone.collect::<Vec<_>>().join(", ")
    }

    /// Refusal of a table of this size, with `public` public rows and `rows` rows a chunk; `None` if it
    /// is accepted.
    pub(super) fn too_large(&self, public: u64, rows: u64, columns: usize) -> Option<LearnError> {
        match self {
            Self::Propagation { .. } => super::graph::too_large(public, columns),
            Self::LeastSquares { .. } if rows.min(columns as u64) > super::least_squares::SIDE => {
                Some(LearnError::NotCovered {
                    what: format!("least squares of {rows} rows of {columns} encoded columns"),
                    instead: "give learner logistic, or at most 5,000 rows or 5,000 columns",
                })
            }
            _ => None,
        }
    }

    /// Learns from at least one row; `None` if the learner is not built in, or needs public rows as
    /// well.
    pub fn learn(&self, labelled: &LabelledRows<'_>) -> Option<Box<dyn Classifier>> {
        Some(match self {
            Self::Logistic { ridge } => Box::new(Logistic::of(labelled, ridge.unwrap_or(0.1))),
            Self::LeastSquares { ridge } => {
                Box::new(LeastSquares::of(labelled, ridge.unwrap_or(0.03)))
            }
            Self::Tree { depth } => {
                let growth = Growth { depth: depth.unwrap_or(8), columns: 0, leaf: 2 };
                Box::new(Tree::grow(labelled, growth))
            }
            Self::Forest { trees, depth } => {
                let growth = Growth { depth: depth.unwrap_or(12), columns: 0, leaf: 1 };
                Box::new(Forest::grow(labelled, trees.unwrap_or(30), growth))
            }
            Self::Nearest { k } => Box::new(Nearest::of(labelled, k.unwrap_or(5))),
            Self::Outside { .. } | Self::Propagation { .. } => return None,
        })
    }
}

/// Labelled rows to learn from.
#[derive(Clone, Copy)]
pub struct LabelledRows<'a> {
    /// Number of columns of a row.
    pub columns: usize,
    /// Number of classes, including those without a row.
    pub classes: usize,
    /// Entries, row-major.
    pub rows: &'a [f32],
    /// Class of each row.
    pub labels: &'a [u32],
    /// Number of the teacher: the seed of all its coins.
    pub number: u32,
}

impl LabelledRows<'_> {
    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.rows[row * self.columns..(row + 1) * self.columns]
    }
}

impl fmt::Debug for LabelledRows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lesson({} columns, {} classes, rows withheld)", self.columns, self.classes)
    }
}

/// A trained model.
pub trait Classifier: Send + Sync {
    /// Weights of the classes, which sum to about 1.
    fn class_weights(&self, row: &[f32]) -> Vec<f32>;
}

/// The first of the classes with the largest weight.
pub fn ranked_first(weights: &[f32]) -> u32 {
    let better =
        |best: usize, class: usize| if weights[class] > weights[best] { class } else { best };
    (1..weights.len()).fold(0, better) as u32
}

/// Records, their chunks, and public rows: the input of teachers.
#[derive(Debug)]
pub struct TrainingData<'a> {
    /// The records.
    pub data: &'a Dataset,
    /// Row indices of each chunk, ascending.
    pub chunks: &'a [Vec<usize>],
    /// The public rows to label.
    pub queries: &'a Matrix,
    /// All public rows, those to label first.
    pub public: &'a Matrix,
    /// Number of classes.
    pub classes: usize,
}

/// The votes of one teacher: a class for each query; `None` if it failed.
pub type Ballot = Option<Vec<u32>>;

/// Trains teachers.
pub trait Teach: fmt::Debug + Send + Sync {
    /// Returns the ballots of all teachers, in the order of the chunks, without training those that have
    /// no rows; `None` once `go_on` returns false. An implementation may poll `go_on` as often as there
    /// are teachers; the number of polls must not depend on the records.
    fn ballots(
        &self,
        training_data: &TrainingData<'_>,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Ballot>>;
}

impl TrainingData<'_> {
    /// Classes of the records.
    pub fn labels(&self) -> &[u32] {
        match &self.data.target {
            Target::Class { codes, .. } => codes,
            Target::Number(_) => &[],
        }
    }
}

thread_local! {
    static TEACHING: Cell<bool> = const { Cell::new(false) };
}

/// True while this thread trains a teacher, whose panic becomes a vote. A program's panic hook should
/// then stay silent: the number of lines it prints is the number of failed teachers, which is a fact of
/// private rows.
pub fn inside_teacher() -> bool {
    TEACHING.get()
}

/// Runs a teacher; `None` if it panicked.
pub(super) fn catch_panic<T>(teach: impl FnOnce() -> T) -> Option<T> {
    let before = TEACHING.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(teach));
    TEACHING.set(before);
    outcome.ok()
}

/// Rows of a matrix as dense rows, one after the other.
pub fn filled_rows(matrix: &Matrix, rows: impl Iterator<Item = usize>) -> Vec<f32> {
    let columns = matrix.columns();
    let mut values = Vec::new();
    for row in rows {
        match matrix {
            Matrix::Dense(dense) => values.extend_from_slice(dense.row(row)),
            Matrix::Csr(_) => {
                let start = values.len();
                values.resize(start + columns, 0.0);
                for (column, value) in matrix.entries(row) {
                    values[start + column as usize] = value;
                }
            }
        }
    }
    values
}

impl Teach for Teacher {
    fn ballots(
        &self,
        training_data: &TrainingData<'_>,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Ballot>> {
        if let Self::Propagation { k } = self {
            return propagation::ballots(training_data, k.unwrap_or(10), go_on);
        }
        let columns = training_data.queries.columns();
        let queries = filled_rows(training_data.queries, 0..training_data.queries.rows());
        let one = |(number, chunk): (usize, &Vec<usize>)| -> Ballot {
            if chunk.is_empty() {
                return None;
            }
            let rows = filled_rows(&training_data.data.features, chunk.iter().copied());
            let labels: Vec<u32> = chunk.iter().map(|row| training_data.labels()[*row]).collect();
            let (classes, number) = (training_data.classes, number as u32);
            let labelled = LabelledRows { columns, classes, rows: &rows, labels: &labels, number };
            let learnt = self.learn(&labelled)?;
            Some(
                queries
                    .chunks(columns.max(1))
                    .map(|row| ranked_first(&learnt.class_weights(row)))
                    .collect(),
            )
        };
        /// Teachers between two polls of `go_on`.
        const TEACHERS_PER_POLL: usize = 16;
        let mut all = Vec::with_capacity(training_data.chunks.len());
        let numbered: Vec<_> = training_data.chunks.iter().enumerate().collect();
        for portion in numbered.chunks(TEACHERS_PER_POLL) {
            if !go_on() {
                return None;
            }
            let fenced = |one_of: &(usize, &Vec<usize>)| catch_panic(|| one(*one_of)).flatten();
            all.extend(portion.par_iter().map(fenced).collect::<Vec<_>>());
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_teacher_that_panics_has_no_ballot_and_says_nothing() {
        assert_eq!(catch_panic(inside_teacher), Some(true));
        assert_eq!(catch_panic(|| -> u8 { std::panic::resume_unwind(Box::new("a value")) }), None);
        assert!(!inside_teacher());
    }
}
