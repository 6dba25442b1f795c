//! Tables: rows with their targets, wherever they are kept.
//!
//! A learner is given a [`Table`] and asks it, problem by problem, for [`Records`] that answer sums. What
//! needs more than sums says so: rows in memory (orders, subsets, single columns) are offered by memory
//! alone. A learner that needs them refuses other tables in words.

use super::{InMemory, Labels, Records, RecordsError};
use privet_data::Dataset;
use privet_data::matrix::Matrix;
use std::borrow::Cow;

/// Rows with their targets: a back end.
pub trait Table: Send + Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// Number of encoded columns.
    fn columns(&self) -> usize;

    /// All rows, if they are in memory.
    fn in_memory(&self) -> Option<&Dataset>;

    /// Shows consecutive pieces of the table, all rows in their order.
    fn visit(
        &self,
        see: &mut dyn FnMut(&Dataset) -> Result<(), RecordsError>,
    ) -> Result<(), RecordsError>;

    /// The rows at these places, ascending.
    fn rows_at(&self, places: &[usize]) -> Result<Dataset, RecordsError>;

    /// The rows with the labels of one problem.
    fn problem(&self, labels: &Labels) -> Result<Box<dyn Records + '_>, RecordsError>;

    /// The table with every row taken through a map, whenever it is read, to rows of so many columns and one entry more
    /// each; `None` where it cannot do that. Rows in memory are mapped there.
    fn moved<'a>(&'a self, _columns: usize, _map: RowMap<'a>) -> Option<Box<dyn Table + 'a>> {
        None
    }
}

/// A map of single rows, whatever rows lie beside them.
pub type RowMap<'a> = Box<dyn Fn(&Matrix) -> Matrix + Send + Sync + 'a>;

/// The target is of another kind than the labels asked for.
pub(super) fn other_target() -> RecordsError {
    RecordsError::BackEnd("the target is not of the planned kind".into())
}

impl Table for Dataset {
    fn rows(&self) -> usize {
        self.features.rows()
    }

    fn columns(&self) -> usize {
        self.features.columns()
    }

    fn in_memory(&self) -> Option<&Dataset> {
        Some(self)
    }

    fn visit(
        &self,
        see: &mut dyn FnMut(&Dataset) -> Result<(), RecordsError>,
    ) -> Result<(), RecordsError> {
        see(self)
    }

    fn rows_at(&self, places: &[usize]) -> Result<Dataset, RecordsError> {
        if places.iter().any(|place| *place >= self.features.rows()) {
            return Err(RecordsError::BackEnd("no such row".into()));
        }
        Ok(self.select(places))
    }

    fn problem(&self, labels: &Labels) -> Result<Box<dyn Records + '_>, RecordsError> {
        let labels = labels.of(&self.target).ok_or_else(other_target)?;
        Ok(Box::new(InMemory::with(&self.features, Cow::Owned(labels))?))
    }
}
