//! Rows that other machines keep: admitted there, by the rule of the plan.
//!
//! [`admit_piece`] is what [`crate::Plan::run`] asks of a whole table in memory, asked of a piece where it is
//! kept: columns, targets, lengths, and how many rows a unit has. It must see all rows of a unit together. How
//! many rows there are in all is for whoever puts the pieces together.

use crate::LearnError;
use crate::request::Request;
use crate::task::Task;
use privet_data::Dataset;
use privet_optim::sum::{Labels, Records, RecordsError, Table};

/// Refuses rows for which the theorem of a settled request was not proved.
pub fn admit_piece<T: Task>(request: &Request<T>, piece: &Dataset) -> Result<(), LearnError> {
    let rows = usize::try_from(request.rows).unwrap_or(usize::MAX);
    T::admit(&T::facts(request)?, &Piece { piece, rows })
}

/// Some rows of a table that has as many as were declared.
struct Piece<'a> {
    piece: &'a Dataset,
    rows: usize,
}

impl Table for Piece<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.piece.features.columns()
    }

    fn in_memory(&self) -> Option<&Dataset> {
        None
    }

    fn visit(
        &self,
        see: &mut dyn FnMut(&Dataset) -> Result<(), RecordsError>,
    ) -> Result<(), RecordsError> {
        see(self.piece)
    }

    fn rows_at(&self, places: &[usize]) -> Result<Dataset, RecordsError> {
        self.piece.rows_at(places)
    }

    fn problem(&self, labels: &Labels) -> Result<Box<dyn Records + '_>, RecordsError> {
        self.piece.problem(labels)
    }
}
