//! The stand-ins, and growth with the rows.

use super::bandwidth::rate;
use super::fit::{FitSettings, Fitted, fit};
use super::shards::GeneratedRows;
use super::{Scale, SizeSelection, line, slope};
use crate::error::BenchError;
use crate::line::Race;
use crate::parts::{Emit, Settings};
use privet_catalog as catalog;
use privet_data::block::BlockFiles;
use privet_optim::sum::OnDisk;
use serde_json::{Value, json};

/// Memory of passes over files.
const MEMORY: u64 = 750_000_000;
/// Largest number of rows for which growth is measured from memory as well: half a gigabyte of 20
/// columns.
const IN_MEMORY: usize = 20_000_000;
/// The stand-in whose distribution the rows of growth follow.
pub(super) const GROWTH_STANDIN: &str = "uber-3";

/// A table with its size.
pub(super) struct Measured<'a> {
    pub made: &'a GeneratedRows,
    pub size: &'a SizeSelection,
    pub rows: usize,
    pub columns: usize,
}

impl Measured<'_> {
    /// The facts of one fit.
    pub fn facts(&self, method: &str, epsilon: f64, storage: &str, fitted: Fitted) -> Value {
        json!({
            "size": self.size.label(), "rows": self.rows, "columns": self.columns, "method": method,
            "settled": fitted.settled, "epsilon": epsilon, "storage": storage, "seconds": fitted.seconds,
            "accuracy": fitted.accuracy, "peak_gigabytes": fitted.peak.map(|peak| peak as f64 / 1e9),
        })
    }

    /// Adds the number and the rate of passes over the files.
    pub fn with_passes(&self, mut facts: Value, passes: f64, rate: f64) -> Value {
        let bytes = passes * self.made.bytes(self.rows);
        let seconds = facts["seconds"].as_f64().unwrap_or(f64::NAN);
        facts["passes"] = json!(passes);
        facts["gigabytes_a_second"] = json!(bytes / seconds / 1e9);
        facts["read_gigabytes_a_second"] = json!(rate / 1e9);
        facts
    }
}

fn open_files(files: &[std::path::PathBuf]) -> Result<OnDisk, BenchError> {
    Ok(OnDisk::open_all(files, MEMORY)?)
}

/// One stand-in in full size, or a part of it: without privacy, then each method at each budget.
pub(super) fn stand_in(
    suite: &Scale,
    settings: &Settings,
    size: &SizeSelection,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let (all, columns) = catalog::full_size(&size.name);
    let rows = size.rows(all);
    let generated = GeneratedRows::like(&size.name, columns)?;
    let shards = generated.write(&settings.work.join("rows"), rows)?;
    let held_out = generated.held_out(suite.stand_ins.held_out)?;
    let (table, rate) = (open_files(&shards.files)?, rate(&shards.files)?);
    let measured = Measured { made: &generated, size, rows, columns };
    let mut plain = f64::NAN;
    let private =
        suite.stand_ins.epsilons.iter().flat_map(|epsilon| {
            suite.methods.iter().map(move |method| (method.as_str(), *epsilon))
        });
    for (method, epsilon) in [("non-private", 0.0)].into_iter().chain(private) {
        let before = table.passes();
        let fitted =
            fit(&generated.schema, &table, FitSettings::usual(method, epsilon), &held_out)?;
        if epsilon == 0.0 {
            plain = fitted.accuracy;
        }
        let facts = measured.facts(method, epsilon, "files", fitted);
        let mut facts = measured.with_passes(facts, table.passes() - before, rate);
        facts["behind"] = json!(plain - fitted.accuracy);
        emit(line("stand-ins", &format!("privet {method}"), facts))?;
    }
    Ok(())
}

/// One length, from files and from memory; the slope is that from the previous length.
pub(super) fn growth(
    suite: &Scale,
    settings: &Settings,
    size: &SizeSelection,
    before: &[Race],
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let columns = suite.growth.columns;
    let rows = size.rows(size.name.parse().unwrap_or(0));
    let generated = GeneratedRows::like(GROWTH_STANDIN, columns)?;
    let shards = generated.write(&settings.work.join("rows"), rows)?;
    let held_out = generated.held_out(50_000)?;
    let (table, rate) = (open_files(&shards.files)?, rate(&shards.files)?);
    let measured = Measured { made: &generated, size, rows, columns };
    let slope = |facts: &Value| slope("growth", facts, before);
    for method in &suite.methods {
        let passed = table.passes();
        let fitted = fit(
            &generated.schema,
            &table,
            FitSettings::usual(method, suite.growth.epsilon),
            &held_out,
        )?;
        let facts = measured.facts(method, suite.growth.epsilon, "files", fitted);
        let mut facts = measured.with_passes(facts, table.passes() - passed, rate);
        facts["slope"] = json!(slope(&facts));
        emit(line("growth", &format!("privet {method}"), facts))?;
    }
    if rows <= IN_MEMORY {
        let data = BlockFiles::open(&shards.files)?.piece(0..rows)?;
        for method in &suite.methods {
            let fitted = fit(
                &generated.schema,
                &data,
                FitSettings::usual(method, suite.growth.epsilon),
                &held_out,
            )?;
            let mut facts = measured.facts(method, suite.growth.epsilon, "memory", fitted);
            facts["slope"] = json!(slope(&facts));
            emit(line("growth", &format!("privet {method}"), facts))?;
        }
    }
    Ok(())
}
