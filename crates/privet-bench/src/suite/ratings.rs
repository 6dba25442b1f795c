//! Ratings in memory; every run holds out another part of them.

use crate::error::BenchError;
use privet_data::matrix::Matrix;
use privet_data::ratings::{self, Layout, Rated, RatingsError};
use privet_data::read::ReadOptions;
use privet_data::schema::{Draft, Schema};
use privet_data::{DataError, Dataset, keyed};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tempfile::NamedTempFile;

/// All ratings of a set.
#[derive(Debug)]
pub struct Ratings {
    /// The schema, with the cap on the ratings that are learnt from.
    pub schema: Schema,
    /// All ratings, one row per user, uncapped.
    pub all: Dataset,
    /// The fraction of every user's ratings that a run holds out.
    pub held_out: f64,
    /// Public features of the items; empty if there are none.
    pub features: Vec<Vec<f64>>,
    parts: Mutex<Vec<(u32, Arc<RatingsSplit>)>>,
}

/// Two parts with the same users in the same order.
#[derive(Debug)]
pub struct RatingsSplit {
    /// Training ratings.
    pub kept: Dataset,
    /// Held-out ratings.
    pub held: Dataset,
}

/// Largest number of ratings in the cached parts.
const MOST_CACHED_RATINGS: usize = 30_000_000;

impl Ratings {
    /// From ratings with one row per user.
    pub fn new(schema: Schema, all: Dataset, held_out: f64) -> Self {
        Self { schema, all, held_out, features: Vec::new(), parts: Mutex::default() }
    }

    /// Both files of a set together.
    pub fn read(schema: &Schema, files: [&Path; 2], held_out: f64) -> Result<Self, BenchError> {
        let whole = uncapped(schema).map_err(DataError::from)?;
        let both = join_files(files).map_err(BenchError::on_path(files[0]))?;
        let options = ReadOptions::default();
        let all = ratings::read(both.path(), Layout::Triples, &whole, &options);
        let all = all.map_err(|error| match error {
            RatingsError::Data(error) => BenchError::Data(error),
            error => {
                BenchError::Suite { file: files[0].display().to_string(), why: error.to_string() }
            }
        })?;
        Ok(Self::new(schema.clone(), all, held_out))
    }

    /// The training and held-out ratings of a run: the same for every learner.
    pub fn parts(&self, run: u32) -> Arc<RatingsSplit> {
        let lock = || self.parts.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some((_, known)) = lock().iter().find(|(known, _)| *known == run) {
            return known.clone();
        }
        let most = Rated::of(&self.schema).map_or(u32::MAX, |rated| rated.most);
        let key = keyed::key(privet_catalog::SPLIT_SEED + u64::from(run));
        let (kept, held) = ratings::hold_out(&self.all, self.held_out, most, &key);
        let parts = Arc::new(RatingsSplit { kept, held });
        let mut known = lock();
        let count: usize = known.iter().map(|(_, parts)| entries(&parts.kept)).sum();
        if count + entries(&parts.kept) <= MOST_CACHED_RATINGS {
            known.push((run, parts.clone()));
        }
        parts
    }
}

fn entries(data: &Dataset) -> usize {
    match &data.features {
        Matrix::Csr(rows) => (0..rows.rows()).map(|row| rows.row(row).0.len()).sum(),
        Matrix::Dense(rows) => rows.rows() * rows.columns(),
    }
}

/// One file after the other under one header, since the unit of a rating can be determined only within a
/// file.
fn join_files(files: [&Path; 2]) -> std::io::Result<NamedTempFile> {
    let mut all = NamedTempFile::new()?;
    let [one, two] = [std::fs::read(files[0])?, std::fs::read(files[1])?];
    let header = two.iter().position(|byte| *byte == b'\n').map_or(two.len(), |end| end + 1);
    all.write_all(&one)?;
    if one.last() != Some(&b'\n') {
        all.write_all(b"\n")?;
    }
    all.write_all(&two[header..])?;
    all.flush()?;
    Ok(all)
}

/// The schema without a cap on a user's ratings.
fn uncapped(schema: &Schema) -> Result<Schema, privet_data::schema::SchemaError> {
    let items = Rated::of(schema).map_or(1, |rated| rated.items.len());
    let mut draft = Draft::from(schema.clone());
    if let Some(unit) = &mut draft.unit {
        unit.max_records = items.max(1) as u32;
    }
    draft.check()
}
