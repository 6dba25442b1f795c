//! The table of private choices of columns.

use super::progress::{OTHER, Progress};
use super::{Page, answer, short};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::selections::{self, Subject};
use privet_core::Budget;
use std::fmt::Write as _;

/// What is asked for, and stated where the claim is false.
const EPSILONS: (f64, f64) = (4.0, 2.0);
/// Runs that a claim of half its ε takes.
const LEAST_RUNS: u64 = 6_000;

/// Rows of the table.
pub(super) fn subjects() -> Result<Vec<Subject>, AuditError> {
    Subject::all(EPSILONS.0, 1e-5)
}

pub(super) fn selections(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let (_, stated) = EPSILONS;
    let _ = writeln!(
        page.text,
        "## Choices of columns\n\nOne of two columns; one record speaks for the likelier one or against it. *At ε/2*: \
         judged by the certificate for ε = {stated}, which is false; – where how many agree is a matter of chance.\n\n\
         | selector | neighbours | claimed (ε, δ) | ε at least | refuted | refuted at ε/2 |\n|---|---|---|---|---|---|"
    );
    let options = AttackOptions { runs: options.runs.max(LEAST_RUNS), ..*options };
    for subject in subjects()? {
        let (budget, neighbours) = (subject.budget, subject.neighbours);
        let what = format!("{} {neighbours}", subject.name());
        progress.step(OTHER, &format!("choice of columns, {what}"));
        let found = selections::audit(&subject, &options, &())?;
        page.expect(!found.refuted, || format!("{what}: refuted"));
        let half = Budget::new(stated, budget.delta())?;
        let bold = match subject.sharp {
            true => {
                let bold = selections::audit_against(&subject, half, &options, &())?;
                page.expect(bold.refuted, || format!("{what}: not refuted at half the ε"));
                answer(bold.refuted)
            }
            false => "–",
        };
        let _ = writeln!(
            page.text,
            "| {} | {neighbours} | ({}, {}) | {:.3} | {} | {bold} |",
            subject.name(),
            short(budget.epsilon()),
            short(budget.delta()),
            found.epsilon_lower,
            answer(found.refuted),
        );
    }
    page.text.push('\n');
    Ok(())
}
