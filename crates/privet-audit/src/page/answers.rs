//! The page's table of answers by nearby records.

use super::Page;
use super::progress::Progress;
use super::settings::{Control, LEAST_RUNS, Table, records};
use crate::AuditError;
use crate::answers::{self, QUESTIONS, Setting, VOTES};
use crate::attack::AttackOptions;

/// Settings of the table's rows.
pub(super) fn settings() -> Result<Vec<Setting>, AuditError> {
    Setting::all(4.0, 1e-5)
}

pub(super) fn write_answers_table(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let table = Table {
        of: "answers",
        title: "Answers by records nearby",
        text: &format!(
            "A unit near all {QUESTIONS} questions that may vote in {VOTES}, against one of the other class \
             (replace-one) or nobody (add-remove)."
        ),
        columns: &["neighbours", "records a unit"],
        cells: &|setting: &Setting| {
            vec![setting.neighbours.to_string(), records(setting.max_records)]
        },
        budget: |setting| setting.budget,
        against: answers::audit_against,
        control: &|_| Some(Control::at(2.0)),
        least_runs: &|_| LEAST_RUNS,
    };
    table.write(page, &settings()?, options, progress)
}
