//! California housing: the median value of a block group's houses, a number.
//!
//! Longitude and latitude are bounded by the state's extent; age of the houses, income and value
//! by the top codes of the 1990 census (52 years, 150,000 and 500,000 dollars). The bounds of the
//! four counts, which enter by their logarithm, were chosen with the published values in view.
//! Least squares has an intercept, so there is a constant column.

use super::{
    CatalogError, Entry, Lines, Task,
    columns::{cells, logarithm, number, task},
    files::original,
};
use privet_data::schema::{BiasDraft, ClipDraft, Draft, TargetDraft};
use std::path::Path;

pub(super) fn california_housing(entry: &Entry, from: &Path) -> Result<Task, CatalogError> {
    let draft = Draft {
        bias: Some(BiasDraft::Switch(true)),
        clip: ClipDraft::default(),
        target: TargetDraft {
            column: Some("medianHouseValue".into()),
            bounds: Some([0.0, 500_000.0]),
            ..TargetDraft::default()
        },
        columns: vec![
            number("longitude", -125.0, -114.0),
            number("latitude", 32.0, 42.0),
            number("housingMedianAge", 0.0, 52.0),
            logarithm("totalRooms", 40_000.0),
            logarithm("totalBedrooms", 10_000.0),
            logarithm("population", 40_000.0),
            logarithm("households", 10_000.0),
            number("medianIncome", 0.0, 15.0),
        ],
        ..Draft::default()
    };
    let (bytes, path) = original(entry, &entry.files[0], from)?;
    let mut rows = Lines::default();
    for cells in cells(&bytes, b',', 9, &path) {
        rows.push(&cells?.join(&b","[..]));
    }
    Ok(task(draft.of_file().check()?, rows))
}
