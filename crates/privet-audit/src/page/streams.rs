//! The table of streams: all releases of each, attacked together.

use super::progress::{OTHER, Progress};
use super::{Page, answer, by_mu, short};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::streams::{self, Subject};
use privet_core::Budget;
use std::fmt::Write as _;

/// What is asked for.
const EPSILON: f64 = 4.0;
/// Runs that a claim of half its ε takes.
const LEAST_RUNS: u64 = 6_000;

/// Rows of the table.
pub(super) fn subjects() -> Result<Vec<Subject>, AuditError> {
    Ok(Subject::all(Budget::new(EPSILON, 1e-5)?))
}

pub(super) fn streams(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    page.text.push_str(
        "## Streams\n\nThe record of one slot says yes or no, all other slots are empty; everything that the stream released is \
         attacked together, undone to what was noised. *At ε/2*: judged by the certificate for half the ε, which is false \
         (`giga`: a third, since its proof charges more than any pair known moves).\n\n\
         | stream | claimed (ε, δ) | ε at least | by μ | refuted | refuted at ε/2 |\n|---|---|---|---|---|---|\n",
    );
    let options = AttackOptions { runs: options.runs.max(LEAST_RUNS), ..*options };
    for subject in subjects()? {
        let (name, budget) = (subject.of.name(), subject.budget);
        progress.step(OTHER, &format!("stream, {name}"));
        let found = streams::audit(&subject, &options, &())?;
        page.expect(!found.refuted, || format!("stream, {name}: refuted"));
        let less = EPSILON / if subject.of.sharp() { 2.0 } else { 3.0 };
        let less = Budget::new(less, budget.delta())?;
        let bold = streams::audit_against(&subject, less, &options, &())?;
        page.expect(bold.refuted, || format!("stream, {name}: not refuted where it is false"));
        let _ = writeln!(
            page.text,
            "| {name} | ({}, {}) | {:.3} | {} | {} | {} |",
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
