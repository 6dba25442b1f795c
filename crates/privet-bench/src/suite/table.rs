//! A data set in memory, for a suite's cells.

use super::file::Source;
use super::grid::Clip;
use super::ratings::Ratings;
use crate::error::BenchError;
use privet_catalog::{self as catalog, ratings as made};
use privet_data::ratings::{self, OwnRatings, Rated};
use privet_data::{Dataset, Encoding, Schema, read};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Its files.
#[derive(Debug, Clone)]
pub struct Files {
    schema: Schema,
    train: PathBuf,
    test: PathBuf,
}

/// The rows of a data set.
#[derive(Debug, Clone)]
pub enum Rows {
    /// Records.
    Table(Arc<Table>),
    /// Ratings.
    Ratings(Arc<Ratings>),
}

/// Training rows and test rows, clipped alike.
#[derive(Debug)]
pub struct Table {
    /// The schema that they were read by.
    pub schema: Schema,
    /// Training rows.
    pub training: Dataset,
    /// Test rows.
    pub test: Dataset,
    files: Files,
    /// The same files read by other schemas, as plans settled them; the last few.
    others: Mutex<Vec<Arc<Encoded>>>,
}

/// Training rows and test rows, encoded for a plan.
#[derive(Debug)]
pub struct Encoded {
    /// The schema that they were read by.
    pub schema: Schema,
    /// Training rows.
    pub training: Dataset,
    /// Test rows.
    pub test: Dataset,
}

/// Number of encodings of a table that are kept.
const KEPT: usize = 4;

/// The size of a data set, from public facts alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// Number of training rows.
    pub rows: u64,
    /// Encoded columns.
    pub columns: u64,
    /// Classes; 0 for numbers.
    pub classes: u64,
}

impl Size {
    /// The size of a data set that need not be prepared yet.
    pub fn of(source: &Source) -> Result<Self, BenchError> {
        let Some([schema, train, _]) = &source.own else {
            let entry = catalog::find(&source.name)?;
            let rows = entry.rows as u64 * 4 / 5;
            return Ok(Self { rows, columns: entry.columns as u64, classes: entry.classes as u64 });
        };
        let encoding = Encoding::new(&Schema::load(schema)?);
        let (columns, classes) = (encoding.width() as u64, encoding.classes().unwrap_or(0) as u64);
        Ok(Self { rows: lines(train).map_err(BenchError::on_path(train))?, columns, classes })
    }
}

/// Line feeds in a file: about its rows, if it is text.
fn lines(path: &Path) -> std::io::Result<u64> {
    let mut file = std::fs::File::open(path)?;
    let (mut count, mut piece) = (0, vec![0; 1 << 16]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(count),
            length => {
                count += piece[..length].iter().filter(|byte| **byte == b'\n').count() as u64;
            }
        }
    }
}

impl Files {
    /// Finds a data set's files, and prepares them in `cache` if the catalog can and they are missing.
    pub fn of(source: &Source, originals: &Path, cache: &Path) -> Result<Self, BenchError> {
        if let Some([schema, train, test]) = source.own.clone() {
            if !train
                .with_file_name("privet.ledger")
                .symlink_metadata()
                .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
            {
                return Err(BenchError::Suite {
                    file: train.display().to_string(),
                    why: "a ledger lies beside it, and a benchmark, which makes very many models and tunes them on \
                          the test rows, has no price that it could pay; accepted are public data in a folder \
                          without one"
                        .into(),
                });
            }
            return Ok(Self { schema: Schema::load(schema)?, train, test });
        }
        let folder = cache.join(&source.name);
        let schema = folder.join("schema.toml");
        if !schema.is_file() {
            catalog::prepare(&source.name, originals, &folder, None)?;
        }
        let part = |name: &str| {
            let csv = folder.join(format!("{name}.csv"));
            if csv.is_file() { csv } else { folder.join(format!("{name}.svm")) }
        };
        Ok(Self { schema: Schema::load(schema)?, train: part("train"), test: part("test") })
    }

    /// The ratings of both files together.
    pub fn ratings(&self, source: &Source, originals: &Path) -> Result<Ratings, BenchError> {
        let mut ratings = Ratings::read(&self.schema, [&self.train, &self.test], source.held_out)?;
        ratings.features = match (&source.own, Rated::of(&ratings.schema)) {
            (None, Ok(rated)) => {
                made::features(catalog::find(&source.name)?, originals, rated.items)?
            }
            _ => Vec::new(),
        };
        Ok(ratings)
    }

    /// The ratings of a generated set, made in memory since they are many; `None` for other sets.
    pub fn made_up(source: &Source) -> Result<Option<Ratings>, BenchError> {
        if source.own.is_some() {
            return Ok(None);
        }
        let entry = catalog::find(&source.name)?;
        let Some(shape) = made::made_up(entry) else { return Ok(None) };
        let schema = made::schema(entry, made::numbered(entry.columns));
        let schema = schema.map_err(privet_data::DataError::from)?;
        let rated = Rated::of(&schema).map_err(|error| BenchError::Suite {
            file: entry.name.into(),
            why: error.to_string(),
        })?;
        let user = |row: Vec<(u32, f64)>| {
            let mut own = OwnRatings::default();
            row.into_iter().for_each(|(item, rating)| own.and(item as usize, rating, &rated));
            own
        };
        let all = ratings::table(shape.rows().map(user).collect(), &rated);
        Ok(Some(Ratings::new(schema.clone(), all, source.held_out)))
    }

    /// Reads the files.
    pub fn read(&self, clip: Clip) -> Result<Arc<Table>, BenchError> {
        let schema = clip.apply(&self.schema).map_err(privet_data::DataError::from)?;
        let Encoded { schema, training, test } = self.encoded(&schema)?;
        Ok(Arc::new(Table {
            schema,
            training,
            test,
            files: self.clone(),
            others: Mutex::default(),
        }))
    }

    /// Reads the files by another schema.
    pub(super) fn encoded(&self, schema: &Schema) -> Result<Encoded, BenchError> {
        let evaluate =
            read::ReadOptions { purpose: read::Purpose::Evaluate, ..read::ReadOptions::default() };
        let training = read::read(&self.train, schema, &read::ReadOptions::default())?;
        let test = read::read(&self.test, schema, &evaluate)?;
        Ok(Encoded { schema: schema.clone(), training, test })
    }
}

impl Table {
    /// The files it was read from.
    pub(super) fn files(&self) -> &Files {
        &self.files
    }

    /// The rows as a plan's schema encodes them; `None` where they are stored that way.
    pub fn encoded(&self, schema: &Schema) -> Result<Option<Arc<Encoded>>, BenchError> {
        if *schema == self.schema.linear() {
            return Ok(None);
        }
        let mut others = self.others.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(known) = others.iter().find(|known| known.schema == *schema) {
            return Ok(Some(known.clone()));
        }
        let encoded = Arc::new(self.files.encoded(schema)?);
        if others.len() == KEPT {
            others.remove(0);
        }
        others.push(encoded.clone());
        Ok(Some(encoded))
    }
}
