//! Tables larger than memory: the decision to encode rows on disk, their folder, and its removal.
//!
//! The decision follows from public facts: the number of rows that the plan was made for, the width of
//! encoded rows, and `--memory`. A model has the same bits either way.

use crate::failure::Failure;
use crate::progress::Meter;
use crate::{output, say};
use clap::Args;
use privet_core::Relation;
use privet_data::block::{BlockError, Cache, CacheRetention};
use privet_data::read::{ReadOptions, files_of};
use privet_data::{Dataset, Schema};
use privet_learn::{METHODS, Method, TableAccess};
use privet_optim::sum::{OnDisk, Table};
use std::path::{Path, PathBuf};

/// Memory for passes over rows on disk, unless `--memory` sets it.
const STREAMING: u64 = 1 << 30;
/// Memory assumed for a machine that does not report it.
const ASSUMED_MEMORY: u64 = 8 << 30;

/// How a table larger than memory is handled.
#[derive(Args, Debug)]
#[command(next_help_heading = "Tables larger than memory")]
pub struct DiskFlags {
    /// Memory for the table's rows, as 800MB or 16GB; a table that takes more is encoded once on disk
    /// and read from there in every pass [default: half of the machine's; passes then take 1GB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    /// Folder for encoded rows, where they do not fit into memory: as private as the table itself.
    /// Interrupted, encoding goes on from there the next time [default: beside the table, and nothing is
    /// left there unless the process is killed]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Leave encoded rows where they are, for the next model of the same table and schema
    #[arg(long)]
    keep_cache: bool,
}

/// Parses a number of bytes with its unit.
fn size(word: &str) -> Result<u64, String> {
    let refused =
        || format!("'{word}' is not a size; accepted: a number with B, KB, MB, GB or TB, as 800MB");
    let lower = word.trim().to_ascii_lowercase();
    let cut = lower.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(lower.len());
    let (number, unit) = lower.split_at(cut);
    let unit = match unit.trim() {
        "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(refused()),
    };
    let number: f64 = number.trim().parse().map_err(|_| refused())?;
    let bytes = number * unit;
    if (0.0..1e18).contains(&bytes) { Ok(bytes as u64) } else { Err(refused()) }
}

/// The rows of a table, in memory or on disk.
pub enum Rows {
    /// In memory.
    Memory(Box<Dataset>),
    /// Encoded on disk.
    Disk(Box<OnDisk>, Cache),
}

impl Rows {
    /// The table for a plan to run on.
    pub fn table(&self) -> &dyn Table {
        match self {
            Self::Memory(data) => data.as_ref(),
            Self::Disk(table, _) => table.as_ref(),
        }
    }

    /// Removes temporary files after success.
    pub fn done(self) {
        if let Self::Disk(table, cache) = self {
            drop(table);
            cache.done();
        }
    }
}

impl DiskFlags {
    /// Refuses flags that apply only to rows on disk.
    pub fn refuse(&self, why: &str) -> Result<(), Failure> {
        let given = [
            ("--memory", self.memory.is_some()),
            ("--cache", self.cache.is_some()),
            ("--keep-cache", self.keep_cache),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Failure::input(format!("{flag}: {why}; leave it out"))),
            None => Ok(()),
        }
    }

    /// Refuses a cache that is not a folder.
    pub fn check(&self) -> Result<(), Failure> {
        match &self.cache {
            Some(folder) if !folder.is_dir() => {
                output::room("--cache", folder)?;
                Err(Failure::input(format!(
                    "--cache {}: no folder; the name of one is accepted",
                    folder.display()
                )))
            }
            _ => Ok(()),
        }
    }

    fn memory(&self) -> u64 {
        self.memory.unwrap_or_else(|| machine().unwrap_or(ASSUMED_MEMORY) / 2)
    }

    /// True if this many rows exceed memory, by public facts alone; refused where the method, or a unit,
    /// needs them in memory all the same.
    pub fn is_needed(&self, schema: &Schema, rows: u64, method: &Method) -> Result<bool, Failure> {
        let bytes = Cache::bytes(schema, rows);
        if bytes <= self.memory() {
            return Ok(false);
        }
        let asked = self.memory.is_some();
        let (bytes, most) = (in_words(bytes), in_words(self.memory()));
        if schema.unit_column().is_some() {
            // As in versions that could not encode on disk.
            return match asked {
                false => Ok(false),
                true => Err(Failure::input(format!(
                    "--memory: encoded rows take about {bytes}, more than {most}, and where users have several rows \
                     the ones kept are chosen among all, in memory; give more, or a table of one row a user"
                ))),
            };
        }
        if method.info().covers.needs == TableAccess::Sums {
            return Ok(true);
        }
        match asked {
            false => Ok(false),
            true => Err(Failure::input(format!(
                "--memory: encoded rows take about {bytes}, more than {most}, and method {method} needs all of them in \
                 memory; give more, or a method that reads them from disk: {}",
                from_disk()
            ))),
        }
    }

    /// Encodes a table on disk.
    pub fn onto_disk(
        &self,
        path: &Path,
        schema: &Schema,
        relation: Relation,
        rows: u64,
    ) -> Result<Rows, Failure> {
        let files = files_of(path)?;
        let beside = match path.is_dir() {
            true => path,
            false => path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty())
                .unwrap_or(".".as_ref()),
        };
        let under = self.cache.as_deref().unwrap_or(beside);
        let lasting = match (self.keep_cache, &self.cache) {
            (true, _) => CacheRetention::Kept,
            (false, Some(_)) => CacheRetention::UntilDone,
            (false, None) => CacheRetention::Never,
        };
        if let Some(cache) = &self.cache {
            output::room("--cache", cache)?;
        }
        let cache = Cache::open(under, path, schema, lasting)?;
        cache.check_room(schema, rows)?;
        let memory = self.memory.unwrap_or(STREAMING);
        let words = format!("encoding {} into {}", path.display(), cache.folder().display());
        let meter = Meter::spinner(&words);
        let options =
            ReadOptions { allow_empty: !relation.count_is_public(), ..ReadOptions::default() };
        let encoded = cache.encode(&files, schema, &options, memory)?;
        drop(meter);
        if encoded.reused > 0 {
            say!(
                "{} of {} files were encoded before, in {}",
                encoded.reused,
                encoded.files.len(),
                cache.folder().display()
            );
        }
        if lasting == CacheRetention::Kept {
            say!(
                "encoded rows stay in {}; they are as private as the table",
                cache.folder().display()
            );
        }
        // A quarter of the memory is left for everything else.
        let table = OnDisk::open_all(&encoded.files, memory / 4 * 3)
            .map_err(|error| Failure::Environment(error.to_string()))?;
        Ok(Rows::Disk(Box::new(table), cache))
    }
}

impl From<BlockError> for Failure {
    fn from(error: BlockError) -> Self {
        let words = error.to_string();
        match &error {
            BlockError::File { source, .. } => {
                Self::file_in_words(format!("{words}; --cache names another folder"), source)
            }
            BlockError::Full { .. } => Self::Environment(format!("{words} with --cache")),
            _ => Self::Environment(words),
        }
    }
}

/// A number of bytes for people.
fn in_words(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes >= 1e9 => format!("{:.1} GB", bytes / 1e9),
        bytes if bytes >= 1e6 => format!("{:.0} MB", bytes / 1e6),
        bytes => format!("{:.0} KB", (bytes / 1e3).ceil()),
    }
}

/// The machine's memory in bytes, where it is reported.
fn machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// The learners that can read rows from disk.
fn from_disk() -> String {
    let sums = METHODS.iter().filter(|info| info.covers.needs == TableAccess::Sums);
    sums.map(|info| info.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(size("800MB"), Ok(800_000_000));
        assert_eq!(size("1.5 gb"), Ok(1_500_000_000));
        assert_eq!(size("64KiB"), Ok(65_536));
        for refused in ["", "5", "MB", "-1GB", "1e30GB", "nanGB", "3 parsecs"] {
            assert!(size(refused).is_err_and(|words| words.contains("800MB")), "{refused}");
        }
    }
}
