//! A table of subjects: what each claims, what was seen of it, and whether a claim of it that is false is refuted.

use super::progress::{OTHER, Progress};
use super::{Page, answer, by_mu, short};
use crate::AuditError;
use crate::attack::{AttackOptions, Finding};
use crate::runs::Watch;
use privet_core::Budget;
use std::fmt::Write as _;

/// Runs that a claim of half its ε takes.
pub(super) const LEAST_RUNS: u64 = 6_000;

/// Judges a subject by the certificate of a budget.
type Against<S> = fn(&S, Budget, &AttackOptions, &dyn Watch) -> Result<Finding, AuditError>;

/// A claim that is false: the certificate for so many times less ε.
#[derive(Debug, Clone, Copy)]
pub(super) struct Control {
    pub divisor: f64,
    /// Whether the attack has the power to refute it, so that it is a surprise if it does not.
    pub power: bool,
}

impl Control {
    /// One that the attack has the power to refute.
    pub fn at(divisor: f64) -> Self {
        Self { divisor, power: true }
    }
}

/// What tells one kind of subject from another.
pub(super) struct Table<'a, S> {
    /// What lines of progress and surprises begin with.
    pub of: &'a str,
    pub title: &'a str,
    /// What stands above the table.
    pub text: &'a str,
    /// Names of the columns of its own, and the cells.
    pub columns: &'a [&'a str],
    pub cells: &'a dyn Fn(&S) -> Vec<String>,
    pub budget: fn(&S) -> Budget,
    pub against: Against<S>,
    /// None where nothing less is judged.
    pub control: &'a dyn Fn(&S) -> Option<Control>,
    /// Runs a world that a subject takes at least.
    pub least_runs: &'a dyn Fn(&S) -> u64,
}

impl<S> Table<'_, S> {
    /// Audits all of them.
    pub fn write(
        &self,
        page: &mut Page,
        subjects: &[S],
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
        for subject in subjects {
            let (cells, budget) = ((self.cells)(subject), (self.budget)(subject));
            let claimed = format!("({}, {})", short(budget.epsilon()), short(budget.delta()));
            let what = format!("{}, {} {claimed}", self.of, cells.join(" "));
            progress.step(OTHER, &what);
            let runs = options.runs.max((self.least_runs)(subject));
            let options = AttackOptions { runs, ..*options };
            let judged = |budget| (self.against)(subject, budget, &options, &());
            let found = judged(budget)?;
            page.expect(!found.refuted, || format!("{what}: refuted"));
            let control = match (self.control)(subject) {
                Some(Control { divisor, power }) => {
                    let less = Budget::new(budget.epsilon() / divisor, budget.delta())?;
                    let refuted = judged(less)?.refuted;
                    page.expect(refuted || !power, || {
                        format!("{what}: not refuted at ε/{divisor}")
                    });
                    format!("ε/{divisor} | {}", answer(refuted))
                }
                None => "– | –".into(),
            };
            let _ = writeln!(
                page.text,
                "| {} | {claimed} | {:.3} | {} | {} | {control} |",
                cells.join(" | "),
                found.epsilon_lower,
                by_mu(&found),
                answer(found.refuted)
            );
        }
        page.text.push('\n');
        Ok(())
    }
}

/// How many records a unit has, in words.
pub(super) fn records(max_records: Option<u32>) -> String {
    max_records.map_or("1".into(), |most| format!("a user's {most}"))
}
