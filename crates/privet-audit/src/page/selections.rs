//! The page's table of private choices of columns.

use super::Page;
use super::progress::Progress;
use super::settings::{Control, LEAST_RUNS, Table};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::selections::{self, Setting};

/// Settings of the table's rows.
pub(super) fn settings() -> Result<Vec<Setting>, AuditError> {
    Setting::all(4.0, 1e-5)
}

pub(super) fn write_selections_table(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let table = Table {
        of: "choice of columns",
        title: "Choices of columns",
        text: "One of two columns; one record speaks for the likelier one or against it. No control where how many agree is a \
               matter of chance.",
        columns: &["selector", "neighbours"],
        cells: &|setting: &Setting| vec![setting.name(), setting.neighbours.to_string()],
        budget: |setting| setting.budget,
        against: selections::audit_against,
        control: &|setting| setting.sharp.then(|| Control::at(2.0)),
        least_runs: &|_| LEAST_RUNS,
    };
    table.write(page, &settings()?, options, progress)
}
