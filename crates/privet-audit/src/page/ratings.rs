//! The page's table of completed ratings.

use super::Page;
use super::progress::Progress;
use super::settings::{Control, Table};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::ratings::{self, Setting};

/// Settings of the table's rows.
pub(super) fn settings() -> Result<Vec<Setting>, AuditError> {
    Setting::all(4.0, 1e-5)
}

pub(super) fn write_ratings_table(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let table = Table {
        of: "ratings",
        title: "Completed ratings",
        text: "A planted user who rates every item at the ends of the bounds, against one who rates the other way round \
               (replace-one) or nobody (add-remove). What is released is made of several noised answers, of which the attack \
               sees a part: not every control need be refuted.",
        columns: &["method", "neighbours"],
        cells: &|setting: &Setting| {
            vec![setting.method.to_string(), setting.neighbours.to_string()]
        },
        budget: |setting| setting.budget,
        against: ratings::audit_against,
        control: &|_| Some(Control { divisor: 4.0, power: false }),
        least_runs: &|_| 0,
    };
    table.write(page, &settings()?, options, progress)
}
