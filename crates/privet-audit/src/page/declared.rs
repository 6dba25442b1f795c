//! The page's table of whatever is offered, by its declaration alone.

use super::Page;
use super::progress::Progress;
use super::settings::{LEAST_RUNS, Table};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::declared::{self, Setting};

/// Settings of the table's rows.
pub(super) fn settings() -> Result<Vec<Setting>, AuditError> {
    Setting::covered(4.0, 1e-5)
}

pub(super) fn write_declared_table(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let table = Table {
        of: "as declared",
        title: "Whatever is offered",
        text: "Every family that is released in one piece of one table, by each of its methods, on the worst of a few pairs of \
               tables that are made for all of them alike. No control: such pairs need not be sharp.",
        columns: &["family", "neighbours"],
        cells: &|setting: &Setting| vec![setting.name(), setting.neighbours.to_string()],
        budget: |setting| setting.budget,
        against: declared::audit_against,
        control: &|_| None,
        least_runs: &|_| LEAST_RUNS,
    };
    table.write(page, &settings()?, options, progress)
}
