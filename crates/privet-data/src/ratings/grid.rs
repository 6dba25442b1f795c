//! Jester's layout: one line per user, one column per item.

use super::{OwnRatings, Rated, RatingsError, table};
use crate::read::decompressed;
use crate::schema::Schema;
use crate::{DataError, Dataset, Place};
use std::path::Path;

/// The cell of an item without a rating.
const NO_RATING: f64 = 99.0;

/// Reads the file; the first cell of a line, the number of items that the user rated, is not used.
pub(super) fn read(path: &Path, schema: &Schema) -> Result<Dataset, RatingsError> {
    let rated = Rated::of(schema)?;
    let file = Place::Path(path.into());
    let bytes = decompressed(path)?;
    // An invalid line is ignored, where the schema says that no record may end the reading.
    let total = schema.invalid().is_total();
    let mut users = Vec::new();
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    'users: for (line, row) in lines.zip(1_u64..) {
        let Ok(line) = std::str::from_utf8(line) else {
            if total {
                continue;
            }
            return Err(DataError::NotText { file }.into());
        };
        let expected = rated.items.len() + 1;
        let found = line.split(',').count();
        if found != expected && total {
            continue;
        }
        if found != expected {
            return Err(RatingsError::Width { file, row, found, expected });
        }
        let mut user = OwnRatings::default();
        for (item, cell) in line.split(',').skip(1).enumerate() {
            match cell.trim().parse::<f64>() {
                Ok(NO_RATING) => {}
                Ok(rating) if rating.is_finite() => user.and(item, rating, &rated),
                _ if total => continue 'users,
                _ => return Err(RatingsError::Cell { file, row, item: item + 1 }),
            }
        }
        users.push(user);
    }
    Ok(table(users, &rated))
}
