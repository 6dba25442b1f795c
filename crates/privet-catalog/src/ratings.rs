//! Sets of ratings: lines `user,item,rating`, with the list of items in the schema.
//!
//! The items of the sets called `-400` and `-900` are the most rated ones, found by counting the
//! published ratings: in order here only because these sets are public (from private ratings such a list
//! is estimated privately: `privet complete --top K`). Of users with more than 80 ratings of them 80 are
//! kept, as in the thesis (ξ).

use super::entries::plain;
use super::files::original;
use super::{CatalogError, Entry, Lines, Original, Split, Task};
use crate::synth::RankOne;
use privet_data::ratings::{self, Layout, RatingFacts};
use privet_data::schema::{Schema, SchemaError};
use privet_data::{DataError, Place};
use std::io::Write;
use std::path::Path;

const GROUPLENS: &str = "research use with citation; no redistribution without permission";
const MILLION: &[Original] =
    &[plain("ratings.csv", "e5c245826559438c62788d2026e5f1cfadebf5cfa8d2e5271ce3ddd632d5a42b")];
const FILMS: Original =
    plain("movies.dat", "0140fc2356357c1a851d0f52e893a1e4d3696df632c4141cea8d5bc3d621f0b9");
const ITEMS: Original =
    plain("u.item", "553841ebc7de3a0fd0d6b62a204ea30c1e651aacfb2814c7a6584ac52f2c5701");
const MILLION_ORIGIN: &str = "https://grouplens.org/datasets/movielens/1m/; ratings.csv holds its ratings.dat without \
    times, under the header userId,movieId,rating, sorted by user and film";

const fn million(name: &'static str, title: &'static str, rows: usize, columns: usize) -> Entry {
    Entry {
        name,
        title,
        task: "what users would say of films, from 1 to 5",
        rows,
        columns,
        classes: 0,
        folder: "movielens-1m",
        origin: MILLION_ORIGIN,
        licence: GROUPLENS,
        files: MILLION,
    }
}

const fn rank_one(name: &'static str, title: &'static str, rows: usize, columns: usize) -> Entry {
    Entry {
        name,
        title,
        task: "products of two numbers, one of the user and one of the item, from -1 to 1",
        rows,
        columns,
        classes: 0,
        folder: "",
        origin: "",
        licence: "none needed",
        files: &[],
    }
}

/// All known sets of ratings; `rows` counts ratings, and `columns` items.
pub const RATINGS: &[Entry] = &[
    million("movielens-1m", "MovieLens 1M", 1_000_209, 3_952),
    million("movielens-1m-400", "MovieLens 1M, the 400 most rated films", 465_275, 400),
    million("movielens-1m-900", "MovieLens 1M, the 900 most rated films", 713_862, 900),
    Entry {
        name: "movielens-100k",
        title: "MovieLens 100K",
        task: "what users would say of films, from 1 to 5",
        rows: 100_000,
        columns: 1_682,
        classes: 0,
        folder: "movielens-100k",
        origin: "https://grouplens.org/datasets/movielens/100k/",
        licence: GROUPLENS,
        files: &[plain(
            "u.data",
            "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490",
        )],
    },
    Entry {
        name: "jester",
        title: "Jester, its first part",
        task: "what users would say of jokes, from -10 to 10",
        rows: 1_810_455,
        columns: 100,
        classes: 0,
        folder: "jester",
        origin: "https://eigentaste.berkeley.edu/dataset/ (jester-data-1 as comma-separated values)",
        licence: "research use with citation (Goldberg, Roeder, Gupta and Perkins 2001)",
        files: &[plain(
            "jester-data-1.csv",
            "4692895acc91263ec11592cb94687725e28afdd451845ab46c2ac6ba3ebc414e",
        )],
    },
    rank_one(
        "rank-one-400",
        "Rank one, 500,000 users by 400 items, 80 ratings a user",
        40_000_000,
        400,
    ),
    rank_one(
        "rank-one-900",
        "Rank one, 500,000 users by 900 items, 80 ratings a user",
        40_000_000,
        900,
    ),
    rank_one(
        "rank-one-400-tenth",
        "Rank one, 50,000 users by 400 items, 80 ratings a user",
        4_000_000,
        400,
    ),
    rank_one(
        "rank-one-900-tenth",
        "Rank one, 50,000 users by 900 items, 80 ratings a user",
        4_000_000,
        900,
    ),
];

/// Upper bound ξ on the ratings kept of a user, in a set with few items.
const MOST_RATINGS_OF_USER: u32 = 80;

/// The shape of a generated set; `None` for any other.
pub fn made_up(entry: &Entry) -> Option<RankOne> {
    let each = MOST_RATINGS_OF_USER as usize;
    let shape = RankOne { users: entry.rows / each, items: entry.columns, each, seed: 20_180_611 };
    entry.name.starts_with("rank-one").then_some(shape)
}

/// The schema of a set of ratings.
pub fn schema(entry: &Entry, items: Vec<String>) -> Result<Schema, SchemaError> {
    let most = match entry.columns {
        400 | 900 => MOST_RATINGS_OF_USER,
        all => all as u32,
    };
    let bounds = match entry.name {
        "jester" => [-10.0, 10.0],
        name if name.starts_with("rank-one") => [-1.0, 1.0],
        _ => [1.0, 5.0],
    };
    ratings::schema(&RatingFacts { layout: Layout::Triples, items, bounds, most })
}

/// Items named 1 to `count`.
pub fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|item| item.to_string()).collect()
}

/// Features of a set's items, in the order of their list; empty where the set has no file of them, or
/// that file is absent.
pub fn features(
    entry: &Entry,
    from: &Path,
    items: &[String],
) -> Result<Vec<Vec<f64>>, CatalogError> {
    let file = match entry.folder {
        "movielens-1m" => &FILMS,
        "movielens-100k" => &ITEMS,
        _ => return Ok(Vec::new()),
    };
    let path = match original(entry, file, from) {
        Ok((_, path)) => path,
        Err(CatalogError::OriginalMissing { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let damaged = |_| DataError::Damaged { file: Place::Path(path.clone()), format: "original" };
    Ok(ratings::features(&path, items).map_err(damaged)?.rows)
}

/// The task, ready to be split and written.
pub(super) fn task(entry: &Entry, from: &Path, seed: Option<u64>) -> Result<Task, CatalogError> {
    let mut rows = Lines::default();
    if let Some(shape) = made_up(entry) {
        let shape = RankOne { seed: seed.unwrap_or(shape.seed), ..shape };
        let mut line = Vec::new();
        for (user, own) in shape.rows().enumerate() {
            for (item, rating) in own {
                line.clear();
                // Writing to memory cannot fail.
                let _ = write!(line, "{},{},{rating:.5}", user + 1, item + 1);
                rows.push(&line);
            }
        }
        return finish_task(schema(entry, numbered(entry.columns))?, rows);
    }
    let (bytes, path) = original(entry, &entry.files[0], from)?;
    let damaged = || DataError::Damaged { file: Place::Path(path.clone()), format: "original" };
    let text = std::str::from_utf8(&bytes).map_err(|_| damaged())?;
    let read = match entry.name {
        "jester" => grid(text),
        "movielens-100k" => triples(text, '\t', 0),
        _ => triples(text, ',', 1),
    };
    let mut found = read.ok_or_else(damaged)?;
    let listed = match entry.columns {
        400 | 900 => {
            let items = most_rated(&found, entry.columns);
            found.retain(|(_, item, _)| items.binary_search(item).is_ok());
            items.iter().map(ToString::to_string).collect()
        }
        all => numbered(all),
    };
    for (user, item, rating) in &found {
        rows.push(format!("{user},{item},{rating}").as_bytes());
    }
    finish_task(schema(entry, listed)?, rows)
}

fn finish_task(schema: Schema, rows: Lines) -> Result<Task, CatalogError> {
    Ok(Task { header: "user,item,rating".into(), schema, rows, split: Split::Rows })
}

/// User, item and the rating as text.
type Triple<'a> = (u32, u32, &'a str);

fn triples(text: &str, separator: char, header: usize) -> Option<Vec<Triple<'_>>> {
    let read = |line| {
        let mut cells = str::split(line, separator);
        Some((cells.next()?.parse().ok()?, cells.next()?.parse().ok()?, cells.next()?.trim()))
    };
    text.lines().skip(header).map(read).collect()
}

fn grid(text: &str) -> Option<Vec<Triple<'_>>> {
    let mut found = Vec::new();
    for (line, user) in text.lines().zip(1..) {
        for (cell, item) in line.split(',').skip(1).zip(1..) {
            let cell = cell.trim();
            if cell.parse::<f64>().ok()? != 99.0 {
                found.push((user, item, cell));
            }
        }
    }
    Some(found)
}

/// The items with the most ratings, ascending; the smaller number first among equals.
fn most_rated(found: &[Triple<'_>], count: usize) -> Vec<u32> {
    let mut counts = std::collections::BTreeMap::new();
    found.iter().for_each(|(_, item, _)| *counts.entry(*item).or_insert(0_u64) += 1);
    let mut order: Vec<(u64, u32)> = counts.into_iter().map(|(item, n)| (n, item)).collect();
    order.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut items: Vec<u32> = order.into_iter().take(count).map(|(_, item)| item).collect();
    items.sort_unstable();
    items
}
