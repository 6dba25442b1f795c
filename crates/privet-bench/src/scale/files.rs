//! From common file formats to a model: CSV and Parquet, by the command itself.
//!
//! `encode` is the first pass over a table larger than memory ([`Cache::encode`]); `train` is the whole
//! command in a process of its own, `privet train FOLDER --memory …`; `read` reads a table of
//! Covertype's shape into memory. Files are in the system's cache, having just been written.

use super::models::GROWTH_STANDIN;
use super::source::{Format, Kind, Next, Passing, Source};
use super::{COVERTYPE, Scale, SizeSelection, line, slope};
use crate::error::BenchError;
use crate::line::Race;
use crate::memory;
use crate::parts::{Emit, Settings};
use privet_catalog as catalog;
use privet_catalog::synth::Logistic;
use privet_data::block::{Cache, CacheRetention};
use privet_data::read::{ReadOptions, files_of, read};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The interval at which a process's memory is read.
const MEMORY_INTERVAL: Duration = Duration::from_millis(5);
/// Number of readings; the fastest counts.
const READINGS: usize = 3;

/// One length in every format, or Covertype's shape.
pub(super) fn run(
    suite: &Scale,
    settings: &Settings,
    size: &SizeSelection,
    before: &[Race],
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let asked = &suite.files;
    let work = Passing(settings.work.join("files"));
    if size.name == COVERTYPE {
        let (all, columns) = (asked.covertype.rows, asked.covertype.columns);
        let records = |part: u64| whole(part, columns);
        let source = Source { kind: Kind::Whole, columns, rows: size.rows(all), records: &records };
        return Format::all().into_iter().try_for_each(|format| {
            let folder = work.0.join(format.name());
            let bytes = source.write(&folder, format)?;
            let (schema, _) = source.schema(format)?;
            let (mut seconds, mut peak) = (f64::INFINITY, None);
            for _ in 0..READINGS {
                memory::start();
                let started = Instant::now();
                let rows = read(&folder, &schema, &ReadOptions::default())?.rows();
                seconds = started.elapsed().as_secs_f64().min(seconds);
                peak = memory::peak();
                debug_assert_eq!(rows, source.rows);
            }
            emit(line(
                "files",
                "privet read",
                json!({
                    "size": size.label(), "rows": source.rows, "columns": columns, "method": "read",
                    "storage": format.name(), "seconds": seconds, "gigabytes": bytes as f64 / 1e9,
                    "peak_gigabytes": peak.map(|peak| peak as f64 / 1e9),
                }),
            ))
        });
    }
    let rows = size.rows(size.name.parse().unwrap_or(0));
    let law = Logistic { features: asked.columns - 1, ..catalog::law_of(GROWTH_STANDIN) };
    let records = |part: u64| -> Next {
        let mut records = law.part(part);
        Box::new(move |record| records.next_into(record))
    };
    let source = Source { kind: Kind::Reals, columns: law.features, rows, records: &records };
    for format in Format::all() {
        let folder = work.0.join(format.name());
        let bytes = source.write(&folder, format)?;
        let (schema, text) = source.schema(format)?;
        let mut told = |method: &str, seconds: f64, peak: Option<u64>| {
            let mut facts = json!({
                "size": size.label(), "rows": rows, "columns": asked.columns, "method": method, "storage": format.name(),
                "seconds": seconds, "rows_a_second": rows as f64 / seconds, "gigabytes": bytes as f64 / 1e9,
                "peak_gigabytes": peak.map(|peak| peak as f64 / 1e9), "memory_gigabytes": asked.memory as f64 / 1e9,
            });
            facts["slope"] = json!(slope("files", &facts, before));
            emit(line("files", &format!("privet {method}"), facts))
        };
        {
            let cache = Cache::open(&work.0, &folder, &schema, CacheRetention::Never)?;
            let files = files_of(&folder)?;
            memory::start();
            let started = Instant::now();
            cache.encode(&files, &schema, &ReadOptions::default(), asked.memory)?;
            told("encode", started.elapsed().as_secs_f64(), memory::peak())?;
        }
        if let Some(command) = &settings.program {
            let schema = work.0.join(format!("{}.toml", format.name()));
            fs::write(&schema, text).map_err(BenchError::on_path(&schema))?;
            let mut asked_for = Command::new(command);
            asked_for.arg("as-privet").arg("train").arg(&folder).arg("--schema").arg(&schema);
            asked_for.args(["--epsilon", &asked.epsilon.to_string()]);
            asked_for.args(["--memory", &format!("{}B", asked.memory)]);
            asked_for.arg("--cache").arg(&work.0).arg("--out").arg(work.0.join("model.json"));
            let (seconds, peak) = run_watched(asked_for.arg("--force"), command)?;
            told("train", seconds, peak)?;
        }
        fs::remove_dir_all(&folder).map_err(BenchError::on_path(&folder))?;
    }
    Ok(())
}

/// Records of Covertype's shape: ten integers, then zeros and ones.
fn whole(part: u64, columns: usize) -> Next {
    let law = Logistic { features: columns, ..catalog::law_of(GROWTH_STANDIN) };
    let mut records = law.part(part);
    Box::new(move |record| {
        let class = records.next_into(record);
        for (column, value) in record.iter_mut().enumerate() {
            let number = if column < 10 { (3500.0 + 1000.0 * *value).round() } else { *value };
            *value = if column < 10 { number.clamp(0.0, 7000.0) } else { f64::from(number > 1.0) };
        }
        class
    })
}

/// Runs a command to its end: its seconds and its peak memory.
fn run_watched(command: &mut Command, program: &Path) -> Result<(f64, Option<u64>), BenchError> {
    let failed = || BenchError::on_path(program);
    let started = Instant::now();
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = spawned.map_err(failed())?;
    let mut peak = None;
    loop {
        // It only ever rises, so that the last answer is the peak.
        peak = memory::peak_of(child.id()).or(peak);
        if let Some(status) = child.try_wait().map_err(failed())? {
            let seconds = started.elapsed().as_secs_f64();
            return match status.success() {
                true => Ok((seconds, peak)),
                false => {
                    Err(failed()(std::io::Error::other(format!("training ended with {status}"))))
                }
            };
        }
        std::thread::sleep(MEMORY_INTERVAL);
    }
}
