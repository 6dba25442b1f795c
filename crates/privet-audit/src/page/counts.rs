//! The page's table of private counts.

use super::Page;
use super::progress::Progress;
use super::settings::{Control, LEAST_RUNS, Table, records};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::counts::{self, Setting};

/// Settings of the table's rows.
pub(super) fn settings() -> Result<Vec<Setting>, AuditError> {
    Setting::all(4.0, 1e-5)
}

pub(super) fn write_counts_table(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let table = Table {
        of: "counts",
        title: "Counts",
        text: "A unit's records all in one category, against another's in another (replace-one) or nobody's (add-remove).",
        columns: &["law", "neighbours", "records a unit"],
        cells: &|setting: &Setting| {
            let law = counts::law(setting).name().to_string();
            vec![law, setting.neighbours.to_string(), records(setting.max_records)]
        },
        budget: |setting| setting.budget,
        against: counts::audit_against,
        control: &|_| Some(Control::at(2.0)),
        least_runs: &|_| LEAST_RUNS,
    };
    table.write(page, &settings()?, options, progress)
}
