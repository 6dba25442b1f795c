//! The page's tables of private descriptions and of tuned models.

use super::Page;
use super::progress::Progress;
use super::settings::{Control, LEAST_RUNS, Table, records};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::{descriptions, tunings};
use privet_core::Neighbours;

fn description_settings() -> Result<Vec<descriptions::Setting>, AuditError> {
    descriptions::Setting::all(4.0, 1e-5)
}

fn tuning_settings() -> Result<Vec<tunings::Setting>, AuditError> {
    tunings::Setting::all(8.0, 1e-5)
}

/// The number of rows of both tables.
pub(super) fn rows() -> Result<usize, AuditError> {
    Ok(description_settings()?.len() + tuning_settings()?.len())
}

pub(super) fn write_descriptions_table(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let table = Table {
        of: "descriptions",
        title: "Descriptions",
        text: "A unit's records all at one corner of the bounds, against another's at the other (replace-one, which moves a \
               part of the sums) or nobody's (add-remove, which moves all of them by all that is charged). Laplace \
               noise, δ = 0, on many sums shows all of its ε in rare events alone: of controls those under add-remove with a \
               δ must be refuted.",
        columns: &["neighbours", "records a unit"],
        cells: &|setting: &descriptions::Setting| {
            vec![setting.neighbours.to_string(), records(setting.max_records)]
        },
        budget: |setting| setting.budget,
        against: descriptions::audit_against,
        control: &|setting| {
            let sharp = setting.neighbours == Neighbours::AddRemove && !setting.budget.is_pure();
            Some(Control { divisor: 2.0, power: sharp })
        },
        least_runs: &|_| LEAST_RUNS,
    };
    table.write(page, &description_settings()?, options, progress)?;
    let table = Table {
        of: "tuned models",
        title: "Tuned models",
        text: "The best of about four trials of two candidates on five records, of which one changes. The price of tuning \
               is a bound for any mechanism, so that much of it is slack here, and no control is judged.",
        columns: &["law of the trials", "neighbours"],
        cells: &|setting: &tunings::Setting| {
            let law = format!("{:?}", setting.law).to_lowercase();
            vec![law, setting.neighbours.to_string()]
        },
        budget: |setting| setting.budget,
        against: tunings::audit_against,
        control: &|_| None,
        least_runs: &|_| LEAST_RUNS,
    };
    table.write(page, &tuning_settings()?, options, progress)
}
