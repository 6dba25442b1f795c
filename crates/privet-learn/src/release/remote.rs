//! Rows that other machines keep: admitted there, by the rule of the plan.
//!
//! [`admit_piece`] is what [`crate::Plan::run`] asks of a whole table in memory, asked of a piece where it is
//! kept: columns, targets, lengths, and how many rows a unit has. It must see all rows of a unit together. How
//! many rows there are in all is for whoever puts the pieces together.

use crate::LearnError;
use crate::release::request::Request;
use crate::release::run::PartOf;
use crate::release::task::Task;
use privet_data::Dataset;

/// Refuses rows for which the theorem of a settled request was not proved.
pub fn admit_piece<T: Task>(request: &Request<T>, piece: &Dataset) -> Result<(), LearnError> {
    let rows = usize::try_from(request.rows).unwrap_or(usize::MAX);
    T::admit(&T::facts(request)?, &PartOf { table: piece, rows })
}
