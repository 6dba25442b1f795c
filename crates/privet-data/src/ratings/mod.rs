//! Ratings of items by users, as one sparse row per user.
//!
//! A table of ratings has a schema like any other ([`schema`] writes it): the target is the rating with
//! its bounds, the unit is the user with a cap on the ratings kept, and one category column is the
//! item. Its categories are the *public* list of items: it includes items that nobody rated, and is
//! never replaced by the items that occur.
//!
//! ```toml
//! [file]                  # MovieLens' u.data; a header and commas otherwise
//! separator = "\t"
//! header = false
//! [clip]
//! norm = "l2"
//! radius = 1.0
//! [target]
//! column = "rating"
//! bounds = [1, 5]         # a rating outside counts as the nearest bound
//! [unit]
//! column = "user"
//! max_records = 80        # ratings kept of each user, chosen before anything else by a keyed hash
//! [[columns]]
//! name = "item"
//! type = "category"
//! categories = ["1", "2", "3"]
//! unknown = "none"        # a rating of an item that is not listed is left out; "error" refuses the file
//! ```
//!
//! **Cells.** In a user's row the rating r of item j is the number 1 + (r − low)/(high − low) in [1,
//! 2]: never 0, which marks an item without a rating.
//!
//! **The same item twice.** With `invalid = "refuse"`, the default, the file is refused; otherwise the
//! last of the ratings kept counts. Either way it depends on that user's own lines alone.
//!
//! Tested by `tests/all/ratings.rs`.

mod features;
mod grid;
mod held_out;

pub use features::{FURTHEST, ItemFeatures, features};
pub use held_out::hold_out;

use crate::keyed::hash;
use crate::matrix::{CsrMatrix, Matrix};
use crate::read::{ReadOptions, Report, UNIT_KEY};
use crate::schema::{
    Categories, ClipDraft, ColumnDraft, ColumnKind, ColumnType, Draft, FileDraft, Invalid, Schema,
    SchemaError, Storage, TargetDraft, TargetKind, UNNAMED_UNIT, UnitDraft, Unknown, UnknownDraft,
};
use crate::{DataError, Dataset, Place, Target};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// The layout of a file of ratings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Lines `user,item,rating` under a header with these names, or with names that the schema gives.
    Triples,
    /// MovieLens 100K: lines of user, item, rating and time, separated by tabs, without a header.
    MovieLens100k,
    /// MovieLens since 1M as CSV: `userId,movieId,rating`, with or without `timestamp`.
    MovieLens,
    /// Jester: one line per user, with the number of items she rated and then every item's rating, 99
    /// for none.
    Grid,
}

impl Layout {
    /// The words accepted by [`FromStr`].
    pub const ACCEPTED: &'static str = "triples, movielens-100k, movielens, jester";

    /// True if the first line names the columns. Otherwise the user column has no name of its own.
    pub fn has_header(self) -> bool {
        matches!(self, Self::Triples | Self::MovieLens)
    }

    /// The names of user, item and rating, and of ignored columns.
    fn names(self) -> ([&'static str; 3], &'static [&'static str]) {
        match self {
            Self::MovieLens => (["userId", "movieId", "rating"], &["timestamp"]),
            Self::MovieLens100k => (["user", "item", "rating"], &["time"]),
            Self::Triples | Self::Grid => (["user", "item", "rating"], &[]),
        }
    }
}

impl FromStr for Layout {
    type Err = privet_core::Error;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Ok(match word {
            "triples" => Self::Triples,
            "movielens-100k" => Self::MovieLens100k,
            "movielens" => Self::MovieLens,
            "jester" => Self::Grid,
            _ => {
                return Err(privet_core::Error::Unknown {
                    what: "layout",
                    given: word.into(),
                    accepted: Self::ACCEPTED,
                });
            }
        })
    }
}

/// The public facts about ratings, from which their schema is derived.
#[derive(Debug, Clone, PartialEq)]
pub struct RatingFacts {
    /// The layout of the file.
    pub layout: Layout,
    /// The public list of items.
    pub items: Vec<String>,
    /// The smallest and the largest rating.
    pub bounds: [f64; 2],
    /// The number of ratings kept of each user.
    pub most: u32,
}

/// The schema of such ratings; an item that is not listed is left out. Without a header the user column
/// has no name; [`with_unit`] names it.
pub fn schema(facts: &RatingFacts) -> Result<Schema, SchemaError> {
    let ([user, item, rating], ignored) = facts.layout.names();
    let header = facts.layout.has_header();
    let user = if header { user } else { UNNAMED_UNIT };
    let place = |name: &str, kind| ColumnDraft { name: name.into(), kind, ..Default::default() };
    let items = ColumnDraft {
        categories: Some(facts.items.clone()),
        unknown: Some(UnknownDraft::Word("none".into())),
        ..place(item, ColumnType::Category)
    };
    let mut columns = vec![items];
    if !header {
        columns.insert(0, place(user, ColumnType::Unit));
        columns.push(place(rating, ColumnType::Target));
    }
    columns.extend(ignored.iter().map(|name| place(name, ColumnType::Ignore)));
    Draft {
        storage: Some(Storage::Csr),
        file: FileDraft {
            separator: (facts.layout == Layout::MovieLens100k).then(|| "\t".into()),
            header: (!header).then_some(false),
            ..Default::default()
        },
        clip: ClipDraft::default(),
        target: TargetDraft {
            column: Some(rating.into()),
            bounds: Some(facts.bounds),
            ..Default::default()
        },
        unit: Some(UnitDraft {
            column: user.into(),
            max_records: facts.most,
            ..Default::default()
        }),
        columns,
        ..Default::default()
    }
    .check()
}

/// The same schema with another name of the user column. A column that already has this name is
/// renamed: the unit is identified by its column's name.
pub fn with_unit(schema: &Schema, name: &str) -> Result<Schema, SchemaError> {
    let mut draft = Draft::from(schema.clone());
    let Some(unit) = &mut draft.unit else { return draft.check() };
    let earlier = std::mem::replace(&mut unit.column, name.into());
    let called = |column: &mut String| {
        if *column == earlier {
            *column = name.into();
        } else if column == name {
            column.push('_');
        }
    };
    draft.columns.iter_mut().map(|column| &mut column.name).for_each(called);
    draft.target.column.iter_mut().for_each(called);
    draft.check()
}

/// The reason a schema is not one of ratings, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a schema of ratings: {0}")]
pub struct NotRatings(&'static str);

/// A schema of ratings: the list of items, the bounds of a rating, and the number kept of each user.
#[derive(Debug, Clone, PartialEq)]
pub struct Rated<'a> {
    /// The public list of items.
    pub items: &'a [String],
    /// The smallest rating.
    pub low: f64,
    /// The largest rating.
    pub high: f64,
    /// The number of ratings kept of each user.
    pub most: u32,
}

impl<'a> Rated<'a> {
    /// Reads them from a schema; refuses a schema of anything else, or with an encoded column that is
    /// not an item.
    pub fn of(schema: &'a Schema) -> Result<Self, NotRatings> {
        let TargetKind::Number { low, high } = schema.target().kind else {
            return Err(NotRatings("the target must be the rating, a number with bounds"));
        };
        let unit = schema.unit_column();
        let unit =
            unit.ok_or(NotRatings("[unit] must name the user, who is protected as a whole"))?;
        if schema.bias().is_some() || schema.libsvm().is_some() {
            return Err(NotRatings("there is no bias and no [libsvm]"));
        }
        if schema.clip()
            != (crate::schema::ClipFacts {
                norm: crate::schema::Norm::L2,
                radius: 1.0,
                rows: crate::schema::Rows::Clip,
            })
        {
            return Err(NotRatings("[clip] must be the l2 norm with radius 1"));
        }
        let mut found = None;
        for column in schema.columns() {
            match &column.kind {
                ColumnKind::Ignore | ColumnKind::Target | ColumnKind::Unit => {}
                ColumnKind::Category {
                    categories: Categories::Listed(items),
                    unknown,
                    missing,
                } if found.is_none() => {
                    if !matches!(unknown, Unknown::Error | Unknown::None) {
                        return Err(NotRatings("unknown items are \"none\" or \"error\""));
                    }
                    if *missing != crate::schema::Missing::Error {
                        return Err(NotRatings("a missing item has no stand-in"));
                    }
                    found = Some(items.as_slice());
                }
                _ => {
                    return Err(NotRatings(
                        "one column is the item, a category with its list; all others are ignored",
                    ));
                }
            }
        }
        let items = found.ok_or(NotRatings("a category column must list the items"))?;
        Ok(Self { items, low, high, most: unit.max_records })
    }
}

/// The reason ratings could not be read. Never contains a cell's content.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RatingsError {
    /// The file could not be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The schema is not one of ratings.
    #[error(transparent)]
    Schema(#[from] NotRatings),
    /// A user rates one item twice.
    #[error(
        "{file}: a user rates one item twice; each item once is accepted, and with invalid = \"drop\" in \
         the schema the last rating counts"
    )]
    Twice {
        /// The file.
        file: Place,
    },
    /// A row of a grid with too few or too many cells.
    #[error("{file}, row {row}: {found} cells; {expected} are accepted, the count and one an item")]
    Width {
        /// The file.
        file: Place,
        /// The row, from 1.
        row: u64,
        /// Number of cells found.
        found: usize,
        /// Number of cells needed.
        expected: usize,
    },
    /// A cell of a grid that is not a finite number.
    #[error(
        "{file}, row {row}, item {item}: not a finite number; accepted is a rating, or 99 for none"
    )]
    Cell {
        /// The file.
        file: Place,
        /// The row, from 1.
        row: u64,
        /// The item, from 1.
        item: usize,
    },
}

/// Reads ratings into one row per user.
pub fn read(
    path: &Path,
    layout: Layout,
    schema: &Schema,
    options: &ReadOptions<'_>,
) -> Result<Dataset, RatingsError> {
    Rated::of(schema)?;
    if layout == Layout::Grid {
        return grid::read(path, schema);
    }
    by_user(&crate::read::read(path, schema, options)?, schema, &Place::Path(path.into()))
}

/// The cell of a rating scaled to [−1, 1] between its bounds.
fn cell(place: f64) -> f32 {
    (1.5 + 0.5 * place.clamp(-1.0, 1.0)) as f32
}

/// One row per user, from a table with one rating per row.
pub fn by_user(table: &Dataset, schema: &Schema, file: &Place) -> Result<Dataset, RatingsError> {
    let columns = Rated::of(schema)?.items.len();
    let (Target::Number(ratings), Some(units)) = (&table.target, &table.units) else {
        return Err(NotRatings("every row needs a rating and a user").into());
    };
    let mut places: HashMap<u64, usize> = HashMap::new();
    let mut users: Vec<Vec<(u32, f32)>> = Vec::new();
    for (row, (rating, unit)) in ratings.iter().zip(units).enumerate() {
        let user = *places.entry(*unit).or_insert_with(|| {
            users.push(Vec::new());
            users.len() - 1
        });
        let item = match &table.features {
            Matrix::Csr(rows) => rows.row(row).0.first().copied(),
            Matrix::Dense(rows) => {
                rows.row(row).iter().position(|entry| *entry != 0.0).map(|item| item as u32)
            }
        };
        // No entry: an item that is not listed, or an invalid record.
        users[user].extend(item.map(|item| (item, cell(*rating))));
    }
    let refuses = schema.invalid() == Invalid::Refuse;
    for user in &mut users {
        let before = user.len();
        last_of_each(user);
        if refuses && user.len() < before {
            return Err(RatingsError::Twice { file: file.clone() });
        }
    }
    Ok(dataset(users, columns, table.report.clone()))
}

/// Sorts by item and keeps the last rating of each.
fn last_of_each(ratings: &mut Vec<(u32, f32)>) {
    ratings.reverse();
    ratings.sort_by_key(|(item, _)| *item);
    ratings.dedup_by_key(|(item, _)| *item);
}

/// Keeps `most` ratings, those with the smallest keyed hash of (all of the user's ratings, item).
fn cap(ratings: &mut Vec<(u32, f32)>, most: usize) {
    if ratings.len() <= most {
        return;
    }
    let bytes = |(item, cell): &(u32, f32)| [item.to_le_bytes(), cell.to_le_bytes()].concat();
    let all: Vec<u8> = ratings.iter().flat_map(bytes).collect();
    let own = hash("ratings", &UNIT_KEY, &[&all]).to_le_bytes();
    ratings.sort_by_key(|(item, _)| hash("rating", &UNIT_KEY, &[&own, &item.to_le_bytes()]));
    ratings.truncate(most);
    ratings.sort_by_key(|(item, _)| *item);
}

/// A table of rows of sorted (item, cell): every row is a unit of its own.
fn dataset(users: Vec<Vec<(u32, f32)>>, columns: usize, report: Report) -> Dataset {
    let mut starts = Vec::with_capacity(users.len() + 1);
    starts.push(0);
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    for user in &users {
        indices.extend(user.iter().map(|(item, _)| *item));
        values.extend(user.iter().map(|(_, cell)| *cell));
        starts.push(indices.len());
    }
    let target = Target::Number(vec![0.0; users.len()]);
    let units = Some((0..users.len() as u64).collect());
    let features = Matrix::Csr(CsrMatrix::new(starts, indices, values, columns));
    // Null rows were indices of lines, not of users.
    Dataset { features, target, units, report: Report { null_rows: vec![], ..report } }
}

/// One user's ratings, added one by one.
#[derive(Clone, Default)]
pub struct OwnRatings {
    ratings: Vec<(u32, f32)>,
}

/// Withheld: they are private.
impl fmt::Debug for OwnRatings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnRatings(withheld)")
    }
}

impl OwnRatings {
    /// Adds a rating; of several of one item the last counts, and a value that is not a number is
    /// ignored.
    pub fn and(&mut self, item: usize, rating: f64, rated: &Rated<'_>) {
        let (middle, half) = (0.5 * (rated.low + rated.high), 0.5 * (rated.high - rated.low));
        if item < rated.items.len() && rating.is_finite() {
            self.ratings.push((item as u32, cell((rating - middle) / half)));
        }
    }

    /// The indices of the items that she rated.
    pub fn items(&self) -> std::collections::HashSet<usize> {
        self.ratings.iter().map(|(item, _)| *item as usize).collect()
    }

    /// The number of ratings, repeated items included.
    pub fn len(&self) -> usize {
        self.ratings.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.ratings.is_empty()
    }
}

/// A table of users, each with her own ratings; of a user with more than `most` a subset is kept that
/// depends on her own ratings alone.
pub fn table(users: Vec<OwnRatings>, rated: &Rated<'_>) -> Dataset {
    let rows = users.into_iter().map(|user| {
        let mut ratings = user.ratings;
        last_of_each(&mut ratings);
        cap(&mut ratings, rated.most as usize);
        ratings
    });
    dataset(rows.collect(), rated.items.len(), Report::default())
}
