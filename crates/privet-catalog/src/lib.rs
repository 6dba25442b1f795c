//! Known public data sets: the address of the originals, and their conversion to a learning task.
//!
//! [`prepare`] turns the published files into `train.*`, `test.*` and `schema.toml`. Bounds are round
//! numbers in place of the data's own maxima: from the documentation where it gives a range (pixels,
//! hillshade, angles, rates, connection windows, top codes, codes of hospitals), and otherwise chosen
//! with the published values in view (Covertype's elevation and distances, Cod-RNA's energy and length,
//! Adult's weight and capital loss, KDD Cup 99's counts, bytes and list of services; for the newer
//! tables their modules list them). The latter is in order here only because these sets are public; a
//! private table's bounds must not be chosen that way.
//!
//! The rows are shuffled and split 80 : 20 by one fixed keyed hash; where several rows belong to one
//! person, the persons are. Exceptions are sets in sparse text that come with a split (a9a, 20
//! Newsgroups, Reuters), which keep it: the weights of words were computed from their training part; and
//! MNIST and Fashion-MNIST as images, for comparison with published figures. Originals are recognised by
//! their sha256, compressed or not; an altered file is refused. Files are written beside their final
//! path and renamed when all are complete. [`synth`] generates tables.
#![forbid(unsafe_code)]

mod bank;
mod columns;
mod diabetes;
mod entries;
mod error;
mod files;
mod generated;
mod housing;
mod images;
mod made;
pub mod ratings;
#[cfg(test)]
mod real_data;
mod sparse;
mod standins;
pub mod synth;
mod synthetic;
mod tables;

pub use error::CatalogError;
pub use generated::truth;
pub use standins::{full_size, law_of};

use entries::ENTRIES;
use ratings::RATINGS;

use privet_data::{keyed, schema::Schema};
use std::path::{Path, PathBuf};

/// A known set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// The name for [`prepare`].
    pub name: &'static str,
    /// The title, for people.
    pub title: &'static str,
    /// The learning task: the target and the features.
    pub task: &'static str,
    /// Rows of train and test together.
    pub rows: usize,
    /// Encoded columns.
    pub columns: usize,
    /// Classes; 0 where the target is a number.
    pub classes: usize,
    /// The sub-folder in which originals are looked for as well.
    pub folder: &'static str,
    /// The address of the originals; empty for generated sets.
    pub origin: &'static str,
    /// The licence.
    pub licence: &'static str,
    /// The originals.
    pub files: &'static [Original],
}

/// A published file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Original {
    /// Its name without `.gz` or `.zst`.
    pub name: &'static str,
    /// sha256 of the uncompressed bytes, which is checked.
    pub sha256: &'static str,
    /// sha256 of the publisher's own `.gz`, where it is published compressed.
    pub gzip_sha256: Option<&'static str>,
}

/// The files written by [`prepare`].
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// Training records.
    pub train: PathBuf,
    /// Test records.
    pub test: PathBuf,
    /// The schema's file.
    pub schema_file: PathBuf,
    /// The schema.
    pub schema: Schema,
    /// Number of training records.
    pub train_rows: usize,
    /// Number of test records.
    pub test_rows: usize,
}

/// The fraction of rows for training.
const TRAIN_SHARE: f64 = 0.8;
/// Fixes the shuffle of every set.
pub const SPLIT_SEED: u64 = 20_240_101;

impl Entry {
    /// True for a set of ratings: its rows are ratings, and its columns items.
    pub fn is_ratings(&self) -> bool {
        RATINGS.iter().any(|known| known.name == self.name)
    }
}

/// All listed sets; [`find`] accepts generated ones as well.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    ENTRIES.iter().chain(RATINGS)
}

/// The names that [`find`] accepts, for people: the listed sets, and a range for the generated ones.
pub fn names() -> Vec<&'static str> {
    entries().map(|entry| entry.name).chain([made::NAMES]).collect()
}

/// The entry of that name.
pub fn find(name: &str) -> Result<&'static Entry, CatalogError> {
    let listed = entries().find(|entry| entry.name == name);
    listed
        .or_else(|| made::find(name))
        .ok_or_else(|| CatalogError::UnknownSet { name: name.into(), accepted: names().join(", ") })
}

/// Prepares a set: originals from `from` (or its sub-folder of that name), results into `out`. `seed`
/// replaces the seed of a generated set, or the shuffle's of any other.
pub fn prepare(
    name: &str,
    from: &Path,
    out: &Path,
    seed: Option<u64>,
) -> Result<Prepared, CatalogError> {
    let entry = find(name)?;
    let made_up = entry.files.is_empty();
    let split_key = keyed::key(seed.filter(|_| !made_up).unwrap_or(SPLIT_SEED));
    let task = match name {
        "adult" => tables::adult(entry, from)?,
        "kddcup99" => tables::kddcup99(entry, from, &split_key)?,
        "covtype" | "covtype-2" => tables::covtype(entry, from)?,
        "cod-rna" => tables::cod_rna(entry, from)?,
        "bank-marketing" | "bank-calls" => bank::bank_marketing(entry, from)?,
        "diabetes-130" => diabetes::diabetes_130(entry, from)?,
        "california-housing" => housing::california_housing(entry, from)?,
        "mnist" | "fashion-mnist" => images::pixels(entry, from)?,
        "mnist-pixels" | "fashion-mnist-pixels" => images::published_pixels(entry, from)?,
        "mnist-images" | "fashion-mnist-images" => images::images(entry, from)?,
        "a9a" | "20newsgroups" | "reuters" => sparse::load_published(entry, from)?,
        "cod-rna-100000" | "cod-rna-1000000" => sparse::cod_rna_with_zeros(entry, from)?,
        _ if entry.is_ratings() => ratings::task(entry, from, seed)?,
        "synthetic-l" => synthetic::low(seed)?,
        "synthetic-h" => synthetic::high(seed)?,
        "realizable" | "realizable-close" => {
            synthetic::realizable(name == "realizable-close", seed)?
        }
        name if made::find(name).is_some() => made::table(entry, seed)?,
        _ => match generated::shape(name) {
            Some(shape) => generated::generate(shape, seed)?,
            None => standins::task(entry, entry.rows, seed)?,
        },
    };
    files::write(entry, &task, out, &split_key)
}

/// A task ready to be split and written.
struct Task {
    schema: Schema,
    /// The first line of each file, if any.
    header: String,
    rows: Lines,
    split: Split,
}

/// The division of rows into training and test.
enum Split {
    /// 80 : 20 of the rows.
    Rows,
    /// 80 : 20 of the units; holds each row's unit.
    Units(Vec<usize>),
    /// The first rows, this many of them, are for training, as published.
    Published(usize),
}

/// Many lines in one buffer.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Lines {
    /// Adds a line and its line feed.
    fn push(&mut self, line: &[u8]) {
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
        self.ends.push(self.text.len());
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, line: usize) -> &[u8] {
        let start = if line == 0 { 0 } else { self.ends[line - 1] };
        &self.text[start..self.ends[line]]
    }
}
