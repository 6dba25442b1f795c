//! Tables: rows with their targets, in any back end.
//!
//! A learner receives a [`Table`] and obtains from it, for each problem, [`Records`] that answer sums.
//! Rows themselves (orders, subsets, single columns) are available from memory alone. A learner that
//! needs them refuses other tables with an error.

use super::{InMemory, Labels, Records, RecordsError};
use privet_data::Dataset;
use privet_data::centre::Centre;
use privet_data::read::Report;
use std::borrow::Cow;

/// Rows with their targets: a back end.
pub trait Table: Send + Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// Number of encoded columns.
    fn columns(&self) -> usize;

    /// All rows, if they are in memory.
    fn in_memory(&self) -> Option<&Dataset>;

    /// Passes consecutive pieces of the table to `see`: all rows, in their order.
    fn visit(
        &self,
        see: &mut dyn FnMut(&Dataset) -> Result<(), RecordsError>,
    ) -> Result<(), RecordsError>;

    /// The rows at these indices, ascending.
    fn rows_at(&self, places: &[usize]) -> Result<Dataset, RecordsError>;

    /// True if every row was checked by the plan's own rule where it is kept, so that it is not shown
    /// here.
    fn is_vouched_for(&self) -> bool {
        false
    }

    /// True if [`Table::recentred`] is implemented.
    fn offers_less(&self) -> bool {
        false
    }

    /// The same rows minus a public vector, with one more column ([`Centre::rows`]).
    fn recentred(&self, _centre: &Centre) -> Result<Box<dyn Table + '_>, RecordsError> {
        Err(RecordsError::BackEnd("rows less a vector are not offered".into()))
    }

    /// The rows with the labels of one problem.
    fn problem(&self, labels: &Labels) -> Result<Box<dyn Records + '_>, RecordsError>;
}

/// The error for a target of another kind than the requested labels.
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

    fn offers_less(&self) -> bool {
        true
    }

    fn recentred(&self, centre: &Centre) -> Result<Box<dyn Table + '_>, RecordsError> {
        Ok(Box::new(Dataset {
            features: centre.rows(&self.features),
            target: self.target.clone(),
            units: None,
            report: Report::default(),
        }))
    }

    fn problem(&self, labels: &Labels) -> Result<Box<dyn Records + '_>, RecordsError> {
        let labels = labels.of(&self.target).ok_or_else(other_target)?;
        Ok(Box::new(InMemory::with(&self.features, Cow::Owned(labels))?))
    }
}
