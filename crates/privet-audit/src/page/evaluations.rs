//! The page's table of private evaluations of models.

use super::Page;
use super::progress::Progress;
use super::settings::{Control, LEAST_RUNS, Table, records};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::evaluations::{self, Setting};

/// Settings of the table's rows.
pub(super) fn settings() -> Result<Vec<Setting>, AuditError> {
    Setting::all(4.0, 1e-5)
}

pub(super) fn write_evaluations_table(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let table = Table {
        of: "evaluations",
        title: "Evaluations of models",
        text: "A model that is sure of itself, right about all records of a unit or wrong about all of them (replace-one), \
               or wrong about them or without them (add-remove). Laplace noise, δ = 0, on several sums shows all of its ε \
               in rare events alone: its control need not be refuted.",
        columns: &["neighbours", "records a unit"],
        cells: &|setting: &Setting| {
            vec![setting.neighbours.to_string(), records(setting.max_records)]
        },
        budget: |setting| setting.budget,
        against: evaluations::audit_against,
        control: &|setting| Some(Control { divisor: 2.0, power: !setting.budget.is_pure() }),
        least_runs: &|_| LEAST_RUNS,
    };
    table.write(page, &settings()?, options, progress)
}
