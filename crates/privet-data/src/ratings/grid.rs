//! Jester's layout: a line a user, a column an item.

use super::{OwnRatings, Rated, RatingsError, table};
use crate::read::decompressed;
use crate::schema::Schema;
use crate::{DataError, Dataset, Place};
use std::path::Path;

/// What stands where there is no rating.
const NONE: f64 = 99.0;

/// Reads it; the first cell of a line, how many items the user rated, is not used.
pub(super) fn read(path: &Path, schema: &Schema) -> Result<Dataset, RatingsError> {
    let rated = Rated::of(schema)?;
    let file = Place::Path(path.into());
    let bytes = decompressed(path)?;
    let text =
        std::str::from_utf8(&bytes).map_err(|_| DataError::NotText { file: file.clone() })?;
    let mut users = Vec::new();
    for (line, row) in text.lines().zip(1_u64..) {
        let expected = rated.items.len() + 1;
        let found = line.split(',').count();
        if found != expected {
            return Err(RatingsError::Width { file, row, found, expected });
        }
        let mut user = OwnRatings::default();
        for (item, cell) in line.split(',').skip(1).enumerate() {
            match cell.trim().parse::<f64>() {
                Ok(NONE) => {}
                Ok(rating) if rating.is_finite() => user.and(item, rating, &rated),
                _ => return Err(RatingsError::Cell { file, row, item: item + 1 }),
            }
        }
        users.push(user);
    }
    Ok(table(users, &rated))
}
