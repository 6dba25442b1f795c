//! The page's table of streams: all releases of each, attacked together.

use super::Page;
use super::progress::Progress;
use super::settings::{Control, LEAST_RUNS, Table};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::streams::{self, Setting};
use privet_core::Budget;

/// Runs that refuting a quarter of ε takes if the pair shows only a part of the sensitivity.
const DULL_RUNS: u64 = 20_000;

/// Settings of the table's rows.
pub(super) fn settings() -> Result<Vec<Setting>, AuditError> {
    Ok(Setting::all(Budget::new(4.0, 1e-5)?))
}

pub(super) fn write_streams_table(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let table = Table {
        of: "stream",
        title: "Streams",
        text: "The record of one slot says yes or no, all other slots are empty; everything that the stream released is \
               attacked together, undone to what was noised. Controls have half the ε; those of `giga`, whose proof \
               charges more than any pair known moves (0.6 of it), and of `experts`, of which one draw is attacked where \
               what many come to is charged, a quarter.",
        columns: &["stream"],
        cells: &|setting: &Setting| vec![setting.of.name().to_string()],
        budget: |setting| setting.budget,
        against: streams::audit_against,
        control: &|setting| Some(Control::at(if setting.of.sharp() { 2.0 } else { 4.0 })),
        least_runs: &|setting| if setting.of.sharp() { LEAST_RUNS } else { DULL_RUNS },
    };
    table.write(page, &settings()?, options, progress)
}
