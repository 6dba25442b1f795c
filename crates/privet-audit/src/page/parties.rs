//! The page's tables of sums among parties.

use super::Page;
use super::progress::Progress;
use super::settings::{Control, LEAST_RUNS, Table};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::parties::{self, Setting, output};

/// Settings of the first table's rows.
pub(super) fn settings() -> Result<Vec<Setting>, AuditError> {
    Setting::all(4.0, 1e-5)
}

pub(super) fn write_parties_table(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let table = Table {
        of: "parties",
        title: "Sums among parties",
        text: "What all other parties and some of the servers see together of a record of one party: the shares that those \
               servers were sent, their own noise, and all that is opened. Where nobody colludes the noise of all servers is \
               left, which is wider than what is claimed: the control need not be refuted.",
        columns: &["servers", "counted on as honest", "in the coalition"],
        cells: &|setting: &Setting| {
            let Setting { among, colluding, .. } = setting;
            [among.servers, among.honest, *colluding].map(|count| count.to_string()).to_vec()
        },
        budget: |setting| setting.budget,
        against: parties::audit_against,
        control: &|setting| Some(Control { divisor: 2.0, power: setting.colluding > 0 }),
        least_runs: &|_| LEAST_RUNS,
    };
    table.write(page, &settings()?, options, progress)?;
    let of_output = Table {
        of: "output among parties",
        title: "Minimisers among parties",
        text: "The same for `output`, of which each party shares its own minimiser, weighted by its rows: two tables of one \
               party whose minimisers are as far apart as is proved.",
        columns: &["servers", "counted on as honest", "in the coalition"],
        cells: &|setting: &output::Setting| {
            let output::Setting { among, colluding, .. } = setting;
            [among.servers, among.honest, *colluding].map(|count| count.to_string()).to_vec()
        },
        budget: |setting| setting.budget,
        against: output::audit_against,
        control: &|setting| Some(Control { divisor: 2.0, power: setting.colluding > 0 }),
        least_runs: &|_| LEAST_RUNS,
    };
    of_output.write(page, &output::Setting::all(4.0, 1e-5)?, options, progress)
}
