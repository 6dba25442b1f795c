//! The table of trained networks.

use super::progress::{OTHER, Progress};
use super::{Page, answer, by_mu, short};
use crate::AuditError;
use crate::attack::AttackOptions;
use crate::networks::{self, Subject};
use privet_core::Budget;
use std::fmt::Write as _;

/// What is asked for, and stated where the claim is false.
const EPSILONS: (f64, f64) = (4.0, 1.0);
/// Canaries of a single run.
const CANARIES: u64 = 1_000;

/// Rows of the table.
pub(super) fn subjects() -> Result<Vec<Subject>, AuditError> {
    Subject::all(EPSILONS.0, 1e-5)
}

pub(super) fn trained(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    let (_, stated) = EPSILONS;
    let _ = writeln!(
        page.text,
        "## Networks\n\nA planted record whose clipped gradient moves every sum by all that is charged, in a direction that \
         is orthogonal to all others' gradients, against one of the other class (replace-one) or none (add-remove). *At ε/4*: judged by the certificate for ε = {stated}, which is \
         false. *One run*: the lower bound on ε from a single run with {CANARIES} canaries.\n\n\
         | method | neighbours | claimed (ε, δ) | ε at least | by μ | refuted | refuted at ε/4 | one run |\n\
         |---|---|---|---|---|---|---|---|"
    );
    for subject in subjects()? {
        let float = subject.method.settings().sums.is_some();
        let what = format!(
            "{}{} {}",
            subject.method,
            if float { ", float" } else { "" },
            subject.neighbours
        );
        progress.step(OTHER, &format!("networks, {what}"));
        let found = networks::audit(&subject, options, &())?;
        let less = Budget::new(stated, subject.budget.delta())?;
        let bold = networks::audit_against(&subject, less, options, &())?;
        let once = networks::one_run(&subject, CANARIES, options.confidence, options.seed)?;
        page.expect(!found.refuted && !once.refuted, || format!("networks, {what}: refuted"));
        page.expect(bold.refuted || !subject.is_sharp(), || {
            format!("networks, {what}: a quarter of ε is not refuted")
        });
        let _ = writeln!(
            page.text,
            "| {}{} | {} | ({}, {}) | {:.3} | {} | {} | {} | {:.3} |",
            subject.method,
            if float { ", float sums" } else { "" },
            subject.neighbours,
            short(subject.budget.epsilon()),
            short(subject.budget.delta()),
            found.epsilon_lower,
            by_mu(&found),
            answer(found.refuted),
            answer(bold.refuted),
            once.epsilon_lower
        );
    }
    page.text.push('\n');
    Ok(())
}
