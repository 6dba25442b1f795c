//! Bytes per second of a pass, beside those of the memory and of the disk.
//!
//! A pass is one sum of gradients, the commonest query of `amp`, or one visit of all rows. Cached: files
//! that the system holds in memory, beside the rate at which all cores read an array too large for any
//! cache and add it up. From the disk: the system is told to drop the files from its cache
//! (`posix_fadvise`), and the same files are then read without processing, before and after; the faster
//! of both is the disk's rate.

use super::models::GROWTH_STANDIN;
use super::shards::GeneratedRows;
use super::{Scale, SizeSelection, line};
use crate::error::BenchError;
use crate::parts::{Emit, Settings};
use privet_data::block::BlockFiles;
use privet_optim::loss::Loss;
use privet_optim::sum::{Labels, LossAndGradient, OnDisk, Records, RecordsError, Sums, Table};
use rayon::prelude::*;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

/// Memory of passes over files.
const MEMORY: u64 = 750_000_000;
/// Words of the array to add up: 1 GiB.
const ARRAY_WORDS: usize = 1 << 27;
/// Number of passes; the fastest counts.
const PASSES: usize = 5;

/// Bytes per second at which all cores read files without processing.
pub(super) fn rate(files: &[PathBuf]) -> Result<f64, BenchError> {
    let started = Instant::now();
    let read = |path: &PathBuf| -> Result<u64, BenchError> {
        let failed = BenchError::on_path(path);
        let (mut buffer, mut total) = (vec![0_u8; 1 << 20], 0);
        let mut whole = || -> std::io::Result<u64> {
            let mut file = std::fs::File::open(path)?;
            loop {
                match std::io::Read::read(&mut file, &mut buffer)? {
                    0 => return Ok(total),
                    count => total += count as u64,
                }
            }
        };
        whole().map_err(failed)
    };
    let bytes: Vec<u64> = files.par_iter().map(read).collect::<Result<_, _>>()?;
    Ok(bytes.iter().sum::<u64>() as f64 / started.elapsed().as_secs_f64())
}

/// Bytes per second at which all cores read memory.
fn memory_rate() -> f64 {
    let words: Vec<u64> = (0..ARRAY_WORDS as u64).into_par_iter().collect();
    let part = ARRAY_WORDS.div_ceil(rayon::current_num_threads());
    let once = |_| {
        let started = Instant::now();
        let sum = words
            .par_chunks(part)
            .map(|some| some.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word)))
            .reduce(|| 0, u64::wrapping_add);
        std::hint::black_box(sum);
        8.0 * ARRAY_WORDS as f64 / started.elapsed().as_secs_f64()
    };
    (0..PASSES).map(once).fold(0.0, f64::max)
}

/// The fewest seconds of several passes.
fn fastest(mut pass: impl FnMut() -> Result<(), RecordsError>) -> Result<f64, RecordsError> {
    let mut least = f64::INFINITY;
    for _ in 0..PASSES {
        let started = Instant::now();
        pass()?;
        least = least.min(started.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// One sum of gradients.
fn gradient(records: &dyn Records) -> Result<(), RecordsError> {
    let theta = vec![0.01; records.columns()];
    records.sum(&LossAndGradient { loss: Loss::Logistic, theta }).map(|_| ())
}

/// One width, with the number of rows that the suite declares.
pub(super) fn run(
    suite: &Scale,
    settings: &Settings,
    size: &SizeSelection,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let of = |found: &&super::Rectangle| found.name() == size.name;
    let Some(rectangle) = suite.bandwidth.iter().find(of) else { return Ok(()) };
    let (rows, columns) = (size.rows(rectangle.rows), rectangle.columns);
    let generated = GeneratedRows::like(GROWTH_STANDIN, columns)?;
    let shards = generated.write(&settings.work.join("rows"), rows)?;
    let files = BlockFiles::open(&shards.files)?;
    let bytes = generated.bytes(rows);
    let mut told = |method: &str, storage: &str, seconds: f64, beside: Option<f64>| {
        let (found, rate) = (bytes / seconds, beside.unwrap_or(f64::NAN));
        let facts = json!({
            "size": size.label(), "rows": rows, "columns": columns, "method": method, "storage": storage,
            "seconds": seconds, "gigabytes_a_second": found / 1e9, "rate_gigabytes_a_second": rate / 1e9,
            "share": found / rate,
        });
        emit(line("bandwidth", &format!("privet {method}"), facts))
    };
    let labels = Labels::Signed { weights: vec![] };
    let memory = memory_rate();
    let table = OnDisk::open_all(&shards.files, MEMORY)?;
    {
        let records = table.problem(&labels)?;
        let seconds = fastest(|| gradient(records.as_ref()))?;
        told("gradient", "cache", seconds, Some(memory))?;
        let seconds = fastest(|| table.visit(&mut |_| Ok(())))?;
        told("rows alone", "cache", seconds, Some(memory))?;
        let cached = rate(&shards.files)?;
        told("files alone", "cache", bytes / cached, Some(memory))?;
        let read_disk = || {
            files.forget();
            rate(&shards.files)
        };
        let before = read_disk()?;
        files.forget();
        let started = Instant::now();
        gradient(records.as_ref())?;
        let seconds = started.elapsed().as_secs_f64();
        let disk = before.max(read_disk()?);
        told("gradient", "disk", seconds, Some(disk))?;
    }
    drop(table);
    let data = files.piece(0..rows)?;
    let records = data.problem(&labels)?;
    let seconds = fastest(|| gradient(records.as_ref()))?;
    told("gradient", "memory", seconds, Some(memory))
}
