//! Rows kept by other machines: checked there, by the rule of the plan.
//!
//! [`admit_piece`] applies to a piece, where it is kept, the checks of a whole table in memory by
//! [`Plan::run`](crate::release::plan::Plan::run): columns, targets, norms, and the number of rows of a
//! unit. It must see all rows of a unit together. The total number of rows is checked by the caller that
//! joins the pieces.

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
