//! The table of private counts.

use super::progress::{OTHER, Progress};
use super::{Page, answer, by_mu, short};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::counts::{self, Subject};
use privet_core::Budget;
use std::fmt::Write as _;

/// What is asked for, and stated where the claim is false.
const EPSILONS: (f64, f64) = (4.0, 2.0);
/// Runs that a Gaussian claim of half its ε takes.
const LEAST_RUNS: u64 = 6_000;

/// Rows of the table.
pub(super) fn subjects() -> Result<Vec<Subject>, AuditError> {
    Subject::all(EPSILONS.0, 1e-5)
}

pub(super) fn counts(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let (_, stated) = EPSILONS;
    let _ = writeln!(
        page.text,
        "## Counts\n\nA unit's records all in one category, against another's in another (replace-one) or nobody's \
         (add-remove). *At ε/2*: judged by the certificate for ε = {stated}, which is false.\n\n\
         | law | neighbours | records a unit | claimed (ε, δ) | ε at least | by μ | refuted | refuted at ε/2 |\n\
         |---|---|---|---|---|---|---|---|"
    );
    let options = AttackOptions { runs: options.runs.max(LEAST_RUNS), ..*options };
    for subject in subjects()? {
        let Subject { budget, neighbours, max_records } = subject;
        let law = counts::law(&subject);
        let what = format!("{} {neighbours} {}", law.name(), max_records.unwrap_or(1));
        progress.step(OTHER, &format!("counts, {what}"));
        let found = counts::audit(&subject, &options, &())?;
        let half = Budget::new(stated, budget.delta())?;
        let bold = counts::audit_against(&subject, half, &options, &())?;
        page.expect(!found.refuted, || format!("counts, {what}: refuted"));
        page.expect(bold.refuted, || format!("counts, {what}: not refuted at half the ε"));
        let _ = writeln!(
            page.text,
            "| {} | {neighbours} | {} | ({}, {}) | {:.3} | {} | {} | {} |",
            law.name(),
            max_records.map_or("1".into(), |most| format!("a user's {most}")),
            short(budget.epsilon()),
            short(budget.delta()),
            found.epsilon_lower,
            by_mu(&found),
            answer(found.refuted),
            answer(bold.refuted)
        );
    }
    page.text.push('\n');
    Ok(())
}
