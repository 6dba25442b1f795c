//! Who votes: models that are each trained on one chunk of the records, by any learner at all.
//!
//! **What privacy asks of a teacher** is that its votes are a function of the rows of its own chunk, of public facts
//! (queries, its number) and of coins of its own: nothing learnt from another chunk, no scale fitted on all records, no
//! warm start, no limit that others' work can make it meet. Whatever it does then, one unit moves one
//! teacher's votes. Accuracy is nobody's promise.
//!
//! **Failures are votes.** A teacher that panics, hangs, prints the wrong number of rows or a class that is none, and one
//! without any rows, votes for the first class everywhere (`Ballots::count`): a fact of private rows is never an error.
//!
//! Built in are joint logistic regression, least squares, a tree, a forest, the nearest rows and labels that spread among
//! the public rows (`propagation`); [`super::command`] runs any program, and the Python package any estimator of
//! scikit-learn, through [`Teach`].

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

/// Limits on λ of a logistic teacher.
pub const TEACHER_RIDGE: Range = Range::open("ridge", 0.0, 1e9);
/// Limits on the levels of a tree.
pub const DEPTH: Range = Range::from("depth", 1.0, 65.0);
/// Limits on the trees of a forest.
pub const TREES: Range = Range::from("trees", 1.0, 10_001.0);
/// Limits on the nearest rows that decide.
pub const NEAREST: Range = Range::from("k", 1.0, 10_001.0);

/// The learner that every teacher is trained by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Teacher {
    /// Joint logistic regression.
    Logistic {
        /// λ of the sum form; 0.1 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ridge: Option<f64>,
    },
    /// Least squares of the classes' indicators.
    LeastSquares {
        /// λ of the sum form; 0.03 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ridge: Option<f64>,
    },
    /// Labels that spread among the public rows.
    Propagation {
        /// Public rows that each is tied to; 10 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        k: Option<u32>,
    },
    /// One decision tree.
    Tree {
        /// Levels; 8 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        depth: Option<u32>,
    },
    /// Many of them.
    Forest {
        /// Trees; 30 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trees: Option<u32>,
        /// Levels; 12 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        depth: Option<u32>,
    },
    /// The nearest rows.
    Nearest {
        /// How many; 5 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        k: Option<u32>,
    },
    /// Something else, handed over when the plan is carried out ([`super::taught`]).
    Outside {
        /// What, in words for whoever reads the certificate.
        what: String,
    },
}

/// A teacher that can be asked for by name.
#[derive(Debug, Clone, Copy)]
pub struct TeacherInfo {
    /// The word for `--teacher`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// The settings of its own that it accepts.
    pub settings: &'static [SettingInfo],
}

/// Every teacher that is built in.
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
        settings: &[SettingInfo::whole(
            NEAREST,
            "public rows that each is tied to; 10 unless given",
        )],
    },
    TeacherInfo {
        name: "tree",
        summary: "a decision tree",
        settings: &[SettingInfo::whole(DEPTH, "levels of questions, at most; 8 unless given")],
    },
    TeacherInfo {
        name: "forest",
        summary: "a random forest",
        settings: &[
            SettingInfo::whole(TREES, "trees; 30 unless given"),
            SettingInfo::whole(DEPTH, "levels of questions, at most; 12 unless given"),
        ],
    },
    TeacherInfo {
        name: "nearest",
        summary: "the class of the nearest rows",
        settings: &[SettingInfo::whole(NEAREST, "how many rows decide; 5 unless given")],
    },
];

impl Teacher {
    /// The words accepted by name.
    pub fn accepted() -> String {
        TEACHERS.iter().map(|info| info.name).collect::<Vec<_>>().join(", ")
    }

    /// One that is built in, by its name.
    pub fn named(word: &str) -> Result<Self, LearnError> {
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

    /// The word for it.
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

    /// With one setting given.
    pub fn with(&self, setting: &str, value: &str) -> Result<Self, LearnError> {
        let info = TEACHERS.iter().find(|info| info.name == self.name());
        let known = info.map_or(&[][..], |info| info.settings);
        crate::release::settings::given((self, self.name()), known, setting, value)
    }

    /// With every setting written down, in its range.
    pub(super) fn settled(&self) -> Result<Self, LearnError> {
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
                // It goes into a certificate that others read.
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

    /// The words for learners that learn from rows alone, as students do.
    pub fn students() -> String {
        let alone = TEACHERS.iter().map(|info| info.name).filter(|name| *name != "propagation");
        alone.collect::<Vec<_>>().join(", ")
    }

    /// Why it cannot learn from so many rows, public ones or a chunk's, of so many columns; `None` if it can.
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

    /// Learns from rows, one at least; `None` where the learner is not built in, or does not learn from rows alone.
    pub fn learn(&self, lesson: &Lesson<'_>) -> Option<Box<dyn Classifier>> {
        Some(match self {
            Self::Logistic { ridge } => Box::new(Logistic::of(lesson, ridge.unwrap_or(0.1))),
            Self::LeastSquares { ridge } => {
                Box::new(LeastSquares::of(lesson, ridge.unwrap_or(0.03)))
            }
            Self::Tree { depth } => {
                let growth = Growth { depth: depth.unwrap_or(8), columns: 0, leaf: 2 };
                Box::new(Tree::grown(lesson, growth))
            }
            Self::Forest { trees, depth } => {
                let growth = Growth { depth: depth.unwrap_or(12), columns: 0, leaf: 1 };
                Box::new(Forest::grown(lesson, trees.unwrap_or(30), growth))
            }
            Self::Nearest { k } => Box::new(Nearest::of(lesson, k.unwrap_or(5))),
            Self::Outside { .. } | Self::Propagation { .. } => return None,
        })
    }
}

/// Rows to learn from.
#[derive(Clone, Copy)]
pub struct Lesson<'a> {
    /// Columns of a row.
    pub columns: usize,
    /// Classes that there are, whether or not a row has them.
    pub classes: usize,
    /// Row after row.
    pub rows: &'a [f32],
    /// The class of each.
    pub labels: &'a [u32],
    /// Which teacher learns: all its coins.
    pub number: u32,
}

impl Lesson<'_> {
    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.rows[row * self.columns..(row + 1) * self.columns]
    }
}

impl fmt::Debug for Lesson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lesson({} columns, {} classes, rows withheld)", self.columns, self.classes)
    }
}

/// What a learner learnt.
pub trait Classifier: Send + Sync {
    /// How much speaks for each class; they add up to about 1.
    fn weigh(&self, row: &[f32]) -> Vec<f32>;
}

/// The first of the classes that most speaks for.
pub fn ranked_first(weights: &[f32]) -> u32 {
    let better =
        |best: usize, class: usize| if weights[class] > weights[best] { class } else { best };
    (1..weights.len()).fold(0, better) as u32
}

/// Records, chunks of them, and questions: what teachers are made from.
#[derive(Debug)]
pub struct School<'a> {
    /// The records.
    pub data: &'a Dataset,
    /// Places of the rows of each chunk, ascending.
    pub chunks: &'a [Vec<usize>],
    /// The public rows that are asked about.
    pub queries: &'a Matrix,
    /// All public rows, those that are asked about first.
    pub public: &'a Matrix,
    /// How many classes there are.
    pub classes: usize,
}

/// The votes of one teacher: a class for each question; `None` where it failed.
pub type Ballot = Option<Vec<u32>>;

/// Whoever trains teachers.
pub trait Teach: fmt::Debug + Send + Sync {
    /// The ballots of all teachers, in the order of the chunks, those without rows not asked; `None` if `go_on` said
    /// stop. `go_on` may be asked as often as there are teachers, and no more often for other records.
    fn ballots(
        &self,
        school: &School<'_>,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Ballot>>;
}

impl School<'_> {
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

/// Whether this thread trains a teacher, whose panic becomes a vote. A program's panic hook should then stay
/// silent: how many lines it prints is how many teachers failed, which is a fact of private rows.
pub fn inside_teacher() -> bool {
    TEACHING.get()
}

/// What a teacher says; `None` if it panicked.
pub(super) fn fenced<T>(teach: impl FnOnce() -> T) -> Option<T> {
    let before = TEACHING.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(teach));
    TEACHING.set(before);
    outcome.ok()
}

/// Rows of a matrix one after the other, all columns of each.
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
        school: &School<'_>,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Ballot>> {
        if let Self::Propagation { k } = self {
            return propagation::ballots(school, k.unwrap_or(10), go_on);
        }
        let columns = school.queries.columns();
        let queries = filled_rows(school.queries, 0..school.queries.rows());
        let one = |(number, chunk): (usize, &Vec<usize>)| -> Ballot {
            if chunk.is_empty() {
                return None;
            }
            let rows = filled_rows(&school.data.features, chunk.iter().copied());
            let labels: Vec<u32> = chunk.iter().map(|row| school.labels()[*row]).collect();
            let (classes, number) = (school.classes, number as u32);
            let lesson = Lesson { columns, classes, rows: &rows, labels: &labels, number };
            let learnt = self.learn(&lesson)?;
            Some(
                queries
                    .chunks(columns.max(1))
                    .map(|row| ranked_first(&learnt.weigh(row)))
                    .collect(),
            )
        };
        /// Teachers between two questions whether to go on.
        const PORTION: usize = 16;
        let mut all = Vec::with_capacity(school.chunks.len());
        let numbered: Vec<_> = school.chunks.iter().enumerate().collect();
        for portion in numbered.chunks(PORTION) {
            if !go_on() {
                return None;
            }
            let fenced = |one_of: &(usize, &Vec<usize>)| fenced(|| one(*one_of)).flatten();
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
        assert_eq!(fenced(inside_teacher), Some(true));
        assert_eq!(fenced(|| -> u8 { std::panic::resume_unwind(Box::new("a value")) }), None);
        assert!(!inside_teacher());
    }
}
