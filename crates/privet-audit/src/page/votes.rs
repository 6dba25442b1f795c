//! The page's table of labels by votes.

use super::Page;
use super::progress::Progress;
use super::settings::{Control, LEAST_RUNS, Table};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::votes::{self, Setting};

/// Settings of the table's rows.
pub(super) fn settings() -> Result<Vec<Setting>, AuditError> {
    Setting::all(8.0, 1e-5)
}

pub(super) fn write_votes_table(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let table = Table {
        of: "labels by votes",
        title: "Labels by votes",
        text: "All teachers vote for one class but the one that has the canary, where its vote decides something: whether an \
               answer, or any label, is let out; which label; after how many questions without an answer nothing more is \
               answered.",
        columns: &["aggregator", "decided", "neighbours"],
        cells: &|setting: &Setting| {
            let Setting { decides, neighbours, .. } = setting;
            vec![setting.name(), decides.to_string(), neighbours.to_string()]
        },
        budget: |setting| setting.budget,
        against: votes::audit_against,
        control: &|_| Some(Control::at(4.0)),
        least_runs: &|_| LEAST_RUNS,
    };
    table.write(page, &settings()?, options, progress)
}
