//! The table of completed ratings.

use super::progress::{OTHER, Progress};
use super::{Page, answer, by_mu, short};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::ratings::{self, Subject};
use privet_core::Budget;
use std::fmt::Write as _;

/// What is asked for, and stated where the claim is false.
const EPSILONS: (f64, f64) = (4.0, 1.0);

/// Rows of the table.
pub(super) fn subjects() -> Result<Vec<Subject>, AuditError> {
    Subject::all(EPSILONS.0, 1e-5)
}

pub(super) fn completed(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let (_, stated) = EPSILONS;
    let _ = writeln!(
        page.text,
        "## Completed ratings\n\nA planted user who rates every item at the ends of the bounds, against one who rates the other way round \
         (replace-one) or nobody (add-remove). *At ε/4*: judged by the certificate for ε = {stated}, which is false.\n\n\
         | method | neighbours | claimed (ε, δ) | ε at least | by μ | refuted | refuted at ε/4 |\n\
         |---|---|---|---|---|---|---|"
    );
    for subject in subjects()? {
        let what = format!("{} {}", subject.method, subject.neighbours);
        progress.step(OTHER, &format!("ratings, {what}"));
        let found = ratings::audit(&subject, options, &())?;
        let less = Budget::new(stated, subject.budget.delta())?;
        let bold = ratings::audit_against(&subject, less, options, &())?;
        page.expect(!found.refuted, || format!("ratings, {what}: refuted"));
        let _ = writeln!(
            page.text,
            "| {} | {} | ({}, {}) | {:.3} | {} | {} | {} |",
            subject.method,
            subject.neighbours,
            short(subject.budget.epsilon()),
            short(subject.budget.delta()),
            found.epsilon_lower,
            by_mu(&found),
            answer(found.refuted),
            answer(bold.refuted)
        );
    }
    page.text.push('\n');
    Ok(())
}
