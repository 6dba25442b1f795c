//! Checks of the data that are the same for every plan.

use crate::LearnError;
use privet_core::{Relation, Unit};
use privet_data::Dataset;
use privet_optim::sum::{Labels, Records, RecordsError, Table};
use std::collections::HashMap;

/// Checks the assumptions of every theorem: the number of rows where it is public, the number of
/// columns, one target per row, and no unit above its cap. `also` checks the further assumptions of the
/// family on each piece of the table.
pub fn shape(
    relation: Relation,
    rows: u64,
    columns: usize,
    table: &dyn Table,
    also: impl Fn(&Dataset) -> Result<(), LearnError>,
) -> Result<(), LearnError> {
    let found = table.rows() as u64;
    if relation.count_is_public() && found != rows {
        return Err(LearnError::RowCount { declared: rows, found });
    }
    if table.columns() != columns {
        return Err(LearnError::DataShape("the number of encoded columns differs"));
    }
    if table.is_vouched_for() {
        return Ok(());
    }
    let mut counts: HashMap<u64, u32> = HashMap::new();
    let mut refused = Ok(());
    let visited = table.visit(&mut |rows| {
        refused = check_rows(relation.unit, rows, &mut counts).and_then(|()| also(rows));
        // The error itself is kept in `refused`; this only ends the visit.
        refused.as_ref().map(|_| ()).map_err(|_| RecordsError::BackEnd("refused".into()))
    });
    refused?;
    visited.map_err(LearnError::Records)
}

/// Checks some of the rows; `counts` holds the number of earlier rows of each unit.
fn check_rows(
    unit: Unit,
    data: &Dataset,
    counts: &mut HashMap<u64, u32>,
) -> Result<(), LearnError> {
    if data.target.len() != data.features.rows() {
        return Err(LearnError::DataShape("there is not one target for each row"));
    }
    if let Unit::User { max_records } = unit {
        let units = data.units.as_ref().ok_or(LearnError::DataShape("rows name no unit"))?;
        if units.len() != data.features.rows() {
            return Err(LearnError::DataShape("there is not one unit for each row"));
        }
        for unit in units {
            let count = counts.entry(*unit).or_default();
            *count += 1;
            if *count > max_records {
                return Err(LearnError::DataShape("a unit has more rows than its cap"));
            }
        }
    }
    Ok(())
}

/// The index of each row's unit, units numbered from 0 in order of appearance.
pub(crate) fn owners(unit: Unit, data: &Dataset) -> Vec<usize> {
    let mut places: HashMap<u64, usize> = HashMap::new();
    match (&data.units, unit) {
        (Some(units), Unit::User { .. }) => units
            .iter()
            .map(|unit| {
                let next = places.len();
                *places.entry(*unit).or_insert(next)
            })
            .collect(),
        _ => (0..data.rows()).collect(),
    }
}

/// All rows in memory, for a method that needs more of them than sums.
pub(crate) fn in_memory<'a>(
    table: &'a dyn Table,
    method: &'static str,
    needs: &'static str,
) -> Result<&'a Dataset, LearnError> {
    table.in_memory().ok_or(LearnError::NeedsMemory { method, needs })
}

/// Rows with the labels of one problem.
pub(crate) fn records<'a>(
    table: &'a dyn Table,
    labels: &Labels,
) -> Result<Box<dyn Records + 'a>, LearnError> {
    table.problem(labels).map_err(|error| match error {
        RecordsError::BackEnd(_) => LearnError::Records(error),
        _ => LearnError::DataShape("a feature or target is not a number in its range"),
    })
}
