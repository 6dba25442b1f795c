//! The table of private evaluations of models.

use super::progress::{OTHER, Progress};
use super::{Page, answer, by_mu, short};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::evaluations::{self, Subject};
use privet_core::Budget;
use std::fmt::Write as _;

/// What is asked for, and stated where the claim is false.
const EPSILONS: (f64, f64) = (4.0, 2.0);
/// Runs that a claim of half its ε takes.
const LEAST_RUNS: u64 = 6_000;

/// Rows of the table.
pub(super) fn rows() -> Result<usize, AuditError> {
    Ok(Subject::all(EPSILONS.0, 1e-5)?.len())
}

pub(super) fn evaluations(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let (_, stated) = EPSILONS;
    let _ = writeln!(
        page.text,
        "## Evaluations of models\n\nA model that is sure of itself, right about all records of a unit or wrong about all of \
         them (replace-one), or wrong about them or without them (add-remove). *At ε/2*: judged by the certificate for \
         ε = {stated}, which is false.\n\n\
         | neighbours | records a unit | claimed (ε, δ) | ε at least | by μ | refuted | refuted at ε/2 |\n\
         |---|---|---|---|---|---|---|"
    );
    let options = AttackOptions { runs: options.runs.max(LEAST_RUNS), ..*options };
    for subject in Subject::all(EPSILONS.0, 1e-5)? {
        let Subject { budget, neighbours, max_records } = subject;
        let what = format!("{neighbours} {} {}", max_records.unwrap_or(1), short(budget.delta()));
        progress.step(OTHER, &format!("evaluations, {what}"));
        let found = evaluations::audit(&subject, &options, &())?;
        let half = Budget::new(stated, budget.delta())?;
        let bold = evaluations::audit_against(&subject, half, &options, &())?;
        page.expect(!found.refuted, || format!("evaluations, {what}: refuted"));
        // Laplace noise on several sums shows all of its ε in rare events alone.
        page.expect(bold.refuted || budget.is_pure(), || {
            format!("evaluations, {what}: not refuted at half the ε")
        });
        let _ = writeln!(
            page.text,
            "| {neighbours} | {} | ({}, {}) | {:.3} | {} | {} | {} |",
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
