//! A table of audit settings: each claim, the bounds found, and the result for a false claim.

use super::progress::{OTHER_WEIGHT, Progress};
use super::{Page, by_mu, number_in_claim, yes_or_no};
use crate::AuditError;
use crate::attack::{AttackOptions, Finding};
use crate::runs::AttackWatch;
use privet_core::Budget;
use std::fmt::Write as _;

/// Runs that refuting half of ε takes.
pub(super) const LEAST_RUNS: u64 = 6_000;

/// Audits a setting against the certificate of a budget.
type AuditAgainst<S> =
    fn(&S, Budget, &AttackOptions, &dyn AttackWatch) -> Result<Finding, AuditError>;

/// A false claim: the certificate for ε divided by this number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Control {
    pub divisor: f64,
    /// True if the attack has the power to refute it: then a failure is reported as unexpected.
    pub power: bool,
}

impl Control {
    /// A control that the attack has the power to refute.
    pub fn at(divisor: f64) -> Self {
        Self { divisor, power: true }
    }
}

/// Text and functions of the table for one kind of setting.
pub(super) struct Table<'a, S> {
    /// Name of the kind in lines of progress and unexpected results.
    pub of: &'a str,
    pub title: &'a str,
    /// Paragraph above the table.
    pub text: &'a str,
    /// Names of the kind's own columns.
    pub columns: &'a [&'a str],
    pub cells: &'a dyn Fn(&S) -> Vec<String>,
    pub budget: fn(&S) -> Budget,
    pub against: AuditAgainst<S>,
    /// The false claim, if one is tested.
    pub control: &'a dyn Fn(&S) -> Option<Control>,
    /// Minimum runs per input of a setting.
    pub least_runs: &'a dyn Fn(&S) -> u64,
}

impl<S> Table<'_, S> {
    /// Audits all settings and writes a row for each.
    pub fn write(
        &self,
        page: &mut Page,
        settings: &[S],
        options: &AttackOptions,
        progress: &Progress<'_>,
    ) -> Result<(), AuditError> {
        let _ = writeln!(
            page.text,
            "## {}\n\n{} *Control*: judged by the certificate for so much less ε, which is false.\n\n\
             | {} | claimed (ε, δ) | ε at least | by μ | refuted | control | control refuted |\n|{}",
            self.title,
            self.text,
            self.columns.join(" | "),
            "---|".repeat(self.columns.len() + 6)
        );
        for setting in settings {
            let (cells, budget) = ((self.cells)(setting), (self.budget)(setting));
            let claimed = format!(
                "({}, {})",
                number_in_claim(budget.epsilon()),
                number_in_claim(budget.delta())
            );
            let what = format!("{}, {} {claimed}", self.of, cells.join(" "));
            progress.step(OTHER_WEIGHT, &what);
            let runs = options.runs.max((self.least_runs)(setting));
            let options = AttackOptions { runs, ..*options };
            let judged = |budget| (self.against)(setting, budget, &options, &());
            let found = judged(budget)?;
            page.expect(!found.refuted, || format!("{what}: refuted"));
            let control = match (self.control)(setting) {
                Some(Control { divisor, power }) => {
                    let less = Budget::new(budget.epsilon() / divisor, budget.delta())?;
                    let refuted = judged(less)?.refuted;
                    page.expect(refuted || !power, || {
                        format!("{what}: not refuted at ε/{divisor}")
                    });
                    format!("ε/{divisor} | {}", yes_or_no(refuted))
                }
                None => "– | –".into(),
            };
            let _ = writeln!(
                page.text,
                "| {} | {claimed} | {:.3} | {} | {} | {control} |",
                cells.join(" | "),
                found.epsilon_lower,
                by_mu(&found),
                yes_or_no(found.refuted)
            );
        }
        page.text.push('\n');
        Ok(())
    }
}

/// The number of records of a unit, in words.
pub(super) fn records(max_records: Option<u32>) -> String {
    max_records.map_or("1".into(), |most| format!("a user's {most}"))
}
