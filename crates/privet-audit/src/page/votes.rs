//! The table of labels by votes.

use super::progress::{OTHER, Progress};
use super::{Page, answer, short};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::votes::{self, Subject};
use std::fmt::Write as _;

/// Rows of the table.
pub(super) fn subjects() -> Result<Vec<Subject>, AuditError> {
    Subject::all(4.0, 1e-5)
}

pub(super) fn voted(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let _ = writeln!(
        page.text,
        "## Labels by votes\n\nTeachers that nearly agree; the one that has the canary votes against the others.\n\n\
         | aggregator | neighbours | claimed (ε, δ) | ε at least | refuted |\n|---|---|---|---|---|"
    );
    for subject in subjects()? {
        let (budget, neighbours) = (subject.budget, subject.neighbours);
        let what = format!("{} {neighbours}", subject.name());
        progress.step(OTHER, &format!("labels by votes, {what}"));
        let found = votes::audit(&subject, options, &())?;
        page.expect(!found.refuted, || format!("{what}: refuted"));
        let _ = writeln!(
            page.text,
            "| {} | {neighbours} | ({}, {}) | {:.3} | {} |",
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
