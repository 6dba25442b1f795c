//! Records in memory.

use crate::{matrix::Matrix, read::Report};
use std::fmt;

/// The null record's label among classes; see [`crate::schema::Invalid`].
pub(crate) const NULL_CLASS: u32 = 0;
/// The null record's label where the target is a number: the middle of its bounds.
pub(crate) const NULL_NUMBER: f64 = 0.0;

/// The target of each row.
#[derive(Clone, PartialEq)]
pub enum Target {
    /// Labels.
    Class {
        /// The index of each row's class in the schema's list.
        codes: Vec<u32>,
        /// The number of classes in the schema.
        count: usize,
    },
    /// Numbers in [−1, 1] (see [`crate::Encoding::decode_target`]).
    Number(Vec<f64>),
}

impl Target {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Class { codes, .. } => codes.len(),
            Self::Number(values) => values.len(),
        }
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Targets of a linear model: −1 and +1 for two classes, the number otherwise; `None` for three
    /// classes or more.
    pub fn signed(&self) -> Option<Vec<f64>> {
        match self {
            Self::Class { codes, count: 2 } => {
                Some(codes.iter().map(|&code| if code == 0 { -1.0 } else { 1.0 }).collect())
            }
            Self::Class { .. } => None,
            Self::Number(values) => Some(values.clone()),
        }
    }

    /// One class against the rest: +1 where the row's class is `class`; `None` for numbers.
    pub fn against_rest(&self, class: u32) -> Option<Vec<f64>> {
        match self {
            Self::Class { codes, .. } => {
                Some(codes.iter().map(|&code| if code == class { 1.0 } else { -1.0 }).collect())
            }
            Self::Number(_) => None,
        }
    }

    /// Sets the targets of these rows to the null record's: the first class, or the middle of the
    /// bounds.
    pub(crate) fn set_null(&mut self, rows: &[usize]) {
        match self {
            Self::Class { codes, .. } => rows.iter().for_each(|&row| codes[row] = NULL_CLASS),
            Self::Number(values) => rows.iter().for_each(|&row| values[row] = NULL_NUMBER),
        }
    }

    fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::Class { codes, count } => {
                Self::Class { codes: rows.iter().map(|&row| codes[row]).collect(), count: *count }
            }
            Self::Number(values) => Self::Number(rows.iter().map(|&row| values[row]).collect()),
        }
    }
}

/// Encoded, clipped records. Private: printing shows the shape of the schema only.
#[derive(Clone)]
pub struct Dataset {
    /// One row per record.
    pub features: Matrix,
    /// The target of each row.
    pub target: Target,
    /// The unit of each row, where the schema names a unit column: equal numbers, same user.
    pub units: Option<Vec<u64>>,
    /// Counts and notes about the reading, for the operator.
    pub report: Report,
}

impl Dataset {
    /// Number of records. Private under add-remove.
    pub fn rows(&self) -> usize {
        self.features.rows()
    }

    /// The rows of these indices, in the order given.
    ///
    /// # Panics
    /// If a row does not exist.
    pub fn select(&self, rows: &[usize]) -> Self {
        let is_null = |row: usize| self.report.null_rows.binary_search(&row).is_ok();
        let null_rows = (0..rows.len()).filter(|&place| is_null(rows[place])).collect();
        Self {
            features: self.features.select(rows),
            target: self.target.select(rows),
            units: self.units.as_ref().map(|units| rows.iter().map(|&row| units[row]).collect()),
            report: Report { null_rows, ..self.report.clone() },
        }
    }
}

/// Encoded, clipped records without labels, read for prediction.
#[derive(Clone, Debug)]
pub struct Features {
    /// One row per record.
    pub matrix: Matrix,
    /// Counts and notes about the reading, for the operator.
    pub report: Report,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class { count, .. } => write!(f, "Target({count} classes, values withheld)"),
            Self::Number(_) => f.write_str("Target(number, values withheld)"),
        }
    }
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset")
            .field("features", &self.features)
            .field("target", &self.target)
            .field("units", &self.units.as_ref().map(|_| "withheld"))
            .finish_non_exhaustive()
    }
}
